# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Names of C++ in what a component with C++ sources includes: `camkes.h` declares the component's members."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from camkes.diagnostics import Sink, Span
from camkes.model.system import ComponentType, Procedure, System
from camkes.project.application import Application
from camkes.resolve.codes import KEYWORD_NAME
from camkes.resolve.names.symbols import structs_in
from camkes.resolve.words.keywords import CXX_KEYWORDS


def report_cxx_keywords(application: Application, system: System, sink: Sink) -> None:
    """Report names of a component that are keywords of C++, where one of its C++ sources includes
    `camkes.h`."""
    for kind in system.types.values():
        names = [each for each in _declared(kind) if each[1] in CXX_KEYWORDS]
        source = _cxx_source(application, kind, system) if names else None
        if source is None:
            continue
        for what, name, span in dict.fromkeys(names):
            sink.report(
                KEYWORD_NAME,
                f"{what} `{name}` has the name of a C++ keyword",
                span,
                notes=[f"{source.name} of component {kind.name} is C++ and includes camkes.h"],
                help=f"choose another name, such as `{name}_`",
            )


def _declared(kind: ComponentType) -> Iterator[tuple[str, str, Span]]:
    """What `camkes.h` declares by its own name: (what it is, name, place)."""
    for interface in kind.interfaces:
        if interface.kind == "dataport":
            yield "dataport", interface.name, interface.span
        if isinstance(interface.type, Procedure):
            for method in interface.type.methods:
                for parameter in method.parameters:
                    yield "parameter", parameter.name, method.span
    for attribute in kind.attributes:
        yield "attribute", attribute.name, attribute.span
        for struct in structs_in(attribute.type):
            yield "struct", struct.name, attribute.span
            for member in struct.members:
                yield "struct member", member.name, attribute.span


def _cxx_source(application: Application, kind: ComponentType, system: System) -> Path | None:
    """A C++ source of a component that includes `camkes.h` itself."""
    for instance in (each for each in system.instances if each.type is kind):
        build = application.build_of(kind.name, instance.name, kind.span.file.path)
        for source in build.sources if build is not None else ():
            if build is not None and build.language_of(source) == "CXX" and _includes_camkes(source):
                return source
    return None


def _includes_camkes(source: Path) -> bool:
    try:
        return b"<camkes.h>" in source.read_bytes()
    except OSError:
        return False  # which is reported where it is compiled
