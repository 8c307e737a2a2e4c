# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Whole systems on an MCS kernel: who runs when, and whose budget it costs: figures computed by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from camkes.capdl.host_table import table_objects
from camkes.running.kinds import Kind
from tests.runtime.host import Built, Run, build

pytestmark = pytest.mark.requirement("RT-22")

MS = 1_000_000

# five tasks with rate-monotonic priorities and budgets that are what they need

TASKS = (("t5", 6, 10, 2), ("t4", 5, 20, 2), ("t3", 4, 25, 5), ("t2", 3, 40, 4), ("t1", 2, 60, 6))
WORKER = "component Worker { control; requestor; attribute int length; }\n"
JOBS = {
    "Worker": "#include <camkes/realtime.h>\n"
    "int run(void) { while (camkes_next_job()) { camkes_work(CAMKES_MS(length)); } return 0; }\n"
}


def tasks(needs: int, more: str = "") -> str:
    """T4 needs this in each of its jobs."""
    instances = "".join(f"component Worker {name};\n" for name, *_ in TASKS)
    values = "".join(
        f"{name}._priority = {priority}; {name}._period = {period} ms; {name}._budget = {budget} ms;\n"
        f"{name}.length = {needs if name == 't4' else budget};\n"
        for name, priority, period, budget in TASKS
    )
    return f"{WORKER}assembly {{ composition {{ {instances} }} configuration {{ {values} {more} }} }}\n"


def responses(run: Run) -> dict[str, list[int]]:
    """Of the jobs of each task, in milliseconds."""
    return {
        name: [(e.time - e.args[1]) // MS for e in run.of(Kind.JOB_END, name)] for name, *_ in TASKS
    }  # fmt: skip


def charged(built: Built, run: Run) -> Counter[str]:
    objects = [item.name for item in table_objects(built.model)]
    used: Counter[str] = Counter()
    for event in run.of(Kind.CHARGE):
        used[objects[event.args[0]]] += event.args[1]
    return used


@pytest.mark.long
def test_a_task_that_needs_more_than_its_budget_is_late_and_no_other_is(tmp_path: Path) -> None:
    good = build(tmp_path / "good", tasks(2), JOBS, mcs=True)
    run = good.run(duration=600 * MS)
    worst = {name: max(times) for name, times in responses(run).items()}
    assert worst == {"t5": 2, "t4": 4, "t3": 9, "t2": 15, "t1": 25}
    bad = build(tmp_path / "bad", tasks(7), JOBS, mcs=True)
    over = bad.run(duration=600 * MS)
    late = responses(over)
    assert len(late["t4"]) < len(responses(run)["t4"])
    assert {name: max(times) for name, times in late.items() if name != "t4"} == {
        name: time for name, time in worst.items() if name != "t4"
    }
    assert charged(bad, over)["t4:sc"] == charged(good, run)["t4:sc"] == 60 * MS


EXTENDED = 't4._overrun = "extend"; t4._extension = 5 ms; t4._extension_period = 20 ms;'


@pytest.mark.long
def test_a_job_goes_on_with_the_extension_of_its_task(tmp_path: Path) -> None:
    """All jobs of T4 end in time then, and two of T1 do not."""
    built = build(tmp_path, tasks(7, EXTENDED), JOBS, mcs=True)
    run = built.run(duration=600 * MS)
    found = responses(run)
    assert {name: max(times) for name, times in found.items()} == {
        "t5": 2, "t4": 9, "t3": 16, "t2": 20, "t1": 73,
    }  # fmt: skip
    assert sum(time > 60 for time in found["t1"]) == 2
    used = charged(built, run)
    assert (used["t4:sc"], used["t4!extension:sc"]) == (60 * MS, 150 * MS)
    assert run.violations() == []


@pytest.mark.long
def test_the_end_of_a_part_of_the_budget_does_not_extend_a_job(tmp_path: Path) -> None:
    """With constant bandwidth a preemption of T4, in 8 to 10 and 12 to 14, splits its budget: in the next job
    it has 2 at 28, and 2 at 32, and does not go on in between."""
    changes = (
        't4._overrun = "extend"; t4._extension = 5 ms; t4._extension_period = 20 ms; t4._offset = 8 ms; '
        't4._server = "constant_bandwidth"; t4._budget = 4 ms;'
    )
    text = tasks(4, changes).replace("t4._budget = 2 ms;", "", 1)
    built = build(tmp_path, text, JOBS, mcs=True)
    run = built.run(duration=600 * MS)
    assert run.of(Kind.TIMEOUT, "t4")[0].time == 30 * MS
    assert charged(built, run)["t4!extension:sc"] == 0


# clients that take all they can get, and a task that shares nothing with them

ATTACKS = """
procedure Section {{ void enter(in int us); }}
component Attacker {{ control; requestor; uses Section s; attribute int attack; }}
component Worker {{ control; requestor; attribute int length; }}
component Server {{ provides Section s with priority_protocol {protocol}; }}
assembly {{ composition {{
    component Attacker stays; component Attacker loops; component Attacker calls;
    component Worker bystander; component Server s1; component Server s2; component Server s3;
    connection seL4RPCCall c1(from stays.s, to s1.s);
    connection seL4RPCCall c2(from loops.s, to s2.s);
    connection seL4RPCCall c3(from calls.s, to s3.s);
}} configuration {{
    stays._priority = 40; stays._period = 10 ms; stays._budget = 1 ms; stays.attack = 1 * {attack};
    loops._priority = 30; loops._period = 10 ms; loops._budget = 1 ms; loops.attack = 2 * {attack};
    calls._priority = 20; calls._period = 10 ms; calls._budget = 1 ms; calls.attack = 3 * {attack};
    bystander._priority = 10; bystander._period = 10 ms; bystander.length = 3;
}} }}
"""
#: an honest client requests 1 ms in each job; the others stay in a request, loop, or request again and again
ATTACKER = """
int run(void)
{
    while (camkes_next_job()) {
        if (attack == 2) { for (;;) { camkes_work(CAMKES_US(100)); } }
        s_enter(attack == 1 ? 1000000000 : 1000);
        while (attack == 3) { s_enter(10); }
    }
    return 0;
}
"""


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["inherited", "propagated", "fixed"])
def test_clients_that_take_all_they_can_cost_others_nothing_more(protocol: str, tmp_path: Path) -> None:
    """The bystander waits for the budgets of those above it, whatever they do with them, in any job."""
    sources = {
        "Attacker": ATTACKER,
        "Server": "void s_enter(int us) { camkes_work(CAMKES_US((uint64_t)us)); }\n",
        **JOBS,
    }
    seen = []
    for attack in (0, 1):
        text = ATTACKS.format(protocol=protocol, attack=attack)
        run = build(tmp_path / str(attack), text, sources, mcs=True).run()
        ends = run.of(Kind.JOB_END, "bystander")
        assert len(ends) == 100
        seen.append([(e.time, e.args) for e in ends])
    assert seen[0] == seen[1]


