# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
# ruff: noqa: E501 -- templates
"""Systems and templates from text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from camkes.backends.upstream_templates.adapter import (
    DeclaredTemplates,
    Rendering,
    TemplateSettings,
    render,
)
from camkes.capdl.allocate import allocate
from camkes.capdl.model import Cap, CapabilityModel, KernelObject, Mapping, Space
from camkes.capdl.pools import allocate_pools
from camkes.diagnostics import Diagnostic, Sink
from camkes.project.application import ComponentBuild, ConnectorTemplates
from camkes.protocols import analyse
from tests.resolve.systems import good
from tests.written import write_files

#: a device and its driver, a client and a server, each with connectors that have templates
SYSTEM = """
import <std_connector.camkes>;
connector Wire { from Procedures with 0 threads; to Procedure with 2 threads; attribute bool to_global_rpc_endpoint = True; }
connector Signal { from Event with 1 threads; to Events with 0 threads; attribute bool to_global_endpoint = True; }
connector Device { from Dataports with 0 threads; to hardware Dataport; }
procedure P { include "p.h"; int f(in string a, out uint64_t b[]); void g(); }
component Hardware { hardware; dataport Buf(8192) registers; }
component Client {
    control; uses P p; emits E e; dataport Buf(8192) registers; has mutex m;
    attribute int size = 4; attribute string name;
}
component Server { provides P p; consumes E one; consumes E two; include <server.h>; }
assembly {
    composition {
        component Hardware device; component Client client; component Client other; component Server server;
        connection Device memory(from client.registers, to device.registers);
        connection Device memory2(from other.registers, to device.registers);
        connection Wire wire(from client.p, from other.p, to server.p);
        connection Signal signal(from client.e, to server.one);
        connection Signal signal2(from other.e, to server.two);
    }
    configuration {
        device.registers_paddr = 0x1000;
        client.name = "first";
        client.p_attributes = "7";
        %s
    }
}
"""


def rendered(
    folder: Path,
    templates: dict[str, str],
    *,
    settings: str = "",
    architecture: str = "x86_64",
    component: dict[str, ComponentBuild] | None = None,
    system: str = SYSTEM,
    missing: tuple[str, ...] = (),
    completion: Callable[[Space], int] = lambda space: 0,
    large_dma_frames: bool = False,
) -> tuple[Rendering, list[Diagnostic]]:
    """Render the system; "Wire.FROM" is the text of a template of a connector, "name.c" of another file."""
    home = folder / "templates"
    connectors: dict[str, dict[str, str]] = {"Wire": {}, "Signal": {}, "Device": {}}
    for connector, sides in connectors.items():
        for side in ("FROM", "TO"):
            if f"{connector}.{side}" not in missing:
                sides[side] = f"{connector}.{side}"
    write_files(home, {**{f"{c}.{s}": "" for c in connectors for s in ("FROM", "TO")}, **templates})
    for name in templates:
        connector, _, side = name.partition(".")
        if side.endswith("_HEADER"):
            connectors[connector][side] = name
    declared = DeclaredTemplates(
        (home,),
        {name: ConnectorTemplates(sides, (f"{name}_from",), (), None) for name, sides in connectors.items()},
        component or {},
    )
    made = good(folder, system % settings if "%s" in system else system)
    sink = Sink()
    plan = analyse(made, sink)
    assert plan is not None
    asked = TemplateSettings(architecture=architecture, large_dma_frames=large_dma_frames)
    model = allocate(made, plan, sink, rendered=declared.rendered(made))
    model = allocate_pools(made, model, asked.device_frames)
    result = render(made, model, declared, asked, folder / "out", sink, completion)
    return result, list(sink.diagnostics)


def text_of(rendering: Rendering, name: str) -> str:
    """The text of a file: "client/p_Wire_0.c"."""
    instance, _, file = name.partition("/")
    found = [t.text for t in rendering.files if (t.file.instance, t.file.path.name) == (instance, file)]
    assert len(found) == 1, [f"{t.file.instance}/{t.file.path.name}" for t in rendering.files]
    return found[0]


def evaluated(folder: Path, expression: str, end: str = "client/p_Wire_0.c", settings: str = "") -> str:
    """What an expression is in a template of one end of a connection."""
    connector = end.split("_")[1]
    side = "TO" if end.startswith("server") else "FROM"
    both = {f"{connector}.FROM": "", f"{connector}.{side}": expression}
    rendering, diagnostics = rendered(folder, both, settings=settings)
    assert [d.message for d in diagnostics] == []
    return text_of(rendering, end).strip()


def item(model: CapabilityModel, name: str) -> KernelObject:
    return next(o for o in model.objects if o.name == name)


def cap(model: CapabilityModel, space: str, slot: int) -> Cap:
    found = next(s for s in model.spaces if s.name == space)
    return next(c for c in found.caps if c.slot == slot)


def mappings(model: CapabilityModel, space: str) -> list[Mapping]:
    return [m for s in model.spaces if s.name == space for m in s.mappings]
