# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Messages of a compiler as diagnostics at the user's lines."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct, field

from camkes.backends.host.codes import COMPILE_ERROR, COMPILE_WARNING
from camkes.diagnostics import Code, Diagnostic, Label, SourceFile, Span

_PLACED = re.compile(
    r"(?P<file>[^:\n]+):(?P<line>\d+):(?:(?P<column>\d+):)? "
    r"(?P<kind>fatal error|error|warning|note): (?P<text>.*)"
)
#: a line of the way to a header, the innermost first
_INCLUDED = re.compile(r"(?:In file included| +) from (?P<file>[^:\n]+):(?P<line>\d+)(?::\d+)?[,:]$")
#: what GCC adds to the first error about a name, without information
_NOISE = re.compile(r"each undeclared identifier is reported only once")


class _Message(Struct):
    code: Code
    text: str
    span: Span | None
    related: list[Label] = field(default_factory=list)


class Sources:
    """Files of the user, each read once."""

    def __init__(self) -> None:
        self._files: dict[Path, SourceFile] = {}

    def span(self, path: Path, line: int, column: int | None = None) -> Span | None:
        """A word of a line (without a column: the whole line), None if there is no such line: linkers name a
        wrong file for code of a header. Compilers count columns in bytes."""
        if path not in self._files:
            try:
                text = path.read_text(encoding="utf-8", errors="replace")
            except OSError:
                return None
            self._files[path] = SourceFile(path, text)
        file = self._files[path]
        if not 0 < line <= len(file.lines):
            return None
        content = file.lines[line - 1].rstrip()
        if column is None:
            start = len(content) - len(content.lstrip()) + 1
            return Span(file, line, start, line, max(start, len(content)) + 1)
        column = len(content.encode()[: column - 1].decode(errors="ignore")) + 1
        word = re.match(r"\w*", content[column - 1 :])
        return Span(file, line, column, line, column + max(1, len(word[0]) if word else 1))

    def word(self, path: Path, line: int, word: str, above: int = 0) -> Span | None:
        """A certain word of a line, or of so many lines above it; the line where they do not have it."""
        whole = self.span(path, line)
        if whole is None:
            return None
        for number in range(line, max(line - above, 1) - 1, -1):
            found = re.search(rf"\b{re.escape(word)}\b", whole.file.lines[number - 1])
            if found is not None:
                return Span(whole.file, number, found.start() + 1, number, found.end() + 1)
        return whole


def compiler_messages(output: str, good: bool, about: str, sources: Sources) -> list[Diagnostic]:
    """A compiler's messages about `about`; errors if it failed, else warnings."""
    found: list[_Message] = []
    way: list[Label] = []
    for line in output.splitlines():
        included = _INCLUDED.match(line)
        if included is not None:
            place = sources.span(Path(included["file"]), int(included["line"]))
            way += [] if place is None else [Label(place, "included from here")]
            continue
        match = _PLACED.match(line)
        if match is None:
            continue
        column = int(match["column"]) if match["column"] else None
        span = sources.span(Path(match["file"]), int(match["line"]), column)
        if match["kind"] == "note":
            if found and span is not None and not _NOISE.match(match["text"]):
                label = Label(span, match["text"])
                if label not in found[-1].related:  # of a macro in a macro
                    found[-1].related.append(label)
            continue
        code = COMPILE_WARNING if match["kind"] == "warning" else COMPILE_ERROR
        found.append(_Message(code, match["text"], span, way))
        way = []
    if not good:  # warnings are often consequences of the error
        found = [message for message in found if message.code is COMPILE_ERROR]
    if not good and not found:
        notes = tuple(output.splitlines()[:40])
        return [Diagnostic(COMPILE_ERROR, f"{about} failed to compile", notes=notes)]
    notes = (f"in {about}",)
    return [Diagnostic(m.code, m.text, m.span, related=tuple(m.related), notes=notes) for m in found]
