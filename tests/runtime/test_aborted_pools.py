# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A request to a pool, of a caller whose aborted one has not ended."""

from __future__ import annotations

import pytest

from camkes.report.trace.kinds import Kind
from tests.runtime.host import Built, build

MS = 1_000_000

SYSTEM = """
procedure Section { int enter(in int ms); }
component User { control; requestor; uses Section s; uses Section direct; }
component Gate {
    provides Section s with priority_protocol fixed, overrun abort, requests (next);
    uses Section next;
}
component Pool { provides Section s with priority_protocol inherited, overrun abort, requests (), 2 threads; }
assembly {
    composition {
        component User left; component User right;
        component Gate gate; component Pool pool;
        connection seL4RPCCall c1(from left.s, from right.s, to gate.s);
        connection seL4RPCCall c2(from gate.next, from left.direct, from right.direct, to pool.s);
    }
    configuration {
        left._priority = 20; left._period = 50 ms; left._budget = 3 ms;
        right._priority = 30; right._period = 50 ms; right._offset = 4 ms;
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
