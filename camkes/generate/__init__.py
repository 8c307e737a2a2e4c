# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""C code for a system: a header and glue for each instance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from camkes.capdl.time_manager import TIME_MANAGER
from camkes.diagnostics import Sink
from camkes.files import write_changed
from camkes.generate.connections import check_connections
from camkes.generate.facts import NOTHING_RENDERED, SystemFacts
from camkes.generate.instance import instance_context
from camkes.generate.render import Renderer
from camkes.generate.time_manager import time_manager
from camkes.generate.write import GeneratedFile, remove_stale
from camkes.protocols.plan import Plan

if TYPE_CHECKING:
    from camkes.capdl.model import CapabilityModel
    from camkes.diagnostics import Sink
    from camkes.generate.facts import Rendered
    from camkes.model.system import System
    from camkes.protocols.plan import Plan

__all__ = ["GeneratedFile", "generate", "generate_headers"]


def generate(
    system: System,
    plan: Plan,
    model: CapabilityModel,
    out: Path,
    sink: Sink,
    rendered: Rendered | None = None,
) -> tuple[GeneratedFile, ...]:
    """Write the C code of `system` below `out`. With errors in `sink` nothing is written. `rendered` is
    what has been rendered already."""
    facts = SystemFacts(system, plan, model, sink, rendered or NOTHING_RENDERED)
    check_connections(facts)
    if sink.has_errors:
        return ()
    instances = [instance_context(me) for me in facts.instances()]
    manager = time_manager(facts)
    if sink.has_errors:
        return ()
    renderer = Renderer()
    texts: list[tuple[GeneratedFile, str]] = []
    for instance in instances:
        folder = out / instance.name
        for name, kind in (("camkes.h", "header"), ("glue.c", "source")):
            text = renderer.render(name.replace(".", ".template."), instance)
            texts.append((GeneratedFile(folder / name, instance.name, kind), text))
    if manager is not None:
        file = GeneratedFile(out / TIME_MANAGER / "time.c", TIME_MANAGER, "source")
        texts.append((file, renderer.render("time.template.c", manager)))
    for file, text in texts:
        write_changed(file.path, text)
    files = tuple(file for file, _ in texts)
    remove_stale(out, files)
    return files


def generate_headers(system: System, out: Path) -> dict[str, Path]:
    """Write only the `camkes.h` of each instance; the folders they are in. They do not depend on a plan.
    Mistakes are left to `generate`."""
    facts = SystemFacts(system, Plan((), (), (), ()), None, Sink())
    renderer = Renderer()
    folders: dict[str, Path] = {}
    for instance in map(instance_context, facts.instances()):
        folders[instance.name] = out / instance.name
        write_changed(folders[instance.name] / "camkes.h", renderer.render("camkes.template.h", instance))
    return folders
