# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mistakes in connections, groups, exports and assemblies."""

from tests.resolve.inventory.parts import BASE, CONNECTED, HARDWARE, Row, member, system

ROWS = (
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
        "export to an unknown interface",
        system("component A a;", before="component A { composition { component S s; export s.p -> q; } } "),
        "rejects",
        ("E0213",),
    ),
    Row(
        "export of an unknown interface",
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
    Row("empty assembly", f"{BASE} assembly {{ }}", "rejects", ("E0145",)),
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
)
