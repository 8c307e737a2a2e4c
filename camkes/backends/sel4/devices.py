# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The target machine of an image, and the device that drives the timers of a system on it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from camkes.capdl.model import CapabilityModel, ObjectKind
from camkes.resolve.values.devicetree import BadTreeError, read_tree
from camkes.resources import ROOT

SOURCES = ROOT / "kernel" / "sel4" / "timer"

#: the symbol behind which a device's registers are
REGISTERS_SYMBOL = "_camkes_timer_registers"


class Machine(Struct, frozen=True):
    """In the kernel's words. `generic_timer`: user code may drive the timer of the Arm architecture."""

    architecture: str
    platform: str = ""
    generic_timer: bool = False


class Device(Struct, frozen=True):
    """`source` drives it. `irq` and `ports` are what capDL calls its interrupt and its I/O ports; `registers`
    is the physical address of its page. `clock`: user code reads the time from its registers, in all
    address spaces."""

    source: Path
    irq: str
    number: int
    ports: str | None = None
    registers: int | None = None
    clock: bool = False

    def clashes(self, model: CapabilityModel) -> str | None:
        """What of a model is this device too: the name of a kernel object, if there is one."""
        words = {word.strip(" (),") for word in re.findall(r"ioapic_(?:num|pin): \d+", self.irq)}
        parameters = {item.name: item.parameters for item in model.objects}
        for interrupt in model.interrupts:
            same_pin = words and words <= set(parameters.get(interrupt.object, ()))
            if interrupt.number == self.number or same_pin:
                return interrupt.object
        for item in model.objects:
            if item.kind is ObjectKind.IO_PORTS and self.ports and _overlap(self.ports, item.parameters[0]):
                return item.name
            at = item.paddr if item.kind is ObjectKind.REGION else None
            if at is not None and self.registers is not None and at <= self.registers < at + item.size:
                return item.name
        return None


def _overlap(one: str, other: str) -> bool:
    """Do two ranges of I/O ports, as capDL writes them, have a port in common?"""
    ranges = [[int(end, 16) for end in re.findall(r"0x[0-9a-f]+", text)] for text in (one, other)]
    return ranges[0][0] <= ranges[1][1] and ranges[1][0] <= ranges[0][1]


_PIT = Device(
    SOURCES / "pit.c",
    "ioapic_irq (ioapic_num: 0, ioapic_pin: 2, ioapic_level: 0, ioapic_polarity: 0)",
    42,
    "io_ports (ports: [0x40..0x43])",
)
_ARM_IRQ = "arm_irq (trigger: level, target: 0)"
_ARM_GENERIC = Device(SOURCES / "arm_generic.c", _ARM_IRQ, 30)
_IMX_GPT = Device(SOURCES / "imx_gpt.c", _ARM_IRQ, 87, registers=0x2098000, clock=True)
_GOLDFISH = Device(SOURCES / "goldfish.c", "irq", 11, registers=0x101000)

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
