# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
# ruff: noqa: E501
"""Small texts, good and bad, for which everything that is said and everything that is read of them counts.

Where a rule has an edge, both sides of it are here. `neighbours/TABLE.txt` has the answers, see
`test_neighbours`.
"""

from tests.resolve.neighbour_parts import BASE, GOOD, HARDWARE, STD, of, rpc, system, task
from tests.resolve.neighbours_of_names import COMPONENTS, NAMES
from tests.resolve.neighbours_of_values import EXPRESSIONS, TIMES, VALUES

CONNECTIONS = {
    "no ends at one side": system(
        "component U u; component S s; connection seL4RPCCall c(from u.p); connection seL4RPCCall d(to s.p);"
    ),
    "too many ends": system(
        "component U u; component U v; component S s; component S t; "
        "connection seL4DirectCall c(from u.p, from v.p, to s.p, to t.p);"
    ),
    "too many ends after joining": system(
        "component U u; component U v; component U w; component S s; component S t; "
        "connection seL4RPCCall a(from u.p, to s.p); connection seL4RPCCall b(from v.p, to s.p); "
        "connection seL4RPCCall c(from v.p, to t.p); connection seL4RPCCall d(from w.p, to s.p);"
    ),
    "all ends exchanged": system(
        "component U u; component U v; component S s; connection seL4RPCCall c(from s.p, to u.p, to v.p);"
    ),
    "one end exchanged": system(
        "component U u; component S s; component S t; connection seL4RPCCall c(from u.p, from s.p, to t.p);"
    ),
    "one exchanged and one of another kind": system(
        "component E e; component S s; component U u; "
        "connection seL4RPCCall c(from s.p, to e.e); connection seL4RPCCall d(from u.p, to e.e);"
    ),
    "ends of another kind": system(
        "component E e; component C k; component D x; "
        "connection seL4RPCCall c(from e.e, to k.e); connection seL4Notification d(from x.d, to k.e);"
    ),
    "hardware at the wrong side": system(
        "component H h; component D x; component C k; component U u; "
        "connection seL4SharedData a(from x.d, to h.d); connection seL4HardwareInterrupt b(from k.e, to k.e); "
        "connection seL4RPCCall c(from u.p, to h.p);",
        before=HARDWARE,
    ),
    "hardware where it belongs": system(
        "component H h; component D x; component C k; "
        "connection seL4HardwareMMIO a(from x.d, to h.d); connection seL4HardwareInterrupt b(from h.e, to k.e);",
        before=HARDWARE,
    ),
    "types that differ": system(
        "component U u; component T t; component S s; component V v; "
        "connection seL4RPCCall a(from u.p, to t.q); connection seL4RPCCallNoType b(from v.q, to s.p);",
        before="component T { provides Q q; }\ncomponent V { control; uses Q q; }",
    ),
    "types that differ at the third end": system(
        "component D a; component D b; component B c; component B d; "
        "connection seL4SharedData x(from a.d, from b.d, to c.d, to d.d);",
        before="component B { dataport Buf(4096) d; }",
    ),
    "an unknown procedure at an end": system(
        "component V v; component S s; component U u; component W w; "
        "connection seL4RPCCall a(from v.p, to s.p); connection seL4RPCCall b(from u.p, to w.p);",
        before="component V { control; uses Gone p; }\ncomponent W { consumes Gone p; }",
    ),
    "different connectors": system(
        "component U u; component U v; component S s; "
        "connection seL4RPCCall a(from u.p, to s.p); connection seL4RPCCallNoType b(from v.p, to s.p);"
    ),
    "the same connector written twice": system(
        "component D x; component D y; component D z; "
        "connection { from Dataports with 0 threads; to Dataports with 0 threads; } a(from x.d, to z.d); "
        "connection { from Dataports with 0 threads; to Dataports with 0 threads; } b(from y.d, to z.d);"
    ),
    "connected twice": system(
        "component U u; component S s; component S t; component D x; component D y; "
        "connection seL4RPCCall a(from u.p, to s.p, to s.p); "
        "connection seL4SharedData b(from x.d, to x.d, to y.d);"
    ),
    "one name for two connections": system(
        "component U u; component S s; component U v; component S t; "
        "connection seL4RPCCall c(from u.p, to s.p); connection seL4RPCCall c(from v.p, to t.p);"
    ),
    "a joined name that is taken": system(
        "component U u; component U v; component S s; component U w; component S t; "
        "connection seL4RPCCall a(from u.p, to s.p); connection seL4RPCCall a(from v.p, to s.p); "
        "connection seL4RPCCall s(from w.p, to t.p);"
    ),
    "not connected": system(
        "component U u1; component U u2; component U u3; component U u4; component U u5; component U u6; "
        "component C c1; component D d1; component N n;",
        before="component N { control; maybe uses P a; provides P b; emits Tick c; uses Q d; uses Q e; }",
    ),
    "five are not connected": system(
        "component U u1; component U u2; component U u3; component U u4; component U u5;"
    ),
    "two interfaces of an instance are not connected": system(
        "component N n; component N m;", before="component N { control; uses P a; uses P b; }"
    ),
    "exports and what is behind them": system(
        "component Box b; component U u; connection seL4RPCCall c(from u.p, to b.p); component U v;"
        "connection seL4RPCCall d(from v.p, to b.q);",
        before="component Box { provides P p; provides P q; uses P x; composition { component S s; component U u; "
        "export s.p -> p; export u.p -> x; } }",
    ),
    "an unknown end leaves others alone": system(
        "component Box b; component U u; component U v; connection seL4RPCCall c(from u.p, to b.gone); "
        "connection Gone d(from v.p, to b.p);",
        before="component Box { provides P p; composition { component I i; export i.p -> p; } }\n".replace(
            "component Box", "component I { provides P p; uses P q; }\ncomponent Box"
        ),
    ),
    "an unknown end inside of a component": system(
        "component Box b;",
        before="component Box { uses P away; composition { component U u; component S s; "
        "connection seL4RPCCall c(from awy, to s.p); connection seL4RPCCall d(from u.p, to t.p); } }",
    ),
    "thread counts that differ": system(
        "component U u; component U v; component U w; component S s; "
        "connection seL4RPCCall a(from u.p, to s.p) with 2 threads; connection seL4RPCCall b(from v.p, to s.p); "
        "connection seL4RPCCall c(from w.p, to s.p) with 3 threads;"
    ),
    "thread counts that agree": system(
        "component U u; component U v; component S s; "
        "connection seL4RPCCall a(from u.p, to s.p) with 2 threads; "
        "connection seL4RPCCall b(from v.p, to s.p) with 1 + 1 threads;"
    ),
    "settings of joined connections": system(
        "component D x; component D y; component D z; component D w; "
        "connection seL4SharedData a(from x.d, to w.d); connection seL4SharedData b(from y.d, to w.d); "
        "connection seL4SharedData c(from z.d, to w.d);",
        "a.size = 4096; b.size = 8192; c.size = 4096; b.paddr = 1; c.other = 2;",
    ),
}


