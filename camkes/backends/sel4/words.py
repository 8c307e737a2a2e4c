# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Parameters of kernel objects besides name and size, in the syntax of capDL."""

from __future__ import annotations

from camkes.capdl.details import (
    ArmInterrupt,
    Bank,
    Core,
    Details,
    Domain,
    IoApicInterrupt,
    IoSpace,
    MsiInterrupt,
    PciDevice,
    Ports,
    Scheduling,
)


def words(details: Details | None) -> tuple[str, ...]:
    """The parameters of an object."""
    match details:
        case Scheduling():
            limits = (f"period: {details.period}", f"budget: {details.budget}", f"data: {details.data}")
            return (*limits, f"{details.size_bits} bits")
        case Domain():
            return (f"dom: {details.number}",)
        case Core():
            return (f"core: {details.number}",)
        case Ports():
            return (f"ports: [{details.first:#x}..{details.last:#x}]",)
        case PciDevice():
            where = f"{details.bus:#x}:{details.device}.{details.function}"
            return (f"domainID: {details.domain}", where)
        case IoSpace():
            return (f"iospace: {details.number}",)
        case Bank():
            return (f"bank: {details.number}",)
        case ArmInterrupt():
            return (f"trigger: {'edge' if details.edge else 'level'}", f"target: {details.target}")
        case IoApicInterrupt():
            pin = (f"ioapic_num: {details.ioapic}", f"ioapic_pin: {details.pin}")
            return (*pin, f"ioapic_level: {details.level}", f"ioapic_polarity: {details.polarity}")
        case MsiInterrupt():
            where = f"msi_pci_bus: {details.bus}"
            place = (f"msi_pci_dev: {details.device}", f"msi_pci_fun: {details.function}")
            return (f"msi_handle: {details.handle}", where, *place)
    return ()


def declared(kind: str, details: Details | None) -> str:
    """The declaration of an object, without its name: `kind (parameters)`."""
    found = words(details)
    return f"{kind} ({', '.join(found)})" if found else kind


def interrupt(line: Details | None) -> str:
    """The declaration of an interrupt; without details, the machine has one kind only."""
    match line:
        case ArmInterrupt():
            return declared("arm_irq", line)
        case IoApicInterrupt():
            return declared("ioapic_irq", line)
        case MsiInterrupt():
            return declared("msi_irq", line)
    return declared("irq", line)
