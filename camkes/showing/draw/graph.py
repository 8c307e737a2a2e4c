# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The request graph: tasks and CPIs, requests and events as a graph, and as text for Graphviz.

A system without tasks and protocols is shown as its instances and connections.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle as repeated
from types import MappingProxyType

from msgspec import Struct

from camkes.diagnostics.words import plural
from camkes.model.connectors import Carries, support
from camkes.model.protocols import Protocol
from camkes.model.system import System
from camkes.model.units import duration
from camkes.protocols.jobs import TaskJobs, find_jobs
from camkes.protocols.plan import Plan, PlannedCpi, PlannedTask
from camkes.showing.plan_words import levels, policy_words, priority_words

#: what a node is; for a CPI, the word for its protocol
TASK, INSTANCE, CONDITION, SCHEDULER = "task", "instance", "condition", "scheduler"

#: labels of edges to a condition and from it, from a scheduler to the tasks of its band, and of events
WAITS, HELPED, ORDERS, RELEASES, SIGNALS = "waits for", "helped by", "orders", "releases", "signals"

#: fill and border
_OF_PROTOCOLS = (
    ("#d9ead9", "#4b7d54"),
    ("#d6e4f5", "#40669b"),
    ("#fbe3c4", "#a06a1c"),
    ("#eadcf0", "#75508a"),
)
COLOURS = {
    TASK: ("#ffffff", "#1f2933"),
    **dict(zip((protocol.value for protocol in Protocol), repeated(_OF_PROTOCOLS), strict=False)),
    INSTANCE: ("#eef1f5", "#52606d"),
    CONDITION: ("#fdf6d8", "#8a7420"),
    SCHEDULER: ("#f7dfe0", "#96484d"),
}
CYCLE_COLOUR, EVENT_COLOUR = "#b3261e", "#8a5a00"


class GraphNode(Struct, frozen=True):
    """`lines` describe it, under its name."""

    name: str
    kind: str
    lines: tuple[str, ...]


class GraphEdge(Struct, frozen=True):
    """`loose`: known only from the interfaces of the component, so it may never happen. Without a label it
    is a request."""

    source: str
    target: str
    label: str = ""
    loose: bool = False
    on_cycle: bool = False

    @property
    def is_event(self) -> bool:
        return self.label in (RELEASES, SIGNALS)


