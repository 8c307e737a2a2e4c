# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A linked specification with the names that theories have, and the labels of its objects as a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from msgspec.structs import replace

from camkes.capdl.specification import AsidPool, SpecCap, memory_bits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from camkes.backends.sel4.link import Distribution


def renamed(linked: Distribution, known: Mapping[str, tuple[str, str]], sizes: Mapping[str, int]) -> str:
    """Give the objects of a distribution the names of theories. `known` are names and labels of those that
    were there before images were linked; what has none keeps its name. Returns the labels of all, as JSON."""
    names = dict(known)
    for space, (root, frames, tables) in linked.made.items():
        label = names[root][1]
        for number, name in enumerate(frames):
            names[name] = f"frame_{space}_group_bin_{number:04}", label
        for number, (name, type) in enumerate(tables):
            names.setdefault(name, (f"{type}_{space}_group_bin_{number:04}", label))

    def new(name: str) -> str:
        return names[name][0] if name in names else name

    def cap(old: SpecCap) -> SpecCap:
        mapping = None if old.mapping is None else (new(old.mapping[0]), old.mapping[1])
        return replace(old, object=new(old.object), mapping=mapping)

    linked.objects = [replace(item, name=new(item.name)) for item in linked.objects]
    linked.caps = {new(name): [cap(each) for each in held] for name, held in linked.caps.items()}
    linked.irqs = {number: new(name) for number, name in linked.irqs.items()}
    return _labels(linked, dict(names.values()), sizes)


def _labels(linked: Distribution, labels: Mapping[str, str], sizes: Mapping[str, int]) -> str:
    numbers = {name: number for number, name in linked.irqs.items()}
    rows = [
        {
            "name": item.name,
            "label": labels[item.name],
            "bits": memory_bits(item, sizes) or 0,
            "interrupt": numbers.get(item.name),
            "asid_high": item.details.place if isinstance(item.details, AsidPool) else None,
        }
        for item in linked.objects
        if item.name in labels
    ]
    return json.dumps(rows, indent=1)
