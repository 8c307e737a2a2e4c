# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Coq proves what lower tasks can do in a busy window, and cannot if a rule of the scheduler is left out."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROOF = Path(__file__).parent / "blocking.v"
THEOREMS = ("one_section", "one_ceiling", "as_often_as_requested", "one_more_waits")
#: each used by a proof: without it there is none
RULES = (
    "level_is_above_base",
    "who_is_at_a_ceiling_has_a_job",
    "one_executes",
    "the_most_urgent_executes",
    "rises",
    "begins_to_wait",
    "acquires",
    "releases",
    "held_by_one",
    "waits_for_one",
    "who_waits_does_not_execute",
    "handed_over",
)

pytestmark = [
    pytest.mark.requirement("AN-18"),
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("coqc") is None, reason="coqc is not installed"),
]


def proved(text: str, folder: Path) -> str | None:
    """What Coq prints about a file; None where it does not accept it."""
    (folder / "blocking.v").write_text(text, encoding="utf-8")
    done = subprocess.run(["coqc", "-q", "blocking.v"], cwd=folder, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def test_the_theorems_are_proved(tmp_path: Path) -> None:
    """Nothing is admitted, and no axiom is used; an example shows that the rules can hold."""
    text = PROOF.read_text(encoding="utf-8")
    assert not re.search(r"\b(Admitted|admit|Axiom|Parameter|Abort)\b", text)
    assert re.findall(r"^Print Assumptions (\w+)\.$", text, re.MULTILINE) == list(THEOREMS)
    assert proved(text, tmp_path) == "Closed under the global context\n" * len(THEOREMS)


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_is_needed(rule: str, tmp_path: Path) -> None:
    text = PROOF.read_text(encoding="utf-8")
    without = re.sub(
        rf"^  {rule} : .*?(;\n(?=  [\w(])|\n(?=}}\.))", f"  {rule} : True;\n", text, flags=re.M | re.S
    )
    without = without.replace("True;\n}.", "True\n}.")
    assert without != text
    # the example proves the rules; here the theorems are of interest
    without = without[: without.index("(** The rules do not contradict")]
    assert proved(text[: text.index("(** The rules do not contradict")], tmp_path) is not None
    assert proved(without, tmp_path) is None
