# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""camkes-rt: CAmkES with native real-time protocols."""

__version__ = "0.1.0"
