# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Faults of components: from the kernel's report to the user's C line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from camkes.backends.host.addresses import CodeLine, locate
from camkes.backends.host.codes import DEADLOCK, FAULT, SANITIZER, WAITS_FOR_EVER
from camkes.backends.host.messages import Sources
from camkes.capdl.model import Role
from camkes.diagnostics import Diagnostic
from camkes.model.limits import FAULT_FRAMES
from camkes.resources import HOST_KERNEL, RUNTIME
from camkes.running.times import format_time
from camkes.running.waits import Cause, Deadlock, Situation, deadlock_words, deadlocks, describe, step_words
from camkes.showing.summary import CallReport, FaultReport, FindingReport

if TYPE_CHECKING:
    from camkes.backends.host.host import HostImage
    from camkes.running.names import TraceNames
    from camkes.running.refusals import Refusal

#: how the runtime stops a thread after its message
_STOP = "camkes_platform_fault"

#: where a generated function looks at the errors of a message
_MESSAGE = "camkes_message_report"

#: corrections for faults whose line alone does not show them
_HELP = {
    "stack overflow": "`_stack_size` sets the stack of a control thread, `IFACE_stack_size` that of a "
    "thread that serves IFACE",
    "waits for something outside the system": "wait for events, calls or the virtual time of the system "
    "instead",
    "writes a record of the trace that is not its own": "leave the records to the functions that the tool "
    "generates",
    "loops without consuming virtual time": "add a wait; slow code needs a larger `--loop-limit MS`",
}


#: the same, for a task that has a period
_PERIODIC_HELP = {
    "loops without consuming virtual time": "add a wait, or end each job: `while (camkes_next_job()) { ... "
    "}`; "
    "a slow job needs a larger `--loop-limit MS`",
}

#: system calls that a component waits with
_WAITING = frozenset(
    (
        "clock_nanosleep", "epoll_pwait", "epoll_wait", "futex", "nanosleep", "pause", "poll", "ppoll",
        "pselect6", "rt_sigsuspend", "rt_sigtimedwait", "select", "wait4", "waitid",
    )
)  # fmt: skip


class FaultRecord(Struct, frozen=True):
    """A thread that could not go on, as the kernel reports it.

    `what` is in words and `address` the memory it is about, if any. `time` is in virtual nanoseconds,
    `number` that of the thread in traces. `frames` are offsets of the calls in `image`, innermost first;
    `library` is the function outside the image that the innermost one called, "": none that has a name.
    `cause` is the thread that ended the whole component. `finding` is a sanitizer's own report (the thread
    went on), "": it is not from a sanitizer.
    """

    component: str
    thread: str
    what: str
    address: int | None
    pc: int | None
    time: int
    number: int
    image: str
    frames: tuple[int, ...] = ()
    library: str = ""
    cause: int | None = None
    finding: str = ""


class Located(Struct, frozen=True):
    """A fault with its lines: `calls` are those of the user's own code, innermost first (those of the tool's,
    if there is no other)."""

    fault: FaultRecord
    calls: tuple[CodeLine, ...]
    #: the runtime stopped the thread itself, with a message
    deliberate: bool = False
    #: its message is about a message that the thread sent or received
    message: bool = False


class StackRecord(Struct, frozen=True):
    """How many bytes of its stack a thread has used."""

    thread: str
    bytes: int


def parse_report(line: str) -> FaultRecord | StackRecord | None:
    """What a line of the kernel's report describes."""
    try:
        report: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return None
    if "stack" in report:
        return StackRecord(report["name"], report["stack"])
    return FaultRecord(
        component=report["component"],
        thread=report["name"],
        what=report["what"],
        address=report.get("address"),
        pc=report.get("pc"),
        time=report["time"],
        number=report["thread"],
        image=report["image"],
        frames=tuple(report["frames"]),
        library=report["library"].removeprefix("_IO_"),  # glibc's names for its own calls
        cause=report.get("cause"),
        finding=report.get("finding", ""),
    )


def locate_faults(faults: Iterable[FaultRecord], image: HostImage) -> tuple[Located, ...]:
    """The lines of each fault."""
    return tuple(_locate(fault, image) for fault in faults)


def _locate(fault: FaultRecord, image: HostImage) -> Located:
    places = [p for frame in locate(image.folder / fault.image, fault.frames, image.named) for p in frame]
    return locate_fault(fault, places, _tools(image))


