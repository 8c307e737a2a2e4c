# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The files of a part with all their mutants, in a copy of the repository, and what has come of each."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mutation.c_mutants import Mutant, Source

ROOT = Path(__file__).resolve().parents[2]
MAKERS = ROOT / "benchmarks" / "mutation"
WORK = Path(os.environ.get("CAMKES_MUTANTS_WORK", ROOT / "build" / "mutation-c"))
COPY = WORK / "copy"
#: mutants.h has the layout
SHARED, NOTES, SIZE = WORK / "camkes-search-mutants", 8192, 8192 + (1 << 16)
#: folders of mutants, and what their files are compiled with
PARTS = {
    "runtime": ("-std=gnu11", "-DCAMKES_KERNEL_HOST=1"),
}
INCLUDES = (
    *("kernel/host/include", "kernel/host/src", f"kernel/host/src/{os.uname().machine}"),
    *("runtime/include", "runtime/src", "runtime/src/protocols"),
)
KERNELS = ((), ("-DCONFIG_KERNEL_MCS=1",))
#: mutants that may not compile, the likeliest first: a difference of pointers
TYPED = ("arithmetic", "result", "constant")


def git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True, text=True).stdout


def compiler(folder: Path, words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=folder, capture_output=True, check=False, text=True)


def is_of_this_machine(path: Path) -> bool:
    """Not of builds for seL4 only, and not of one processor."""
    return (
        path.suffix in (".c", ".h")
        and "_sel4." not in path.name
        and path.parent.name not in ("x86_64", "aarch64")
    )


@dataclass
class Sources:
    """All files of a part, and the numbers that are in something that is compiled."""

    part: str
    files: dict[str, Source] = field(default_factory=dict)
    compiled: set[int] = field(default_factory=set)
    wrong: set[tuple[str, tuple[str, int]]] = field(default_factory=set)

    def read(self) -> None:
        number = 1
        for path in sorted(filter(is_of_this_machine, (ROOT / self.part).rglob("*"))):
            name = str(path.relative_to(ROOT))
            wrong = frozenset(place for file, place in self.wrong if file == name)
            self.files[name] = Source(name, path.read_bytes(), number, wrong)
            number += len(self.files[name].mutants)

    def write(self) -> None:
        """Into the copy."""
        more = {("", ("", 0))}
        while more:
            self.read()
            self.compiled = set()
            for name, source in self.files.items():
                if source.mutants:
                    head, rest = "#include <camkes/mutants.h>", source.text[source.text.index("\n") :]
                    (COPY / name).write_text(head + rest, "utf-8")
            more = self._refused()
            self.wrong |= more

    def _refused(self) -> set[tuple[str, tuple[str, int]]]:
        """What does not compile, one mutant of each line with an error."""
        wrong: set[tuple[str, tuple[str, int]]] = set()
        for source, flags in self.commands():
            done = compiler(COPY, [*flags, "-fsyntax-only", "-fmax-errors=0", source])
            for name, line in re.findall(r"^([^:\s]+):(\d+):(?:\d+:)? error", done.stderr, re.MULTILINE):
                name = os.path.relpath(os.path.normpath(COPY / name), COPY)
                found = [m for m in self.files[name].mutants if m.line == int(line) and m.kind in TYPED]
                if not found:
                    sys.exit(done.stderr)
                first = min(found, key=lambda m: (TYPED.index(m.kind), len(m.before)))
                wrong.add((name, (first.kind, first.start)))
            if done.returncode == 0:
                listed = compiler(COPY, [*flags, "-E", "-DMUTANTS_LIST", source])
                for kind, digits in re.findall(r"\bMUTANT(_\w+)?\((\d+)", listed.stdout):
                    self.compiled |= {int(digits), int(digits) + (kind == "_GUARD")}
        return wrong

    def commands(self) -> Iterator[tuple[str, list[str]]]:
        """A source and its flags. Headers are compiled by themselves, too: some are for users' code only."""
        flags = ["cc", *PARTS[self.part], *(f"-I{folder}" for folder in INCLUDES)]
        for name in (name for name, source in self.files.items() if source.mutants):
            for kernel in KERNELS:
                if name.endswith(".c"):
                    yield name, [*flags, *kernel, f"-I{Path(name).parent}"]
                else:
                    yield (
                        os.devnull,
                        [*flags, *kernel, "-xc", "-include", name.removeprefix("runtime/include/")],
                    )

    def mutants(self) -> list[Mutant]:
        return [m for source in self.files.values() for m in source.mutants]

    def not_compiled(self) -> list[Mutant]:
        """Those that do not compile, and those of other kernels only."""
        refused = [m for source in self.files.values() for m in source.not_compiled]
        return refused + [m for m in self.mutants() if m.number not in self.compiled]


