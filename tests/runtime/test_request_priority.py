# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The priority that a handler gets is the one that it runs at."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.running.kinds import Kind
from tests.runtime import systems
from tests.runtime.host import Run, build

pytestmark = pytest.mark.requirement("RT-11")

_SAY = '    printf("%u\\n", camkes_request_priority());\n'


def _saying(source: str) -> str:
    """The same code, which says its priority at every step of its work."""
    return source.replace("    camkes_work(", f"{_SAY}    camkes_work(").replace(
        "    n_go();", f"    n_go();\n{_SAY}"
    )


def _said(run: Run) -> list[tuple[str, int, int]]:
    """Thread, priority that it said, and priority that the kernel had it at."""
    priority = {thread.number: thread.priority for thread in run.names.threads}
    found: list[tuple[str, int, int]] = []
    for event in run.events:
        if event.kind is Kind.PRIORITY and event.thread is not None:
            priority[event.thread] = event.args[1]
        elif event.kind is Kind.OUTPUT and event.thread is not None:
            found.append((run.names.thread_name(event.thread), int(event.text), priority[event.thread]))
    return found


@pytest.mark.long
@pytest.mark.parametrize(
    "system",
    [
        pytest.param(systems.CHAIN, id="chain", marks=pytest.mark.long),
        pytest.param(systems.THROUGH_PROPAGATED, id="through-propagated", marks=pytest.mark.long),
        pytest.param(systems.FIXED_LEAF, id="fixed-leaf", marks=pytest.mark.long),
        pytest.param(systems.NON_PREEMPTIVE, id="non-preemptive", marks=pytest.mark.long),
        systems.FIXED_CALLER,
        systems.POOLED_LOCK,
    ],
    ids=lambda system: system.name,
)
def test_a_handler_can_ask_for_its_priority(system: systems.Contended, tmp_path: Path) -> None:
    code = {name: _saying(source) for name, source in system.code.items()}
    run = build(tmp_path, system.text, code).run(duration=999_999)
    assert not run.violations()
    said = _said(run)
    assert [who for who, word, truth in said if word != truth] == []
    assert len(said) > 10
    workers = {who: word for who, word, _ in said if "." in who}
    if system is systems.NON_PREEMPTIVE:
        assert workers["leaf.p"] == 255
    if system is systems.FIXED_CALLER:
        assert workers["top.p"] == 20


def test_inheritance_shows_at_once(tmp_path: Path) -> None:
    """The low task's request says 10, and 20 from the moment that the others wait for its lock."""
    code = {**systems.ONE_LOCK.sources, "Task": systems.TASK}
    leaf = "void p_go(void)\n{\n" + f"{_SAY}    camkes_work(CAMKES_US(20));\n" * 3 + "}\n"
    run = build(tmp_path, systems.ONE_LOCK.text, {**code, "Leaf": leaf}).run(duration=999_999)
    said = [(who, word) for who, word, _ in _said(run)]
    assert said[:3] == [("leaf.p@a", 10), ("leaf.p@a", 10), ("leaf.p@a", 20)]
