# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""An address space while it is filled."""

from __future__ import annotations

from camkes.capdl.details import Rights
from camkes.capdl.model import Cap, Mapping, Space, Thread


class OpenSpace:
    """An address space while it is filled."""

    __slots__ = ("caps", "instances", "mappings", "name", "next_slot", "threads")

    def __init__(self, name: str) -> None:
        self.name = name
        self.instances: list[str] = []
        self.caps: list[Cap] = []
        self.mappings: list[Mapping] = []
        self.threads: list[Thread] = []
        self.next_slot = 1

    def reserve(self) -> int:
        slot = self.next_slot
        self.next_slot += 1
        return slot

    def add(self, name: str, rights: Rights, badge: int) -> int:
        """The slot of a new capability."""
        slot = self.reserve()
        self.caps.append(Cap(slot, name, rights, badge))
        return slot

    def build(self) -> Space:
        return Space(
            self.name, tuple(self.instances), tuple(self.caps), tuple(self.mappings), tuple(self.threads)
        )
