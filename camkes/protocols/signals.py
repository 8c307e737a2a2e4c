# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The code that waits for signals and that sends them: events and semaphores, in the compiled code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from camkes.diagnostics import Span
from camkes.model.connectors import support
from camkes.model.system import Condition, Connection, Instance, Procedure, System
from camkes.protocols.cycles import path, walk
from camkes.protocols.requests import Chain, Request, RequestGraph, method_node, procedures

#: A handler ("inst.iface") or control thread ("inst") -> the functions it reaches that wait or signal, and
#: how. One that is missing may reach all of its instance. Likewise the `method_node` of a method or control
#: thread -> these functions and those that make requests.
Operations = Mapping[str, Mapping[str, Chain]]


class Signaller(Struct, frozen=True):
    """Code that can send the signal: a control thread ("inst") or a handler ("inst.iface"), by the first of
    `functions` that it reaches, `function`. `chain`: how it gets there, None: that is not known. `span` is
    where it is connected or declared."""

    caller: str
    function: str
    chain: Chain | None
    span: Span
    functions: tuple[str, ...] = ()


class Helper(Struct, frozen=True):
    """A task that can end a wait: requests on the way from it to the code of a signaller."""

    task: str
    requests: tuple[Request, ...]
    signaller: Signaller


class Lending(Struct, frozen=True):
    """The code that waits for a condition, and the tasks that can end that. `waiters` are tasks and CPIs
    whose own code waits, with how it gets there, `waiting` the tasks for which that happens; `others` are
    signallers that work for no task (interrupts, timers, servers). `known`: all of it was read from code.
    `timed`: some of it may wait until a time."""

    condition: Condition
    waiters: Mapping[str, Chain | None]
    helpers: tuple[Helper, ...]
    others: tuple[Signaller, ...]
    known: bool
    waiting: tuple[str, ...] = ()
    timed: bool = False

    def tasks(self) -> tuple[str, ...]:
        """The names of the helpers, each once."""
        return tuple(dict.fromkeys(helper.task for helper in self.helpers))


class Signallers(Struct, frozen=True):
    """What can end waits for an event, a mutex or a semaphore: code, by control threads ("inst") and
    interfaces ("inst.iface"), in name order. `takers` are those of it that also wait for it, as who uses a
    lock does. `outside`: what is not code of components can, too."""

    callers: tuple[str, ...]
    takers: tuple[str, ...] = ()
    outside: bool = False


class DirectUse(Struct, frozen=True):
    """A thread of one instance that waits for, or signals, a condition of another one of its address space:
    the direct calls that lead there, and how the last one gets to the function."""

    thread: str
    calls: tuple[Request, ...]
    chain: Chain


def way(helper: Helper) -> str:
    """How a task gets to the signal: requests, then calls of functions."""
    steps = [helper.task, *(request.callee for request in helper.requests)]
    chain = helper.signaller.chain
    functions = chain.functions if chain is not None else (helper.signaller.function,)
    return " -> ".join([*steps, *(f"{name}()" for name in functions)])


#: how the functions end that wait for a condition
WAIT_UNTIL = "wait_until"
WAIT_WORDS = ("wait", WAIT_UNTIL)


def signal_operations(instance: Instance) -> tuple[str, ...]:
    """The functions of an instance that wait for or send signals."""
    found = []
    for interface in instance.type.interfaces:
        if interface.kind in ("emits", "consumes"):
            words = ("emit",) if interface.kind == "emits" else WAIT_WORDS
            found += [f"{interface.name}_{word}" for word in words]
    for sync in instance.type.syncs:
        found += [f"{sync.name}_{word}" for word in (*wait_words(sync.kind), *signal_words(sync.kind))]
    return tuple(found)


def wait_words(kind: str) -> tuple[str, ...]:
    """How the functions that wait for a condition, or take a mutex, end."""
    return {"mutex": ("lock",), "semaphore": (*WAIT_WORDS, "trywait")}.get(kind, WAIT_WORDS)


def signal_words(kind: str) -> tuple[str, ...]:
    """How the functions that signal a condition, or free a mutex, end."""
    words = {"event": ("emit",), "condition": ("signal", "broadcast"), "mutex": ("unlock",)}
    return words.get(kind, ("post",))


def signals_matter(system: System, instance: Instance) -> bool:
    """Whether it matters what an instance signals and waits for: a task may wait, or end a wait, or its
    threads may wait for each other."""
    return bool(instance.type.syncs or (len(system.tasks) > 1 and signal_operations(instance)))


def code_matters(system: System) -> bool:
    """Whether a plan depends on what code calls."""
    return bool(system.cpis) or any(signals_matter(system, instance) for instance in system.instances)


