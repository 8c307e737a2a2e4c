# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Single rules that show in one place of a message only."""

import itertools
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.model.codes import SETTING_RANGE
from camkes.resolve import LoadOptions, codes, load
from camkes.resolve.files.imports import read_program
from camkes.resolve.words.nearest import nearest
from tests.resolve.neighbour_parts import STD, of, system
from tests.resolve.systems import numbers, resolve

pytestmark = pytest.mark.requirement("LANG-11")


def test_a_reference_to_an_instance_of_an_unknown_component_is_not_a_second_error(tmp_path: Path) -> None:
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


def test_with_one_requestor_other_threads_are_not_tasks_of_the_library(tmp_path: Path) -> None:
    text = f"""{STD}procedure P {{ void f(); }}
    component Said {{ control; requestor; uses P p; }}
    component Library {{ control; attribute int _priority; uses P p; }}
    component Server {{ provides P p with priority_protocol fixed; }}
    assembly {{ composition {{ component Said a; component Library b; component Server s;
        connection seL4RPCCall c(from a.p, from b.p, to s.p); }}
        configuration {{ a._priority = 1; b._priority = 2; }} }}"""
    made, _ = resolve(tmp_path, text)
    assert made is not None and [task.instance for task in made.tasks] == ["a"]


def test_without_a_cpi_no_thread_is_a_task_of_the_library(tmp_path: Path) -> None:
    text = of("control; attribute int _priority;", "a._priority = 1;")
    made, _ = resolve(tmp_path, text)
    assert made is not None and made.tasks == ()


def test_a_file_that_cannot_be_read_is_one_error_for_all_its_imports(tmp_path: Path) -> None:
    (tmp_path / "bytes.camkes").write_bytes(b"\xff")
    assert len(numbers(tmp_path, 'import "bytes.camkes";\nimport "bytes.camkes";\n' + of("control;"))) == 1


def test_an_interface_declared_twice_counts_as_one_of_its_component(tmp_path: Path) -> None:
    """What another component misses before is a mistake of its own."""
    text = f"""{STD}procedure P {{ void f(); }}
    component U {{ control; uses P p; }} component V {{ control; uses P p; }}
    component S {{ provides P p; provides P q; provides P q; }} component R {{ provides P p; }}
    assembly {{ composition {{ component U u; component V v; component S s; component R r;
        connection seL4RPCCall c(from u.p, to r.other);
        connection seL4RPCCall d(from v.p, to s.missing); }} }}"""
    _, found = resolve(tmp_path, text)
    assert [d.code for d in found] == [codes.DUPLICATE_NAME, codes.UNKNOWN_END]
    assert found[0].related[-1].text == "nothing has this name" and "`other`" in found[1].message


def test_an_end_is_not_an_error_of_a_component_that_lacks_the_interface(tmp_path: Path) -> None:
    text = f"""{STD}procedure P {{ void f(); }}
    component A {{ provides P p with requests (q); }} component B {{ provides P p; }}
    component U {{ control; uses P p; uses P o; }}
    assembly {{ composition {{ component A a; component B b; component U u;
        connection seL4RPCCall c(from u.p, to a.q); connection seL4RPCCall d(from u.o, to b.q); }} }}"""
    _, found = resolve(tmp_path, text)
    assert [d.code for d in found] == [codes.UNKNOWN_REQUEST, codes.UNKNOWN_END]
    assert found[1].message == "`b` has no interface `q`"


def test_an_unknown_end_may_be_written_on_two_lines(tmp_path: Path) -> None:
    text = "component U u; component S s; connection seL4RPCCall c(from u.p, to gone\n.p);"
    assert codes.UNKNOWN_END.number in numbers(tmp_path, system(text + " component U left;"))


def test_a_connector_can_disable_the_comparison_of_types(tmp_path: Path) -> None:
    text = f"""{STD}procedure P {{ void f(); }} procedure Q {{ void f(); }}
    connector K {{ from Procedures; to Procedure; attribute int disable_interface_type_checking = %d; }}
    component U {{ control; uses P p; }} component S {{ provides Q p; }}
    assembly {{ composition {{ component U u; component S s; connection K c(from u.p, to s.p); }} }}"""
    assert numbers(tmp_path, text % 1) == []
    assert numbers(tmp_path, text % 0) == [codes.TYPES_DIFFER.number]


def test_a_negative_time_is_wrong_even_if_it_is_less_than_a_nanosecond(tmp_path: Path) -> None:
    interface = "provides P p with priority_protocol fixed;"
    for time, said in (("-0.1 ns", [SETTING_RANGE.number]), ("0.1 ns", []), ("0", [])):
        text = of(interface, f"a.p_wcet = {time};", "procedure P { void f(); }")
        assert numbers(tmp_path, text) == said


