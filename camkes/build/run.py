# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Runs a built system on the host kernel."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from camkes.build.codes import RUN_FAILED
from camkes.build.faults import Fault, parse_fault
from camkes.build.host import HostImage
from camkes.diagnostics import Diagnostic
from camkes.records import dataclass

#: exit statuses of the host kernel
ENDED, FAULTED, CANNOT_START, DEFECT = 0, 1, 2, 3

#: what the kernel's own words begin with
_KERNEL = "camkes-host: "


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How to run; times are virtual nanoseconds. `output` takes what components print, None: it goes to
    standard output as it comes."""

    duration: int | None = None
    trace: Path | None = None
    fast: bool = False
    scheduling: str = "fifo"
    timeslice: int | None = None
    choices: str = "first"
    loop_limit_ms: int | None = None
    output: Callable[[bytes], None] | None = None


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run came to. `status` is the kernel's exit status; `diagnostics` tell of a run that could
    not be."""

    status: int
    faults: tuple[Fault, ...]
    trace: Path | None
    diagnostics: tuple[Diagnostic, ...]
    findings: tuple[Fault, ...] = ()  # of sanitizers


def run_host(image: HostImage, options: RunOptions | None = None) -> RunResult:
    """Run a system until it ends, its time is over, or the user interrupts it."""
    options = options or RunOptions()
    faults_from, faults_to = os.pipe()
    command = [str(image.kernel), image.table.name, "--faults", str(faults_to), *_arguments(options)]
    if options.trace is not None:
        with suppress(OSError):
            options.trace.unlink()  # that of an earlier run is not this one's
    sys.stdout.flush()
    try:
        process = subprocess.Popen(
            command,
            cwd=image.folder,
            stdin=subprocess.DEVNULL,
            stdout=None if options.output is None else subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(faults_to,),
        )
    except OSError as error:
        os.close(faults_from)
        os.close(faults_to)
        failed = Diagnostic(
            RUN_FAILED, f"the host kernel cannot be run: {error.strerror}", notes=(str(image.kernel),)
        )
        return RunResult(DEFECT, (), None, (failed,))
    faults: list[Fault] = []
    said: list[str] = []
    os.close(faults_to)
    readers = (
        threading.Thread(target=_read_errors, args=(process.stderr, said, image.sanitized)),
        threading.Thread(target=_read_faults, args=(faults_from, faults)),
    )
    for reader in readers:
        reader.start()
    try:
        if options.output is not None and process.stdout is not None:
            while chunk := os.read(process.stdout.fileno(), 65536):
                options.output(chunk)
        status = process.wait()
    except BaseException:
        process.terminate()
        process.wait()
        raise
    finally:
        for reader in readers:
            reader.join()
    diagnostics: list[Diagnostic] = []
    if status not in (ENDED, FAULTED):
        what = f"signal {-status}" if status < 0 else f"status {status}"
        message = (
            "the host kernel cannot start the system"
            if status == CANNOT_START
            else f"the host kernel ended with {what}"
        )
        diagnostics.append(Diagnostic(RUN_FAILED, message, notes=tuple(said[-20:])))
    else:
        for line in said:
            print(f"{_KERNEL}{line}", file=sys.stderr)
    trace = options.trace if options.trace is not None and options.trace.exists() else None
    stopped = tuple(fault for fault in faults if not fault.finding)
    findings = tuple(fault for fault in faults if fault.finding)
    return RunResult(status, stopped, trace, tuple(diagnostics), findings)


def _arguments(options: RunOptions) -> list[str]:
    values = {
        "--for": options.duration,
        "--trace": options.trace.absolute() if options.trace is not None else None,
        "--scheduling": options.scheduling,
        "--timeslice": options.timeslice,
        "--choices": options.choices,
        "--loop-limit": options.loop_limit_ms,
    }
    result = ["--fast"] if options.fast else []
    for name, value in values.items():
        if value is not None:
            result += [name, str(value)]
    return result


def _read_faults(descriptor: int, faults: list[Fault]) -> None:
    """The kernel's report, which no component can write to."""
    with os.fdopen(descriptor, encoding="utf-8", errors="replace") as report:
        for line in report:
            fault = parse_fault(line)
            if fault is not None:
                faults.append(fault)


def _read_errors(stream: IO[bytes] | None, said: list[str], sanitized: bool) -> None:
    """What the kernel itself says is kept for later; everything else is shown at once, except what sanitizers
    write, since the kernel reports that."""
    for raw in stream or ():
        line = raw.decode(errors="replace").rstrip("\n")
        if line.startswith(_KERNEL):
            said.append(line.removeprefix(_KERNEL))
        elif not sanitized:
            print(line, file=sys.stderr)
