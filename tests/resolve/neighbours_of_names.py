# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
# ruff: noqa: E501
"""Texts of components and of their names; see `neighbours`."""

from tests.resolve.neighbour_parts import BASE, GOOD, PARTS, of, system, task

COMPONENTS = {
    "hardware and everything": of(
        "hardware; control; requestor; has mutex m; has semaphore s; has binary_semaphore b;"
    ),
    "hardware without control": of("hardware; requestor; provides P p;", before="procedure P { void f(); }"),
    "a component without a name is hardware": "component { hardware; control; }\n" + of("control;"),
    "requestor three times": of("control; requestor; requestor 4; requestor;"),
    "requestor without control": of("requestor;"),
    "negative requestor": of("control; requestor -1;"),
    "requestor zero": task("", "control; requestor 0;"),
    "requestor of a fraction": of("control; requestor 3 / 2.0;"),
    "requestor of a whole fraction": task("", "control; requestor 4 / 2.0;"),
    "requests of nothing": of(
        "provides P p with requests (next, nest); uses P nest;", before="procedure P { void f(); }"
    ),
    "requests of what is provided": of(
        "provides P p with requests (q, e); provides P q; uses P qq; emits E e;",
        before="procedure P { void f(); }",
    ),
    "requests twice": of("provides P p with requests (q, q); uses P q;", before="procedure P { void f(); }"),
    "members of one name": of("control; has mutex m; has semaphore m; attribute int m; emits E m;"),
    "named blocks of a component": of("control; has mutex m; composition m { } configuration m { }"),
    "references to blocks": of("control; composition m; configuration n;", before="composition m { }"),
    "members with keywords": of(
        "control; emits E auto; has binary_semaphore while; attribute int for;", "a.for = 1; a.if = 2;"
    ),
    "methods with keywords and macros": "procedure P { void auto(in int NULL, in int x, in int x); void f(); int f(); }\n"
    + of("control;"),
    "procedure with attributes": "procedure P { int a = 1 int a = 2 int while = 1 long b = 3 }\n"
    + of("control;"),
    "a buffer of no bytes": of(
        "maybe dataport Buf(0) d; maybe dataport Buf(1) e; maybe dataport Buf(4096) f;"
    ),
    "a buffer that is used": of("maybe uses Buf q; maybe emits Buf r;"),
    "clauses where none can be": of(
        "maybe uses P u with 2 threads; emits E e with requests (u); maybe dataport Buf d with 1 thread; "
        "provides P p with priority_protocol fixed, 2 threads, priority_protocol inherited;",
        before="procedure P { void f(); }",
    ),
    "unknown clauses": of(
        "provides P a with inherited; provides P b with fixd; provides P c with thraeds; "
        "provides P d with priority_protocol propagate; maybe uses P e with ceiling;",
        before="procedure P { void f(); }",
    ),
    "clauses of connections": system(
        "component U u; component S s; connection seL4RPCCall c(from u.p, to s.p) with requests (p), 2 threads, "
        "3 threads, fixed;"
    ),
    "no threads": of("provides P p with 0 threads;", before="procedure P { void f(); }"),
    "a component in a circle of three": "component X { composition { component Y y; } }\n"
    "component Y { composition { component { composition { component Z inner; } } z; } }\n"
    "component Z { composition { component X x; } }\n" + of("control;"),
    "a struct in a circle": "struct s { t x; }\nstruct t { u y; }\nstruct u { s z; int v; }\n"
    + of("control;"),
}


