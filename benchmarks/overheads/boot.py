# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The size of images and the instructions until the first component executes, beside camkes-tool.

Builds applications of seL4/camkes as release images, in the workspace that SEL4_WORKSPACE names and in that
of camkes-tool, which SEL4_WORKSPACE_UPSTREAM names, with the same kernel, libraries and compiler. The tables
of the loader are this tool's in the former, parse-capDL's in the latter. Prints a row for each: the bytes of
the image that the boot loader reads, and what QEMU counts from reset, with firmware and kernel, to the first
instruction of a component; `boot/boot.c`, which is compiled into each component, prints that.

cmake, ninja, and a python3 that has what camkes-tool needs, are found on the path. (CMake 4.4 refuses a line
of camkes-tool's rules at 44c3049; 3.25 accepts it.)

    SEL4_WORKSPACE=DIR SEL4_WORKSPACE_UPSTREAM=DIR .venv/bin/python benchmarks/overheads/boot.py [NAME ...]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct, to_builtins
from overheads import APPLICATION, MEASURE, places

from camkes.backends.sel4 import workspace as sel4

APPLICATIONS = (
    *("adder", "attributes", "binary-semaphore", "dataport", "exchangestring", "filter"),
    *("hierarchical-components", "lockserver", "reversestring", "structs"),
)
IMAGE = "images/capdl-loader-image-x86_64-pc99"
#: seconds after which a run has failed
LIMIT = 120

_SOURCES = re.compile(r"(DeclareCAmkESComponent\(\s*[^\s)]+[^)]*?\bSOURCES\b)")


class Booted(Struct, frozen=True):
    """Bytes of the image; instructions from reset to the first one of a component."""

    size: int
    instructions: int


def write(application: Path, folder: Path) -> None:
    """A copy of the application, whose components tell when they begin."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(application, folder)
    include = MEASURE / "include"
    added = f'"{APPLICATION.parent / "boot" / "boot.c"}"'
    for path in folder.rglob("CMakeLists.txt"):
        text = _SOURCES.sub(rf"\1 {added}", path.read_text())
        path.write_text(f'include_directories("{include}")\n{text}')


def build(workspace: Path, application: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "CAMKES_WORKSPACE": workspace,
        "CAMKES_APPLICATION": application,
        "PLATFORM": "x86_64",
        "RELEASE": "ON",
        "KernelPrinting": "ON",
    }
    words = [f"-D{name}={value}" for name, value in settings.items()]
    source = sel4.APPLICATION
    for command in (
        ["cmake", "--fresh", "-G", "Ninja", *words, "-C", str(source / "settings.cmake"), str(source)],
        ["ninja"],
    ):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{command[0]} failed in {folder}:\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


def first(lines: Iterable[str]) -> int | None:
    """The counter of the component that begins first."""
    for line in lines:
        found = re.search(r"boot: (\d+)$", line.strip())
        if found is not None:
            return int(found[1])
    return None


def measure(workspace: Path, application: Path, folder: Path) -> Booted:
    build(workspace, application, folder)
    lines = sel4.console(folder, instruction_counting=True, seconds=LIMIT)
    begin = first(lines)
    lines.close()
    if begin is None:
        sys.exit(f"no component of the image in {folder} begins")
    return Booted((folder / IMAGE).stat().st_size, begin)


def table(found: dict[str, tuple[Booted, Booted]]) -> str:
    lines = [
        "| application | image | camkes-tool | ratio | to the first component | camkes-tool | difference |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, (ours, theirs) in found.items():
        size = f"{ours.size} | {theirs.size} | {ours.size / theirs.size:.3f}"
        more = ours.instructions - theirs.instructions
        lines.append(f"| {name} | {size} | {ours.instructions} | {theirs.instructions} | {more} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="applications (default: ten)")
    parser.add_argument("--json", action="store_true", help="write figures as JSON instead of a table")
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep the builds in this folder")
    given = parser.parse_args()
    if not os.environ.get("SEL4_WORKSPACE_UPSTREAM"):
        sys.exit("SEL4_WORKSPACE_UPSTREAM names no workspace of camkes-tool")
    upstream = Path(os.environ["SEL4_WORKSPACE_UPSTREAM"]).absolute()
    found = {}
    with places(given.output) as (workspace, folder):
        for name in given.names or APPLICATIONS:
            copy = folder / "application" / name
            write(workspace / "projects" / "camkes" / "apps" / name, copy)
            found[name] = (
                measure(workspace, copy, folder / "ours"),
                measure(upstream, copy, folder / "theirs"),
            )
    print(json.dumps(to_builtins(found), indent=2) if given.json else table(found))


if __name__ == "__main__":
    main()
