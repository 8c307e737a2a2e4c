# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Values of parameters in mocks: in a record of calls and answers, and in a script."""

from __future__ import annotations

from camkes.generate.contexts import ParameterContext, Shape
from camkes.generate.procedures import declare


def recorded_members(p: ParameterContext) -> list[str]:
    """What is recorded of a parameter: of a string and of an array the beginning."""
    return {
        Shape.SCALAR: [declare(p.type, p.name)],
        Shape.STRING: [f"char {p.name}[CAMKES_MOCK_TEXT]"],
        Shape.ARRAY: [f"size_t {p.name}_sz", f"{declare(p.type, p.name)}[CAMKES_MOCK_ITEMS]"],
        Shape.STRINGS: [f"size_t {p.name}_sz"],
    }[p.shape]


def record(p: ParameterContext, struct: str, star: str) -> list[str]:
    """Statements that record a parameter in a struct; `star` comes before the parameter's name."""
    value, size = f"{star}{p.name}", f"{star}{p.name}_sz"
    place = f"{struct}->{p.name}"
    if p.shape is Shape.SCALAR:
        return [f"{place} = {value};"]
    if p.shape is Shape.STRING:
        # an argument is not NULL
        text = value if p.direction == "in" else f'{value} != NULL ? {value} : ""'
        return [f'(void)snprintf({place}, sizeof({place}), "%s", {text});']
    lines = [f"{place}_sz = {size};"]
    if p.shape is Shape.STRINGS:
        return [*lines, f"(void){p.name};"]
    items = f"({size} < CAMKES_MOCK_ITEMS ? {size} : CAMKES_MOCK_ITEMS)"
    return [*lines, f"if ({size} > 0) {{ (void)memcpy({place}, {value}, {items} * sizeof({place}[0])); }}"]


def scripted_members(p: ParameterContext) -> list[str]:
    """A parameter in a script."""
    if p.shape is Shape.SCALAR:
        return [declare(p.type, p.name)]
    if p.shape is Shape.STRING:
        return [f"const char *{p.name}"]
    item = "const char *const" if p.shape is Shape.STRINGS else f"const {p.type}"
    return [f"{item} *{p.name}", f"size_t {p.name}_sz"]
