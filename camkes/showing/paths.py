# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Bounds of paths, as a table and as JSON, with what they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from camkes.documents import json_text
from camkes.paths.costs import PathBounds
from camkes.paths.system import PathKind, SystemBounds
from camkes.showing.draw.table import table

_SYSTEMS = (
    "no message is malformed, no kernel call fails, and no thread faults",
    "what `camkes_work()` executes for a stated time is not counted",
    "a request and a reply are of the client that made the request before, too, and no other thread has the"
    " lock or waits for it; `contended reply`, and what threads of the runtime do, are without that",
    "no other thread changes an event, a semaphore or a mutex while a `call` does, and what a component has"
    " registered to be called is not counted",
    "a `next job` leaves out no release: each that a raised criticality leaves out adds that wait",
)
_ALWAYS = (
    "instructions of user level are counted, and entries of the kernel, but not what the kernel executes",
    "on aarch64 nothing comes between an exclusive load and its store: each interruption adds that loop",
    "an instruction that x86_64 repeats counts as often as it is executed, and once more",
    "loops of memcpy(), memmove(), memset() and memcmp() handle a byte or more each time",
)


class BoundReport(Struct, frozen=True):
    """A path: `name` is an interface and method of an instance, `kind` what of it. It takes at most so many
    `instructions` of user level, null: it has no bound; and of each kernel call at most as many as `kernel`
    says."""

    instance: str
    name: str
    kind: str
    instructions: Annotated[int, Meta(ge=1)] | None
    kernel: Mapping[str, Annotated[int, Meta(ge=0)]]


class ContractReport(Struct, frozen=True):
    """A loop whose source states how often its body is executed: at most so many `times` in this system."""

    file: str
    line: int
    times: int


class PathsReport(Struct, frozen=True, kw_only=True):
    """Bounds of the paths of a system's generated code, runtime and handlers, with what they rest on. With
    `complete`, all paths have a bound. Its programs are for an architecture, and with `mcs` for an MCS
    kernel."""

    schema: int = 1
    system: str
    architecture: str
    mcs: bool
    complete: bool
    paths: tuple[BoundReport, ...]
    contracts: tuple[ContractReport, ...]
    assumed: tuple[str, ...]


def to_report(system: str, bounds: SystemBounds) -> PathsReport:
    found = bounds.paths
    of_functions = all(each.of.kind is PathKind.FUNCTION for each in found)
    stated: dict[tuple[str, int], int] = {}
    for each in found:
        for place, times in each.contracts.items():
            stated[place.path, place.line] = max(times, stated.get((place.path, place.line), 0))
    return PathsReport(
        system=system,
        architecture=bounds.architecture,
        mcs=bounds.mcs,
        complete=all(each.bound is not None for each in found),
        paths=tuple(
            BoundReport(
                each.of.instance,
                each.of.name,
                each.of.kind.value,
                None if each.bound is None else each.bound.instructions,
                {} if each.bound is None else each.bound.kernel,
            )
            for each in found
        ),
        contracts=tuple(ContractReport(path, line, times) for (path, line), times in sorted(stated.items())),
        assumed=_ALWAYS if of_functions else (*_SYSTEMS, *_ALWAYS),
    )


def to_json(report: PathsReport) -> str:
    return json_text(report)


def read_bounds(data: bytes) -> PathBounds:
    """The bounds of a document. Raises msgspec.DecodeError and ValueError."""
    report = msgspec.json.decode(data, type=PathsReport)
    keys = [(each.instance, each.name, PathKind(each.kind)) for each in report.paths]
    return PathBounds(
        report.architecture,
        report.mcs,
        dict(zip(keys, (each.instructions for each in report.paths), strict=True)),
        {key: each.kernel.get("Call", 0) for key, each in zip(keys, report.paths, strict=True)},
    )


def to_text(report: PathsReport, *, color: bool) -> str:
    rows: list[tuple[str, ...]] = [("path", "of", "instructions", "kernel calls")]
    for each in report.paths:
        name = ".".join(filter(None, (each.instance, each.name)))
        bound = "no bound" if each.instructions is None else str(each.instructions)
        calls = ", ".join(f"{count} {kind}" if count > 1 else kind for kind, count in each.kernel.items())
        rows.append((name, each.kind, bound, calls))
    alarms = {(row, 2) for row, each in enumerate(report.paths, 1) if each.instructions is None}
    lines = [table(rows, right={2}, color=color, alarms=alarms), "", "What this rests on:"]
    lines += [f"- {text}" for text in report.assumed]
    if report.contracts:
        lines += ["- sources state how often these loops are executed:"]
        lines += [f"  {each.file}:{each.line}: at most {each.times}" for each in report.contracts]
    return "\n".join(lines)
