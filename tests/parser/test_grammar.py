# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Every construct of the language gives the tree it should."""

from __future__ import annotations

import pytest

from camkes.parser import ast
from tests.parser.support import errors, good, shape, value

pytestmark = pytest.mark.requirement("LANG-1")


def test_an_empty_file_has_no_items() -> None:
    assert good("") == ()
    assert good(" \n // nothing\n/* at * all */ ;;\n") == ()


def test_imports() -> None:
    assert shape(good('import "a/b.camkes"; import <std.camkes>; import "a" "b";')) == (
        ("ImportDecl", "a/b.camkes", False),
        ("ImportDecl", "std.camkes", True),
        ("ImportDecl", "ab", False),
    )


@pytest.mark.parametrize("path", ["-a.camkes", "<", "=b", "a//b", "/*a*/", "a b", ""])
def test_text_in_angle_brackets_is_a_path(path: str) -> None:
    if path == "<":
        errors("import <<>;")
    else:
        assert shape(good(f"import <{path}>;")) == (("ImportDecl", path, True),)


def test_a_procedure_has_methods_attributes_and_includes() -> None:
    (procedure,) = good('procedure P { include <a.h>; void f(); int x = 3 string s[] include "b.h"; }')
    assert shape(procedure) == (
        "ProcedureDecl",
        "P",
        (("MethodDecl", "f", None, ()),),
        (
            ("AttributeDecl", ("TypeName", "int", False), False, "x", ("Literal", 3)),
            ("AttributeDecl", ("TypeName", "string", False), True, "s", None),
        ),
        (("IncludeDecl", "a.h", True), ("IncludeDecl", "b.h", False)),
    )


def test_definitions_may_have_no_name() -> None:
    text = "procedure {} component {} composition {} configuration {} connector {from Event; to Event;}"
    assert [item.name for item in good(text)] == [None] * 5


def test_parameters_have_directions_types_and_arrays() -> None:
    (procedure,) = good(
        "procedure P { int f(void);"
        " void g(int a, in char b, out string c[], inout struct s d, refin buf_t e,); }"
    )
    first, second = procedure.methods
    assert shape(first.return_type) == ("TypeName", "int", False)
    assert first.parameters == ()
    assert [shape(each)[1:] for each in second.parameters] == [
        ("in", ("TypeName", "int", False), False, "a"),
        ("in", ("TypeName", "char", False), False, "b"),
        ("out", ("TypeName", "string", False), True, "c"),
        ("inout", ("TypeName", "s", True), False, "d"),
        ("refin", ("TypeName", "buf_t", False), False, "e"),
    ]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("int", "int"),
        ("integer", "int"),
        ("signed", "int"),
        ("signed int", "int"),
        ("signed integer", "int"),
        ("unsigned", "unsigned int"),
        ("unsigned int", "unsigned int"),
        ("unsigned integer", "unsigned int"),
        ("char", "char"),
        ("signed char", "signed char"),
        ("unsigned char", "unsigned char"),
        ("string", "string"),
        ("int64_t", "int64_t"),
        ("uint64_t", "uint64_t"),
        ("double", "double"),
        ("size_t", "size_t"),
        ("Buf", "Buf"),
    ],
)
def test_types_are_in_normal_form(written: str, name: str) -> None:
    (procedure,) = good(f"procedure P {{ {written} f(in {written} x); }}")
    method = procedure.methods[0]
    assert shape(method.return_type) == ("TypeName", name, False)
    assert shape(method.parameters[0].type) == ("TypeName", name, False)


def test_structs_nest_without_the_word() -> None:
    (struct,) = good("struct s { int a; { string b; } c[] = [{}]; struct t d; u e; }")
    assert [shape(member)[1:4] for member in struct.body.members] == [
        (("TypeName", "int", False), False, "a"),
        (("StructBody", (("AttributeDecl", ("TypeName", "string", False), False, "b", None),)), True, "c"),
        (("TypeName", "t", True), False, "d"),
        (("TypeName", "u", False), False, "e"),
    ]


