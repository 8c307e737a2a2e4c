# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""From an application's description to everything that its build for seL4 compiles and links."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from camkes.backends.sel4.address_space import ARCHITECTURES
from camkes.backends.sel4.codes import NO_CONNECTOR, NO_TIMER, TIMER_TAKEN
from camkes.backends.sel4.complete import (
    TIMER_SPACE,
    TRACE_SPACE,
    Completed,
    Extras,
    complete,
    slots_of_completion,
)
from camkes.backends.sel4.devices import DRIVEN, Machine, device_of, timebase, why_not
from camkes.backends.sel4.image import render_image
from camkes.backends.sel4.mcs import add_time, refuse_protocols
from camkes.backends.sel4.project import Project, cmake_description
from camkes.backends.sel4.spec import unlinked
from camkes.backends.sel4.timer import DRIVER, render_timers
from camkes.backends.sel4.upstream_templates.adapter import render
from camkes.capdl.allocate import allocate
from camkes.capdl.host_table import table_objects
from camkes.capdl.model import CapabilityModel, Purpose, Space, Use
from camkes.diagnostics import Diagnostic, Sink, Span
from camkes.files import write_changed
from camkes.generate import generate as generate_code
from camkes.generate.codes import NEEDS_SEL4, UNKNOWN_CONNECTOR
from camkes.model.connectors import carries_time
from camkes.model.settings import Reader
from camkes.model.system import System
from camkes.protocols import analyse
from camkes.report.trace.names import names_path, names_to_json, trace_names
from camkes.resolve import LoadOptions, load
from camkes.resources import ROOT

if TYPE_CHECKING:
    from camkes.callgraph.read import CodeCalls

#: the specification, what CMake includes, and what handlers call: when that changes, all is planned again
SPEC = "camkes-spec.marshal"
DESCRIPTION = "camkes-gen.cmake"
CALLS = "camkes-calls.json"

HEAPS = ROOT / "kernel" / "sel4" / "heap" / "heaps.c"
PRINTER = ROOT / "kernel" / "sel4" / "trace" / "printer.c"

_DRIVER_HEAP = 4096


def generate(project: Project, sink: Sink) -> None:
    """Write the C code, the unlinked specification and the CMake description of a project."""
    system = _load(project, sink)
    if system is None or sink.has_errors:
        return
    if project.mcs:
        refuse_protocols(system, sink)
        if sink.has_errors:
            return
    calls, plan = None, None
    if system.cpis:
        from camkes.callgraph.read import analyse_code

        calls = _read_code(project, system)
        plan = analyse_code(system, calls, sink)
    else:
        plan = analyse(system, sink)  # no protocol depends on what is called; to read that is not even loaded
    if plan is None or sink.has_errors:
        return
    rendered = project.declared.rendered(system)
    out = project.output / "camkes"
    word_bits = ARCHITECTURES[project.machine.architecture].word_bits
    own = allocate(system, plan, sink, project.defaults, word_bits, rendered, tcb_caps=project.tcb_caps)
    if sink.has_errors:
        return
    rendering = render(
        system, own, project.declared, project.template_settings(), out, sink, slots_of_completion
    )
    if sink.has_errors:
        return
    model = rendering.model
    found = Sink()
    files = generate_code(system, plan, model, out, found, rendering.for_code())
    for text in rendering.files:
        write_changed(text.file.path, text.text)
    files += tuple(text.file for text in rendering.files)
    for diagnostic in found.diagnostics:
        sink.add(_for_sel4(diagnostic, system))
    reader = Reader(sink)
    heaps = {
        space.name: [_heap_size(reader, system, name, project.heap_size) for name in space.instances]
        for space in model.spaces
    }
    if sink.has_errors:
        return
    machine = project.machine
    device = device_of(machine)
    if model.timers and device is None:
        _no_timer(system, machine, sink)
        return
    if model.timers and device is not None and (clash := device.clashes(model)) is not None:
        _timer_taken(system, clash, sink)
        return
    completed = complete(model, device, fault_handlers=project.fault_handlers, trace=project.trace)
    if project.mcs:
        completed = add_time(completed, system, sink)
        if sink.has_errors:
            return
    sources: dict[str, list[Path]] = {}
    # the loader is process 1
    for process, space in enumerate(completed.model.spaces, 2):
        extras = completed.extras[space.name]
        table = project.output / "spaces" / f"{space.name}.c"
        sizes = heaps.get(space.name, [_DRIVER_HEAP])
        write_changed(table, render_image(space, extras, _tcb_slots(model, space, extras), sizes, process))
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
    if project.trace:
        from camkes.backends.sel4.recording import RECORDS

        names = names_to_json(trace_names(model, plan, system))
        write_changed(names_path(project.output / RECORDS), names)
    schedule = tuple((slot.domain, slot.duration) for slot in system.schedule)
    spec = unlinked(completed, machine.architecture, schedule, large_frames=project.large_frames)
    write_changed(project.output / SPEC, spec.write())
    inputs = [file.path.resolve() for file in system.files if file.path.exists()]
    inputs += rendering.templates
    code = calls.files if calls is not None else ()
    clock = timebase(project.kernel_dtb) if machine.architecture.startswith("riscv") else None
    description = cmake_description(
        system, completed.model, files, sources, heaps, inputs, code, rendering, clock
    )
    write_changed(project.output / DESCRIPTION, description)
    if project.verbose:
        print("\n".join(_summary(system, completed, [file.path for file in files])))


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


