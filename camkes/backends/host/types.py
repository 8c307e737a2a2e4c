# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The C types that a system names, checked by the compiler before any glue is compiled.

For each component, a header with the includes of its procedures and a declaration for each type takes
the place of the `camkes.h` that will be generated. `#line` numbers the declarations, so that messages about
one is reported where the `.camkes` file names the type.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from difflib import get_close_matches
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from camkes.backends.host.codes import C_TYPE, COMPILE_ERROR
from camkes.backends.host.compiler import Compiler, find_compiler
from camkes.backends.host.jobs import BuildJob, Progress
from camkes.backends.host.messages import Sources, compiler_messages
from camkes.backends.host.ninja import run_jobs
from camkes.backends.host.sources import build_of, compile_job, unusable_name
from camkes.diagnostics import Label, Sink, Span
from camkes.files import temporary_folder, write_changed
from camkes.generate.procedures import c_type, declare
from camkes.model.c_types import needs_compiler
from camkes.model.system import (
    ComponentType,
    DataportType,
    Include,
    Method,
    Procedure,
    System,
)
from camkes.project.application import Application
from camkes.project.builds import ComponentBuild
from camkes.resolve.words.nearest import suggestion

_MARK = "camkes-types"  # what `#line` calls the file
_SOURCE = "types.c"
_TYPEDEF = re.compile(r"\btypedef\b[^;{]*(?:\{[^}]*\})?[\s*]*\b(\w+)\s*;")
_CLOSE = 0.75  # how alike a name must be to be suggested
_OF_OTHER_KERNELS = ("seL4_", "ps_")  # begin the names of types that the host kernel may lack
_PREAMBLE = "".join(
    f"#include <{header}>\n"
    for header in (
        *("camkes/dataport.h", "camkes/error.h", "camkes/realtime.h", "sel4/sel4.h"),
        *("stdbool.h", "stddef.h", "stdint.h", "stdlib.h", "utils/util.h"),
    )
)
_ERROR = re.compile(rf"{_MARK}:(\d+):(?:\d+:)? (?:fatal )?error: (.*)")
_MISSING_HEADER = re.compile(r"fatal error: (\S+): No such file|fatal error: '([^']+)' file not found")
_UNKNOWN = re.compile(r"unknown type name|undeclared|use of undeclared")
_SUGGESTED = re.compile(r"did you mean (?:to use )?'([^']+)'|use '(struct|union|enum)' keyword")
_INCOMPLETE = re.compile(r"incomplete (?:result )?type|has incomplete|incomplete")
_FUNCTION = re.compile(r"(?:returning|returns|return) (?:a )?function|declared as a function|function type")
_ARRAY = re.compile(r"(?:returning|returns|return) an? ?array|array type|return array")


class _TypeUse(Struct, frozen=True):
    """A type, as C writes it, and where a system names it: in a method of the procedure `owner`, if that is
    not None. `value`: it is passed by value."""

    text: str
    span: Span
    owner: Procedure | None
    value: bool


class _Unit(Struct, frozen=True):
    """What is compiled for a component."""

    component: ComponentType
    build: ComponentBuild
    includes: tuple[tuple[Include, Procedure | None], ...]
    uses: tuple[_TypeUse, ...]


