# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the host kernel has in place of device components of others."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from camkes.model.system import Connection, Instance, System
from camkes.resources import DEVICES

#: what each component in the folder of substitutes is, by the name of its type
SUBSTITUTES = {
    "TimeServer": "virtual time",
    "SerialServer": "the console, with the input of `--input`",
    **dict.fromkeys(("Ethdriver82574", "Ethdriver82580", "EthdriverARMPlat"), "the captures of `--network`"),
}

#: libraries of a workspace that these use, where it has them
LIBRARIES = ("virtqueue",)


def is_substitute(instance: Instance) -> bool:
    """Is it one of these components, and not what it consists of?"""
    return instance.type.name in SUBSTITUTES and instance.type.span.file.path.is_relative_to(DEVICES)


def substituted(system: System) -> Iterator[tuple[Instance, str]]:
    """The instances of a system that are not the devices that they are named after, with what they are."""
    return ((each, SUBSTITUTES[each.type.name]) for each in system.instances if is_substitute(each))


def without_devices(system: System) -> System:
    """A system without the connections of substitutes to devices."""
    names = {instance.name for instance, _ in substituted(system)}

    def is_to_device(connection: Connection) -> bool:
        ends = (*connection.from_ends, *connection.to_ends)
        connector = connection.connector
        hardware = connector.from_end.hardware or connector.to_end.hardware
        return hardware and any(end.instance in names for end in ends)

    left = tuple(each for each in system.connections if not is_to_device(each))
    return system if len(left) == len(system.connections) else replace(system, connections=left)
