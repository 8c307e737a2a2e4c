# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A linked specification with the names that theories have, and the labels of its objects as a file."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from camkes.backends.sel4.memory import placed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: the name of an object at the beginning of a line, and behind a slot
_FIRST = re.compile(r"\S+")
_CAP = re.compile(r"^([^:]+: )(\S+)")
_TABLE = re.compile(r"(?<=mapping: \()([^,]+)")


class Names:
    """The names of a specification. What it has no name for keeps its own."""

    def __init__(self, known: Mapping[str, tuple[str, str]]) -> None:
        self.known = dict(known)
        self.labels = ""

    def of_image(
        self, space: str, root: str, frames: Iterable[str], tables: Iterable[tuple[str, str]]
    ) -> None:
        """Names the memory of an image: frames, and tables with their types."""
        label = self.known[root][1]
        for number, name in enumerate(frames):
            self.known[name] = f"frame_{space}_group_bin_{number:04}", label
        for number, (name, type) in enumerate(tables):
            if name != root:
                self.known[name] = f"{type}_{space}_group_bin_{number:04}", label

    def declaration(self, line: str) -> str:
        return _FIRST.sub(lambda match: self.name(match[0]), line, count=1)

    def cap(self, line: str) -> str:
        line = _CAP.sub(lambda match: match[1] + self.name(match[2]), line)
        return _TABLE.sub(lambda match: self.name(match[1]), line)

    def name(self, name: str) -> str:
        return self.known[name][0] if name in self.known else name

    def label(self, objects: Iterable[str], irqs: Iterable[str], sizes: Mapping[str, int]) -> None:
        """Sets `labels`: those of all objects, as JSON, for `camkes.backends.sel4.theories`."""
        labels = dict(self.known.values())
        numbers = {name: int(number) for number, _, name in (line.partition(": ") for line in irqs)}
        rows = []
        for line in objects:
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
        self.labels = json.dumps(rows, indent=1)