NAMES = {
    "a name of another kind": system("component P p; connection U c(from u.p, to s.p); component Nothing n;"),
    "an unknown procedure twice": of("maybe uses Gone a; maybe uses Gone b; maybe uses Q c;"),
    "a misspelt connector": system(
        "component U u; component S s; connection seL4RPCcall c(from u.p, to s.p);"
    ),
    "a standard connector that is not imported": PARTS
    + "assembly { composition { component U u; component S s; connection seL4RPCCall c(from u.p, to s.p); } }\n",
    "two components without a name": "component { control; }\ncomponent { control; }\n"
    "assembly { composition { component X x; } }\n",
    "what is defined three times": "component A { }\ncomponent A { }\nstruct A { int x; }\nstruct A { int y; }\n"
    "struct A { int z; }\n" + of("control;").replace("component A", "component B").replace("A a;", "B a;"),
    "no dot in an end": system(
        "component U u; component U us; component S server; "
        "connection seL4RPCCall c(from usp, to serverp); connection seL4RPCCall d(from u.p, to xp);"
    ),
    "an end that is an instance": system(
        "component U u; component S s; connection seL4RPCCall c(from u, to s.p);"
    ),
    "ends of parts of parts": system(
        "component U u; component S s; connection seL4RPCCall c(from u.x.p, to s.p);"
    ),
    "ends in groups": system(
        "group g { component U u; component S s; } group { component U v; } component S t; component U w; "
        "connection seL4RPCCall a(from g.v.p, to t.p); connection seL4RPCCall b(from u.p, to g.s.p); "
        "connection seL4RPCCall c(from v.p, to g.s.p); connection seL4RPCCall d(from gg.w.p, to g.sp.p);"
    ),
    "interfaces that are not there": system(
        "component U u; component S s; connection seL4RPCCall c(from u.pp, to s.q);"
    ),
    "inside of a component": system(
        "component Box box;",
        before="component Box { provides P p; uses P away; emits Tick t; composition {\n"
        "component U u; component S s; component S t;\n"
        "export s.p -> p; export u.p -> pp; export p -> p; export s.q -> p; export s.p -> t; export gone.p -> p;\n"
        "connection seL4RPCCall a(from awa, to s.p);\n"
        "connection seL4RPCCall b(from u, to t.p);\n"
        "connection seL4RPCCall c(from u.p, to x.t.p); } }",
    ),
    "an instance of an assembly is not seen in a component": f"{BASE}assembly {{ composition {{ {GOOD} }} }}\n"
    "component Box { provides P p; composition { export s.p -> p; component U v;\n"
    "connection seL4RPCCall d(from v.p, to s.p); } }\n"
    "assembly { composition { component Box box; } }\n",
    "an instance of the assembly before": f"{BASE}assembly {{ composition {{ component S s; group g {{ component S t; }} }} }}\n"
    "assembly { composition { component U u; component U v;\n"
    "connection seL4RPCCall c(from u.p, to s.p); connection seL4RPCCall d(from v.p, to g.t.p); } }\n",
    "names of two assemblies": f"{BASE}assembly {{ composition {{ {GOOD} group g {{ component S deep; }} }} }}\n"
    "assembly { composition { component U u; group s { component S other; } group h { component S deep; }\n"
    "component E g; component U w; connection seL4RPCCall c(from w.p, to s.p); } }\n"
    "assembly { composition { component U w; component S fine; group h { component S again; } } }\n",
    "instance and group of one name": system(
        "component S g; group g { component S x; } group k { component S k; } component S k;"
    ),
    "members of a group of one name": system(
        "group g { component S x; component S x; } group g { component S y; }"
    ),
    "connections and instances of one name": system(
        f"{GOOD} component E c; component C k; connection seL4Notification e(from c.e, to k.e); component S e;"
    ),
    "instances with keywords": system("component S auto; component S ok;", "auto.x = 1;"),
    "an export outside": system("component S s; export s.p -> p;"),
    "a composition that nothing uses": "composition Alone { component Gone x; connection K k(from a.b, to c.d); }\n"
    "configuration Also { x.y = 1; x.y = 2; }\n" + of("control;"),
    "references of an assembly": "composition X { component Gone g; }\nassembly { composition X; configuration Y; }\n"
    "assembly { }\nassembly { composition { } composition { } configuration { } configuration { } "
    "schedule { [(0, 1)] } schedule { [(0, 1)] } }\n",
    "schedules": of("control;").replace(
        "configuration {  }", "schedule { [(0, 1 ticks), (1, 2), (3, 4 ms)] }"
    )
    + "assembly { composition { } schedule { [(0, 1)] } }\n",
    "used before": "assembly { composition { component A a; } }\ncomponent A { attribute s x; uses P p; }\n"
    "struct s { int y; }\nprocedure P { void f(); }\n",
    "only parts of a system": BASE,
    "only procedures": "procedure P { void f(); }\nprocedure Q { void f(); }\nstruct s { int x; }\n",
    "only a connector": "connector K { from Event; to Event; }\n",
    "an assembly of nothing": "component A { }\nassembly Name { composition { } }\n",
    "an assembly of what is unknown": "assembly Name { composition { component A a; } }\n",
}
