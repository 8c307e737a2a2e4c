# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A run on seL4 that is recorded.

The image is built with `CAmkESTrace`, and QEMU counts instructions, so that the clock of the run is what the
processor did and the same run gives the same figures.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from camkes.backends.sel4.codes import SILENT_IMAGE
from camkes.backends.sel4.trace import ConsoleText, Record, read_line
from camkes.backends.sel4.workspace import console, end_with_us
from camkes.diagnostics import Diagnostic, Sink
from camkes.model.limits import NO_NUMBER
from camkes.report.times import format_time
from camkes.report.trace.kinds import EndReason, Kind

#: elapsed seconds without a record after which a recording ends; QEMU passes over times at which nothing
#: happens, and boots an image in a few seconds
SILENCE = 120

#: the option of CMake
DEFINITION = ("CAmkESTrace", "ON")


def record(
    out: Path,
    duration: int,
    tell: Callable[[str], None],
    sink: Sink,
    clock: Callable[[], float] = time.monotonic,
) -> list[Record]:
    """Boot the image in `out` and collect its records of the first `duration` nanoseconds. What components
    print, and lines that are not records (the kernel's, reports of faults), go to `tell` as they come. An
    image that makes no record for SILENCE seconds is ended, which is reported to `sink`."""
    records: list[Record] = []
    last = clock()
    text = ConsoleText()
    end_with_us()
    run = console(out, instruction_counting=True, tick=1)
    try:
        for line in run:
            found = read_line(line)
            if found is None:
                tell(line)
                if clock() - last > SILENCE:
                    sink.add(_silent(records))
                    break
            elif found.time > duration:
                records.append(Record(duration, Kind.END, NO_NUMBER, NO_NUMBER, (EndReason.TIME,)))
                break
            else:
                last = clock()
                records.append(found)
                if found.kind == Kind.OUTPUT:
                    tell(text.add(found))
    except KeyboardInterrupt:
        pass  # what there is so far is what was asked for
    finally:
        run.close()
        tell(text.rest())
    return records


def _silent(records: Sequence[Record]) -> Diagnostic:
    reached = (
        f"its last record is of {format_time(records[-1].time, 6)}" if records else "there are no records"
    )
    return Diagnostic(
        SILENT_IMAGE,
        f"the run was stopped after {SILENCE} seconds without a record from the image",
        notes=(reached,),
        help="`camkes run` without a duration shows what the image prints, until it is interrupted",
    )