TIMES |= {
    f"{text} of a thread": of("control;", f"a.{text};")
    for text in (
        "_period = 1 ns",
        "_period = 0",
        "_period = 3600 s",
        "_period = 3600000001",
        "_budget = 1 ns",
        "_budget = 0",
        "_budget = 20 us",
        "_budget = 10 ms",
        "_budget = 10001",
        "_period = 20001; a._budget = 20 ms",
        "_period = 0; a._budget = 20 ms",
        "budget = 1 ns",
        "_size_bits = 7; a._data = 0",
        "requestor = 0",
        "requestor = -1",
        "_wcet = 1",
    )
}


TIMES |= {
    "a priority of a task": of("control; requestor;", 'a._priority = "5";'),
    "a priority with a unit": of("control; requestor;", "a._priority = 5 ms;"),
    "a priority of a fraction": of("control; requestor;", "a._priority = 5.0;"),
    "no priority": of("control; requestor;"),
    "a plain period that is declared": task("a.period = 3;", "control; requestor; attribute int period = 2;"),
    "a plain period and another": task("a.period = 3; a._period = 4;"),
    "a budget that is declared": of("control; attribute int budget = 2;", "a.budget = 3;"),
    "times of interfaces": rpc(
        "provides P p; maybe consumes E e; maybe uses P u;",
        configuration="a._priority = 1; b.p_period = 1 ms; b.p_budget = 2 ms; b.e_budget = 5; b.p_size_bits = 3; "
        "b.p_passive = 1; b.e_passive = 1; b.u_passive = 0; b.e_data = 5; b.e_period = 5 s; b.u_budget = 11 ms;",
    ),
    "times of interfaces of a task": rpc(
        "provides P p;", configuration="a._priority = 1; a.p_period = 0; a.p_budget = 0;"
    ),
    "passive after what is not": rpc(
        "provides P p; maybe uses P u;", configuration="a._priority = 1; b.u_passive = 1;"
    ),
    "nearly a setting of an interface": rpc(
        "provides P p;", configuration="a._priority = 1; b.pxpriority = 3;"
    ),
    "badges of who has none": system(
        "component E e; component C k; component E f; component C l; component U u; component S s; "
        "connection seL4Notification n(from e.e, to k.e); connection seL4RPCEvent m(from f.e, to l.e); "
        "group g { component U v; component S t; } connection seL4DirectCall d(from g.v.p, to g.t.p); "
        "connection seL4RPCCall c(from u.p, to s.p);",
        "k.e_attributes = -1; f.e_attributes = -1; v.p_attributes = -1; s.p_attributes = -1;",
    ),
    "passive in other words": rpc("provides P p;", configuration="a._priority = 1; b.p_passive = 2;"),
    "passive by a word": rpc(
        "provides P p;", configuration='a._priority = 1; b.p_passive = "yes"; a.p_passive = 2;'
    ),
    "a setting of a requestor without control": of("attribute int x;", "a.requestor = 5;"),
    "an attribute of the name requestor": of("attribute int requestor = 5;"),
    "an attribute requestor with a control thread": of(
        "control; attribute int requestor = 5;", "a._priority = 1;"
    ),
    "a task of the library": rpc(
        "provides P p with priority_protocol fixed;",
        "control; attribute int _priority; uses P p;",
        "a._priority = 1;",
    ),
    "a server of the library is not a task": rpc(
        "provides P p with priority_protocol fixed;",
        "control; attribute int _priority; uses P p; provides P own;",
        "a._priority = 1;",
    ),
    "a thread without an attribute is not a task": rpc(
        "provides P p with priority_protocol fixed;", "control; uses P p;", "a._priority = 1;"
    ),
}


