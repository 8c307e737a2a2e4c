# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What components take, as tables and as JSON, with what was counted and what was not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import UNSET, Struct, UnsetType

from camkes.capdl.size import (
    CNODE,
    CONTEXT,
    ENDPOINT,
    FRAME,
    NOTIFICATION,
    OTHER,
    OUTSIDE,
    PARTS,
    REPLY,
    TABLE,
    TCB,
    StackUse,
    SystemSize,
    ThreadSize,
)
from camkes.documents import json_text
from camkes.showing.draw.table import paragraph, table
from camkes.showing.draw.treemap import readable

SCHEMA = "camkes-size 1"

_MOST = 4  # functions of a way that a table shows
_WIDTH = 100  # of lists of functions

#: the kinds of objects in the order in which they are shown
_KINDS = (TCB, ENDPOINT, NOTIFICATION, REPLY, CONTEXT, CNODE, FRAME, TABLE, OTHER)


class SizeOfComponent(Struct, frozen=True):
    """An address space, or `(shared)`: `objects` are numbers by kind, `memory` bytes by what they are for,
    `bytes` their sum. `slots` are those of its CNode: all that it has, or before a build, those in use."""

    name: str
    instances: tuple[str, ...]
    threads: tuple[ThreadSize, ...]
    slots: int
    objects: Mapping[str, int]
    memory: Mapping[str, int]
    bytes: int


class SizeReport(Struct, frozen=True):
    """What a system takes. `counted` is `plan`, before anything is built, or `sel4`, of a build for it;
    `not_counted` what is missing in it. `run` are the virtual nanoseconds of the run on the host kernel in
    which the use of stacks was seen."""

    schema: str
    counted: str
    components: tuple[SizeOfComponent, ...]
    total: SizeOfComponent
    not_counted: tuple[str, ...]
    run: int | UnsetType = UNSET


def total_of(size: SystemSize) -> SizeOfComponent:
    """The sum of all."""
    return SizeOfComponent(
        "total",
        tuple(name for each in size.components for name in each.instances),
        tuple(thread for each in size.components for thread in each.threads),
        sum(each.slots for each in size.components),
        {kind: count for kind in _KINDS if (count := sum(each.count(kind) for each in size.components))},
        {part: bytes for part in PARTS if (bytes := sum(each.part(part) for each in size.components))},
        sum(each.bytes for each in size.components),
    )


def to_json(size: SystemSize, *, built: bool, run: int | None = None) -> str:
    """The size as JSON. `run` are the nanoseconds of a run in which the use of stacks was seen."""
    components = tuple(
        SizeOfComponent(
            each.name,
            each.instances,
            each.threads,
            each.slots,
            {count.kind: count.count for count in each.objects},
            {part.part: part.bytes for part in each.memory},
            each.bytes,
        )
        for each in size.components
    )
    counted = "sel4" if built else "plan"
    of_run = UNSET if run is None else run
    return json_text(SizeReport(SCHEMA, counted, components, total_of(size), size.not_counted, of_run))


def to_text(size: SystemSize, *, color: bool) -> str:
    """Two tables, of memory and of objects, and what is not in them."""
    total = total_of(size)
    rows = [each for each in size.components if each.objects or each.memory]
    parts, kinds = tuple(total.memory), tuple(total.objects)
    memory = [["memory", *parts, "total"]]
    memory += [
        [each.name, *(readable(each.part(part)) for part in parts), readable(each.bytes)] for each in rows
    ]
    memory.append(["total", *(readable(total.memory[part]) for part in parts), readable(total.bytes)])
    objects = [["objects", "threads", *map(_plural, kinds), "slots"]]
    objects += [
        [each.name, _some(len(each.threads)), *(_some(each.count(kind)) for kind in kinds), _some(each.slots)]
        for each in rows
    ]
    sums = [len(total.threads), *(total.objects[kind] for kind in kinds), total.slots]
    objects.append(["total", *map(_some, sums)])
    tables = [table(each, right=range(1, len(each[0])), color=color) for each in (memory, objects)]
    if any(isinstance(thread.use, StackUse) for thread in total.threads):
        tables.append(_stacks(total.threads, color=color))
    return "\n\n".join([*tables, _listed("not counted:", size.not_counted)])


def _stacks(threads: Sequence[ThreadSize], *, color: bool) -> str:
    """What is used of each stack, and what the bounds leave out."""
    rows, alarms = [["stacks", "size", "seen", "bound", "deepest way"]], set()
    left_out: dict[str, list[str]] = {}
    for thread in threads:
        use = thread.use
        if not isinstance(use, StackUse):
            continue
        bound = "?" if use.bound is None else f"{'at least ' * bool(use.left_out)}{readable(use.bound)}"
        for column, amount in ((2, use.seen or 0), (3, use.bound or 0)):
            if amount > thread.stack:
                alarms.add((len(rows), column))
        way = " > ".join(use.path[:_MOST] + ("...",) * (len(use.path) > _MOST))
        rows.append([thread.name, readable(thread.stack), readable(use.seen or 0), bound, way])
        for each in use.left_out:
            left_out.setdefault(each, []).append(thread.name)
    text = table(rows, right=(1, 2, 3), color=color, alarms=alarms)
    if not left_out:
        return text
    outside = sorted(each.partition(":")[0] for each in left_out if each.endswith(OUTSIDE))
    others = sorted(each for each in left_out if not each.endswith(OUTSIDE))
    lines = [f"{each} ({', '.join(left_out[each])})" for each in others]
    lines += paragraph(f"{OUTSIDE}: {', '.join(outside)}", _WIDTH) if outside else []
    return f"{text}\n\n{_listed('bounds leave out:', lines)}"


def _listed(heading: str, lines: Sequence[str]) -> str:
    return "\n".join([heading, *(f"  {each}" for each in lines)])


def _some(count: int) -> str:
    return f"{count}" if count else ""


def _plural(kind: str) -> str:
    return kind if kind == OTHER else f"{kind}s"
