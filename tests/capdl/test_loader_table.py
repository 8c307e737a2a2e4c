# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The tables of seL4's loader: everything in them, compiled here against a header with the loader's names.

`golden/every-kind.tables.txt` has those of a system with every kind of object and capability."""

from __future__ import annotations

import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace

from camkes.backends.sel4.complete import complete
from camkes.backends.sel4.devices import device_of
from camkes.backends.sel4.link import Distribution, link
from camkes.backends.sel4.spec import unlinked
from camkes.capdl.details import (
    ArmInterrupt,
    Bank,
    IoApicInterrupt,
    IoSpace,
    MsiInterrupt,
    PciDevice,
    Ports,
    Scheduling,
)
from camkes.capdl.fill import BootRecord, FileData, Fill
from camkes.capdl.loader_table import loader_table
from camkes.capdl.specification import (
    ASID_CONTROL,
    CSPACE,
    FAULT_ENDPOINT,
    IPC_BUFFER,
    IRQ_CONTROL,
    SCHED_CONTROL,
    SCHEDULING_CONTEXT,
    VSPACE,
    AsidPool,
    SpecCap,
    Specification,
    SpecObject,
    StartState,
    memory_bits,
)
from camkes.capdl.text import capdl_text
from camkes.model.architectures import ARCHITECTURES
from tests.backends.sel4.test_spec import MACHINES, MODELS, images_of, parse
from tests.capdl.tables import Tables, printed, read_tables
from tests.golden import compare

pytestmark = pytest.mark.requirement("SEL4-3")

GOLDEN = Path(__file__).parent / "golden"
SIZES = {
    "seL4_TCBObject": 11,
    "seL4_EndpointObject": 4,
    "seL4_NotificationObject": 5,
    "seL4_ASID_Pool": 12,
    "seL4_Slot": 5,
    "seL4_PageTableObject": 12,
}


def distribution(name: str, architecture: str) -> Distribution:
    completed = complete(MODELS[name], device_of(MACHINES[architecture]))
    spec = unlinked(completed, architecture, ((0, 5), (1, 7)) if name == "nested" else ())
    return link(spec, images_of(spec))


def tables(spec: Specification, folder: Path) -> Tables:
    source = folder / "tables.c"
    source.write_text(loader_table(spec, SIZES))
    return read_tables(source)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", MODELS)
def test_objects_and_slots_of_the_text(name: str, architecture: str, tmp_path: Path) -> None:
    """Both writers say the same: every object, every slot, whom it leads to."""
    spec = distribution(name, architecture)
    found, text = tables(spec, tmp_path), parse(capdl_text(spec))
    assert found.objects.keys() == text.objects.keys()
    for container, caps in text.caps.items():
        slots = [line.split()[2] for line in found.objects[container][1:]]
        slots = [text.irqs.get(target, target) for target in slots]
        assert sorted(slots) == sorted(cap.partition(" ")[0] for cap in caps.values())
    numbers = [line for line in found.system if line.startswith("interrupt")]
    assert numbers == [
        f"interrupt {n} {item}" for n, item in sorted(text.irqs.items(), key=lambda i: int(i[0]))
    ]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_the_order_in_which_a_loader_can_make_them(architecture: str, tmp_path: Path) -> None:
    """At addresses first, from low to high, then from large to small; threads by name."""
    spec = distribution("everything", architecture)
    fixed = [SpecObject(f"at-{at:x}", "frame", 12, at) for at in (0x9000, 0x3000, 0x200000)]
    spec.objects += [*fixed, SpecObject("also-at-3000", "frame", 12, 0x3000)]
    order = list(tables(spec, tmp_path).objects)
    items = {item.name: item for item in spec.objects}
    placed = [name for name in order if items[name].paddr is not None]
    assert order[: len(placed)] == placed
    assert [items[name].paddr for name in placed] == sorted(items[name].paddr or 0 for name in placed)
    assert {"at-9000", "at-3000", "also-at-3000", "at-200000"} <= set(placed)
    sizes = [memory_bits(items[name], SIZES) or 0 for name in order[len(placed) :]]
    assert all(before >= after for before, after in pairwise(sizes))
    threads = [name for name in order if items[name].type == "tcb"]
    assert threads == sorted(threads)


def every_kind() -> Specification:
    """One of each, a system that no machine has."""
    objects = [
        SpecObject("cnode", "cnode", 4),
        SpecObject("devices", "cnode", 5),
        SpecObject("t", "tcb", details=StartState(7, 9, 1, 2, 0x1000, 0x400000, 0x7FF0, (3, 4), 6)),
        SpecObject("spare", "tcb", details=StartState(5, 5, started=False)),
        SpecObject("endpoint", "ep"),
        SpecObject("signal", "notification"),
        SpecObject("answer", "rtreply"),
        SpecObject("context", "sc", details=Scheduling(period=20, budget=5, data=3, size_bits=9)),
        *(
            SpecObject(name, name)
            for name in ("pml4", "pdpt", "pgd", "pud", "pd", "pt", "vcpu", "smc", "streamid")
        ),
        SpecObject("buffer", "frame", 12),
        SpecObject("registers", "frame", 12, 0x9000_0000),
        SpecObject(
            "image",
            "frame",
            21,
            fill=(
                Fill(16, 32, FileData('a "b".elf'), 4096),
                Fill(64, 8, BootRecord("CDL_FrameFill_BootInfo_FDT"), 2),
            ),
        ),
        SpecObject("memory", "ut", 16),
        SpecObject("device-memory", "ut", 20, 0x8000_0000),
        SpecObject("second", "asid_pool", details=AsidPool(2)),
        SpecObject("first", "asid_pool", details=AsidPool(1)),
        SpecObject("ports", "io_ports", details=Ports(0x40, 0x43)),
        SpecObject("pci", "io_device", details=PciDevice(1, 2, 3, 4)),
        SpecObject("io-space", "arm_io_device", details=IoSpace(5)),
        SpecObject("bank", "contextbank", details=Bank(6)),
        SpecObject("line", "irq"),
        SpecObject("gic", "arm_irq", details=ArmInterrupt(edge=True, target=1)),
        SpecObject("pin", "ioapic_irq", details=IoApicInterrupt(1, 2, 1, 0)),
        SpecObject("msi", "msi_irq", details=MsiInterrupt(7, 1, 2, 3)),
        SpecObject("root", "ut", 22, 0x8000_0000),
    ]
    devices = ("vcpu", "smc", "streamid", "memory", "device-memory", "first", "second", "ports", "pci")
    devices += ("io-space", "bank", "line", "gic", "pin", "msi", "context", "answer")
    caps = {
        "cnode": [
            SpecCap(1, "endpoint", "WP", 7),
            SpecCap(2, "endpoint", "RWG"),
            SpecCap(3, "signal", "R"),
            SpecCap(4, "cnode", guard=60),
            SpecCap(5, "t"),
            SpecCap(6, IRQ_CONTROL),
            SpecCap(7, ASID_CONTROL),
            SpecCap(8, SCHED_CONTROL, core=1),
            SpecCap(9, "buffer", "RW", mapping=("pt", 1)),
            SpecCap(10, "registers", "RW", cached=False),
        ],
        "devices": [SpecCap(slot, name) for slot, name in enumerate(devices, 1)],
        "t": [
            SpecCap(CSPACE, "cnode", guard=60),
            SpecCap(VSPACE, "pml4"),
            SpecCap(IPC_BUFFER, "buffer", "RW"),
            SpecCap(FAULT_ENDPOINT, "endpoint", "WP", 2),
            SpecCap(SCHEDULING_CONTEXT, "context"),
        ],
        "pml4": [SpecCap(0, "pdpt")],
        "pdpt": [SpecCap(2, "pd")],
        "pgd": [SpecCap(0, "pud")],
        "pd": [SpecCap(1, "pt"), SpecCap(3, "image", "RX")],
        "pt": [SpecCap(1, "buffer", "RW"), SpecCap(0, "registers", "RW", cached=False)],
        "line": [SpecCap(0, "signal", "W", 8)],
    }
    irqs = {3: "line", 1: "gic", 0: "pin", 5: "msi"}
    return Specification(
        ARCHITECTURES["x86_64"], objects, caps, irqs, ((1, 100), (0, 50)), {"root": ("image", "t")}
    )


def test_every_kind_of_object_and_capability(tmp_path: Path) -> None:
    source = tmp_path / "tables.c"
    source.write_text(loader_table(every_kind(), SIZES))
    compare(printed(source), GOLDEN / "every-kind.tables.txt")


def test_a_system_without_interrupts_and_domains(tmp_path: Path) -> None:
    spec = replace(every_kind(), caps={}, irqs={}, schedule=(), children={})
    assert tables(spec, tmp_path).system == ("pool 1 first", "pool 2 second", f"start {2**64 - 1} shift 0")


@pytest.mark.parametrize(
    ("setting", "other", "message"),
    [
        ("CONFIG_ARCH_X86_64 1", "OTHER", "these tables are for a kernel for X86_64"),
        (
            "PER_FRAME 8",
            "PER_FRAME 1",
            "a page has data from 2 places: build with -DCapDLLoaderFillsPerFrame=2",
        ),
        ("PER_FRAME 8", "PER_FRAME 2", ""),
    ],
)
def test_what_a_loader_for_something_else_says(
    setting: str, other: str, message: str, tmp_path: Path
) -> None:
    header = (Path(__file__).parent / "loader" / "capdl.h").read_text()
    (tmp_path / "capdl.h").write_text(header.replace(setting, other))
    source = tmp_path / "tables.c"
    source.write_text(loader_table(every_kind(), SIZES))
    done = subprocess.run(
        ["cc", "-fsyntax-only", f"-I{tmp_path}", source], capture_output=True, text=True, check=False
    )
    assert (done.returncode == 0) == (not message), done.stderr
    assert message in done.stderr.replace('"\n', "")


def test_differences_are_found(tmp_path: Path) -> None:
    """Whatever one of two tables says that the other does not."""
    spec = every_kind()
    ours = tables(spec, tmp_path)
    assert ours.differences(ours) == []
    changed = replace(
        spec,
        objects=[
            replace(o, bits=13) if o.name == "registers" else o for o in spec.objects if o.name != "pdpt"
        ],
        caps={
            **{k: v for k, v in spec.caps.items() if k != "pdpt"},
            "pml4": [],
            "line": [SpecCap(0, "signal", "W", 9)],
        },
        irqs={**spec.irqs, 5: "line", 3: "msi"},
    )
    found = "\n".join(ours.differences(tables(changed, tmp_path)))
    for what in (
        "registers: Frame bits 12",
        "registers: Frame bits 13",
        "pdpt: PDPT",
        "pml4: 0: PDPTCap pdpt",
    ):
        assert what in found
    assert "data 0x9 | only there" in found
    assert "interrupt 5 line | only there" in found
