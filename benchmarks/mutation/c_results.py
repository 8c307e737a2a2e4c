# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What was found of the mutants of the C code, into c.json and the first part of survivors-c.md."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import PurePosixPath
from typing import Any

from mutation.c_sources import Compiled, Mutant, Outcomes, Sources, git
from mutation.c_summary import FOUND, REASONS, RESULT, SURVIVED, reasons, with_summary


def kind_of(test: str) -> str:
    """Of a test: unit test, search of schedules, or run of a system."""
    if "test_units.py" in test:
        return "unit test"
    searches = ("tests/explore/", "test_exploration", "test_late_updates", "schedules")
    return "search" if any(word in test for word in searches) else "run"


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
    commit = git("log", "-1", "--format=%H", "--", part).strip()
    record = {"commit": commit, "mutants": total, "found by": by_kind, **counts}
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
