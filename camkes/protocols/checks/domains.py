# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Scheduling domains: the schedule that is known, and who can never run in it.

A thread is executed in slots of its domain only, and inside a slot by priorities. Ceilings and inherited
priorities do not hold across slots, so a CPI whose requests come from several domains has to be meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from camkes.diagnostics import Diagnostic, Label, Span
from camkes.diagnostics.words import listing
from camkes.model.configured import ThreadSettings
from camkes.model.settings import ACROSS_DOMAINS, DOMAIN
from camkes.model.system import DomainSlot, Instance, System
from camkes.model.units import duration
from camkes.protocols.checks.base import Check, Facts
from camkes.protocols.codes import (
    DOMAIN_TOO_HIGH,
    EMPTY_SLOT,
    IMPOSSIBLE_SLOT,
    NO_SLOT,
    NO_SLOT_IN_FILE,
    SEVERAL_DOMAINS,
    UNEVEN_SLOT,
)
from camkes.protocols.groups import find_groups

#: nanoseconds: no kernel without MCS has a shorter tick (KernelTimerTickMS is a number of milliseconds)
_SHORTEST_TICK = 1_000_000
_DOMAINS = 256  # that a kernel can be configured for


def check_domains(system: System) -> Iterator[Diagnostic]:
    """What is wrong with the schedule, and with threads in it. Where no schedule is known there is nothing to
    compare with."""
    yield from _lengths(system)
    threads = [
        (name, thread, span)
        for instance in system.instances
        if not instance.type.hardware
        for name, thread, span in _threads(instance)
    ]
    yield from _numbers(system, threads)
    slots = sorted({slot.domain for slot in system.schedule})
    without: set[str] = set()
    for name, thread, span in threads if slots else ():
        instance = name.partition(".")[0]
        if thread.domain not in slots and instance not in without:
            without.add(instance)
            yield _never(system, name, thread, span)
    used = {thread.domain for _, thread, _ in threads}
    for slot in system.schedule if system.kernel.file is None else ():
        if slot.domain not in used:
            yield Diagnostic(
                EMPTY_SLOT,
                f"no thread is in domain {slot.domain}: the processor is idle in this slot",
                slot.span,
                help="leave it out if the time is not meant to be free, or put a thread into domain "
                f"{slot.domain}",
            )
            used.add(slot.domain)  # once for each domain


def _never(system: System, name: str, thread: ThreadSettings, span: Span) -> Diagnostic:
    """Of a thread whose domain has no slot."""
    slots = sorted({slot.domain for slot in system.schedule})
    setting = DOMAIN.of(f"{name}_" if "." in name else f"{name}._")
    return Diagnostic(
        # a workspace may have another file, of which nothing is known here
        NO_SLOT if system.kernel.file is None else NO_SLOT_IN_FILE,
        f"`{name}` has domain {thread.domain}, which has no slot in the schedule: it never runs",
        thread.spans.get(DOMAIN.name, span),
        related=_schedule(system),
        notes=(f"the schedule has slots of {listing(map(str, slots))}",),
        help=f"add a slot of domain {thread.domain}, or set `{setting}` to one that has a slot",
    )


def used_domains(system: System) -> list[int]:
    """The domains that threads are in."""
    instances = (instance for instance in system.instances if not instance.type.hardware)
    return sorted({thread.domain for instance in instances for _, thread, _ in _threads(instance)})


def _schedule(system: System) -> tuple[Label, ...]:
    span = system.schedule[0].span if system.schedule else None
    return () if span is None else (Label(span, "the schedule begins here"),)


def _lengths(system: System) -> Iterator[Diagnostic]:
    """Slots that a kernel cannot keep. It counts ticks; an MCS kernel is exact."""
    tick = system.kernel.tick_or_default
    uneven: list[DomainSlot] = []
    for slot in system.schedule:
        length = slot.length(tick)
        least = _SHORTEST_TICK if system.kernel.tick is None else tick
        if length == 0:
            yield Diagnostic(IMPOSSIBLE_SLOT, "this slot has no length", slot.span, help="leave it out")
        elif not system.mcs and length < least:
            reason = "KernelTimerTickMS" if system.kernel.tick is not None else "the shortest there is"
            yield Diagnostic(
                IMPOSSIBLE_SLOT,
                f"a slot of {duration(length)} is shorter than a tick of the kernel, {duration(least)}"
                f" ({reason})",
                slot.span,
                help="make it longer, or use an MCS kernel, which has no ticks",
            )
        elif not system.mcs and length % tick:
            uneven.append(slot)
    if uneven:
        first, *others = uneven
        default = ", as it is where nothing else is set" if system.kernel.tick is None else ""
        yield Diagnostic(
            UNEVEN_SLOT,
            f"a slot of {duration(first.length(tick))} is not a number of ticks of {duration(tick)}{default}",
            first.span,
            related=tuple(Label(slot.span, "nor is this") for slot in others if slot.span is not None),
            help="state the tick of the kernel, such as `-D KernelTimerTickMS=1`, or other lengths",
        )


