# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Certificates of response times: for each task what shows its bound to one who does not repeat the analysis.

A certificate is a file of lines, each a JSON object; docs/certificates.md has the theorem that they are for.
Of the rules for chains of events in `chains.py` it has the first ones: which jobs of a chain can be in a busy
window. All times are whole nanoseconds: costs of operations are rounded up.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import ceil, inf
from types import MappingProxyType

from msgspec import Struct, convert, to_builtins
from msgspec.structs import replace

from camkes.analysis.assumptions import Assumption
from camkes.analysis.blocking import Blocking, PossibleWaits, waits
from camkes.analysis.chains import Chains, Way
from camkes.analysis.demand import Demands, demands, overheads_of
from camkes.analysis.overruns import used_beside_demand
from camkes.analysis.platform import FREE, Platform
from camkes.analysis.proofs import Prices, Proof, Proving
from camkes.analysis.response import OF_KERNEL, STEPS, Load, jobs_within, released
from camkes.analysis.supply import Phase, Supply
from camkes.analysis.verdict import ROUNDS, Analysis, TaskResult, delayed, interruptions
from camkes.analysis.workload import Workload, WorkloadTask
from camkes.documents import json_text

#: Jobs in the busy windows of a task, at most.
JOBS = 1_000


class RequestCost(Struct, frozen=True):
    """Costs of operations: those of one `request` to a CPI beside its work, and the `step` of one for which
    a lower task executes before others, alone and below a lock for which another task can wait. Of a task:
    `request` is what a job costs beside its work and its requests, `of_budget` what one uses of its budget
    beside all that, and `release` what is done above all tasks for each: by a timer, and by a scheduler of
    tasks."""

    request: int
    step: int
    step_below_lock: int
    of_budget: int = 0
    release: int = 0


class SystemLine(Struct, frozen=True, kw_only=True, tag_field="line", tag="system"):
    """The first line. `platform` is the profile that the costs are of, null where it is assumed that
    operations cost nothing; `kernel` is what the kernel does above all tasks, with its cost and the least
    time between two: interrupts of its clock, and once in a busy window an operation for a thread below;
    `costs` are those of requests to CPIs, and of jobs. `assumptions` are those about operations that the
    profile has no cost for."""

    schema: int = 3
    platform: str | None
    kernel: tuple[tuple[int, int], ...]
    costs: dict[str, RequestCost]
    assumptions: tuple[str, ...] = ()


class TaskLine(Struct, frozen=True, tag_field="line", tag="task"):
    """A task that is certified. Lower tasks keep its jobs waiting for `blocking` in a busy window, at most.
    The `response` counts from the release of the first task of its segment: its own release, or that of the
    first task before it in its chain from which on all have its priority or a higher one. Jobs end at most
    `latest` after the release of the first task of the chain. The lines up to the next task show this; for a
    task of a band those of all its tasks do."""

    task: str
    blocking: int
    response: int
    latest: int


class SectionLine(Struct, frozen=True, tag_field="line", tag="section"):
    """A section of the task `lower`: a request to `cpi` in CPIs with locks that it has then (`held`), at a
    ceiling of the CPI or of a manager, or with the lock of the CPI. The first one of a task has the number
    0."""

    lower: str
    cpi: str
    held: tuple[str, ...]
    at_ceiling: bool
    duration: int


class BoundLine(Struct, frozen=True, tag_field="line", tag="bound"):
    """In windows up to `window` sections keep a job waiting for `blocking` at most, as `proof` shows (see
    `camkes.analysis.proofs.Proof`). Those with the numbers `chosen` were found to do so together, for so long
    if nothing longer had to be proved."""

    window: int
    blocking: int
    chosen: tuple[int, ...]
    proof: tuple[int | Prices | None, ...]


class JobLine(Struct, frozen=True, tag_field="line", tag="job"):
    """Of a busy window that begins at `phase` in a schedule of domains, or 0, the job of the task that is
    released `until` so long after its beginning, if jitters are 0, ends at most `window` after that; so do
    all that are released since the line before ended. In a band it is so of all jobs that are due `until`
    then, and not before the line before ended. The window has what this `emitter`, a lower task, releases;
    empty: what no lower task does."""

    emitter: str
    phase: int
    until: int
    window: int


class OpenLine(Struct, frozen=True, tag_field="line", tag="not certified"):
    """A task that is not certified."""

    task: str
    why: str


CertificateLine = SystemLine | TaskLine | SectionLine | BoundLine | JobLine | OpenLine


class WholePlatform(Platform, frozen=True):
    """With costs that are rounded up to whole nanoseconds."""

    def nanoseconds(self, cycles: int) -> int:
        return ceil(super().nanoseconds(cycles))


