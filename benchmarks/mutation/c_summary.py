# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""survivors-c.md: its first part, which has the figures of c.json, and its arguments."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from pathlib import Path
from typing import Any

RESULT, REASONS = Path(__file__).with_name("c.json"), Path(__file__).with_name("survivors-c.md")
FOUND, SURVIVED, LEFT = ("killed", "timeout"), ("survived", "uncovered"), ("not compiled", "same code")
KINDS = {
    "guard": "guards",
    "comparison": "comparisons",
    "store": "stores",
    "call": "calls",
    "result": "results of calls",
    "arithmetic": "`+`, `-`, `&`, `\\|`",
    "constant": "numbers, `true`, `false`",
}
_REASON = re.compile(r"- `([\w.]+)`: `(.*?)` → `(.*)`(?: \((\d+) places\))?")


def reasons(text: str) -> Counter[tuple[str, str, str]]:
    """How many mutants of a file have an explanation, by what they change."""
    found: Counter[tuple[str, str, str]] = Counter()
    for match in filter(None, map(_REASON.fullmatch, text.splitlines())):
        found[match[1], match[2], match[3]] += int(match[4] or 1)
    return found


def of(counts: Counter[str] | dict[str, int], *verdicts: str) -> int:
    return sum(counts.get(verdict, 0) for verdict in verdicts)


def with_summary(text: str, record: dict[str, Any]) -> str:
    head, begin, rest = text.partition("## Kept result\n")
    return head + begin + summary(record) + "\n## " + rest.partition("\n## ")[2]


def summary(record: dict[str, Any]) -> str:
    total, by, commit = record["mutants"], record["found by"], record["commit"][:8]
    found, same = of(total, *FOUND), of(total, "explained")
    tried = sum(total.values()) - of(total, *LEFT)
    left = tried - found - same
    text = (
        f"`c.json` is about the runtime at commit {commit}. Of {sum(total.values()):,} mutants"
        f" {of(total, 'not compiled')} do not compile or are for other kernels, and {of(total, 'same code')}"
        f" have the assembly code of the original. Of the other {tried:,} {found:,} were found"
        f" ({found / tried:.1%}): unit tests found {of(by, 'unit test'):,} of them, runs of systems"
        f" {of(by, 'run'):,} and searches {of(by, 'search'):,}; {of(total, 'timeout')} made a test hang, a"
        f" program that takes 1 s or 3 s of a processor or more included. For {same} it is argued below that"
        f" they change nothing. {f'{left:,} are left, which `c.json` lists' if left else 'None is left'}: of"
        f" those that change something, {found / (tried - same):.1%} were found. The goal is 95 %."
    )
    lines = [*textwrap.wrap(text, 125, break_on_hyphens=False), ""]
    lines += ["| what is broken | found | argued below | left | score |", "|---|---|---|---|---|"]
    for kind, name in KINDS.items():
        counts = record["kinds"].get(kind, {})
        good, explained = of(counts, *FOUND), of(counts, "explained")
        bad = sum(counts.values()) - of(counts, *LEFT) - good - explained
        score = good / (good + bad) if good + bad else 1
        lines.append(f"| {name} | {good:,} | {explained:,} | {bad:,} | {score:.1%} |")
    return "\n" + "\n".join(lines) + "\n"
