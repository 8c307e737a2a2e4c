# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A process that does one thing and ends."""

from __future__ import annotations

import os
import sys


def leave(status: int) -> None:
    """End the process. There is nothing left to be torn down, unless somebody asked to be told."""
    import atexit

    sys.stdout.flush()
    sys.stderr.flush()
    if atexit._ncallbacks() == 0:
        os._exit(status)
    sys.exit(status)
