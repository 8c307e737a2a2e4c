# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
# ruff: noqa: E501 -- templates
"""What templates allocate is in the model, and in the specification that the loader gets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camkes.backends.sel4.complete import complete
from camkes.backends.sel4.elf import ElfSegment, ElfSymbol, Image
from camkes.backends.sel4.link import link, symbols_of
from camkes.backends.sel4.spec import unlinked
from camkes.capdl.fill import BootRecord, Fill
from camkes.capdl.model import CapabilityModel, Interrupt, ObjectKind
from camkes.capdl.text import capdl_text

from .support import cap, item, mappings, rendered, text_of

pytestmark = pytest.mark.requirement("LANG-27")


def test_both_ends_find_the_object_by_its_name(tmp_path: Path) -> None:
    rendering, diagnostics = rendered(
        tmp_path,
        {
            "Wire.FROM": "/*? alloc('ep', seL4_EndpointObject, write=True, grantreply=True, badge=5) ?*/",
            "Wire.TO": "/*- set o = alloc_obj('ep', seL4_EndpointObject) -*//*? alloc_cap('ep', o, read=True) ?*/",
            "Signal.FROM": "/*? alloc('ep', seL4_EndpointObject, write=True) ?*/",
        },
    )
    assert not diagnostics
    model = rendering.model
    client = cap(model, "client", int(text_of(rendering, "client/p_Wire_0.c")))
    server = cap(model, "server", int(text_of(rendering, "server/p_Wire_0.c")))
    assert client.object == server.object == "wire::ep"
    assert (str(client.rights), client.badge, str(server.rights)) == ("WP", 5, "R")
    assert item(model, "wire::ep").kind is ObjectKind.ENDPOINT
    signal = cap(model, "client", int(text_of(rendering, "client/e_Signal_0.c")))
    assert signal.object == "signal::ep", "another connection has another object of this name"


def test_a_second_allocation_adds_rights(tmp_path: Path) -> None:
    again = (
        "/*- set o = alloc_obj('n', seL4_NotificationObject) -*//*? alloc_cap('n', o, read=True) ?*/ "
        "/*? alloc_cap('n', o, write=True) ?*//*- do cap_space.cnode[alloc_cap('n', o)].set_badge(3) -*/"
    )
    rendering, _ = rendered(tmp_path, {"Wire.TO": again})
    first, second = text_of(rendering, "server/p_Wire_0.c").split()
    assert first == second
    found = cap(rendering.model, "server", int(first))
    assert (str(found.rights), found.badge) == ("RW", 3)


def test_slots_come_after_those_in_use(tmp_path: Path) -> None:
    rendering, _ = rendered(
        tmp_path, {"Wire.TO": "/*? alloc_cap('reply', None) ?*/ /*? alloc_cap('cnode', my_cnode) ?*/"}
    )
    empty, own = map(int, text_of(rendering, "server/p_Wire_0.c").split())
    space = next(s for s in rendering.model.spaces if s.name == "server")
    slots = [c.slot for c in space.caps]
    assert len(slots) == len(set(slots))
    assert empty not in slots
    assert empty in rendering.model.slots.values()
    assert cap(rendering.model, "server", own).object == "server:cnode"
    completed = complete(rendering.model)
    later = [c.slot for s in completed.model.spaces if s.name == "server" for c in s.caps]
    assert empty not in later


MMIO = """
/*- set caps = [] -*/
struct { char content[8192]; } memory;
/*? register_shared_variable('regs', 'memory', 8192, paddr=0x1000, perm='RW', cached=False, with_mapping_caps=caps) ?*/
caps: /*? caps | join(' ') ?*/
"""


def test_memory_behind_a_variable(tmp_path: Path) -> None:
    rendering, diagnostics = rendered(tmp_path, {"Device.FROM": MMIO})
    assert not diagnostics
    model = rendering.model
    region = item(model, "shared::regs")
    assert (region.size, region.page, region.paddr) == (8192, 4096, 0x1000)
    for space in ("client", "other"):
        (mapping,) = mappings(model, space)
        assert (mapping.use.variable, str(mapping.rights), mapping.cached) == ("memory", "RW", False)
    text = text_of(rendering, "client/registers_Device_0.c")
    slots = [int(s) for s in re.findall(r"\d+", text.partition("caps:")[2])]
    found = [cap(model, "client", slot) for slot in slots]
    assert [(c.frame, str(c.rights), c.mapped, c.cached) for c in found] == [
        (0, "RW", True, False),
        (1, "RW", True, False),
    ]
    assert "sizeof(memory)" in text
    assert rendering.symbols["client"] == ("memory",)


def test_large_frames_where_the_size_allows(tmp_path: Path) -> None:
    text = "/*? register_shared_variable('big', 'memory', 0x400000) ?*/"
    for architecture, page in (("x86_64", 0x200000), ("ia32", 0x400000), ("aarch32", 0x100000)):
        rendering, _ = rendered(tmp_path, {"Signal.FROM": text}, architecture=architecture)
        assert item(rendering.model, "shared::big").page == page


def test_frames_of_shared_memory(tmp_path: Path) -> None:
    rendering, _ = rendered(
        tmp_path,
        {
            "Wire.FROM": "/*- set f = get_shared_variable_backing_frames('buffer', 8192) -*/"
            "/*? alloc_cap('f', f[1], read=True, write=True) ?*/ /*? f[1].get_size_bits() ?*/"
        },
    )
    slot, bits = text_of(rendering, "client/p_Wire_0.c").split()
    assert bits == "12"
    found = cap(rendering.model, "client", int(slot))
    assert (found.object, found.frame, str(found.rights), found.mapped) == ("shared::buffer", 1, "RW", False)


FDT = "CDL_FrameFill_BootInfo CDL_FrameFill_BootInfo_FDT"


def test_filled_frames(tmp_path: Path) -> None:
    rendering, _ = rendered(tmp_path, {"Signal.FROM": f"/*? register_fill_frame('info', '{FDT}', 8192) ?*/"})
    region = item(rendering.model, "shared::signal.info")
    assert (region.fill, region.size) == ((Fill(0, 8192, BootRecord("CDL_FrameFill_BootInfo_FDT")),), 8192)
    objects = specification(rendering.model)[0]
    assert f"fill: [{{0 4096 {FDT} 4096}}]" in objects["shared--signal.info-1"]


def test_an_allocated_frame_is_filled(tmp_path: Path) -> None:
    fill = ('8 16 CDL_FrameFill_FileData "a.bin" 32', f"100 20 {FDT} 0")
    words = f"alloc_obj('f', seL4_FrameObject, size=4096, fill={fill!r})"
    rendering, _ = rendered(tmp_path, {"Signal.FROM": f"/*- do {words} -*/"})
    objects = specification(rendering.model)[0]
    frames = [text for text in objects.values() if "a.bin" in text]
    assert frames
    assert all(f"fill: [{{{fill[0]}}},{{{fill[1]}}}]" in frame for frame in frames)


@pytest.mark.parametrize("fill", ["What Ever", "CDL_FrameFill_BootInfo", "CDL_FrameFill_BootInfo FDT", ""])
def test_a_fill_that_the_loader_does_not_know(tmp_path: Path, fill: str) -> None:
    _, diagnostics = rendered(tmp_path, {"Signal.FROM": f"/*? register_fill_frame('i', '{fill}', 8192) ?*/"})
    problem = f"`{fill}` cannot fill memory; expected `CDL_FrameFill_BootInfo"
    assert diagnostics and all(problem in diagnostic.message for diagnostic in diagnostics)


def test_a_record_of_the_kernel(tmp_path: Path) -> None:
    """As well by the kernel's own constant."""
    record = "CDL_FrameFill_BootInfo SEL4_BOOTINFO_HEADER_X86_TSC_FREQ"
    rendering, diagnostics = rendered(
        tmp_path, {"Signal.FROM": f"/*? register_fill_frame('i', '{record}', 4096) ?*/"}
    )
    assert not diagnostics
    assert any(f"{record} 0" in text for text in specification(rendering.model)[0].values())


