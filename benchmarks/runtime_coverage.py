#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the unit tests of the runtime execute of it: statements, branches and conditions (MC/DC).

    make coverage               or: .venv/bin/python benchmarks/runtime_coverage.py --json

A line that is not covered has an argument beside it, `/* not covered: WHY */`; where the line ends in a
brace, it is that of the whole block. An argument at a line that is covered is an error, as is a gap without
one: then the exit status is 1. Needs GCC 14 or newer (CC) and its gcov.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from camkes.resources import HOST_KERNEL, ROOT, RUNTIME, SEL4_KERNEL
from tests.runtime.units import UNITS, build_unit
from tests.units import check

COUNTING = ("--coverage", "-fcondition-coverage", "-fprofile-abs-path", "-fprofile-update=single")
#: by which names of files the code is only of images for seL4
OF_SEL4 = re.compile(r"_sel4\.[ch]$")
_ARGUMENT = re.compile(r"/\* not covered: (.*?) \*/", re.DOTALL)
#: what a release image does not evaluate, see camkes/platform.h
_ASSERTION = re.compile(r"\bCAMKES_(ASSERT|UNREACHABLE)\(")


@dataclass(frozen=True, slots=True)
class Count:
    covered: int
    of: int

    def __str__(self) -> str:
        return f"{self.covered}/{self.of}"

    def __add__(self, other: Count) -> Count:
        return Count(self.covered + other.covered, self.of + other.of)


