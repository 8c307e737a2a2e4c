# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What was used of the scheduling contexts of an MCS kernel, while a trace is decoded."""

from __future__ import annotations

from msgspec.structs import replace

from camkes.report.trace.model import Spent
from camkes.report.trace.names import TraceNames
from camkes.report.trace.states import ThreadState

Args = tuple[int, ...]


class Spending:
    """By the objects of the contexts. The functions are those of the decoder for records of these kinds."""

    def __init__(self, names: TraceNames) -> None:
        self.names = names
        self.contexts: dict[int, Spent] = {}

    def configured(self, thread: ThreadState | None, _: ThreadState | None, args: Args) -> None:
        name = self.names.object_name(args[0]) if thread is None else thread.named.name
        spent = self.contexts.get(args[0], Spent(name, 0, 0))
        self.contexts[args[0]] = replace(spent, budget=args[1], period=args[2])

    def charged(self, _: ThreadState | None, __: ThreadState | None, args: Args) -> None:
        if (spent := self.contexts.get(args[0])) is not None:
            self.contexts[args[0]] = replace(spent, used=spent.used + args[1])

    def timed_out(self, _: ThreadState | None, __: ThreadState | None, args: Args) -> None:
        if (spent := self.contexts.get(args[0])) is not None:
            self.contexts[args[0]] = replace(spent, timeouts=spent.timeouts + 1)

    def postponed(self, args: Args) -> None:
        if len(args) > 1 and (spent := self.contexts.get(args[0])) is not None:
            self.contexts[args[0]] = replace(spent, waits=spent.waits + 1)
