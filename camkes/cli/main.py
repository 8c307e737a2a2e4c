# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The `camkes` command: from its arguments to a command of the table, and to an exit status.

Exit status: 0 good, 1 the user's input has errors (or a run found a fault), 2 wrong usage, 3 a defect
of this tool, 130 interrupted. What is slow to import is imported in the command that needs it.
"""

from __future__ import annotations

import argparse
import errno
import sys
from collections.abc import Sequence
from pathlib import Path

from camkes import pipeline
from camkes.backends.host.errors import limited, unwritten
from camkes.cli.arguments import refuse, with_flags_joined
from camkes.cli.output import DEFECT, GOOD, INTERRUPTED, USAGE, USER_ERROR, write_diagnostics
from camkes.cli.table import make_parser
from camkes.diagnostics import Sink
from camkes.files import OutputError
from camkes.process import CANNOT_WRITE, no_output
from camkes.process.limits import LimitError, error_of_limit

_NOT_UTF8 = "camkes: this locale cannot write {!r}: Python uses {} for names of files; set PYTHONUTF8=1"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    words = sys.argv[1:] if argv is None else argv
    return run_command(make_parser(words[0] if words else None), words)


def run_command(parser: argparse.ArgumentParser, words: Sequence[str]) -> int:
    """Run the command that these words give to a parser, whose `run_command` is a function of the arguments.
    Returns the exit status, whatever happens in it."""
    try:
        arguments, unknown = parser.parse_known_args(with_flags_joined(words))
        if unknown:
            refuse(getattr(arguments, "parser", parser), unknown)
        if not hasattr(arguments, "run_command"):
            parser.print_help(sys.stderr)
            return USAGE
        if not _is_somewhere():
            print(f"{parser.prog}: the current folder does not exist any more", file=sys.stderr)
            return USER_ERROR
        status: int = arguments.run_command(arguments)
        sys.stdout.flush()
        return status
    except SystemExit as ended:  # --help, --version, wrong usage
        return int(ended.code or GOOD)
    except KeyboardInterrupt:
        return INTERRUPTED
    except OutputError as error:
        sink = Sink()
        sink.add(unwritten(error))
        return write_diagnostics(arguments, sink)
    except LimitError as error:
        sink = Sink()
        sink.add(limited(error))
        return write_diagnostics(arguments, sink)
    except PermissionError as error:
        sink = Sink()
        sink.add(pipeline.unreadable(error))
        return write_diagnostics(arguments, sink)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in CANNOT_WRITE:
            return no_output(error)
        if isinstance(error, UnicodeEncodeError) and sys.getfilesystemencoding() != "utf-8":
            print(_NOT_UTF8.format(error.object, sys.getfilesystemencoding()), file=sys.stderr)
            return USER_ERROR
        limit = _limit_of(error)
        if limit is not None:
            sink = Sink()
            sink.add(limited(limit))
            return write_diagnostics(arguments, sink)
        import traceback

        traceback.print_exc()
        print(
            f"\ncamkes: this is a defect of camkes ({type(error).__name__}), not of your system. "
            "Please report it with the lines above.",
            file=sys.stderr,
        )
        return DEFECT


def _limit_of(error: Exception) -> LimitError | None:
    """The limit that Python ran into, if that is why."""
    if isinstance(error, MemoryError):
        return error_of_limit(errno.ENOMEM, "there is no memory left")
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return error_of_limit(errno.EAGAIN, "a thread cannot be started")
    return None


def _is_somewhere() -> bool:
    """Whether the current folder exists, which relative names are in."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
