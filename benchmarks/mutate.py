# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mutation testing: small faults in the code, one at a time, each of which some test has to find.

A random sample of all mutants of some packages is tried, with those tests of the packages' own folders that
execute the changed line: as switches in one program (`mutation/switches.py`), or, where
that cannot be, in a copy of the repository (`mutation/copies.py`). What no test finds is given to mypy, which
`make test` runs, too. `benchmarks/mutation/` has the result with its seed, in `python.json`, and the reasons
of survivors, in `survivors.md`.

mutmut does not change decorated functions and cosmic-ray runs the same tests for each mutant; hence this.

    mutate.py map                       which test executes which line, and how long each takes
    mutate.py run                       try --count mutants of --packages
    mutate.py again                     the survivors of the kept result, what has changed and what is new
    mutate.py show --packages FILE      the mutants of a file
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from mutation.copies import PLUGIN, Copy
from mutation.operators import Mutant, mutants
from mutation.switches import run as run_switched
from mutation.trials import Attempt, Trial

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "mutation"
RESULT = ROOT / "benchmarks" / "mutation" / "python.json"
PACKAGES = ("camkes/protocols", "camkes/capdl", "camkes/resolve")
KILLED = ("killed", "timeout")


@dataclass(frozen=True)
class Map:
    """`lines`: file -> line -> numbers of tests; a line that only an import executes has none."""

    hashes: dict[str, str]
    tests: list[str]
    seconds: list[float]
    lines: dict[str, dict[str, list[int]]]

    def of(self, mutant: Mutant) -> list[int]:
        """The tests that execute the first line of a mutant, else its file, else all of its package."""
        lines = self.lines.get(mutant.file, {})
        own = f"tests/{mutant.file.split('/')[1]}/"
        return (
            lines.get(str(mutant.line))
            or sorted({test for tests in lines.values() for test in tests})
            or [number for number, test in enumerate(self.tests) if test.startswith(own)]
        )

    def at_import(self, mutant: Mutant) -> bool:
        """Whether no test executes the line of a mutant, but the import of its module."""
        return self.lines.get(mutant.file, {}).get(str(mutant.line)) == []

    def ranks(self, file: str) -> dict[int, int]:
        """All tests that execute lines of a file, in an order in which the first few differ: each next one
        executes the most lines in its time that those before it do not; then the rest, the fastest first, so
        that as many as can be fit into a budget."""
        lines: dict[int, int] = {}
        for bit, tests in enumerate(self.lines.get(file, {}).values()):
            for test in tests:
                lines[test] = lines.get(test, 0) | 1 << bit
        ranks: dict[int, int] = {}
        done = 0
        while left := [test for test in lines if test not in ranks]:
            gains = {test: (lines[test] & ~done).bit_count() / (0.002 + self.seconds[test]) for test in left}
            best = max(left, key=lambda test: gains[test])
            if not gains[best]:
                rest = sorted(left, key=lambda test: (self.seconds[test], test))
                return ranks | {test: place for place, test in enumerate(rest, len(ranks))}
            ranks[best] = len(ranks)
            done |= lines[best]
        return ranks


@dataclass(frozen=True)
class Outcome:
    mutant: Mutant
    verdict: str  # killed, timeout, survived, uncovered
    test: str  # the one that failed, or mypy
    tests: int  # how many there are that could have


def sources(packages: list[str]) -> list[str]:
    """Files of the packages. The texts of `codes.py` are read by people, not executed."""
    found = [
        path for name in packages for path in [ROOT / name, *(ROOT / name).rglob("*.py")] if path.is_file()
    ]
    found = [path for path in found if path.name != "codes.py"]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def tests_of(packages: list[str]) -> list[str]:
    folders = [f"tests/{name.split('/')[1]}" for name in packages]
    return list(dict.fromkeys(folder for folder in folders if (ROOT / folder).is_dir()))


