# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Whatever a procedure has as parameters and whatever their values are, both sides see the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from camkes.generate.names import c_string
from tests.runtime.host import build
from tests.runtime.shapes import TYPES_H, Literal, Method, Value, client, procedure, server

pytestmark = pytest.mark.requirement("RT-1")

_NUMBERS = {
    "int": (-(2**31) + 1, 2**31 - 1),
    "unsigned int": (0, 2**32 - 1),
    "char": (0, 127),
    "int8_t": (-128, 127),
    "uint16_t": (0, 2**16 - 1),
    "int64_t": (-(2**63) + 1, 2**63 - 1),
    "uint64_t": (0, 2**64 - 1),
    "size_t": (0, 2**32 - 1),
    "bool": (0, 1),
    "float": (-1000, 1000),
}
_TEXT = st.text(st.characters(min_codepoint=1, max_codepoint=126), max_size=12)


def _element(kind: str) -> st.SearchStrategy[str]:
    if kind == "string":
        return _TEXT.map(c_string)
    if kind == "pair_t":
        return st.tuples(st.integers(0, 127), st.integers(0, 2**63)).map(
            lambda v: f"(pair_t){{{v[0]}, {v[1]}u}}"
        )
    low, high = _NUMBERS[kind]
    suffix = "u" if low == 0 else ""
    return st.integers(low, high).map(lambda v: f"{v}{suffix}")


@st.composite
def _value(draw: Callable[..., object], name: str, result: bool = False) -> Value:
    kind = draw(st.sampled_from([*_NUMBERS, "string", "pair_t"]))
    array = not result and draw(st.booleans())
    element = _element(str(kind))
    literal: st.SearchStrategy[Literal] = st.lists(element, max_size=4) if array else element
    direction = "out" if result else str(draw(st.sampled_from(["in", "refin", "inout", "out"])))
    sent, received = draw(literal), draw(literal)
    assert isinstance(sent, str | list) and isinstance(received, str | list)
    return Value(name, direction, str(kind), bool(array), sent, received)


@st.composite
def _method(draw: Callable[..., object], name: str) -> Method:
    count = draw(st.integers(0, 4))
    assert isinstance(count, int)
    parameters = tuple(draw(_value(f"v{i}")) for i in range(count))
    result = draw(st.none() | _value("result", True))
    return Method(name, parameters, result)  # type: ignore[arg-type]


_PROCEDURES = st.integers(1, 24).flatmap(lambda n: st.tuples(*(_method(f"m{i}") for i in range(n))))


def _camkes(methods: tuple[Method, ...]) -> str:
    return f"""
procedure P {{ {procedure(methods)} }}
component Client {{ control; uses P p; }}
component Server {{ provides P p; }}
assembly {{ composition {{
    component Client client; component Server server;
    connection seL4RPCCall x(from client.p, to server.p);
}} }}
"""


