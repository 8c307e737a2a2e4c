# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which methods of a CPI the analysis distinguishes: those with another time or other requests."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import TopologicalSorter

from msgspec import Struct

from camkes.model.system import Cpi, System
from camkes.protocols.methods import MethodNode, MethodRequests, work_of
from camkes.protocols.plan import Plan


class DistinctMethods(Struct, frozen=True):
    """What takes the place of each CPI, by name, in the order of its methods: itself, where all methods that
    are requested are alike; else one for each that differs, and for requests of which it is not known to
    which of several methods they are. Of these names and those of tasks: `requests`, and of CPIs the longest
    execution time, `work`, and the `methods` that one can be a request to."""

    of_cpi: Mapping[str, tuple[str, ...]]
    requests: Mapping[str, Mapping[str, int]]
    work: Mapping[str, int]
    methods: Mapping[str, tuple[str, ...]]


class _Alike(Struct):
    """Requests to a CPI with the same time and the same requests."""

    cpi: str
    work: int
    requests: Mapping[int, int]
    nodes: list[MethodNode]


def methods_of(system: System, plan: Plan) -> DistinctMethods:
    """What is distinguished in a planned system."""
    by_method = MethodRequests(system, plan.requests, plan.by_method, plan.counts)
    cpis = {cpi.name: cpi for cpi in system.cpis}
    tasks = [MethodNode(task.instance) for task in system.tasks]
    made = _reached(by_method, tasks, {})
    seen = {node.name for node in made}
    made = _reached(by_method, [by_method.any_of(name) for name in cpis if name not in seen], made)
    alike: list[_Alike] = []
    number: dict[MethodNode, int] = {}
    same: dict[tuple[str, int, frozenset[tuple[int, int]]], int] = {}
    of_task: dict[str, dict[int, int]] = {}
    graph = {node: list(requests) for node, requests in made.items()}
    for node in TopologicalSorter(graph).static_order():
        requests: dict[int, int] = {}
        for callee, count in made[node].items():
            requests[number[callee]] = requests.get(number[callee], 0) + count
        if node.name not in cpis:
            of_task[node.name] = requests
            continue
        work = work_of(cpis[node.name], node.methods)
        key = node.name, work, frozenset(requests.items())
        if key not in same:
            same[key] = len(alike)
            alike.append(_Alike(node.name, work, requests, []))
        number[node] = same[key]
        alike[same[key]].nodes.append(node)
    return _named(cpis, alike, of_task)


def called_methods(system: System, plan: Plan) -> Mapping[str, tuple[str, ...]]:
    """For each CPI the methods that can be requested."""
    distinct = methods_of(system, plan)
    found: dict[str, tuple[str, ...]] = {}
    for cpi in system.cpis:
        names = {method for name in distinct.of_cpi[cpi.name] for method in distinct.methods[name]}
        found[cpi.name] = tuple(method for method in cpi.methods if method in names)
    return found


def _reached(
    by_method: MethodRequests, starts: list[MethodNode], before: Mapping[MethodNode, Mapping[MethodNode, int]]
) -> dict[MethodNode, Mapping[MethodNode, int]]:
    """These nodes and all that they lead to, with their requests."""
    found = dict(before)
    waiting = [node for node in starts if node not in found]
    for node in waiting:
        if node not in found:
            found[node] = by_method.requests_of(node)
            waiting += [callee for callee in found[node] if callee not in found]
    return found


def _named(
    cpis: Mapping[str, Cpi], alike: list[_Alike], of_task: Mapping[str, Mapping[int, int]]
) -> DistinctMethods:
    members: dict[str, list[tuple[int, tuple[str, ...]]]] = {name: [] for name in cpis}
    for index, each in enumerate(alike):
        single = [node.methods for node in each.nodes if len(node.methods) == 1]
        every = single or [node.methods for node in each.nodes]
        names = {method for methods in every for method in methods}
        members[each.cpi].append((index, tuple(m for m in cpis[each.cpi].methods if m in names)))
    taken = set(cpis)
    name: dict[int, str] = {}
    for cpi, found in members.items():
        order = cpis[cpi].methods.index
        found.sort(key=lambda each: [order(method) for method in each[1]])
        for index, own in found:
            word = cpi
            if len(found) > 1 and len(own) < len(cpis[cpi].methods):
                word = f"{cpi}.{'|'.join(own)}"
                while word in taken:  # an interface of an instance with such a name
                    word += "()"
            taken.add(word)
            name[index] = word

    def named(requests: Mapping[int, int]) -> dict[str, int]:
        return {name[index]: count for index, count in requests.items()}

    return DistinctMethods(
        of_cpi={cpi: tuple(name[index] for index, _ in found) for cpi, found in members.items()},
        requests={
            **{task: named(requests) for task, requests in of_task.items()},
            **{name[index]: named(each.requests) for index, each in enumerate(alike)},
        },
        work={name[index]: each.work for index, each in enumerate(alike)},
        methods={
            name[index]: tuple(
                m for m in cpis[each.cpi].methods if any(m in node.methods for node in each.nodes)
            )
            for index, each in enumerate(alike)
        },
    )
