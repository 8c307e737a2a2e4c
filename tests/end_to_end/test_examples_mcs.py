# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The examples on an MCS kernel: the same happens, and in the same order."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.running.events import parse_trace
from camkes.running.kinds import Kind
from camkes.running.names import load_names
from tests.command import camkes
from tests.end_to_end.support import EXAMPLES
from tests.end_to_end.test_examples import RUNNING

pytestmark = pytest.mark.requirement("HOST-19")

#: Several threads get one priority at one instant there. A ready thread whose priority is set is the first
#: of its equals on an MCS kernel, and the last on others.
EQUALS = frozenset({"publish"})


#: what only a CPI with threads for its clients records: who has its lock, and what its manager is asked
OF_POOLS = frozenset({Kind.LOCK_TAKE, Kind.LOCK_FREE, Kind.UPDATE, Kind.CLEAR})

#: time, kind, arguments, text, and the interface or task whose thread it was
Happened = tuple[int, Kind, tuple[int, ...], str, str]


def events(trace: Path) -> list[Happened]:
    """What the runtime recorded. A CPI can have one thread for all clients where it has one for each on an
    MCS kernel (INSTANCE.INTERFACE@CLIENT), so whose it was is said without the client."""
    found = parse_trace(trace.read_bytes(), trace.name, Sink())
    names = load_names(trace, Sink())
    assert found is not None and names is not None
    return [
        (
            e.time,
            e.kind,
            e.args,
            e.text,
            "" if e.thread is None else names.threads[e.thread].name.split("@")[0],
        )
        for e in found
        if e.kind >= Kind.JOB_BEGIN
    ]


def with_pools_of(other: list[Happened], of: list[Happened]) -> list[Happened]:
    """`of` without what is recorded of CPIs that have one thread for all clients in `other`."""
    pools = {args[0] for _, kind, args, *_ in other if kind in OF_POOLS}
    return [event for event in of if event[1] not in OF_POOLS or event[2][0] in pools]


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
        kinds = [Counter(event[1] for event in of) for of in traces]
        assert kinds[0] == kinds[1]
    else:
        assert traces[0] == with_pools_of(traces[0], traces[1])
        assert outputs[0] == outputs[1]