def mutexes(system: System) -> Iterator[Condition]:
    """Every mutex: who unlocks it ends the wait of another."""
    for instance in system.instances:
        for sync in instance.type.syncs:
            if sync.kind == "mutex":
                yield Condition(instance.name, sync.name, sync.kind, None, sync.span, {})


def waitable(system: System) -> Iterator[Condition]:
    """Every event and semaphore that could be waited for `with helpers`."""
    stated = {condition.name: condition for condition in system.conditions}
    for instance in system.instances:
        members = [(i.name, "event", i.span) for i in instance.type.interfaces if i.kind == "consumes"]
        members += [(s.name, s.kind, s.span) for s in instance.type.syncs if s.kind != "mutex"]
        for name, kind, span in members:
            plain = Condition(instance.name, name, kind, None, span, {})
            yield stated.get(plain.name, plain)


def find_lending(
    system: System, graph: RequestGraph, operations: Operations, condition: Condition
) -> Lending:
    """The code that waits for a condition, and the code that can signal it."""
    return _Finder(system, graph, operations).lending(condition)


def waiting_code(system: System, graph: RequestGraph, operations: Operations) -> Mapping[str, frozenset[str]]:
    """For each event and semaphore ("inst.name") the control threads and handlers that may wait for it:
    others only poll, signal, or have a callback. Those whose code is not known may wait."""
    finder = _Finder(system, graph, operations)
    found = {}
    for condition in waitable(system):
        instance = system.instance(condition.instance)
        assert instance is not None
        code = finder.reaching(instance, condition.interface, WAIT_WORDS, condition.span)
        found[condition.name] = frozenset(each.caller for each in code)
    return found


def find_signallers(system: System, operations: Operations) -> Mapping[str, Signallers]:
    """By the names ("inst.name") of all events, mutexes and semaphores, what can end waits for them."""
    found = {}
    for instance in system.instances:
        for sync in instance.type.syncs:
            signals = _reaching(instance, sync.name, signal_words(sync.kind), operations)
            waits = _reaching(instance, sync.name, wait_words(sync.kind), operations, unknown=False)
            found[f"{instance.name}.{sync.name}"] = Signallers(
                signals, tuple(w for w in waits if w in signals)
            )
    for connection in system.connections:
        outside = False
        callers: list[str] = []
        for end in connection.from_ends:
            emitter = system.instance(end.instance)
            hardware = connection.connector.from_end.hardware or emitter is None or emitter.type.hardware
            if emitter is None or hardware or not support(connection.connector).generated:
                outside = True
            else:
                callers += _reaching(emitter, end.interface, ("emit",), operations)
        for end in connection.to_ends:
            found[end.name] = Signallers(tuple(sorted(callers)), outside=outside)
    return found


def _reaching(
    instance: Instance, member: str, words: Sequence[str], operations: Operations, *, unknown: bool = True
) -> tuple[str, ...]:
    """The code of an instance that reaches one of these functions of a member; with `unknown` also code of
    which that is not known."""
    functions = {f"{member}_{word}" for word in words}
    entries = _entries(instance)
    entries += [f"{instance.name}.{i.name}" for i in instance.type.interfaces if i.kind == "consumes"]
    reached = ((code, operations.get(code)) for code in entries)
    return tuple(
        sorted(code for code, all in reached if (unknown if all is None else not functions.isdisjoint(all)))
    )


def direct_uses(
    system: System, graph: RequestGraph, operations: Operations, condition: Condition
) -> Iterator[DirectUse]:
    """The threads of other instances that reach functions of a condition by direct calls. Any thread can emit
    an event; all else asks the manager, which knows the threads of the condition's instance."""
    words = WAIT_WORDS if condition.kind == "event" else (*WAIT_WORDS, *signal_words(condition.kind))
    functions = [f"{condition.interface}_{word}" for word in words]
    own = f"{condition.instance}."
    finder = _Finder(system, graph, operations, direct=True)
    for instance in system.instances:
        for thread in () if instance.name == condition.instance else finder.threads(instance):
            found = walk([thread], finder.requests_of)
            for node in found:
                for function in functions if node.startswith(own) else ():
                    if function in operations.get(node, ()):
                        yield DirectUse(thread, tuple(path(found, node)), operations[node][function])


def stated_helpers(lending: Lending) -> Lending:
    """The same with the helpers that are stated, if some are."""
    stated = lending.condition.helpers
    if stated is None:
        return lending
    return replace(lending, helpers=tuple(h for h in lending.helpers if h.task in stated))


