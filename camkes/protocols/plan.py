# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The plan of a system, computed from its requests: closure, ceilings, contexts, threads, managers, ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from msgspec import Struct

from camkes.diagnostics import Diagnostic, Span
from camkes.model.bands import Band, bands_by_task
from camkes.model.overrun import OverrunPolicy
from camkes.model.protocols import Protocol
from camkes.model.system import Cpi, System
from camkes.protocols.bits import bits
from camkes.protocols.contexts import SPARE, Context, Seat
from camkes.protocols.cycles import reached
from camkes.protocols.flow import NearestCallers, largest_number
from camkes.protocols.methods import MethodCalls
from camkes.protocols.requests import Counts, Request, RequestGraph
from camkes.protocols.signals import Lending, Signallers
from camkes.protocols.task_ids import assign_ids
from camkes.protocols.time import (
    LEAST_REFILLS,
    PlannedTime,
    Reservation,
    blocking_places,
    extension_of,
    planned_time,
    raised_priorities,
    refills_of,
)


class PlannedTask(Struct, frozen=True):
    """A task with what was computed for it. `id` fits the label (see docs/protocols.md).

    `highest` is the highest priority that it can have: its own, that of a raised criticality, or one that it
    gets as a helper. `conditions` are those whose waiters can lend it more than its own, by name.
    `priorities` are those at each criticality of the system, if they differ. `blocks`: how often a job of it
    can block. `refills` are the replenishments that its scheduling context keeps on an MCS kernel, and `time`
    what it may execute there. `band`: a scheduler orders it; `priority` is the lowest of its requests.
    """

    name: str
    id: int
    priority: int
    context: Context
    highest: int = 0
    conditions: tuple[str, ...] = ()
    priorities: tuple[int, ...] = ()
    blocks: int = 0
    refills: int = LEAST_REFILLS
    time: PlannedTime | None = None
    band: Band | None = None

    @property
    def rises(self) -> bool:
        """Whether its requests can have, and get while they are served, a priority above its own."""
        return bool(self.conditions) or (self.band is not None and self.band.order.moves_requests)


class PlannedCpi(Struct, frozen=True):
    """A CPI with everything the generator needs.

    `tasks` are the tasks whose requests can arrive, `contexts` the origins under which they arrive:
    a request of task t through a fixed CPI f arrives as context f. `ceiling` is the highest base
    priority of its contexts, or what was stated if that is valid and higher; for a fixed CPI it is
    the priority of its thread (255: non-preemptive).

    `threads` serve requests; none where no request can arrive. Fixed: 1, which is `alone`. Else one a
    context, each with its own endpoint and waiting at its context's base priority, unless a smaller number is
    stated: then `pooled` is true and all wait on one endpoint at the ceiling. On an MCS kernel all CPIs have
    them once for each client of each context: who receives a message that is sent and not called has no time.
    `seats` are these, or else the contexts. `threads_minimum` is the largest number of requests that can be
    under way at once (maximum flow from tasks, locks let one through).

    `manager`: a manager thread exists, because two threads can contend for the lock, or because a
    priority inherited further up can reach this CPI (`inherits_from_above`). A pool always has one: its
    threads begin and end requests there. So has each CPI of a monitor.

    `monitor` is the name of the lock that it shares with others of the instance; None: it has its own.
    `chain` is the number of requests in the longest chain that starts here (0: it requests nothing).
    `payers` are the tasks whose scheduling contexts its manager may bind, by its overrun policy: none for
    `wait`; if it is `lent` time, also those that wait for it further up, at locks with the policy `help`.
    Those that wait for its own lock can be such (`lends`). `extension` is what `extend` and roll-backs
    execute on, if it is stated. Only an MCS kernel has these.
    """

    id: int
    name: str  # "inst.iface"
    instance: str
    interface: str
    protocol: Protocol
    ceiling: int
    tasks: tuple[str, ...]
    contexts: tuple[Context, ...]
    threads: int
    threads_minimum: int
    pooled: bool
    manager: bool
    inherits_from_above: bool
    requests: tuple[str, ...]  # names of CPIs it can request
    span: Span
    chain: int = 0
    monitor: str | None = None
    overrun: OverrunPolicy = OverrunPolicy.WAIT
    payers: tuple[str, ...] = ()
    lent: bool = False
    lends: bool = False
    extension: Reservation | None = None
    alone: bool = False
    seats: tuple[Seat, ...] = ()

    @property
    def lock_name(self) -> str:
        """What names its lock: "inst.monitor", or its own name."""
        return self.name if self.monitor is None else f"{self.instance}.{self.monitor}"

    @property
    def one_endpoint(self) -> bool:
        """Whether all its threads wait on one endpoint, not each on that of a context."""
        return self.pooled or self.alone

    @property
    def takes_lock(self) -> bool:
        """Whether its threads have to take a lock: more than one serves a protocol that has one."""
        return self.protocol.lock and not self.alone

    @property
    def manager_keeps_reply(self) -> bool:
        """Whether its manager waits for a release only, while there is a waiter: only
        the holder of the lock sends it messages, and wakes it before it does."""
        alone = not self.pooled and not self.inherits_from_above
        return self.manager and alone and len(self.contexts) == 2


