# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The C preprocessor: `command` runs it, `pieces` cuts files, `run` finds the place of every character."""

from camkes.parser.preprocess.run import preprocess

__all__ = ["preprocess"]
