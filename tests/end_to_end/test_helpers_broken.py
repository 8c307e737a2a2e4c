# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mistakes in how priorities are lent are found by the property checker, in single runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.command import camkes
from tests.end_to_end.test_helpers import consumers, inside
from tests.runtime.test_exploration import break_runtime


@dataclass(frozen=True)
class Broken:
    """A mistake in the runtime: in `file`, `bad` stands for `good`."""

    file: str
    good: str
    bad: str


BROKEN = {
    "nothing-is-lent": Broken(
        "condition.c",
        "const uint8_t lent = priority > helper->base ? priority : 0;",
        "const uint8_t lent = 0;",
    ),
    "nothing-is-taken-back": Broken(
        "condition.c", "        if (lent != helper->lent) {", "        if (lent > helper->lent) {"
    ),
    "not-through-requests": Broken(
        "helper.c", "    camkes_nested_push(context, before, priority);\n", "    (void)before;\n"
    ),
    "requests-stay-raised": Broken(
        "manager.c", "    if (priority >= context->request) {\n", "    if (priority < context->request) {\n"
    ),
    "waiters-are-not-raised": Broken(
        "condition.c",
        "    if (waiter->waiting) {\n        waiter->priority",
        "    if (0) {\n        waiter->priority",
    ),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.long] if name.startswith("n") else []) for name in BROKEN],
)
def test_a_mistake_in_the_runtime_violates_a_property(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mistake = BROKEN[name]
    changes = {f"src/protocols/{mistake.file}": (mistake.good, mistake.bad)}
    break_runtime(changes, tmp_path, monkeypatch)
    make = inside if name == "not-through-requests" else consumers
    path = make(tmp_path / "system")
    words = ("-o", tmp_path / "build", "--for", "90ms", "--verify")
    result = camkes("run", path, *words)
    assert result.status == 1, result.errors + result.output
    assert " P: " in result.output