def test_pools_of_address_spaces_are_numbered(tmp_path: Path) -> None:
    """The loader makes them in that order, and the first number is its own pool's."""
    text = "/*? alloc('b', seL4_ASID_Pool) ?*/ /*? alloc('a', seL4_ASID_Pool) ?*/"
    rendering, _ = rendered(tmp_path, {"Wire.TO": text})
    objects = specification(rendering.model)[0]
    pools = {name: text for name, text in objects.items() if "asid_pool" in text}
    assert [pools[name] for name in sorted(pools)] == [f"asid_pool (asid_high: {n:#x})" for n in (1, 2)]


def test_a_pool_of_frames_behind_a_variable(tmp_path: Path) -> None:
    text = """
    /*- set caps = [] -*/
    /*- for i in range(2) -*//*- do caps.append(alloc('f%d' % i, seL4_FrameObject, read=True, write=True)) -*//*- endfor -*/
    /*- do register_dma_pool('pool', 4096, caps) -*/
    """
    rendering, _ = rendered(tmp_path, {"Signal.FROM": text})
    found = mappings(rendering.model, "client")
    assert [(m.use.variable, m.region, m.offset) for m in found] == [
        ("pool", "signal::f0", 0),
        ("pool", "signal::f1", 4096),
    ]
    _, caps, _ = specification(rendering.model)
    places = {
        what.partition(" ")[0]: (container, int(slot, 16))
        for container, slots in caps.items()
        if not container.endswith("cnode")
        for slot, what in slots.items()
        if slot.startswith("0x")
    }
    first, second = places["signal--f0-0"], places["signal--f1-0"]
    assert second == (first[0], first[1] + 1), "one page behind the other"


