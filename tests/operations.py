# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How many steps Python takes: unlike a time, the same on every machine and in every run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from types import FrameType
from typing import Any


def operations(function: Callable[[], object]) -> int:
    """The bytecode instructions that a call executes. What C code does within one is not seen."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if event == "call":
            frame.f_trace_opcodes, frame.f_trace_lines = True, False
        elif event == "opcode":
            count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


def assert_linear(run: Callable[[int], Callable[[], object]], sizes: Sequence[int]) -> None:
    """`run(size)` prepares what is measured; of `sizes`, each is twice the one before. What doubling adds
    must double as well; it would be four times as much if the number of operations were quadratic."""
    operations(run(sizes[0]))  # from Python 3.12 on, much of the first call is not traced
    counts = [operations(run(size)) for size in sizes]
    steps = [later - earlier for earlier, later in pairwise(counts)]
    for earlier, later in pairwise(steps):
        assert 1.5 * earlier < later < 2.5 * earlier, f"operations for sizes {sizes}: {counts}"
