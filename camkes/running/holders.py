# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Who has taken mutexes and semaphores, while a trace is decoded.

A semaphore is used as a lock, or for signals. It is a lock if it does not begin at 0, and who posts it has
taken it before: then those that have it are the ones that can end a wait. Code that posts it and never waits
for it says from the beginning that it is for signals; so does, from then on, a thread that posts what it has
not taken.
"""

from __future__ import annotations

from camkes.running.names import NamedSync


class SyncState:
    """A mutex or semaphore now. `held`: (thread, since when) for each unit that is taken, the oldest first;
    `loose`: a thread has posted what it had not taken."""

    __slots__ = ("held", "loose", "named")

    def __init__(self, named: NamedSync) -> None:
        self.named = named
        self.held: list[tuple[int, int]] = []
        self.loose = False

    def take(self, thread: int, now: int) -> None:
        self.held.append((thread, now))

    def post(self, thread: int) -> None:
        """The last unit that the thread has taken; if it has none, the oldest of others."""
        mine = next((unit for unit in reversed(self.held) if unit[0] == thread), None)
        self.loose = self.loose or mine is None
        if self.held:
            self.held.remove(self.held[0] if mine is None else mine)

    @property
    def is_lock(self) -> bool:
        return self.named.value > 0 and not self.named.free and not self.loose

    @property
    def holders(self) -> tuple[tuple[int, int], ...]:
        """Those that have it, of a mutex or a semaphore that is used as a lock."""
        return tuple(self.held) if self.named.kind == "mutex" or self.is_lock else ()

    def enders(self) -> tuple[int, ...] | None:
        """The threads that can end a wait for it; None: others can, too."""
        if self.named.senders is None or self.loose or not self.held or not self.named.value:
            return self.named.senders
        return tuple(dict.fromkeys((*(thread for thread, _ in self.held), *self.named.free)))
