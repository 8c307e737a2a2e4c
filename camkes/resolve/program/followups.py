# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which mistakes of names and types are real in a program with syntax errors or missing files.

A statement with a syntax error may have defined what is missing elsewhere. So nothing is reported about such
a statement beyond its syntax, and of what seems to be missing only what no such statement can have given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from camkes.diagnostics import Diagnostic, Label, Span
from camkes.diagnostics.words import plural
from camkes.parser import ast
from camkes.resolve import codes
from camkes.resolve.files.imports import Program
from camkes.resolve.names.scopes import STANDARD_CONNECTORS
from camkes.resolve.program.exchanges import one_for_each_exchange, places, text_of

#: Something is missing, and it may have stood in any block.
_MISSING_ANYWHERE = frozenset(
    {
        codes.EXTRA_MEMBER,
        codes.MISSING_MEMBER,
        codes.NO_ASSEMBLY,
        codes.NO_INSTANCES,
        codes.REFERENCE_TO_NOTHING,
        codes.REFERENCE_WITHOUT_VALUE,
    }
)

#: Something is missing in the block where it is missed, or in the one that a label points at.
_MISSING_IN_BLOCK = frozenset(
    {
        codes.ASSEMBLY_BLOCKS,
        codes.BAD_EXPORT,
        codes.EMPTY_STRUCT,
        codes.HARDWARE_MISMATCH,
        codes.MISSING_KEY,
        codes.NO_ENDS,
        codes.REQUESTOR_CONTROL,
        codes.UNCONNECTED,
        codes.UNKNOWN_END,
        codes.UNKNOWN_REQUEST,
        codes.UNKNOWN_SETTING,
        codes.UNKNOWN_SETTING_INSTANCE,
    }
)

#: What does not fit to a definition that may have been meant otherwise.
_MISFITS = {
    codes.CONNECTORS_DIFFER: (ast.ConnectorDecl,),
    codes.HARDWARE_MISMATCH: (ast.ConnectorDecl,),
    codes.TOO_MANY_ENDS: (ast.ConnectorDecl,),
    codes.WRONG_KIND: (ast.ConnectorDecl,),
    codes.TYPES_DIFFER: (ast.ComponentDecl,),
    codes.MISTYPED_VALUE: (ast.ComponentDecl, ast.StructDecl),
    codes.UNKNOWN_METHOD: (ast.ComponentDecl, ast.ProcedureDecl),
    codes.VALUE_RANGE: (ast.ComponentDecl, ast.StructDecl),
}


#: A definition is missing or wrong, and every use of it would be reported.
_OF_A_USE = frozenset(
    {
        codes.UNCONNECTED,
        codes.UNKNOWN_END,
        codes.UNKNOWN_NAME,
        codes.UNKNOWN_SETTING_INSTANCE,
        codes.USED_BEFORE_DEFINED,
    }
)
#: What can be wrong with a part whose component is defined twice, where the other definition was meant.
_OF_A_DEFINITION = frozenset(
    {
        codes.BAD_EXPORT,
        codes.CONNECTED_TWICE,
        codes.HARDWARE_MISMATCH,
        codes.TYPES_DIFFER,
        codes.UNCONNECTED,
        codes.UNKNOWN_END,
        codes.UNKNOWN_METHOD,
        codes.UNKNOWN_SETTING,
        codes.WRONG_KIND,
        codes.WRONG_SIDE,
    }
)
#: What is on a line that stands there twice.
_OF_A_LINE = frozenset({codes.DUPLICATE_NAME, codes.DUPLICATE_SETTING})
_SHOWN = 4  # of the other uses