class _Finder:
    def __init__(
        self, system: System, graph: RequestGraph, operations: Operations, *, direct: bool = False
    ) -> None:
        """With `direct`, only calls in the same thread count."""
        self.system = system
        self.graph = graph
        self.operations = operations
        self.known = True
        self.calls: dict[str, list[Request]] = {}
        others = () if direct else (*graph.requests, *graph.plain_calls)
        for request in (*others, *graph.local_calls):
            self.calls.setdefault(request.caller, []).append(request)
        self.methods = {
            f"{instance.name}.{interface.name}": [method.name for method in interface.type.methods]
            for instance in system.instances
            for interface in instance.type.interfaces
            if isinstance(interface.type, Procedure)
        }
        self.connections: dict[str, Connection] = {}
        for connection in system.connections:
            for end in connection.to_ends:
                self.connections[end.name] = connection

    def lending(self, condition: Condition) -> Lending:
        self.known = True
        instance = self.system.instance(condition.instance)
        assert instance is not None
        waits = list(self.reaching(instance, condition.interface, wait_words(condition.kind), condition.span))
        waiters = {
            each.caller: each.chain
            for each in waits
            if each.caller in self.graph.tasks or each.caller in self.graph.cpis
        }
        signallers = list(self.signallers(condition, instance))
        helpers: list[Helper] = []
        reached: set[str] = set()
        waiting: list[str] = []
        for task in self.graph.tasks:
            found = walk([method_node(task, "")], self.requests_of)
            for signaller in signallers:
                node = self.node_of(found, signaller)
                if node is not None:
                    reached.add(signaller.caller)
                    helpers.append(Helper(task, tuple(path(found, node)), signaller))
            if any(self.node_of(found, each) is not None for each in waits):
                waiting.append(task)
        others = tuple(s for s in signallers if s.caller not in reached and s.caller not in self.graph.cpis)
        timed = any(self.reaching(instance, condition.interface, (WAIT_UNTIL,), condition.span))
        return Lending(condition, waiters, tuple(helpers), others, self.known, tuple(waiting), timed)

    def node_of(self, found: Iterable[str], code: Signaller) -> str | None:
        """The first of these methods from which some code is reached."""
        for node in found:
            known = self.operations.get(node)
            if node.partition(":")[0] == code.caller and (
                known is None or any(function in known for function in code.functions)
            ):
                return node
        return None

    def reaching(
        self, instance: Instance, member: str, words: Sequence[str], span: Span
    ) -> Iterator[Signaller]:
        """The code of an instance that reaches one of these functions of an interface, a semaphore or a
        condition; all of it where that is not known."""
        functions = tuple(f"{member}_{word}" for word in words)
        entries = _entries(instance)
        others = [f"{instance.name}.{i.name}" for i in instance.type.interfaces if i.kind != "provides"]
        for caller in (*entries, *others):
            known = self.operations.get(caller)
            if known is None and caller in entries:
                self.known = False
                yield Signaller(caller, functions[0], None, span, functions)
            for function in functions:
                if known is not None and function in known:
                    yield Signaller(caller, function, known[function], span, functions)
                    break

    def threads(self, instance: Instance) -> Iterator[str]:
        """The methods, or control thread, with which the threads of an instance begin."""
        if instance.type.control:
            yield method_node(instance.name, "")
        for interface in instance.type.interfaces:
            name = f"{instance.name}.{interface.name}"
            if interface.kind == "consumes":
                yield method_node(name, "")
            elif any(not link.local for link in self.graph.links.get(name, ())):
                yield from (method_node(name, method) for method in self.methods.get(name, ()))

    def signallers(self, condition: Condition, instance: Instance) -> Iterator[Signaller]:
        if condition.kind != "event":
            words = signal_words(condition.kind)
            yield from self.reaching(instance, condition.interface, words, condition.span)
            return
        connection = self.connections.get(condition.name)
        for end in () if connection is None else connection.from_ends:
            emitter = self.system.instance(end.instance)
            if connection is None or emitter is None:
                continue
            outside = connection.connector.from_end.hardware or emitter.type.hardware
            if outside or not support(connection.connector).generated:
                yield Signaller(end.name, f"{end.interface}_emit", None, end.span)
            else:
                yield from self.reaching(emitter, end.interface, ("emit",), end.span)

    def requests_of(self, node: str) -> Iterator[tuple[str, Request]]:
        """The methods that a method or control thread requests, with the requests; plain and local calls are
        requests, too. Where its code is not known, it may request any."""
        caller, known = node.partition(":")[0], self.operations.get(node)
        for request in self.calls.get(caller, ()):
            for method in self.methods.get(request.via, ()):
                function = f"{request.via.rpartition('.')[2]}_{method}"
                if known is None or function in known:
                    yield method_node(request.callee, method), request


def _entries(instance: Instance) -> list[str]:
    """The control thread and the handlers of procedures of an instance."""
    control = [instance.name] if instance.type.control else []
    return control + [f"{instance.name}.{name}" for name in procedures(instance, "provides")]
