# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The C names that `camkes.h` and the glue of a component are made of: no two of its members may have the
same, nor one that the C library or the runtime has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from msgspec import Struct

from camkes.diagnostics import Label, Sink, Span
from camkes.model.system import AttributeType, ComponentType, Interface, Method, Procedure, StructType, Sync
from camkes.resolve import codes
from camkes.resolve.words.keywords import C_LIBRARY, C_MACROS, C_STRUCTS
from camkes.resources import ROOT

#: Functions of any component that `camkes.h` declares.
_FUNCTIONS = """
    pre_init post_init get_instance_name get_instance_affinity get_thread_name set_putchar dataport_wrap_ptr
    dataport_unwrap_ptr
"""
_OWN = frozenset(_FUNCTIONS.split())

#: What follows the name of an interface or a lock, and two underscores, in the names of the glue.
_PRIVATE = """
    band callers condition contexts cpi error_handler event group init interface lenders loop members monitor
    of_type paths payers place pool resume rollback routes run semaphore senders serve timer timers users uses
    waiters
"""
PRIVATE = frozenset(_PRIVATE.split())

#: What follows the name of a member of each kind, and one underscore, in `camkes.h`.
_OF_KINDS = {
    "uses": "register_error_handler",
    "provides": "register_error_handler get_sender_id",
    "emits": "register_error_handler emit",
    "consumes": "register_error_handler wait poll reg_callback notification",
    "dataport": "register_error_handler size get_size acquire release cache_op wrap_ptr unwrap_ptr",
    "mutex": "lock unlock",
    "semaphore": "wait trywait post",
    "binary_semaphore": "wait post",
    "condition": "wait wait_until signal broadcast",
}

#: Where names with these beginnings are declared, below the folder of the tool.
_RESERVED = {
    "camkes_": ("runtime/include/camkes", "kernel/host/include/camkes"),
    "seL4_": ("kernel/host/include/sel4",),
}


def suffixes_of(kind: str) -> tuple[str, ...]:
    """What follows the name of an interface or a lock of a kind, and one underscore, in C, but for
    methods."""
    return tuple(_OF_KINDS[kind].split())


class _Symbol(Struct, frozen=True):
    """A C name, and of what it is: `suffix` is empty for a member that is named as it is. `signature` is that
    of a function of the component's own code."""

    name: str
    kind: str
    member: str
    suffix: str
    span: Span
    signature: object = None

    def __str__(self) -> str:
        kind = self.kind.replace("_", " ")
        return f"`{self.suffix}` of {kind} `{self.member}`" if self.suffix else f"{kind} `{self.member}`"


def check_symbols(component: ComponentType, sink: Sink) -> None:
    """Report members of a component that have the same name in C, or one that is not theirs."""
    if component.hardware:
        return
    members: dict[str, Interface | Sync] = {i.name: i for i in component.interfaces}
    members |= {s.name: s for s in component.syncs}
    found: dict[str, _Symbol] = {}
    for symbol in _symbols(component):
        owner = _owner(symbol.name, component) or _glue_of(symbol.name, members)
        first = found.setdefault(symbol.name, symbol)
        if owner:
            known_as = f" is `{symbol.name}` in C, which" if symbol.suffix else ""
            sink.report(
                codes.SYMBOL_CLASH,
                f"{symbol}{known_as} clashes with {owner}",
                symbol.span,
                help="choose another name",
            )
        elif first is not symbol and (symbol.signature is None or first.signature != symbol.signature):
            sink.report(
                codes.SYMBOL_CLASH,
                f"{first} and {symbol} are both `{symbol.name}` in C",
                symbol.span,
                related=[Label(first.span, "declared here")],
                help="choose another name for one of them",
            )
    for struct, span in _taken_structs(component).items():
        sink.report(
            codes.SYMBOL_CLASH,
            f"struct `{struct}` clashes with that of the C library, which generated code includes",
            span,
            "it is used here",
            help="choose another name for the struct",
        )


def _taken_structs(component: ComponentType) -> dict[str, Span]:
    """The structs of attributes whose names are taken, each with the first place that uses it."""
    found: dict[str, Span] = {}
    for attribute in component.attributes:
        for struct in structs_in(attribute.type):
            if struct.name in C_STRUCTS:
                found.setdefault(struct.name, attribute.span)
    return found


def structs_in(type: AttributeType) -> Iterator[StructType]:
    """A struct, and those of its members."""
    if isinstance(type, StructType):
        yield type
        for member in type.members:
            yield from structs_in(member.type)


def _symbols(component: ComponentType) -> Iterator[_Symbol]:
    """Attributes come last: a clash of one is reported where it is declared."""
    for interface in component.interfaces:
        yield from _of_member(interface)
        if interface.kind == "dataport":
            yield _Symbol(interface.name, "dataport", interface.name, "", interface.span)
        if isinstance(interface.type, Procedure):
            for method in interface.type.methods:
                signature = _signature(method) if interface.kind == "provides" else None
                name = f"{interface.name}_{method.name}"
                yield _Symbol(name, interface.kind, interface.name, method.name, interface.span, signature)
    for sync in component.syncs:
        yield from _of_member(sync)
    for attribute in component.attributes:
        for suffix in ("", "DEF"):
            name = f"{attribute.name}_{suffix}" if suffix else attribute.name
            yield _Symbol(name, "attribute", attribute.name, suffix, attribute.span)


def _of_member(member: Interface | Sync) -> Iterator[_Symbol]:
    for suffix in _OF_KINDS[member.kind].split():
        yield _Symbol(f"{member.name}_{suffix}", member.kind, member.name, suffix, member.span)


def _glue_of(name: str, members: Mapping[str, Interface | Sync]) -> str:
    """What of the glue has the name."""
    for found in re.finditer("(?=__)", name):
        head, tail = name[: found.start()], name[found.end() + 2 :]
        if head in members and tail in PRIVATE:
            return f"the generated code of `{head}`"
    return ""


def _signature(method: Method) -> object:
    """Two methods that are provided can be one function."""
    return method.return_type, tuple((p.direction, p.type, p.array) for p in method.parameters)


def _owner(name: str, component: ComponentType) -> str:
    """What has the name, outside the members of a component."""
    if name in C_LIBRARY:
        return "a function or type of the C library, which generated code includes"
    if name in C_MACROS:
        return "a macro of C"
    if name == "main":
        return "the function in which programs start"
    if name in _OWN or (name == "run" and component.control):
        return "a function that `camkes.h` declares"
    prefix = next((prefix for prefix in _RESERVED if name.startswith(prefix)), None)
    if prefix is not None and name in _declared(prefix):
        return "a name of the runtime" if prefix == "camkes_" else "a name of seL4"
    return ""


@cache
def _declared(prefix: str) -> frozenset[str]:
    """The names with this beginning in the headers of the runtime or of the kernel."""
    texts = (
        path.read_text("utf-8")
        for folder in _RESERVED[prefix]
        for path in sorted((ROOT / folder).glob("*.h"))
    )
    return frozenset(name for text in texts for name in re.findall(rf"\b{prefix}\w+", text))
