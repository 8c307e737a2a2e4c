# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The properties that every run must have, and the pages that `camkes explain` prints about them."""

from __future__ import annotations

from enum import StrEnum


class Property(StrEnum):
    """What must always be true."""

    MUTUAL_EXCLUSION = "M"
    PRIORITY = "P"
    HAND_OVER = "H"
    LIVENESS = "L"
    NO_RESIDUE = "Z"
    SAFE_METADATA = "S"


#: What each property demands (docs/protocols.md shows the same).
MEANINGS = {
    Property.MUTUAL_EXCLUSION: "mutual exclusion: an inherited or fixed CPI serves one request at a time",
    Property.PRIORITY: "priority: what runs has the effective priority of its context, by the definition "
    "above; ceilings are computed from the priorities in the text",
    Property.HAND_OVER: "hand-over: a lock that is released goes to the waiter of the highest effective "
    "priority, of equal ones to the first that came",
    Property.LIVENESS: "liveness: nobody waits for a lock that is free, and no request is lost",
    Property.NO_RESIDUE: "no residue: a request that is over leaves no inherited priority behind",
    Property.SAFE_METADATA: "safe metadata: a message carries a priority and a task that its sender may have",
}

_EFFECTIVE = " (its own, or that of a request that waits for a lock it holds, if that is higher)"
_CHECKED = """\
`camkes run --verify` checks it at every event of a run, from the trace and the text of the system alone. A
violation in a system that `camkes check` accepts is a defect of the runtime or the kernel, or the work of a
component that calls the kernel on its own. docs/protocols.md explains the protocols."""


def page(word: str) -> str | None:
    """What the property with this letter, or name, demands of a run; None if there is none."""
    wanted = word.strip().lower()
    for letter, meaning in MEANINGS.items():
        name = meaning.partition(":")[0]
        if wanted in (letter.value.lower(), name):
            demand = meaning.replace(", by the definition above", _EFFECTIVE)
            return f"property {letter.value}, {demand}.\n\n{_CHECKED}"
    return None
