# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""From an application's description to everything that its build for seL4 compiles and links."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from camkes.backends.sel4.codes import NO_CONNECTOR, NO_TIMER, TIMER_TAKEN
from camkes.backends.sel4.complete import (
    TIMER_SPACE,
    TRACE_SPACE,
    Completed,
    Extras,
    complete,
    slots_of_completion,
)
from camkes.backends.sel4.devices import DRIVEN, Device, Machine, device_of, timebase, why_not
from camkes.backends.sel4.image import render_image
from camkes.backends.sel4.labels import labelled
from camkes.backends.sel4.project import Project, SystemParts, cmake_description, system_parts
from camkes.backends.sel4.provable import outside
from camkes.backends.sel4.recorded_system import (
    recorded_system,
    system_path,
    system_to_json,
    thread_numbers,
)
from camkes.backends.sel4.spec import unlinked
from camkes.backends.sel4.timer import DRIVER, render_timers
from camkes.backends.upstream_templates.adapter import Rendering, render
from camkes.capdl.allocate import allocate
from camkes.capdl.host_table import table_objects
from camkes.capdl.mcs import TimePlanner
from camkes.capdl.model import CapabilityModel, Space
from camkes.capdl.pools import allocate_pools
from camkes.capdl.uses import Tcb
from camkes.diagnostics import Diagnostic, Sink, Span
from camkes.files import write_changed
from camkes.generate import GeneratedFile
from camkes.generate import generate as generate_code
from camkes.generate.codes import NEEDS_SEL4, UNKNOWN_CONNECTOR
from camkes.model.architectures import ARCHITECTURES
from camkes.model.connectors import carries_time
from camkes.model.limits import NO_NUMBER
from camkes.model.system import System
from camkes.model.units import duration
from camkes.project.application import Application
from camkes.protocols.codes import IMPOSSIBLE_SLOT, NO_SLOT
from camkes.protocols.plan import Plan
from camkes.resources import ROOT
from camkes.running.names import names_path, names_to_json, trace_names

if TYPE_CHECKING:
    from camkes.callgraph.read import CodeCalls

Result = TypeVar("Result")

#: the specification, what CMake includes, and what handlers call: when that changes, all is planned again
SPEC = "camkes-spec.msgpack"
DESCRIPTION = "camkes-gen.cmake"
CALLS = "camkes-calls.json"

#: the application as CMake describes it
PROJECT = "camkes-project.json"

#: the trace of a recorded run; its names are written when the image is built
RECORDS = "run.trace"

HEAPS = ROOT / "kernel" / "sel4" / "heap" / "heaps.c"
PRINTER = ROOT / "kernel" / "sel4" / "trace" / "printer.c"

_DRIVER_HEAP = 4096


class SeL4Code(Struct, frozen=True):
    """The C code of a system, with what became of connectors' templates."""

    rendering: Rendering
    files: tuple[GeneratedFile, ...]


