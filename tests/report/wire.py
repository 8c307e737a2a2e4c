# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Reads protobuf messages back, knowing nothing but the wire format."""

from __future__ import annotations

Fields = dict[int, list[int | bytes]]


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data: bytes) -> Fields:
    """The fields of a message: number -> values in order."""
    result: Fields = {}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        value: int | bytes
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = int.from_bytes(data[at : at + 8], "little"), at + 8
        else:
            assert key & 7 == 2
            size, at = varint(data, at)
            assert at + size <= len(data)
            value, at = data[at : at + size], at + size
        result.setdefault(key >> 3, []).append(value)
    return result


def number(message: Fields, field: int) -> int:
    (value,) = message[field]
    assert isinstance(value, int)
    return value


def message(parent: Fields, field: int) -> Fields:
    (value,) = parent[field]
    assert isinstance(value, bytes)
    return fields(value)


def words(parent: Fields, field: int) -> str:
    (value,) = parent[field]
    assert isinstance(value, bytes)
    return value.decode()
