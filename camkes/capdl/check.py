# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Checks that ids, badges and slots fit into the words that a kernel passes on, see `camkes.model.limits`.

docs/protocols.md has the table of all fields.
"""

from __future__ import annotations

from msgspec import Struct

from camkes.capdl import uses
from camkes.capdl.codes import WORD_LIMIT
from camkes.capdl.model import Cap, CapabilityModel
from camkes.diagnostics import Sink, Span
from camkes.model.limits import INDEXES, WORDS, Word
from camkes.model.settings import ATTRIBUTES
from camkes.model.system import Instance, System
from camkes.protocols.plan import Plan


def check_limits(system: System, plan: Plan, model: CapabilityModel, bits: int, sink: Sink) -> None:
    """Report what does not fit into the words of a kernel with words of so many bits."""
    _CapabilityCheck(system, plan, model, WORDS[bits], sink).run()


class _CapabilityCheck(Struct, frozen=True):
    system: System
    plan: Plan
    model: CapabilityModel
    word: Word
    sink: Sink

    def run(self) -> None:
        self._tasks()
        self._cpis()
        self._badges()

    def _report(self, message: str, span: Span | None, why: str, help: str) -> None:
        self.sink.report(WORD_LIMIT, message, span, notes=(why,), help=help)

    def _tasks(self) -> None:
        last = self.word.tasks - 1
        spans = {task.instance: task.spans.get("id", task.span) for task in self.system.tasks}
        for task in self.plan.tasks:
            if task.id > last:
                self._report(
                    f"id {task.id} of task `{task.name}` is not in 0..{last}",
                    spans.get(task.name),
                    f"a label of a {self.word.bits}-bit kernel has {self.word.task_bits} bits for an id, "
                    "and the highest value means that there is no task",
                    "remove stated ids, reduce the number of tasks, or build for a 64-bit kernel",
                )

    def _cpis(self) -> None:
        for cpi in self.plan.cpis:
            if cpi.pooled and cpi.threads > self.word.threads:
                self._report(
                    f"the pool of CPI `{cpi.name}` has {cpi.threads} threads; the maximum is "
                    f"{self.word.threads}",
                    cpi.span,
                    f"a label of a {self.word.bits}-bit kernel has {self.word.detail_bits} bits for the "
                    "index of a thread",
                    "write a smaller number of threads",
                )
            if len(cpi.seats) > INDEXES:
                self._report(
                    f"CPI `{cpi.name}` has {len(cpi.seats)} contexts; the maximum is {INDEXES}",
                    cpi.span,
                    "the index of a context has 16 bits",
                    "reduce the number of tasks that request it",
                )

    def _badges(self) -> None:
        held = self.model.uses()
        for space in self.model.spaces:
            for cap in space.caps:
                for use in held[space.name].get(cap.slot, ()):
                    instance = self.system.instance(use.instance)
                    if instance is not None:
                        self._cap(cap, instance, use)

    def _cap(self, cap: Cap, instance: Instance, use: uses.CapUse) -> None:
        match use:
            case uses.PlainRequest() | uses.Emit() if cap.badge > self.word.badge:
                spans = instance.configured.interface(use.interface).spans
                self._report(
                    f"badge {cap.badge} of `{use.end}` is not in 0..{self.word.badge}",
                    spans.get(ATTRIBUTES.name, instance.span),
                    f"a badge has {self.word.badge_bits} bits on a kernel of {self.word.bits} bits",
                    "write a smaller number, or remove it: badges are then assigned",
                )
            case (
                uses.CpiRequest() | uses.Update() | uses.WorkerCall() | uses.CpiTimeout() | uses.AlarmCall()
            ) if cap.badge > INDEXES:
                self._report(
                    f"`{use.end}` is caller {cap.badge} of a CPI; the maximum is {INDEXES}",
                    instance.span,
                    "the index of a caller has 16 bits",
                    "reduce the number of interfaces that request it",
                )
