# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""C types that need no header of the user, and whether a system names others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from camkes.model.system import ComponentType, DataportType, Procedure, System

#: what the language, C and the headers that every component has define
KNOWN = frozenset(
    (
        *(
            "char",
            "short",
            "int",
            "long",
            "float",
            "double",
            "bool",
            "signed",
            "unsigned",
            "size_t",
            "ssize_t",
        ),
        *("string", "character", "boolean", "integer", "real", "Buf", "dataport_ptr_t", "ptrdiff_t"),
        *("size_t", "ssize_t", "uintptr_t", "intptr_t", "seL4_Word", "seL4_CPtr"),
        *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    )
)


def needs_compiler(kind: ComponentType) -> bool:
    """Whether only a C compiler can check the types that a component names."""
    procedures = {id(i.type): i.type for i in kind.interfaces if isinstance(i.type, Procedure)}
    if kind.includes or any(procedure.includes for procedure in procedures.values()):
        return True
    return any(
        struct or not KNOWN.issuperset(name.replace("*", " ").split())
        for name, struct in _names(kind, procedures.values())
    )


def names_own_types(system: System) -> bool:
    """Whether any component of a system does."""
    kinds = {id(instance.type): instance.type for instance in system.instances}
    return any(needs_compiler(kind) for kind in kinds.values() if not kind.hardware)


def _names(kind: ComponentType, procedures: Iterable[Procedure]) -> Iterator[tuple[str, bool]]:
    for procedure in procedures:
        for method in procedure.methods:
            if method.return_type is not None:
                yield method.return_type.name, method.return_type.struct
            yield from ((p.type.name, p.type.struct) for p in method.parameters)
    for interface in kind.interfaces:
        if isinstance(interface.type, DataportType) and interface.type.size is None:
            yield interface.type.name, False
