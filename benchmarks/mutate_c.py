# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mutation testing of the C code: small faults, one at a time, each of which some test has to find.

A random sample of the mutants that universalmutator (PyPI) makes of the runtime and the host kernel is
tried, each in a copy of the repository. A mutant that does not compile, or to the same object code as the
original, is not counted. The fastest tests that concern the file come first. Tests run in a PID namespace of
their own, so that no mutant can signal other processes; where that is not allowed, the program ends.

    python benchmarks/mutate_c.py [--count N] [--seed S] [--jobs J] [--json FILE] [--only FOLDER]

Survivors are explained in benchmarks/mutation/survivors-c.md.
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
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue

from universalmutator import mutator

ROOT = Path(__file__).resolve().parents[1]
RULES = ["universal.rules", "c_like.rules", "c.rules"]
#: seconds for the tests of one mutant; without a fault they take less than a quarter of that on an idle core
LIMIT = 900
INCLUDES = (
    "kernel/host/include",
    "kernel/host/src",
    f"kernel/host/src/{os.uname().machine}",
    "runtime/include",
)
#: these look for the text of the original, or fail on a busy machine without a fault
NOT_RUN = (
    "not broken_runtime and not stops_nothing and not second_look and not needs_keeps and not while_compiling"
)


@dataclass(frozen=True)
class Part:
    """C code that the same tests concern, these in the order in which they are tried."""

    folder: str
    tests: tuple[str, ...]
    flags: tuple[str, ...]


PARTS = (
    Part(
        "runtime/src",
        (
            "tests/runtime/test_units.py",
            "tests/runtime/test_library.py",
            "tests/runtime/test_late_updates.py",
            "tests/runtime/test_exploration.py",
            "tests/runtime",
        ),
        ("-std=gnu11", "-DCAMKES_KERNEL_HOST=1"),
    ),
    Part(
        "kernel/host/src",
        (
            "tests/host/test_host.py",
            "tests/host/test_outside.py",
            "tests/runtime/test_exploration.py",
            "tests/host/test_ending.py",
        ),
        ("-std=c11", "-D_GNU_SOURCE"),
    ),
)


#: what components may do to the workstation concerns these files only, and its tests are slow
CONFINEMENT = (
    "confine",
    "signals",
    "access",
    "control",
    "handover",
    "children",
    "watch",
    "damage",
    "ending",
    "stream",
)


@dataclass(frozen=True)
class Mutant:
    file: str
    line: int
    before: str
    after: str
    part: Part
    original: str  # the file's text, which may change in the repository meanwhile

    def text(self) -> str:
        lines = self.original.splitlines(keepends=True)
        lines[self.line - 1] = self.after + "\n"
        return "".join(lines)


@dataclass(frozen=True)
class Outcome:
    """`what` is killed, survived, same code or not compiled; `by` the test that found it."""

    file: str
    line: int
    before: str
    after: str
    what: str
    by: str = ""


def mutants(part: Part) -> list[Mutant]:
    """All mutants of the code that runs on the host."""
    found: dict[tuple[str, int, str], Mutant] = {}
    for path in sorted((ROOT / part.folder).rglob("*.c")):
        if path.name.endswith("_sel4.c") or path.parent.name in ("x86_64", "aarch64"):
            continue  # other tests, or another machine's
        file = str(path.relative_to(ROOT))
        original = path.read_text("utf-8")
        lines = original.splitlines(keepends=True)
        with contextlib.redirect_stdout(io.StringIO()):
            made = mutator.mutants_regexp(lines, ruleFiles=RULES, ignorePatterns=[])
        for number, text, *_ in made:
            after, before = text.rstrip("\n"), lines[number - 1].rstrip("\n")
            if after.strip() != before.strip():
                found[file, number, after] = Mutant(file, number, before, after, part, original)
    return list(found.values())


def copy_of_the_repository(folder: Path) -> None:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, names.decode().split("\0")):
        if os.path.lexists(ROOT / name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)


def object_code(mutant: Mutant, text: str, folder: Path) -> bytes | None:
    """None: it does not compile."""
    source, made = folder / mutant.file, folder / "mutant.o"
    source.write_text(text, "utf-8")
    includes = [f"-I{folder / i}" for i in (*INCLUDES, "runtime/src", str(Path(mutant.file).parent))]
    command = ["cc", *mutant.part.flags, "-O2", "-Wall", "-Wextra", "-Werror", *includes, "-c", str(source)]
    done = subprocess.run([*command, "-o", str(made)], capture_output=True, check=False, cwd=folder)
    return made.read_bytes() if done.returncode == 0 else None


