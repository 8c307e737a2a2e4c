# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Relocatable objects: which function calls or names which other, as relocations show it.

Read from 64-bit little-endian ELF files compiled with a section for each function. A relocation in a function
is a call or takes an address; one in data takes an address.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")

_SYMTAB, _RELA = 2, 4
_ALLOCATED, _EXECUTABLE = 0x2, 0x4
_LOCAL, _WEAK = 0, 2
_SECTION_SYMBOL, _FUNCTION = 3, 2
_X86_64, _AARCH64 = 62, 183
_AARCH64_CALLS = (282, 283)  # JUMP26, CALL26
_X86_64_CALL, _X86_64_JUMP = 0xE8, 0xE9
#: Sections with addresses of functions through which no code calls.
_TABLES = (".eh_frame", ".gcc_except_table", ".init_array", ".fini_array")


class ObjectError(Exception):
    """The file is not an object that the tool can read."""


class ObjectFile(Struct):
    """Functions of an object and what they do; a `FunctionSymbol` has whether a name is the object's own.

    `taken` are functions whose address data has, `takes` those whose address code takes. `same` are pairs of
    names of the same code (aliases). A function that is `weak` gives way to one of its name elsewhere.
    """

    functions: set[FunctionSymbol] = field(default_factory=set)
    weak: set[FunctionSymbol] = field(default_factory=set)
    calls: list[tuple[FunctionSymbol, FunctionSymbol]] = field(default_factory=list)
    takes: list[tuple[FunctionSymbol, FunctionSymbol]] = field(default_factory=list)
    taken: set[FunctionSymbol] = field(default_factory=set)
    same: list[tuple[FunctionSymbol, FunctionSymbol]] = field(default_factory=list)


class FunctionSymbol(NamedTuple):
    """A function. A local one is another in each object."""

    text: str
    local: bool


class _ObjectSection(NamedTuple):
    name: str
    kind: int
    flags: int
    data: bytes
    link: int
    info: int


class _ObjectSymbol(NamedTuple):
    name: FunctionSymbol
    weak: bool
    kind: int
    section: int
    value: int
    size: int


def read_object(path: Path) -> ObjectFile:
    """Read an object file. ObjectError if that is not possible."""
    try:
        return _read(path.read_bytes())
    except (struct.error, IndexError, ValueError) as error:
        raise ObjectError(f"{path} is damaged: {error}") from error
    except OSError as error:
        raise ObjectError(f"cannot read {path}: {error}") from error


def is_x86_64(path: Path) -> bool:
    """Whether an object that was read is code for x86_64."""
    with path.open("rb") as file:
        return bool(_HEADER.unpack(file.read(_HEADER.size))[2] == _X86_64)


def _read(data: bytes) -> ObjectFile:
    if data[:4] != b"\x7fELF" or data[4] != 2 or data[5] != 1:
        raise ObjectError("not a 64-bit little-endian ELF file")
    header = _HEADER.unpack_from(data)
    machine = header[2]
    if machine not in (_X86_64, _AARCH64):
        raise ObjectError(f"code for machine {machine}")
    sections = _sections(data, header[6], header[12], header[13])
    found = ObjectFile()
    for table in sections:
        if table.kind == _SYMTAB:
            symbols = _symbols(table, sections[table.link].data)
            break
    else:
        return found
    functions: dict[int, list[_ObjectSymbol]] = {}
    for symbol in symbols:
        executable = 0 < symbol.section < len(sections) and sections[symbol.section].flags & _EXECUTABLE
        # assembly need not declare that a name is a function
        if symbol.name.text.startswith("$"):  # marks code and data on ARM
            continue
        if executable and symbol.kind != _SECTION_SYMBOL and (symbol.kind == _FUNCTION or not symbol.size):
            functions.setdefault(symbol.section, []).append(symbol)
            found.functions.add(symbol.name)
            if symbol.weak:
                found.weak.add(symbol.name)
    for here in functions.values():
        first: dict[int, _ObjectSymbol] = {}
        for symbol in here:
            other = first.setdefault(symbol.value, symbol)
            if other is not symbol:
                found.same += [(symbol.name, other.name), (other.name, symbol.name)]
    for section in sections:
        if section.kind == _RELA:
            _relocations(section, sections[section.info], section.info, symbols, functions, machine, found)
    return found


def _sections(data: bytes, offset: int, count: int, names: int) -> list[_ObjectSection]:
    raw = [_SECTION.unpack_from(data, offset + i * _SECTION.size) for i in range(count)]
    strings = data[raw[names][4] : raw[names][4] + raw[names][5]]
    nobits = 8
    return [
        _ObjectSection(
            _text(strings, s[0]),
            s[1],
            s[2],
            b"" if s[1] == nobits else data[s[4] : s[4] + s[5]],
            s[6],
            s[7],
        )
        for s in raw
    ]


def _text(strings: bytes, offset: int) -> str:
    return strings[offset : strings.index(b"\0", offset)].decode("utf-8", "replace")


def _symbols(table: _ObjectSection, strings: bytes) -> list[_ObjectSymbol]:
    return [
        _ObjectSymbol(
            FunctionSymbol(_text(strings, name), info >> 4 == _LOCAL),
            info >> 4 == _WEAK,
            info & 15,
            section,
            value,
            size,
        )
        for name, info, _, section, value, size in _SYMBOL.iter_unpack(table.data)
    ]


def _relocations(
    table: _ObjectSection,
    target: _ObjectSection,
    index: int,
    symbols: list[_ObjectSymbol],
    functions: dict[int, list[_ObjectSymbol]],
    machine: int,
    found: ObjectFile,
) -> None:
    if not target.flags & _ALLOCATED or target.name.startswith(_TABLES):
        return
    code = bool(target.flags & _EXECUTABLE)
    for offset, info, addend in _RELOCATION.iter_unpack(table.data):
        symbol, kind = symbols[info >> 32], info & 0xFFFFFFFF
        if not code:
            found.taken.update(_pointed_at(symbol, addend, functions))
            continue
        relative = machine == _X86_64  # counted from the end of the four bytes
        named = list(_named(symbol, addend + 4 * relative, functions))
        within = [s.name for s in _at(offset, functions.get(index, []))]
        if machine == _AARCH64:
            call = kind in _AARCH64_CALLS
        else:
            call = offset > 0 and target.data[offset - 1] in (_X86_64_CALL, _X86_64_JUMP)
        for caller in within:
            (found.calls if call else found.takes).extend((caller, name) for name in named)


def _named(
    symbol: _ObjectSymbol, addend: int, functions: dict[int, list[_ObjectSymbol]]
) -> Iterator[FunctionSymbol]:
    """The functions that a relocation names."""
    if symbol.kind == _SECTION_SYMBOL:
        yield from (s.name for s in _at(addend, functions.get(symbol.section, [])))
    elif symbol.section == 0 or symbol in functions.get(symbol.section, []):
        yield symbol.name


def _pointed_at(
    symbol: _ObjectSymbol, addend: int, functions: dict[int, list[_ObjectSymbol]]
) -> Iterator[FunctionSymbol]:
    """The functions that begin where data points. Other places in them are those of a `switch`."""
    if symbol.kind == _SECTION_SYMBOL:
        yield from (s.name for s in functions.get(symbol.section, []) if s.value == addend)
    elif addend == 0 and (symbol.section == 0 or symbol in functions.get(symbol.section, [])):
        yield symbol.name


def _at(offset: int, functions: list[_ObjectSymbol]) -> list[_ObjectSymbol]:
    """The function at an offset of a section; all of the section where sizes are missing."""
    return [s for s in functions if s.value <= offset < s.value + s.size] or functions
