# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Runs a system under every schedule; the results as text, as JSON, and as a schedule to repeat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from math import lcm
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict, replace

from camkes import pipeline
from camkes.analysis.limits import blocking_limits
from camkes.backends.host.explore import FoundViolation, SearchOptions, SearchResult, SearchState, search_host
from camkes.backends.host.host import HostImage
from camkes.backends.host.places import moments_of
from camkes.backends.host.schedule import Schedule, schedule_to_json
from camkes.backends.host.unsearched import NotSearched, equals, not_searched
from camkes.diagnostics import Sink
from camkes.diagnostics.words import plural
from camkes.files import write_output
from camkes.model.connectors import carries_time
from camkes.model.system import System
from camkes.model.units import NANOSECONDS, round_up
from camkes.protocols.jobs import find_jobs
from camkes.protocols.plan import Plan
from camkes.running.model import Run
from camkes.running.names import TraceNames, trace_names
from camkes.running.story import tell
from camkes.running.waits import describe
from camkes.showing.draw.story import StoryStepReport, chart_text, step_reports, steps_text
from camkes.showing.summary import to_json

SCHEMA = "camkes-explore 1"

#: The most preemptions of a schedule with time slices, where only a few are searched.
SLICES = 2

#: What is checked in every state of every system.
PROPERTIES = "M P H B L Z S F"


class ExploreSettings(Struct, frozen=True, kw_only=True):
    """`output` is the build folder. `any_order` and `stated` choose what is searched: every order of
    arrivals, with `search.arrivals` jobs of each task, and the times in the text; both by default.
    `slices`: also every order with a few ends of time slices, where threads have one priority.
    `schedule` is where a violation is written (None: `schedule.json` in the build folder), `replay` a
    schedule to check in place of a search."""

    output: Path | None = None
    search: SearchOptions = SearchOptions()
    any_order: bool = True
    stated: bool = True
    slices: bool = True
    schedule: Path | None = None
    replay: Schedule | None = None


class Pass(Struct, frozen=True):
    """A search and how far it went."""

    options: SearchOptions
    state: SearchState
    found: bool

    @property
    def verdict(self) -> str:
        if self.found:
            return "violation"
        if self.options.choices is not None:
            return "no violation in this schedule"
        if self.state.stopped:
            return "stopped"
        if self.options.random:
            return "random schedules"
        return "bound reached" if self.state.cut else "exhausted"

    def text(self) -> str:
        arrivals = self.options.arrivals
        jobs = f"{_count(arrivals, 'job')} of each task, in any order"
        what = jobs if arrivals else "arrivals and durations as stated"
        what += ", with time slices" if self.options.scheduling == "rr" else ""
        state = self.state
        speed = f", {state.states / state.processor:,.0f} a second of a processor" if state.processor else ""
        preemptions = "" if state.bound >= 254 else f", at most {_count(state.bound, 'preemption')}"
        return (
            f"{what}{preemptions}: {self.verdict}\n"
            f"  {_count(state.states, 'state')} in {state.seconds:.1f} s{speed}; "
            f"{state.distinct:,} differ; "
            f"{_count(state.schedules, 'schedule')}, the longest with {_count(state.deepest, 'choice')}"
        )


class PassReport(Struct, frozen=True, kw_only=True):
    """A search. `arrivals` are the jobs of each task, null: as stated. `states` were reached, `distinct` of
    them differ. `bound` is that of preemptions; `depth` and `deepest` are in choices, of which `frontier`
    options were not tried. `cut`: the bound left out schedules; `stopped`: a limit ended the search;
    `between`: a work had a duration between bounds. `bytes` are those of a state; `seconds` are elapsed,
    `processor` those of all processors."""

    arrivals: int | None
    scheduling: str
    verdict: str
    states: int
    distinct: int
    schedules: int
    reruns: int
    bound: int
    depth: int
    deepest: int
    frontier: int
    processes: int
    cut: bool
    stopped: bool
    between: bool
    bytes: int
    seconds: float
    processor: float


class ExploreReport(Struct, frozen=True):
    """A search of all schedules. `schedule` is the file of that with the violation; null: there is none.
    `steps` are how it comes to the violation, which is the last of them; `not_searched` is what was left
    out, empty where there is a violation."""

    schema: str
    passes: tuple[PassReport, ...]
    violation: FoundViolation | None
    schedule: str | None
    not_searched: tuple[NotSearched, ...]
    steps: tuple[StoryStepReport, ...] = ()


