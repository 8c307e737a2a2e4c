# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Everything in a capability model: of `golden/NAME.camkes` the text `golden/NAME.model`. Two are compared to
the letter, the others up to the numbers of slots, and so up to the order in which a space is filled."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import unified_diff
from enum import Enum
from pathlib import Path

import pytest
from msgspec import NODEFAULT, Struct
from msgspec.structs import fields

from camkes.analysis.assumptions import of_operations
from camkes.analysis.platform import FREE, Platform
from camkes.capdl.allocate import allocate
from camkes.capdl.authority import authority, thread_authority, threads_to_text, to_json, to_text
from camkes.capdl.callers import caller_table
from camkes.capdl.details import Rights
from camkes.capdl.host_table import host_table
from camkes.capdl.model import CapabilityModel, Pools
from camkes.capdl.pools import allocate_pools
from camkes.capdl.time_manager import TIME_MANAGER
from camkes.capdl.uses import Executes, TimeManagerLend, Use
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import Style, render
from camkes.model.configured import Defaults
from camkes.model.system import ConnectionEnd, Setting, System, Value
from camkes.protocols import analyse
from camkes.protocols.contexts import Context, Seat
from camkes.protocols.plan import Plan
from camkes.protocols.timers import other_timers, timer_count
from camkes.resolve import LoadOptions, load
from tests.capdl.systems import EMPTY, EVENT, SPAN, component, connect, instance, system
from tests.golden import compare

pytestmark = pytest.mark.requirement("PLAN-9")

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.camkes"))
#: for an MCS kernel
MCS = ("bands", "budgets")
#: with the numbers of slots
WHOLE = ("budgets", "protocols")


def planned(name: str, sink: Sink | None = None) -> tuple[System, Plan]:
    sink = Sink() if sink is None else sink
    system = load(GOLDEN / f"{name}.camkes", LoadOptions(cpp=False, mcs=name in MCS), sink)
    plan = None if system is None else analyse(system, sink)
    assert system is not None and plan is not None, render(sink.diagnostics)
    return system, plan


def word(value: object) -> str:
    match value:
        case Rights():
            return str(value)
        case Enum():
            return str(value.value)
        case Use():
            instance, *rest = (word(getattr(value, field.name)) for field in fields(value))
            return ":".join((instance, type(value).__name__, *rest))
        case Context() | ConnectionEnd() | Seat():
            return value.name
        case Struct():
            return line(f"{type(value).__name__}:", value)
        case tuple():
            return f"({' '.join(map(word, value))})"
    return str(value)


def line(kind: str, item: Struct) -> str:
    """What an item has that is not the default."""
    found = [kind]
    for field in fields(item):
        value = getattr(item, field.name)
        if field.default is NODEFAULT or value != field.default:
            found.append(f"{field.name}={word(value)}")
    return " ".join(found)


def lines(model: CapabilityModel, *, slots: bool) -> Iterator[str]:
    """`slots`: with their numbers; else a use has the capability that is in its slot."""
    yield from (line("object", item) for item in model.objects)
    held: dict[tuple[str, int], str] = {}
    for space in model.spaces:
        yield f"space {space.name} {word(space.instances)} {space.cnode} {space.vspace}"
        caps = [line("  cap", cap) for cap in space.caps]
        yield from caps if slots else sorted(re.sub(" slot=[0-9]+", "", cap) for cap in caps)
        yield from (line("  map", mapping) for mapping in space.mappings)
        yield from (line("  thread", thread) for thread in space.threads)
        for cap in space.caps:
            text = re.sub(" slot=[0-9]+", "", line("", cap))
            held |= {(instance, cap.slot): text for instance in (space.name, *space.instances)}
    yield from (line("timer", timer) for timer in model.timers)
    uses = [
        f"slot {word(use)} = {slot if slots else held.get((use.instance, slot), ' none')}"
        for use, slot in model.slots.items()
    ]
    yield from uses if slots else sorted(uses)


def without_slots(text: str, slot: str) -> str:
    """`slot`: an expression for a line up to the number of a slot, and that number. Lines that have one are
    sorted, those between two others each time."""
    found: list[str] = []
    run: list[str] = []
    for each in (*text.split("\n"), None):
        match = None if each is None else re.match(slot, each)
        if match is not None and each is not None:
            run.append(match[1] + each[match.end() :])
        else:
            found += sorted(run)
            run = []
            found += [] if each is None else [each]
    return "\n".join(found)


