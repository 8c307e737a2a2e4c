# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The `camkes` command and `python -m camkes`."""

from __future__ import annotations

import gc

from camkes.process import leave


def main() -> None:
    """Run the command line in this process, and end it."""
    gc.disable()  # in a short run looking for garbage costs more than the garbage
    from camkes.cli import main as run

    leave(run())


if __name__ == "__main__":
    main()
