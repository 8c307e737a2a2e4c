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
    """A mutex or semaphore now. `held`: since when for each unit that a thread has taken, by threads, that
    which has some for the longest time first; `loose`: a thread has posted what it had not taken."""

    __slots__ = ("held", "loose", "named")

    def __init__(self, named: NamedSync) -> None:
        self.named = named
        self.held: dict[int, list[int]] = {}
        self.loose = False

    def take(self, thread: int, now: int) -> None:
        self.held.setdefault(thread, []).append(now)

    def post(self, thread: int) -> None:
        """The last unit that the thread has taken; if it has none, one of the thread that has for the longest
        time."""
        self.loose = self.loose or thread not in self.held
        holder = thread if thread in self.held else next(iter(self.held), None)
        if holder is not None:
            units = self.held[holder]
            units.pop()
            if not units:
                del self.held[holder]

    @property
    def is_lock(self) -> bool:
        """A semaphore that no code posts is none: it counts down to its end."""
        named = self.named
        given = named.kind == "mutex" or named.senders != ()
        return named.value > 0 and given and not named.free and not self.loose

    @property
    def holders(self) -> dict[int, int]:
        """The threads that have it, each since when, of a mutex or a semaphore that is used as a lock."""
        if self.named.kind != "mutex" and not self.is_lock:
            return {}
        return {thread: units[0] for thread, units in self.held.items()}

    def enders(self) -> tuple[int, ...] | None:
        """The threads that can end a wait for it; None: others can, too."""
        named = self.named
        signals = self.loose or not (named.free or self.is_lock) or not named.value
        if named.senders is None or not self.held or signals:
            return named.senders
        return tuple(dict.fromkeys((*self.held, *named.free)))