def digest(file: str) -> str:
    return hashlib.sha256((ROOT / file).read_bytes()).hexdigest()


def make_map(packages: list[str], jobs: int) -> None:
    WORK.mkdir(parents=True, exist_ok=True)
    data, durations, config = WORK / "lines", WORK / "durations.json", WORK / "coverage.rc"
    listed = "".join(f"\n  {name}" for name in packages)
    config.write_text(f"[run]\nbranch = true\ndata_file = {data}\nsource ={listed}\n")
    hashes = {file: digest(file) for file in sources(packages)}
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(jobs), *PLUGIN, *tests_of(packages)]
    command += ["--cov", f"--cov-config={config}", "--cov-context=test", "--cov-report="]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"MUTATION_DURATIONS": str(durations)}, check=False)
    write_map(data, json.loads(durations.read_text()), hashes)


def write_map(data: Path, durations: dict[str, float], hashes: dict[str, str]) -> None:
    from coverage import CoverageData

    coverage = CoverageData(str(data))
    coverage.read()
    tests = sorted(durations)
    number = {test: i for i, test in enumerate(tests)}
    lines: dict[str, dict[str, list[int]]] = {}
    for path in sorted(coverage.measured_files()):
        found = lines.setdefault(str(Path(path).relative_to(ROOT)), {})
        for line, contexts in sorted(coverage.contexts_by_lineno(path).items()):
            names = {context.rpartition("|")[0] for context in contexts}
            found[str(line)] = sorted(number[name] for name in names if name in number)
    made = Map(hashes, tests, [round(durations[test], 3) for test in tests], lines)
    (WORK / "map.json").write_text(json.dumps(asdict(made)))


def read_map(files: list[str]) -> Map:
    path = WORK / "map.json"
    if not path.exists():
        sys.exit("no map of tests and lines: run `mutate.py map` first")
    made = Map(**json.loads(path.read_text()))
    changed = [file for file in files if made.hashes.get(file) != digest(file)]
    if changed:
        sys.exit(f"{', '.join(changed)} changed since the map was made: run `mutate.py map` again")
    return made


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True, text=True).stdout


def within(tests: list[int], made: Map, budget: float) -> list[int]:
    """Of these in their order, those that take no longer than that together."""
    found: list[int] = []
    for test in tests:
        if made.seconds[test] <= budget:
            budget -= made.seconds[test]
            found.append(test)
    return found


Keep = Callable[[list[Outcome]], None]


