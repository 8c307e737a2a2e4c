# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The C compiler of this workstation and the flags that everything is compiled with."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from camkes.backends.host.codes import NO_COMPILER
from camkes.backends.host.digests import of_file, of_words
from camkes.diagnostics import Sink
from camkes.process import run

#: a finding is reported, and the thread goes on
_SANITIZE = ("-fsanitize=address,undefined", "-fsanitize-recover=address,undefined")
#: position independent, and a fault can be traced back to its line
_COMMON = ("-fPIC", "-g", "-O1", "-fno-omit-frame-pointer", "-fno-strict-aliasing", "-pipe")
#: accesses to memory are reported, those of the C library by functions that are called
_WATCH = ("-fsanitize=thread", "-fno-builtin", "-U_FORTIFY_SOURCE")
#: the same of parameters that generated code writes
WATCH_GENERATED = ("-DCAMKES_WATCHED=1", "-fno-builtin")
_BYTE_COLUMNS = ("-fdiagnostics-column-unit=byte",)
#: programs that a compiler or we run
_WITH_COMPILERS = ("as", "ld", "objcopy")
#: what compilers look at in the environment
_VARIABLES = (
    *("COMPILER_PATH", "GCC_EXEC_PREFIX", "LIBRARY_PATH", "SOURCE_DATE_EPOCH"),
    *("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"),
)
_SMALL = 1 << 16  # bytes of a file whose content is read each time
_TEMPORARY = re.compile(r"/[^\s\"']*/(?:cc\w{6}|null-\w+)\.\w+")
_ABSOLUTE = re.compile(r"(?:(?<=[\s\"'=])|^)/[^\s\"']+", re.MULTILINE)


class Compiler(Struct, frozen=True):
    """`c` and `cxx` are the commands with the user's own flags; the identities change with them, with the
    programs that they run and with the environment that these look at. `call_graphs`: the compiler writes
    the call graph of a source. `tells_volatile`: it reports volatile accesses as such. `mcs`: code is for an
    MCS kernel. `patterns`: it can write a pattern to variables that are not initialised. `names` are flags
    for the names of files in objects."""

    c: tuple[str, ...]
    cxx: tuple[str, ...]
    sanitize: bool
    identity: str
    cxx_identity: str = ""
    clang: bool = False
    call_graphs: bool = False
    tells_volatile: bool = False
    said: tuple[str, ...] = ()  # the form of the compilers' messages
    mcs: bool = False
    patterns: bool = False
    names: tuple[str, ...] = ()

    def user_flags(self, flags: Sequence[str]) -> tuple[str, ...]:
        """What comes before the `flags` of a user for a source: warnings, unless all of them are errors
        there; and variables that are used before they are written have values that show it."""
        warnings = () if "-Werror" in flags else ("-Wall",)
        return (*warnings, *(("-ftrivial-auto-var-init=pattern",) if self.patterns else ()))

    def compile_flags(self) -> tuple[str, ...]:
        kernel = ("-DCONFIG_KERNEL_MCS=1",) if self.mcs else ()
        own = (*kernel, *(_SANITIZE if self.sanitize else ()))
        return (*_COMMON, "-fdiagnostics-color=never", *self.said, *own, *self.names)

    def link_flags(self) -> tuple[str, ...]:
        return _SANITIZE if self.sanitize else ()

    def watch_flags(self) -> tuple[str, ...]:
        """For code that calls the functions of accesses.c, of the host kernel."""
        flag = "tsan-distinguish-volatile=1"
        if self.clang:
            return (*_WATCH, "-mllvm", f"-{flag}")
        return (*_WATCH, *(("--param", flag, "-Wno-tsan") if self.tells_volatile else ()))

    def check_flags(self) -> tuple[str, ...]:
        """To link an image by itself: what sanitizers are made of, Clang has in the kernel's program only."""
        return () if self.clang else self.link_flags()


def find_compiler(
    sanitize: bool, sink: Sink, languages: Iterable[str | None] = (), *, mcs: bool = False
) -> Compiler | None:
    """The compiler that CC names, or `cc`, and that for C++ if it is among the languages; None after a
    diagnostic. `mcs`: to compile for an MCS kernel."""
    c = _command("CC", "cc")
    path = shutil.which(c[0])
    if path is None:
        sink.report(
            NO_COMPILER,
            f"there is no C compiler: {c[0]} was not found",
            help="install a C compiler (apt install build-essential), or set CC",
        )
        return None
    for program in ("nm", "objcopy", "readelf"):
        if shutil.which(program) is None:
            sink.report(
                NO_COMPILER, f"{program} was not found", help="install binutils (apt install binutils)"
            )
            return None
    cxx = _command("CXX", "c++")
    with_cxx = "CXX" in languages and shutil.which(cxx[0]) is not None
    description, cxx_description = _description(c), _description(cxx) if with_cxx else ""
    descriptions = [d for d in (description, cxx_description) if d]
    versions = [_gcc_version(d) for d in descriptions]
    clang = "clang version" in description
    return Compiler(
        c,
        cxx,
        sanitize,
        identity=_identity(c, description),
        cxx_identity=_identity(cxx, cxx_description) if with_cxx else "",
        clang=clang,
        call_graphs=_gcc_version(description) >= 10,
        tells_volatile=clang or all(version >= 11 for version in versions),
        said=_BYTE_COLUMNS if all(version >= 11 for version in versions) else (),
        mcs=mcs,
        patterns=all("clang version" in d or _gcc_version(d) >= 12 for d in descriptions),
    )


def _gcc_version(description: str) -> int:
    """The version of a GCC; 0 for another compiler."""
    found = re.search(r"^gcc version (\d+)\.", description, re.MULTILINE)
    return int(found[1]) if found else 0


def _description(command: tuple[str, ...]) -> str:
    """What a compiler would run to compile and link, with its version; "" if there is none."""
    words = (*command, "-###", "-pipe", "-x", "c", os.devnull, "-o", os.devnull)
    try:
        done = run(words, undecodable="surrogateescape")
    except OSError:
        return ""
    return done.output + _TEMPORARY.sub("", done.errors)


def _identity(command: tuple[str, ...], description: str) -> str:
    """What changes with the compiler: its words, and the files that these name. The content counts of a
    script, or a small program, that takes the place of the compiler; of the rest, the results of `stat`."""
    words = [*command, description, *(f"{name}={os.environ.get(name)}" for name in _VARIABLES)]
    for program in (command[0], *_WITH_COMPILERS):
        place = shutil.which(program)
        if place is not None:
            words += [place, _signature(Path(place))]
    for name in dict.fromkeys(_ABSOLUTE.findall(description)):
        words += [name, _signature(Path(name))]
    return of_words(words)


def _signature(path: Path) -> str:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return ""
        if status.st_size <= _SMALL:
            return of_file(path)
        return f"{status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"
    except OSError:
        return ""


def _command(variable: str, default: str) -> tuple[str, ...]:
    return tuple(shlex.split(os.environ.get(variable, ""))) or (default,)
