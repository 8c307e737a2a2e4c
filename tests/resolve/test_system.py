# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a text means."""

import json
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.model.dump import dump, dump_text
from camkes.model.protocols import Protocol
from camkes.model.system import DataportType, StructType
from camkes.resolve import LoadOptions, codes, load
from camkes.resolve.words.nearest import nearest

from .systems import LIBRARY, STD, good, numbers, resolve

pytestmark = pytest.mark.requirement("LANG-11")

ADDER = (
    STD
    + """
procedure Adder { int add(in int a, in int b); }
component Client { control; uses Adder adder; }
component Server { provides Adder adder; }
"""
)


def test_the_example_of_the_language(tmp_path: Path) -> None:
    system = good(
        tmp_path,
        STD
        + """
        procedure Pow { int pow(in int base, in int exponent); }
        component Task { control; requestor; uses Pow p; }
        component Forwarder {
            provides Pow p with priority_protocol inherited, requests (next);
            uses Pow next;
        }
        component Leaf { provides Pow p with priority_protocol fixed; }
        assembly {
            composition {
                component Task t1;
                component Task t2;
                component Forwarder lock;
                component Leaf leaf;
                connection seL4RPCCall c1(from t1.p, from t2.p, to lock.p);
                connection seL4RPCCall c2(from lock.next, to leaf.p) with 1 threads;
            }
            configuration {
                t1._priority = 10;  t1._period = 100 ms;  t1._wcet = 2 ms;
                t2._priority = 20;  t2._period =  20000;  t2._wcet = 0.5 ms;
                lock.p_wcet = 300 us;
            }
        }
        """,
    )
    assert [(t.instance, t.priority, t.period, t.wcet, t.deadline, t.offset) for t in system.tasks] == [
        ("t1", 10, 100_000_000, 2_000_000, None, 0),
        ("t2", 20, 20_000_000, 500_000, None, 0),
    ]
    assert [(c.name, c.protocol, c.requests, c.stated_threads, c.wcet) for c in system.cpis] == [
        ("lock.p", Protocol.INHERITED, ("next",), None, 300_000),
        ("leaf.p", Protocol.FIXED, None, 1, None),
    ]
    assert [c.threads for c in system.connections] == [None, 1]


def test_joined_connections(tmp_path: Path) -> None:
    system = good(
        tmp_path,
        ADDER
        + """
        assembly { composition {
            component Server server;
            component Client a; component Client b; component Client c;
            connection seL4RPCCall zeta(from a.adder, to server.adder);
            connection seL4RPCCall alpha(from b.adder, to server.adder);
            connection seL4RPCCall mid(from c.adder, to server.adder);
        } }
        """,
    )
    (connection,) = system.connections
    assert connection.name == "alpha.mid.zeta"
    assert connection.names == ("zeta", "alpha", "mid")
    assert [end.name for end in connection.from_ends] == ["a.adder", "b.adder", "c.adder"]
    assert [end.name for end in connection.to_ends] == ["server.adder"]


def test_chains_of_shared_ends_are_one_connection(tmp_path: Path) -> None:
    connections = "".join(
        f"connection seL4SharedData c{i}(from x{i}.d, to x{i + 1}.e);"
        f"connection seL4SharedData k{i}(from x{i}.d, to x{i}.e);"
        for i in range(9)
    )
    instances = "".join(f"component X x{i};" for i in range(10))
    text = f"{STD} component X {{ maybe dataport Buf d; maybe dataport Buf e; }}"
    system = good(tmp_path, text + f"assembly {{ composition {{ {instances} {connections} }} }}")
    assert len(system.connections) == 1
    assert len(system.connections[0].from_ends) == 9
    assert len(system.connections[0].to_ends) == 10


def test_settings_follow_a_joined_connection(tmp_path: Path) -> None:
    system = good(
        tmp_path,
        STD
        + """
        component X { dataport Buf d; }
        assembly {
            composition {
                component X a; component X b; component X c;
                connection seL4SharedData one(from a.d, to c.d);
                connection seL4SharedData two(from b.d, to c.d);
            }
            configuration { two.size = 8192; }
        }
        """,
    )
    assert system.connections[0].settings["size"].value == 8192


HIERARCHY = (
    ADDER
    + """
component Box {
    provides Adder adder;
    attribute int level = 7;
    composition {
        component Server inner;
        component Client user;
        component Server other;
        export inner.adder -> adder;
        connection seL4RPCCall mine(from user.adder, to other.adder);
    }
    configuration { inner._priority <- level; user.plain_dtb = 4; }
}
component Outer {
    provides Adder adder;
    attribute int deep;
    composition { component Box box; export box.adder -> adder; }
    configuration { box.level <- deep; }
}
assembly {
    composition {
        component Client client;
        component Outer outer;
        connection seL4RPCCall c(from client.adder, to outer.adder);
    }
    configuration { outer.deep = 42; }
}
"""
)


