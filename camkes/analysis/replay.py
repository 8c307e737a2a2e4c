# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Witnesses as files, and as systems that run.

A file names releases and steps of one system. `write_model` makes an application of them that the host kernel
runs with the real protocols: a component for each instance, whose code is nothing but `camkes_work` and
requests. So a case can be replayed without the system's own code, and after a change of its priorities or
protocols.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from camkes.analysis.codes import REPLAY_FILE
from camkes.analysis.replayed_waits import (
    server_code,
    server_items,
    server_priority,
    shifted,
    wait_code,
    wait_connections,
    waiting_items,
    waits_of,
)
from camkes.analysis.simulation import EMIT, SimulatedProgram, Step
from camkes.analysis.supply import ALWAYS, Phase, Supply, supply_of
from camkes.analysis.witness import Witness
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.diagnostics import Sink
from camkes.files import write_changed
from camkes.model.bands import Order
from camkes.model.connectors import NATIVE_NOTIFICATION, RPC_CALL, USER_SCHEDULER

Nanoseconds = Annotated[int, Meta(ge=0)]


class Body(Struct, frozen=True, forbid_unknown_fields=True):
    """What a job of a task, or a request to a CPI, does: work in nanoseconds, and names of CPIs it requests.
    Where a name is empty, a job emits what releases others; if none is, that comes last. `offset` is the
    first release of a task."""

    name: str
    body: tuple[Nanoseconds | str, ...]
    offset: Nanoseconds = 0


class Replay(Struct, frozen=True, forbid_unknown_fields=True):
    """A case of one system. `task` is the task whose job, released at `release`, responds after `response`
    nanoseconds; `bound` is the one of the analysis, null for none. The case takes `duration`. `schedule`: the
    lengths of slots from time 0 on, repeated, each with whether these tasks have it; empty: they have all.
    `equals`: tasks each of which goes first among equal priorities, before those named earlier and those that
    are not named; a run on the host kernel has an order of its own."""

    schema: Literal[1]
    task: str
    release: Nanoseconds
    response: Nanoseconds
    deadline: Nanoseconds
    bound: Nanoseconds | None
    duration: Annotated[int, Meta(ge=1)]
    tasks: tuple[Body, ...]
    cpis: tuple[Body, ...]
    schedule: tuple[tuple[bool, Annotated[int, Meta(ge=1)]], ...] = ()
    equals: tuple[str, ...] = ()

    @property
    def supply(self) -> Supply:
        return supply_of(self.schedule, True) if self.schedule else ALWAYS

    @property
    def program(self) -> SimulatedProgram:
        return SimulatedProgram(
            {each.name: each.body for each in self.tasks},
            {each.name: each.body for each in self.cpis},
            {each.name: each.offset for each in self.tasks},
            next(iter(self.supply.phases), None),
            self.equals,
        )


def to_json(witness: Witness) -> str:
    """The file of a witness."""
    what = witness.program
    replay = Replay(
        schema=1,
        task=witness.task,
        release=witness.release,
        response=witness.response,
        deadline=witness.deadline,
        bound=witness.bound,
        duration=witness.duration + 1,
        tasks=tuple(Body(name, body, what.offsets[name]) for name, body in what.tasks.items()),
        cpis=tuple(Body(name, body) for name, body in what.cpis.items()),
        schedule=() if what.phase is None else what.phase.from_zero(),
        equals=what.equals,
    )
    return msgspec.json.format(msgspec.json.encode(replay), indent=2).decode() + "\n"


def read_replay(path: Path, workload: Workload, sink: Sink) -> Replay | None:
    """The case in a file, for a system; None, and an error, where it is not one of that system."""
    try:
        replay = msgspec.json.decode(path.read_bytes(), type=Replay)
    except OSError as error:
        sink.report(REPLAY_FILE, f"{path} cannot be read: {error.strerror}")
        return None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        sink.report(
            REPLAY_FILE,
            f"{path} is not a replay file: {error}",
            help="`camkes analyze --witnesses DIR` writes them",
        )
        return None
    wrong = list(_differences(replay, *workload.part_of(replay.task)))
    if wrong:
        sink.report(
            REPLAY_FILE,
            f"{path} is of another system: {wrong[0]}",
            notes=wrong[1:8],
            help="`camkes analyze PATH --witnesses DIR` writes files for this one",
        )
        return None
    return replay


