# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mistakes in settings, queries and expressions."""

from tests.resolve.inventory.parts import Row, system, value

ROWS = (
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
        "misspelt setting",
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
        "circular references",
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
        "key of a number",
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
    Row("shift by a negative number", value("1 << -1"), "rejects", ("E0406",)),
    Row("shift of a fraction", value("1.5 << 1"), "rejects", ("E0406",)),
    Row("complement of a fraction", value("~1.5"), "rejects", ("E0403",)),
    Row("name in an expression", value("y + 1"), "rejects", ("E0130",)),
    Row("sum of strings", value('"a" + "b"'), "rejects", ("E0130",)),
    Row("conditional in an else branch", value("1 ? 2 : 3 ? 4 : 5"), "rejects", ("E0130",)),
    Row("missing operand", value("1 +"), "rejects", ("E0130",)),
    Row("missing bracket", value("(1"), "rejects", ("E0130",)),
)