def test_hierarchy(tmp_path: Path) -> None:
    system, diagnostics = resolve(tmp_path, HIERARCHY)
    assert [d.code for d in diagnostics] == [codes.UNKNOWN_SETTING]  # plain_dtb
    assert system is not None
    assert [i.name for i in system.instances] == [
        "client",
        "outer",
        "outer.box",
        "outer.box.inner",
        "outer.box.user",
        "outer.box.other",
    ]
    assert [i.address_space for i in system.instances] == [i.name for i in system.instances]
    assert [(c.name, c.from_ends[0].name, c.to_ends[0].name) for c in system.connections] == [
        ("c", "client.adder", "outer.box.inner.adder"),
        ("outer.box.mine", "outer.box.user.adder", "outer.box.other.adder"),
    ]
    inner = system.instance("outer.box.inner")
    assert inner is not None and inner.settings["_priority"].value == 42
    outer = system.instance("outer")
    assert outer is not None and outer.type.exported == ("adder",)


def test_a_setting_of_an_interface_of_a_component_around(tmp_path: Path) -> None:
    system = good(
        tmp_path,
        """
        component Leaf { control; }
        component Box {
            maybe consumes E irq;
            composition { component Leaf leaf; }
            configuration { irq.dtb = 5; leaf._priority = 3; }
        }
        assembly { composition { component Box box; } }
        """,
    )
    assert system.other_settings["box.irq"]["dtb"].value == 5


def test_a_reference_without_a_value_leaves_the_default(tmp_path: Path) -> None:
    system = good(
        tmp_path,
        """
        component Leaf { control; attribute int a = 1; attribute int b; }
        component Box {
            attribute int x; attribute int y;
            composition { component Leaf leaf; }
            configuration { leaf.a <- x; leaf.b <- y; }
        }
        assembly { composition { component Box box; } configuration { box.y = 2; } }
        """,
    )
    leaf = system.instance("box.leaf")
    assert leaf is not None
    assert {name: s.value for name, s in leaf.settings.items()} == {"a": 1, "b": 2}


def test_references_look_up_keys_through_chains(tmp_path: Path) -> None:
    system, _ = resolve(
        tmp_path,
        """
        component A { control; attribute int v; }
        assembly {
            composition { component A a; component A b; }
            configuration {
                a.v <- b.alias["two"]["deep"];
                b.alias <- b.table;
                b.table = {"one": 1, "two": {"deep": 2 + 1}};
            }
        }
        """,
    )
    assert system is not None
    a = system.instance("a")
    assert a is not None and a.settings["v"].value == 3


def test_groups(tmp_path: Path) -> None:
    system = good(
        tmp_path,
        ADDER
        + """
        assembly { composition {
            group g { component Client g; component Server s; }
            group { component Server lone; }
            group h { component Server other; }
            component Client c;
            component Server t;
            connection seL4RPCCall one(from g.g.adder, to t.adder);
            connection seL4RPCCall two(from c.adder, to g.s.adder);
        } configuration { g._priority = 3; h.cnode_size_bits = 8; } }
        """,
    )
    assert {i.name: i.address_space for i in system.instances} == {
        "g": "g",
        "s": "g",
        "lone": "unamed_group_0",
        "other": "h",
        "c": "c",
        "t": "t",
    }
    assert [c.from_ends[0].instance for c in system.connections] == ["g", "c"]


def test_assemblies_are_merged(tmp_path: Path) -> None:
    text = (
        ADDER
        + """
        assembly { composition { component Client c; } configuration { c._priority = 1; } }
        assembly {
            composition { component Server s; connection seL4RPCCall x(from c.adder, to s.adder); }
            configuration { s.adder_priority = 2; }
            schedule { [(0, 1 ticks), (1, 20 us)] }
        }
        """
    )
    system, diagnostics = resolve(tmp_path, text)
    assert [d.code for d in diagnostics] == [codes.SCHEDULE_IGNORED]
    assert system is not None
    assert [i.name for i in system.instances] == ["c", "s"]
    assert system.schedule == ()


def test_schedule(tmp_path: Path) -> None:
    text = "component A { } assembly { composition { component A a; } schedule { [(0, 1), (1, 20 us)] } }"
    system = good(tmp_path, text)
    assert [(s.domain, s.duration, s.unit) for s in system.schedule] == [(0, 1, None), (1, 20, "us")]


