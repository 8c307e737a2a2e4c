# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Words: suggestions for misspelt names, and names reserved by C or by templates."""