def test_a_component_has_all_its_items_in_any_order() -> None:
    (component,) = good(
        """component C {
            emits E e; control; include "c.h"; hardware; requestor; maybe uses P u; provides P p;
            consumes E c; maybe dataport Buf d; dataport Buf(2 * 4096) b; dataport my_t m;
            has mutex x; has semaphore y; has binary_semaphore z;
            attribute int a = 1 + 2; attribute { int i; } s;
            composition {} configuration {}
        }"""
    )
    assert [type(item).__name__ for item in component.items] == [
        *("InterfaceDecl", "Control", "IncludeDecl", "Hardware", "Requestor", *["InterfaceDecl"] * 6),
        *("SyncDecl", "SyncDecl", "SyncDecl", "AttributeDecl", "AttributeDecl"),
    ]
    interfaces = [item for item in component.items if isinstance(item, ast.InterfaceDecl)]
    assert [(each.kind, each.name.text, each.optional) for each in interfaces] == [
        ("emits", "e", False),
        ("uses", "u", True),
        ("provides", "p", False),
        ("consumes", "c", False),
        ("dataport", "d", True),
        ("dataport", "b", False),
        ("dataport", "m", False),
    ]
    assert [type(each.type).__name__ for each in interfaces[4:]] == ["TypeName", "BufType", "TypeName"]
    syncs = [item for item in component.items if isinstance(item, ast.SyncDecl)]
    assert [each.kind for each in syncs] == ["mutex", "semaphore", "binary_semaphore"]
    assert isinstance(component.composition, ast.CompositionDecl)
    assert isinstance(component.configuration, ast.ConfigurationDecl)


def test_composition_and_configuration_of_a_component_may_be_in_either_order_or_by_name() -> None:
    (component,) = good("component C { configuration K; composition S; }")
    assert shape(component.composition) == ("BlockReference", "composition", "S")
    assert shape(component.configuration) == ("BlockReference", "configuration", "K")


def test_the_real_time_words() -> None:
    (component,) = good(
        """component C {
            requestor 7;
            provides P a with priority_protocol inherited, requests (x, y), 1 + 1 threads;
            provides P b with 1 thread, requests ();
            provides P c with requests (x.f, g: y, g: y.h,);
            uses P u;
        }"""
    )
    requestor, a, b, c, u = component.items
    assert shape(requestor) == ("Requestor", ("Literal", 7))
    assert shape(a.clauses) == (
        ("ProtocolClause", "inherited"),
        ("RequestsClause", (call(None, "x"), call(None, "y"))),
        ("ThreadsClause", ("Binary", "+", ("Literal", 1), ("Literal", 1))),
    )
    assert shape(b.clauses) == (("ThreadsClause", ("Literal", 1)), ("RequestsClause", ()))
    calls = (call(None, "x", "f"), call("g", "y"), call("g", "y", "h"))
    assert shape(c.clauses) == (("RequestsClause", calls),)
    assert u.clauses == ()


def call(method: str | None, interface: str, called: str | None = None) -> tuple[str | None, ...]:
    return ("RequestedCall", method, interface, called)


@pytest.mark.parametrize("clause", ["protocol", "protocol inherited", "request (a)", "fixed (a.b, c)"])
def test_an_unknown_clause_is_kept(clause: str) -> None:
    (component,) = good(f"component C {{ provides P a with {clause}, 2 threads; }}")
    unknown, threads = component.items[0].clauses
    assert shape(unknown) == ("UnknownClause", clause.split()[0])
    assert isinstance(threads, ast.ThreadsClause)


@pytest.mark.parametrize(
    "word",
    [
        *(
            "us",
            "ticks",
            "schedule",
            "ns",
            "ms",
            "s",
            "requestor",
            "requests",
            "priority_protocol",
            "helpers",
        ),
        *("inherited", "fixed", "propagated", "Buf", "double", "list", "dict", "dtb", "run"),
    ],
)
def test_words_of_a_context_are_names_everywhere(word: str) -> None:
    good(
        f"""
        procedure {word} {{ {word} {word}({word} {word}, in {word} x); }}
        struct {word} {{ {word} {word}; }}
        connector {word} {{ from Procedure; to Procedure; attribute {word} {word}; }}
        component {word} {{
            uses {word} {word}; provides {word} {word} with priority_protocol {word}, requests ({word});
            emits {word} {word}; dataport {word} {word}; has mutex {word}; attribute {word} {word};
            composition {word} {{ export {word}.{word} -> {word}; }}
            configuration {word} {{ {word}.{word} = 1; {word}.{word} <- {word}; }}
        }}
        assembly {word} {{
            composition {word} {{
                component {word} {word};
                connection {word} {word}(from {word}.{word}, to {word}.{word});
                group {word} {{ component {word} {word}; }}
            }}
            configuration {word} {{ {word}.{word} = {word}({{}}); {word}.{word} <- {word}.{word}["{word}"]; }}
        }}
        """
    )