def certificate(
    workload: Workload,
    platform: Platform | None,
    analysis: Analysis,
    budgets: Mapping[str, int] = MappingProxyType({}),
    assumptions: Sequence[Assumption] = (),
) -> Iterator[CertificateLine]:
    """The lines for an analysis of a workload, for no `platform` with operations that cost nothing. A system
    is certified if its `budgets` last (see `camkes.analysis.overruns.lasting_budgets`). `assumptions` are
    those about operations on the platform."""
    machine = convert(to_builtins(platform or FREE), WholePlatform)
    costs = dict(_costs(workload, machine, budgets.keys()))
    yield SystemLine(
        platform=None if platform is None else platform.name,
        kernel=tuple(
            (int(each.demand), each.period)
            for each in interruptions(workload, machine)
            if each.name in OF_KERNEL
        ),
        costs=costs,
        assumptions=tuple(each.text for each in assumptions),
    )
    shown, why = _shown(workload, machine, analysis)
    left = {n: most - (costs[n].of_budget if n in costs else 0) for n, most in budgets.items()}
    short = _ending(workload, machine, left, {name: line.response for name, (line, *_) in shown.items()})
    if short:
        shown, why = {}, {**dict.fromkeys(shown, f"the budget of {short} can end"), **why}
    for result in analysis.tasks:
        name = result.task.name
        yield from shown[name] if name in shown else (OpenLine(name, why[name]),)


def _ending(
    workload: Workload, platform: Platform, budgets: Mapping[str, int], responses: Mapping[str, int]
) -> str:
    """The first task of whose budget it is not shown that it never ends, or none."""
    needed = {
        name: each.total
        for _, part in workload.parts
        for name, each in demands(part, platform).of_task.items()
    }
    periods = {task.name: task.period for task in workload.tasks}
    ending = (
        name
        for name, budget in budgets.items()
        if needed.get(name, budget) >= budget or responses.get(name, inf) > periods[name]
    )
    return next(ending, "")


def certificate_text(lines: Iterable[CertificateLine]) -> str:
    """The lines of the file."""
    return "".join(f"{json_text(line, indent=None)}\n" for line in lines)


def _costs(
    workload: Workload, platform: Platform, budgets: Collection[str]
) -> Iterator[tuple[str, RequestCost]]:
    above = {each.name: int(each.demand) for each in interruptions(workload, platform)}
    for _, part in workload.parts:
        needed = demands(part, platform)
        steps = needed.steps
        for name, overhead in overheads_of(part, platform).items():
            cost = RequestCost(int(overhead), *map(int, steps[name]))
            if cost != RequestCost(0, 0, 0):
                yield name, cost
        for task in part.tasks:
            operations = int(needed.of_task[task.name].operations)
            limited = task.name in budgets
            beside = int(used_beside_demand(workload, platform, task.period)) if limited else 0
            cost = RequestCost(operations, 0, 0, beside, above.get(task.name, 0))
            if cost != RequestCost(0, 0, 0):
                yield task.name, cost


class _NotShownError(Exception):
    """Nothing shows the response of a task, for the reason in the text."""


def _shown(
    workload: Workload, platform: Platform, analysis: Analysis
) -> tuple[Mapping[str, tuple[TaskLine, *tuple[CertificateLine, ...]]], Mapping[str, str]]:
    """For each task its lines, or why there are none. How late events from other domains come is computed
    anew until nothing changes."""
    why = {each.task.name: reason for each in analysis.tasks if (reason := _reason(workload, each))}
    known = {each.task.name: each for each in analysis.tasks}
    if any(task.after for task in workload.tasks) or 1_000_000_000 % platform.clock:
        known = {}  # those are with more rules for chains, or costs that are not rounded
    domain = {task.name: task.domain for task in workload.tasks}
    across = {task.after for task in workload.tasks if domain.get(task.after, task.domain) != task.domain}
    latest: dict[str, int] = {}
    for _ in range(ROUNDS):
        shown: dict[str, tuple[TaskLine, Sequence[CertificateLine]]] = {}
        for supply, part in delayed(workload, latest).parts:
            showing = _Showing(part, platform, supply, interruptions(workload, platform))
            for task in showing.chains.in_order():
                if task.name not in why:
                    try:
                        shown[task.name] = showing.lines(task, known.get(task.name))
                    except _NotShownError as error:
                        why[task.name] = str(error)
            _join(part, shown)
        _spread(workload, why)
        before = latest
        latest = {name: line.latest for name, (line, _) in shown.items() if name in across - why.keys()}
        if before == latest:
            return {name: (line, *more) for name, (line, more) in shown.items() if name not in why}, why
    return {}, {each.task.name: "no jitters were found that suffice" for each in analysis.tasks} | why


