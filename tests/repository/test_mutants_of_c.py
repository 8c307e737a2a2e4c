# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What is written about mutants of the C code is what was found of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.mutation.c_summary import REASONS, RESULT, reasons, with_summary

RECORD: dict[str, Any] = json.loads(RESULT.read_text("utf-8"))["runtime"]
TEXT = REASONS.read_text("utf-8")


def test_the_figures_are_those_of_the_result() -> None:
    assert with_summary(TEXT, RECORD) == TEXT


def test_each_argument_is_about_survivors_of_its_file() -> None:
    explained = Counter(
        (Path(each["file"]).name, each["before"], each["after"])
        for each in RECORD["survivors"]
        if each["verdict"] == "explained"
    )
    assert reasons(TEXT) == explained
    assert sum(explained.values()) == RECORD["mutants"]["explained"]