class PlannedCondition(Struct, frozen=True):
    """What threads wait for `with helpers`, or in a monitor. `ceiling` is the highest effective priority of a
    thread that waits, `tasks` are those that it is lent to: the helpers of `lending` whose own priority is
    lower."""

    id: int
    name: str  # "inst.member"
    instance: str
    interface: str
    kind: str
    ceiling: int
    tasks: tuple[str, ...]
    lending: Lending
    span: Span


class Plan(Struct, frozen=True):
    """The plan of a system. Tasks are in id order, CPIs and conditions in the order of the text (their `id`
    order). `mcs`: the kernel is an MCS kernel. `plain_calls` lead from tasks and CPIs to interfaces without
    a protocol. `counts` are those that were found in code, `by_method` what single methods call there, and
    `endless` the tasks and CPIs that have a loop there which nothing leaves. `waiting`: for each event and
    semaphore ("inst.name") the control threads and handlers whose code may wait for it; None: no code was
    read. `signallers` are what can end waits for events, mutexes and semaphores, by their names; of those
    that are missing, it is not known."""

    tasks: tuple[PlannedTask, ...]
    cpis: tuple[PlannedCpi, ...]
    contexts: tuple[Context, ...]
    requests: tuple[Request, ...]
    conditions: tuple[PlannedCondition, ...] = ()
    mcs: bool = False
    bands: tuple[Band, ...] = ()
    plain_calls: tuple[Request, ...] = ()
    counts: Counts = {}
    by_method: MethodCalls = {}
    endless: Mapping[str, Diagnostic] = {}
    waiting: Mapping[str, frozenset[str]] | None = None
    signallers: Mapping[str, Signallers] = {}

    def can_wait(self, name: str, caller: str) -> bool:
        """Whether code of a caller may wait for an event, a semaphore or a mutex of its instance."""
        return self.waiting is None or name not in self.waiting or caller in self.waiting[name]

    def cpi(self, name: str) -> PlannedCpi | None:
        return next((c for c in self.cpis if c.name == name), None)

    def task(self, name: str) -> PlannedTask | None:
        return next((t for t in self.tasks if t.name == name), None)

    def condition(self, name: str) -> PlannedCondition | None:
        return next((c for c in self.conditions if c.name == name), None)


def plan_requests(system: System, graph: RequestGraph, lending: Sequence[Lending] = ()) -> Plan:
    """What follows from a request graph. It is total: a system with mistakes gets a plan too, which is
    then only good for saying what the mistakes are."""
    closure = _Closure(system, graph, lending)
    return Plan(
        tasks=closure.planned_tasks(),
        cpis=tuple(closure.planned_cpi(index, cpi) for index, cpi in enumerate(system.cpis)),
        contexts=tuple(closure.contexts),
        requests=graph.requests,
        conditions=closure.planned_conditions(),
        mcs=system.mcs,
        bands=system.bands,
        plain_calls=graph.plain_calls,
    )


