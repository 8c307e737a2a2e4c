# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The capability distribution: well formed, and the same as the one that the host kernel boots."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from camkes.backends.sel4.complete import TIMER_ENDPOINT, complete
from camkes.backends.sel4.devices import Machine, device_of
from camkes.backends.sel4.elf import ElfSegment, ElfSymbol, Image
from camkes.backends.sel4.link import GUARD, LinkError, Unlinked, cdl_name, link, symbols_of
from camkes.backends.sel4.spec import unlinked
from camkes.capdl.allocate import allocate
from camkes.capdl.host_table import host_table
from camkes.capdl.model import Cap, CapabilityModel, Interrupt, KernelObject, ObjectKind, Role
from camkes.capdl.specification import StartState
from camkes.capdl.text import capdl_text
from camkes.model.architectures import ARCHITECTURES
from camkes.model.units import PAGE
from tests.capdl.systems import EMPTY, everything, nested

pytestmark = pytest.mark.requirement("SEL4-2")

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_@.\-]*")


@dataclass
class Cdl:
    """A specification, read back."""

    objects: dict[str, str] = field(default_factory=dict)
    caps: dict[str, dict[str, str]] = field(default_factory=dict)
    irqs: dict[str, str] = field(default_factory=dict)


def parse(text: str) -> Cdl:
    cdl = Cdl()
    section = container = ""
    for line in text.splitlines():
        if line in ("objects {", "caps {", "irq maps {"):
            section = line[:-2]
        elif line == "}":
            section, container = (section, "") if container else ("", "")
        elif section == "objects":
            name, _, what = line.partition(" = ")
            assert NAME.fullmatch(name), line
            assert name not in cdl.objects, f"{name} is declared twice"
            cdl.objects[name] = what
        elif section == "caps" and not container:
            container = line.removesuffix(" {")
            assert container not in cdl.caps
            cdl.caps[container] = {}
        elif section == "caps":
            slot, _, what = line.partition(": ")
            assert slot not in cdl.caps[container], f"slot {slot} of {container} is filled twice"
            cdl.caps[container][slot] = what
        elif section == "irq maps":
            number, _, name = line.partition(": ")
            cdl.irqs[number] = name
    return cdl


#: one with a timer for each architecture
MACHINES = {
    a: Machine(a, platform, generic_timer=platform == "qemu-arm-virt")
    for a, platform in (
        ("ia32", "pc99"),
        ("x86_64", "pc99"),
        ("aarch32", "imx6"),
        ("arm_hyp", "qemu-arm-virt"),
        ("aarch64", "qemu-arm-virt"),
        ("riscv32", "qemu-riscv-virt"),
        ("riscv64", "qemu-riscv-virt"),
    )
}
MACHINES["aarch64_hyp_40"] = Machine("aarch64", "qemu-arm-virt", generic_timer=True, three_levels=True)


def linked(model: CapabilityModel, architecture: str, *, trace: bool = False) -> Cdl:
    """The specification of a model with images that have just what they must."""
    device = device_of(MACHINES[architecture])
    frame = ARCHITECTURES[architecture].large if trace else 0
    spec = unlinked(complete(model, device, trace_frame=frame), architecture)
    assert Unlinked.read(spec.write()) == spec
    return parse(capdl_text(link(spec, images_of(spec))))


def images_of(spec: Unlinked) -> dict[str, Image]:
    images = {}
    for space in spec.spaces:
        at, symbols = 0x500000, {}
        sizes = {m.symbol: len(m.frames) * m.page for m in space.mappings}
        frames = {m.symbol: m.page for m in space.mappings}
        for name in sorted(symbols_of(space)):
            at += -at % frames.get(name, 4096)
            symbols[name] = ElfSymbol(at, sizes.get(name, 16384 + 2 * GUARD))
            at += symbols[name].size
        segments = (
            ElfSegment(0x400000, 5000, 0, 5000, "RX"),
            ElfSegment(0x500000, at - 0x500000, 5000, 0, "RW"),
        )
        images[space.name] = Image(f"{space.name}.elf", 0x400000, segments, symbols)
    return images