TIMES |= {
    f"{server} {text}": rpc(
        f"{server} uses P u; uses P v;".replace("uses", "maybe uses"),
        configuration=f"a._priority = 1; {text}",
    )
    for server, text in (
        (
            ("provides P p;", 'b.p_priority_protocol = "inherited";'),
            ("provides P p;", 'b.p_priority_protocol = "inherit";'),
            ("provides P p;", "b.p_priority_protocol = 5;"),
            ("provides P p with priority_protocol fixed;", 'b.p_priority_protocol = "propagated";'),
            ("provides P p with priority_protocol fixed;", 'b.u_priority_protocol = "propagated";'),
            ('provides P p; attribute string u_priority_protocol = "x";', ""),
            ("provides P p with priority_protocol fixed, 2 threads;", "b.p_num_threads = 2;"),
            ("provides P p with priority_protocol fixed, 2 threads;", "b.p_num_threads = 3;"),
            ("provides P p with priority_protocol fixed;", "b.p_num_threads = 0;"),
            ("provides P p with priority_protocol fixed;", "b.p_num_threads = 1;"),
            ("provides P p with priority_protocol fixed;", "b.p_num_threads = 1.5;"),
            (
                "provides P p with priority_protocol fixed;",
                "b.p_priority = 7; b.p_wcet = 3 ms; b.p_period = 5;",
            ),
            ("provides P p with priority_protocol fixed;", "b.p_priority = 7 ms; b.p_wcet = -3;"),
            ("provides P p with priority_protocol fixed;", "b.priority = 7; b.wcet = 3;"),
            (
                "provides P p;",
                "b.p_priority = 300; b.p_stack_size = 1; b.p_attributes = 5; a.p_attributes = -1;",
            ),
            ("provides P p with priority_protocol fixed;", "b.p_priority = 300; b.p_stack_size = 1;"),
            ("provides P p with requests (u, v), priority_protocol fixed;", ""),
            ("provides P p with requests (u), 3 threads;", ""),
        )
    )
}


