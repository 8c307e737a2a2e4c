# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mocks of the interfaces of a component of a test. What it provides gets handlers that record calls and give
scripted answers; what it uses gets a run() that makes scripted calls, checks and records their answers.

They are weak functions, so a function of the component's own takes the place of its mock.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from camkes.files import write_changed
from camkes.generate.clients import ClientContext, client
from camkes.generate.contexts import MethodContext, ParameterContext, Shape
from camkes.generate.mock_values import record, recorded_members, scripted_members
from camkes.generate.names import Places, comment, fresh
from camkes.generate.procedures import declare, method
from camkes.generate.render import Renderer
from camkes.model.system import ComponentType, Procedure


class MockContext(Struct, frozen=True):
    """The mock of a method. `name` begins its C names; `recorded` and `answered` are members of structs,
    `record` and `reply` statements; the rest are names that no parameter has."""

    name: str
    interface: str
    method: MethodContext
    example: str
    recorded: tuple[str, ...]
    answered: tuple[str, ...]
    record: tuple[str, ...]
    reply: tuple[str, ...]
    time: str
    requestor: str
    work: str
    times: str
    fails: str
    call: str
    answer: str


class MocksContext(Struct, frozen=True):
    """The mocks of a component type."""

    component: str
    source: str
    mocks: tuple[MockContext, ...]
    clients: tuple[ClientContext, ...]


def write_mocks(kind: ComponentType, root: Path, out: Path) -> Path | None:
    """Write `mocks.h` and `mocks.c` of a component type in the folder `out`; the source, None where the
    component has no procedures."""
    me = mocks_context(kind, root)
    if not me.mocks and not me.clients:
        return None
    renderer = Renderer()
    write_changed(out / "mocks.h", renderer.render("mock.template.h", me))
    source = out / "mocks.c"
    write_changed(source, renderer.render("mock.template.c", me))
    return source


def mocks_context(kind: ComponentType, root: Path) -> MocksContext:
    """What is rendered of a component type; `root` is the folder of the test."""
    places = Places(root)
    mocks = []
    clients = []
    for interface in kind.interfaces:
        if not isinstance(interface.type, Procedure):
            continue
        for index, source in enumerate(interface.type.methods):
            m = method(source, index, interface.name, places)
            if interface.kind == "provides":
                mocks.append(_mock(interface.name, m))
            elif kind.control:
                clients.append(client(interface.name, m))
    return MocksContext(kind.name, comment(kind.span.file.path.name), tuple(mocks), tuple(clients))


def _mock(interface: str, m: MethodContext) -> MockContext:
    taken = {n for p in m.parameters for n in (p.name, f"{p.name}_sz")}
    call, answer = fresh("mock_call", taken), fresh("mock_answer", taken)
    result = fresh("result", taken)
    given = tuple(p for p in m.parameters if p.direction in ("out", "inout"))
    answered = [line for p in given for line in _answer_members(p)]
    reply = [line for p in given for line in _answer_statements(p, f"{answer}.{p.name}")]
    if m.returns is not None:
        answered.insert(0, _member(m.returns, m.return_shape is Shape.STRING, result))
        value = f"{answer}.{result}"
        text = f'return strdup({value} ? {value} : "");'
        reply.append(text if m.return_shape is Shape.STRING else f"return {value};")
    first = next(iter([result] if m.returns is not None else [p.name for p in given]), None)
    work = fresh("work", taken)
    return MockContext(
        name=f"mock_{interface}_{m.name}",
        interface=interface,
        method=m,
        example=f".{first} = ..." if first else f".{work} = CAMKES_MS(1)",
        recorded=tuple(line for p in m.goes for line in recorded_members(p)),
        answered=tuple(answered),
        record=tuple(line for p in m.goes for line in record(p, call, "*" if p.by_pointer else "")),
        reply=tuple(reply),
        time=fresh("time", taken),
        requestor=fresh("requestor", taken),
        work=work,
        times=fresh("times", taken),
        fails=fresh("fails", taken),
        call=call,
        answer=answer,
    )


def _member(type_name: str, text: bool, name: str) -> str:
    return f"const char *{name}" if text else declare(type_name, name)


def _answer_members(p: ParameterContext) -> list[str]:
    """The value of a parameter in a scripted answer; NULL leaves an `inout` as it is."""
    if p.shape is Shape.SCALAR and p.direction == "inout":
        return [f"const {p.type} *{p.name}"]
    return scripted_members(p)


def _answer_statements(p: ParameterContext, value: str) -> list[str]:
    """What comes to be on the heap is the caller's, as of any handler."""
    inout = p.direction == "inout"
    if p.shape is Shape.SCALAR:
        return [f"if ({value} != NULL) {{ *{p.name} = *{value}; }}" if inout else f"*{p.name} = {value};"]
    condition = f"if ({value} != NULL) " if inout else ""
    free = f"free(*{p.name}); " if inout else ""
    if p.shape is Shape.STRING:
        return [f'{condition}{{ {free}*{p.name} = strdup({value} ? {value} : ""); }}']
    copy = f"(void)memcpy(*{p.name}, {value}, {value}_sz * sizeof(**{p.name}));"
    if p.shape is Shape.STRINGS:
        copy = f"for (size_t n = 0; n < {value}_sz; n++) {{ (*{p.name})[n] = strdup({value}[n]); }}"
    make = f"*{p.name} = malloc({value}_sz * sizeof(**{p.name}) + 1); *{p.name}_sz = {value}_sz;"
    return [f"{condition}{{ {free}{make} if ({value}_sz > 0) {{ {copy} }} }}"]
