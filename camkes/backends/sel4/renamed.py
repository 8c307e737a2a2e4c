# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A linked specification with the names that theories have, and the labels of its objects as a file."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from camkes.backends.sel4.memory import placed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from camkes.backends.sel4.link import Distribution

#: the name of an object at the beginning of a line, and behind a slot
_FIRST = re.compile(r"\S+")
_CAP = re.compile(r"^([^:]+: )(\S+)")
_TABLE = re.compile(r"(?<=mapping: \()([^,]+)")


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

    def cap(line: str) -> str:
        line = _CAP.sub(lambda match: match[1] + new(match[2]), line)
        return _TABLE.sub(lambda match: new(match[1]), line)

    linked.objects = [_FIRST.sub(lambda match: new(match[0]), line, count=1) for line in linked.objects]
    linked.caps = {new(name): [cap(line) for line in lines] for name, lines in linked.caps.items()}
    linked.irqs = [cap(line) for line in linked.irqs]
    return _labels(linked, dict(names.values()), sizes)


def _labels(linked: Distribution, labels: Mapping[str, str], sizes: Mapping[str, int]) -> str:
    numbers = {name: int(number) for number, _, name in (line.partition(": ") for line in linked.irqs)}
    rows = []
    for line in linked.objects:
        name, _, what = line.partition(" = ")
        if name not in labels:
            continue
        memory = placed(line, sizes)
        high = re.search(r"asid_high: (0x[0-9a-f]+)", what)
        rows.append(
            {
                "name": name,
                "label": labels[name],
                "bits": 0 if memory is None else memory.bits,
                "interrupt": numbers.get(name),
                "asid_high": int(high[1], 16) if high else None,
            }
        )
    return json.dumps(rows, indent=1)