NTFN = "/*- set n = alloc('n', seL4_NotificationObject, read=True, badge=2) -*/"
INTERRUPTS = {
    "number=7": ("irq", 7, ()),
    "number=7, trigger=seL4_ARM_IRQ_EDGE, target=1": ("arm_irq", 7, ("trigger: edge", "target: 1")),
    "number=7, trigger=seL4_ARM_IRQ_LEVEL, target=0": ("arm_irq", 7, ("trigger: level", "target: 0")),
    "vector=9, ioapic=0, ioapic_pin=4, level=1, polarity=0": (
        "ioapic_irq",
        9,
        ("ioapic_num: 0", "ioapic_pin: 4", "ioapic_level: 1", "ioapic_polarity: 0"),
    ),
    "vector=9, handle=3, pci_bus=1, pci_dev=2, pci_fun=0": (
        "msi_irq",
        9,
        ("msi_handle: 3", "msi_pci_bus: 1", "msi_pci_dev: 2", "msi_pci_fun: 0"),
    ),
}


@pytest.mark.parametrize(("settings", "expected"), INTERRUPTS.items(), ids=INTERRUPTS)
def test_interrupts(tmp_path: Path, settings: str, expected: tuple[str, int, tuple[str, ...]]) -> None:
    handler = f"/*? alloc('i', seL4_IRQHandler, {settings}, notification=my_cnode[n]) ?*/"
    text = f"{NTFN}/*- if me.parent.name == 'signal' -*/{handler}/*- endif -*/"
    rendering, diagnostics = rendered(tmp_path, {"Signal.FROM": text})
    assert not diagnostics
    kind, number, words = expected
    assert Interrupt("signal::i", number, "signal::n", 2) in rendering.model.interrupts
    objects, caps, irqs = specification(rendering.model)
    assert objects["signal--i"] == kind + (f" ({', '.join(words)})" if words else "")
    assert caps["signal--i"] == {"0x0": "signal--n (W, badge: 2)"}
    assert irqs == {str(number): "signal--i"}


