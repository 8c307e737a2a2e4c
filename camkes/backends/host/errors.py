# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Errors of the machine, which prevent that files are made and programs run, as diagnostics."""

from __future__ import annotations

import errno
from pathlib import Path

from camkes.backends.host.codes import BUILD_FOLDER, LOW_LIMIT
from camkes.diagnostics import Diagnostic
from camkes.files import OutputError
from camkes.process.limits import LimitError, error_of_limit


def unwritten(error: OutputError) -> Diagnostic:
    """The error of a file that cannot be written."""
    cause = error.__cause__
    limit = error_of_limit(cause.errno, str(error)) if isinstance(cause, OSError) else None
    return Diagnostic(BUILD_FOLDER, str(error)) if limit is None else limited(limit)


def unusable(error: OSError, out: Path) -> Diagnostic:
    """The diagnostic for an error while files were made in a build folder `out`."""
    missing = error.errno == errno.ENOENT
    place = error.filename2 or error.filename or out
    message = f"{place} cannot be {'read' if missing else 'written'}: {error.strerror}"
    limit = error_of_limit(error.errno, message)
    if limit is not None:
        return limited(limit)
    help = "run the command again" if missing else "free space there, or choose another folder with -o"
    return Diagnostic(BUILD_FOLDER, message, help=help)


def limited(error: LimitError) -> Diagnostic:
    """The error of a limit of this process that is too low."""
    help = "raise it in the shell that the command is started from"
    return Diagnostic(LOW_LIMIT, str(error), notes=tuple(error.limits), help=help)
