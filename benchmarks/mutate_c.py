# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mutation testing of the C code: small faults, one at a time, each of which some test has to find.

A random sample of the mutants that universalmutator (PyPI) makes of the runtime and the host kernel is
tried, each in a copy of the repository, with those tests that execute the changed line, the fastest first. A
mutant that does not compile, or to the same object code as the original, is not counted. Tests run in a PID
namespace of their own, so that no mutant can signal other processes; where that is not allowed, the program
ends.

    mutate_c.py map                    which test executes which line, and how long each takes
    mutate_c.py run                    try --count mutants of each of --parts
    mutate_c.py again                  try the mutants of the kept result that are still there

Tests are those of `make test`.

benchmarks/mutation has the result with its seed, in c.json, and the reasons of survivors, in survivors-c.md.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mutation.c_coverage import Coverage
from mutation.trials import Attempt, Runner, Trial
from universalmutator import mutator

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "mutation-c"
RESULT = ROOT / "benchmarks" / "mutation" / "c.json"
RULES = ["universal.rules", "c_like.rules", "c.rules"]
TRIED = ("killed", "timeout", "survived", "uncovered")
NOT_TRIED = ("same code", "not compiled")
#: set in the process namespace in which mutants run
ISOLATED = "CAMKES_MUTANTS_ISOLATED"
#: folders of mutants, with what their files are compiled with
PARTS = {
    "kernel/host/src": ("-std=c11", "-D_GNU_SOURCE"),
    "runtime/src": ("-std=gnu11", "-DCAMKES_KERNEL_HOST=1"),
}
INCLUDES = (
    "kernel/host/include",
    "kernel/host/src",
    f"kernel/host/src/{os.uname().machine}",
    "runtime/include",
    "runtime/src",
)
TESTS = (
    *("tests/host", "tests/runtime", "tests/explore"),
    *("tests/end_to_end/test_faults.py", "tests/end_to_end/test_run_output.py"),
)
#: these look for the text of the original, fail on a busy machine without a fault, or start a virtual machine
NOT_RUN = (
    "not broken_runtime and not does_not_stop_a_run and not second_look and not needs_keeps "
    "and not while_compiling and not protection_keys"
)
#: these compile files by themselves, which the map does not see
UNITS = ("tests/runtime/test_units.py", "tests/host/test_units.py")


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int
    before: str
    after: str
    part: str
    original: str  # the file's text, which may change in the repository meanwhile

    def text(self) -> str:
        lines = self.original.splitlines(keepends=True)
        lines[self.line - 1] = self.after + "\n"
        return "".join(lines)


@dataclass(frozen=True)
class Outcome:
    """`verdict` is killed, timeout, survived, uncovered, same code or not compiled; `test` the one that found
    it, of `tests` that execute the line."""

    file: str
    line: int
    before: str
    after: str
    verdict: str
    test: str = ""
    tests: int = 0


def sources(part: str) -> list[str]:
    """The files that are compiled for the host, and for any processor."""
    found = sorted((ROOT / part).rglob("*.c"))
    return [
        str(path.relative_to(ROOT))
        for path in found
        if not path.name.endswith("_sel4.c") and path.parent.name not in ("x86_64", "aarch64")
    ]


def mutants(part: str) -> list[Mutant]:
    found: dict[tuple[str, int, str], Mutant] = {}
    for file in sources(part):
        original = (ROOT / file).read_text("utf-8")
        lines = original.splitlines(keepends=True)
        with contextlib.redirect_stdout(io.StringIO()):
            made = mutator.mutants_regexp(lines, ruleFiles=RULES, ignorePatterns=[])
        for number, text, *_ in made:
            after, before = text.rstrip("\n"), lines[number - 1].rstrip("\n")
            if after.strip() != before.strip():
                found[file, number, after] = Mutant(file, number, before, after, part, original)
    return list(found.values())


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True, text=True).stdout


# ---- which tests ----


def make_map() -> int:
    """Run the tests once, one after the other."""
    coverage = Coverage(WORK, [file for part in PARTS for file in sources(part)])
    coverage.prepare()
    os.environ["PATH"] = f"{WORK}:{os.environ['PATH']}"
    os.environ["XDG_CACHE_HOME"] = str(WORK / "cache")
    os.chdir(ROOT)
    options = ["-q", "-p", "no:xdist", "-p", "no:cov", "-p", "no:cacheprovider", "-k", NOT_RUN]
    pytest.main([*options, *TESTS], plugins=[coverage])
    made = {"lines": coverage.lines(), "seconds": coverage.seconds}
    (WORK / "map.json").write_text(json.dumps(made))
    print(f"tests that failed, and are not used: {sorted(coverage.failed)}")
    return 0