def check_types(
    system: System, application: Application, out: Path | None, sink: Sink, progress: Progress
) -> None:
    """Report types that the C compiler does not accept, and errors of the headers that define them.

    `out` is a folder for what is compiled. Without one nothing is built: then there is no error where a
    header or the compiler is missing, for the system may be one for another kernel, whose libraries are not
    on this workstation. OSError where the folder cannot be written.
    """
    units = _units(system, application)
    compiler = find_compiler(False, Sink(), mcs=system.mcs) if units else None
    if compiler is None:
        return
    faults: dict[str, list[tuple[_TypeUse, str, _Unit]]] = {}
    reported: set[object] = set()
    sources = Sources()  # one for all, so that a mistake in a header that all include counts once
    with nullcontext(out) if out is not None else temporary_folder("camkes-types-") as folder:
        jobs = [_job(unit, compiler, folder / str(number)) for number, unit in enumerate(units)]
        if unusable_name(folder, jobs) is not None:
            return  # the build reports it
        said = {o.job.about: o.messages for o in run_jobs(folder, jobs, progress) if not o.good}
    for number, unit in enumerate(units):
        messages = said.get(jobs[number].about, "")
        if _MISSING_HEADER.search(messages):
            _report_headers(unit, messages, out is not None, reported, sources, sink)
            continue
        found = _faults(unit, messages)
        if not found and messages:
            _report_code(unit, messages, sources, sink)
        for use, text in found:
            if out is not None or not use.text.startswith(_OF_OTHER_KERNELS):
                faults.setdefault(use.text, []).append((use, text, unit))
    for text, uses in faults.items():
        _report(text, uses, units, sink)


# what is checked


def _units(system: System, application: Application) -> list[_Unit]:
    """The components that name types of their own or have includes, each once for each way it is built."""
    found: dict[object, _Unit] = {}
    for instance in system.instances:
        kind = instance.type
        if kind.hardware or not needs_compiler(kind):
            continue
        build = build_of(application, instance, Sink())
        unit = _Unit(kind, build, tuple(_includes(kind)), tuple(_uses(kind)))
        found.setdefault((kind.name, build.includes, build.c_flags), unit)
    return list(found.values())


def _includes(kind: ComponentType) -> Iterator[tuple[Include, Procedure | None]]:
    """In the order in which `camkes.h` has them."""
    seen: set[Include] = set()
    procedures = [i.type for i in kind.interfaces if isinstance(i.type, Procedure)]
    pairs = [(i, None) for i in kind.includes] + [(i, p) for p in procedures for i in p.includes]
    for include, owner in pairs:
        if include not in seen:
            seen.add(include)
            yield include, owner


def _uses(kind: ComponentType) -> Iterator[_TypeUse]:
    for interface in kind.interfaces:
        if isinstance(interface.type, Procedure):
            for method in interface.type.methods:
                yield from _uses_of_method(interface.type, method)
        elif isinstance(interface.type, DataportType) and interface.type.size is None:
            name = interface.type.name
            yield _TypeUse(name, _word(interface.span, name, interface.name), None, False)


def _uses_of_method(owner: Procedure, method: Method) -> Iterator[_TypeUse]:
    if method.return_type is not None:
        span = _word(method.span, method.return_type.name, method.name)
        yield _TypeUse(c_type(method.return_type), span, owner, True)
    for parameter in method.parameters:
        span = _word(method.span, parameter.type.name, parameter.name)
        yield _TypeUse(c_type(parameter.type), span, owner, True)


def _word(span: Span, word: str, before: str) -> Span:
    """Where `word` is, as the type of the name `before`, in the lines about `span`; else `span`."""
    lines = span.file.lines
    pattern = re.compile(rf"\b{re.escape(word)}\b(?=[^,;()]*\b{re.escape(before)}\b)")
    for number in range(span.line, min(span.end_line + 10, len(lines)) + 1):
        found = pattern.search(lines[number - 1])
        if found is not None:
            return Span(span.file, number, found.start() + 1, number, found.end() + 1)
    return span


# compiling


def _job(unit: _Unit, compiler: Compiler, folder: Path) -> BuildJob:
    """Compiles the types of a component in a folder of its own."""
    lines = [_PREAMBLE]
    for number, (include, _) in enumerate(unit.includes, 1):
        name = f"<{include.path}>" if include.system else f'"{include.path}"'
        lines.append(f'#line {number} "{_MARK}"\n#include {name}\n')
    for number, use in enumerate(unit.uses, len(unit.includes) + 1):
        lines.append(f'#line {number} "{_MARK}"\n')
        if use.value:
            function = declare(use.text, f"camkes_type_{number}({declare(use.text, 'value')})")
            lines.append(f"static inline {function} {{ return value; }}\n")
        else:
            lines.append(f"struct camkes_type_{number} {{ {declare(use.text, 'value')}; }};\n")
    write_changed(folder / "camkes.h", f"#pragma once\n{''.join(lines)}")
    source = folder / _SOURCE
    write_changed(source, "#include <camkes.h>\n")
    about = f"types of {unit.component.name} ({folder.name})"
    includes = (folder, *unit.build.includes)
    quiet = ("-w", "-g0", "-O0")
    return compile_job(compiler, source, folder / "types.o", includes, unit.build.c_flags, about, last=quiet)


