# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The target machine of an image, and the device that drives the timers of a system on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from camkes.capdl.details import ArmInterrupt, Details, InterruptLine, IoApicInterrupt, Ports
from camkes.capdl.model import CapabilityModel, ObjectKind
from camkes.resolve.values.devicetree import BadTreeError, read_tree
from camkes.resources import ROOT

SOURCES = ROOT / "kernel" / "sel4" / "timer"

#: the symbol behind which a device's registers are
REGISTERS_SYMBOL = "_camkes_timer_registers"


class Machine(Struct, frozen=True):
    """In the kernel's words. `generic_timer`: user code may drive the timer of the Arm architecture.
    `three_levels`: a hypervisor kernel of aarch64 for physical addresses of 40 bits."""

    architecture: str
    platform: str = ""
    generic_timer: bool = False
    three_levels: bool = False

    @property
    def paging(self) -> str:
        """The name of how it maps memory (`address_space.ARCHITECTURES`)."""
        return "aarch64_hyp_40" if self.three_levels else self.architecture


class Device(Struct, frozen=True):
    """`source` drives it. `line` is where its interrupt comes from, `registers` the physical address of its
    page. `clock`: user code reads the time from its registers, in all address spaces."""

    source: Path
    line: InterruptLine | None
    number: int
    ports: Ports | None = None
    registers: int | None = None
    clock: bool = False

    def clashes(self, model: CapabilityModel) -> str | None:
        """What of a model is this device too: the name of a kernel object, if there is one."""
        details = {item.name: item.details for item in model.objects}
        for interrupt in model.interrupts:
            if interrupt.number == self.number or self._same_pin(details.get(interrupt.object)):
                return interrupt.object
        for item in model.objects:
            ports = item.details if isinstance(item.details, Ports) else None
            if ports is not None and self.ports is not None and self.ports.overlaps(ports):
                return item.name
            at = item.paddr if item.kind is ObjectKind.REGION else None
            if at is not None and self.registers is not None and at <= self.registers < at + item.size:
                return item.name
        return None

    def _same_pin(self, other: Details | None) -> bool:
        if not isinstance(self.line, IoApicInterrupt) or not isinstance(other, IoApicInterrupt):
            return False
        return (self.line.ioapic, self.line.pin) == (other.ioapic, other.pin)


_PIT = Device(
    SOURCES / "pit.c",
    IoApicInterrupt(ioapic=0, pin=2),
    42,
    Ports(0x40, 0x43),
)
_ARM_GENERIC = Device(SOURCES / "arm_generic.c", ArmInterrupt(), 30)
_IMX_GPT = Device(SOURCES / "imx_gpt.c", ArmInterrupt(), 87, registers=0x2098000, clock=True)
_GOLDFISH = Device(SOURCES / "goldfish.c", None, 11, registers=0x101000)

_X86 = ("x86_64", "ia32")
_BY_PLATFORM = {"imx6": _IMX_GPT, "qemu-riscv-virt": _GOLDFISH}

#: what a user is offered instead of a machine without a driver
DRIVEN = ("x86_64", "ia32", "qemu-arm-virt", "sabre", "qemu-riscv-virt")

#: their interrupts have other numbers than those of a core with a GIC
_WITHOUT_GIC = ("bcm2837",)


def device_of(machine: Machine) -> Device | None:
    """The device of a machine; None if we drive none there."""
    if machine.architecture in _X86:
        return _PIT
    if machine.generic_timer and machine.platform not in _WITHOUT_GIC:
        return _ARM_GENERIC
    return _BY_PLATFORM.get(machine.platform)


def why_not(machine: Machine) -> str:
    """Why there is no driver for a machine, where it is the machine that has no device."""
    if machine.platform == "spike":
        return "spike has no timer but the one that the kernel keeps for itself"
    return ""


def timebase(tree: Path | None, read: Callable[[Path], bytes] = Path.read_bytes) -> int | None:
    """Ticks a second of a RISC-V machine's clock, from its device tree."""
    if tree is None:
        return None
    try:
        root = read_tree(read(tree))
    except (OSError, BadTreeError):
        return None
    cpus = next((node for node in root.children if node.name == "cpus"), None)
    cells = cpus.properties.get("timebase-frequency", []) if cpus is not None else []
    return cells[-1] if cells and isinstance(cells[-1], int) else None
