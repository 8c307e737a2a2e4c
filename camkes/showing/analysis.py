# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A schedulability analysis as tables, as JSON, and with the derivation of every number of a task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import ceil

from camkes.analysis.assumptions import Assumption
from camkes.analysis.demand import DemandPart, Time, request_parts
from camkes.analysis.response import STEPS
from camkes.analysis.sections import RequestSection
from camkes.analysis.verdict import Analysis, TaskResult, Verdict
from camkes.analysis.witness import Quality, Witness
from camkes.analysis.workload import NEVER, Workload
from camkes.diagnostics import Diagnostic, Span
from camkes.diagnostics.rendering.style import Style, position
from camkes.running.times import format_time
from camkes.showing.analysis_json import bound_verdict
from camkes.showing.draw.table import paragraph, table

#: What verdicts are called.
WORDS = {
    Verdict.MET: "met",
    Verdict.MET_IF: "met if",
    Verdict.MISSED: "can be missed",
    Verdict.UNBOUNDED: "no bound",
}


#: the column of the blocking that the papers have where priorities are equal
_PAPER = "B with equals"
#: columns that narrow terminals do not show, the first one first
_SPARE = ("priority", "period", "B", "C", "found")


def words(analysis: Analysis, result: TaskResult) -> str:
    """The verdict, with the numbers of the assumptions, or why there is no bound."""
    if result.verdict is Verdict.MET_IF:
        return met_words(analysis, result)
    none = result.no_bound if result.verdict is Verdict.UNBOUNDED else None
    late = " with its budgets" if result.late else ""
    return WORDS[result.verdict] + (late if none is None else none.words)


def met_words(analysis: Analysis, result: TaskResult) -> str:
    """ "met", or "met if 1-3, 5" with the numbers of what is assumed."""
    numbers = sorted(analysis.assumptions[each] for each in result.assumptions)
    if not numbers:
        return WORDS[Verdict.MET]
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    dashes = (("-" if each[-1] > each[0] + 1 else ", ").join(map(str, each)) for each in spans)
    return f"{WORDS[Verdict.MET_IF]} {', '.join(dashes)}"


def assumption_lines(assumptions: Iterable[Assumption], analysis: Analysis) -> list[str]:
    """Assumptions with their numbers, their places, and what makes each known."""
    number = analysis.assumptions.__getitem__
    return [
        f"{number(each)}: {each.text}"
        + ("" if each.span is None else f" ({place_words(each.span)})")
        + f"; {each.help}."
        for each in sorted(assumptions, key=number)
    ]


def system_words(analysis: Analysis) -> str:
    """The verdict about all tasks."""
    if not any(each.task.has_deadline for each in analysis.tasks):
        return "No task has a deadline."
    return {
        Verdict.MET: "All deadlines are met.",
        Verdict.MET_IF: "All deadlines are met if:",
        Verdict.MISSED: "A deadline can be missed.",
        Verdict.UNBOUNDED: "A task with a deadline has no bound.",
    }[analysis.verdict]


def problem_words(problem: Diagnostic) -> str:
    """What is wrong, where, why, and what to write instead, on one line."""
    place = "" if problem.span is None else f" ({place_words(problem.span)})"
    why = "".join(f": {note}" for note in problem.notes)
    return f"{problem.message}{place}{why}" + (f"; {problem.help}" if problem.help else "")


def place_words(span: Span) -> str:
    """ "system.camkes:12:5"."""
    return position(span, Style())


def obstacle_lines(analysis: Analysis) -> list[str]:
    """What keeps tasks from having a bound, with these tasks."""
    return [
        f"No bound{' for ' if tasks else ''}{', '.join(tasks)}: {problem_words(obstacle.problem)}."
        for obstacle, tasks in analysis.obstacles
    ]


