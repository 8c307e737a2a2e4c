# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Builds an application in an seL4 workspace with CMake and ninja, and boots it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from camkes import process
from camkes.backends.host.addresses import named_folders, names_as_here
from camkes.backends.host.folder import FolderInUseError, locked
from camkes.backends.host.jobs import Progress
from camkes.backends.host.ninja import NinjaError
from camkes.backends.host.ninja import program as find_ninja
from camkes.backends.sel4.build_log import NINJA_STATUS, failing_lines
from camkes.backends.sel4.codes import NO_LISTS, NO_WORKSPACE, SEL4_BUILD
from camkes.backends.sel4.fault_lines import FaultText, note_application
from camkes.diagnostics import Sink
from camkes.project.application import Application
from camkes.project.cmake import find_cmake
from camkes.project.codes import MISSING_FILE
from camkes.project.workspaces import is_workspace, named_workspace
from camkes.resources import MAKE_WORKSPACE, ROOT

#: the variable of the environment that names an SDK
SDK_VARIABLE = "CAMKES_SDK"
APPLICATION = ROOT / "kernel" / "sel4" / "application"
DEFAULT_PLATFORM = "x86_64"

#: seconds for another command to build, and to run if it records
_WAIT = 1800.0

#: in the folder of a build: the kernel, with symbols
KERNEL = "kernel/kernel.elf"
#: in the folder of a build with an SDK: the words of the command that boots the image
QEMU = "qemu.json"
#: time is what the processor did, for the clocks of devices too
_COUNT_INSTRUCTIONS = "-icount shift={shift},sleep=off -rtc clock=vm"
_EXTRA_ARGUMENTS = re.compile(r"dest='qemu_sim_extra_args'.*?default=\"(.*?)\"", re.DOTALL)

#: how a debug kernel begins a message about an operation that failed
_KERNEL_SAYS = b"\x1b[0m\x1b[1m<<"


def simulate(out: Path, stream: IO[str]) -> None:
    """Boot an image in QEMU and write what it prints to `stream`, with the lines of C of faults, until it is
    interrupted."""
    end_with_us()
    faults = FaultText(out)
    try:
        for line in console(out):
            stream.write(faults.add(line))
            stream.flush()
    except KeyboardInterrupt:
        print()


def end_with_us() -> None:
    """Whoever ends this process with SIGTERM ends QEMU as well."""
    signal.signal(signal.SIGTERM, _stop)


def _stop(number: int, frame: object) -> None:
    """Lets whoever waits for QEMU end it first."""
    sys.exit(128 + number)


def find_workspace(given: Path | None, sink: Sink) -> Path | None:
    """The workspace that is named, in SEL4_WORKSPACE, or around this checkout."""
    named = named_workspace(given)
    candidates = [named] if named is not None else [ROOT.parent.parent]
    for folder in candidates:
        if is_workspace(folder):
            return folder
    where = f"{named} is not a valid seL4 workspace" if named is not None else "no seL4 workspace was named"
    sink.report(
        NO_WORKSPACE,
        where,
        help=f"make one with `{MAKE_WORKSPACE}` and name it with `--workspace DIR` or SEL4_WORKSPACE",
    )
    return None


def check_application(application: Application, sink: Sink) -> None:
    """Report what CMake would fail at: sources that are not there, or no CMakeLists.txt."""
    application.report_missing(MISSING_FILE, sink)
    if application.lists is None:
        sink.report(
            NO_LISTS,
            f"no CMakeLists.txt in {application.folder} declares {application.root.name}, and CMake builds "
            "images for seL4",
            help="`camkes explain E0965` shows one",
        )


def make(
    workspace: Path,
    application: Path,
    out: Path,
    definitions: Mapping[str, str],
    sink: Sink,
    progress: Progress,
) -> bool:
    """Configure (the first time, or with other definitions) and build in the folder `out`, alone there."""
    with made(workspace, application, out, definitions, sink, progress) as good:
        return good


@contextmanager
def made(
    workspace: Path,
    application: Path,
    out: Path,
    definitions: Mapping[str, str],
    sink: Sink,
    progress: Progress,
) -> Iterator[bool]:
    """As `make`; no other command changes what is in the folder until this is left."""
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(out, progress, _WAIT))
        except FolderInUseError as error:
            sink.add(error.diagnostic)
            yield False
        else:
            good = _make_locked(workspace, application, out, definitions, sink, progress)
            if good:
                note_application(out, application)
            yield good


def _make_locked(
    workspace: Path,
    application: Path,
    out: Path,
    definitions: Mapping[str, str],
    sink: Sink,
    progress: Progress,
) -> bool:
    programs = _programs(sink)
    if programs is None:
        return False
    if not can_be_mapped([out, workspace], sink):
        return False
    cmake, ninja = programs
    named = named_folders(application, out)
    tool = workspace / "projects" / "camkes-tool" / "kernel" / "sel4" / "application"
    source = tool if tool.is_dir() else APPLICATION
    settings = {
        "PLATFORM": DEFAULT_PLATFORM,
        "CMAKE_MAKE_PROGRAM": ninja,
        **definitions,
        "CAMKES_WORKSPACE": str(workspace),
        "CAMKES_APPLICATION": str(application.absolute()),
    }
    words = [f"-D{name}={value}" for name, value in settings.items()]
    # --fresh: definitions of an earlier command line must not stay in CMake's cache
    configure = [cmake, "--fresh", "-G", "Ninja", *words, "-C", str(source / "settings.cmake"), str(source)]
    state = "\n".join([*configure, _rules_digest(source.parents[2] / "cmake")])
    mark = out / ".camkes-configured"
    known = mark.read_text() if mark.is_file() and (out / "build.ninja").is_file() else ""
    if known != state:
        progress("configuring for seL4")
        if not _run(configure, out, "cmake", workspace, named, sink):
            return False
        mark.write_text(state)
    progress("building for seL4")
    return _run([ninja], out, "ninja", workspace, named, sink)


