# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Commands that create files, and their results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

Progress = Callable[[str], None]

#: the step that takes long, and is done once
HOST_KERNEL_STEP = "the host kernel"


class BuildJob(Struct, frozen=True):
    """`command` makes `output` from `inputs`. `title` is for people; `about` is what the job is about.

    `listed` are further words of the command, handed over in a file. `beside` is the suffix of a second file
    that the command makes, named after `output`. `identity` changes with the program that the command runs.
    `search` is set for a compiler that writes its dependencies: the command without a source, by which the
    compiler can be asked where it looks for headers. Paths are absolute; commands run in the build folder.
    """

    title: str
    output: Path
    command: tuple[str, ...]
    inputs: tuple[Path, ...]
    about: str
    listed: tuple[str, ...] = ()
    beside: str = ""
    identity: str = ""
    search: tuple[str, ...] = ()
    compiler: tuple[str, ...] = ()

    @property
    def second(self) -> Path:
        """The second file."""
        return self.output.with_suffix(self.beside)

    @property
    def dependencies(self) -> Path:
        """Where the compiler writes its dependencies, in the form of make."""
        return self.output.with_name(f"{self.output.name}.d")

    @property
    def messages(self) -> Path:
        """What the command printed."""
        return self.output.with_name(f"{self.output.name}.said")


class BuildOutcome(Struct, frozen=True):
    """What became of a job. `messages` is what the command printed."""

    job: BuildJob
    good: bool
    messages: str