@dataclass
class Trials:
    """The mutants that are tried, and what came of them."""

    chosen: list[Mutant]
    made: Map
    budget: float
    keep: Keep
    outcomes: dict[Mutant, Outcome] = field(default_factory=dict)
    #: tests that fail without a mutant
    broken: set[str] = field(default_factory=set)
    #: file -> test -> its place in the order in which tests of the file's mutants are tried
    ranks: dict[str, dict[int, int]] = field(default_factory=dict)

    def tests(self, mutant: Mutant) -> list[int]:
        """The tests that execute a mutant, as many as fit into the budget."""
        ranks = self.ranks.get(mutant.file)
        if ranks is None:
            ranks = self.ranks[mutant.file] = self.made.ranks(mutant.file)
        found = [t for t in self.made.of(mutant) if self.made.tests[t] not in self.broken]
        found.sort(key=lambda t: (ranks.get(t, len(ranks)), t))
        return within(found, self.made, self.budget)

    def timed(self, mutant: Mutant) -> dict[str, float]:
        return {self.made.tests[t]: self.made.seconds[t] for t in self.tests(mutant)}

    def note(self, mutant: Mutant, verdict: str, test: str) -> None:
        tests = self.tests(mutant)
        outcome = Outcome(mutant, verdict if tests or test else "uncovered", test, len(tests))
        self.outcomes[mutant] = outcome
        print(f"{len(self.outcomes):4} {describe(outcome)}", flush=True)
        self.keep(list(self.outcomes.values()))

    def left(self) -> list[Mutant]:
        """Those that are not tried yet, or that only a test has killed which fails anyway."""
        done = self.outcomes
        return [m for m in self.chosen if m not in done or (done[m].test and done[m].test in self.broken)]

    def with_switches(self, selectable: set[int], attempt: Attempt) -> None:
        numbers = {
            mutant: number
            for number, mutant in enumerate(self.chosen, 1)
            if number in selectable and not self.made.at_import(mutant)
        }
        while left := [mutant for mutant in self.left() if mutant in numbers]:
            for number, verdict, test in attempt(Trial(numbers[m], self.timed(m)) for m in left):
                self.note(self.chosen[number - 1], verdict, test)
            # a test that fails without a mutant proves nothing
            names = sorted({o.test for o in self.outcomes.values() if o.test} - self.broken)
            alone = attempt(Trial(0, {name: 60.0}) for name in names)
            self.broken |= {found.test for found in alone if found.test}

    def with_a_copy(self, tests: list[str]) -> None:
        if left := self.left():
            files = git("ls-files", "-coz", "--exclude-standard").split("\0")
            copy = Copy(ROOT, WORK / "copy", list(filter(None, files)), tests)
            for mutant in left:
                limits = {test: 20 + 10 * seconds for test, seconds in self.timed(mutant).items()}
                self.note(mutant, *(copy.attempt(mutant, limits) if limits else ("", "")))

    def with_types(self) -> None:
        if left := [mutant for mutant, found in self.outcomes.items() if found.verdict not in KILLED]:
            checker = TypeChecker()
            for mutant in filter(checker.rejects, left):
                self.note(mutant, "killed", "mypy")


class TypeChecker:
    """mypy, which reads a mutant in the place of its file; a cache of its own stays good."""

    def __init__(self) -> None:
        self.command = [sys.executable, "-m", "mypy", f"--cache-dir={WORK / 'mypy'}", "--no-error-summary"]
        subprocess.run(self.command, cwd=ROOT, check=True)

    def rejects(self, mutant: Mutant) -> bool:
        changed = WORK / "mutant.py"
        changed.write_bytes(mutant.apply((ROOT / mutant.file).read_bytes()))
        command = [*self.command, "--shadow-file", mutant.file, str(changed)]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        return done.returncode == 1


def attempt_all(trials: Trials, tests: list[str], jobs: int) -> list[Outcome]:
    run_switched(ROOT, trials.chosen, tests, trials.with_switches, jobs)
    trials.with_a_copy(tests)
    trials.with_types()
    print(f"tests that fail without a mutant: {sorted(trials.broken)}")
    return [trials.outcomes[mutant] for mutant in trials.chosen]


def describe(outcome: Outcome) -> str:
    mutant = outcome.mutant
    change = f"{' '.join(mutant.before.split())[:60]}  ->  {' '.join(mutant.after.split())[:60]}"
    return f"{outcome.verdict:9} {mutant.file}:{mutant.line}: {mutant.operator}: {change}"


def print_table(outcomes: list[Outcome]) -> None:
    table: dict[str, list[int]] = {}
    for outcome in outcomes:
        for name in ("/".join(outcome.mutant.file.split("/")[:2]), "together"):
            row = table.setdefault(name, [0, 0])
            row[0] += outcome.verdict in KILLED
            row[1] += 1
    print(f"\n{'package':<24}{'killed':>8}{'mutants':>9}{'score':>8}")
    for name, (killed, number) in sorted(table.items()):
        print(f"{name:<24}{killed:>8}{number:>9}{killed / number:>8.1%}")


