# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""clang-tidy, with the checks of `.clang-tidy`, has no report about the code of images.

Skipped where it is not installed, and for versions that have checks which were not tried.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import which

import pytest

from camkes.resources import ROOT
from tests.runtime.code_of_images import RECORDED, of_host, of_sel4
from tests.runtime.generated import Code, generated, measuring

pytestmark = pytest.mark.requirement("RT-38")

CONFIGURATION = ROOT / ".clang-tidy"
TRIED = range(14, 20)
#: code with a report
WRONG = "int f(int a) { int b = 0; if (a) { b = 1; } return 1 / (b - b); }\n"
#: what the analyzer of Clang takes long for
NO_ANALYZER = "--checks=-clang-analyzer-*"


def _version() -> int:
    """0: it is not installed."""
    if which("clang-tidy") is None:
        return 0
    told = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"version (\d+)", told)
    return int(found[1]) if found else 0


needs_tidy = pytest.mark.skipif(_version() not in TRIED, reason="clang-tidy 14 to 19 is not installed")


def reported(code: Code, *options: str) -> list[str]:
    """The reports about a source and the headers that it includes."""
    command = ["clang-tidy", "--quiet", f"--config-file={CONFIGURATION}", *options, str(code.source)]
    done = subprocess.run([*command, "--", *code.flags], capture_output=True, text=True, check=False)
    assert "error: " not in done.stderr, done.stderr
    return re.findall(r"^.+: (?:warning|error): .+$", done.stdout, re.MULTILINE)


def all_reported(codes: Iterable[Code], *options: str) -> set[str]:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return {each for found in pool.map(lambda code: reported(code, *options), codes) for each in found}


def left_out() -> dict[str, str]:
    """The checks that are left out, and why."""
    return dict(re.findall(r"^# -(\S+): (.+)$", CONFIGURATION.read_text(), re.MULTILINE))


def test_each_check_that_is_left_out_has_a_reason() -> None:
    checks = CONFIGURATION.read_text().split("\nChecks:")[1]
    assert re.findall(r"^  -([a-z][^,\n]*)", checks, re.MULTILINE) == list(left_out())


@needs_tidy
def test_it_has_reports_about_other_code(tmp_path: Path) -> None:
    (tmp_path / "code.c").write_text(WRONG)
    found = reported(Code(tmp_path / "code.c", ()))
    assert any("clang-analyzer-core.DivideZero" in each for each in found)


@needs_tidy
@pytest.mark.parametrize("mcs", [pytest.param(False, marks=pytest.mark.long), True], ids=["plain", "mcs"])
def test_of_the_runtime(mcs: bool) -> None:
    assert all_reported(of_host(mcs=mcs)) == set()


@needs_tidy
@pytest.mark.parametrize("mcs", [pytest.param(False, marks=pytest.mark.long), True], ids=["plain", "mcs"])
def test_of_what_only_images_for_sel4_have(mcs: bool, tmp_path: Path) -> None:
    """Recorded, an image has more code."""
    checked_before = {code.source for code in of_host(mcs=mcs)}
    codes = [c for c in of_sel4(tmp_path, mcs=mcs, defined=RECORDED) if c.source not in checked_before]
    assert len(codes) > 15
    assert all_reported(codes) == set()


@needs_tidy
@pytest.mark.parametrize("name", ["primitives-mcs", "time"])
def test_of_generated_code(name: str, tmp_path: Path) -> None:
    assert all_reported(generated(tmp_path, name), NO_ANALYZER) == set()


def _everything(folder: Path) -> Iterator[Code]:
    for name in ("shapes", "primitives-mcs", "time", "bands"):
        yield from generated(folder / name, name)
    yield from measuring(folder / "measure")


@needs_tidy
@pytest.mark.long
def test_of_all_generated_code_and_what_measures(tmp_path: Path) -> None:
    assert all_reported(_everything(tmp_path)) == set()


@needs_tidy
@pytest.mark.long
def test_no_check_is_left_out_to_no_purpose(tmp_path: Path) -> None:
    """But for those that this version does not have, and the analyzer's, which depend on each other."""
    names = [name for name in left_out() if not name.startswith("clang-analyzer-")]
    every = subprocess.run(
        ["clang-tidy", "--list-checks", "--checks=*"], capture_output=True, text=True, check=True
    ).stdout.split()
    codes = [*of_host(mcs=True), *of_sel4(tmp_path, mcs=True)]
    found = all_reported(codes, f"--checks=-*,{','.join(names)}")
    assert [name for name in names if name in every and not any(name in each for each in found)] == []
