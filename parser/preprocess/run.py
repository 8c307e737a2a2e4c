# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The C preprocessor, with the place of every character kept.

The first run is on the user's file: it finds the user's errors, the files that are included, the names of
all macros, and which lines are left. Where a line has at most one macro, that is sufficient:
between the tokens that the line begins and ends with is the expansion. Else the preprocessor runs again, on
copies of these files in which

- a macro's invocation stands between marks that number it,
- the text between two invocations, which no macro changes, is only a mark,
- an #include names the copy of the file that the first run found.

The marks in the output give the order of the pieces of files that make up the result. So every
conditional and every expansion is the preprocessor's own work, and every place is exact.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from camkes.diagnostics import Expansion, Sink, SourceFile, Span
from camkes.files import temporary_folder
from camkes.parser import codes
from camkes.parser.files import decode, read_meaning, read_source
from camkes.parser.positions import ParsedText, TextSegment
from camkes.parser.preprocess.command import PreprocessorCommand, first_directive
from camkes.parser.preprocess.complaints import complaints
from camkes.parser.preprocess.pieces import (
    C_TOKEN,
    Macros,
    PlainBlock,
    blocks_of,
    cut,
    expansion_of,
    first_token,
)

_DEFINE = re.compile(r"#define ([^\W\d][\w$]*)(\(?)(?:[^()\n]*\))?[^\n]*?(\w*)$", re.MULTILINE)
_LINE_MARKER = re.compile(r'# (\d+) "((?:[^"\\]|\\.)*)"((?: \d)*)$', re.MULTILINE)
_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|(.))", re.DOTALL)
_INCLUDE = re.compile(r"\s*#\s*(?:include|include_next|import)\b")
_HEADER = re.compile(r"<[^<>]*>")
_MARK = re.compile(r"camkes_mark_(\d+)_(\d+)_")
_END = "camkes_mark_end_"


class _OutputPart(NamedTuple):
    """Lines of output that come one after the other in a file. `fresh`: the file was just entered."""

    number: int  # of the file
    line: int  # of the first of them
    lines: list[str]
    fresh: bool


def preprocess(
    source: SourceFile, sink: Sink, name: str, flags: Sequence[str]
) -> tuple[ParsedText | None, tuple[SourceFile, ...]]:
    """The preprocessed text of a file (None on an error), and the files read for it, itself first.

    `name` is the preprocessor's command, `flags` are its arguments.
    """
    return _PreprocessorRun(source, sink, PreprocessorCommand(source, sink, name, flags)).run()


