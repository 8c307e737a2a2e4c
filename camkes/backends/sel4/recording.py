# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A run on seL4 that is recorded.

The image is built with `CAmkESTrace`, and QEMU counts instructions, so that the clock of the run is what the
processor did and the same run gives the same figures.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from camkes.backends.host.faults import FaultRecord, Located, diagnose, locate_fault
from camkes.backends.sel4.build import RECORDS
from camkes.backends.sel4.codes import NO_SWITCHES, SILENT_IMAGE, UNSURE_SWITCHES
from camkes.backends.sel4.fault_lines import (
    FaultLine,
    StackLine,
    frames_of,
    image_of,
    parse_fault_line,
    parse_stack_line,
    places,
)
from camkes.backends.sel4.recorded_system import RecordedSystem, load_system
from camkes.backends.sel4.switches import ContradictionError, follow, uncertainty, without_switches
from camkes.backends.sel4.trace import LOST, ConsoleText, Record, read_line
from camkes.backends.sel4.workspace import console, end_with_us
from camkes.diagnostics import Diagnostic, Sink
from camkes.files import write_output
from camkes.model.limits import NO_NUMBER
from camkes.outcome import Outcome, exit_statuses
from camkes.resources import RUNTIME, SEL4_KERNEL
from camkes.running.codes import TRACE_TRUNCATED
from camkes.running.decode import decode_trace
from camkes.running.demands import Violation
from camkes.running.events import encode_records, parse_trace
from camkes.running.kinds import EndReason, Kind
from camkes.running.names import TraceNames, load_names
from camkes.running.times import format_time

#: elapsed seconds without a record after which a recording ends; QEMU passes over times at which nothing
#: happens, and boots an image in a few seconds
SILENCE = 120

#: what the judge of runs gets, beside the records: the same with the times of the host kernel
JUDGED = "judged.trace"

#: the option of CMake
DEFINITION = ("CAmkESTrace", "ON")


def _never(_: Sequence[Record]) -> bool:
    return False


def record(
    out: Path,
    duration: int,
    tell: Callable[[str], None],
    sink: Sink,
    clock: Callable[[], float] = time.monotonic,
    idle: Callable[[Sequence[Record]], bool] = _never,
    clock_starts: bool = True,
) -> list[Record]:
    """Boot the image in `out` and collect its records of the first `duration` nanoseconds. What components
    print, and lines that are not records (the kernel's, reports of faults), go to `tell` as they come.
    `idle` is asked in each second without a line whether the run is over. An image that makes no record for
    SILENCE seconds is ended, which is reported to `sink`. Unless the clock of the image starts with the
    system (`clock_starts`), times are those since the first record."""
    records: list[Record] = []
    start = 0 if clock_starts else None
    last = clock()
    text = ConsoleText()
    end_with_us()
    run = console(out, instruction_counting=True, tick=1)
    try:
        for line in run:
            if line.strip() == LOST:
                sink.add(_lost(records))
                break
            found = read_line(line)
            if found is None:
                tell(line)
                if not line and idle(records):
                    records.append(_end(records[-1].time, EndReason.IDLE))
                    break
                if clock() - last > SILENCE:
                    sink.add(_silent(records))
                    break
                continue
            start = found.time if start is None else start
            found = found._replace(time=found.time - start)
            if found.time < (records[-1].time if records else 0):
                sink.report(
                    TRACE_TRUNCATED, "time goes backwards in what the image prints; the rest was skipped"
                )
                break
            if found.time > duration:
                records.append(_end(duration, EndReason.TIME))
                break
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


def _end(time: int, reason: EndReason) -> Record:
    return Record(time, Kind.END, NO_NUMBER, NO_NUMBER, (reason,))


