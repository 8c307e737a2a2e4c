# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Overrun policies: where each has a meaning, and which tasks wait when a budget is used up."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from camkes.diagnostics import Diagnostic, Label
from camkes.diagnostics.words import listing
from camkes.model.configured import DEFAULTS
from camkes.model.connectors import Carries, support
from camkes.model.overrun import OverrunPolicy
from camkes.model.settings import (
    BUDGET,
    EXTENSION,
    EXTENSION_PERIOD,
    PASSIVE,
    PERIOD,
    PRIORITY,
    SHORTEST_TIME,
)
from camkes.model.system import Cpi, Instance, Task
from camkes.model.units import duration
from camkes.protocols.checks.base import Check, Facts, route, through
from camkes.protocols.codes import (
    BUDGET_BELOW_SECTION,
    BUDGET_WITHOUT_SPARE,
    CLIENT_ABOVE_PASSIVE,
    COULD_BE_PASSIVE,
    EQUAL_AT_PASSIVE,
    EXTENSION_MISSING,
    HELP_WITHOUT_LOCK,
    OVERRUN_WITHOUT_BUDGET,
    SHARED_PASSIVE,
)
from camkes.protocols.plan import PlannedCpi
from camkes.protocols.time import execution_times, server_period


def subjects(facts: Facts) -> Iterator[Task | Cpi]:
    """What can have an overrun policy."""
    yield from facts.system.tasks
    yield from facts.system.cpis


def limited(task: Task) -> bool:
    """Whether a task has a budget, at any criticality, that is shorter than its period: others never end. A
    task may have one if its budget or period is wrong, which is reported."""
    stated = ((BUDGET, task.budget), (PERIOD, task.period))
    if any(setting.name in task.spans and value is None for setting, value in stated):
        return True
    period = server_period(task)
    return any(budget is not None and budget < period for budget in task.budgets)


def _help(facts: Facts) -> Iterator[Diagnostic]:
    for cpi in facts.system.cpis:
        if not cpi.overrun.rules.helps or cpi.protocol.inherits:
            continue
        why = (
            "those that wait for it keep their own time"
            if cpi.protocol.lock
            else "each request has a thread of its own, and no other waits for it"
        )
        yield Diagnostic(
            HELP_WITHOUT_LOCK,
            f"`{cpi.name}` is {cpi.protocol.value}, so no request can `help` another",
            cpi.spans.get("overrun", cpi.span),
            "uses the budgets of those that wait for a lock",
            (Label(cpi.spans.get("protocol", cpi.span), f"{cpi.protocol.value}"),),
            (why,),
            "give it the protocol `inherited`, or the policy `extend` or `abort`",
        )


def _extension(facts: Facts) -> Iterator[Diagnostic]:
    for subject in subjects(facts):
        if subject.overrun.rules.extends and subject.extension is None:
            name = f"{subject.name}_" if isinstance(subject, Cpi) else f"{subject.instance}._"
            yield Diagnostic(
                EXTENSION_MISSING,
                f"`{name.rstrip('._')}` has the overrun policy `extend`, but no extension",
                subject.spans.get("overrun", subject.span),
                "extends by how much?",
                help=f"add for example `{name}{EXTENSION.name} = 500 us;` and"
                f" `{name}{EXTENSION_PERIOD.name} = 10 ms;` to the configuration",
            )


def _unlimited(facts: Facts) -> Iterator[Diagnostic]:
    """A policy for what cannot happen."""
    for task in facts.system.tasks:
        if "overrun" in task.spans and task.overrun is not OverrunPolicy.WAIT and not limited(task):
            yield _no_budget(task, task.instance, f"`{task.instance}` has no budget below its period")
    for planned in facts.plan.cpis:
        cpi = facts.graph.cpis[planned.name]
        if cpi.overrun is OverrunPolicy.WAIT or not planned.tasks:
            continue
        if not any(limited(facts.graph.tasks[name]) for name in planned.tasks):
            yield _no_budget(
                cpi, cpi.name, f"no task that requests `{cpi.name}` has a budget below its period"
            )


def _no_budget(subject: Task | Cpi, name: str, problem: str) -> Diagnostic:
    task = name if isinstance(subject, Task) else "TASK"
    return Diagnostic(
        OVERRUN_WITHOUT_BUDGET,
        f"the overrun policy of `{name}` has no effect: {problem}",
        subject.spans.get("overrun", subject.span),
        "never needed",
        help=f"add for example `{task}.{BUDGET.of('_')} = 2 ms;` to the configuration, or remove the policy",
    )


