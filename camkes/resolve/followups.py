# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which mistakes of names and types are real in a program with syntax errors or missing files.

A statement with a syntax error may have said what is missed elsewhere. So nothing is said about such a
statement beyond its syntax, and of what seems to be missing only what no such statement can have given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from camkes.diagnostics import Diagnostic, Span
from camkes.parser import ast
from camkes.resolve import codes
from camkes.resolve.imports import Program

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
    codes.CONNECTORS_DIFFER: (ast.Connector,),
    codes.HARDWARE_MISMATCH: (ast.Connector,),
    codes.TOO_MANY_ENDS: (ast.Connector,),
    codes.WRONG_KIND: (ast.Connector,),
    codes.TYPES_DIFFER: (ast.Component,),
    codes.MISTYPED_VALUE: (ast.Component, ast.Struct),
    codes.VALUE_RANGE: (ast.Component, ast.Struct),
}


def mistakes_of_their_own(program: Program, found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """Those of the diagnostics about a program that do not follow from what is missing or broken in it."""
    broken = [item for item in program.items if any(map(item.span.overlaps, program.damage))]
    if not program.whole or any(isinstance(item, ast.Assembly) for item in broken):  # they share names
        broken += [item for item in program.items if isinstance(item, ast.Assembly)]
    exporting = any(isinstance(item, ast.Component) for item in broken)
    components = [item.span for item in program.items if isinstance(item, ast.Component)]

    def is_own(diagnostic: Diagnostic) -> bool:
        code, places = diagnostic.code, list(_places(diagnostic))
        if code in _MISSING_ANYWHERE or _touch(places, program.damage):
            return False
        if any(isinstance(item, _MISFITS.get(code, ())) for item in broken):
            return False
        if code is codes.UNCONNECTED and exporting and _touch(places[:1], components):
            return False  # the broken one may be around this part, and export its interface
        return code not in _MISSING_IN_BLOCK or not _touch(places, [item.span for item in broken])

    return tuple(filter(is_own, found))


def _places(diagnostic: Diagnostic) -> Iterator[Span]:
    if diagnostic.span is not None:
        yield diagnostic.span
    for label in diagnostic.related:
        yield label.span


def _touch(some: Sequence[Span], others: Sequence[Span]) -> bool:
    return any(one.overlaps(other) for one in some for other in others)