MODELS = {"nested": allocate(*nested()), "everything": allocate(everything(), EMPTY)}


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("trace", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_every_name_is_declared(name: str, trace: bool, architecture: str) -> None:
    cdl = linked(MODELS[name], architecture, trace=trace)
    for container, caps in cdl.caps.items():
        assert container in cdl.objects
        for cap in caps.values():
            assert cap.partition(" ")[0] in cdl.objects, cap
    for irq in cdl.irqs.values():
        assert irq in cdl.objects
    for name_, what in cdl.objects.items():
        if what.startswith("cnode"):
            bits = int(re.findall(r"\d+", what)[0])
            assert all(0 < int(slot, 16) < 1 << bits for slot in cdl.caps[name_])


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_thread_has_memory_and_capabilities(architecture: str) -> None:
    cdl = linked(MODELS["nested"], architecture)
    root = ARCHITECTURES[architecture].levels[0][0]
    for name, what in cdl.objects.items():
        if what.startswith("tcb"):
            caps = cdl.caps[name]
            assert set(caps) == {"cspace", "vspace", "ipc_buffer_slot"}
            assert cdl.objects[caps["vspace"]] == root
            assert cdl.objects[caps["ipc_buffer_slot"].partition(" ")[0]].startswith("frame")


@pytest.mark.parametrize("name", MODELS)
def test_same_authority_as_on_the_host_kernel(name: str) -> None:
    """Every capability of the host table is in the specification, in the same slot, with the same badge
    and rights; a timer is an endpoint of its driver. What is there besides are faults and the own CNode."""
    model = MODELS[name]
    cdl = linked(model, "x86_64")
    timers = {timer.object: number for number, timer in enumerate(model.timers, 1)}
    space = ""
    seen: dict[str, set[int]] = {}
    for line in host_table(model, {s.name: f"{s.name}.so" for s in model.spaces}).splitlines():
        words = line.split()
        if words[0] == "space":
            space = words[1]
            seen[space] = set()
        elif words[0] == "cap":
            slot, target, rights, badge = int(words[1]), words[2], words[3], int(words[4])
            if target in timers:
                target, rights, badge = TIMER_ENDPOINT, "WP", timers[target]
            found = cdl.caps[cdl_name(f"{space}:cnode")][f"{slot:#x}"]
            expected = cdl_name(target)
            if rights != "-":
                expected += f" ({rights}" + (f", badge: {badge}" if badge else "") + ")"
            assert found == expected, line
            seen[space].add(slot)
        elif words[0] == "thread":
            tcb = cdl.objects[cdl_name(words[1])]
            assert f"prio: {words[4]}, max_prio: {words[5]}" in tcb
            assert f"init: [{words[2]}]" in tcb
    for space, slots in seen.items():
        for slot, cap in cdl.caps[cdl_name(f"{space}:cnode")].items():
            if int(slot, 16) not in slots:
                allowed = (cdl_name(f"{space}:faults"), cdl_name(f"{space}:cnode"))
                assert cap.partition(" ")[0] in allowed


def test_only_managers_can_set_priorities() -> None:
    model = complete(MODELS["nested"]).model
    for space in model.spaces:
        for thread in space.threads:
            assert thread.max_priority == (thread.priority if thread.role is Role.MANAGER else 0)


@pytest.mark.parametrize(
    ("name", "instance", "most"), [("nested", "leaf", 0), ("everything", "a1", 254), ("nested", "inner", 30)]
)
def test_a_spare_tcb_gives_no_more_than_the_threads_have(name: str, instance: str, most: int) -> None:
    """One that a component asks for beside its threads: a `tcb_pool`."""
    model = MODELS[name]
    spare = KernelObject("spare", ObjectKind.TCB)
    spaces = tuple(
        replace(s, caps=(*s.caps, Cap(200, "spare"))) if s.name == instance else s for s in model.spaces
    )
    spec = unlinked(complete(replace(model, objects=(*model.objects, spare), spaces=spaces)), "x86_64")
    (item,) = [item for item in spec.objects if item.name == cdl_name("spare")]
    assert item.details == StartState(most, most, started=False)


def test_missing_symbols_are_named() -> None:
    spec = unlinked(complete(MODELS["nested"]), "x86_64")
    images = {s.name: Image(f"{s.name}.elf", 0, (), {}) for s in spec.spaces}
    with pytest.raises(LinkError, match=r"has no symbol '_camkes_stack_0'|_camkes_ipc_buffer_0"):
        link(spec, images)


def test_more_objects_than_the_loader_has_space_for() -> None:
    spec = unlinked(complete(MODELS["nested"]), "x86_64")
    images = images_of(spec)
    distribution = link(spec, images)
    objects = len(distribution.objects)
    distribution.check(objects)
    with pytest.raises(LinkError) as caught:
        distribution.check(objects - 1)
    assert str(caught.value) == (
        f"the system has {objects} kernel objects, each page of memory included, and the loader has space "
        f"for {objects - 1}: build with -DCapDLLoaderMaxObjects=10000 -DKernelRootCNodeSizeBits=16"
    )


def test_two_objects_for_one_interrupt() -> None:
    """seL4 gives an interrupt to one handler."""
    model = MODELS["nested"]
    irqs = ("nic.irq", "other.irq")
    both = replace(
        model,
        objects=(*model.objects, *(KernelObject(name, ObjectKind.INTERRUPT) for name in irqs)),
        interrupts=tuple(Interrupt(name, 5, "") for name in irqs),
    )
    spec = unlinked(complete(both), "x86_64")
    with pytest.raises(LinkError, match=r"`nic.irq` and `other.irq` are both for interrupt 5, which one"):
        link(spec, images_of(spec))


def test_names_are_unique() -> None:
    model = complete(MODELS["nested"], trace_frame=PAGE).model
    names = [o.name for o in model.objects if o.kind is not ObjectKind.TIMER]
    assert len({cdl_name(n) for n in names}) == len(names)
