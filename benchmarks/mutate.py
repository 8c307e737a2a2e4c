# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mutation testing: small faults in the code, one at a time, each of which some test has to find.

A random sample of all mutants of some packages is tried, each in a copy of the repository, with those tests
of the packages' own folders that execute the changed line, the fastest first. `benchmarks/mutation/` has
the result with its seed, in `python.json`, and the reasons of survivors, in `survivors.md`.

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
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

from mutation.operators import Mutant, mutants

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "mutation"
RESULT = ROOT / "benchmarks" / "mutation" / "python.json"
PACKAGES = ("camkes/protocols", "camkes/capdl", "camkes/resolve")
PLUGIN = ("-p", "benchmarks.mutation.plugin", "-p", "no:cacheprovider")
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


@dataclass(frozen=True)
class Outcome:
    mutant: Mutant
    verdict: str  # killed, timeout, survived, uncovered
    test: str  # the one that failed
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


#: a process that has loaded all but the code under test; each run is a copy of it
FORKS = multiprocessing.get_context("forkserver")
PRELOADED = [
    "pytest",
    "_pytest.assertion.rewrite",
    "xdist",
    "hypothesis",
    "lark",
    "jinja2",
    "msgspec",
    "networkx",
]


def in_process(folder: str, environment: dict[str, str], files: list[str]) -> None:
    """Run tests of a copy; the exit status is pytest's."""
    import pytest

    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    assert "camkes" not in sys.modules
    status = pytest.main(["-x", "-q", "--tb=no", *PLUGIN, *files])
    os._exit(status)


class Copy:
    """A copy of the repository in which one mutant at a time lives."""

    def __init__(self, number: int, tests: list[str]) -> None:
        self.folder = WORK / f"copy{number}"
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in filter(None, git("ls-files", "-coz", "--exclude-standard").split("\0")):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_symlink() or (ROOT / name).is_file():
                shutil.copy2(ROOT / name, self.folder / name, follow_symlinks=False)
        self.environment = os.environ | {"PYTHONPATH": str(self.folder)}
        for command in (["-m", "camkes.parser.tables"], ["-m", "pytest", "-q", "--collect-only", *tests]):
            # compiles all; what does not even start could not tell a mutant from good code
            subprocess.run(
                [sys.executable, *command],
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.DEVNULL,
                check=True,
            )
        # a changed file may have the length and the second of the one before: its compiled form is not kept
        self.environment |= {"PYTHONDONTWRITEBYTECODE": "1"}

    def run(self, tests: dict[str, float]) -> tuple[str, str]:
        """Verdict and the test that failed. `tests`: in this order; the seconds after which each hangs."""
        (self.folder / "build").mkdir(exist_ok=True)
        wanted, failed = self.folder / "build" / "wanted.json", self.folder / "build" / "failed.txt"
        wanted.write_text(json.dumps(tests))
        failed.write_text("")
        environment = self.environment | {"MUTATION_TESTS": str(wanted), "MUTATION_FAILED": str(failed)}
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        process = FORKS.Process(target=in_process, args=(str(self.folder), environment, files))
        process.start()
        process.join(60 + 4 * sum(tests.values()))
        with suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
        if process.exitcode in (0, 5):
            return "survived", ""
        if process.exitcode in (3, 4):
            sys.exit(f"pytest cannot run {', '.join(files)} in {self.folder}")
        return ("timeout" if (process.exitcode or 0) < 0 else "killed"), failed.read_text()

    def attempt(self, mutant: Mutant, made: Map, budget: float, excluded: set[str]) -> Outcome:
        own = f"tests/{mutant.file.split('/')[1]}/"
        found = [t for t in made.of(mutant) if made.tests[t] not in excluded]
        found.sort(key=lambda t: (made.seconds[t], made.tests[t]))
        near = within([t for t in found if made.tests[t].startswith(own)], made, budget / 2)
        far = within([t for t in found if t not in set(near)], made, budget)
        path = self.folder / mutant.file
        source, times = path.read_bytes(), path.stat()
        path.write_bytes(mutant.apply(source))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 10**10))
        verdict, name = ("survived" if found else "uncovered"), ""
        try:
            for stage in filter(None, (near, far)):
                limits = {made.tests[t]: 20 + 10 * made.seconds[t] for t in stage}
                verdict, name = self.run(limits)
                if verdict in KILLED:
                    break
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        return Outcome(mutant, verdict, name, len(found))