def write_result(path: Path, outcomes: list[Outcome], seed: int, of: int) -> None:
    killed = sum(o.verdict in KILLED for o in outcomes)
    record = {
        "commit": git("rev-parse", "HEAD").strip(),
        "seed": seed,
        "mutants": len(outcomes),
        "of": of,
        "killed": killed,
        "killed by mypy only": sum(o.test == "mypy" for o in outcomes),
        "score": round(killed / max(len(outcomes), 1), 4),
        "outcomes": [
            asdict(o.mutant) | {"verdict": o.verdict, "test": o.test, "tests": o.tests} for o in outcomes
        ],
    }
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")


def enclosing(source: str, line: int) -> str:
    """The innermost function around a line, or what is outside of functions, without its layout."""
    found: ast.AST = ast.parse(source)
    for node in ast.walk(found):  # outer ones first
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0):
            found = node
    return ast.dump(found)


def again(result: Path, every: list[Mutant], count: int, seed: int) -> tuple[list[Outcome], list[Mutant]]:
    """Kept outcomes that hold, and what to try: survivors, mutants of functions that have changed since, and
    new ones in the place of those that are no longer there. A line may have moved to another file."""
    kept = json.loads(result.read_text("utf-8"))
    now = {file: (ROOT / file).read_text("utf-8") for file in {mutant.file for mutant in every}}
    lines = {file: source.splitlines() for file, source in now.items()}
    alike: dict[tuple[str, str, str], list[Mutant]] = {}
    for mutant in every:
        alike.setdefault((mutant.before, mutant.after, lines[mutant.file][mutant.line - 1]), []).append(
            mutant
        )
    before: dict[str, str] = {}
    dead: list[Outcome] = []
    chosen: dict[Mutant, None] = {}
    for row in kept["outcomes"]:
        verdict, test, tests = (row.pop(name) for name in ("verdict", "test", "tests"))
        old = Mutant(**row)
        if old.file not in before:
            before[old.file] = git("show", f"{kept['commit']}:{old.file}")
        line = before[old.file].splitlines()[old.line - 1]
        same = alike.get((old.before, old.after, line))
        if not same:
            print(f"no longer there: {verdict}: {old.file}:{old.line}: {old.before}")
            continue
        mutant = min(
            same, key=lambda m: (m.file != old.file, abs(m.line - old.line), abs(m.start - old.start))
        )
        around = enclosing(before[old.file], old.line)
        if verdict in KILLED and around == enclosing(now[mutant.file], mutant.line):
            dead.append(Outcome(mutant, verdict, test, tests))
        else:
            chosen[mutant] = None
    known = {outcome.mutant for outcome in dead} | chosen.keys()
    fresh = [m for m in random.Random(seed).sample(every, len(every)) if m not in known]
    return dead, [*chosen, *fresh[: max(0, count - len(known))]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("map", "run", "again", "show"))
    parser.add_argument("--packages", nargs="+", default=list(PACKAGES), help="folders or files")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--budget", type=float, default=100.0, help="seconds of tests for one mutant")
    parser.add_argument("--result", type=Path, default=RESULT, help="where the outcomes are written")
    given = parser.parse_args()
    if given.command == "map":
        make_map(given.packages, given.jobs)
        return
    files = sources(given.packages)
    every = [mutant for file in files for mutant in mutants(file, (ROOT / file).read_bytes())]
    if given.command == "show":
        for mutant in every:
            print(describe(Outcome(mutant, "", "", 0)))
        return
    made = read_map(files)
    dead: list[Outcome] = []
    if given.command == "again":
        dead, chosen = again(given.result, every, given.count, given.seed)
        print(f"{len(dead)} are as they were, {len(chosen)} are tried")
    else:
        # in this order, so that what was tried when it is stopped early is a sample too
        chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))

    def keep(tried: list[Outcome]) -> None:
        # after each mutant, for whoever stops it before the end
        write_result(given.result, sorted([*dead, *tried], key=lambda o: o.mutant), given.seed, len(every))

    tried = attempt_all(Trials(chosen, made, given.budget, keep), tests_of(given.packages), given.jobs)
    keep(tried)
    print_table([*dead, *tried])


if __name__ == "__main__":
    main()
