# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""No address space holds more capabilities than its connections and roles need."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from camkes.capdl import uses
from camkes.capdl.allocate import allocate
from camkes.capdl.authority import authority, thread_authority, threads_to_text, to_json, to_text
from camkes.capdl.details import Rights
from camkes.capdl.model import CapabilityModel, Mapping, ObjectKind, Role
from camkes.model.protocols import Protocol
from camkes.model.system import System
from camkes.protocols.contexts import Context
from camkes.protocols.plan import Plan, PlannedTask
from tests.capdl.systems import (
    EMPTY,
    RPC,
    component,
    connect,
    everything,
    iface,
    instance,
    nested,
    planned_cpi,
    request,
    system,
    task,
)
from tests.documents import conforming

pytestmark = pytest.mark.requirement("PLAN-8")

#: Mutation runs have these tests only: not fewer examples than Hypothesis would take.
MORE = settings(max_examples=max(100, settings.default.max_examples))


@st.composite
def layered(draw: st.DrawFn) -> tuple[System, Plan]:
    """Tasks above layers of CPIs; each CPI requests the next layer's one CPI."""
    count = draw(st.integers(1, 4))
    protocols = draw(st.lists(st.sampled_from(list(Protocol)), min_size=1, max_size=4))
    priorities = draw(st.lists(st.integers(1, 200), min_size=count, max_size=count))
    pooled = draw(st.lists(st.booleans(), min_size=len(protocols), max_size=len(protocols)))
    tasks = [Context(i, f"t{i}", True, p) for i, p in enumerate(priorities)]
    fixed = [
        Context(count + i, f"c{i}.p", False, max(priorities))
        for i, p in enumerate(protocols)
        if p is Protocol.FIXED
    ]
    client = component("Task", "uses p", control=True)
    instances = [instance(t.name, client) for t in tasks]
    connections = [connect(RPC, "k0", " ".join(f"{t.name}.p" for t in tasks), "c0.p")]
    requests = [request(t.name, f"{t.name}.p", "c0.p", "k0") for t in tasks]
    cpis = []
    arriving = tuple(tasks)
    above = False
    for i, protocol in enumerate(protocols):
        last = i == len(protocols) - 1
        parts = [iface("provides p", protocol)] + ([] if last else [iface("uses next")])
        instances.append(instance(f"c{i}", component(f"C{i}", *parts)))
        pool = pooled[i] and protocol is not Protocol.FIXED and len(arriving) > 1
        contended = protocol is Protocol.INHERITED and len(arriving) > 1
        manager = protocol is not Protocol.FIXED and (contended or above or pool)
        cpis.append(
            planned_cpi(
                i,
                f"c{i}.p",
                protocol,
                arriving,
                pooled=pool,
                threads=1 if protocol is Protocol.FIXED or pool else len(arriving),
                manager=manager,
                inherits_from_above=above and protocol is not Protocol.FIXED,
            )
        )
        if not last:
            connections.append(connect(RPC, f"k{i + 1}", f"c{i}.next", f"c{i + 1}.p"))
            requests.append(request(f"c{i}.p", f"c{i}.next", f"c{i + 1}.p", f"k{i + 1}"))
        if protocol is Protocol.FIXED:
            arriving, above = tuple(f for f in fixed if f.name == f"c{i}.p"), False
        else:
            above = above or contended
    made = system(tuple(instances), tuple(connections), tuple(task(t.name, t.base_priority) for t in tasks))
    planned = tuple(PlannedTask(t.name, t.id, t.base_priority, t) for t in tasks)
    return made, Plan(planned, tuple(cpis), (*tasks, *fixed), tuple(requests))


