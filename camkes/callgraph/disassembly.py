# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Calls of a source, found in the disassembly of its object: for compilers that write no call graph.

The object is compiled without optimisation, with a section for each function and with line numbers, so that
a call is a call instruction, and the operand shows that it is one through a pointer.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from camkes.callgraph.gcc import CallPlace, SourceCalls
from camkes.callgraph.objects import FunctionSymbol, ObjectFile
from camkes.process import run

_FUNCTION = re.compile(r"[0-9a-f]+ <(.+)>:$")
_LINE = re.compile(r"(\S.*):(\d+)(?: \(discriminator \d+\))?$")
_INSTRUCTION = re.compile(r"\s+[0-9a-f]+:\t(?:notrack )?(\S+)\s*(.*)$")
_RELOCATION = re.compile(r"\s+[0-9a-f]+: R_\S+\s+(?:\.text\.)?(.+?)(?:[-+]0x[0-9a-f]+)?$")
_CALLS = ("call", "callq", "bl")
_CALLS_THROUGH_REGISTERS = ("blr", "blraa", "blrab", "blraaz", "blrabz")


def disassembled_calls(path: Path, code: ObjectFile) -> SourceCalls | None:
    """Calls with their lines; None where there is no disassembler for the object's machine."""
    objdump = shutil.which("objdump")
    if objdump is None:
        return None
    done = run([objdump, "-drl", "--no-show-raw-insn", str(path)])
    return _calls(done.output, code) if done.status == 0 else None


def _calls(text: str, code: ObjectFile) -> SourceCalls:
    static = {name.text for name in code.functions if name.local}
    found = SourceCalls()
    function: FunctionSymbol | None = None
    place: CallPlace | None = None
    calling = False
    for line in text.splitlines():
        if match := _INSTRUCTION.match(line):
            operation, operand = match.groups()
            calling = operation in _CALLS and not operand.startswith("*")
            pointer = operation in _CALLS_THROUGH_REGISTERS or (operation in _CALLS and not calling)
            if pointer and function is not None:
                found.indirect.append((function, place))
        elif match := _RELOCATION.match(line):
            if calling and function is not None:
                found.calls.append((function, FunctionSymbol(match[1], match[1] in static), place))
        elif match := _FUNCTION.match(line):
            function, place = FunctionSymbol(match[1], match[1] in static), None
        elif match := _LINE.match(line):
            place = CallPlace(match[1], int(match[2]), 0)
    return found
