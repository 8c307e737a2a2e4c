# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Runs a built system on the host kernel."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from msgspec import Struct

from camkes import process
from camkes.backends.host.capture import NotACaptureError, from_capture, to_capture
from camkes.backends.host.codes import RUN_FAILED
from camkes.backends.host.coverage import coverage_environment
from camkes.backends.host.explore import MOST_OPERATIONS, write_choices
from camkes.backends.host.faults import FaultRecord, parse_report
from camkes.backends.host.host import HostImage
from camkes.backends.host.options import RunOptions
from camkes.diagnostics import Diagnostic
from camkes.files import write_output
from camkes.process.limits import low_limits
from camkes.visible import visible

#: exit statuses of the host kernel
ENDED, FAULTED, CANNOT_START, DEFECT, DAMAGED = 0, 1, 2, 3, 4

#: Seconds that an interrupted kernel has to finish the trace.
GRACE = 5

#: what comes from outside, and what leaves a system: beside the boot table
_INPUT, _RECEIVED, _SENT = "input", "received", "sent"

#: what the kernel's own words begin with
_KERNEL = "camkes-host: "


Output = Callable[[bytes], None]


class RunResult(Struct, frozen=True):
    """What a run came to. `status` is the kernel's exit status; `diagnostics` report a run that could
    not be. `interrupted` is the signal with which the user ended it, or 0."""

    status: int
    faults: tuple[FaultRecord, ...]
    trace: Path | None
    diagnostics: tuple[Diagnostic, ...]
    interrupted: int = 0
    findings: tuple[FaultRecord, ...] = ()  # of sanitizers
    stacks: Mapping[str, int] = {}  # bytes that each thread has used, if that was asked for


class _Signals:
    """The user's signals during a run. The first to end it lets the kernel finish the trace, a second one
    does not wait for that; a suspended run goes on when we do."""

    _ENDING = (signal.SIGINT, signal.SIGTERM)

    def __init__(self) -> None:
        self.kernel: process.StartedProgram | None = None
        self.received = 0
        self._before: dict[int, Any] = {}
        self._limit = threading.Timer(GRACE, self._kill)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in self._ENDING:
                self._before[number] = signal.signal(number, self._end)
            self._before[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._suspend)
        return self

    def __exit__(self, *_: object) -> None:
        self._limit.cancel()
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def watch(self, kernel: process.StartedProgram) -> None:
        """From now on signals reach this process; one that came before does at once."""
        self.kernel = kernel
        if self.received:
            kernel.send_signal(signal.SIGINT)

    def _end(self, number: int, frame: object) -> None:
        if self.received:
            self._kill()
            return
        self.received = number
        if self.kernel is not None:
            self.kernel.send_signal(signal.SIGINT)
        self._limit.daemon = True
        self._limit.start()

    def _kill(self) -> None:
        self._send_group(signal.SIGKILL)

    def _suspend(self, number: int, frame: object) -> None:
        self._send_group(signal.SIGSTOP)
        os.kill(os.getpid(), signal.SIGSTOP)
        self._send_group(signal.SIGCONT)

    def _send_group(self, number: int) -> None:
        if self.kernel is not None:
            self.kernel.send_signal(number, group=True)


def run_host(
    image: HostImage, options: RunOptions, trace: Path | None = None, output: Output | None = None
) -> RunResult:
    """Run a system until it ends, its time is over, or the user interrupts it. What it does is recorded
    in the file `trace`; `output` is called with what components print, in place of `options.console`."""
    if trace is not None:
        with suppress(OSError):
            trace.unlink()  # that of an earlier run is not this one's
    sys.stdout.flush()
    failed = _take_inputs(image.folder, options)
    if failed is not None:
        return RunResult(CANNOT_START, (), None, (failed,))
    faults_from, faults_to = os.pipe()
    kept = _Kept([], [], {})
    with _Signals() as signals, ExitStack() as stack:
        try:
            program = _program(image, options, trace, output, faults_to)
            stack.enter_context(program)
        except OSError as error:
            os.close(faults_from)
            notes = (str(image.kernel),)
            unusable = Diagnostic(RUN_FAILED, f"the host kernel cannot be run: {error.strerror}", notes=notes)
            return RunResult(DEFECT, (), None, (unusable,))
        finally:
            os.close(faults_to)
        signals.watch(program)
        status = _wait(program, faults_from, image, output, kept)
    diagnostics = _failures(status, kept.said, bool(signals.received))
    if options.sent is not None and (image.folder / _SENT).exists():
        write_output(options.sent, to_capture((image.folder / _SENT).read_bytes()))
    if trace is not None and not (trace.exists() and trace.stat().st_size > 0):
        trace = None
    stopped = tuple(fault for fault in kept.faults if not fault.finding)
    findings = tuple(fault for fault in kept.faults if fault.finding)
    return RunResult(status, stopped, trace, diagnostics, signals.received, findings, kept.stacks)