def outcome_of(
    out: Path,
    duration: int,
    tell: Callable[[str], None],
    base: Path,
    sink: Sink,
    idle: Callable[[Sequence[Record]], bool] = _never,
) -> Outcome | None:
    """Boot the image in `out` as `record` does; what the run came to, None after a diagnostic. What the judge
    of runs gets is in the file JUDGED beside the records, which is not there where nothing is known of
    switches between threads."""
    raw, judged = out / RECORDS, out / JUDGED
    judged.unlink(missing_ok=True)
    names = load_names(raw, sink)
    system = None if names is None else load_system(raw, sink)
    if names is None or system is None:
        return None
    # without tasks there is no timer driver, and the clock is that of the machine
    clock_starts = any(task.timer is not None for task in names.tasks)
    records = record(out, duration, _without_stacks(tell), sink, idle=idle, clock_starts=clock_starts)
    shown, judges = _with_switches(records, system, sink)
    write_output(raw, encode_records(shown))
    if judges is not None:
        write_output(judged, encode_records(judges))
    run = decode_trace(raw, names, sink)
    if run is None:
        return None
    faults = tuple(_faults(records, run.names, out))
    for diagnostic in diagnose(faults, run.situation, run.names):
        sink.add(diagnostic)
    instances = dict.fromkeys(thread.instance for thread in run.names.threads)
    return Outcome(
        run,
        faults,
        base,
        (),
        verified=False,
        failed=bool(faults),
        exit_statuses=exit_statuses(run, instances),
    )


def _with_switches(
    records: Sequence[Record], system: RecordedSystem, sink: Sink
) -> tuple[Sequence[Record], Sequence[Record] | None]:
    """The records of a trace file, and those of the judge of runs; None: switches are not known."""
    try:
        found = follow(records, system)
    except ContradictionError as error:
        sink.report(
            NO_SWITCHES,
            "when threads were switched cannot be found from the records of this run",
            notes=(str(error),),
            help="its results have no pictures and no blocked times; code that calls the kernel has to "
            "include <camkes.h>",
        )
        return without_switches(records), None
    if found.unsure:
        sink.report(UNSURE_SWITCHES, uncertainty(found.unsure))
    return found.records, found.judged


def at_its_time(violations: Iterable[Violation], trace: Path) -> Iterator[Violation]:
    """Violations in what the judge got, with the times of the same records in the trace."""
    events = parse_trace(trace.read_bytes(), str(trace), Sink()) or ()
    for each in violations:
        yield replace(each, time=events[each.record].time) if 0 <= each.record < len(events) else each


def _without_stacks(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Tells all but the words of stacks, which are in the diagnostics of faults as lines of C."""

    def told(text: str) -> None:
        lines = text.splitlines(keepends=True)
        tell("".join(line for line in lines if parse_stack_line(line) is None))

    return told


def _faults(records: Sequence[Record], names: TraceNames, out: Path) -> Iterator[Located]:
    """The faults that fault handlers printed, each with its lines if the program has them: those of its calls
    where the stack follows, from the same handler."""
    text = ConsoleText()
    numbers = {thread.name: thread.number for thread in names.threads}
    found: list[tuple[int, FaultLine]] = []
    stacks: dict[tuple[str, int], list[StackLine]] = {}
    for each in records:
        for line in text.add(each).splitlines() if each.kind == Kind.OUTPUT else ():
            fault, stack = parse_fault_line(line), parse_stack_line(line)
            if fault is not None:
                found.append((each.time, fault))
            elif stack is not None:
                stacks.setdefault((f"{stack.space}.elf", stack.state.pc), []).append(stack)
    for when, fault in found:
        image = image_of(out, fault)
        frames: tuple[int, ...] = () if fault.pc is None else (fault.pc,)
        own = stacks.get((image.name, fault.pc or 0))
        if own:
            frames = frames_of(out, own.pop(0))
        report = FaultRecord(
            component=fault.component,
            thread=fault.thread,
            what=fault.what,
            address=None,
            pc=fault.pc,
            time=when,
            number=numbers.get(fault.thread, NO_NUMBER),
            image=image.name,
            frames=frames,
        )
        yield locate_fault(report, places(image, frames), (RUNTIME, SEL4_KERNEL, out.absolute()))


def _lost(records: Sequence[Record]) -> Diagnostic:
    until = f" after {format_time(records[-1].time, 6)}" if records else ""
    return Diagnostic(
        TRACE_TRUNCATED,
        f"the image made more records than it could print; those{until} were skipped",
        notes=("it prints them when no other thread can run",),
        help="run it for a shorter time, or with fewer jobs and requests in that time",
    )


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
