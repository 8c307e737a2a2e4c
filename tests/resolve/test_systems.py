# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The whole system that a text means, places included: of `good/NAME.camkes` it is `good/NAME.json`.

Warnings are in `good/NAME.expected`.
"""

from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import Style, render
from camkes.model.dump import dump_text
from camkes.resolve import LoadOptions, load
from tests.golden import compare

pytestmark = pytest.mark.requirement("LANG-11")

GOOD = Path(__file__).parent / "good"
NAMES = sorted(path.stem for path in GOOD.glob("*.camkes"))


@pytest.mark.parametrize("name", NAMES)
def test_system(name: str) -> None:
    sink = Sink()
    system = load(GOOD / f"{name}.camkes", LoadOptions(cpp=False), sink)
    compare(render(sink.diagnostics, Style(base=GOOD)), GOOD / f"{name}.expected")
    assert system is not None
    compare(dump_text(system, places=True), GOOD / f"{name}.json")
