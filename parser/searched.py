# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Where a run of the preprocessor looked for files.

It is a program of its own, so whoever notes what a command depends on does not see what it reads. Here the
same questions are asked again, and it is said that it asked no others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from camkes.process import say_only_read

if TYPE_CHECKING:
    from camkes.diagnostics import SourceFile

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
#: What a text may depend on besides files that are included by their names.
_MORE = re.compile(r"__has_\w+|__DATE__|__TIME__|__TIMESTAMP__|#[ \t]*(?:include_next|import|embed)\b")
_HARMLESS = ("-D", "-U", "-I")


def ask_again(files: Sequence[SourceFile], entered: Mapping[tuple[int, int], int], flags: list[str]) -> None:
    """Look for every file that the `files` name, where the preprocessor looks for it with these flags.

    `entered` are the files that it found: (file, line of its #include) -> file, by their numbers. If it may
    have read anything else, nothing is said.
    """
    if not all(flag.startswith(_HARMLESS) and len(flag) > 2 for flag in flags):
        return
    folders = [flag[2:] for flag in flags if flag.startswith("-I")]
    named: set[tuple[int, int]] = set()
    places: set[str] = set()
    for number, file in enumerate(files):
        if _MORE.search(file.text):
            return
        own = os.path.dirname(file.path)  # noqa: PTH120 - many, and most of them in vain
        for include in _INCLUDE.finditer(file.text):
            named.add((number, file.text.count("\n", 0, include.start()) + 1))
            quoted, name = include[1] is not None, include[1] or include[2]
            places |= {os.path.join(place, name) for place in ([own] if quoted else []) + folders}  # noqa: PTH118
    found = {path for path in sorted(places) if os.path.exists(path)}  # noqa: PTH110
    if entered.keys() <= named and all(str(files[number].path) in found for number in entered.values()):
        say_only_read()
