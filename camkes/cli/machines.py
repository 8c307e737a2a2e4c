# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes measure --platform`: a platform profile of a machine that boots."""

from __future__ import annotations

import argparse
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from camkes.analysis.platform import Platform
from camkes.cli.arguments import input_of
from camkes.cli.output import GOOD, USER_ERROR, Progress, write_diagnostics
from camkes.diagnostics import Sink
from camkes.documents import json_text
from camkes.files import OutputError, write_output

if TYPE_CHECKING:
    from camkes.measuring.images import Wanted
    from camkes.measuring.platform import BuildPlaces

#: samples of each figure by default: a run that QEMU counts repeats to the digit
_COUNTED, _SAMPLED = 15, 1000
_USUAL_MACHINE, _BOARD = "qemu-x86_64", "board"
#: nanoseconds for a boot
_LIMIT = 600_000_000_000
#: options of `camkes measure` about a system, which a machine does not have
_OF_SYSTEMS = ("duration", "runs", "margin", "write", "path")


class PlatformReport(Struct, frozen=True, kw_only=True):
    """What was measured of a machine: the profile, and the file that has it, null if none was asked for."""

    schema: int = 1
    file: str | None
    profile: Platform


def wrong(arguments: argparse.Namespace) -> str | None:
    """What of the given options does not go together."""
    options = {action.dest: action for action in arguments.parser._actions}

    def given(name: str) -> bool:
        return bool(getattr(arguments, name) != options[name].default)

    of_machines = ("machine", "boot", "logs", "samples", "build_folder", "limit")
    if not arguments.platform:
        name = next((each for each in of_machines if given(each)), None)
        return None if name is None else f"{options[name].option_strings[-1]} is for --platform"
    name = next((each for each in _OF_SYSTEMS if given(each)), None)
    if name is not None:
        words = options[name].option_strings
        return f"--platform measures a machine, not a system: leave out {words[-1] if words else 'PATH'}"
    if arguments.output is not None and arguments.output.suffix != ".toml":
        return f"{arguments.output}: the name of a profile must end in .toml"
    if arguments.boot is not None and arguments.logs:
        return "--boot and --log exclude each other"
    if arguments.boot is not None and arguments.machine not in (None, _BOARD):
        return f"--boot is for --machine {_BOARD}"
    if arguments.logs and (arguments.machine is not None or arguments.samples is not None):
        return "a log says how it was made: leave out --machine and --samples"
    if arguments.workspace is not None and arguments.sdk is not None:
        return "--sdk and --workspace exclude each other"
    return None


def measure_platform(arguments: argparse.Namespace) -> int:
    sink = Sink()
    progress = Progress(arguments)
    try:
        text = _profile(arguments, sink, progress)
    except OSError as error:
        progress.clear()
        print(f"camkes measure: {error.filename or 'the build'}: {error.strerror}", file=sys.stderr)
        return USER_ERROR
    progress.clear()
    if text and arguments.output is not None:
        try:
            write_output(arguments.output, text.encode())
        except OutputError as error:
            print(f"camkes measure: {error}", file=sys.stderr)
            return USER_ERROR
    status = write_diagnostics(arguments, sink)
    if text is None:
        return max(status, USER_ERROR)
    if not text:
        return status
    if arguments.json:
        name = "none" if arguments.output is None else arguments.output.stem
        profile = msgspec.convert({"name": name, **tomllib.loads(text)}, Platform)
        file = None if arguments.output is None else str(arguments.output)
        print(json_text(PlatformReport(file=file, profile=profile)))
    elif arguments.output is None:
        print(text, end="")
    elif not arguments.quiet:
        print(f"made {arguments.output}: camkes analyze PATH --platform {arguments.output}")
    return max(status, GOOD)


def _profile(arguments: argparse.Namespace, sink: Sink, progress: Progress) -> str | None:
    """The profile; "" where images were built for a board and nothing more, None after a diagnostic."""
    from camkes.measuring import platform
    from camkes.measuring.images import Wanted

    if arguments.logs:
        return platform.read(arguments.logs, sink)
    name = arguments.machine or (_USUAL_MACHINE if arguments.boot is None else _BOARD)
    arguments.kernel = "sel4"
    asked = input_of(arguments)
    folder = (arguments.build_folder or Path("build") / f"measure-{name}").absolute()
    places = platform.BuildPlaces(folder, arguments.workspace, asked.sdk)
    revision = platform.revision(places, sink, progress)
    if revision is None:
        return None
    samples = arguments.samples or (_SAMPLED if name == _BOARD else _COUNTED)
    wanted = Wanted(name, dict(asked.definitions), samples, revision)
    if name == _BOARD and arguments.boot is None:
        return _build(wanted, places, arguments, sink, progress)
    return platform.measure(wanted, places, arguments.boot, (arguments.limit or _LIMIT) / 1e9, sink, progress)


def _build(
    wanted: Wanted, places: BuildPlaces, arguments: argparse.Namespace, sink: Sink, progress: Progress
) -> str | None:
    """Build images for a board that is booted by hand."""
    from camkes.measuring import platform

    images = platform.build(wanted, places, sink, progress)
    if images is None:
        return None
    progress.clear()
    if not arguments.quiet:
        print("Boot what is in each of these folders, and keep what the serial line brings:")
        for folder in images:
            print(f"    {folder}")
        print("Then: camkes measure --platform --log FILE -o NAME.toml")
    return ""
