# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""One system with all constructs: groups, a hierarchy, a pool, a non-preemptive CPI, CPIs without callers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import camkes
from tests.end_to_end.support import system

pytestmark = pytest.mark.requirement("RT-35")

SYSTEM = """
procedure P { int f(in int x); int g(in string s, out int y); }
component Task { control; requestor; uses P p; }
component Two {
    provides P one with priority_protocol propagated, requests (down);
    provides P two with priority_protocol inherited, requests ();
    uses P down;
}
component Leaf { provides P p with priority_protocol fixed, requests (); }
component Box {
    provides P front;
    composition {
        component Two inner;
        component Leaf leaf;
        connection seL4RPCCall c(from inner.down, to leaf.p);
        export inner.one -> front;
    }
    configuration { leaf.p_priority = 255; }
}
component Mid { provides P p with priority_protocol inherited, requests (n); uses P n; }
assembly {
    composition {
        component Task t1;  component Task t2;  component Task t3;
        component Box box;  component Mid mid;  component Two pool;
        component Leaf not_called;
        group g { component Task t4; component Mid mid2; }
        connection seL4RPCCall a(from t1.p, from t2.p, from t3.p, from g.t4.p, to g.mid2.p);
        connection seL4RPCCall b(from g.mid2.n, to mid.p);
        connection seL4RPCCall c(from mid.n, to pool.one) with 1 threads;
        connection seL4RPCCall d(from pool.down, to box.front);
    }
    configuration {
        t1._priority = 10;  t1._period = 50 ms;
        t2._priority = 20;  t2._period = 50 ms;  t2._offset = 1 ms;
        t3._priority = 20;  t3._period = 50 ms;  t3._offset = 2 ms;
        t4._priority = 30;  t4._period = 50 ms;  t4._offset = 4500 us;
    }
}
"""
SOURCES = {
    "task.c": """
int run(void)
{
    for (int i = 0; i < 2 && camkes_next_job(); i++) {
        camkes_work(CAMKES_MS(1));
        int length = 0;
        int sum = p_f(i);
        int task = p_g("hello", &length);
        printf("%s: %d %d %d\\n", get_instance_name(), sum, task, length);
    }
    return 0;
}
""",
    "two.c": """
int one_f(int x) { camkes_work(CAMKES_MS(1)); return down_f(x) + 1000 * camkes_requestor(); }
int one_g(const char *s, int *y) { camkes_work(CAMKES_MS(1)); return down_g(s, y); }
int two_f(int x) { return x; }
int two_g(const char *s, int *y) { (void)s; *y = 0; return 0; }
""",
    "leaf.c": """
#include <string.h>
int p_f(int x) { camkes_work(CAMKES_MS(1)); return x + (int)camkes_request_priority(); }
int p_g(const char *s, int *y) { *y = (int)strlen(s); return camkes_requestor(); }
""",
    "mid.c": """
int p_f(int x) { camkes_work(CAMKES_MS(1)); return n_f(x); }
int p_g(const char *s, int *y) { camkes_work(CAMKES_US(10)); return n_g(s, y); }
""",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mixture")
    path = system(folder, SYSTEM, SOURCES)
    result = camkes("build", path, "-o", folder / "out")
    assert result.status == 0, result.errors
    return folder


@pytest.mark.long
@pytest.mark.parametrize(
    "how",
    [[], ["--fast"], ["--scheduling", "rr", "--timeslice", "300us"]]
    + [
        pytest.param(
            ["--scheduling", scheduling, "--choices", f"random:{seed}"],
            marks=[pytest.mark.long] if seed else [],
        )
        for scheduling in ("fifo", "rr")
        for seed in range(3)
    ],
    ids=" ".join,
)
def test_properties_hold_and_ids_arrive(how: list[str], folder: Path) -> None:
    result = camkes(
        "run", folder / "system.camkes", "-o", folder / "out", *how, "--verify", "--for", "200ms", "--ascii"
    )
    assert result.status == 0, result.errors + result.output
    assert "hold at every event" in result.output
    printed = {
        line.partition(":")[0]: line for line in result.output.splitlines() if line[:1] == "t" and ":" in line
    }
    for task in range(4):
        assert printed[f"t{task + 1}"].split()[2:] == [str(task), "5"]
