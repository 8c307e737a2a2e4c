# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Writes generated files, and removes those that are no longer generated."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

_NOTICE = "Generated from "


class GeneratedFile(Struct, frozen=True):
    """`kind` is "header" or "source"."""

    path: Path
    instance: str
    kind: str


def remove_stale(out: Path, files: Iterable[GeneratedFile]) -> None:
    """Remove what an earlier run generated one folder below `out` and this one did not."""
    current = {file.path for file in files}
    for name in ("camkes.h", "glue.c", "time.c"):
        for path in sorted(out.glob(f"*/{name}")):
            if path not in current and _is_ours(path):
                path.unlink()
                if not any(path.parent.iterdir()):
                    path.parent.rmdir()


def _is_ours(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        return any(_NOTICE in file.readline() for _ in range(3))
