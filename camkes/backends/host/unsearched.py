# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a search of schedules did not look at: what its verdict does not cover."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from camkes.backends.host.explore import SearchOptions, SearchState
from camkes.backends.host.host import HostImage
from camkes.backends.host.kernel import symbols
from camkes.capdl.model import CapabilityModel, Role
from camkes.model import units
from camkes.model.substitutes import substituted
from camkes.model.system import System

#: threads of these kinds execute code of users, those with a context only while its task waits for them
_OF_USERS = (Role.CONTROL, Role.INTERFACE, Role.WORKER)


_DURATIONS = "durations between their bounds with which no work ends when a timer fires"


class NotSearched(Struct, frozen=True):
    """`kind` is one of jobs, time, times, points, slices, preemptions, durations, domains, memory, devices,
    limit.
    `subject` says it in words; `option` of `camkes explore` adds it, null: none does."""

    kind: str
    subject: str
    option: str | None

    def text(self) -> str:
        return self.subject if self.option is None else f"{self.subject} ({self.option})"


def not_searched(
    image: HostImage, system: System, searches: Sequence[tuple[SearchOptions, SearchState]]
) -> tuple[NotSearched, ...]:
    """What these searches, which have found no violation, have left out."""
    code = [NotSearched("memory", each.subject, None) for each in image.unwatched]
    devices = [
        NotSearched("devices", f"the code of {each.type.name} of its project: {each.name} is {what}", None)
        for each, what in substituted(system)
    ]
    return tuple(dict.fromkeys([*_of_searches(image, searches), *code, *devices]))


def _word(time: int) -> str:
    return units.duration(time).replace(" ", "")


def _of_searches(
    image: HostImage, searches: Sequence[tuple[SearchOptions, SearchState]]
) -> Iterator[NotSearched]:
    model = image.capabilities
    any_order = [options for options, _ in searches if options.arrivals]
    stated = [options for options, _ in searches if not options.arrivals]
    if not any_order:
        yield NotSearched("times", "other orders of arrivals than the stated one", "--arrivals any")
        yield NotSearched("points", "races, and preemptions between accesses to memory", "--arrivals any")
    if not stated:
        yield NotSearched("times", "deadlines, and budgets, at the stated times", "--arrivals stated")
    if any(not options.every_point for options in any_order) and _order_of_start(image):
        yield NotSearched(
            "points", "other orders in which threads of one priority initialise interfaces", "--no-reduction"
        )
    for options in any_order:
        if model.timers:
            more = options.arrivals + 1
            jobs = "more than one job" if options.arrivals == 1 else f"more than {options.arrivals} jobs"
            yield NotSearched("jobs", f"{jobs} of each task", f"--jobs {more}")
    for options in stated:
        if model.timers and options.duration is not None:
            yield NotSearched(
                "time",
                f"what happens after {units.duration(options.duration)}",
                f"--for {_word(2 * options.duration)}",
            )
            yield NotSearched("times", "deadlines where jobs are released at other times than stated", None)
    if any(state.between for _, state in searches):
        yield NotSearched("durations", _DURATIONS, None)
    for options, state in searches:
        yield from _of_extent(options, state)
    names = equals(model)
    if names and not any(options.scheduling == "rr" for options, _ in searches):
        some = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
        yield NotSearched("slices", f"ends of time slices among equals: {some}", "--scheduling rr")
    domains = {thread.domain for space in model.spaces for thread in space.threads}
    if model.schedule and any_order:
        option = None if stated else "--arrivals stated"
        yield NotSearched(
            "domains", "the schedule of domains with other arrivals than the stated ones", option
        )
    elif len(domains) > 1 and not model.schedule:
        yield NotSearched("domains", "a schedule of domains: none is known", None)


def _order_of_start(image: HostImage) -> bool:
    """Whether threads of one priority serve that may start in several orders, and one of them has a function
    of the user that initialises its interface."""
    serving: dict[int, list[str]] = {}
    defined: set[str] = set()
    for space in image.capabilities.spaces:
        names = [t.name for t in space.threads if t.role in (Role.INTERFACE, Role.WORKER)]
        functions = symbols("--defined-only", image.images[space.name]) if names else set()
        defined |= {name for name in names if any(f.endswith(_initialises(name)) for f in functions)}
        for thread in space.threads:
            if thread.name in names:
                serving.setdefault(thread.priority, []).append(thread.name)
    return any(len(names) > 1 and not defined.isdisjoint(names) for names in serving.values())


def _initialises(thread: str) -> str:
    """The end of the name of the function that initialises the interface of a thread, "inst.iface@task"."""
    return f"{thread.partition('@')[0].rpartition('.')[2]}__init"


def _of_extent(options: SearchOptions, state: SearchState) -> Iterator[NotSearched]:
    if options.random:
        yield NotSearched("limit", f"all but {options.random} schedules", "no --random")
    elif state.cut:
        plural = "" if state.bound == 1 else "s"
        slices = options.scheduling == "rr"
        ends = ", ends of time slices among them" if slices else ""
        option = "--scheduling rr without --bound" if slices else "no --bound"
        yield NotSearched("preemptions", f"more than {state.bound} preemption{plural}{ends}", option)
    if state.stopped:
        yield NotSearched("limit", "what was left when the search was stopped", None)


def equals(model: CapabilityModel) -> list[str]:
    """The threads of the priority that most have, if that is more than one: they share the processor in
    turns, unless the kernel is an MCS kernel."""
    found: dict[int, list[str]] = {}
    for space in model.spaces:
        for thread in space.threads:
            served = thread.role is Role.WORKER and thread.context is not None
            if thread.role in _OF_USERS and not served and not thread.scheduling_context:
                found.setdefault(thread.priority, []).append(thread.name)
    most = max(found.values(), key=len, default=[])
    return most if len(most) > 1 else []
