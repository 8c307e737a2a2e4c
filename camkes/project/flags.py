# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Compiler flags that a folder may set: none that start programs or write files.

Compilers have too many flags to list the harmful ones, so the harmless ones are listed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Flags whose value is a word of its own, or follows at once.
_WITH_VALUE = ("-D", "-U", "-I", "-include", "-imacros", "-isystem", "-iquote", "-idirafter", "-isysroot")

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
_OPTION = rf"-f(?!(?:no-)?(?:{'|'.join(_FILES.split())})){_FEATURE}(?:=[\w,+-]+)?"

PREPROCESSING = re.compile(rf"{_COMMON}|{_WARNING}|{_OPTION}")
COMPILING = re.compile(
    rf"{_COMMON}|{_WARNING}|{_OPTION}|-O\w*|-g[\w-]*|-pthread|-pipe|-nostdlib"
    r"|--param=[\w=-]+|-l[\w.+-]+"
)


def sifted(flags: Sequence[str], allowed: re.Pattern[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The `flags` that are `allowed` (PREPROCESSING or COMPILING), and the others."""
    good: list[str] = []
    bad: list[str] = []
    value_follows = False
    for flag in flags:
        if flag.startswith("@"):  # compilers put the words of a file in its place, wherever it stands
            if value_follows:
                bad.append(good.pop())
            bad.append(flag)
            value_follows = False
            continue
        if value_follows or flag.startswith(_WITH_VALUE) or allowed.fullmatch(flag):
            good.append(flag)
        elif flag:
            bad.append(flag)
        value_follows = not value_follows and flag in _WITH_VALUE
    if value_follows:  # or the next word of the command would be its value
        bad.append(good.pop())
    return tuple(good), tuple(bad)
