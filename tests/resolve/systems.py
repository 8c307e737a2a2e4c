# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems from text, for tests."""

from pathlib import Path

from camkes.diagnostics import Diagnostic, Sink
from camkes.model.system import System
from camkes.resolve import LoadOptions, load


def resolve(
    folder: Path, text: str, options: LoadOptions | None = None
) -> tuple[System | None, list[Diagnostic]]:
    """The system of a text, and everything said about it."""
    path = folder / "system.camkes"
    path.write_text(text, encoding="utf-8")
    sink = Sink()
    return load(path, options or LoadOptions(cpp=False), sink), list(sink.diagnostics)


def good(folder: Path, text: str, options: LoadOptions | None = None) -> System:
    """The system of a text about which nothing is said."""
    system, diagnostics = resolve(folder, text, options)
    assert [d.message for d in diagnostics] == []
    assert system is not None
    return system


def numbers(folder: Path, text: str, options: LoadOptions | None = None) -> list[str]:
    """The codes of the diagnostics of a text."""
    return [d.code.number for d in resolve(folder, text, options)[1]]


STD = "import <std_connector.camkes>;\n"
LIBRARY = (
    STD
    + """
connector seL4RPCCallPrioritized1 { from Procedures with 0 threads; to Procedure with 1 threads; }
connector seL4RPCCallPrioritized2 { from Procedures with 0 threads; to Procedure with 2 threads; }
procedure Request { int pow(in int base, in int exponent, in int priority); }
component Task { control; attribute int _priority; REQUESTOR uses Request r; }
component Service {
    provides Request r;
    attribute int r_num_threads; attribute int r_priority; attribute string r_priority_protocol;
}
assembly {
    composition {
        component Task t1; component Task t2; component Service lock;
        connection seL4RPCCallPrioritized2 c(from t1.r, from t2.r, to lock.r);
    }
    configuration {
        t1._priority = 10; t2._priority = 20; SETTINGS
        lock.r_num_threads = 2; lock.r_priority = 21; lock.r_priority_protocol = "inherited";
    }
}
"""
)
