# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Lines that are put into files, in which all else stays as it is, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from camkes.files import OutputError, write_all


class Insertion(Struct, frozen=True):
    """Lines to be put into a file after its first `line` lines; a file that there is not is made."""

    path: Path
    line: int
    text: str

    def applied(self, data: bytes) -> bytes:
        """The bytes of the file with the text, whose lines end as those of the file do."""
        end = b"\r\n" if b"\r\n" in data else b"\n"
        lines = data.split(b"\n")
        before = b"".join(line + b"\n" for line in lines[: self.line])[: len(data)]
        if before and not before.endswith(b"\n"):
            before += end
        return before + self.text.encode().replace(b"\n", end) + b"\n".join(lines[self.line :])


def line_count(text: str, end: int | None = None) -> int:
    """How many lines a text has up to an offset; the last one need not be a whole one."""
    text = text[:end]
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def write_insertions(insertions: Iterable[Insertion]) -> None:
    """Write files with what is put into them, or none of them. Raises OutputError."""
    texts: dict[Path, bytes] = {}
    try:
        for each in insertions:
            data = texts.get(each.path)
            if data is None:
                data = each.path.read_bytes() if each.path.exists() else b""
            texts[each.path] = each.applied(data)
        write_all(texts.items())
    except OSError as error:
        raise OutputError(f"cannot write {error.filename}: {error.strerror}") from error
