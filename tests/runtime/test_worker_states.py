# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The state machine of a worker: docs/mcs.md shows its tables; tests/runtime/unit has each row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camkes.resources import ROOT, RUNTIME
from camkes.running.kinds import Kind
from tests.runtime.host import build

pytestmark = pytest.mark.requirement("RT-32")

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


_MONITOR = """
procedure Section { void go(); }
component User { control; requestor; uses Section s; }
component Monitor {
    provides Section s with priority_protocol inherited, monitor m, overrun extend;
    provides Section t with priority_protocol inherited, monitor m;
    has condition changed;
}
assembly {
    composition {
        component User low; component User high; component Monitor monitor;
        connection seL4RPCCall c(from low.s, to monitor.s);
        connection seL4RPCCall d(from high.s, to monitor.t);
    }
    configuration {
        low._priority = 10; low._period = 50 ms; low._budget = 3 ms;
        high._priority = 30; high._period = 50 ms; high._budget = 10 ms; high._offset = 8 ms;
        monitor.s_extension = 10 ms; monitor.s_extension_period = 50 ms;
    }
}
"""
_WAITS = """
void s_go(void) { camkes_work(CAMKES_MS(6)); changed_wait(); camkes_work(CAMKES_MS(1)); }
void t_go(void) { changed_signal(); camkes_work(CAMKES_MS(2)); }
"""


def test_a_waiter_that_has_the_extension_is_given_the_lock(tmp_path: Path) -> None:
    """It waits for the condition on the extension, and for the lock after the signal; it executes at once."""
    sources = {"User": "int run(void) { s_go(); return 0; }\n", "Monitor": _WAITS}
    run = build(tmp_path, _MONITOR, sources, mcs=True).run(duration=40_000_000)
    assert [e.time for e in run.of(Kind.TIMEOUT)] == [3_000_000]
    assert [e.time for e in run.of(Kind.REQUEST_END)] == [10_000_000, 11_000_000]
    assert run.violations() == []
    assert run.errors == ""
