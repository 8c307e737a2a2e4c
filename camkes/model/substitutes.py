# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the host kernel has in place of device components of others."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.model.system import Instance, System
from camkes.resources import DEVICES

#: what each component in the folder of substitutes is, by the name of its type
SUBSTITUTES = {
    "TimeServer": "virtual time",
    "SerialServer": "the console, with the input of `--input`",
}

#: libraries of a workspace that these use, where it has them
LIBRARIES = ("virtqueue",)


def is_substitute(instance: Instance) -> bool:
    """Is it one of these components, and not what it consists of?"""
    return instance.type.name in SUBSTITUTES and instance.type.span.file.path.is_relative_to(DEVICES)


def substituted(system: System) -> Iterator[tuple[Instance, str]]:
    """The instances of a system that are not the devices that they are named after, with what they are."""
    return ((each, SUBSTITUTES[each.type.name]) for each in system.instances if is_substitute(each))
