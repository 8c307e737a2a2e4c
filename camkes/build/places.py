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


def cache_folder() -> Path | None:
    """The user's cache, which may be deleted at any time; None for a user without a home."""
    base = os.environ.get("XDG_CACHE_HOME") or ""
    if base.startswith("/"):
        return Path(base) / "camkes-rt"
    try:
        return Path.home() / ".cache" / "camkes-rt"
    except RuntimeError:
        return None
