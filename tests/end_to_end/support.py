# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Running the command as a user does: another process, its output, its exit status."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


@dataclass(frozen=True, slots=True)
class Result:
    status: int
    output: str
    errors: str


#: the command in this process, which saves its start; see the fixture `here`
Here = Callable[..., Result]


def camkes(*arguments: str | Path, cwd: Path = ROOT, timeout: float = 120) -> Result:
    """Run `camkes` with these arguments."""
    done = subprocess.run(
        [sys.executable, "-m", "camkes", *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=timeout,
        env=None,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def system(folder: Path, camkes_text: str, sources: dict[str, str]) -> Path:
    """A system of one `.camkes` file and C files beside it, found by the names of the component types."""
    path = folder / "system.camkes"
    path.write_text("import <std_connector.camkes>;\n" + camkes_text)
    for name, text in sources.items():
        (folder / name).write_text("#include <camkes.h>\n#include <stdio.h>\n" + text)
    return path
