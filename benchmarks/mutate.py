#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How many small faults in the code `make test` finds: a random sample of universalmutator's mutants.

    make mutate COUNT=200 SEED=1          or: .venv/bin/python benchmarks/mutate.py --count 20 camkes/showing

Each mutant is put into a copy of the repository, one after the other. mypy looks at one of Python; then come
the tests of the folder that belongs to its file, then all others of `make test`. Mutants that do not compile,
or whose compiled code is that of the original, are left out. `build/mutants.jsonl` keeps each outcome, with
the changed lines.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = (
    "camkes/**.py",
    "parser/**.py",
    "runtime/src/**.c",
    "runtime/include/**.h",
    "kernel/host/src/**.[ch]",
)
#: only in builds for seL4 and for other processors
ELSEWHERE = re.compile(r"_sel4\.[ch]$|/(aarch64|sel4)/")
#: the tests of a folder, where they are not in the folder of the same name
TESTS = {
    "backends": ["tests/backends"],
    "cli": ["tests/end_to_end", "tests/diagnostics"],
    "generate": ["tests/runtime/test_generate.py", "tests/runtime"],
    "kernel": ["tests/host", "tests/explore"],
    "process": ["tests/host/test_nothing_outlives_the_tool.py"],
    "running": ["tests/report"],
    "showing": ["tests/report", "tests/protocols", "tests/analysis"],
    "runtime": ["tests/runtime/test_units.py", "tests/runtime"],
}
C_FLAGS = ("-std=c11", "-D_GNU_SOURCE", "-DCAMKES_KERNEL_HOST=1", "-fPIC", "-O2", "-w")
LONGEST = 1800.0  # seconds that all tests may take


def sources(patterns: list[str]) -> dict[str, int]:
    """The files to change and their numbers of lines."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, capture_output=True, text=True, check=True
    )
    names = [name for name in listed.stdout.split("\0") if re.search(r"\.(py|c|h)$", name)]
    names = [name for name in names if not ELSEWHERE.search(name) and (ROOT / name).is_file()]
    return {name: (ROOT / name).read_text().count("\n") for name in names}


def mutants(name: str, folder: Path) -> list[Path]:
    """All mutants of a file."""
    command = [sys.executable, "-m", "universalmutator.genmutants", str(ROOT / name), "--noCheck"]
    if name.endswith(".h"):
        command.append("c")
    subprocess.run([*command, "--mutantDir", str(folder)], capture_output=True, check=True)
    return sorted(folder.iterdir())


def compiled(path: Path, name: str) -> str | None:
    """What a file does, without places and comments in it; None if it does not compile."""
    if name.endswith(".py"):
        try:
            tree = ast.parse(path.read_text())
        except SyntaxError:
            return None
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
                node.body[0] = ast.Pass()
        return ast.dump(tree)
    places = [f"-I{ROOT / place}" for place in ("runtime/include", "kernel/host/include", "kernel/host/src")]
    places += [f"-I{(ROOT / name).parent}", f"-I{ROOT}/kernel/host/src/{os.uname().machine}", "-xc"]
    command = ["cc", *C_FLAGS, *places, "-S", "-o", "-", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.replace(path.name, "") if done.returncode == 0 else None


def draw(files: dict[str, int], rng: random.Random) -> tuple[str, str]:
    """A file, by its lines, and the text of a mutant that is another program."""
    while True:
        (name,) = rng.choices(list(files), weights=list(files.values()))
        with tempfile.TemporaryDirectory() as folder:
            found = mutants(name, Path(folder))
            if not found:
                continue
            chosen = rng.choice(found)
            code = compiled(chosen, name)
            if code is not None and code != compiled(ROOT / name, name):
                return name, chosen.read_text()


def folders_of(name: str) -> list[str]:
    """Where the tests are that most likely find a fault in a file."""
    parts = Path(name).parts
    own = parts[1] if parts[0] == "camkes" else parts[0]
    own = own.removesuffix(".py")
    found = TESTS.get(own, [f"tests/{own}"])
    return [each for each in found if (ROOT / each).exists()]


def outcome(copy: Path, name: str, jobs: int) -> str:
    """What found the mutant that is in the copy: `mypy`, a test, `hangs`, or nothing."""
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    if name.endswith(".py"):
        mypy = [sys.executable, "-m", "mypy"]
        for options in ([], ["--no-incremental"]):  # its cache may be that of an earlier mutant
            checked = subprocess.run([*mypy, *options], cwd=copy, env=environment, capture_output=True)
            if checked.returncode == 0:
                break
        else:
            return "mypy"
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=no", "-p", "no:cacheprovider"]
    pytest += ["-n", str(jobs), "--dist", "loadfile"]
    for wanted in (*([folder] for folder in folders_of(name)), []):
        try:
            done = subprocess.run(
                [*pytest, *wanted], cwd=copy, env=environment, capture_output=True, text=True, timeout=LONGEST
            )
        except subprocess.TimeoutExpired:
            return "hangs"
        if done.returncode not in (0, 5):
            failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
            return failed[1] if failed else "collection"
    return ""


def copy_to(folder: Path) -> None:
    """The files of the last commit and what was changed since."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, names.stdout.split("\0")):
        source, target = ROOT / name, folder / name
        if source.is_symlink() or source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    for command in (["camkes.parser.tables"], ["compileall", "-q", "camkes", "tests"]):
        subprocess.run([sys.executable, "-m", *command], cwd=folder, check=True)
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)  # tests ask which files are kept
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)


def main() -> None:
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "paths", nargs="*", default=list(FILES), help="files or folders (default: the product)"
    )
    parser.add_argument("--count", type=int, default=200, help="mutants (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes for tests")
    arguments = parser.parse_args()
    files, rng = sources(arguments.paths), random.Random(arguments.seed)
    log = ROOT / "build" / "mutants.jsonl"
    log.parent.mkdir(exist_ok=True)
    found = Counter[tuple[str, bool]]()
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place).resolve()
        copy_to(copy)
        for number in range(arguments.count):
            name, text = draw(files, rng)
            before = (ROOT / name).read_text()
            (copy / name).write_text(text)
            by = outcome(copy, name, arguments.jobs)
            (copy / name).write_text(before)
            change = [x for x in difflib.ndiff(before.splitlines(), text.splitlines()) if x[0] in "+-"]
            with log.open("a") as lines:
                lines.write(json.dumps({"file": name, "change": change, "found": by}) + "\n")
            found["/".join(Path(name).parts[:2]), bool(by)] += 1
            print(f"{number + 1}: {name}: {by or 'SURVIVED'}")
            if not by:
                print("\n".join(change))
    for package in sorted({package for package, _ in found}):
        killed, left = found[package, True], found[package, False]
        print(f"{package:24} {killed:4} of {killed + left:4}")
    killed = sum(count for (_, by), count in found.items() if by)
    print(f"{'all':24} {killed:4} of {sum(found.values()):4} {killed / max(1, sum(found.values())):.1%}")


if __name__ == "__main__":
    main()
