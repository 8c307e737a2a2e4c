# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Records of runs that are written by hand."""

from __future__ import annotations

from pathlib import Path

from camkes import pipeline
from camkes.diagnostics import Sink
from camkes.model.system import System
from camkes.protocols.plan import Plan
from camkes.running.events import Event
from camkes.running.kinds import Binding, Kind
from camkes.running.names import TraceNames, trace_names
from tests.runtime.host import checked

from .checking import check_trace


class Records:
    """Records of threads and contexts by their names."""

    def __init__(self, names: TraceNames, plan: Plan, system: System) -> None:
        self.names, self.plan, self.system = names, plan, system
        self.time = 0
        self.events: list[Event] = []

    def add(self, kind: Kind, thread: str = "", other: str = "", *args: int) -> None:
        numbers = {named.name: named.number for named in self.names.threads}
        self.events.append(Event(self.time, kind, numbers.get(thread), numbers.get(other), args))

    def lock(self, kind: Kind, cpi: str, context: str) -> None:
        ids = {named.name: named.id for named in (*self.names.cpis, *self.names.contexts)}
        self.add(kind, f"{cpi}@{context}", "", ids[cpi], ids[context])

    def request(self, cpi: str, context: str, client: str) -> None:
        ids = {named.name: named.id for named in (*self.names.cpis, *self.names.contexts)}
        base = self.names.contexts[ids[context]].priority
        self.add(Kind.TRANSFER, client, f"{cpi}@{context}", 0, 0, 0, 0)
        task = next(task.id for task in self.names.tasks if task.name == context)
        self.add(Kind.REQUEST_BEGIN, f"{cpi}@{context}", "", ids[cpi], ids[context], base, task, 0)

    def bind(self, context: str, thread: str, by: str = "", how: Binding = Binding.BOUND) -> None:
        """A thread gets a scheduling context; without `by`, at the start."""
        self.add(Kind.BIND, thread, by, self.names.objects.index(context), how)

    def of_context(self, kind: Kind, context: str, thread: str, *args: int) -> None:
        """What happens to a scheduling context, which a thread has."""
        self.add(kind, thread, "", self.names.objects.index(context), *args)

    def found(self) -> list[str]:
        return [each.explanation for each in check_trace(self.events, self.names, self.plan, self.system)]


def records_of(folder: Path, text: str, *, mcs: bool = True) -> Records:
    """No records yet, of a system with this text."""
    sink = Sink()
    system = checked(folder, text, sink, mcs=mcs)
    names = trace_names(pipeline.capabilities(system, sink), system.plan, system.system)
    return Records(names, system.plan, system.system)
