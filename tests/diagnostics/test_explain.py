# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The pages of `camkes explain`."""

from __future__ import annotations

from camkes import explain
from camkes.protocols import codes


def test_all_codes_are_there_in_order() -> None:
    found = explain.all_codes()
    assert set(codes.CODES) <= set(found)
    assert [code.number for code in found] == sorted(code.number for code in found)
    for code in found:
        assert code.number[0] in "EWN" and code.number[1:].isdigit() and len(code.number) == 5


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
