# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Connectors with templates of their own on the host kernel: rendered as for seL4, and refused where they
ask for what only a machine has."""

from __future__ import annotations

from pathlib import Path

from camkes.backends.upstream_templates.adapter import DeclaredTemplates, Rendering, TemplateSettings, render
from camkes.capdl.model import CapabilityModel, KernelObject, ObjectKind
from camkes.diagnostics import Sink
from camkes.generate.codes import NEEDS_SEL4
from camkes.model.system import System
from camkes.project.application import Application
from camkes.project.trust import allows_template

#: the host kernel runs on the processor of the workstation, whatever that is
_ARCHITECTURE = "x86_64"

_WORDS = {
    ObjectKind.UNTYPED: "untyped memory",
    ObjectKind.INTERRUPT: "an interrupt",
    ObjectKind.IO_PORTS: "I/O ports",
    ObjectKind.IO_SPACE: "an I/O address space",
    ObjectKind.ASID_POOL: "an ASID pool",
    ObjectKind.VCPU: "a virtual processor",
    ObjectKind.SECURE_CALL: "calls of the secure monitor",
    ObjectKind.STREAM_ID: "a stream of an I/O memory management unit",
    ObjectKind.ARM_IO_SPACE: "an I/O address space",
    ObjectKind.CONTEXT_BANK: "a context bank of an I/O memory management unit",
    ObjectKind.KERNEL: "control of what the kernel has one of",
    ObjectKind.TCB: "a thread that the component starts itself",
}


def rendered_connectors(application: Application, system: System) -> frozenset[str]:
    """The connectors of a system that are rendered from templates of their own."""
    return DeclaredTemplates.of(application).rendered(system)


def render_templates(
    application: Application, system: System, model: CapabilityModel, out: Path, sink: Sink
) -> Rendering:
    """Render the templates that an application declares; files are for below `out`. Reports what the host
    kernel cannot give them, once for each end of a connection or instance (E0651)."""
    settings = TemplateSettings(architecture=_ARCHITECTURE, mcs=system.mcs, machine=False)
    workspace, folder = application.workspace, application.folder
    rendering = render(
        *(system, model, DeclaredTemplates.of(application), settings, out, sink),
        may_run=lambda template: allows_template(template, workspace, folder),
    )
    objects = {item.name: item for item in rendering.model.objects}
    reported = set()
    for name, asker in rendering.allocated.items():
        lack = _lack(objects[name])
        if lack is not None and asker not in reported:
            reported.add(asker)
            sink.report(
                NEEDS_SEL4,
                f"{asker.words} needs the seL4 kernel: its template asks for {lack}",
                asker.span,
                help="build with `--kernel sel4`",
            )
    return rendering


def _lack(item: KernelObject) -> str | None:
    """What the host kernel cannot give; None if it can."""
    if item.kind is ObjectKind.REGION and item.paddr is not None:
        return f"memory at address 0x{item.paddr:x}"
    if item.kind is ObjectKind.REGION and item.fill:
        return "memory that the loader fills"
    return _WORDS.get(item.kind)