class _PreprocessorRun:
    """One file through the preprocessor."""

    def __init__(self, source: SourceFile, sink: Sink, command: PreprocessorCommand) -> None:
        self.source = source
        self.sink = sink
        self.command = command
        self.files: list[SourceFile] = [source]
        self.numbers: dict[str, int] = {str(source.path): 0}  # the path as the preprocessor prints it
        self.includes: dict[tuple[int, int], int] = {}  # (file, line) of an #include -> the file
        self.pieces: list[list[TextSegment]] = []  # of each file
        self.definitions: dict[str, list[tuple[int, int]]] = {}  # of a macro: (file, line)
        self.parts: list[_OutputPart] = []  # of the first run's output

    def run(self) -> tuple[ParsedText | None, tuple[SourceFile, ...]]:
        output = self._run_first()
        if output is None:
            return None, tuple(self.files)
        macros = self._survey(output)
        if macros is None:
            return None, tuple(self.files)
        text = self._from_first(macros)
        if text is not None:
            return text, tuple(self.files)
        with temporary_folder("camkes-cpp-") as folder:
            for number in range(len(self.files)):
                self._copy(number, macros, folder)
            root = folder / "0.camkes"
            quotes = dict.fromkeys(str(file.path.parent) for file in self.files)
            found = self.command.run(["-P", *(f"-iquote{quote}" for quote in quotes), str(root)])
        if found is None:
            return None, tuple(self.files)
        if found.status:
            self._report(found.errors)
            return None, tuple(self.files)
        segments = list(self._assemble(found.output))
        for piece in dict.fromkeys(segment._replace(text="") for segment in segments if segment.expanded):
            self._remember(piece)
        return ParsedText(segments), tuple(self.files)

    # The first run ------------------------------------------------------------------------------

    def _run_first(self) -> str | None:
        path = self.source.path
        stored = read_meaning(path, Sink())
        if stored is not None and stored.text == self.source.text:
            name = f"./{path}" if str(path).startswith("-") else str(path)
            self.numbers[name] = 0
            found = self.command.run(["-dD", name])
        else:  # an editor's text that is not saved
            self.numbers["<stdin>"] = 0
            found = self.command.run(["-dD", f"-iquote{path.parent}", "-"], self.source.text)
        if found is None:
            return None
        if found.status:
            self._report(found.errors)
            return None
        return found.output

    def _report(self, stderr: str) -> None:
        """Turn what the preprocessor complains about into diagnostics."""
        reported = complaints(stderr, self._span_of)
        for diagnostic in reported:
            self.sink.add(diagnostic)
        if not reported:
            lines = stderr.strip().splitlines() or ["it failed without a message"]
            line = next((each for each in lines if "error" in each), lines[-1])
            message = f"the C preprocessor failed: {line}"
            self.sink.report(codes.PREPROCESSOR_ERROR, message, first_directive(self.source))

    def _span_of(self, path: str, line: int, column: int) -> Span | None:
        number = self.numbers.get(path)
        if number is not None:
            file: SourceFile | None = self.files[number]
        else:
            file = read_source(Path(path), Sink())
        if file is None or line > len(file.lines):
            return None
        text = file.lines[line - 1]
        column = len(text.encode()[: column - 1].decode(errors="replace")) + 1
        match = _HEADER.match(text, column - 1) or C_TOKEN.match(text, column - 1)
        end = match.end() + 1 if match and match.lastgroup != "blank" else column + 1
        return Span(file, line, column, line, end)

    def _survey(self, output: str) -> Macros | None:
        """The macros and the included files of the first run."""
        names = {"__FILE__", "__LINE__", "__COUNTER__", "__DATE__", "__TIME__", "__TIMESTAMP__"}
        names |= {"__BASE_FILE__", "__INCLUDE_LEVEL__", "_Pragma"}
        calls = {"_Pragma"}
        tails: dict[str, list[str]] = {}
        for define in _DEFINE.finditer(output):
            name, parenthesis, tail = define.groups()
            names.add(name)
            if parenthesis:
                calls.add(name)
            elif tail:
                tails.setdefault(name, []).append(tail)
        calls.update(name for name, last in tails.items() if not names.isdisjoint(last))
        stack: list[int] = []
        current, line, position, fresh = -1, 0, 0, False
        for marker in _LINE_MARKER.finditer(output):
            if current >= 0:
                text = _as_read(output[position : marker.start()])
                part = _OutputPart(current, line, text.split("\n"), fresh)
                self._note_definitions(part)
                line += len(part.lines) - 1
                fresh = False
            where, path, flags = marker.groups()
            path = _ESCAPE.sub(_unescaped, path)
            entering = " 1" in flags
            if path.startswith("<") and path not in self.numbers:
                current = -1
            elif stack and not flags and self.numbers.get(path) != max(current, 0):
                pass  # a #line directive; positions are reported as they are
            else:
                number = self._number(path, current, line)
                if number is None:
                    return None
                if entering and stack and current >= 0:
                    self.includes.setdefault((current, line), number)
                fresh = fresh or entering
                if entering:
                    stack.append(current)
                elif " 2" in flags and stack:
                    stack.pop()
                elif not stack:
                    stack.append(number)
                current = number
            line, position = int(where), marker.end() + 1
        if current >= 0:
            self._note_definitions(_OutputPart(current, line, _as_read(output[position:]).split("\n"), fresh))
        return Macros(frozenset(names), frozenset(calls))

    def _note_definitions(self, part: _OutputPart) -> None:
        """Where the macros are defined whose definitions are in a part of the output."""
        self.parts.append(part)
        lines = self.files[part.number].lines
        for place, text in enumerate(part.lines, part.line):
            define = _DEFINE.match(text) if text.startswith("#define") else None
            if define is not None and place <= len(lines) and define[1] in lines[place - 1]:
                self.definitions.setdefault(define[1], []).append((part.number, place))

    def _remember(self, piece: TextSegment) -> None:
        """Keep in a file which macro stands at a place, for those who report a mistake there."""
        found = C_TOKEN.match(piece.file.text, piece.start)
        places = self.definitions.get(found.group() if found else "", [])
        use = ParsedText([piece._replace(text=" ")]).span(0, 1)
        number = self.files.index(piece.file)
        before = [place for place in places if place[0] != number or place[1] <= use.line]
        definition = self._line_span(*before[-1]) if before else None
        if found is not None and definition is not None:
            piece.file.expansions.append(Expansion(use, found.group(), definition))

    def _number(self, path: str, includer: int, line: int) -> int | None:
        """The number of a file, read now if it is new."""
        number = self.numbers.get(path)
        if number is None and Path(path) == self.source.path:
            number = self.numbers[path] = 0
        if number is None:
            span = self._line_span(includer, line) if includer >= 0 else None
            file = _read_included(Path(path), self.sink, span)
            if file is None:
                return None
            number = self.numbers[path] = len(self.files)
            self.files.append(file)
        return number

    def _line_span(self, number: int, line: int) -> Span | None:
        file = self.files[number]
        if not 1 <= line <= len(file.lines):
            return None
        text = file.lines[line - 1]
        return Span(file, line, len(text) - len(text.lstrip()) + 1, line, max(len(text.rstrip()), 1) + 1)

    def _from_first(self, macros: Macros) -> ParsedText | None:
        """The text as the lines of the first run tell it; None where they do not tell all."""
        blocks = [blocks_of(file.text, macros) for file in self.files]
        if any(block is None for block in blocks):
            return None
        shown: list[tuple[int, PlainBlock, dict[int, str]]] = []
        for part in self.parts:
            for line, text in enumerate(part.lines, part.line):
                if not text or text.isspace() or text.startswith("#"):
                    continue
                own = blocks[part.number] or []
                index = bisect_right(own, line, key=lambda block: block.line) - 1
                if index < 0:
                    return None
                if not shown or part.fresh or shown[-1][1] is not own[index]:
                    shown.append((part.number, own[index], {}))
                    part = part._replace(fresh=False)
                if line in shown[-1][2]:
                    return None
                shown[-1][2][line] = text
                if line not in own[index].expanded and not self._is_line(part.number, line, text):
                    return None
        segments: list[TextSegment] = []
        for number, block, lines in shown:
            for start, end, kind in block.pieces:
                written = self.files[number].text[start:end]
                if kind == "macro":
                    expansion = expansion_of(self.files[number], start, end, lines)
                    if expansion is None:
                        return None
                    written = f" {expansion} "
                segments.append(TextSegment(written, self.files[number], start, end, kind == "macro"))
        for segment in segments:
            if segment.expanded:
                self._remember(segment)
        return ParsedText(segments) if segments else None

    def _is_line(self, number: int, line: int, output: str) -> bool:
        """Whether a line of output begins as the line of the file that its marker names."""
        lines = self.files[number].lines
        written = lines[line - 1].strip() if line <= len(lines) else ""
        return first_token(written) == first_token(output.strip())

    # The second run -----------------------------------------------------------------------------

    def _copy(self, number: int, macros: Macros, folder: Path) -> None:
        """Write the copy of a file that has marks for text."""
        file = self.files[number]
        pieces: list[TextSegment] = []
        path = str(file.path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        parts = [f'#line 1 "{path}"\n']
        for start, end, kind in cut(file.text, macros):
            written = file.text[start:end]
            if kind == "directive":
                parts.append(self._directive(number, start, written, folder))
                continue
            token = C_TOKEN.fullmatch(written)
            if token and token.lastgroup == "blank" and "\n" not in written:
                continue  # a mark must not stand before a directive
            mark = f" camkes_mark_{number}_{len(pieces)}_ "
            pieces.append(TextSegment(written, file, start, end, kind == "macro"))
            if kind == "macro":
                parts.append(f"{mark}{written} {_END} ")
            else:
                parts.append(mark + "\n" * written.count("\n"))
        self.pieces.append(pieces)
        (folder / f"{number}.camkes").write_text("".join(parts), "utf-8", "surrogateescape")

    def _directive(self, number: int, start: int, written: str, folder: Path) -> str:
        if not _INCLUDE.match(written):
            return written
        line = self.files[number].text.count("\n", 0, start) + 1
        for offset in range(written.count("\n") + 1):
            target = self.includes.get((number, line + offset))
            if target is not None:
                return f'#include "{folder}/{target}.camkes"' + "\n" * written.count("\n")
        return written

    def _assemble(self, output: str) -> Iterator[TextSegment]:
        """The pieces in the order of their marks."""
        marks = list(_MARK.finditer(output))
        ends = [mark.start() for mark in marks[1:]] + [len(output)]
        for mark, limit in zip(marks, ends, strict=False):
            piece = self.pieces[int(mark.group(1))][int(mark.group(2))]
            if piece.expanded:
                end = output.find(_END, mark.end(), limit)
                text = _as_read(output[mark.end() : end if end >= 0 else limit])
                piece = piece._replace(text=f" {text.strip()} ")
            yield piece


def _unescaped(found: re.Match[str]) -> str:
    """A character of a path, as preprocessors write it in a line marker."""
    octal, other = found.groups()
    return chr(int(octal, 8)) if octal else "\n" if other == "n" else other


def _as_read(output: str) -> str:
    """A part of the output as the text of the files that it is of."""
    return output if output.isascii() else output.encode("utf-8", "surrogateescape").decode(errors="replace")


def _read_included(path: Path, sink: Sink, span: Span | None) -> SourceFile | None:
    """An included file. A C header in an encoding other than UTF-8 is not an error."""
    try:
        data = path.read_bytes()
    except OSError:
        return read_source(path, sink, span)
    return decode(path, data.decode(errors="replace").encode(), sink, span)
