# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""docs/mcs.md shows the state machine of a worker, whose tables the runtime has."""

from __future__ import annotations

import re

from camkes.resources import ROOT, RUNTIME

_HEADER = (RUNTIME / "include" / "camkes" / "worker_states.h").read_text("utf-8")


def _rows(name: str) -> list[tuple[str, ...]]:
    """The rows of a list of the header."""
    block = re.search(rf"#define CAMKES_WORKER_{name}\(X\) \\\n((?: +X\(.*\n)+)", _HEADER)
    assert block is not None
    lines = re.findall(r"X\((.*)\)(?: \\)?\n", block[1])
    return [tuple(part.strip('"') for part in re.split(r', (?=[A-Z"]|\w+, [A-Z])', line)) for line in lines]


def _word(name: str) -> str:
    return name.lower().replace("_", " ")


def table() -> str:
    """The states and events as docs/mcs.md shows them."""
    lines = ["| state | it executes on | event: next state |", "|---|---|---|"]
    for state, words in _rows("STATES"):
        changes = [f"{_word(r[1])}: {_word(r[-1])}" for r in _rows("CHANGES") if r[0] == state]
        lines.append(f"| {_word(state)} | {words} | {'; '.join(changes)} |")
    lines += ["", "| event | what happens to the worker |", "|---|---|"]
    lines += [f"| {_word(event)} | {words} |" for event, words in _rows("EVENTS")]
    return "\n".join(lines) + "\n"


def test_the_page_shows_the_tables() -> None:
    assert table() in (ROOT / "docs" / "mcs.md").read_text("utf-8")


def test_each_state_is_reached_and_left() -> None:
    states = {state for state, _ in _rows("STATES")}
    changes = [(row[0], row[1], row[-1]) for row in _rows("CHANGES")]
    assert {event for event, _ in _rows("EVENTS")} == {event for _, event, _ in changes}
    reached = {"PASSIVE"}
    for _ in states:
        reached |= {after for before, _, after in changes if before in reached}
    assert reached == states
    home = {"PASSIVE"}
    for _ in states:
        home |= {before for before, _, after in changes if after in home}
    assert home == states
