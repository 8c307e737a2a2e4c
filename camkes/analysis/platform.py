# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The costs of operations on a machine: the profiles in kernel/sel4/platforms/NAME.toml.

A profile states cycles and the clock. `runtime = "library"` is the runtime of the papers (Sudvarg et al.
2024, Table 2 and Eq. 8): its propagated requests block for the longer of their two halves. `runtime =
"camkes-rt"` is ours: they do not block, but one step of a manager does, as managers execute at ceilings.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from camkes import resources
from camkes.analysis.codes import PLATFORM
from camkes.diagnostics import Sink, SourceFile, Span
from camkes.model.protocols import Protocol

PROFILES = resources.SEL4_KERNEL / "platforms"

Cycles = Annotated[int, Meta(ge=0)]


class Halves(Struct, frozen=True, forbid_unknown_fields=True):
    """Cycles of a request and of its reply, at most."""

    call: Cycles = 0
    reply: Cycles = 0

    @property
    def both(self) -> int:
        return self.call + self.reply


class InheritanceCost(Struct, frozen=True, forbid_unknown_fields=True):
    """Cycles of a request to an `inherited` CPI.

    `unlocked` and `locked` are those of the papers' runtime; `queue` is what its longest queue adds, and
    `update_inherited` and `update_propagated` are one step of a priority down a chain. For ours: `acquire`,
    `release` and `queue` with contention, and `update`, `settle` and `clear` for each level of the chain.
    """

    unlocked: Halves = Halves()
    locked: Halves = Halves()
    queue: Cycles = 0
    update_inherited: Cycles = 0
    update_propagated: Cycles = 0
    acquire: Cycles = 0
    release: Cycles = 0
    update: Cycles = 0
    settle: Cycles = 0
    clear: Cycles = 0


class TimerCost(Struct, frozen=True, forbid_unknown_fields=True):
    """Cycles of a release by a timer: the interrupt, the timer driver, and what a job does to begin and to
    wait for the next one. `each` is what the driver takes in addition for each timer in the system."""

    release: Cycles = 0
    each: Cycles = 0


class Platform(Struct, frozen=True, forbid_unknown_fields=True):
    """A machine and a runtime. `clock` is in Hz, `source` is where the figures are from. `raised` are the
    cycles for each thread that gets another priority when the criticality of the system changes."""

    name: str
    source: str = ""
    runtime: Literal["camkes-rt", "library"] = "camkes-rt"
    clock: Annotated[int, Meta(ge=1)] = 1_000_000_000
    plain: Halves = Halves()
    fixed: Halves = Halves()
    propagated: Halves = Halves()
    inherited: InheritanceCost = InheritanceCost()
    timer: TimerCost = TimerCost()
    raised: Cycles = 0

    def overhead_cycles(
        self, protocol: Protocol, levels: tuple[Protocol, ...] = (), *, pool: bool = False
    ) -> int:
        """Cycles that one request costs beside the work of its CPI. `levels` are the protocols of the CPIs
        below in its longest chain, which a priority that is inherited passes through. A thread of a `pool`
        asks the manager at the begin and at the end of each request, as one does that waits for a lock."""
        lock = self.inherited
        if protocol.own_priority:
            return self.fixed.both
        if not protocol.inherits:
            return self.propagated.both + (lock.acquire + lock.release if pool else 0)
        updates = self.update_cycles(levels)
        if self.runtime == "library":  # Sudvarg et al. 2024, Eq. 8
            return max(lock.unlocked.both, lock.locked.both + lock.queue + updates)
        contended = self.plain.both + lock.acquire + lock.release + lock.queue + updates
        return max(self.plain.both, contended)

    def update_cycles(self, levels: tuple[Protocol, ...]) -> int:
        """Cycles that an inherited priority takes to pass through CPIs, none of which has its own."""
        lock = self.inherited
        if self.runtime == "library":
            return sum(lock.update_inherited if each.lock else lock.update_propagated for each in levels)
        return len(levels) * (lock.update + lock.settle + lock.clear)

    def blocking_cycles(self, protocol: Protocol, *, below_lock: bool = False, pool: bool = False) -> int:
        """Cycles for which a request of a lower task to a CPI with this protocol, in which it does not keep
        the job waiting otherwise, executes before it: in the papers' runtime half of a `propagated` one, in
        ours one step of a manager. There is one if the CPI inherits, if priorities can come from a
        contended lock above, and for a `pool`, whose threads do a part of a request at its ceiling, too."""
        if self.runtime == "library":
            return 0 if protocol.lock else max(self.propagated.call, self.propagated.reply)
        if protocol.own_priority or not (protocol.inherits or below_lock or pool):
            return 0
        lock, plain = self.inherited, self.plain
        step = max(lock.acquire, lock.release, lock.update, lock.settle, lock.clear)
        return max(step, plain.call + lock.acquire, lock.release + plain.reply) if pool else step

    def release_cycles(self, timers: int) -> int:
        """Cycles of a release by one of so many timers."""
        return self.timer.release + timers * self.timer.each

    def nanoseconds(self, cycles: int) -> int | Fraction:
        """Cycles as time."""
        time = Fraction(cycles * 1_000_000_000, self.clock)
        return time.numerator if time.denominator == 1 else time  # sums of integers are much faster


