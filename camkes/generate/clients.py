# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Calls that a component of a test makes by a script: their contexts in mocks."""

from __future__ import annotations

from msgspec import Struct

from camkes.generate.contexts import MethodContext, ParameterContext, Shape
from camkes.generate.mock_values import record, recorded_members, scripted_members
from camkes.generate.names import fresh
from camkes.generate.procedures import declare

#: types whose values are shown where one is not as expected; others are compared as bytes
_INTEGERS = frozenset(
    (
        *("int", "int64_t", "uint64_t", "char", "signed char", "unsigned char", "unsigned int", "bool"),
        *("int8_t", "int16_t", "int32_t", "uint8_t", "uint16_t", "uint32_t", "size_t", "uintptr_t"),
    )
)


class ClientContext(Struct, frozen=True):
    """The calls of a method. `scripted` and `recorded` are members of structs for what is called and for what
    is answered, `expected` for what it should be; `before`, `record`, `checks` and `after` are statements.
    `step`, `began` and `answer` are names that no parameter has, like those of `MockContext`."""

    name: str
    interface: str
    method: MethodContext
    example: str
    scripted: tuple[str, ...]
    recorded: tuple[str, ...]
    expected: tuple[str, ...]
    before: tuple[str, ...]
    arguments: str
    record: tuple[str, ...]
    checks: tuple[str, ...]
    after: tuple[str, ...]
    result: str
    step: str
    began: str
    answer: str
    time: str
    response: str
    work: str
    within: str
    times: str


def client(interface: str, m: MethodContext) -> ClientContext:
    """The scripted calls of a method of an interface."""
    taken = {n for p in m.parameters for n in (p.name, f"{p.name}_sz")}
    step, answer, result = fresh("step", taken), fresh("answer", taken), fresh("result", taken)
    given = tuple(p for p in m.parameters if p.goes)
    comes = tuple(p for p in m.parameters if p.comes)
    if m.returns is not None:
        shape = m.return_shape or Shape.SCALAR
        comes = (ParameterContext(result, "out", shape, m.returns, ()), *comes)
    name = f"{interface}.{m.name}"
    what = {p.name: f"{p.name} of {name}" for p in comes} | {result: name}
    own = [p for p in m.parameters if p.by_pointer]
    if m.return_shape is Shape.STRING:
        own.append(comes[0])
    return ClientContext(
        name=f"mock_{interface}_{m.name}",
        interface=interface,
        method=m,
        example=f".{given[0].name} = ..." if given else "",
        scripted=tuple(line for p in given for line in scripted_members(p)),
        recorded=tuple(line for p in comes for line in recorded_members(p)),
        expected=tuple(line for p in comes for line in scripted_members(p)),
        before=tuple(line for p in m.parameters for line in _local(p, f"{step}->call.{p.name}")),
        arguments=", ".join(p.from_locals for p in m.parameters),
        record=tuple(line for p in comes for line in record(p, answer, "")),
        checks=tuple(_check(p, step, what[p.name]) for p in comes),
        after=tuple(line for p in own for line in _release(p)),
        result=declare(m.returns, result) if m.returns is not None else "",
        step=step,
        began=fresh("began", taken),
        answer=answer,
        time=fresh("time", taken),
        response=fresh("response", taken),
        work=fresh("work", taken),
        within=fresh("within", taken),
        times=fresh("times", taken),
    )


def _local(p: ParameterContext, value: str) -> list[str]:
    """Declarations of what is passed for a parameter: what a handler may replace is on the heap."""
    size = [f"size_t {p.name}_sz = {value}_sz;"] if p.goes else [f"size_t {p.name}_sz = 0;"]
    size = size if p.shape in (Shape.ARRAY, Shape.STRINGS) else []
    if p.shape is Shape.SCALAR:
        return [f"{declare(p.type, p.name)} = {value if p.goes else '{0}'};"]
    pointer = f"{p.type}*{p.name}" if p.shape is Shape.STRINGS else f"{p.type} *{p.name}"
    pointer = f"char *{p.name}" if p.shape is Shape.STRING else pointer
    if not p.goes:
        return [*size, f"{pointer} = NULL;"]
    if p.direction == "in":
        cast = "(char **)" if p.shape is Shape.STRINGS else ""
        constant = "" if p.shape is Shape.STRINGS else "const "
        text = f'{value} ? {value} : ""' if p.shape is Shape.STRING else f"{cast}{value}"
        return [*size, f"{constant}{pointer} = {text};"]
    copy = {
        Shape.STRING: f'strdup({value} ? {value} : "")',
        Shape.ARRAY: f"camkes_mock_copy({value}, {value}_sz * sizeof({value}[0]))",
        Shape.STRINGS: f"camkes_mock_texts({value}, {value}_sz)",
    }[p.shape]
    return [*size, f"{pointer} = {copy};"]


def _release(p: ParameterContext) -> list[str]:
    return {
        Shape.SCALAR: [],
        Shape.STRING: [f"free({p.name});"],
        Shape.ARRAY: [f"free({p.name});"],
        Shape.STRINGS: [f"camkes_free_strings({p.name}, {p.name}_sz);"],
    }[p.shape]


def _check(p: ParameterContext, step: str, what: str) -> str:
    """The statement that compares a value with what the script expects; NULL expects nothing."""
    expected = f"{step}->expected.{p.name}"
    place = f'{step}->file, {step}->expects, "{what}"'
    if p.shape is Shape.SCALAR:
        if p.type in _INTEGERS:
            return f"(void)camkes_test_equal((intmax_t){p.name}, (intmax_t){expected}, {place});"
        return f"camkes_mock_same(&{p.name}, &{expected}, sizeof({p.name}), {place});"
    if p.shape is Shape.STRING:
        return f"if ({expected} != NULL) {{ (void)camkes_test_text({p.name}, {expected}, {place}); }}"
    items = "camkes_mock_same_texts" if p.shape is Shape.STRINGS else "camkes_mock_same_items"
    size = "" if p.shape is Shape.STRINGS else f", sizeof({p.name}[0])"
    values = f"{p.name}, {p.name}_sz, {expected}, {expected}_sz{size}"
    return f"if ({expected} != NULL) {{ {items}({values}, {place}); }}"
