# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mistakes of every kind: what camkes-tool does with each, and what we say.

A row is a small text, what upstream does ("rejects", "crashes" with a traceback, "accepts" in silence), and
the codes that we give. `test_inventory` checks ours, and `test_upstream` upstream's.
"""

from typing import NamedTuple

#: What most rows stand on: a procedure, who uses and who provides it, and a connector of each kind.
BASE = """
procedure P { void f(); }
connector Call { from Procedure; to Procedure; }
connector Many { from Procedures; to Procedure; }
connector Signal { from Event; to Event; }
connector Share { from Dataport; to Dataport; }
component U { control; uses P p; }
component S { provides P p; }
"""


class Row(NamedTuple):
    name: str
    text: str
    upstream: str
    codes: tuple[str, ...]


def system(composition: str, configuration: str = "", *, before: str = "") -> str:
    """A system with a part of every kind that `composition` may use."""
    return f"{BASE}{before}assembly {{ composition {{ {composition} }} configuration {{ {configuration} }} }}"


def alone(top: str, attribute: str = "") -> str:
    """A system of one component, after something else."""
    return f"{top} component A {{ control; {attribute} }} assembly {{ composition {{ component A a; }} }}"


def member(text: str) -> str:
    """A component with a member, and all it may need."""
    return system("component A a;", before=f"component A {{ {text} }} ")


def setting(type: str, value: str, before: str = "") -> str:
    """A setting of an attribute `x`."""
    return system(
        "component A a;", f"a.x = {value};", before=f"{before} component A {{ attribute {type}; }} "
    )


def value(text: str) -> str:
    """An expression as the value of an integer."""
    return setting("int x", text)


CONNECTED = "component U u; component S s; connection Call c(from u.p, to s.p);"
HARDWARE = """
component D { hardware; dataport Buf d; emits E e; provides P p; }
component W { dataport Buf d; consumes E e; }
connector Device { from Dataport; to hardware Dataport; }
connector FromDevice { from hardware Event; to Event; }
"""

ROWS = (
    # files and imports
    Row("import of nothing", alone('import "nothing.camkes";'), "rejects", ("E0201",)),
    Row("system import of nothing", alone("import <nothing.camkes>;"), "rejects", ("E0201",)),
    Row("import without semicolon", alone('import "x.camkes"'), "rejects", ("E0131",)),
    Row("import in a component", member('import "x.camkes";'), "rejects", ("E0133",)),
    Row("no assembly", BASE, "rejects", ("E0209",)),
    Row("nothing", "", "rejects", ("E0209",)),
    Row("no instances", system(""), "rejects", ("E0210",)),
    # words and signs
    Row("illegal character", alone("procedure P { void f($); }"), "crashes", ("E0120",)),
    Row("escaped quote", setting("string x", r'"say \"no\""'), "crashes", ("E0122",)),
    Row("open string after another one", setting("string x", '"a"; a.x"y = 5'), "crashes", ("E0121",)),
    Row("quotes with backslashes", setting("string x", r"\"no\""), "crashes", ("E0120",)),
    Row("open string", setting("string x", '"open'), "crashes", ("E0121",)),
    Row("open comment", alone("/* open"), "rejects", ("E0123",)),
    Row("nested comment", alone("/* /* */ */"), "rejects", ("E0133",)),
    Row("number with a leading zero", value("010"), "rejects", ("E0124",)),
    Row("number with an exponent", value("1e3"), "rejects", ("E0130",)),
    Row("number with a suffix", value("10u"), "rejects", ("E0130",)),
    Row("binary number", value("0b11"), "rejects", ("E0130",)),
    Row("reserved word as a name", alone("procedure event { } procedure group { }"), "rejects", ("E0125",)),
    # the top level
    Row("group at the top", alone("group g { }"), "rejects", ("E0133",)),
    Row("attribute at the top", alone("attribute int x;"), "rejects", ("E0133",)),
    Row("setting at the top", alone("a.x = 1;"), "rejects", ("E0133",)),
    # procedures
    Row("attribute and semicolon", alone("procedure P { attribute int x; }"), "rejects", ("E0130",)),
    Row("array returned", alone("procedure P { int[] f(); }"), "rejects", ("E0130",)),
    Row("array of arrays", alone("procedure P { void f(int a[][]); }"), "rejects", ("E0130",)),
    Row("array with a size", alone("procedure P { void f(int a[4]); }"), "rejects", ("E0130",)),
    Row("long long", alone("procedure P { void f(long long a); }"), "rejects", ("E0130",)),
    Row("pointer", alone("procedure P { void f(int *a); }"), "rejects", ("E0130",)),
    Row("const", alone("procedure P { void f(const char c); }"), "rejects", ("E0130",)),
    Row("unnamed parameter", alone("procedure P { void f(int); }"), "rejects", ("E0130",)),
    Row("unknown direction", alone("procedure P { void f(both int a); }"), "rejects", ("E0130",)),
    Row("method with a keyword's name", alone("procedure P { void asm(); }"), "rejects", ("E0208",)),
    Row(
        "parameter with a keyword's name",
        alone("procedure P { void f(int volatile); }"),
        "rejects",
        ("E0208",),
    ),
    Row("two methods of one name", alone("procedure P { void f(); int f(); }"), "rejects", ("E0205",)),
    Row("two parameters of one name", alone("procedure P { void f(int a, int a); }"), "rejects", ("E0205",)),
    Row("two procedures of one name", alone("procedure P { } procedure P { }"), "rejects", ("E0205",)),
    # components
    Row("optional provides", member("maybe provides P p;"), "rejects", ("E0140",)),
    Row("optional emits", member("maybe emits E e;"), "rejects", ("E0140",)),
    Row("buffer of nothing", member("maybe dataport Buf(0) d;"), "rejects", ("E0407",)),
    Row("buffer of less than nothing", member("maybe dataport Buf(-1) d;"), "rejects", ("E0407",)),
    Row("buffer of a fraction", member("maybe dataport Buf(1.5) d;"), "rejects", ("E0407",)),
    Row("unknown procedure", member("maybe uses Q q;"), "rejects", ("E0203",)),
    Row("connector for a procedure", member("maybe uses Call q;"), "rejects", ("E0203",)),
    Row("control and hardware", member("control; hardware;"), "rejects", ("E0214",)),
    Row("hardware with a mutex", member("hardware; has mutex m;"), "rejects", ("E0214",)),
    Row("hardware with a semaphore", member("hardware; has semaphore m;"), "rejects", ("E0214",)),
    Row(
        "hardware with a binary semaphore", member("hardware; has binary_semaphore m;"), "accepts", ("W0253",)
    ),
    Row("two members of one name", member("provides P p; emits E p;"), "rejects", ("E0205",)),
    Row(
        "attribute with an interface's name", member("provides P p; attribute int p;"), "rejects", ("E0205",)
    ),
    Row("mutex with an interface's name", member("provides P p; has mutex p;"), "rejects", ("E0205",)),
    Row("attribute with a keyword's name", member("attribute int register;"), "rejects", ("E0208",)),
    Row("interface with a keyword's name", member("provides P register;"), "accepts", ("W0254",)),
    Row("mutex with a keyword's name", member("has mutex register;"), "accepts", ("W0254",)),
    Row("instance with a keyword's name", system("component S register;"), "accepts", ("W0254",)),
    Row(
        "composition with the name of a member",
        member("provides P p; composition p { }"),
        "rejects",
        ("E0205",),
    ),
    Row(
        "configuration with the name of a member",
        member("has mutex m; composition { } configuration m { }"),
        "rejects",
        ("E0205",),
    ),
    Row("members after the composition", member("composition { } control;"), "rejects", ("E0141",)),
    Row("composition by name", member("composition Other;"), "accepts", ("W0250",)),
    Row("configuration by name", member("composition { } configuration Other;"), "accepts", ("W0250",)),
    Row("instance of nothing", system("component X x;"), "rejects", ("E0203",)),
    Row(
        "component in itself",
        system("component A a;", before="component A { composition { component A a; } } "),
        "rejects",
        ("E0206",),
    ),
    # attributes
    Row(
        "attribute of the word struct",
        alone("struct t { int x; }", "attribute struct t x;"),
        "rejects",
        ("E0405",),
    ),
    Row("attribute of another C type", alone("", "attribute double x;"), "rejects", ("E0405",)),
    Row("attribute of bool", alone("", "attribute bool x;"), "rejects", ("E0405",)),
    Row("unsigned attribute set", setting("unsigned int x", "1"), "rejects", ("E0403",)),
    Row("char attribute set", setting("char x", "1"), "rejects", ("E0403",)),
    Row("string for an integer", setting("int x", '"1"'), "rejects", ("E0403",)),
    Row("integer for a string", setting("string x", "1"), "rejects", ("E0403",)),
    Row("fraction for an integer", setting("int x", "1.5"), "rejects", ("E0403",)),
    Row("string in a list of integers", setting("int x[]", '[1, "two"]'), "rejects", ("E0403",)),
    Row("scalar for a list", setting("int x[]", "1"), "crashes", ("E0403",)),
    Row("list for a scalar", setting("int x", "[1]"), "rejects", ("E0403",)),
    Row("dictionary for a scalar", setting("int x", '{"a": 1}'), "rejects", ("E0403",)),
    Row("scalar for a struct", setting("t x", "1", "struct t { int a; }"), "crashes", ("E0403",)),
    Row(
        "member of the wrong type", setting("t x", '{"a": "b"}', "struct t { int a; }"), "rejects", ("E0403",)
    ),
    Row("missing member", setting("t x", '{"b": 1}', "struct t { int a; int b; }"), "crashes", ("E0404",)),
    Row("extra member", setting("t x", '{"a": 1, "c": 1}', "struct t { int a; }"), "accepts", ("W0453",)),
    Row("default of the wrong type", alone("", 'attribute int x = "one";'), "accepts", ("W0452",)),
    Row("number too large for its type", setting("int x", "4294967296"), "accepts", ("W0456",)),
    Row("number below its type", setting("uint64_t x", "-1"), "accepts", ("W0456",)),
    Row("default too large for its type", alone("", "attribute int x = 1 << 40;"), "accepts", ("W0456",)),
    Row("empty struct", alone("struct t { }"), "crashes", ("E0215",)),
    Row("two members of a struct of one name", alone("struct t { int a; int a; }"), "rejects", ("E0205",)),
    # connectors
    Row("connector without ends", alone("connector C { }"), "rejects", ("E0142",)),
    Row("connector without to", alone("connector C { from Event; }"), "rejects", ("E0142",)),
    Row("connector of another kind", alone("connector C { from Thing; to Event; }"), "rejects", ("E0130",)),
    Row(
        "less than no threads",
        alone("connector C { from Event; to Event with -1 threads; }"),
        "rejects",
        ("E0407",),
    ),
    Row(
        "half a thread",
        alone("connector C { from Event; to Event with 0.5 threads; }"),
        "rejects",
        ("E0407",),
    ),
    # connections
    Row(
        "unknown connector",
        system("component U u; component S s; connection X c(from u.p, to s.p);"),
        "rejects",
        ("E0203",),
    ),
    Row(
        "unknown instance", system(f"{CONNECTED} connection Call d(from x.p, to s.p);"), "rejects", ("E0302",)
    ),
    Row(
        "unknown interface",
        system("component U u; component S s; connection Call c(from u.q, to s.p);"),
        "rejects",
        ("E0302",),
    ),
    Row(
        "end of a connection without instance",
        system("component S s; connection Call c(from p, to s.p);"),
        "rejects",
        ("E0302",),
    ),
    Row("no from ends", system("component S s; connection Call c(to s.p);"), "rejects", ("E0303",)),
    Row("no to ends", system("component U u; connection Call c(from u.p);"), "rejects", ("E0303",)),
    Row(
        "several from ends",
        system("component U u; component U v; component S s; connection Call c(from u.p, from v.p, to s.p);"),
        "rejects",
        ("E0304",),
    ),
    Row(
        "several to ends",
        system("component U u; component S s; component S t; connection Call c(from u.p, to s.p, to t.p);"),
        "rejects",
        ("E0304",),
    ),
    Row(
        "several from ends after joining",
        system(
            "component U u; component U v; component S s; "
            "connection Call c(from u.p, to s.p); connection Call d(from v.p, to s.p);"
        ),
        "rejects",
        ("E0304",),
    ),
    Row(
        "different connectors after joining",
        system(
            "component U u; component U v; component S s; "
            "connection Call c(from u.p, to s.p); connection Many d(from v.p, to s.p);"
        ),
        "rejects",
        ("E0311", "E0304"),
    ),
    Row(
        "different procedures",
        system(
            "component U u; component T t; connection Call c(from u.p, to t.p);",
            before="procedure Q { } component T { provides Q p; } ",
        ),
        "rejects",
        ("E0308",),
    ),
    Row(
        "different events",
        system(
            "component A a; component B b; connection Signal c(from a.e, to b.e);",
            before="component A { emits E e; } component B { consumes F e; } ",
        ),
        "rejects",
        ("E0308",),
    ),
    Row(
        "different dataports",
        system(
            "component A a; component B b; connection Share c(from a.d, to b.d);",
            before="component A { dataport Buf d; } component B { dataport Buf(4096) d; } ",
        ),
        "rejects",
        ("E0308",),
    ),
    Row(
        "provided interface as from",
        system("component S s; component S t; connection Call c(from s.p, to t.p);"),
        "rejects",
        ("E0305",),
    ),
    Row(
        "used interface as to",
        system("component U u; component U v; connection Call c(from u.p, to v.p);"),
        "rejects",
        ("E0305",),
    ),
    Row(
        "wrong kind of interface",
        system(
            "component U u; component B b; connection Call c(from u.p, to b.e);",
            before="component B { consumes P e; } ",
        ),
        "rejects",
        ("E0306",),
    ),
    Row(
        "software for hardware",
        system("component W w; component W v; connection Device c(from w.d, to v.d);", before=HARDWARE),
        "rejects",
        ("E0307", "E0310"),
    ),
    Row(
        "hardware for software",
        system(
            "component W w; component D d; connection Share c(from w.d, to d.d); "
            "connection FromDevice e(from d.e, to w.e);",
            before=HARDWARE,
        ),
        "rejects",
        ("E0307",),
    ),
    Row(
        "software for hardware at from",
        system(
            "component A a; component W w; connection FromDevice c(from a.e, to "
            "w.e); component D d; connection Device e(from w.d, to d.d);",
            before=HARDWARE + "component A { emits E e; }",
        ),
        "rejects",
        ("E0307",),
    ),
    Row(
        "hardware for software at from",
        system(
            "component D d; component W w; connection Signal c(from d.e, to w.e); "
            "connection Device e(from w.d, to d.d);",
            before=HARDWARE,
        ),
        "rejects",
        ("E0307",),
    ),
    Row(
        "interface twice in a connection",
        system("component U u; component S s; connection Many c(from u.p, from u.p, to s.p);"),
        "rejects",
        ("E0309",),
    ),
    Row(
        "interface at both sides",
        system(
            "component A a; connection Share c(from a.d, to a.d);", before="component A { dataport Buf d; } "
        ),
        "rejects",
        ("E0309",),
    ),
    Row("unconnected uses", system("component U u;"), "rejects", ("E0310",)),
    Row("unconnected consumes", member("consumes E e;"), "rejects", ("E0310",)),
    Row("unconnected dataport", member("dataport Buf d;"), "rejects", ("E0310",)),
    Row("two instances of one name", system("component S s; component S s;"), "rejects", ("E0205",)),
    Row(
        "two connections of one name",
        system(
            "component U u; component U v; component S s; "
            "connection Many c(from u.p, to s.p); connection Many c(from v.p, to s.p);"
        ),
        "rejects",
        ("E0205",),
    ),
    # groups and exports
    Row(
        "member of a group without its group",
        system("group g { component S s; } component U u; connection Call c(from u.p, to s.p);"),
        "rejects",
        ("E0302",),
    ),
    Row(
        "connection in a group",
        system("group g { component S s; connection Call c(to s.p); }"),
        "rejects",
        ("E0133",),
    ),
    Row("export in an assembly", system("component S s; export s.p -> p;"), "rejects", ("E0213",)),
    Row(
        "export of a bare name",
        system(
            "component A a;",
            before="component A { provides P p; composition { component S s; export p -> p; } } ",
        ),
        "rejects",
        ("E0213",),
    ),
    Row(
        "export to nothing",
        system("component A a;", before="component A { composition { component S s; export s.p -> q; } } "),
        "rejects",
        ("E0213",),
    ),
    Row(
        "export of nothing",
        system(
            "component A a;",
            before="component A { provides P p; composition { component S s; export s.q -> p; } } ",
        ),
        "rejects",
        ("E0302",),
    ),
    Row(
        "export of the other direction",
        system(
            "component A a;",
            before="component A { uses P p; composition { component S s; export s.p -> p; } } ",
        ),
        "accepts",
        ("W0252",),
    ),
    Row(
        "export of another kind",
        system(
            "component A a;",
            before="component A { emits E e; composition { component S s; export s.p -> e; } } ",
        ),
        "accepts",
        ("W0252",),
    ),
    # assemblies
    Row(
        "two compositions",
        f"{BASE} assembly {{ composition {{ component S s; }} composition {{ component S t; }} }}",
        "crashes",
        ("E0211",),
    ),
    Row(
        "two configurations",
        f"{BASE} assembly {{ composition {{ component S s; }} configuration {{ }} configuration {{ }} }}",
        "crashes",
        ("E0211",),
    ),
    Row(
        "two schedules",
        f"{BASE} assembly {{ composition {{ component S s; }} schedule {{ [ (0, "
        f"1), (1, 1) ] }} schedule {{ [ (0, 1), (1, 1) ] }} }}",
        "crashes",
        ("E0211",),
    ),
    Row("no composition", f"{BASE} assembly {{ configuration {{ }} }}", "crashes", ("E0211",)),
    Row("nothing in an assembly", f"{BASE} assembly {{ }}", "rejects", ("E0145",)),
    Row(
        "composition of an assembly by name",
        f"{BASE} assembly {{ composition Other; }}",
        "crashes",
        ("E0212",),
    ),
    Row(
        "configuration of an assembly by name",
        f"{BASE} assembly {{ composition {{ component S s; }} configuration Other; }}",
        "accepts",
        ("W0250",),
    ),
    Row(
        "schedule in a second assembly",
        f"{system('component S s;')} assembly {{ composition {{ component S t; "
        f"}} schedule {{ [ (0, 1), (1, 1) ] }} }}",
        "accepts",
        ("W0251",),
    ),
    Row(
        "two assemblies of one name",
        f"{BASE} assembly A {{ composition {{ component S s; }} }} assembly A "
        f"{{ composition {{ component S t; }} }}",
        "rejects",
        ("E0205",),
    ),
    Row(
        "instance and group of one name in two assemblies",
        f"{BASE} assembly {{ composition {{ group g {{ component S s; }} }} }} assembly {{ composition "
        f"{{ component S g; }} }}",
        "rejects",
        ("E0205",),
    ),
    Row(
        "connection with the name of an instance of another assembly",
        f"{BASE} assembly {{ composition {{ component S c; }} }} assembly {{ composition {{ "
        f"{CONNECTED} }} }}",
        "rejects",
        ("E0205",),
    ),
    Row(
        "used before it is defined",
        "assembly { composition { component A a; } } component A { }",
        "rejects",
        ("E0204",),
    ),
    Row(
        "schedule of one item",
        f"{BASE} assembly {{ composition {{ component S s; }} schedule {{ [ (0, 1) ] }} }}",
        "rejects",
        ("E0143",),
    ),
    Row(
        "expression in a schedule",
        f"{BASE} assembly {{ composition {{ component S s; }} schedule {{ [ (0, 1 + 1), (1, 1) ] }} }}",
        "rejects",
        ("E0130",),
    ),
    Row(
        "unknown unit in a schedule",
        f"{BASE} assembly {{ composition {{ component S s; }} schedule {{ [ (0, 1 days), (1, 1) ] }} }}",
        "rejects",
        ("E0130",),
    ),
    # settings
    Row("setting with a path", system("component S s;", "s.p.x = 1;"), "rejects", ("E0144",)),
    Row("setting without an attribute", system("component S s;", "s = 1;"), "rejects", ("E0144",)),
    Row(
        "setting of an unknown instance", system("component S server;", "sever.x = 1;"), "accepts", ("W0450",)
    ),
    Row(
        "setting of an unknown attribute",
        system("component A a;", "a.dely = 1;", before="component A { attribute int delay; } "),
        "accepts",
        ("W0451",),
    ),
    Row(
        "setting of a misspelt known name",
        system("component S s;", "s._prioritty = 1;"),
        "accepts",
        ("W0451",),
    ),
    Row(
        "setting twice",
        system("component A a;", "a.x = 1; a.x = 2;", before="component A { attribute int x; } "),
        "rejects",
        ("E0402",),
    ),
    Row("setting with a keyword's name", system("component S s;", "s.int = 1;"), "rejects", ("E0125",)),
    Row(
        "setting with another keyword's name",
        system("component S s;", "s.register = 1;"),
        "rejects",
        ("E0208",),
    ),
    Row(
        "setting of a connection that differs where joined",
        system(
            "component U u; component U v; component S s; connection Many c(from "
            "u.p, to s.p); connection Many d(from v.p, to s.p);",
            "c.size = 1; d.size = 2;",
        ),
        "accepts",
        ("W0351",),
    ),
    Row(
        "reference without an instance",
        system("component A a;", "a.x <- y;", before="component A { attribute int x; } "),
        "crashes",
        ("E0411",),
    ),
    Row(
        "reference to itself",
        system("component A a;", "a.x <- a.x;", before="component A { attribute int x; } "),
        "rejects",
        ("E0412",),
    ),
    Row(
        "references in a circle",
        system(
            "component A a; component A b;",
            "a.x <- b.x; b.x <- a.x;",
            before="component A { attribute int x; } ",
        ),
        "rejects",
        ("E0412",),
    ),
    Row(
        "missing key",
        system(
            "component A a; component A b;", 'a.x = {"k": 1}; b.x <- a.x["l"];', before="component A { } "
        ),
        "crashes",
        ("W0451", "E0413", "W0451"),
    ),
    Row(
        "key of what is no dictionary",
        system(
            "component A a; component A b;",
            'a.x = 1; b.x <- a.x["l"];',
            before="component A { attribute int x; } ",
        ),
        "accepts",
        ("W0455",),
    ),
    Row(
        "missing item",
        system(
            "component A a; component A b;",
            'a.x = {"k": [1]}; b.x <- a.x["k"][1];',
            before="component A { } ",
        ),
        "crashes",
        ("W0451", "E0413", "W0451"),
    ),
    Row(
        "key of a number in a dictionary",
        system(
            "component A a; component A b;",
            'a.x = {"k": 1}; b.x <- a.x["k"]["l"];',
            before="component A { } ",
        ),
        "crashes",
        ("W0451", "E0413", "W0451"),
    ),
    Row(
        "reference to what is not set",
        system("component A a; component A b;", "a.x <- b.x;", before="component A { attribute int x; } "),
        "crashes",
        ("E0416",),
    ),
    Row(
        "reference to an unknown attribute",
        system("component A a; component A b;", "a.x <- b.y;", before="component A { attribute int x; } "),
        "crashes",
        ("E0416",),
    ),
    Row(
        "reference to an unknown instance",
        system("component A a;", "a.x <- b.x;", before="component A { attribute int x; } "),
        "crashes",
        ("E0416",),
    ),
    Row(
        "reference to an unknown attribute beside a default",
        system(
            "component A a; component A b;", "a.x <- b.y;", before="component A { attribute int x = 1; } "
        ),
        "accepts",
        ("W0454",),
    ),
    # queries
    Row("query without arguments", value("dtb()"), "rejects", ("E0415",)),
    Row("unknown query", value('dbt({"path": "uart"})'), "rejects", ("E0414",)),
    Row("device tree query without a tree", value('dtb({"path": "uart"})'), "crashes", ("E0415",)),
    Row("GPIO query without a list", value('gpio({"pins": "a"})'), "crashes", ("E0415",)),
    # expressions
    Row("division by zero", value("1 / 0"), "rejects", ("E0406",)),
    Row("remainder by zero", value("1 % 0"), "rejects", ("E0406",)),
    Row("power of zero below one", value("0 ** -1"), "rejects", ("E0406",)),
    Row("shift by less than nothing", value("1 << -1"), "rejects", ("E0406",)),
    Row("shift of a fraction", value("1.5 << 1"), "rejects", ("E0406",)),
    Row("complement of a fraction", value("~1.5"), "rejects", ("E0403",)),
    Row("name in an expression", value("y + 1"), "rejects", ("E0130",)),
    Row("sum of strings", value('"a" + "b"'), "rejects", ("E0130",)),
    Row("choice in an else branch", value("1 ? 2 : 3 ? 4 : 5"), "rejects", ("E0130",)),
    Row("missing operand", value("1 +"), "rejects", ("E0130",)),
    Row("missing bracket", value("(1"), "rejects", ("E0130",)),
)


class Same(NamedTuple):
    """A system that camkes-tool accepts, and that means the same to us."""

    name: str
    text: str
    forward: bool = False


SAME = (
    Same(
        "joined connections with names of instances",
        system(
            "component U u; component U v; component S s; "
            "connection Many u(from u.p, to s.p); connection Many d(from v.p, to s.p);"
        ),
    ),
    Same(
        "connection with the name of a group",
        system("group c { component U u; } component S s; connection Call c(from c.u.p, to s.p);"),
    ),
    Same(
        "groups without a name, one in a component",
        system(
            "component W w; group { component S s; component S t; }",
            before="component W { composition { group { component S a; component S b; } component S c; } } ",
        ),
    ),
    Same(
        "structs without a name, used before they are defined",
        """
        assembly { composition { component B b; component A a; } }
        component A { attribute { { int deep; } inner[]; } x; }
        struct named { { string s; } inner; }
        component B { attribute { int y; } z; }
        """,
        forward=True,
    ),
    Same(
        "members that a struct has not",
        setting("t x[]", '[{"a": 1, "more": [1, "2"]}]', "struct t { int a; int b = 2; }"),
    ),
    Same(
        "items of lists in dictionaries",
        system(
            "component A a; component A b;",
            'a.x = {"k": [1, ["two", {"l": 3}]]}; b.x <- a.x["k"][1][0]; b.y <- a.x["k"][-1][1]["l"]; '
            'b.z <- a.x["k"][1][0][-1];',
            before="component A { } ",
        ),
    ),
    Same(
        "attributes with names that are words of real time elsewhere",
        system(
            "component A a;",
            'a.p_size_bits = 30; a.p_passive = "no"; a.faultdata = [1];',
            before="struct t { int a; } component A { control; maybe uses P p; attribute int p_size_bits; "
            'attribute string p_passive; attribute int p_period = 0; attribute string _budget = "all"; '
            'attribute int faultdata[]; attribute t requestor = {"a": 1}; attribute string q_data; '
            "attribute t p_priority_protocol; } ",
        ),
    ),
)
