# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The `camkes` command and `python -m camkes`."""

from __future__ import annotations

import gc


def main() -> None:
    """Run the command line in this process, and end it."""
    gc.disable()  # in a short run looking for garbage costs more than the garbage
    try:  # modules are loaded here, where an interruption is not a traceback
        from camkes.process import prepare_streams

        prepare_streams()
        status = run()
    except KeyboardInterrupt:  # while modules were loaded, or one after another that is dealt with already
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        status = 130
    from camkes.process import leave

    leave(status)


def run() -> int:
    from camkes.cli.main import main as command_line

    return command_line()


if __name__ == "__main__":
    main()
