# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Properties of a whole trace."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from camkes.backends.host.compiler import find_compiler
from camkes.backends.host.kernel import host_kit
from camkes.backends.host.oracle import verify
from camkes.diagnostics import Sink
from camkes.model.limits import NO_NUMBER
from camkes.model.system import System
from camkes.protocols.plan import Plan
from camkes.running.demands import Violation
from camkes.running.events import Event, encode_records
from camkes.running.names import TraceNames


@cache
def oracle(*, sanitize: bool = False) -> Path:
    """The program that judges runs."""
    sink = Sink()
    compiler = find_compiler(sanitize, sink, {"C"}, mcs=False)
    assert compiler is not None, sink.diagnostics
    kit = host_kit(compiler, Path(tempfile.mkdtemp()), sink, lambda _: None)
    assert kit is not None, sink.diagnostics
    return kit.oracle


def check_trace(
    events: Iterable[Event], names: TraceNames, plan: Plan, system: System | None = None
) -> list[Violation]:
    """All violations in the order in which they show, the first 100. Empty: the trace is right.

    Ceilings are computed from the priorities in `system`; without it they are taken from the plan.
    """
    records = (
        (e.time, e.kind, *(NO_NUMBER if n is None else n for n in (e.thread, e.other)), e.args)
        for e in events
    )
    sink = Sink()
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "run.trace"
        trace.write_bytes(encode_records(records))
        found = verify(oracle(), trace, names, plan, system, sink)
    assert not sink.diagnostics, sink.diagnostics
    return found
