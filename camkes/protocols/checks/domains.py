# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Threads whose domain has no slot in the stated schedule: they never run."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.diagnostics import Diagnostic, Span
from camkes.model.configured import ThreadSettings
from camkes.model.settings import DOMAIN
from camkes.model.system import Instance, System
from camkes.protocols.checks.base import listing
from camkes.protocols.codes import NO_SLOT


def without_slot(system: System) -> Iterator[Diagnostic]:
    """A warning for each instance with a thread in a domain that has no slot. Where the text has no schedule,
    that of the kernel is not known."""
    slots = sorted({slot.domain for slot in system.schedule})
    for instance in system.instances if slots else ():
        threads = [] if instance.type.hardware else _threads(instance)
        outside = [(name, thread, span) for name, thread, span in threads if thread.domain not in slots]
        for name, thread, span in outside[:1]:
            setting = DOMAIN.of(f"{name}._" if name == instance.name else f"{name}_")
            yield Diagnostic(
                NO_SLOT,
                f"`{name}` has domain {thread.domain}, which has no slot in the schedule: it never runs",
                thread.spans.get(DOMAIN.name, span),
                notes=(f"the schedule has slots of {listing(map(str, slots))}",),
                help=f"add a slot of domain {thread.domain}, or set `{setting}` to one that has a slot",
            )


def _threads(instance: Instance) -> list[tuple[str, ThreadSettings, Span]]:
    """Those of an instance by their names: the control thread, and those of interfaces that are received."""
    settings = instance.configured
    found = [(instance.name, settings.control, instance.span)] if instance.type.control else []
    return found + [
        (f"{instance.name}.{each.name}", settings.interface(each.name).thread, each.span)
        for each in instance.type.interfaces
        if each.kind == "provides"
    ]
