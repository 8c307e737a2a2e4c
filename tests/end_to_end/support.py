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


def write(folder: Path, components: str, assembly: str, sources: dict[str, str]) -> Path:
    """A system; `sources` are bodies of files by the names of component types."""
    folder.mkdir(parents=True, exist_ok=True)
    text = f"import <std_connector.camkes>;\n{components}\nassembly {{\n{assembly}\n}}\n"
    (folder / "system.camkes").write_text(text)
    for name, text in sources.items():
        (folder / f"{name}.c").write_text(f"#include <camkes.h>\n{text}\n")
    return folder / "system.camkes"


def loop(body: str) -> str:
    """The code of a task whose jobs all do the same; MS(2) is 2 ms of work."""
    macro = "#define MS(n) camkes_work(CAMKES_MS(n))\n#define W(call) if (call) { return 1; }\n"
    return macro + f"int run(void) {{ while (camkes_next_job()) {{ {body} }} return 0; }}"
