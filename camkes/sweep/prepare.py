# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What is read and checked once, before the first combination is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from msgspec.structs import replace

from camkes import __version__, pipeline
from camkes.backends.host.sources import build_of
from camkes.diagnostics import Diagnostic, Sink
from camkes.files import OutputError
from camkes.model.system import Instance, System
from camkes.resolve.codes import UNKNOWN_SETTING, UNKNOWN_SETTING_INSTANCE
from camkes.resolve.files.imports import read_program
from camkes.resolve.program.settings import members_of, method_words
from camkes.resolve.words.known import candidates
from camkes.resolve.words.nearest import suggestion
from camkes.sweep.axes import SweepAxis
from camkes.sweep.codes import VARIED_SETTING
from camkes.sweep.evaluate import Doable, Evaluation, Prepared, read_code


def prepare(
    asked: pipeline.Input,
    axes: tuple[SweepAxis, ...],
    seeds: tuple[int, ...],
    todo: Doable,
    sink: Sink,
    progress: Callable[[str], None],
) -> Prepared | None:
    """Read a system and check that it has all that is varied; None, and errors, where it has not, or is no
    system with any values. The code is read with the values of the first combination."""
    progress("reading")
    application = pipeline.find(asked, sink)
    if application is None:
        return None
    own = Sink()
    program = read_program(application.root, pipeline.load_options(application, asked), own)
    prepared = Prepared(
        asked=asked, application=application, program=program, axes=axes, seeds=seeds, todo=todo
    )
    found, unchanged = Sink(), Sink()
    first = prepared.chosen(0)[0]
    system = pipeline.load_input(application, first, found, program)
    if system is None:  # its values may be why
        system = pipeline.load_input(application, asked, unchanged, program)
    for diagnostic in (*own.diagnostics, *(unchanged.diagnostics if system is None else ())):
        sink.add(diagnostic)
    for diagnostic in _about_axes(found, system, axes):
        sink.add(diagnostic)
    if system is None or sink.has_errors:
        return None
    return prepared if todo.unread or todo.doing != "analyze" else _with_code(prepared, (first, asked))


def _with_code(prepared: Prepared, candidates: Iterable[pipeline.Input]) -> Prepared:
    """The same with what the code calls, of the first system in which there is no mistake."""
    with Evaluation(prepared) as evaluation:
        for each in candidates:
            try:
                checked = evaluation.checked(each, Sink())
            except OutputError as error:  # to analyse a system, nothing need be written
                return replace(prepared, todo=replace(prepared.todo, unread={"": str(error)}))
            if checked is not None:
                return replace(prepared, code=read_code(checked))
    return prepared


def _about_axes(found: Sink, system: System | None, axes: tuple[SweepAxis, ...]) -> Iterator[Diagnostic]:
    """Errors about settings that are varied and that nothing reads."""
    named = {axis.instance_span.file: axis for axis in axes}
    told = set()
    for diagnostic in found.diagnostics:
        span = diagnostic.span
        unknown = diagnostic.code in (UNKNOWN_SETTING, UNKNOWN_SETTING_INSTANCE)
        if unknown and span is not None and span.file in named:
            told.add(span.file)
            yield replace(diagnostic, code=VARIED_SETTING, label="")
    for file, axis in named.items():
        instance = None if system is None else system.instance(axis.instance)
        if instance is not None and file not in told:
            names = _names(instance)
            if axis.attribute not in names:
                message = f"component `{instance.type.name}` has no attribute `{axis.attribute}`"
                help = suggestion(axis.attribute, names)
                yield Diagnostic(VARIED_SETTING, message, axis.attribute_span, help=help)


def _names(instance: Instance) -> set[str]:
    """What can be set on an instance and has an effect."""
    known = candidates(members_of(instance.type), method_words(instance.type))
    return {*(each.name for each in instance.type.attributes), *known}


def fingerprint(prepared: Prepared) -> str:
    """A digest of all files that the rows depend on."""
    digest = sha256(__version__.encode())
    code = prepared.code
    sources: set[Path] = set() if code is None else set(code.calls.files)
    system = pipeline.load_input(prepared.application, prepared.asked, Sink(), prepared.program)
    for instance in () if system is None or prepared.todo.unread else system.instances:
        sources.update(build_of(prepared.application, instance, Sink()).sources)
    texts = {str(file.path): file.text.encode() for file in prepared.program.files}
    asked, application = prepared.asked, prepared.application
    sources.update(application.files)
    sources.update(path for path in (asked.dtb, asked.gpio_list, application.dtb) if path is not None)
    for path in filter(Path.is_file, sources):  # what was generated for the reading is gone
        texts[str(path)] = path.read_bytes()
    texts["platform"] = repr(prepared.todo.platform).encode()
    base = str(application.root.parent.absolute())
    for name, text in sorted(texts.items()):
        digest.update(f"\0{name.removeprefix(base)}\0{len(text)}\0".encode() + text)
    return digest.hexdigest()