def compare_as_kept(text: str, golden: Path, slot: str) -> None:
    whole = golden.name.partition(".")[0] in WHOLE
    compare(text if whole else without_slots(text, slot), golden)


def tables(system: System, plan: Plan) -> Iterator[str]:
    for cpi in plan.cpis:
        yield f"callers of {cpi.name}"
        yield from (line(" ", entry) for entry in caller_table(system, plan, cpi))


@pytest.mark.parametrize("name", NAMES)
def test_model(name: str) -> None:
    system, plan = planned(name)
    sink = Sink()
    model = allocate(system, plan, sink)
    assert not sink.diagnostics
    text = "\n".join((*lines(model, slots=name in WHOLE), *tables(system, plan), ""))
    compare(text, GOLDEN / f"{name}.model")


@pytest.mark.parametrize("name", NAMES)
def test_model_with_other_defaults_and_templates(name: str) -> None:
    """Also without capabilities to threads, as a build for seL4 wants it: how it differs from the model."""
    rendered = frozenset({"seL4TimeServer", "seL4NotificationBind", "seL4SharedData"})
    system, plan = planned(name)
    model = allocate(
        system,
        plan,
        None,
        Defaults(priority=100, stack=4096, affinity=1),
        rendered=rendered,
        tcb_caps=False,
    )
    reach = (f"reach of {each.name}: {each.reach}" for each in thread_authority(model))
    usual, other = (list(lines(each, slots=False)) for each in (allocate(system, plan), model))
    differences = (
        each for each in unified_diff(usual, other, n=0, lineterm="") if each[:2] not in ("--", "++", "@@")
    )
    compare("\n".join((*differences, *reach, "")), GOLDEN / f"{name}.rendered.model")


@pytest.mark.parametrize("name", NAMES)
def test_tables_for_people_and_programs(name: str) -> None:
    system, plan = planned(name)
    model = allocate(system, plan)
    images = {space.name: f"{space.name}.so" for space in model.spaces}
    compare_as_kept(host_table(model, images), GOLDEN / f"{name}.table", r"(cap )\d+ ")
    holdings, threads = authority(system, plan, model), thread_authority(model)
    tables = f"{to_text(holdings)}\n\n{threads_to_text(threads)}\n"
    compare_as_kept(tables, GOLDEN / f"{name}.authority", r"(  +)\d+  ")
    text = to_json(holdings, threads)
    records = json.loads(text)
    assert text == json.dumps(records, indent=2, ensure_ascii=False)
    rows = "".join(f"{json.dumps(record)}\n" for record in records)
    rows = rows.replace(str(GOLDEN), "GOLDEN")
    compare_as_kept(rows, GOLDEN / f"{name}.authority.json", r'(.*)"slot": \d+, ')


def of_pools(pools: Pools) -> str:
    variables = " ".join(pools.variables())
    entries = "".join(line("\n  entry", entry) for entry in pools.entries)
    of_settings = f"dma={word(pools.dma)} tree={pools.tree} {pools.secure_calls}"
    return f"pools of {pools.name}: {of_settings} {variables}{entries}"


@pytest.mark.parametrize("frames", [(4096, 65536, 1 << 21), (8192, 65536)])
def test_pools(frames: tuple[int, ...]) -> None:
    sink = Sink()
    system, plan = planned("pools", sink)
    model = allocate_pools(system, allocate(system, plan), frames)
    errors = render(sink.diagnostics, Style(base=GOLDEN))
    text = "\n".join((*lines(model, slots=False), *map(of_pools, model.pools), errors))
    compare(text, GOLDEN / f"pools.{frames[0]}.pools")


