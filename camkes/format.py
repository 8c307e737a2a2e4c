# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes fmt`: the formatter of .camkes files.

Lines stay the user's, as do comments, preprocessor lines and columns that line up; indentation, the space
between tokens, blank lines and the place of braces are set. Works on the tokens of the text as it is
written, so a macro is a word like any other, and no token is ever changed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from camkes.diagnostics import Sink
from camkes.parser.codes import PREPROCESSOR_ERROR
from camkes.parser.parse import parse

if TYPE_CHECKING:
    from camkes.diagnostics import Diagnostic, Sink, SourceFile
    from camkes.parser.parse import ParseOptions

INDENT = 4
_ROUNDS = 8
_TOKEN = re.compile(
    r"(?P<newline>\r?\n)"
    r"|(?P<blank>(?:[ \t\f\v\r]|\\\r?\n)+)"
    r"|(?P<line_comment>//(?:\\\r?\n|[^\n])*|#(?:\\\r?\n|/\*[\s\S]*?\*/|//[^\n]*|[^\n])*)"
    r"|(?P<comment>/\*[\s\S]*?\*/)"
    r'|(?P<string>"[^"]*")'
    r"|(?P<word>0x[0-9a-fA-F]+|\d+(?:\.\d+)?|\w+)"
    r"|(?P<symbol>\|\||&&|==|!=|<=|>=|<<|>>|\*\*|->|<-|[\s\S])"
)
_INCLUDE = re.compile(r"\s*#\s*include\b")
_ANGLE = re.compile(r'<[^<>;,"{}]*>')
_BINARY = frozenset(
    [
        *("||", "&&", "|", "^", "&", "==", "!=", "<", "<=", ">", ">=", "<<", ">>"),
        *("*", "/", "%", "**", "=", "->", "<-", "?"),
    ]
)
_SIGNS = frozenset("+-")
_CLOSERS = frozenset(")]}")
# Words that begin an item, even where the one before has no `;`.
_STARTERS = frozenset(
    [
        *("assembly", "attribute", "composition", "configuration", "connection", "connector", "consumes"),
        *("control", "dataport", "emits", "export", "group", "has", "import", "include", "maybe"),
        *("procedure", "provides", "uses", "void"),
    ]
)
_MERGING = frozenset(["||", "&&", "==", "!=", "<=", ">=", "<<", ">>", "**", "->", "<-", "//", "/*"])
_ITEM_ENDS = frozenset([";", "{", "}"])


class _FormatToken(NamedTuple):
    kind: str  # of _TOKEN; "directive" for a line of the preprocessor
    text: str
    column: int  # where it stood
    gap: int = 1  # spaces before it that are to be kept, because they line it up with its neighbours


class _Line(Struct):
    tokens: list[_FormatToken] = field(default_factory=list)
    blank_before: bool = False

    @property
    def code(self) -> list[_FormatToken]:
        return [token for token in self.tokens if token.kind not in ("comment", "line_comment", "directive")]


class _OpenBracket(Struct):
    text: str
    indent: int  # of the line on which it was opened
    block: bool  # a brace around items, not around a dictionary
    conditionals: int = 0  # `?` whose `:` is still to come


def format_file(source: SourceFile, sink: Sink, *, options: ParseOptions | None = None) -> str | None:
    """The text of a file in the common layout, or None and errors if it is not a correct file.

    A header that is not found does not matter to the layout: the tokens of the text are known without it.
    """
    problems = Sink()
    tree = parse(source, problems, options=options)
    if tree is None and not all(map(_is_missing_header, problems.diagnostics)):
        for problem in problems.diagnostics:
            sink.add(problem)
        return None
    return format_source(source.text)


def _is_missing_header(problem: Diagnostic) -> bool:
    if problem.code is not PREPROCESSOR_ERROR or problem.span is None:
        return False
    return bool(_INCLUDE.match(problem.span.file.lines[problem.span.line - 1]))


def format_source(text: str) -> str:
    """A text in the common layout. It has the same tokens, comments and preprocessor lines."""
    for _ in range(_ROUNDS):  # what lined up may do so no longer after a change of the line
        formatted = _format(text, tables=True)
        if formatted == text:
            return text
        text = formatted
    return _format(text, tables=False)


