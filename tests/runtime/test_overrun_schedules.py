# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Overruns that end in the same way whatever the schedule: each was once wrong with one of these choices."""

from __future__ import annotations

import pytest

from camkes.running.kinds import Kind
from tests.runtime.host import Built, build

pytestmark = pytest.mark.requirement("RT-18")

MS = 1_000_000

SYSTEM = """
procedure Section { int enter(in int ms); }
component User { control; requestor; uses Section s; uses Section direct; }
component Gate {
    provides Section s with priority_protocol fixed, overrun abort, requests (next);
    uses Section next;
}
component Pool { provides Section s with priority_protocol inherited, overrun abort, requests (), 2 threads; }
component Low { control; requestor; uses Section s; }
component High { control; requestor; uses Section s; }
component Help { provides Section s with priority_protocol inherited, overrun help; }
assembly {
    composition {
        component User left; component User right;
        component Gate gate; component Pool pool;
        component Low low; component High high; component Help help;
        connection seL4RPCCall c1(from left.s, from right.s, to gate.s);
        connection seL4RPCCall c2(from gate.next, from left.direct, from right.direct, to pool.s);
        connection seL4RPCCall c3(from low.s, from high.s, to help.s);
    }
    configuration {
        left._priority = 20; left._period = 50 ms; left._budget = 3 ms;
        right._priority = 30; right._period = 50 ms; right._offset = 4 ms;
        low._priority = 20; low._period = 20 ms; low._budget = 3 ms; low._offset = 100 ms;
        high._priority = 30; high._period = 50 ms; high._budget = 1 ms; high._offset = 120 ms;
    }
}
"""

HEAD = "#include <camkes/realtime.h>\n"
SOURCES = {
    "User": HEAD
    + """
int run(void)
{
    camkes_next_job();
    s_enter(4);
    printf("%s %s\\n", get_instance_name(), camkes_request_aborted() ? "aborted" : "served");
    return 0;
}
""",
    "Low": "int run(void) { s_enter(8); return 0; }\n",
    "High": HEAD + "int run(void) { camkes_work(CAMKES_MS(1)); s_enter(0); return 0; }\n",
    "Help": HEAD + "int s_enter(int ms) { camkes_work(CAMKES_MS(ms)); return ms; }\n",
    "Gate": HEAD
    + """
int s_enter(int ms) { return next_enter(ms); }
void s__rollback(void) { camkes_work(CAMKES_MS(2)); }
""",
    "Pool": HEAD
    + """
int s_enter(int ms) { camkes_work(CAMKES_MS(ms)); return ms; }
void s__rollback(void) { camkes_work(CAMKES_MS(3)); }
""",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(tmp_path_factory.mktemp("pools"), SYSTEM, SOURCES, mcs=True)


@pytest.mark.parametrize("choices", ["random:1", "random:5", "random:6"])
def test_it_waits_for_the_roll_back(choices: str, built: Built) -> None:
    """`left` is aborted at 3. `right` comes at 4, and is served after the roll-backs of 2 and 3 ms, whatever
    their order: its request of 4 ms ends at 12. With two of these choices the caller is back first, and the
    pool's second thread waits."""
    run = built.run("--choices", choices, duration=60 * MS)
    assert run.violations() == []
    assert run.of(Kind.FAULT) == []
    assert sorted(run.output.splitlines()) == ["left aborted", "right served"]
    assert [end.time - end.args[1] for end in run.of(Kind.JOB_END, "right")] == [8 * MS]


@pytest.mark.parametrize("choices", ["random:1", "random:2", "random:6"])
def test_a_holder_overruns_while_the_manager_looks_for_time(choices: str, built: Built) -> None:
    """`low` has had no budget from 3 on, and goes on at 21, after `high`, which waits for its lock then, and
    has no budget. `low` may use up its own before the manager knows that, and was then left without a
    scheduling context. It has the next one from 40 on, or from 41 on if the manager bound it at 21 to look
    for budget, and needs 2; `high` has its own from 70 on."""
    run = built.run("--choices", choices, duration=200 * MS)
    assert run.violations() == []
    responses = {name: [e.time - e.args[1] for e in run.of(Kind.JOB_END, name)] for name in ("low", "high")}
    assert responses["low"] in ([42 * MS], [43 * MS])
    assert responses["high"] == [50 * MS]
