# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Searches the schedules of a built system for one that breaks a property.

The host kernel does the search (`kernel/host/src/search/search.c`); here it is configured, started and
listened to.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from camkes import process
from camkes.backends.host.addresses import locate
from camkes.backends.host.codes import RUN_FAILED
from camkes.backends.host.host import HostImage
from camkes.backends.host.oracle import oracle_table
from camkes.backends.host.places import PlaceFinder
from camkes.capdl.uses import Data
from camkes.diagnostics import Sink
from camkes.files import write_changed
from camkes.protocols.plan import Plan
from camkes.running.names import TraceNames
from camkes.running.times import format_time

if TYPE_CHECKING:
    from camkes.analysis.limits import BlockingLimit

#: What a search that was killed ends with, by itself or of several processes.
_KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)

#: Kernel operations of a schedule in which jobs arrive in any order: with more, a thread loops for ever.
MOST_OPERATIONS = 100_000


#: times in the kernel's words
_NANOSECONDS = re.compile(r"\b(\d+) ns\b")


class SearchOptions(Struct, frozen=True, kw_only=True):
    """What is searched. `arrivals`: jobs of each task and expirations of each timer, which happen at any
    point; 0: they happen at the times in the text, and durations are at their bounds. `bound`: the most
    preemptions in a schedule. `random`: so many schedules at random. Limits: `states`, elapsed `seconds`.
    `duration` is virtual time (ns), for arrivals at the times in the text. `choices`: only the schedule with
    these is run. `outcomes`: the orders of lock operations and ends of jobs are part of the states, and
    listed, by one process only. `processes` search at once; without a bound they find what one does.
    `every_point`: timers fire also where it makes no difference whether they do so now or later."""

    arrivals: int = 1
    scheduling: str = "fifo"
    bound: int | None = None
    random: int = 0
    seed: int = 1
    states: int = 0
    seconds: int = 0
    duration: int | None = None
    choices: tuple[int, ...] | None = None
    outcomes: bool = False
    processes: int = 1
    every_point: bool = False


class FoundViolation(Struct, frozen=True):
    """A property that does not hold, and the choices of the schedule that shows it."""

    property: str
    explanation: str
    time: int
    choices: tuple[int, ...]


class SearchState(Struct, frozen=True):
    """How far a search is. `states` counts those that were come to, `distinct` those of the last round that
    differ; `depth` is in choices, of which `frontier` options were not tried; `cut`: the bound on preemptions
    left out schedules; `stopped`: a limit ended the search; `between`: a work had a duration between bounds.
    `bytes` are compared at a state; `seconds` are elapsed, `processor` those of all processors."""

    states: int = 0
    distinct: int = 0
    schedules: int = 0
    reruns: int = 0
    bound: int = 0
    depth: int = 0
    deepest: int = 0
    frontier: int = 0
    processes: int = 1
    cut: bool = False
    stopped: bool = False
    between: bool = False
    bytes: int = 0
    seconds: float = 0.0
    processor: float = 0.0


class SearchResult(Struct, frozen=True):
    """`outcomes`: what schedules that ended did: "take CPI CONTEXT" (or wait, grant, free), "end TASK".
    `records`: what happened in the one schedule that was asked for, for `moments_of`."""

    state: SearchState
    violation: FoundViolation | None
    outcomes: frozenset[tuple[str, ...]] = frozenset()
    records: tuple[Mapping[str, Any], ...] = ()