def _take_inputs(folder: Path, options: RunOptions) -> Diagnostic | None:
    """Put all that comes from outside into the folder of the image, and remove what an earlier run has sent;
    why something cannot be read, or None. Raises OutputError."""
    for path, name, form in ((options.input, _INPUT, bytes), (options.network, _RECEIVED, from_capture)):
        try:
            data = None if path is None else form(_read(path))
        except OSError as error:
            return Diagnostic(RUN_FAILED, f"cannot read {path}: {error.strerror}")
        except NotACaptureError as error:
            return Diagnostic(RUN_FAILED, f"cannot read {path}: {error}")
        if data is not None:
            write_output(folder / name, data)
    with suppress(OSError):
        (folder / _SENT).unlink()
    return None


def _read(path: Path) -> bytes:
    """A file, or all of standard input: a run that waited for it would not be the same each time."""
    return sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()


class _Kept(NamedTuple):
    """What the kernel reports."""

    faults: list[FaultRecord]
    said: list[str]
    stacks: dict[str, int]


def _program(
    image: HostImage, options: RunOptions, trace: Path | None, output: Output | None, faults_to: int
) -> process.StartedProgram:
    table = image.table
    if options.costs is not None:
        table = image.folder / "costs.table"
        table.write_text("\n".join([image.table.read_text(), *options.costs.lines, ""]))
    words = ["--faults", str(process.FIRST_PASSED), *kernel_arguments(options)]
    if options.schedule is not None:
        words += ["--choices", f"script:{write_choices(image.folder, options.schedule.choices)}"]
    if trace is not None:
        words += ["--trace", str(trace.absolute())]
    return process.StartedProgram(
        [str(image.kernel), table.name, *words],
        cwd=image.folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if output else options.console,
        stderr=subprocess.PIPE,
        pass_fds=(faults_to,),
        env=coverage_environment(image.folder) if options.coverage is not None else None,
    )


def _wait(
    kernel: process.StartedProgram,
    faults_from: int,
    image: HostImage,
    output: Output | None,
    kept: _Kept,
) -> int:
    """Reads the output of a kernel until it ends; its status."""
    readers = (
        threading.Thread(target=_read_errors, args=(kernel.stderr, kept.said, image.sanitized)),
        threading.Thread(target=_read_faults, args=(faults_from, kept)),
    )
    for reader in readers:
        reader.start()
    try:
        if output is not None and kernel.stdout is not None:
            while chunk := os.read(kernel.stdout.fileno(), 65536):
                output(chunk)
        return kernel.wait()
    finally:
        kernel.stop()
        for reader in readers:
            reader.join()


def _failures(status: int, said: list[str], interrupted: bool) -> tuple[Diagnostic, ...]:
    """Why there was no run, or not all of it; the kernel's messages about a successful one are shown."""
    if status in (ENDED, FAULTED) or interrupted:
        for line in said:
            print(f"{_KERNEL}{line}", file=sys.stderr)
        return ()
    if status == DAMAGED:
        note = "the rest of the run was not recorded"
        return (
            Diagnostic(
                RUN_FAILED, said[-1] if said else "the memory of the kernel was damaged", notes=(note,)
            ),
        )
    what = f"signal {-status}" if status < 0 else f"status {status}"
    message = (
        "the host kernel cannot start the system"
        if status == CANNOT_START
        else f"the host kernel ended with {what}"
    )
    return (Diagnostic(RUN_FAILED, message, notes=(*said[-20:], *low_limits())),)


def kernel_arguments(options: RunOptions) -> list[str]:
    """The words of the kernel's command line for these options."""
    replay = options.schedule
    values = {
        "--for": options.duration if replay is None else replay.duration,
        "--scheduling": options.scheduling if replay is None else replay.scheduling,
        "--timeslice": options.timeslice,
        "--choices": options.choices,
        "--arrivals": replay.arrivals or None if replay is not None else None,
        "--points": "all" if replay is not None and replay.every_point else None,
        "--call-limit": MOST_OPERATIONS if replay is not None and replay.arrivals else None,
        "--durations": None if replay is None else "corners",
        "--loop-limit": options.loop_limit_ms,
        "--timeout": None if options.timeout is None else -(-options.timeout // 1_000_000),
        "--memory-limit": options.memory_limit,
        "--trace-limit": options.record_limit,
        "--input": None if options.input is None else _INPUT,
        "--received": None if options.network is None else _RECEIVED,
        "--sent": None if options.sent is None else _SENT,
    }
    result = [f"--{name}" for name in ("fast", "hardened", "stacks") if getattr(options, name)]
    if options.coverage is not None:
        result.append("--coverage")
    for name, value in values.items():
        if value is not None:
            result += [name, str(value)]
    return result


def _read_faults(descriptor: int, kept: _Kept) -> None:
    """The kernel's report, which no component can write to."""
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as report:
        for line in report:
            found = parse_report(line)
            if isinstance(found, FaultRecord):
                kept.faults.append(found)
            elif found is not None:
                kept.stacks[found.thread] = found.bytes


def _read_errors(stream: IO[bytes] | None, said: list[str], sanitized: bool) -> None:
    """The kernel's own messages are kept for later; everything else is shown at once, except what sanitizers
    write, since the kernel reports that."""
    for raw in stream or ():
        line = raw.decode(errors="replace").rstrip("\n")
        if line.startswith(_KERNEL):
            said.append(line.removeprefix(_KERNEL))
        elif not sanitized:
            print(visible(line), file=sys.stderr)
