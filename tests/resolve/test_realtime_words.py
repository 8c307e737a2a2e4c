# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What settings and clauses of real time say of tasks and CPIs."""

from pathlib import Path

import pytest

from camkes.model.codes import SETTING_TYPE
from camkes.model.protocols import Protocol
from camkes.resolve import codes

from .systems import LIBRARY, STD, good, numbers, resolve

pytestmark = pytest.mark.requirement("LANG-16")


@pytest.mark.parametrize(
    ("attribute", "settings", "ids"),
    [
        ("", "", [None, None]),
        ("attribute int requestor;", "t1.requestor = 1; t2.requestor = 2;", [1, 2]),
        ("attribute int requestor = 4;", "", [4, 4]),
    ],
)
def test_spelling_of_the_library(
    tmp_path: Path, attribute: str, settings: str, ids: list[int | None]
) -> None:
    text = LIBRARY.replace("REQUESTOR", attribute).replace("SETTINGS", settings)
    system = good(tmp_path, text)
    assert [(t.instance, t.priority) for t in system.tasks] == [("t1", 10), ("t2", 20)]
    assert [t.stated_id for t in system.tasks] == ids
    (cpi,) = system.cpis
    assert (cpi.protocol, cpi.stated_threads, cpi.stated_priority) == (Protocol.INHERITED, 2, 21)
    assert system.connections[0].connector.name == "seL4RPCCall"
    assert system.connections[0].threads == 2


def test_counts_of_the_library_that_differ(tmp_path: Path) -> None:
    text = (
        LIBRARY.replace("REQUESTOR", "").replace("SETTINGS", "").replace("num_threads = 2", "num_threads = 3")
    )
    system, diagnostics = resolve(tmp_path, text)
    assert [d.code for d in diagnostics] == [codes.CONNECTOR_THREADS_DIFFER]
    assert system is not None and system.cpis[0].stated_threads == 3


def test_a_setting_wins_over_a_clause(tmp_path: Path) -> None:
    text = """
    procedure P { void f(); }
    component L { provides P p with priority_protocol fixed; }
    assembly { composition { component L a; component L b; }
               configuration { b.p_priority_protocol = "propagated"; } }
    """
    system = good(tmp_path, text)
    assert [c.protocol for c in system.cpis] == [Protocol.FIXED, Protocol.PROPAGATED]
    assert system.cpis[1].spans["protocol"].line == 5


def test_the_protocol_of_an_exported_interface(tmp_path: Path) -> None:
    text = """
    procedure P { void f(); }
    component L { provides P p with priority_protocol fixed; }
    component Box { provides P p with priority_protocol inherited;
                    composition { component L part; export part.p -> p; } }
    assembly { composition { component Box box; } }
    """
    system, diagnostics = resolve(tmp_path, text)
    assert [d.code for d in diagnostics] == [codes.PROTOCOL_IGNORED]
    assert system is not None and [c.name for c in system.cpis] == ["box.part.p"]


def test_zero_is_an_id_of_a_task(tmp_path: Path) -> None:
    text = "component A { control; requestor %s; } assembly { composition { component A a; } }"
    system = good(tmp_path, text % "0")
    assert system.instances[0].type.requestor and system.tasks[0].stated_id == 0
    assert numbers(tmp_path, text % "-1") == ["E0407"]


@pytest.mark.parametrize(
    ("clause", "count", "threads"), [("", "", None), (", 2 threads", "", 2), ("", " with 2 threads", 2)]
)
def test_a_thread_count_is_stated_in_any_one_place(
    tmp_path: Path, clause: str, count: str, threads: int | None
) -> None:
    text = f"""{STD} procedure P {{ void f(); }}
    component T {{ control; requestor; uses P p; }}
    component S {{ provides P p with priority_protocol inherited{clause}; }}
    assembly {{ composition {{ component T t; component S s;
                connection seL4RPCCall c(from t.p, to s.p){count}; }} configuration {{ t._priority = 1; }} }}
    """
    (cpi,) = good(tmp_path, text).cpis
    assert cpi.stated_threads == threads


@pytest.mark.parametrize(
    ("setting", "found"),
    [
        ("_wcet = 0", []),
        ("_wcet = -1", ["E0602"]),
        ("_offset = -1", ["E0602"]),
        (f"_offset = {10**40}", ["E0602"]),
    ],
)
def test_an_execution_time_may_be_zero_and_not_less(tmp_path: Path, setting: str, found: list[str]) -> None:
    text = "component A {{ control; requestor; }} assembly {{ composition {{ component A a; }} {} }}"
    configuration = f"configuration {{ a._priority = 1; a.{setting}; }}"
    assert [n for n in numbers(tmp_path, text.format(configuration)) if n.startswith("E")] == found


def test_an_attribute_may_have_the_name_of_a_mark(tmp_path: Path) -> None:
    """Without a control thread, `requestor` is what the component declares."""
    text = """component A { attribute int requestor; }
        assembly { composition { component A a; } configuration { a.requestor = 5; } }"""
    assert good(tmp_path, text).tasks == ()


@pytest.mark.parametrize("setting", ['_degraded = "stretch DIGITS"', '_refills = "DIGITS"'])
def test_long_numbers_in_strings(tmp_path: Path, setting: str) -> None:
    """Python converts no string of more than 4300 digits."""
    text = "component T { control; requestor; } assembly { composition { component T t; } configuration {"
    text += f" t._priority = 1; t.{setting.replace('DIGITS', '9' * 5000)}; }} }}"
    _, (problem,) = resolve(tmp_path, text)
    assert problem.code in (codes.UNKNOWN_CHOICE, SETTING_TYPE)