def search_host(
    image: HostImage,
    plan: Plan,
    names: TraceNames,
    limits: Mapping[str, BlockingLimit],
    options: SearchOptions,
    sink: Sink,
    progress: Callable[[SearchState], None],
) -> SearchResult | None:
    """Run a search to its end; None after a diagnostic. `limits` are those of the property B."""
    table = image.folder / "search.table"
    write_changed(table, oracle_table(plan, names, limits=limits))
    words = [str(image.kernel), image.table.name, *_arguments(options, table)]
    if options.choices is not None:
        words += ["--choices", f"script:{write_choices(image.folder, options.choices)}"]
    search = process.StartedProgram(
        words, cwd=image.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    state, violation = SearchState(), None
    outcomes: set[tuple[str, ...]] = set()
    records: list[Mapping[str, Any]] = []
    with search as kernel:
        for line in _lines(kernel):
            event = json.loads(line)
            kind = event.pop("event")
            if kind == "violation":
                violation = _violation(event, image)
            elif kind == "outcome":
                outcomes.add(tuple(event["steps"]))
            elif kind in ("record", "leaves"):
                records.append(event)
            else:
                state = SearchState(**event)
                progress(state)
        errors = kernel.stderr.read().decode(errors="replace") if kernel.stderr else ""
        status = kernel.wait()
    if status in _KILLED and state.states:
        sink.report(
            RUN_FAILED,
            f"the search was killed after {state.states:,} states, {state.distinct:,} of which differ",
            notes=["the system kills programs when its memory ends, or that of a container"],
            help="`--states N` ends a search before",
        )
        return None
    if status not in (0, 1):
        sink.report(
            RUN_FAILED,
            f"the search ended with {f'signal {-status}' if status < 0 else f'status {status}'}",
            notes=errors.strip().splitlines()[-20:],
        )
        return None
    return SearchResult(state, violation, frozenset(outcomes), tuple(records))


def _lines(kernel: process.StartedProgram) -> Iterator[bytes]:
    """The results of the kernel; when the user interrupts the search, it ends with what it has."""
    if kernel.stdout is None:
        return
    interrupted = False
    while True:
        try:
            line = kernel.stdout.readline()
        except KeyboardInterrupt:
            if interrupted:
                raise
            interrupted = True
            kernel.send_signal(signal.SIGINT)
            continue
        if not line:
            return
        yield line


def write_choices(folder: Path, choices: Sequence[int]) -> Path:
    """A file for the kernel's option --choices script:FILE."""
    path = folder / "choices.txt"
    path.write_text(" ".join(map(str, choices)) + "\n", encoding="ascii")
    return path


def _violation(event: dict[str, Any], image: HostImage) -> FoundViolation:
    text = _NANOSECONDS.sub(lambda found: format_time(int(found[1]), 6), event["text"])
    if "data" in event:
        text += _place(image, event)
    elif "code" in event and (place := PlaceFinder(image).place(event["space"], event["code"])) is not None:
        text += f" at {place.file.name}:{place.line}: `{place.text}`"
    return FoundViolation(event["property"], text, event["time"], tuple(event["choices"]))


def _place(image: HostImage, event: dict[str, Any]) -> str:
    """The variable of a race, at an offset in an image or in memory that is shared, and the lines of code."""
    code = event["code"]
    lines_of = [locate(image.images[space], [at], image.named) for space, at in code]
    found = [places[0] for each in lines_of for places in each if places]
    lines = [f"{place.file.name}:{place.line}" for place in found]
    at = f" ({' and '.join(dict.fromkeys(lines))})" if lines else ""
    if "region" in event:
        return f": byte {event['data']} of {_dataport(image, code[0][0], event['region'])}{at}"
    return f": {_variable(image.images[code[0][0]], event['data'])}{at}"


def _dataport(image: HostImage, name: str, region: str) -> str:
    """What an address space has a region for."""
    for space in image.capabilities.spaces:
        for mapping in space.mappings:
            if (space.name, mapping.region) == (name, region) and isinstance(mapping.use, Data):
                return f"the dataport `{mapping.use.end}`"
    return f"`{region}`"


def _variable(image: Path, offset: int) -> str:
    for line in process.run(["nm", "-S", "-C", str(image)]).output.splitlines():
        words = line.split(maxsplit=3)
        if len(words) == 4 and 0 <= offset - int(words[0], 16) < int(words[1], 16):
            return f"`{words[3]}`"
    return "memory that is not a variable"


def _arguments(options: SearchOptions, table: Path) -> list[str]:
    values = {
        "--search": table,
        "--arrivals": options.arrivals or None,
        "--points": "all" if options.every_point else None,
        "--call-limit": MOST_OPERATIONS if options.arrivals else None,
        "--scheduling": options.scheduling,
        "--bound": options.bound,
        "--random": options.random or None,
        "--seed": options.seed if options.random else None,
        "--states": options.states or None,
        "--seconds": options.seconds or None,
        "--for": options.duration,
        "--outcomes": int(options.outcomes) or None,
        "--processes": options.processes,
    }
    return [str(word) for name, value in values.items() if value is not None for word in (name, value)]