class Sel4Backend(Struct, frozen=True):
    """Writes what CMake compiles and links: the C code, the unlinked specification and the description of
    both. `code` are the files from which it was read what handlers call."""

    project: Project
    code: tuple[Path, ...] = ()

    @property
    def application(self) -> Application:
        return self.project.application

    @property
    def generated(self) -> Path:
        return self.project.output / "camkes"

    @property
    def calls(self) -> Path:
        return self.project.output / "calls"

    @property
    def headers(self) -> Path:
        """Apart: in the build, `camkes.h` includes what templates of the application are rendered to."""
        return self.calls / "include"

    @property
    def sanitize(self) -> bool:
        return False

    def check(self, system: System, sink: Sink) -> None:
        """CMake reports what is missing of the components."""

    def alone(self, step: Callable[[], Result], sink: Sink, progress: Callable[[str], None]) -> Result | None:
        """CMake's build is the only one in its folder."""
        return step()

    def allocate(self, system: System, plan: Plan, sink: Sink) -> CapabilityModel:
        """The objects and capabilities of a system, but for what connectors' templates allocate."""
        word_bits = ARCHITECTURES[self.project.machine.paging].word_bits
        rendered = self.project.declared.rendered(system)
        tcb_caps = self.project.tcb_caps
        model = allocate(system, plan, sink, self.project.defaults, word_bits, rendered, tcb_caps=tcb_caps)
        return allocate_pools(system, model, self.project.template_settings().device_frames)

    def generate(self, system: System, plan: Plan, model: CapabilityModel, sink: Sink) -> SeL4Code | None:
        """Render the templates of connectors, which allocate while they render, and write all C code."""
        settings = self.project.template_settings()
        declared, out = self.project.declared, self.generated
        rendering = render(system, model, declared, settings, out, sink, slots_of_completion)
        if sink.has_errors:
            return None
        found = Sink()
        files = generate_code(system, plan, rendering.model, out, found, rendering.for_code())
        for text in rendering.files:
            write_changed(text.file.path, text.text)
        for diagnostic in found.diagnostics:
            sink.add(_for_sel4(diagnostic, system))
        return SeL4Code(rendering, (*files, *(text.file for text in rendering.files)))

    def build(
        self, system: System, plan: Plan, code: SeL4Code, sink: Sink, progress: Callable[[str], None]
    ) -> SystemParts | None:
        """Complete the capabilities; write the specification and the description, which is returned, too."""
        model = code.rendering.model
        project = self.project
        heaps = _heap_sizes(project, system, model)
        device = device_of(project.machine)
        clock_stopped = False
        if not model.timers and not (device is not None and _clock_is_free(device, project, system, model)):
            clock_stopped = device is not None and device.clock
            device = None
        elif not _can_drive(project.machine, device, system, model, sink):
            return None
        time = TimePlanner(system, sink) if system.mcs else None
        architecture = project.machine.paging
        frame = ARCHITECTURES[architecture].large if project.trace else 0
        completed = complete(
            model, device, fault_handlers=project.fault_handlers, trace_frame=frame, time=time
        )
        if sink.has_errors:
            return None
        sources = _write_spaces(project, completed, model, device, heaps)
        if project.trace:
            names = trace_names(model, plan, system)
            recorded = recorded_system(completed, model, names, system)
            write_changed(names_path(project.output / RECORDS), names_to_json(recorded.names(names)))
            write_changed(system_path(project.output / RECORDS), system_to_json(recorded))
        schedule = tuple(_in_ticks(system, project, sink))
        if sink.has_errors:
            return None
        if project.verification:
            for diagnostic in outside(system, model):
                sink.add(diagnostic)
        proof_names = labelled(system, completed) if project.verification else None
        spec = unlinked(
            completed,
            architecture,
            schedule,
            large_frames=project.large_frames,
            names=proof_names,
            heaps={name: sum(sizes) for name, sizes in heaps.items()},
        )
        write_changed(project.output / SPEC, spec.write())
        inputs = [file.path.resolve() for file in system.files if file.path.exists()]
        inputs += code.rendering.templates
        clock = timebase(project.kernel_dtb) if architecture.startswith("riscv") else None
        parts = SystemParts(
            system_parts(system, completed.model, code.files, sources, heaps, code.rendering),
            tuple(inputs),
            self.code,
            clock,
            clock_stopped,
        )
        write_changed(project.output / DESCRIPTION, cmake_description(parts))
        if project.verbose:
            print("\n".join(_summary(system, completed, [file.path for file in code.files])))
        return parts


def _in_ticks(system: System, project: Project, sink: Sink) -> Iterator[tuple[int, int]]:
    """The schedule of domains as the kernel counts: (domain, ticks)."""
    ticks, nanoseconds = (
        (project.timer_frequency, 1_000_000_000) if system.mcs else (1, system.kernel.tick_or_default)
    )
    for slot in system.schedule:
        if slot.in_ticks:
            yield slot.domain, slot.duration
            continue
        length = slot.length(nanoseconds)
        count, rest = divmod(length * ticks, nanoseconds)
        if ticks and count and (system.mcs or not rest):
            yield slot.domain, count
            continue
        if not ticks:
            why, help = "the frequency of its timer is not known", "write `ticks` as unit"
        elif system.mcs:
            why, help = f"its timer has {ticks} Hz", "make it longer"
        else:
            why = f"a tick has {duration(nanoseconds)}"
            help = "use other lengths, or another tick (KernelTimerTickMS)"
        sink.report(
            IMPOSSIBLE_SLOT,
            f"a slot of {duration(length)} is not a number of ticks of the kernel",
            slot.span,
            notes=[why],
            help=help,
        )


def _heap_sizes(project: Project, system: System, model: CapabilityModel) -> dict[str, list[int]]:
    """The sizes of the heaps of the instances of each address space."""
    default = project.heap_size
    stated = {instance.name: instance.configured.heap_size for instance in system.instances}
    sizes = {name: default if size is None else size for name, size in stated.items()}
    return {space.name: [sizes.get(name, default) for name in space.instances] for space in model.spaces}


def _clock_is_free(device: Device, project: Project, system: System, model: CapabilityModel) -> bool:
    """Whether a system without timers gets the driver of a device that is the clock: else the clock counts
    how often it is read. Not for a proof, which is about what the system has with other tools, too."""
    return (
        device.clock
        and not project.verification
        and device.clashes(model) is None
        and (not system.schedule or any(slot.domain == 0 for slot in system.schedule))
    )


def _can_drive(
    machine: Machine, device: Device | None, system: System, model: CapabilityModel, sink: Sink
) -> bool:
    """Whether the machine has a timer that is free; False after a diagnostic."""
    if device is None:
        _no_timer(system, machine, sink)
        return False
    if (clash := device.clashes(model)) is not None:
        _timer_taken(system, clash, sink)
        return False
    if system.schedule and all(slot.domain != 0 for slot in system.schedule):
        sink.report(
            NO_SLOT,
            "the driver of the timers has domain 0, which has no slot in the schedule: no timer expires",
            system.schedule[0].span,
            help="add a slot of domain 0; a timer expires in such a slot",
        )
        return False
    return True


