# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command about schedules of domains: schedule."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from msgspec import Struct

from camkes.cli.arguments import Command, add_dependencies, add_input, duration
from camkes.cli.commands.analyses import read_system
from camkes.cli.output import GOOD, USER_ERROR, wants_color, write_diagnostics
from camkes.diagnostics import Sink
from camkes.documents import json_text

if TYPE_CHECKING:
    from camkes.analysis.schedules import ScheduleFound
    from camkes.analysis.verdict import Analysis


class SlotProposal(Struct, frozen=True):
    """The slot of a domain, in nanoseconds; null where there is no schedule. Its tasks need `needs` of it,
    null where no length suffices."""

    domain: int
    tasks: tuple[str, ...]
    length: int | None
    needs: int | None


class ProposedSlotsReport(Struct, frozen=True, kw_only=True):
    """A schedule of domains: the slots of a `round`, in nanoseconds, one after the other. Where none was
    `found`, what the domains need in the round in which least is missing. `assumptions` are those of the
    bounds."""

    schema: int = 1
    found: bool
    round: int
    slots: tuple[SlotProposal, ...]
    assumptions: tuple[str, ...]


def schedule(arguments: argparse.Namespace) -> int:
    from camkes.analysis.codes import NO_TASKS
    from camkes.analysis.platform import FREE
    from camkes.analysis.profiles import find_platform
    from camkes.analysis.schedules import find_schedule, with_slots
    from camkes.analysis.verdict import analyse_system
    from camkes.protocols.checks.domains import used_domains

    sink = Sink()
    machine = find_platform(arguments.platform or FREE.name, sink)
    result, unread = read_system(arguments, sink)
    if machine is None or result is None:
        return write_diagnostics(arguments, sink)
    system = result.system
    domains = used_domains(system)
    if len(domains) < 2 or system.mcs:
        why = "its threads are in one domain" if len(domains) < 2 else "an MCS kernel has budgets"
        sink.report(NO_TASKS, f"the system needs no schedule of domains: {why}")
        return write_diagnostics(arguments, sink)
    tick = arguments.tick or system.kernel.tick_or_default
    found = find_schedule(system, result.plan, domains, machine, tick)
    platform = None if arguments.platform is None else machine
    slots = found.slots if found is not None and found.slots else [(domain, tick) for domain in domains]
    trial = Sink()
    analysis = analyse_system(with_slots(system, slots), result.plan, platform, trial, unread=unread)
    if found is None or analysis is None:
        for each in trial.diagnostics:
            sink.add(each)
        if not sink.has_errors:
            sink.report(NO_TASKS, "no task of the system has a deadline")
        return write_diagnostics(arguments, sink)
    status = write_diagnostics(arguments, sink)
    if arguments.json:
        print(json_text(_report(found, analysis)))
    else:
        print(_text(found, analysis, color=wants_color(arguments, sys.stdout)))
    return status if found.slots or status != GOOD else USER_ERROR


def _report(found: ScheduleFound, analysis: Analysis) -> ProposedSlotsReport:
    lengths = dict(found.slots)
    return ProposedSlotsReport(
        found=bool(found.slots),
        round=found.round,
        slots=tuple(
            SlotProposal(need.domain, need.tasks, lengths.get(need.domain), need.slot) for need in found.needs
        ),
        assumptions=tuple(each.text for each in analysis.assumptions) if found.slots else (),
    )


def _text(found: ScheduleFound, analysis: Analysis, *, color: bool) -> str:
    from camkes.model.units import duration as words
    from camkes.showing.analysis import to_text
    from camkes.showing.draw.table import table

    lengths = dict(found.slots)
    rows: list[tuple[str, ...]] = [("domain", "slot", "needs", "tasks")]
    for need in found.needs:
        slot = words(lengths[need.domain]) if found.slots else "-"
        needs = "-" if not need.tasks else "no length" if need.slot is None else words(need.slot)
        rows.append((str(need.domain), slot, needs, ", ".join(need.tasks)))
    shown = table(rows, right={1, 2}, color=color)
    if not found.slots:
        part = "one domain cannot have enough"
        if found.needed is not None:
            part = f"the domains need {100 * found.needed:.0f} % of it"
        return (
            f"No schedule with one slot for each domain meets all deadlines. Least is missing in a round of"
            f" {words(found.round)}, where {part}:\n\n{shown}"
        )
    text = ", ".join(f"({domain}, {words(length)})" for domain, length in found.slots)
    return f"schedule {{ [{text}] }}\n\n{shown}\n\n{to_text(analysis, color=color)}"


def schedule_arguments(parser: argparse.ArgumentParser) -> None:
    add_input(parser)
    add_dependencies(parser)
    parser.add_argument(
        "--platform",
        metavar="NAME",
        help="the costs of kernel operations, as for `camkes analyze` (default: none is assumed)",
    )
    parser.add_argument(
        "--tick",
        metavar="TIME",
        type=duration,
        help="lengths are multiples of this (default: the tick of the kernel, 2ms where it is not stated)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    counts = parser.add_mutually_exclusive_group()
    counts.add_argument("--code", action="store_true", help="count requests in the code (the default)")
    counts.add_argument("--text", action="store_true", help="do not read the code")
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="build folder, in which code is compiled to be read"
    )


COMMANDS = (
    Command(
        "schedule",
        schedule,
        "propose a schedule of scheduling domains",
        schedule_arguments,
        """
  camkes schedule system.camkes
  camkes schedule system.camkes --tick 1ms --platform none
  camkes schedule apps/radar --json

The schedule has one slot for each domain, and the longest round with which all deadlines are met: the fewest
switches. Exit status: 1 if there is none.""",
        has_results=True,
    ),
)
