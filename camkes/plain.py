# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A system as plain CAmkES, as camkes-tool reads it: its files without the words of this tool, and what that
loses.

Files are edited, not written anew: what is not ours stays byte for byte. Text that the preprocessor leaves
out is not seen, so it stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from camkes.backends.host.sources import builds_of
from camkes.diagnostics import Sink, SourceFile, Span
from camkes.diagnostics.words import plural
from camkes.model.protocols import Protocol
from camkes.model.settings import BUDGET, PERIOD, PRIORITY, TABLE, Known
from camkes.model.system import Instance, System
from camkes.model.units import NANOSECONDS
from camkes.parser import ast
from camkes.project.application import Application
from camkes.protocols.plan import Plan, PlannedCpi
from camkes.resolve.files.imports import Program
from camkes.resolve.files.library import comes_with_tool
from camkes.resources import RUNTIME
from camkes.scaffold.cmake import word as cmake_word
from camkes.scaffold.codes import NOT_EXPORTED

#: what our library has and that of camkes-tool has not, and where it comes from
_IMPORTS = {
    "TimeServer": "global-components",
    "Timer": "global-components",
    "global-connectors": "global-components",
    "user_scheduler": "",
}
#: names in our language, and words since camkes-tool 3.12 and 3.13
_RESERVED = frozenset(("schedule", "ticks", "us"))
_SUFFIXES = frozenset((".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp"))
_NAME = re.compile(r"\w+")
_DECLARED = re.compile(r"(?:^#define |\b)(CAMKES_\w+|camkes_\w+)\(", re.MULTILINE)
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*if", re.MULTILINE)
_MICROSECOND = NANOSECONDS["us"]
_INDENT = 4
_COMMENT = re.compile(r"\s*(?://.*|/\*(?:[^*]|\*(?!/))*\*/\s*)?\s*", re.DOTALL)


_Node = TypeVar("_Node")


class PlainLoss(Struct, frozen=True):
    """What plain CAmkES cannot say: where it was written, what ends, and what can be done instead, or ""."""

    file: Path
    line: int
    what: str
    instead: str


class PlainSystem(Struct, frozen=True):
    """The texts of the files of a system that change, and what is lost, in the order of files and lines."""

    texts: Mapping[Path, str]
    lost: tuple[PlainLoss, ...]


def plain_system(
    program: Program, system: System, plan: Plan, sources: Iterable[Path], sink: Sink
) -> PlainSystem | None:
    """The system without the words of this tool; None after an error: where a macro makes one of these, or
    the system has a scheduler at user level. `sources` are files of C code in which functions of this tool
    are looked for."""
    exporter = _Exporter(program, system, plan, sink)
    exporter.edit()
    if sink.has_errors:
        return None
    exporter.look_into(sources)
    return exporter.result()


def application_files(
    application: Application, system: System, program: Program, out: Path
) -> dict[Path, Path]:
    """The files of an application, by their names below its folder: all of a project, of a lone file those
    that it names. Other systems, hidden files and the folders `build` and `out` are left out."""
    base = application.folder.absolute()
    own = {file.path.absolute() for file in program.files if not comes_with_tool(file.path)}
    if application.lists is None:
        builds = builds_of(application, system.instances, Sink()).values()
        found = {source.absolute() for build in builds for source in build.sources}
        found |= {header for source in set(found) for header in source.parent.glob("*.h")} | own
    else:
        found = {path for path in _below(base, out.absolute()) if path in own or path.suffix != ".camkes"}
    return {path.relative_to(base): path for path in sorted(found) if path.is_relative_to(base)}


