# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command about schedules of domains: schedule."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from msgspec import Struct

from camkes.cli.arguments import Command, tick
from camkes.cli.commands.analyses import add_reading, read_system
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
    `found`, what the domains need in the round in which least is missing. Rounds were tried in steps of
    `step` nanoseconds. `assumptions` are those of the bounds."""

    schema: int = 1
    found: bool
    round: int
    step: int
    slots: tuple[SlotProposal, ...]
    assumptions: tuple[str, ...]


def schedule(arguments: argparse.Namespace) -> int:
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
    found, why = None, ""
    if len(domains) < 2:
        why = "all threads are in one domain"
    elif system.mcs:
        why = "response times on an MCS kernel are not computed in slots"
    else:
        least = arguments.tick or system.kernel.tick_or_default
        found = find_schedule(system, result.plan, domains, machine, least)
        why = "" if found is not None else "no task has a deadline"
    if found is None:
        status = write_diagnostics(arguments, sink)
        print(f"camkes schedule: there is nothing to propose: {why}", file=sys.stderr)
        return max(status, USER_ERROR)
    slots = found.slots or [(domain, found.step) for domain in domains]
    platform = None if arguments.platform is None else machine
    # where there is no schedule, what keeps tasks from having a bound in any
    trial = sink if not found.slots else Sink()
    analysis = analyse_system(with_slots(system, slots), result.plan, platform, trial, unread=unread)
    assert analysis is not None
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
        step=found.step,
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
    tried = f"Rounds were tried in steps of {words(found.step)}, the longest first."
    if not found.slots:
        part = "one domain cannot have enough"
        if found.needed is not None:
            part = f"the domains need {100 * found.needed:.0f} % of it"
        return (
            "No schedule with one slot for each domain was found with which all deadlines are met. Least is"
            f" missing in a round of {words(found.round)}, where {part}. {tried}\n\n{shown}"
        )
    text = ", ".join(f"({domain}, {words(length)})" for domain, length in found.slots)
    return f"schedule {{ [{text}] }}\n\n{shown}\n\n{tried}\n\n{to_text(analysis, color=color)}"


def schedule_arguments(parser: argparse.ArgumentParser) -> None:
    add_reading(parser)
    parser.add_argument(
        "--tick",
        metavar="TIME",
        type=tick,
        help="lengths are multiples of this (default: the tick of the kernel, 2ms where it is not stated)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


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

The schedule has one slot for each domain, and the longest round for which there are such slots: the fewest
switches. Exit status: 1 if none was found.""",
        has_results=True,
    ),
)
