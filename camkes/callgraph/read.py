# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Finds the calls of the handlers of a system in the compiled sources of its components.

Each source is compiled once more without optimisation, so that no call is inlined away. The steps are:
headers, this, plan, glue, link; the headers of components do not depend on what their code calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from camkes.backends.host.compiler import Compiler, find_compiler
from camkes.backends.host.jobs import BuildJob
from camkes.backends.host.messages import Sources
from camkes.backends.host.ninja import inputs_of, run_jobs
from camkes.backends.host.sharing import read_headers, share_objects
from camkes.backends.host.sources import (
    builds_of,
    compile_job,
    headers_of_workspace,
    links_foreign_code,
    sources_and_objects,
    unusable_name,
)
from camkes.callgraph import flow
from camkes.callgraph.codes import (
    CODE_NOT_READ,
    LOOP_WITHOUT_END,
    MORE_REQUESTS,
    REQUESTS_NOT_COUNTED,
    UNBOUNDED_CALL,
)
from camkes.callgraph.counts import CallCounter, NotCountedError, endless_loop
from camkes.callgraph.disassembly import disassembled_calls
from camkes.callgraph.gcc import CallPlace, read_calls
from camkes.callgraph.graph import CallGraph, CallPath, Reached
from camkes.callgraph.objects import ObjectError, read_object
from camkes.diagnostics import Diagnostic, Label, Sink, Span
from camkes.model.settings import REQUESTS
from camkes.model.system import Instance, Interface, Procedure, System
from camkes.project.application import Application
from camkes.project.builds import ComponentBuild
from camkes.protocols.methods import MethodCalls
from camkes.protocols.requests import Chain, Counts, method_node, procedures
from camkes.protocols.signals import Operations, signal_operations, signals_matter

#: Calls stay calls, and each function has a section of its own, to which they belong.
_FLAGS = ("-O0", "-g0", "-w", "-fno-lto", "-fno-whole-program", "-ffunction-sections")
#: what only the other kernel declares, such as `IRQ_acknowledge`, is called too; an error since GCC 14
_UNDECLARED = "-Wno-error=implicit-function-declaration"
_CALL_GRAPH = "-fcallgraph-info"
#: where calls are found in the object instead
_LINES = ("-g1",)


class CodeCalls(Struct, frozen=True):
    """`reached` is what handlers ("inst.iface") and control threads ("inst") call of the `uses` interfaces of
    their instance, `chains` how; those of which that is not known are missing. `operations` is the same of
    the functions that wait for and send signals (`EVENT_emit`, `EVENT_wait`, `SEMAPHORE_wait`,
    `SEMAPHORE_post`), and of both for single methods (`method_node`). `by_method` are the methods that single
    methods of CPIs and tasks call. `counts` is how often these, tasks and handlers call an interface, or emit
    an event, at most, in a job or a request, if that was requested, and `endless` which of them have a loop
    that nothing leaves. `notes` are the reasons why something is not known, `unread` those why code of an
    instance or a caller was not read. `files` are the sources and headers that were read."""

    reached: Mapping[str, frozenset[str]]
    chains: Mapping[tuple[str, str], Chain]
    notes: tuple[Diagnostic, ...]
    files: tuple[Path, ...] = ()
    operations: Operations = {}
    counts: Counts = {}
    unread: Mapping[str, str] = {}
    endless: Mapping[str, Diagnostic] = {}
    by_method: MethodCalls = {}


def calls_of_code(
    system: System,
    application: Application,
    headers: Mapping[str, Path],
    out: Path,
    progress: Callable[[str], None],
    *,
    sanitize: bool = False,
    counting: bool = False,
) -> CodeCalls:
    """Compile and read the code of a system in the folder `out`. `headers` are folders with the `camkes.h` of
    each instance. Mistakes in the code are left to the build: what does not compile is not known. `counting`
    finds out how often interfaces are called, too."""
    reader = _CodeReader(system, progress, counting)
    requests = bool(system.cpis) or reader.signals
    executed = {task.instance for task in system.tasks} | {cpi.instance for cpi in system.cpis}
    instances = [
        i
        for i in system.instances
        if i.name in headers
        and (
            (procedures(i, "uses") and requests)
            or signals_matter(system, i)
            or (counting and i.name in executed)
        )
    ]
    builds = builds_of(application, instances, Sink())
    languages = {build.language_of(source) for build in builds.values() for source in build.sources}
    missing = Sink()
    compiler = find_compiler(sanitize, missing, languages, mcs=system.mcs) if instances else None
    if compiler is not None:
        reader.read(instances, builds, application, headers, out, compiler)
    for instance in instances if compiler is None else ():
        reader.not_read(instance, missing.diagnostics[0].message)
    return CodeCalls(
        reached=reader.reached,
        chains=reader.chains,
        notes=tuple(reader.notes),
        files=tuple(reader.files),
        operations=reader.operations,
        counts=reader.counts,
        unread=reader.unread,
        endless=reader.endless,
        by_method=reader.by_method,
    )


