# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A process that does one thing and ends."""

from __future__ import annotations

import errno
import io
import os
import sys

#: The event of `sys.audit` that says of a program which was started that it read what we read, and no more.
ONLY_READ = "camkes.only-read"

#: Errors of a system call that speak of what is written to, not of us.
CANNOT_WRITE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EPIPE})


def in_english() -> dict[str, str]:
    """The environment for a program whose messages are read."""
    return {**os.environ, "LC_ALL": "C", "LANGUAGE": ""}


def say_only_read() -> None:
    """Vouch for the program that ended last."""
    sys.audit(ONLY_READ)


def prepare_streams() -> None:
    """What goes to a file or a program is UTF-8, as our files are; a terminal gets what it can show."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # closed
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))
    if not isinstance(sys.stdout, io.TextIOWrapper):
        return
    if sys.stdout.isatty():
        sys.stdout.reconfigure(errors="backslashreplace")
    else:
        sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")


def no_output(error: OSError) -> int:
    """What we print cannot be written; the exit status. A reader that went away is no mistake."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())  # or Python complains while it closes stdout
    if isinstance(error, BrokenPipeError):
        return 0
    print(f"camkes: cannot write {error.filename or 'the output'}: {error.strerror}", file=sys.stderr)
    return 1


def leave(status: int) -> None:
    """End the process. There is nothing left to be torn down, unless somebody asked to be told."""
    import atexit

    sys.stdout.flush()
    sys.stderr.flush()
    if atexit._ncallbacks() == 0:
        os._exit(status)
    sys.exit(status)
