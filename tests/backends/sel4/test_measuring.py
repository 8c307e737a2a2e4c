# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes measure --platform` on seL4: it makes the profiles that come with the tool, and the page about
boards is true where QEMU takes the place of one.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR. SEL4_BUILDS=DIR keeps the builds.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from camkes.analysis.platform import Platform
from camkes.analysis.profiles import read_platform
from tests.command import camkes
from tests.documents import conforming

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "how-to" / "board.md"
pytestmark = [
    pytest.mark.requirement("SEL4-19"),
    pytest.mark.skipif(not os.environ.get("SEL4_WORKSPACE"), reason="SEL4_WORKSPACE names no workspace"),
    pytest.mark.skipif(shutil.which("qemu-system-x86_64") is None, reason="QEMU is not installed"),
    pytest.mark.long,
]


def builds(tmp_path: Path, name: str) -> tuple[str, Path]:
    return "--build-folder", Path(os.environ.get("SEL4_BUILDS") or tmp_path) / f"measure-{name}"


def figures(platform: Platform) -> Platform:
    """Without what it is called and where it is from."""
    return replace(platform, name="", source="", measured=None)


@pytest.mark.parametrize(
    ("machine", "mcs"),
    [
        ("qemu-x86_64", False),
        ("qemu-x86_64", True),
        ("qemu-aarch64", False),
        ("qemu-aarch64", True),
        ("qemu-riscv64", False),
        ("qemu-riscv64", True),
    ],
)
def test_profiles_are_those_of_the_tool(machine: str, mcs: bool, tmp_path: Path) -> None:
    name = f"{machine}-mcs" if mcs else machine
    if shutil.which(f"qemu-system-{machine.partition('-')[2]}") is None:
        pytest.skip(f"QEMU for {machine} is not installed")
    profile = tmp_path / "measured.toml"
    options = ("-D", "KernelIsMCS=ON") if mcs else ()
    words = ("measure", "--platform", "--machine", machine, *options, *builds(tmp_path, name))
    result = camkes(*words, "-o", profile, "--json")
    assert result.status == 0, result.errors
    assert figures(read_platform(str(profile))) == figures(read_platform(name))
    report = conforming("measure-platform", result.output)
    assert report["file"] == str(profile) and report["profile"]["measured"]["mcs"] is mcs


def test_the_page_about_boards(tmp_path: Path) -> None:
    """Its command with --boot, and its script, in which QEMU takes the place of the board."""
    text = PAGE.read_text()
    script = re.search(r'```sh title="lab.sh"\n(.*?)```', text, re.DOTALL)
    block = re.search(r"```sh\n(chmod \+x lab.sh\n.*?)```", text, re.DOTALL)
    assert script is not None and block is not None
    (tmp_path / "lab.sh").write_text(script[1])
    (tmp_path / "lab.sh").chmod(0o755)
    (command,) = re.findall(r"^camkes (.*)$", block[1], re.MULTILINE)
    words = [*shlex.split(command), *builds(tmp_path, "board")]
    result = camkes(*words, cwd=tmp_path)
    assert result.status == 0, result.errors
    measured = read_platform(str(tmp_path / "board.toml"))
    assert measured.measured is not None and measured.measured.figures == "maximum"
    # QEMU counts the instructions of this board, too
    for name in ("plain", "fixed", "propagated", "inherited"):
        assert getattr(measured, name) == getattr(read_platform("qemu-x86_64"), name)
    result = camkes(
        *("analyze", ROOT / "examples" / "nested", "--platform", tmp_path / "board.toml"),
        *("--no-search", "--json", "-o", tmp_path / "out"),
    )
    report = json.loads(result.output)
    assert result.status == 0 and report["verdict"] == "met if"
    assert [each["text"] for each in report["assumptions"]] == [
        "no operation takes longer than the longest of 20 samples on that board"
    ]
