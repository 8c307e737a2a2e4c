# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Methods with parameters of all shapes, and components that call and serve them and check all values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Literal: TypeAlias = "str | list[str]"

TYPES_H = """
#pragma once
#include <stdint.h>
typedef struct { char small; uint64_t large; } pair_t;
"""


@dataclass(frozen=True)
class Value:
    """A parameter or result with what goes in and what comes out, as C literals of its elements."""

    name: str
    direction: str
    type: str
    array: bool
    sent: Literal
    received: Literal

    @property
    def string(self) -> bool:
        return self.type == "string"

    @property
    def c_type(self) -> str:
        return "char *" if self.string else self.type + " "


@dataclass(frozen=True)
class Method:
    name: str
    parameters: tuple[Value, ...]
    result: Value | None


def procedure(methods: tuple[Method, ...]) -> str:
    """The body of a procedure with these methods."""
    lines = ['include "types.h";']
    for method in methods:
        parameters = ", ".join(
            f"{v.direction} {v.type} {v.name}{'[]' if v.array else ''}" for v in method.parameters
        )
        lines.append(f"{method.result.type if method.result else 'void'} {method.name}({parameters});")
    return " ".join(lines)


HELPERS = """
#include <stdlib.h>
#include <string.h>
#include "types.h"
static void need(int good, const char *what) { if (!good) { printf("wrong: %s\\n", what); } }
static char *text(const char *from) { char *to = malloc(strlen(from) + 1); strcpy(to, from); return to; }
static inline int same_pair(pair_t a, pair_t b) { return a.small == b.small && a.large == b.large; }
"""


def _same(value: Value, got: str, literal: str) -> str:
    if value.string:
        return f"strcmp({got}, {literal}) == 0"
    if value.type == "pair_t":
        return f"same_pair({got}, {literal})"
    return f"{got} == ({value.type}){literal}"


def _check(value: Value, got: str, size: str, literal: Literal, where: str) -> list[str]:
    if isinstance(literal, str):
        return [f'need({_same(value, got, literal)}, "{where}");']
    lines = [f'need({size} == {len(literal)}, "size of {where}");']
    return lines + [
        f'need({size} > {i} && {_same(value, f"({got})[{i}]", item)}, "{where}[{i}]");'
        for i, item in enumerate(literal)
    ]


def _make(value: Value, literal: Literal) -> str:
    """An expression for an element on the heap, or the element."""
    assert isinstance(literal, str)
    return f"text({literal})" if value.string else literal


def _fill(value: Value, pointer: str, size: str, literal: Literal) -> list[str]:
    """Give a parameter its value, on the heap where it is a string or an array."""
    if isinstance(literal, str):
        return [f"{pointer} = {_make(value, literal)};"]
    lines = [f"{size} = {len(literal)};", f"{pointer} = malloc({max(1, len(literal))} * sizeof *{pointer});"]
    return lines + [f"({pointer})[{i}] = {_make(value, item)};" for i, item in enumerate(literal)]


def server(methods: tuple[Method, ...], interface: str = "p") -> str:
    lines = [HELPERS]
    for method in methods:
        body: list[str] = []
        parameters: list[str] = []
        for v in method.parameters:
            by_pointer = v.direction != "in"
            star = "*" if by_pointer else ""
            got, size = f"({star}{v.name})", f"({star}{v.name}_sz)"
            if v.array and v.direction == "in":
                parameters += [f"size_t {v.name}_sz", f"{'' if v.string else 'const '}{v.c_type}*{v.name}"]
            elif v.array:
                constant = "const " if v.direction == "refin" else ""
                parameters += [f"{constant}size_t *{v.name}_sz", f"{v.c_type}**{v.name}"]
            elif v.string:
                parameters.append(f"const char *{v.name}" if v.direction == "in" else f"char **{v.name}")
            else:
                constant = "const " if v.direction == "refin" else ""
                parameters.append(f"{constant}{v.c_type}{star}{v.name}")
            where = f"server {method.name} {v.name}"
            if v.direction != "out":
                body += _check(v, got, size, v.sent, where)
            if v.direction == "inout" and isinstance(v.sent, list):
                if v.string:
                    body.append(f"for (size_t i = 0; i < {size}; i++) free({got}[i]);")
                body.append(f"free({got});")
            elif v.direction == "inout" and v.string:
                body.append(f"free({got});")
            if v.direction in ("inout", "out"):
                body += _fill(v, got, size, v.received)
        result = method.result
        if result is not None:
            body.append(f"return {_make(result, result.received)};")
        returns = result.c_type if result is not None else "void "
        lines.append(f"{returns}{interface}_{method.name}({', '.join(parameters) or 'void'})\n{{")
        lines += [f"    {line}" for line in body] + ["}"]
    return "\n".join(lines)


def client(methods: tuple[Method, ...], interface: str = "p") -> str:
    return f"""{HELPERS}{calls(methods, interface)}
int run(void)
{{
    {interface}__calls();
    printf("done\\n");
    return 0;
}}
"""


def calls(methods: tuple[Method, ...], interface: str) -> str:
    """A function that calls all methods of an interface."""
    lines = []
    for method in methods:
        body: list[str] = []
        arguments: list[str] = []
        after: list[str] = []
        for v in method.parameters:
            size, sign = f"{v.name}_sz", "" if v.direction == "in" else "&"
            where = f"client {method.name} {v.name}"
            if v.array:
                body += [f"size_t {size} = 0;", f"{v.c_type}*{v.name} = NULL;"]
                arguments.append(sign + size)
            else:
                body.append(f"{v.c_type}{v.name}{' = NULL' if v.string else ''};")
            arguments.append(sign + v.name)
            if v.direction != "out":
                body += _fill(v, v.name, size, v.sent)
            elif not v.string and not v.array:
                body.append(f"memset(&{v.name}, 0, sizeof {v.name});")
            if v.direction in ("inout", "out"):
                after += _check(v, v.name, size, v.received, where)
            if v.array and v.string:
                after.append(f"for (size_t i = 0; i < {size}; i++) free({v.name}[i]);")
            if v.array or v.string:
                after.append(f"free({v.name});")
        call = f"{interface}_{method.name}({', '.join(arguments)});"
        if method.result is not None:
            call = f"{method.result.c_type}result = {call}"
            after += _check(method.result, "result", "", method.result.received, f"result of {method.name}")
            if method.result.string:
                after.append("free(result);")
        lines += [
            f"static void {interface}__call_{method.name}(void)\n{{",
            *(f"    {x}" for x in [*body, call, *after]),
            "}",
        ]
    statements = "\n".join(f"    {interface}__call_{m.name}();" for m in methods)
    return "\n".join(lines) + f"\nstatic void {interface}__calls(void)\n{{\n{statements}\n}}\n"
