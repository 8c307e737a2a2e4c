# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tasks that a component orders at user level. The figures were computed by hand."""

from __future__ import annotations

import random
from pathlib import Path
from typing import NamedTuple

import pytest

from camkes.capdl.authority import authority
from camkes.running.kinds import Kind
from tests.runtime.host import Built, Run, build

pytestmark = pytest.mark.requirement("RT-25")

MS = 1_000_000

HEAD = "#include <camkes/realtime.h>\n"
TASK = """
component Task {
    control; requestor; uses UserScheduler band; uses Section s;
    attribute int before = 0; attribute int inside = 0; attribute int after = 0; attribute int jobs = 1;
}
"""
SOURCES = {
    "Task": HEAD
    + """
int run(void)
{
    for (int i = 0; i < jobs && camkes_next_job(); i++) {
        camkes_work(CAMKES_MS(before));
        if (inside > 0 && s_enter(inside) != inside + 1) {
            printf("wrong\\n");
        }
        camkes_work(CAMKES_MS(after));
    }
    return 0;
}
""",
    "Shared": HEAD
    + """
int s_enter(int ms)
{
    camkes_work(CAMKES_MS(ms));
    return ms + 1;
}
""",
}


def system(
    protocol: str, configuration: str, tasks: str, others: str = "", scheduler: str = "EDFScheduler"
) -> str:
    names, all_ = tasks.split(), (tasks + " " + others).split()
    return f"""
import <user_scheduler.camkes>;
procedure Section {{ int enter(in int ms); }}
{TASK}
component Other {{
    control; requestor; uses Section s;
    attribute int before = 0; attribute int inside = 0; attribute int after = 0; attribute int jobs = 1;
}}
component Shared {{ provides Section s with priority_protocol {protocol}; }}
assembly {{
    composition {{
        {" ".join(f"component Task {name};" for name in names)}
        {" ".join(f"component Other {name};" for name in others.split())}
        component Shared shared;
        component {scheduler} order;
        connection seL4UserScheduler band({", ".join(f"from {name}.band" for name in names)}, to order.tasks);
        connection seL4RPCCall c({", ".join(f"from {name}.s" for name in all_)}, to shared.s);
    }}
    configuration {{
        order._priority = 100;
        {configuration}
    }}
}}
"""