#: they have higher priorities than the task and its servers; `where` they request the same ones or another
CHAIN = """
procedure Section {{ void enter(in int us); }}
component Attacker {{ control; requestor; uses Section s; attribute int attack; }}
component Bystander {{ control; requestor; uses Section s; }}
component Outer {{ provides Section s with priority_protocol inherited, overrun abort; uses Section n; }}
component Inner {{ provides Section s with priority_protocol inherited, overrun abort; }}
assembly {{ composition {{
    component Attacker stays; component Attacker loops; component Attacker calls;
    component Bystander bystander; component Outer outer; component Inner inner;
    component Outer outer2; component Inner inner2;
    connection seL4RPCCall c1(from bystander.s, {where} to outer.s);
    connection seL4RPCCall c2(from outer.n, to inner.s);
    connection seL4RPCCall c3(from stays.s, {elsewhere} to outer2.s);
    connection seL4RPCCall c4(from outer2.n, to inner2.s);
}} configuration {{
    stays._priority = 40; stays._period = 10 ms; stays._budget = 1 ms; stays.attack = 1 * {attack};
    loops._priority = 30; loops._period = 10 ms; loops._budget = 1 ms; loops.attack = 2 * {attack};
    calls._priority = 20; calls._period = 10 ms; calls._budget = 1 ms; calls.attack = 3 * {attack};
    bystander._priority = 10; bystander._period = 10 ms;
}} }}
"""


@pytest.mark.long
@pytest.mark.parametrize("servers", ["the same", "others"])
def test_attackers_above_a_task_and_its_servers_cost_it_their_budgets(servers: str, tmp_path: Path) -> None:
    """That is 3 ms in each job, and its own 2. Requests of attackers that do not end are aborted."""
    more = "from loops.s, from calls.s,"
    where, elsewhere = (more, "") if servers == "the same" else ("", more)
    enter = "camkes_work(CAMKES_US((uint64_t)us / 2));"
    sources = {
        "Attacker": ATTACKER,
        "Bystander": "int run(void) { while (camkes_next_job()) { camkes_work(CAMKES_MS(1)); s_enter(1000); }"
        " return 0; }\n",
        "Outer": f"void s_enter(int us) {{ {enter} n_enter(us); }}\nvoid s__rollback(void) {{ }}\n",
        "Inner": f"void s_enter(int us) {{ {enter} }}\nvoid s__rollback(void) {{ }}\n",
    }
    for attack in (0, 1):
        text = CHAIN.format(where=where, elsewhere=elsewhere, attack=attack)
        run = build(tmp_path / str(attack), text, sources, mcs=True).run()
        times = [e.time - e.args[1] for e in run.of(Kind.JOB_END, "bystander")]
        assert times == [5 * MS] * 100
        assert run.violations() == []
