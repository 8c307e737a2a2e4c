# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Reads a command line that is plain and right, without argparse, whose import takes as long as all checks.

What a command understands is declared once, in argparse's own words, to whichever of the two reads it. Here
an option is written in full, and everything that is not plain is None: argparse then reads the line, or
says what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace as Arguments

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol

    class Declarations(Protocol):
        """What a command understands: a parser of argparse, a group of it, or a `Reader`."""

        def add_argument(self, *names: str, **settings: Any) -> Any: ...

        def add_argument_group(self, title: str) -> Declarations: ...


__all__ = ["Arguments", "read"]


_UNSAID: Any = object()


class _NotPlain(Exception):  # noqa: N818
    """Here argparse is needed."""


def read(words: Sequence[str], declare: Callable[[Declarations], None]) -> Arguments | None:
    """The values of what `declare` declares, or None for argparse to read the words."""
    reader = _Reader()
    try:
        declare(reader)
        return reader.read(words)
    except _NotPlain:
        return None


class _Option:
    """An option, or the one argument that is none."""

    __slots__ = ("action", "choices", "default", "dest", "type")

    def __init__(
        self,
        names: tuple[str, ...],
        action: str = "store",
        dest: str | None = None,
        default: Any = _UNSAID,
        type: Callable[[str], Any] | None = None,
        choices: Iterable[str] | None = None,
        nargs: str | None = None,
        metavar: str | None = None,
        help: str | None = None,
    ) -> None:
        if nargs is not None:
            raise _NotPlain
        long = next((name for name in names if name.startswith("--")), names[0])
        self.dest = dest or long.lstrip("-").replace("-", "_")
        self.action = action
        self.type = type
        self.choices = choices
        if default is _UNSAID:
            default = {"store_true": False, "store_false": True}.get(action)
        self.default = self.value(default) if isinstance(default, str) else default

    def value(self, word: str) -> Any:
        try:
            value = word if self.type is None else self.type(word)
        except Exception:  # argparse knows which of them are mistakes of the user
            raise _NotPlain from None
        if self.choices is not None and value not in self.choices:
            raise _NotPlain
        return value


class _Reader:
    def __init__(self) -> None:
        self.options: dict[str, _Option] = {}
        self.positional: list[_Option] = []

    def add_argument(self, *names: str, **settings: Any) -> None:
        option = _Option(names, **settings)
        if names[0].startswith("-"):
            self.options.update(dict.fromkeys(names, option))
        else:
            self.positional.append(option)

    def add_argument_group(self, title: str) -> _Reader:
        return self

    def read(self, words: Sequence[str]) -> Arguments:
        options = self.options
        values = {o.dest: o.default for o in reversed((*self.positional, *options.values()))}
        rest = iter(words)
        given = 0
        for word in rest:
            if not word.startswith("-"):
                if given == len(self.positional):
                    raise _NotPlain
                values[self.positional[given].dest] = self.positional[given].value(word)
                given += 1
                continue
            name, equals, text = word.partition("=")
            if word in options:
                name, equals, text = word, "", ""
            elif name not in options and not word.startswith("--"):  # -DNAME
                name, equals, text = word[:2], "=", word[2:]
            option = options.get(name)
            if option is None:
                raise _NotPlain
            if option.action in ("store_true", "store_false"):
                if equals:
                    raise _NotPlain
                values[option.dest] = option.action == "store_true"
                continue
            if not equals:
                text = next(rest, "")
                if text.startswith("-"):
                    raise _NotPlain
            if not text:
                raise _NotPlain
            value = option.value(text)
            values[option.dest] = [*values[option.dest], value] if option.action == "append" else value
        if given != len(self.positional):
            raise _NotPlain
        return Arguments(**values)