def responses(run: Run, task: str) -> list[int]:
    """In milliseconds."""
    return [(event.time - event.args[1]) // MS for event in run.of(Kind.JOB_END, task)]


def make(path: Path, text: str, *, mcs: bool = False) -> Built:
    sources = SOURCES | {"Other": SOURCES["Task"]}
    return build(path, text, sources, mcs=mcs)


class Job(NamedTuple):
    """Milliseconds of work before, in and after the section of the lock."""

    task: str
    release: int
    deadline: int
    before: int
    inside: int
    after: int


def simulate(jobs: list[Job]) -> dict[str, list[int]]:
    """The response of each job of each task, one millisecond after the other: of the jobs that are released
    the one with the earliest deadline executes, or who has the lock that it needs. A lock is taken as soon as
    what is before it is done, also if another job is released at this moment."""
    done = dict.fromkeys(jobs, 0)
    found: dict[str, list[int]] = {}
    holder: Job | None = None
    waiting: list[Job] = []
    now = 0
    while done:
        ready = [job for job in done if job.release <= now]
        # one job of a task after the other
        ready = [
            job for job in ready if not any(o.task == job.task and o.release < job.release for o in ready)
        ]
        now += 1
        if not ready:
            continue
        job = min(ready, key=lambda each: each.deadline)
        if job.inside and done[job] == job.before and holder is not job:
            if holder is None:
                holder = job
            else:
                waiting += [job] if job not in waiting else []
                job = holder
        done[job] += 1
        if job.inside and done[job] == job.before and holder is None:
            holder = job
        if holder is job and done[job] == job.before + job.inside:
            holder = min(waiting, key=lambda each: each.deadline, default=None)
            waiting = [each for each in waiting if each is not holder]
        if done[job] == job.before + job.inside + job.after:
            del done[job]
            found.setdefault(job.task, []).append(now - job.release)
    return found


PAIR = """
    a._period = 5 ms; a.before = 2; a.jobs = 100;
    b._period = 7 ms; b.before = 4; b.jobs = 100;
"""


@pytest.mark.long  # the order is also that of random tasks below
@pytest.mark.parametrize("mcs", [False, True])
def test_earliest_deadlines_are_met_where_fixed_priorities_miss(mcs: bool, tmp_path: Path) -> None:
    run = make(tmp_path, system("inherited", PAIR, "a b"), mcs=mcs).run(duration=35 * MS)
    assert run.violations() == []
    assert responses(run, "a") == [2, 3, 4, 2, 2, 3, 4]
    assert responses(run, "b") == [6, 5, 6, 5, 4]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_random_tasks_are_ordered_as_in_a_simulation(seed: int, tmp_path: Path) -> None:
    """The last digit of a deadline is the number of its task, so no two are equal."""
    choose = random.Random(seed)
    names = [f"t{number}" for number in range(6)]
    lines, jobs = [], []
    for number, name in enumerate(names):
        period = 10 * choose.randint(2, 8)
        offset = choose.randint(0, 20)
        deadline = period - (offset - number) % 10
        work = choose.randint(0, 3), choose.randint(0, 4), choose.randint(1, 3)
        lines.append(f"{name}._period = {period} ms; {name}._deadline = {deadline} ms; {name}.jobs = 1000;")
        lines.append(f"{name}._offset = {offset} ms;")
        lines += [f"{name}.{w} = {t};" for w, t in zip(("before", "inside", "after"), work, strict=True)]
        for release in range(offset, 1500, period):
            jobs.append(Job(name, release, release + deadline, *work))
    protocol = "inherited" if seed < 4 else "inherited, monitor m"
    built = make(tmp_path, system(protocol, "\n".join(lines), " ".join(names)), mcs=seed % 2 == 1)
    run = built.run(duration=1500 * MS)
    assert run.violations() == []
    expected = simulate(jobs)
    for name in names:
        seen = responses(run, name)
        assert seen and seen == expected[name][: len(seen)], name


LOCK = """
    late._period = 100 ms; late.inside = 5; late.after = 1;
    middle._period = 50 ms; middle._offset = 1 ms; middle.before = 3;
    early._period = 20 ms; early._offset = 2 ms; early.inside = 1;
"""


@pytest.mark.mostly_long("False-inherited-ends0")
@pytest.mark.parametrize(
    ("protocol", "ends"),
    [
        # late [0,1) in its section, middle [1,2), early waits for late [2,6), early [6,7), middle [7,9)
        ("inherited", {"late": 10, "middle": 9, "early": 7}),
        ("inherited, monitor m", {"late": 10, "middle": 9, "early": 7}),
        # each at its own deadline
        ("propagated", {"late": 10, "middle": 5, "early": 3}),
        # nothing of the band while the section executes
        ("fixed", {"late": 10, "early": 6, "middle": 9}),
    ],
)
@pytest.mark.parametrize("mcs", [False, pytest.param(True, marks=pytest.mark.long)])
def test_deadlines_are_inherited(mcs: bool, protocol: str, ends: dict[str, int], tmp_path: Path) -> None:
    run = make(tmp_path, system(protocol, LOCK, "late middle early"), mcs=mcs).run(duration=19 * MS)
    assert run.violations() == []
    assert {task: run.of(Kind.JOB_END, task)[0].time // MS for task in ends} == ends


OUTSIDE = """
    late._period = 100 ms; late.inside = 5;
    early._period = 20 ms; early._offset = 2 ms; early.before = 1;
    low._priority = 50; low._period = 100 ms; low.inside = 4;
    between._priority = 60; between._period = 100 ms; between._offset = 1 ms; between.before = 3;
    late._offset = 1 ms;
"""


@pytest.mark.long
def test_a_task_below_the_band_inherits_its_priority(tmp_path: Path) -> None:
    """low has the lock from 0; late of the band waits for it from 1 on: low executes at that priority, and
    early [2,3) above it, late [5,10), between [10,13). Low ends its job after that."""
    run = make(tmp_path, system("inherited", OUTSIDE, "late early", "low between")).run(duration=90 * MS)
    assert run.violations() == []
    ends = {"low": 13, "early": 3, "late": 10, "between": 13}
    assert {task: run.of(Kind.JOB_END, task)[0].time // MS for task in ends} == ends


FAIR = """
    one.before = 1000; two.before = 1000; three.before = 1000;
    one._weight = 1; two._weight = 2; three._weight = 3;
"""


@pytest.mark.long
def test_weights_divide_the_processor(tmp_path: Path) -> None:
    """In 1 s they get 1/6, 2/6 and 3/6 of it, up to one slice."""
    text = system("inherited", FAIR, "one two three", scheduler="FairScheduler")
    built = make(tmp_path, text, mcs=True)
    reasons = {entry.reason for entry in authority(built.system, built.plan, built.model)}
    assert {
        "orders the jobs of one, two, three",
        "asks order for the priority of a job",
        "asks the manager of two to set its priority",
        "asks how long two has executed",
        "ends time slices",
    } <= reasons
    run = built.run(duration=1000 * MS)
    assert run.violations() == []
    used = dict.fromkeys(("one", "two", "three"), 0)
    for event in run.of(Kind.CHARGE):
        name = run.names.thread_name(event.thread)
        if name in used:
            used[name] += event.args[1]
    for name, share in (("one", 166.7), ("two", 333.3), ("three", 500)):
        assert used[name] / MS == pytest.approx(share, abs=1)
