# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A run as one HTML page that needs nothing else: a timeline that can be enlarged, filtered and read with the
keyboard. The script of the page draws the data of this module."""

from __future__ import annotations

import html
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from camkes.running.model import Lane, LockStep, Run, ServedRequest, State, StateSegment
from camkes.showing.draw.svg import OWN
from camkes.showing.draw.timeline import raises, service_colours, service_letters
from camkes.showing.words import (
    LOOKS,
    Look,
    fault_words,
    helped_words,
    overrun_words,
    payment_words,
    state_words,
)
from camkes.visible import visible, visible_json

TEMPLATE = Path(__file__).with_name("timeline.html")

#: The numbers that select the style of a segment in the script.
_LOOKS = {look: number for number, look in enumerate(Look, 1)}


def timeline_page(run: Run, heading: str) -> str:
    """The page as text. Times in it are nanoseconds."""
    return timelines_page((("", run),), heading)


def timelines_page(runs: Sequence[tuple[str, Run]], heading: str, above: str = "", below: str = "") -> str:
    """The same for runs of one system, each with a word for it: the lanes of a task come one below the other.
    `above` and `below` the timeline are HTML."""
    run = runs[0][1]
    colours = {name: colour for _, each in reversed(runs) for name, colour in service_colours(each).items()}
    letters = {name: letter for _, each in reversed(runs) for name, letter in service_letters(each).items()}
    protocols = {cpi.name: cpi for cpi in run.names.cpis}
    services: list[dict[str, Any]] = [
        {"name": "own code", "letter": "", "colour": OWN, "about": "", "awaited": False}
    ]
    for name, colour in colours.items():
        cpi = protocols.get(name)
        about = f"{cpi.protocol.value}, ceiling {cpi.ceiling}" if cpi is not None else ""
        condition = run.names.condition(name)
        services.append(
            {
                "name": name,
                "letter": letters.get(name, ""),
                "colour": colour,
                "about": about or helped_words(condition),
                "awaited": condition is not None,
            }
        )
    numbers = {name: number for number, name in enumerate(colours, 1)}
    texts: dict[str, int] = {}
    data = {
        "name": visible(heading),
        "end": max(each.end for _, each in runs),
        "services": services,
        "looks": [look.value for look in Look],
        "lanes": list(_lanes(runs, numbers, texts)),
        "holds": [[*each, of] for of, (_, run) in enumerate(runs) for each in _holds(run)],
        "faults": [
            [fault.time, fault.task or fault.thread.name, fault_words(fault), of]
            for of, (_, run) in enumerate(runs)
            for fault in run.faults
        ],
        "criticality": run.criticality,
        "servers": [row for of, (_, run) in enumerate(runs) for row in _servers(run, of, numbers)],
        "signals": [arrow for of, (_, run) in enumerate(runs) for arrow in _signals(run, of)],
        "texts": list(map(visible, texts)),
    }
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False).replace("<", "\\u003c")
    parts = {
        "@NAME@": html.escape(visible(heading or "A run")),
        "@DATA@": visible_json(text),
        "@ABOVE@": above,
        "@BELOW@": below,
    }
    return re.sub("@[A-Z]+@", lambda found: parts[found[0]], TEMPLATE.read_text("utf-8"))


def _lanes(
    runs: Sequence[tuple[str, Run]], services: dict[str, int], texts: dict[str, int]
) -> Iterator[dict[str, Any]]:
    names = dict.fromkeys(lane.task.name for _, run in runs for lane in run.lanes)
    for name in names:
        for of, (label, run) in enumerate(runs):
            for lane in run.lanes:
                if lane.task.name == name:
                    yield {**_lane(lane, run, services, texts), "of": of, "label": visible(label)}


def _servers(run: Run, of: int, services: dict[str, int]) -> Iterator[dict[str, Any]]:
    """Each thread that served requests, with these: from when to when, the number of the service, the task
    ("" for none), and the thread that made the request, "" if the task itself did."""
    rows: dict[int, list[tuple[int, int, int, str, str]]] = {}
    open_: dict[int | None, list[ServedRequest]] = {}
    for request in run.requests:
        own = open_.setdefault(request.task, [])
        while own and own[-1].end < request.end:
            own.pop()
        task = run.names.task(request.task)
        caller = run.names.thread_name(own[-1].thread) if own else ""
        service = services.get(run.names.cpi_name(request.cpi), 0)
        rows.setdefault(request.thread, []).append(
            (request.start, request.end, service, "" if task is None else task.name, caller)
        )
        own.append(request)
    for thread, found in sorted(rows.items()):
        yield {"name": run.names.thread_name(thread), "of": of, "served": found}


def _signals(run: Run, of: int) -> Iterator[tuple[int, str, str, str, int]]:
    """Each signal that ended a wait: when, for which task it was sent and which one it was for, and of what.
    Those that no task sent, or that were for none, are left out."""
    own = {lane.thread: lane.task.name for lane in run.lanes}
    served: dict[int, list[ServedRequest]] = {}
    for request in run.requests:
        served.setdefault(request.thread, []).append(request)

    def task_of(thread: int, time: int) -> str | None:
        found = served.get(thread, [])
        index = bisect_right(found, time, key=lambda request: request.start)
        if index and found[index - 1].end >= time:
            task = run.names.task(found[index - 1].task)
            return None if task is None else task.name
        return own.get(thread)

    for each in run.wakeups:
        sender, receiver = task_of(each.emitter, each.time), task_of(each.receiver, each.time)
        if sender is not None and receiver is not None and sender != receiver:
            yield (each.time, sender, receiver, each.what, of)


def _holds(run: Run) -> list[tuple[str, int, int, str]]:
    """The CPI of each lock that was held, from when, until when, and by which thread."""
    held: dict[int, tuple[int, str]] = {}
    found = []
    for event in (*run.locks, None):
        for cpi in [event.cpi] if event is not None else list(held):
            if cpi in held:
                start, holder = held.pop(cpi)
                found.append(
                    (run.names.cpi_name(cpi), start, run.end if event is None else event.time, holder)
                )
        if event is not None and event.step is not LockStep.FREES:
            held[event.cpi] = (event.time, run.names.thread_name(event.thread))
    return found


def _lane(lane: Lane, run: Run, services: dict[str, int], texts: dict[str, int]) -> dict[str, Any]:
    return {
        "name": lane.task.name,
        "priority": lane.task.priority,
        "segments": [_segment(each, lane, run, services, texts) for each in lane.segments],
        **_budget(lane.task.name, run),
        "raised": [[each.start, each.end, each.priority] for each in raises(lane.segments, lane, run)],
        "jobs": [[j.number, j.release, j.deadline, j.end, j.missed, j.blocked] for j in lane.jobs],
    }


def _budget(task: str, run: Run) -> dict[str, Any]:
    """What is left of the budget of a task, and work for it on other budgets; empty without budgets."""
    if not run.spent:
        return {}
    spent = next((each for each in run.spent if each.name == task), None)
    return {
        "budget": None if spent is None else [spent.most, spent.left],
        "paid": [[p.start, p.end, p.payer, payment_words(p)] for p in run.payments if p.task == task],
        "overruns": [[o.time, overrun_words(o)] for o in run.overruns if o.task == task],
    }


def _segment(
    segment: StateSegment, lane: Lane, run: Run, services: dict[str, int], texts: dict[str, int]
) -> list[int]:
    """Start, end, look (0: it runs), service, and the number of the text that describes it."""
    look = 0 if segment.state is State.RUNNING else _LOOKS[LOOKS[segment.state]]
    words = state_words(segment, run.names)
    if segment.state is State.RUNNING:
        words += f" at priority {segment.priority}"
    if segment.by:
        words += f" while {segment.by} runs"
    text = texts.setdefault(words, len(texts))
    return [segment.start, segment.end, look, services.get(segment.what, 0), text]