@pytest.mark.parametrize(
    ("stated", "wcet", "deadline"),
    [
        ("0.5 ns", 1, None),  # less than the least deadline
        ("1.5 ns", 2, 1),
        ("2.5 ns", 3, 2),
        ("1.0001", 1001, 1000),
        ("0.1", 100, 100),  # the nearest number with a floating point is a little more
        ("0.3 ms", 300_000, 300_000),  # and here a little less
        ("0.1 * 3 ms", 300_000, 300_000),
        ("1001 / 10.0 us", 100_100, 100_100),
        ("7 ns", 7, 7),
    ],
)
def test_times_are_rounded_to_the_safe_side(
    tmp_path: Path, stated: str, wcet: int, deadline: int | None
) -> None:
    text = of("control; requestor;", f"a._wcet = {stated}; a._deadline = {stated};")
    found, diagnostics = resolve(tmp_path, text)
    assert found is not None
    assert [each.code for each in diagnostics] == ([SETTING_RANGE] if deadline is None else [])
    assert [(each.wcet, each.deadline) for each in found.tasks] == [(wcet, deadline)]


def test_the_power_of_an_integer_to_a_fraction_is_limited_by_its_value(tmp_path: Path) -> None:
    for power, said in (("2 ** 1023.0", "E0403"), ("2 ** 1024.0", "E0406")):
        assert numbers(tmp_path, of("attribute int x;", f"a.x = {power};")) == [said]


def test_a_file_that_cannot_be_read_is_the_root_of_its_program(tmp_path: Path) -> None:
    path = tmp_path / "gone.camkes"
    program = read_program(path, LoadOptions(cpp=False), Sink())
    assert (program.root.path, program.items, program.whole) == (path, [], False)


def test_an_instance_of_two_assemblies_is_one_mistake_and_not_also_one_of_its_settings(
    tmp_path: Path,
) -> None:
    text = """component X { attribute int v; }
    component A { composition { component X x; } configuration { x.v = 1; } }
    assembly { composition { component A a; } } assembly { composition { component A a; } }"""
    assert numbers(tmp_path, text) == [codes.DUPLICATE_NAME.number]


def test_items_after_an_instance_of_an_unknown_component_are_read(tmp_path: Path) -> None:
    text = system(
        "component Gone g; component U u; component S s; connection seL4RPCCall c(from u.p, to s.p);"
    )
    assert numbers(tmp_path, text) == [codes.UNKNOWN_NAME.number]


def test_the_id_of_a_requestor_is_not_negative(tmp_path: Path) -> None:
    for id, said in (("0 - 1", [codes.BAD_COUNT.number]), ("0", [])):
        assert numbers(tmp_path, of(f"control; requestor {id};", "a._priority = 1;")) == said


def test_an_end_of_a_component_around_may_be_at_its_own_interface(tmp_path: Path) -> None:
    """It is not exported, but connected inside."""
    text = f"""{STD}component I {{ consumes Tick c; control; }}
    component O {{ emits Tick e; composition {{ component I i;
        connection seL4Notification n(from e, to i.c); }} }}
    assembly {{ composition {{ component O o; }} }}"""
    made, found = resolve(tmp_path, text)
    assert found == [] and made is not None
    assert [(e.instance, e.interface) for e in made.connections[0].from_ends] == [("o", "e")]


def test_an_end_within_a_component_without_instances_is_named_with_its_instance(tmp_path: Path) -> None:
    text = f"""{STD}component I {{ consumes Tick c; consumes Tick d; }}
    component O {{ composition {{ component I i; connection seL4Notification n(from i.c, to i.d); }} }}
    component Z {{ control; }} assembly {{ composition {{ component Z z; }} }}"""
    _, (found,) = resolve(tmp_path, text)
    assert found.message == "`i.c` is declared with `consumes`, so it cannot be a `from` end"


def test_one_scheduler_too_many_is_not_also_one_that_cannot_order_tasks(tmp_path: Path) -> None:
    text = f"""{STD}import <user_scheduler.camkes>;
    component T {{ control; requestor; uses UserScheduler s; }}
    component N {{ provides UserScheduler tasks; }}
    assembly {{ composition {{ component T t; component EDFScheduler e; component N n;
        connection seL4UserScheduler c(from t.s, to e.tasks, to n.tasks); }}
        configuration {{ t._priority = 3; }} }}"""
    assert numbers(tmp_path, text) == [codes.TOO_MANY_ENDS.number]


def test_an_exported_end_of_an_unknown_connector_is_connected(tmp_path: Path) -> None:
    text = f"""{STD}procedure P {{ void f(); }} component I {{ control; uses P p; }}
    component O {{ uses P q; composition {{ component I i; export i.p -> q; }} }}
    component S {{ provides P p; }}
    assembly {{ composition {{ component O o; component S s; connection Gone c(from o.q, to s.p); }} }}"""
    assert numbers(tmp_path, text) == [codes.UNKNOWN_NAME.number]


def test_without_protocols_a_thread_with_a_priority_is_not_a_task(tmp_path: Path) -> None:
    text = f"""{STD}procedure P {{ void f(); }} component S {{ provides P p%s; }}
    component L {{ control; attribute int _priority; uses P p; }}
    assembly {{ composition {{ component L a; component S s; connection seL4RPCCall c(from a.p, to s.p); }}
        configuration {{ a._priority = 1; }} }}"""
    for clause, tasks in (("", []), (" with priority_protocol fixed", ["a"])):
        made, _ = resolve(tmp_path, text % clause)
        assert made is not None and [task.instance for task in made.tasks] == tasks


