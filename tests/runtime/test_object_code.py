# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Object code of the runtime and of drivers for seL4, as a release image has it.

Each conditional jump is from a line of the source that decides something: so tests that execute all decisions
of the source execute the code."""

from __future__ import annotations

import json
import platform
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest

from camkes.resources import ROOT
from tests.runtime.code_of_images import Code, of_sel4

pytestmark = pytest.mark.requirement("RT-40")

PAGE = ROOT / "docs" / "coverage.md"
#: `file:line` in the disassembly, and instructions that jump, or not
PLACE = re.compile(r"^(/\S+):(\d+)")
JUMP = re.compile(r"^\s+[0-9a-f]+:\s+(?!jmp)(?:j[a-z]+|loop\w*)\s")
#: words of a decision
DECIDES = re.compile(r"\b(?:if|while|for|switch)\b|&&|\|\||\?|CAMKES_(?:UN)?LIKELY")

Line = tuple[str, int]

needs_tools = pytest.mark.skipif(
    platform.machine() != "x86_64" or not all(map(which, ("gcc", "gcov", "objdump"))),
    reason="conditional jumps are known of x86_64, with gcc, gcov and objdump",
)


def compiled(code: Code, folder: Path, *options: str) -> bool:
    """Whether this machine can compile a file; others are for other machines."""
    command = ["gcc", *code.flags, *options, "-c", str(code.source), "-o", "code.o"]
    return subprocess.run(command, cwd=folder, capture_output=True).returncode == 0


def jumps(code: Code, folder: Path) -> Iterator[Line]:
    """The lines that conditional jumps of release code are from."""
    assert compiled(code, folder, "-O2", "-g")
    command = ["objdump", "-dl", "--no-show-raw-insn", "code.o"]
    listing = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    place: Line = ("", 0)
    for line in listing.splitlines():
        if found := PLACE.match(line):
            place = str(Path(found[1]).resolve()), int(found[2])
        elif JUMP.match(line):
            yield place


def decisions(code: Code, folder: Path) -> Iterator[Line]:
    """The lines on which the compiler sees branches before it changes the code."""
    assert compiled(code, folder, "-O0", "--coverage", "-fprofile-abs-path")
    command = ["gcov", "--json-format", "--stdout", "--branch-probabilities", "code.gcno"]
    written = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    for document in map(json.loads, written.splitlines()):
        for file in document["files"]:
            for line in file["lines"]:
                if line["branches"]:
                    yield str(Path(file["file"]).resolve()), line["line_number"]


def without_decision(codes: Iterator[Code], folder: Path) -> tuple[int, set[str]]:
    """How many jumps there are, and the lines (`FILE: TEXT`) of those that no decision explains."""
    count, found = 0, set[str]()
    for number, code in enumerate(codes):
        (own := folder / str(number)).mkdir()
        if compiled(code, own):
            decided = {*decisions(code, own)}
            for path, line in jumps(code, own):
                count += 1
                text = Path(path).read_text("utf-8").splitlines()[line - 1].strip() if path else ""
                if (path, line) not in decided and not DECIDES.search(text):
                    found.add(f"{Path(path).name}: {text}")
    return count, found


@needs_tools
@pytest.mark.parametrize("mcs", [False, True])
def test_no_jump_is_without_a_decision_of_the_source(mcs: bool, tmp_path: Path) -> None:
    rows = re.findall(r"^\| `([\w.]+)` \| `([^`]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE)
    assert rows
    count, found = without_decision(of_sel4(tmp_path / "headers", mcs=mcs), tmp_path)
    assert count > 500
    assert found == {f"{name}: {text}" for name, text in rows}


@needs_tools
def test_a_jump_without_a_decision_is_found(tmp_path: Path) -> None:
    """A compiler copies in a loop; the decision beside it is one of the source."""
    source = tmp_path / "copy.c"
    source.write_text(
        "struct all { long of[200]; };\n"
        "void copy(struct all *to, const struct all *from, int much)\n{\n"
        "    if (much)\n        __builtin_memcpy(to, from, (unsigned)much * 8u);\n"
        "    else\n        to->of[0] = 1;\n"
        "    for (int i = 0; i < much; i++)\n        to->of[i] ^= from->of[i];\n}\n"
    )
    code = Code(source, ("-minline-all-stringops", "-mstringop-strategy=loop"))
    count, found = without_decision(iter((code,)), tmp_path)
    assert count > 2 and found == {"copy.c: __builtin_memcpy(to, from, (unsigned)much * 8u);"}
