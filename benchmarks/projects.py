# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Checks, builds and runs the CAmkES projects in a folder of checkouts, and writes a table.

    python benchmarks/projects.py ~/checkouts --markdown table.md --json results.json

A checkout is a folder OWNER/NAME. Its systems are the folders whose CMakeLists.txt declares a root
server; where there are none, the `.camkes` files with an assembly. `check`: the system is read and
checked. `host`: it is built for the host kernel and runs for a second of virtual time. With `--camkes-
tool DIR --python PROGRAM` the parser of that checkout of camkes-tool reads the same files; without, that
column is empty. With a workspace (`--workspace` or SEL4_WORKSPACE), packages of it are known; `-D` is
handed on. Results of an earlier run with the same options are kept where `--json` names its file, but for
systems that are named with `--again`. Exit status 1: a system that camkes-tool reads was refused.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
_ROOTSERVER = re.compile(r"^[^#\n]*\bDeclareCAmkESRootserver\s*\(", re.MULTILINE | re.IGNORECASE)
_ASSEMBLY = re.compile(r"\bassembly\b[^;{]*\{")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def systems_of(checkout: Path) -> list[Path]:
    """The folders of applications, or the files of systems."""
    lists = sorted(checkout.rglob("CMakeLists.txt"))
    found = [each.parent for each in lists if _ROOTSERVER.search(each.read_text(errors="replace"))]
    if found:
        return found
    files = (each for each in sorted(checkout.rglob("*.camkes")) if each.is_file())
    return [each for each in files if _ASSEMBLY.search(_COMMENT.sub(" ", each.read_text(errors="replace")))]


def adl_of(system: Path) -> Path | None:
    """The file of the assembly, as far as the text of CMake has it."""
    if system.is_file():
        return system
    declared = re.search(
        r"DeclareCAmkESRootserver\s*\(\s*\"?([^\s\")]+)",
        (system / "CMakeLists.txt").read_text(errors="replace"),
        re.I,
    )
    path = None if declared is None else system / declared[1].replace("${CMAKE_CURRENT_LIST_DIR}/", "")
    return path if path is not None and path.is_file() else None


class Trial:
    """How systems are tried. `words` are options of `camkes`."""

    def __init__(self, words: list[str], tool: Path | None, python: str, seconds: int) -> None:
        self.words = words
        self.tool = tool
        self.python = python
        self.seconds = seconds

    def camkes(self, command: str, system: Path, *more: str) -> str:
        """ "yes", or the codes of the errors with the first message."""
        words = [sys.executable, "-m", "camkes", command, str(system), "--format", "json", *self.words, *more]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=self.seconds,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"not within {self.seconds} s"
        if done.returncode == 0:
            return "yes"
        for text in (done.stdout, done.stderr):
            start = text.find('{\n  "version"')
            if start >= 0:
                found, _ = json.JSONDecoder().raw_decode(text[start:])
                errors = [each for each in found["diagnostics"] if each["severity"] == "error"]
                codes = ", ".join(dict.fromkeys(each["code"] for each in errors))
                return f"{codes}: {errors[0]['message']}" if errors else f"status {done.returncode}"
        return f"status {done.returncode}"

    def camkes_tool(self, adl: Path | None) -> str:
        """Whether the parser of camkes-tool reads the file."""
        if self.tool is None:
            return ""
        if adl is None:
            return "no file"
        paths = [self.tool / "include/builtin", self.tool / "components", adl.parent]
        words = [self.python, "-m", "camkes.parser", "--cpp", "--save-ast", os.devnull, "--file", str(adl)]
        words += [word for path in paths for word in ("--import-path", str(path))]
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                text=True,
                timeout=self.seconds,
                check=False,
                cwd=self.tool,
                env={**os.environ, "PYTHONPATH": str(self.tool)},
            )
        except subprocess.TimeoutExpired:
            return f"not within {self.seconds} s"
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return "yes" if done.returncode == 0 else (lines[0] if lines else f"status {done.returncode}")

    def all(self, system: Path) -> dict[str, str]:
        found = {"check": self.camkes("check", system), "camkes-tool": self.camkes_tool(adl_of(system))}
        with tempfile.TemporaryDirectory() as out:
            ran = self.camkes("run", system, "--for", "1s", "--timeout", "20s", "-o", out)
        found["host"] = ran if found["check"] == "yes" else "-"
        found["options"] = " ".join(self.words)
        return found


