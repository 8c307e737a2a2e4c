# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Malformed messages that servers refused in a run: who sent them, and what was wrong with them."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct

from camkes.capdl.callers import CallerEntry, Wiring, caller_table, sender_ids
from camkes.capdl.model import Role
from camkes.diagnostics import Diagnostic, Span
from camkes.model.connectors import Carries, support
from camkes.model.system import System
from camkes.protocols.plan import Plan, PlannedCpi
from camkes.running.codes import MALFORMED_MESSAGE
from camkes.running.model import MESSAGE_SENT, Run
from camkes.running.names import NamedThread


class MessageError(IntEnum):
    """The errors of runtime/include/camkes/message_error.h (a test compares the two)."""

    NO_SPACE = 1
    MISSING = 2
    NO_MEMORY = 3
    METHOD = 4
    TOO_SHORT = 5
    TOO_LONG = 6
    STRING = 7
    ARRAY = 8
    LABEL = 9
    PRIORITY = 10
    TASK = 11
    BADGE = 12
    BUSY = 13
    OPERATION = 14
    REPLY = 15
    ABORTED = 16
    SENT = MESSAGE_SENT
    NO_SIZE = 18


#: what is wrong, in words
WORDS = {
    MessageError.NO_SPACE: "its parameters do not fit",
    MessageError.MISSING: "a string or an array is NULL",
    MessageError.NO_MEMORY: "the server is out of memory",
    MessageError.METHOD: "there is no such method",
    MessageError.TOO_SHORT: "it is shorter than its parameters",
    MessageError.TOO_LONG: "it is longer than its parameters",
    MessageError.STRING: "a string has no final 0",
    MessageError.ARRAY: "an array has more elements than the message",
    MessageError.LABEL: "its label is not that of a request",
    MessageError.PRIORITY: "its priority is not valid for its sender",
    MessageError.TASK: "its task is not valid for its sender",
    MessageError.BADGE: "its badge is not that of a caller",
    MessageError.BUSY: "an earlier request of its sender has not ended",
    MessageError.OPERATION: "its sender may not use this operation of the manager",
    MessageError.REPLY: "the server failed to reply",
    MessageError.ABORTED: "its budget was used up",
    MessageError.SENT: "it was sent, not called",
    MessageError.NO_SIZE: "the handler set an array, but not its size, *NAME_sz",
}


class Refusal(Struct, frozen=True):
    """Messages that one server refused for one reason. `client` and `server` are "inst.iface" (the client
    "inst" for messages to a manager that come from its own component); `error` may be a number that this
    version does not define. `time` (ns) is that of the first."""

    client: str
    server: str
    error: int
    count: int
    time: int
    span: Span | None

    @property
    def words(self) -> str:
        known = self.error in MessageError.__members__.values()
        return WORDS[MessageError(self.error)] if known else f"error {self.error}"

    def diagnostic(self) -> Diagnostic:
        times = "once" if self.count == 1 else f"{self.count} times, first"
        note = f"refused {times} at {self.time} ns; the sender got an error as the reply"
        if self.error == MessageError.SENT:
            note = f"{times} at {self.time} ns; the sender does not wait for a reply"
        return Diagnostic(
            MALFORMED_MESSAGE,
            f"`{self.client}` sent `{self.server}` a malformed message: {self.words}",
            self.span,
            "the sender" if self.span is not None else "",
            notes=(note,),
        )


class RefusalReport(Struct, frozen=True):
    """Messages of one kind that a server did not accept, and when the first came. `file` and `line` are where
    the client is connected."""

    client: str
    server: str
    what: str
    count: int
    time: int
    file: str | None
    line: int | None


def refusal_report(refusal: Refusal, base: Path) -> RefusalReport:
    """Files below `base` are relative to it."""
    span = refusal.span
    file = None if span is None else span.file.path.absolute()
    return RefusalReport(
        client=refusal.client,
        server=refusal.server,
        what=refusal.words,
        count=refusal.count,
        time=refusal.time,
        file=None if file is None else str(file.relative_to(base) if file.is_relative_to(base) else file),
        line=None if span is None else span.line,
    )


def refusals(run: Run, system: System, plan: Plan) -> list[Refusal]:
    """All refused messages of a run, in the order in which each kind first came."""
    senders = _Senders(system, plan)
    found: dict[tuple[str, str, int], Refusal] = {}
    for refused in run.refused:
        thread = run.threads[refused.thread].named
        known = None if refused.sender is None else run.names.thread(refused.sender)
        if refused.error == MessageError.SENT and not senders.must_call(thread, known):
            continue
        client, span = senders.find(thread.service, thread.role, refused.badge)
        if not client:  # the badge means nothing here, or only to a manager
            client = f"badge {refused.badge}" if known is None else known.instance
        key = client, thread.service or thread.name, refused.error
        before = found.get(key)
        count, time = (1, refused.time) if before is None else (before.count + 1, before.time)
        found[key] = Refusal(*key, count, time, span)
    return list(found.values())


class _Sender(NamedTuple):
    name: str
    span: Span | None


_NOBODY = _Sender("", None)


class _Senders:
    """What badges mean, as `camkes.capdl.allocate` gives them."""

    def __init__(self, system: System, plan: Plan) -> None:
        self._system = system
        self._plan = plan
        self._wiring = Wiring(system)

    def must_call(self, server: NamedThread, sender: NamedThread | None) -> bool:
        """Whether all messages to a thread from other components are calls: generated code sends no others.
        Within one, threads send when it starts."""
        if sender is not None and sender.instance == server.instance:
            return False
        if server.role is not Role.INTERFACE:
            return server.role in (Role.WORKER, Role.MANAGER)
        connection = self._wiring.connection(server.service)
        carries = None if connection is None else support(connection.connector).carries
        return carries in (Carries.CALLS, Carries.JOBS)

    def find(self, server: str, role: Role, badge: int) -> _Sender:
        """Without a name if the badge is none of a client."""
        cpi = self._plan.cpi(server)
        if cpi is None:
            return self._plain(server, badge)
        table = caller_table(self._system, self._plan, cpi)
        if role is Role.MANAGER:
            return self._at_manager(cpi, table, badge)
        return self._entry(table, badge - 1)

    def _at_manager(self, cpi: PlannedCpi, table: tuple[CallerEntry, ...], badge: int) -> _Sender:
        if 1 <= badge <= len(cpi.seats):
            return _Sender(cpi.instance, cpi.span)
        return self._entry(table, badge - 1 - len(cpi.seats))

    def _entry(self, table: tuple[CallerEntry, ...], index: int) -> _Sender:
        known = 0 <= index < len(table)
        return _Sender(table[index].end.name, table[index].end.span) if known else _NOBODY

    def _plain(self, server: str, badge: int) -> _Sender:
        connection = self._wiring.connection(server)
        if connection is not None and support(connection.connector).carries is Carries.CALLS:
            numbers = sender_ids(self._system, connection)
            ends = [e for e, n in zip(connection.from_ends, numbers, strict=True) if n == badge]
            if ends:
                return _Sender(" or ".join(e.name for e in ends), ends[0].span)
        return _NOBODY
