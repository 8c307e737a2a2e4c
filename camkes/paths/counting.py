# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Loops that end after a constant number of iterations, as their instructions show."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection

from msgspec import Struct

from camkes.paths.blocks import Block, Constants, changed, signed
from camkes.paths.program import Instruction, InstructionSet, LinkedProgram, number_in

#: iterations of a loop that are tried
_MOST = 1 << 20
_Compare = Callable[[int, int], bool]
#: what a branch goes by, and whether numbers are compared with their signs; for x86_64 and aarch64
_CONDITIONS: dict[str, tuple[_Compare, bool]] = {
    **dict.fromkeys(("je", "b.eq"), (operator.eq, False)),
    **dict.fromkeys(("jne", "b.ne"), (operator.ne, False)),
    **dict.fromkeys(("jb", "b.lo"), (operator.lt, False)),
    **dict.fromkeys(("jae", "b.hs"), (operator.ge, False)),
    **dict.fromkeys(("jbe", "b.ls"), (operator.le, False)),
    **dict.fromkeys(("ja", "b.hi"), (operator.gt, False)),
    **dict.fromkeys(("jl", "b.lt"), (operator.lt, True)),
    **dict.fromkeys(("jge", "b.ge"), (operator.ge, True)),
    **dict.fromkeys(("jle", "b.le"), (operator.le, True)),
    **dict.fromkeys(("jg", "b.gt"), (operator.gt, True)),
}
#: these compare a register with 0 by themselves
_ZERO = {"cbz": operator.eq, "cbnz": operator.ne}
_STEPS = {"add": 1, "adds": 1, "sub": -1, "subs": -1}
#: after these, flags compare the result with 0: equal or not
_COUNTING = ("add", "adds", "sub", "subs", "inc", "dec")
_LEA = re.compile(r"(\w+), \[(\w+) ([+-]) (0x[0-9a-f]+|\d+)\]")


def _step(instruction: Instruction, machine: InstructionSet) -> tuple[str, int, int] | None:
    """A register, the constant that an instruction adds to it, and how many bits it adds."""
    named = instruction.operands.split(", ")
    parts = [machine.registers.get(part, part) for part in named]
    register, bits = parts[0], _bits(named[0])
    if instruction.mnemonic in ("inc", "dec"):
        return register, 1 if instruction.mnemonic == "inc" else -1, bits
    if instruction.mnemonic in _STEPS and register == parts[-2]:
        number = number_in(parts[-1])
        return None if number is None else (register, _STEPS[instruction.mnemonic] * number, bits)
    lea = _LEA.fullmatch(instruction.operands) if instruction.mnemonic == "lea" else None
    if lea is not None and machine.registers.get(lea[1], lea[1]) == machine.registers.get(lea[2], lea[2]):
        return register, int(lea[4], 0) * (-1 if lea[3] == "-" else 1), bits
    return None


def _bits(register: str) -> int:
    """How wide a register is; 0: it is not one of those with which is counted."""
    if register[0] == "w" or register[0] == "e" or register[-1] == "d":
        return 32
    return 64 if register[0] in "rx" and register[-1] not in "bwlh" else 0


class _Compared(Struct, frozen=True):
    """The register, as it is named, and the number that the branch at the end of a block compares, at an
    index; whether the branch looks only for 0."""

    register: str
    number: int
    zero: bool
    index: int


def _compared(block: Block, machine: InstructionSet) -> _Compared | None:
    branch, last = block.last, len(block.instructions) - 1
    if branch.mnemonic in _ZERO:
        return _Compared(branch.operands.split(", ")[0], 0, False, last)
    for index in range(last - 1, -1, -1):
        each = block.instructions[index]
        parts = each.operands.split(", ")
        number = number_in(parts[-1])
        if each.mnemonic == "cmp":
            return None if number is None or len(parts) != 2 else _Compared(parts[0], number, False, index)
        counts = each.mnemonic in _COUNTING and (machine.name == "x86_64" or each.mnemonic.endswith("s"))
        if counts or (each.mnemonic == "test" and len(set(parts)) == 1):
            return _Compared(parts[0], 0, True, index)
        if "rflags" in each.writes or "nzcv" in each.writes:
            return None
    return None


def times_gone_on(
    block: Block,
    stays: bool,
    inside: Collection[Block],
    before: Constants,
    program: LinkedProgram,
    order: Callable[[Block], bool | None],
) -> int | None:
    """How often the branch at the end of a block, which is executed once in each iteration, goes on with the
    loop; None: not known. The loop goes on if the condition holds, or if it does not and `stays` is false.
    `inside` are the blocks of the loop, and `before` the constants where it begins; `order` tells whether
    another block is executed once in each iteration, before (True) or after (False) the branch."""
    machine = program.machine
    compared = _compared(block, machine)
    if compared is None or not (bits := _bits(compared.register)):
        return None
    register = machine.registers.get(compared.register, compared.register)
    mnemonic = block.last.mnemonic
    condition, with_sign = _CONDITIONS.get(mnemonic, (_ZERO.get(mnemonic), False))
    writers = [
        (b, i) for b in inside for i, each in enumerate(b.instructions) if changed(program, each, register)
    ]
    if condition is None or (compared.zero and condition not in (operator.eq, operator.ne)):
        return None
    value = before.get(register)
    if len(writers) != 1 or value is None:
        return None
    (writer, position) = writers[0]
    step = _step(writer.instructions[position], machine)
    first = position <= compared.index if writer is block else order(writer)
    if step is None or step[0] != register or step[2] != bits or first is None:
        return None

    def number(value: int) -> int:
        return signed(value, bits) if with_sign else value & ((1 << bits) - 1)

    value += step[1] if first else 0
    for times in range(_MOST):
        if condition(number(value), number(compared.number)) != stays:
            return times
        value += step[1]
    return None
