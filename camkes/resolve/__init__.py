# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""From parsed files to a `System`: imports, names, hierarchy, settings, connections, real-time words."""

from camkes.resolve.load import load
from camkes.resolve.options import LoadOptions

__all__ = ["LoadOptions", "load"]
