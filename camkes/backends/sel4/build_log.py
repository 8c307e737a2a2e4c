# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Finds the error messages in the log of a failed build."""

from __future__ import annotations

import re

#: how many lines are shown of each failed command
_MOST_LINES = 20
#: longer lines are cut: a linker can quote whole command lines
_LONGEST_LINE = 400

#: for the environment of ninja: begins each line of its own, so that no output of a command is taken for one
NINJA_STATUS = "[ninja %f/%t] "
_STATUS = re.compile(r"\[ninja \d+/\d+\] |ninja: ")
_FAILED = re.compile(r"FAILED: (?:\[code=\d+\] )?(?P<outputs>.*)")

#: where an error begins; not an option such as -Werror, nor a file such as error.c
_ERROR = re.compile(
    r"(?i)(?<![-\w./])(?:fatal |internal )?error(?:\[\w+\]|s?\b(?![.\w/-]))|^CMake Error|undefined reference"
    r"|^Traceback |No such file or directory|(?:command )?not found|\*\*\*"
)


def failing_lines(log: str) -> list[str]:
    """Of ninja's log: the output of each command that failed, below the name of what it was to make. Of
    another log (CMake's): from the first error on."""
    lines = [line for line in log.replace("\r", "\n").splitlines() if line.strip()]
    blocks = _failed_blocks(lines)
    if not blocks:
        first = next((i for i, line in enumerate(lines) if _ERROR.search(line)), 0)
        return _clipped(lines[first:])
    return [line for name, output in blocks for line in (f"FAILED: {name}", *_clipped(output))]


def _failed_blocks(lines: list[str]) -> list[tuple[str, list[str]]]:
    """What each failed command was to make, and what it printed."""
    blocks: list[tuple[str, list[str]]] = []
    inside = False
    skip_command = False
    for line in lines:
        if found := _FAILED.fullmatch(line):
            blocks.append((_first_output(found["outputs"]), []))
            inside = skip_command = True
        elif _STATUS.match(line):
            inside = False
        elif skip_command:  # ninja repeats the command, on one line
            skip_command = False
        elif inside:
            blocks[-1][1].append(line)
    return blocks


def _first_output(outputs: str) -> str:
    return outputs.split(" ", 1)[0]


def _clipped(lines: list[str]) -> list[str]:
    """At most so many lines: all, else from the first error on, else the last."""
    if len(lines) > _MOST_LINES:
        first = next((i for i, line in enumerate(lines) if _ERROR.search(line)), len(lines) - _MOST_LINES)
        lines = lines[first : first + _MOST_LINES]
    return [line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} ..." for line in lines]
