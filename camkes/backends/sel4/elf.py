# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""As much of the ELF format as a loader's description needs: segments, symbols, the entry point.

Little-endian files of 32 and 64 bits. Read in place: a debug image has tens of thousands of symbols, of
which we want a handful, and a linker step should not take longer than the link.
"""

from __future__ import annotations

import mmap
import os
import struct
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

_PT_LOAD = 1
_SHT_SYMTAB = 2
_SHN_UNDEF = 0
_MAX_ENTRIES = 1 << 20


class ElfError(Exception):
    """The file is not an ELF image that the tool can read."""


class ElfSegment(NamedTuple):
    """A part of the file that is loaded. `rights` is a subset of "RWX"."""

    vaddr: int
    memory_size: int
    offset: int
    file_size: int
    rights: str


class ElfSymbol(NamedTuple):
    value: int
    size: int


class _ElfForm(Struct, frozen=True):
    """The layout of one class of ELF files: header, program header, section header, symbol."""

    header: struct.Struct
    program: struct.Struct
    section: struct.Struct
    symbol: struct.Struct
    #: of (offset, vaddr, filesz, memsz, flags) in a program header
    program_fields: tuple[int, int, int, int, int]
    #: of (value, size, section) in a symbol
    symbol_fields: tuple[int, int, int]


_FORMS = {
    1: _ElfForm(
        struct.Struct("<16sHHIIIIIHHHHHH"),
        struct.Struct("<IIIIIIII"),
        struct.Struct("<IIIIIIIIII"),
        struct.Struct("<IIIBBH"),
        (1, 2, 4, 5, 6),
        (1, 2, 5),
    ),
    2: _ElfForm(
        struct.Struct("<16sHHIQQQIHHHHHH"),
        struct.Struct("<IIQQQQQQ"),
        struct.Struct("<IIQQQQIIQQ"),
        struct.Struct("<IBBHQQ"),
        (2, 3, 5, 6, 1),
        (4, 5, 3),
    ),
}


class Image(Struct, frozen=True):
    """A linked program. `name` is what the loader's archive calls it."""

    name: str
    entry: int
    segments: tuple[ElfSegment, ...]
    symbols: dict[str, ElfSymbol]


def read_image(path: str | os.PathLike[str], wanted: Iterable[str], name: str | None = None) -> Image:
    """Read the image at `path` and those of the `wanted` symbols that it has."""
    try:
        with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:  # noqa: PTH123
            return _read(data, frozenset(wanted), name or os.path.basename(path))  # noqa: PTH119
    except (struct.error, IndexError, OverflowError) as error:
        raise ElfError(f"{path} is damaged: {error}") from error
    except (OSError, ValueError) as error:
        raise ElfError(f"cannot read {path}: {error}") from error


def _read(data: mmap.mmap, wanted: frozenset[str], name: str) -> Image:
    if data[:4] != b"\x7fELF":
        raise ElfError(f"{name} is not an ELF file")
    form = _FORMS.get(data[4])
    if form is None or data[5] != 1:
        raise ElfError(f"{name} is not a little-endian ELF file of 32 or 64 bits")
    header = form.header.unpack_from(data)
    entry, program_offset, section_offset = header[4:7]
    program_count, section_count = header[10], header[12]
    segments = []
    for number in range(program_count):
        fields = form.program.unpack_from(data, program_offset + number * form.program.size)
        offset, vaddr, file_size, memory_size, flags = (fields[i] for i in form.program_fields)
        if fields[0] == _PT_LOAD and memory_size:
            rights = "".join(right for right, bit in zip("RWX", (4, 2, 1), strict=True) if flags & bit)
            segments.append(ElfSegment(vaddr, memory_size, offset, file_size, rights))
    return Image(name, entry, tuple(segments), _symbols(data, form, section_offset, section_count, wanted))


def _symbols(
    data: mmap.mmap, form: _ElfForm, sections: int, count: int, wanted: frozenset[str]
) -> dict[str, ElfSymbol]:
    """Looks for the names in the string table first, then for the symbols that have them."""
    found: dict[str, ElfSymbol] = {}
    headers = [form.section.unpack_from(data, sections + i * form.section.size) for i in range(count)]
    for section in headers:
        if section[1] != _SHT_SYMTAB:
            continue
        start, size = section[4], section[5]
        strings = headers[section[6]]
        offsets = _name_offsets(data[strings[4] : strings[4] + strings[5]], wanted)
        if size // form.symbol.size > _MAX_ENTRIES:
            raise ElfError("the symbol table is damaged")
        for fields in form.symbol.iter_unpack(data[start : start + size]):
            name = offsets.get(fields[0])
            if name is not None:
                value, length, defined_in = (fields[i] for i in form.symbol_fields)
                if defined_in != _SHN_UNDEF:
                    found[name] = ElfSymbol(value, length)
    return found


def with_content(data: bytes, name: str, begin: int, end: int, inside: bytes, align: int) -> bytes:
    """An object file in whose section `name` other bytes are from `begin` to `end`, and then zeros up to a
    multiple of `align`. Symbols behind them move; relocations stay. Raises ElfError."""
    try:
        return _with_content(data, name.encode() + b"\0", begin, end, inside, align)
    except (struct.error, IndexError, KeyError) as error:
        raise ElfError(f"the object is damaged: {error}") from error


def _with_content(data: bytes, name: bytes, begin: int, end: int, inside: bytes, align: int) -> bytes:
    form = _FORMS[data[4]]
    header = list(form.header.unpack_from(data))
    table, count = header[6], header[12]
    sections = [list(form.section.unpack_from(data, table + i * form.section.size)) for i in range(count)]
    names = sections[header[13]][4]
    number = next((i for i, each in enumerate(sections) if data.startswith(name, names + each[0])), None)
    if number is None:
        raise ElfError(f"the object has no section {name.decode()}")
    start, size = sections[number][4:6]
    content = data[start : start + begin] + inside
    content += bytes(-len(content) % align)
    more = len(content) - size
    changed = bytearray(data[:start] + content + data[start + size :])
    sections[number][5] = len(content)
    for index, each in enumerate(sections):
        if each[4] > start:
            if more % (each[8] or 1):
                raise ElfError(f"a section behind {name.decode()} is aligned to {each[8]} bytes")
            each[4] += more
        at = table + (more if table > start else 0) + index * form.section.size
        form.section.pack_into(changed, at, *each)
        if each[1] == _SHT_SYMTAB:
            _move_symbols(changed, form, each, number, end, len(inside) - (end - begin))
    header[6] += more if table > start else 0
    form.header.pack_into(changed, 0, *header)
    return bytes(changed)


def _move_symbols(
    data: bytearray, form: _ElfForm, table: list[int], section: int, first: int, distance: int
) -> None:
    """Move the symbols of a section that are at `first` or behind it."""
    value, _, defined_in = form.symbol_fields
    for at in range(table[4], table[4] + table[5], form.symbol.size):
        fields = list(form.symbol.unpack_from(data, at))
        if fields[defined_in] == section and fields[value] >= first:
            fields[value] += distance
            form.symbol.pack_into(data, at, *fields)


def _name_offsets(strings: bytes, wanted: frozenset[str]) -> dict[int, str]:
    """Where the wanted names are in a string table. A linker may let a name be the end of a longer one."""
    offsets = {}
    for name in wanted:
        if not name:
            continue
        text = name.encode() + b"\0"
        at = strings.find(text)
        while at >= 0:
            offsets[at] = name
            at = strings.find(text, at + 1)
    return offsets