def write_calls(project: Project) -> None:
    """Write again what handlers call, and only if that changed."""
    system = _load(project, Sink())
    if system is not None:
        _read_code(project, system)


def _load(project: Project, sink: Sink) -> System | None:
    options = LoadOptions(
        import_path=project.import_paths,
        cpp=project.cpp,
        cpp_flags=project.cpp_flags,
        include_path=(),
        allow_forward_references=project.allow_forward_references,
        dtb=project.dtb,
        gpio_list=project.gpio_list,
    )
    return load(project.adl, options, sink)


def _read_code(project: Project, system: System) -> CodeCalls | None:
    """What handlers call, read as for the host kernel: by the compiler of this workstation."""
    from camkes.callgraph.read import read_code

    folder = project.output / "calls"
    calls = read_code(system, project.application, project.output / "camkes", folder, lambda _: None)
    if calls is not None:
        found = {
            "reached": {name: sorted(reached) for name, reached in sorted(calls.reached.items())},
            "guessed": sorted(
                f"{name} {used}" for (name, used), chain in calls.chains.items() if not chain.sure
            ),
            "files": [str(file) for file in calls.files],
        }
        write_changed(project.output / CALLS, json.dumps(found, indent=1))
    return calls


def _timer_users(system: System) -> tuple[list[Span], list[Span]]:
    """Where a timer is asked for: by tasks, and by clients of the virtual time server."""
    periodic = [task.spans.get("period", task.span) for task in system.tasks]
    return periodic, [c.span for c in system.connections if carries_time(c)]


def _timer_taken(system: System, clash: str, sink: Sink) -> None:
    periodic, clients = _timer_users(system)
    what = "tasks are" if periodic else "the virtual time server is"
    sink.report(
        TIMER_TAKEN,
        f"{what} driven by the timer of the machine, and `{clash}` of another component is the same device",
        (periodic or clients)[0],
        help="leave one of the two out: the periods of tasks, or the component that drives the timer",
    )


def _no_timer(system: System, machine: Machine, sink: Sink) -> None:
    """There are timers, and nothing to drive them with: said of each task, else of each time server."""
    where = machine.platform or machine.architecture
    periodic, clients = _timer_users(system)
    for span in periodic or clients:
        what = "a task is released" if periodic else "a time server tells the time"
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
        help=f"name them in CMakeLists.txt: DeclareCAmkESConnector({name} FROM file TO file)",
    )


def _tcb_slots(model: CapabilityModel, space: Space, extras: Extras) -> Mapping[int, int]:
    if extras.tcb:
        return {0: extras.tcb}
    return {
        thread.index: slot
        for thread in space.threads
        if (slot := model.slots.get(Use(thread.instance, Purpose.THREAD, number=thread.index))) is not None
    }


def _heap_size(reader: Reader, system: System, name: str, default: int) -> int:
    instance = system.instance(name)
    return default if instance is None else reader.heap_size(instance, default)
