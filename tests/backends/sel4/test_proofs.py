# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Theories for proofs: names and labels of objects, and what templates for theories are given.

With SEL4_WORKSPACE=DIR, and parse-capDL, also those that a build writes.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from camkes.backends.sel4.complete import complete
from camkes.backends.sel4.labels import Labels, labelled
from camkes.backends.sel4.link import link
from camkes.backends.sel4.provable import outside
from camkes.backends.sel4.renamed import renamed
from camkes.backends.sel4.spec import unlinked
from camkes.backends.sel4.theories import write_theories
from camkes.backends.sel4.workspace import make
from camkes.backends.upstream_templates.view import AssemblyView
from camkes.capdl.allocate import allocate
from camkes.capdl.text import capdl_text
from camkes.diagnostics import Sink
from camkes.model.system import System
from camkes.protocols import analyse
from camkes.resolve import LoadOptions, load

from .recorded import needs_parse_capdl
from .test_memory import SIZES
from .test_spec import images_of, parse

pytestmark = pytest.mark.requirement("SEL4-21")

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")

ADL = """
import <std_connector.camkes>;
procedure Sum { int add(in int a, refin thing_t b); }
component Client { control; uses Sum s; emits Done done; dataport Buf memory; }
component Server { provides Sum s; consumes Done done; dataport Buf memory; attribute int size; }
component Other { control; has mutex lock; }
assembly {
    composition {
        component Client client;
        component Server server;
        component Other other;
        group together { component Other one; component Other two; }
        connection seL4RPCCall call(from client.s, to server.s);
        connection seL4Notification done(from client.done, to server.done);
        connection seL4SharedData memory(from client.memory, to server.memory);
    }
    configuration { server.size = 3; other.integrity_label = "server"; }
}
"""


def system(folder: Path, text: str = ADL) -> System:
    (folder / "the-system.camkes").write_text(text)
    sink = Sink()
    loaded = load(folder / "the-system.camkes", LoadOptions(), sink)
    assert loaded is not None, sink.diagnostics
    return loaded


def linked(given: System) -> tuple[str, list[dict[str, object]]]:
    """The specification for proofs, and its labels."""
    planned = analyse(given, Sink())
    assert planned is not None
    completed = complete(allocate(given, planned))
    spec = unlinked(completed, "aarch32", names=labelled(given, completed))
    distribution = link(spec, images_of(spec))
    labels = renamed(distribution, spec.names, SIZES)
    return capdl_text(distribution), json.loads(labels)


def test_names_are_identifiers_that_camkes_tool_has_too(tmp_path: Path) -> None:
    text, rows = linked(system(tmp_path))
    names = {row["name"] for row in rows}
    assert len(names) == len(rows)
    for name in names:
        assert re.fullmatch(r"[A-Za-z](\w|\.)*[A-Za-z0-9]", str(name)), "Isabelle knows no such name"
    assert names >= {
        "client_client_0_control_tcb",
        "client_client_0_fault_handler_tcb",
        "client_cnode",
        "client_group_bin_pd",
        "client_fault_ep",
        "server_server_s_0000_tcb",
        "server_frame__camkes_ipc_buffer_server_0_control",
        "together_cnode",
        "call_ep",
        "done_notification",
        "memory_data_0_obj",
        "other.lock_mutex",
        "frame_client_group_bin_0000",
    }
    cdl = parse(text)
    assert names == set(cdl.objects)
    assert cdl.caps["client_client_0_control_tcb"]["vspace"] == "client_group_bin_pd"
    for container, caps in cdl.caps.items():
        assert container in names
        assert {cap.split()[0] for cap in caps.values()} <= names


def test_labels_are_components_and_connections(tmp_path: Path) -> None:
    _, rows = linked(system(tmp_path))
    labels = {str(row["name"]): row["label"] for row in rows}
    assert labels["call_ep"] == "call"
    assert labels["done_notification"] == "done"
    assert labels["memory_data_0_obj"] == "memory"
    assert labels["server_server_s_0000_tcb"] == "server"
    assert labels["frame_server_group_bin_0000"] == "server"
    assert labels["other_cnode"] == "server", "the label that is stated"
    assert labels["one_one_0_control_tcb"] == "together", "that of the address space"
    assert all(labels.values())


def test_requests_to_a_protocol_belong_to_the_connection(tmp_path: Path) -> None:
    text = ADL.replace("provides Sum s;", "provides Sum s with priority_protocol fixed;")
    text = text.replace("Client { control;", "Client { control; requestor;")
    text = text.replace("configuration {", "configuration { client._priority = 5;")
    of = Labels(system(tmp_path, text)).of
    assert of("server.s:endpoint") == of("server.s@client:endpoint") == "call"
    assert of("server.s!manager:endpoint") == "server"
    assert of("timer-driver:epoch") == ""


