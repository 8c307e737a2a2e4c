# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Requests to a CPI of a monitor, for which fewer threads are stated than contexts, after aborted ones."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from camkes.running.decode import decode
from camkes.running.refusals import refusals
from tests.runtime.host import build

pytestmark = pytest.mark.requirement("RT-19")

MS = 1_000_000
HEAD = "#include <camkes/realtime.h>\n"

SYSTEM = """
procedure Section { int enter(in int ms); }
component User { control; requestor; uses Section s; attribute int length; }
component Gate { provides Section s with priority_protocol inherited; uses Section next; }
component Store {
    provides Section s with priority_protocol inherited, 2 threads, monitor m, overrun abort;
}
assembly {
    composition {
        component User low; component User other; component User again;
        component Gate gate; component Store store;
        connection seL4RPCCall c(from low.s, from other.s, to gate.s);
        connection seL4RPCCall d(from gate.next, from again.s, to store.s);
    }
    configuration {
        again._priority = 30; again._period = 10 ms; again._budget = 3 ms; again.length = 6;
        low._priority = 10; low._period = 100 ms; low.length = 1; low._offset = 55 ms;
        other._priority = 5; other._period = 100 ms; other.length = 1; other._offset = 60 ms;
        store.s_extension = 2 ms; store.s_extension_period = 10 ms;
    }
}
"""
SOURCES = {
    "User": HEAD
    + """
int run(void)
{
    while (camkes_next_job()) {
        const int result = s_enter(length);
        printf("%s %d %d\\n", get_instance_name(), result, camkes_request_aborted());
    }
    return 0;
}
""",
    "Gate": HEAD + "int s_enter(int ms) { return next_enter(ms); }\n",
    "Store": HEAD
    + """
int s_enter(int ms) { camkes_work(CAMKES_MS(ms)); return ms; }
void s__rollback(void) { camkes_work(CAMKES_MS(3)); }
""",
}


def test_requests_after_an_abort_are_served(tmp_path: Path) -> None:
    built = build(tmp_path, SYSTEM, SOURCES, mcs=True)
    run = built.run(duration=100 * MS)
    said = Counter(run.output.splitlines())
    assert said == {"again 0 1": 7, "low 1 0": 1, "other 1 0": 1}
    assert refusals(decode(run.events, run.names), built.system, run.plan) == []
    assert run.violations() == []