def _differences(replay: Replay, supply: Supply, workload: Workload) -> Iterator[str]:
    """Where a case and a system do not fit."""
    workload = of_case(workload, replay)
    if not replay.supply.share:
        yield "the schedule has no slot of its tasks"
    elif set(map(_round, replay.supply.phases)) != set(map(_round, supply.phases)):
        yield "the file has another schedule of domains"
    kinds: tuple[tuple[str, Sequence[Body], Sequence[WorkloadTask] | Sequence[WorkloadCpi]], ...] = (
        ("task", replay.tasks, workload.tasks),
        ("CPI", replay.cpis, workload.cpis),
    )
    for kind, bodies, there in kinds:
        known = {each.name: each for each in there}
        for name in known.keys() - {body.name for body in bodies}:
            yield f"the file does not have the {kind} `{name}`"
        for body in bodies:
            if body.name not in known:
                yield f"the system does not have the {kind} `{body.name}`"
                continue
            for step in body.body:
                if step == EMIT and kind == "task" and any(_released(workload, body.name)):
                    continue
                if isinstance(step, str) and step not in known[body.name].requests:
                    yield f"`{body.name}` does not request `{step}`"


def of_case(workload: Workload, replay: Replay) -> Workload:
    """The workload with the methods of CPIs that a case has: which ones the code calls is known where the
    case was found, and need not be here."""
    names = [body.name for body in replay.cpis]
    methods: dict[str, list[str]] = {}
    for cpi in sorted({each.cpi for each in workload.cpis if each.interface}, key=len, reverse=True):
        methods[cpi] = [name for name in names if name == cpi or name.startswith(f"{cpi}.")]
        names = [name for name in names if name not in methods[cpi]]
    now: dict[str, list[WorkloadCpi]] = {}
    for each in workload.cpis:
        now.setdefault(each.cpi, []).append(each)
    other = {cpi for cpi, own in methods.items() if own and own != [each.name for each in now[cpi]]}
    if not other:
        return workload
    cpi_of = {each.name: each.cpi for each in workload.cpis}
    cpi_of |= {name: cpi for cpi in other for name in methods[cpi]}
    bodies = {body.name: body.body for body in (*replay.tasks, *replay.cpis)}

    def requests(name: str, before: Iterable[str]) -> Mapping[str, int]:
        """Those of the case, as far as the same CPIs are requested."""
        known = {cpi_of[callee] for callee in before}
        steps = (step for step in bodies.get(name, ()) if isinstance(step, str))
        return Counter(step for step in steps if cpi_of.get(step) in known)

    cpis: list[WorkloadCpi] = []
    for cpi, own in now.items():
        before = {callee: None for one in own for callee in one.requests}
        lock = own[0].lock or (cpi if len(methods.get(cpi, ())) > 1 and own[0].protocol.lock else "")
        for name in methods[cpi] if cpi in other else ():
            cpis.append(replace(own[0], name=name, lock=lock, requests=requests(name, before)))
        for one in own if cpi not in other else ():
            cpis.append(replace(one, requests=requests(one.name, one.requests)))
    tasks = (replace(task, requests=requests(task.name, task.requests)) for task in workload.tasks)
    return replace(workload, tasks=tuple(tasks), cpis=tuple(cpis))


# A system that does nothing but the steps ----------------------------------------------------------


def write_model(
    workload: Workload,
    what: SimulatedProgram,
    folder: Path,
    jobs: Mapping[str, int] = {},
    task_items: str = "",
) -> Path:
    """Write an application of such a system into a folder; returns its `.camkes` file. A task ends after so
    many jobs, as many as `jobs` states. `task_items`: what the components of tasks have in addition."""
    groups, waits = _groups(workload), waits_of(workload)
    named = [name for cpi in workload.cpis for name in (cpi.name, cpi.cpi)]
    names = _names([*(task.name for task in workload.tasks), *groups, *named, *workload.lowest])
    folder.mkdir(parents=True, exist_ok=True)

    def body(steps: Sequence[Step], component: str) -> str:
        return "".join(f"        {line}\n" for line in _lines(workload, steps, component, names))

    for task in workload.tasks:
        count = jobs.get(task.name)
        loop = "while (camkes_next_job())"
        if count is not None:
            loop = f"for (int job = 0; job < {count} && camkes_next_job(); job++)"
        steps = what.tasks[task.name]
        code = body(steps if EMIT in steps else (*steps, EMIT), task.name)
        _write(
            folder, names[task.name], f"int run(void)\n{{\n    {loop} {{\n{code}    }}\n    return 0;\n}}\n"
        )
    for lock, cpis in groups.items():
        bodies = {cpi.name: body(what.cpis[cpi.name], lock) for cpi in cpis}
        if cpis[0].wait:
            code = server_code(workload, lock, bodies, waits)
        else:
            code = "".join(
                f"void {_interface(cpi, names)}_{_method(workload, cpi, names)}(void)\n{{\n"
                f"{bodies[cpi.name]}}}\n"
                for cpi in cpis
            )
        _write(folder, names[lock], code)
    root = folder / "system.camkes"
    write_changed(root, _text(workload, what, names, task_items).encode())
    return root