def can_be_mapped(folders: Iterable[Path], sink: Sink) -> bool:
    """Whether images can have other names for files in these folders (-ffile-prefix-map): assemblers take the
    first `=` for the end of a name. False after a diagnostic."""
    wrong = next((folder for folder in folders if "=" in str(folder)), None)
    if wrong is not None:
        sink.report(
            SEL4_BUILD,
            f"the path {wrong} has a `=`, which compilers for seL4 do not accept in names of folders",
            help="use a folder without one; `-o DIR` names that of the build",
        )
    return wrong is None


def _programs(sink: Sink) -> tuple[str, str] | None:
    """CMake and ninja, those that were installed with this tool if they are there."""
    cmake = find_cmake()
    if cmake is None:
        sink.report(SEL4_BUILD, "cmake was not found", help=f"check this machine: {ROOT}/repo-init.sh -c")
        return None
    try:
        return cmake, find_ninja()
    except NinjaError as error:
        sink.report(SEL4_BUILD, str(error.strerror))
        return None


def _rules_digest(folder: Path) -> str:
    """Of the tool's CMake files: a build folder of another version of the tool has commands that may be gone,
    and ninja runs some of them before it configures again."""
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.cmake")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _run(
    command: list[str], folder: Path, name: str, workspace: Path, named: Mapping[str, Path], sink: Sink
) -> bool:
    log = folder / f"{name}.log"
    environment = {**os.environ, "NINJA_STATUS": NINJA_STATUS, "PATH": _search_path(workspace)}
    if process.run(command, cwd=folder, env=environment, log=log).status == 0:
        return True
    notes = failing_lines(names_as_here(log.read_text(errors="replace"), named))
    sink.report(SEL4_BUILD, f"the build for seL4 failed; everything is in {log}", notes=notes)
    return False


def _search_path(workspace: Path) -> str:
    """PATH with the workspace's Python environment first, which has what scripts of a build import."""
    environment = workspace / "projects" / "camkes-tool" / ".venv" / "bin"
    path = os.environ.get("PATH", os.defpath)
    return f"{environment}{os.pathsep}{path}" if environment.is_dir() else path


def _lines(stream: IO[bytes], tick: float | None) -> Generator[str, None, None]:
    """The lines of a stream; with `tick`, "" where none has come for so many seconds. A message of a debug
    kernel, which can come in the middle of another line, comes before that."""
    rest = begun = b""
    while True:
        if not select.select([stream], [], [], tick)[0]:
            yield ""
            continue
        part = os.read(stream.fileno(), 1 << 16)
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            before, mark, message = line.partition(_KERNEL_SAYS)
            begun += before
            yield (mark + message if mark else begun).decode(errors="replace").rstrip("\r") + "\n"
            begun = begun if mark else b""
        if not part:
            break
    if begun or rest:
        yield (begun + rest).decode(errors="replace")


def simulator(out: Path, arguments: str) -> process.StartedProgram:
    """QEMU with an image and further arguments; what it prints is the standard output of the program."""
    command = [sys.executable, "./simulate"]
    if (out / QEMU).is_file():
        command = [*json.loads((out / QEMU).read_text()), *arguments.split()]
    elif arguments:
        # what is given replaces what the script would give by itself
        own = _EXTRA_ARGUMENTS.search((out / "simulate").read_text())
        command.append(f"--extra-qemu-args={own[1] if own else ''} {arguments}")
    return process.StartedProgram(
        command,
        cwd=out,
        env=os.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def console(
    out: Path,
    *,
    instruction_counting: bool = False,
    shift: int = 0,
    seconds: float | None = None,
    tick: float | None = None,
) -> Generator[str, None, None]:
    """The lines that an image prints in QEMU, for as long as they are asked for, at most so many `seconds`.
    With instruction counting, time is what the processor did and repeats to the digit: an instruction takes
    2 to the power of `shift` nanoseconds. With `tick` there is
    an empty string whenever no line has come for so many seconds."""
    program = simulator(out, _COUNT_INSTRUCTIONS.format(shift=shift) if instruction_counting else "")
    yield from printed(program, seconds=seconds, tick=tick)


def printed(
    program: process.StartedProgram, *, seconds: float | None = None, tick: float | None = None
) -> Generator[str, None, None]:
    """The lines that a program writes to its standard output, which is a pipe; the times are those of
    `console`."""
    with program as started:
        assert started.stdout is not None
        limit = None if seconds is None else threading.Timer(seconds, program.stop)
        if limit is not None:
            limit.start()
        try:
            yield from _lines(started.stdout, tick)
        finally:
            if limit is not None:
                limit.cancel()
