# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A request that meets no contention costs what a plain RPC costs."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.running.kinds import KernelCall, Kind
from tests.runtime.host import Run, build
from tests.runtime.systems import PROTOCOLS, every_pair

pytestmark = pytest.mark.requirement("RT-9")

_JOBS = 5

_CHAIN = """
procedure P { int twice(in int x); }
component Task { control; requestor; uses P p; }
component Pass { provides P p with requests (n); uses P n; }
component Leaf { provides P p with requests (); }
assembly {
    composition {
        component Task a;
        component Task b;
        component Pass pass;
        component Leaf leaf;
        connection seL4RPCCall x1(from a.p, from b.p, to pass.p);
        connection seL4RPCCall x2(from pass.n, to leaf.p);
    }
    configuration {
        a._priority = 10; a._period = 1 ms;
        b._priority = 20; b._period = 1 ms; b._offset = 500 us;
        SETTINGS
    }
}
"""

_SOURCES = {
    "Task": "int run(void) { while (camkes_next_job()) { (void)p_twice(21); } return 0; }\n",
    "Pass": "int p_twice(int x) { return n_twice(x); }\n",
    "Leaf": "int p_twice(int x) { return 2 * x; }\n",
}


def _calls(run: Run, thread: str) -> list[KernelCall]:
    """What a thread asked of the kernel from its first request on, timers and releases apart."""
    apart = (KernelCall.TIMER, KernelCall.WAIT, KernelCall.DEBUG)
    return [k for e in run.of(Kind.KCALL, thread) if (k := KernelCall(e.args[0])) not in apart]


def _chain(folder: Path, *protocols: str) -> Run:
    settings = "".join(
        f'{name}.p_priority_protocol = "{protocol}";'
        for name, protocol in zip(("pass", "leaf"), protocols, strict=True)
    )
    built = build(folder, _CHAIN.replace("SETTINGS", settings), _SOURCES)
    return built.run(duration=_JOBS * 1_000_000 - 1)


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize(("first", "second"), every_pair(PROTOCOLS, PROTOCOLS))
def test_uncontended_requests_cost_a_call_and_a_reply(first: str, second: str, tmp_path: Path) -> None:
    run = _chain(tmp_path, first, second)
    assert not run.violations()
    workers = [t for t in run.names.threads if t.cpi is not None and "!manager" not in t.name]
    managers = [t for t in run.names.threads if "!manager" in t.name]
    requests = 0
    for task in ("a", "b"):
        assert _calls(run, task) == [KernelCall.CALL] * _JOBS
    for worker in workers:
        served = len(run.of(Kind.REQUEST_BEGIN, worker.name))
        requests += served
        calls = _calls(run, worker.name)
        assert calls.count(KernelCall.REPLYRECV) == served
        further = served if worker.instance == "pass" else 0
        assert calls.count(KernelCall.CALL) == further
        # and once, at the start, it waits for its first request
        assert len(calls) == served + further + 1
    assert requests == 2 * 2 * _JOBS
    for manager in managers:
        assert _calls(run, manager.name) == [KernelCall.RECV]


@pytest.mark.long
def test_a_plain_rpc_costs_the_same(tmp_path: Path) -> None:
    text = """
    procedure P { int twice(in int x); }
    component Client { control; uses P p; }
    component Server { provides P p; }
    assembly { composition {
        component Client client; component Server server;
        connection seL4RPCCall x(from client.p, to server.p);
    } }
    """
    sources = {
        "Client": "int run(void) { for (int i = 0; i < 5; i++) { (void)p_twice(i); } return 0; }\n",
        "Server": "int p_twice(int x) { return 2 * x; }\n",
    }
    run = build(tmp_path, text, sources).run()
    assert _calls(run, "client") == [KernelCall.CALL] * 5
    assert _calls(run, "server.p").count(KernelCall.REPLYRECV) == 5
