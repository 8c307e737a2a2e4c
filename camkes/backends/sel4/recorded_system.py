# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a recording of seL4 is read with: the numbers of threads and objects in it, and what each thread can
reach by which slot. It is written when the image is built, and kept beside the recording.

Threads and objects have the numbers that they have on the host kernel. Those that only seL4 has, the timer
driver and the handlers of faults, come after them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from camkes.backends.sel4.complete import TIMER_INTERRUPT, TRACE_SPACE, Completed
from camkes.capdl.details import Scheduling
from camkes.capdl.host_table import table_objects
from camkes.capdl.model import CapabilityModel, ObjectKind, Thread
from camkes.diagnostics import Sink
from camkes.model.system import System
from camkes.running.codes import TRACE_NAMES, TRACE_UNREADABLE
from camkes.running.names import NamedThread, TraceNames


class RecordedCap(Struct, frozen=True):
    """`object` is its number, `thread` that of a TCB."""

    object: int
    kind: ObjectKind
    badge: int = 0
    thread: int | None = None


class RecordedContext(Struct, frozen=True):
    """A scheduling context: `budget` in each `period`, in nanoseconds; `thread` has it at the start."""

    object: int
    thread: int | None
    budget: int
    period: int
    refills: int
    sporadic: bool


class RecordedSystem(Struct, frozen=True):
    """`spaces` have the capabilities of each address space by their slots. `outside` are notifications that
    interrupts signal. `schedule` are the slots of domains: (domain, nanoseconds). `locks` are those of CPIs
    by their ids: the id of the first CPI of a monitor, or their own."""

    mcs: bool
    threads: tuple[NamedThread, ...]
    objects: tuple[str, ...]
    spaces: dict[str, dict[int, RecordedCap]]
    outside: tuple[int, ...]
    contexts: tuple[RecordedContext, ...]
    schedule: tuple[tuple[int, int], ...]
    locks: dict[int, int] = {}
    several_cores: bool = False

    def slots(self, thread: int) -> Mapping[int, RecordedCap]:
        return self.spaces[self.threads[thread].space]

    def names(self, names: TraceNames) -> TraceNames:
        """The names of a run on either kernel, with what only seL4 has."""
        return replace(names, threads=self.threads, objects=self.objects)


def thread_numbers(completed: Completed, model: CapabilityModel) -> dict[str, int]:
    """The number of each thread in recordings, by its name; the printer of records has none."""
    return {thread.name: number for number, (_, thread) in enumerate(_threads(completed, model))}


def _threads(completed: Completed, model: CapabilityModel) -> Iterator[tuple[str, Thread]]:
    """The threads with their spaces, in the order of their numbers."""
    known = {thread.name for space in model.spaces for thread in space.threads}
    all_threads = [(space.name, thread) for space in completed.model.spaces for thread in space.threads]
    yield from ((space, thread) for space, thread in all_threads if thread.name in known)
    yield from (
        (space, thread) for space, thread in all_threads if thread.name not in known and space != TRACE_SPACE
    )


def recorded_system(
    completed: Completed, model: CapabilityModel, names: TraceNames, system: System
) -> RecordedSystem:
    objects = {item.name: item for item in (*table_objects(model), *table_objects(completed.model))}
    places = {name: number for number, name in enumerate(objects)}
    numbers = thread_numbers(completed, model)
    added = [
        NamedThread(numbers[t.name], t.name, space, t.instance, t.role, t.priority, domain=t.domain)
        for space, t in _threads(completed, model)
        if numbers[t.name] >= len(names.threads)
    ]
    outside = [i.notification for i in model.interrupts if i.notification]
    return RecordedSystem(
        mcs=system.mcs,
        threads=(*names.threads, *added),
        objects=tuple(objects),
        spaces={
            space.name: {
                cap.slot: RecordedCap(
                    places[cap.object], objects[cap.object].kind, cap.badge, numbers.get(cap.object)
                )
                for cap in space.caps
                if cap.object in places
            }
            for space in completed.model.spaces
        },
        outside=tuple(places[name] for name in (*outside, TIMER_INTERRUPT) if name in places),
        contexts=tuple(_contexts(completed, places, numbers)),
        schedule=model.schedule,
        locks={cpi.id: names.lock(cpi.id) for cpi in names.cpis},
        several_cores=len({thread.affinity for _, thread in _threads(completed, model)}) > 1,
    )


def _contexts(
    completed: Completed, places: Mapping[str, int], numbers: Mapping[str, int]
) -> Iterator[RecordedContext]:
    holders = {
        thread.scheduling_context: numbers.get(thread.name)
        for space in completed.model.spaces
        for thread in space.threads
        if thread.scheduling_context
    }
    for item in completed.model.objects:
        if isinstance(item.details, Scheduling):
            granted = item.details
            yield RecordedContext(
                places[item.name],
                holders.get(item.name),
                1_000 * granted.budget,
                1_000 * granted.period,
                granted.refills,
                granted.sporadic,
            )


def system_path(trace: Path) -> Path:
    """Where this is kept beside a recording."""
    return trace.with_name(trace.name + ".system.json")


def system_to_json(system: RecordedSystem) -> str:
    return msgspec.json.format(msgspec.json.encode(system), indent=1).decode() + "\n"


def load_system(trace: Path, sink: Sink) -> RecordedSystem | None:
    """None after a diagnostic."""
    path = system_path(trace)
    try:
        return msgspec.json.decode(path.read_bytes(), type=RecordedSystem)
    except OSError as error:
        sink.report(TRACE_UNREADABLE, f"cannot read {path}: {error.strerror}")
    except msgspec.MsgspecError as error:
        sink.report(
            TRACE_NAMES,
            f"{path} is not a valid description of a system: {error}",
            help="build the system again, in an empty folder",
        )
    return None
