# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What was found of the mutants of the C code, into c.json and the first part of survivors-c.md."""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter
from pathlib import PurePosixPath
from typing import Any

from mutation.c_sources import MAKERS, Compiled, Mutant, Outcomes, Sources, git

RESULT, REASONS = MAKERS / "c.json", MAKERS / "survivors-c.md"
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


def kind_of(test: str) -> str:
    """Of a test: unit test, search of schedules, or run of a system."""
    if "test_units.py" in test:
        return "unit test"
    searches = ("tests/explore/", "test_exploration", "test_late_updates", "schedules")
    return "search" if any(word in test for word in searches) else "run"


def reasons(text: str) -> Counter[tuple[str, str, str]]:
    """How many mutants of a file have an explanation, by what they change."""
    found: Counter[tuple[str, str, str]] = Counter()
    for match in filter(None, map(_REASON.fullmatch, text.splitlines())):
        found[match[1], match[2], match[3]] += int(match[4] or 1)
    return found


def verdict_of(outcomes: Outcomes, sources: Sources, compiled: Compiled, mutant: Mutant) -> dict[str, Any]:
    key = outcomes.key(mutant, sources.files[mutant.file])
    outcome = outcomes.kept.get(key, {"verdict": "not tried"})
    if outcome["verdict"] in SURVIVED and "same" not in outcome:
        outcomes.add(key, outcome := outcome | {"same": compiled.is_same(mutant)})
    return outcome | {"verdict": "same code"} if outcome.get("same") else outcome


def report(part: str) -> int:
    sources, outcomes, text = Sources(part), Outcomes(), REASONS.read_text("utf-8")
    sources.read()
    compiled, unused = Compiled(sources), reasons(text)
    counts: dict[str, dict[str, Counter[str]]] = {"kinds": {}, "files": {}}
    tests: Counter[str] = Counter()
    survivors: list[dict[str, Any]] = []
    for mutant in sources.mutants():
        outcome = verdict_of(outcomes, sources, compiled, mutant)
        verdict = outcome["verdict"]
        if verdict in FOUND and outcome.get("test"):
            tests[outcome["test"]] += 1
        if verdict in SURVIVED:
            survivor = {name: outcome[name] for name in ("file", "line", "before", "after")}
            reason = (PurePosixPath(mutant.file).name, mutant.before, mutant.after)
            verdict = "explained" if unused[reason] > 0 else verdict
            unused[reason] -= 1
            survivors.append(survivor | {"verdict": verdict})
        for name, by in (("kinds", mutant.kind), ("files", mutant.file)):
            counts[name].setdefault(by, Counter())[verdict] += 1
    by_kind: Counter[str] = Counter()
    for test, count in tests.items():
        by_kind[kind_of(test)] += count
    total = sum(counts["files"].values(), Counter[str]())
    record = {"commit": git("rev-parse", "HEAD").strip(), "mutants": total, "found by": by_kind, **counts}
    record |= {"tests": dict(sorted(tests.items())), "survivors": survivors}
    RESULT.write_text(json.dumps({part: record}, indent=1, ensure_ascii=False) + "\n", "utf-8")
    REASONS.write_text(with_summary(text, record), "utf-8")
    for survivor in survivors:
        if survivor["verdict"] != "explained":
            print("no reason:", "{file}:{line}: `{before}` → `{after}`".format(**survivor))
    for (file, before, after), count in unused.items():
        if count > 0:
            print(f"no survivor: `{file}`: `{before}` → `{after}` ({count})")
    print(dict(total), dict(by_kind))
    return 0


# ---- the first part of survivors-c.md ----


def of(counts: Counter[str] | dict[str, int], *verdicts: str) -> int:
    return sum(counts.get(verdict, 0) for verdict in verdicts)


def with_summary(text: str, record: dict[str, Any]) -> str:
    head, begin, rest = text.partition("## Kept result\n")
    return head + begin + summary(record) + "\n## " + rest.partition("\n## ")[2]


def summary(record: dict[str, Any]) -> str:
    total, by, commit = record["mutants"], record["found by"], record["commit"][:8]
    found, same = of(total, *FOUND), of(total, "explained")
    tried = sum(total.values()) - of(total, *LEFT)
    text = (
        f"`c.json` is about the runtime at commit {commit}. Of {sum(total.values()):,} mutants"
        f" {of(total, 'not compiled')} do not compile or are for other kernels, and {of(total, 'same code')}"
        f" have the assembly code of the original. Of the other {tried:,} {found:,} were found"
        f" ({found / tried:.1%}): unit tests found {of(by, 'unit test'):,} of them, runs of systems"
        f" {of(by, 'run'):,} and searches {of(by, 'search'):,}; {of(total, 'timeout')} made a test hang, a"
        f" program that takes 1 s or 3 s of a processor or more included. For {same} it is argued below that"
        f" they change nothing. {tried - found - same} are left, which `c.json` lists: of those that change"
        f" something, {found / (tried - same):.1%} were found, and the goal is 95 %."
    )
    lines = [*textwrap.wrap(text, 125, break_on_hyphens=False), ""]
    lines += ["| what is broken | found | argued below | left | score |", "|---|---|---|---|---|"]
    for kind, name in KINDS.items():
        counts = record["kinds"].get(kind, {})
        good, explained = of(counts, *FOUND), of(counts, "explained")
        left = sum(counts.values()) - of(counts, *LEFT) - good - explained
        score = good / (good + left) if good + left else 1
        lines.append(f"| {name} | {good:,} | {explained:,} | {left:,} | {score:.0%} |")
    return "\n" + "\n".join(lines) + "\n"
