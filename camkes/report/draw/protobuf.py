# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The protobuf wire format, as far as a trace needs it: each function gives the bytes of one field."""

from __future__ import annotations


def varint(value: int) -> bytes:
    """Seven bits a byte, lowest first. Negative numbers are 64-bit two's complement."""
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def uint(field: int, value: int) -> bytes:
    """An integer, boolean or enumeration."""
    return varint(field << 3) + varint(value)


def fixed64(field: int, value: int) -> bytes:
    return varint(field << 3 | 1) + value.to_bytes(8, "little")


def blob(field: int, content: bytes) -> bytes:
    """Bytes, or a message."""
    return varint(field << 3 | 2) + varint(len(content)) + content


def string(field: int, text: str) -> bytes:
    return blob(field, text.encode())
