# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The allocator hands out what connections and protocols need, and nothing else."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from camkes.capdl import uses
from camkes.capdl.allocate import allocate
from camkes.capdl.callers import caller_table, can_be_raised
from camkes.capdl.details import Rights
from camkes.capdl.model import (
    Cap,
    CapabilityModel,
    Mapping,
    ObjectKind,
    Role,
    Space,
    Thread,
)
from camkes.model.protocols import Protocol
from camkes.model.system import DataportType, Interface
from camkes.protocols.contexts import Context
from tests.capdl.systems import (
    CALL,
    DATA,
    EMPTY,
    EVENT,
    RPC,
    SPAN,
    component,
    connect,
    connector,
    everything,
    iface,
    instance,
    nested,
    planned_cpi,
    system,
)

pytestmark = pytest.mark.requirement("PLAN-8")


def space_of(model: CapabilityModel, name: str) -> Space:
    return next(s for s in model.spaces if name in s.instances)


def cap(model: CapabilityModel, use: uses.CapUse) -> Cap:
    slot = model.slots[use]
    return next(c for c in space_of(model, use.instance).caps if c.slot == slot)


def at(model: CapabilityModel, instance: str, interface: str) -> list[uses.CapUse]:
    """The uses of an interface."""
    found = (use for use in model.slots if isinstance(use, uses.OfInterface) and use.instance == instance)
    return [use for use in found if use.interface == interface]


def thread(model: CapabilityModel, name: str) -> Thread:
    return next(t for s in model.spaces for t in s.threads if t.name == name)


def test_plain_rpc_shares_one_endpoint_and_numbers_clients() -> None:
    client = component("Client", "uses s", control=True)
    server = component("Server", "provides s")
    model = allocate(
        system(
            (instance("a", client), instance("b", client, s_attributes=1), instance("v", server)),
            (connect(RPC, "c", "a.s b.s", "v.s"),),
        ),
        EMPTY,
    )
    assert cap(model, uses.PlainRequest("a", "s")) == Cap(
        model.slots[uses.PlainRequest("a", "s")], "c:endpoint", Rights.CALL, 2
    )
    assert cap(model, uses.PlainRequest("b", "s")).badge == 1
    assert str(cap(model, uses.Serve("v", "s")).rights) == "R"
    assert [t.name for t in space_of(model, "v").threads] == ["v", "v.s"]
    assert uses.Gate("v") in model.slots
    assert uses.Gate("a") not in model.slots


def test_caller_table_of_a_nested_lock() -> None:
    made, plan = nested()
    inner = plan.cpi("inner.p")
    assert inner is not None
    table = caller_table(made, plan, inner)
    assert [(e.end.name, e.context.name, e.sender_id, e.bound, e.manager_badge) for e in table] == [
        ("outer.next", "t1", 1, 20, 4),
        ("outer.next", "t2", 1, 20, 5),
        ("t3.p", "t3", 2, 30, None),
    ]


def test_whether_the_priority_of_requests_of_a_cpi_can_be_raised() -> None:
    """Two contexts that contend for it, or a caller above it that can be raised; never of a fixed one."""
    contexts = (Context("t1", 10, True, 1), Context("t2", 20, True, 2))
    for protocol, count, above, raised in (
        (Protocol.INHERITED, 2, False, True),
        (Protocol.INHERITED, 1, False, False),
        (Protocol.INHERITED, 1, True, True),
        (Protocol.PROPAGATED, 2, False, False),
        (Protocol.PROPAGATED, 2, True, True),
        (Protocol.FIXED, 2, True, False),
    ):
        cpi = planned_cpi(1, "k.p", protocol, contexts[:count], inherits_from_above=above)
        assert can_be_raised(cpi) == raised


def test_a_cpi_without_a_connection_has_no_callers() -> None:
    cpi = planned_cpi(1, "k.p", Protocol.FIXED, (Context("t1", 10, True, 1),))
    assert caller_table(system(()), EMPTY, cpi) == ()


@pytest.mark.parametrize(
    ("of_connection", "of_interface", "threads"), [(3, 2, 3), (None, 2, 2), (None, None, 1)]
)
def test_threads_of_an_interface_without_a_protocol(
    of_connection: int | None, of_interface: int | None, threads: int
) -> None:
    provided = replace(iface("provides p"), threads=of_interface)
    made = system(
        (instance("a", component("A", "uses p", control=True)), instance("b", component("B", provided))),
        (replace(connect(RPC, "c", "a.p", "b.p"), threads=of_connection),),
    )
    (space,) = [each for each in allocate(made, EMPTY).spaces if each.name == "b"]
    assert [each.name for each in space.threads[1:]] == [
        f"b.p@{number}" if threads > 1 else "b.p" for number in range(threads)
    ]


