# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Theories for Isabelle about a system: its architecture, and the refinement of that by its capabilities.

The theories are proofs that camkes-tool and l4v maintain together. So they are rendered from the templates in
the workspace's camkes-tool, with the names that it offers; capDL-tool writes the theory of the specification.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
from msgspec import Struct

from camkes.backends.upstream_templates.context import assembly_names
from camkes.backends.upstream_templates.macros import isabelle_ident
from camkes.backends.upstream_templates.rendering import RenderError, TemplateRenderer
from camkes.backends.upstream_templates.view import AssemblyView, ConfigurationView
from camkes.diagnostics import Sink
from camkes.files import write_changed
from camkes.model.system import System

#: the templates, and the files that they are rendered to
_FILES = {
    "root.thy": "ROOT",
    "arch-definitions.thy": "{}_Arch_Spec.thy",
    "cdl-refine.thy": "{}_CDL_Refine.thy",
}


class LabelledObject(Struct, frozen=True):
    """A kernel object under its name in the specification: its label, its size as a power of two, the number
    of an interrupt, and the place of a pool of address spaces in the kernel's table."""

    name: str
    label: str
    bits: int
    interrupt: int | None
    asid_high: int | None

    @property
    def number(self) -> int | None:
        return self.interrupt

    def get_size_bits(self) -> int:
        return self.bits


class _TheorySession(Struct):
    assembly: AssemblyView
    base: str
    file: str
    objects: Sequence[LabelledObject]

    @property
    def configuration(self) -> ConfigurationView:
        return self.assembly.configuration

    def context(self, me: object) -> Mapping[str, Any]:
        return {
            **assembly_names(self.assembly),
            "options": SimpleNamespace(verification_base_name=self.base),
            "outfile_name": self.file,
            "object_label_mapping": lambda: ((item, item.label) for item in self.objects),
            "is_IRQ_object": lambda item: item.interrupt is not None,
            "is_ASIDPool_object": lambda item: item.asid_high is not None,
            "isabelle_capdl_identifier": isabelle_ident,
            "isabelle_dataport": lambda name: _prefixed("dataport", re.sub(r"\((.*)\)", r"_\1", name)),
            **{
                f"isabelle_{kind}": lambda name, kind=kind: _prefixed(kind, name)
                for kind in ("component", "instance", "connector", "connection", "procedure", "event")
            },
        }


def _prefixed(kind: str, name: str) -> str:
    return f"{kind}__{isabelle_ident(name)}"


def write_theories(system: System, templates: Path, labels: Path, folder: Path, sink: Sink) -> None:
    """Write all theories that are made of a system and the labels that `camkes.backends.sel4.link` found."""
    base = theory_name(system.root.path.stem)
    objects = msgspec.json.decode(labels.read_bytes(), type=list[LabelledObject])
    assembly = AssemblyView(system)
    for template, name in _FILES.items():
        file = name.format(base)
        session = _TheorySession(assembly, base, file, objects)
        try:
            text = TemplateRenderer((templates,), session, lambda _: True).render(template, assembly)
        except RenderError as error:
            sink.add(error.diagnostic)
            return
        # as camkes-tool leaves them: nothing at the ends of lines, one empty line in the place of several
        text = re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
        write_changed(folder / file, re.sub(r"\n{3,}", "\n\n", text).strip() + "\n")


def theory_name(name: str) -> str:
    """A name as an identifier of C, which is one of Isabelle."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)
