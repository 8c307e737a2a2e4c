# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""One name written in the place of another: one is there twice or unknown, and one missing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from camkes.diagnostics import Diagnostic, Label, Span
from camkes.parser import ast
from camkes.resolve import codes
from camkes.resolve.files.imports import Program

_TWICE = re.compile(r"(\w+) `([^`]*)` (?:has a name that is already in use|is defined twice)")
_MISSING = re.compile(r"there is no (\w+) `([^`]*)`|`[^`]*` has no (interface) `([^`]*)`")
_SUGGESTED = re.compile(r"did you mean `([^`]*)`")
_UNCONNECTED = re.compile(r"interface `(.*)\.(\w+)` is not connected")


def one_for_each_exchange(program: Program, found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Each name that is there twice with one that is missing, if it can have been meant; and each end that is
    connected too often, or names an unknown instance, with one that is not connected."""
    kept = list(found)
    for twice in [d for d in found if d.code is codes.DUPLICATE_NAME]:
        kept = _joined(twice, _missing_for(program, twice, kept), "nothing has this name", kept)
        kept = [each for each in kept if not _takes_the_first(each, twice)]
    for often in [d for d in found if d.code is codes.TOO_MANY_ENDS]:
        kept = _joined(often, _left_by(often, kept), "", kept)
        kept = [each for each in kept if not _is_among(each, often)]
    for unknown in [d for d in kept if d.code is codes.UNKNOWN_END]:
        kept = _joined(unknown, _meant_by(unknown, kept), "", kept)
    return kept


def _joined(
    kept: Diagnostic, others: Sequence[Diagnostic], text: str, every: list[Diagnostic]
) -> list[Diagnostic]:
    labels = [Label(other.span, text or other.message) for other in others[:1] if other.span is not None]
    whole = replace(kept, related=(*kept.related, *labels))
    gone = set(map(id, others))
    return [whole if each is kept else each for each in every if id(each) not in gone]


def _missing_for(program: Program, twice: Diagnostic, found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The diagnostic of the first missing name that one that is there twice can have been meant to be."""
    match = _TWICE.match(twice.message)
    if match is None or twice.span is None:
        return []
    kind, name = match.groups()
    result: list[Diagnostic] = []
    missing = None
    for each in found:
        lacks = _MISSING.match(each.message)
        if lacks is None or each.span is None or (lacks[1] or lacks[3]) != kind:
            continue
        suggested = _SUGGESTED.search(each.help)
        once = sum(other.message == each.message for other in found) == 1
        if suggested is not None and suggested[1] != name and once:
            continue  # a slip of its own
        if kind == "interface" and not _of_one(program, twice.span, each):
            continue
        if kind == "instance" and _item_at(program, twice.span) is not _item_at(program, each.span):
            continue
        missing = missing or lacks[2] or lacks[4]
        if missing == (lacks[2] or lacks[4]):
            result.append(each)
    return result


def _item_at(program: Program, span: Span) -> ast.TopLevelItem | None:
    return next((item for item in program.items if item.span.overlaps(span)), None)


def _of_one(program: Program, span: Span, missing: Diagnostic) -> bool:
    """Whether an interface is missing in the component that has the one at `span`."""
    return _item_at(program, span) in [_item_at(program, label.span) for label in missing.related]


def _takes_the_first(other: Diagnostic, twice: Diagnostic) -> bool:
    """Whether types differ because the first of two interfaces of a name counts, and the second was meant."""
    match = _TWICE.match(twice.message)
    return (
        other.code is codes.TYPES_DIFFER
        and match is not None
        and match[1] == "interface"
        and any(text_of(place).endswith(f".{match[2]}") for place in places(other))
    )


def _is_among(other: Diagnostic, often: Diagnostic) -> bool:
    """Whether types differ in connections that an end joins which is connected too often."""
    joined = re.findall(r"`(\w+)`", often.message.partition(" together ")[0])
    connections = re.findall(r"`(\w+)`", re.split(r" (?:together )?connects? ", other.message)[0])
    return other.code is codes.TYPES_DIFFER and bool(connections) and set(connections) <= set(joined)


def places(diagnostic: Diagnostic) -> list[Span]:
    """All that a diagnostic underlines."""
    own = [diagnostic.span] if diagnostic.span is not None else []
    return [*own, *(label.span for label in diagnostic.related)]


def text_of(span: Span) -> str:
    """What is written at a place, where that is on a line."""
    return span.file.lines[span.line - 1][span.column - 1 : span.end_column - 1]


def _meant_by(unknown: Diagnostic, found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The interface that is not connected because an end names an instance that is not there."""
    span, lacks = unknown.span, _MISSING.match(unknown.message)
    if span is None or lacks is None or lacks[1] != "instance":
        return []
    name = re.match(r"\s*\.\s*(\w+)", span.file.lines[span.end_line - 1][span.end_column - 1 :])
    for each in found:
        match = _UNCONNECTED.match(each.message) if each.code is codes.UNCONNECTED else None
        if match is not None and name is not None and match[2] == name[1]:
            return [each]
    return []


def _left_by(often: Diagnostic, found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The first interface that is not connected, if it is of the same instance as one that is connected too
    often, or has the same name."""
    lines = "\n".join(place.file.lines[place.line - 1] for place in places(often))
    for each in found:
        match = _UNCONNECTED.match(each.message) if each.code is codes.UNCONNECTED else None
        if match is not None and re.search(rf"\b{re.escape(match[1])}\.|\.{re.escape(match[2])}\b", lines):
            return [each]
    return []