def to_text(
    analysis: Analysis,
    witnesses: Mapping[str, Witness] = {},
    *,
    color: bool = False,
    width: int | None = None,
) -> str:
    """A table of the tasks and one of the bounds."""
    equals = any(each.with_equals > each.blocking.assignment for each in analysis.tasks)
    paper = (_PAPER,) if equals else ()
    tasks: list[tuple[str, ...]] = [
        ("task", "priority", "period", "deadline", "C", "B", *paper, "R", "found", "verdict")
    ]
    for result in analysis.tasks:
        task = result.task
        response = response_text(result)
        times = [task.period, task.deadline, result.demand.total, result.blocking.least]
        times += [result.with_equals] if equals else []
        times_shown = ["-" if value >= NEVER else _time(value) for value in times]
        witness = witnesses.get(task.name)
        verdict = words(analysis, result) + _seen(result, witness)
        tasks.append((task.name, str(task.priority), *times_shown, response, found_text(witness), verdict))
    gaps = [
        f"B of {result.task.name} is at most {_time(result.blocking.gap)} above the exact value: the search"
        " for that ended at its limit."
        for result in analysis.tasks
        if result.blocking.exact is None
    ]
    assumed = assumption_lines(analysis.assumptions, analysis)
    if assumed:
        met = analysis.verdict is Verdict.MET_IF
        assumed = [system_words(analysis) if met else "Assumed:", *assumed]
    legend = [
        "C: execution time of a job with its requests. B: blocking by lower priorities.",
        "R: longest response; found: the longest in a search, and how far it is below R. A request counts"
        " as often as is stated, or counted in the code.",
        *((f"{_PAPER}: with tasks of the same priority, as in Cucinotta et al.",) if equals else ()),
        *gaps,
        *obstacle_lines(analysis),
        *assumed,
        f"Utilisation {analysis.utilisation:.4f}; platform {analysis.platform.name}.",
    ]
    chains = [("chain", "latency"), *chain_rows(analysis)]
    ages = [("written by", "read by", "age"), *age_rows(analysis)]
    return "\n\n".join(
        [
            table(tasks, right={*range(1, 8 + equals)}, color=color, width=width, spare=(*paper, *_SPARE)),
            "\n".join(line for text in legend for line in paragraph(text, width)),
            *([table(chains, right={1}, color=color)] if analysis.chains else []),
            *([table(ages, right={2}, color=color)] if analysis.ages else []),
            table(bound_rows(analysis), right={2, 3}, color=color, width=width, spare=["source"]),
        ]
    )


def chain_rows(analysis: Analysis) -> list[tuple[str, str]]:
    """Chains of tasks that release each other, with the longest time from the first release to the end."""
    return [
        (" -> ".join(chain.tasks), "-" if chain.latency is None else _time(chain.latency))
        for chain in analysis.chains
    ]


def age_rows(analysis: Analysis) -> list[tuple[str, str, str]]:
    """Tasks that read what others write, and how old that is, at most, when they have used it."""
    return [
        (each.writer, each.reader, "-" if each.age is None else _time(each.age)) for each in analysis.ages
    ]


def found_text(witness: Witness | None) -> str:
    """The longest response in the search, and how far the bound is above it; a dash where none was made."""
    if witness is None:
        return "-"
    gap = 0 if witness.bound is None else witness.bound - witness.response
    return _time(witness.response) + (f" (-{_time(gap)})" if gap else "")


def response_text(result: TaskResult) -> str:
    """R, or what it is at least, or a dash."""
    if result.response is not None:
        return _time(result.response.time)
    return f">= {_time(result.at_least)}" if result.at_least else "-"


def bound_rows(analysis: Analysis) -> list[tuple[str, ...]]:
    """The table of bounds, with its head."""
    rows: list[tuple[str, ...]] = [("bound", "source", "value", "limit", "verdict")]
    for bound in analysis.bounds:
        said = bound_verdict(bound, analysis)
        value = max((value for _, value in bound.values), default=0.0)
        figures = (f"{value:.4f}", f"{bound.limit:.4f}") if bound.applicable else ("-", "-")
        rows.append((bound.name, bound.source, *figures, f"{said}: {bound.reason}" if bound.reason else said))
    return rows


def _seen(result: TaskResult, witness: Witness | None) -> str:
    """What the search shows beside the verdict, where it is not the same."""
    met = result.verdict in (Verdict.MET, Verdict.MET_IF)
    if witness is None or result.late or (witness.quality is Quality.MISS) != met:
        return ""
    return "; no miss found"


def explain(
    workload: Workload, analysis: Analysis, name: str, witnesses: Mapping[str, Witness] = {}
) -> str | None:
    """Where each number of a task is from; None if there is no such task."""
    result = next((each for each in analysis.tasks if each.task.name == name), None)
    if result is None:
        return None
    assumed = assumption_lines(result.assumptions, analysis)
    head = "Met if:" if result.verdict is Verdict.MET_IF else "Assumed:"
    lines = ["", head, *(f"  {line}" for line in assumed)] if assumed else []
    case = _case(workload, result, witnesses.get(name))
    return "\n".join([*_explain(workload, analysis, result), *lines, *case])