def _short_budget(facts: Facts) -> Iterator[Diagnostic]:
    """Under `wait` whoever waits for a lock waits for its holder's budgets, too."""
    times = execution_times(facts.graph)
    for planned in facts.plan.cpis if facts.plan.mcs else ():
        cpi = facts.graph.cpis[planned.name]
        if cpi.overrun is not OverrunPolicy.WAIT or not cpi.protocol.lock or len(planned.tasks) < 2:
            continue
        for name in planned.tasks:
            task = facts.graph.tasks[name]
            budget, period = task.budget, server_period(task)
            if budget is not None and budget < min(times[planned.name], period):
                yield _held(facts, planned, task, times[planned.name], budget, period)


def _held(
    facts: Facts, planned: PlannedCpi, task: Task, section: int, budget: int, period: int
) -> Diagnostic:
    waits = ceil(section / budget)
    held = section + waits * (period - budget)
    others = [name for name in planned.tasks if name != task.instance]
    way = through(route(facts.graph, task.instance, planned.name))
    cpi = facts.graph.cpis[planned.name]
    return Diagnostic(
        BUDGET_BELOW_SECTION,
        f"`{task.instance}` can hold `{planned.name}` for {duration(held)}: its budget of"
        f" {duration(budget)} is shorter than a request of {duration(section)}",
        task.spans.get("budget", task.span),
        f"shorter than a request to `{planned.name}`{way}",
        (Label(cpi.spans.get("overrun", cpi.span), f"`{planned.name}` waits for the next budget"),),
        (
            f"{listing(others)} can wait that long: {duration(section)}, and {waits} times up to"
            f" {duration(period - budget)} until there is a budget again",
        ),
        f"give `{task.instance}` a budget of at least {duration(section)}, or `{planned.name}` another"
        " policy: `overrun abort`" + (" or `help`" if planned.protocol.inherits else ""),
    )


def _spare(facts: Facts) -> Iterator[Diagnostic]:
    """With less than the shortest budget left, a thread makes its next kernel call in the next period. A job
    ends with such a call."""
    times = execution_times(facts.graph)
    for task in facts.system.tasks if facts.plan.mcs else ():
        budget = task.budget
        if budget is None or not limited(task):
            continue
        needed = times[task.instance]
        if needed <= budget <= needed + SHORTEST_TIME:
            yield Diagnostic(
                BUDGET_WITHOUT_SPARE,
                f"the budget of `{task.instance}` leaves {duration(budget - needed)} for kernel calls",
                task.spans.get("budget", task.span),
                f"at most {duration(SHORTEST_TIME)} more than the job needs",
                notes=(
                    f"with less than {duration(SHORTEST_TIME)} left, seL4 makes a thread's kernel call in the"
                    " next period, and a job ends with a call",
                ),
                help=f"give it more than {duration(needed + SHORTEST_TIME)}, and what its kernel calls take",
            )


def _servers(facts: Facts, *, passive: bool) -> Iterator[tuple[Instance, str, list[Instance]]]:
    """Each with its interface and the clients that call it. Those with a protocol are none."""
    instances = {instance.name: instance for instance in facts.system.instances}
    for name, links in facts.graph.links.items() if facts.plan.mcs else ():
        owner, _, interface = name.rpartition(".")
        server = instances.get(owner)
        if server is None or name in facts.graph.cpis:
            continue
        if bool(server.configured.interface(interface).passive) is not passive:
            continue
        calls = (link for link in links if support(link.connection.connector).carries is Carries.CALLS)
        clients = dict.fromkeys(link.user.instance for link in calls)
        if clients:
            yield server, interface, [instances[client] for client in clients]


def _could_be_passive(facts: Facts) -> Iterator[Diagnostic]:
    """Where that changes nothing but the cost, and whose budget counts: for one client, which executes on
    the same core in the same domain, and is not above the server."""
    for server, interface, clients in _servers(facts, passive=False):
        settings, (client, *others) = server.configured.interface(interface), clients
        control, thread = client.configured.control, settings.thread
        if others or not client.type.control or {BUDGET.name, PERIOD.name} & settings.thread.spans.keys():
            continue
        place, of_client = ((DEFAULTS.affinity_of(each), each.domain) for each in (thread, control))
        if place == of_client and DEFAULTS.priority_of(control) <= DEFAULTS.priority_of(thread):
            setting = f"{server.name}.{PASSIVE.of(f'{interface}_')}"
            yield Diagnostic(
                COULD_BE_PASSIVE,
                f"`{server.name}.{interface}` has time of its own, and serves `{client.name}` only",
                server.span,
                "each request changes to its scheduling context and back",
                notes=(
                    "on the time of its caller, in whose budget it counts then, a request takes about a"
                    " quarter of the instructions",
                ),
                help=f"write `{setting} = true;`",
            )


