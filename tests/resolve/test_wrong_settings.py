# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""One kind of mistake has one code and one text, whatever the setting is, and wherever it is set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from camkes.diagnostics import Diagnostic, Severity
from camkes.model.settings import (
    BUDGETS,
    CRITICALITY,
    DEADLINE,
    EXTENSION,
    EXTENSION_PERIOD,
    OFFSET,
    REFILLS,
    TABLE,
    WCET,
    WCETS,
    WEIGHT,
    Known,
)
from camkes.resolve import LoadOptions

from .systems import resolve

pytestmark = pytest.mark.requirement("LANG-19")

#: A part of each kind: tasks, threads, interfaces, a CPI, a condition, locks, memory, a scheduler.
SYSTEM = """import <std_connector.camkes>;
import <user_scheduler.camkes>;
procedure P {{ void f(); }}
connector seL4TimeServer {{ from Procedures with 0 threads; to Procedure with 1 thread; }}
component Task {{ control; requestor; uses P u; consumes E more with helpers; {task} }}
component Plain {{
    control; uses P p; uses P t; emits E e; dataport Buf d; has semaphore s; has binary_semaphore b;
    {plain}
}}
component Server {{ provides P p; provides P t; maybe consumes E e; dataport Buf d; {server} }}
component Lock {{ provides P p with priority_protocol inherited, requests (); {lock} }}
component Ordered {{ control; requestor; uses UserScheduler jobs; }}
assembly {{
    composition {{
        component Task task; component Plain plain; component Server server; component Lock lock;
        component Ordered ordered; component EDFScheduler scheduler;
        connection seL4RPCCall one(from task.u, to lock.p);
        connection seL4RPCCall two(from plain.p, to server.p);
        connection seL4TimeServer clock(from plain.t, to server.t);
        connection seL4NotificationNative event(from plain.e, to task.more);
        connection seL4SharedData memory(from plain.d, to server.d);
        connection seL4UserScheduler jobs(from ordered.jobs, to scheduler.tasks);
    }}
    configuration {{
        {setting}
    }}
}}
"""

_OF_CPIS = (WCET, *WCETS, EXTENSION, EXTENSION_PERIOD)
_OF_TASKS = (OFFSET, DEADLINE, CRITICALITY, REFILLS, WEIGHT, *BUDGETS, *_OF_CPIS)

#: Where other settings are read, by their names in a configuration.
_ELSEWHERE = {
    "slice": ("scheduler._slice",),
    "release": ("task._release",),
    "urgent_first": ("task._urgent_first",),
    "server": ("task._server",),
    "degraded": ("task._degraded",),
    "overrun": ("task._overrun", "lock.p_overrun"),
    "num_threads": ("lock.p_num_threads",),
    "requests": ("task.u_requests", "plain.p_requests"),
    "passive": ("server.p_passive", "lock.p_passive"),
    "across_domains": ("server.p_across_domains", "lock.p_across_domains"),
    "attributes": ("plain.p_attributes", "plain.e_attributes"),
    "priority_protocol": ("server.p_priority_protocol", "lock.p_priority_protocol"),
    "access": ("plain.d_access", "server.d_access"),
    "value": ("plain.s_value", "plain.b_value"),
    "helpers": ("task.more_helpers",),
    "within": ("task.more_within",),
    "timers_per_client": ("server.timers_per_client",),
    "requestor": ("task.requestor",),
    "untyped_pool": ("plain.untyped12_pool",),
    "buffer": ("two.buffer",),
    "size": ("memory.size",),
    "paddr": ("memory.paddr",),
    "dtb": (),  # the answer of a query, which no user writes
}


def places(known: Known) -> Iterator[str]:
    """The names under which a setting is read: of a task, a thread, an interface, a connection."""
    if known.name in _ELSEWHERE:
        yield from _ELSEWHERE[known.name]
    elif known in _OF_TASKS:
        yield f"task._{known.name}"
        if known in _OF_CPIS:
            yield f"lock.p_{known.name}"
        if known.shared:
            yield f"ordered.{known.name}"
    elif known.owner == "thread":
        yield from (f"{prefix}{known.name}" for prefix in ("task._", "plain._", "server.p_", "lock.p_"))
        if known.shared:
            yield from (f"task.{known.name}", f"server.{known.name}")
        if known.mcs and not known.is_time:  # without the `_`, times have no units
            yield f"plain.fault{known.name}"
    else:
        assert known.owner == "instance"
        yield f"plain.{known.name}"


