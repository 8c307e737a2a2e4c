# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Hover texts and code lenses: definitions, and values that the plan computed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import ceil
from typing import NamedTuple

from camkes.analysis.demand import Time
from camkes.analysis.unbounded import Reason
from camkes.analysis.verdict import TaskResult, Verdict
from camkes.diagnostics import Span
from camkes.diagnostics.words import plural
from camkes.editor.index import NamedSymbol, NameUse, SettingUse
from camkes.editor.workspace import SystemSnapshot
from camkes.model.settings import TABLE, UNTYPED_POOL, Known
from camkes.model.system import Task
from camkes.model.units import duration
from camkes.parser import ast
from camkes.protocols.plan import PlannedCpi, PlannedTask
from camkes.running.times import format_time

_MOST_LINES = 24  # of a definition
_MOST_PLACES = 8  # instances that are distinguished
_MOST_HINTS = 4  # the same, beside a line


_UNTYPED = re.compile(r"untyped\d\d?_pool")


class Hint(NamedTuple):
    """A text shown behind a place."""

    span: Span
    text: str
    tooltip: str


# Hover -------------------------------------------------------------------------------------------


def hover(analysis: SystemSnapshot, use: NameUse) -> str:
    """Markdown about the symbol at a place."""
    symbol = use.symbol
    parts = [f"```camkes\n{signature(symbol)}\n```"]
    if symbol.kind == "interface":
        parts += [f"- {line}" for line in _limited(_interface_facts(analysis, use))]
    elif symbol.kind == "instance":
        parts += [f"- {line}" for line in _limited(_instance_facts(analysis, symbol))]
        if symbol.type is not None:
            parts.append(f"```camkes\n{signature(symbol.type)}\n```")
    elif symbol.kind == "component":
        paths = analysis.index.component_paths(symbol)
        if paths:
            parts += [f"- instances: {', '.join(f'`{p}`' for p in _limited(iter(paths)))}"]
    return "\n".join(parts)


def hover_setting(use: SettingUse) -> str | None:
    """What a setting means, and the values that it can have."""
    name = use.name.text
    if use.instance is None:
        known = TABLE.get(name)
        return _meaning(name, known) if known and known.owner == "connection" else None
    members = use.instance.type.members if use.instance.type else {}
    parts = [member for member, symbol in members.items() if symbol.kind != "attribute"]
    known = setting_named(name, parts)
    return _meaning(name, known) if known else None


def setting_named(name: str, parts: Sequence[str]) -> Known | None:
    """The setting of an instance by its name, or by that for the control thread, an interface or a lock."""
    if _UNTYPED.fullmatch(name):
        return UNTYPED_POOL
    known = TABLE.get(name)
    if known is not None and (known.owner == "instance" or (known.owner == "thread" and known.shared)):
        return known
    for head in ("", *parts):
        known = TABLE.get(name.removeprefix(f"{head}_")) if name.startswith(f"{head}_") else None
        if known is not None and known.owner != "instance" and (head or known.owner == "thread"):
            return known
    return None


def _meaning(name: str, known: Known) -> str:
    usual = f"; {known.usual} where not given" if known.usual else ""
    return f"`{name}`: {known.about} ({known.values}{usual})"


def signature(symbol: NamedSymbol) -> str:
    """The definition as it is written, cut if it is long."""
    span: Span | None = getattr(symbol.node, "span", None)
    if span is None:
        return f"{symbol.kind} {symbol.name.text}"
    first, *rest = span.file.lines[span.line - 1 : span.end_line] or [""]
    if not rest:
        return first[span.column - 1 : span.end_column - 1]
    rest[-1] = rest[-1][: span.end_column - 1]
    indent = len(first) - len(first.lstrip())
    rest = [line[indent:] if not line[:indent].strip() else line for line in rest]
    if len(rest) > _MOST_LINES:
        rest = [*rest[: _MOST_LINES - 2], "    ...", "}"]
    return "\n".join([first[span.column - 1 :], *rest])


def _limited(lines: Iterator[str]) -> list[str]:
    found: list[str] = []
    for line in lines:
        if len(found) == _MOST_PLACES:
            return [*found, "..."]
        found.append(line)
    return found


def _interface_facts(analysis: SystemSnapshot, use: NameUse) -> Iterator[str]:
    if use.symbol.owner is None:
        return
    for name in _served(analysis, use.symbol, use.instance):
        cpi = analysis.cpis.get(name)
        if cpi is not None:
            yield f"**{name}**: {_cpi(analysis, cpi)}"


def _served(analysis: SystemSnapshot, interface: NamedSymbol, instance: NamedSymbol | None) -> Iterator[str]:
    """The dotted names of an interface: of one instance, or of all of its component."""
    assert interface.owner is not None
    instances = [instance] if instance else analysis.index.instances_of(interface.owner)
    for each in instances:
        for path in analysis.index.paths(each):
            yield analysis.index.served(path, each, interface.name.text)


