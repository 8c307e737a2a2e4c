# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The `camkes` command and `python -m camkes`: as a process of its own, which ends as soon as it is done."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command line in this process, and end it."""
    gc.disable()  # in a short run looking for garbage costs more than the garbage
    from camkes.cli import main as run

    leave(run())


def leave(status: int) -> None:
    """End the process. There is nothing left to be torn down, unless somebody asked to be told."""
    import atexit

    sys.stdout.flush()
    sys.stderr.flush()
    if atexit._ncallbacks() == 0:
        os._exit(status)
    sys.exit(status)


if __name__ == "__main__":
    main()