def check(model: CapabilityModel) -> None:
    kinds = {o.name: o.kind for o in model.objects}
    managers = {t.name: t for s in model.spaces for t in s.threads if t.role is Role.MANAGER}
    for space in model.spaces:
        own = {t.name for t in space.threads}
        for cap in space.caps:
            kind = kinds[cap.object]
            if kind is ObjectKind.TCB:
                assert cap.object in own  # no component holds another one's thread
            if kind is ObjectKind.ENDPOINT and not cap.object.endswith((":gate", ":ready")):
                assert str(cap.rights) in ("R", "WP")  # one serves, the other asks
            if kind is ObjectKind.NOTIFICATION and str(cap.rights) != "RW":
                assert str(cap.rights) in ("R", "W")
        slots = [c.slot for c in space.caps]
        assert len(set(slots)) == len(slots)
    for name, manager in managers.items():
        workers = [t for s in model.spaces for t in s.threads if t.role is Role.WORKER]
        served = [t for t in workers if f"{t.instance}.{t.interface}" == name.removesuffix("!manager")]
        assert all(t.priority <= manager.max_priority for t in served)


@given(layered())
@MORE
def test_every_capability_is_justified(made: tuple[System, Plan]) -> None:
    made_system, plan = made
    model = allocate(made_system, plan)
    check(model)
    holdings = authority(made_system, plan, model)
    assert len(holdings) == sum(len(s.caps) + len(s.mappings) for s in model.spaces)
    holders = {c.object for s in model.spaces for c in s.caps}
    needed = {ObjectKind.ENDPOINT, ObjectKind.NOTIFICATION, ObjectKind.TIMER, ObjectKind.TCB}
    assert all(o.name in holders for o in model.objects if o.kind in needed)


@given(layered())
@MORE
def test_badges_are_the_callers_and_no_two_are_equal(made: tuple[System, Plan]) -> None:
    model = allocate(*made)
    asked: dict[str, list[int]] = {}
    for space in model.spaces:
        for cap in space.caps:
            if str(cap.rights) == "WP":
                asked.setdefault(cap.object.partition("@")[0].removesuffix(":endpoint"), []).append(cap.badge)
    for badges in asked.values():
        assert sorted(badges) == sorted(set(badges))
        assert all(b > 0 for b in badges)


def test_reasons_of_all_kinds() -> None:
    made = everything()
    model = allocate(made, EMPTY)
    check(model)
    reasons = [h.reason for h in authority(made, EMPTY, model)]
    for word in ("requests b1.s", "serves s", "signals b1.e, b2.e", "waits for n", "mutex m", "semaphore x"):
        assert any(word in r for r in reasons), word
    assert sum("time of t" in r for r in reasons) == 4


def test_a_capability_without_a_purpose_is_an_error() -> None:
    made, plan = nested()
    model = allocate(made, plan)
    space = next(s for s in model.spaces if s.name == "inner")
    slot = space.caps[0].slot
    for use in (
        uses.Release("inner"),
        uses.Settle("inner"),
        uses.Turn("inner"),
        uses.Turn("t1"),
        uses.Raise("inner"),
        uses.SyncNotification("inner", "unknown"),
        uses.TemplateSlot("inner", 1),
        uses.PoolObject("inner", "pool", 1),
        uses.Handoff("inner", "unknown"),
        uses.WorkerTcb("inner", "next", "t1"),
        uses.CpiReply("inner", "next", "t1"),
        uses.GroupReply("inner", "p", 0),
        uses.AlarmTimer("inner", "p"),
        uses.SchedulerTime("inner", "p", "t1"),
        uses.WaitCall("inner", "p", 0),
        uses.PlainRequest("inner", "unknown"),
        uses.Update("inner", "unknown", "t1"),
        uses.CpiRequest("inner", "unknown", "t1"),
    ):
        other = replace(model, slots={use: slot})
        with pytest.raises(ValueError, match="has no known purpose"):
            authority(made, plan, replace(other, spaces=(replace(space, caps=space.caps[:1]),)))
    with pytest.raises(ValueError, match="slot 1 of t1 has no known purpose"):
        authority(made, plan, replace(model, slots={}))
    for memory in (uses.Data("inner", "unknown"), uses.Variable("inner", "unknown")):
        unknown = replace(space, caps=(), mappings=(Mapping(memory, "region", Rights.RW),))
        with pytest.raises(ValueError, match="has no known purpose"):
            authority(made, plan, replace(model, spaces=(unknown,)))


