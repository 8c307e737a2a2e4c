# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The paths of the generated code and the runtime in a system, and of its handlers."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from pathlib import Path as FilePath

from msgspec import Struct

from camkes.capdl.overruns import lendable
from camkes.capdl.time_manager import TIME_MANAGER
from camkes.diagnostics import Sink, SourceFile, Span
from camkes.diagnostics.words import listing
from camkes.generate.bands import band
from camkes.generate.facts import SystemFacts
from camkes.generate.groups import conditions, groups
from camkes.generate.time_manager import time_manager
from camkes.model.connectors import support
from camkes.model.overrun import LEVELS
from camkes.model.system import Instance, Procedure, System
from camkes.paths.bound import PathBound, bound
from camkes.paths.codes import NO_PATH
from camkes.paths.contracts import LoopStatements, StatedSources
from camkes.paths.graph import WayFinder
from camkes.paths.program import LinkedProgram, ProgramError, SourceLine
from camkes.paths.steps import Path, PathError
from camkes.protocols.plan import Plan

#: by which libsel4 can print a character of the error of a kernel call
_PRINT = "DebugPutChar"
#: kernel calls by their numbers (libsel4, syscall.xml: `api-master` and `api-mcs`)
CALLS = {
    -1: "Call",
    -2: "ReplyRecv",
    -3: "Send",
    -4: "NBSend",
    -5: "Recv",
    -6: "Reply",
    -7: "Yield",
    -8: "NBRecv",
    -9: _PRINT,
}
CALLS_MCS = {
    **{-1: "Call", -2: "ReplyRecv", -3: "NBSendRecv", -4: "NBSendWait", -5: "Send", -6: "NBSend", -7: "Recv"},
    **{-8: "NBRecv", -9: "Wait", -10: "NBWait", -11: "Yield", -12: _PRINT},
}
#: what is called where a message is malformed, a kernel call failed, or the thread ends with a fault
ERRORS = frozenset(
    (
        *("camkes_reply_failed", "camkes_no_route", "camkes_platform_fault", "camkes_assertion_failed"),
        *(
            "camkes_message_report",
            "camkes_message_ignored",
            "camkes_message_no_method",
            "camkes_reply_report",
        ),
        *("camkes_refuse", "camkes_refuse_order", "camkes_event_too_many", _PRINT),
    )
)
#: what is called where another thread has the lock, or waits for it
CONTENDED = frozenset(
    (
        *("camkes_lock_wait", "camkes_lock_hand_over", "camkes_request_raised", "camkes_request_pushed"),
        *("camkes_reply_extended", "camkes_return_time"),
    )
)
#: and where a request is not one of the client, and with the label, of the one before, or not generated
CHECKED = frozenset(("camkes_check_request", "camkes_unusual"))
#: what executes for a time that is stated
WORK = frozenset(("camkes_work", "camkes_work_between"))
_RECEIVES = frozenset(("Recv", "ReplyRecv", "Wait", "NBSendRecv"))
_ANSWERS = frozenset(("ReplyRecv",))


class PathKind(StrEnum):
    """What a path is of."""

    REQUEST = "request"  # a method that a component calls, from its call to its return
    RAISED = "raised request"  # the same, also if its priority rises meanwhile, or has
    REPLY = "reply"  # a thread that serves, from a receive to the next one, without the handler
    HANDLER = "handler"  # what a component has written for a method, with the requests that it makes
    CONTENDED = "contended reply"  # the same as a reply, also if others want the lock
    CALL = "call"  # another generated function that a component calls
    FUNCTION = "function"
    JOB = "next job"  # from the end of a job to the begin of the next one
    #: what a thread of the runtime does from the end of a receive to that of the next one, for any message
    MANAGER = "manager"
    MEMBER = "manager in a group"
    GROUP = "manager of a group"
    HELPER = "manager of a task"
    SCHEDULER = "scheduler"
    OVERRUNS = "overrun handler"
    ALARM = "alarm"
    EVENTS = "events"
    TIME = "time manager"
    IDLE = "idle"
    DRIVER = "timer driver"


