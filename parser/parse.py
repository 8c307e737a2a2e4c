# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`parse`: a source file -> its syntax tree.

An LALR parser over the tables of camkes.lark. At a syntax error it reports the error, corrects the text
in its mind if a small change does it, or else leaves out the broken item, and goes on.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from camkes.diagnostics import Diagnostic, Sink, SourceFile, Span
from camkes.parser import ast
from camkes.parser.build import Builder
from camkes.parser.damage import Damage
from camkes.parser.lexer import Tokens, tokenise
from camkes.parser.positions import ParsedText
from camkes.parser.tables import END, Rule, Tables, load

if TYPE_CHECKING:
    from typing import Any, TypeAlias, TypeVar

    from camkes.parser.recovery import Recovery

    T = TypeVar("T")

# What the preprocessor may act on: a directive, or the name of a predefined macro.
_MAY_CHANGE = re.compile(
    r"#|\b(?:_[_A-Z]\w*|linux|unix|i386|arm|mips|sun|vax|hpux|sparc|powerpc|PPC|R[34]000)\b"
)


class ParseOptions(Struct, frozen=True, kw_only=True):
    """How files are read.

    `cpp` is the C preprocessor's command; `cpp_flags` are the user's (-D, -I, ...), as they are. With
    `partial`, as an editor wants it, a file with errors gives a tree of what could be understood of it.
    """

    preprocess: bool = True
    cpp: str = "cpp"
    cpp_flags: tuple[str, ...] = ()
    include_path: tuple[Path, ...] = ()
    partial: bool = False

    def all_flags(self) -> list[str]:
        """The preprocessor's arguments."""
        return [*self.cpp_flags, *(f"-I{folder}" for folder in self.include_path)]


def parse(source: SourceFile, sink: Sink, *, options: ParseOptions | None = None) -> ast.File | None:
    """The tree of a file, or None if it has errors; they are in the sink then. See `ParseOptions.partial`."""
    options = options or ParseOptions()
    problems = Sink()
    text: ParsedText | None = ParsedText.of(source)
    read: tuple[SourceFile, ...] = (source,)
    if not is_plain(source, options):
        from camkes.parser.preprocess import preprocess

        text, read = preprocess(source, problems, options.cpp, options.all_flags())
    items: tuple[Any, ...] | None = None
    damage: list[Span] = []
    whole = False
    if text is not None:
        tables = _tables()
        tokens = tokenise(text, tables, problems)
        removed = _without_stray_braces(tables, tokens, problems)
        parser = Parser(tables, tokens, problems, options.partial)
        for offset in removed:
            parser.damage.add_offset(offset)
        items = _without_collector(parser.run)
        if parser.builder.too_deep:  # whoever walks such a tree falls
            items = None
        if problems.has_errors:
            damage += parser.damage.spans()
            whole = items is not None and parser.damage.is_within_blocks()
    for problem in problems.diagnostics:
        sink.add(problem)
        damage += [problem.span] if problem.span is not None else []
    if items is not None and not problems.has_errors:
        return ast.File(source, items, read)
    return ast.File(source, items or (), read, tuple(damage), whole) if options.partial else None


class ParsedFiles:
    """The trees of files, which are used again while their texts are the same. For readers that read a
    program again and again."""

    def __init__(self, others: ParsedFiles | None = None) -> None:
        """`others`: trees that are used too, where they fit."""
        self._others = others
        self._known: dict[Path, tuple[SourceFile, ParseOptions, ast.File | None, tuple[Diagnostic, ...]]] = {}

    def parse(self, source: SourceFile, sink: Sink, options: ParseOptions) -> ast.File | None:
        """As `parse` does. A file that was parsed before keeps its `SourceFile`."""
        known = self._known.get(source.path)
        if known is None and self._others is not None:
            known = self._others._known.get(source.path)
        if known is None or known[0].text != source.text or known[1] != options:
            if not is_plain(source, options):  # other files have a part in it
                return parse(source, sink, options=options)
            own = Sink()
            tree = parse(source, own, options=options)
            known = self._known[source.path] = source, options, tree, own.diagnostics
        known[0].included_from = source.included_from
        for diagnostic in known[3]:
            sink.add(diagnostic)
        return known[2]


