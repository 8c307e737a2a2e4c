# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems with everyday mistakes (`wrong_*`), and without (`right_*`), as `camkes explore` has to judge them.

A text in `everyday` begins with what is wrong or right in one line. Then lines `finds: LETTERS` (the
properties, one of which a search must find violated) and `options: WORDS` of the command; `=== NAME` begins a
file. `python -m tests.explore.everyday [NAME...] [--show]` prints a table of them.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.command import Result, camkes

FOLDER = Path(__file__).parent / "everyday"


class Everyday(NamedTuple):
    """`finds` is empty where nothing is wrong."""

    name: str
    what: str
    finds: tuple[str, ...]
    options: tuple[str, ...]
    files: dict[str, str]

    def write(self, folder: Path) -> Path:
        for name, text in self.files.items():
            before = "import <std_connector.camkes>;" if name.endswith(".camkes") else "#include <camkes.h>"
            (folder / name).write_text(f"{before}\n{text}")
        return folder / "system.camkes"


def read(path: Path) -> Everyday:
    head, *files = path.read_text().split("\n=== ")
    what, *lines = head.splitlines()
    words = {name: rest.split() for name, _, rest in (line.partition(":") for line in lines)}
    assert set(words) <= {"finds", "options"}, path
    texts = dict(part.split("\n", 1) for part in files)
    return Everyday(path.stem, what, tuple(words.get("finds", ())), tuple(words.get("options", ())), texts)


ALL = {path.stem: read(path) for path in sorted(FOLDER.glob("*.txt"))}


def explore(system: Everyday, folder: Path, *more: str) -> Result:
    return camkes("explore", system.write(folder), "-o", folder / "out", *system.options, *more)


def verdict(result: Result) -> str:
    """The letter of the property that is violated; "" for none, the errors where there is no report."""
    if not result.output.startswith("{"):
        return result.errors or result.output
    violation = json.loads(result.output)["violation"]
    return "" if violation is None else str(violation["property"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--show", action="store_true", help="print what the command prints")
    asked = parser.parse_args()
    bad = 0
    for name in asked.names or ALL:
        system = ALL[name]
        with tempfile.TemporaryDirectory() as folder:
            start = time.monotonic()
            result = explore(system, Path(folder), *(() if asked.show else ("--json",)))
            seconds = time.monotonic() - start
        if asked.show:
            print(f"{'=' * 100}\n{name}: {system.what}\n{result.output}{result.errors}")
            continue
        found = verdict(result)
        good = found in system.finds if system.finds else found == ""
        bad += not good
        wanted = " or ".join(system.finds) or "nothing"
        print(
            f"{'ok ' if good else 'BAD'} {seconds:5.1f} s  {name}: {found or 'nothing'} ({wanted})",
            flush=True,
        )
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
