# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The parse tables of camkes.lark.

Lark analyses the grammar once; the tables are kept in tables.json beside it, under the checksum of
the grammar, so that a start of the tool neither imports lark nor analyses anything. A missing or stale file
is made anew. `python -m camkes.parser.tables` does that at set-up.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple

GRAMMAR = Path(__file__).with_name("camkes.lark")
STORED = Path(__file__).with_name("tables.json")
END = "$END"
_FORMAT = 2  # of tables.json; part of the checksum


class Rule(NamedTuple):
    """A production: `action` is the name of a method of the builder, "" hands the only child on, and
    "[]" collects the children in a list that the parent splices into its own.

    `shape` says what of the right side becomes a child: an index, or None for an optional part that is
    absent. `spliced` are the indices among them whose value is such a list.
    """

    head: str
    length: int
    action: str
    shape: tuple[int | None, ...]
    spliced: frozenset[int]


class Tables(NamedTuple):
    """What the parser runs on.

    A row maps a terminal to what to do there (a state to go to, or -(N + 1) to reduce rule N), and a
    nonterminal to the state after it.
    """

    rows: list[dict[str, int]]
    rules: list[Rule]
    start: int
    end: int
    passing: dict[int | None, str]  # reductions that hand the only child of one symbol on -> the head
    words: dict[str, str]  # reserved word -> terminal
    contextual: dict[str, str]  # contextual word -> terminal
    symbols: dict[str, str]  # operator or punctuation -> terminal
    patterns: dict[str, str]  # NAME, NUMBER, STRING, ANGLE -> regular expression


def load() -> Tables:
    """The tables of the grammar as it is now."""
    grammar = GRAMMAR.read_bytes()
    digest = f"{_FORMAT} {len(grammar)} {zlib.crc32(grammar):08x}"
    data: dict[str, Any] | None = None
    try:
        data = json.loads(STORED.read_bytes())
    except (OSError, ValueError):
        data = None
    if not isinstance(data, dict) or data.get("grammar") != digest:
        data = {"grammar": digest, **_analyse(grammar.decode())}
        _store(data)
    rules = [
        Rule(head, length, action, tuple(shape), frozenset(spliced))
        for head, length, action, shape, spliced in data["rules"]
    ]
    return Tables(
        data["rows"],
        rules,
        data["start"],
        data["end"],
        {
            -(number + 1): rule.head
            for number, rule in enumerate(rules)
            if rule.action == "" and rule.length == 1
        },
        data["words"],
        data["contextual"],
        data["symbols"],
        data["patterns"],
    )


def _store(data: dict[str, Any]) -> None:
    """Write the file in one step. Where that is not possible, the next start analyses again."""
    temporary = STORED.with_name(f"{STORED.name}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps(data, separators=(",", ":")))
        temporary.replace(STORED)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _analyse(grammar: str) -> dict[str, Any]:
    """Run lark on the grammar and take its tables in the form of tables.json."""
    from lark import Lark
    from lark.lexer import PatternStr
    from lark.parsers.lalr_analysis import Shift

    lark = Lark(grammar, parser="lalr", lexer="basic")
    table = lark.parser.parser._parse_table
    rules = sorted(lark.rules, key=lambda rule: (rule.origin.name, rule.order, str(rule)))
    numbers = {rule: number for number, rule in enumerate(rules)}
    states = [table.start_states["start"]]  # in the order in which they are reached: the same each time
    for state in states:
        for _, (action, target) in sorted(table.states[state].items(), key=lambda entry: entry[0]):
            if action is Shift and target not in states:
                states.append(target)
    order = {state: number for number, state in enumerate(states)}
    rows = [
        {
            symbol: order[target] if action is Shift else -(numbers[target] + 1)
            for symbol, (action, target) in sorted(table.states[state].items(), key=lambda entry: entry[0])
        }
        for state in states
    ]
    words: dict[str, str] = {}
    contextual: dict[str, str] = {}
    symbols: dict[str, str] = {}
    patterns: dict[str, str] = {}
    for terminal in lark.terminals:
        text = terminal.pattern.value
        if not isinstance(terminal.pattern, PatternStr):
            patterns[terminal.name] = text
        elif terminal.name.endswith("_WORD"):
            contextual[text] = terminal.name
        elif text.isidentifier():
            words[text] = terminal.name
        else:
            symbols[text] = terminal.name
    return {
        "rows": rows,
        "rules": [_rule(rule) for rule in rules],
        "start": 0,
        "end": order[table.end_states["start"]],
        "words": words,
        "contextual": contextual,
        "symbols": symbols,
        "patterns": patterns,
    }


def _rule(rule: Any) -> list[Any]:
    """A production of lark as the fields of a `Rule`."""
    absent = [0] * (len(rule.expansion) + 1)  # how many absent parts stand before each symbol
    position = 0
    for empty in rule.options.empty_indices or ():
        if empty:
            absent[position] += 1
        else:
            position += 1
    shape: list[int | None] = []
    spliced = []
    for index, symbol in enumerate(rule.expansion):
        shape += [None] * absent[index]
        if symbol.is_term and symbol.filter_out:
            continue
        shape.append(index)
        if not symbol.is_term and symbol.name.startswith("_"):
            spliced.append(index)
    shape += [None] * absent[-1]
    action = rule.alias or rule.origin.name
    if rule.origin.name.startswith("_"):
        action = "[]"
    elif rule.options.expand1 and not rule.alias and len(shape) == 1 and not spliced:
        action = ""
    return [rule.origin.name, len(rule.expansion), action, shape, spliced]


if __name__ == "__main__":
    load()
