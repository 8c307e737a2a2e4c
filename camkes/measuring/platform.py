# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Measures a machine: builds the images, boots them or reads what they printed, and makes a profile."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Generator, Sequence
from importlib.util import find_spec
from pathlib import Path

from msgspec import Struct

from camkes import pipeline, process
from camkes.analysis.platform import UserPart
from camkes.backends.interface import Progress
from camkes.backends.sel4.sdk.choice import opened
from camkes.backends.sel4.sdk.pack import revision_of
from camkes.backends.sel4.workspace import console, find_workspace, printed
from camkes.diagnostics import Sink, SourceFile
from camkes.files import write_changed
from camkes.measuring.codes import INCOMPLETE_LOG, NOT_BOOTED
from camkes.measuring.images import Wanted, asked_of, built
from camkes.measuring.log import MARK, REQUESTS, content, parts_of, read_log
from camkes.measuring.profile import profile_of

#: in the command that boots a board: the folder with what is to be booted
IMAGES = "{images}"

_LAST = 8  # lines that are shown of what a board printed


class BuildPlaces(Struct, frozen=True):
    """With what images are built, and in which folder: an SDK, or else a workspace."""

    folder: Path
    workspace: Path | None = None
    sdk: Path | None = None


def revision(places: BuildPlaces, sink: Sink, progress: Progress) -> str | None:
    """The revision of the kernel, "" where it is not known; None after a diagnostic."""
    if places.sdk is None:
        workspace = find_workspace(places.workspace, sink)
        return None if workspace is None else revision_of(workspace / "kernel")
    sdk = opened(places.sdk, sink, progress)
    if sdk is None:
        return None
    return next((part.revision for part in sdk.description.parts if part.name == "kernel"), "")


def build(wanted: Wanted, places: BuildPlaces, sink: Sink, progress: Progress) -> tuple[Path, ...] | None:
    """Build all images; the folders of what is to be booted. None after a diagnostic. Raises OSError."""
    found = []
    for part in parts_of(mcs=wanted.mcs):
        with built(part, wanted, places.folder, places.workspace, places.sdk, sink, progress) as out:
            if out is None:
                return None
            found.append(out / "images")
    return tuple(found)


def measure(
    wanted: Wanted, places: BuildPlaces, command: str | None, seconds: float, sink: Sink, progress: Progress
) -> str | None:
    """Build and boot all images, in QEMU or with a command; the profile. None after a diagnostic. What each
    image printed is kept in the folder. Raises OSError."""
    logs, parts, user = [], parts_of(mcs=wanted.mcs), None
    for number, part in enumerate(parts, 1):
        with built(part, wanted, places.folder, places.workspace, places.sdk, sink, progress) as out:
            if out is None:
                return None
            if part == REQUESTS and wanted.machine.exact:
                user = _user_part(wanted, places, out)
            progress(f"{number} of {len(parts)}: {part}: booting")
            if command is None:
                shift = wanted.machine.shift or 0
                lines = console(out, instruction_counting=True, shift=shift, seconds=seconds)
            else:
                lines = printed(_board(command, out / "images"), seconds=seconds)
            file = places.folder / f"{part}.log"
            text = _until_end(lines)
            write_changed(file, text)
            if MARK not in text:
                _report_silence(part, text, command, file, sink)
                return None
            logs.append(file)
    return read(logs, sink, user)


def _user_part(wanted: Wanted, places: BuildPlaces, out: Path) -> UserPart | None:
    """What the paths of the image of requests execute; None where that is not known: on RISC-V, and without
    the extra `paths`."""
    if any(find_spec(name) is None for name in ("capstone", "elftools")):
        return None
    return pipeline.user_part_of_build(out, asked_of(REQUESTS, wanted, places.folder, places.sdk))


def _board(command: str, images: Path) -> process.StartedProgram:
    return process.StartedProgram(
        ["sh", "-c", command.replace(IMAGES, shlex.quote(str(images)))],
        env=os.environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def _until_end(lines: Generator[str, None, None]) -> str:
    """What an image prints up to its last line."""
    text = []
    try:
        for line in lines:
            text.append(line)
            if content(line) == "end":
                break
    finally:
        lines.close()
    return "".join(text)


def _report_silence(part: str, text: str, command: str | None, file: Path, sink: Sink) -> None:
    last = [line for line in text.splitlines() if line.strip()][-_LAST:]
    how = "in QEMU" if command is None else f"with `{command}`"
    sink.report(
        NOT_BOOTED,
        f"image `{part}` printed no measurement when it was booted {how}",
        notes=last or ["nothing was printed"],
        help=f"all of it is in {file}; the command has to write to standard output what the serial line "
        "brings, until the image has ended",
    )


def read(files: Sequence[Path], sink: Sink, user: UserPart | None = None) -> str | None:
    """The profile, from the logs of all images, and what of it is executed at `user` level; None after a
    diagnostic."""
    sources = []
    for file in files:
        try:
            sources.append(SourceFile(file, file.read_bytes().decode("utf-8", "replace")))
        except OSError as error:
            sink.report(INCOMPLETE_LOG, f"cannot read {file}: {error.strerror}")
    if sink.has_errors:
        return None
    boots = read_log(sources, sink)
    return None if boots is None else profile_of(boots, user)
