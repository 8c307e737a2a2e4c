# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The parse tables of camkes.lark.

Lark analyses the grammar once; the tables are kept in a file beside it, with the grammar that they are of,
so that a start of the tool neither imports lark nor analyses anything. A missing or stale file is made anew.
`python -m camkes.parser.tables` does that at set-up.
"""

from __future__ import annotations

import marshal
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any

GRAMMAR = Path(__file__).with_name("camkes.lark")
STORED = Path(__file__).with_name("tables.marshal")
END = "$END"
_FORMAT = 5  # of the stored tables


class Rule(NamedTuple):
    """A production: `action` is the name of a method of the builder, "" hands the only child on, and
    "[]" collects the children in a list that the parent splices into its own.

    `shape` is what of the right side becomes a child: an index, or None for an optional part that is
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
    key = (_FORMAT, marshal.version, GRAMMAR.read_bytes())
    data: dict[str, Any] | None = None
    try:
        data = marshal.loads(STORED.read_bytes())
    except (OSError, ValueError, EOFError, TypeError):
        data = None
    if not isinstance(data, dict) or data.get("key") != key:
        data = _shared({"key": key, **_analyse(key[2].decode())}, {})
        keep(STORED, data)
    return Tables(
        rows=data["rows"],
        rules=[Rule(*fields) for fields in data["rules"]],
        start=data["start"],
        end=data["end"],
        passing=data["passing"],
        words=data["words"],
        contextual=data["contextual"],
        symbols=data["symbols"],
        patterns=data["patterns"],
    )


def _shared(data: Any, numbers: dict[int, int]) -> Any:
    """The same data, in which equal texts and numbers are one object. What marshal writes depends on that,
    and which of them lark shares differs from run to run."""
    if isinstance(data, dict):
        return {_shared(key, numbers): _shared(value, numbers) for key, value in data.items()}
    if isinstance(data, list | tuple | frozenset):
        return type(data)(_shared(item, numbers) for item in data)
    if isinstance(data, int):
        return numbers.setdefault(data, data)
    return sys.intern(data) if isinstance(data, str) else data


def keep(file: Path, data: Any) -> None:
    """Write what was made to a file in one step. Where that fails, the next start makes it again."""
    temporary = file.with_name(f"{file.name}.{os.getpid()}")
    try:
        temporary.write_bytes(marshal.dumps(data))
        temporary.replace(file)
    except OSError:
        if temporary.exists():
            temporary.unlink()


def _analyse(grammar: str) -> dict[str, Any]:
    """Run lark on the grammar and take its tables."""
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
            str(symbol): order[target] if action is Shift else -(numbers[target] + 1)
            for symbol, (action, target) in sorted(table.states[state].items(), key=lambda entry: entry[0])
        }
        for state in states
    ]
    words: dict[str, str] = {}
    contextual: dict[str, str] = {}
    symbols: dict[str, str] = {}
    patterns: dict[str, str] = {}
    for terminal in lark.terminals:
        text, name = str(terminal.pattern.value), str(terminal.name)
        if not isinstance(terminal.pattern, PatternStr):
            patterns[name] = text
        elif name.endswith("_WORD"):
            contextual[text] = name
        elif text.isidentifier():
            words[text] = name
        else:
            symbols[text] = name
    found = [_rule(rule) for rule in rules]
    return {
        "rows": rows,
        "rules": found,
        "passing": {
            -(number + 1): head
            for number, (head, length, action, *_) in enumerate(found)
            if action == "" and length == 1
        },
        "start": 0,
        "end": order[table.end_states["start"]],
        "words": words,
        "contextual": contextual,
        "symbols": symbols,
        "patterns": patterns,
    }


def _rule(rule: Any) -> tuple[Any, ...]:
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
    return str(rule.origin.name), len(rule.expansion), str(action), tuple(shape), frozenset(spliced)


if __name__ == "__main__":
    load()