def _groups(workload: Workload) -> Mapping[str, Sequence[WorkloadCpi]]:
    """The CPIs of each component: those of a monitor have the same one, and so have the waits that a server
    ends."""
    found: dict[str, list[WorkloadCpi]] = {}
    for cpi in workload.cpis:
        found.setdefault(workload.lock[cpi.name], []).append(cpi)
    return found


def _interface(cpi: WorkloadCpi, names: Mapping[str, str]) -> str:
    return names[cpi.cpi] if cpi.lock and cpi.lock != cpi.cpi else "p"


def _face(cpi: WorkloadCpi) -> str:
    """What is an interface of its own: all methods that exclude each other."""
    return cpi.cpi if cpi.lock else cpi.name


def _methods(workload: Workload, cpi: WorkloadCpi) -> Sequence[WorkloadCpi]:
    """Those of its interface."""
    return [each for each in workload.of_lock[workload.lock[cpi.name]] if _face(each) == _face(cpi)]


def _method(workload: Workload, cpi: WorkloadCpi, names: Mapping[str, str]) -> str:
    return names[cpi.name] if len(_methods(workload, cpi)) > 1 else "go"


def _lines(
    workload: Workload, steps: Sequence[Step], component: str, names: Mapping[str, str]
) -> Iterator[str]:
    """The steps as C."""
    waits = waits_of(workload)
    for step in steps:
        if isinstance(step, int):
            yield f"camkes_work({step}u);"
        elif step == EMIT:
            yield from (f"{names[name]}_emit();" for name in _released(workload, component))
        elif (number := waits.get((component, step))) is not None:
            yield wait_code(workload, names, step, number)
        else:
            cpi = workload.cpi[step]
            yield f"to_{names[_face(cpi)]}_{_method(workload, cpi, names)}();"


def _released(workload: Workload, task: str) -> Iterator[str]:
    """The tasks that each job of a task releases."""
    return (other.name for other in workload.tasks if other.after == task)


def _write(folder: Path, name: str, code: str) -> None:
    write_changed(folder / f"{name.title()}.c", f"#include <camkes.h>\n\n{code}".encode())


def _names(names: Sequence[str]) -> Mapping[str, str]:
    """A word of the language for each name: `first.lock` is `first_lock`."""
    found: dict[str, str] = {}
    taken = {"Request"}  # the procedure
    for name in dict.fromkeys(names):
        word = re.sub(r"\W", "_", name)
        while word.title() in taken:
            word += "_"
        taken.add(word.title())
        found[name] = word
    return found


def releases(workload: Workload, what: SimulatedProgram) -> Mapping[str, int]:
    """The first releases in the model, whose schedule begins with a slot, so that all are as long as in the
    system."""
    late = 0 if what.phase is None else -what.phase.begin % what.phase.length
    return {name: time + late for name, time in shifted(workload, what.offsets).items()}


def _round(phase: Phase) -> tuple[tuple[bool, int], ...]:
    """The slots of a round from where the phase begins: whether its domain has each, and their lengths."""
    return replace(phase, begin=0).from_zero()


def _domains(workload: Workload, names: Mapping[str, str], what: SimulatedProgram) -> Iterator[str]:
    """All tasks and CPIs have the slots of domain 1."""
    if what.phase is None:
        return
    for name in (*(task.name for task in workload.tasks), *_groups(workload)):
        yield f"{names[name]}._domain = 1;"
    for lock, cpis in _groups(workload).items():
        for interface in dict.fromkeys(_interface(cpi, names) for cpi in cpis if not cpi.wait):
            yield f"{names[lock]}.{interface}_domain = 1;"


