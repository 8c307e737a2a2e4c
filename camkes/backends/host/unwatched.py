# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Accesses to memory that code of components does not report to the host kernel, see its accesses.c."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from pathlib import Path

from msgspec import Struct

from camkes.backends.host.compiler import Compiler
from camkes.backends.host.jobs import BuildJob
from camkes.backends.host.kernel import symbols
from camkes.process import run
from camkes.project.builds import language_by_name

#: functions of the C library that access no memory of their caller
_LIBRARY = """
    abort abs aligned_alloc atexit calloc clock exit _exit fflush free getchar labs llabs malloc
    posix_memalign putc putchar fputc rand random srand srandom usleep sched_yield tolower toupper
    isalnum isalpha isdigit isspace isupper islower isxdigit ispunct isprint iscntrl
    setjmp _setjmp longjmp stdout stderr stdin __assert __assert_fail __errno_location __stack_chk_fail
    __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __tls_get_addr __cxa_finalize __gmon_start__
    _GLOBAL_OFFSET_TABLE_
"""
_HARMLESS = frozenset(_LIBRARY.split())
_NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_NO_NEWLINE = re.compile(r"[^\n]")
_ASSEMBLY = re.compile(r"\b(?:asm|__asm|__asm__)\b(?:\s+(?:volatile|__volatile__|inline|goto))*\s*\(")


class Unwatched(Struct, frozen=True):
    """`kind`: assembly, library. `subject` names the code, in words."""

    kind: str
    subject: str


def find_unwatched(
    instance: str, jobs: Sequence[BuildJob], known: Set[str], *, foreign: bool
) -> Iterator[Unwatched]:
    """What the code of an instance has that `jobs` compile. Names in `known` are not those of a
    library, or are watched. `foreign`: it is linked with code that is not compiled here."""
    for job in jobs:
        source = job.inputs[0]
        if language_by_name(source) == "ASM":
            yield Unwatched("assembly", f"{instance}: {source.name}, which is assembly")
        else:
            for line in _assembly(source):
                yield Unwatched("assembly", f"{instance}: the assembly at {source.name}:{line}")
    if foreign:
        yield Unwatched("library", f"{instance}: libraries that it is linked with")
    objects = [job.output for job in jobs]
    if objects:
        used = symbols("--undefined-only", *objects) - symbols("--defined-only", *objects) - known
        for name in sorted(used - _HARMLESS):
            yield Unwatched("library", f"{instance}: what {name}() accesses")


def _assembly(source: Path) -> Iterator[int]:
    """The lines of a source with statements of assembly."""
    text = source.read_text(encoding="utf-8", errors="replace")
    plain = _NO_CODE.sub(lambda match: _NO_NEWLINE.sub(" ", match[0]), text)
    for match in _ASSEMBLY.finditer(plain):
        yield plain.count("\n", 0, match.start()) + 1


def names_of_numbers(compiler: Compiler) -> set[str]:
    """The functions of the mathematical library, which access no memory but their results'."""
    path = Path(run([*compiler.c, "-print-file-name=libm.so.6"]).output.strip())
    return {name.partition("@")[0] for name in symbols("--defined-only", path, dynamic=True)}
