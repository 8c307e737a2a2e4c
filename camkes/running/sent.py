# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Messages that were sent and not called: the sender does not wait for a reply."""

from __future__ import annotations

from collections.abc import Sequence

from camkes.running.kinds import Blocked
from camkes.running.model import MESSAGE_SENT, Refused

Args = Sequence[int]


class SentMessages:
    """Follows the events of a run. Whoever calls, or faults, waits for the reply before another message is
    transferred or another thread is chosen."""

    def __init__(self) -> None:
        self._last: tuple[int, int, Refused] | None = None  # sender, object
        self._senders: dict[int, int] = {}  # thread -> whose message it has received last

    def transfer(self, now: int, sender: int, receiver: int, args: Args) -> list[Refused]:
        """A message; returns the one before if that was sent."""
        found = self.seen()
        self._last = sender, args[0], Refused(now, receiver, args[1], MESSAGE_SENT, sender)
        self._senders[receiver] = sender
        return found

    def refused(self, now: int, receiver: int, args: Args) -> Refused:
        """A message that its receiver says it has refused."""
        badge, error = args
        return Refused(now, receiver, badge, error, self._senders.get(receiver))

    def blocked(self, thread: int, args: Args) -> None:
        """A thread stops executing."""
        if args[0] in (Blocked.REPLY, Blocked.FAULT) and self._last is not None:
            self._last = None if self._last[:2] == (thread, args[1]) else self._last

    def seen(self) -> list[Refused]:
        """A thread is chosen, or the run ends: the last message, if it was sent."""
        last, self._last = self._last, None
        return [] if last is None else [last[2]]
