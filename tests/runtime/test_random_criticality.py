# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The criticality of random systems changes again and again, up and down, also within nested requests and
while threads wait for locks: all properties hold at every event."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from camkes.analysis.criticality import level_results
from camkes.analysis.platform import FREE
from camkes.running.decode import decode
from camkes.running.kinds import Kind
from tests.report import test_random_waits
from tests.report.random_overruns import demand
from tests.report.test_random_systems import JOBS, PERIOD, code, random_system, text
from tests.runtime.host import Run, build

pytestmark = pytest.mark.requirement("RT-23")

Make = Callable[[int], tuple[str, dict[str, str]]]

CONTROLLER = "component Controller { control; requestor; criticality_control; }\n"
#: changes, one for each job
CHANGES = 64


def controlled(
    rng: random.Random, system: str, sources: dict[str, str], demands: dict[str, int], cpis: list[str]
) -> tuple[str, dict[str, str]]:
    """A system and its code with a task that raises the criticality again and again, tasks of random
    criticalities, and budgets that end within requests: then the processor is idle, and it falls."""
    levels = {name: rng.randint(0, 3) for name in demands}
    levels[rng.choice(list(demands))] = 3
    values = [
        *(f"{name}._criticality = {level};" for name, level in levels.items()),
        *(f"{name}._budget = {max(20_000, 60 * demands[name] // 100)} ns;" for name in demands),
        *("controller._priority = 120;", "controller._period = 23 us;"),
        *(f"{cpi}_extension = 20 us;" for cpi in cpis),
    ]
    system = system.replace("assembly {", f"{CONTROLLER} assembly {{")
    system = re.sub(r"priority_protocol \w+", r"\g<0>, overrun extend", system)
    system = system.replace("} configuration {", "component Controller controller; } configuration {")
    system = "\n".join([system.removesuffix("} }"), *values, "} }"])
    numbers = ", ".join(str(rng.randint(0, 3)) for _ in range(CHANGES))
    controller = f"""int run(void)
{{
    static const unsigned levels[] = {{{numbers}}};
    for (unsigned job = 0; camkes_next_job(); job++) {{
        camkes_set_criticality(levels[job % {CHANGES}]);
    }}
    return 0;
}}
"""
    return system, {**sources, "Controller": controller}


def locks(seed: int) -> tuple[str, dict[str, str]]:
    tasks, cpis = random_system(seed)
    loop = f"for (int job = 0; job < {JOBS} && camkes_next_job(); job++)"
    sources = {
        task.name.title(): f"int run(void) {{ {loop} {{\n{code(task.body)}\n}} return 0; }}\n"
        for task in tasks
    }
    sources |= {cpi.name.split(".")[0].title(): f"void p_go(void) {{\n{code(cpi.body)}\n}}\n" for cpi in cpis}
    by_name = {cpi.name: cpi for cpi in cpis}
    demands = {task.name: demand(task.body, by_name) for task in tasks}
    return controlled(random.Random(seed), text(tasks, cpis, {}), sources, demands, list(by_name))


def waits(seed: int) -> tuple[str, dict[str, str]]:
    """The same with tasks that wait for each other with helpers, and in monitors."""
    system = test_random_waits.random_system(seed)
    demands = {task.name: test_random_waits.demand(task.body, system[1]) for task in system[0]}
    cpis = [cpi.name for cpi in system[1]]
    return controlled(random.Random(seed), *test_random_waits.written(system), demands, cpis)


def falls_in_requests(run: Run) -> int:
    """How often the criticality falls while a request is served."""
    served, count = 0, 0
    for event in run.events:
        served += (event.kind is Kind.REQUEST_BEGIN) - (event.kind is Kind.REQUEST_END)
        count += event.kind is Kind.CRITICALITY and event.args[0] == 0 and served > 0
    return count


#: with falls within requests
SEED = 659
#: further systems; not all of either kind have few enough priorities
LONG = (
    (SEED, waits),
    *((seed, make) for seed in (1, 2, 3) for make in (locks, waits)),
    (4521, locks),
    (5, waits),
)


@pytest.mark.long
@pytest.mark.parametrize(
    ("seed", "make"),
    [(SEED, locks), *(pytest.param(*case, marks=pytest.mark.long) for case in LONG)],
)
def test_properties_hold_while_the_criticality_changes(seed: int, make: Make, tmp_path: Path) -> None:
    run = build(tmp_path, *make(seed), mcs=True).run(duration=JOBS * PERIOD)
    assert run.status == 0 and run.errors == ""
    levels = [event.args[0] for event in run.of(Kind.CRITICALITY)]
    assert len(levels) > 10 and (seed != SEED or falls_in_requests(run) > 0)
    assert run.violations() == []


MS = 1_000_000
WORKER = """component Worker {
    control; requestor; attribute int usual; attribute int worst; attribute int pattern;
}
"""
#: the jobs whose bit in the pattern is set need the worst time
JOBS_OF_PATTERN = """#include <camkes/realtime.h>
int run(void)
{
    for (int job = 0; camkes_next_job(); job++) {
        camkes_work(CAMKES_US((pattern >> job % 16 & 1) != 0 ? worst : usual));
    }
    return 0;
}
"""


def random_overruns(seed: int) -> str:
    """Tasks with rate-monotonic priorities and budgets, of which the critical ones overrun now and then."""
    rng = random.Random(seed)
    instances, values = [], []
    for number, period in enumerate(sorted(rng.sample((10, 16, 20, 25, 32, 40, 50, 80), 5))):
        level = rng.randint(0, 2)
        usual = rng.randint(period * 20, period * 180)
        worst = usual + rng.randint(0, usual * 2) * level
        name = f"t{number}"
        instances.append(f"component Worker {name};")
        values.append(
            f"{name}._priority = {50 - number}; {name}._period = {period} ms; {name}._criticality = {level};"
            f"{name}._budget = {usual} us; {name}._wcet = {usual} us; {name}.usual = {usual};"
            f"{name}.worst = {worst}; {name}.pattern = {rng.getrandbits(16) & rng.getrandbits(16)};"
        )
        if level:
            values.append(
                f"{name}._budget_{level} = {worst} us; {name}._wcet_{level} = {worst} us; "
                f'{name}._overrun = "raise";'
            )
    composition, configuration = "\n".join(instances), "\n".join(values)
    return f"{WORKER}assembly {{ composition {{\n{composition}\n}} configuration {{\n{configuration}\n}} }}\n"


@pytest.mark.long  # examples/aav is compared with its bounds, too
@pytest.mark.parametrize("seed", range(1, 12))
def test_responses_are_within_the_bounds_of_the_criticality(seed: int, tmp_path: Path) -> None:
    built = build(tmp_path, random_overruns(seed), {"Worker": JOBS_OF_PATTERN}, mcs=True)
    run = built.run(duration=2_000 * MS)
    bounds = {(r.task.name, r.level): r.ours for r in level_results(built.system, built.plan, FREE)}
    found = decode(run.events, run.names)
    ends = [*(time for time, _ in found.criticality), found.end]
    levels = [0, *(level for _, level in found.criticality)]
    assert max(levels) > 0 and run.violations() == []
    compared = 0
    for lane in found.tasks:
        for job in lane.jobs:
            end = found.end if job.end is None else job.end
            during = max(
                level
                for level, start, until in zip(levels, [0, *ends], ends, strict=False)
                if start < end and job.release < until
            )
            bound = bounds.get((lane.task.name, during))
            if job.end is not None and bound is not None:
                compared += 1
                assert job.end - job.release <= bound, (lane.task.name, job.number, during)
    assert compared > 100
