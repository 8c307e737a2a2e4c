# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The lists of kinds.py are those of trace.h."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camkes.report.trace.kinds import ARGUMENTS, Block, End, FaultKind, KernelCall, Kind

HEADER = (Path(__file__).parents[2] / "runtime/include/camkes/trace.h").read_text()


def test_kinds_and_their_arguments() -> None:
    rows = re.findall(r'X\((\w+), (\d+), "([^"]*)"\)', HEADER)
    assert {name: int(number) for name, number, _ in rows} == {k.name: int(k) for k in Kind}
    assert {name: tuple(names.split()) for name, _, names in rows} == {
        kind.name: names for kind, names in ARGUMENTS.items()
    }


@pytest.mark.parametrize(
    ("prefix", "enum"), [("BLOCK", Block), ("KCALL", KernelCall), ("END", End), ("FAULT", FaultKind)]
)
def test_enumerations(
    prefix: str, enum: type[Block] | type[KernelCall] | type[End] | type[FaultKind]
) -> None:
    rows = re.findall(rf"CAMKES_{prefix}_(\w+) = (\d+)", HEADER)
    assert rows
    assert {name: int(number) for name, number in rows} == {member.name: int(member) for member in enum}