def _explain(workload: Workload, analysis: Analysis, result: TaskResult) -> Iterator[str]:
    task = result.task
    limits = ", ".join(
        f"{word} {_time(value)}" if value < NEVER else f"no {word}"
        for word, value in (("period", task.period), ("deadline", task.deadline))
    )
    yield f"{task.name}: priority {task.priority}, {limits}"
    if task.after:
        yield f"  released by events of {task.after}, up to {_time(task.jitter)} after the first of its chain"
    yield ""
    yield f"C = {_time(result.demand.total)}, the execution time of a job"
    yield f"  {_time(task.work):>12}  its own work"
    yield from (_part(workload, part) for part in result.demand.parts)
    if result.demand.taken:
        yield f"  {_time(result.demand.taken):>12}  managers of `fixed` CPIs that it finds taken"
    if result.demand.events:
        of_events = [] if task.timed else ["its release by an event"]
        if task.emits:
            of_events.append(f"{_times(task.emits, 'event')} that it emits")
        yield f"  {_time(result.demand.events):>12}  {' and '.join(of_events)}"
    yield ""
    waits = result.blocking
    yield f"B = {_time(waits.least)}, blocking by tasks of lower priority"
    for section in waits.sections if waits.exact is not None else ():
        yield from _section(workload, analysis, section)
    if waits.classic != waits.least:
        yield f"  (the lesser of two sums: {_time(waits.classic)})"
    if waits.exact is None:
        yield f"  (not less than {_time(waits.possible)}: the search for the exact value ended at its limit)"
    if waits.assignment != waits.least:
        yield f"  (the assignment: {_time(waits.assignment)})"
    if result.with_equals > waits.assignment:
        yield f"  (with tasks of equal priority, as in Cucinotta et al.: {_time(result.with_equals)})"
    yield ""
    none = result.no_bound
    if none is not None and not none.searched:
        yield f"R: {words(analysis, result)}"
        if none.obstacle is not None:
            yield f"  {problem_words(none.obstacle.problem)}"
        return
    if result.response is None and result.at_least:
        yield f"R >= {_time(result.at_least)}: {words(analysis, result)}"
        yield f"  the search ended after {STEPS:,} steps: the processor has hardly any time left"
        return
    if result.response is None:
        given = "the slots of their domain" if workload.supplies else "the whole processor"
        yield f"R: no bound: the tasks of this priority and above need more than {given}"
        return
    found = result.response
    yield f"R = {_time(found.time)}, the longest response: {words(analysis, result)}"
    if task.band:
        yield f"  of job {found.job + 1} in a window that begins when no job with an earlier deadline is left"
    elif found.job:
        yield f"  of job {found.job + 1} after all were released; earlier jobs end after their period"
    yield f"  {_time((found.job + 1) * result.demand.total):>12}  {_times(found.job + 1, 'job')} of its own"
    yield f"  {_time(waits.least):>12}  blocking"
    for other, count in found.interference:
        what = _times(count, other.unit)
        often = f"period {_time(other.period)}" if other.period < NEVER else "once in such a window"
        each = f"{_time(other.demand)}, {often}"
        yield f"  {_time(count * other.demand):>12}  {other.name}: {what} of {each}"
    if found.phase is not None:
        yield (
            f"  {_time(result.slots):>12}  slots of other domains: released"
            f" {_time(found.phase.begin)} after the schedule begins"
        )
    if found.window > found.time:
        since = "the window begins" if task.band else "the first"
        yield f"  {'-' + _time(found.window - found.time):>12}  released that long after {since}"


def _part(workload: Workload, part: DemandPart, indent: str = "") -> str:
    what = "wait" if workload.cpi[part.cpi].wait else "request"
    each = _time(part.work) + (f" + {_time(part.overhead)} overhead" if part.overhead else "")
    return f"{indent}  {_time(part.total):>12}  {part.cpi}: {_times(part.count, what)} of {each}"


def _section(workload: Workload, analysis: Analysis, section: RequestSection) -> Iterator[str]:
    """A section, and the requests in it; one that is only a step of a request has none."""
    why = "executes at a ceiling" if section.at_ceiling else "holds its lock, or is ahead in its queue"
    if workload.cpi[section.cpi].wait:
        why = "its helpers are at work for it, or will be before"
    yield f"  {_time(section.duration):>12}  {section.task} in {section.cpi}: {why}"
    parts = request_parts(workload, analysis.platform, section.cpi)
    if section.at_ceiling and not workload.rules[section.cpi].own_priority:
        yield f"  {'':>12}      one step of serving the request"
    elif len(parts) > 1 or parts[0].overhead:
        yield from (_part(workload, part, indent="    ") for part in parts)


def _case(workload: Workload, result: TaskResult, witness: Witness | None) -> Iterator[str]:
    """The case that was found: when which task is first released."""
    if witness is None:
        return
    exact = "the bound is exact" + (", if what is assumed is so" if result.assumptions else "")
    words = {
        Quality.ATTAINED: exact,
        Quality.MISS: f"after the deadline of {_time(witness.deadline)}",
        Quality.GAP: "the worst that was found"
        + ("" if witness.bound is None else f", {_time(witness.bound - witness.response)} below R"),
    }
    yield ""
    yield f"Case: a response of {_time(witness.response)}, {words[witness.quality]}"
    yield f"  the job released at {_time(witness.release)}, where the first releases are:"
    by_events = {task.name for task in workload.tasks if task.after}
    by_time: dict[int, list[str]] = {}
    for name, offset in witness.program.offsets.items():
        if name in by_events:
            continue
        by_time.setdefault(offset, []).append(name)
    for offset in sorted(by_time):
        yield f"  {_time(offset):>12}  {', '.join(by_time[offset])}"
    if (phase := witness.program.phase) is not None:
        yield f"  {_time(phase.begin):>12}  slots of other domains begin"


def _times(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _time(value: Time) -> str:
    """A time, rounded up to whole nanoseconds."""
    return format_time(ceil(value), 6)
