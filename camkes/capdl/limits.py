# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What fits into the words that a kernel passes on: the fields of runtime/include/camkes/label.h and badges.

docs/protocols.md has the table of all fields.
"""

from __future__ import annotations

from msgspec import Struct

from camkes.capdl.codes import WORD_LIMIT
from camkes.capdl.model import Cap, CapabilityModel
from camkes.diagnostics import Sink, Span
from camkes.model.settings import find
from camkes.model.system import Instance, System
from camkes.protocols.plan import Plan


class Word(Struct, frozen=True):
    """How many a word of a kernel can tell apart. `threads`: of a pool; `badge` is the highest."""

    bits: int
    tasks: int
    threads: int
    badge: int


#: the highest number of a task's field stands for "no task"
WORDS = {
    32: Word(32, tasks=(1 << 6) - 1, threads=1 << 8, badge=(1 << 28) - 1),
    64: Word(64, tasks=(1 << 12) - 1, threads=1 << 16, badge=(1 << 64) - 1),
}

#: on every kernel: 16-bit indexes, of which the highest stands for none
_INDEXES = (1 << 16) - 1
#: on every kernel: the slot of a manager in the mark of a nested request
_SLOTS = 1 << 16


def check_limits(system: System, plan: Plan, model: CapabilityModel, bits: int, sink: Sink) -> None:
    """Report what does not fit into the words of a kernel with words of so many bits."""
    _Check(system, plan, model, WORDS[bits], sink).run()


class _Check(Struct, frozen=True):
    system: System
    plan: Plan
    model: CapabilityModel
    word: Word
    sink: Sink

    def run(self) -> None:
        self._tasks()
        self._cpis()
        self._badges()

    def _say(self, message: str, span: Span | None, why: str, help: str) -> None:
        self.sink.report(WORD_LIMIT, message, span, notes=(why,), help=help)

    def _tasks(self) -> None:
        last = self.word.tasks - 1
        spans = {task.instance: task.spans.get("id", task.span) for task in self.system.tasks}
        for task in self.plan.tasks:
            if task.id > last:
                self._say(
                    f"id {task.id} of task `{task.name}` is not in 0..{last}",
                    spans.get(task.name),
                    f"the label of a message on a kernel of {self.word.bits} bits has no room for more",
                    "leave stated ids out, have fewer tasks, or build for a kernel of 64 bits",
                )

    def _cpis(self) -> None:
        for cpi in self.plan.cpis:
            if cpi.pooled and cpi.threads > self.word.threads:
                self._say(
                    f"the pool of CPI `{cpi.name}` has {cpi.threads} threads: more than {self.word.threads}",
                    cpi.span,
                    f"the label of a message on a kernel of {self.word.bits} bits has no room for more",
                    "state a smaller number of threads",
                )
            if len(cpi.contexts) > _INDEXES:
                self._say(
                    f"CPI `{cpi.name}` has {len(cpi.contexts)} contexts: more than {_INDEXES}",
                    cpi.span,
                    "the index of a context has 16 bits",
                    "let fewer tasks request it",
                )

    def _badges(self) -> None:
        spaces = {name: space.name for space in self.model.spaces for name in space.instances}
        owners = {(spaces[name], slot): (name, symbol) for (name, symbol), slot in self.model.slots.items()}
        for space in self.model.spaces:
            for cap in space.caps:
                name, symbol = owners.get((space.name, cap.slot), ("", ""))
                instance = self.system.instance(name)
                if instance is not None:
                    self._cap(cap, instance, symbol)

    def _cap(self, cap: Cap, instance: Instance, symbol: str) -> None:
        interface = symbol.partition("@")[0].partition("!")[0]
        name = f"{instance.name}.{interface}"
        if cap.badge > self.word.badge:
            setting = find(instance, f"{interface}_attributes")
            self._say(
                f"badge {cap.badge} of `{name}` is not in 0..{self.word.badge}",
                setting.span if setting is not None else instance.span,
                f"a badge on a kernel of {self.word.bits} bits has no room for more",
                "choose a smaller number, or leave it out: badges are numbered",
            )
        if "@" in symbol and cap.badge > _INDEXES:
            self._say(
                f"`{name}` is caller {cap.badge} of a CPI that can have {_INDEXES}",
                instance.span,
                "the index of a caller has 16 bits",
                "let fewer tasks request it through fewer interfaces",
            )
        if "!manager" in symbol and cap.slot >= _SLOTS:
            self._say(
                f"address space `{instance.address_space}` has {_SLOTS} capabilities before that of `{name}`",
                instance.span,
                "the slot of a manager has 16 bits, because a word holds the number of a request too",
                "make components of fewer interfaces",
            )
