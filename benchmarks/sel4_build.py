# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What camkes-tool and this tool cost when an application is built for seL4, side by side.

Counted is the processor time of the tools' own processes and of what they start: parser, generator, linker
of the capability distribution, which writes the loader's tables, too; capDL-tool makes those of camkes-
tool, and is not counted. CMake, ninja, the compiler and the kernel's scripts are not, either. A program
that stands in for Python writes down what each call costs; the two workspaces take turns. Cases: the first
build with an empty user's cache, another one in an empty build folder, a changed source file of a
component, a changed .camkes file. Wall time is that of the whole build.

Needs SEL4_WORKSPACE (this repository is its projects/camkes-tool) and SEL4_WORKSPACE_UPSTREAM (camkes-tool
is); python3 on the path has what camkes-tool needs.

    .venv/bin/python benchmarks/sel4_build.py [--rounds N] [APPLICATION ...]      (default: adder)
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent

#: words in the arguments of the calls that are a tool's
OURS = ("camkes.cli.sel4", "camkes.backends.sel4")
THEIRS = ("camkes.parser", "camkes.runner", "capdl_linker.py")


@dataclass
class Side:
    """One of the two tools at work: its workspace, and what its Python is called with."""

    name: str
    workspace: Path
    python: str
    words: tuple[str, ...]
    folder: Path
    settings: tuple[str, ...] = ()
    on_path: bool = False
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def prepare(self) -> None:
        """Build the stand-in for Python."""
        self.folder.mkdir(parents=True)
        stand_in = self.folder / "python3"
        defines = [f'-DPROGRAM="{self.python}"', f'-DLOG="{self.log}"']
        subprocess.run(["cc", "-O2", *defines, "-o", stand_in, HERE / "recorder.c"], check=True)
        self.environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        self.environment["XDG_CACHE_HOME"] = str(self.folder / "cache")
        if self.on_path:
            self.environment["PATH"] = f"{self.folder}:{self.environment['PATH']}"

    def build(self, application: str, *, clean: bool) -> tuple[float, float, int]:
        """Processor time of the tool, wall time of the build, number of the tool's processes."""
        out = self.workspace / f"b-bench-{application}"
        if clean:
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
        self.log.write_text("")
        begin = time.monotonic()
        if clean:
            script = str(self.workspace / "init-build.sh")
            options = [f"-DCAMKES_APP={application}", "-DPLATFORM=x86_64", "-DSIMULATION=1", *self.settings]
            self._run([script, *options], out)
        self._run(["ninja"], out)
        wall = time.monotonic() - begin
        calls = [line.split("\t") for line in self.log.read_text().splitlines()]
        own = [int(c[0]) for c in calls if any(word in each for each in c[1:] for word in self.words)]
        return sum(own) / 1e6, wall, len(own)

    def _run(self, command: list[str], folder: Path) -> None:
        run = subprocess.run(
            command, cwd=folder, env=self.environment, capture_output=True, text=True, check=False
        )
        if run.returncode != 0:
            sys.exit(f"{self.name}: {command[0]} failed:\n{run.stdout[-3000:]}{run.stderr[-3000:]}")


def change(file: Path, text: str) -> None:
    """Give a file other contents; a file of its own, if others share it."""
    part = file.with_name(f".{file.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(file)


def measure(application: str, sides: list[Side], rounds: int) -> None:
    print(f"{application}: {'upstream':>30} {'ours':>18} {'ratio':>7}   wall: upstream, ours")
    cases = {
        "first build": "",
        "empty build folder": "",
        "changed source": f"projects/camkes/apps/{application}/components",
        "changed .camkes file": f"projects/camkes/apps/{application}",
    }
    for case, folder in cases.items():
        clean = not folder
        if case == "first build":
            for side in sides:
                shutil.rmtree(side.folder / "cache", ignore_errors=True)
        samples: dict[str, list[tuple[float, float, int]]] = {side.name: [] for side in sides}
        files = [] if clean else [find(side.workspace / folder, case) for side in sides]
        kept = [file.read_text(encoding="utf-8") for file in files]
        try:
            for _ in range(1 if clean else rounds):
                for i, side in enumerate(sides):
                    if not clean:
                        change(files[i], f"{kept[i]}\n/* {time.time_ns()} */\n")
                    samples[side.name].append(side.build(application, clean=clean))
        finally:
            for file, text in zip(files, kept, strict=True):
                change(file, text)
        report(case, [samples[side.name] for side in sides])


def report(case: str, samples: list[list[tuple[float, float, int]]]) -> None:
    theirs, ours = ([statistics.median(column) for column in zip(*rows, strict=True)] for rows in samples)
    print(
        f"{case:20} {theirs[0]:8.3f} s in {theirs[2]:2.0f} processes {ours[0]:8.3f} s in {ours[2]:2.0f}"
        f" {theirs[0] / ours[0]:7.1f}x   {theirs[1]:6.1f} s {ours[1]:6.1f} s",
        flush=True,
    )


def find(folder: Path, case: str) -> Path:
    """The file of an application to change."""
    if "source" in case:
        return sorted(folder.rglob("*.c"))[0]
    return folder / f"{folder.name}.camkes"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("applications", nargs="*", default=["adder"])
    arguments = parser.parse_args()
    try:
        ours, theirs = Path(os.environ["SEL4_WORKSPACE"]), Path(os.environ["SEL4_WORKSPACE_UPSTREAM"])
    except KeyError:
        sys.exit(__doc__)
    python = shutil.which("python3")
    assert python
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        settings = (f"-DCAmkESPython={folder / 'ours' / 'python3'}",)
        sides = [
            Side("upstream", theirs, python, THEIRS, folder / "theirs", on_path=True),
            Side("ours", ours, sys.executable, OURS, folder / "ours", settings),
        ]
        for side in sides:
            side.prepare()
        for application in arguments.applications:
            measure(application, sides, arguments.rounds)


if __name__ == "__main__":
    main()