RESERVED = """
    assembly attribute char component composition configuration connection connector consumes
    control dataport Dataport Dataports emits export Event Events False false from group hardware has
    import in include inout int integer int64_t maybe mutex out procedure Procedure Procedures provides
    refin semaphore binary_semaphore signed struct string thread threads True true to uint64_t
    unsigned uses void with"""


@pytest.mark.parametrize("word", RESERVED.split())
def test_reserved_words_are_not_names(word: str) -> None:
    assert errors(f"component C {{ has mutex {word}; }}") == [
        f"`{word}` is a keyword and cannot be used as a name"
    ]


def test_a_connector_has_two_ends() -> None:
    (connector,) = good(
        "connector C { from hardware Events with 2 * 2 threads; to Procedure with 1 thread;"
        " attribute bool b; }"
    )
    assert shape(connector.ends) == (
        ("ConnectorEndDecl", "from", True, "Event", True, ("Binary", "*", ("Literal", 2), ("Literal", 2))),
        ("ConnectorEndDecl", "to", False, "Procedure", False, ("Literal", 1)),
    )
    assert [attribute.name.text for attribute in connector.attributes] == ["b"]


@pytest.mark.parametrize("kind", ["Event", "Procedure", "Dataport"])
def test_kinds_of_connectors(kind: str) -> None:
    (connector,) = good(f"connector C {{ from {kind}; to {kind}s; }}")
    assert [(end.kind, end.many) for end in connector.ends] == [(kind, False), (kind, True)]


def test_a_composition_has_instances_connections_groups_and_exports() -> None:
    (composition,) = good(
        """composition K {
            component C a; component lib.C b; component { control; } c;
            connection R x(from a.i, from g.b.i, to j) with 3 threads;
            connection { from Event; to Event; } y();
            group g { component C d; component C e; }
            group { }
            export a.i -> j;
        }"""
    )
    a, b, c, x, y, g, h, export = composition.items
    assert (a.type.text, b.type.text, a.name.text) == ("C", "lib.C", "a")
    assert isinstance(c.type, ast.ComponentDecl)
    assert c.type.name is None
    assert [(end.side, shape(end.path)) for end in x.ends] == [
        ("from", ("a", "i")),
        ("from", ("g", "b", "i")),
        ("to", ("j",)),
    ]
    assert shape(x.clauses) == (("ThreadsClause", ("Literal", 3)),)
    assert isinstance(y.connector, ast.ConnectorDecl)
    assert y.ends == ()
    assert [instance.name.text for instance in g.instances] == ["d", "e"]
    assert (h.name, h.instances) == (None, ())
    assert shape(export) == ("ExportDecl", ("a", "i"), "j")


def test_settings_have_values_quantities_queries_and_references() -> None:
    (configuration,) = good(
        """configuration {
            a.i = 1; a.j = "s" "t"; a.k = [1, [], "x", {},]; a.l = {"a": 1, 2: {"b": [True]},};
            a.m = 100 ms; a.n = 2 * 3 us;
            a.o = dtb({"path": "uart"}); a.p = dtb([{"a": 1}, {"b": 2}])["query"][0]; a.q = gpio();
            a.r = q()["x"];
            a.s <- b.t; a.u <- v; a.w <- b.x["k"][2];
        }"""
    )
    values = {setting.path[1].text: shape(setting.value) for setting in configuration.settings}
    one, two = ("Literal", 1), ("Literal", 2)
    assert values == {
        "i": one,
        "j": ("Literal", "st"),
        "k": ("ListValue", (one, ("ListValue", ()), ("Literal", "x"), ("DictValue", ()))),
        "l": (
            "DictValue",
            (
                (("Literal", "a"), one),
                (two, ("DictValue", ((("Literal", "b"), ("ListValue", (one,))),))),
            ),
        ),
        "m": ("Quantity", ("Literal", 100), "ms"),
        "n": ("Quantity", ("Binary", "*", two, ("Literal", 3)), "us"),
        "o": ("Query", "dtb", (("DictValue", ((("Literal", "path"), ("Literal", "uart")),)),), ()),
        "p": (
            "Query",
            "dtb",
            (("DictValue", ((("Literal", "a"), one),)), ("DictValue", ((("Literal", "b"), two),))),
            (("Literal", "query"), ("Literal", 0)),
        ),
        "q": ("Query", "gpio", (), ()),
        "r": ("Query", "q", (), (("Literal", "x"),)),
        "s": ("Reference", ("b", "t"), ()),
        "u": ("Reference", ("v",), ()),
        "w": ("Reference", ("b", "x"), (("Literal", "k"), two)),
    }


