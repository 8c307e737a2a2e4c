# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The examples of pages of `camkes explain`, and the statements that they consist of."""

from __future__ import annotations

import re
from typing import NamedTuple

from camkes.diagnostics import explain

#: A statement ends with `;`, or with the brace that ends its block.
_BLOCKS = (
    "component",
    "procedure",
    "struct",
    "connector",
    "assembly",
    "composition",
    "configuration",
    "group",
)
#: What stands in a component.
_ITEMS = {
    "provides",
    "uses",
    "emits",
    "consumes",
    "dataport",
    "has",
    "attribute",
    "control",
    "include",
    "maybe",
}


class Block(NamedTuple):
    """A block of a page."""

    language: str
    text: str


def blocks(code: str) -> list[Block]:
    page = next(explain.explanation(each) for each in explain.all_codes() if each.number == code)
    return [
        Block(*each) for each in re.findall(r"^```(\w*)[^\n]*\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    ]


def statements(text: str) -> dict[str, list[str]]:
    """The statements of an example by where they belong: out, in, set (the composition's, settings), own (of
    a component)."""
    found: dict[str, list[str]] = {"out": [], "in": [], "set": [], "own": []}
    depth, current = 0, ""
    for character in re.sub(r"//[^\n]*|^\.\.\.$", "", text, flags=re.MULTILINE):
        current += character
        depth += {"{": 1, "}": -1}.get(character, 0)
        block = current.split()[:1] and current.split()[0] in _BLOCKS and character == "}"
        if depth == 0 and (character == ";" or block):
            found[place(current.strip())].append(current.strip())
            current = ""
    if current.strip():
        found["out"].append(current.strip())
    return found


def place(statement: str) -> str:
    word = re.split(r"[\s;]", statement)[0]
    if word in _ITEMS:
        return "own"
    if word in ("connection", "group") or re.match(r"component \w+ \w+;", statement):
        return "in"
    if word == "configuration":
        return "set"
    return "set" if re.match(r"[\w.]+\s*(=|<-)", statement) else "out"
