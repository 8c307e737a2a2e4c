# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What operations cost on a machine that boots: from images that measure to a platform profile."""
