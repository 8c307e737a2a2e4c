# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The criticality of random systems changes again and again, up and down, also within nested requests and
while threads wait for locks: all properties hold at every event."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from camkes.report.trace.kinds import Kind
from tests.report.test_random_systems import JOBS, PERIOD, code, random_system, text
from tests.runtime.host import Run, build

CONTROLLER = "component Controller { control; requestor; criticality_control; }\n"
#: changes, one for each job
CHANGES = 64


def run_with_changes(seed: int, folder: Path) -> Run:
    rng = random.Random(seed)
    tasks, cpis = random_system(seed)
    levels = {task.name: rng.randint(0, 3) for task in tasks}
    levels[rng.choice(tasks).name] = 3
    values = [
        *(f"{name}._criticality = {level};" for name, level in levels.items()),
        *("controller._priority = 120;", "controller._period = 23 us;"),
        *(f"{cpi.name}_extension = 100 us;" for cpi in cpis),
    ]
    system = text(tasks, cpis, {}).replace("assembly {", f"{CONTROLLER} assembly {{")
    system = re.sub(r"priority_protocol \w+", r"\g<0>, overrun extend", system)
    system = system.replace("} configuration {", "component Controller controller; } configuration {")
    system = "\n".join([system.removesuffix("} }"), *values, "} }"])
    numbers = ", ".join(str(rng.randint(0, 3)) for _ in range(CHANGES))
    loop = f"for (int job = 0; job < {JOBS} && camkes_next_job(); job++)"
    sources = {
        task.name.title(): f"int run(void) {{ {loop} {{\n{code(task.body)}\n}} return 0; }}\n"
        for task in tasks
    }
    sources |= {cpi.name.split(".")[0].title(): f"void p_go(void) {{\n{code(cpi.body)}\n}}\n" for cpi in cpis}
    sources["Controller"] = f"""int run(void)
{{
    static const unsigned levels[] = {{{numbers}}};
    for (unsigned job = 0; camkes_next_job(); job++) {{
        camkes_set_criticality(levels[job % {CHANGES}]);
    }}
    return 0;
}}
"""
    return build(folder, system, sources, mcs=True).run(duration=JOBS * PERIOD)


@pytest.mark.parametrize(
    "seed", [659, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3, 4521))]
)
def test_properties_hold_while_the_criticality_changes(seed: int, tmp_path: Path) -> None:
    run = run_with_changes(seed, tmp_path)
    assert run.status == 0 and run.errors == ""
    assert len(run.of(Kind.CRITICALITY)) > CHANGES and len(run.of(Kind.INHERIT)) > 100
    assert run.violations() == []
