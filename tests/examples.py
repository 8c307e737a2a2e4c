# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How many examples of a property are tried."""

from __future__ import annotations

import os

from hypothesis import settings


def examples(number: int) -> settings:
    """So many, where tests are searches (`make test-long`), and a third of them in `make test`."""
    return settings(max_examples=number if "HYPOTHESIS" in os.environ else number // 3, deadline=None)
