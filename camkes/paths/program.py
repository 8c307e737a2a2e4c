# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A linked program: its instructions, functions, and the lines of its sources.

What an instruction does to the flow of control follows from its mnemonic, as Capstone prints it, for x86_64
(Intel SDM, volume 2) and aarch64 (Arm ARM, C6). An instruction that is not known to be something else goes on
with the next one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from enum import Enum
from io import BytesIO
from pathlib import Path
from typing import Any

import capstone
from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from msgspec import Struct

from camkes.files import as_here

#: bytes of an instruction, at most
_LONGEST = 16


class ProgramError(Exception):
    """The file is not a program that can be read; the text says why."""


class Follow(Enum):
    """What is executed after an instruction."""

    NEXT = "next"
    JUMP = "jump"  # its target
    BRANCH = "branch"  # its target or the next one
    CALL = "call"  # its target, then the next one
    RETURN = "return"
    KERNEL = "kernel"  # the kernel, then the next one
    COMPUTED_JUMP = "computed jump"
    COMPUTED_CALL = "computed call"
    NOTHING = "nothing"  # the thread faults
    UNKNOWN = "unknown"  # there is no instruction, or one that is not known


class Instruction(Struct, frozen=True):
    """`writes` are the registers that it changes, `constant` is what it moves into the first one: a number,
    or the name of a register. If it is `repeated`, rcx has how often."""

    address: int
    size: int
    flow: Follow
    target: int | None
    mnemonic: str
    operands: str
    writes: tuple[str, ...]
    constant: int | str | None = None
    repeated: bool = False


class SourceLine(Struct, frozen=True, order=True):
    """A line of a source file."""

    path: str
    line: int


class _CompiledUnit(Struct, frozen=True):
    """A source that was compiled: where the code of lines begins."""

    name: str
    starts: list[int]
    lines: list[SourceLine | None]


class InstructionSet(Struct, frozen=True):
    """Registers and instructions of an architecture. `number` is the register with which seL4 knows what a
    kernel call asks for, `arguments` are those of the first arguments of a function."""

    name: str
    architecture: int
    mode: int
    number: str
    arguments: tuple[str, ...]
    registers: dict[str, str]
    flows: dict[str, Follow]
    branches: re.Pattern[str]


def _x86_registers() -> dict[str, str]:
    found: dict[str, str] = {}
    for letter in "abcd":
        found |= dict.fromkeys((f"{letter}l", f"{letter}h", f"{letter}x", f"e{letter}x"), f"r{letter}x")
    for name in ("si", "di", "bp", "sp"):
        found |= {f"{name}l": f"r{name}", name: f"r{name}", f"e{name}": f"r{name}"}
    for number in range(8, 16):
        found |= {f"r{number}{suffix}": f"r{number}" for suffix in "bwd"}
    return found


_FLOWS_X86 = {
    **{
        "jmp": Follow.JUMP,
        "call": Follow.CALL,
        "ret": Follow.RETURN,
        "syscall": Follow.KERNEL,
    },
    **dict.fromkeys(("ud2", "hlt", "int3", "ud1", "ud0"), Follow.NOTHING),
}
_FLOWS_ARM = {
    **{
        "b": Follow.JUMP,
        "bl": Follow.CALL,
        "br": Follow.COMPUTED_JUMP,
        "blr": Follow.COMPUTED_CALL,
    },
    **{
        "ret": Follow.RETURN,
        "svc": Follow.KERNEL,
        "brk": Follow.NOTHING,
        "udf": Follow.NOTHING,
    },
}
MACHINES = {
    "EM_X86_64": InstructionSet(
        *("x86_64", capstone.CS_ARCH_X86, capstone.CS_MODE_64, "rdx", ("rdi", "rsi", "rdx")),
        *(_x86_registers(), _FLOWS_X86, re.compile(r"j\w+|loop\w*")),
    ),
    "EM_AARCH64": InstructionSet(
        *("aarch64", capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM, "x7", ("x0", "x1", "x2")),
        *({f"w{n}": f"x{n}" for n in range(31)}, _FLOWS_ARM, re.compile(r"b\.\w+|t?cbn?z|tbn?z")),
    ),
}
_FLAGS = ("rflags", "nzcv")
_REPEATS = re.compile(r"rep\w* ")
_MOVES = ("mov", "movabs", "movz", "movl")
_NUMBER = re.compile(r"#?(-?)(0x[0-9a-f]+|\d+)$")


