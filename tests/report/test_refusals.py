# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Errors of messages have one list of numbers and words."""

from __future__ import annotations

import re

from camkes.report.refusals import WORDS, MessageError
from camkes.resources import RUNTIME


def test_the_runtime_has_the_same_errors() -> None:
    text = (RUNTIME / "include/camkes/message_error.h").read_text()
    found = {
        name: (int(number), words)
        for name, number, words in re.findall(r'X\((\w+), (\d+), \w+, "(.*?)"\)', text)
    }
    assert found == {error.name: (int(error), WORDS[error]) for error in MessageError}
