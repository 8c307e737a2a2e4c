# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What each check says, to the letter: `golden/NAME.camkes` and the text in `golden/NAME.txt`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camkes.diagnostics import Diagnostic, Severity, Sink
from camkes.diagnostics.explain import explanation
from camkes.diagnostics.rendering import Style, render
from camkes.protocols import analyse, codes
from camkes.protocols.checks import CHECKS
from camkes.protocols.plan import Plan
from camkes.protocols.requests import Chain
from camkes.resolve.load import load
from camkes.resolve.options import LoadOptions
from tests.golden import compare

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.camkes") if not path.stem.endswith("_types"))


def check(path: Path) -> tuple[tuple[Diagnostic, ...], Plan | None]:
    """Load and check a file; lines `// code: CALLER calls NAME...` stand for compiled code, where `NAME?` is
    a call through a pointer."""
    found = re.findall(r"^// code: (\S+) calls (.*)$", path.read_text("utf-8"), re.MULTILINE)
    sink = Sink()
    system = load(path, LoadOptions(cpp=False), sink)
    assert system is not None, render(sink.diagnostics)
    code = {caller: set(names.replace("?", "").split()) for caller, names in found}
    chains = {
        (caller, name.rstrip("?")): Chain(("handler", f"{name.rstrip('?')}_f"), (None,), name[-1] != "?")
        for caller, names in found
        for name in names.split()
    }
    plan = analyse(system, sink, code, chains)
    return sink.diagnostics, plan


@pytest.mark.parametrize("name", NAMES)
def test_text(name: str) -> None:
    diagnostics, plan = check(GOLDEN / f"{name}.camkes")
    compare(render(diagnostics, Style(base=GOLDEN)), GOLDEN / f"{name}.txt")
    assert (plan is None) == any(d.severity is Severity.ERROR for d in diagnostics)


def test_every_code_has_a_golden_file_named_after_it() -> None:
    for code in codes.CODES:
        path = GOLDEN / f"{code.name.replace('-', '_')}.txt"
        assert f"[{code.number}]" in path.read_text("utf-8"), code


def test_every_code_is_explained() -> None:
    numbers = [code.number for code in codes.CODES]
    assert len(set(numbers)) == len(numbers)
    for code in codes.CODES:
        first, *rest = explanation(code).split("\n")
        assert first.endswith(".") and rest[0] == "", code
        assert explanation(code).count("```") >= 2, code
        assert re.search(r"put right|leave|more exact|give|say so|order:", explanation(code), re.I), code


def test_every_code_belongs_to_a_check_and_prerequisites_come_first() -> None:
    of_checks = {code for check in CHECKS for code in check.codes}
    assert of_checks == set(codes.CODES) - {codes.PLAIN_CYCLE}  # it is for systems without protocols too
    before: set[str] = set()
    for entry in CHECKS:
        assert before.issuperset(entry.after)
        assert entry.name not in before
        before.add(entry.name)
