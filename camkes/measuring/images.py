# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The images that measure: their sources, and how they are built and booted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from string import Template

from msgspec import Struct

from camkes import __version__, pipeline
from camkes.backends.interface import Progress
from camkes.diagnostics import Sink
from camkes.files import write_changed
from camkes.measuring.figures import APART
from camkes.measuring.log import FORMAT, OVERRUN_ROWS, OVERRUNS, REQUESTS, parts_of
from camkes.project.application import KERNEL_IS_MCS
from camkes.project.values import is_on
from camkes.resources import SEL4_KERNEL

SOURCES = SEL4_KERNEL / "measure"

#: priority of the task that holds the lock; those of the clients that wait for it follow
LOWEST = 10
#: clients that wait for the lock, of which the last one is measured
QUEUE = 10
#: ends the names of files that are written for a number of components
_TEMPLATE = ".in"


class MeasuredMachine(Struct, frozen=True):
    """Where images are booted: the platform as seL4 names it, and settings of the kernel that let components
    read the counter. `shift`: in QEMU, an instruction takes 2 to this power of nanoseconds, which is one step
    of the platform's counter; None: a board, whose cycles are counted. `of_mcs` are further settings of an
    MCS kernel."""

    platform: str
    settings: Mapping[str, str]
    shift: int | None = None
    of_mcs: Mapping[str, str] = {}

    @property
    def exact(self) -> bool:
        return self.shift is not None


#: The kernel says by an error that a scheduling context has no budget; it does not print that then.
_NO_ERRORS = {"KernelInvocationReportErrorIPC": "ON", "LibSel4PrintInvocationErrors": "0"}

BOARD = "board"
MACHINES = {
    # without its frequency, which is measured to be less, the end of a budget causes no interrupt
    "qemu-x86_64": MeasuredMachine("x86_64", {}, 0, {"KernelPC99TSCFrequency": "1000000000"}),
    "qemu-aarch64": MeasuredMachine("qemu-arm-virt", {"KernelArmExportVCNTUser": "ON"}, 4),
    "qemu-riscv64": MeasuredMachine("qemu-riscv-virt", {}, 0),
    BOARD: MeasuredMachine("x86_64", {"SIMULATION": "OFF", "KernelArmExportPMUUser": "ON"}),
}


def queue_text(count: int) -> str:
    """The file queue.camkes: so many clients of one lock."""
    clients = range(1, count + 1)
    return _filled(
        "requests/queue.camkes",
        lowest=LOWEST,
        last=f"c{count}",
        components=" ".join(f"component Queued c{i};" for i in clients),
        locks=", ".join(f"from queue.c{i}.lock" for i in clients),
        events=", ".join(f"to queue.c{i}.held" for i in clients),
        priorities=" ".join(f"c{i}._priority = {LOWEST + i};" for i in clients),
    )


def releases_text(timers: int) -> str:
    """The file releases.camkes: so many tasks, all released in turn, and one that observes."""
    period = max(timers, 2) * APART
    return _filled(
        "releases/releases.camkes",
        components="\n        ".join(f"component Empty t{i};" for i in range(timers)),
        settings="\n        ".join(
            f"t{i}._priority = 10; t{i}._period = {period} ns; t{i}._offset = {i * APART} ns;"
            for i in range(timers)
        ),
    )


#: nanoseconds of a slot, of a budget, and of jobs that need less and more than that
_SLOT, _BUDGET, _BRIEF, _LONGER = 2_000_000, 400_000, 200_000, 500_000


class _Victim(Struct, frozen=True):
    """A task of image `overruns` with its policy; its jobs, or its requests to a CPI, need too long a time in
    every other job, if it `overruns`."""

    name: str
    policy: str = "wait"
    asks: bool = False
    overruns: bool = True


#: in the order of OVERRUN_ROWS
_VICTIMS = (
    _Victim("stay", overruns=False),
    _Victim("wait"),
    _Victim("job_extend", "extend"),
    _Victim("job_stop", "stop"),
    _Victim("extend", asks=True),
    _Victim("abort", asks=True),
    _Victim("help", asks=True),
)
_CPIS = tuple(f"of_{victim.name}" for victim in _VICTIMS if victim.asks)
#: what executes for known times: the watcher, tasks and CPIs, by their numbers
_USERS = ("watcher", *(victim.name for victim in _VICTIMS), *_CPIS)