def mistakes_of_their_own(program: Program, found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """Those of the diagnostics about a program that do not follow from what is missing or broken in it."""
    broken = [item for item in program.items if any(map(item.span.overlaps, program.damage))]
    if not program.whole or any(isinstance(item, ast.AssemblyDecl) for item in broken):  # they share names
        broken += [item for item in program.items if isinstance(item, ast.AssemblyDecl)]
    broken += _beside_damage(program)
    exporting = any(isinstance(item, ast.ComponentDecl) for item in broken)
    components = [item.span for item in program.items if isinstance(item, ast.ComponentDecl)]

    def is_own(diagnostic: Diagnostic) -> bool:
        code, marked = diagnostic.code, places(diagnostic)
        if code in _MISSING_ANYWHERE or _touch(marked, program.damage):
            return False
        if any(isinstance(item, _MISFITS.get(code, ())) for item in broken):
            return False
        if code is codes.DUPLICATE_NAME and _touch(marked, [item.span for item in broken]):
            spread = [item for item in program.items if _touch(marked, [item.span])]
            return len(spread) == 1  # else a block that is not closed has what belongs in the next one
        if code is codes.UNCONNECTED and exporting and _touch(marked[:1], components):
            return False  # the broken one may be around this part, and export its interface
        return code not in _MISSING_IN_BLOCK or not _touch(marked, [item.span for item in broken])

    return tuple(filter(is_own, found))


def _beside_damage(program: Program) -> list[ast.TopLevelItem]:
    """Items after text outside of all items that is not understood, which may belong to them."""
    found: list[ast.TopLevelItem] = []
    for span in program.damage:
        items = [item for item in program.items if item.span.file.path == span.file.path]
        end = span.end_line, span.end_column
        inside = (item.span for item in items if item.span.overlaps(span))
        if all((item.end_line, item.end_column) <= end for item in inside):
            after = [item for item in items if item.span.line >= span.end_line]
            found += after[:1]
    return found


def _without_ends(program: Program, found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Without ends of connections that lack an interface which its own component misses, too."""
    misses = (codes.UNKNOWN_REQUEST, codes.BAD_EXPORT)
    missed = [d.span for d in found if d.code in misses and d.span is not None]
    components = [item for item in program.items if isinstance(item, ast.ComponentDecl)] if missed else []
    names = {
        (item.name.span if item.name is not None else None, text_of(span))
        for span in missed
        for item in components
        if item.span.overlaps(span)
    }

    def is_of_one(diagnostic: Diagnostic) -> bool:
        span = diagnostic.span
        return (
            diagnostic.code is codes.UNKNOWN_END
            and span is not None
            and any((label.span, text_of(span)) in names for label in diagnostic.related)
        )

    return [diagnostic for diagnostic in found if not is_of_one(diagnostic)]


_NAME = re.compile(r"\s*(\w+)")


def _without_values(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Without values of attributes and members that are not there only because their types are unknown."""
    lost = set()
    for diagnostic in found:
        span = diagnostic.span
        if diagnostic.code is codes.ATTRIBUTE_TYPE and span is not None:
            name = _NAME.match(span.file.lines[span.end_line - 1], span.end_column)  # behind a blank
            lost |= {name[1]} if name is not None else set()

    def is_lost(diagnostic: Diagnostic) -> bool:
        missed = diagnostic.code in (codes.UNKNOWN_SETTING, codes.EXTRA_MEMBER)
        return missed and any(diagnostic.message.endswith(f" `{name}`") for name in lost)

    return [diagnostic for diagnostic in found if not is_lost(diagnostic)]


def _without_uses_of_doubles(program: Program, found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Without what does not fit to a component that is defined twice."""
    doubles = [d for d in found if d.code is codes.DUPLICATE_NAME and d.message.endswith(" is defined twice")]
    marked = [place for double in doubles for place in places(double)]
    spans = [item.span for item in program.items if _touch(marked, [item.span])]
    return [d for d in found if d.code not in _OF_A_DEFINITION or not _touch(places(d), spans)]


_NO_INSTANCE = re.compile(r"there is no instance (?:or connection )?`(\w+)`")


def _without_settings_of_missing(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Without settings of instances that connections miss, too."""
    missed = {
        match[1]
        for d in found
        if d.code is codes.UNKNOWN_END and (match := _NO_INSTANCE.match(d.message)) is not None
    }

    def is_of_one(diagnostic: Diagnostic) -> bool:
        match = _NO_INSTANCE.match(diagnostic.message)
        return diagnostic.code is codes.UNKNOWN_SETTING_INSTANCE and match is not None and match[1] in missed

    return [diagnostic for diagnostic in found if not is_of_one(diagnostic)]


def _without_connectors_of_imports(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Without unknown connectors, where a file that has to be imported imports them."""
    imports = [(d.span, match[1]) for d in found if (match := _IMPORT.search(d.help)) is not None]
    files = {span.file.path.parent / name for span, name in imports if span is not None}
    brings = any(STANDARD_CONNECTORS in path.read_text("utf-8", "replace") for path in files)
    return [d for d in found if not (brings and STANDARD_CONNECTORS in d.help)]


_IMPORT = re.compile(r'`import "([^"]+)";`')


def merged(program: Program, found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Each mistake once: where several uses of a definition show it, the first one names the others."""
    found = _without_settings_of_missing(_without_uses_of_doubles(program, found))
    found = _without_connectors_of_imports(_without_values(_without_ends(program, found)))
    found = one_for_each_exchange(program, found)
    first: dict[tuple[object, ...], Diagnostic] = {}
    others: dict[int, list[Label]] = {}
    kept: list[Diagnostic] = []
    for diagnostic in found:
        span = diagnostic.span
        if span is None or diagnostic.code not in _OF_A_USE | _OF_A_LINE:
            kept.append(diagnostic)
            continue
        related = tuple(label.span for label in diagnostic.related)
        of_an_instance = span if diagnostic.code is codes.UNCONNECTED else None  # of each that shares a part
        # one missing import is one mistake, whatever it would have defined
        text = text_of(span) if "`import " not in diagnostic.help else diagnostic.help
        key: tuple[object, ...] = (diagnostic.code.number, diagnostic.label, text, of_an_instance, related)
        if diagnostic.code in _OF_A_LINE:
            lines = {place.line for place in related}
            if span.line in lines:  # one that is written twice on its line
                kept.append(diagnostic)
                continue
            key = (diagnostic.code.number, span.file.path, span.line, *lines)
        same = first.setdefault(key, diagnostic)
        if same is diagnostic:
            kept.append(diagnostic)
        elif span != same.span:
            others.setdefault(id(same), []).append(Label(span, "and here"))
    return tuple(_with_others(diagnostic, others.get(id(diagnostic), [])) for diagnostic in kept)


def _with_others(diagnostic: Diagnostic, others: Sequence[Label]) -> Diagnostic:
    if not others:
        return diagnostic
    more = len(others) - _SHOWN
    notes = (f"and in {more} other {plural(more, 'place')}",) if more > 0 else ()
    return replace(
        diagnostic,
        related=(*diagnostic.related, *others[:_SHOWN]),
        notes=(*diagnostic.notes, *notes),
    )


def _touch(some: Sequence[Span], others: Sequence[Span]) -> bool:
    return any(one.overlaps(other) for one in some for other in others)
