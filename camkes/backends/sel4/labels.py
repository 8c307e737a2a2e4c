# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""For proofs: the name of each kernel object in theories, and its integrity label.

A label is the component or connection that the object belongs to. Names of objects that camkes-tool also
makes are its names, which its theories have; the others are made of ours.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from camkes.backends.sel4.complete import Completed
from camkes.backends.sel4.link import cdl_name
from camkes.backends.upstream_templates.macros import integrity_group_labels
from camkes.backends.upstream_templates.view import CompositionView, ConfigurationView
from camkes.capdl.model import KernelObject, ObjectKind, Role, Space
from camkes.model.system import System

#: what begins the name of memory that templates share
_SHARED = "shared::"
#: a consumer's notification, and the others of connections
_OF_CONNECTION = re.compile(r"(?P<connection>[\w.]+)(?:@[\w.]+)?:(?P<part>endpoint|notification)")
_PARTS = {"endpoint": "ep"}
#: where requests to a CPI come in
_SERVED = re.compile(r"(?P<end>[\w.]+)(?:@[\w.]+)?:endpoint")


def labelled(system: System, completed: Completed) -> dict[str, tuple[str, str]]:
    """Name in theories and label of each object that is known before images are linked, by its name in the
    specification. The label of what belongs to nothing in the assembly is empty."""
    found: dict[str, tuple[str, str]] = {}
    seen: Counter[str] = Counter()
    label = Labels(system).of
    for name, wanted in _wanted(completed):
        seen[wanted] += 1
        number = f"_{seen[wanted]}" if seen[wanted] > 1 else ""
        found[cdl_name(name)] = f"{wanted}{number}", label(name)
    return found


def _wanted(completed: Completed) -> Iterator[tuple[str, str]]:
    """The objects with the names that they should have."""
    named: dict[str, str] = {}
    for space in completed.model.spaces:
        named[space.cnode] = f"{space.name}_cnode"
        named[space.vspace] = f"{space.name}_group_bin_pd"
        named[f"{space.name}:faults"] = f"{space.name}_fault_ep"
        for thread, (owner, own) in _threads(space).items():
            named[thread] = f"{owner}_{own}_tcb"
            named[f"{thread}-ipc-buffer"] = f"{owner}_frame__camkes_ipc_buffer_{own}"
    declared = {item.name for item in completed.model.objects}
    yield from ((name, wanted) for name, wanted in named.items() if name not in declared)
    for item in completed.model.objects:
        if item.kind is ObjectKind.REGION:
            yield from _frames(item)
        elif item.name in named:
            yield item.name, named[item.name]
        elif match := _OF_CONNECTION.fullmatch(item.name):
            part = _PARTS.get(match["part"], match["part"])
            yield item.name, f"{match['connection']}_{part}"
        else:
            yield item.name, _identifier(item.name)


def _threads(space: Space) -> dict[str, tuple[str, str]]:
    """By name of a thread: its instance, and its name there."""
    found: dict[str, tuple[str, str]] = {}
    numbers: Counter[tuple[str, str]] = Counter()
    for thread in space.threads:
        own = thread.instance.replace(".", "_")
        if thread.role is Role.CONTROL:
            part = "0_control"
        elif thread.role is Role.FAULT_HANDLER:
            part = "0_fault_handler"
        else:
            key = thread.instance, thread.interface
            part = f"{thread.interface or 'manager'}_{numbers[key]:04}"
            numbers[key] += 1
        found[thread.name] = thread.instance, f"{own}_{part}"
    return found


def _frames(region: KernelObject) -> Iterator[tuple[str, str]]:
    base = _identifier(region.name.removeprefix(_SHARED))
    for number in range(-(-region.size // region.page)):
        yield f"{region.name}-{number}", f"{base}_{number}_obj"


def _identifier(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.]+", "_", name).strip("_")


class Labels:
    """The integrity labels of a system."""

    def __init__(self, system: System) -> None:
        self.groups = integrity_group_labels(CompositionView(system), ConfigurationView(system))
        names = {c.name for c in system.connections} | {i.name for i in system.instances}
        names |= {i.address_space for i in system.instances}
        self.served = {end.name: c.name for c in system.connections for end in c.to_ends}
        self.owners = sorted(names, key=len, reverse=True)

    def of(self, name: str) -> str:
        """The label of what the longest name of an owner begins."""
        served = _SERVED.fullmatch(name)
        if served is not None and served["end"] in self.served:
            return self.label(self.served[served["end"]])
        rest = name.removeprefix(_SHARED)
        after = r"(?![A-Za-z0-9])" if rest != name else r"(?![A-Za-z0-9_])"
        owner = next((o for o in self.owners if re.match(re.escape(o) + after, rest)), "")
        return self.label(owner)

    def label(self, name: str) -> str:
        """Of an instance, a connection or an address space."""
        return self.groups.get(name, name)