def make_copy() -> None:
    shutil.rmtree(COPY, ignore_errors=True)
    for name in filter(None, git("ls-files", "-coz", "--exclude-standard").split("\0")):
        if os.path.lexists(ROOT / name):
            (COPY / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, COPY / name, follow_symlinks=False)
    for name in ("mutants.h", "mutants.c"):
        shutil.copy2(MAKERS / name, COPY / "runtime/include/camkes" / name)
    shutil.copy2(MAKERS / "mutants.c", COPY / "kernel/host/src/mutants.c")
    for unit in [*COPY.glob("tests/runtime/unit/*.c"), *COPY.glob("tests/host/unit/*.c")]:
        text = unit.read_text("utf-8")
        unit.write_text("#include <camkes/mutants.c>" + text[text.index("\n") :], "utf-8")
    # a function may return that should not
    for name in ("kernel/host/Makefile", "tests/units.py"):
        text = (COPY / name).read_text("utf-8")
        (COPY / name).write_text(text.replace("-Werror", "-Wno-error"), "utf-8")
    with SHARED.open("wb") as file:
        file.truncate(SIZE)


@dataclass
class Outcomes:
    """The results, which are kept as they come. A mutant is the same as long as its file is."""

    path: Path = WORK / "outcomes.jsonl"
    kept: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.path.exists():
            for line in self.path.read_text("utf-8").splitlines():
                self.kept.update(json.loads(line))

    def key(self, mutant: Mutant, source: Source) -> str:
        digest = hashlib.sha256(source.source).hexdigest()[:12]
        return f"{mutant.file} {digest} {mutant.start} {mutant.end} {mutant.after}"

    def add(self, key: str, outcome: dict[str, Any]) -> None:
        self.kept[key] = outcome
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({key: outcome}, ensure_ascii=False) + "\n")


def described(mutant: Mutant, verdict: str, **more: Any) -> dict[str, Any]:
    names = ("file", "line", "before", "after")
    return {**{name: getattr(mutant, name) for name in names}, "verdict": verdict, **more}


class Compiled:
    """Assembly code, of a copy of a part without mutants. That of a header has all of its functions."""

    def __init__(self, sources: Sources) -> None:
        self.sources, self.folder = sources, WORK / "plain"
        shutil.rmtree(self.folder, ignore_errors=True)
        for folder in ("runtime", "kernel/host"):
            shutil.copytree(ROOT / folder, self.folder / folder)
        self.original = {words: self._code(words) for words in map(tuple, self._commands())}
        self.users = {words: compiler(self.folder, [*words, "-M"]).stdout for words in self.original}

    def _commands(self) -> Iterator[list[str]]:
        for name, flags in self.sources.commands():
            unused = ["-fkeep-inline-functions"] if name == os.devnull else []
            yield [*flags, "-O2", "-fno-strict-aliasing", *unused, name]

    def _code(self, words: tuple[str, ...]) -> str:
        """Nothing where it does not compile: what is an expression with mutants may not be one without."""
        return compiler(self.folder, [*words, "-w", "-S", "-o", "-"]).stdout

    def is_same(self, mutant: Mutant) -> bool:
        source = self.sources.files[mutant.file].source
        (self.folder / mutant.file).write_bytes(
            source[: mutant.start] + f"({mutant.after})".encode() + source[mutant.end :]
        )
        users = [words for words in self.original if mutant.file in self.users[words]]
        same = bool(users) and all(self._code(words) == self.original[words] for words in users)
        (self.folder / mutant.file).write_bytes(source)
        return same
