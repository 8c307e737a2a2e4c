# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Digests of files, each read once in a build."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


class Digests:
    """Digests by path; a file that is not there has the digest ""."""

    def __init__(self) -> None:
        self._known: dict[Path, str] = {}

    def of(self, path: Path) -> str:
        if path not in self._known:
            try:
                self._known[path] = of_text(path.read_bytes())
            except OSError:
                self._known[path] = ""
        return self._known[path]

    def forget(self, path: Path) -> None:
        """The file was written."""
        self._known.pop(path, None)

    def of_all(self, paths: Iterable[Path]) -> str:
        """One digest of several files and their names."""
        return of_words(f"{p.name} {self.of(p)}" for p in paths)


def of_text(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def of_words(words: Iterable[str]) -> str:
    return of_text("\0".join(words).encode())