def _faults(unit: _Unit, said: str) -> list[tuple[_TypeUse, str]]:
    """The types that were not accepted, each with the compiler's first message about it."""
    found: dict[str, tuple[_TypeUse, str]] = {}
    for match in _ERROR.finditer(said):
        number = int(match[1]) - len(unit.includes) - 1
        if 0 <= number < len(unit.uses):
            use = unit.uses[number]
            found.setdefault(use.text, (use, match[2]))
    return list(found.values())


# reporting


def _report_code(unit: _Unit, said: str, sources: Sources, sink: Sink) -> None:
    """Report mistakes in headers, without the generated source that includes them here."""
    for found in compiler_messages(said, False, f"component {unit.component.name}", sources):
        related = tuple(label for label in found.related if label.span.file.path.name != _SOURCE)
        sink.add(replace(found, related=related))


def _report_headers(
    unit: _Unit, said: str, building: bool, reported: set[object], sources: Sources, sink: Sink
) -> None:
    """Report a header that is not there, once, where it is included; if nothing is built, only one whose name
    is much like that of a header of the component."""
    direct = _ERROR.search(said)
    if direct is None or int(direct[1]) > len(unit.includes):
        if not building:
            return
        _report_code(unit, said, sources, sink)
        return
    include, owner = unit.includes[int(direct[1]) - 1]
    span = (owner or unit.component).span
    gone = [folder for folder in unit.build.includes if not folder.is_dir()]
    if building and gone and unit.build.span is not None:
        if unit.build.span not in reported:
            _report_folder(unit, gone[0], Label(_line_with(span, include.path), "the header"), sink)
        reported.add(unit.build.span)
        return
    near = [] if include.system else _headers_like(include.path, unit.build)
    if include in reported or not (building or near):
        return
    reported.add(include)
    if near:
        place = _line_with(span, include.path)
        message, help = f"there is no header `{include.path}`", f"did you mean `{near[0]}`?"
        sink.report(COMPILE_ERROR, message, place, help=help)
        return
    sink.report(
        COMPILE_ERROR,
        f"component `{unit.component.name}` cannot find the header `{include.path}`",
        _line_with(span, include.path),
        related=[Label(unit.build.span, "declared here")] if unit.build.span is not None else [],
        help="put it beside the sources of the component, or into a folder `include` there or in the project"
        if unit.build.span is None
        else f"add its folder: DeclareCAmkESComponent({unit.component.name} ... INCLUDES folder)",
    )


def _report_folder(unit: _Unit, gone: Path, header: Label, sink: Sink) -> None:
    """Report a folder of headers that is not there, once for the call that names it."""
    beside = [path.name for path in gone.parent.iterdir() if path.is_dir()] if gone.parent.is_dir() else []
    sink.report(
        COMPILE_ERROR,
        f"component `{unit.component.name}` cannot find a header: there is no folder `{gone.name}`",
        unit.build.span,
        related=[header],
        help=suggestion(gone.name, beside) or "correct the folder after INCLUDES",
    )


def _headers_like(name: str, build: ComponentBuild) -> list[str]:
    places = dict.fromkeys((*build.includes, *(source.parent for source in build.sources)))
    there = [path.name for place in places if place.is_dir() for path in sorted(place.glob("*.h"))]
    return get_close_matches(name, there, 1, _CLOSE)