def _reason(workload: Workload, result: TaskResult) -> str:
    """Why there is nothing for a task, where that is known before."""
    if any(task.band for task in workload.tasks) and any(task.after for task in workload.tasks):
        return "a scheduler orders tasks by their deadlines, and events release some"
    if result.response is None:
        return f"no bound{result.no_bound.words if result.no_bound is not None else ''}"
    return ""


def _spread(workload: Workload, why: dict[str, str]) -> None:
    """Tasks without lines because the releases of a task, of their priority or above, follow from one of
    those; all, if there is one in a band."""
    ordered = next((task.name for task in workload.tasks if task.band and task.name in why), None)
    for task in workload.tasks if ordered is not None else ():
        why.setdefault(task.name, f"{ordered}, which is ordered by its deadlines, is not certified")
    known = -1
    while known < len(why):
        known = len(why)
        for task in workload.tasks:
            for other in workload.tasks if task.after in why else ():
                if other.priority <= task.priority and other.domain == task.domain:
                    why.setdefault(other.name, f"{task.after}, which releases {task.name}, is not certified")


def _join(workload: Workload, shown: dict[str, tuple[TaskLine, Sequence[CertificateLine]]]) -> None:
    """A task of a band has the longest response in all windows of those with its deadline or a longer one."""
    in_band = {task.name: task for task in workload.tasks if task.band and task.name in shown}
    for task in in_band.values():
        found = []
        for other in in_band.values():
            if other.band == task.band and other.deadline >= task.deadline:
                begin = other.deadline
                for job in (line for line in shown[other.name][1] if isinstance(line, JobLine)):
                    of = [
                        b for b in shown[other.name][1] if isinstance(b, BoundLine) and b.window >= job.window
                    ]
                    found.append((job.window - (begin - task.deadline), min(b.blocking for b in of)))
                    begin = job.until + 1
        response, blocking = map(max, zip(*found, strict=True))
        shown[task.name] = (TaskLine(task.name, blocking, response, response), shown[task.name][1])


