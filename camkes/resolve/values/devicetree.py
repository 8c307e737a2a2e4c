# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Reading of flattened device trees (.dtb), as the Devicetree Specification describes the format."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TypeAlias

from msgspec import Struct, field

_MAGIC = 0xD00DFEED
_BEGIN_NODE, _END_NODE, _PROPERTY, _NOP, _END = 1, 2, 3, 4, 9

#: The values of a property: strings, 32-bit words, or bytes; empty where it only is there.
Cells: TypeAlias = "list[str] | list[int]"


class BadTreeError(Exception):
    """The file is not a device tree."""


class DeviceNode(Struct, eq=False):
    name: str
    parent: DeviceNode | None
    properties: dict[str, Cells] = field(default_factory=dict)
    children: list[DeviceNode] = field(default_factory=list)

    def walk(self) -> Iterator[DeviceNode]:
        """The nodes below this one, each before what is below it."""
        for child in self.children:
            yield child
            yield from child.walk()

    @property
    def path(self) -> str:
        return "" if self.parent is None else f"{self.parent.path}/{self.name}"


def read_tree(blob: bytes) -> DeviceNode:
    """The root of the tree in a .dtb file."""
    try:
        return _read(blob)
    except (struct.error, IndexError, ValueError, UnicodeDecodeError) as error:
        raise BadTreeError from error


def _read(blob: bytes) -> DeviceNode:
    magic, _, structure, strings = struct.unpack_from(">IIII", blob)
    if magic != _MAGIC:
        raise BadTreeError
    root: DeviceNode | None = None
    node: DeviceNode | None = None
    at = structure
    while True:
        (token,) = struct.unpack_from(">I", blob, at)
        at += 4
        if token == _BEGIN_NODE:
            name = _text(blob, at)
            at = _aligned(at + len(name) + 1)
            node = DeviceNode(name, node)
            if node.parent is None:
                root = node
            else:
                node.parent.children.append(node)
        elif token == _PROPERTY and node is not None:
            length, offset = struct.unpack_from(">II", blob, at)
            at += 8
            node.properties[_text(blob, strings + offset)] = _cells(blob[at : at + length])
            at = _aligned(at + length)
        elif token == _END_NODE and node is not None:
            node = node.parent
        elif token == _END and root is not None:
            return root
        elif token != _NOP:
            raise BadTreeError


def _text(blob: bytes, at: int) -> str:
    return blob[at : blob.index(0, at)].decode("ascii")


def _aligned(at: int) -> int:
    return (at + 3) & ~3


def _cells(value: bytes) -> Cells:
    """A tree does not have the types of values; the rule is that of the device tree compiler."""
    parts = value.split(b"\0")
    if parts.pop() == b"" and all(part and _printable(part) for part in parts):
        return [part.decode("ascii") for part in parts]
    if len(value) % 4 == 0:
        return list(struct.unpack(f">{len(value) // 4}I", value))
    return list(struct.unpack(f"{len(value)}b", value))


def _printable(part: bytes) -> bool:
    return all(0x20 <= byte < 0x7F or byte in b"\t\v\f" for byte in part)
