# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""One C source in place of the glue of many instances.

Glue is functions and tables. Where instances of a component have the same functions, and their tables differ
in numbers and strings only, the source has the functions once and the tables of all: those of the first, by
the names that the functions use, and beside each an array with the values of every instance. The section
SECTION lists both. It is linked once, too; `SharedImage` then makes the image of an instance by putting its
values in the place of the first one's.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_left
from collections.abc import Sequence

from msgspec import Struct

SECTION = "camkes_tables"

#: what the compiler is given beside the flags of glue: a table of zeros is in the file, too
FLAGS = ("-fno-zero-initialized-in-bss",)

#: how many instances share a source: all their values are in the image of each
MOST = 32

_STRING = r'"(?:\\.|[^"\\\n])*"'
_COMMENT = re.compile(rf"({_STRING})|/\*.*?\*/", re.DOTALL)
_WORD_OR_STRING = re.compile(rf"{_STRING}|\w+")
#: the threads of an instance have names with its own name in them, which only its own glue uses
_THREAD = re.compile(r"^struct camkes_thread (\w+);$", re.MULTILINE)
#: a declaration and its initialiser: in templates nothing else begins a line and has ` = ` in it
_TABLE = re.compile(r"^(?=[a-z])([^\n={]*\S) = (\{$.*?^\}|[^\n]*);$", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"(\w+)(?:\[\d*\])*(?: __attribute__\(\(\w+\)\))?$")
_LIST = re.compile(r"\(const uint(?:8|16)_t\[\]\)\{[\d, ]*\}")
_VALUE = re.compile(rf"{_STRING}|(?<!\w)-?\d[\w.]*")

#: Compilers use the values of constants where they know them. What is read-only for another reason is read.
_CONSTANT = "static const "
_READ_ONLY = '__attribute__((section(".data.rel.ro.camkes")))'


class Glue(Struct, frozen=True):
    """A text of glue: what comes before each table, and after the last one; the tables' declarations and
    initialisers. The glue of two instances can be shared if their `outline` is equal."""

    between: tuple[str, ...]
    declarations: tuple[str, ...]
    values: tuple[str, ...]
    outline: str


def read_glue(text: str) -> Glue:
    """Glue without comments and without the names of its instance."""
    text = _COMMENT.sub(lambda found: found[1] or "", text)
    names = {name: f"camkes_thread_{number}" for number, name in enumerate(_THREAD.findall(text))}
    text = _WORD_OR_STRING.sub(lambda found: names.get(found[0], found[0]), text)
    parts = _TABLE.split(text)
    between, declarations, values = parts[::3], parts[1::3], parts[2::3]
    shapes = [_VALUE.sub("0", _LIST.sub("0", value)) for value in values]
    outline = "\0".join([*between, *declarations, *shapes])
    return Glue(tuple(between), tuple(declarations), tuple(values), outline)


def shared_text(instances: Sequence[Glue]) -> str:
    """The source of instances whose outline is equal. The first one's values are those of its tables."""
    first = instances[0]
    lines, listed = ["/* Generated: the glue of several instances. */"], []
    for number, (before, declaration) in enumerate(zip(first.between, first.declarations, strict=False)):
        values = [each.values[number] for each in instances]
        name = _NAME.search(declaration)
        if name is None or all(value == values[0] for value in values):
            lines.append(f"{before}{declaration} = {values[0]};")
            continue
        if declaration.startswith(_CONSTANT):
            declaration = f"static {declaration.removeprefix(_CONSTANT)} {_READ_ONLY}"
        lines.append(f"{before}{declaration} = {values[0]};")
        lines += [f"static const __typeof__({name[1]}) {name[1]}__of[] = {{", ",\n".join(values), "};"]
        listed.append(f"    {{&{name[1]}, {name[1]}__of, sizeof {name[1]}}},")
    lines.append(first.between[-1])
    if listed:
        record = "const struct { const void *used, *of; size_t size; }"
        place = f'__attribute__((section("{SECTION}"), used))'
        lines += [f"static {record} camkes__tables[] {place} = {{", *listed, "};"]
    return "\n".join([*lines, ""])


_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_PROGRAM = struct.Struct("<IIQQQQQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_RELOCATION = struct.Struct("<QQq")
_ENTRY = 24  # bytes of an entry of SECTION
_WORD = struct.Struct("<q")
_LOADED = 1
_WITH_ADDENDS = 4


class _Relocation(Struct, frozen=True):
    """`place`: where in the file its addend is. `kind` is its type and its symbol."""

    place: int
    kind: int
    addend: int


class SharedImage:
    """A linked image of shared glue: an ELF file of 64 bits, little-endian."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        header = _HEADER.unpack_from(data)
        programs, sections = header[5], header[6]
        self._loaded: list[tuple[int, int, int]] = [
            (address, size, offset)
            for kind, _, offset, address, _, size, _, _ in (
                _PROGRAM.unpack_from(data, programs + n * _PROGRAM.size) for n in range(header[10])
            )
            if kind == _LOADED
        ]
        found = [_SECTION.unpack_from(data, sections + n * _SECTION.size) for n in range(header[12])]
        names = found[header[13]][4]
        self._relocations: dict[int, _Relocation] = {}
        for each in found:
            if each[1] == _WITH_ADDENDS:
                for place in range(each[4], each[4] + each[5], _RELOCATION.size):
                    address, kind, addend = _RELOCATION.unpack_from(data, place)
                    self._relocations[address] = _Relocation(place + 16, kind, addend)
        self._addresses = sorted(self._relocations)
        self._tables = [
            (self._word(address), self._word(address + 8), self._word(address + 16))
            for each in found
            if data.startswith(f"{SECTION}\0".encode(), names + each[0])
            for address in range(each[3], each[3] + each[5], _ENTRY)
        ]

    def of(self, number: int) -> bytes:
        """The image of an instance, by its place among those that share the glue."""
        image = bytearray(self._data)
        for used, of, size in self._tables:
            own = of + number * size
            image[self._at(used) : self._at(used) + size] = self._data[self._at(own) : self._at(own) + size]
            pointers, others = self._pointers(used, size), self._pointers(own, size)
            assert pointers == others, "tables with different pointers share glue"
            for offset, _ in pointers:
                addend = self._relocations[own + offset].addend
                _WORD.pack_into(image, self._relocations[used + offset].place, addend)
        return bytes(image)

    def _pointers(self, address: int, size: int) -> list[tuple[int, int]]:
        """The offsets and kinds of relocations in a range of addresses."""
        first = bisect_left(self._addresses, address)
        last = bisect_left(self._addresses, address + size)
        return [(each - address, self._relocations[each].kind) for each in self._addresses[first:last]]

    def _word(self, address: int) -> int:
        """What is at an address when the image is loaded at 0."""
        relocation = self._relocations.get(address)
        found: int = _WORD.unpack_from(self._data, self._at(address))[0]
        return found if relocation is None else relocation.addend

    def _at(self, address: int) -> int:
        """Where in the file the content of an address is."""
        for start, size, offset in self._loaded:
            if start <= address < start + size:
                return address - start + offset
        raise AssertionError(f"a table at {address:#x} is not in the file")
