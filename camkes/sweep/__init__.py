# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Many settings of one system, each analysed, run or explored, and many cases on many processors."""
