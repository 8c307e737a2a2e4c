# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Where requests come from."""

from __future__ import annotations

from msgspec import Struct

#: the client of which no request comes: its worker can be asked whether a scheduling context has budget
SPARE = "!spare"


class Context(Struct, frozen=True):
    """An origin of requests: at most one of its requests is under way at a CPI at any time.

    A context is a task, or a `fixed` CPI (whose one thread makes its requests at its own priority).
    `id` is unique in the system: tasks first, in instance-name order, then fixed CPIs, in the order of
    the text. `base_priority` is the priority of its requests while nothing is inherited.
    """

    id: int
    name: str  # "t1" or "leaf.p"
    is_task: bool
    base_priority: int


class Seat(Struct, frozen=True):
    """Where requests of a context come to a CPI: from one instance, the `client` ("": there is no other)."""

    context: Context
    client: str = ""

    @property
    def name(self) -> str:
        """That of the context, if it is a task or CPI of the client."""
        name = self.context.name
        return name if self.client in ("", name.partition(".")[0]) else f"{name}@{self.client}"
