# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mistakes in how priorities are lent are found by the judge of runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.command import camkes
from tests.end_to_end.test_helpers import consumers, inside, side_by_side
from tests.end_to_end.test_helpers_cycles import buffer, circle
from tests.runtime.test_exploration import break_runtime

pytestmark = pytest.mark.requirement("AN-21")


@dataclass(frozen=True)
class Broken:
    """A mistake in the runtime: in `file`, `bad` replaces `good`; and a system in which it shows."""

    file: str
    good: str
    bad: str
    system: Callable[[Path], Path] = consumers
    options: tuple[str, ...] = ()


APPLY = "    camkes_apply_lending(group);\n"
AFTERWARDS = """    if (time_over) {
        CAMKES_TRACE_ABOUT(COND_EXPIRE, first->thread, condition->id, first->origin);
    } else {
        CAMKES_TRACE_ABOUT(COND_WAKE, first->thread, condition->id, first->origin);
    }
    if (goes_on && monitor != NULL) {
        wake_member(monitor);
    } else if (goes_on) {
        wake(first->reply, time_over);
    }
"""

BROKEN = {
    "nothing-is-lent": Broken(
        "lending.c", "inherit(helper, camkes_lends(group, waiter), waiter->origin)", "inherit(helper, 0, 0)"
    ),
    "nothing-is-taken-back": Broken(
        "lending.c", "if (member->computed < member->effective) {", "if (member->computed > 255) {"
    ),
    "taken-back-after-the-wake": Broken(
        "group.c",
        APPLY + AFTERWARDS,
        AFTERWARDS + APPLY,
        lambda folder: buffer(folder, 1),
        ("--choices", "random:7"),
    ),
    "not-through-requests": Broken(
        "helper.c", "*nested = camkes_nested_found(context);", "*nested = 0;", inside
    ),
    "not-through-locks": Broken(
        "lending.c",
        "changed |= holder != CAMKES_NO_MEMBER &&",
        "changed |= holder + 1 > CAMKES_NO_MEMBER + 1 &&",
    ),
    "the-first-to-come-is-woken": Broken(
        "group.c",
        "    return priority != other ? priority > other\n                             : (int32_t)",
        "    return priority + other > 999 ? false : (int32_t)",
        side_by_side,
    ),
    "what-went-round-a-circle-remains": Broken(
        "lending.c",
        ": group->member[waiter->now].computed;",
        ": group->member[waiter->now].computed > group->member[waiter->now].effective"
        " ? group->member[waiter->now].computed : group->member[waiter->now].effective;",
        circle,
    ),
}


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] if name.startswith("n") else []) for name in BROKEN],
)
def test_a_mistake_in_the_runtime_violates_a_property(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake = BROKEN[name]
    changes = {mistake.file: (mistake.good, mistake.bad)}
    break_runtime(changes, tmp_path, monkeypatch)
    words = ("-o", tmp_path / "build", "--for", "190ms", "--verify", *mistake.options)
    result = camkes("run", mistake.system(tmp_path / "system"), *words)
    assert result.status == 1, result.errors + result.output
    assert (" H: " if name == "the-first-to-come-is-woken" else " P: ") in result.output
