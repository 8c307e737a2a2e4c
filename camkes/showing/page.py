# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A schedulability analysis as one HTML page that needs nothing else: verdicts, where each response comes
from, the requests with protocols and ceilings, the worst case that was found, threads, bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

from camkes.analysis.simulation import Simulation, costed
from camkes.analysis.verdict import Analysis, TaskResult, Verdict
from camkes.analysis.witness import Witness
from camkes.analysis.workload import NEVER, Workload
from camkes.capdl.model import CapabilityModel
from camkes.running.times import format_time
from camkes.showing.analysis import (
    age_rows,
    assumption_lines,
    bound_rows,
    chain_rows,
    explain,
    found_text,
    obstacle_lines,
    response_text,
    words,
)
from camkes.showing.budgets import TimeTable
from camkes.showing.draw.svg import OWN, PALETTE
from camkes.showing.html import environment
from camkes.showing.words import letters

TEMPLATE = Path(__file__).with_name("page.html")

#: Tasks whose numbers are unfolded from the start.
_OPEN = 12

#: How verdicts look, where none is a failure.
_LOOKS = {Verdict.MET: "good", Verdict.MET_IF: "assumed"}

#: Tasks in the picture of a case.
_LANES = 40


def to_html(
    name: str,
    workload: Workload,
    analysis: Analysis,
    witnesses: Mapping[str, Witness],
    capabilities: CapabilityModel,
    graph: str,
    times: Sequence[TimeTable] = (),
) -> str:
    """The page of a system; `graph` is the picture of its requests (SVG), `times` are tables of budgets."""
    missed = [each.task.name for each in analysis.tasks if each.fails]
    template = environment().from_string(TEMPLATE.read_text("utf-8"))
    shown = _shown(analysis, witnesses)
    return template.render(
        name=name,
        late=missed,
        obstacles=obstacle_lines(analysis),
        assumed=assumption_lines(analysis.assumptions, analysis),
        analysis=analysis,
        slots=any(each.slots for each in analysis.tasks),
        open=len(analysis.tasks) <= _OPEN,
        tasks=[_task(workload, analysis, each, witnesses) for each in analysis.tasks],
        graph=graph[graph.index("<svg") :],
        case=None if shown is None else _case(workload, analysis, shown),
        threads=[
            (thread.name, thread.instance, thread.role.value, thread.priority)
            for space in capabilities.spaces
            for thread in space.threads
        ],
        bounds=bound_rows(analysis)[1:],
        chains=chain_rows(analysis),
        ages=age_rows(analysis),
        times=times,
    )


def _task(
    workload: Workload, analysis: Analysis, result: TaskResult, witnesses: Mapping[str, Witness]
) -> dict[str, Any]:
    task = result.task
    return {
        "name": task.name,
        "priority": task.priority,
        "period": _time(task.period) if task.period < NEVER else "-",
        "deadline": _time(task.deadline) if task.deadline < NEVER else "-",
        "demand": _time(result.demand.total),
        "blocking": _time(result.blocking.least),
        "response": response_text(result),
        "found": found_text(witnesses.get(task.name)),
        "verdict": words(analysis, result),
        "look": "bad" if result.fails else _LOOKS.get(result.verdict, "faint"),
        "bars": list(_bars(analysis, result)),
        "mark": 100 * _scale(result),
        "explained": explain(workload, analysis, task.name, witnesses),
    }


def _scale(result: TaskResult) -> float:
    """The part of the width up to the deadline; longer responses fit, too."""
    response = 0.0 if result.response is None else float(result.response.time)
    return result.task.deadline / max(result.task.deadline, response)


