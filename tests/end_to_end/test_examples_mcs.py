# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The examples on an MCS kernel: the same happens, and in the same order."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.running.events import Event, parse_trace
from camkes.running.kinds import Kind
from tests.command import camkes
from tests.end_to_end.support import EXAMPLES
from tests.end_to_end.test_examples import RUNNING

#: Several threads get one priority at one instant there. A ready thread whose priority is set is the first
#: of its equals on an MCS kernel, and the last on others.
EQUALS = frozenset({"publish"})


def events(trace: Path) -> list[Event]:
    """What the runtime recorded."""
    found = parse_trace(trace.read_bytes(), trace.name, Sink())
    assert found is not None
    return [event for event in found if event.kind >= Kind.JOB_BEGIN]


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(RUNNING, key="protocols".__ne__))
def test_the_order_of_events_is_that_without_mcs(name: str, tmp_path: Path) -> None:
    outputs, traces = [], []
    for number, flags in enumerate([(), ("-DKernelIsMCS=ON",)]):
        trace = tmp_path / f"{number}.trace"
        words = (EXAMPLES / name, *flags, "-o", tmp_path / "build", "-q", "--verify", "--ascii")
        result = camkes("run", *words, "--trace", trace)
        assert (result.status, result.errors) == (0, "")
        outputs.append(result.output)
        traces.append(events(trace))
    if name in EQUALS:
        kinds = [Counter(event.kind for event in of) for of in traces]
        assert kinds[0] == kinds[1]
    else:
        assert traces[0] == traces[1]
        assert outputs[0] == outputs[1]
