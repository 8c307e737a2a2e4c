# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A kit of evidence of a system: what was found of each part, the files that show it, and a page that leads
through them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

from camkes.documents import json_text
from camkes.evidence.sbom import sha256
from camkes.files import OutputError, temporary_folder, write_output
from camkes.showing.html import environment

SCHEMA = "camkes-evidence 1"
TEMPLATE = Path(__file__).with_name("kit.html")
#: The file with the results, the page, and the list of all files.
REPORT, PAGE, SUMS = "evidence.json", "index.html", "SHA256SUMS"


class PartState(StrEnum):
    """What a part of a kit shows of the system."""

    HOLDS = "holds"
    HOLDS_IF = "holds if"  # what the part names as assumed, or left out, is so
    FAILS = "does not hold"
    UNKNOWN = "not known"
    ABSENT = "does not apply"

    @property
    def good(self) -> bool:
        return self not in (PartState.FAILS, PartState.UNKNOWN)


class EvidenceCommand(Struct, frozen=True):
    """A command that was executed: its words for a shell, its exit status, and what it wrote to standard
    error."""

    words: str
    status: int
    errors: str


class EvidenceTable(Struct, frozen=True):
    """A table of a part. `group` is the column by which its rows are folded together, null: they are not."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    group: int | None = None


class EvidencePart(Struct, frozen=True, kw_only=True):
    """A part of a kit. `about` says what it is, `verdict` what was found, `details` what that rests on or
    leaves out; `files` are those of the kit that show it."""

    name: str
    title: str
    about: str
    state: PartState
    verdict: str
    details: tuple[str, ...] = ()
    commands: tuple[EvidenceCommand, ...] = ()
    files: tuple[str, ...] = ()
    tables: tuple[EvidenceTable, ...] = ()


class EvidenceReport(Struct, frozen=True, kw_only=True):
    """A kit. `revision` is the commit of the application, `tool_revision` that of the tool; null without
    a repository. `good`: no part does not hold, or is not known."""

    schema: str = SCHEMA
    application: str
    revision: str | None
    version: str
    tool_revision: str | None
    good: bool
    parts: tuple[EvidencePart, ...]


@contextmanager
def new_kit(folder: Path) -> Iterator[Path]:
    """An empty folder that becomes `folder` when this is left, and not after an error or an interruption: so
    a kit is whole, or not there, or the former one. Raises OutputError; also where `folder` has something
    else than a kit."""
    place = folder.resolve()
    try:
        _refuse_others(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(".camkes-evidence-", place.parent) as scratch:
            new, former = scratch / "new", scratch / "former"
            new.mkdir()
            yield new
            _refuse_others(folder)
            if place.exists():
                place.rename(former)
            try:
                new.rename(place)
            except BaseException:
                if former.exists():
                    former.rename(place)
                raise
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from error


def _refuse_others(folder: Path) -> None:
    if folder.exists() and not (folder / REPORT).is_file() and (folder.is_file() or any(folder.iterdir())):
        what = "is a file" if folder.is_file() else "has files that are not of a kit"
        raise OutputError(f"cannot write {folder}: it {what}; name a new folder, or one with a kit")


def finish(folder: Path, report: EvidenceReport) -> None:
    """Write the results, the page and the list of files into a kit. Raises OutputError."""
    write_output(folder / REPORT, f"{json_text(report)}\n".encode())
    page = environment().from_string(TEMPLATE.read_text("utf-8"))
    names = _names(folder)
    shown = page.render(report=report, states=PartState, files=[*names, SUMS])
    write_output(folder / PAGE, shown.encode())
    sums = "".join(f"{sha256(folder / name)}  {name}\n" for name in _names(folder))
    write_output(folder / SUMS, sums.encode(errors="surrogateescape"))


def _names(folder: Path) -> Sequence[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def copy_into(folder: Path, path: Path, name: str) -> None:
    """A copy of a file in a kit. Raises OutputError."""
    try:
        shutil.copyfile(path, folder / name)
    except OSError as error:
        raise OutputError(f"cannot write {folder / name}: {error.strerror}") from error