def test_what_templates_are_given(tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    for name in ("root.thy", "cdl-refine.thy"):
        (tmp_path / "templates" / name).write_text(f"/*? outfile_name ?*/ {name}")
    (tmp_path / "templates" / "arch-definitions.thy").write_text("""

/*? macros.check_isabelle_outfile('%s_Arch_Spec' % options.verification_base_name, outfile_name) ?*/
/*- for c in me.composition.connections -*/
/*? isabelle_connection(c.name) ?*/ /*? isabelle_connector(c.type.name) ?*/ /*?
    c.type.get_attribute('isabelle_connector_spec').default ?*/
/*- endfor -*/


/*- for i in me.composition.instances if i.name == 'one' -*/
/*? isabelle_component(i.name) ?*/ /*? '' ?*/
/*- endfor -*/
/*- for s in me.configuration.settings -*/
/*?- s.instance ?*/./*? s.attribute ?*/ = /*? s.value ?*/;/*- endfor -*/
/*? sorted(macros.integrity_group_labels(me.composition, me.configuration).items()) ?*/
/*- for o, label in object_label_mapping() -*//*? o.name ?*/ /*? o.get_size_bits() ?*/ /*? label ?*/ /*?
    is_IRQ_object(o) ?*/ /*? is_ASIDPool_object(o) ?*//*- endfor -*/
/*? isabelle_dataport('Buf(64)') ?*/ /*? me.composition.instances[0].type.dataports[0].type ?*/
""")
    rows = [{"name": "line", "label": "server", "bits": 0, "interrupt": 5, "asid_high": None}]
    (tmp_path / "labels.json").write_text(json.dumps(rows))
    sink = Sink()
    write_theories(system(tmp_path), tmp_path / "templates", tmp_path / "labels.json", tmp_path / "out", sink)
    assert not sink.diagnostics
    assert (tmp_path / "out" / "ROOT").read_text() == "ROOT root.thy\n"
    assert (tmp_path / "out" / "the_system_Arch_Spec.thy").read_text() == (
        "connection__call connector__seL4RPCCall seL4RPC\n"
        "\n"
        "connection__done connector__seL4Notification seL4Notification\n"
        "\n"
        "connection__memory connector__seL4SharedData seL4SharedData\n"
        "\n"
        "component__one\n"
        "\n"
        "server.size = 3;other.integrity_label = server;\n"
        "[('one', 'together'), ('other', 'server'), ('two', 'together')]\n"
        "line 0 server True False\n"
        "dataport__Buf_64 Buf\n"
    )


def test_the_order_is_that_of_camkes_tool(tmp_path: Path) -> None:
    """Parts before their parts; settings of the assembly before those of components, else as in the text."""
    text = """
component Leaf { control; attribute int x; attribute int y; }
component Inner { composition { component Leaf b; component Leaf a; } configuration { a.x = 1; } }
component Outer { composition { component Inner mid; component Leaf z; } }
assembly {
    composition { component Outer two; component Leaf last; component Outer one; }
    configuration { last.x = 2; last.y = 4; }
}
"""
    assembly = AssemblyView(system(tmp_path, text))
    assert [instance.name for instance in assembly.composition.instances] == [
        *("two", "last", "one"),
        *("two.mid", "two.z", "two.mid.b", "two.mid.a"),
        *("one.mid", "one.z", "one.mid.b", "one.mid.a"),
    ]
    settings = [(each.instance, each.attribute) for each in assembly.configuration.settings]
    assert settings == [("last", "x"), ("last", "y"), ("two.mid.a", "x"), ("one.mid.a", "x")]


def test_words_for_types_are_those_of_camkes_tool(tmp_path: Path) -> None:
    assembly = AssemblyView(system(tmp_path, ADL.replace("int add(in int a,", "bool add(in bool a,")))
    (client,) = (i for i in assembly.composition.instances if i.name == "client")
    (method,) = client.type.uses[0].type.methods
    assert (method.return_type, method.parameters[0].type) == ("boolean", "boolean")
    assert client.type.dataports[0].type == "Buf"


def test_a_system_of_connectors_that_l4v_knows_is_covered(tmp_path: Path) -> None:
    given = system(tmp_path)
    planned = analyse(given, Sink())
    assert planned is not None
    assert not list(outside(given, allocate(given, planned)))


@pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace")
@needs_parse_capdl
def test_theories_of_an_application(tmp_path: Path) -> None:
    folder = Path(WORKSPACE) / "projects" / "camkes" / "apps" / "adder"
    settings = {"PLATFORM": "sabre", "ARM": "1"}
    settings |= {"CAmkESCapDLStaticAlloc": "ON", "CAmkESCapDLVerification": "ON"}
    sink = Sink()
    assert make(Path(WORKSPACE), folder, tmp_path, settings, sink, lambda *_: None)
    theories = tmp_path / "cdl-refine"
    assert {f.name for f in theories.iterdir()} == {
        "ROOT",
        "adder_Arch_Spec.thy",
        "adder_CDL.thy",
        "adder_CDL_Refine.thy",
    }
    cdl = (theories / "adder_CDL.thy").read_text()
    named = set(
        re.findall(
            r'\("(\w+)", \d+, "(?:adder|client|p|s)"\)', (theories / "adder_CDL_Refine.thy").read_text()
        )
    )
    assert {"adder_cnode", "p_ep", "s_data_0_obj"} <= named
    for name in named:
        assert f"definition {name}_id ::" in cdl
