# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""C prototypes of methods, and how their parameters are marshalled."""

from __future__ import annotations

from camkes.generate.contexts import MethodContext, ParameterContext, ProcedureContext, Shape
from camkes.generate.names import Places, fresh
from camkes.model.system import CType, Method, Parameter, Procedure

#: names that the language has for C types
_C_TYPES = {"string": "char *", "character": "char", "boolean": "bool", "integer": "int"}


def c_type(ctype: CType) -> str:
    """The type as C writes it."""
    name = _C_TYPES.get(ctype.name, ctype.name)
    return f"struct {name}" if ctype.struct else name


def pointer_to(type_name: str, name: str) -> str:
    """A declarator: `int *x`, `char **x`."""
    return f"{type_name}*{name}" if type_name.endswith("*") else f"{type_name} *{name}"


def declare(type_name: str, name: str) -> str:
    """`int x`, `char *x`."""
    return f"{type_name}{name}" if type_name.endswith("*") else f"{type_name} {name}"


def parameter(source: Parameter) -> ParameterContext:
    """A parameter with its declarations, the same on both sides."""
    name, type_name = source.name, c_type(source.type)
    string = source.type.name == "string" and not source.type.struct
    if source.array:
        shape = Shape.STRINGS if string else Shape.ARRAY
    else:
        shape = Shape.STRING if string else Shape.SCALAR
    constant = "const " if source.direction == "refin" else ""
    declarations: tuple[str, ...]
    if source.direction == "in":
        declarations = {
            Shape.SCALAR: (declare(type_name, name),),
            Shape.STRING: (f"const char *{name}",),
            Shape.ARRAY: (f"size_t {name}_sz", "const " + pointer_to(type_name, name)),
            Shape.STRINGS: (f"size_t {name}_sz", f"char **{name}"),
        }[shape]
    elif source.array:
        declarations = (f"{constant}size_t *{name}_sz", pointer_to(pointer_to(type_name, ""), name))
    elif string:
        declarations = (f"char **{name}",)
    else:
        declarations = (constant + pointer_to(type_name, name),)
    return ParameterContext(name, source.direction, shape, type_name, declarations)


def prototype(source: Method, interface: str) -> str:
    """The declaration of the function of a method, without a semicolon."""
    declarations = ", ".join(d for p in source.parameters for d in parameter(p).declarations) or "void"
    returns = "void" if source.return_type is None else c_type(source.return_type)
    return f"{declare(returns, f'{interface}_{source.name}')}({declarations})"


def method(source: Method, index: int, interface: str, places: Places) -> MethodContext:
    """A method of an interface."""
    parameters = tuple(parameter(p) for p in source.parameters)
    declarations = [d for p in parameters for d in p.declarations]
    returns = None if source.return_type is None else c_type(source.return_type)
    taken = {n for p in parameters for n in (p.name, f"{p.name}_sz")}
    is_string = source.return_type is not None and source.return_type.name == "string"
    return MethodContext(
        name=source.name,
        index=index,
        origin=places.of(source.span),
        prototype=prototype(source, interface),
        declarations=", ".join(declarations) or "void",
        pointers=any("*" in d for d in declarations),
        returns=returns,
        return_shape=None if returns is None else Shape.STRING if is_string else Shape.SCALAR,
        parameters=parameters,
        thread=fresh("self", taken),
        error=fresh("error", taken),
        message=fresh("message", taken),
        registers=fresh("registers", taken),
        storage=fresh("storage", taken),
        request=fresh("request", taken),
        reply=fresh("reply", taken),
        result=fresh("result", taken),
        number=fresh("method", taken),
        scratch=fresh("scratch", taken),
        asked=fresh("asked", taken),
        answered=fresh("answered", taken),
    )


def procedure(source: Procedure, interface: str, places: Places) -> ProcedureContext:
    """A procedure as `interface` has it."""
    count = len(source.methods)
    bits = next(b for b in (8, 16, 32, 64) if count <= 2**b)
    return ProcedureContext(
        source.name,
        tuple(method(m, i, interface, places) for i, m in enumerate(source.methods)),
        f"uint{bits}_t" if count > 1 else None,
    )