def _write_spaces(
    project: Project,
    completed: Completed,
    model: CapabilityModel,
    device: Device | None,
    heaps: Mapping[str, Sequence[int]],
) -> dict[str, list[Path]]:
    """Write the C files of address spaces; all that each needs besides the code of its instances."""
    sources: dict[str, list[Path]] = {}
    in_traces = thread_numbers(completed, model) | {TRACE_SPACE: NO_NUMBER}
    # the loader is process 1
    for process, space in enumerate(completed.model.spaces, 2):
        extras = completed.extras[space.name]
        table = project.output / "spaces" / f"{space.name}.c"
        sizes = heaps.get(space.name, [_DRIVER_HEAP])
        slots = _tcb_slots(model, space, extras)
        write_changed(table, render_image(space, extras, slots, sizes, process, in_traces))
        sources[space.name] = [table]
        if len(sizes) > 1:
            sources[space.name].append(HEAPS)
        if space.name == TIMER_SPACE and device is not None:
            timers = project.output / "spaces" / "timers.c"
            numbers = {item.name: number for number, item in enumerate(table_objects(model))}
            write_changed(timers, render_timers(completed, extras, device, numbers))
            sources[space.name] += [timers, DRIVER, device.source]
        if space.name == TRACE_SPACE:
            sources[space.name].append(PRINTER)
    return sources


def write_calls(project: Project, calls: CodeCalls) -> None:
    """Write what handlers call, if that changed: then CMake plans again."""
    found = {
        "reached": {name: sorted(reached) for name, reached in sorted(calls.reached.items())},
        "guessed": sorted(f"{name} {used}" for (name, used), chain in calls.chains.items() if not chain.sure),
        "files": [str(file) for file in calls.files],
    }
    write_changed(project.output / CALLS, json.dumps(found, indent=1))


def _summary(system: System, completed: Completed, written: Iterable[Path]) -> Iterator[str]:
    """What was read, what was made of it and what was written."""
    yield from (f"camkes: read {file.path}" for file in system.files if file.path.exists())
    for space in completed.model.spaces:
        yield (
            f"camkes: address space {space.name}: {len(space.threads)} threads, "
            f"{len(space.caps)} capabilities, {len(space.mappings)} mapped regions"
        )
    yield f"camkes: {len(completed.model.objects)} kernel objects without memory of images"
    yield from (f"camkes: generated {path}" for path in written)


def _timer_users(system: System) -> tuple[list[Span], list[Span]]:
    """Where a timer is needed: by tasks, and by clients of the virtual time server."""
    periodic = [task.spans.get("period", task.span) for task in system.tasks]
    return periodic, [c.span for c in system.connections if carries_time(c)]


def _timer_taken(system: System, clash: str, sink: Sink) -> None:
    periodic, clients = _timer_users(system)
    what = "tasks are" if periodic else "the virtual time server is"
    sink.report(
        TIMER_TAKEN,
        f"{what} driven by the timer of the machine, but `{clash}` of another component uses the same device",
        (periodic or clients)[0],
        help="remove one of the two: the periods of tasks, or the component that drives the timer",
    )


def _no_timer(system: System, machine: Machine, sink: Sink) -> None:
    """An error for each task, else for each time server, if there are timers and no device to drive them."""
    where = machine.platform or machine.architecture
    periodic, clients = _timer_users(system)
    for span in periodic or clients:
        what = "a task is released" if periodic else "a time server is driven"
        sink.report(
            NO_TIMER,
            f"{what} by a timer, and there is no timer driver for {where}",
            span,
            notes=[reason] if (reason := why_not(machine)) else (),
            help=f"build for a platform with a timer: {', '.join(DRIVEN)}",
        )


def _for_sel4(diagnostic: Diagnostic, system: System) -> Diagnostic:
    """A connector that the host kernel does not have needs templates on this one."""
    if diagnostic.code not in (NEEDS_SEL4, UNKNOWN_CONNECTOR):
        return diagnostic
    connection = next(c for c in system.connections if c.span == diagnostic.span)
    name = connection.connector.name
    return replace(
        diagnostic,
        code=NO_CONNECTOR,
        message=f"connection `{connection.names[0]}` cannot be built: there is no template for {name}",
        help=f"declare them in CMakeLists.txt: DeclareCAmkESConnector({name} FROM file TO file)",
    )


def _tcb_slots(model: CapabilityModel, space: Space, extras: Extras) -> Mapping[int, int]:
    if extras.tcb:
        return {0: extras.tcb}
    return {
        thread.index: slot
        for thread in space.threads
        if (slot := model.slots.get(Tcb(thread.instance, thread.index))) is not None
    }