def _shared(facts: Facts) -> Iterator[Diagnostic]:
    for server, interface, clients in _servers(facts, passive=True):
        name = f"{server.name}.{interface}"
        if len(clients) > 1:
            yield Diagnostic(
                SHARED_PASSIVE,
                f"each of {listing(client.name for client in clients)} can stop the passive `{name}`",
                server.configured.interface(interface).spans[PASSIVE.name],
                "one thread for all of them",
                notes=(
                    "a message that is sent and not called leaves the thread that receives it without time:"
                    " it serves no other request (seL4 issue 1616)",
                ),
                help=f"leave `{PASSIVE.of(f'{interface}_')}` out, or give the interface a protocol: then each"
                " client has a thread of its own",
            )


def _passive_clients(facts: Facts) -> Iterator[Diagnostic]:
    """A passive server executes at its own priority: below its client's, others keep the client waiting."""
    for server, interface, clients in _servers(facts, passive=True):
        name, settings = f"{server.name}.{interface}", server.configured.interface(interface)
        own = DEFAULTS.priority_of(settings.thread)
        for client in clients:
            if not client.type.control:
                continue
            control = client.configured.control
            priority = DEFAULTS.priority_of(control)
            if priority > own:
                yield Diagnostic(
                    CLIENT_ABOVE_PASSIVE,
                    f"`{client.name}` has priority {priority} and calls the passive `{name}`, which"
                    f" executes at {own}",
                    control.spans.get(PRIORITY.name, client.span),
                    f"above {own}",
                    (Label(settings.spans[PASSIVE.name], "on the time of its callers"),),
                    ("threads of priorities between keep it from executing, on a budget that is not theirs",),
                    f"set `{name}_priority` to at least {priority}",
                )


def _equal(facts: Facts) -> Iterator[Diagnostic]:
    """When such a budget ends above the priority of its task, the task goes on in place of its equals."""
    for planned in facts.plan.cpis if facts.plan.mcs else ():
        callers: dict[int, list[str]] = {}
        for name in planned.tasks:
            task = facts.graph.tasks[name]
            if not limited(task) and (task.priority or 0) < planned.ceiling:
                callers.setdefault(task.priority or 0, []).append(name)
        for priority, names in callers.items():
            if len(names) > 1:
                spans = [facts.graph.tasks[name].spans.get("priority", planned.span) for name in names]
                yield Diagnostic(
                    EQUAL_AT_PASSIVE,
                    f"{listing(names)} have the same priority, {priority}, and no budgets, and request"
                    f" `{planned.name}`, which executes at up to {planned.ceiling}",
                    planned.span,
                    "on the time of its callers",
                    tuple(Label(span, f"`{name}`") for name, span in zip(names, spans, strict=True)),
                    (
                        "one whose time slice ends in a request goes on after it in place of the others"
                        " (seL4 issue 1365)",
                    ),
                    "give them different priorities, or budgets below their periods",
                )


CHECKS = (
    Check("help-without-lock", (HELP_WITHOUT_LOCK,), _help),
    Check("extension-missing", (EXTENSION_MISSING,), _extension),
    Check("overrun-without-budget", (OVERRUN_WITHOUT_BUDGET,), _unlimited, ("deadlock",)),
    Check("budget-below-section", (BUDGET_BELOW_SECTION,), _short_budget, ("deadlock",)),
    Check("budget-without-spare", (BUDGET_WITHOUT_SPARE,), _spare, ("deadlock",)),
    Check("client-above-passive", (CLIENT_ABOVE_PASSIVE,), _passive_clients),
    Check("could-be-passive", (COULD_BE_PASSIVE,), _could_be_passive),
    Check("shared-passive", (SHARED_PASSIVE,), _shared),
    Check("equal-at-passive", (EQUAL_AT_PASSIVE,), _equal, ("deadlock",)),
)
