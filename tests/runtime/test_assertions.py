# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""An invariant of the runtime that does not hold is a fault of the thread that sees it, and is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.runtime.host import build

pytestmark = pytest.mark.requirement("RT-15")

_SYSTEM = """
procedure P { void go(); }
component Task { control; requestor; uses P p; }
component Leaf { provides P p with priority_protocol inherited, requests (); }
assembly {
    composition {
        component Task low; component Task high; component Leaf leaf;
        connection seL4RPCCall c(from low.p, from high.p, to leaf.p);
    }
    configuration {
        low._priority = 10;
        high._priority = 20; high._period = 1 ms; high._offset = 50 us;
    }
}
"""
_TASK = "int run(void) { p_go(); return 0; }\n"

#: what a handler writes over the records of its CPI, and the invariant that this breaks
_BROKEN = {
    "request": ("context->request = 0;", "context->request >= context->base"),
    "effective": ("atomic_store(&other->effective, 25);", "camkes_queue_source("),
    "waiters": ("atomic_store(&cpi->lock, CAMKES_WAITERS);", "held_by != NULL"),
    "context": ("camkes_self()->context = other;", "worker->context == context"),
}


@pytest.mark.mostly_long("effective-")
@pytest.mark.parametrize("mcs", [False, True], ids=["", "mcs"])
@pytest.mark.parametrize("name", _BROKEN)
def test_a_broken_record_is_named(name: str, mcs: bool, tmp_path: Path) -> None:
    broken, condition = _BROKEN[name]
    leaf = f"""
    #include <camkes/cpi.h>
    void p_go(void)
    {{
        struct camkes_cpi *const cpi = camkes_self()->cpi;
        struct camkes_context *const context = camkes_self()->context;
        struct camkes_context *const other = &cpi->context[context == cpi->context ? 1 : 0];
        (void)other;
        {broken}
        camkes_work(CAMKES_US(100));
    }}
    """
    run = build(tmp_path, _SYSTEM, {"Task": _TASK, "Leaf": leaf}, mcs=mcs).run(duration=1_000_000)
    said = r"camkes: leaf: thread leaf\.p!manager: (check|manager)\.c:\d+: assertion failed: (.*)"
    found = re.search(said, run.output)
    assert found is not None and condition in found[2]
    assert run.status == 1 and "leaf.p!manager" in run.errors