#: Nothing but the work costs time.
FREE = Platform("none")


def names() -> tuple[str, ...]:
    """The profiles that come with the tool."""
    return (FREE.name, *sorted(path.stem for path in PROFILES.glob("*.toml")))


def find_platform(name: str, sink: Sink) -> Platform | None:
    """The profile of this name, or in this file; None, and an error, where there is no good one."""
    try:
        return read_platform(name)
    except FileNotFoundError:
        sink.report(
            PLATFORM,
            f"there is no platform profile `{name}`",
            help=f"expected one of {', '.join(names())}, or a file with the suffix .toml",
        )
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        sink.report(PLATFORM, f"the platform profile `{name}` cannot be read: {reason}")
    except tomllib.TOMLDecodeError as error:
        _report_syntax(_source(name), str(error), sink)
    except msgspec.ValidationError as error:
        _report_value(_source(name), str(error), sink)
    return None


def _report_syntax(file: SourceFile, error: str, sink: Sink) -> None:
    reason, _, where = error.partition(" (at ")
    numbers = [int(each) for each in re.findall(r"\d+", where)]
    if len(numbers) == 2:
        line, column = numbers
    else:  # at the end of the document
        line = max((n for n, each in enumerate(file.lines, 1) if each.strip()), default=1)
        column = len(file.lines[line - 1].rstrip())
    column = max(min(column, len(file.lines[line - 1])), 1)
    span = Span(file, line, column, line, column + 1)
    sink.report(PLATFORM, f"the platform profile is not valid TOML: {reason[:1].lower()}{reason[1:]}", span)


def _report_value(file: SourceFile, error: str, sink: Sink) -> None:
    """An error of a key, at the key, or of its value, at that."""
    reason, _, where = error.partition(" - at `$")
    keys = where.rstrip("`").split(".")[1:]
    unknown = re.search("unknown field `(.*)`", reason)
    if unknown is not None:
        where = f" in `{'.'.join(keys)}`" if keys else ""
        span = _place(file, [*keys, unknown[1]], value=False)
        sink.report(PLATFORM, f"a platform profile has no key `{unknown[1]}`{where}", span)
    else:
        text = f"the value of `{'.'.join(keys)}` is wrong: {reason[:1].lower()}{reason[1:]}"
        sink.report(PLATFORM, text, _place(file, keys, value=True))


def _place(file: SourceFile, keys: Sequence[str], *, value: bool) -> Span:
    """Where the text gives a key its value, in its table or with a dotted name; or the table of this name."""
    table = ""
    wanted = ".".join(keys)
    for number, line in enumerate(file.lines, 1):
        if (header := re.match(r"\s*\[\s*([\w.-]+)\s*\]", line)) is not None:
            table = header[1]
            if table == wanted:
                return Span(file, number, header.start(1) + 1, number, header.end(1) + 1)
            continue
        found = re.match(r"\s*([\w.-]+)\s*=\s*([^#]*[^#\s])", line)
        if found is not None and ".".join(filter(None, (table, found[1]))) == wanted:
            start, end = found.span(2 if value else 1)
            return Span(file, number, start + 1, number, end + 1)
    return Span(file, 1, 1, 1, len(file.lines[0]) + 1)


def _path(name: str) -> Path:
    return Path(name) if name.endswith(".toml") else PROFILES / f"{name}.toml"


def _source(name: str) -> SourceFile:
    return SourceFile(_path(name), _path(name).read_text("utf-8"))


def read_platform(name: str) -> Platform:
    """The profile of this name, or in this file. Raises OSError where there is none, ValueError for a bad
    one."""
    if name == FREE.name:
        return FREE
    path = _path(name)
    return msgspec.convert({"name": path.stem, **tomllib.loads(path.read_text("utf-8"))}, Platform)