def _calls_are_listed(instance: Instance, caller: str) -> bool:
    """Whether `requests` clauses say what a handler, or all code of an instance, calls."""
    if instance.type.control and caller in ("", instance.name):
        return False
    served = [i for i in instance.type.interfaces if i.name in procedures(instance, "provides")]
    asked = [i for i in served if caller in ("", instance.name, f"{instance.name}.{i.name}")]
    return bool(asked) and all(i.requests is not None for i in asked)


class _Caller(NamedTuple):
    """The caller, which functions of the component it starts with, where it hands over others, which of them
    have to be there for its calls to be known, and which are methods of a procedure."""

    name: str
    roots: Sequence[str]
    callbacks: Sequence[str] = ()
    needed: Sequence[str] = ()
    methods: Sequence[str] = ()


class _CodeReader:
    def __init__(self, system: System, progress: Callable[[str], None], counting: bool) -> None:
        self.system = system
        self.progress = progress
        self.counting = counting
        self.signals = any(signals_matter(system, instance) for instance in system.instances)
        self.counts: dict[tuple[str, str], int | Diagnostic] = {}
        self.unread: dict[str, str] = {}
        self.endless: dict[str, Diagnostic] = {}
        self.sources = Sources()
        self.reached: dict[str, frozenset[str]] = {}
        self.chains: dict[tuple[str, str], Chain] = {}
        self.operations: dict[str, dict[str, Chain]] = {}
        self.by_method: dict[str, frozenset[str]] = {}
        executed = {task.instance for task in system.tasks} | {cpi.name for cpi in system.cpis}
        self.executed = executed if system.cpis else set()
        self.notes: list[Diagnostic] = []
        self.files: list[Path] = []

    def read(
        self,
        instances: Sequence[Instance],
        builds: Mapping[str, ComponentBuild],
        application: Application,
        headers: Mapping[str, Path],
        out: Path,
        compiler: Compiler,
    ) -> None:
        out = out.absolute()
        if self.counting and not compiler.call_graphs:
            self.counting = False
            self.unread |= dict.fromkeys((i.name for i in instances), "the compiler is not GCC")
        counting = self.counting
        jobs: dict[str, Sequence[BuildJob]] = {}
        foreign: set[str] = set()
        present: dict[str, Instance] = {}
        for instance in instances:
            build = builds[instance.name]
            if links_foreign_code(application, build):
                foreign.add(instance.name)
            if not all(source.is_file() for source in build.sources):
                jobs[instance.name] = []  # nothing is known of it, and the build reports which is missing
                self.unread[instance.name] = "a source is missing"
                continue
            present[instance.name] = instance
        after = headers_of_workspace(application)
        groups = share_objects(
            {name: builds[name] for name in present},
            {name: read_headers(sorted(headers[name].glob("*.h"))) for name in present},
            lambda name: _compile_jobs(
                present[name], builds[name], headers[name], out / name, compiler, after
            ),
            out / "attributes",
            self.progress,
        )
        jobs |= {name: of for names, of in groups for name in names}
        compiled = [job for _, of in groups for job in of]
        flows = {id(job): _flow_job(job) for job in compiled if counting and job.beside}
        every = [*compiled, *flows.values()]
        if unusable := unusable_name(out, every):
            for instance in instances:
                self.not_read(instance, f"the name {unusable!r} cannot be written in a list of headers")
            return
        outcomes = run_jobs(out, every, self.progress)
        failed = {id(o.job) for o in outcomes if not o.good}
        dumps = {id(o.job): o.messages for o in outcomes}
        self.files = list(inputs_of(out, every))
        for instance in instances:
            bad = [j for j in jobs[instance.name] if id(j) in failed]
            if bad:
                self.not_read(instance, f"{bad[0].inputs[0].name} does not compile without optimisation")
            elif jobs[instance.name]:
                dumped = {job.output: dumps.get(id(flows.get(id(job))), "") for job in jobs[instance.name]}
                self._read_instance(instance, jobs[instance.name], dumped, instance.name in foreign)
            else:
                self.unread.setdefault(instance.name, "it has no sources")

    def not_read(self, instance: Instance, why: str, caller: str = "") -> None:
        self.unread[caller or instance.name] = why
        if not procedures(instance, "uses") or _calls_are_listed(instance, caller):
            return  # what it waits for and signals is not known either, and is taken to be everything
        self.notes.append(
            Diagnostic(
                CODE_NOT_READ,
                f"cannot determine what the code of `{caller or instance.name}` calls: {why}",
                instance.type.span,
                notes=("without a `requests` clause, calls through every `uses` interface are assumed",),
                help="list the calls with `requests (...)`",
            )
        )

    def _read_instance(
        self, instance: Instance, jobs: Sequence[BuildJob], dumps: Mapping[Path, str], foreign: bool
    ) -> None:
        graph = CallGraph(foreign=foreign)
        try:
            for job in jobs:
                code = read_object(job.output)
                calls = read_calls(job.second) if job.beside else disassembled_calls(job.output, code)
                graph.add(str(job.inputs[0]), calls, code, flow.read_flows(dumps[job.output]))
        except (ObjectError, OSError) as error:
            self.not_read(instance, str(error))
            return
        uses = [i for i in instance.type.interfaces if i.kind == "uses" and isinstance(i.type, Procedure)]
        stubs = {f"{i.name}_{method}": i.name for i in uses for method in _methods(i.type)}
        handlers = tuple(f"{i.name}_register_error_handler" for i in instance.type.interfaces)
        operations = signal_operations(instance)
        for caller in self._callers(instance):
            missing = [name for name in caller.needed if not graph.defines(name)]
            if missing:
                self.not_read(instance, f"no source file defines `{missing[0]}`", caller.name)
                continue
            reached = graph.reach(caller.roots, stubs, caller.callbacks, handlers)
            self._record(caller.name, instance, stubs, reached)
            if operations:
                self._record_operations(
                    caller.name, graph.reach(caller.roots, operations, caller.callbacks, handlers)
                )
            for node, roots in self._methods_of(caller):
                found = graph.reach(roots, [*stubs, *operations], caller.callbacks, handlers)
                if self.signals:
                    self._record_operations(node, found)
                if caller.name in self.executed and found.unbounded is None:
                    self.by_method[node] = frozenset(
                        f"{stubs[name]}.{name.removeprefix(f'{stubs[name]}_')}"
                        for name in found.walks
                        if name in stubs
                    )
            if self.counting:
                self._count(caller, instance, graph, reached, handlers)

    def _methods_of(self, caller: _Caller) -> Iterator[tuple[str, Sequence[str]]]:
        """Each method of a handler, or a control thread, where signals or requests matter."""
        if not (self.signals or caller.name in self.executed):
            return
        interface = caller.name.rpartition(".")[2]
        if self.system.instance(caller.name) is not None:
            yield method_node(caller.name, ""), caller.roots
        for method in caller.methods:
            yield method_node(caller.name, method.removeprefix(f"{interface}_")), [method]

    def _callers(self, instance: Instance) -> list[_Caller]:
        """The control thread, the handlers of procedures, and those of events and interrupts."""
        control = ["pre_init", "post_init", "run"]
        found: list[_Caller] = []
        cpis = {cpi.name for cpi in self.system.cpis}
        for interface in instance.type.interfaces:
            name = f"{instance.name}.{interface.name}"
            start = [f"{interface.name}__init", f"{interface.name}__run"]
            if interface.kind == "provides" and isinstance(interface.type, Procedure):
                methods = [f"{interface.name}_{m}" for m in self._served(name, interface)]
                # a CPI is initialised by the control thread, other interfaces by their own
                control += start if name in cpis else []
                if name in cpis:
                    found.append(_Caller(name, methods, needed=methods, methods=methods))
                else:
                    found.append(_Caller(name, methods + start, methods=methods))
            elif self._has_threads(name):
                callbacks = [f"{interface.name}_reg_callback"] if interface.kind == "consumes" else []
                interrupts = [f"{interface.name}_handle", f"{interface.name}_irq_handle"]
                found.append(_Caller(name, start + (interrupts if self._is_device(name) else []), callbacks))
        run = ["run"] if instance.type.control else []
        return [_Caller(instance.name, control, needed=run), *found]

    def _has_threads(self, name: str) -> bool:
        """Whether an interface has threads of its own."""
        for connection in self.system.connections:
            connector = connection.connector
            if any(end.name == name for end in connection.from_ends):
                return connector.from_end.threads > 0
            if any(end.name == name for end in connection.to_ends):
                return connector.to_end.threads > 0
        return False

    def _is_device(self, name: str) -> bool:
        return any(
            end.name == name
            for connection in self.system.connections
            if connection.connector.from_end.hardware
            for end in connection.to_ends
        )

    def _served(self, name: str, interface: Interface) -> list[str]:
        """Methods that a handler has: its own, and those of callers with another type."""
        methods = dict.fromkeys(_methods(interface.type))
        for connection in self.system.connections:
            if any(end.name == name for end in connection.to_ends):
                for end in connection.from_ends:
                    user = self.system.instance(end.instance)
                    used = user.type.interface(end.interface) if user is not None else None
                    methods |= dict.fromkeys(_methods(used.type) if used is not None else ())
        return list(methods)

    def _record(self, name: str, instance: Instance, stubs: Mapping[str, str], reached: Reached) -> None:
        called = frozenset(stubs[target] for target in reached.walks)
        if reached.unbounded is not None:
            if not stubs:
                return
            said = (
                instance.type.interface(name.removeprefix(f"{instance.name}."))
                if name != instance.name
                else None
            )
            if said is None or said.requests is None:
                self._unbounded(name, instance, *reached.unbounded)
                return
            called |= frozenset(said.requests)  # who knows
        for target, walk in reached.walks.items():
            chain = Chain(walk.functions, self._steps(walk), walk.sure)
            before = self.chains.setdefault((name, stubs[target]), chain)
            if (chain.sure, -len(chain.functions)) > (before.sure, -len(before.functions)):
                self.chains[name, stubs[target]] = chain
        self.reached[name] = called

    def _count(
        self,
        caller: _Caller,
        instance: Instance,
        graph: CallGraph,
        reached: Reached,
        handlers: Sequence[str],
    ) -> None:
        """How often a task or a CPI calls each interface and method, and emits events."""
        is_task = any(task.instance == caller.name for task in self.system.tasks)
        if not is_task and all(cpi.name != caller.name for cpi in self.system.cpis):
            return
        if (place := endless_loop(graph, ["run"] if is_task else caller.roots)) is not None:
            self.endless[caller.name] = self._endless(caller.name, instance, place, is_task=is_task)
        for interface in instance.type.interfaces:
            used = interface.name
            if interface.kind == "uses" and isinstance(interface.type, Procedure):
                methods = [f"{used}_{method}" for method in _methods(interface.type)]
            elif interface.kind == "emits":
                methods = [f"{used}_emit"]
            else:
                continue

            def most(targets: Sequence[str], roots: Sequence[str] = caller.roots) -> int:
                if reached.unbounded is not None:
                    raise NotCountedError("through a pointer", reached.unbounded[1])
                counter = CallCounter(graph, targets, handlers)
                return counter.of_job("run") if is_task else counter.of_request(roots)

            for root in caller.methods if interface.kind == "uses" else ():
                self._count_method(caller, used, root, methods, most)
            try:
                found = most(methods)
            except NotCountedError as error:
                self.counts[caller.name, used] = self._not_counted(caller.name, instance, interface, error)
                continue
            self.counts[caller.name, used] = found
            if interface.kind == "uses":
                self._more_than_stated(caller.name, instance, used, found)
            for method in methods if found and len(methods) > 1 else ():
                self.counts[caller.name, f"{used}.{method.removeprefix(f'{used}_')}"] = most([method])

    def _count_method(
        self,
        caller: _Caller,
        used: str,
        root: str,
        methods: Sequence[str],
        most: Callable[[Sequence[str], Sequence[str]], int],
    ) -> None:
        """The same for one method of a CPI, where that has a bound."""
        node = method_node(caller.name, root.removeprefix(f"{caller.name.rpartition('.')[2]}_"))
        known = self.by_method.get(node, frozenset())
        called = {f"{used}.{method.removeprefix(f'{used}_')}": method for method in methods}
        called = {name: method for name, method in called.items() if name in known}
        try:
            found = most(methods, [root]) if called else 0
            each = {name: most([method], [root]) for name, method in called.items() if len(methods) > 1}
        except NotCountedError:
            return
        if called:
            self.counts[node, used] = found
        for name, count in each.items():
            self.counts[node, name] = count

    def _endless(self, caller: str, instance: Instance, place: CallPlace, *, is_task: bool) -> Diagnostic:
        return Diagnostic(
            LOOP_WITHOUT_END,
            f"a {'job' if is_task else 'request'} of `{caller}` does not end: nothing leaves this loop",
            self._span(place) or instance.span,
            notes=("a job ends with the call of `camkes_next_job()`",) if is_task else (),
            help="write `while (camkes_next_job()) { ... }`" if is_task else "let the handler return",
        )

    def _not_counted(
        self, caller: str, instance: Instance, interface: Interface, error: NotCountedError
    ) -> Diagnostic:
        what = "job" if caller == instance.name else "request"
        uses = interface.kind == "uses"
        return Diagnostic(
            REQUESTS_NOT_COUNTED,
            f"`{caller}` {'calls' if uses else 'emits'} `{interface.name}` {error.why}",
            self._span(error.place) or instance.span,
            notes=(f"so the number of {'requests' if uses else 'events'} that a {what} makes is not known",),
            help=f"state the most: for example `{instance.name}.{REQUESTS.of(f'{interface.name}_')} = 10;`"
            if uses
            else "state the period of the task that it releases",
        )

    def _more_than_stated(self, caller: str, instance: Instance, used: str, found: int) -> None:
        settings = instance.configured.interface(used)
        if settings.requests is None or found <= settings.requests:
            return
        self.notes.append(
            Diagnostic(
                MORE_REQUESTS,
                f"`{caller}` can call `{used}` {found} times, but {settings.requests} is stated",
                settings.spans[REQUESTS.name],
                related=(Label(instance.span, "this instance"),),
                help=f"state {found}, or change the code",
            )
        )

    def _record_operations(self, name: str, reached: Reached) -> None:
        if reached.unbounded is None:
            self.operations[name] = {
                target: Chain(walk.functions, self._steps(walk), walk.sure)
                for target, walk in reached.walks.items()
            }

    def _unbounded(self, name: str, instance: Instance, function: str, place: CallPlace | None) -> None:
        self.notes.append(
            Diagnostic(
                UNBOUNDED_CALL,
                f"`{name}` calls through a pointer with an unknown target",
                self._span(place) or instance.type.span,
                f"in {function}()",
                notes=("so calls through every `uses` interface of its component are assumed",),
                help="list what it calls with `requests (...)`" if name != instance.name else "",
            )
        )

    def _steps(self, walk: CallPath) -> tuple[Span | None, ...]:
        """Where each function of a walk calls the next one."""
        return tuple(map(self._span, walk.places, walk.functions[1:]))

    def _span(self, place: CallPlace | None, callee: str = "") -> Span | None:
        """A call. Where only its line is known, the name of `callee` in it."""
        if place is None:
            return None
        if callee and not place.column:
            return self.sources.word(Path(place.file), place.line, callee)
        return self.sources.span(Path(place.file), place.line, place.column or None)