def test_a_use_by_an_instance_that_is_not_there_is_an_error() -> None:
    made, plan = nested()
    model = allocate(made, plan)
    space = replace(model.spaces[0], instances=("nobody",), caps=model.spaces[0].caps[:1])
    missing = replace(model, spaces=(space,), slots={uses.Serve("nobody", "p"): space.caps[0].slot})
    with pytest.raises(ValueError, match="has no known purpose"):
        authority(made, plan, missing)


def test_the_place_of_a_thread_of_a_cpi_is_the_cpi_and_a_control_thread_has_none() -> None:
    made, plan = nested()
    spans = {h.object: h.span for h in authority(made, plan, allocate(made, plan)) if "itself" in h.reason}
    assert spans["t1"] is None
    inner = plan.cpi("inner.p")
    assert inner is not None and spans["inner.p!manager"] == inner.span


def test_columns_of_the_table_line_up() -> None:
    made, plan = nested()
    rows = to_text(authority(made, plan, allocate(made, plan))).splitlines()
    holdings = [row for row in rows if row.startswith(" ")]
    longest = max(len(row.split()[1]) for row in holdings)
    assert {row[10 + longest : 12 + longest] for row in holdings} == {"  "}
    assert all(row[10 : 10 + longest].strip() == row.split()[1] for row in holdings)


def test_reasons_of_a_manager() -> None:
    made, plan = nested()
    found = {h.reason for h in authority(made, plan, allocate(made, plan)) if h.instance == "inner"}
    assert "serves as the manager of inner.p" in found
    assert "serves requests of t3 at inner.p" in found
    assert "worker of t1 calls the manager of inner.p" in found


def test_the_table_shows_badges_where_there_are_any() -> None:
    holdings = authority(*(made := nested()), allocate(*made))
    badges = {holding.badge for holding in holdings}
    assert 0 in badges and len(badges) > 1
    rows = [row for row in to_text(holdings).splitlines() if row.startswith("  ")]
    assert len(rows) == len(holdings)
    for row, holding in zip(rows, holdings, strict=True):
        assert row.endswith(f" badge {holding.badge}") if holding.badge else " badge" not in row


def test_as_text_and_as_json() -> None:
    made, plan = nested()
    holdings = authority(made, plan, allocate(made, plan))
    text = to_text(holdings)
    assert "inner:" in text.splitlines()
    assert "serves as the manager of inner.p" in text
    records = json.loads(to_json(holdings))
    assert [r["object"] for r in records] == [h.object for h in holdings]
    assert {"file": "hand.camkes", "line": 1} in [r["place"] for r in records]


@given(layered())
@MORE
def test_only_managers_may_set_priorities_up_to_their_ceilings(made: tuple[System, Plan]) -> None:
    made_system, plan = made
    ceilings = {cpi.name: cpi.ceiling for cpi in plan.cpis}
    model = allocate(made_system, plan)
    for space in model.spaces:
        for thread in space.threads:
            manages = thread.role is Role.MANAGER
            assert thread.max_priority == (ceilings[thread.name.removesuffix("!manager")] if manages else 0)
    for row in thread_authority(model):
        of_space = [c for name, c in ceilings.items() if name.partition(".")[0] == row.instance]
        assert row.reach <= max(of_space, default=0)


def test_threads_as_text_and_as_json() -> None:
    made, plan = nested()
    model = allocate(made, plan)
    threads = thread_authority(model)
    text = threads_to_text(threads)
    assert len(text.splitlines()) == 1 + sum(len(space.threads) for space in model.spaces)
    manager = next(t for t in threads if t.name == "inner.p!manager")
    assert manager.reach == manager.max_priority == manager.priority
    assert "inner.p@t1" in manager.sets
    records = conforming("authority", to_json(authority(made, plan, model), threads))
    rows = {r["object"]: r["thread"] for r in records if r["thread"] is not None}
    assert rows["inner.p!manager"]["reach"] == manager.reach
    assert set(rows) == {t.name for t in threads}


def test_the_table_of_threads_ends_with_what_they_can_set() -> None:
    head, *rows = threads_to_text(thread_authority(allocate(*nested()))).splitlines()
    assert head.endswith("  threads it can set")
    assert rows and all(row.endswith("  -") or "  itself" in row for row in rows)
