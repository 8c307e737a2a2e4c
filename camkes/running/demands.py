# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The properties that every run must have, and the pages that `camkes explain` prints about them."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Property(StrEnum):
    """What must always be true."""

    MUTUAL_EXCLUSION = "M"
    PRIORITY = "P"
    HAND_OVER = "H"
    BLOCKING = "B"
    LIVENESS = "L"
    NO_RESIDUE = "Z"
    SAFE_METADATA = "S"
    ACCOUNTING = "A"


class Violation(Struct, frozen=True):
    """Where one is not true. `record` is the index of the event at which it showed, -1: none did."""

    time: int
    property: Property
    explanation: str
    record: int

    def __str__(self) -> str:
        return f"{self.time} ns: {self.property.value}: {self.explanation}"


#: What each property demands (docs/protocols.md shows the same).
MEANINGS = {
    Property.MUTUAL_EXCLUSION: "mutual exclusion: an inherited or fixed CPI serves one request at a time",
    Property.PRIORITY: "priority: the running thread has the effective priority of its context, as defined "
    "above; ceilings are computed from the stated priorities",
    Property.HAND_OVER: "hand-over: a lock that is released goes to the waiter of the highest effective "
    "priority, among equals to the first that arrived; likewise the first signal of a condition",
    Property.BLOCKING: "bounded blocking: tasks of lower priority keep a job waiting no longer than the "
    "analysis allows (a search checks it)",
    Property.LIVENESS: "liveness: no thread waits for a lock that is free, no request is lost, and no "
    "threads wait for each other",
    Property.NO_RESIDUE: "no residue: no inherited priority remains after a request ends, and each "
    "scheduling context is where it was",
    Property.SAFE_METADATA: "safe metadata: the priority and the task in a message are valid for its sender",
    Property.ACCOUNTING: "accounting: on an MCS kernel, a budget is used by its own task, or by the holder "
    "of a lock that this waits for, and exactly for that it is charged",
}

_EFFECTIVE = " (its own, or that of a request that waits for a lock it holds, if that is higher)"
_CHECKED = """\
`camkes run --verify` checks it at every event of a run, from the trace and the description of the system
alone. A violation in a system that `camkes check` accepts is a defect of the runtime or the kernel, or was
caused by a component that calls the kernel directly. docs/protocols.md explains the protocols."""
_SEARCHED = {
    Property.BLOCKING: """\
`camkes explore` checks it in every state. Where arrivals and durations are as stated, a violation can also
mean that a request takes longer than its `_wcet`. docs/protocols.md says what is counted.""",
}


def page(word: str) -> str | None:
    """What the property with this letter, or name, demands of a run; None if there is none."""
    wanted = word.strip().lower()
    for letter, meaning in MEANINGS.items():
        name = meaning.partition(":")[0]
        if wanted in (letter.value.lower(), name):
            demand = meaning.replace(", as defined above", _EFFECTIVE)
            checked = _SEARCHED.get(letter, _CHECKED)
            return f"property {letter.value}, {demand}.\n\n{checked}"
    return None
