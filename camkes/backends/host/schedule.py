# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A schedule that `camkes explore` found, as a file that `camkes run --replay` repeats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from msgspec import Struct, ValidationError, convert, to_builtins

from camkes.showing.draw.story import StoryStepReport

FORMAT = "camkes-schedule 1"


class Schedule(Struct, frozen=True, kw_only=True):
    """What was decided in a run wherever something was left open, in this order, then option 0. `arrivals`,
    `scheduling`, `duration` (virtual ns, None: to the end) and `every_point` are those of the search, see
    SearchOptions; `property` and `explanation` describe what it shows, `steps` how it comes to that."""

    format: str = FORMAT
    application: str
    property: str
    explanation: str
    arrivals: int
    scheduling: str
    duration: int | None
    choices: tuple[int, ...]
    every_point: bool = False
    steps: tuple[StoryStepReport, ...] = ()


def schedule_to_json(schedule: Schedule) -> str:
    return json.dumps(to_builtins(schedule)) + "\n"


def is_schedule(path: Path) -> bool:
    """Whether a file is a schedule, of whatever version, and not something else that can be replayed."""
    try:
        return path.read_bytes().startswith(b'{"format": "camkes-schedule')
    except OSError:
        return False


def read_schedule(path: Path) -> Schedule:
    """Raises OSError, or ValueError if the file is not a schedule."""
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    try:
        if document.pop("format") != FORMAT:
            raise ValueError("it is of another version of the tool")
        choices = tuple(document.pop("choices"))
        numbers = (*choices, document["arrivals"])
        if not all(isinstance(n, int) and n >= 0 for n in numbers):
            raise ValueError("its choices are not numbers")
        if document["scheduling"] not in ("fifo", "rr"):
            raise ValueError("its scheduling is not fifo or rr")
        steps = convert(document.pop("steps", []), tuple[StoryStepReport, ...])
        return Schedule(**document, choices=choices, steps=steps)
    except (AttributeError, KeyError, TypeError, ValidationError) as error:
        raise ValueError("it is not a file that `camkes explore` wrote") from error
