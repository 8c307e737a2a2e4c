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
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest
from mutation.c_coverage import Coverage
from universalmutator import mutator

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "mutation-c"
RESULT = ROOT / "benchmarks" / "mutation" / "c.json"
RULES = ["universal.rules", "c_like.rules", "c.rules"]
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
    "not broken_runtime and not stops_nothing and not second_look and not needs_keeps "
    "and not while_compiling and not protection_keys and not planted"
)
#: compiles files of the runtime by itself, which the map does not see
UNITS = "tests/runtime/test_units.py"


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
    """`verdict` is killed, survived, uncovered, same code or not compiled; `test` the one that found it, of
    `tests` that execute the line."""

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
        function, else any of its file; the fastest first."""
        lines = self.lines.get(mutant.file, {})
        text = mutant.original.splitlines()
        number = mutant.line
        while number and str(number) not in lines and text[number - 1] != "}":
            number -= 1
        found = lines.get(str(number)) or {test for tests in lines.values() for test in tests}
        return sorted(found, key=lambda test: (self.seconds[test], test))

    def within(self, mutant: Mutant, budget: float) -> list[str]:
        """As many of these as fit into the budget."""
        found = [UNITS] if mutant.part == "runtime/src" else []
        for test in self.of(mutant):
            if self.seconds[test] <= budget:
                budget -= self.seconds[test]
                found.append(test)
        return found


# ---- one mutant ----


@dataclass
class Copy:
    """A copy of the repository in which one mutant at a time lives."""

    folder: Path
    codes: dict[str, bytes | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
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

    def attempt(self, mutant: Mutant, tests: list[str], limit: float) -> Outcome:
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
            test = self.run(tests, limit)
            verdict = "killed" if test else "survived"
        (self.folder / mutant.file).write_text(mutant.original, "utf-8")
        before, changed = mutant.before.strip(), mutant.after.strip()
        return Outcome(mutant.file, mutant.line, before, changed, verdict, test, len(tests))

    def run(self, tests: list[str], limit: float) -> str:
        """The first test that fails, empty: none does."""
        places = self.folder / "work"
        shutil.rmtree(places, ignore_errors=True)
        places.mkdir()
        environment = os.environ | {
            "PYTHONPATH": str(self.folder),
            "XDG_CACHE_HOME": str(self.folder / "cache"),
            "TMPDIR": str(places),
            "CCACHE_DIR": str(self.folder / "ccache"),  # what a mutant does not change is compiled once
            "PATH": f"/usr/lib/ccache:{os.environ['PATH']}",
        }
        command = [
            *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"),
            *("sh", "-c", '"$@"; exit $?', "sh"),  # its process 1, which buries the dead
            *(sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-o", "addopts=", "-k", NOT_RUN),
            *("-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov", *tests),
        ]
        try:
            done = subprocess.run(
                command, cwd=self.folder, env=environment, capture_output=True, text=True, errors="replace",
                timeout=limit, check=False, start_new_session=True,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "time"
        if done.returncode == 0:
            return ""
        lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        if not lines:
            sys.exit(f"pytest ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return lines[0].partition(" - ")[0].partition(" ")[2]


# ---- all of them ----


def attempts(chosen: list[Mutant], made: Map, budget: float) -> Iterator[Outcome]:
    with tempfile.TemporaryDirectory(prefix="mutants-") as scratch:
        copy = Copy(Path(scratch, "copy"))
        for mutant in chosen:
            tests = made.within(mutant, budget)
            yield copy.attempt(mutant, tests, 180 + 10 * budget)


def counted(part: str, chosen: list[Mutant], made: Map, budget: float, count: int) -> Iterator[Outcome]:
    """Until `count` mutants of a part had other object code."""
    tried = 0
    for outcome in attempts(chosen, made, budget):
        yield outcome
        tried += outcome.verdict in ("killed", "survived", "uncovered")
        if tried >= count:
            return


def summary(outcomes: list[Outcome]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for part in PARTS:
        verdicts = [o.verdict for o in outcomes if o.file.startswith(part)]
        names = ("killed", "survived", "uncovered", "same code", "not compiled")
        counts: dict[str, float] = {name: verdicts.count(name) for name in names}
        tried = sum(counts[name] for name in names[:3])
        found[part] = counts | {"score": round(counts["killed"] / max(tried, 1), 4)}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("map", "run"))
    parser.add_argument("--count", type=int, default=60, help="mutants of each part with other object code")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=30.0, help="seconds of tests for one mutant")
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--only", default="", help="of files whose path begins so")
    parser.add_argument("--result", type=Path, default=RESULT, help="where the outcomes are written")
    given = parser.parse_args()
    subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], check=True)
    if given.command == "map":
        return make_map()
    if not (WORK / "map.json").exists():
        sys.exit("no map of tests and lines: run `mutate_c.py map` first")
    made = Map(**json.loads((WORK / "map.json").read_text()))
    commit = git("rev-parse", "HEAD").strip()
    outcomes: list[Outcome] = []
    for part in given.parts:
        sample = [m for m in mutants(part) if m.file.startswith(given.only)]
        random.Random(given.seed).shuffle(sample)
        for outcome in counted(part, sample, made, given.budget, given.count):
            outcomes.append(outcome)
            if outcome.verdict in ("killed", "survived", "uncovered"):
                change = f"{outcome.before}  ->  {outcome.after}"
                print(
                    f"{outcome.verdict:9} {outcome.file}:{outcome.line}: {change}  {outcome.test}", flush=True
                )
            record = {"commit": commit, "seed": given.seed, "parts": summary(outcomes)}
            record["outcomes"] = [asdict(o) for o in outcomes]
            given.result.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8")
    for part, counts in summary(outcomes).items():
        print(f"{part}: " + ", ".join(f"{name} {count}" for name, count in counts.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