def overruns_text(shift: int) -> str:
    """The file overruns.camkes, of a machine on which all takes 2 to the power of `shift` longer."""
    first, slot, budget = ((time << shift) for time in (10 * _SLOT, _SLOT, _BUDGET))
    period = slot * len(_VICTIMS)
    settings = []
    for victim in _VICTIMS:
        name, longer = victim.name, _LONGER if victim.overruns else _BRIEF
        settings += [
            f'{name}._priority = 20; {name}.release = "go"; {name}._period = {period} ns;',
            f"{name}.number = {_USERS.index(name)}; {name}.asks = {int(victim.asks)};",
            f"{name}.brief = {_BRIEF << shift}; {name}.longer = {longer << shift};",
        ]
        if victim.overruns:
            settings.append(f'{name}._budget = {budget} ns; {name}._overrun = "{victim.policy}";')
        if victim.policy == "extend":
            settings.append(f"{name}._extension = {budget} ns; {name}._extension_period = {period} ns;")
    names = [victim.name for victim in _VICTIMS]
    lines = {
        "components": [f"component Victim {name};" for name in names],
        "emits": [f"emits Go {name};" for name in names],
        "settings": settings,
    }
    return _filled(
        "overruns/overruns.camkes",
        **{name: "\n        ".join(each) for name, each in lines.items()},
        **{name: _USERS.index(name) for name in _CPIS},
        ends=", ".join(f"from {name}.used" for name in _USERS[1:]),
        first=first,
        slot=slot,
        slots=2 * len(names),
        budget=budget,
        period=period,
        round=2 * period,
        helps=first + slot * names.index("help") + ((_BRIEF // 2) << shift),
    )


def ticker_text() -> str:
    """The file ticker.c of image `overruns`."""
    return _filled("overruns/ticker.c", emit=", ".join(f"{victim.name}_emit" for victim in _VICTIMS))


def _filled(name: str, **values: str | int) -> str:
    """The text of a file that is written for a number of components."""
    return Template((SOURCES / f"{name}{_TEMPLATE}").read_text("utf-8")).substitute(values)


class Wanted(Struct, frozen=True):
    """What is measured: on which machine, with which kernel (`definitions` of CMake, besides those of the
    machine), and how often. `revision` is that of the kernel."""

    name: str
    definitions: Mapping[str, str]
    samples: int
    revision: str = ""

    @property
    def machine(self) -> MeasuredMachine:
        return MACHINES[self.name]

    @property
    def all_definitions(self) -> dict[str, str]:
        """A release kernel that prints, unless something else is stated."""
        usual = {"PLATFORM": self.machine.platform, "RELEASE": "ON", "KernelPrinting": "ON"}
        of_mcs = {**_NO_ERRORS, **self.machine.of_mcs} if self.mcs else {}
        return {**usual, **self.machine.settings, **of_mcs, **self.definitions}

    @property
    def mcs(self) -> bool:
        """Whether it is an MCS kernel."""
        return is_on(self.definitions.get(KERNEL_IS_MCS, "OFF"))

    @property
    def gaps(self) -> int:
        """Interrupts: between two releases there are two ticks of the kernel, or three."""
        return 60 * self.samples if self.machine.exact else 4 * self.samples

    def about(self) -> dict[str, str]:
        """What an image prints first, in words without spaces."""
        stated = self.all_definitions
        words = [f"{name}={value}" for name, value in self.definitions.items() if name != "PLATFORM"]
        return {
            "format": FORMAT,
            "camkes-rt": __version__,
            "machine": self.name,
            "platform": stated["PLATFORM"],
            "kernel": self.revision[:12] or "unknown",
            "settings": ",".join(words).replace(" ", "_") or "none",
            "samples": str(self.samples),
            "gaps": str(self.gaps),
            "queue": str(QUEUE),
        }


def write_headers(part: str, wanted: Wanted, folder: Path) -> None:
    """The headers that code which measures includes. Raises OSError."""
    for file in (SOURCES / "include").iterdir():
        write_changed(folder / file.name, file.read_bytes())
    about = " ".join(f"{name}={value}" for name, value in wanted.about().items())
    defined = [f"#define SAMPLES {wanted.samples}", f"#define GAPS {wanted.gaps}"]
    if not wanted.machine.exact:
        defined.append("#define MEASURE_ON_BOARD 1")
    text = about.replace("\\", "\\\\").replace('"', '\\"')
    rows = ", ".join(f'"{row}"' for row in OVERRUN_ROWS)
    defined += [f"#define OVERRUN_ROWS {rows}", f"#define USERS {len(_USERS)}"]
    defined += [f'#define MEASURE_PART "{part}"', f'#define MEASURE_ABOUT "{text}"']
    write_changed(folder / "about.h", "\n".join(["#pragma once", *defined, ""]))


def write_application(part: str, wanted: Wanted, folder: Path) -> None:
    """The sources of an image. Raises OSError."""
    kind, _, timers = part.partition("-")
    for file in (SOURCES / kind).iterdir():
        if not file.name.endswith(_TEMPLATE):
            write_changed(folder / file.name, file.read_bytes())
    write_headers(part, wanted, folder / "include")
    if part == REQUESTS:
        write_changed(folder / "queue.camkes", queue_text(QUEUE))
    elif part == OVERRUNS:
        write_changed(folder / "overruns.camkes", overruns_text(wanted.machine.shift or 0))
        write_changed(folder / "ticker.c", ticker_text())
    else:
        write_changed(folder / "releases.camkes", releases_text(int(timers)))


def asked_of(part: str, wanted: Wanted, folder: Path, sdk: Path | None) -> pipeline.Input:
    """What an image below `folder` is built of."""
    source = folder / "sources" / part
    return pipeline.Input(path=source, definitions=tuple(wanted.all_definitions.items()), sdk=sdk)


@contextmanager
def built(
    part: str,
    wanted: Wanted,
    folder: Path,
    workspace: Path | None,
    sdk: Path | None,
    sink: Sink,
    progress: Progress,
) -> Iterator[Path | None]:
    """Build an image below `folder`; its folder, or None after a diagnostic. Raises OSError."""
    asked = asked_of(part, wanted, folder, sdk)
    write_application(part, wanted, asked.path)
    parts = parts_of(mcs=wanted.mcs)
    where = f"{parts.index(part) + 1} of {len(parts)}: {part}"
    with pipeline.built_for_sel4(
        asked, workspace, folder / part, sink, lambda text: progress(f"{where}: {text}")
    ) as out:
        yield out