FORWARD = """
assembly {
    composition { component C c; connection K k(from c.p, to s.p); }
}
component C { control; uses P p; }
connector K { from Procedures with 0 threads; to Procedure; }
procedure P { void f(); }
component S { provides P p; }
assembly { composition { component S s; } }
"""


def test_forward_references(tmp_path: Path) -> None:
    assert set(numbers(tmp_path, FORWARD)) == {codes.USED_BEFORE_DEFINED.number, codes.UNKNOWN_END.number}
    system = good(tmp_path, FORWARD, LoadOptions(cpp=False, allow_forward_references=True))
    assert [c.to_ends[0].name for c in system.connections] == ["s.p"]


def test_forward_references_do_not_allow_cycles(tmp_path: Path) -> None:
    text = """
    component A { composition { component B b; } }
    component B { composition { component A a; } }
    assembly { composition { component A a; } }
    """
    options = LoadOptions(cpp=False, allow_forward_references=True)
    system, diagnostics = resolve(tmp_path, text, options)
    assert system is None
    assert {d.code for d in diagnostics} == {codes.CONTAINS_ITSELF}


def test_imports(tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "adder.camkes").write_text('import "types.camkes";' + ADDER, encoding="utf-8")
    (library / "types.camkes").write_text('import "adder.camkes"; struct s { int x; }', encoding="utf-8")
    text = """
    import <adder.camkes>;
    import "library/../library/adder.camkes";
    import "system.camkes";
    component X { attribute s value; }
    assembly { composition { component X x; } configuration { x.value = {"x": 1}; } }
    """
    system = good(tmp_path, text, LoadOptions(import_path=(library,), cpp=False))
    names = [f.path.name for f in system.files]
    assert names[:3] == ["system.camkes", "adder.camkes", "types.camkes"]
    assert len(names) == len(set(names))
    adder = system.files[1]
    assert adder.included_from is not None and adder.included_from.line == 2


def test_types(tmp_path: Path) -> None:
    system = good(
        tmp_path,
        """
        struct point { int x; int y = 2; }
        component A {
            dataport Buf a; dataport Buf(3 * 5) b; dataport frame_t c;
            attribute point p; attribute { int deep; } q = {"deep": 1}; attribute point path[];
        }
        connector D { from Dataports; to Dataports; }
        component B { dataport Buf a; dataport Buf(15) b; dataport frame_t c; }
        assembly {
            composition {
                component A x; component B y;
                connection D a(from x.a, to y.a);
                connection D b(from x.b, to y.b);
                connection D c(from x.c, to y.c);
            }
            configuration { x.p = {"x": 1}; x.path = [{"x": 1}, {"x": 2, "y": 3}]; }
        }
        """,
    )
    x = system.instance("x")
    assert x is not None
    assert [i.type for i in x.type.interfaces] == [
        DataportType("Buf", 4096),
        DataportType("Buf", 15),
        DataportType("frame_t", None),
    ]
    types = {a.name: a.type for a in x.type.attributes}
    assert isinstance(types["q"], StructType) and types["q"].name == "camkes_anon_struct_1"
    assert x.settings["p"].value == {"x": 1, "y": 2}
    assert x.settings["path"].value == [{"x": 1, "y": 2}, {"x": 2, "y": 3}]


def test_components_without_a_name(tmp_path: Path) -> None:
    text = """
    component { control; }
    assembly { composition { component { control; has mutex m; } one;
               connection { from Events; to Events; } k(from a.e, to b.e);
               component { emits E e; } a; component { consumes E e; } b; } }
    """
    system = good(tmp_path, text)
    assert [i.type.name for i in system.instances] == ["one", "a", "b"]
    assert system.connections[0].connector.name == "k"


def test_errors_that_leave_a_system(tmp_path: Path) -> None:
    text = "component A { control; attribute int x; } assembly { composition { component A a; } %s }"
    system, diagnostics = resolve(tmp_path, text % 'configuration { a.x = "s"; }')
    assert [d.code for d in diagnostics] == [codes.MISTYPED_VALUE]
    assert system is not None and "x" not in system.instances[0].settings


def test_the_suggestion_has_one_more_part() -> None:
    assert nearest("p_protocol", ["ep_pool", "p_priority_protocol"]) == "p_priority_protocol"


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    (tmp_path / "folder.camkes").mkdir()
    for path, more in (("x" * 5000, ""), ("folder.camkes", ": a folder has this name")):
        _, diagnostics = resolve(tmp_path, f'import "{path}";')
        assert [d.message for d in diagnostics] == [f"there is no file `{path}` to import{more}"]