def _compile_jobs(
    instance: Instance,
    build: ComponentBuild,
    headers: Path,
    out: Path,
    compiler: Compiler,
    after: Sequence[Path],
) -> list[BuildJob]:
    more, suffix = ((_CALL_GRAPH,), ".ci") if compiler.call_graphs else (_LINES, "")
    return [
        compile_job(
            compiler,
            source,
            output,
            (headers, *includes),
            flags,
            f"calls of {instance.name}",
            language=build.language_of(source),
            last=(*_FLAGS, *((_UNDECLARED,) if build.language_of(source) == "C" else ()), *more),
            beside=suffix if build.language_of(source) != "ASM" else "",
            after=after,
        )
        for source, output in sources_and_objects(build, out)
        for includes, flags in [build.flags_of(source)]
    ]


def _flow_job(job: BuildJob) -> BuildJob:
    """Compile the source of a job once more, for the flow of control of its functions."""
    output = job.output.with_name(f"{job.output.name}.flow.o")
    words = [word.replace(str(job.output), str(output)) for word in job.command if word != _CALL_GRAPH]
    place = words.index("-c")
    command = (*words[:place], *flow.FLAGS, *flow.DUMPS, *words[place:])
    return replace(job, title=f"{job.title} (flow)", output=output, command=command, beside="")


def _methods(kind: object) -> list[str]:
    return [method.name for method in kind.methods] if isinstance(kind, Procedure) else []