def _numbers(system: System, threads: list[tuple[str, ThreadSettings, Span]]) -> Iterator[Diagnostic]:
    """Domains that the kernel does not have."""
    count = system.kernel.count
    most = _DOMAINS if count is None else count
    said = f"a kernel has at most {_DOMAINS}" if count is None else f"KernelNumDomains is {count}"
    for slot in system.schedule:
        if slot.domain >= most:
            yield _too_high(f"this slot is of domain {slot.domain}", said, most, slot.span)
    for name, thread, span in threads:
        if thread.domain >= most:
            place = thread.spans.get(DOMAIN.name, span)
            yield _too_high(f"`{name}` has domain {thread.domain}", said, most, place)


def _too_high(what: str, said: str, most: int, span: Span | None) -> Diagnostic:
    return Diagnostic(
        DOMAIN_TOO_HIGH,
        f"{what}, and the domains of the kernel end with {most - 1}",
        span,
        notes=(said,),
        help="use a lower number, or configure the kernel for more domains (KernelNumDomains)",
    )


def _threads(instance: Instance) -> Iterator[tuple[str, ThreadSettings, Span]]:
    """Those of an instance by their names: the control thread, which initialises it, and those of interfaces
    that are received."""
    settings = instance.configured
    yield instance.name, settings.control, instance.span
    for each in instance.type.interfaces:
        if each.kind == "provides":
            yield f"{instance.name}.{each.name}", settings.interface(each.name).thread, each.span


def _several(facts: Facts) -> Iterator[Diagnostic]:
    """CPIs that serve tasks of other domains than theirs, or of several."""
    system = facts.system
    for cpi in facts.plan.cpis:
        server = system.instance(cpi.instance)
        assert server is not None
        interface = server.configured.interface(cpi.interface)
        own = interface.thread.domain
        found: dict[int, list[str]] = {}
        for task in cpi.tasks:
            client = system.instance(task)
            if client is not None:
                found.setdefault(client.configured.control.domain, []).append(task)
        if interface.across_domains or not found or set(found) == {own}:
            continue
        stated = next((c for c in system.cpis if c.name == cpi.name), None)
        clients = "; ".join(f"{listing(tasks)} in {domain}" for domain, tasks in sorted(found.items()))
        prefix = f"{cpi.instance}.{cpi.interface}_"
        yield Diagnostic(
            SEVERAL_DOMAINS,
            f"`{cpi.name}` serves tasks of several domains: ceilings and inherited priorities do not hold"
            " across slots",
            interface.thread.spans.get(DOMAIN.name, None if stated is None else stated.span),
            notes=(f"it executes in domain {own}; its tasks are {clients}",),
            help=f"give all of them one domain (`{DOMAIN.of(prefix)}`), or state that it is meant: "
            f"`{ACROSS_DOMAINS.of(prefix)} = 1`",
        )


def _managers(facts: Facts) -> Iterator[Diagnostic]:
    """Managers of conditions. Each is in the domain of the first condition of its group, or of the interface
    where that is an event, or a monitor without conditions."""
    slots = {slot.domain for slot in facts.system.schedule}
    spans = {condition.name: condition.span for condition in facts.system.conditions}
    for group in find_groups(facts.plan) if slots else ():
        instance = facts.system.instance(group.instance)
        if instance is None or group.name not in spans:
            continue  # of a monitor: its interface is checked with the others
        thread = instance.configured.thread(group.member)
        if thread.domain not in slots:
            yield _never(facts.system, group.name, thread, spans[group.name])


CHECKS = (
    Check("several-domains", (SEVERAL_DOMAINS,), _several),
    Check("domains-of-managers", (NO_SLOT, NO_SLOT_IN_FILE), _managers),
)