def run_tests(mutant: Mutant, folder: Path) -> str:
    """The first test that fails, empty: none does."""
    places = folder / "work"
    shutil.rmtree(places, ignore_errors=True)
    (places / "tmp").mkdir(parents=True)
    environment = os.environ | {
        "PYTHONPATH": str(folder),
        "XDG_CACHE_HOME": str(places / "cache"),
        "TMPDIR": str(places / "tmp"),
        "CCACHE_DIR": str(folder / "ccache"),  # what a mutant does not change is compiled once
        "PATH": f"/usr/lib/ccache:{os.environ['PATH']}",
    }
    tests = [str(folder / test) for test in mutant.part.tests]
    if Path(mutant.file).stem in CONFINEMENT:
        tests.append(str(folder / "tests/host/test_confinement.py"))
    command = [
        *("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"),
        *("sh", "-c", '"$@"; exit $?', "sh"),  # its process 1, which buries the dead
        *(sys.executable, "-m", "pytest"),
        *("-x", "-q", "-p", "no:cacheprovider", "-m", "long or not long"),
        *("-k", NOT_RUN, *tests),
    ]
    try:
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, errors="replace",
            timeout=LIMIT, check=False, start_new_session=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "time"
    if done.returncode == 0:
        return ""
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return lines[0].partition(" - ")[0].partition(" ")[2] if lines else f"exit status {done.returncode}"


def try_mutant(mutant: Mutant, folder: Path) -> Outcome:
    before = object_code(mutant, mutant.original, folder)
    after = object_code(mutant, mutant.text(), folder)
    by = ""
    if after is None:
        what = "not compiled"
    elif after == before:
        what = "same code"
    else:
        by = run_tests(mutant, folder)
        what = "killed" if by else "survived"
    (folder / mutant.file).write_text(mutant.original, "utf-8")
    return Outcome(mutant.file, mutant.line, mutant.before.strip(), mutant.after.strip(), what, by)


def show(outcomes: list[Outcome]) -> None:
    counts = {
        what: sum(o.what == what for o in outcomes)
        for what in ("killed", "survived", "same code", "not compiled")
    }
    tried = counts["killed"] + counts["survived"]
    for outcome in sorted((o for o in outcomes if o.what == "survived"), key=lambda o: (o.file, o.line)):
        print(f"{outcome.file}:{outcome.line}\n  - {outcome.before}\n  + {outcome.after}")
    print(", ".join(f"{what} {count}" for what, count in counts.items()), end="")
    print(f"; score {100 * counts['killed'] / tried:.0f} %" if tried else "")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--count", type=int, default=100, help="mutants that compile to other code (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path, help="written after each mutant; continued if it is there")
    parser.add_argument("--only", default="", help="of files whose path begins so")
    arguments = parser.parse_args()
    subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], check=True)
    sample = [m for part in PARTS for m in mutants(part) if m.file.startswith(arguments.only)]
    random.Random(arguments.seed).shuffle(sample)
    outcomes: list[Outcome] = []
    if arguments.json and arguments.json.exists():
        kept = json.loads(arguments.json.read_text("utf-8"))
        if kept["seed"] != arguments.seed:
            parser.error(f"{arguments.json} has mutants of the seed {kept['seed']}")
        outcomes = [Outcome(**outcome) for outcome in kept["outcomes"]]
    known = {(o.file, o.line, o.after) for o in outcomes}
    sample = [m for m in sample if (m.file, m.line, m.after.strip()) not in known]
    with (
        tempfile.TemporaryDirectory(prefix="mutants-") as scratch,
        ThreadPoolExecutor(arguments.jobs) as pool,
    ):
        folders: SimpleQueue[Path] = SimpleQueue()
        for job in range(arguments.jobs):
            copy_of_the_repository(Path(scratch, str(job)))
            folders.put(Path(scratch, str(job)))

        def one(mutant: Mutant) -> None:
            if sum(o.what in ("killed", "survived") for o in outcomes) >= arguments.count:
                return
            folder = folders.get()
            outcomes.append(try_mutant(mutant, folder))
            folders.put(folder)
            if arguments.json:
                made = {"seed": arguments.seed, "outcomes": [asdict(o) for o in outcomes]}
                arguments.json.write_text(json.dumps(made, indent=1) + "\n", "utf-8")

        for done in [pool.submit(one, mutant) for mutant in sample]:
            done.result()
    show(outcomes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
