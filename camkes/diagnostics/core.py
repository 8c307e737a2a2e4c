# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Source files, spans, diagnostics, codes.

Every layer reports a user's mistake by adding a `Diagnostic` to a `Sink`. Nothing is raised for a
mistake of the user, so that one run reports all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from camkes.visible import visible, visible_line


class Severity(Enum):
    """How bad a diagnostic is. Only an ERROR makes a run fail."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class SourceFile:
    """A file of the user, as it is on disk. Compared by identity: a run reads each file once."""

    __slots__ = ("_lines", "expansions", "included_from", "path", "text")

    def __init__(self, path: Path, text: str, included_from: Span | None = None) -> None:
        """`included_from` is the import or #include that first brought this file in."""
        self.path = path
        self.text = text
        self.included_from = included_from
        self.expansions: list[Expansion] = []  # in the order of the text
        self._lines: list[str] | None = None

    @property
    def lines(self) -> Sequence[str]:
        """The lines of the file without their line ends; line N of the file is `lines[N - 1]`."""
        if self._lines is None:
            self._lines = self.text.split("\n")
        return self._lines

    def __repr__(self) -> str:
        return f"SourceFile({str(self.path)!r})"


class Span(NamedTuple):
    """A range in a user's file. Lines and columns count from 1, in characters; the end is exclusive."""

    file: SourceFile
    line: int
    column: int
    end_line: int
    end_column: int

    def to(self, other: Span) -> Span:
        """From the start of this span to the end of `other` (this span, if that is in another file)."""
        if other.file is not self.file or (other.end_line, other.end_column) < (self.line, self.column):
            return self
        return Span(self.file, self.line, self.column, other.end_line, other.end_column)

    def overlaps(self, other: Span) -> bool:
        """Whether the two have a place in common."""
        return self == other or (
            self.file is other.file
            and (self.line, self.column) < (other.end_line, other.end_column)
            and (other.line, other.column) < (self.end_line, self.end_column)
        )


class Expansion(NamedTuple):
    """A place where a macro stands, and the line that defines it. All that it makes has this place."""

    use: Span
    macro: str
    definition: Span

    def label(self) -> Label:
        """The place of the macro for an error in its expansion."""
        return Label(self.definition, f"in the expansion of macro `{self.macro}`, which is defined here")


class Code(Struct, frozen=True):
    """A kind of diagnostic.

    `number` is stable and public ("E0501", "W0502"); the first letter is its severity. `name` is a
    short kebab-case name. `pages/NUMBER.md` explains it.
    """

    number: str
    name: str

    @property
    def severity(self) -> Severity:
        return {"E": Severity.ERROR, "W": Severity.WARNING, "N": Severity.NOTE}[self.number[0]]


class Label(NamedTuple):
    """A place with a word about it."""

    span: Span
    text: str


class Diagnostic(Struct, frozen=True):
    """A message for the user.

    `message` is what is wrong, in one line. `label` is the word under the underlined text.
    `related` are other places that matter, in reading order (for a cycle: one a hop). `notes` are the
    reasons. `help` is what to write instead. `is_walk`: `span` and `related` are the steps of a walk.
    """

    code: Code
    message: str
    span: Span | None = None
    label: str = ""
    related: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""
    is_walk: bool = False

    @property
    def severity(self) -> Severity:
        return self.code.severity


class Sink(Struct):
    """Collects the diagnostics of one run. A repeated diagnostic (same code, place, message) counts once."""

    _seen: dict[tuple[str, Span | None, str], Diagnostic] = field(default_factory=dict)

    def add(self, diagnostic: Diagnostic) -> None:
        diagnostic = _visible(_with_macro(diagnostic))
        self._seen.setdefault((diagnostic.code.number, diagnostic.span, diagnostic.message), diagnostic)

    def report(
        self,
        code: Code,
        message: str,
        span: Span | None = None,
        label: str = "",
        *,
        related: Iterable[Label] = (),
        notes: Iterable[str] = (),
        help: str = "",
    ) -> None:
        """Add a diagnostic made of these parts."""
        self.add(Diagnostic(code, message, span, label, tuple(related), tuple(notes), help))

    def drop(self, code: Code) -> None:
        """Forget the diagnostics of a kind: those that follow from others repeat them."""
        self.keep(lambda each: each.code is not code)

    def keep(self, wanted: Callable[[Diagnostic], bool]) -> None:
        """Forget all others."""
        self._seen = {key: each for key, each in self._seen.items() if wanted(each)}

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All of them in the order they were added."""
        return tuple(self._seen.values())

    @property
    def has_errors(self) -> bool:
        return any(d.severity is Severity.ERROR for d in self._seen.values())


def _visible(diagnostic: Diagnostic) -> Diagnostic:
    """Names, paths and messages of other programs are in the texts. What is on one line stays on one."""
    lines = (diagnostic.message, diagnostic.label, *(label.text for label in diagnostic.related))
    if all(map(str.isprintable, (*lines, *diagnostic.notes, diagnostic.help))):
        return diagnostic
    return replace(
        diagnostic,
        message=visible_line(diagnostic.message),
        label=visible_line(diagnostic.label),
        related=tuple(Label(span, visible_line(text)) for span, text in diagnostic.related),
        notes=tuple(map(visible, diagnostic.notes)),
        help=visible(diagnostic.help),
    )


def _with_macro(diagnostic: Diagnostic) -> Diagnostic:
    """A mistake in what a macro became also shows the macro."""
    span = diagnostic.span
    for expansion in () if span is None else span.file.expansions:
        if span == expansion.use:
            label = expansion.label()
            if label in diagnostic.related:
                return diagnostic
            return replace(diagnostic, related=(*diagnostic.related, label))
    return diagnostic