class Exploration(Struct, frozen=True):
    """What a search came to; `schedule` is the file with the violation, `steps` are how it comes to that,
    `chart` has what tasks do at each of them."""

    application: str
    mcs: bool
    passes: Sequence[Pass]
    violation: FoundViolation | None
    schedule: Path | None
    not_searched: tuple[NotSearched, ...]
    steps: tuple[StoryStepReport, ...] = ()
    chart: Run | None = None
    #: whether the property B is checked, which needs tasks that have the processor at all times
    bounded: bool = True

    def report_text(self, *, unicode: bool = True) -> str:
        lines = [each.text() for each in self.passes]
        if self.violation is None:
            stated = any(not each.options.arrivals for each in self.passes)
            any_order = any(each.options.arrivals for each in self.passes)
            more = ((" R", any_order), (" A", self.mcs and stated), (" D", stated))
            always = PROPERTIES if self.bounded else PROPERTIES.replace("B ", "")
            properties = always + "".join(name for name, checked in more if checked)
            lines.append(f"properties {properties}: no violation was found")
            lines += ["not searched:"] if self.not_searched else []
            lines += [f"  {each.text()}" for each in self.not_searched]
        else:
            lines.append(f"violated: {self.violation.property}: {self.violation.explanation}")
            if self.chart is not None:
                lines += ["", f"{steps_text(self.steps)}\n{chart_text(self.chart, unicode=unicode)}"]
        return "\n".join(lines) + "\n"

    def report_json(self) -> str:
        passes = tuple(
            PassReport(
                arrivals=each.options.arrivals or None,
                scheduling=each.options.scheduling,
                verdict=each.verdict,
                **asdict(each.state),
            )
            for each in self.passes
        )
        schedule = None if self.schedule is None else str(self.schedule)
        return to_json(ExploreReport(SCHEMA, passes, self.violation, schedule, self.not_searched, self.steps))

    @property
    def heading(self) -> str:
        """Of pictures and pages."""
        found = self.violation
        return self.application if found is None else f"{self.application}: {found.property} violated"


def explore(
    asked: pipeline.Input, settings: ExploreSettings, sink: Sink, progress: Callable[[str], None]
) -> Exploration | None:
    """Build a system and search its schedules; None after a diagnostic. Raises OutputError."""
    progress("reading")
    checked = pipeline.check_code(asked, settings.output, sink, progress, counting=True)
    if checked is None:
        return None
    with ExitStack() as stack:
        running = pipeline.RunSettings(output=settings.output, watch=True)
        image = pipeline.build_to_run(checked, running, stack, sink, progress)
        if image is None or sink.has_errors:
            return None
        return _search(checked, image, settings, sink, progress)


def _search(
    checked: pipeline.Checked,
    image: HostImage,
    settings: ExploreSettings,
    sink: Sink,
    progress: Callable[[str], None],
) -> Exploration | None:
    names = trace_names(image.capabilities, checked.plan, checked.system)
    passes: list[Pass] = []
    violation, story = None, None
    steps: tuple[StoryStepReport, ...] = ()
    schedule: Path | None = None
    usual = usual_duration(checked.system, checked.plan)
    search = partial(_search_once, checked, image, names, sink)
    for options in _passes(settings, usual, slices=bool(equals(image.capabilities))):
        result = search(options, lambda state: progress(_line(state)))
        if result is None:
            return None
        violation = result.violation
        passes.append(Pass(options, result.state, violation is not None))
        if violation is not None or result.state.stopped:
            break
    if violation is not None:
        options, state = passes[-1].options, passes[-1].state
        if settings.replay is None:
            options, violation = _earliest(options, state, violation, search)
        found = _schedule(checked.application.name, options, violation)
        if violation.property == "L":
            found = replace(found, explanation=_with_waits(found, checked, image))
            violation = replace(violation, explanation=found.explanation)
        again = search(replace(options, choices=violation.choices, processes=1))
        if again is None:
            return None
        words = f"{violation.property}: {violation.explanation}"
        story = tell(moments_of(again.records, image, names), names, words)
        steps = step_reports(story, checked.application.root.parent.absolute())
        folder = pipeline.build_folder(checked.application, settings.output)
        schedule = settings.schedule or folder / "schedule.json"
        write_output(schedule, schedule_to_json(replace(found, steps=steps)).encode())
    searches = [(each.options, each.state) for each in passes]
    return Exploration(
        application=checked.application.name,
        mcs=checked.system.mcs,
        passes=passes,
        violation=violation,
        schedule=schedule,
        not_searched=() if violation is not None else not_searched(image, checked.system, searches),
        steps=steps,
        chart=None if story is None else story.run,
        bounded=not checked.system.schedule,
    )