class _Showing:
    """What shows the responses of tasks of one domain, or of all."""

    def __init__(
        self, part: Workload, platform: Platform, supply: Supply, interrupts: Sequence[Load]
    ) -> None:
        self.chains = Chains(part)
        self._part = part
        self._platform = platform
        self._supply = supply
        self._interrupts = interrupts
        self._needed: Demands = demands(part, platform)
        self._latest: dict[str, int] = {}

    def lines(
        self, task: WorkloadTask, known: TaskResult | None
    ) -> tuple[TaskLine, Sequence[CertificateLine]]:
        """All about a task, after the one that releases it. What is `known` of it spares a search."""
        level = self.chains.level(task, self._needed)
        if self.chains:
            possible = waits(level.workload, demands(level.workload, self._platform), task)
        else:
            possible = waits(self._part, self._needed, task)
        if not possible.every_way:
            raise _NotShownError("lower tasks come to CPIs on too many ways")
        bounds = _ProvedBounds(possible)
        if known is not None and known.response is not None and not task.band:
            bounds.know(int(known.response.window), known.blocking)
        jobs = [
            (job, int(way.own.jitter) + way.own.period - 1 - job.until)
            for way in sorted(level.ways, key=lambda way: way.emitter)
            for job in (
                self._due(task, way, bounds) if task.band else self._jobs(way, level.following, bounds)
            )
        ]
        response = max(job.window + min(0, late) for job, late in jobs)
        blocking = max(bounds.within(job.window) for job, _ in jobs)
        latest = max(job.window + late for job, late in jobs)
        if emitter := self.chains.emitter(self.chains.head(task, task.priority)):
            if emitter.name not in self._latest:
                raise _NotShownError(f"{emitter.name}, from which its releases follow, is not certified")
            latest = self._latest[emitter.name]  # that is the end of all that follow and are above
        self._latest[task.name] = latest
        sections = [
            SectionLine(each.task, each.cpi, tuple(sorted(each.held)), each.at_ceiling, int(each.duration))
            for each in possible.sections
        ]
        of_windows = bounds.lines([job.window for job, _ in jobs])
        line = TaskLine(task.name, blocking, response, latest)
        return line, [*sections, *of_windows, *(job for job, _ in jobs)]

    def _due(self, task: WorkloadTask, way: Way, bounds: _ProvedBounds) -> Iterator[JobLine]:
        """Those for times from the deadline of the task to the next longer one in its band."""
        band = [each for each in self._part.tasks if each.band == task.band]
        loads = {load.name: load for load in (way.own, *way.others)}
        due = [(each.deadline, loads.pop(each.name)) for each in band if each.name in loads]
        others = [*loads.values(), *self._interrupts]
        begin, window, steps = task.deadline, 1, STEPS
        end = min((each.deadline for each in band if each.deadline > begin), default=inf)
        for _ in range(JOBS):
            until = min(end, *(begin + load.period - (begin - late) % load.period for late, load in due)) - 1
            most = [(load, (until - late) // load.period + 1) for late, load in due]

            def needed(window: int, most: Sequence[tuple[Load, float]] = most) -> int:
                in_band = sum(min(jobs, jobs_within(load, window)) * load.demand for load, jobs in most)
                return int(in_band + bounds.within(window) + released(others, window))

            window, steps = _sufficient(window, needed, bounds, steps)
            yield JobLine("", 0, int(until), window)
            begin = int(until) + 1
            if begin == end or all(jobs_within(load, window) <= jobs for load, jobs in most):
                return
        raise _NotShownError(f"its busy window has more than {JOBS} deadlines")

    def _jobs(self, way: Way, following: Sequence[Load], bounds: _ProvedBounds) -> Iterator[JobLine]:
        """Those of all windows that are so."""
        every = [way.own, *following]
        demand, goes_on = sum(load.demand for load in every), any(load.goes_on for load in every)
        own, others = replace(way.own, demand=demand, goes_on=goes_on), [*way.others, *self._interrupts]
        if sum(Fraction(load.demand) / load.period for load in (own, *others)) > self._supply.share:
            raise _NotShownError("no bound: overload")
        for phase in sorted(self._supply.phases, key=lambda phase: phase.begin) or (None,):
            yield from _jobs(way.emitter, own, others, bounds, phase)


def _jobs(
    emitter: str, own: Load, others: Sequence[Load], bounds: _ProvedBounds, phase: Phase | None
) -> Iterator[JobLine]:
    """The jobs of a busy window."""
    window, steps = 1, STEPS
    for job in range(JOBS):
        demand = int((job + 1) * own.demand)
        window = max(window, demand + sum(int(load.demand) for load in others))

        def end(window: int, demand: int = demand) -> int:
            needed = demand + bounds.within(window) + released(others, window)
            return int(needed if phase is None else phase.finish(needed, goes_on=own.goes_on))

        window, steps = _sufficient(window, end, bounds, steps)
        yield JobLine(emitter, 0 if phase is None else phase.begin, (job + 1) * own.period - 1, window)
        if window <= (job + 1) * own.period - own.jitter:
            return
    raise _NotShownError(f"its busy window has more than {JOBS} jobs")


def _sufficient(window: int, end: Callable[[int], int], bounds: _ProvedBounds, steps: int) -> tuple[int, int]:
    """The first window from this one on by whose end all is done that is demanded in it, with a blocking that
    is proved; and what is left of the steps to it. Raises _NotShownError."""
    while (longer := end(window)) > window or not bounds.proved(window):
        window = max(longer, window)
        steps -= 1
        if not steps:
            raise _NotShownError("its busy window is too long")
    return window, steps


class _ProvedBounds:
    """For how long lower tasks can keep a job of a task waiting, with proofs. What is found for a window is
    so for all in which locks are requested as often."""

    def __init__(self, possible: PossibleWaits) -> None:
        self._possible = possible
        self._found: dict[tuple[tuple[str, int], ...], Blocking] = {}
        self._proofs: dict[tuple[tuple[str, int], ...], Proof] = {}

    def _key(self, window: int) -> tuple[tuple[str, int], ...]:
        return tuple(self._possible.own(window).items())

    def know(self, window: int, blocking: Blocking) -> None:
        """Take what was found before."""
        self._found[self._key(window)] = blocking

    def _blocking(self, key: tuple[tuple[str, int], ...], window: int) -> Blocking:
        if key not in self._found:
            self._found[key] = self._possible.within(window)
        return self._found[key]

    def within(self, window: int) -> int:
        """The bound that is proved, or that the search has found."""
        key = self._key(window)
        proof = self._proofs.get(key)
        return int(self._blocking(key, window).least) if proof is None else proof.bound

    def proved(self, window: int) -> bool:
        """Whether that bound could be proved; if not, it is now another one."""
        key = self._key(window)
        if not self._possible.sections or key in self._proofs:
            return True
        wanted = int(self._blocking(key, window).least)
        proving = Proving(self._possible.sections, self._possible.inside, dict(key), wanted)
        self._proofs[key] = proving.proof()
        return self._proofs[key].bound <= wanted

    def lines(self, windows: Iterable[int]) -> Iterator[BoundLine]:
        """For each proof the longest of these windows that it is for."""
        longest: dict[tuple[tuple[str, int], ...], int] = {}
        for window in windows:
            key = self._key(window)
            longest[key] = max(window, longest.get(key, 0))
        for key, window in longest.items():
            sections = self._blocking(key, window).sections
            chosen = tuple(map(self._possible.sections.index, sections))
            steps = self._proofs[key].steps if self._possible.sections else ()
            yield BoundLine(window, self.within(window), chosen, steps)
