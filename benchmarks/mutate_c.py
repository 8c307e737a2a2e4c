# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mutation testing of the C code: small faults, one at a time, each of which some test has to find.

All mutants (mutation/c_mutants.py) of the runtime, with the functions of its headers, are compiled at once in
a copy of the repository. The tests run once without a mutant, to learn which of them
reach which mutants in a state in which something differs. Then each mutant is selected in turn, and those
tests run in forks, the fastest first, and first those that have found others of the same file. Systems and
programs are built once, in the first run. Tests run in a PID namespace of their own, so that no mutant can
signal other processes; where that is not allowed, the program ends.

    mutate_c.py run                    the mutants that were not tried yet, or whose file has changed
    mutate_c.py run --again            those that no test has found, too, as after a new test
    mutate_c.py report                 what was found, into c.json and the first part of survivors-c.md, and
                                       which survivors have no explanation there

build/mutation-c/outcomes.jsonl has the results as they come; benchmarks/mutation has what is made of them, in
c.json, and the reasons of survivors, in survivors-c.md. A survivor with the object code of the original is
the same program. Tests are those of `make test`, unless --marks says otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import mmap
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from mutation.c_results import report
from mutation.c_sources import (
    COPY,
    NOTES,
    PARTS,
    SHARED,
    SIZE,
    WORK,
    Outcomes,
    Sources,
    described,
    make_copy,
)
from mutation.c_summary import FOUND
from mutation.trials import Attempt, Runner, Trial

#: set in the process namespace in which mutants run
ISOLATED = "CAMKES_MUTANTS_ISOLATED"
TESTS = (
    *("tests/runtime", "tests/explore", "tests/host", "tests/report", "tests/backends/host", "tests/testing"),
    *("tests/end_to_end/test_faults.py", "tests/end_to_end/test_run_output.py"),
)
#: these look for the text of the original, change what is built once, fail on a busy machine without a fault,
#: or start a virtual machine
NOT_RUN = (
    "not broken_runtime and not does_not_stop_a_run and not second_look and not needs_keeps "
    "and not while_compiling and not planted and not protection_keys and not fast_path "
    "and not no_update_comes_late"
)
#: functions of the tests that build something in a folder: each thing is built once
BUILDERS = (("tests.runtime.host", "build"), ("tests.units", "build"))


def enter() -> None:
    """Tests run in the copy from now on."""
    assert "camkes" not in sys.modules, "it would not be that of the copy"
    os.chdir(COPY)
    sys.path.insert(0, str(COPY))
    work = WORK / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    os.environ |= {
        "PYTHONPATH": str(COPY),
        "XDG_CACHE_HOME": str(WORK / "cache"),
        "TMPDIR": str(work),
        "CAMKES_MUTANTS": str(SHARED),
        "PATH": f"/usr/lib/ccache:{os.environ['PATH']}",
        "CCACHE_DIR": str(WORK / "ccache"),
        "CCACHE_NOHASHDIR": "1",
    }
    tempfile.tempdir = None


def used() -> float:
    """Seconds of the processor, those of programs that have ended included, without those of `build_once`."""
    return sum(os.times()[:4]) - sum(BUILDING)


#: seconds of what was built once, which no trial takes
BUILDING: list[float] = []


def build_once(module: str, name: str) -> None:
    """Replace a function that builds something in a folder, its first argument."""
    from camkes.process import end_supervisors

    original: Callable[..., Any] = getattr(import_module(module), name)
    made: dict[str, Any] = {}

    def built(given: Path, *arguments: Any, **options: Any) -> Any:
        key = repr((arguments, sorted(options.items())))
        if key not in made:
            folder = Path(tempfile.mkdtemp(prefix="built-", dir=WORK / "work"))
            if given.exists():
                shutil.copytree(given, folder, dirs_exist_ok=True)
            begin = used()
            try:
                made[key] = original(folder, *arguments, **options)
            finally:
                end_supervisors()
                BUILDING.append(used() - begin)
        return made[key]

    setattr(import_module(module), name, built)


# ---- tests ----


class Tests:
    """A pytest plugin: which test reaches which mutants. `seconds`: of the processor."""

    def __init__(self) -> None:
        with SHARED.open("r+b") as file:
            self.shared = mmap.mmap(file.fileno(), SIZE)
        self.reached: dict[str, set[int]] = {}
        self.seconds: dict[str, float] = {}
        self.fixtures: dict[str, tuple[set[int], float]] = {}
        self.failed: set[str] = set()

    def select(self, number: int) -> None:
        self.shared[:4] = number.to_bytes(4, sys.byteorder)

    def _notes(self) -> set[int]:
        found = {match.start() for match in re.finditer(rb"[^\0]", self.shared[NOTES:])}
        self.shared[NOTES:] = bytes(SIZE - NOTES)
        return found

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        begin = used()
        self._notes()
        try:
            return (yield)
        finally:
            file = item.nodeid.partition("::")[0]
            notes, seconds = self.fixtures.get(file, (set(), 0.0))
            self.fixtures[file] = notes | self._notes(), max(seconds, used() - begin)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        from camkes.process import end_supervisors, run

        begin = used()
        try:
            return (yield)
        except BaseException:  # a test that is skipped, too
            self.failed.add(item.nodeid)
            raise
        finally:
            end_supervisors()
            self.seconds[item.nodeid] = used() - begin
            self.reached[item.nodeid] = self._notes()
            run(["true"])  # a supervisor that a test does not start, see plugin.py

    def of(self, number: int) -> dict[str, float]:
        """The tests that reach a mutant, with the seconds that each takes."""
        found: dict[str, float] = {}
        for test, reached in self.reached.items():
            notes, seconds = self.fixtures[test.partition("::")[0]]
            if test not in self.failed and (number in reached or number in notes):
                found[test] = self.seconds[test] + seconds
        return found