def _format(text: str, *, tables: bool) -> str:
    lines = _lines(text)
    if tables:
        _keep_tables(lines)
    printed = _Printer().run(_break(lines))
    return "".join(f"{line}\n" for line in printed)


def _keep_tables(lines: list[_Line]) -> None:
    """Mark the spaces that line a token, or the end of a number, up with one on the line above or below."""
    begins = [{token.column for token in line.tokens} for line in lines]
    ends = [{token.column + len(token.text) for token in line.tokens} for line in lines]
    for number, line in enumerate(lines):
        around = [number - 1] if number and not line.blank_before else []
        if number + 1 < len(lines) and not lines[number + 1].blank_before:
            around.append(number + 1)
        around = [each for each in around if _is_row(line, lines[each])]
        for index in range(1, len(line.tokens)):
            token, before = line.tokens[index], line.tokens[index - 1]
            gap = token.column - before.column - len(before.text)
            end = token.column + len(token.text)
            is_number = token.text[:1].isdigit()
            lined_up = any(
                token.column in begins[each] or (is_number and end in ends[each]) for each in around
            )
            if gap > 1 and lined_up and "\n" not in before.text:
                line.tokens[index] = token._replace(gap=gap)


def _is_row(line: _Line, other: _Line) -> bool:
    """Whether two lines can be rows of one table: they begin in one column, and no block begins or ends."""
    balanced = all(
        sum((token.text in "([{") - (token.text in ")]}") for token in each.code if token.kind == "symbol")
        == 0
        for each in (line, other)
    )
    return balanced and line.tokens[0].column == other.tokens[0].column


def _lines(text: str) -> list[_Line]:
    """The lines of a text, without blank ones. A comment or string of several lines belongs to one."""
    lines = [_Line()]
    position, blanks = 0, 0
    column, following = 0, 0  # of the token, and of what comes after it
    word = ""  # the last one that is code
    while position < len(text):
        line = lines[-1]
        column = following
        match = _TOKEN.match(text, position)
        assert match is not None
        kind, written = match.lastgroup or "", match.group()
        if written in ("<", "<<", "<=", "<-") and word in ("import", "include"):
            angle = _ANGLE.match(text, position)
            if angle:
                match, kind, written = angle, "string", angle.group()
        position = match.end()
        following = _column_after(column, written)
        if kind == "newline":
            blanks = 0 if line.tokens else blanks + 1
            if line.tokens:
                lines.append(_Line())
            continue
        if kind == "blank":
            continue
        if not line.tokens:
            line.blank_before = blanks > 0 and len(lines) > 1
            blanks = 0
            if written.startswith("#"):
                kind = "directive"
        if kind in ("word", "string", "symbol"):
            word = written
        line.tokens.append(
            _FormatToken(kind, written.rstrip() if kind in ("line_comment", "directive") else written, column)
        )
    return [line for line in lines if line.tokens]


def _column_after(column: int, written: str) -> int:
    """The column behind a text that begins at a column."""
    _, newline, last = written.rpartition("\n")
    if newline:
        column = 0
    if "\t" not in last:
        return column + len(last)
    for character in last:
        column += INDENT - column % INDENT if character == "\t" else 1
    return column


def _break(lines: list[_Line]) -> list[_Line]:
    """Put line breaks around braces.

    An opening brace stands on the line of its head. In a block of more than one line nothing follows the
    opening brace, and the closing one is the first on its line.
    """
    joined: list[_Line] = []
    for line in lines:
        before = joined[-1] if joined else None
        if (
            before is not None
            and line.tokens[0].text == "{"
            and before.tokens[-1].kind in ("word", "string", "symbol")
            and before.tokens[-1].text not in _ITEM_ENDS | {",", "(", "["}
        ):
            before.tokens += line.tokens
        else:
            joined.append(line)
    several = _blocks_of_several_lines(joined)
    broken: list[_Line] = []
    for number, line in enumerate(joined):
        current = _Line([], line.blank_before)
        for index, token in enumerate(line.tokens):
            if (number, index) in several and token.text == "}" and current.tokens:
                broken.append(current)
                current = _Line()
            current.tokens.append(token)
            rest = len(line.tokens) - index - 1
            after = line.tokens[index + 1].kind if rest else "line_comment"
            opens = (number, index) in several and token.text == "{"
            if opens and after != "line_comment" and not (after == "comment" and rest == 1):
                broken.append(current)
                current = _Line()
        if current.tokens:
            broken.append(current)
    return broken