def test_an_interrupt_without_a_notification(tmp_path: Path) -> None:
    rendering, _ = rendered(tmp_path, {"Wire.TO": "/*? alloc('i', seL4_IRQHandler, number=7) ?*/"})
    objects, caps, irqs = specification(rendering.model)
    assert objects["wire--i"] == "irq"
    assert irqs["7"] == "wire--i"
    assert "wire--i" not in caps


OBJECTS = {
    "seL4_UntypedObject, size_bits=14": "ut (14 bits)",
    "seL4_UntypedObject, size_bits=14, paddr=0x4000": "ut (14 bits, paddr: 0x4000)",
    "seL4_IA32_IOPort, start_port=0x40, end_port=0x44": "io_ports (ports: [0x40..0x43])",
    "seL4_IA32_IOSpace, domainID=1, bus=2, dev=3, fun=4": "io_device (domainID: 1, 0x2:3.4)",
    "seL4_ARM_IOSpace, iospace=3": "arm_io_device (iospace: 3)",
    "seL4_ASID_Pool": "asid_pool (asid_high: 0x1)",
    "seL4_VCPU": "vcpu",
    "seL4_ARMSMC, badge=3": "smc",
    "seL4_TCBObject": "tcb (addr: 0x0, ip: 0x0, sp: 0x0, prio: 254, max_prio: 254, affinity: 0, init: [], resume: False)",
}


@pytest.mark.parametrize(("arguments", "expected"), OBJECTS.items(), ids=OBJECTS)
def test_other_objects(tmp_path: Path, arguments: str, expected: str) -> None:
    rendering, diagnostics = rendered(tmp_path, {"Wire.TO": f"/*? alloc('x', {arguments}) ?*/"})
    assert not diagnostics
    objects, caps, _ = specification(rendering.model)
    assert objects["wire--x"] == expected
    slot = int(text_of(rendering, "server/p_Wire_0.c"))
    badge = " (badge: 3)" if "badge" in arguments else ""
    assert caps["server-cnode"][f"{slot:#x}"] == f"wire--x{badge}"


def test_a_mapped_frame_has_its_address_in_the_specification(tmp_path: Path) -> None:
    rendering, _ = rendered(tmp_path, {"Device.FROM": MMIO})
    objects, caps, _ = specification(rendering.model)
    assert "paddr: 0x2000" in objects["shared--regs-1"]
    inside = [line for line in caps["client-cnode"].values() if line.startswith("shared--regs-1")]
    (line,) = inside
    found = re.fullmatch(r"shared--regs-1 \(RW, uncached, mapping: \((\S+), (\d+)\)\)", line)
    assert found
    table, slot = found.groups()
    assert caps[table][f"{int(slot):#x}"] == "shared--regs-1 (RW, uncached)"


def specification(
    model: CapabilityModel,
) -> tuple[dict[str, str], dict[str, dict[str, str]], dict[str, str]]:
    """Objects, capabilities by container and slot, and interrupts, of images that have what they must."""
    spec = unlinked(complete(model), "x86_64")
    images = {}
    for space in spec.spaces:
        at, symbols = 0x800000, {}
        for name in sorted(symbols_of(space)):
            symbols[name] = ElfSymbol(at, 0x8000)
            at += 0x8000
        images[space.name] = Image(
            space.name, 0x400000, (ElfSegment(0x400000, 4096, 0, 4096, "RX"),), symbols
        )
    objects: dict[str, str] = {}
    caps: dict[str, dict[str, str]] = {}
    irqs: dict[str, str] = {}
    section = container = ""
    for line in capdl_text(link(spec, images)).splitlines():
        if line.endswith(" {"):
            if line[:-2] in ("objects", "caps", "irq maps"):
                section = line[:-2]
            else:
                container = line[:-2]
                caps[container] = {}
        elif section == "objects" and " = " in line:
            name, _, what = line.partition(" = ")
            objects[name] = what
        elif section == "caps" and ": " in line:
            slot, _, what = line.partition(": ")
            caps[container][slot] = what
        elif section == "irq maps" and ": " in line:
            number, _, what = line.partition(": ")
            irqs[number] = what
    return objects, caps, irqs