def _text(workload: Workload, what: SimulatedProgram, names: Mapping[str, str], task_items: str) -> str:
    lines = ["import <std_connector.camkes>;", "procedure Request { void go(); }"]
    if workload.lowest:
        lines.insert(1, "import <user_scheduler.camkes>;")
    composition: list[str] = []
    settings: list[str] = []
    offsets = releases(workload, what)
    callers: dict[str, list[str]] = {}
    first = {_face(cpi): cpi for cpi in reversed(workload.cpis) if not cpi.wait}

    def procedure(cpi: WorkloadCpi) -> str:
        several = len(_methods(workload, cpi)) > 1
        return f"request_to_{names[_face(cpi)]}" if several else "Request"

    def faces_of(callees: Iterable[str]) -> list[str]:
        found = (workload.cpi[callee] for callee in callees)
        return list(dict.fromkeys(_face(cpi) for cpi in found if not cpi.wait))

    for cpi in first.values():
        if len(methods := _methods(workload, cpi)) > 1:
            calls = " ".join(f"void {names[each.name]}();" for each in methods)
            lines.append(f"procedure {procedure(cpi)} {{ {calls} }}")

    def component(name: str, requests: Iterable[str], items: str) -> None:
        word = names[name]
        called = faces_of(requests)
        uses = " ".join(f"uses {procedure(first[callee])} to_{names[callee]};" for callee in called)
        lines.append(f"component {word.title()} {{ {items} {waiting_items(workload, names, name)}{uses} }}")
        composition.append(f"component {word.title()} {word};")
        for callee in called:
            callers.setdefault(callee, []).append(f"from {word}.to_{names[callee]}")

    for task in workload.tasks:
        word = names[task.name]
        events = "".join(f" emits Release {names[name]};" for name in _released(workload, task.name))
        settings.append(f"{word}._deadline = {task.deadline} ns;")
        if task.band:
            events += " uses UserScheduler band;"
        else:
            settings.append(f"{word}._priority = {task.priority};")
        if task.after:
            events += " consumes Release release;"
            settings.append(f'{word}._release = "release";')
            event = f"from {names[task.after]}.{word}, to {word}.release"
            composition.append(f"connection {NATIVE_NOTIFICATION.name} from_{word}({event});")
        else:
            settings.append(f"{word}._period = {task.period} ns;")
            settings.append(f"{word}._offset = {offsets[task.name]} ns;")
        component(task.name, task.requests, f"control; requestor;{task_items}{events}")
    for lock, cpis in _groups(workload).items():
        items = []
        if cpis[0].wait:
            settings.append(f"{names[lock]}._priority = {server_priority(workload)};")
            items.append(server_items(workload, lock))
        for cpi in cpis if not cpis[0].wait else ():
            face, methods = _interface(cpi, names), _methods(workload, cpi)
            if cpi is not methods[0]:
                continue  # it is in the same interface
            called = faces_of(callee for each in methods for callee in each.requests)
            requests = ", ".join(f"to_{names[callee]}" for callee in called)
            monitor = ", monitor lock" if cpi.lock and cpi.lock != cpi.cpi else ""
            protocol = f"with priority_protocol {cpi.protocol.value}{monitor}, requests ({requests})"
            items.append(f"provides {procedure(cpi)} {face} {protocol};")
            if cpi.protocol.own_priority and any(workload.arrivals[each.name] for each in methods):
                settings.append(f"{names[lock]}.{face}_priority = {cpi.ceiling};")
            if cpi.pool:
                settings.append(f"{names[lock]}.{face}_num_threads = {cpi.pool};")
        component(lock, dict.fromkeys(callee for cpi in cpis for callee in cpi.requests), " ".join(items))
    for callee, ends in callers.items():
        to = f"{names[workload.lock[first[callee].name]]}.{_interface(first[callee], names)}"
        composition.append(f"connection {RPC_CALL.name} of_{names[callee]}({', '.join(ends)}, to {to});")
    composition += wait_connections(workload, names)
    for band, lowest in workload.lowest.items():
        members = [names[task.name] for task in workload.tasks if task.band == band]
        composition.append(f"component {Order.DEADLINE.value} {names[band]};")
        ordered = ", ".join(f"from {word}.band" for word in members)
        composition.append(
            f"connection {USER_SCHEDULER.name} of_{names[band]}({ordered}, to {names[band]}.tasks);"
        )
        settings.append(f"{names[band]}._priority = {lowest + len(members)};")
    body = [
        "composition {",
        *composition,
        "}",
        "configuration {",
        *settings,
        *_domains(workload, names, what),
        "}",
    ]
    if what.phase is not None:
        slots = ", ".join(f"({int(has)}, {length} ns)" for has, length in _round(what.phase))
        body += [f"schedule {{ [{slots}] }}"]
    return "\n".join([*lines, "assembly {", *body, "}"]) + "\n"