@dataclass(frozen=True)
class Map:
    """`lines`: file -> line -> tests; `seconds` of a test, of the processor."""

    lines: dict[str, dict[str, list[str]]]
    seconds: dict[str, float]

    def of(self, mutant: Mutant) -> list[str]:
        """The tests that execute the line of a mutant, else the line before it that is executed in the same
        function, else any of its file. In an order in which the first few differ:
        each next one executes the most lines of the file in its time that those before it do not; then the
        rest, the fastest first."""
        lines = self.lines.get(mutant.file, {})
        text = mutant.original.splitlines()
        number = mutant.line
        while number and str(number) not in lines and text[number - 1] != "}":
            number -= 1
        if str(number) not in lines:
            return sorted({test for tests in lines.values() for test in tests})
        found = lines[str(number)]
        ranked: list[str] = []
        left, missed = set(found), {line: set(tests) for line, tests in lines.items()}
        while left:
            gains = Counter(test for tests in missed.values() for test in tests if test in left)
            if not gains:
                break
            best = max(sorted(gains), key=lambda test: gains[test] / (0.1 + self.seconds[test]))
            ranked.append(best)
            left.remove(best)
            missed = {line: tests for line, tests in missed.items() if best not in tests}
        return ranked + sorted(left, key=lambda test: (self.seconds[test], test))

    def within(self, mutant: Mutant, budget: float) -> dict[str, float]:
        """As many of these as fit into the budget, with the seconds that each takes."""
        name = mutant.file.removeprefix(f"{mutant.part}/")
        found = {units: 5.0 for units in UNITS if f'"{name}"' in (ROOT / units).read_text("utf-8")}
        for test in self.of(mutant):
            if (seconds := self.seconds.get(test, 0)) <= budget:
                budget -= seconds
                found[test] = seconds
        return found


# ---- one mutant ----


@dataclass
class Copy:
    """A copy of the repository in which one mutant at a time lives."""

    folder: Path
    codes: dict[str, bytes | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in filter(None, git("ls-files", "-coz", "--exclude-standard").split("\0")):
            if os.path.lexists(ROOT / name):
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.folder / name, follow_symlinks=False)

    def object_code(self, mutant: Mutant, text: str) -> bytes | None:
        """None: it does not compile."""
        source, made = self.folder / mutant.file, self.folder / "mutant.o"
        source.write_text(text, "utf-8")
        includes = [f"-I{self.folder / i}" for i in (*INCLUDES, str(Path(mutant.file).parent))]
        command = [
            "cc",
            *PARTS[mutant.part],
            "-O2",
            "-Wall",
            "-Wextra",
            "-Werror",
            *includes,
            "-c",
            str(source),
        ]
        done = subprocess.run([*command, "-o", str(made)], capture_output=True, check=False, cwd=self.folder)
        return made.read_bytes() if done.returncode == 0 else None

    def attempt(self, mutant: Mutant, tests: dict[str, float], attempt: Attempt) -> Outcome:
        if mutant.file not in self.codes:
            self.codes[mutant.file] = self.object_code(mutant, mutant.original)
        after, test = self.object_code(mutant, mutant.text()), ""
        if after is None:
            verdict = "not compiled"
        elif after == self.codes[mutant.file]:
            verdict = "same code"
        elif not tests:
            verdict = "uncovered"
        else:
            verdict, test = self.run(tests, attempt)
        (self.folder / mutant.file).write_text(mutant.original, "utf-8")
        before, changed = mutant.before.strip(), mutant.after.strip()
        return Outcome(mutant.file, mutant.line, before, changed, verdict, test, len(tests))

    def run(self, tests: dict[str, float], attempt: Attempt) -> tuple[str, str]:
        """Verdict and the test that fails with what is in the copy now."""
        shutil.rmtree(self.folder / "work", ignore_errors=True)
        (self.folder / "work").mkdir()
        ((_, verdict, test),) = attempt([Trial(0, tests)])
        end_the_rest()
        return verdict, test

    def enter(self) -> None:
        """Tests run here from now on."""
        assert "camkes" not in sys.modules, "it would not be that of the copy"
        os.chdir(self.folder)
        sys.path.insert(0, str(self.folder))
        os.environ |= {
            "PYTHONPATH": str(self.folder),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "TMPDIR": str(self.folder / "work"),
            # what a mutant does not change is compiled once, although in a folder of another name each time
            "CCACHE_DIR": str(WORK / "ccache"),
            "CCACHE_BASEDIR": str(self.folder / "cache"),
            "CCACHE_NOHASHDIR": "1",
            "PATH": f"/usr/lib/ccache:{os.environ['PATH']}",
        }
        (self.folder / "work").mkdir()
        tempfile.tempdir = None


