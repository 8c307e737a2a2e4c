# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The folders whose programs the user allows to run without a sandbox: CMake, and templates of connectors."""

from __future__ import annotations

import os
from os.path import normpath
from pathlib import Path

from camkes import sandbox
from camkes.cache import user_path
from camkes.diagnostics import Sink
from camkes.files import write_whole
from camkes.project.codes import NOT_TRUSTED
from camkes.project.places import span_of
from camkes.project.workspaces import is_of_workspace


def allows(lists: Path, sink: Sink) -> bool:
    """Whether CMake may be run on a CMakeLists.txt: confined, or in a trusted folder. If not, that is an
    error."""
    if sandbox.available() or is_trusted(lists.parent):
        return True
    sink.report(
        NOT_TRUSTED,
        "reading this file runs CMake, and its commands can run programs and write files",
        span_of(str(lists), 1),
        notes=[
            "this machine has no sandbox (Landlock and seccomp)",
            f"the command would be `cmake -S {lists.parent}`",
        ],
        help=f"if you trust its author, run `camkes trust {lists.parent}`",
    )
    return False


def allows_template(template: Path, workspace: Path | None, folder: Path) -> bool:
    """Whether a template, which is a program in Python, may run for the application in `folder`: where the
    user trusts its folder, or where it is of the workspace that is named, and not of the application."""
    path = Path(normpath(template.absolute()))
    if is_trusted(path.parent):
        return True
    # links in a workspace are its own, but not those to the application
    linked = path.resolve().is_relative_to(folder.resolve())
    return is_of_workspace(path, workspace, folder) and not linked


def is_trusted(folder: Path) -> bool:
    """Whether the user trusts a folder, or one around it."""
    real = Path(os.path.realpath(folder))
    trusted = set(_trusted())
    return any(str(place) in trusted for place in (real, *real.parents))


def add(folder: Path) -> Path:
    """Trust a folder and all below it, from now on; returns where that is stored. Raises OSError."""
    place = _place()
    if place is None:
        raise OSError(2, "there is no home folder to store it in", "~")
    real = os.path.realpath(folder)
    text = "".join(f"{each}\n" for each in sorted({*_trusted(), real}))
    write_whole(place, text.encode(errors="surrogateescape"))
    return place


def _trusted() -> list[str]:
    place = _place()
    try:
        return place.read_text(encoding="utf-8", errors="surrogateescape").splitlines() if place else []
    except OSError:
        return []


def _place() -> Path | None:
    path = user_path("XDG_CONFIG_HOME", ".config", "trusted")
    return Path(path) if path is not None else None
