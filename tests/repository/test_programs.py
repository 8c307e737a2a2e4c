# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Programs are started in one module, which ends them: a program that another starts can outlive the tool."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.requirement("TOOL-28")

ROOT = Path(__file__).resolve().parents[2]
FILES = sorted(file for folder in ("camkes", "parser") for file in (ROOT / folder).rglob("*.py"))
#: that start a program, of modules that can
STARTS = {
    "subprocess": {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"},
    "os": {
        "system",
        "popen",
        "fork",
        "forkpty",
        "posix_spawn",
        "posix_spawnp",
        "spawnv",
        "spawnl",
        "spawnvp",
    },
}
STARTED_IN = "camkes/process/supervisor.py"


def starts(file: Path) -> list[str]:
    text, found = file.read_text(), []
    if not re.search(rf"\b(?:{'|'.join(STARTS)})(?:\.|\s+import\b)", text):
        return []
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name)):
                if name in STARTS.get(module, ()):
                    found.append(f"{file.relative_to(ROOT)}:{node.lineno}: {module}.{name}")
            case ast.ImportFrom(module=str(module), names=names):
                found += [
                    f"{file.relative_to(ROOT)}:{node.lineno}: {module}.{alias.name}"
                    for alias in names
                    if alias.name in STARTS.get(module, ())
                ]
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_no_other_module_starts_programs(file: Path) -> None:
    if str(file.relative_to(ROOT)) != STARTED_IN:
        assert starts(file) == []


def test_the_module_that_does_is_found() -> None:
    assert {start.rpartition(" ")[2] for start in starts(ROOT / STARTED_IN)} == {
        "os.posix_spawn",
        "subprocess.Popen",
    }
