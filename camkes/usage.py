# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The parser of the command line as argparse has it: help, and what is wrong with a word."""

from __future__ import annotations

import argparse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

WRONG_USAGE = 2


def fixed_width(prog: str) -> argparse.HelpFormatter:
    """argparse formats every argument to see whether it can; that need not ask how wide the terminal is."""
    return argparse.RawDescriptionHelpFormatter(prog, width=80)


class Parser(argparse.ArgumentParser):
    """Argument errors name the command and end with the one line that helps."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, formatter_class=fixed_width)

    def format_help(self) -> str:
        self.formatter_class = argparse.RawDescriptionHelpFormatter
        return super().format_help()

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USAGE, f"{self.prog}: {message}\nTry '{self.prog} --help'.\n")
