# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The road from a path to a running system, one function a step.

Each step takes and returns typed values and adds the user's mistakes to a `Sink`; None means that the
step could not go on. The command line, the tests and the editor all call this.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from camkes.diagnostics import Sink

if TYPE_CHECKING:
    from camkes.application import Application
    from camkes.build.host import HostImage
    from camkes.build.run import RunResult
    from camkes.capdl.model import CapabilityModel
    from camkes.model.system import System
    from camkes.protocols.plan import Plan

#: Endings of a trace file that `camkes run --trace` knows.
TRACE_FORMS = (".pftrace", ".json", ".trace")

#: How long a run lasts if nobody says: a system with periodic tasks never becomes idle.
DEFAULT_DURATION = 1_000_000_000

Progress = Callable[[str], None]


class OutputError(Exception):
    """A file the user asked for cannot be written."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a user asked the tool to read, and how."""

    path: Path
    definitions: tuple[tuple[str, str], ...] = ()
    import_path: tuple[Path, ...] = ()
    cpp_flags: tuple[str, ...] = ()
    cpp: str | None = None
    preprocess: bool = True
    dtb: Path | None = None
    gpio_list: Path | None = None
    allow_forward_references: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """A system that was read, with what follows from it."""

    application: Application
    system: System
    plan: Plan


@dataclass(frozen=True, slots=True)
class RunRequest:
    """How to run a system. Times are virtual nanoseconds; see `camkes run --help`."""

    output: Path | None = None
    duration: int | None = None
    fast: bool = False
    scheduling: str = "fifo"
    timeslice: int | None = None
    choices: str = "first"
    loop_limit_ms: int | None = None
    trace: Path | None = None
    timeline: Path | None = None
    window: tuple[int, int] | None = None
    verify: bool = False
    sanitize: bool = False


def find(request: Request, sink: Sink) -> Application | None:
    """Which sources and flags belong to the system at `request.path`."""
    from camkes.application import find_application

    return find_application(request.path, sink, dict(request.definitions))


def load(application: Application, request: Request, sink: Sink) -> System | None:
    """Read and resolve the system of an application."""
    from camkes.resolve import LoadOptions
    from camkes.resolve import load as resolve

    options = LoadOptions(
        import_path=(*request.import_path, *application.import_paths),
        cpp=request.preprocess,
        cpp_flags=(*application.cpp_flags, *request.cpp_flags),
        include_path=application.cpp_includes,
        allow_forward_references=request.allow_forward_references
        or application.options.get("CAmkESAllowForwardReferences", "OFF").upper() in ("ON", "1", "TRUE", "YES"),
        dtb=request.dtb or application.dtb,
        gpio_list=request.gpio_list,
    )
    return resolve(application.root, options, sink)


def check(request: Request, sink: Sink) -> Checked | None:
    """Find, load, check and plan; None if there is no plan because of an error."""
    from camkes.protocols import analyse

    application = find(request, sink)
    if application is None:
        return None
    system = load(application, request, sink)
    if system is None or sink.has_errors:
        return None
    plan = analyse(system, sink)
    if plan is None or sink.has_errors:
        return None
    return Checked(application, system, plan)


def capabilities(checked: Checked, sink: Sink) -> CapabilityModel:
    """The kernel objects and capabilities of a checked system."""
    from camkes.capdl.allocate import allocate

    return allocate(checked.system, checked.plan, sink)


def write_output(path: Path, data: bytes) -> None:
    """Write a file the user asked for, whole or not at all. Raises OutputError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            mask = os.umask(0)
            os.umask(mask)
            Path(name).chmod(0o666 & ~mask)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror}") from error