#: the functions of threads of the runtime; an image has those of its threads
THREADS = {
    PathKind.MANAGER: "camkes_manage_cpi",
    PathKind.MEMBER: "camkes_manage_member",
    PathKind.GROUP: "camkes_manage_group",
    PathKind.HELPER: "camkes_manage_helper",
    PathKind.SCHEDULER: "camkes_schedule",
    PathKind.OVERRUNS: "camkes_handle_overruns",
    PathKind.ALARM: "camkes_await_timer",
    PathKind.EVENTS: "camkes_serve_event",
    PathKind.TIME: "camkes_manage_time",
    PathKind.IDLE: "camkes_await_idle",
    PathKind.DRIVER: "camkes_drive_timers",
}
#: the functions of events, and of what a component has, after their names
_CALLS = (
    *("emit", "wait", "wait_until", "poll", "reg_callback", "signal", "broadcast"),
    *("lock", "unlock", "trywait", "post"),
)


class SystemPath(Struct, frozen=True):
    """A path of an instance: `name` is that of an interface, and of its method. Paths of threads of the
    runtime are of the first instance of an address space, or of that itself."""

    instance: str
    name: str
    kind: PathKind
    path: Path

    @property
    def full_name(self) -> str:
        return f"{self.instance}.{self.name}" if self.name else self.instance


class SpaceProgram(Struct, frozen=True):
    """The program of an address space, and the instances in it."""

    name: str
    path: FilePath
    instances: tuple[str, ...]


class SystemBounds(Struct, frozen=True):
    """The bounds of all paths of a system, whose programs are for an architecture and, with `mcs`, for an MCS
    kernel."""

    architecture: str
    mcs: bool
    paths: tuple[BoundedPath, ...]


class BoundedPath(Struct, frozen=True):
    """A path with its bound, None after a diagnostic, and the loops that contracts bound: how often."""

    of: SystemPath
    bound: PathBound | None
    contracts: Mapping[SourceLine, int] = {}


def paths_of(
    system: System, plan: Plan, space: SpaceProgram, functions: Container[str]
) -> Iterator[SystemPath]:
    """All paths of a program, of whose `functions` the linker has left out those that nothing calls, in the
    order of the text."""
    connected = {e.name for each in system.connections for e in (*each.from_ends, *each.to_ends)}
    for instance in system.instances:
        if instance.type.hardware or instance.name not in space.instances:
            continue
        task = next((task for task in system.tasks if task.instance == instance.name), None)
        if task is not None and (task.period or task.release) and _NEXT_JOB in functions:
            yield SystemPath(instance.name, "", PathKind.JOB, Path(function=_NEXT_JOB, without=ERRORS))
        for interface in instance.type.interfaces:
            if f"{instance.name}.{interface.name}" not in connected:
                continue
            if not isinstance(interface.type, Procedure):
                yield from _calls(instance, interface.name, functions)
                continue
            methods = [method.name for method in interface.type.methods]
            if interface.kind == "uses":
                yield from _requests(instance, interface.name, methods, functions)
            else:
                yield from _replies(instance, interface.name, methods, plan)
        for sync in instance.type.syncs:
            yield from _calls(instance, sync.name, functions)
    for kind, function in THREADS.items():
        if function in functions:
            ends = _RECEIVES
            turn = Path(function=function, begins=ends, ends=ends, without=ERRORS, beside=_CALLBACK)
            yield SystemPath(next(iter(space.instances), space.name), "", kind, turn)


_NEXT_JOB = "camkes_next_job"
#: what a component registers for an event
_CALLBACK = frozenset(("callback",))


def _glue(instance: str) -> str:
    """How the path of the source ends that is generated for an instance."""
    return f"/{instance}/glue.c"


def _calls(instance: Instance, name: str, functions: Container[str]) -> Iterator[SystemPath]:
    for call in _CALLS:
        if (function := f"{name}_{call}") in functions:
            path = Path(function=function, without=ERRORS, beside=_CALLBACK, source=_glue(instance.name))
            yield SystemPath(instance.name, f"{name}.{call}", PathKind.CALL, path)


