# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the tool needs on this machine, for which command, whether it is there, and how it is installed."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable, Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from msgspec import Struct

from camkes import process, sandbox
from camkes.backends.sel4.sdk.archive import ArchiveError, read_description
from camkes.backends.sel4.workspace import SDK_VARIABLE, find_workspace
from camkes.cache import cache_folder
from camkes.diagnostics import Sink
from camkes.project.cmake import find_cmake, find_ninja
from camkes.resources import MAKE_WORKSPACE, install_packages

SCHEMA = "camkes-doctor 1"
#: what everybody does; what is missing for these is an error
ESSENTIAL = ("check", "build", "run", "test")
#: what boots images for seL4
_BOOTING = ("run", "debug", "measure", "test")
_APT = "sudo apt install"
_SECONDS = 20  # for a program to print its version


class Need(Struct, frozen=True):
    """Something that commands need. `find` returns what is installed, "" if it is missing; `what_for` is what
    does not work without it; `install` is a line for a shell, or advice."""

    name: str
    commands: tuple[str, ...]
    what_for: str
    install: str
    find: Callable[[], str]


class Health(Struct, frozen=True):
    """Whether something is there. `found` is its version or place, "": it is missing."""

    name: str
    commands: tuple[str, ...]
    what_for: str
    install: str
    found: str

    @property
    def missing(self) -> bool:
        return not self.found


def examine(needs: Iterable[Need]) -> list[Health]:
    """Look for everything that is needed."""
    return [Health(n.name, n.commands, n.what_for, n.install, n.find()) for n in needs]


def _program(variable: str, name: str) -> Callable[[], str]:
    """The first line of a program's version; `variable` can name another program."""

    def find() -> str:
        words = shlex.split(os.environ.get(variable, "")) or [name]
        place = shutil.which(words[0])
        return "" if place is None else _version([*words, "--version"]) or place

    return find


def _version(words: list[str]) -> str:
    try:
        said = process.run(words, timeout=_SECONDS)
    except OSError:
        return ""
    lines = (said.output.strip() or said.errors.strip()).splitlines()
    return lines[0] if lines and said.status == 0 else ""


def _place(find: Callable[[], str | None]) -> Callable[[], str]:
    return lambda: find() or ""


def _package(*names: str) -> Callable[[], str]:
    """The versions of packages of Python; "" if one is missing."""

    def find() -> str:
        try:
            return ", ".join(f"{name} {version(name)}" for name in names)
        except PackageNotFoundError:
            return ""

    return find


def _sandbox() -> str:
    return "Landlock and seccomp" if sandbox.available() else ""


def _cache() -> str:
    """The folder for what is kept between builds, if it can be written."""
    folder = cache_folder()
    if folder is None:
        return ""
    existing = next(each for each in (Path(folder), *Path(folder).parents) if each.exists())
    return folder if os.access(existing, os.W_OK) else ""


def _workspace() -> str:
    return str(find_workspace(None, Sink()) or "")


def _sdk_or_workspace() -> str:
    """What systems for seL4 are built with: an SDK that can be read, or else a workspace."""
    named = os.environ.get(SDK_VARIABLE)
    if not named:
        return _workspace()
    try:
        found = read_description(Path(named))
    except (OSError, ArchiveError):
        return ""
    return f"{named}: {', '.join(each.name for each in found.configurations)}"


def needs() -> tuple[Need, ...]:
    """Everything, the most important first."""
    builds = ("build", "run", "test", "debug", "explore", "measure")
    sel4 = tuple(f"{each} --kernel sel4" for each in ("build", *_BOOTING))
    return (
        Need("cpp", ("check", *builds), "reading systems", f"{_APT} cpp", _program("", "cpp")),
        Need("C compiler", builds, "compiling components", f"{_APT} build-essential", _program("CC", "cc")),
        Need("make", builds, "the host kernel", f"{_APT} make", _program("", "make")),
        Need("objcopy", builds, "linking components", f"{_APT} binutils", _program("", "objcopy")),
        Need("CMake", ("check", *builds), "projects", install_packages("cmake"), _place(find_cmake)),
        Need("Ninja", builds, "building", install_packages("ninja"), _place(find_ninja)),
        Need("cache", builds, "quick builds", "set XDG_CACHE_HOME to a folder that can be written", _cache),
        Need("C++ compiler", (), "components in C++", f"{_APT} g++", _program("CXX", "c++")),
        Need(
            "sandbox", (), "CMake files that are not trusted", "camkes trust DIR, or a newer Linux", _sandbox
        ),
        Need("gdb", ("debug",), "the debugger", f"{_APT} gdb", _program("", "gdb")),
        Need(
            "rsvg-convert",
            (),
            "timelines and graphs as .png and .pdf",
            f"{_APT} librsvg2-bin",
            _program("", "rsvg-convert"),
        ),
        Need("dot", (), "the layout of camkes graph", f"{_APT} graphviz", _program("", "dot")),
        Need(
            "pygls",
            ("lsp",),
            "editors",
            install_packages("pygls>=2,<3", "lsprotocol"),
            _package("pygls", "lsprotocol"),
        ),
        Need("gcovr", (), "camkes run --coverage", install_packages("gcovr"), _package("gcovr")),
        Need(
            "Dask", (), "camkes sweep --dask", install_packages("dask[distributed]"), _package("distributed")
        ),
        Need("PyYAML", (), "queries of device trees", install_packages("pyyaml"), _package("pyyaml")),
        Need(
            "SDK or workspace",
            sel4,
            "the seL4 kernel",
            f"set {SDK_VARIABLE} to an SDK (camkes sdk), which is all that is needed; "
            f"or {MAKE_WORKSPACE} and set SEL4_WORKSPACE",
            _sdk_or_workspace,
        ),
        Need(
            "workspace",
            ("sdk",),
            "the seL4 kernel, to make SDKs of",
            f"{MAKE_WORKSPACE}, then set SEL4_WORKSPACE",
            _workspace,
        ),
        Need(
            *("QEMU", sel4[1:], "running images for seL4", f"{_APT} qemu-system-x86"),
            _program("", "qemu-system-x86_64"),
        ),
    )
