# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The `camkes` command and `python -m camkes`."""

from __future__ import annotations

import gc
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FrameType


def main() -> None:
    """Run the command line in this process, and end it."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored, as for nohup
        signal.signal(signal.SIGINT, interrupt)
    gc.disable()  # in a short run looking for garbage costs more than the garbage
    try:
        from camkes.process import prepare_streams

        prepare_streams()
        status = run()
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # what is left takes no time
    except KeyboardInterrupt:  # one after another that is dealt with already
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        status = 130
    from camkes.process import leave

    leave(status)


def interrupt(number: int, frame: FrameType | None) -> None:
    """Ctrl-C: an exception, but while a module is loaded, the end at once, as of a killed process. There, an
    exception in the definition of a `Struct` can crash the interpreter."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        frame = frame.f_back
    raise KeyboardInterrupt


def run() -> int:
    from camkes.cli.main import main as command_line

    return command_line()


if __name__ == "__main__":
    main()
