# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Where the tool's own C files are, and where it keeps what it has compiled of them."""

from __future__ import annotations

import os
from pathlib import Path

import camkes

ROOT = Path(camkes.__file__).resolve().parent.parent
RUNTIME = ROOT / "runtime"
HOST_KERNEL = ROOT / "kernel" / "host"


def cache_folder() -> Path:
    """The user's cache; it may be deleted at any time."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "camkes-rt"
