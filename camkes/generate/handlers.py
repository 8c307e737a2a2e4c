# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The functions that the code of a component has to define, and a definition of each to begin with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from camkes.generate.contexts import ParameterContext, Shape
from camkes.generate.names import Places
from camkes.generate.procedures import method, prototype
from camkes.model.system import ComponentType, Interface, Method, Procedure

_TASK = """\
    while (camkes_next_job()) {
        /* the work of a job */
    }
    return 0;
"""


class Handler(Struct, frozen=True):
    """A function that the code of a component has to define: `run`, or that of a method of an interface which
    the component provides; both are None of `run`."""

    name: str
    interface: Interface | None = None
    method: Method | None = None

    @property
    def prototype(self) -> str:
        """Its declaration in C, without a semicolon."""
        if self.interface is None or self.method is None:
            return "int run(void)"
        return prototype(self.method, self.interface.name)


def handlers_of(kind: ComponentType) -> tuple[Handler, ...]:
    """The functions that the code of a component has to define, in the order of its text. That of hardware,
    and that of interfaces which its parts serve, is elsewhere."""
    if kind.hardware:
        return ()
    run = (Handler("run"),) if kind.control else ()
    return run + tuple(
        Handler(f"{interface.name}_{each.name}", interface, each)
        for interface in kind.interfaces
        if interface.kind == "provides" and interface.name not in kind.exported
        if isinstance(interface.type, Procedure)
        for each in interface.type.methods
    )


def definition(kind: ComponentType, handler: Handler, root: Path, *, cxx: bool = False) -> str:
    """A definition of a handler that compiles, does nothing and returns zeros; `root` is the folder of the
    application. What it gives to callers on the heap is theirs, as of any handler."""
    if handler.interface is None or handler.method is None:
        body = _TASK if kind.requestor else "    return 0;\n"
        return f"{handler.prototype}\n{{\n{body}}}\n"
    source = method(handler.method, 0, handler.interface.name, Places(root))
    lines = [line for p in source.parameters for line in _given(p, cxx=cxx)]
    if source.return_shape is Shape.STRING:
        lines.append('return strdup("");')
    elif source.returns is not None:
        lines.append(f"return {_zero(source.returns, cxx=cxx)};")
    body = "".join(f"    {line}\n" for line in lines) or "    /* nothing to return */\n"
    about = f"/* {source.origin}: method {source.name} of {handler.interface.name} */\n"
    return f"{about}{handler.prototype}\n{{\n{body}}}\n"


def definitions(
    kind: ComponentType, handlers: Sequence[Handler], root: Path, before: str, *, cxx: bool = False
) -> str:
    """What is appended to the text `before` of a source file, so that it defines handlers: with the headers
    that they need where the file is new or has none of them."""
    text = "\n".join(definition(kind, each, root, cxx=cxx) for each in handlers)
    headers = ["camkes.h", *(["string.h"] if "strdup(" in text else [])]
    lacks = [f"#include <{name}>\n" for name in headers if f"<{name}>" not in before]
    parts = [*([""] if before else []), *(["".join(lacks)] if lacks else []), text]
    return "\n".join(parts)


def _given(p: ParameterContext, *, cxx: bool) -> list[str]:
    """Statements that give an `out` parameter a value: callers are given one whatever happens."""
    if p.direction != "out":
        return []
    if p.shape in (Shape.ARRAY, Shape.STRINGS):
        return [f"*{p.name} = NULL; /* from malloc(); the caller frees it */", f"*{p.name}_sz = 0;"]
    if p.shape is Shape.STRING:
        return [f'*{p.name} = strdup(""); /* from malloc(); the caller frees it */']
    return [f"*{p.name} = {_zero(p.type, cxx=cxx)};"]


#: of types that have a zero of one character
_NUMBERS = {"int", "char", "unsigned", "unsigned int", "size_t", "float", "double", "long"} | {
    f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


def _zero(type_name: str, *, cxx: bool) -> str:
    """An expression for the zero of a C type, which may be a structure."""
    if type_name in _NUMBERS:
        return "0"
    if type_name == "bool":
        return "false"
    if type_name.endswith("*"):
        return "NULL"
    return f"{type_name}{{}}" if cxx else f"({type_name}){{0}}"
