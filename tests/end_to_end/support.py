# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Small systems of text, and the command in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.command import ROOT, Result
from tests.processes import PATIENCE

EXAMPLES = ROOT / "examples"


def camkes_process(*arguments: str | Path) -> Result:
    """Run `camkes` in a process of its own."""
    command = [sys.executable, "-m", "camkes", *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return Result(done.returncode, done.stdout, done.stderr)


def system(folder: Path, camkes_text: str, sources: dict[str, str]) -> Path:
    """A system of one `.camkes` file and C files beside it, found by the names of the component types."""
    path = folder / "system.camkes"
    path.write_text("import <std_connector.camkes>;\n" + camkes_text)
    for name, text in sources.items():
        (folder / name).write_text("#include <camkes.h>\n#include <stdio.h>\n" + text)
    return path
