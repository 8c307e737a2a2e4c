# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The kernel calls of a request are those that docs/costs.md lists: no more, no fewer, in this order."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import pytest

from camkes.running.kinds import KernelCall, Kind
from tests.runtime.host import Run, build

pytestmark = pytest.mark.requirement("RT-10")

PAGE = Path(__file__).parents[2] / "docs" / "costs.md"

_SYSTEM = """
procedure P {{ void go(); }}
component Task {{ control; requestor; uses P p; }}
component Plain {{ provides P p; }}
component Pass {{ provides P p with priority_protocol inherited, requests (n); uses P n; }}
component Leaf {{ provides P p with priority_protocol {protocol}, requests (); }}
assembly {{
    composition {{ component Task low; component Task high; {composition} }}
    configuration {{
        low._priority = 10; low._period = 10 ms;
        high._priority = 20; high._period = 10 ms; high._offset = {offset} us;
    }}
}}
"""
_LEAF = """
component Leaf leaf;
connection seL4RPCCall x(from low.p, from high.p, to leaf.p);
"""
_PLAIN = "component Plain leaf; connection seL4RPCCall x(from low.p, from high.p, to leaf.p);"
_CHAIN = """
component Pass pass; component Leaf leaf;
connection seL4RPCCall x(from low.p, from high.p, to pass.p);
connection seL4RPCCall y(from pass.n, to leaf.p);
"""
_SOURCES = {
    "Task": "int run(void) { while (camkes_next_job()) { p_go(); } return 0; }\n",
    "Plain": "void p_go(void) { camkes_work(CAMKES_US(100)); }\n",
    "Leaf": "void p_go(void) { camkes_work(CAMKES_US(100)); }\n",
    "Pass": "void p_go(void) { n_go(); }\n",
}
#: while the request of `low` is served, and when it is over
_MEANWHILE, _AFTER = 50, 500

#: a row of the table: protocol of the leaf, what there is, offset of `high`
_ROWS = {
    "plain": ("fixed", _PLAIN, _AFTER),
    "`fixed`": ("fixed", _LEAF, _AFTER),
    "`propagated`": ("propagated", _LEAF, _MEANWHILE),
    "`inherited`, free lock": ("inherited", _LEAF, _AFTER),
    "`inherited`, lock is held": ("inherited", _LEAF, _MEANWHILE),
    "nested, both locks are free": ("inherited", _CHAIN, _AFTER),
    "nested, the inner CPI has a pool": ("propagated, 1 threads", _CHAIN, _AFTER),
    "lock is held by a context in a nested request": ("inherited", _CHAIN, _MEANWHILE),
}
#: the same where the budget of `low` ends after that, before its request does
_OVERRUNS = {f"lock is held, `{policy}`": policy for policy in ("help", "extend", "abort")}
_BUDGET = "low._budget = 70 us; leaf.p_extension = 1 ms;"

#: what the table calls a thread
_ROLES = {
    "high": "caller",
    "leaf.p": "server",
    "leaf.p@high": "worker",
    "leaf.p@low": "holder",
    "leaf.p!manager": "manager",
}
_CHAIN_ROLES = {
    "high": "caller",
    "pass.p@high": "worker",
    "pass.p@low": "holder",
    "pass.p!manager": "manager",
    "leaf.p@high": "inner worker",
    "leaf.p@0": "inner worker",
    "leaf.p@low": "inner holder",
    "leaf.p!manager": "inner manager",
}


def listed() -> dict[str, str]:
    rows = re.findall(r"^\| ([^|]+) \| (\w[\w ]*: [^|]+) \|$", PAGE.read_text(), re.MULTILINE)
    return {operation.strip(): calls.strip() for operation, calls in rows}


def found(run: Run, roles: dict[str, str]) -> str:
    """What all threads asked of the kernel between the begin and the end of the request of `high`."""
    names = {t.number: t.name for t in run.names.threads}
    high = run.number("high")
    caller = [i for i, e in enumerate(run.events) if e.thread == high]
    begin = next(
        i for i in caller if run.events[i].kind is Kind.KCALL and run.events[i].args[0] == KernelCall.CALL
    )
    end = next(i for i in caller if i > begin and run.events[i].kind is Kind.KCALL)
    calls = [
        (roles[names[e.thread]], KernelCall(e.args[0]))
        for e in run.events[begin:end]
        if e.kind is Kind.KCALL and e.thread is not None and e.args[0] != KernelCall.TIMER
    ]
    return "; ".join(
        f"{role}: {', '.join(call.name for _, call in group)}"
        for role, group in groupby(calls, key=lambda call: call[0])
    )


def test_the_table_has_these_rows() -> None:
    assert set(listed()) == {*_ROWS, *_OVERRUNS}


@pytest.mark.mostly_long("`inherited`, lock is held")
@pytest.mark.parametrize("operation", _ROWS)
def test_kernel_calls_of_a_request(operation: str, tmp_path: Path) -> None:
    protocol, composition, offset = _ROWS[operation]
    text = _SYSTEM.format(protocol=protocol, composition=composition, offset=offset)
    run = build(tmp_path, text, _SOURCES).run(duration=3_000_000)
    assert not run.violations()
    roles = _CHAIN_ROLES if composition is _CHAIN else _ROLES
    assert found(run, roles) == listed().get(operation)


@pytest.mark.long
@pytest.mark.parametrize("operation", _OVERRUNS)
def test_kernel_calls_of_a_request_that_waits_for_one_without_a_budget(
    operation: str, tmp_path: Path
) -> None:
    policy = _OVERRUNS[operation]
    text = _SYSTEM.format(protocol=f"inherited, overrun {policy}", composition=_LEAF, offset=_MEANWHILE)
    text = text.replace("low._priority", f"{_BUDGET} low._priority")
    rollback = "void p__rollback(void) { }\n" if policy == "abort" else ""
    sources = _SOURCES | {"Leaf": _SOURCES["Leaf"] + rollback}
    run = build(tmp_path, text, sources, mcs=True).run(duration=3_000_000)
    assert not run.violations()
    assert [e.time for e in run.of(Kind.TIMEOUT)] == [70_000]
    assert found(run, _ROLES) == listed().get(operation)