def _bars(analysis: Analysis, result: TaskResult) -> Iterator[tuple[str, float, str]]:
    """What a response is made of: kind, percent of the width, words."""
    if result.response is None:
        return
    unit = 100 * _scale(result) / result.task.deadline
    found = result.response
    own = (found.job + 1) * result.demand.total - (found.window - found.time)
    yield "own", float(own * unit), f"own execution {_time(own)}" if own >= 0 else "own execution"
    sections = result.blocking.sections
    if sum(section.duration for section in sections) == result.blocking.least:
        for section in sections:
            who = f"blocked by {section.task} in {section.cpi} {_time(section.duration)}"
            yield "blocking", float(section.duration * unit), who
    else:
        yield "blocking", float(result.blocking.least * unit), f"blocking {_time(result.blocking.least)}"
    for other, count in found.interference:
        time = count * other.demand
        what = f"{count} {f'{other.unit}s ' if other.interrupts else ''}of {other.name}"
        yield "interference", float(time * unit), f"{what} {_time(time)}"
    yield "slots", float(result.slots * unit), f"slots of other domains {_time(result.slots)}"


def _shown(analysis: Analysis, witnesses: Mapping[str, Witness]) -> Witness | None:
    """The case of the task that has least left to its deadline."""
    found = [witnesses[each.task.name] for each in analysis.tasks if each.task.name in witnesses]
    return max(found, key=lambda witness: witness.response / witness.deadline, default=None)


def _case(workload: Workload, analysis: Analysis, witness: Witness) -> dict[str, Any]:
    """The picture of a case: for each task of the domain, in percent of the width, when it executes and
    waits."""
    _, part = workload.part_of(witness.task)
    model, phase = costed(part, analysis.platform), witness.program.phase
    simulation = Simulation(model, witness.program, release=int(analysis.release), record=True)
    end = witness.release + max(witness.response, 1)
    jobs = simulation.run(end)
    colours = {cpi.name: PALETTE[i % len(PALETTE)] for i, cpi in enumerate(workload.cpis)}
    used = {each.cpi for each in simulation.slices}
    marks = letters(name for name in colours if name in used)
    begin = max(0, witness.release - witness.response // 20)
    first = min((s.start for s in simulation.slices if s.end > begin), default=0)
    begin = max(begin, min(first, witness.release))  # at its release others may have the processor

    def place(time: int) -> float:
        return 100 * (max(time, begin) - begin) / (end - begin)

    lanes: list[dict[str, Any]] = []
    if phase is not None:
        others = [
            {
                "left": place(start),
                "width": place(stop) - place(start),
                "class": "slots",
                "colour": "",
                "letter": "",
                "label": f"slots of other domains, {_time(start)} to {_time(stop)}",
            }
            for has, start, stop in phase.spans(begin, end)
            if not has
        ]
        lanes.append({"name": "slots", "pieces": others, "releases": ()})
    own = {task.name for task in part.tasks}
    names = [each.task.name for each in analysis.tasks if each.task.name in own]
    for name in names[:_LANES]:
        pieces = [
            {
                "left": place(s.start),
                "width": place(s.end) - place(s.start),
                "colour": colours.get(s.cpi, OWN),
                "class": "waits" if s.waits else "",
                "letter": "" if s.waits else marks.get(s.cpi, ""),
                "label": f"{name} {'waits for' if s.waits else 'in'} {s.cpi or 'its own code'}, "
                f"{_time(s.start)} to {_time(s.end)}",
            }
            for s in simulation.slices
            if s.task == name and s.end > begin
        ]
        releases = [place(job.release) for job in jobs if job.task == name and begin <= job.release < end]
        lanes.append({"name": name, "pieces": pieces, "releases": releases})
    deadline = witness.release + witness.deadline
    return {
        "task": witness.task,
        "response": _time(witness.response),
        "missed": witness.response > witness.deadline,
        "deadline": place(deadline) if deadline <= end else None,
        "lanes": lanes,
        "hidden": max(0, len(names) - _LANES),
        "keys": [("own code", OWN, ""), *((name, colours[name], letter) for name, letter in marks.items())],
        "begin": _time(begin),
        "end": _time(end),
    }


def _time(value: Any) -> str:
    return format_time(ceil(value), 6)