@dataclass(slots=True)
class Line:
    """What was counted of a line, in all builds. A function that was compiled otherwise, for another kernel,
    has other branches and conditions."""

    executed: bool = False
    #: by function and number of branches: whether each was taken
    branches: dict[tuple[str, int], list[bool]] = field(default_factory=dict)
    #: by function, decision and number of conditions: those that decided as true, and as false
    conditions: dict[tuple[str, int, int], tuple[set[int], set[int]]] = field(default_factory=dict)

    def add(self, line: Mapping[str, Any]) -> None:
        """What gcov has of it in one build."""
        function = line.get("function_name", "")
        self.executed |= line["count"] > 0
        taken = [branch["count"] > 0 for branch in line["branches"]]
        before = self.branches.get((function, len(taken)), taken)
        self.branches[function, len(taken)] = [a or b for a, b in zip(taken, before, strict=True)]
        for number, decision in enumerate(line.get("conditions", ())):
            every = set(range(decision["count"] // 2))
            seen = self.conditions.setdefault((function, number, len(every)), (set(), set()))
            for decided, value in zip(seen, ("true", "false"), strict=True):
                decided |= every - set(decision[f"not_covered_{value}"])

    def merge(self, other: Line) -> None:
        """The same of another place with this line, in whatever function."""
        self.executed |= other.executed
        for (_, of), taken in other.branches.items():
            before = self.branches.get(("", of), taken)
            self.branches["", of] = [a or b for a, b in zip(taken, before, strict=True)]
        for (_, number, of), seen in other.conditions.items():
            both = self.conditions.setdefault(("", number, of), (set(), set()))
            for mine, decided in zip(both, seen, strict=True):
                mine |= decided

    def lacks(self) -> Iterator[str]:
        if not self.executed:
            yield "statement"
            return
        for (_, of), taken in self.branches.items():
            yield from (f"branch {i + 1} of {of}" for i, was in enumerate(taken) if not was)
        for (_, _, of), seen in self.conditions.items():
            for decided, value in zip(seen, ("true", "false"), strict=True):
                yield from (f"condition {i + 1} of {of} as {value}" for i in range(of) if i not in decided)

    def count_branches(self) -> Count:
        return Count(sum(map(sum, self.branches.values())), sum(map(len, self.branches.values())))

    def count_conditions(self) -> Count:
        covered = sum(len(true) + len(false) for true, false in self.conditions.values())
        return Count(covered, sum(2 * of for _, _, of in self.conditions))


@dataclass(frozen=True, slots=True)
class Gap:
    """What of a line is not covered, and why not."""

    line: int
    lacks: str
    argument: str


@dataclass(frozen=True, slots=True)
class Covered:
    """`stale` are the lines with arguments that are covered, or have no code."""

    file: str
    statements: Count
    branches: Count
    conditions: Count
    gaps: tuple[Gap, ...]
    stale: tuple[int, ...]

    @property
    def unargued(self) -> tuple[Gap, ...]:
        return tuple(gap for gap in self.gaps if not gap.argument)


def lines_between(text: str, start: int, end: int) -> range:
    """The numbers of the lines in which a part of a text is."""
    return range(text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 2)


def closing(text: str, start: int, pair: str) -> int:
    """Where the bracket closes that opens at `start`."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == pair[0]) - (text[at] == pair[1])
        if depth == 0:
            return at
    raise ValueError(f"no {pair[1]} for line {text.count(chr(10), 0, start) + 1}")


def arguments(text: str) -> Iterator[tuple[range, str]]:
    """The arguments of a source, with the lines that they are about."""
    for found in _ARGUMENT.finditer(text):
        before = text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip()
        why = " ".join(found[1].split())
        if not before:  # of the line below
            after = text.index("\n", found.end()) + 1
            yield lines_between(text, after, after), why
        elif before.endswith("{"):
            start = text.rindex("{", 0, found.start())
            yield lines_between(text, start, closing(text, start, "{}")), why
        else:
            yield lines_between(text, found.start(), found.start()), why


def assertions(text: str) -> Iterator[tuple[range, bool]]:
    """The lines of assertions, and whether they are executed."""
    for found in _ASSERTION.finditer(text):
        end = closing(text, found.end() - 1, "()")
        yield lines_between(text, found.start(), end), found[1] == "ASSERT"


def covered(file: str, text: str, lines: Mapping[int, Line]) -> Covered:
    """What was counted of a source."""
    for of, executed in assertions(text):
        reached = {n: Line(lines[n].executed) for n in of if n in lines and executed}
        lines = {n: line for n, line in lines.items() if n not in of} | reached
    argued: dict[int, str] = {}
    stale = []
    for about, why in arguments(text):
        if not any(number in lines and any(lines[number].lacks()) for number in about):
            stale.append(about[0])
        argued |= dict.fromkeys(about, why)
    nothing = Count(0, 0)
    return Covered(
        file,
        Count(sum(line.executed for line in lines.values()), len(lines)),
        sum((line.count_branches() for line in lines.values()), nothing),
        sum((line.count_conditions() for line in lines.values()), nothing),
        tuple(
            Gap(number, ", ".join(what), argued.get(number, ""))
            for number, line in sorted(lines.items())
            if (what := tuple(line.lacks()))
        ),
        tuple(stale),
    )


def compiler() -> tuple[str, ...]:
    return tuple(shlex.split(os.environ.get("CC", ""))) or ("cc",)


def gcov() -> str:
    """The program of the compiler that reads counters: GCOV, or gcov-14 of gcc-14."""
    name = compiler()[0]
    return os.environ.get("GCOV") or (name.replace("gcc", "gcov") if "gcc" in Path(name).name else "gcov")


def why_not() -> str:
    """Why nothing can be measured here, or an empty text."""
    command = [*compiler(), "-fcondition-coverage", "-fsyntax-only", "-x", "c", os.devnull]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        return f"{shlex.join(compiler())} does not know -fcondition-coverage: it is that of GCC 14 or newer"
    return ""


def measured(folder: Path) -> dict[str, dict[int, Line]]:
    """What was counted in a folder, by the paths of sources."""
    command = (gcov(), "--json-format", "--stdout", "--branch-probabilities", "--conditions")
    notes = sorted(map(str, folder.rglob("*.gcno")))
    done = subprocess.run(
        [*command, *notes], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True
    )
    found: dict[str, dict[int, Line]] = {}
    for part in map(json.loads, done.stdout.splitlines()):
        for file in part["files"]:
            lines = found.setdefault(str(Path(part["current_working_directory"], file["file"])), {})
            for line in file["lines"]:
                lines.setdefault(line["line_number"], Line()).add(line)
    return found


def run_units(folder: Path, jobs: int) -> None:
    """Compile and execute the unit tests; and compile all sources, as what no test calls counts, too."""

    def unit(number: int) -> None:
        name, sources, mcs = UNITS[number]
        own = folder / f"{number}-{name}"
        own.mkdir()
        check(build_unit(own, name, sources, mcs, (*compiler(), *COUNTING)))

    def source(mcs: bool) -> None:
        own = folder / ("mcs" if mcs else "plain")
        own.mkdir()
        files = [file for file in sorted((RUNTIME / "src").rglob("*.c")) if not OF_SEL4.search(file.name)]
        headers = [
            file for file in sorted((RUNTIME / "include").rglob("*.h")) if not OF_SEL4.search(file.name)
        ]
        (own / "headers.c").write_text("".join(f'#include "{file}"\n' for file in headers))
        kernel = ("-DCAMKES_KERNEL_HOST=1", *(("-DCONFIG_KERNEL_MCS",) if mcs else ()))
        includes = (f"-I{RUNTIME / 'include'}", f"-I{HOST_KERNEL / 'include'}")
        command = (*compiler(), *COUNTING, "-std=gnu11", "-O0", "-fkeep-inline-functions", "-c", *kernel)
        subprocess.run([*command, *includes, *map(str, files), "headers.c"], check=True, cwd=own)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(unit, range(len(UNITS))))
        list(pool.map(source, (False, True)))


def measure(folder: Path, jobs: int) -> list[Covered]:
    run_units(folder, jobs)
    files = {Path(name): lines for name, lines in measured(folder).items()}
    return [
        covered(str(path.relative_to(ROOT)), path.read_text(), lines)
        for path, lines in sorted(files.items())
        if path.is_relative_to(RUNTIME)
    ]


def elsewhere(files: Sequence[Covered]) -> list[str]:
    """What is not compiled for the host kernel."""
    names = (str(path.relative_to(ROOT)) for path in RUNTIME.rglob("*.[ch]") if OF_SEL4.search(path.name))
    return [*sorted(set(names) - {each.file for each in files}), str(SEL4_KERNEL.relative_to(ROOT))]


def table(files: Sequence[Covered]) -> str:
    names = ("statements", "branches", "conditions")
    rows: list[tuple[str, ...]] = [("file", *names, "argued")]
    rows += [
        (f.file, *(str(getattr(f, n)) for n in names), str(len(f.gaps) - len(f.unargued))) for f in files
    ]
    sums = [sum((getattr(f, name) for f in files), Count(0, 0)) for name in names]
    rows.append(("all", *map(str, sums), str(sum(len(f.gaps) - len(f.unargued) for f in files))))
    wide = max(len(row[0]) for row in rows)
    return "".join(f"{row[0]:{wide}}" + "".join(f"{cell:>12}" for cell in row[1:]) + "\n" for row in rows)


def complaints(files: Sequence[Covered]) -> Iterator[str]:
    for each in files:
        for gap in each.unargued:
            yield f"{each.file}:{gap.line}: not covered: {gap.lacks}"
        for line in each.stale:
            yield f"{each.file}:{line}: covered, in spite of its argument"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="print counts and gaps as JSON")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many tests at once")
    options = parser.parse_args()
    reason = why_not()
    if reason:
        print(f"runtime_coverage: {reason}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        files = measure(Path(folder), options.jobs)
    said = list(complaints(files))
    if options.json:
        print(json.dumps({"files": [asdict(f) for f in files], "not measured": elsewhere(files)}, indent=1))
    else:
        print(f"{table(files)}\nnot measured, as only images for seL4 have it:")
        print("".join(f"  {name}\n" for name in elsewhere(files)), end="")
    for line in said:
        print(line, file=sys.stderr)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