class _Closure:
    """The transitive closure of requests. Sets of tasks and of contexts are the bits of integers."""

    def __init__(self, system: System, graph: RequestGraph, lending: Sequence[Lending]) -> None:
        self._graph = graph
        self._lending = lending
        self._mcs = system.mcs
        self._bands = bands_by_task(system.bands)
        self._tasks = sorted(system.tasks, key=lambda task: task.instance)
        self._fixed = [cpi for cpi in system.cpis if cpi.protocol.own_priority]
        #: a task or a fixed CPI -> its index among the contexts
        self._index = {task.instance: i for i, task in enumerate(self._tasks)}
        self._index |= {cpi.name: i for i, cpi in enumerate(self._fixed, len(self._tasks))}
        self._base = [task.priority or 0 for task in self._tasks] + [0] * len(self._fixed)
        self._raised = raised_priorities(self._tasks) if system.mcs else [()] * len(self._tasks)
        #: the highest priority of each context
        self._highest = list(self._base)
        for index, raised in enumerate(self._raised):
            band = self._bands.get(self._tasks[index].instance)
            top = self._base[index] if band is None else band.highest
            self._highest[index] = max((top, *raised))
        self._reached_by: dict[str, int] = dict.fromkeys(graph.cpis, 0)  # tasks
        self._origins: dict[str, int] = dict.fromkeys(graph.cpis, 0)  # contexts
        #: contexts whose priorities its requests can have: its own, and those that its callers inherit from
        self._raising: dict[str, int] = dict.fromkeys(graph.cpis, 0)
        self._ceiling: dict[str, int] = {c.name: c.stated_priority or 0 for c in system.cpis}
        self._inherits: dict[str, bool] = dict.fromkeys(graph.cpis, False)
        components = graph.components()
        self._deadlock = any(map(graph.is_cycle, components))
        self._settle(components, lambda name: self._update(graph.cpis[name]))
        while self._lend() | self._share():
            self._settle(components, lambda name: self._update(graph.cpis[name]))
        self.contexts = self._make_contexts()
        self._chain = self._longest_chains(components)
        self._lock_callers = self._callers_through_locks(components)
        shared = {name for name, origins in self._of_locks(self._origins).items() if origins.bit_count() > 1}
        contended = {c.name for c in system.cpis if c.name in shared and c.protocol.lock}
        waited = Counter(name for lending in self._lending for name in lending.waiters)
        self._places = blocking_places(system, graph, contended, waited)
        self._callers = NearestCallers(len(self._tasks), list(graph.cpis), self._of_locks(self._lock_callers))

    def _settle(self, components: Sequence[Sequence[str]], update: Callable[[str], bool]) -> None:
        """Update every CPI after its callers; those of a cycle until nothing grows any more."""
        for component in components:
            changed = [update(name) for name in component]
            while any(changed) and self._graph.is_cycle(component):
                changed = [update(name) for name in component]

    def _lend(self) -> bool:
        """Give helpers what can be lent to them; whether that changed anything."""
        before = list(self._highest)
        for lending in self._lending:
            ceiling = self._ceiling_of(lending)
            for task in lending.tasks():
                index = self._index[task]
                self._highest[index] = max(self._highest[index], ceiling)
        return before != self._highest

    def _share(self) -> bool:
        """The holder of a monitor's lock inherits from all that wait for it, at any of its CPIs; whether that
        changed anything."""
        before, self._raising = self._raising, self._of_locks(self._raising)
        return before != self._raising

    def _ceiling_of(self, lending: Lending) -> int:
        """The highest effective priority of a thread that waits for a condition, if it waits for a task."""
        found = [0]
        for waiter in lending.waiters:
            if waiter in self._ceiling:
                found += [self._ceiling[waiter]] if self._reached_by[waiter] else []
            else:
                found.append(self._highest[self._index[waiter]])
        return max(found)

    def _update(self, cpi: Cpi) -> bool:
        """Take over what the callers of a CPI have; whether that changed anything."""
        name = cpi.name
        tasks, origins, inherits = self._reached_by[name], self._origins[name], self._inherits[name]
        for request in self._graph.incoming[name]:
            caller = self._graph.cpis.get(request.caller)
            if caller is None:
                index = self._index[request.caller]
                tasks |= 1 << index
                origins |= 1 << index
                inherits |= self._highest[index] > self._base[index]
            elif reached := self._reached_by[caller.name]:
                tasks |= reached
                if caller.protocol.own_priority:
                    origins |= 1 << self._index[caller.name]
                    continue
                origins |= self._origins[caller.name]
                self._raising[name] |= self._raising[caller.name]
                contended = self._origins[caller.name].bit_count() > 1 or caller.monitor is not None
                lock = caller.protocol.inherits and contended
                inherits |= lock or self._inherits[caller.name]
        self._raising[name] |= origins
        ceiling = max([self._ceiling[name], *(self._highest[i] for i in bits(self._raising[name]))])
        before = self._reached_by[name], self._origins[name], self._inherits[name], self._ceiling[name]
        self._reached_by[name], self._origins[name] = tasks, origins
        self._ceiling[name] = ceiling
        if cpi.protocol.own_priority:
            self._base[self._index[name]] = self._highest[self._index[name]] = ceiling
        else:
            self._inherits[name] = inherits
        return before != (tasks, origins, self._inherits[name], ceiling)

    def _make_contexts(self) -> list[Context]:
        names = [task.instance for task in self._tasks] + [cpi.name for cpi in self._fixed]
        return [Context(i, name, i < len(self._tasks), self._base[i]) for i, name in enumerate(names)]

    def _longest_chains(self, components: Sequence[Sequence[str]]) -> Mapping[str, int]:
        chain: dict[str, int] = {}
        for component in reversed(components):
            for name in component:
                below = [chain.get(request.callee, 0) + 1 for request in self._graph.outgoing[name]]
                chain[name] = max(below, default=0)
        return chain

    def _callers_through_locks(self, components: Sequence[Sequence[str]]) -> Mapping[str, int]:
        """For each CPI the nearest places above it that let one request through at a time (tasks, locks),
        as bits: tasks by their index, CPIs after them, all of a monitor as its first."""
        first: dict[str, int] = {}
        node: dict[str, int] = {}
        for i, (name, cpi) in enumerate(self._graph.cpis.items(), len(self._tasks)):
            node[name] = first.setdefault(cpi.lock_name, i)
        nearest: dict[str, int] = dict.fromkeys(self._graph.cpis, 0)

        def update(name: str) -> bool:
            before = found = nearest[name]
            for request in self._graph.incoming[name]:
                caller = self._graph.cpis.get(request.caller)
                if caller is None:
                    found |= 1 << self._index[request.caller]
                elif not caller.protocol.lock:
                    found |= nearest[caller.name]
                elif self._reached_by[caller.name]:
                    found |= 1 << node[caller.name]
            nearest[name] = found
            return found != before

        self._settle(components, update)
        return nearest

    def _of_locks(self, sets: Mapping[str, int]) -> dict[str, int]:
        """Sets of CPIs, as bits, each with those of the other CPIs of its monitor."""
        locks: dict[str, int] = {}
        for cpi in self._graph.cpis.values():
            locks[cpi.lock_name] = locks.get(cpi.lock_name, 0) | sets[cpi.name]
        return {name: locks[cpi.lock_name] for name, cpi in self._graph.cpis.items()}

    def _threads_minimum(self, cpi: Cpi) -> int:
        nearest = self._lock_callers[cpi.name]
        if cpi.protocol.own_priority:
            return min(1, nearest)
        reached_by = self._reached_by[cpi.name].bit_count()
        # In a system with a deadlock the exact number means nothing, and could take long.
        if self._deadlock:
            return min(nearest.bit_count(), reached_by)
        target = -1
        self._callers[target] = bits(nearest)
        return largest_number(target, self._callers, reached_by)

    def planned_tasks(self) -> tuple[PlannedTask, ...]:
        ids = assign_ids(self._tasks)
        conditions = self.planned_conditions()
        planned = [
            PlannedTask(
                name=task.instance,
                id=ids[task.instance],
                priority=task.priority or 0,
                context=context,
                highest=self._highest[context.id],
                conditions=tuple(c.name for c in conditions if task.instance in c.tasks),
                priorities=raised,
                blocks=self._places[task.instance],
                refills=refills_of(task, self._places[task.instance]),
                time=planned_time(task, max(1, len(raised))) if self._mcs else None,
                band=self._bands.get(task.instance),
            )
            for task, context, raised in zip(self._tasks, self.contexts, self._raised, strict=False)
        ]
        return tuple(sorted(planned, key=lambda task: (task.id, task.name)))

    def planned_conditions(self) -> tuple[PlannedCondition, ...]:
        found = []
        for index, lending in enumerate(self._lending):
            condition, ceiling = lending.condition, self._ceiling_of(lending)
            found.append(
                PlannedCondition(
                    id=index,
                    name=condition.name,
                    instance=condition.instance,
                    interface=condition.interface,
                    kind=condition.kind,
                    ceiling=ceiling,
                    tasks=tuple(t for t in lending.tasks() if self._base[self._index[t]] < ceiling),
                    lending=lending,
                    span=condition.span,
                )
            )
        return tuple(found)

    def planned_cpi(self, index: int, cpi: Cpi) -> PlannedCpi:
        name = cpi.name
        contexts = tuple(self.contexts[i] for i in bits(self._origins[name]))
        alone = cpi.protocol.own_priority and not self._mcs
        seats = self._seats(cpi) if self._mcs else tuple(map(Seat, contexts))
        stated = len(seats) if cpi.stated_threads is None or self._mcs else cpi.stated_threads
        pooled = not alone and stated < len(contexts)
        inherits, binds = self._inherits[name], self._mcs and cpi.overrun.rules.binds
        contended = cpi.protocol.lock and (len(contexts) > 1 or bool(contexts and cpi.monitor))
        return PlannedCpi(
            id=index,
            name=name,
            instance=cpi.instance,
            interface=cpi.interface,
            protocol=cpi.protocol,
            ceiling=self._ceiling[name],
            tasks=tuple(self._tasks[i].instance for i in bits(self._reached_by[name])),
            contexts=contexts,
            threads=min(1 if alone else stated, len(seats)),
            threads_minimum=self._threads_minimum(cpi),
            pooled=pooled,
            manager=(contended and not alone) or inherits or pooled or (binds and bool(contexts)),
            inherits_from_above=inherits,
            requests=tuple(dict.fromkeys(r.callee for r in self._graph.outgoing[name])),
            span=cpi.span,
            chain=self._chain[name],
            monitor=cpi.monitor,
            overrun=cpi.overrun if self._mcs else OverrunPolicy.WAIT,
            payers=self._payers(cpi),
            lent=self._is_lent(cpi),
            lends=self._lends(cpi),
            extension=extension_of(cpi) if self._mcs else None,
            alone=alone,
            seats=seats,
        )

    def _seats(self, cpi: Cpi) -> tuple[Seat, ...]:
        """The contexts of a CPI, in their order, with each client; and one that is spare, if it helps."""
        clients: dict[int, dict[str, None]] = {}
        for request in self._graph.incoming[cpi.name]:
            caller = self._graph.cpis.get(request.caller)
            origins = [] if caller is None else bits(self._origins[caller.name])
            if caller is None or (caller.protocol.own_priority and origins):
                origins = [self._index[request.caller]]
            for index in origins:
                clients.setdefault(index, {})[request.via.partition(".")[0]] = None
        found = [
            Seat(self.contexts[i], client if len(clients[i]) > 1 else "")
            for i in sorted(clients)
            for client in clients[i]
        ]
        return (*found, *(Seat(seat.context, SPARE) for seat in found[:1] if cpi.overrun.rules.helps))

    def _payers(self, cpi: Cpi) -> tuple[str, ...]:
        if not self._mcs or not cpi.overrun.rules.binds:
            return ()
        tasks = self._reached_by[cpi.name]
        for index in bits(self._raising[cpi.name]) if self._is_lent(cpi) else ():
            name = self.contexts[index].name
            tasks |= self._reached_by.get(name, 1 << index)  # a fixed CPI executes on the time of its callers
        return tuple(self._tasks[i].instance for i in bits(tasks))

    def _is_lent(self, cpi: Cpi) -> bool:
        """Whether its requests can get the time of those that wait for a lock that their callers hold."""

        def callers(name: str) -> list[str]:
            return self._inheriting(request.caller for request in self._graph.incoming[name])

        above = reached(callers(cpi.name), callers) if self._mcs and cpi.overrun.rules.binds else ()
        return any(self._graph.cpis[name].overrun.rules.helps for name in above)

    def _lends(self, cpi: Cpi) -> bool:
        """Whether those that wait for its lock can pay for requests that the holder makes."""

        def callees(name: str) -> list[str]:
            return self._inheriting(request.callee for request in self._graph.outgoing[name])

        below = reached(callees(cpi.name), callees) if self._mcs and cpi.overrun.rules.helps else ()
        return any(self._graph.cpis[name].overrun.rules.helps for name in below)

    def _inheriting(self, names: Iterable[str]) -> list[str]:
        """Those of them that are CPIs whose requests have the priorities of their callers."""
        cpis = self._graph.cpis
        return [name for name in names if name in cpis and not cpis[name].protocol.own_priority]