@pytest.mark.long
@settings(
    max_examples=4,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(methods=_PROCEDURES)
def test_values_arrive_as_they_were_sent(
    methods: tuple[Method, ...], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("marshalling")
    (folder / "types.h").write_text(TYPES_H)
    built = build(folder, _camkes(methods), {"Client": client(methods), "Server": server(methods)})
    run = built.run()
    assert (run.output, run.errors, run.status) == ("done\n", "", 0)


_STRINGS = """
procedure P { int length(in string text); string repeat(in int count); }
component Client { control; uses P p; }
component Server { provides P p; }
assembly { composition {
    component Client client; component Server server;
    connection seL4RPCCall x(from client.p, to server.p);
} }
"""
_LONG = """
#include <stdlib.h>
#include <string.h>
char *p_repeat(int count) { char *t = calloc(1, count + 1); memset(t, 'x', count); return t; }
int p_length(const char *text) { return (int)strlen(text); }
"""


@pytest.mark.long
@pytest.mark.parametrize("clause", ["", " with priority_protocol inherited, requests ()"])
def test_a_procedure_may_have_no_methods(tmp_path: Path, clause: str) -> None:
    built = build(
        tmp_path,
        f"""
        procedure Nothing {{}}
        component Client {{ control; requestor; uses Nothing p; }}
        component Server {{ provides Nothing p{clause}; }}
        assembly {{ composition {{
            component Client client;
            component Server server;
            connection seL4RPCCall c(from client.p, to server.p);
        }} configuration {{ client._priority = 10; }} }}""",
        {"Client": 'int run(void) { puts("client"); return 0; }', "Server": ""},
    )
    assert built.run().output == "client\n"


@pytest.mark.long
def test_a_message_that_is_too_long_is_reported(tmp_path: Path) -> None:
    client = """
    #include <string.h>
    int run(void)
    {
        char text[2000];
        memset(text, 'x', sizeof text);
        text[958] = 0;
        printf("%d\\n", p_length(text));
        text[958] = 'x';
        text[1999] = 0;
        printf("%d\\n", p_length(text));
        return 0;
    }
    """
    run = build(tmp_path, _STRINGS, {"Client": client, "Server": _LONG}).run()
    assert run.status == 1
    assert "958\n" in run.output
    assert "client.p: message of length(): needs 2000 bytes, there are 960" in run.output + run.errors


@pytest.mark.long
def test_a_component_may_handle_a_malformed_message(tmp_path: Path) -> None:
    server = (
        _LONG
        + """
    static camkes_error_action_t on_error(camkes_error_t *error)
    {
        printf("%s.%s: %d\\n", error->instance, error->interface, error->type == CE_BUFFER_LENGTH_EXCEEDED);
        return CEA_DISCARD;
    }
    void p__init(void) { p_register_error_handler(on_error); }
    """
    )
    client = """
    static camkes_error_action_t on_error(camkes_error_t *error)
    {
        return error->type == CE_MALFORMED_RPC_PAYLOAD ? CEA_DISCARD : CEA_HALT;
    }
    int run(void)
    {
        p_register_error_handler(on_error);
        char *text = p_repeat(5000);
        printf("%s\\n", text == NULL ? "nothing" : text);
        return 0;
    }
    """
    run = build(tmp_path, _STRINGS, {"Client": client, "Server": server}).run()
    assert run.output == "server.p: 1\nnothing\n"
    assert run.status == 0


def test_messages_in_a_dataport_may_be_long(tmp_path: Path) -> None:
    text = _STRINGS.replace("uses P p;", "uses P p; dataport Buf(8192) room;")
    text = text.replace("provides P p;", "provides P p; dataport Buf(8192) space;")
    text = text.replace(
        "} }\n", "connection seL4SharedData memory(from client.room, to server.space);\n} SET }\n"
    )
    client = """
    #include <stdlib.h>
    #include <string.h>
    int run(void)
    {
        char *text = p_repeat(8000);
        printf("%zu %d\\n", strlen(text), p_length(text));
        free(text);
        (void)p_repeat(8192);
        return 0;
    }
    """
    sources = {"Client": client, "Server": _LONG}
    run = build(tmp_path, text.replace("SET", 'configuration { x.buffer = "memory"; }'), sources).run()
    assert "8000 8000\n" in run.output
    assert "server.p: message of repeat(): needs 8193 bytes, there are 8192" in run.output + run.errors


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "definition", "call"),
    [
        ("string f();", "char *q_f(void) { return NULL; }", "p_f();"),
        ("void f(out string s);", "void q_f(char **s) { *s = NULL; }", "char *s; p_f(&s);"),
        (
            "void f(out int a[]);",
            "void q_f(size_t *n, int **a) { *n = 2; *a = NULL; }",
            "size_t n; int *a; p_f(&n, &a);",
        ),
        (
            "void f(out string a[]);",
            "void q_f(size_t *n, char ***a) { *n = 1; *a = calloc(1, sizeof **a); }",
            "size_t n; char **a; p_f(&n, &a);",
        ),
    ],
)
def test_a_handler_that_returns_null_is_reported(
    method: str, definition: str, call: str, tmp_path: Path
) -> None:
    text = f"""
    procedure P {{ {method} }}
    component Client {{ control; uses P p; }}
    component Server {{ provides P q; }}
    assembly {{ composition {{
        component Client client; component Server server;
        connection seL4RPCCall r(from client.p, to server.q);
    }} }}
    """
    client = f'int run(void) {{ {call} puts("not reached"); return 0; }}'
    run = build(tmp_path, text, {"Client": client, "Server": definition}).run()
    assert run.output == "camkes: server.q: message of f(): a string or an array is NULL\n"
    assert "fault: server: thread server.q:" in run.errors
