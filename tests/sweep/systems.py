# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A system that tests of sweeps vary, and what they do with it."""

from __future__ import annotations

from pathlib import Path

from camkes import pipeline
from camkes.diagnostics import Sink
from camkes.sweep.axes import read_axes
from camkes.sweep.evaluate import Doable, Evaluation, Prepared
from camkes.sweep.prepare import prepare

SYSTEM = """import <std_connector.camkes>;
procedure Store { void put(); }
component Fast { control; requestor; uses Store store; }
component Slow { control; requestor; uses Store store; attribute int times = 1; }
component Table { provides Store store with priority_protocol inherited; }
assembly {
    composition {
        component Fast fast;
        component Slow slow;
        component Table table;
        connection seL4RPCCall calls(from fast.store, from slow.store, to table.store);
    }
    configuration {
        fast._priority = 30; fast._period = 10 ms; fast._wcet = 2 ms;
        slow._priority = 20; slow._period = 40 ms; slow._wcet = 5 ms;
        table.store_wcet = 1 ms;
    }
}
"""
LOOP = """#include <camkes.h>
int run(void)
{
    while (camkes_next_job()) {
        for (int i = 0; i < %s; i++) {
            store_put();
        }
        camkes_work(%s);
    }
    return 0;
}
"""


def write_system(folder: Path, *, code: bool = False) -> Path:
    """The file of the system; with `code` the sources of its components are beside it."""
    root = folder / "system.camkes"
    root.write_text(SYSTEM)
    if code:
        (folder / "Fast.c").write_text(LOOP % (1, 1_000_000))
        (folder / "Slow.c").write_text(LOOP % ("CAMKES_CONST_ATTR(times)", 3_000_000))
        (folder / "Table.c").write_text(
            "#include <camkes.h>\nvoid store_put(void)\n{\n    camkes_work(1000000);\n}\n"
        )
    return root


def prepared(root: Path, *vary: str, todo: Doable | None = None) -> Prepared:
    """The system with what is varied; without its code, unless it is stated what is to be done."""
    sink = Sink()
    axes = read_axes(vary, sink)
    found = prepare(
        pipeline.Input(root), axes, (), todo or Doable(unread={"": "--text"}), sink, lambda _: None
    )
    assert found is not None and not sink.has_errors, sink.diagnostics
    return found


def evaluation(root: Path, *vary: str, todo: Doable | None = None) -> Evaluation:
    return Evaluation(prepared(root, *vary, todo=todo))