def usual_duration(system: System, plan: Plan) -> int:
    """How long a search follows the stated times where that is not stated, in virtual nanoseconds: two
    hyperperiods of the tasks, and four jobs of each, from when all are released; at most the duration of a
    run, which it is also where something else than tasks is timed."""
    periods = {jobs.period for jobs in find_jobs(system, plan).values()}
    if not periods or None in periods or any(carries_time(each) for each in system.connections):
        return pipeline.DEFAULT_DURATION
    known = [period for period in periods if period]
    first = max((task.offset for task in system.tasks), default=0)
    length = round_up(first + max(2 * lcm(*known), 4 * max(known)), NANOSECONDS["ms"])
    return min(pipeline.DEFAULT_DURATION, length)


def _earliest(
    options: SearchOptions,
    state: SearchState,
    found: FoundViolation,
    search: Callable[[SearchOptions], SearchResult | None],
) -> tuple[SearchOptions, FoundViolation]:
    """The same violation, or another one, in about the least time in which there is one, and the options with
    which it was found: searches go into depth, and so find one late. Each search has a limit, so it may be a
    later one."""
    if options.arrivals or options.random or found.time == 0:
        return options, found
    most = max(100_000, 10 * state.states)
    none_by = 0
    while found.time > none_by + found.time // 8:
        half = replace(options, duration=(none_by + found.time) // 2)
        earlier = search(replace(half, states=most))
        if earlier is None or earlier.violation is None:
            none_by = (none_by + found.time) // 2
        else:
            options, found = half, earlier.violation
    return options, found


def _search_once(
    checked: pipeline.Checked,
    image: HostImage,
    names: TraceNames,
    sink: Sink,
    options: SearchOptions,
    progress: Callable[[SearchState], None] = lambda _: None,
) -> SearchResult | None:
    # those of tasks that have the processor at all times
    limits = (
        {} if image.capabilities.schedule else blocking_limits(checked.system, checked.plan, options.arrivals)
    )
    return search_host(image, checked.plan, names, limits, options, sink, progress)


def _with_waits(schedule: Schedule, checked: pipeline.Checked, image: HostImage) -> str:
    """The explanation of a schedule after which threads wait for ever, and what each of them waits for."""
    settings = pipeline.RunSettings(schedule=schedule, show=lambda _: None)
    outcome = pipeline.run_image(image, checked, settings, Sink())
    if outcome is None or not outcome.run.waits:
        return schedule.explanation
    waits = "; ".join(describe(wait, outcome.run.names) for wait in outcome.run.waits)
    return f"{schedule.explanation}: {waits}"


def _passes(settings: ExploreSettings, usual: int, *, slices: bool) -> list[SearchOptions]:
    """What is searched, in this order; `usual`: how long the stated times are followed where that is not
    stated; `slices`: threads can share the processor in turns."""
    if (known := settings.replay) is not None:
        options = SearchOptions(
            arrivals=known.arrivals,
            scheduling=known.scheduling,
            duration=known.duration,
            choices=known.choices,
            every_point=known.every_point,
        )
        return [options]
    stated = replace(
        settings.search,
        arrivals=0,
        duration=settings.search.duration or usual,
    )
    any_order = replace(settings.search, duration=None)
    passes = [any_order] if settings.any_order else []
    if settings.any_order and settings.slices and slices and any_order.scheduling == "fifo":
        bound = SLICES if any_order.bound is None else any_order.bound
        passes.append(replace(any_order, scheduling="rr", bound=bound))
    return [*passes, *([stated] if settings.stated else [])]


def _schedule(application: str, options: SearchOptions, found: FoundViolation) -> Schedule:
    return Schedule(
        application=application,
        property=found.property,
        explanation=found.explanation,
        arrivals=options.arrivals,
        scheduling=options.scheduling,
        duration=options.duration,
        choices=found.choices,
        every_point=options.every_point,
    )


def _count(number: int, what: str) -> str:
    return f"{number:,} {plural(number, what)}"


def _line(state: SearchState) -> str:
    most = "any number of" if state.bound >= 254 else f"at most {state.bound}"
    speed = f"{state.states / state.seconds:,.0f}" if state.seconds > 0 else "-"
    return (
        f"{most} preemptions: {state.states:,} states, {speed}/s, {state.distinct:,} differ, "
        f"depth {state.depth}, frontier {state.frontier:,}"
    )
