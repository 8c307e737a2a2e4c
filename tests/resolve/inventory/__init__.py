# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mistakes of every kind: what camkes-tool does with each, and our diagnostics.

A row is a small text, what upstream does ("rejects", "crashes" with a traceback, "accepts" in silence), and
the codes that we give. `test_inventory` checks ours, and `test_upstream` upstream's.
"""

from tests.resolve.inventory import compositions, configurations, definitions
from tests.resolve.inventory.parts import Row
from tests.resolve.inventory.same import SAME, Same

ROWS = definitions.ROWS + compositions.ROWS + configurations.ROWS

__all__ = ["ROWS", "SAME", "Row", "Same"]
