# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mistakes in files, definitions and their members."""

from tests.resolve.inventory.parts import BASE, Row, alone, member, setting, system, value

ROWS = (
    # files and imports
    Row("import of a missing file", alone('import "nothing.camkes";'), "rejects", ("E0201",)),
    Row("system import of a missing file", alone("import <nothing.camkes>;"), "rejects", ("E0201",)),
    Row("import without semicolon", alone('import "x.camkes"'), "rejects", ("E0131",)),
    Row("import in a component", member('import "x.camkes";'), "rejects", ("E0133",)),
    Row("no assembly", BASE, "rejects", ("E0209",)),
    Row("empty file", "", "rejects", ("E0209",)),
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
    Row("buffer of size zero", member("maybe dataport Buf(0) d;"), "rejects", ("E0407",)),
    Row("buffer of negative size", member("maybe dataport Buf(-1) d;"), "rejects", ("E0407",)),
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
    Row("instance of an unknown component", system("component X x;"), "rejects", ("E0203",)),
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
        "negative number of threads",
        alone("connector C { from Event; to Event with -1 threads; }"),
        "rejects",
        ("E0407",),
    ),
    Row(
        "fractional number of threads",
        alone("connector C { from Event; to Event with 0.5 threads; }"),
        "rejects",
        ("E0407",),
    ),
)
