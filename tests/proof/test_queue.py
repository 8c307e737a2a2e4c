# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Frama-C proves the contracts of the runtime's queue, for any number of contexts, and not those of a broken
one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from camkes.resources import RUNTIME

QUEUE = "src/core/queue.c"
HEADER = "src/core/queue.h"
STUBS = Path(__file__).parent / "include"
#: elapsed seconds for a goal; the longest takes 15 of a processor, which other work may slow down
PATIENCE = 900
EFFECTIVE = ("camkes_waits", "camkes_queue_first", "camkes_queue_source")
CHANGES = (
    "set_next",
    "add",
    "drop",
    "set_waiting",
    "set_priority",
    "set_done",
    "camkes_queue_insert",
    "camkes_queue_change",
    "camkes_queue_take",
)

pytestmark = [
    pytest.mark.requirement("RT-6"),
    pytest.mark.skipif(
        any(shutil.which(tool) is None for tool in ("frama-c", "why3", "cvc4")),
        reason="needs Debian's packages `frama-c-base`, `why3` and `cvc4`",
    ),
]


def prove(runtime: Path, functions: tuple[str, ...], folder: Path, seconds: int) -> tuple[int, int]:
    """How many goals of the functions CVC4 proves in so many seconds each, and of how many."""
    environment = {**os.environ, "WHY3CONFIG": str(folder / "why3.conf")}
    subprocess.run(("why3", "config", "detect"), env=environment, capture_output=True, check=True)
    command = (
        *("frama-c", "-c11", "-machdep", "gcc_x86_64"),
        f"-cpp-extra-args=-D_Atomic= -I{STUBS} -I{runtime}/include",
        *("-wp", "-wp-rte", "-wp-split", "-wp-fct", ",".join(functions)),
        *("-wp-prover", "cvc4", "-wp-timeout", str(seconds), "-wp-par", "2", str(runtime / QUEUE)),
    )
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    print(done.stdout)
    found = re.search(r"Proved goals: +(\d+) / (\d+)", done.stdout)
    assert found is not None
    return int(found[1]), int(found[2])


@pytest.mark.long
def test_effective_priority_is_proved(tmp_path: Path) -> None:
    proved, goals = prove(RUNTIME, EFFECTIVE, tmp_path, PATIENCE)
    assert proved == goals > 0


@pytest.mark.long
def test_queue_is_proved(tmp_path: Path) -> None:
    proved, goals = prove(RUNTIME, CHANGES, tmp_path, PATIENCE)
    assert proved == goals > 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("file", "function", "good", "bad"),
    [
        (
            HEADER,
            "camkes_queue_source",
            "first->request > context->request",
            "first->request < context->request",
        ),
        (QUEUE, "add", "rank > cpi->context[index].rank) {", "rank < cpi->context[index].rank) {"),
        (QUEUE, "add", "cpi->context[index].next = after;", "cpi->context[index].next = 0;"),
        (QUEUE, "drop", "before = at;", ""),
        (QUEUE, "set_waiting", "CAMKES_RANKS - 1 - cpi->arrivals++", "1 + cpi->arrivals++"),
        (QUEUE, "set_priority", " + priority * CAMKES_RANKS;", ";"),
        (QUEUE, "set_done", "cpi->context[index].rank = 0;", ""),
    ],
    ids=("effective", "order", "lost", "unlinked", "arrival", "raised", "taken"),
)
def test_a_broken_queue_is_not_proved(file: str, function: str, good: str, bad: str, tmp_path: Path) -> None:
    runtime = tmp_path / "runtime"
    shutil.copytree(RUNTIME, runtime)
    text = (runtime / file).read_text()
    assert text.count(good) == 1
    (runtime / file).write_text(text.replace(good, bad))
    proved, goals = prove(runtime, (function,), tmp_path, 5)
    assert proved < goals