def _below(folder: Path, out: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name == "build" or path == out:
            continue
        if path.is_dir() and not path.is_symlink():
            yield from _below(path, out)
        elif path.is_file():
            yield path


def cmake_lists(application: Application, system: System) -> str:
    """A CMakeLists.txt for the folder of a lone file."""
    base = application.folder.absolute()
    lines = ["cmake_minimum_required(VERSION 3.16)", f"project({cmake_word(application.name)} C)", ""]
    types = {i.type.name: i for i in system.instances if not i.type.hardware}
    for name, build in builds_of(application, types.values(), Sink()).items():
        kind = next(kind for kind, instance in types.items() if instance.name == name)
        sources = (source.absolute() for source in build.sources)
        named = " ".join(cmake_word(str(s.relative_to(base))) for s in sources if s.is_relative_to(base))
        lines.append(f"DeclareCAmkESComponent({kind}{f' SOURCES {named}' if named else ''})")
    root = application.root.absolute().relative_to(base)
    lines += ["", f"DeclareCAmkESRootserver({cmake_word(str(root))})", "GenerateCAmkESRootserver()", ""]
    return "\n".join(lines)


class _Exporter:
    def __init__(self, program: Program, system: System, plan: Plan, sink: Sink) -> None:
        self.program, self.system, self.plan, self.sink = program, system, plan, sink
        self.edits: dict[SourceFile, list[tuple[int, int, str]]] = {}
        self.lost: list[PlainLoss] = []
        self.reserved: set[str] = set()  # words that were refused
        names = _DECLARED.findall((RUNTIME / _HEADER).read_text("utf-8"))
        #: functions of ours that code may use, and what can be done instead
        self.functions = dict.fromkeys(names, "") | _FUNCTIONS
        self.to_insert: dict[int, tuple[_ConfiguredBlock, list[str]]] = {}
        members = {i.name for each in system.instances for i in each.type.interfaces}
        members |= {declared.name.text for declared in self._all(ast.SyncDecl)}
        self.members = sorted(members, key=len, reverse=True)

    # the text

    def edit(self) -> None:
        for band in self.system.bands:
            self._refuse(band.span, "a scheduler at user level has no form in plain CAmkES")
        for item in self.program.items:
            self._names(item)
            self._item(item)
        for cpi in self.plan.cpis:
            self._ceiling(cpi)
        for body, lines in self.to_insert.values():
            body.insert(self, lines)

    def _item(self, item: ast.TopLevelItem) -> None:
        match item:
            case ast.ImportDecl():
                self._import(item)
            case ast.ComponentDecl():
                self._component(item)
            case ast.CompositionDecl():
                self._composition(item)
            case ast.ConfigurationDecl():
                self._configuration(item)
            case ast.AssemblyDecl():
                for part in item.items:
                    if isinstance(part, ast.ScheduleDecl):
                        for entry in part.entries:
                            self._slot(entry)
                    elif not isinstance(part, ast.BlockReference):
                        self._item(part)

    def _names(self, node: object) -> None:
        """Refuse names that are words of camkes-tool."""
        if isinstance(node, ast.Identifier):
            known = node.text in self.reserved or comes_with_tool(node.span.file.path)
            if node.text in _RESERVED and not known:
                self.reserved.add(node.text)
                message = f"`{node.text}` is a word of the language to camkes-tool"
                self._refuse(node.span, message, "choose another name")
        elif isinstance(node, tuple) and not isinstance(node, Span):
            for each in node:
                self._names(each)
        elif isinstance(node, Struct) and not isinstance(node, ast.Quantity):
            for name in node.__struct_fields__:
                self._names(getattr(node, name))

    def _import(self, item: ast.ImportDecl) -> None:
        known = _IMPORTS.get(Path(item.path).stem) if item.system else None
        if known:
            self._lose(item.span, f"<{item.path}> does not come with camkes-tool", f"it is in {known}")

    def _component(self, component: ast.ComponentDecl) -> None:
        for item in component.items:
            match item:
                case ast.Requestor():
                    self._remove(item.span)
                    what = f"requests of {_named(component)} do not carry its priority, and it has no jobs"
                    self._lose(item.span, what, "")
                case ast.CriticalityControl():
                    self._remove(item.span)
                    self._lose(item.span, "criticality: the component cannot change it", "")
                case ast.SyncDecl(kind="condition"):
                    self._remove(item.span)
                    what = f"condition `{item.name.text}`: there is nothing to wait for inside a lock"
                    self._lose(item.span, what, "a semaphore, outside of the lock")
                    for word in ("wait", "wait_until", "signal", "broadcast"):
                        self.functions[f"{item.name.text}_{word}"] = "the condition is gone"
                case ast.InterfaceDecl() | ast.SyncDecl():
                    self._clauses(item.clauses, item.name.text)
                    if any(isinstance(clause, ast.HelpersClause) for clause in item.clauses):
                        self.functions[f"{item.name.text}_wait_until"] = "waits do not end at a time"
        for block in (component.composition, component.configuration):
            if isinstance(block, (ast.CompositionDecl, ast.ConfigurationDecl)):
                self._item(block)

    def _composition(self, composition: ast.CompositionDecl) -> None:
        for item in composition.items:
            instances = item.instances if isinstance(item, ast.GroupDecl) else (item,)
            for each in instances:
                if isinstance(each, ast.InstanceDecl) and isinstance(each.type, ast.ComponentDecl):
                    self._component(each.type)
            if isinstance(item, ast.ConnectionDecl):
                self._clauses(item.clauses, item.name.text)

    def _clauses(self, clauses: tuple[ast.InterfaceClause, ...], name: str) -> None:
        if not clauses:
            return
        first, last = clauses[0].span, clauses[-1].span
        if not self._editable(first.to(last)):
            return
        text, start = first.file.text, _offset(first)
        word = text.rindex("with", 0, start)
        self._replace(first.file, len(text[:word].rstrip()), _end(last), "")
        for clause in clauses:
            lost = _CLAUSES[type(clause)]
            self._lose(clause.span, lost[0].format(name=name), lost[1])

    def _configuration(self, configuration: ast.ConfigurationDecl) -> None:
        for setting in configuration.settings:
            self._setting(setting)

    def _setting(self, setting: ast.SettingDecl) -> None:
        name, instance = setting.path[-1].text, ".".join(part.text for part in setting.path[:-1])
        known = None if self._is_attribute(instance, name) else self._known(name)
        if known is not None and (known.own or (known is PERIOD and not self._has_budget(instance))):
            self._remove(setting.span)
            self._lose(setting.span, f"`{instance}.{name}` ({known.about}) is read by camkes-rt alone", "")
        elif isinstance(setting.value, ast.Quantity):
            self._in_microseconds(setting.value)

    def _slot(self, entry: ast.ScheduleEntry) -> None:
        if isinstance(entry.duration, ast.Quantity) and entry.duration.unit.text not in ("us", "ticks"):
            self._in_microseconds(entry.duration, " us")

    def _in_microseconds(self, value: ast.Quantity, unit: str = "") -> None:
        """A time as a number: without a unit it is in microseconds for camkes-tool too."""
        if not self._editable(value.span):
            return
        number = value.number.span
        text = number.file.text[_offset(number) : _end(number)]
        factor = NANOSECONDS.get(value.unit.text, _MICROSECOND)
        if isinstance(value.number, ast.Literal) and isinstance(value.number.value, int | float):
            exact = value.number.value * factor / _MICROSECOND
            text = str(round(exact))
            if exact != round(exact):
                self._lose(
                    value.span, f"{exact:g} us is not a whole number of microseconds", f"{text} us is taken"
                )
        elif factor != _MICROSECOND:
            more = f"* {factor // _MICROSECOND}" if factor > _MICROSECOND else f"/ {_MICROSECOND // factor}"
            text = f"({text}) {more}"
        self._replace(value.span.file, _offset(value.span), _end(value.span), text + unit)

    def _is_attribute(self, instance: str, name: str) -> bool:
        """Whether C code may read a setting: it is an attribute of the component."""
        return any(
            attribute.name == name for each in self._instances(instance) for attribute in each.type.attributes
        )

    def _has_budget(self, instance: str) -> bool:
        names = BUDGET.names("_")
        return self.system.mcs and any(
            name in each.settings for each in self._instances(instance) for name in names
        )

    def _instances(self, name: str) -> list[Instance]:
        return [i for i in self.system.instances if i.name == name or i.name.endswith(f".{name}")]

    def _known(self, name: str) -> Known | None:
        """The setting that a name means, of an instance, a thread or an interface."""
        words = [name.removeprefix("_")]
        words += [name.removeprefix(f"{member}_") for member in self.members if name.startswith(f"{member}_")]
        for word in words:
            if word in TABLE:
                return TABLE[word]
        # of a method
        return next(
            (k for k in TABLE.values() if k.name.startswith("wcet") and name.endswith(f"_{k.name}")), None
        )

    # priorities

    def _ceiling(self, cpi: PlannedCpi) -> None:
        """Have the one thread that serves a CPI execute at its ceiling."""
        instance = self.system.instance(cpi.instance)
        assert instance is not None
        declared = instance.type.interface(cpi.interface)
        assert declared is not None
        name = PRIORITY.of(f"{cpi.interface}_")
        before = f"{cpi.protocol.value}, with {cpi.threads} {plural(cpi.threads, 'thread')}"
        what = f"`{cpi.name}` was {before}: {_ends(cpi.protocol)}"
        self._lose(declared.span, what, f"one thread serves it at its ceiling, {cpi.ceiling}")
        if name in instance.settings or any(a.name == name for a in instance.type.attributes):
            return
        body = self._body_of(cpi.instance)
        if body is None:
            self._lose(
                instance.span, f"`{cpi.instance}.{name}` = {cpi.ceiling} is not stated", "state it by hand"
            )
            return
        line = f"{cpi.instance.rpartition('.')[2]}.{name} = {cpi.ceiling};"
        lines = self.to_insert.setdefault(id(body.owner), (body, []))[1]
        if line not in lines:
            lines.append(line)

    def _body_of(self, instance: str) -> _ConfiguredBlock | None:
        """The block in which an instance is configured; None if several have its name and other ceilings."""
        name = instance.rpartition(".")[2]
        bodies: list[_ConfiguredBlock] = []
        owners: list[ast.AssemblyDecl | ast.ComponentDecl] = [*self._all(ast.AssemblyDecl)]
        for owner in [*owners, *self._all(ast.ComponentDecl)]:
            body = _ConfiguredBlock.of(owner)
            if body is not None and any(name == each for each in body.instances):
                bodies.append(body)
        top = [body for body in bodies if isinstance(body.owner, ast.AssemblyDecl)]
        if "." not in instance:
            return top[0] if top else None
        alike = [cpi.ceiling for cpi in self.plan.cpis if cpi.instance.rpartition(".")[2] == name]
        inner = [body for body in bodies if body not in top]
        return inner[0] if len(inner) == 1 and len(set(alike)) == 1 else None

    def _all(self, kind: type[_Node]) -> Iterator[_Node]:
        """All nodes of a kind, at the top level and in components that are defined there."""
        for item in self.program.items:
            if isinstance(item, kind):
                yield item
            if isinstance(item, ast.ComponentDecl):
                yield from (part for part in item.items if isinstance(part, kind))

    # C code

    def look_into(self, sources: Iterable[Path]) -> None:
        """Find the functions of this tool that code uses."""
        for path in sorted(set(sources)):
            if path.suffix not in _SUFFIXES:
                continue
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            for number, line in enumerate(lines, 1):
                for name in dict.fromkeys(_NAME.findall(line)):
                    if name in self.functions:
                        self.lost.append(PlainLoss(path, number, f"`{name}()`", self.functions[name]))

    # edits

    def _refuse(self, span: Span, message: str, help: str = "") -> None:
        if all((found.span, found.message) != (span, message) for found in self.sink.diagnostics):
            self.sink.report(NOT_EXPORTED, message, span, help=help)

    def _editable(self, span: Span) -> bool:
        if comes_with_tool(span.file.path):
            return False
        if any(each.use.overlaps(span) for each in span.file.expansions):
            message = "what a macro makes here is not plain CAmkES, and macros are not changed"
            self._refuse(span, message, "write it without the macro")
            return False
        return True

    def _lose(self, span: Span, what: str, instead: str) -> None:
        if not comes_with_tool(span.file.path):
            self.lost.append(PlainLoss(span.file.path, span.line, what, instead))

    def _replace(self, file: SourceFile, start: int, end: int, text: str) -> None:
        self.edits.setdefault(file, []).append((start, end, text))

    def _remove(self, span: Span) -> None:
        """Remove an item with its `;`, and its line if nothing else is there but a comment about it."""
        if not self._editable(span):
            return
        text, start, end = span.file.text, _offset(span), _end(span)
        if text[end - 1] != ";":
            end = text.index(";", end) + 1
        start = len(text[:start].rstrip(" \t"))
        self._replace(span.file, start, end, "")

    def result(self) -> PlainSystem:
        texts: dict[Path, str] = {}
        for file, edits in self.edits.items():
            text = file.text
            for start, end, new in sorted(_whole_lines(text, set(edits)), reverse=True):
                text = text[:start] + new + text[end:]
            texts[file.path] = text
        base = self.program.root.path.parent
        for file in self.program.files:
            if (
                file.path.is_relative_to(base)
                and (found := _CONDITIONAL.search(file.text))
                and not comes_with_tool(file.path)
            ):
                line = file.text.count("\n", 0, found.start()) + 1
                what = "text that #if leaves out is as it was"
                self.lost.append(PlainLoss(file.path, line, what, "look at it"))
        lost = sorted(set(self.lost), key=lambda each: (str(each.file), each.line, each.what))
        return PlainSystem(texts, tuple(lost))


def _whole_lines(text: str, edits: set[tuple[int, int, str]]) -> set[tuple[int, int, str]]:
    """The same edits, where nothing but a comment would be left of a line the line is removed."""
    removed = sorted((start, end) for start, end, new in edits if not new)
    found = set(edits)
    begin = 0
    for line in text.splitlines(keepends=True):
        inside = [(s, e) for s, e in removed if begin <= s and e <= begin + len(line) and s < e]
        left, at = "", begin
        for start, end in inside:
            left, at = left + text[at:start], end
        left += text[at : begin + len(line)]
        if inside and _COMMENT.fullmatch(left):
            found -= {(start, end, "") for start, end in inside}
            found.add((begin, begin + len(line), ""))
        begin += len(line)
    return found


class _ConfiguredBlock(Struct, frozen=True, eq=False):
    """An assembly or a component with instances, and where these are configured."""

    owner: ast.AssemblyDecl | ast.ComponentDecl
    instances: tuple[str, ...]
    composition: ast.CompositionDecl
    configuration: ast.ConfigurationDecl | None

    @staticmethod
    def of(owner: ast.AssemblyDecl | ast.ComponentDecl) -> _ConfiguredBlock | None:
        parts = (
            owner.items if isinstance(owner, ast.AssemblyDecl) else (owner.composition, owner.configuration)
        )
        compositions = [part for part in parts if isinstance(part, ast.CompositionDecl)]
        configurations = [part for part in parts if isinstance(part, ast.ConfigurationDecl)]
        if not compositions:
            return None
        items = [item for each in compositions for item in each.items]
        every = chain(items, *(item.instances for item in items if isinstance(item, ast.GroupDecl)))
        names = tuple(item.name.text for item in every if isinstance(item, ast.InstanceDecl))
        last = configurations[-1] if configurations else None
        return _ConfiguredBlock(owner, names, compositions[-1], last)

    def insert(self, to: _Exporter, lines: list[str]) -> None:
        """Add settings at the end of the configuration, or a configuration behind the composition."""
        block = self.configuration or self.composition
        if not to._editable(block.span):
            return
        text, end = block.span.file.text, _end(block.span)
        begin = text.rfind("\n", 0, end - 1) + 1
        blank = text[begin : end - 1]
        indent = re.match(r"[ \t]*", blank)
        outer = indent[0] if indent is not None else ""
        if self.configuration is None:
            inner = "".join(f"{outer}{' ' * _INDENT}{line}\n" for line in lines)
            to._replace(block.span.file, end, end, f"\n{outer}configuration {{\n{inner}{outer}}}")
        elif blank.strip():
            to._replace(block.span.file, end - 1, end - 1, " ".join(["", *lines, ""]))
        else:
            inner = "".join(f"{outer}{' ' * _INDENT}{line}\n" for line in lines)
            to._replace(block.span.file, begin, begin, inner)


def _offset(span: Span) -> int:
    return sum(len(line) + 1 for line in span.file.lines[: span.line - 1]) + span.column - 1


def _end(span: Span) -> int:
    return sum(len(line) + 1 for line in span.file.lines[: span.end_line - 1]) + span.end_column - 1


def _named(component: ast.ComponentDecl) -> str:
    return f"`{component.name.text}`" if component.name is not None else "the component"


_HEADER = Path("include") / "camkes" / "realtime.h"
#: what can be written in place of functions
_FUNCTIONS = {
    "camkes_next_job": "a loop that waits for a timer, of the time server of global-components",
    "camkes_work": "it consumes time for tests: leave it out",
    "camkes_work_between": "it consumes time for tests: leave it out",
    "camkes_now": "the time of the time server",
}


def _ends(protocol: Protocol) -> str:
    """What ends where one thread at the ceiling takes the place of a protocol."""
    if not protocol.lock:
        return "requests are not served at the same time, and not at their own priorities"
    if protocol.inherits:
        return "its thread does not inherit, nor does one below it that it waits for"
    return "the lock stays one, its nesting is not checked"


_CLAUSES: dict[type, tuple[str, str]] = {
    ast.ProtocolClause: (
        "the protocol of `{name}`",
        "priority-aware-camkes: interface_priority_attributes()",
    ),
    ast.RequestsClause: ("the check of what `{name}` requests", ""),
    ast.HelpersClause: ("helpers: a thread that waits for `{name}` lends no priority", ""),
    ast.WithinClause: ("the bound of waits for `{name}`", ""),
    ast.MonitorClause: (
        "the lock that `{name}` shares with others: their handlers can run at the same time",
        "a mutex in these handlers",
    ),
    ast.OverrunClause: ("what happens to `{name}` when a budget is used up", ""),
    ast.ThreadsClause: ("the number of threads of `{name}`", "priority-aware-camkes: connection rpc(N)"),
    ast.UnknownClause: ("a clause of `{name}`", ""),
}
