# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Waiting `with helpers`: which tasks can end a wait, and whether that can happen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from camkes.diagnostics import Diagnostic, Label, Span
from camkes.diagnostics.words import listing
from camkes.model.connectors import RPC_CALL, Carries, names, support
from camkes.model.system import Condition, Connection, Cpi
from camkes.protocols.checks.base import Check, Facts
from camkes.protocols.checks.clauses import chain_steps
from camkes.protocols.codes import (
    HELPER_ABOVE_WAITERS,
    HELPER_NOT_STATED,
    HELPERS_WITHOUT_THREAD,
    INVERSION_AT_WAIT,
    NO_SIGNALLER,
    ONE_SIGNAL_FOR_SEVERAL,
    SIGNAL_OUTSIDE_MONITOR,
    UNUSED_CLAUSE,
    WAIT_CALLED_DIRECTLY,
    WAIT_HOLDS_LOCK,
    WAIT_OUTSIDE_MONITOR,
    WRONG_HELPER,
)
from camkes.protocols.cycles import reached
from camkes.protocols.plan import PlannedCondition
from camkes.protocols.requests import Chain
from camkes.protocols.signals import (
    Helper,
    Lending,
    direct_uses,
    find_lending,
    find_signallers,
    mutexes,
    wait_words,
    waitable,
    way,
)


def _span(planned: PlannedCondition) -> Span:
    condition = planned.lending.condition
    return condition.spans.get("helpers", condition.span)


def _verb(kind: str) -> str:
    return {"event": "emit", "condition": "signal"}.get(kind, "post")


def helper_labels(helper: Helper) -> Iterator[Label]:
    """How a task gets to the signal: its requests, and the calls in the code of the last."""
    for request in helper.requests:
        yield Label(request.span, f"`{request.caller}` requests `{request.callee}`")
    yield from chain_steps(helper.signaller.chain)


# No helpers, or the wrong ones ----------------------------------------------------------------------


def _without_thread(facts: Facts) -> Iterator[Diagnostic]:
    connections: dict[str, Connection] = {
        end.name: connection for connection in facts.system.connections for end in connection.to_ends
    }
    for planned in facts.plan.conditions:
        if planned.kind != "event":
            continue
        connection = connections.get(planned.name)
        instance = facts.system.instance(planned.instance)
        interface = None if instance is None else instance.type.interface(planned.interface)
        if connection is None and (interface is None or not interface.optional):
            continue  # which is another error
        if connection is None:
            yield Diagnostic(
                HELPERS_WITHOUT_THREAD,
                f"`{planned.name}` is not connected, so no task can end a wait for it",
                _span(planned),
                help="connect it, or remove `with helpers`",
            )
        elif support(connection.connector).without_thread or not connection.connector.to_end.threads:
            yield Diagnostic(
                HELPERS_WITHOUT_THREAD,
                f"`{planned.name}` is not received by a thread of its interface, so it cannot have helpers",
                _span(planned),
                related=(Label(connection.span, f"`{connection.connector.name}` gives it no thread"),),
                help=f"use {' or '.join(f'`{name}`' for name in names(Carries.EVENTS, threaded=True))}",
            )


def _no_signaller(facts: Facts) -> Iterator[Diagnostic]:
    for planned in facts.plan.conditions:
        lending = planned.lending
        if not lending.known or lending.condition.helpers is not None:
            continue
        waiting = list(lending.waiting)
        if not lending.waiters:
            yield Diagnostic(
                UNUSED_CLAUSE,
                f"`helpers` of `{planned.name}` has no effect: no task waits for it",
                _span(planned),
                "not used",
                notes=("callbacks and polls lend nothing",) if planned.kind == "event" else (),
                help="remove the clause",
            )
            continue
        verb = _verb(planned.kind)
        if not lending.helpers and not lending.others:
            yield Diagnostic(
                NO_SIGNALLER,
                f"no code that runs can {verb} `{planned.name}`, so a wait for it never ends",
                _span(planned),
                related=tuple(_waits(lending)),
                notes=(f"{listing(waiting)} would wait for ever",),
                help=f"call `{_function(planned)}()` in a task, or in a handler that a task reaches",
            )
        elif not lending.others and len(waiting) == 1 and set(lending.tasks()) == set(waiting):
            yield Diagnostic(
                NO_SIGNALLER,
                f"only `{waiting[0]}` can {verb} `{planned.name}`, and only `{waiting[0]}` waits for it",
                _span(planned),
                related=tuple(label for helper in lending.helpers[:1] for label in helper_labels(helper)),
                notes=("a task that waits cannot end its own wait",),
                help=f"let another task {verb} it",
            )


