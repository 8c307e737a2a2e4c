# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How a system runs on the host kernel."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from camkes.backends.host.schedule import Schedule


class Costs(Struct, frozen=True):
    """The time that operations take: the name of a platform profile, and lines of the boot table."""

    profile: str
    lines: tuple[str, ...]


class RunOptions(Struct, frozen=True, kw_only=True):
    """How to run; None leaves a value to the kernel. Times are nanoseconds, virtual but for `timeout`: that
    is the elapsed time without progress after which the running thread is stopped (0: never), as
    `loop_limit_ms` is that of the processor, in milliseconds. `memory_limit` is what a component may have and
    `record_limit` the largest trace, in bytes (0: any). `fast`: one process for all components. `hardened`:
    components cannot write to the kernel's memory. `console` is the file descriptor that components print to
    (None: standard output), `input` a file that comes to it. `network` is a capture of frames that come,
    `sent` the file for one of those that are sent. `coverage` is the folder for what is executed, which is
    counted then; nothing is confined. `stacks`: how much of its stack each thread has used is measured.
    `costs` is the time that operations take (None: none). `schedule` is
    one to repeat; it determines what `choices`, `scheduling` and `duration` would."""

    duration: int | None = None
    fast: bool = False
    hardened: bool = False
    scheduling: str = "fifo"
    timeslice: int | None = None
    choices: str = "first"
    schedule: Schedule | None = None
    loop_limit_ms: int | None = None
    timeout: int | None = None
    memory_limit: int | None = None
    record_limit: int | None = None
    console: int | None = None
    input: Path | None = None
    network: Path | None = None
    sent: Path | None = None
    coverage: Path | None = None
    stacks: bool = False
    costs: Costs | None = None
