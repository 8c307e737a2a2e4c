# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""From parsed files to a `System`. From the bottom up, each package using only those before it:

words -> files (imports) -> values -> names -> program (hierarchy, connections, settings, tasks) -> load
"""

from camkes.resolve.load import load
from camkes.resolve.options import LoadOptions

__all__ = ["LoadOptions", "load"]
