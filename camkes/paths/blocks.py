# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The blocks of a function, and the constants that are in registers where they begin and end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property

from msgspec import Struct

from camkes.paths.program import Follow, Instruction, LinkedProgram
from camkes.protocols.cycles import reached

Constants = Mapping[str, int]

#: what a function that is called keeps (System V ABI for x86_64, AAPCS64)
KEPT = frozenset(
    (
        *("rbx", "rbp", "rsp", "r12", "r13", "r14", "r15"),
        *("x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "sp"),
    )
)
#: and a kernel call, whose fourth word comes in r15 on x86_64
_KERNEL_KEPT = KEPT - {"r15"}
#: more than all others
_ALL = frozenset(
    (*(f"r{n}" for n in range(8, 12)), *(f"x{n}" for n in range(31)), "rax", "rcx", "rdx", "rsi", "rdi")
)
#: names that GCC gives to parts and copies of a function
_PART = re.compile(r"\.(?:cold|part|constprop|isra|lto_priv)\b.*")
_COLD = re.compile(r"\.cold\b")
_CALLS = (Follow.CALL, Follow.COMPUTED_CALL)
_UNKNOWN = (Follow.COMPUTED_CALL, Follow.COMPUTED_JUMP, Follow.UNKNOWN)
_EXCLUSIVE = ("stxr", "stlxr", "stxp", "stlxp")


def source_name(name: str) -> str:
    """The name that a function has in its source."""
    return _PART.sub("", name)


class Block(Struct, frozen=True):
    """Instructions of which only the last one can be a jump, a call or a kernel call. With `call` the last
    one calls that address; a `tail` call ends the function. `jumps` nowhere known if the last one does."""

    instructions: tuple[Instruction, ...]
    successors: tuple[int, ...]
    call: int | None = None
    tail: bool = False

    @property
    def last(self) -> Instruction:
        return self.instructions[-1]

    @property
    def unknown(self) -> bool:
        """Whether it is not known what follows."""
        return bool(self.instructions) and self.last.flow in _UNKNOWN


class FunctionBlocks:
    """The blocks of the function at an address, by their addresses."""

    def __init__(self, program: LinkedProgram, entry: int) -> None:
        self.program, self.entry = program, entry
        self.name = source_name(program.names.get(entry, f"{entry:#x}"))
        self.blocks: dict[int, Block] = {}
        waiting, starts = [entry], {entry}
        following: dict[int, tuple[int, ...]] = {}
        while waiting:
            address = waiting.pop()
            if address in following:
                continue
            instruction = program.instruction(address)
            after = tuple(a for a in self._after(instruction) if not self._leaves(a))
            following[address] = after
            if instruction.flow is not Follow.NEXT or instruction.repeated:
                starts.update((*after, address) if instruction.repeated else after)
            waiting += after
        for start in sorted(starts & following.keys()):
            self.blocks[start] = self._block(start, starts, following)

    def _leaves(self, address: int) -> bool:
        """Whether it is where another function begins."""
        name = self.program.names.get(address)
        return name is not None and address != self.entry and _COLD.search(name) is None

    def _after(self, instruction: Instruction) -> tuple[int, ...]:
        following, target = instruction.address + instruction.size, instruction.target
        if instruction.flow in (Follow.RETURN, Follow.NOTHING, Follow.UNKNOWN, Follow.COMPUTED_JUMP):
            return ()
        if instruction.flow is Follow.JUMP:
            return (target,) if target is not None else ()
        if instruction.flow is Follow.BRANCH and target is not None:
            return (following,) if self._is_again(instruction) else (following, target)
        return (following, instruction.address) if instruction.repeated else (following,)

    def _is_again(self, branch: Instruction) -> bool:
        """Whether a branch goes back only where an exclusive access was interrupted (Arm ARM, B2.9)."""
        before = self.program.instruction(branch.address - branch.size)
        status = before.operands.partition(",")[0]
        return (
            before.mnemonic in _EXCLUSIVE
            and branch.mnemonic == "cbnz"
            and branch.operands.startswith(f"{status},")
        )

    def _block(self, start: int, starts: set[int], following: Mapping[int, tuple[int, ...]]) -> Block:
        found = [self.program.instruction(start)]
        while found[-1].flow is Follow.NEXT and following[found[-1].address]:
            address = following[found[-1].address][0]
            if address in starts or found[-1].repeated:
                break
            found.append(self.program.instruction(address))
        last = found[-1]
        if last.flow in _CALLS:
            return Block(tuple(found), following[last.address], last.target)
        left = [a for a in self._after(last) if self._leaves(a)]
        if left and len(left) + len(following[last.address]) == 1:
            return Block(tuple(found), (), left[0], tail=True)
        for address in left:  # a branch to another function: a block of no instructions calls it
            self.blocks[-address] = Block((), (), address, tail=True)
        return Block(tuple(found), (*following[last.address], *(-address for address in left)))

    @cached_property
    def before(self) -> dict[int, Constants]:
        """What is in registers where blocks begin."""
        known: dict[int, Constants] = {self.entry: {}}
        waiting = [self.entry]
        while waiting:
            start = waiting.pop()
            call = self.blocks[start].call
            if call is not None and not returns(self.program, call):
                continue
            after = constants_after(self.program, self.blocks[start].instructions, known[start])
            for address in self.blocks[start].successors:
                before = known.get(address)
                merged = after if before is None else {r: v for r, v in before.items() if after.get(r) == v}
                if before is None or merged != before:
                    known[address] = merged
                    waiting.append(address)
        return known

    def kernel_number(self, start: int) -> int | None:
        """What a block that ends with a kernel call asks for; None: not known."""
        value = self._at_end(start).get(self.program.machine.number)
        return None if value is None else signed(value, 64)

    def argument(self, start: int, index: int) -> int | None:
        """An argument of the function that a block calls at its end; None: not known."""
        return self._at_end(start).get(self.program.machine.arguments[index])

    def _at_end(self, start: int) -> Constants:
        instructions = self.blocks[start].instructions[:-1]
        return constants_after(self.program, instructions, self.before.get(start, {}))


def function_at(program: LinkedProgram, address: int) -> FunctionBlocks:
    """The function at an address."""
    known: dict[int, FunctionBlocks] = program.blocks
    if address not in known:
        known[address] = FunctionBlocks(program, address)
    return known[address]


def returns(program: LinkedProgram, address: int) -> bool:
    """Whether a function can return to what called it."""
    if address in program.returning:
        return program.returning[address]
    program.returning[address] = True  # in a recursion
    function = function_at(program, address)

    def after(start: int) -> Iterable[int]:
        block = function.blocks[start]
        return block.successors if block.call is None or returns(program, block.call) else ()

    blocks = [function.blocks[start] for start in reached([address], after)]
    program.returning[address] = any(
        (b.tail and b.call is not None and returns(program, b.call))
        or b.unknown
        or (b.instructions and b.last.flow is Follow.RETURN)
        for b in blocks
    )
    return program.returning[address]


def changed(program: LinkedProgram, instruction: Instruction, register: str) -> bool:
    """Whether a register can have another value after an instruction."""
    if register in instruction.writes:
        return True
    if instruction.flow is Follow.KERNEL:  # it keeps the number of the call
        return register not in _KERNEL_KEPT and register != program.machine.number
    if instruction.flow not in _CALLS or register in KEPT:
        return False
    return instruction.target is None or register in changed_by(program, instruction.target)


def changed_by(program: LinkedProgram, address: int) -> frozenset[str]:
    """The registers that a function, and what it calls, can change for its caller."""
    if address not in program.changed:
        program.changed[address] = _ALL  # in a recursion
        found: set[str] = set()
        for block in function_at(program, address).blocks.values():
            for each in block.instructions:
                found.update(each.writes)
            flows = {each.flow for each in block.instructions}
            if block.unknown or Follow.KERNEL in flows:
                found |= _ALL
            elif block.call is not None:
                found |= changed_by(program, block.call)
        program.changed[address] = frozenset(found - KEPT)
    return program.changed[address]


def constants_after(
    program: LinkedProgram, instructions: Iterable[Instruction], before: Constants
) -> Constants:
    """What is in registers after instructions."""
    known = dict(before)
    for each in instructions:
        value = known.get(each.constant) if isinstance(each.constant, str) else each.constant
        known = {register: v for register, v in known.items() if not changed(program, each, register)}
        if value is not None and each.writes:
            known[each.writes[0]] = value
    return known


def signed(value: int, bits: int) -> int:
    """A number as a signed one."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value
