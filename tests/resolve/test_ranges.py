# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A value that a setting cannot have is an error of the check already, at its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.resolve import LoadOptions, load

pytestmark = pytest.mark.requirement("LANG-19")

LINES = """\
import <std_connector.camkes>;
procedure P { void f(); }
component A { control; uses P p; emits E e; dataport Buf d; has semaphore s; has binary_semaphore b; %s }
component B { control; requestor; provides P p; consumes E e; dataport Buf d; }
component T { hardware; dataport Buf d; }
assembly {
    composition {
        component A a; component B b;
        connection seL4RPCCall c(from a.p, to b.p);
        connection seL4Notification n(from a.e, to b.e);
        connection seL4SharedData m(from a.d, to b.d);
    }
    configuration {
        b._priority = 100;
        %s
    }
}
"""


def found(folder: Path, setting: str, attribute: str = "") -> list[tuple[str, int]]:
    path, sink = folder / "a.camkes", Sink()
    path.write_text(LINES % (attribute, setting))
    load(path, LoadOptions(), sink)
    return [(d.code.number, d.span.line if d.span else 0) for d in sink.diagnostics]


WRONG = {
    "a._priority = 300;": "E0602",
    "a._max_priority = -1;": "E0602",
    "b._max_priority = 256;": "E0602",
    "b.p_priority = 256;": "E0602",
    "b.e_priority = 256;": "E0602",
    'b.p_priority = "high";': "E0601",
    "a._stack_size = 1;": "E0602",
    "b.p_stack_size = 1;": "E0602",
    "a.affinity = 1000;": "E0602",
    "b.e_domain = 1000;": "E0602",
    "a.heap_size = -1;": "E0602",
    "a.s_value = -1;": "E0602",
    "a.b_value = 2;": "E0602",
    'a.d_access = "Q";': "E0603",
    "a.d_access = 1;": "E0601",
    "a.p_attributes = -1;": "E0602",
    "a.e_attributes = -1;": "E0602",
    "a.p_requests = 0;": "E0602",
    "m.size = 0;": "E0602",
    "m.paddr = -1;": "E0602",
}


@pytest.mark.parametrize("setting", WRONG)
def test_a_wrong_value(tmp_path: Path, setting: str) -> None:
    assert found(tmp_path, setting) == [(WRONG[setting], 15)]


def test_all_of_them_at_once(tmp_path: Path) -> None:
    said = found(tmp_path, "a._priority = 300; a._domain = 300; a.heap_size = -1; m.size = 0;")
    assert sorted(code for code, _ in said) == ["E0602", "E0602", "E0602", "E0602"]


def test_a_default_of_an_attribute(tmp_path: Path) -> None:
    assert found(tmp_path, "", "attribute int _priority = 300;") == [("E0602", 3)]


@pytest.mark.parametrize(
    "setting",
    [
        "a._priority = 255;",
        "a.d_priority = 300;",  # no thread serves a dataport
        'a.p_attributes = "anything";',
        'm.size = "8192";',
        "a._offset = -1; a._urgent_first = 5;",  # it is not a task
        "b.p_attributes = -1;",  # a badge is that of a client
        "c.size = -1;",  # this connector has no memory; its templates may read it
        'a.d_access = "RW"; a.heap_size = 0; a.s_value = 0; a.b_value = 1;',
    ],
)
def test_settings_in_range_or_not_read_give_no_error(tmp_path: Path, setting: str) -> None:
    assert found(tmp_path, setting) == []


def test_a_value_for_several_threads_is_one_error(tmp_path: Path) -> None:
    assert found(tmp_path, "a.priority = 300; b.affinity = -1;") == [("E0602", 15)] * 2


@pytest.mark.parametrize("name", ["nothing", "c", "n", "m"])
def test_messages_are_stored_in_a_dataport_of_both(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, f'c.buffer = "{name}";') == ([] if name == "m" else [("E0656", 15)])


def test_a_dataport_of_several_clients_is_none_of_two(tmp_path: Path) -> None:
    text = LINES.replace("A a;", "A a; component A k;").replace("from a.p,", "from a.p, from k.p,")
    path, sink = tmp_path / "a.camkes", Sink()
    path.write_text(text.replace("from a.d, to b.d", "from a.d, from k.d, to b.d") % ("", 'c.buffer = "m";'))
    load(path, LoadOptions(), sink)
    assert [d.code.number for d in sink.diagnostics if d.span and d.span.line == 15] == ["E0656"]


def test_a_dataport_of_one_of_them_is_not_enough(tmp_path: Path) -> None:
    text = LINES.replace("to b.d);", "to other.d);").replace(
        "component B b;", "component B b; component T other;"
    )
    path, sink = tmp_path / "a.camkes", Sink()
    path.write_text(text.replace("T { hardware;", "T {") % ("", 'c.buffer = "m";'))
    load(path, LoadOptions(), sink)
    (problem,) = (d for d in sink.diagnostics if d.code.number == "E0656")
    assert problem.message == "`m` is not a dataport connection between a and b"


def test_a_default_that_several_instances_share_is_one_error(tmp_path: Path) -> None:
    text = LINES.replace("component A a;", "component A a; component A other;")
    path, sink = tmp_path / "a.camkes", Sink()
    path.write_text(text % ("attribute int heap_size = -1;", ""))
    load(path, LoadOptions(), sink)
    assert [d.code.number for d in sink.diagnostics if d.span and d.span.line == 3] == ["E0602"]


def test_the_priority_of_a_component_without_a_control_thread(tmp_path: Path) -> None:
    """Each instance has this thread."""
    path, sink = tmp_path / "a.camkes", Sink()
    path.write_text(
        "component A { } assembly { composition { component A a; } configuration { a._priority = 300; } }"
    )
    load(path, LoadOptions(), sink)
    assert [d.code.number for d in sink.diagnostics] == ["E0602"]
