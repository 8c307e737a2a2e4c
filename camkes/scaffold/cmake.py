# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Where calls stand in the text of a CMakeLists.txt, to add one to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from camkes.scaffold.insertions import Insertion, line_count

_TOKEN = re.compile(
    r"#\[(=*)\[.*?\]\1\]|#[^\n]*|\[(=*)\[.*?\]\2\]|\"(?:\\.|[^\"\\])*\"|\\.|(?P<word>\w+)|(?P<mark>[()])",
    re.DOTALL,
)
_BLOCKS = ("if", "foreach", "while", "function", "macro", "block")


def _calls(text: str) -> Iterator[tuple[str, int, int, int]]:
    """Each call: its name, where it begins and ends, and in how many blocks it is."""
    parentheses = blocks = 0
    name, begin = "", 0
    for token in _TOKEN.finditer(text):
        if token["word"] and parentheses == 0:
            name, begin = token["word"].lower(), token.start()
        elif token["mark"] == "(":
            parentheses += 1
        elif token["mark"] == ")":
            parentheses -= 1
            if parentheses == 0:
                blocks -= name.startswith("end")
                yield name, begin, token.end(), blocks
                blocks += name in _BLOCKS


def word(text: str) -> str:
    """A text as one argument of a call."""
    if re.fullmatch(r"[\w./+-]+", text):
        return text
    return '"' + re.sub(r'([\\"$])', r"\\\1", text) + '"'


def insertion(path: Path, text: str, call: str, before: str) -> Insertion:
    """One more call in the text of a file, in a line of its own: after the last one of the same function, or
    where all of these are in blocks, before the first call of `before`; at the end if there is none."""
    own = call.partition("(")[0].lower()
    calls = list(_calls(text))
    same = [end for name, _, end, blocks in calls if name == own and blocks == 0]
    if same:
        return Insertion(path, line_count(text, same[-1]), f"{call}\n")
    others = [begin for name, begin, _, blocks in calls if name == before.lower() and blocks == 0]
    if others:
        return Insertion(path, text.count("\n", 0, others[0]), f"{call}\n\n")
    return Insertion(path, line_count(text), f"{call}\n")
