# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The library's attributes and connectors are understood as they stand, and their numbers are checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes import pipeline
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import render
from camkes.protocols.plan import Plan

pytestmark = pytest.mark.requirement("LANG-17")

DECLARATIONS = """\
import <std_connector.camkes>;
connector seL4RPCCallPrioritized1 { from Procedures with 0 threads; to Procedure with 1 threads; }
connector seL4RPCCallPrioritized2 { from Procedures with 0 threads; to Procedure with 2 threads; }
connector seL4RPCCallPrioritized3 { from Procedures with 0 threads; to Procedure with 3 threads; }
procedure P { int f(in int x, in int priority); }
"""

LIBRARY = (
    DECLARATIONS
    + """\
component T { control; attribute int _priority; uses P p; }
component M {
    provides P p; uses P next;
    attribute int p_num_threads; attribute int p_priority; attribute string p_priority_protocol;
}
component S {
    provides P p;
    attribute int p_num_threads; attribute int p_priority; attribute string p_priority_protocol;
}
assembly {
    composition {
        component T a; component T b; component T c; component M m; component S s;
        connection seL4RPCCallPrioritized2 one(from a.p, from b.p, to m.p);
        connection seL4RPCCallPrioritized1 two(from m.next, from c.p, to s.p);
    }
    configuration {
        a._priority = 10; b._priority = 30; c._priority = 20;
        m.p_priority_protocol = "inherited"; m.p_num_threads = 2; m.p_priority = 31;
        s.p_priority_protocol = "fixed"; s.p_num_threads = 1; s.p_priority = 30;
    }
}
"""
)

NATIVE = (
    DECLARATIONS
    + """\
component T { control; requestor; attribute int _priority; uses P p; }
component M { provides P p with priority_protocol inherited; uses P next; }
component S { provides P p with priority_protocol fixed; }
assembly {
    composition {
        component T a; component T b; component T c; component M m; component S s;
        connection seL4RPCCall one(from a.p, from b.p, to m.p);
        connection seL4RPCCall two(from m.next, from c.p, to s.p);
    }
    configuration {
        a._priority = 10; b._priority = 30; c._priority = 20;
        m.p_priority = 31;      // the ceiling that the library's laddering states
    }
}
"""
)


def plan(folder: Path, text: str) -> tuple[Plan | None, Sink]:
    path = folder / "a.camkes"
    path.write_text(text)
    sink = Sink()
    checked = pipeline.check(pipeline.Input(path), sink)
    return (checked.plan if checked else None), sink


def facts(found: Plan) -> object:
    return (
        [(t.name, t.id, t.priority) for t in found.tasks],
        [
            (c.name, c.protocol, c.ceiling, c.threads, c.pooled, c.manager, c.tasks, c.requests)
            for c in found.cpis
        ],
        [(r.caller, r.via, r.callee) for r in found.requests],
    )


def test_the_plan_equals_that_of_the_native_syntax(tmp_path: Path) -> None:
    library, sink = plan(tmp_path, LIBRARY)
    native, _ = plan(tmp_path, NATIVE)
    assert library is not None and native is not None, render(sink.diagnostics)
    assert facts(library) == facts(native)


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (("m.p_priority = 31", "m.p_priority = 29"), "E0504"),
        (("s.p_priority = 30", "s.p_priority = 20"), "E0504"),
        (('"inherited"', '"inherit"'), "E0"),
    ],
)
def test_wrong_numbers_are_reported(tmp_path: Path, wrong: tuple[str, str], code: str) -> None:
    assert wrong[0] in LIBRARY
    found, sink = plan(tmp_path, LIBRARY.replace(*wrong))
    assert found is None
    assert any(d.code.number.startswith(code) for d in sink.diagnostics), render(sink.diagnostics)


@pytest.mark.parametrize(
    ("wrong", "idle"),
    [
        (("m.p_num_threads = 2", "m.p_num_threads = 3"), True),
        (("connection seL4RPCCallPrioritized2", "connection seL4RPCCallPrioritized3"), False),
    ],
)
def test_two_thread_counts_that_differ(tmp_path: Path, wrong: tuple[str, str], idle: bool) -> None:
    """The library takes the attribute and leaves threads idle; so this is a warning. The count that is too
    high (W0502) is that of the attribute, too."""
    _, sink = plan(tmp_path, LIBRARY.replace(*wrong))
    assert "connector-threads-differ" in [d.code.name for d in sink.diagnostics]
    assert ("W0502" in [d.code.number for d in sink.diagnostics]) is idle


def test_too_few_threads_in_both_places(tmp_path: Path) -> None:
    text = LIBRARY.replace("seL4RPCCallPrioritized2 one", "seL4RPCCallPrioritized1 one")
    found, sink = plan(tmp_path, text.replace("m.p_num_threads = 2", "m.p_num_threads = 1"))
    assert found is None
    assert "E0505" in [d.code.number for d in sink.diagnostics]


def test_too_many_threads_are_a_warning(tmp_path: Path) -> None:
    text = LIBRARY.replace("seL4RPCCallPrioritized2 one", "seL4RPCCallPrioritized3 one")
    found, sink = plan(tmp_path, text.replace("m.p_num_threads = 2", "m.p_num_threads = 3"))
    assert found is not None
    assert "W0502" in [d.code.number for d in sink.diagnostics]
