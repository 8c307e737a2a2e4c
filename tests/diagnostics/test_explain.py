# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The pages of `camkes explain`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import camkes
from camkes import explain
from camkes.diagnostics import Code
from camkes.protocols import codes


def test_all_codes_are_there_in_order() -> None:
    found = explain.all_codes()
    assert set(codes.CODES) <= set(found)
    assert [code.number for code in found] == sorted(code.number for code in found)
    for code in found:
        assert code.number[0] in "EWN" and code.number[1:].isdigit() and len(code.number) == 5


def test_no_two_codes_share_a_number() -> None:
    rooms = [path.parent.name for path in Path(camkes.__file__).parent.glob("*/codes.py")]
    assert {"parser", "resolve", "protocols"} <= set(rooms)
    modules = [import_module(f"camkes.{room}.codes") for room in rooms]
    numbers = [v.number for m in modules for v in vars(m).values() if isinstance(v, Code)]
    assert sorted(numbers) == [code.number for code in explain.all_codes()]


def test_names_of_the_protocols_codes_are_their_own() -> None:
    names = [code.name for code in explain.all_codes()]
    assert all(names.count(code.name) == 1 for code in codes.CODES)


def test_by_number_or_name() -> None:
    assert explain.find("e0501") is codes.DEADLOCK
    assert explain.find(" deadlock ") is codes.DEADLOCK
    assert explain.find("nonsense") is None


def test_nearest() -> None:
    assert explain.nearest("dedlock") == "deadlock"
    assert explain.nearest("E501") == "E0501"
    assert explain.nearest("qqqqqqqq") is None


def test_page() -> None:
    page = explain.page(codes.DEADLOCK)
    assert page.startswith("E0501 deadlock\n\nRequests go round in a cycle.")
