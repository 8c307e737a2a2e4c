# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Compiler flags that a folder sets: which are used, which are left out, which are refused.

Compilers have too many flags to list the harmful ones (that start programs or write files), so the harmless
ones are listed. Flags that do not change what the program does are left out where the host kernel has its own
way. A flag that is none of these is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

#: Flags whose value is a word of its own, or follows at once.
_WITH_VALUE = ("-D", "-U", "-I", "-include", "-imacros", "-isystem", "-iquote", "-idirafter")

#: Settings of the language and of warnings: nothing in them is the name of a file or a program.
_FEATURE = r"[\w+-]+"
_WORDS = r"ansi|pedantic|pedantic-errors|nostdinc|nostdinc\+\+|undef|P|C|CC|w|trigraphs|traditional-cpp"
_COMMON = rf"-(?:std=[\w+:]+|{_WORDS}|m{_FEATURE}(?:=[\w.,+-]+)?)"
_WARNING = rf"-W(?:{_FEATURE}(?:=[\w+-]+)?)?"  # no comma: -Wl, -Wa and -Wp hand flags on
#: What begins the names of -f options that load, write or name files.
_FILES = """
    plugin pass-plugin dump profile branch-probabilities auto-profile save- opt-info stack-usage callgraph
    diagnostics-format diagnostics-add test-coverage record compare-debug use-ld sanitize-coverage time-trace
    module pch instrument lto deps proc-stat crash-diagnostics
"""
_OPTION = rf"-f(?!(?:no-)?(?:{'|'.join(_FILES.split())})){_FEATURE}(?:=[\w,+-]+)?|-fmacro-prefix-map=[^@]*"

PREPROCESSING = re.compile(rf"{_COMMON}|{_WARNING}|{_OPTION}")
COMPILING = re.compile(
    rf"{_COMMON}|{_WARNING}|{_OPTION}|-O\w*|-g[\w-]*|-pthread|-pipe|-nostdlib"
    r"|--param=[\w=-]+|-l[\w.+-]+"
)


class _FlagRule(NamedTuple):
    """Flags that are left out: `flags` matches the whole word, `values` words follow it."""

    flags: re.Pattern[str]
    why: str
    values: int = 0


def _rule(flags: str, why: str, values: int = 0) -> _FlagRule:
    return _FlagRule(re.compile(flags), why, values)


_WRITES = "it writes files beside the objects"
_DEPENDENCIES = "dependencies are recorded without it"
_LINKER = "it is for the linker, which links a component here as the host kernel needs it"
_TARGET = "the host kernel runs on this workstation, with its compiler and headers"
_PRINTS = "what the compiler prints is read"
_RULES = (
    _rule(r"-fstack-usage|-fcallgraph-info(?:=.*)?|-save-temps(?:=.*)?|--save-temps|-gsplit-dwarf", _WRITES),
    _rule(r"-fdump-[\w-]+|-fopt-info[\w-]*|-fsave-optimization-record|-ftime-trace|-da", _WRITES),
    _rule(r"-f(?:no-)?record-(?:gcc-switches|command-line)|-frecord-gcc-switches", _WRITES),
    _rule(r"-M(?:M?D|P|G|M?|no-modules)", _DEPENDENCIES),
    _rule(r"-M[FTQ]", _DEPENDENCIES, 1),
    _rule(r"-M[FTQ].+|-Wp,-M.*", _DEPENDENCIES),
    _rule(
        r"-f(?:no-)?lto(?:-[\w-]+)?(?:=[\w-]+)?|-f(?:no-)?fat-lto-objects", "each file is compiled by itself"
    ),
    _rule(
        r"-f(?:file|debug|profile|coverage|canon)-prefix-map=.*|-fdebug-compilation-dir=.*",
        "places are shown as they are",
    ),
    _rule(
        r"--coverage|-fprofile-arcs|-ftest-coverage|-fprofile-generate|-pg|-p",
        "it makes the program write files",
    ),
    _rule(r"-Wl,.*|-L.+|-static(?:-[\w+-]+)?|-shared(?:-[\w+-]+)?|-(?:no-)?pie|-rdynamic|-s|-r", _LINKER),
    _rule(r"-nostartfiles|-nodefaultlibs|-nolibc|-fuse-ld=.*|-Wl|--build-id(?:=.*)?|-static-libgcc", _LINKER),
    _rule(r"-Xlinker|-L|-T|-z|-u|-e", _LINKER, 1),
    _rule(r"-Wa,.*|-Wp,.*", "it is for another program that the compiler starts"),
    _rule(
        r"-X(?:assembler|preprocessor|clang)|-mllvm", "it is for another program that the compiler starts", 1
    ),
    _rule(r"--target=.*|--sysroot=.*|--gcc-toolchain=.*|-specs=.*|--specs=.*|-isysroot=.*", _TARGET),
    _rule(r"-target|--sysroot|-isysroot|-arch", _TARGET, 1),
    _rule(
        r"-v|--verbose|-H|-Q|-time|-ftime-report|-fmem-report|-fdiagnostics-format=.*|-fproc-stat-report",
        _PRINTS,
    ),
)
_MACHINE = re.compile(r"-m.+")
_NOT_THIS_MACHINE = "the compiler of this workstation's processor does not have it"


class Sifted(NamedTuple):
    """Flags by what becomes of them: `used`, `left_out` with the reason, and `refused`."""

    used: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...]
    refused: tuple[str, ...]


def sifted(
    flags: Sequence[str], allowed: re.Pattern[str], accepts: Callable[[str], bool] = lambda _: True
) -> Sifted:
    """Sort `flags` of which those that are `allowed` (PREPROCESSING or COMPILING) are used; those of a
    processor only where the workstation's compiler `accepts` them."""
    used: list[str] = []
    left: list[tuple[str, str]] = []
    refused: list[str] = []
    words = [flag for flag in flags if flag]
    position = 0
    while position < len(words):
        flag = words[position]
        rule = next((each for each in _RULES if each.flags.fullmatch(flag)), None)
        takes = rule.values if rule is not None else int(flag in _WITH_VALUE)
        value = words[position + 1 : position + 1 + takes]
        position += 1 + takes
        # compilers put the words of the file in place of @file, wherever it stands; a flag without its value
        # would take the next word of the command
        if any(word.startswith("@") for word in (flag, *value)) or len(value) < takes:
            refused += (flag, *value)
        elif rule is not None:
            left.append((" ".join((flag, *value)), rule.why))
        elif _MACHINE.fullmatch(flag) and allowed.fullmatch(flag) and not accepts(flag):
            left.append((flag, _NOT_THIS_MACHINE))
        elif takes or flag.startswith(_WITH_VALUE) or allowed.fullmatch(flag):
            used += (flag, *value)
        else:
            refused.append(flag)
    return Sifted(tuple(used), tuple(left), tuple(refused))