def _blocks_of_several_lines(lines: list[_Line]) -> set[tuple[int, int]]:
    """The braces (line, index) of blocks that do not begin and end on one line."""
    found: set[tuple[int, int]] = set()
    opened: list[tuple[int, int, bool]] = []
    previous = ""
    for number, line in enumerate(lines):
        for index, token in enumerate(line.tokens):
            if token.kind in ("comment", "line_comment", "directive"):
                continue
            if token.text == "{":
                opened.append((number, index, _opens_block(previous)))
            elif token.text == "}" and opened:
                start, at, block = opened.pop()
                inner = lines[number].tokens[at:index] if start == number else []
                if block and (start != number or any("\n" in each.text for each in inner)):
                    found |= {(start, at), (number, index)}
            previous = token.text
    return found


def _opens_block(previous: str) -> bool:
    """Whether a brace after this token begins a block, and not a dictionary."""
    return previous not in ("=", "(", "[", ",", ":")


class _Printer:
    """Writes lines, keeping track of brackets and of where items begin."""

    def __init__(self) -> None:
        self._open: list[_OpenBracket] = []
        self._branches: list[list[_OpenBracket]] = []  # the brackets at each #if
        self._previous: list[str] = []  # the code of the item under way
        self._unary = False  # whether the last sign is that of one operand

    def run(self, lines: list[_Line]) -> list[str]:
        printed: list[str] = []
        comments: list[tuple[int, int, str] | None] = []  # width, column in the source, text
        for line in lines:
            first = line.tokens[0]
            opened = bool(printed) and printed[-1].endswith("{")
            if line.blank_before and not opened and first.text not in _CLOSERS:
                printed.append("")
                comments.append(None)
            if first.kind == "directive":
                self._directive(first.text)
                printed.append(first.text)
                comments.append(None)
                continue
            trailing = line.tokens.pop() if line.tokens[-1].kind == "line_comment" else None
            indent = self._indent(line, trailing)
            if not line.tokens and trailing is not None:
                printed.append(" " * indent + trailing.text)
                comments.append(None)
                continue
            text = " " * indent + self._write(line, indent)
            printed.append(text)
            comments.append(
                (len(text.rpartition("\n")[2]), trailing.column, trailing.text) if trailing else None
            )
        _align(printed, comments)
        return printed

    def _directive(self, text: str) -> None:
        """Each branch of a conditional begins with the same open brackets."""
        word = re.match(r"#\s*(\w*)", text)
        name = word.group(1) if word else ""
        if name in ("if", "ifdef", "ifndef"):
            self._branches.append(self._copy(self._open))
        elif name in ("else", "elif", "elifdef", "elifndef") and self._branches:
            self._open = self._copy(self._branches[-1])
        elif name == "endif" and self._branches:
            self._branches.pop()

    @staticmethod
    def _copy(brackets: list[_OpenBracket]) -> list[_OpenBracket]:
        return [_OpenBracket(each.text, each.indent, each.block, each.conditionals) for each in brackets]

    def _indent(self, line: _Line, trailing: _FormatToken | None) -> int:
        """The indentation of a line."""
        closers = 0
        for token in line.tokens:
            if token.text not in _CLOSERS:
                break
            closers += 1
        if closers and self._open:
            return self._open[max(len(self._open) - closers, 0)].indent
        base = self._open[-1].indent + INDENT if self._open else 0
        within_block = not self._open or self._open[-1].block
        code = line.code
        if code and within_block and self._previous:
            if code[0].text in _STARTERS:
                self._previous = []
            elif not (code[0].text == "{" and _opens_block(self._previous[-1])):
                return base + INDENT
        return base

    def _write(self, line: _Line, indent: int) -> str:
        parts: list[str] = []
        column = indent
        last: _FormatToken | None = None
        for token in line.tokens:
            if last is not None and self._spaced(last, token):
                parts.append(" " * token.gap)
                column += token.gap
            parts.append(_shifted(token, column) if token.kind == "comment" else token.text)
            column = _column_after(column, parts[-1])
            if token.kind != "comment":
                self._note(token, indent)
            last = token
        code = line.code
        if len(code) == len(self._previous) == 1 and code[0].kind == "word" and code[0].text not in _STARTERS:
            self._previous = []  # a word alone on its line is a macro
        return "".join(parts)

    def _note(self, token: _FormatToken, indent: int) -> None:
        """Keep the brackets and the item under way."""
        text = token.text if token.kind == "symbol" else ""
        if text in _SIGNS:
            previous = self._previous[-1] if self._previous else ""
            self._unary = previous in _BINARY | _SIGNS or previous in ("", ",", ":", "!", "~", "(", "[", "{")
        if text in ("(", "[", "{") and text:
            previous = self._previous[-1] if self._previous else ""
            block = text == "{" and _opens_block(previous)
            self._open.append(_OpenBracket(text, indent, block))
            if block:
                self._previous = []
                return
        elif text in _CLOSERS and text:
            closed = self._open.pop() if self._open else None
            if closed is not None and closed.block:
                self._previous = []
                return
            call = len(self._previous) > 1 and self._previous[1] == "("
            if text == ")" and call and (not self._open or self._open[-1].block):
                self._previous = []  # the call of a macro; if an item, its `;` follows at once
                return
        elif text == "?" and self._open:
            self._open[-1].conditionals += 1
        elif text == ";" and (not self._open or self._open[-1].block):
            self._previous = []
            return
        self._previous.append(token.text)

    def _spaced(self, last: _FormatToken, token: _FormatToken) -> bool:
        """Whether a space stands between a token and what comes before it on its line."""
        if last.kind == "comment" or token.kind == "comment":
            return True
        left = last.text if last.kind == "symbol" else ""
        right = token.text if token.kind == "symbol" else ""
        if left and right and (left + right)[:2] in _MERGING and len(left) == 1:
            return True
        if right == "." and last.text[-1].isdigit() and last.text[0].isdigit():
            return True  # in nonsense: a dot would become a part of the number
        if right in (";", ",", ".") and right:
            return left == ";" and right != ";"
        if left == ".":
            return False
        if left == "{":
            return self._is_block() and right != "}"
        if right == "}":
            return self._is_block()
        if left in ("(", "[") or right in (")", "]"):
            return False
        if left in ("!", "~"):
            return False
        if left in _SIGNS:
            return not self._unary
        if right == ":":
            return self._pending_conditional()
        if right == "(":
            if self._previous[:1] == ["connection"] and len(self._previous) == 3:
                return False  # whatever the connection is called
            return last.kind != "word" or last.text in ("requests", "with", "include", "import")
        if right == "[":
            return left in _BINARY or left in (",", ":", "+", "-", "{", "}")
        return True

    def _is_block(self) -> bool:
        return bool(self._open) and self._open[-1].block

    def _pending_conditional(self) -> bool:
        if self._open and self._open[-1].conditionals:
            self._open[-1].conditionals -= 1
            return True
        return False


def _shifted(comment: _FormatToken, column: int) -> str:
    """A block comment whose later lines keep their place below the first."""
    first, *rest = comment.text.split("\n")
    lines = [first.rstrip()]
    for line in rest:
        text = line.strip()
        blank = len(line[: len(line) - len(line.lstrip())].expandtabs(INDENT))
        lines.append(" " * max(0, blank - comment.column + column) + text if text else "")
    return "\n".join(lines)


def _align(printed: list[str], comments: list[tuple[int, int, str] | None]) -> None:
    """Append comments to lines; those that stood below each other still do."""
    number = 0
    while number < len(comments):
        comment = comments[number]
        if comment is None:
            number += 1
            continue
        end = number
        widest = 0
        while end < len(comments):
            other = comments[end]
            if other is None or other[1] != comment[1]:
                break
            widest = max(widest, other[0])
            end += 1
        for index in range(number, end):
            each = comments[index]
            assert each is not None
            printed[index] += " " * (widest + 2 - each[0]) + each[2]
        number = end
