# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The paths of the generated code and the runtime in a system, and of its handlers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from pathlib import Path as FilePath

from msgspec import Struct

from camkes.diagnostics import Sink, SourceFile, Span
from camkes.diagnostics.words import listing
from camkes.model.system import Instance, Procedure, System
from camkes.paths.bound import PathBound, bound
from camkes.paths.codes import NO_PATH
from camkes.paths.contracts import LoopStatements, StatedSources
from camkes.paths.graph import WayFinder
from camkes.paths.program import LinkedProgram, ProgramError, SourceLine
from camkes.paths.steps import Path, PathError
from camkes.protocols.plan import Plan

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
}
CALLS_MCS = {
    **{-1: "Call", -2: "ReplyRecv", -3: "NBSendRecv", -4: "NBSendWait", -5: "Send", -6: "NBSend", -7: "Recv"},
    **{-8: "NBRecv", -9: "Wait", -10: "NBWait", -11: "Yield"},
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
        *("camkes_refuse", "camkes_refuse_order"),
    )
)
#: what is called where another thread has the lock, or waits for it
CONTENDED = frozenset(
    (
        *("camkes_lock_wait", "camkes_lock_hand_over", "camkes_request_raised", "camkes_request_pushed"),
        *("camkes_reply_extended", "camkes_return_time"),
    )
)
#: and where a request is not one of the client, and with the label, of the one before
CHECKED = frozenset(("camkes_check_request",))
#: what executes for a time that is stated
WORK = frozenset(("camkes_work", "camkes_work_between"))
_RECEIVES = frozenset(("Recv", "ReplyRecv", "Wait", "NBSendRecv"))
_ANSWERS = frozenset(("ReplyRecv",))


class PathKind(StrEnum):
    """What a path is of."""

    REQUEST = "request"  # a method that a component calls, from its call to its return
    REPLY = (
        "reply"  # a thread that serves, from the end of a receive to that of the next, without the handler
    )
    HANDLER = "handler"  # what a component has written for a method, with the requests that it makes
    CONTENDED = "contended reply"  # the same as a reply, also if others want the lock
    MANAGER = "manager"  # a step of the manager of a CPI, for any message
    EMIT = "emit"
    FUNCTION = "function"
    JOB = "next job"  # from the end of a job to the begin of the next one


class SystemPath(Struct, frozen=True):
    """A path of an instance: `name` is that of an interface with its method."""

    instance: str
    name: str
    kind: PathKind
    path: Path

    @property
    def full_name(self) -> str:
        return f"{self.instance}.{self.name}" if self.name else self.instance


class BoundedPath(Struct, frozen=True):
    """A path with its bound, None after a diagnostic, and the loops that contracts bound: how often."""

    of: SystemPath
    bound: PathBound | None
    contracts: Mapping[SourceLine, int] = {}


def paths_of(system: System, plan: Plan) -> Iterator[SystemPath]:
    """All paths of the system that are bounded, in the order of the text."""
    ends = {end.name: (end, each) for each in system.connections for end in (*each.from_ends, *each.to_ends)}
    for instance in system.instances:
        if instance.type.hardware:
            continue
        if any(task.instance == instance.name and (task.period or task.release) for task in system.tasks):
            path = Path(function="camkes_next_job", without=ERRORS)
            yield SystemPath(instance.name, "", PathKind.JOB, path)
        for interface in instance.type.interfaces:
            connected = ends.get(f"{instance.name}.{interface.name}")
            if connected is None:
                continue
            if interface.kind == "emits":
                source = _glue(instance.name)
                path = Path(function=f"{interface.name}_emit", without=ERRORS, source=source)
                yield SystemPath(instance.name, interface.name, PathKind.EMIT, path)
            elif isinstance(interface.type, Procedure):
                methods = [method.name for method in interface.type.methods]
                if interface.kind == "uses":
                    yield from _requests(instance, interface.name, methods)
                else:
                    yield from _replies(instance, interface.name, methods, plan)


def _glue(instance: str) -> str:
    """How the path of the source ends that is generated for an instance."""
    return f"/{instance}/glue.c"


def _requests(instance: Instance, interface: str, methods: Collection[str]) -> Iterator[SystemPath]:
    for method in methods:
        function = f"{interface}_{method}"
        without = ERRORS | CONTENDED
        path = Path(function=function, without=without, usual=True, source=_glue(instance.name))
        yield SystemPath(instance.name, f"{interface}.{method}", PathKind.REQUEST, path)


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
            usual=True,
            source=_glue(instance.name),
        )
        yield SystemPath(instance.name, name, PathKind.REPLY, path)
        if cpi is not None and cpi.manager:
            begins = _RECEIVES
            rest = Path(
                function=path.function,
                begins=begins,
                ends=_ANSWERS,
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
            usual=True,
            source=path.source,
            by=path.function,
        )
        yield SystemPath(instance.name, name, PathKind.HANDLER, own)
    if cpi is not None and cpi.manager and cpi.monitor is None and methods:
        step = Path(function="camkes_manage_cpi", begins=_RECEIVES, ends=_RECEIVES, without=ERRORS)
        yield SystemPath(instance.name, interface, PathKind.MANAGER, step)


def numbers_of(system: System, plan: Plan, instance: str) -> dict[str, int]:
    """What contracts in the runtime name: of an instance the greatest of all its CPIs."""
    cpis = [cpi for cpi in plan.cpis if cpi.instance == instance]
    found = {
        "contexts": max((max(len(cpi.contexts), len(cpi.seats)) for cpi in cpis), default=0),
        "threads": max((cpi.threads for cpi in cpis), default=0),
        "payers": max((len(cpi.payers) + 1 for cpi in cpis), default=0),
    }
    if not any(task.criticality for task in system.tasks):
        found["left_out"] = 0
    return found


def bound_paths(
    system: System,
    plan: Plan,
    images: Mapping[str, FilePath],
    folders: Mapping[str, FilePath],
    limits: Mapping[str, int],
    sink: Sink,
) -> list[BoundedPath]:
    """The bounds of all paths. `images` are the programs of instances; `folders` those that programs have
    other names for, by these; `limits` bound each loop of a function without a contract."""
    programs: dict[FilePath, LinkedProgram] = {}
    problems = _Problems()
    sources = StatedSources()
    found = []
    for each in paths_of(system, plan):
        image = images.get(each.instance)
        if image is None:
            continue
        try:
            if image not in programs:
                programs[image] = LinkedProgram(image, folders)
            statements = LoopStatements(sources, numbers_of(system, plan, each.instance), limits)
            finder = WayFinder(programs[image], CALLS_MCS if plan.mcs else CALLS, statements)
            found.append(BoundedPath(each, bound(finder, each.path), statements.used))
        except (OSError, ProgramError) as error:
            _report_unreadable(image, error, sink)
            return found
        except PathError as error:
            problems.add(error, f"{each.kind} of {each.full_name}")
            found.append(BoundedPath(each, None))
    problems.report(sink)
    return found


def bound_functions(
    image: FilePath, functions: Collection[str], limits: Mapping[str, int], sink: Sink
) -> list[BoundedPath] | None:
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
    return found


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