def _function(planned: PlannedCondition) -> str:
    return f"{'EVENT' if planned.kind == 'event' else planned.interface}_{_verb(planned.kind)}"


def _waits(lending: Lending) -> Iterator[Label]:
    for chain in lending.waiters.values():
        yield from chain_steps(chain)


def _wrong(facts: Facts) -> Iterator[Diagnostic]:
    for planned in facts.plan.conditions:
        condition = planned.lending.condition
        if condition.helpers is None:
            continue
        computed = find_lending(facts.system, facts.graph, facts.operations or {}, condition)
        able = computed.tasks()
        for name in condition.helpers:
            if name in able:
                continue
            if name in facts.graph.tasks:
                yield Diagnostic(
                    WRONG_HELPER,
                    f"`{name}` is stated as a helper of `{planned.name}`, but cannot "
                    f"{_verb(planned.kind)} it",
                    _span(planned),
                    notes=(f"{listing(able)} can" if able else "no task can",),
                    help=_stated(planned, able) if able else "",
                )
            else:
                known = facts.system.instance(name) is not None
                why = "its control thread is not a task" if known else "there is no such instance"
                yield Diagnostic(
                    WRONG_HELPER,
                    f"`{name}` cannot be a helper of `{planned.name}`: {why}",
                    _span(planned),
                    notes=("helpers are tasks: a manager or a `fixed` CPI has a priority of its own",),
                    help=_stated(planned, able) if able else "",
                )
        missing = [name for name in able if name not in condition.helpers]
        if missing and computed.known and any(name in able for name in condition.helpers):
            first = next(helper for helper in computed.helpers if helper.task == missing[0])
            yield Diagnostic(
                HELPER_NOT_STATED,
                f"{listing(missing)} can {_verb(planned.kind)} `{planned.name}` too, but "
                f"{'is' if len(missing) == 1 else 'are'} not stated as a helper",
                _span(planned),
                related=tuple(helper_labels(first)),
                notes=(way(first), "a waiting thread does not lend it its priority"),
                help=_stated(planned, able),
            )


def _stated(planned: PlannedCondition, tasks: Iterable[str]) -> str:
    names = ", ".join(f'"{name}"' for name in tasks)
    return f"write `{planned.name}_helpers = [{names}];`, or remove the setting: helpers are computed"


# Helpers and signals that do less than they seem to ------------------------------------------------


def _above_waiters(facts: Facts) -> Iterator[Diagnostic]:
    for planned in facts.plan.conditions:
        above = [name for name in planned.lending.tasks() if name not in planned.tasks]
        if not planned.lending.known or not planned.lending.waiters or not above:
            continue
        are, them = ("is", "it") if len(above) == 1 else ("are", "them")
        yield Diagnostic(
            HELPER_ABOVE_WAITERS,
            f"{listing(above)} {are} at least as urgent as all that wait for `{planned.name}`: nothing is "
            f"lent to {them}",
            _span(planned),
            notes=(f"waiting threads have a priority of at most {planned.ceiling}",),
            help="" if planned.tasks else "remove `with helpers`: nothing is lent to any task",
        )


