# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The lists of kinds.py are made of trace.h."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camkes.running import kinds
from camkes.running.decoder import Decoder
from camkes.running.kinds import ARGUMENTS, Kind
from tests.golden import compare

pytestmark = pytest.mark.requirement("TOOL-10")

KERNEL = Path(__file__).parents[2] / "kernel"
HEADER = (KERNEL / "host/include/camkes/trace.h").read_text()


#: enumerations of trace.h, and their names in Python
ENUMERATIONS = {
    "block": "Blocked",
    "kcall": "KernelCall",
    "bind": "Binding",
    "end": "EndReason",
    "fault": "FaultKind",
}
BEGINNING = '''# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of trace records, and numbers in them. Made of kernel/host/include/camkes/trace.h: change that, then
`CAMKES_UPDATE_GOLDEN=1 pytest tests/report/test_kinds.py`."""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """What a record is about. Below 32: written by the kernel. From 32: by the runtime."""

'''


def enumeration(name: str) -> str:
    """An enumeration of the header as Python has it, with its comments."""
    match = re.search(
        rf"^/\* ([^*]+) \*/\nenum camkes_{name} {{\n(.*?)^}};", HEADER, re.MULTILINE | re.DOTALL
    )
    assert match is not None, name
    text = f'\n\nclass {ENUMERATIONS[name]}(IntEnum):\n    """{match[1]}"""\n\n'
    for member, number, comment in re.findall(
        rf"^    CAMKES_{name.upper()}_(\w+) = (\d+),(?: +/\* (.*?) \*/)?$", match[2], re.MULTILINE
    ):
        text += f"    {member} = {number}" + (f"  # {comment}" if comment else "") + "\n"
    return text


def words(names: str) -> str:
    """A tuple of words as the formatter writes it."""
    each = [f'"{name}"' for name in names.split()]
    return f"({', '.join(each)}{',' * (len(each) == 1)})"


def generated() -> str:
    """The text of kinds.py."""
    rows = re.findall(r'X\((\w+), (\d+), "([^"]*)"\)', HEADER)
    numbers = "".join(f"    {name} = {number}\n" for name, number, _ in rows)
    arguments = "".join(f"    Kind.{name}: {words(names)},\n" for name, _, names in rows)
    heading = "#: names of each kind's arguments, in order\nARGUMENTS: dict[Kind, tuple[str, ...]] = "
    return f"{BEGINNING}{numbers}\n\n{heading}{{\n{arguments}}}\n" + "".join(map(enumeration, ENUMERATIONS))


def test_kinds_are_made_of_the_header() -> None:
    compare(generated(), Path(kinds.__file__))
    assert len(Kind) > 40 and ARGUMENTS.keys() == set(Kind)


def test_builds_for_sel4_use_the_same_header() -> None:
    """The runtime's records have the same numbers on both kernels because there is one list of them."""
    lines = (KERNEL / "sel4/trace/camkes/trace.h").read_text().splitlines()
    assert [line for line in lines if line and not line.startswith("/*")] == [
        "#pragma once",
        '#include "../../../host/include/camkes/trace.h"',
    ]


def test_records_on_sel4_can_hold_all_arguments_of_the_runtime() -> None:
    header = (KERNEL.parent / "runtime/src/platform/sel4/trace_sel4.h").read_text()
    most = re.search(r"#define CAMKES_SEL4_TRACE_ARGUMENTS (\d+)", header)
    assert most and int(most[1]) == max(len(names) for names in ARGUMENTS.values())


def test_every_handler_of_the_decoder_is_of_a_kind_of_record() -> None:
    handlers = {name.removeprefix("_on_").upper() for name in dir(Decoder) if name.startswith("_on_")}
    assert handlers and handlers <= Kind.__members__.keys()
