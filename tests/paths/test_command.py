# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes paths` of functions of a program: what it prints, and its exit status."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from camkes.cli.commands import paths
from tests.command import camkes
from tests.documents import conforming
from tests.paths.programs import Compiled, needs_gcc

pytestmark = [pytest.mark.requirement("AN-31"), needs_gcc]

_TEXT = """
static volatile unsigned long sink;
unsigned long stated(unsigned long n)
{
    while (sink < n) { /* at most 5 times: it is told so */
        sink++;
    }
    return n;
}
unsigned long open(unsigned long n)
{
    while (sink < n) {
        sink += 2;
    }
    return n;
}
"""


def test_bounds_are_printed_with_what_they_rest_on(tmp_path: Path) -> None:
    program = Compiled(tmp_path, _TEXT, ("stated", "open"))
    words = ("paths", "--program", program.path, "--function", "stated")
    bound = program.bound("stated").instructions
    text, document = camkes(*words), camkes(*words, "--json")
    assert (text.status, document.status) == (0, 0)
    line = program.line("at most 5 times")
    assert ["count.stated", "function", str(bound)] in [row.split() for row in text.output.splitlines()]
    assert text.output.endswith(f"  {program.source}:{line}: at most 5\n")
    report = conforming("paths", document.output)
    assert report["complete"] and len(report["assumed"]) > 1
    assert report["paths"] == [
        {"instance": "count", "name": "stated", "kind": "function", "instructions": bound, "kernel": {}}
    ]
    assert report["contracts"] == [{"file": str(program.source), "line": line, "times": 5}]


def test_a_path_without_a_bound_fails(tmp_path: Path) -> None:
    program = Compiled(tmp_path, _TEXT, ("stated", "open"))
    words = ("paths", "--program", program.path, "--function", "stated", "--function", "open")
    failed = camkes(*words, "--json")
    assert failed.status == 1 and "E0795" in failed.errors
    report = conforming("paths", failed.output)
    assert not report["complete"] and [each["instructions"] is None for each in report["paths"]] == [
        False,
        True,
    ]
    assert camkes(*words, "--limit", "open=7").status == 0


def test_packages_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(paths, "find_spec", lambda name: None if name == "capstone" else find(name))
    asked = camkes("paths", "--program", "any", "--function", "one")
    assert asked.status == 2 and asked.errors == (
        "camkes paths needs camkes-rt with its extra `paths` (missing: capstone)\n"
    )