def _cpi(analysis: SystemSnapshot, cpi: PlannedCpi) -> str:
    text = f"{cpi.protocol.value}, ceiling {cpi.ceiling}, {_threads(cpi)}"
    if cpi.manager:
        text += ", a manager"
    text += f"; tasks: {', '.join(f'`{task}`' for task in cpi.tasks) or 'none'}"
    stated = analysis.stated_cpis.get(cpi.name)
    if stated is not None and stated.wcet is not None:
        text += f"; wcet {duration(stated.wcet)}"
    for method, times in stated.method_times.items() if stated is not None else ():
        text += "" if times.wcet is None else f"; wcet of `{method}` {duration(times.wcet)}"
    return text


def _threads(cpi: PlannedCpi) -> str:
    return f"{cpi.threads} {plural(cpi.threads, 'thread')}{' of a pool' if cpi.pooled else ''}"


def _instance_facts(analysis: SystemSnapshot, instance: NamedSymbol) -> Iterator[str]:
    for path in analysis.index.paths(instance):
        task = analysis.tasks.get(path)
        if task is not None:
            yield f"task **{path}**: {_task(task, analysis.stated_tasks.get(path))}"
            result = analysis.responses.get(path) if analysis.has_responses else None
            if result is not None:
                yield _response(result)
        interfaces = instance.type.members.values() if instance.type else ()
        for interface in interfaces:
            cpi = analysis.cpis.get(analysis.index.served(path, instance, interface.name.text))
            if cpi is not None:
                yield f"**{cpi.name}**: {_cpi(analysis, cpi)}"


def _task(task: PlannedTask, stated: Task | None) -> str:
    parts = [f"id {task.id}", f"priority {task.priority}"]
    if stated is not None:
        times = {name: getattr(stated, name) for name in ("period", "deadline", "wcet", "budget")}
        parts += [f"{name} {duration(time)}" for name, time in times.items() if time is not None]
    return ", ".join(parts)


def _response(result: TaskResult) -> str:
    """Execution time with all requests, blocking, response, and what follows."""
    times = f"C {_time(result.demand.total)}, B {_time(result.blocking.least)}"
    if result.response is None and result.at_least:
        return f"{times}, R >= {_time(result.at_least)}: deadline {result.verdict.value}"
    if (none := result.no_bound) is not None:
        return f"{times}, R has no bound{': too much work' if none.reason is Reason.OVERLOAD else none.words}"
    verdict = result.verdict.value + (" what is assumed is so" if result.verdict is Verdict.MET_IF else "")
    response = "" if result.response is None else f", R {_time(result.response.time)}"
    return f"{times}{response}: deadline {verdict}"


def _time(value: Time) -> str:
    return format_time(ceil(value), 6)


# Inlay hints -------------------------------------------------------------------------------------


def hints(analysis: SystemSnapshot, path: str) -> Iterator[Hint]:
    """What the plan computed, beside the lines of a file that it is about."""
    if analysis.plan is None:
        return
    index = analysis.index
    for use in index.uses.get(path, ()):
        symbol = use.symbol
        if use.span != symbol.name.span:
            continue
        if symbol.kind == "interface" and symbol.interface and symbol.interface.kind == "provides":
            names = _served(analysis, symbol, None) if symbol.owner else iter(())
            values = {n: f"ceiling {c.ceiling}, {_threads(c)}" for n in names if (c := analysis.cpis.get(n))}
            yield from _hint(symbol.interface.span, values)
        elif symbol.kind == "instance" and isinstance(symbol.node, ast.InstanceDecl):
            found = {p: f"task {t.id}" for p in index.paths(symbol) if (t := analysis.tasks.get(p))}
            yield from _hint(symbol.node.span, found)
        elif symbol.kind == "component" and isinstance(symbol.node, ast.ComponentDecl):
            said = next((item for item in symbol.node.items if isinstance(item, ast.Requestor)), None)
            if said is not None:
                paths = index.component_paths(symbol)
                yield from _hint(said.span, {p: f"id {t.id}" for p in paths if (t := analysis.tasks.get(p))})


def _hint(span: Span, values: dict[str, str]) -> Iterator[Hint]:
    """One text where all instances agree, else one for each, up to a limit."""
    if not values:
        return
    tooltip = "\n".join(f"{name}: {value}" for name, value in values.items())
    text = next(iter(values.values()))
    if len(set(values.values())) > 1:
        shown = [f"{name}: {value}" for name, value in values.items()]
        text = "; ".join(shown[:_MOST_HINTS]) + ("; ..." if len(shown) > _MOST_HINTS else "")
    yield Hint(span, text, tooltip)
