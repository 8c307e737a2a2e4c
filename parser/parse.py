# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`parse`: a source file -> its syntax tree.

An LALR parser over the tables of camkes.lark. At a syntax error it says what is wrong, mends the text
in its mind if a small change does it, or else leaves out the broken item, and goes on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from camkes.diagnostics import Sink, SourceFile
from camkes.parser import ast
from camkes.parser.build import Builder
from camkes.parser.lexer import Tokens, tokenise
from camkes.parser.positions import Text
from camkes.parser.tables import END, Tables, load

# What the preprocessor may act on: a directive, or the name of a predefined macro.
_MAY_CHANGE = re.compile(
    r"#|\b(?:_[_A-Z]\w*|linux|unix|i386|arm|mips|sun|vax|hpux|sparc|powerpc|PPC|R[34]000)\b"
)


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """How files are read.

    `cpp` is the C preprocessor's command; `cpp_flags` are the user's (-D, -I, ...), as they are.
    """

    preprocess: bool = True
    cpp: str = "cpp"
    cpp_flags: tuple[str, ...] = ()
    include_path: tuple[Path, ...] = ()


def parse(source: SourceFile, sink: Sink, *, options: ParseOptions | None = None) -> ast.File | None:
    """The tree of a file, or None if it has errors; they are in the sink then."""
    options = options or ParseOptions()
    problems = Sink()
    text: Text | None = Text.of(source)
    read: tuple[SourceFile, ...] = (source,)
    if options.preprocess and needs_preprocessor(source.text, options.cpp_flags):
        from camkes.parser.preprocessor import preprocess

        text, read = preprocess(source, problems, options)
    items: tuple[Any, ...] | None = None
    if text is not None:
        tables = _tables()
        tokens = tokenise(text, tables, problems)
        items = Parser(tables, tokens, problems).run()
    for problem in problems.diagnostics:
        sink.add(problem)
    if items is None or problems.has_errors:
        return None
    return ast.File(source, items, read)


def needs_preprocessor(text: str, flags: Sequence[str]) -> bool:
    """Whether the preprocessor could change the text: most files need no process to be started."""
    names = []
    for number, flag in enumerate(flags, 1):
        if flag.startswith("-D"):
            names.append(re.split(r"[=(]", flag[2:] or "".join(flags[number : number + 1]), maxsplit=1)[0])
        elif flag.startswith("-") and not flag.startswith(("-I", "-U", "-iquote", "-isystem", "-idirafter")):
            return True
    return bool(_MAY_CHANGE.search(text)) or any(
        re.search(rf"\b{re.escape(name)}\b", text) for name in names if name
    )


@lru_cache(maxsize=1)
def _tables() -> Tables:
    return load()


class Parser:
    """One run over the tokens of a file."""

    def __init__(self, tables: Tables, tokens: Tokens, sink: Sink) -> None:
        self.tables = tables
        self.tokens = tokens
        self.sink = sink
        self.builder = Builder(tokens, sink)
        self.states = [tables.start]
        self.values: list[Any] = []
        self.firsts: list[int] = []  # the first token of each value

    def run(self) -> tuple[Any, ...] | None:
        """The items of the file; those that could be understood, where there are errors."""
        from camkes.parser.recovery import Recovery

        recovery: Recovery | None = None
        position = 0
        while True:
            stopped = self.advance(position)
            if stopped is None:
                result: tuple[Any, ...] = self.values[-1]
                return result
            if recovery is None:
                recovery = Recovery(self)
            resume = recovery.recover(stopped)
            if resume is None:
                return None
            position = resume

    def advance(self, position: int) -> int | None:
        """Parse from a token on: to the end (None), or to the token that cannot stand where it stands."""
        tables, tokens = self.tables, self.tokens
        rows, rules, contextual, end_state = tables.rows, tables.rules, tables.contextual, tables.end
        kinds = tokens.kinds
        states, values, firsts = self.states, self.values, self.firsts
        actions = _actions(tables, self.builder)
        while True:
            kind = kinds[position]
            row = rows[states[-1]]
            if kind == "NAME":
                word = contextual.get(tokens.word(position))
                if word is not None and word in row:
                    kind = word
            while True:
                action = row.get(kind)
                if action is None:
                    return position
                if action >= 0:
                    states.append(action)
                    values.append(position)
                    firsts.append(position)
                    break
                rule = rules[-action - 1]
                length = rule.length
                if length:
                    first = firsts[-length]
                    children = values[-length:]
                    del states[-length:], values[-length:], firsts[-length:]
                else:
                    first = position
                    children = []
                name = rule.action
                value: Any
                if name == "":
                    value = children[rule.shape[0]]  # type: ignore[index]
                elif name == "[]":
                    value = _collect(children, rule.shape, rule.spliced)
                elif rule.spliced:
                    value = actions[name](first, position - 1, *_collect(children, rule.shape, rule.spliced))
                else:
                    value = actions[name](
                        first, position - 1, *[None if i is None else children[i] for i in rule.shape]
                    )
                row = rows[states[-1]]
                state = row[rule.head]
                states.append(state)
                values.append(value)
                firsts.append(first)
                if state == end_state and kind == END:
                    return None
                row = rows[state]
            position += 1


def _actions(tables: Tables, builder: Builder) -> dict[str, Callable[..., Any]]:
    return {
        rule.action: getattr(builder, rule.action) for rule in tables.rules if rule.action not in ("", "[]")
    }


def _collect(children: list[Any], shape: tuple[int | None, ...], spliced: frozenset[int]) -> list[Any]:
    """The children, with lists spliced in. The first list is taken over, so that a repetition is linear."""
    result: list[Any] | None = None
    for index in shape:
        child: Any = None if index is None else children[index]
        if index not in spliced:
            if result is None:
                result = []
            result.append(child)
        elif result is None:
            result = child
        else:
            result += child
    return [] if result is None else result
