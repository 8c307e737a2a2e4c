# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The C compiler of this workstation and the flags that everything is compiled with."""

from __future__ import annotations

import os
import shlex
import shutil
from pathlib import Path

from camkes.build.codes import NO_COMPILER
from camkes.diagnostics import Sink
from camkes.records import dataclass

_SANITIZE = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")
#: position independent, and a fault can be traced back to its line
_COMMON = ("-fPIC", "-g", "-O1", "-fno-omit-frame-pointer", "-fno-strict-aliasing", "-pipe")
_CXX_SUFFIXES = (".cc", ".cpp", ".cxx", ".C")


@dataclass(frozen=True, slots=True)
class Compiler:
    """`c` and `cxx` are the commands with the user's own flags; `identity` changes with the compiler."""

    c: tuple[str, ...]
    cxx: tuple[str, ...]
    sanitize: bool
    identity: str

    def compile_flags(self) -> tuple[str, ...]:
        return (*_COMMON, "-fdiagnostics-color=never", *(_SANITIZE if self.sanitize else ()))

    def link_flags(self) -> tuple[str, ...]:
        return _SANITIZE if self.sanitize else ()

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
    state = Path(path).resolve().stat()
    identity = f"{Path(path).resolve()} {state.st_size} {state.st_mtime_ns}"
    return Compiler(c, _command("CXX", "c++"), sanitize, identity)


def _command(variable: str, default: str) -> tuple[str, ...]:
    return tuple(shlex.split(os.environ.get(variable, ""))) or (default,)
