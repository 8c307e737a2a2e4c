# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The boot table has the contents of the model."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from camkes.capdl.allocate import allocate
from camkes.capdl.host_table import host_table
from camkes.capdl.model import CapabilityModel, ObjectKind
from tests.capdl.systems import EMPTY, everything, nested

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