# ---- all mutants ----


def run_all(given: argparse.Namespace, sources: Sources, tests: Tests, attempt: Attempt) -> None:
    outcomes = Outcomes()
    killers = Counter((kept["file"], kept["test"]) for kept in outcomes.kept.values() if kept.get("test"))
    others = processes()
    for mutant in sources.not_compiled():
        outcomes.add(outcomes.key(mutant, sources.files[mutant.file]), described(mutant, "not compiled"))
    chosen = [m for m in sources.mutants() if m.number in sources.compiled]
    if given.count:
        chosen = random.Random(given.seed).sample(chosen, min(given.count, len(chosen)))
    for mutant in chosen:
        key = outcomes.key(mutant, sources.files[mutant.file])
        before = outcomes.kept.get(key)
        if not mutant.file.startswith(tuple(given.only)) or (
            before and not (given.again and before["verdict"] not in FOUND)
        ):
            continue
        reaching = tests.of(mutant.number)
        ranked = sorted(reaching, key=lambda t: (reaching[t] / (1 + killers[mutant.file, t]), t))
        within, left = {}, given.budget
        for test in ranked:
            if reaching[test] <= left:
                within[test] = reaching[test]
                left -= reaching[test]
        verdict, test, begin = "uncovered", "", time.monotonic()
        if within:
            ((_, verdict, test),) = attempt([Trial(mutant.number, within)])
            end_all_but(others)
            killers[mutant.file, test] += bool(test)
        if before and before["verdict"] != "not compiled" and verdict not in FOUND:
            continue
        outcomes.add(
            key,
            described(
                mutant,
                verdict,
                test=test,
                tried=len(within),
                reaching=len(reaching),
                seconds=round(time.monotonic() - begin, 2),
            ),
        )
        if verdict != "killed":
            print(verdict, f"{mutant.file}:{mutant.line}: {mutant.before}  ->  {mutant.after}", flush=True)
    check(outcomes, set(tests.reached), attempt)


def check(outcomes: Outcomes, tests: set[str], attempt: Attempt) -> None:
    """A test of this run that fails without a mutant, too, on a busy machine perhaps, has found nothing."""
    found = tests & {outcome.get("test", "") for outcome in outcomes.kept.values()}
    broken = {test for test in found if next(iter(attempt([Trial(0, {test: 60.0})]))).verdict != "survived"}
    print(f"tests that fail without a mutant: {sorted(broken)}", flush=True)
    for key, outcome in list(outcomes.kept.items()):
        if outcome.get("test") in broken:
            outcomes.add(key, outcome | {"verdict": "survived", "test": ""})


def processes() -> set[int]:
    return {int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()}


def end_all_but(others: set[int]) -> None:
    """End what a trial left in the namespace."""
    for process in processes() - others:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def run(given: argparse.Namespace) -> int:
    WORK.mkdir(parents=True, exist_ok=True)
    if ISOLATED not in os.environ:
        command = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
        command += ["sh", "-c", '"$@"; exit $?', "sh"]  # its process 1, which buries the dead
        words = [*command, sys.executable, *sys.argv]
        return subprocess.run(words, env=os.environ | {ISOLATED: "1"}, check=False).returncode
    make_copy()
    sources = Sources(given.part)
    sources.write()
    print(f"{len(sources.mutants())} mutants, {len(sources.compiled)} compiled", flush=True)
    enter()
    for module, name in BUILDERS:
        build_once(module, name)
    tests = Tests()
    options = ["-q", "--tb=line", "-p", "no:xdist", "-p", "no:cov", "-p", "no:cacheprovider"]
    selection = ["-k", NOT_RUN, "-m", given.marks, *given.tests]
    pytest.main([*options, *selection], plugins=[tests])
    print(f"tests that failed, and are not used: {sorted(tests.failed)}", flush=True)
    Runner(lambda attempt: run_all(given, sources, tests, attempt), tests.select, 1).run(selection)
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("run", "report"))
    parser.add_argument("--part", default="runtime", choices=PARTS)
    parser.add_argument("--only", nargs="+", default=[""], help="files whose path begins so")
    parser.add_argument("--count", type=int, default=0, help="so many mutants, at random; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--budget", type=float, default=5.0, help="seconds of tests for one mutant")
    parser.add_argument("--again", action="store_true", help="those that no test has found, too")
    parser.add_argument("--marks", default="not long", help="which tests, as for pytest's -m")
    parser.add_argument("--tests", nargs="+", default=TESTS, help="instead of those that are listed here")
    given = parser.parse_args()
    return run(given) if given.command == "run" else report(given.part)


if __name__ == "__main__":
    sys.exit(main())