def within(tests: list[int], made: Map, budget: float) -> list[int]:
    """The first of these that take no longer than that together."""
    found: list[int] = []
    for test in tests:
        budget -= made.seconds[test]
        if budget < 0:
            break
        found.append(test)
    return found


Keep = Callable[[list[Outcome]], None]


def attempt_all(
    chosen: list[Mutant], made: Map, tests: list[str], budget: float, jobs: int, keep: Keep
) -> list[Outcome]:
    idle: SimpleQueue[Copy] = SimpleQueue()
    for number in range(jobs):
        idle.put(Copy(number, tests))
    excluded: set[str] = set()
    outcomes: dict[Mutant, Outcome] = {}

    def one(mutant: Mutant) -> None:
        copy = idle.get()
        try:
            outcome = outcomes[mutant] = copy.attempt(mutant, made, budget, excluded)
        finally:
            idle.put(copy)
        print(f"{len(outcomes):4} {describe(outcome)}", flush=True)
        keep(list(outcomes.values()))

    left = chosen
    while left:
        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(one, left))
        # a test that fails without a mutant proves nothing
        copy = idle.get()
        names = {o.test for o in outcomes.values() if o.test}
        broken = {name for name in sorted(names) if copy.run({name: 600.0})[0] in KILLED}
        idle.put(copy)
        print(f"tests that fail without a mutant: {sorted(broken)}")
        excluded |= broken
        left = [mutant for mutant in chosen if outcomes[mutant].test in broken]
    return [outcomes[mutant] for mutant in chosen]


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


def write_result(outcomes: list[Outcome], seed: int, of: int) -> None:
    killed = sum(o.verdict in KILLED for o in outcomes)
    record = {
        "commit": git("rev-parse", "HEAD").strip(),
        "seed": seed,
        "mutants": len(outcomes),
        "of": of,
        "killed": killed,
        "score": round(killed / max(len(outcomes), 1), 4),
        "outcomes": [
            asdict(o.mutant) | {"verdict": o.verdict, "test": o.test, "tests": o.tests} for o in outcomes
        ],
    }
    RESULT.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")


def enclosing(source: str, line: int) -> str:
    """The innermost function around a line, or what is outside of functions, without its layout."""
    found: ast.AST = ast.parse(source)
    for node in ast.walk(found):  # outer ones first
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0):
            found = node
    return ast.dump(found)


def again(every: list[Mutant], count: int, seed: int) -> tuple[list[Outcome], list[Mutant]]:
    """Kept outcomes that hold, and what to try: survivors, mutants of functions that have changed since, and
    new ones in the place of those that are no longer there. A line may have moved to another file."""
    kept = json.loads(RESULT.read_text("utf-8"))
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
    FORKS.set_forkserver_preload(PRELOADED)
    dead: list[Outcome] = []
    if given.command == "again":
        dead, chosen = again(every, given.count, given.seed)
        print(f"{len(dead)} are as they were, {len(chosen)} are tried")
    else:
        # in this order, so that what was tried when somebody stops it is a sample too
        chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))

    def keep(tried: list[Outcome]) -> None:
        # after each mutant, for whoever stops it before the end
        write_result(sorted([*dead, *tried], key=lambda o: o.mutant), given.seed, len(every))

    tried = attempt_all(chosen, made, tests_of(given.packages), given.budget, given.jobs, keep)
    keep(tried)
    print_table([*dead, *tried])


if __name__ == "__main__":
    main()
