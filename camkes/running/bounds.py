# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What records of a system can name: its threads, objects and ids, and numbers that are possible. A trace
file is input: whoever reads it relies on this."""

from __future__ import annotations

from collections.abc import Sequence
from operator import ge

from camkes.model.limits import MAX_PRIORITY, NO_NUMBER
from camkes.running.kinds import ARGUMENTS, FaultKind, Kind
from camkes.running.names import TraceNames

#: Virtual nanoseconds; no time, duration or budget is as long.
END_OF_TIME = 1 << 63

_WORD = 1 << 64
_NUMBER = NO_NUMBER + 1

_PRIORITIES = frozenset({"priority", "from", "to"})
_TIMES = frozenset({"release", "time", "duration", "budget", "period", "used", "left", "consumed"})
#: arguments that may also be NO_NUMBER: none
_OPTIONAL = frozenset({"object", "context", "task", "cause"})


class DamagedTraceError(Exception):
    """A record says what cannot be after those before it; the words of the exception are about it."""


class Bounds:
    """What the records of a system can have as arguments."""

    def __init__(self, names: TraceNames) -> None:
        self._threads = len(names.threads)
        self._sizes = {
            "object": len(names.objects),
            "cpi": len(names.cpis),
            "context": len(names.contexts),
            "condition": len(names.conditions),
            "task": _NUMBER,
            "cause": _NUMBER,
            "level": MAX_PRIORITY + 1,
            "type": max(FaultKind) + 1,
        }

    def knows(self, *threads: int | None) -> bool:
        """Whether the system has these threads."""
        return all(thread is None or thread < self._threads for thread in threads)

    def limits(self, kind: Kind) -> tuple[int, ...] | None:
        """What each argument of records of this kind is below; None: anything is possible."""
        limits = tuple(self._limit(kind, name) for name in ARGUMENTS[kind])
        return limits if min(limits, default=_WORD) < _WORD else None

    def _limit(self, kind: Kind, name: str) -> int:
        if name in _PRIORITIES:
            return MAX_PRIORITY + 1
        if name in _TIMES:
            return END_OF_TIME
        if name == "context" and kind < Kind.JOB_BEGIN:  # of a kernel: an object
            return self._sizes["object"]
        return self._sizes.get(name, _WORD)


def beyond(kind: Kind, args: Sequence[int], limits: Sequence[int]) -> str:
    """The first argument of a record that is not below its limit, in words; "": all are."""
    if not any(map(ge, args, limits)):
        return ""
    for name, value, limit in zip(ARGUMENTS[kind], args, limits, strict=True):
        if value >= limit and not (name in _OPTIONAL and value == NO_NUMBER):
            return f"a record of kind {kind.name} has the {name.replace('_', ' ')} {value}"
    return ""