def _requests(
    instance: Instance, interface: str, methods: Collection[str], functions: Container[str]
) -> Iterator[SystemPath]:
    for method in methods:
        if (function := f"{interface}_{method}") in functions:
            name, source = f"{interface}.{method}", _glue(instance.name)
            path = Path(function=function, without=ERRORS | CONTENDED, source=source)
            yield SystemPath(instance.name, name, PathKind.REQUEST, path)
            if "camkes_request_raised" in functions:
                path = Path(function=function, without=ERRORS, source=source)
                yield SystemPath(instance.name, name, PathKind.RAISED, path)


def _replies(
    instance: Instance, interface: str, methods: Collection[str], plan: Plan
) -> Iterator[SystemPath]:
    cpi = plan.cpi(f"{instance.name}.{interface}")
    handlers = {method: f"{interface}_{method}" for method in methods}
    for method, handler in handlers.items():
        others = frozenset(handlers.values()) - {handler}
        name = f"{interface}.{method}"
        path = Path(
            function=f"{interface}__loop",
            begins=_ANSWERS,
            ends=_ANSWERS,
            through=(handler,),
            beside=frozenset((handler,)),
            without=ERRORS | CONTENDED | CHECKED | others,
            source=_glue(instance.name),
        )
        yield SystemPath(instance.name, name, PathKind.REPLY, path)
        if cpi is not None and cpi.manager:
            rest = Path(
                function=path.function,
                begins=_RECEIVES,
                ends=_RECEIVES,
                through=path.through,
                beside=path.beside,
                without=ERRORS | others,
                source=path.source,
            )
            yield SystemPath(instance.name, name, PathKind.CONTENDED, rest)
        without = ERRORS | CONTENDED
        own = Path(
            function=handler,
            without=without,
            beside=WORK,
            source=path.source,
            by=path.function,
        )
        yield SystemPath(instance.name, name, PathKind.HANDLER, own)


#: numbers that are 0 where a system has none of them
_NUMBERS = (
    *("contexts", "threads", "payers", "users", "members", "paths", "waiters", "helpers", "tasks"),
    *("counted", "holders", "requests", "criticals"),
)


def numbers_of(facts: SystemFacts, space: SpaceProgram) -> dict[str, int]:
    """What contracts in the runtime name: of an address space the most of all its instances."""
    threads = (len(each.threads) for each in facts.model.spaces if each.name == space.name)
    found = {**dict.fromkeys(_NUMBERS, 0), "space_threads": next(threads, 0)}

    def most(name: str, number: int) -> None:
        found[name] = max(number, found[name])

    manager = time_manager(facts) if space.name == TIME_MANAGER else None
    for server in () if manager is None else manager.servers:
        most("holders", len(server.holders))
    for critical in () if manager is None else manager.critical:
        most("requests", len(critical.requests))
    if manager is not None:
        found |= {"criticals": len(manager.critical), "levels": LEVELS}
    for me in facts.instances() if manager is None else ():
        if me.instance.name not in space.instances:
            continue
        for cpi in me.cpis:
            most("contexts", max(len(cpi.contexts), len(cpi.seats)))
            most("threads", cpi.threads)
            most("payers", sum(1 for _ in lendable(facts.plan, cpi)))
        for condition in conditions(me):
            most("users", len(condition.users))
        for _, group in groups(me):
            most("members", len(group.members))
            most("paths", len(group.paths))
            most("waiters", len(group.waiters))
            most("helpers", max((len(each.helpers) for each in group.conditions), default=0))
        if (order := band(me)) is not None:
            most("tasks", len(order.members))
        for interface in me.instance.type.interfaces:
            connection = me.connection(interface.name)
            if interface.kind == "consumes" and connection is not None:
                most("counted", int(support(connection.connector).counted))
    if not space.instances:
        found["timers"] = len(facts.model.timers)
        if len({slot.domain for slot in facts.system.schedule}) < 2:
            found["expired"] = 1  # it is above all
    return found


