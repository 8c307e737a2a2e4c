# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Requests by method: which methods of which CPIs a task, or a request to some methods of a CPI, requests.

What that is comes from clauses that name methods, or from compiled code. Where it is not known which methods
are called, they may be any; where it is not known what a method calls, it may be all that its CPI calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property
from typing import NamedTuple

from camkes.model.system import Cpi, Instance, Procedure, System
from camkes.protocols.cycles import walk
from camkes.protocols.requests import Counted, Counts, Request, method_node

#: A method of a handler, or a control thread (`method_node`) -> the methods "iface.method" that its code
#: calls. Of those that are missing, it is not known.
MethodCalls = Mapping[str, Set[str]]


def stated_calls(system: System) -> MethodCalls:
    """What `requests` clauses that name methods list, for each method of their CPIs."""
    found: dict[str, frozenset[str]] = {}
    for cpi in system.cpis:
        instance = system.instance(cpi.instance)
        for method in cpi.methods if cpi.calls and instance is not None else ():
            own = [call for call in cpi.calls if call.of in ("", method)]
            found[method_node(cpi.name, method)] = frozenset(
                f"{call.interface}.{name}"
                for call in own
                for name in ([call.method] if call.method else _methods(instance, call.interface))
            )
    return found


class MethodNode(NamedTuple):
    """A task, which has no `methods`, or a request to a CPI: to one of these methods, it is not known to
    which of them."""

    name: str
    methods: frozenset[str] = frozenset()


class _Calls(NamedTuple):
    """Calls by one interface: `total` at most, of one of the `methods` each; `each` says how many of each
    method, None: that is not known. `request` is the edge of the request graph."""

    request: Request
    methods: frozenset[str]
    total: int
    each: Mapping[str, int] | None


class MethodRequests:
    """The requests of a system by method."""

    def __init__(
        self, system: System, requests: Iterable[Request], calls: MethodCalls, counts: Counts
    ) -> None:
        self._system = system
        self._calls = calls
        self._counts = counts
        self._cpis = {cpi.name: cpi for cpi in system.cpis}
        self._tasks = [task.instance for task in system.tasks]
        self._requests: dict[str, list[Request]] = {}
        for request in requests:
            self._requests.setdefault(request.caller, []).append(request)
        self._made: dict[MethodNode, tuple[_Calls, ...]] = {}

    def any_of(self, cpi: str) -> MethodNode:
        """A request to any method of a CPI."""
        return MethodNode(cpi, frozenset(self._cpis[cpi].methods))

    def requests_of(self, node: MethodNode) -> Mapping[MethodNode, int]:
        """How often a job, or a request, makes which requests at most. Where different ways through the code
        call different methods, these are requests to one of them."""
        found: dict[MethodNode, int] = {}
        for calls in self._calls_of(node):
            callee, each = calls.request.callee, calls.each
            parts = {MethodNode(callee, calls.methods): calls.total}
            if each is not None and sum(each.values()) == calls.total:
                parts = {MethodNode(callee, frozenset({method})): count for method, count in each.items()}
            for part, count in parts.items():
                found[part] = found.get(part, 0) + count
        return found

    def single(self, node: MethodNode) -> Iterator[tuple[MethodNode, Request]]:
        """The methods, each for itself, that a job or a request to one method can request."""
        for calls in self._calls_of(node):
            for method in self._in_order(calls.request.callee, calls.methods):
                yield MethodNode(calls.request.callee, frozenset({method})), calls.request

    @cached_property
    def called(self) -> Mapping[MethodNode, tuple[MethodNode, Request] | None]:
        """The tasks and all single methods that their jobs lead to, each with what first led there."""
        return walk([MethodNode(name) for name in self._tasks], self.single)

    def _in_order(self, cpi: str, methods: Set[str]) -> list[str]:
        return [method for method in self._cpis[cpi].methods if method in methods] or [""]

    # Calls ---------------------------------------------------------------------------------------

    def _calls_of(self, node: MethodNode) -> tuple[_Calls, ...]:
        found = self._made.get(node)
        if found is None:
            if len(node.methods) > 1:
                found = self._merged(node)
            else:
                found = tuple(self._of_method(node.name, next(iter(node.methods), "")))
            self._made[node] = found
        return found

    def _merged(self, node: MethodNode) -> tuple[_Calls, ...]:
        """The most of what each method calls."""
        merged: dict[tuple[str, str], _Calls] = {}
        for method in sorted(node.methods):
            for calls in self._calls_of(MethodNode(node.name, frozenset({method}))):
                key = calls.request.via, calls.request.callee
                merged[key] = _most(merged[key], calls) if key in merged else calls
        ways = [(request.via, request.callee) for request in self._requests.get(node.name, ())]
        return tuple(merged[way] for way in ways if way in merged)

    def _of_method(self, caller: str, method: str) -> Iterator[_Calls]:
        """The calls of a task, or of a method of a CPI."""
        own = self._calls.get(method_node(caller, "" if caller not in self._cpis else method))
        for request in self._requests.get(caller, ()):
            used = request.via.rpartition(".")[2]
            every = frozenset(self._cpis[request.callee].methods)
            called = None if own is None else _methods_called(own, used) & every
            if called:
                yield self._known(request, method, used, called)
            elif called is None or not self._called_elsewhere(caller, used):
                yield _Calls(request, every, request.count, None)

    def _called_elsewhere(self, caller: str, used: str) -> bool:
        """Whether a method of a CPI is known to call an interface; else its clause alone says that."""
        cpi = self._cpis.get(caller)
        return cpi is not None and any(
            (own := self._calls.get(method_node(caller, method))) is None or _methods_called(own, used)
            for method in cpi.methods
        )

    def _known(self, request: Request, method: str, used: str, called: frozenset[str]) -> _Calls:
        caller = request.caller
        key = method_node(caller, method) if caller in self._cpis else caller
        total = self._counts.get((key, used))
        each = {
            name: count
            for name in called
            if isinstance(count := self._counts.get((key, f"{used}.{name}")), int)
        }
        if not isinstance(total, int) or request.counted is not Counted.CODE or request.uncounted is not None:
            most = request.count
        else:
            most = max(1, total)
        complete = len(each) == len(called) and (caller not in self._cpis or all(each.values()))
        return _Calls(request, called, most, {n: c for n, c in each.items() if c} if complete else None)


def _most(one: _Calls, other: _Calls) -> _Calls:
    each = None
    if one.each is not None and other.each is not None:
        names = dict.fromkeys((*one.each, *other.each))
        each = {name: max(one.each.get(name, 0), other.each.get(name, 0)) for name in names}
    return _Calls(one.request, one.methods | other.methods, max(one.total, other.total), each)


def _methods_called(calls: Set[str], used: str) -> frozenset[str]:
    """The methods of one interface among these."""
    prefix = f"{used}."
    return frozenset(name.removeprefix(prefix) for name in calls if name.startswith(prefix))


def _methods(instance: Instance | None, interface: str) -> list[str]:
    """The names of the methods of an interface of an instance."""
    found = None if instance is None else instance.type.interface(interface)
    kind = None if found is None else found.type
    return [method.name for method in kind.methods] if isinstance(kind, Procedure) else []


def work_of(cpi: Cpi, methods: Iterable[str]) -> int:
    """The longest execution time of one of these methods of a CPI; 0 where none is stated."""
    times = [cpi.wcet_of(method) for method in methods] or [cpi.wcet]
    return max((time or 0 for time in times), default=0)
