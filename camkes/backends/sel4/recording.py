# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A run on seL4 that is recorded.

The image is built with `CAmkESTrace`, and QEMU counts instructions, so that the clock of the run is what the
processor did and the same run gives the same figures.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from camkes.backends.sel4.trace import OUTPUT, Record, Text, read_line
from camkes.backends.sel4.workspace import console, end_with_us
from camkes.model.limits import NOBODY
from camkes.report.trace.kinds import End, Kind

#: the trace of a recorded run, in its build folder; the build writes the names beside it
RECORDS = "run.trace"

#: the option of CMake
DEFINITION = ("CAmkESTrace", "ON")


def record(out: Path, duration: int, tell: Callable[[str], None]) -> list[Record]:
    """Boot the image in `out` and collect its records of the first `duration` nanoseconds. What components
    print, and lines that are no records (the kernel's, reports of faults), go to `tell` as they come."""
    records: list[Record] = []
    text = Text()
    end_with_us()
    run = console(out, instruction_counting=True)
    try:
        for line in run:
            found = read_line(line)
            if found is None:
                tell(line)
            elif found.time > duration:
                records.append(Record(duration, Kind.END, NOBODY, NOBODY, (End.TIME,)))
                break
            else:
                records.append(found)
                if found.kind == OUTPUT:
                    tell(text.add(found))
    except KeyboardInterrupt:
        pass  # what there is so far is what was asked for
    finally:
        run.close()
        tell(text.rest())
    return records
