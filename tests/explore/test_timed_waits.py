# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Waits that end at a time, under every schedule up to a bound: the timer fires before, while and after the
signal is sent, and mistakes in how such a wait ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.backends.host.explore import SearchOptions
from tests.end_to_end.test_helpers_broken import APPLY
from tests.explore.search import LIMIT, search
from tests.explore.test_helpers import JOB, WORK
from tests.runtime.host import Built, build
from tests.runtime.test_exploration import break_runtime

pytestmark = pytest.mark.requirement("AN-21")

TEXT = """
import <std_connector.camkes>;
procedure P { void go(); }
component User { control; requestor; uses P store; }
component Store {
    provides P put with priority_protocol PROTOCOL;
    provides P get with priority_protocol PROTOCOL;
    has KIND full with helpers;
}
assembly {
    composition {
        component User p; component User c1; component User c2; component Store store;
        connection seL4RPCCall puts(from p.store, to store.put);
        connection seL4RPCCall gets(from c1.store, from c2.store, to store.get);
    }
    configuration {
        p._priority = 10; c1._priority = 20; c2._priority = 30;
        p._period = 1 ms; c1._period = 1 ms; c2._period = 1 ms;
        store.full_helpers = ["p"]; SETTINGS
    }
}
"""
UNTIL = "camkes_now() + CAMKES_US(15)"
SYSTEMS = {
    "monitor": (
        ("inherited, monitor m", "condition", ""),
        f"""static int items;
void put_go(void) {{ {WORK} items++; full_signal(); {WORK} }}
void get_go(void) {{
    while (items == 0) {{ if (full_wait_until({UNTIL}) != 0) {{ return; }} }}
    items--; {WORK}
}}""",
    ),
    "semaphore": (
        ("propagated", "semaphore", "store.full_value = 0;"),
        f"""void put_go(void) {{ {WORK} (void)!full_post(); {WORK} }}
void get_go(void) {{ (void)!full_wait_until({UNTIL}); {WORK} }}""",
    ),
}


def system(kind: str, folder: Path) -> Built:
    """Two tasks wait, each for 15 us, for what the third, less urgent, may signal in that time or not."""
    (protocol, member, settings), store = SYSTEMS[kind]
    text = TEXT.replace("PROTOCOL", protocol).replace("KIND", member).replace("SETTINGS", settings)
    return build(folder, text, {"User": JOB.format(f"{WORK} store_go(); {WORK}"), "Store": store})


@pytest.mark.long
@pytest.mark.parametrize("bound", [1, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize("scheduling", ["fifo", pytest.param("rr", marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", SYSTEMS)
def test_properties_hold(kind: str, scheduling: str, bound: int, tmp_path: Path) -> None:
    options = SearchOptions(scheduling=scheduling, bound=bound, seconds=10 * LIMIT)
    found = search(system(kind, tmp_path / "system"), options)
    assert found.violation is None
    assert not found.state.stopped
    assert found.state.distinct > 3_000


# the property that each mistake violates: what stands in the file, and what stands there instead
MISTAKES = {
    "what-was-lent-remains": (
        "Z",
        "group.c",
        APPLY + "    if (time_over)",
        "    if (!time_over) { camkes_apply_lending(group); }\n    if (time_over)",
    ),
    "goes-on-without-the-lock": (
        "F",  # the manager refuses the release
        "group.c",
        "monitor == NULL || takes_lock(group, monitor);",
        "monitor == NULL || takes_lock(group, monitor) || time_over;",
    ),
    "the-timer-is-not-set-anew": (
        "L",
        "group.c",
        "if (first != group->armed) {",
        "if (first != group->armed && group->armed == 0) {",
    ),
}


@pytest.mark.long  # test_planted.py has one that is not
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    which, file, good, bad = MISTAKES[name]
    break_runtime({file: (good, bad)}, tmp_path, monkeypatch)
    found = search(system("monitor", tmp_path / "system"), SearchOptions(bound=1, seconds=LIMIT))
    assert found.violation is not None
    assert found.violation.property == which


@pytest.mark.long
def test_another_thread_that_takes_the_signal_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signal is on its way when the time is over: a thread that waits for it again may wait for ever."""
    good, bad = "ask(condition, CAMKES_SIGNAL_TAKEN);", "ask(condition, CAMKES_WAIT);"
    break_runtime({"condition.c": (good, bad)}, tmp_path, monkeypatch)
    found = search(system("semaphore", tmp_path / "system"), SearchOptions(bound=1, seconds=LIMIT))
    assert found.violation is not None
    assert found.violation.property == "L"