def test_the_device_tree_of_another_instance_is_not_an_own_one() -> None:
    """Of the ends of a connection the first says whose it is."""
    kind = component("A", "emits e", "consumes d", control=True)
    of_nodes: Value = {"dtb_size": [5000]}
    for from_, to, sizes in (
        ("a.e b.e", "a.d", {"a": 12288}),
        ("b.e a.e", "a.d", {}),
        ("b.e", "a.d", {}),
        ("b.e", "b.d a.d", {}),
        ("b.e", "a.d b.d", {}),
        ("", "a.d", {}),
    ):
        made = system(
            (instance("a", kind), instance("b", kind)),
            (connect(EVENT, "c", from_, to),),
            other={"a.d": {"dtb": Setting(of_nodes, SPAN)}},
        )
        model = allocate_pools(made, allocate(made, EMPTY), (4096,))
        assert {each.name: each.tree for each in model.pools if each.tree} == sizes


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_the_device_tree_of_a_group_is_that_of_the_largest_request(names: str) -> None:
    """Its instances see one variable of the name, for all of them."""
    kind = component("A", control=True)
    asked: dict[str, Value] = {"a": {"dtb_size": [5000]}, "b": {"dtb_size": [9000]}}
    made = system(tuple(instance(n, kind, "g", dtb=asked[n]) for n in names))
    model = allocate_pools(made, allocate(made, EMPTY), (4096,))
    assert {each.name: each.tree for each in model.pools if each.tree} == {names[0]: 3 * 4096 + 4096}
    assert [m.region for space in model.spaces for m in space.mappings] == [f"shared::{names[0]}.dtb_symbol"]


def test_the_manager_of_a_group_sets_the_priorities_of_critical_tasks_that_help(tmp_path: Path) -> None:
    """The time manager sets that of the one that only waits, and tells the group of both."""
    root = tmp_path / "a.camkes"
    root.write_text(
        """import <std_connector.camkes>;
        component Waiter { control; requestor; consumes E e with helpers; }
        component Sender { control; requestor; emits E e; }
        assembly { composition { component Waiter w; component Sender s;
            connection seL4Notification c(from s.e, to w.e); }
            configuration { w._priority = 20; w._criticality = 1; s._priority = 10; s._criticality = 2; } }"""
    )
    sink = Sink()
    system = load(root, LoadOptions(cpp=False, mcs=True), sink)
    assert system is not None
    plan = analyse(system, sink)
    assert plan is not None, render(sink.diagnostics)
    uses = [use for use in allocate(system, plan, sink=sink).slots if use.instance == TIME_MANAGER]
    assert {use.thread for use in uses if isinstance(use, Executes)} == {"w"}
    assert {use.name for use in uses if isinstance(use, TimeManagerLend)} == {"w.e"}


def test_the_place_of_what_the_manager_of_a_monitor_has_is_the_first_cpi_of_it(tmp_path: Path) -> None:
    root = tmp_path / "a.camkes"
    root.write_text(
        """import <std_connector.camkes>;
        procedure P { void f(); }
        component Task { control; requestor; uses P p; }
        component Store {
            provides P put with priority_protocol inherited, monitor places;
            provides P get with priority_protocol inherited, monitor places; }
        assembly { composition { component Task a; component Task b; component Store store;
            connection seL4RPCCall x(from a.p, to store.put);
            connection seL4RPCCall y(from b.p, to store.get); }
            configuration { a._priority = 10; b._priority = 20; } }"""
    )
    sink = Sink()
    system = load(root, LoadOptions(cpp=False), sink)
    assert system is not None
    plan = analyse(system, sink)
    assert plan is not None, render(sink.diagnostics)
    found = {
        (holding.reason, holding.span and holding.span.line)
        for holding in authority(system, plan, allocate(system, plan))
        if holding.instance == "store" and "of the group" in holding.reason
    }
    assert found == {("serves as the manager of the group of store.places", 5)}


@pytest.mark.parametrize("name", NAMES)
def test_timers_are_counted_before_they_are_allocated(name: str) -> None:
    """For the analysis, as a driver looks through all of them."""
    system, plan = planned(name)
    found = allocate(system, plan).timers
    of_tasks = [timer for timer in found if timer.object.partition(":")[0] in {t.name for t in plan.tasks}]
    assert timer_count(system, plan) == len(found)
    others = [*other_timers(system, plan)]
    assert sum(count for _, count in others) == len(found) - len(of_tasks)
    named = [
        each.text for each in of_operations(system, plan, Platform("any", clock=5)) if "timers" in each.text
    ]
    assert bool(named) == bool(others) and all(owner in named[0] for owner, _ in others)
    assert not [*of_operations(system, plan, FREE)], "its times have what timers take"
