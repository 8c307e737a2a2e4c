# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Each file in bad/ gives the diagnostics that stand beside it."""

from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import Style, render
from camkes.resolve import LoadOptions, load
from tests.golden import compare

pytestmark = pytest.mark.requirement("LANG-20")

ROOT = Path(__file__).resolve().parents[2]
BAD = Path(__file__).resolve().parent / "bad"
FILES = sorted(BAD.glob("*.camkes"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_golden(path: Path) -> None:
    sink = Sink()
    load(path, LoadOptions(), sink)
    text = render(sink.diagnostics, Style(base=BAD))
    compare(text.replace(f"{ROOT}/", ""), path.with_suffix(".expected"))