REFERENCES = {
    text: of(
        'control; attribute int x; attribute int y = 7; attribute s z; attribute string w = "w";',
        text,
        "struct s { int i; int j = 3; }",
    )
    for text in (
        (
            "a.x <- a.y;",
            "a.x <- a.x;",
            "a.x <- a.y; a.y <- a.x;",
            "a.x <- a.y; a.y <- a.k; a.k <- a.x;",
            "a.x <- y;",
            "a.x <- b.y;",
            "a.x <- a.gone;",
            "a.y <- a.gone;",
            "a.y <- a.yy;",
            "a.y <- b.x;",
            "a.y <- a.x;",
            "a.x <- a.w;",
            'a.x <- a.t["k"]; a.t <- a.u["m"]; a.u = {"m": {"k": 5}, "k": {"m": 6}};',
            'a.z <- a.nothing; a.x <- a.z["i"];',
            'a.z = {"i": 1}; a.x <- a.z["i"];',
            'a.z = {"i": 1}; a.x <- a.z["j"];',
            'a.z = {"i": 1}; a.x <- a.z["k"];',
            'a.z = {"i": 1}; a.x <- a.z["i"]["j"];',
            "a.x <- a.y[0];",
            "a.t = [1, 2]; a.x <- a.t[0];",
            'a.t = {"l": [1, 2]}; a.x <- a.t["l"][1];',
            'a.t = {"l": [1, 2]}; a.x <- a.t["l"][2];',
            'a.t = {"l": [1, 2]}; a.x <- a.t["l"][-2];',
            'a.t = {"l": [1, 2]}; a.x <- a.t["l"][-3];',
            'a.t = {"l": "text"}; a.w <- a.t["l"][0];',
            'a.t = {"l": 5}; a.x <- a.t["l"]["m"];',
            "a.t = {7: 5}; a.x <- a.t[7];",
            'a.t = {"a": 5}; a.x <- a.t[1 / 0];',
            'a.t = {"a": 5}; a.u <- a.t["b"]; a.v <- a.u;',
            "a.x <- a.heap_size;",
            "a.heap_size = 5; a.x <- a.heap_size;",
            "a.x = 1; a.x = 2; a.y = 3; a.y = 3;",
            "b.x = 1;",
            "aa.x = 1; a.yy = 2; a.heap_siz = 3; a._prio = 4;",
            "a.x <- b.c.d;",
            "a.x <- a.y; a.y <- a.x; a.w <- a.y;",
            "a.untyped12_pool = 1; a.untyped123_pool = 1;",
            "a.simple_untyped1_pool = 1; a.untype12_pool = 1;",
            "a.x = nothing({}); a.y = gpo({});",
            "a.int = 5;",
            "a._period = 10 mss; a.x = 5 ms; a._prioriti = 5 ms;",
            'a.w <- a.t["l"]["m"]; a.t = {"l": {"m": "n"}};',
        )
    )
}


REFERENCES |= {
    f"{inside} {text}": system(
        f"{GOOD} group g {{ component D x; component D y; }} group {{ component D lone; }} component Box box; "
        "connection seL4SharedData d(from g.x.d, from g.y.d, to box.d); ",
        text,
        "component I { control; maybe dataport Buf d; attribute int v = 1; has mutex m; }\n"
        "component Box { dataport Buf d; attribute int given = 2; attribute int bare; composition { component I inner; "
        f"export inner.d -> d; }} configuration {{ {inside} }} }}",
    ).replace("component D { control; dataport", "component D { control; maybe dataport")
    for inside, text in (
        (
            ("inner.v <- given;", "box.given = 5;"),
            ("inner.v <- given;", ""),
            ("inner.v <- bare;", ""),
            ("inner.v <- bar;", ""),
            ("inner.v <- nothing;", ""),
            ("inner.w <- nothing;", ""),
            ("inner.v <- inner.w;", ""),
            ("inner.v <- other.w;", ""),
            ("d.dtb = 1; dd.dtb = 2; inner.d_id = 3; inner.d_idd = 4;", ""),
            ("inne.v = 1;", ""),
            ("inner.v = 3;", "box.inner.v = 4;"),
            ("", "g.shared = 1; unamed_group_0.x = 2; h.x = 3;"),
            ("", "c.size = 1; d.size = 0; d.paddr = -1; d.buffer = 4;"),
            ("", "d.size = 8192; dd.size = 1; s.p_id = 4;"),
            ("", 'x.d_access = "RX"; y.d_access = "XR"; lone.d_access = "Q"; u.p_attributes = "text";'),
            ("", 'x.d_access = ""; y.d_access = 5; u.p_attributes = "7"; s.p_attributes = -1;'),
            ('inner.m_value = 5; inner.mm_value = 5; inner.d_access = "R"; inner.v_value = 1;', ""),
            ("inner.v <- given; given.x = 1; box.v = 1;", "inner.v = 9; x.x = 1; g.x.y = 1;"),
        )
    )
}