class Graph(Struct, frozen=True):
    """`frames` are the CPIs of each monitor, which have one lock, by its name."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    frames: Mapping[str, tuple[str, ...]] = {}


def make_graph(
    plan: Plan, system: System, cycle: Sequence[str] = (), bounds: Mapping[str, str] = MappingProxyType({})
) -> Graph:
    """The graph to draw. `cycle` names CPIs each of which requests the next, and the last the first; `bounds`
    are words about the response times of tasks."""
    if not plan.tasks and not plan.cpis:
        return _connections(system)
    jobs = find_jobs(system, plan)
    nodes = [
        GraphNode(task.name, TASK, tuple(_of_task(task, jobs.get(task.name), bounds.get(task.name, ""))))
        for task in plan.tasks
    ]
    nodes += [GraphNode(cpi.name, cpi.protocol.value, tuple(_about(cpi, plan.mcs))) for cpi in plan.cpis]
    known = {node.name for node in nodes}
    loose: dict[tuple[str, str], bool] = {}
    for request in plan.requests:
        if request.caller in known and request.callee in known:
            pair = (request.caller, request.callee)
            loose[pair] = loose.get(pair, True) and request.source == "all"
    hops = set(zip(cycle, (*cycle[1:], *cycle[:1]), strict=True))
    edges = [GraphEdge(a, b, "", unsure, (a, b) in hops) for (a, b), unsure in loose.items()]
    for condition in plan.conditions:
        kind, lending = condition.kind.replace("_", " "), condition.lending
        nodes.append(GraphNode(condition.name, CONDITION, (f"{kind}, ceiling {condition.ceiling}",)))
        edges += [GraphEdge(waiter, condition.name, WAITS, not lending.known) for waiter in lending.waiters]
        edges += [GraphEdge(condition.name, task, HELPED, not lending.known) for task in lending.tasks()]
    for band in plan.bands:
        priorities = f"priorities {band.lowest} to {band.highest}"
        nodes.append(GraphNode(band.instance, SCHEDULER, (band.order.value, priorities)))
        edges += [GraphEdge(band.instance, task, ORDERS) for task in band.tasks]
    _add_events(nodes, edges, plan, system)
    frames: dict[str, tuple[str, ...]] = {}
    for cpi in plan.cpis:
        if cpi.monitor is not None:
            frames[cpi.lock_name] = (*frames.get(cpi.lock_name, ()), cpi.name)
    return Graph(tuple(nodes), tuple(edges), frames)


def _add_events(nodes: list[GraphNode], edges: list[GraphEdge], plan: Plan, system: System) -> None:
    """Events, from a task, or else from all CPIs of the instance, to whom they release or signal."""
    released = {f"{task.instance}.{task.release}" for task in system.tasks if task.release}
    known = {node.name for node in nodes}
    found: dict[GraphEdge, None] = {}

    def at(instance: str) -> tuple[str, ...]:
        if instance in known:
            return (instance,)
        cpis = tuple(cpi.name for cpi in plan.cpis if cpi.instance == instance)
        if not cpis:
            known.add(instance)
            kind = next(each.type.name for each in system.instances if each.name == instance)
            nodes.append(GraphNode(instance, INSTANCE, (kind,)))
        return cpis or (instance,)

    for connection in system.connections:
        if support(connection.connector).carries is not Carries.EVENTS:
            continue
        for end in connection.to_ends:
            if end.name in known:
                continue  # a condition
            label = RELEASES if end.name in released else SIGNALS
            for source in connection.from_ends:
                for one in at(source.instance):
                    unsure = one != source.instance
                    found |= {GraphEdge(one, other, label, unsure): None for other in at(end.instance)}
    edges += found


def _of_task(task: PlannedTask, jobs: TaskJobs | None, bound: str) -> Iterator[str]:
    yield f"priority {levels(map(str, task.priorities)) if task.priorities else priority_words(task)}"
    time = task.time
    if time is not None and time.budgets[0] < time.period:
        budgets = levels(map(duration, time.budgets[: time.criticality + 1]))
        yield f"budget {budgets} in {duration(time.period)}"
    elif jobs is not None and jobs.release == "timer" and jobs.period is not None:
        yield f"every {duration(jobs.period)}"
    if bound:
        yield bound


def _connections(system: System) -> Graph:
    nodes = tuple(GraphNode(i.name, INSTANCE, (i.type.name,)) for i in system.instances)
    edges: dict[tuple[str, str, str], GraphEdge] = {}
    for connection in system.connections:
        for source in connection.from_ends:
            for target in connection.to_ends:
                key = (source.instance, target.instance, connection.connector.name)
                edges.setdefault(key, GraphEdge(*key))
    return Graph(nodes, tuple(edges.values()))


def _about(cpi: PlannedCpi, mcs: bool) -> Iterator[str]:
    if cpi.protocol.own_priority:
        yield f"{cpi.protocol.value} at {cpi.ceiling}"
    else:
        manager = ", manager" if cpi.manager else ""
        yield f"{cpi.protocol.value}, ceiling {cpi.ceiling}"
        yield f"{cpi.threads} {plural(cpi.threads, 'thread')}{manager}"
    if cpi.monitor is not None:
        yield f"monitor {cpi.monitor}"
    if mcs:
        yield f"overrun {policy_words(cpi.overrun, cpi.extension)}"


def graph_dot(plan: Plan, system: System, cycle: Sequence[str] = ()) -> str:
    """The graph for Graphviz. The text depends on the system alone."""
    graph = make_graph(plan, system, cycle)
    lines = [
        "digraph requests {",
        '    node [fontname="Helvetica", fontsize=11, style="filled"];',
        '    edge [fontname="Helvetica", fontsize=9, color="#52606d"];',
    ]
    for number, (lock, members) in enumerate(graph.frames.items()):
        inside = " ".join(f"{_quoted(name)};" for name in members)
        tip = _quoted(f"monitor {lock}")
        lines.append(f"    subgraph cluster_{number} {{ style=dotted; tooltip={tip}; {inside} }}")
    on_cycle = set(cycle)
    for node in graph.nodes:
        fill, border = COLOURS[node.kind]
        red = node.name in on_cycle
        settings = [
            f"label={_quoted(chr(10).join((node.name, *node.lines)))}",
            "shape=ellipse" if node.kind == TASK else "shape=box",
            f'fillcolor="{fill}"',
            f'color="{CYCLE_COLOUR if red else border}"',
            *(["penwidth=2"] if red else []),
        ]
        lines.append(f"    {_quoted(node.name)} [{', '.join(settings)}];")
    for edge in graph.edges:
        settings = []
        if edge.label:
            settings.append(f"label={_quoted(edge.label)}")
        if edge.is_event:
            settings += [f'color="{EVENT_COLOUR}"', "style=dotted"]
        elif edge.loose:
            settings.append("style=dashed")
        if edge.on_cycle:
            settings += [f'color="{CYCLE_COLOUR}"', "penwidth=2"]
        about = f" [{', '.join(settings)}]" if settings else ""
        lines.append(f"    {_quoted(edge.source)} -> {_quoted(edge.target)}{about};")
    return "\n".join([*lines, "}"]) + "\n"


def _quoted(words: str) -> str:
    escaped = words.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