def bound_paths(
    facts: SystemFacts,
    spaces: Sequence[SpaceProgram],
    folders: Mapping[str, FilePath],
    limits: Mapping[str, int],
    sink: Sink,
) -> SystemBounds:
    """The bounds of all paths of a system with these programs. `folders` are those that programs have other
    names for, by these; `limits` bound each loop of a function without a contract."""
    problems = _Problems()
    sources = StatedSources()
    found: list[BoundedPath] = []
    architecture = ""
    for space in spaces:
        try:
            program = LinkedProgram(space.path, folders)
        except (OSError, ProgramError) as error:
            _report_unreadable(space.path, error, sink)
            break
        architecture = program.machine.name
        numbers = numbers_of(facts, space)
        for each in paths_of(facts.system, facts.plan, space, program.functions):
            statements = LoopStatements(sources, numbers, limits)
            finder = WayFinder(program, CALLS_MCS if facts.plan.mcs else CALLS, statements)
            try:
                found.append(BoundedPath(each, bound(finder, each.path), statements.used))
            except PathError as error:
                problems.add(error, f"{each.kind} of {each.full_name}")
                found.append(BoundedPath(each, None))
    problems.report(sink)
    return SystemBounds(architecture, facts.plan.mcs, tuple(found))


def least_of_paths(
    facts: SystemFacts, spaces: Sequence[SpaceProgram]
) -> tuple[str, dict[tuple[str, str, PathKind], int]]:
    """The architecture of programs, and the instructions that their paths execute at least. Raises OSError
    and ProgramError."""
    found, architecture = {}, ""
    for space in spaces:
        program = LinkedProgram(space.path)
        architecture = program.machine.name
        statements = LoopStatements(StatedSources())
        finder = WayFinder(program, CALLS_MCS if facts.plan.mcs else CALLS, statements)
        for each in paths_of(facts.system, facts.plan, space, program.functions):
            with suppress(PathError):
                found[each.instance, each.name, each.kind] = finder.least(each.path)
    return architecture, found


def bound_functions(
    image: FilePath, functions: Collection[str], limits: Mapping[str, int], sink: Sink
) -> SystemBounds | None:
    """The bounds of functions of a program, from their calls to their returns, whatever they do. None after a
    diagnostic."""
    try:
        program = LinkedProgram(image)
    except (OSError, ProgramError) as error:
        _report_unreadable(image, error, sink)
        return None
    found, problems = [], _Problems()
    for function in functions:
        of = SystemPath(image.stem, function, PathKind.FUNCTION, Path(function=function))
        statements = LoopStatements(StatedSources(), {}, limits)
        try:
            found.append(
                BoundedPath(of, bound(WayFinder(program, CALLS, statements), of.path), statements.used)
            )
        except PathError as error:
            problems.add(error, f"function {function}")
            found.append(BoundedPath(of, None))
    problems.report(sink)
    return SystemBounds(program.machine.name, False, tuple(found))


def _report_unreadable(image: FilePath, error: OSError | ProgramError, sink: Sink) -> None:
    why = error.strerror if isinstance(error, OSError) else str(error)
    sink.report(NO_PATH, f"cannot read {image}: {why}")


class _Problems:
    """Why paths have no bound; each reason is reported once, with the paths that it is on."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, SourceLine | None], tuple[PathError, list[str]]] = {}

    def add(self, error: PathError, path: str) -> None:
        self._found.setdefault((error.why, error.place), (error, []))[1].append(path)

    def report(self, sink: Sink) -> None:
        for error, paths in self._found.values():
            place = error.place
            span = None if place is None else _span(place)
            where = f" ({place.path}:{place.line})" if place is not None and span is None else ""
            text = f"paths without a bound: {listing(paths)}"
            sink.report(error.code, f"{error.why}{where}", span, notes=[text], help=error.help)


def _span(place: SourceLine) -> Span | None:
    path = FilePath(place.path)
    try:
        file = SourceFile(path, path.read_text("utf-8", "replace"))
    except OSError:
        return None
    if place.line > len(file.lines):
        return None
    text = file.lines[place.line - 1]
    begin = len(text) - len(text.lstrip())
    return Span(file, place.line, begin + 1, place.line, max(len(text.rstrip()), begin + 1) + 1)