def _line_with(span: Span, path: str) -> Span:
    pattern = re.compile(rf"include\s*[\"<]{re.escape(path)}[\">]")
    lines = list(enumerate(span.file.lines, 1))
    for number, line in lines[span.line - 1 :] + lines[: span.line - 1]:
        found = pattern.search(line)
        if found is not None:
            return Span(span.file, number, found.start() + 1, number, found.end() + 1)
    return span


def _report(
    text: str, found: Sequence[tuple[_TypeUse, str, _Unit]], units: Sequence[_Unit], sink: Sink
) -> None:
    """Report a type once, at its first use."""
    use, said, unit = found[0]
    spans = dict.fromkeys(other.span for other, _, _ in found)
    spans.update(dict.fromkeys(u.span for _, _, at in found for u in at.uses if u.text == text))
    spans.pop(use.span, None)
    message, help_ = f"`{text}` is not accepted as a type: {said}", ""
    if _UNKNOWN.search(said):
        message, help_ = f"unknown type `{text}`", _help(use, said, unit, units)
    elif text.strip() == "void":
        message, help_ = "`void` is not the type of a value", "leave the parameter out"
    elif _FUNCTION.search(said):
        message, help_ = (
            f"`{text}` is a type of functions, which cannot be passed",
            "pass a number that identifies it",
        )
    elif _ARRAY.search(said):
        message, help_ = (
            f"`{text}` is a type of arrays, which cannot be passed by value",
            "put it in a struct",
        )
    elif _INCOMPLETE.search(said):
        message = f"`{text}` has no definition, so it cannot be passed by value"
        help_ = "define it in a header that the procedure includes, or pass something else"
    knows = [u for u in units if any(x.text == text for x in u.uses) and u not in [at for _, _, at in found]]
    names = dict.fromkeys(at.component.name for _, _, at in found)
    sink.report(
        C_TYPE,
        message,
        use.span,
        related=[Label(span, "used here too") for span in list(spans)[:2]],
        notes=[f"for component {', '.join(names)}; other components find it"] if knows else [],
        help=help_,
    )


def _help(use: _TypeUse, said: str, unit: _Unit, units: Sequence[_Unit]) -> str:
    suggested = _SUGGESTED.search(said)
    if suggested is not None:
        return f"did you mean `{suggested[1] or f'{suggested[2]} {use.text}'}`?"
    name = use.text.removeprefix("struct ")
    files = list(_files(unit.build, use.span.file.path.parent))
    files += [source for other in units for source in other.build.sources]
    place = _defined_in(name, files)
    owner = f"procedure `{use.owner.name}`" if use.owner else f"component `{unit.component.name}`"
    if place is None:
        close = get_close_matches(name, _defined_names(files), 1, _CLOSE)
        if close:
            return f"did you mean `{close[0]}`?"
        return f'include the header that defines it: `include "FILE.h";` in {owner}'
    if place.suffix == ".h":
        folder = os.path.relpath(place.parent, use.span.file.path.parent)
        found = place.parent in unit.build.includes
        more = (
            "" if found else f", and INCLUDES {folder} to DeclareCAmkESComponent({unit.component.name} ...)"
        )
        return f'it is defined in {place.name}: add `include "{place.name}";` to {owner}{more}'
    return f"it is defined in {place.name} only: put it in a header, and include that in {owner}"


def _files(build: ComponentBuild, beside: Path) -> Iterator[Path]:
    """Headers, then sources, that may define a type."""
    folders = dict.fromkeys((*build.includes, *(s.parent for s in build.sources), beside, beside / "include"))
    for folder in folders:
        if folder.is_dir():
            yield from sorted(folder.glob("*.h"))
    yield from build.sources


def _defined_names(files: Iterable[Path]) -> list[str]:
    return [name for path in files for name in _TYPEDEF.findall(_text(path))]


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _defined_in(name: str, files: Iterable[Path]) -> Path | None:
    pattern = re.compile(
        rf"\b(?:struct|union|enum)\s+{re.escape(name)}\s*\{{|[}}*\s]{re.escape(name)}\s*(?:\[[^]]*\]\s*)?;"
    )
    return next((path for path in files if pattern.search(_text(path))), None)
