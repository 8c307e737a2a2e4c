# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What settings of an instance ask of a machine: memory for devices, pools of objects."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from camkes.backends.sel4.complete import complete, slots_of_completion
from camkes.backends.sel4.spec import unlinked
from camkes.backends.upstream_templates.adapter import Rendering
from camkes.capdl.details import Domain
from camkes.capdl.mcs import TimePlanner
from camkes.capdl.model import CapabilityModel, ObjectKind, Role
from camkes.capdl.specification import FAULT_ENDPOINT, SpecObject
from camkes.diagnostics import Diagnostic, Sink
from tests.resolve.systems import good

from .support import SYSTEM, cap, item, mappings, rendered, text_of

pytestmark = pytest.mark.requirement("LANG-27")

ROOT = Path(__file__).parents[3]


def asked(folder: Path, settings: str) -> tuple[str, CapabilityModel, list[Diagnostic]]:
    rendering, diagnostics = rendered(folder, {}, settings=settings)
    if diagnostics:
        return "", rendering.model, diagnostics
    return text_of(rendering, "client/camkes.sel4.c"), rendering.model, []


def test_without_settings_no_pool_is_allocated(tmp_path: Path) -> None:
    rendering, _ = rendered(tmp_path, {})
    assert not [t for t in rendering.files if t.file.path.name == "camkes.sel4.c"]


