# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The boot table has the contents of the model."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from camkes.capdl.allocate import allocate
from camkes.capdl.details import Scheduling
from camkes.capdl.host_table import host_table
from camkes.capdl.model import CapabilityModel, ObjectKind
from tests.capdl.systems import EMPTY, everything, nested

pytestmark = pytest.mark.requirement("PLAN-11")

MODELS: list[Callable[[], CapabilityModel]] = [
    lambda: allocate(*nested()),
    lambda: allocate(everything(), EMPTY),
]


def parse(text: str) -> dict[str, list[list[str]]]:
    """Lines by their first word; lines of a space have its name in front."""
    header, *lines = text.splitlines()
    assert header == "camkes-host-table 1"
    found: dict[str, list[list[str]]] = {}
    space = ""
    for line in lines:
        word, *rest = line.split(" ")
        if word == "space":
            space = rest[0]
        owned = [space] if word in ("cap", "map", "thread") else []
        found.setdefault(word, []).append([*owned, *rest])
    return found


@pytest.mark.parametrize("make", MODELS)
def test_round_trip(make: Callable[[], CapabilityModel]) -> None:
    model = make()
    table = parse(host_table(model, {s.name: f"./{s.name}.so" for s in model.spaces}))
    objects = [o for o in model.objects if o.kind not in (ObjectKind.CNODE, ObjectKind.VSPACE)]
    assert [o[:2] for o in table["object"]] == [[o.name, o.kind.value] for o in objects]
    assert [s[0] for s in table["space"]] == [s.name for s in model.spaces]
    caps = [
        [s.name, str(c.slot), c.object, str(c.rights) or "-", str(c.badge)]
        for s in model.spaces
        for c in s.caps
    ]
    assert table["cap"] == caps
    maps = [[s.name, s.symbol(m.use), m.region, str(m.rights)] for s in model.spaces for m in s.mappings]
    assert table.get("map", []) == maps
    threads = [(t.name, t.priority) for s in model.spaces for t in s.threads]
    assert [(t[1], int(t[4])) for t in table["thread"]] == threads
    assert [t[0] for t in table.get("timer", [])] == [t.object for t in model.timers]
    declared = {o[0] for o in table["object"]}
    assert all(c[2] in declared for c in table["cap"])


@pytest.mark.parametrize("make", MODELS)
def test_the_same_input_gives_the_same_table(make: Callable[[], CapabilityModel]) -> None:
    model, again = make(), make()
    images = {s.name: f"./{s.name}.so" for s in model.spaces}
    assert host_table(model, images) == host_table(again, images)


def test_names_have_no_blanks() -> None:
    for make in MODELS:
        for item in make().objects:
            assert not set(item.name) & set(" \t#")


def mcs_model() -> CapabilityModel:
    return allocate(replace(everything(), mcs=True), EMPTY)


def test_an_mcs_kernel_gets_the_time_of_each_thread_that_is_not_passive() -> None:
    model = mcs_model()
    text = host_table(model, {s.name: f"./{s.name}.so" for s in model.spaces})
    assert text.splitlines()[1] == "mcs"
    times = {fields[0]: fields[1:] for fields in parse(text)["time"]}
    contexts = {o.name: o for o in model.objects if o.kind is ObjectKind.SCHEDULING_CONTEXT}
    assert times.keys() == contexts.keys()
    users = {name: fields[0] for name, fields in times.items() if fields[0] != "-"}
    active = [t for s in model.spaces for t in s.threads if t.scheduling_context]
    assert users == {t.scheduling_context: t.name for t in active}
    for name, (_, budget, period, refills, data, server) in times.items():
        granted = contexts[name].details
        assert isinstance(granted, Scheduling)
        assert (int(budget), int(period)) == (1_000 * granted.budget, 1_000 * granted.period)
        assert (int(refills), int(data)) == (granted.refills, granted.data)
        assert server == ("sporadic" if granted.sporadic else "constant")


def test_another_kernel_gets_no_times() -> None:
    model = MODELS[0]()
    assert not parse(host_table(model, {s.name: "" for s in model.spaces})).keys() & {"mcs", "time", "fault"}


@pytest.mark.parametrize(("refills", "bits"), [(2, 8), (10, 8), (11, 9), (26, 9), (27, 10)])
def test_an_object_is_large_enough_for_the_refills_of_a_server(refills: int, bits: int) -> None:
    assert Scheduling().with_server(True, refills) == Scheduling(
        size_bits=bits, sporadic=True, refills=refills
    )