def test_a_folder_cannot_be_read(tmp_path: Path) -> None:
    from camkes.diagnostics import Sink
    from camkes.resolve import load

    sink = Sink()
    assert load(tmp_path, LoadOptions(), sink) is None
    assert ["is a directory" in d.message for d in sink.diagnostics] == [True]


def test_dump(tmp_path: Path) -> None:
    system = good(tmp_path, LIBRARY.replace("REQUESTOR", "").replace("SETTINGS", ""))
    data = json.loads(dump_text(system, places=True))
    assert data["root"] == "system.camkes"
    assert [i["type"] for i in data["instances"]] == ["Task", "Task", "Service"]
    assert data["components"]["Task"]["interfaces"][0]["type"] == "Request"
    assert data["cpis"][0]["protocol"] == "inherited"
    assert ":" in data["instances"][0]["span"]
    assert "span" not in json.dumps(dump(system))


def test_a_component_may_refer_to_an_attribute_it_does_not_declare(tmp_path: Path) -> None:
    """There is a default then; a name that is nearly a declared one is a slip all the same."""
    text = """component Inner { control; attribute int y = 3; }
              component Outer { %s composition { component Inner x; } configuration { x.y <- size; } }
              assembly { composition { component Outer o; } }"""
    assert good(tmp_path, text % "").instances[-1].settings["y"].value == 3
    assert numbers(tmp_path, text % "attribute int sizes = 1;") == [codes.REFERENCE_TO_NOTHING.number]


def test_a_script_with_another_ending_is_read_as_text(tmp_path: Path) -> None:
    """Only a name without an ending leaves it to the first bytes what a file is."""
    for name, other in (("system.adl", False), ("system", True), ("system.c", True)):
        (tmp_path / name).write_text("#!/bin/sh\n")
        sink = Sink()
        assert load(tmp_path / name, LoadOptions(cpp=False), sink) is None
        assert any("not a .camkes file" in d.message for d in sink.diagnostics) == other


@pytest.mark.parametrize(("uses", "shown", "note"), [(5, 4, ()), (6, 4, ("and in 1 other place",))])
def test_four_other_uses_of_what_is_missing_are_shown(
    tmp_path: Path, uses: int, shown: int, note: tuple[str, ...]
) -> None:
    parts = "".join(f"component Gone a{i};" for i in range(uses))
    _, (found,) = resolve(tmp_path, f"assembly {{ composition {{ {parts} }} }}")
    assert (len(found.related), found.notes) == (shown, note)


def test_a_misspelt_instance_of_a_component_is_the_nearest_of_that_component(tmp_path: Path) -> None:
    text = """component Inner { control; attribute int x; }
              component Outer { composition { component Inner inner; } configuration { iner.x = 1; } }
              assembly { composition { component Outer o; component Inner ine; } }"""
    _, (found,) = resolve(tmp_path, text)
    assert (found.code, found.help) == (codes.UNKNOWN_SETTING_INSTANCE, "did you mean `inner`?")


def test_a_connection_in_an_unused_component_is_checked(tmp_path: Path) -> None:
    text = f"""{STD} procedure P {{ void f(); }}
    component A {{ uses P p; }} component B {{ consumes E e; }}
    component Unused {{ composition {{ component A a; component B b;
                        connection seL4RPCCall c(from a.p, to b.e); }} }}
    component Main {{ control; }}
    assembly {{ composition {{ component Main m; }} }}
    """
    assert codes.WRONG_KIND.number in numbers(tmp_path, text)


@pytest.mark.parametrize("end", ["a.middle.p", "middle.a.p", "b.middle.p"])
def test_a_long_end_means_an_instance_that_is_known(tmp_path: Path, end: str) -> None:
    """Its interface is not reported as not connected: its end was written, with a slip."""
    text = f"""{STD} procedure P {{ void f(); }}
        component A {{ control; uses P p; }} component B {{ provides P p; }}
        assembly {{ composition {{ component A a; component B b;
            connection seL4RPCCall c(from {end}, to b.p); }} }}"""
    assert numbers(tmp_path, text) == [codes.UNKNOWN_END.number]


def test_only_a_connector_that_is_missing_may_be_one_of_the_standard_ones(tmp_path: Path) -> None:
    _, (found,) = resolve(tmp_path, "assembly { composition { component seL4RPC a; } }")
    assert found.code is codes.UNKNOWN_NAME and "std_connector" not in (found.help or "")
