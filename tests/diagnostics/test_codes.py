# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Every code of every room: a number and a name of its own, a page, and a golden file with its exact text."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import camkes
from camkes import explain
from camkes.diagnostics import Code

TESTS = Path(__file__).resolve().parents[1]

#: The numbers of each room.
RANGES = {
    "parser": [(100, 199)],
    "resolve": [(200, 499)],
    "protocols": [(500, 599)],
    "capdl": [(600, 649)],
    "generate": [(650, 699)],
    "cmakelists": [(700, 720)],
    "build": [(721, 740)],
    "callgraph": [(741, 799)],
    "report": [(800, 849)],
    "migrate": [(850, 899)],
    "sel4": [(950, 955), (960, 999)],
    "upstream_templates": [(956, 959)],
}

#: Codes whose text other tests state: they need a compiler, a trace, a kernel or an seL4 workspace.
STATED_BY_TESTS = frozenset(
    {
        *("E0103", "E0601", "E0651", "E0652", "E0653", "E0654", "E0656", "E0701", "E0702"),
        *("E0703", "E0704", "W0705", "E0706", "E0707", "E0708", "W0709", "E0721", "E0722", "E0723", "E0724"),
        *("E0725", "E0727", "W0728", "E0729", "E0730", "N0741", "N0742", "E0801", "E0802", "E0803", "E0804"),
        *("W0805", "E0806", "N0852", "E0951", "E0952", "E0953", "E0954", "E0955", "E0956", "E0957", "E0958"),
        *("E0960", "E0961", "E0962", "E0963"),
    }
)


def rooms() -> dict[str, list[Code]]:
    """The codes of each room."""
    folders = [path.parent for path in sorted(Path(camkes.__file__).parent.glob("*/codes.py"))]
    modules = {folder.name: import_module(f"camkes.{folder.name}.codes") for folder in folders}
    return {
        name: [value for value in vars(module).values() if isinstance(value, Code)]
        for name, module in modules.items()
    }


ALL = [(room, code) for room, codes in rooms().items() for code in codes]


def golden() -> str:
    """All golden files."""
    kinds = ("*/golden/**/*.txt", "*/golden/*.expected", "*/bad/*.expected")
    return "\n".join(path.read_text(encoding="utf-8") for kind in kinds for path in TESTS.glob(kind))


def test_no_two_codes_share_a_number_or_a_name() -> None:
    for what in ("number", "name"):
        found = [getattr(code, what) for _, code in ALL]
        assert sorted(found) == sorted(set(found)), what


@pytest.mark.parametrize(("room", "code"), ALL, ids=[code.number for _, code in ALL])
def test_numbers_names_and_pages(room: str, code: Code) -> None:
    number = int(code.number[1:])
    assert re.fullmatch(r"[EWN]\d{4}", code.number)
    assert any(low <= number <= high for low, high in RANGES[room])
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+|[a-z]+", code.name)
    page = explain.page(code)
    assert page.startswith(f"{code.number} {code.name}\n\n")
    assert len(code.explanation.strip()) >= 40
    assert code.explanation.strip().endswith((".", "`", "```", ")"))
    if room == "resolve":
        assert "```camkes" in code.explanation
    assert explain.find(code.number) is code and explain.find(code.name) is code


def test_every_code_has_a_golden_file() -> None:
    text = golden()
    without = {code.number for _, code in ALL if not re.search(rf"\b{code.number}\b", text)}
    assert without == STATED_BY_TESTS


def test_codes_without_a_golden_file_are_stated_by_a_test() -> None:
    tests = "\n".join(path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py"))
    tests = tests.replace(Path(__file__).read_text(encoding="utf-8"), "")
    for room, codes in rooms().items():
        module = vars(import_module(f"camkes.{room}.codes"))
        for code in codes:
            if code.number in STATED_BY_TESTS:
                word = next(name for name, value in module.items() if value is code)
                assert re.search(rf"\b({word}|{code.number}|{code.name})\b", tests), code