def end_the_rest() -> None:
    """End what a trial left: all of the namespace but its first process and this one."""
    for process in [int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()]:
        if process not in (1, os.getpid()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


# ---- all of them ----


def counted(
    copy: Copy, chosen: list[Mutant], made: Map, given: argparse.Namespace, attempt: Attempt
) -> Iterator[Outcome]:
    """Until --count mutants of a part had other object code."""
    tried = 0
    for mutant in chosen:
        outcome = copy.attempt(mutant, made.within(mutant, given.budget), attempt)
        yield outcome
        tried += outcome.verdict in TRIED
        if tried >= given.count:
            return


def failing(copy: Copy, outcomes: list[Outcome], attempt: Attempt) -> set[str]:
    """The tests that have found a mutant, and fail without one: they prove nothing."""
    left = {outcome.test: 60.0 for outcome in outcomes if outcome.test}
    broken: set[str] = set()
    while (test := copy.run(left, attempt)[1]) in left:
        broken.add(test)
        del left[test]
    return broken


def summary(outcomes: list[Outcome]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for part in PARTS:
        verdicts = [o.verdict for o in outcomes if o.file.startswith(part)]
        counts: dict[str, float] = {name: verdicts.count(name) for name in (*TRIED, *NOT_TRIED)}
        tried = sum(counts[name] for name in TRIED)
        killed = counts["killed"] + counts["timeout"]
        found[part] = counts | {"score": round(killed / max(tried, 1), 4)}
    return found


def again(part: str, result: dict[str, Any]) -> list[Mutant]:
    """The mutants of a part that were tried for a kept result. A line may have moved within its file."""
    every = mutants(part)
    chosen: list[Mutant] = []
    for kept in result["outcomes"]:
        if kept["verdict"] in TRIED and kept["file"].startswith(part):
            change = (kept["file"], kept["before"], kept["after"])
            same = [m for m in every if (m.file, m.before.strip(), m.after.strip()) == change]
            if same:
                chosen.append(min(same, key=lambda m: abs(m.line - kept["line"])))
            else:
                print(f"no longer there: {kept['verdict']}: {kept['file']}:{kept['line']}: {kept['before']}")
    return chosen


def try_all(given: argparse.Namespace, made: Map, copy: Copy, attempt: Attempt) -> None:
    outcomes: list[Outcome] = []
    kept = json.loads(given.result.read_text("utf-8")) if given.command == "again" else None
    for part in given.parts:
        if kept:
            sample = again(part, kept)
        else:
            sample = mutants(part)
            random.Random(given.seed).shuffle(sample)
        sample = [m for m in sample if m.file.startswith(given.only)]
        for outcome in counted(copy, sample, made, given, attempt):
            outcomes.append(outcome)
            if outcome.verdict in TRIED:
                change = f"{outcome.before}  ->  {outcome.after}"
                place = f"{outcome.file}:{outcome.line}"
                print(f"{outcome.verdict:9} {place}: {change}  {outcome.test}", flush=True)
            seed = kept["seed"] if kept else given.seed
            record = {"commit": git("rev-parse", "HEAD").strip(), "seed": seed}
            record |= {"parts": summary(outcomes), "outcomes": [asdict(o) for o in outcomes]}
            given.result.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(f"tests that fail without a mutant: {sorted(failing(copy, outcomes, attempt))}")
    for part, counts in summary(outcomes).items():
        print(f"{part}: " + ", ".join(f"{name} {count}" for name, count in counts.items()))


def run(given: argparse.Namespace) -> int:
    if not (WORK / "map.json").exists():
        sys.exit("no map of tests and lines: run `mutate_c.py map` first")
    if ISOLATED not in os.environ:
        command = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        command += ["sh", "-c", '"$@"; exit $?', "sh"]  # its process 1, which buries the dead
        return subprocess.run(
            [*command, sys.executable, *sys.argv], env=os.environ | {ISOLATED: "1"}, check=False
        ).returncode
    made = Map(**json.loads((WORK / "map.json").read_text()))
    given.result = given.result.resolve()
    copy = Copy(WORK / "copy")
    copy.enter()
    runner = Runner(lambda attempt: try_all(given, made, copy, attempt), lambda number: None, 1)
    runner.run(["-k", NOT_RUN, "-m", "not long", *TESTS])
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("map", "run", "again"))
    parser.add_argument("--count", type=int, default=60, help="mutants of each part with other object code")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=8.0, help="seconds of tests for one mutant")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--only", default="", help="of files whose path begins so")
    parser.add_argument("--result", type=Path, default=RESULT, help="where the outcomes are written")
    given = parser.parse_args()
    return make_map() if given.command == "map" else run(given)


if __name__ == "__main__":
    sys.exit(main())