def test_the_first_of_several_spellings_is_suggested() -> None:
    spellings = ["".join(letters) for letters in itertools.product("nN", "aA", "mM", "eE")]
    assert nearest("namee", reversed(spellings)) == "NAME"


def test_assemblies_share_names_despite_other_errors(tmp_path: Path) -> None:
    """The second one may set what the broken line of the first one defines."""
    text = f"""{STD}component A {{ attribute int v; broken }}
    component B {{ attribute int w; }}
    assembly {{ composition {{ component B b; componen B c; }} }}
    assembly {{ composition {{ component B d; }} configuration {{ c.w = 1; }} }}"""
    assert numbers(tmp_path, text) == ["E0133", "E0133"]


def test_an_interface_after_an_exported_one_can_be_a_cpi(tmp_path: Path) -> None:
    text = f"""{STD}procedure P {{ void f(); }} component S {{ provides P p; }}
    component O {{ provides P p with priority_protocol fixed; provides P q with priority_protocol fixed;
        composition {{ component S s; export s.p -> p; }} }}
    assembly {{ composition {{ component O o; }} }}"""
    made, found = resolve(tmp_path, text)
    assert codes.PROTOCOL_IGNORED in [d.code for d in found]
    assert made is not None and [cpi.name for cpi in made.cpis] == ["o.q"]


def test_the_first_mark_of_several_is_where_a_device_is_declared(tmp_path: Path) -> None:
    """And the first `control` is what it cannot have."""
    members = "hardware; hardware; control; control; requestor; requestor; has mutex m;"
    _, found = resolve(tmp_path, of(members))
    column = {word: 15 + members.index(word) for word in ("hardware", "control")}
    marks = [d for d in found if d.code is codes.HARDWARE_COMPONENT]
    assert len(marks) == 3
    for each in marks:
        assert [label.span.column for label in each.related] == [column["hardware"]], each.message
    assert [d.span.column for d in marks if d.span and "control thread" in d.message] == [column["control"]]


def test_the_first_composition_of_several_counts(tmp_path: Path) -> None:
    text = "component A {{ }} assembly {{ composition {{ component A a; }} composition {} }}"
    assert numbers(tmp_path, text.format("{ component Gone b; }")) == [codes.ASSEMBLY_BLOCKS.number]


def test_a_duplicate_name_similar_to_a_missing_one(tmp_path: Path) -> None:
    text = system(
        "component U u; component S serve; component S serve; "
        "connection seL4RPCCall c(from u.p, to server.p);"
    )
    assert numbers(tmp_path, text) == [codes.DUPLICATE_NAME.number]


def test_each_name_that_is_used_too_early_is_an_error(tmp_path: Path) -> None:
    """Also after one whose definition was read for that."""
    text = """component A { control; uses Z z; uses Y y; }
    procedure Y { void f(); } procedure Z { void f(); }
    assembly { composition { component A a; } }"""
    _, found = resolve(tmp_path, text)
    early = [d.message for d in found if d.code is codes.USED_BEFORE_DEFINED]
    assert early == [f"procedure `{name}` is used before it is defined" for name in "ZY"]


def test_a_file_that_was_included_is_not_imported_again(tmp_path: Path) -> None:
    (tmp_path / "b.camkes").write_text("component B { }\n")
    root = tmp_path / "a.camkes"
    root.write_text('#include "b.camkes"\nimport "b.camkes";\nassembly { composition { component B b; } }\n')
    sink = Sink()
    assert load(root, LoadOptions(), sink) is not None
    assert sink.diagnostics == ()


def test_the_event_that_releases_a_task(tmp_path: Path) -> None:
    text = f"""{STD}component Task {{ control; requestor; consumes E tick; }}
    component Source {{ control; emits E tick; }}
    assembly {{ composition {{ component Task t; component Source s;
        connection seL4NotificationNative c(from s.tick, to t.tick); }}
        configuration {{ t._priority = 3; t._release = "tick"; }} }}"""
    made, _ = resolve(tmp_path, text)
    assert made is not None and [task.release for task in made.tasks] == ["tick"]


def test_a_name_of_another_file_s_assembly_says_where_components_belong(tmp_path: Path) -> None:
    """It is often a test that imports the project's own system."""
    (tmp_path / "own.camkes").write_text(of("control;"))
    _, found = resolve(tmp_path, 'import "own.camkes";\nassembly { composition { component A a; } }')
    assert [d.code for d in found] == [codes.DUPLICATE_NAME] and "has no assembly" in found[0].help
    _, found = resolve(tmp_path, of("control;") + "\nassembly { composition { component A a; } }")
    assert [(d.code, d.help) for d in found] == [(codes.DUPLICATE_NAME, "")]
