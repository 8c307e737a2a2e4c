# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""MISRA C:2012: what cppcheck's addon reports about code of images has an argument in docs/misra.md.

Skipped where cppcheck with that addon is not installed.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import which

import pytest

from camkes.resources import HOST_KERNEL, ROOT, RUNTIME, SEL4_KERNEL
from tests.runtime.code_of_images import pools
from tests.runtime.generated import Code, generated, measuring, mocks

pytestmark = pytest.mark.requirement("RT-16")

PAGE = ROOT / "docs" / "misra.md"
#: code with a report
CODE = "int one(const int *from) { if (from[0]) { return 1; } return 0; }\n"
#: of those that the addon knows
MANDATORY = frozenset(
    ("9.1", "12.5", "13.6", "17.3", "17.4", "17.6", "19.1", "21.13", "22.2", "22.5", "22.6"),
)

OF_HOST = ("core", "group", "time", "platform/host")
#: definitions, and what is checked with them
CHECKED = (
    ((), tuple(RUNTIME / "src" / name for name in OF_HOST)),
    (("-DCONFIG_KERNEL_MCS=1",), tuple(RUNTIME / "src" / name for name in OF_HOST)),
    (
        (),
        (
            RUNTIME / "src" / "platform" / "sel4",
            SEL4_KERNEL / "timer",
            SEL4_KERNEL / "trace",
            SEL4_KERNEL / "heap",
        ),
    ),
)
#: the host kernel is not a part of images
COMMON = ("-DseL4_FastMessageRegisters=4", f"--suppress=*:{HOST_KERNEL}/*")


def reported(folder: Path, *words: str | Path) -> Iterator[tuple[str, str]]:
    """Rules that the addon reports, with their places."""
    build = Path(tempfile.mkdtemp(dir=folder))
    done = subprocess.run(
        [
            *("cppcheck", "--quiet", "--std=c11", "--addon=misra", "--template={file}:{line} {id}"),
            f"--cppcheck-build-dir={build}",
            *map(str, words),
        ],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
    )
    for place, rule in re.findall(r"^(\S+) misra-c2012-([0-9.]+)$", done.stderr, re.MULTILINE):
        yield rule, place


def of_codes(folder: Path, codes: Iterable[Code]) -> dict[str, str]:
    """Rules that are reported about sources, and the headers that they include."""

    def of_code(code: Code) -> dict[str, str]:
        words = [word for word in code.flags if not word.startswith("-std=")]
        return dict(reported(folder, *COMMON, *words, code.source))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return {rule: place for found in pool.map(of_code, codes) for rule, place in found.items()}


def has_addon(folder: Path) -> bool:
    if which("cppcheck") is None:
        return False
    (folder / "code.c").write_text(CODE)
    try:
        return any(reported(folder, "code.c"))
    except subprocess.CalledProcessError:
        return False


def tables() -> tuple[set[str], set[str]]:
    """The rules of both tables of the page."""
    required, advisory = PAGE.read_text().split("## Advisory")
    rows = (re.findall(r"^\| ([0-9., ]+) \|", part, re.MULTILINE) for part in (required, advisory))
    first, second = ({rule for row in part for rule in row.split(", ")} for part in rows)
    return first, second


def test_no_rule_is_in_both_tables_and_none_is_mandatory() -> None:
    required, advisory = tables()
    assert len(required) > 10 and len(advisory) > 10
    assert not required & advisory and not MANDATORY & (required | advisory)


def test_each_report_has_an_argument(tmp_path: Path) -> None:
    if not has_addon(tmp_path):
        pytest.skip("cppcheck with its addon misra is not installed")
    includes = [f"-I{RUNTIME / 'include'}", f"-I{HOST_KERNEL / 'include'}", f"-I{SEL4_KERNEL}"]
    found: dict[str, str] = {}
    for definitions, folders in CHECKED:
        words = ("-DCAMKES_KERNEL_HOST=1", *COMMON, *definitions, *includes, *folders)
        found |= dict(reported(tmp_path, *words))
    primitives, time = generated(tmp_path / "primitives", "primitives"), generated(tmp_path / "time", "time")
    codes = [code for code in primitives if code.source.parent.name == "server"]
    codes += [code for code in time if code.source.name == "time.c"]
    codes += [code for code in mocks(tmp_path / "mocks") if code.source.parent.name == "plain"]
    codes.append(pools(tmp_path / "pools"))
    found |= of_codes(tmp_path, codes)
    required, advisory = tables()
    assert {rule: place for rule, place in found.items() if rule not in required | advisory} == {}
    assert (required | advisory) - found.keys() == set(), "no longer reported"


@pytest.mark.long
def test_each_report_about_generated_code_and_what_measures_has_an_argument(tmp_path: Path) -> None:
    if not has_addon(tmp_path):
        pytest.skip("cppcheck with its addon misra is not installed")
    codes = [*generated(tmp_path / "shapes", "shapes"), *measuring(tmp_path / "measure")]
    codes += mocks(tmp_path / "mocks")
    for name in ("primitives-mcs", "time", "bands"):
        codes += generated(tmp_path / name, name)
    required, advisory = tables()
    found = of_codes(tmp_path, codes)
    assert {rule: place for rule, place in found.items() if rule not in required | advisory} == {}
