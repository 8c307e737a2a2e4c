# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Single rules that show in one place of a message only."""

from pathlib import Path

from camkes.resolve import codes
from tests.resolve.neighbour_parts import STD, of, system
from tests.resolve.systems import numbers, resolve


def test_a_reference_to_an_instance_of_an_unknown_component_is_no_second_mistake(tmp_path: Path) -> None:
    for text in ("x.v <- g.y;", "g.v <- x.y;"):
        found = numbers(tmp_path, system("component Gone g; component E x;", text))
        assert codes.UNKNOWN_NAME.number in found
        assert codes.REFERENCE_WITHOUT_VALUE.number not in found


def test_the_first_of_several_marks_is_where_a_device_is_a_requestor(tmp_path: Path) -> None:
    _, found = resolve(tmp_path, of("hardware; requestor; requestor 3;"))
    (mark,) = [d for d in found if d.code is codes.HARDWARE_COMPONENT]
    (again,) = [d for d in found if d.code is codes.REPEATED_CLAUSE]
    assert mark.span is not None and again.span is not None and mark.span.column < again.span.column


def test_timers_are_a_setting_of_the_server(tmp_path: Path) -> None:
    text = f"""{STD}procedure P {{ void f(); }}
    connector seL4TimeServer {{ from Procedures with 0 threads; to Procedure with 1 thread; }}
    component Client {{ control; uses P p; }} component Clock {{ provides P p; }}
    assembly {{ composition {{ component Client a; component Clock clock;
        connection seL4TimeServer t(from a.p, to clock.p); }}
        configuration {{ %s.timers_per_client = 0; }} }}"""
    assert "E0602" in numbers(tmp_path, text % "clock")
    assert "E0602" not in numbers(tmp_path, text % "a")


def test_one_requestor_is_enough_for_others_to_be_no_tasks_of_the_library(tmp_path: Path) -> None:
    text = f"""{STD}procedure P {{ void f(); }}
    component Said {{ control; requestor; uses P p; }}
    component Library {{ control; attribute int _priority; uses P p; }}
    component Server {{ provides P p with priority_protocol fixed; }}
    assembly {{ composition {{ component Said a; component Library b; component Server s;
        connection seL4RPCCall c(from a.p, from b.p, to s.p); }}
        configuration {{ a._priority = 1; b._priority = 2; }} }}"""
    made, _ = resolve(tmp_path, text)
    assert made is not None and [task.instance for task in made.tasks] == ["a"]


def test_a_file_that_cannot_be_read_is_one_error_for_all_its_imports(tmp_path: Path) -> None:
    (tmp_path / "bytes.camkes").write_bytes(b"\xff")
    assert len(numbers(tmp_path, 'import "bytes.camkes";\nimport "bytes.camkes";\n' + of("control;"))) == 1