def locate_fault(fault: FaultRecord, places: Sequence[CodeLine], tools: Sequence[Path]) -> Located:
    """A fault at lines of code, innermost first; code of the tool is in the folders `tools`."""
    own = tuple(p for p in places if not _is_in(p.file, tools))
    functions = {p.function for p in places}
    return Located(fault, own or tuple(places), _STOP in functions, {_STOP, _MESSAGE} <= functions)


def _tools(image: HostImage) -> Sequence[Path]:
    return RUNTIME, HOST_KERNEL, image.folder.parent


def is_tools(file: Path, image: HostImage) -> bool:
    """Is this C code of the tool, not of the user?"""
    return _is_in(file, _tools(image))


def _is_in(file: Path, folders: Iterable[Path]) -> bool:
    return any(file.is_relative_to(folder) for folder in folders)


def ended_by(located: Located, refusal: Refusal) -> bool:
    """Whether a thread stopped because its message was refused, once: one report covers both."""
    client = refusal.client.partition(".")[0]
    after = refusal.time <= located.fault.time
    return located.message and refusal.count == 1 and client == located.fault.component and after


def diagnose(
    faults: Sequence[Located], situation: Situation, names: TraceNames, refused: Sequence[Refusal] = ()
) -> list[Diagnostic]:
    """Faults as the user sees them, at their C lines if these are known, and waits without end that no
    fault explains. What ended a whole component is reported once, and so is a refused message that ended its
    sender."""
    sources = Sources()
    found = []
    for located in faults:
        fault = located.fault
        if fault.cause is None or fault.cause == fault.number:
            together = [
                f.fault for f in faults if f.fault.cause is not None and f.fault.cause == fault.number
            ]
            refusal = next((r for r in refused if ended_by(located, r)), None)
            found.append(_diagnose(located, together, situation, names, sources, refusal))
    found += [_deadlock(each, names) for each in deadlocks(situation.waits)]
    found += [
        Diagnostic(WAITS_FOR_EVER, f"at the end of the run {describe(wait, names)}")
        for wait in situation.waits
        if wait.cause not in (Cause.FAULT, Cause.DEADLOCK)
    ]
    return found


def _deadlock(found: Deadlock, names: TraceNames) -> Diagnostic:
    notes = []
    for step in found.steps:
        has = (
            ""
            if step.held is None
            else f", which {names.thread_name(step.by)} has since {format_time(step.held, 6)}"
        )
        notes.append(f"{names.thread_name(step.thread)} waits since {format_time(step.since, 6)}{has}")
    notes += [f"as a consequence, {step_words(step, names)}" for step in found.others]
    if len(found.steps) == 1:
        help = "a thread that has it must not take it again before it has given it back"
    elif all(step.held is not None for step in found.steps):
        help = "let all code take them in the same order"
    else:
        help = "let one of them go on without the next: emit an event in place of a call, or signal earlier"
    return Diagnostic(DEADLOCK, deadlock_words(found, names), notes=tuple(notes), help=help)


def _diagnose(
    located: Located,
    together: Sequence[FaultRecord],
    situation: Situation,
    names: TraceNames,
    sources: Sources,
    refusal: Refusal | None,
) -> Diagnostic:
    fault = located.fault
    what = fault.what
    if refusal is not None:
        what = f"unhandled error: `{refusal.server}` refused its message: {refusal.words}"
    elif located.deliberate:
        what = "stopped at an unhandled error, which is printed above as `camkes: ...`"
    span = next((s for p in located.calls if (s := sources.span(p.file, p.line)) is not None), None)
    where = "" if fault.address is None else f" at {fault.address:#x}"
    label = f"it stopped here, in {fault.library}()" if fault.library else "it stopped here"
    return Diagnostic(
        FAULT,
        f"component {fault.component}, thread {fault.thread}: {what}{where}",
        span,
        "" if span is None else label,
        notes=(*_calls(located), *_doing(fault, together, situation, names)),
        help=_help(fault.what, periodic=_is_periodic(fault, names)),
    )


def _is_periodic(fault: FaultRecord, names: TraceNames) -> bool:
    """Whether it is the control thread of a task with a period that stopped."""
    thread = names.thread(fault.number)
    task = names.task(thread.task) if thread is not None and thread.role is Role.CONTROL else None
    return task is not None and task.period is not None