def test_an_assembly_has_blocks_and_schedules() -> None:
    (assembly,) = good(
        """assembly A {
            configuration K; composition {}
            schedule { [(0, 100), (1, 5 us), (2, 7 ticks),] }
            configuration {}
        }"""
    )
    reference, composition, schedule, configuration = assembly.items
    assert shape(reference) == ("BlockReference", "configuration", "K")
    assert isinstance(composition, ast.CompositionDecl)
    assert isinstance(configuration, ast.ConfigurationDecl)
    assert shape(schedule.entries) == (
        ("ScheduleEntry", ("Literal", 0), ("Literal", 100)),
        ("ScheduleEntry", ("Literal", 1), ("Quantity", ("Literal", 5), "us")),
        ("ScheduleEntry", ("Literal", 2), ("Quantity", ("Literal", 7), "ticks")),
    )


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("00", 0),
        ("17", 17),
        ("0x1F", 31),
        ("0xfF", 255),
        ("2.5", 2.5),
        ("0.5", 0.5),
        ("True", 1),
        ("true", 1),
        ("False", 0),
        ("false", 0),
        ('""', ""),
        ('"a\nb"', "a\nb"),
        ('"C:\\"', "C:\\"),
        ('"a" /* and */ "b"', "ab"),
    ],
)
def test_literals(text: str, number: object) -> None:
    literal = value(text)
    assert isinstance(literal, ast.Literal)
    assert literal.value == number
    assert type(literal.value) is type(number)


def sexp(node: ast.ValueNode) -> str:
    """A value with all its parentheses."""
    match node:
        case ast.Literal():
            return str(node.value)
        case ast.Unary():
            return f"({node.op}{sexp(node.operand)})"
        case ast.Binary():
            return f"({sexp(node.left)}{node.op}{sexp(node.right)})"
        case ast.Conditional():
            return f"({sexp(node.condition)}?{sexp(node.then)}:{sexp(node.otherwise)})"
    raise AssertionError(node)


@pytest.mark.parametrize(
    ("text", "grouped"),
    [
        ("1 + 2 * 3", "(1+(2*3))"),
        ("1 - 2 - 3", "((1-2)-3)"),
        ("2 ** 3 ** 2", "((2**3)**2)"),
        ("2 * 3 ** 2", "((2*3)**2)"),
        ("-2 ** 2", "((-2)**2)"),
        ("8 / 2 % 3", "((8/2)%3)"),
        ("1 << 2 + 3", "(1<<(2+3))"),
        ("1 < 2 == 3 > 4", "((1<2)==(3>4))"),
        ("1 < 2 <= 3", "((1<2)<=3)"),
        ("1 & 2 == 2", "(1&(2==2))"),
        ("1 | 2 ^ 3 & 4", "(1|(2^(3&4)))"),
        ("1 || 2 && 3", "(1||(2&&3))"),
        ("!~-+1", "(!(~(-(+1))))"),
        ("1 ? 2 : 3", "(1?2:3)"),
        ("1 ? 2 ? 3 : 4 : 5", "(1?(2?3:4):5)"),
        ("1 ? 2 : (3 ? 4 : 5)", "(1?2:(3?4:5))"),
        ("1 || 0 ? 2 : 3", "((1||0)?2:3)"),
        ("((((1))))", "1"),
        ("1 >= 2 != 3 >> 1", "((1>=2)!=(3>>1))"),
    ],
)
def test_operators_group_as_they_always_did(text: str, grouped: str) -> None:
    assert sexp(value(text)) == grouped


def test_the_last_operand_of_a_conditional_is_not_a_conditional() -> None:
    assert errors("configuration { a.b = 1 ? 2 : 3 ? 4 : 5; }") == [
        "a conditional in the last operand of `? :` needs parentheses"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "control; # the rest of the line",
        "control; // the rest\\\n of the line",
        "con/**/trol;",
        "group g {}",
        "attribute int a",
    ],
)
def test_a_hash_hides_the_rest_of_a_line_and_a_backslash_continues_a_comment(text: str) -> None:
    if text.startswith("control"):
        good(f"component C {{ {text}\n }}")
    else:
        errors(f"component C {{ {text}\n }}")
