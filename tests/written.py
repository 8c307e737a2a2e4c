# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Files that tests write."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def write_files(folder: Path, files: Mapping[str, str]) -> Path:
    """Write texts by their paths in a folder, which is returned; folders are made."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def write_named(folder: Path, **files: str) -> Path:
    """Write files (`a_h` is a.h, `b__a_h` is b/a.h), and return the path of the first."""
    texts = {name.replace("__", "/").replace("_", "."): text for name, text in files.items()}
    write_files(folder, texts)
    return folder / next(iter(texts))