def _help(what: str, *, periodic: bool) -> str:
    kind, _, call = what.partition(": ")
    if kind != "system call of the workstation":
        return (periodic and _PERIODIC_HELP.get(what)) or _HELP.get(what, "")
    if call in _WAITING:
        return (
            "a component can only wait for events, calls and virtual time, with the functions in `camkes.h`"
        )
    return "a component can compute, print and use its interfaces; it has no files, processes or network"


def diagnose_findings(findings: Sequence[Located]) -> list[Diagnostic]:
    """What sanitizers found, each at its line."""
    sources = Sources()
    found = []
    for located in findings:
        fault = located.fault
        span = next((s for p in located.calls if (s := sources.span(p.file, p.line)) is not None), None)
        found.append(
            Diagnostic(
                SANITIZER,
                f"component {fault.component}, thread {fault.thread}: {fault.what}",
                span,
                "" if span is None else "found here",
                notes=(*_calls(located), f"at {format_time(fault.time, 6)} of the run"),
            )
        )
    return found


def finding_report(located: Located, base: Path) -> FindingReport:
    """What a sanitizer found, for programs."""
    fault = located.fault
    calls = _call_reports(located, base)
    first = calls[0] if calls else None
    return FindingReport(
        component=fault.component,
        thread=fault.thread,
        what=fault.what,
        time=fault.time,
        file=first.file if first else None,
        line=first.line if first else None,
        calls=calls,
        report=fault.finding,
    )


def _calls(located: Located) -> list[str]:
    """The calls on the way to a fault. Those of a recursion are counted."""
    lines: list[str] = []
    times: list[int] = []
    for number, place in enumerate(located.calls):
        function = f" in {place.function}()" if place.function else ""
        line = f"{'called from' if number else 'at'} {place.file.name}:{place.line}{function}"
        if lines and lines[-1] == line:
            times[-1] += 1
        else:
            lines.append(line)
            times.append(1)
    cut = " or more" if len(located.fault.frames) >= FAULT_FRAMES else ""
    lines = [line if n == 1 else f"{line}, {n} times{cut}" for line, n in zip(lines, times, strict=True)]
    return [*lines, "outer calls are not recorded"] if cut else lines


def _doing(
    fault: FaultRecord, together: Sequence[FaultRecord], situation: Situation, names: TraceNames
) -> list[str]:
    """When it was, for whom, and who does not go on because of it."""
    stopped = situation.at(fault.number)
    notes = [f"at {format_time(fault.time, 6)} of the run"]
    if stopped is not None and stopped.client:
        task = f", for task {stopped.task}" if stopped.task else ""
        notes[0] += f", in a request to {stopped.service} by {stopped.client}{task}"
    elif stopped is not None and stopped.task:
        notes[0] += f", in task {stopped.task}"
    if fault.pc is not None:
        notes.append(f"program counter {fault.pc:#x}")
    others = [f.thread for f in together if f.number != fault.number]
    if others:
        notes.append(f"the other threads of the component stopped as well: {', '.join(others)}")
    for one in together or (fault,):
        held = situation.at(one.number)
        for cpi in held.holds if held is not None else ():
            notes.append(f"{one.thread} holds the lock of {cpi}, which remains locked")
        notes += [f"as a consequence, {describe(w, names)}" for w in situation.because_of(one.number)]
    return notes


def fault_report(located: Located, situation: Situation, names: TraceNames, base: Path) -> FaultReport:
    """A fault for programs. Files below `base` are relative to it."""
    fault = located.fault
    stopped = situation.at(fault.number)
    calls = _call_reports(located, base)
    first = calls[0] if calls else None
    return FaultReport(
        component=fault.component,
        thread=fault.thread,
        what=fault.what,
        address=fault.address,
        pc=fault.pc,
        time=fault.time,
        file=first.file if first else None,
        line=first.line if first else None,
        function=first.function if first else None,
        library=fault.library or None,
        calls=calls,
        service=(stopped.service or None) if stopped else None,
        client=(stopped.client or None) if stopped else None,
        task=(stopped.task or None) if stopped else None,
        holds=stopped.holds if stopped else (),
        stops=tuple(names.thread_name(w.thread) for w in situation.because_of(fault.number)),
    )


def _call_reports(located: Located, base: Path) -> tuple[CallReport, ...]:
    return tuple(CallReport(_relative(p.file, base), p.line, p.function) for p in located.calls)


def _relative(file: Path, base: Path) -> str:
    return str(file.relative_to(base)) if file.is_relative_to(base) else str(file)
