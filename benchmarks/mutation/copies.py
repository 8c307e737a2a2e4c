# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A copy of the repository in which one mutant at a time lives: for those that no switch can select."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from mutation.operators import Mutant

PLUGIN = ("-p", "benchmarks.mutation.plugin", "-p", "no:cacheprovider")

#: a process that has loaded all but the code under test; each run is a copy of it
FORKS = multiprocessing.get_context("forkserver")
PRELOADED = [
    "pytest",
    "_pytest.assertion.rewrite",
    "xdist",
    "hypothesis",
    "lark",
    "jinja2",
    "msgspec",
    "networkx",
]


def in_process(folder: str, environment: dict[str, str], files: list[str]) -> None:
    """Run tests of a copy; the exit status is pytest's."""
    import pytest

    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    assert "camkes" not in sys.modules
    status = pytest.main(["-x", "-q", "--tb=no", *PLUGIN, *files])
    os._exit(status)


class Copy:
    """`files` are those of the repository at `root`, `tests` the folders of tests."""

    def __init__(self, root: Path, folder: Path, files: list[str], tests: list[str]) -> None:
        self.folder = folder
        shutil.rmtree(self.folder, ignore_errors=True)
        FORKS.set_forkserver_preload(PRELOADED)
        for name in files:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            if (root / name).is_symlink() or (root / name).is_file():
                shutil.copy2(root / name, self.folder / name, follow_symlinks=False)
        self.environment = os.environ | {"PYTHONPATH": str(self.folder)}
        for command in (["-m", "camkes.parser.tables"], ["-m", "pytest", "-q", "--collect-only", *tests]):
            # compiles all; what does not even start could not tell a mutant from good code
            subprocess.run(
                [sys.executable, *command],
                cwd=self.folder,
                env=self.environment,
                stdout=subprocess.DEVNULL,
                check=True,
            )
        # a changed file may have the length and the second of the one before: its compiled form is not kept
        self.environment |= {"PYTHONDONTWRITEBYTECODE": "1"}

    def attempt(self, mutant: Mutant, tests: dict[str, float]) -> tuple[str, str]:
        """Verdict and the test that failed, with a mutant."""
        path = self.folder / mutant.file
        source, times = path.read_bytes(), path.stat()
        path.write_bytes(mutant.apply(source))
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns + 10**10))
        try:
            return self.run(tests)
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))

    def run(self, tests: dict[str, float]) -> tuple[str, str]:
        """Verdict and the test that failed. `tests`: in this order; the seconds of processor time after which
        each hangs."""
        (self.folder / "build").mkdir(exist_ok=True)
        wanted, failed = self.folder / "build" / "wanted.json", self.folder / "build" / "failed.txt"
        wanted.write_text(json.dumps(tests))
        failed.write_text("")
        environment = self.environment | {"MUTATION_TESTS": str(wanted), "MUTATION_FAILED": str(failed)}
        files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
        process = FORKS.Process(target=in_process, args=(str(self.folder), environment, files))
        process.start()
        process.join(600 + sum(tests.values()))
        with suppress(ProcessLookupError):
            os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
        if process.exitcode in (0, 5):
            return "survived", ""
        # also where pytest cannot start, because a module that conftest.py imports fails
        return ("timeout" if (process.exitcode or 0) < 0 else "killed"), failed.read_text()
