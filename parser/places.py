# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The positions between items: which items are allowed there, and how they are written."""

from __future__ import annotations

from typing import NamedTuple


class SyntaxPlace(NamedTuple):
    """A place between items: how the block is called, the words an item of it begins with."""

    name: str
    sign: frozenset[str]  # terminals that can stand there and nowhere else
    words: tuple[str, ...]


_FILE_WORDS = (
    *("assembly", "component", "composition", "configuration"),
    *("connector", "import", "procedure", "struct"),
)
_COMPONENT_WORDS = (
    *("attribute", "composition", "configuration", "consumes", "control", "criticality_control"),
    *("dataport", "emits"),
    *("hardware", "has", "include", "maybe", "provides", "requestor", "uses"),
)
PLACES = (
    SyntaxPlace("a file", frozenset({"IMPORT", "ASSEMBLY"}), _FILE_WORDS),
    SyntaxPlace("a component", frozenset({"USES", "COMPOSITION"}), _COMPONENT_WORDS),
    SyntaxPlace(
        "a composition", frozenset({"CONNECTION", "GROUP"}), ("component", "connection", "export", "group")
    ),
    SyntaxPlace("an assembly", frozenset({"SCHEDULE_WORD"}), ("composition", "configuration", "schedule")),
    SyntaxPlace("a procedure", frozenset({"VOID", "INCLUDE"}), ()),
    SyntaxPlace("a connector", frozenset({"FROM", "TO", "RBRACE"}), ("from", "to", "attribute")),
    SyntaxPlace("a group", frozenset({"COMPONENT", "RBRACE"}), ("component",)),
    SyntaxPlace("a struct", frozenset({"INT", "RBRACE"}), ()),
    SyntaxPlace("a configuration", frozenset({"NAME", "RBRACE"}), ()),
)
ITEM_HELP = {
    "a procedure": "a method is written `TYPE name(PARAMETERS);`, without a result `void name(PARAMETERS);`",
    "a struct": "a member is written `TYPE name;`",
    "a configuration": "a setting is written `INSTANCE.ATTRIBUTE = VALUE;`",
}