def test_nested_locks() -> None:
    model = allocate(*nested())
    assert cap(model, uses.CpiRequest("outer", "next", "t2")).badge == 2
    assert cap(model, uses.CpiRequest("outer", "next", "t2")).object == "inner.p@t2:endpoint"
    assert cap(model, uses.Update("outer", "next", "t2")) == Cap(
        model.slots[uses.Update("outer", "next", "t2")],
        "inner.p!manager:endpoint",
        Rights.CALL,
        5,
    )
    assert cap(model, uses.WorkerCall("inner", "p", "t3")).badge == 3
    assert cap(model, uses.WorkerTcb("inner", "p", "t1")).object == "inner.p@t1"
    assert cap(model, uses.ManagerTcb("inner", "p")).object == "inner.p!manager"
    reply = model.slots[uses.CpiReply("inner", "p", "t1")]
    assert all(c.slot != reply for c in space_of(model, "inner").caps)
    # a fixed CPI has no manager, and what is inherited ends before it
    assert not any(isinstance(use, uses.OfCpi) for use in model.slots if use.instance == "leaf")
    assert at(model, "inner", "next") == [
        uses.CpiRequest("inner", "next", task) for task in ("t1", "t2", "t3")
    ]


def test_threads_of_protocols() -> None:
    model = allocate(*nested())
    worker = thread(model, "inner.p@t2")
    assert (worker.role, worker.priority, worker.max_priority) == (Role.WORKER, 20, 0)
    manager = thread(model, "inner.p!manager")
    assert (manager.role, manager.priority, manager.max_priority) == (Role.MANAGER, 30, 30)
    assert thread(model, "leaf.p").priority == 30
    assert thread(model, "t3").task == 3
    assert thread(model, "t3").max_priority == 0


def test_a_task_has_a_timer() -> None:
    model = allocate(*nested())
    timer = next(t for t in model.timers if t.object == "t3:timer")
    assert (timer.notification, timer.offset, timer.period) == ("t3:release", 1_000_000, 10_000_000)
    assert str(cap(model, uses.Release("t3")).rights) == "R"


def test_events_have_a_notification_for_each_consumer() -> None:
    emitter = component("E", "emits e", control=True)
    consumer = component("C", "consumes e")
    model = allocate(
        system(
            (instance("e", emitter), instance("c1", consumer), instance("c2", consumer)),
            (connect(EVENT, "n", "e.e", "c1.e c2.e"),),
        ),
        EMPTY,
    )
    assert [cap(model, uses.Emit("e", "e", i)).object for i in range(2)] == [
        "n@c1.e:notification",
        "n@c2.e:notification",
    ]
    assert str(cap(model, uses.Receive("c2", "e")).rights) == "R"
    # the thread that takes events hands them to the component's code by a notification that it also waits for
    handed = [cap(model, uses.Handoff(name, "e")) for name in ("c1", "c2")]
    assert [(c.object, str(c.rights)) for c in handed] == [("c1.e:handoff", "RW"), ("c2.e:handoff", "RW")]


def test_dataports_are_mapped_with_their_rights() -> None:
    port = component("P", "dataport d", control=True)
    model = allocate(
        system(
            (instance("a", port), instance("b", port, d_access="R")),
            (connect(DATA, "x", "a.d", "b.d", {"size": 5000}),),
        ),
        EMPTY,
    )
    assert next(o for o in model.objects if o.name == "x:data").size == 8192
    assert space_of(model, "a").mappings == (
        Mapping(uses.Data("a", "d"), "x:data", Rights.RW, cached=True, offset=0),
    )
    assert space_of(model, "b").mappings == (
        Mapping(uses.Data("b", "d"), "x:data", Rights.READ, cached=True, offset=0),
    )


