# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Programs in C that test parts of the runtime or the host kernel by themselves, with the sanitizers on."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from camkes.evidence.requirements import named
from camkes.resources import ROOT

SANITIZED = ("cc", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def build(
    folder: Path,
    test: Path,
    sources: Sequence[Path],
    includes: Sequence[Path],
    *flags: str,
    compiler: Sequence[str] = SANITIZED,
) -> Path:
    program = folder / "test"
    subprocess.run(
        [
            *(*compiler, "-std=c11", "-O0", "-g1", "-Wall", "-Wextra", "-Wswitch-enum", "-Werror", *flags),
            *(f"-I{include}" for include in includes),
            *("-o", str(program), str(test), *map(str, sources)),
        ],
        check=True,
    )
    return program


def check(program: Path) -> None:
    done = subprocess.run([str(program)], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("good\n", "", 0)


def requirement_of(test: Path) -> pytest.MarkDecorator:
    """The requirements that a test in C names."""
    names = named(test.read_text("utf-8"))
    return pytest.mark.requirement(*names, source=test.relative_to(ROOT).as_posix())