def number_in(text: str) -> int | None:
    """An operand that is a constant."""
    found = _NUMBER.match(text)
    return None if found is None else (-1 if found[1] else 1) * int(found[2], 0)


class LinkedProgram:
    """A linked ELF file. Raises OSError and ProgramError."""

    def __init__(self, path: Path, folders: Mapping[str, Path] = {}) -> None:
        """`folders` are those that the program has other names for, by these names."""
        self.path = path
        self._folders = folders
        try:
            self._read(ELFFile(BytesIO(path.read_bytes())))
        except (ELFError, ValueError, KeyError, UnicodeDecodeError) as error:
            raise ProgramError(f"it is not an ELF file, or a damaged one: {error}") from error
        self._known: dict[int, Instruction] = {}
        #: what functions can change of the registers of their callers; see `blocks.changed_by`
        self.changed: dict[int, frozenset[str]] = {}
        #: functions, and whether they return; see `blocks.function_at` and `blocks.returns`
        self.blocks: dict[int, Any] = {}
        self.returning: dict[int, bool] = {}

    def _read(self, elf: Any) -> None:
        if elf["e_machine"] not in MACHINES:
            raise ProgramError(f"it is for {elf['e_machine']}; paths are bounded for x86_64 and aarch64")
        if elf["e_type"] == "ET_REL":
            raise ProgramError("it is an object file; paths are those of a linked program")
        self.machine = MACHINES[elf["e_machine"]]
        self._decoder = capstone.Cs(self.machine.architecture, self.machine.mode)
        self._decoder.detail = True
        self._segments = [(s["p_vaddr"], s.data()) for s in elf.iter_segments("PT_LOAD")]
        table = elf.get_section_by_name(".symtab")
        if table is None:
            raise ProgramError("it has no symbols; link it without -s, and do not strip it")
        #: addresses of functions, and their names; several functions of one name have several addresses
        self.names: dict[int, str] = {}
        self.functions: dict[str, list[int]] = {}
        #: names of places in functions, without their numbers: see CAMKES_UNUSUAL() in camkes/platform.h
        self.places: dict[int, str] = {}
        for symbol in table.iter_symbols():
            if symbol["st_info"]["type"] == "STT_NOTYPE":
                self.places[symbol["st_value"]] = symbol.name.rpartition("_")[0]
            if symbol["st_info"]["type"] == "STT_FUNC" and symbol["st_shndx"] != "SHN_UNDEF":
                addresses = self.functions.setdefault(symbol.name, [])
                if symbol["st_value"] not in addresses:
                    addresses.append(symbol["st_value"])
                self.names.setdefault(symbol["st_value"], symbol.name)
        self._dwarf: Any = elf.get_dwarf_info() if elf.has_dwarf_info() else None
        self._ranges = None if self._dwarf is None else self._dwarf.get_aranges()
        self._units: dict[int, _CompiledUnit] = {}

    def _unit(self, address: int) -> _CompiledUnit | None:
        """The compiled source with an instruction."""
        offset = None if self._ranges is None else self._ranges.cu_offset_at_addr(address)
        if offset is None:
            return None
        if offset not in self._units:
            self._units[offset] = self._read_unit(self._dwarf.get_CU_at(offset))
        return self._units[offset]

    def line(self, address: int) -> SourceLine | None:
        """The line of a source that an instruction is from; None: not known."""
        unit = self._unit(address)
        index = -1 if unit is None else bisect_right(unit.starts, address) - 1
        return unit.lines[index] if unit is not None and index >= 0 else None

    def source(self, address: int) -> str:
        """The path of the source that was compiled, as the program names it; "" if it is not known."""
        unit = self._unit(address)
        return "" if unit is None else unit.name

    def memory(self, address: int, size: int) -> bytes:
        """What is loaded there; shorter at the end of a segment."""
        for start, data in self._segments:
            if start <= address < start + len(data):
                return bytes(data[address - start : address - start + size])
        return b""

    def instruction(self, address: int) -> Instruction:
        """The one at an address."""
        if address not in self._known:
            found = next(self._decoder.disasm(self.memory(address, _LONGEST), address, 1), None)
            unknown = Instruction(address, 1, Follow.UNKNOWN, None, "", "", ())
            self._known[address] = unknown if found is None else self._instruction(found)
        return self._known[address]

    def _instruction(self, found: Any) -> Instruction:
        machine, operands = self.machine, found.op_str
        mnemonic = found.mnemonic.removeprefix("notrack ").removeprefix("bnd ")
        flow = machine.flows.get(mnemonic)
        if flow is None:
            flow = Follow.BRANCH if machine.branches.fullmatch(mnemonic) else Follow.NEXT
        target = None
        if flow in (Follow.JUMP, Follow.BRANCH, Follow.CALL):
            target = number_in(operands.rpartition(",")[2].strip())
            if target is None:
                flow = Follow.COMPUTED_CALL if flow is Follow.CALL else Follow.COMPUTED_JUMP
        written = [found.reg_name(register) for register in found.regs_access()[1]]
        written.sort(key=_FLAGS.__contains__)
        writes = tuple(dict.fromkeys(machine.registers.get(name, name) for name in written))
        repeats = _REPEATS.match(mnemonic) is not None
        constant = self._constant(mnemonic, operands)
        return Instruction(
            *(found.address, found.size, flow, target, mnemonic, operands, writes),
            *(constant, repeats),
        )

    def _constant(self, mnemonic: str, operands: str) -> int | str | None:
        """What is moved to a register."""
        parts = [part.strip() for part in operands.split(",")]
        names = [self.machine.registers.get(part, part) for part in parts]
        if len(parts) != 2:
            same = len(set(names[1:])) == 1 and mnemonic == "eor"
            return 0 if same else None
        if mnemonic in ("xor", "sub") and names[0] == names[1]:
            return 0
        if mnemonic == "or" and number_in(parts[1]) in (-1, (1 << 64) - 1):
            return -1
        if mnemonic == "movn" and (number := number_in(parts[1])) is not None:
            return ~number
        if mnemonic in _MOVES:
            number = number_in(parts[1])
            return names[1] if number is None and "[" not in parts[1] else number
        return None

    def _read_unit(self, unit: Any) -> _CompiledUnit:
        attributes = unit.get_top_DIE().attributes
        folder = attributes.get("DW_AT_comp_dir")
        base = Path(folder.value.decode() if folder is not None else "")
        table = self._dwarf.line_program_for_CU(unit)
        header = table.header
        files = [self._file(header, entry, base) for entry in header["file_entry"]]
        first = 1 if header["version"] < 5 else 0
        rows: list[tuple[int, SourceLine | None]] = []
        for state in (entry.state for entry in table.get_entries() if entry.state is not None):
            known = not state.end_sequence and state.line > 0 and state.file - first < len(files)
            rows.append((state.address, SourceLine(files[state.file - first], state.line) if known else None))
        rows.sort(key=lambda row: row[0])
        name = str(base / attributes["DW_AT_name"].value.decode())
        return _CompiledUnit(name, [address for address, _ in rows], [line for _, line in rows])

    def _file(self, header: Any, entry: Any, base: Path) -> str:
        """The path of a file in a table of lines."""
        folders = [base / folder.decode() for folder in header["include_directory"]]
        if header["version"] < 5:
            folders.insert(0, base)
        file = (folders[entry.dir_index] if entry.dir_index < len(folders) else base) / entry.name.decode()
        return str(as_here(file, self._folders))