@pytest.mark.parametrize(
    ("sizes", "expected"), [((None, None), 4096), ((100, 4097), 8192), ((8192, 1), 8192)]
)
def test_a_dataport_without_a_size_is_as_large_as_the_larger_type(
    sizes: tuple[int | None, int | None], expected: int
) -> None:
    types = [
        component(f"P{i}", Interface("dataport", "d", DataportType(f"D{i}", size), False, SPAN))
        for i, size in enumerate(sizes)
    ]
    made = system((instance("a", types[0]), instance("b", types[1])), (connect(DATA, "x", "a.d", "b.d"),))
    assert next(o for o in allocate(made, EMPTY).objects if o.name == "x:data").size == expected


def test_groups_share_a_cspace() -> None:
    a, b = component("A", "uses s", "dataport d"), component("B", "provides s", "dataport d")
    model = allocate(
        system(
            (instance("a", a, "g"), instance("b", b, "g")),
            (connect(CALL, "c", "a.s", "b.s"), connect(DATA, "x", "a.d", "b.d")),
        ),
        EMPTY,
    )
    (space,) = model.spaces
    assert space.instances == ("a", "b")
    assert [c.slot for c in space.caps] == list(range(1, len(space.caps) + 1))
    assert [t.index for t in space.threads] == list(range(len(space.threads)))
    assert [space.symbol(m.use) for m in space.mappings] == ["a.d_data", "b.d_data"]
    assert space.symbol(uses.Variable("", "of_the_library")) == "of_the_library"


def test_synchronisation_objects() -> None:
    kind = component("S", control=True, syncs="mutex:m semaphore:s binary_semaphore:b")
    model = allocate(system((instance("a", kind),)), EMPTY)
    objects = {o.name: o.kind.value for o in model.objects}
    assert objects["a.m:mutex"] == "notification"
    assert objects["a.s:semaphore"] == "notification"
    assert str(cap(model, uses.SyncNotification("a", "b")).rights) == "RW"


def test_wrong_settings_are_replaced_by_defaults() -> None:
    model = allocate(system((instance("a", component("S", control=True), _stack_size="big"),)), EMPTY)
    assert thread(model, "a").stack_size == 16384


def test_every_slot_is_used_once_and_every_cap_has_a_symbol() -> None:
    model = allocate(*nested())
    for space in model.spaces:
        slots = [c.slot for c in space.caps]
        assert len(set(slots)) == len(slots)
        named = {slot for use, slot in model.slots.items() if use.instance in space.instances}
        assert set(slots) <= named


def test_without_capabilities_to_threads_only_managers_have_them() -> None:
    made, plan = nested()
    model = allocate(made, plan, tcb_caps=False)
    kinds = {o.name: o.kind for o in model.objects}
    managed = {c.name for c in plan.cpis if c.manager}
    assert managed
    for space in model.spaces:
        held = {c.object for c in space.caps if kinds[c.object] is ObjectKind.TCB}
        wanted = {t.name for t in space.threads if f"{t.instance}.{t.interface}" in managed}
        assert held == wanted


def test_a_space_without_capabilities_uses_no_slot() -> None:
    empty = Space("empty", ("empty",), (), (), ())
    assert CapabilityModel((), (empty,), ()).slots_used() == {"empty": 0}
    assert CapabilityModel((), (empty,), (), {uses.TemplateSlot("empty", 5): 5}).slots_used() == {"empty": 5}


def test_a_client_of_time_without_a_server_has_a_timer() -> None:
    time = connector("seL4TimeServer", "Procedure", (True, 0), (False, 1))
    made = system((instance("a", component("A", "uses t")),), (connect(time, "k", "a.t", ""),))
    model = allocate(made, EMPTY)
    assert [(timer.object, timer.badge) for timer in model.timers] == [("a.t:timer", 1)]


def test_a_fixed_cpi_serves_all_contexts_at_one_endpoint() -> None:
    made, plan = nested()
    model = allocate(made, plan)
    assert at(model, "leaf", "p") == [uses.Serve("leaf", "p")]
    assert cap(model, uses.Serve("leaf", "p")).object == "leaf.p:endpoint"
    asked = {cap(model, uses.CpiRequest("inner", "next", f"t{number}")).object for number in (1, 2, 3)}
    assert asked == {"leaf.p:endpoint"}


def test_a_queue_of_events_is_named_after_its_connection() -> None:
    names = {o.name for o in allocate(everything(), EMPTY).objects if o.kind is ObjectKind.REGION}
    assert "n1:queue" in names and not any("notification" in name for name in names)


def test_only_memory_has_a_size() -> None:
    sized = {o.kind for o in allocate(everything(), EMPTY).objects if o.size != 0}
    assert sized == {ObjectKind.REGION}
