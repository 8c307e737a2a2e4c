# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Handlers of events run in threads that work for no task, so they cannot request a CPI with a protocol."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes import pipeline
from camkes.diagnostics import Diagnostic, Sink
from tests.written import write_files

pytestmark = pytest.mark.requirement("CHECK-4")

_RUN = "int run(void) { (void)tick_reg_callback(on_tick, NULL); store_put(1); return 0; }\n"
_HANDLER = "static void on_tick(void *cookie) { (void)cookie; store_put(2); }\n"

_SYSTEM = """\
import <std_connector.camkes>;
procedure P { void put(in int x); }
component Task { control; requestor; uses P store; CONSUMES }
component Ticker { control; emits E tick; }
component Db { provides P store with priority_protocol inherited; }
assembly {
    composition {
        component Task task; component Ticker ticker; component Db db;
        connection seL4RPCCall a(from task.store, to db.store);
        connection seL4Notification e(from ticker.tick, to task.tick);
    }
    configuration { task._priority = 10; }
}
"""
_CONSUMES = _SYSTEM.replace("CONSUMES", "consumes E tick;")

#: the task is in a component of components
_HIERARCHY = (
    _CONSUMES.replace(
        "assembly {",
        """component Outer {
    uses P store; consumes E tick;
    composition {
        component Task inner;
        export inner.store -> store;
        export inner.tick -> tick;
    }
    configuration { inner._priority = 10; }
}
assembly {""",
    )
    .replace("component Task task;", "component Outer task;")
    .replace("task._priority = 10;", "")
)

_INTERRUPT = (
    _CONSUMES.replace("component Ticker {", "component Ticker { hardware;")
    .replace("control; emits", "emits")
    .replace("seL4Notification e", "seL4HardwareInterrupt e")
)


def _diagnose(folder: Path, system: str, *files: str) -> list[Diagnostic]:
    texts = {
        "a.camkes": system,
        "Ticker/ticker.c": "int run(void) { return 0; }\n",
        "Db/db.c": "void store_put(int x) { (void)x; }\n",
        **{f"Task/task{number}.c": text for number, text in enumerate(files)},
    }
    include = "#include <camkes.h>\n"
    write_files(folder, {n: t if n.endswith("camkes") else include + t for n, t in texts.items()})
    sink = Sink()
    pipeline.check_code(pipeline.Input(folder / "a.camkes"), folder / "out", sink, lambda _: None)
    return [d for d in sink.diagnostics if d.code.number in ("E0510", "W0506", "E0512", "E0514")]


@pytest.mark.parametrize("name", ["task", "task.inner"])
def test_a_callback_of_a_task_that_requests_is_an_error_at_its_line(name: str, tmp_path: Path) -> None:
    system = _CONSUMES if name == "task" else _HIERARCHY
    (found,) = _diagnose(tmp_path, system, _HANDLER + _RUN)
    assert found.code.number == "E0510"
    assert f"`{name}.tick`" in found.message and "`db.store`" in found.message
    assert found.span is not None
    assert (found.span.file.path.name, found.span.line) == ("task0.c", 2)


@pytest.mark.mostly_long("files0", "files2", "files3")
@pytest.mark.parametrize(
    "files",
    [
        # registers itself anew
        ("static void on_tick(void *c) { store_put(2); (void)tick_reg_callback(on_tick, c); }\n" + _RUN,),
        # through a function in another file
        (
            "void on_tick(void *c);\n" + _RUN,
            "void ask(void);\nvoid on_tick(void *c) { (void)c; ask(); }\n",
            "void ask(void) { store_put(3); }\n",
        ),
        # registered by the initialiser
        (
            _HANDLER + "void pre_init(void) { (void)tick_reg_callback(on_tick, NULL); }\n"
            "int run(void) { return 0; }\n",
        ),
        # no callback: what the interface's thread runs first
        ("void tick__init(void) { store_put(1); }\nint run(void) { return 0; }\n",),
    ],
)
def test_a_request_in_a_registered_callback_is_an_error(files: tuple[str, ...], tmp_path: Path) -> None:
    assert [d.code.number for d in _diagnose(tmp_path, _CONSUMES, *files)] == ["E0510"]


def test_a_handler_of_interrupts_in_a_task(tmp_path: Path) -> None:
    code = "void tick_handle(void) { store_put(1); (void)tick_acknowledge(); }\nint run(void) { return 0; }\n"
    assert [d.code.number for d in _diagnose(tmp_path, _INTERRUPT, code)] == ["E0510"]


def test_a_component_that_is_not_a_requestor(tmp_path: Path) -> None:
    system = _CONSUMES.replace("requestor; ", "").replace("task._priority = 10;", "")
    run = "int run(void) { (void)tick_reg_callback(on_tick, NULL); return 0; }\n"
    found = _diagnose(tmp_path, system, _HANDLER + run)
    assert [d.code.number for d in found] == ["E0510"]
    assert "`task.tick`" in found[0].message


def test_a_plain_interface_of_a_task(tmp_path: Path) -> None:
    system = _SYSTEM.replace("CONSUMES", "provides P plain;").replace("emits E tick;", "uses P plain;")
    system = system.replace(
        "seL4Notification e(from ticker.tick, to task.tick)",
        "seL4RPCCall e(from ticker.plain, to task.plain)",
    )
    code = "void plain_put(int x) { store_put(x); }\nint run(void) { return 0; }\n"
    assert [d.code.number for d in _diagnose(tmp_path, system, code)] == ["E0514"]


def test_a_handler_without_requests_is_accepted(tmp_path: Path) -> None:
    code = "static volatile int seen;\nstatic void on_tick(void *cookie) { (void)cookie; seen = 1; }\n" + _RUN
    assert _diagnose(tmp_path, _CONSUMES, code) == []


def test_waiting_for_an_event_before_a_request_is_accepted(tmp_path: Path) -> None:
    assert _diagnose(tmp_path, _CONSUMES, "int run(void) { tick_wait(); store_put(1); return 0; }\n") == []


def test_a_callback_that_is_not_known_is_a_warning(tmp_path: Path) -> None:
    """It may be any function whose address is taken."""
    code = (
        "static void step(void *c) { (void)c; store_put(1); }\nstatic void note(void *c) { (void)c; }\n"
        "static void (*table[])(void *) = {note, step};\nint at;\n"
        "int run(void) { (void)tick_reg_callback(table[at], NULL); table[1 - at](NULL); return 0; }\n"
    )
    assert [d.code.number for d in _diagnose(tmp_path, _CONSUMES, code)] == ["W0506"]
