# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Short digests of the inputs of a build step."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path


def of_bytes(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def of_words(words: Iterable[str]) -> str:
    return of_bytes("\0".join(words).encode(errors="surrogateescape"))


def of_file(path: Path) -> str:
    """The digest of a file's content; "" where it cannot be read."""
    try:
        return of_bytes(path.read_bytes())
    except OSError:
        return ""