def markdown(results: dict[str, dict[str, dict[str, str]]]) -> Iterator[str]:
    """A row for each checkout, then what failed."""
    yield "| project | systems | read by camkes-tool | check | run on the host kernel |"
    yield "|---|---|---|---|---|"
    for project, systems in results.items():
        counts = [
            sum(each[kind] == "yes" for each in systems.values()) for kind in ("camkes-tool", "check", "host")
        ]
        yield f"| {project} | {len(systems)} | {' | '.join(map(str, counts))} |"
    yield ""
    yield "| system | step | result |"
    yield "|---|---|---|"
    for project, systems in results.items():
        for name, each in systems.items():
            step = next((kind for kind in ("check", "host") if each[kind] not in ("yes", "-")), None)
            if step is not None:
                text = each[step].replace("|", "\\|").replace("\n", " ")
                yield f"| {project}/{name} | {step} | {text} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="with checkouts OWNER/NAME")
    parser.add_argument("--only", default="", help="projects whose OWNER/NAME has this in it")
    parser.add_argument("--again", default=None, help="systems whose path has this in it are tried again")
    parser.add_argument("--markdown", type=Path, help="write the table")
    parser.add_argument(
        "--json", type=Path, help="write the results, and keep those that are there with these options"
    )
    parser.add_argument("--workspace", type=Path, help="an seL4 workspace")
    parser.add_argument("-D", dest="definitions", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--dtb", type=Path, help="a device tree")
    parser.add_argument("--camkes-tool", type=Path, help="a checkout of camkes-tool")
    parser.add_argument("--python", default=sys.executable, help="the Python that camkes-tool is run with")
    parser.add_argument("--seconds", type=int, default=120, help="for a command (default: 120)")
    parser.add_argument("--jobs", type=int, default=2, help="systems at a time (default: 2)")
    arguments = parser.parse_args()
    words = [f"-D{each}" for each in arguments.definitions]
    words += [] if arguments.workspace is None else ["--workspace", str(arguments.workspace)]
    words += [] if arguments.dtb is None else ["--dtb", str(arguments.dtb)]
    trial = Trial(words, arguments.camkes_tool, arguments.python, arguments.seconds)
    known: dict[str, Any] = {}
    if arguments.json is not None and arguments.json.is_file():
        known = json.loads(arguments.json.read_text())
    results: dict[str, dict[str, dict[str, str]]] = {}
    for checkout in sorted(each for each in arguments.folder.glob("*/*") if each.is_dir()):
        project = f"{checkout.parent.name}/{checkout.name}"
        if arguments.only not in project:
            results |= {project: known[project]} if project in known else {}
            continue
        systems = systems_of(checkout)
        names = [str(system.relative_to(checkout)) for system in systems]
        old = known.get(project, {})
        todo = {
            name: system
            for name, system in zip(names, systems, strict=True)
            if old.get(name, {}).get("options") != " ".join(words)
            or (arguments.again is not None and arguments.again in f"{project}/{name}")
        }
        print(f"{project}: {len(systems)} systems, {len(todo)} to try", file=sys.stderr, flush=True)
        with ThreadPoolExecutor(arguments.jobs) as pool:
            found = dict(zip(todo, pool.map(trial.all, todo.values()), strict=True))
        results[project] = {name: found.get(name) or old[name] for name in names}
        if arguments.json is not None:
            arguments.json.write_text(json.dumps({**known, **results}, indent=1) + "\n")
    text = "\n".join(markdown(results)) + "\n"
    if arguments.markdown is not None:
        arguments.markdown.write_text(text)
    print(text)
    failed = sum(
        each["check"] != "yes" and each["camkes-tool"] == "yes"
        for of in results.values()
        for each in of.values()
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
