# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The C compiler of this workstation and the flags that everything is compiled with."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

from camkes.build.codes import NO_COMPILER
from camkes.build.digests import of_words
from camkes.diagnostics import Sink
from camkes.records import dataclass

_SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
#: position independent, and a fault can be traced back to its line
_COMMON = ("-fPIC", "-g", "-O1", "-fno-omit-frame-pointer", "-fno-strict-aliasing", "-pipe")
_BYTE_COLUMNS = ("-fdiagnostics-column-unit=byte",)
_CXX_SUFFIXES = (".cc", ".cpp", ".cxx", ".C")


@dataclass(frozen=True, slots=True)
class Compiler:
    """`c` and `cxx` are the commands with the user's own flags; `identity` changes with them and with
    what the compilers say of themselves."""

    c: tuple[str, ...]
    cxx: tuple[str, ...]
    sanitize: bool
    identity: str
    clang: bool = False
    said: tuple[str, ...] = ()  # how the compilers are to say what is wrong

    def compile_flags(self) -> tuple[str, ...]:
        return (*_COMMON, "-fdiagnostics-color=never", *self.said, *(_SANITIZE if self.sanitize else ()))

    def link_flags(self) -> tuple[str, ...]:
        return _SANITIZE if self.sanitize else ()

    def check_flags(self) -> tuple[str, ...]:
        """To link an image by itself: what sanitizers are made of, Clang has in the kernel's program only."""
        return () if self.clang else self.link_flags()

    def is_cxx(self, source: Path) -> bool:
        return source.suffix in _CXX_SUFFIXES


def find_compiler(sanitize: bool, sink: Sink) -> Compiler | None:
    """The compiler that CC names, or `cc`; None after a diagnostic."""
    c = _command("CC", "cc")
    path = shutil.which(c[0])
    if path is None:
        sink.report(
            NO_COMPILER,
            f"there is no C compiler: {c[0]} was not found",
            help="install a C compiler (apt install build-essential), or name one in CC",
        )
        return None
    for program in ("nm", "objcopy"):
        if shutil.which(program) is None:
            sink.report(
                NO_COMPILER, f"{program} was not found", help="install binutils (apt install binutils)"
            )
            return None
    cxx = _command("CXX", "c++")
    version, cxx_version = _version(c), _version(cxx)
    identity = of_words((*c, version, *cxx, cxx_version))
    columns = all(_has_column_units(v) for v in (version, cxx_version) if v)
    return Compiler(c, cxx, sanitize, identity, "clang" in version, _BYTE_COLUMNS if columns else ())


def _has_column_units(version: str) -> bool:
    """Whether it is a GCC that would count what a column shows, and not bytes as all others do."""
    number = re.search(r"\) (\d+)\.\d", version)
    return "Free Software Foundation" in version and number is not None and int(number[1]) >= 11


def _version(command: tuple[str, ...]) -> str:
    """What a compiler says of itself; "" if there is none."""
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout


def _command(variable: str, default: str) -> tuple[str, ...]:
    return tuple(shlex.split(os.environ.get(variable, ""))) or (default,)
