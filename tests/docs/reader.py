# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A reader of the documentation: files with a title are written, commands of blocks `console` are run, in
order, and print what the page shows.

In what is shown, a line `[...]` matches any lines. `$ echo $?` shows the exit status of the command before;
without it, it is 0. CAMKES_UPDATE_GOLDEN=1 writes what commands print into blocks without such a line.

`python reader.py PAGE...` follows pages in the working folder with the command `camkes` that is installed. It
needs no package, as it runs beside an installation of the wheel.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

BLOCK = re.compile(
    r"^```(?P<kind>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```", re.MULTILINE | re.DOTALL
)
COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def installed(words: Sequence[str], folder: Path) -> tuple[int, str]:
    """Run the `camkes` of PATH; its exit status, and what it printed."""
    done = subprocess.run(["camkes", *words], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stderr + done.stdout


class Reader:
    """Follows pages in a folder."""

    def __init__(
        self, folder: Path, camkes: Callable[[Sequence[str], Path], tuple[int, str]] = installed
    ) -> None:
        self.folder, self.camkes = folder, camkes
        self.status = 0

    def follow(self, page: Path) -> None:
        text = page.read_text()
        changed = BLOCK.sub(lambda match: self._block(page, match), text)
        if changed != text:
            page.write_text(changed)

    def _block(self, page: Path, match: re.Match[str]) -> str:
        if match["title"]:
            path = self.folder / match["title"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(match["text"])
        elif match["kind"] == "console":
            shown = COMMAND.sub(lambda each: self._command(page, each[1], each[2]), match["text"])
            assert self.status == 0, (page.name, match["text"], "the exit status is not shown")
            return f"```console\n{shown}```"
        return match[0]

    def _command(self, page: Path, line: str, shown: str) -> str:
        if line == "echo $?":
            status, self.status = self.status, 0
            printed = f"{status}\n"
        else:
            assert self.status == 0, (page.name, line, "the status of the command before is not shown")
            printed = self._run(line)
        if os.environ.get("CAMKES_UPDATE_GOLDEN") and "[...]" not in shown.splitlines():
            shown = printed
        assert matches(shown, printed), f"{page.name}: {line}\nshown:\n{shown}\nprinted:\n{printed}"
        return f"$ {line}\n{shown}"

    def _run(self, line: str) -> str:
        words = shlex.split(line, comments=True)
        if words[0] == "cd":
            self.folder = self.folder / words[1]
            return ""
        if words[0] != "camkes":
            done = subprocess.run(
                line, shell=True, cwd=self.folder, capture_output=True, text=True, check=True
            )
            return done.stdout
        self.status, text = self.camkes(words[1:], self.folder)
        return "".join(f"{each.rstrip()}\n" for each in text.splitlines())


def matches(shown: str, printed: str) -> bool:
    """Whether lines are as shown, where a line `[...]` matches any lines."""
    parts = re.split(r"^\[\.\.\.\]\n", shown, flags=re.MULTILINE)
    return re.fullmatch(r"(?:.*\n)*?".join(map(re.escape, parts)), printed) is not None


if __name__ == "__main__":
    reader = Reader(Path.cwd())
    for name in sys.argv[1:]:
        print(name)
        reader.follow(Path(name).resolve())
