# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Decodes a trace into a `Run`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from camkes.diagnostics import Sink
from camkes.running.bounds import Bounds
from camkes.running.codes import TRACE_TRUNCATED
from camkes.running.decoder import Decoder
from camkes.running.events import Event, load_trace, read_records
from camkes.running.model import Run
from camkes.running.names import TraceNames
from camkes.running.times import format_time


def decode(events: Iterable[Event], names: TraceNames) -> Run:
    """What happened in a run."""
    decoder = Decoder(names)
    return decoder.run(decoder.steps(events))


def decode_trace(path: Path, names: TraceNames, sink: Sink) -> Run | None:
    """What happened in the run of a trace file. None if it is not one; a damaged end is reported and left
    out."""
    data = load_trace(path, sink)
    if data is None:
        return None
    decoder = Decoder(names)
    found = decoder.run(read_records(data, str(path), sink, decoder.step, Bounds(names)))
    if decoder.damage:
        when = format_time(decoder.now, 6)
        sink.report(TRACE_TRUNCATED, f"{path}: {decoder.damage} at {when}; the rest was skipped")
    return found