def _without_stray_braces(tables: Tables, tokens: Tokens, sink: Sink) -> list[int]:
    """Report braces that are clearly too many and take them out; returns their offsets."""
    excess = tokens.kinds.count("RBRACE") - tokens.kinds.count("LBRACE")
    if excess == 0:
        return []
    from camkes.parser.braces import remove_doubled_opening, remove_stray_braces

    if excess < 0:
        doubled = remove_doubled_opening(tokens, sink)
        return [] if doubled is None else [doubled]
    stopped = _without_collector(lambda: Parser(tables, tokens, Sink()).advance(0))
    return remove_stray_braces(tokens, stopped, sink)


def is_plain(source: SourceFile, options: ParseOptions) -> bool:
    """Whether it is the file's own text that is parsed."""
    return not options.preprocess or not needs_preprocessor(source.text, options.cpp_flags)


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


def _without_collector(run: Callable[[], T]) -> T:
    """Run without garbage collection: a tree has no cycles, and looking for some takes longer than it."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        return run()
    finally:
        if enabled:
            gc.enable()


@lru_cache(maxsize=1)
def _tables() -> Tables:
    return load()


# Head, length, the builder's method (None: a list of the children), shape (None: as it is), spliced.
_Step: TypeAlias = "tuple[str, int, Callable[..., Any] | None, tuple[int | None, ...] | None, frozenset[int]]"


@lru_cache(maxsize=1)
def _steps() -> list[_Step]:
    """The rules in the form that is quickest to apply, at the negative indices of their reductions."""
    return [_step(rule) for rule in reversed(_tables().rules)]


def _step(rule: Rule) -> _Step:
    shape = None if rule.shape == tuple(range(rule.length)) and not rule.spliced else rule.shape
    build: Callable[..., Any] | None = None
    if rule.action == "":
        build = _only
    elif rule.action != "[]":
        build = getattr(Builder, rule.action)
    return rule.head, rule.length, build, shape, rule.spliced


def _only(builder: Builder, first: int, last: int, child: Any) -> Any:
    return child


class Parser:
    """One run over the tokens of a file. With `partial` the end of the text closes all blocks."""

    def __init__(self, tables: Tables, tokens: Tokens, sink: Sink, partial: bool = False) -> None:
        self.partial = partial
        self.tables = tables
        self.tokens = tokens
        self.sink = sink
        self.damage = Damage(tokens)
        self.builder = Builder(tokens, sink, self.damage)
        self.states = [tables.start]
        self.values: list[Any] = []
        self.firsts: list[int] = []  # the first token of each value

    def run(self) -> tuple[Any, ...] | None:
        """The items of the file; those that could be understood, where there are errors."""
        recovery: Recovery | None = None
        position = 0
        while True:
            stopped = self.advance(position)
            if stopped is None:
                result: tuple[Any, ...] = self.values[-1]
                return result
            if recovery is None:
                from camkes.parser.recovery import Recovery

                recovery = Recovery(self)
            resume = recovery.recover(stopped)
            if resume is None:
                return None
            position = resume

    def advance(self, position: int) -> int | None:
        """Parse from a token on: to the end (None), or to the token that cannot stand where it stands."""
        tables, tokens = self.tables, self.tokens
        contextual, passing = tables.contextual, tables.passing
        kinds, builder = tokens.kinds, self.builder
        rows, steps = tables.rows, _steps()
        states, values, firsts = self.states, self.values, self.firsts
        while True:
            kind = kinds[position]
            row = rows[states[-1]]
            if kind == "NAME":
                word = contextual.get(tokens.word(position))
                if word is not None and word in row:
                    kind = word
            action = row.get(kind)
            while action is not None and action < 0:
                head, length, build, shape, spliced = steps[action]
                if length:
                    first = firsts[-length]
                    children = values[-length:]
                    del states[-length:], values[-length:], firsts[-length:]
                else:
                    first, children = position, []
                if shape is not None:
                    children = _collect(children, shape, spliced)
                values.append(build(builder, first, position - 1, *children) if build else children)
                firsts.append(first)
                base = rows[states[-1]]
                state = base[head]
                if state == tables.end and kind == END:
                    return None
                action = rows[state].get(kind)
                while action in passing:
                    state = base[passing[action]]
                    action = rows[state].get(kind)
                states.append(state)
            if action is None:
                return position
            states.append(action)
            values.append(position)
            firsts.append(position)
            position += 1


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