def mistakes(known: Known) -> Iterator[tuple[str, str, str]]:
    """Each by its name, with the value, and with what a message about the range calls it; empty: it has
    another type than the setting."""
    yield "a dictionary", '{"key": 1}', ""
    if known.form:
        yield "a number", "1", ""
        return
    yield "a list", "[1]", ""
    if known.name != "attributes":  # other connectors keep other strings there
        yield "a string", '"high"', ""
        yield "a sign in a string", '"-1"', ""
    lowest, highest = known.limits
    if known.is_time:
        yield "too low", f"{lowest - 1} ns", f"{lowest - 1:,} ns"
        yield "too high", f"{highest + 1} ns", f"{highest + 1:,} ns"
        yield "too high in a string", f'"{highest}"', f"{highest:,} us"
        yield "a fraction", "-0.5", "-0.5 us"
        yield "a time in a string", '"10 ms"', ""
        return
    unit = f" {known.unit}" if known.unit else ""
    yield "a fraction", "1.5", ""
    yield "too low", f"{lowest - 1}", f"{lowest - 1:,}{unit}"
    if highest < (1 << 63) - 1:
        yield "too high", f"{highest + 1}", f"{highest + 1:,}{unit}"
        yield "too high in a string", f'"{highest + 1}"', f"{highest + 1:,}{unit}"


def row(known: Known, place: str) -> Known:
    return replace(known, high=1) if place == "plain.b_value" else known


#: by the kind of mistake: each place with its setting, and what is wrong
CASES: dict[str, list[tuple[str, Known, str, str]]] = {}
for known in TABLE.values():
    for place in places(known):
        for kind, value, given in mistakes(row(known, place)):
            CASES.setdefault(kind, []).append((place, row(known, place), value, given))


def errors(folder: Path, setting: str = "", **attributes: str) -> dict[int, list[Diagnostic]]:
    """The errors of the system with settings or attributes, by their lines."""
    parts = dict.fromkeys(("task", "plain", "server", "lock"), "") | attributes
    _, found = resolve(folder, SYSTEM.format(setting=setting, **parts), LoadOptions(cpp=False, mcs=True))
    lines: dict[int, list[Diagnostic]] = {}
    for each in found:
        if each.severity is Severity.ERROR:
            assert each.span is not None
            lines.setdefault(each.span.line, []).append(each)
    return lines


def check(found: list[Diagnostic], name: str, known: Known, given: str) -> None:
    (problem,) = found
    if given:
        message = f"{name} must be {known.range}, not {given}"
        assert (problem.code.number, problem.message) == ("E0602", message)
    else:
        assert (problem.code.number, problem.message) == ("E0601", f"{name} must be {known.kind}")
        assert problem.label.startswith("this is a")
    assert problem.help.startswith((f"for example `{name} = ", "write one of the strings", "without quotes"))


@pytest.mark.parametrize("kind", CASES)
def test_a_mistake_in_a_configuration(tmp_path: Path, kind: str) -> None:
    """All settings at once, a line each: each has one error."""
    lines = [f"{place} = {value};" for place, _, value, _ in CASES[kind]]
    first = SYSTEM[: SYSTEM.index("{setting}")].count("\n") + 1
    found = errors(tmp_path, "\n".join(lines))
    assert sorted(found) == list(range(first, first + len(lines)))
    for line, (place, known, _, given) in enumerate(CASES[kind], first):
        check(found[line], place.partition(".")[2], known, given)


@pytest.mark.parametrize("kind", ["too low", "too high"])
def test_a_mistake_in_the_default_of_an_attribute(tmp_path: Path, kind: str) -> None:
    cases = [
        (*place.split("."), known, value, given)
        for place, known, value, given in CASES[kind]
        if place.startswith(("task._", "plain._", "server.p_", "lock.p_", "plain.s_")) and not known.is_time
    ]
    for instance in ("task", "plain", "server", "lock"):
        own = [case for case in cases if case[0] == instance]
        text = "\n".join(f"attribute int64_t {name} = {value};" for _, name, _, value, _ in own)
        found = errors(tmp_path, **{instance: text})
        assert own and len(found) == len(own)
        for line, (_, name, known, _, given) in zip(sorted(found), own, strict=True):
            check(found[line], name, known, given)


def test_a_string_of_digits_is_a_number(tmp_path: Path) -> None:
    """For all settings with a number, wherever they are set."""
    rows = [(place, known) for known in TABLE.values() if not known.form for place in places(known)]
    lines = [f'{place} = "{20 if known.is_time else known.low}";' for place, known in rows]
    assert errors(tmp_path, "\n".join(lines)) == {}


def test_a_time_in_quotes(tmp_path: Path) -> None:
    for place in ("task._period", "plain._period", "lock.p_wcet", "task.more_within"):
        ((problem,),) = errors(tmp_path, f'{place} = "10 ms";').values()
        assert problem.help == "without quotes: `10 ms`"


def test_all_settings_have_a_place() -> None:
    assert [known.name for known in TABLE.values() if not [*places(known)]] == ["dtb"]
