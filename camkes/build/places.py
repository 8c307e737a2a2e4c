# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Where the tool's own C files are."""

from __future__ import annotations

from pathlib import Path

import camkes

ROOT = Path(camkes.__file__).resolve().parent.parent
RUNTIME = ROOT / "runtime"
HOST_KERNEL = ROOT / "kernel" / "host"