@pytest.mark.parametrize(("size", "page"), [(0x3FFFFF, 0x200000), (0x10000, 4096)])
def test_memory_for_devices_in_large_frames(size: int, page: int, tmp_path: Path) -> None:
    settings = f"client.dma_pool = {size};"
    rendering, diagnostics = rendered(tmp_path, {}, settings=settings, large_dma_frames=True)
    assert not diagnostics
    region = item(rendering.model, "shared::client_dma")
    assert (region.size, region.page) == (-(-size // page) * page, page)
    text = text_of(rendering, "client/camkes.sel4.c")
    assert f"ALIGN({page})" in text
    assert f".num_frames = {region.size // page}," in text


def test_memory_for_devices(tmp_path: Path) -> None:
    text, model, _ = asked(tmp_path, "client.dma_pool = 10000; client.dma_pool_paddr = 0x100000;")
    region = item(model, "shared::client_dma")
    assert (region.size, region.page, region.paddr) == (12288, 4096, 0x100000)
    (mapping,) = mappings(model, "client")
    assert (mapping.use.variable, str(mapping.rights), mapping.cached) == ("camkes_dma_memory", "RW", False)
    slots = [int(s) for s in re.findall(r"\.cap = (\d+)", text)]
    caps = [cap(model, "client", slot) for slot in slots]
    assert [(c.object, c.frame) for c in caps] == [("shared::client_dma", n) for n in range(3)]
    assert ".num_frames = 3" in text
    assert "camkes_dma_init(" in text


def test_cached_memory(tmp_path: Path) -> None:
    text, model, _ = asked(tmp_path, "client.dma_pool = 4096; client.dma_pool_cached = True;")
    assert mappings(model, "client")[0].cached
    assert ".cached = 1" in text


def test_pools_of_objects(tmp_path: Path) -> None:
    settings = (
        "client.tcb_pool = 2; client.tcb_pool_domains = [0, 1]; client.ep_pool = 1;"
        "client.notification_pool = 1; client.untyped12_pool = 3;"
    )
    text, model, _ = asked(tmp_path, settings)
    kinds = [o.kind for o in model.objects if o.name.startswith("client::")]
    assert kinds.count(ObjectKind.TCB) == 2
    assert kinds.count(ObjectKind.ENDPOINT) == kinds.count(ObjectKind.NOTIFICATION) == 1
    assert kinds.count(ObjectKind.UNTYPED) == 3
    assert item(model, "client::untyped_12_pool_0").size == 4096
    assert item(model, "client::tcb_pool_1").details == Domain(1)
    entries = re.findall(r"\{(seL4_\w+), (\d+), [^}]*\}", text)
    assert [name for name, _ in entries].count("seL4_UntypedObject") == 3
    for name, slot in entries:
        if name in ("seL4_EndpointObject", "seL4_NotificationObject"):
            assert str(cap(model, "client", int(slot)).rights) == "RW"


def test_secure_calls(tmp_path: Path) -> None:
    text, model, _ = asked(tmp_path, "client.allowed_smc_functions = [17];")
    (slot,) = re.findall(r"case 17:\s+return (\d+);", text)
    assert cap(model, "client", int(slot)).badge == 17


def test_the_size_of_a_cspace(tmp_path: Path) -> None:
    """As a setting asks, and never too small."""
    for asked_for, bits in ((12, 12), ('"0x9"', 9), (1, 4)):
        rendering, _ = rendered(tmp_path, {}, settings=f"client.cnode_size_bits = {asked_for};")
        spec = unlinked(complete(rendering.model), "x86_64")
        assert SpecObject("client-cnode", "cnode", bits) in spec.objects


def test_an_instance_that_creates_objects_has_the_last_slot(tmp_path: Path) -> None:
    """What the kernel's build adds comes before it: all slots after it are taken for free."""
    template = "/*? alloc_cap('own', my_cnode) ?*/ /*? alloc_cap('last', None) ?*/"
    rendering, diagnostics = rendered(
        tmp_path,
        {"component.simple.c": template},
        settings="client.simple = True;",
        completion=slots_of_completion,
    )
    assert not diagnostics
    last = int(text_of(rendering, "client/camkes.simple.c").split()[1])
    model = complete(rendering.model).model
    slots = [c.slot for s in model.spaces if s.name == "client" for c in s.caps]
    assert len(slots) == len(set(slots))
    assert max(slots) < last
    assert item(model, "client:cnode").size == last.bit_length() + 1


WATCHED = """
/*- set faults = alloc_obj('faults', seL4_EndpointObject) -*/
/*- for slot in list(cap_space.cnode) if isinstance(cap_space.cnode[slot].referent, capdl.TCB) -*/
    /*- set end = alloc_cap('end %d' % slot, faults, write=True, grantreply=True) -*/
    /*- do cap_space.cnode[end].set_badge(slot) -*/
    /*- do cap_space.cnode[slot].referent.set_fault_ep_slot(end) -*/
    /*? cap_space.cnode[slot].referent.name ?*/
/*- endfor -*/
"""


@pytest.mark.parametrize("fault_handlers", [True, False])
def test_faults_that_a_template_takes(fault_handlers: bool, tmp_path: Path) -> None:
    """Those of a component with a debugger, as camkes-tool's connector for it asks for."""
    rendering, diagnostics = rendered(tmp_path, {"Wire.TO": WATCHED})
    assert not diagnostics
    (server,) = (s for s in rendering.model.spaces if s.name == "server")
    text = text_of(rendering, "server/p_Wire_0.c")
    assert text.split() == [thread.name for thread in server.threads]
    completed = complete(rendering.model, fault_handlers=fault_handlers)
    (space,) = (s for s in completed.model.spaces if s.name == "server")
    caps = {c.slot: c for c in space.caps}
    for thread in space.threads:
        if thread.role is not Role.FAULT_HANDLER:
            fault = caps[thread.fault_slot]
            assert fault.object == "wire::faults"
            assert caps[fault.badge].object == thread.name
    (client,) = (s for s in completed.model.spaces if s.name == "client")
    assert bool(client.threads[0].fault_slot) is fault_handlers


def test_faults_that_a_template_takes_on_an_mcs_kernel(tmp_path: Path) -> None:
    """They are in the TCB there, not in its CSpace."""
    system = SYSTEM % ""
    rendering, _ = rendered(tmp_path, {"Wire.TO": WATCHED}, system=system)
    made = good(tmp_path, system)
    completed = complete(rendering.model, time=TimePlanner(made, Sink()))
    lines = unlinked(completed, "x86_64")
    (server,) = (s for s in lines.spaces if s.name == "server")
    for thread in server.threads:
        if "fault-handler" not in thread.name:
            (fault,) = (cap for cap in thread.caps if cap.slot == FAULT_ENDPOINT)
            assert (fault.object, fault.rights) == ("wire--faults", "WP")
            assert fault.badge > 0
            assert thread.state.fault_slot == 0


@pytest.mark.parametrize(
    ("setting", "template", "file"),
    [
        ("debug = True", "component.debug.c", "camkes.debug.c"),
        ('rump_config = {"cmdline": "hello"}', "component.rumprun.c", "camkes.rumprun.c"),
    ],
)
def test_templates_that_settings_ask_for(setting: str, template: str, file: str, tmp_path: Path) -> None:
    rendering, diagnostics = rendered(
        tmp_path, {template: "/*? configuration[me.name] ?*/"}, settings=f"server.{setting};"
    )
    assert not diagnostics
    assert setting.partition(" ")[0] in text_of(rendering, f"server/{file}")


def test_a_component_with_one_thread(tmp_path: Path) -> None:
    name = "seL4SingleThreadedComponent.template"
    rendering, _ = rendered(
        tmp_path,
        {f"{name}.c": "/*? me.name ?*/", f"{name}.h": "int x;"},
        settings="server.single_threaded = 1;",
    )
    assert text_of(rendering, f"server/{name}.c") == "server"
    assert rendering.for_code().headers["server"] == (f"{name}.h",)


def everything(folder: Path) -> Rendering:
    """Templates that go through settings, sets and connections."""
    text = (
        "/*- for x in set(configuration.keys()) -*//*? x ?*/ /*- endfor -*/"
        "/*? alloc('o', seL4_EndpointObject, read=True) ?*/ /*? c_symbol('s') ?*/"
        "/*- for name, value in configuration[me.instance.name].items() -*//*? name ?*/ /*- endfor -*/"
    )
    templates = {f"{name}.{side}": text for name in ("Wire", "Signal") for side in ("FROM", "TO")}
    return rendered(folder, templates, settings="client.untyped12_pool = 2; client.dma_pool = 4096;")[0]


@pytest.mark.long
def test_every_hash_seed_gives_the_same(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from tests.backends.upstream_templates.test_instance import everything\n"
        "made = everything(Path(sys.argv[1]))\n"
        "print([(str(t.file.path), t.text) for t in made.files], made.model, made.symbols, made.libraries)"
    )
    outputs = set()
    for seed in ("0", "1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.add(done.stdout)
    assert len(outputs) == 1
