# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Aborted requests in chains of several policies, in pools and two at once; tasks that are suspended.

The figures were computed by hand. The parts of the system are released one after the other, so one run shows
all.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.generate import generate_headers
from camkes.running.kinds import Kind
from tests.runtime.host import Run, build, checked

pytestmark = pytest.mark.requirement("RT-19")

MS = 1_000_000
HEAD = "#include <camkes/realtime.h>\n"


def component(name: str, protocol: str, policy: str, more: str = "", rest: str = "") -> str:
    clauses = f"priority_protocol {protocol}, overrun {policy}{more}"
    return f"component {name} {{ provides Section s with {clauses}; {rest} }}\n"


NEXT = "uses Section next;"
SYSTEM = f"""
procedure Section {{ int enter(in int ms); }}
procedure Resume {{ int task(in int id); }}
component User {{ control; requestor; uses Section s; attribute int length = 4; attribute int jobs = 1; }}
component Watch {{ control; requestor; uses Resume r; }}
{component("Leaf", "inherited", "abort")}
{component("Above", "inherited", "abort", rest=NEXT)}
{component("Longer", "inherited", "extend", rest=NEXT)}
{component("Gate", "inherited", "wait", rest=NEXT)}
{component("Pool", "inherited", "abort", ", 2 threads")}
{component("Own", "propagated", "abort")}
{component("Closed", "fixed", "suspend", rest="provides Resume r;")}
assembly {{
    composition {{
        component User deep; component User other; component Above a1; component Above a2; component Leaf a3;
        connection seL4RPCCall ca1(from deep.s, from other.s, to a1.s);
        connection seL4RPCCall ca2(from a1.next, to a2.s);
        connection seL4RPCCall ca3(from a2.next, to a3.s);
        component User mixed; component Above b1; component Longer b2; component Leaf b3;
        connection seL4RPCCall cb1(from mixed.s, to b1.s);
        connection seL4RPCCall cb2(from b1.next, to b2.s);
        connection seL4RPCCall cb3(from b2.next, to b3.s);
        component User low; component User spare; component User high;
        component Gate gate; component Pool pool;
        connection seL4RPCCall cc1(from low.s, from spare.s, to gate.s);
        connection seL4RPCCall cc2(from gate.next, from high.s, to pool.s);
        component User slow; component User fast; component Own own;
        connection seL4RPCCall cd(from slow.s, from fast.s, to own.s);
        component User hostile; component User good; component Closed closed; component Watch watch;
        connection seL4RPCCall ce(from hostile.s, from good.s, to closed.s);
        connection seL4RPCCall cr(from watch.r, to closed.r);
    }}
    configuration {{
        deep._priority = 10; deep._period = 20 ms; deep._budget = 3 ms; deep.jobs = 5;
        other._priority = 20; other._period = 20 ms; other._offset = 2 ms; other.jobs = 5; other.length = 1;
        mixed._priority = 10; mixed._period = 30 ms; mixed._budget = 3 ms; mixed._offset = 200 ms;
        b2.s_extension = 1 ms; b2.s_extension_period = 20 ms;
        low._priority = 10; low._period = 20 ms; low._budget = 3 ms; low._offset = 300 ms; low.length = 6;
        spare._priority = 5; spare._period = 1 s; spare._offset = 900 ms; spare.length = 1;
        high._priority = 30; high._period = 50 ms; high._budget = 10 ms; high._offset = 302 ms;
        high.length = 1;
        slow._priority = 20; slow._period = 20 ms; slow._budget = 3 ms; slow._offset = 400 ms; slow.jobs = 2;
        fast._priority = 21; fast._period = 20 ms; fast._budget = 3 ms; fast._offset = 404 ms; fast.jobs = 2;
        hostile._priority = 4; hostile._period = 20 ms; hostile._budget = 3 ms; hostile._offset = 500 ms;
        hostile.jobs = 2; hostile.requestor = 60;
        good._priority = 30; good._period = 20 ms; good._offset = 501 ms; good.jobs = 5;
        watch._priority = 5; watch._period = 65 ms; watch._offset = 565 ms; closed.r_priority = 6;
    }}
}}
"""
LEAF = HEAD + "int s_enter(int ms) { camkes_work(CAMKES_MS(ms)); return ms; }\n"
SAYS = """
static void says(const char *what)
{
    printf("%s %s %d\\n", get_instance_name(), what, (int)(camkes_now() / 1000000));
}
"""
ROLLBACK = SAYS + 'void s__rollback(void) { says("back"); }\n'
PASS = HEAD + "int s_enter(int ms) { return next_enter(ms); }\n"
SOURCES = {
    "User": HEAD
    + SAYS
    + """
int run(void)
{
    for (int i = 0; i < jobs && camkes_next_job(); i++) {
        const int result = s_enter(length);
        const bool aborted = camkes_request_aborted();
        says(aborted != (result == 0) ? "wrong" : aborted ? "aborted" : "served");
    }
    return 0;
}
""",
    "Leaf": LEAF + ROLLBACK,
    "Pool": LEAF + ROLLBACK,
    "Above": PASS + ROLLBACK,
    "Gate": HEAD
    + "int s_enter(int ms) { const int served = next_enter(ms); return served != 0 ? served : -1; }\n",
    "Longer": HEAD + "int s_enter(int ms) { next_enter(ms); camkes_work(CAMKES_MS(2)); return ms; }\n",
    "Own": LEAF + SAYS + 'void s__rollback(void) { camkes_work(CAMKES_MS(2)); says("back"); }\n',
    "Closed": HEAD
    + SAYS
    + """
static int last = -1;
int s_enter(int ms)
{
    last = ms == 4 && last < 0 ? camkes_requestor() : last;
    camkes_work(CAMKES_MS(ms));
    return ms;
}
void s__rollback(void) { says("back"); }
int r_task(int id)
{
    (void)id;
    const bool first = s__resume(last), again = s__resume(last) || s__resume(-1) || s__resume(999);
    says(first ? "resumes" : "has none");
    return again;
}
""",
    "Watch": HEAD
    + SAYS
    + """
int run(void)
{
    for (int i = 0; i < 3 && camkes_next_job(); i++) {
        says(r_task(0) == 0 ? "looked" : "wrong");
    }
    return 0;
}
""",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("suspended")
    return build(folder, SYSTEM, SOURCES, mcs=True).run(duration=1_000 * MS)


def said(run: Run, *instances: str) -> list[str]:
    lines = "".join(event.text for event in run.of(Kind.OUTPUT)).splitlines()
    return [line for line in lines if line.split()[0] in instances]


@pytest.mark.long
def test_a_chain_of_three_is_rolled_back_from_its_end(run: Run) -> None:
    """The lock of the first is free at 3 of each round: so the other is served in 2 ms."""
    assert said(run, "deep", "other", "a1", "a2", "a3") == [
        line
        for start in range(0, 100, 20)
        for line in (
            *(f"{instance} back {start + 3}" for instance in ("a3", "a2", "a1")),
            f"other served {start + 4}",
            f"deep aborted {start + 20}",
        )
    ]


@pytest.mark.long
def test_each_cpi_of_a_chain_has_its_own_policy(run: Run) -> None:
    """The last is aborted at 203. The one before goes on, and is extended to 204; it ends on the next budget
    at 231. So the first is not aborted."""
    assert said(run, "mixed", "b1", "b2", "b3") == ["b3 back 203", "mixed served 231"]


def test_a_pool_aborts(run: Run) -> None:
    assert said(run, "low", "high", "pool") == ["pool back 303", "high served 304", "low served 320"]


def test_two_roll_backs_one_after_the_other(run: Run) -> None:
    """Slow rolls back from 403, but fast executes from 404 to 407. It is aborted while slow uses what there
    is for that; so its own roll-back is from 408 on."""
    assert said(run, "own", "slow", "fast") == [
        line
        for start in (400, 420)
        for line in (
            *(f"own back {start + at}" for at in (8, 10)),
            f"slow aborted {start + 20}",
            f"fast aborted {start + 24}",
        )
    ]


def test_a_suspended_task_goes_on_when_it_is_resumed(run: Run) -> None:
    resumed = ["closed resumes {0}", "watch looked {0}", "hostile aborted {0}"]
    assert said(run, "hostile", "closed", "watch") == [
        "closed back 503",
        *(line.format(565) for line in resumed),
        "closed back 568",
        *(line.format(630) for line in resumed),
        "closed has none 695",
        "watch looked 695",
    ]
    assert said(run, "good") == [f"good served {at}" for at in (507, 525, 545, 565, 585)]


def test_nothing_is_left(run: Run) -> None:
    assert "wrong" not in run.output
    assert run.violations() == []


def test_the_declaration_needs_no_plan(tmp_path: Path) -> None:
    """Where components are compiled to read their calls, as on seL4, headers are made without one."""
    folders = generate_headers(checked(tmp_path, SYSTEM, Sink(), mcs=True).system, tmp_path / "out")
    assert "bool s__resume(int task);" in (folders["closed"] / "camkes.h").read_text()
    assert "resume" not in (folders["a1"] / "camkes.h").read_text()
