# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The lists of kinds.py are those of trace.h."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camkes.running.decoder import Decoder
from camkes.running.kinds import ARGUMENTS, Binding, Blocked, EndReason, FaultKind, KernelCall, Kind

KERNEL = Path(__file__).parents[2] / "kernel"
HEADER = (KERNEL / "host/include/camkes/trace.h").read_text()


def test_kinds_and_their_arguments() -> None:
    rows = re.findall(r'X\((\w+), (\d+), "([^"]*)"\)', HEADER)
    assert {name: int(number) for name, number, _ in rows} == {k.name: int(k) for k in Kind}
    assert {name: tuple(names.split()) for name, _, names in rows} == {
        kind.name: names for kind, names in ARGUMENTS.items()
    }


@pytest.mark.parametrize(
    ("prefix", "enum"),
    [("BIND", Binding), ("BLOCK", Blocked), ("KCALL", KernelCall), ("END", EndReason), ("FAULT", FaultKind)],
)
def test_enumerations(
    prefix: str,
    enum: type[Binding] | type[Blocked] | type[KernelCall] | type[EndReason] | type[FaultKind],
) -> None:
    rows = re.findall(rf"CAMKES_{prefix}_(\w+) = (\d+)", HEADER)
    assert rows
    assert {name: int(number) for name, number in rows} == {member.name: int(member) for member in enum}


def test_builds_for_sel4_use_the_same_header() -> None:
    """The runtime's records have the same numbers on both kernels because there is one list of them."""
    lines = (KERNEL / "sel4/trace/camkes/trace.h").read_text().splitlines()
    assert [line for line in lines if line and not line.startswith("/*")] == [
        "#pragma once",
        '#include "../../../host/include/camkes/trace.h"',
    ]


def test_records_on_sel4_can_hold_all_arguments_of_the_runtime() -> None:
    header = (KERNEL.parent / "runtime/src/trace_sel4.h").read_text()
    most = re.search(r"#define CAMKES_SEL4_TRACE_ARGUMENTS (\d+)", header)
    assert most and int(most[1]) == max(len(names) for names in ARGUMENTS.values())


def test_every_handler_of_the_decoder_is_of_a_kind_of_record() -> None:
    handlers = {name.removeprefix("_on_").upper() for name in dir(Decoder) if name.startswith("_on_")}
    assert handlers and handlers <= Kind.__members__.keys()
