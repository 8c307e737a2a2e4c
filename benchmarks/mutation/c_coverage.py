# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which tests execute which lines of the runtime and the host kernel.

gcov writes its counters when a program ends, but components are confined, and are killed. Hence the compiler
(GCC) calls a function in each basic block, which notes the place in a file that the host kernel maps at a
fixed address when it starts; all processes inherit it. `cc` is a script in front of the compiler that adds
this to the files of interest.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

#: bytes of code of a file whose places are noted
SIZE = 1 << 16
ADDRESS = 0x6F00_0000_0000
#: every function stays in .text, where the first one is that which notes places
FLAGS = "-fsanitize-coverage=trace-pc -fno-reorder-functions -fno-reorder-blocks-and-partition"
NOTE = f"""
static __attribute__((used, noinline, no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void)
{{
    unsigned long place =
        (unsigned long)__builtin_return_address(0) - (unsigned long)__sanitizer_cov_trace_pc;
    if (place < {SIZE}) {{
        ((volatile unsigned char *){ADDRESS}ul)[COVERED_FILE * {SIZE}ul + place] = 1;
    }}
}}
"""
#: a search does not save and restore the memory of files whose names begin like this
MAP_NAME = "camkes-search-places"
MAP = """
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((constructor)) static void map_places(void)
{
    int file = open("%s", O_RDWR);
    if (file < 0 || mmap((void *)%dul, %dul, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file,
                         0) == MAP_FAILED) {
        abort();
    }
    close(file);
}
"""
SCRIPT = """#!/bin/sh
source= object= previous= kernel=
for word; do
    case $word in
    *kernel/host/src/*.c) source=kernel/host/src/${word##*kernel/host/src/} ;;
    *runtime/src/*.c) source=runtime/src/${word##*runtime/src/} ;;
    -rdynamic) kernel=%(folder)s/map.o ;;
    -c) object=yes ;;
    esac
    [ "$previous" = -o ] && made=$word
    previous=$word
done
number=$(grep -nxF "$source" %(folder)s/files) || number=
number=${number%%%%:*}
if [ -z "$number" ] || [ -z "$object" ]; then
    exec %(compiler)s "$@" $kernel
fi
%(compiler)s %(flags)s -DCOVERED_FILE=$number -include %(folder)s/note.h "$@" &&
    cp "$made" %(folder)s/$number.o
"""


@dataclass(eq=False)
class Coverage:
    """A pytest plugin. `places` are those of a test, as number of a file and offset; `shared` those of the
    fixtures of a file of tests, which count for all of its tests."""

    folder: Path
    files: list[str]
    places: dict[str, set[int]] = field(default_factory=dict)
    shared: dict[str, set[int]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)

    def prepare(self) -> None:
        """Write the script that is called `cc`."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        compiler = shutil.which("cc")
        (self.folder / "files").write_text("\n".join(self.files) + "\n")
        (self.folder / "note.h").write_text(NOTE)
        size = (len(self.files) + 1) * SIZE
        (self.folder / "map.c").write_text(MAP % (self.folder / MAP_NAME, ADDRESS, size))
        words = [str(compiler), "-c", "-o", str(self.folder / "map.o"), str(self.folder / "map.c")]
        subprocess.run(words, check=True)
        script = self.folder / "cc"
        script.write_text(SCRIPT % {"folder": self.folder, "compiler": compiler, "flags": FLAGS})
        script.chmod(0o755)
        self._clear()

    def _clear(self) -> None:
        with (self.folder / MAP_NAME).open("wb") as file:
            file.truncate((len(self.files) + 1) * SIZE)

    def _found(self) -> set[int]:
        found = {match.start() for match in re.finditer(rb"[^\0]", (self.folder / MAP_NAME).read_bytes())}
        self._clear()
        return found

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        self._clear()
        try:
            return (yield)
        finally:
            self.shared.setdefault(item.nodeid.partition("::")[0], set()).update(self._found())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        # not where mutants run: it has to be that of their copy
        from camkes.process import end_supervisors, run

        begin = sum(os.times()[:4])  # of the processor, those of ended programs included
        try:
            return (yield)
        except BaseException:  # a test that is skipped, too
            self.failed.add(item.nodeid)
            raise
        finally:
            end_supervisors()
            self.seconds[item.nodeid] = round(sum(os.times()[:4]) - begin, 2)
            self.places[item.nodeid] = self._found()
            run(["true"])  # a supervisor that a test does not start, see plugin.py

    def lines(self) -> dict[str, dict[int, list[str]]]:
        """File -> line -> the tests that execute it, without those that failed."""
        tests: dict[int, list[str]] = {}
        for test, places in self.places.items():
            if test not in self.failed:
                for place in places | self.shared.get(test.partition("::")[0], set()):
                    tests.setdefault(place, []).append(test)
        found: dict[str, dict[int, set[str]]] = {}
        for number, file in enumerate(self.files, 1):
            offsets = sorted(place - number * SIZE for place in tests if place // SIZE == number)
            if offsets:
                lines = found.setdefault(file, {})
                for offset, line in self._lines_of(number, file, offsets):
                    lines.setdefault(line, set()).update(tests[number * SIZE + offset])
        return {file: {n: sorted(t) for n, t in sorted(lines.items())} for file, lines in found.items()}

    def _lines_of(self, number: int, file: str, offsets: list[int]) -> Iterator[tuple[int, int]]:
        """Offset and line, of which a place has many where functions were inlined."""
        command = ["addr2line", "-a", "-i", "-j", ".text", "-e", str(self.folder / f"{number}.o")]
        # the address is where the call returns to
        done = subprocess.run(
            [*command, *(hex(offset - 1) for offset in offsets)], capture_output=True, text=True, check=True
        )
        offset = 0
        for line in done.stdout.splitlines():
            if line.startswith("0x"):
                offset = int(line, 16) + 1
            elif match := re.search(rf"{re.escape(file)}:(\d+)", line):
                yield offset, int(match[1])