#: statements that are not understood, and what may follow from them
_DAMAGE = (
    ("component U u; component S s; connection seL4RPCCall c(from u.p to s.p);", ""),
    ("component U u component S s; connection seL4RPCCall c(from u.p, to s.p); component U v;", ""),
    ("component U u; component S; connection seL4RPCCall c(from u.p, to s.p);", "s.x = 1; v.y = 2;"),
    (f"{GOOD} component U v; connection seL4RPCCall d(from v., to s.p);", ""),
    (f"{GOOD} component D d", "d.d_access = 5; u._stack_size = 1;"),
    (f"{GOOD}", "u.x = ; u.y = 1; u._priority = 5;"),
    (f"{GOOD}", "u.x <- u.y[; u.z <- u.x; u.k <- u.kk;"),
    (f"{GOOD} component U u; component S u;", "u.a = 1 u.a = 2; u.a = 3;"),
    (f"{GOOD} component Gone g; component E e; connection seL4Notification n(from e.e, to g.e)", ""),
)
_ASSEMBLIES = (
    "assembly { composition { component U u component S s; } }\n"
    "assembly { composition { connection seL4RPCCall c(from u.p, to s.p); } }\n"
)
_BROKEN = (
    "component A { control; uses P }\ncomponent B { control; uses P p; }",
    "component A { control; attribute int }\ncomponent B { control; attribute int x; }",
    "component A { control; }\ncomponent B { control; composition { component A a component A b; } }",
    "component Box { provides P p; composition { component A a; export a.p -> p } }\ncomponent A { provides P p; uses P q; }",
    'struct s { int }\ncomponent A { control; attribute s x = {"y": 1}; }\ncomponent B { control; attribute s x; }',
    "procedure R { void f( }\ncomponent A { control; maybe uses R p; }\ncomponent B { }",
    "connector K { from Event to Event; }\ncomponent A { control; emits E e; }\ncomponent B { consumes E e; }",
    "connector K { from Event; }\ncomponent A { control; emits E e; }\ncomponent B { consumes E e; }",
    "component A { control; } }\ncomponent B { control; }",
    "component A { control; \ncomponent B { control; }",
    "component A { control; }\nstray words here\ncomponent B { control; has mutex m; has mutex m; }",
    "component A { control; }\nstray component B { control; }",
    'import "gone.camkes";\ncomponent A { control; uses X x; attribute t y; }\ncomponent B { control; }',
    'import "gone.camkes"\ncomponent A { control; }\ncomponent B { control; }',
    "component A { control; attribute gone x; attribute gone y; }\ncomponent B { control; attribute { gone z; int w; } v; }",
    "component A { provides P p with requests (next); }\ncomponent B { provides P p; composition { component A a; export a.q -> r; } }",
    "component A { control; control }\ncomponent A { control; }\ncomponent B { }",
)


BROKEN = {
    f"{composition} {configuration}": system(composition, configuration)
    for composition, configuration in _DAMAGE
}


BROKEN |= {
    "a broken assembly": BASE + _ASSEMBLIES,
    "a broken assembly and a broken component": f"{BASE}component X {{ uses P }}\n{_ASSEMBLIES}",
    "a broken component and two assemblies": f"{BASE}component X {{ uses P }}\n"
    + _ASSEMBLIES.replace("U u component", "U u; component").replace("u.p", "v.p"),
    "a setting of a part of a part": system(GOOD, "u.x.y = 1; u.k = 1; u.k = 2;"),
}
BROKEN |= {
    text.replace("\n", " "): f"{STD}procedure P {{ void f(); }}\n{text}\nassembly {{\ncomposition {{\n"
    "component A a;\ncomponent B b;\nconnection K k(from a.e, to b.e);\nconnection seL4RPCCall c(from a.q, to b.p);\n}\n"
    'configuration {\na.x = 1;\nb.x = {"y": 2};\na.v = {"z": 1, "w": 2}; a.y = 1; } }\n'
    for text in _BROKEN
}


TABLES = {
    "components": COMPONENTS,
    "names": NAMES,
    "connections": CONNECTIONS,
    "expressions": EXPRESSIONS,
    "values": VALUES,
    "times": TIMES,
    "references": REFERENCES,
    "broken": BROKEN,
}
