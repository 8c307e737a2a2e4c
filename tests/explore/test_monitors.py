# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Monitors under every schedule up to a bound, and mistakes in how their lock is given up and taken again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from camkes.backends.host.explore import SearchOptions
from tests.explore.search import LIMIT, search
from tests.explore.test_helpers import JOB, WORK
from tests.runtime.host import Built, build
from tests.runtime.test_exploration import break_runtime

pytestmark = pytest.mark.requirement("AN-21")

HEAD = """
import <std_connector.camkes>;
procedure P { void go(); }
component User { control; requestor; uses P buffer; }
"""
TEXT = f"""{HEAD}
component Buffer {{
    provides P put with priority_protocol inherited, monitor place;
    provides P get with priority_protocol inherited, monitor place;
    has condition full with helpers;
    has condition empty with helpers;
}}
assembly {{
    composition {{
        component User p1; component User p2; component User c1; component User c2; component Buffer buffer;
        connection seL4RPCCall puts(from p1.buffer, from p2.buffer, to buffer.put);
        connection seL4RPCCall gets(from c1.buffer, from c2.buffer, to buffer.get);
    }}
    configuration {{
        p1._priority = 10; c1._priority = 20; p2._priority = 30; c2._priority = 40;
        p1._period = 1 ms; c1._period = 1 ms; p2._period = 1 ms; c2._period = 1 ms;
        buffer.full_helpers = ["p1", "p2"]; buffer.empty_helpers = ["c1", "c2"];
    }}
}}
"""
CODE = {
    "User": JOB.format(f"{WORK} buffer_go(); {WORK}"),
    "Buffer": f"""static int items;
void put_go(void) {{ while (items > 0) {{ empty_wait(); }} items++; {WORK} full_signal(); {WORK} }}
void get_go(void) {{ while (items == 0) {{ full_wait(); }} items--; {WORK} empty_broadcast(); {WORK} }}
""",
}


ONE_FULL = f"""{HEAD}
component Buffer {{
    provides P put with priority_protocol inherited, monitor place;
    provides P get with priority_protocol inherited, monitor place;
    has condition full with helpers;
}}
assembly {{
    composition {{
        component User p; component User c1; component User c2; component User c3; component Buffer buffer;
        connection seL4RPCCall puts(from p.buffer, to buffer.put);
        connection seL4RPCCall gets(from c1.buffer, from c2.buffer, from c3.buffer, to buffer.get);
    }}
    configuration {{
        c1._priority = 10; p._priority = 20; c2._priority = 30; c3._priority = 40;
        c1._period = 1 ms; p._period = 1 ms; c2._period = 1 ms; c3._period = 1 ms;
        buffer.full_helpers = ["p"];
    }}
}}
"""
OF_ONE_FULL = {
    **CODE,
    "Buffer": f"""static int items = 1;
void put_go(void) {{ items += 2; full_broadcast(); }}
void get_go(void) {{ while (items == 0) {{ full_wait(); }} items--; {WORK} }}
""",
}


def buffer(folder: Path) -> Built:
    """Two producers and two consumers of a buffer with one place."""
    return build(folder, TEXT, CODE)


def queue(folder: Path) -> Built:
    """Three consumers. While the least urgent takes the only item, the others and the producer, which is less
    urgent than they are, may wait for the lock; the most urgent gets it first and has to wait for an item."""
    return build(folder, ONE_FULL, OF_ONE_FULL)


@pytest.mark.long
@pytest.mark.parametrize("bound", [1, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize("scheduling", ["fifo", "rr"])
@pytest.mark.parametrize("system", [buffer, queue])
def test_properties_hold(
    system: Callable[[Path], Built], scheduling: str, bound: int, tmp_path: Path
) -> None:
    """In each schedule with so many preemptions."""
    options = SearchOptions(scheduling=scheduling, bound=bound, seconds=10 * LIMIT)
    found = search(system(tmp_path / "system"), options)
    assert found.violation is None
    assert not found.state.stopped
    assert found.state.distinct > 4_000


# the property that each mistake violates: what stands in the file, and what stands there instead
MISTAKES = {
    "nothing-is-lent": (
        "P",
        "inherit(helper, camkes_lends(group, waiter), waiter->origin)",
        "inherit(helper, 0, 0)",
    ),
    "the-lock-is-kept": (
        "L",
        "return camkes_ask_member(member, CAMKES_FREE_LOCK, 0, 0, &result);",
        "(void)result; return CAMKES_MESSAGE_GOOD;",
    ),
    "woken-without-the-lock": ("M", "    return holder == 0;", "    return true;"),
    "handed-over-before-it-lends": (
        "H",
        "next = hand_over(group, &group->member[waiter->now]);",
        "waiter->waiting = false; next = hand_over(group, &group->member[waiter->now]);"
        " waiter->waiting = true;",
    ),
    "the-first-to-come-is-next": (
        "H",
        "    return priority != other ? priority > other\n                             : (int32_t)",
        "    return priority + other > 999 ? false : (int32_t)",
    ),
}


@pytest.mark.long  # test_planted.py has one that is not
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    which, good, bad = MISTAKES[name]
    file = "lending.c" if "camkes_lends" in good else "group.c"
    break_runtime({file: (good, bad)}, tmp_path, monkeypatch)
    system = queue if name == "handed-over-before-it-lends" else buffer
    found = search(system(tmp_path / "system"), SearchOptions(bound=1, seconds=LIMIT))
    assert found.violation is not None
    assert found.violation.property == which
