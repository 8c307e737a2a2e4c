# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a start of the tool does not load: most of the time of a short run is that of its imports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.requirement("TOOL-28")

ROOT = Path(__file__).resolve().parents[2]

CHECK = "from camkes.cli.main import main; main(['check', '-q', 'examples/nested'])"  # CMake was asked before
LINK = "from camkes.backends.sel4.link import main"
GENERATE = "import camkes.cli.sel4, camkes.pipeline, camkes.backends.sel4.build"


@pytest.mark.parametrize(
    ("program", "absent"),
    [
        (CHECK, "dataclasses subprocess tempfile jinja2 lark rich networkx elftools"),
        (LINK, "dataclasses pathlib json argparse subprocess camkes.diagnostics"),
        (
            GENERATE,
            "dataclasses subprocess jinja2 elftools networkx camkes.callgraph camkes.backends.host.jobs",
        ),
    ],
    ids=["check", "link", "generate"],
)
def test_a_start_does_not_load_modules(program: str, absent: str) -> None:
    names = set(absent.split())
    if program == CHECK and sys.version_info >= (3, 14):
        names.discard("dataclasses")  # argparse loads it
    code = f"{program}\nimport sys\nprint(*sorted({names!r} & sys.modules.keys()))"
    if program == CHECK:
        subprocess.run([sys.executable, "-c", CHECK], cwd=ROOT, check=True)
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == ""  # the line that the program above prints