def _one_signal(facts: Facts) -> Iterator[Diagnostic]:
    """Signals that are not counted, where several tasks wait."""
    for planned in facts.plan.conditions:
        lending = planned.lending
        several = lending.known and len(lending.waiting) > 1
        if several and lending.helpers and planned.kind in ("event", "binary_semaphore"):
            yield Diagnostic(
                ONE_SIGNAL_FOR_SEVERAL,
                f"{listing(lending.waiting)} wait for `{planned.name}`, and one signal ends one wait",
                _span(planned),
                related=tuple(dict.fromkeys(_waits(lending))),
                notes=("the most urgent goes on, the others wait for the next signal",),
                help="use a `semaphore`, which counts, if each signal is for one of them; a condition of a "
                "monitor, with a broadcast, if it is for all",
            )


# Waits that cannot end --------------------------------------------------------------------------


class _Liveness:
    """Which waits can end. A wait is a condition and the CPI whose handler waits. One can end if it can be
    signalled by something else than a task, or a helper can get each lock on its way to the signal (AND over
    locks, OR over helpers); a lock can be got if every wait while it is held can end. Locks are named as
    `lock_name` says; a wait for the condition of a monitor gives up the lock of the monitor."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.waits = [
            (planned, waiter)
            for planned in facts.plan.conditions
            if planned.lending.known
            for waiter in planned.lending.waiters
            if waiter in facts.graph.cpis
        ]
        self.locks = {name: c.lock_name for name, c in facts.graph.cpis.items() if c.protocol.lock}
        self.held = {(planned.name, waiter): self._held(planned, waiter) for planned, waiter in self.waits}

    def _held(self, planned: PlannedCondition, waiter: str) -> tuple[str, ...]:
        """The locks that can be held while the handler of a CPI waits, its own first."""
        graph = self.facts.graph
        own = [waiter] if waiter in self.locks and planned.kind != "condition" else []
        above = [name for name in self.locks if name != waiter and waiter in graph.below([name])]
        return tuple(dict.fromkeys(self.locks[name] for name in own + above))

    def stuck(self) -> list[tuple[PlannedCondition, str]]:
        alive: set[tuple[str, str]] = set()
        while True:
            held = {
                lock
                for planned, waiter in self.waits
                if (planned.name, waiter) not in alive
                for lock in self.held[planned.name, waiter]
            }
            more = {(p.name, waiter) for p, waiter in self.waits if self.can_end(p, held)}
            if more <= alive:
                return [(p, w) for p, w in self.waits if (p.name, w) not in alive and self.held[p.name, w]]
            alive |= more

    def can_end(self, planned: PlannedCondition, held: set[str]) -> bool:
        lending = planned.lending
        if lending.others or not lending.helpers or self.starts_above_zero(planned):
            return True  # that no code signals is another mistake
        return any(self.blocking_lock(helper, held) is None for helper in lending.helpers)

    def starts_above_zero(self, planned: PlannedCondition) -> bool:
        """Whether it is a semaphore with a value that it starts with, so that some waits need no signal."""
        instance = self.facts.system.instance(planned.instance)
        values = {} if instance is None else instance.configured.semaphores
        return values.get(planned.interface, 0) > 0

    def blocking_lock(self, helper: Helper, held: Iterable[str]) -> str | None:
        """The first of these locks that a helper needs on every way to its signal."""
        for lock in held:
            if lock == self.locks.get(helper.signaller.caller) or not self._reaches(helper, lock):
                return lock
        return None

    def _reaches(self, helper: Helper, without: str) -> bool:
        """Whether there is a way around a lock."""
        outgoing = self.facts.graph.outgoing
        found = reached(
            [helper.task],
            lambda name: (r.callee for r in outgoing.get(name, ()) if self.locks.get(r.callee) != without),
        )
        return helper.signaller.caller in found or not helper.requests


def _holds_lock(facts: Facts) -> Iterator[Diagnostic]:
    liveness = _Liveness(facts)
    for planned, waiter in liveness.stuck():
        held = liveness.held[planned.name, waiter]
        labels: list[Label] = []
        for name, lock in liveness.locks.items():
            cpi = facts.graph.cpis[name]
            if lock in held and (cpi.monitor is None or waiter in facts.graph.below([name])):
                is_a = f"{cpi.protocol.value}: a lock" if cpi.monitor is None else f"in the monitor `{lock}`"
                labels.append(Label(cpi.spans.get("protocol", cpi.span), f"`{name}` is {is_a}"))
        labels += chain_steps(planned.lending.waiters[waiter])
        notes = []
        for helper in planned.lending.helpers:
            every = [lock for locks in (held, *liveness.held.values()) for lock in locks]
            needed = liveness.blocking_lock(helper, dict.fromkeys(every))
            labels += helper_labels(helper)
            notes.append(
                f"`{helper.task}` needs the lock of `{needed}` before it can {_verb(planned.kind)}: "
                f"{way(helper)}"
            )
        alone = all(liveness.blocking_lock(helper, held) for helper in planned.lending.helpers)
        others = "a lock that is held during a wait that cannot end"
        yield Diagnostic(
            WAIT_HOLDS_LOCK,
            f"a wait for `{planned.name}` in `{waiter}` cannot end: every helper needs "
            f"{_the_locks(held) if alone else others} before its signal",
            _span(planned),
            "waited for while a lock is held",
            tuple(dict.fromkeys(labels)),
            tuple(dict.fromkeys(notes)),
            "let the helpers reach the signal without "
            f"{_the_locks(held) if alone else 'these locks'}, or wait in the code of the task",
        )


def _the_locks(locks: Iterable[str]) -> str:
    names = list(locks)
    return f"the lock{'s' if len(names) > 1 else ''} of {listing(names)}"


# Waits without helpers --------------------------------------------------------------------------


def _inversion(facts: Facts) -> Iterator[Diagnostic]:
    """A task waits for a less urgent one, and a third one can keep that from running."""
    if facts.operations is None:
        return
    priorities = {task.name: task.priority for task in facts.plan.tasks}
    for plain in (*waitable(facts.system), *mutexes(facts.system)):
        if "helpers" in plain.spans:
            continue
        lending = find_lending(facts.system, facts.graph, facts.operations, plain)
        # who has a lock is the one that can end a wait: any of those that use it
        lock = plain.kind == "mutex" or set(lending.tasks()) <= set(lending.waiting)
        if not lending.known or (lending.others and not lock):
            continue
        for waiter in lending.waiting:
            others = [h for h in lending.helpers if h.task != waiter]
            helpers = [h for h in others if priorities[h.task] < priorities[waiter]]
            if not helpers or (len(helpers) < len(others) and not lock):
                continue
            lowest = min(helpers, key=lambda h: priorities[h.task])
            spared = {lowest.task} if lock else lending.tasks()
            between = [
                name
                for name, priority in priorities.items()
                if priorities[lowest.task] < priority < priorities[waiter] and name not in spared
            ]
            if not between:
                continue
            if plain.kind == "mutex":
                yield _inversion_at_mutex(facts, plain, waiter, lowest, between)
            else:
                yield _inversion_at(plain.name, plain.kind, plain.span, waiter, helpers[0], between, lending)
            break


def _inversion_at_mutex(
    facts: Facts, mutex: Condition, waiter: str, helper: Helper, between: list[str]
) -> Diagnostic:
    using = find_signallers(facts.system, facts.operations or {})[mutex.name].callers
    handlers = [code.rpartition(".")[2] for code in using if "." in code]
    monitor = f", monitor {mutex.interface}" if len(handlers) > 1 else ""
    clause = f"write `with priority_protocol inherited{monitor}` at {listing(handlers)} in place of the mutex"
    if len(handlers) < len(using):
        clause = "move what it protects to a component that provides it `with priority_protocol inherited`"
    return Diagnostic(
        INVERSION_AT_WAIT,
        f"`{waiter}` locks `{mutex.name}`, as the less urgent `{helper.task}` does: priority inversion",
        mutex.span,
        "a mutex has no protocol",
        tuple(helper_labels(helper)),
        (
            way(helper),
            f"while `{waiter}` waits for it, {listing(between)} can keep `{helper.task}` from running",
        ),
        f"{clause}: a waiting thread then lends its priority to the one that has the lock",
    )


def _inversion_at(
    name: str, kind: str, span: Span, waiter: str, helper: Helper, between: list[str], lending: Lending
) -> Diagnostic:
    member = name.rpartition(".")[2]
    declared = f"consumes ... {member}" if kind == "event" else f"has {kind} {member}"
    steps = [label for chain in lending.waiters.values() for label in chain_steps(chain)]
    return Diagnostic(
        INVERSION_AT_WAIT,
        f"`{waiter}` waits for `{name}`, which the less urgent `{helper.task}` signals: priority inversion",
        span,
        "waited for without helpers",
        tuple(dict.fromkeys([*steps, *helper_labels(helper)])),
        (
            way(helper),
            f"while `{waiter}` waits, {listing(between)} can keep `{helper.task}` from running; lock "
            "protocols do not apply to this wait",
        ),
        f"write `{declared} with helpers;`: a waiting thread then lends its priority to "
        f"{listing(lending.tasks())}",
    )


# Conditions of monitors --------------------------------------------------------------------------


def _outside_monitor(facts: Facts) -> Iterator[Diagnostic]:
    """A wait for a condition is in handlers of one monitor, whose lock it gives up."""
    for planned in facts.plan.conditions:
        if planned.kind != "condition" or not planned.lending.known:
            continue
        monitors: dict[str, Chain | None] = {}
        if (chain := _waits_at_start(facts, planned)) is not None:
            yield Diagnostic(
                WAIT_OUTSIDE_MONITOR,
                f"`{planned.name}` is waited for while `{planned.instance}` is initialised: a wait for a "
                "condition gives up the lock of a monitor",
                planned.span,
                related=tuple(chain_steps(chain)),
                help="wait in a handler: before the initialisation ends, none can signal",
            )
        for waiter, chain in planned.lending.waiters.items():
            cpi = facts.graph.cpis.get(waiter)
            if cpi is not None and cpi.monitor is not None:
                monitors.setdefault(cpi.lock_name, chain)
                continue
            has = f"the CPI `{waiter}`, which is in no monitor" if cpi is not None else f"`{waiter}`"
            yield Diagnostic(
                WAIT_OUTSIDE_MONITOR,
                f"`{planned.name}` is waited for by {has}: a wait for a condition gives up the lock of a "
                "monitor",
                planned.span,
                related=tuple(chain_steps(chain)) if cpi is None else (*chain_steps(chain), _of(cpi)),
                help="wait in a CPI `with priority_protocol inherited, monitor NAME`"
                if cpi is None
                else f"add `monitor NAME` to the clauses of `{cpi.interface}`",
            )
        if len(monitors) > 1:
            yield Diagnostic(
                WAIT_OUTSIDE_MONITOR,
                f"`{planned.name}` is waited for in the monitors {listing(monitors)}",
                planned.span,
                related=tuple(label for chain in monitors.values() for label in chain_steps(chain)),
                notes=("the code that signals has the lock of one of them only",),
                help="declare a condition for each monitor",
            )


def _waits_at_start(facts: Facts, planned: PlannedCondition) -> Chain | None:
    """How the initialisation of an instance without a control thread gets to a wait for a condition."""
    instance = facts.system.instance(planned.instance)
    if instance is None or instance.type.control:
        return None
    reached = (facts.operations or {}).get(planned.instance, {})
    name = planned.lending.condition.interface
    return next((reached[f"{name}_{w}"] for w in wait_words("condition") if f"{name}_{w}" in reached), None)


def _other_monitor(facts: Facts) -> Iterator[Diagnostic]:
    """Code with another lock than what waits can signal between a test and its wait."""
    cpis = facts.graph.cpis
    for planned in facts.plan.conditions:
        waiters = [cpis[name] for name in planned.lending.waiters if name in cpis]
        locks = {cpi.lock_name for cpi in waiters}
        if planned.kind != "condition" or not planned.lending.known or len(locks) != 1:
            continue
        seen: set[str] = set()
        found = find_lending(facts.system, facts.graph, facts.operations or {}, planned.lending.condition)
        for signaller in (helper.signaller for helper in found.helpers):
            cpi = cpis.get(signaller.caller)
            if cpi is None or not cpi.protocol.lock or cpi.lock_name in locks or cpi.name in seen:
                continue
            seen.add(cpi.name)
            waiter = waiters[0]
            yield Diagnostic(
                SIGNAL_OUTSIDE_MONITOR,
                f"`{cpi.name}` signals `{planned.name}` without the lock of `{waiter.name}`, which waits for "
                "it",
                planned.span,
                related=(*chain_steps(signaller.chain), _of(waiter), _of(cpi)),
                notes=("a signal between a test and the wait that follows is lost",),
                help=f"name the same monitor in the clauses of `{cpi.interface}` and `{waiter.interface}`",
            )


def _called_directly(facts: Facts) -> Iterator[Diagnostic]:
    """Waits and signals in the thread of another instance, which the manager does not know."""
    seen: set[tuple[str, Span]] = set()
    for planned in facts.plan.conditions:
        condition = planned.lending.condition
        for use in direct_uses(facts.system, facts.graph, facts.operations or {}, condition):
            *before, last = use.calls
            function = use.chain.functions[-1]
            if (function, last.span) in seen:
                continue
            seen.add((function, last.span))
            hops = (Label(r.span, f"`{r.caller}` calls `{r.callee}` directly") for r in before)
            yield Diagnostic(
                WAIT_CALLED_DIRECTLY,
                f"`{last.caller}` calls `{last.callee}` directly, whose code calls `{function}`: only "
                f"threads of `{planned.instance}` can do that",
                last.span,
                f"connected by `{last.connection}`",
                (*hops, *chain_steps(use.chain), Label(_span(planned), f"`{planned.name}`")),
                (f"a direct call executes in the thread of `{use.thread.partition(':')[0]}`",),
                f"connect it with `{RPC_CALL.name}`: then a thread of its own executes the code",
            )


def _of(cpi: Cpi) -> Label:
    return Label(cpi.spans.get("protocol", cpi.span), f"the protocol of `{cpi.name}`")


#: what has to hold before waits and signals can be compared
_KNOWN_THREADS = ("helpers-without-thread", "wait-called-directly")

#: what has to hold before it matters how a wait ends
_CAN_END = ("no-signaller", "wrong-helper", "wait-holds-lock")

CHECKS = (
    Check("helpers-without-thread", (HELPERS_WITHOUT_THREAD,), _without_thread),
    Check("wait-outside-monitor", (WAIT_OUTSIDE_MONITOR,), _outside_monitor),
    Check("signal-outside-monitor", (SIGNAL_OUTSIDE_MONITOR,), _other_monitor, ("wait-outside-monitor",)),
    Check("wait-called-directly", (WAIT_CALLED_DIRECTLY,), _called_directly),
    Check("no-signaller", (NO_SIGNALLER, UNUSED_CLAUSE), _no_signaller, _KNOWN_THREADS),
    Check("wrong-helper", (WRONG_HELPER, HELPER_NOT_STATED), _wrong, ("helpers-without-thread",)),
    Check("wait-holds-lock", (WAIT_HOLDS_LOCK,), _holds_lock, ("deadlock", "no-signaller", "wrong-helper")),
    Check("inversion-at-wait", (INVERSION_AT_WAIT,), _inversion, ("deadlock",)),
    Check("helper-above-waiters", (HELPER_ABOVE_WAITERS,), _above_waiters, _CAN_END),
    Check("one-signal-for-several", (ONE_SIGNAL_FOR_SEVERAL,), _one_signal, _CAN_END),
)
