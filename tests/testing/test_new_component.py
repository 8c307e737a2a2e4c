# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes new component` puts a component where those of the application are, and replaces nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import camkes
from tests.documents import conforming

pytestmark = pytest.mark.requirement("TOOL-17")

#: as in the applications of seL4/camkes: a folder for each component, procedures in files of their own
UPSTREAM = {
    "adder.camkes": """\
import <std_connector.camkes>;

import "components/Adder/Adder.camkes";
import "components/Client/Client.camkes"; // calls

assembly {
    composition {
        component Adder adder;
        component Client client;
        connection seL4RPCCall p(from client.a, to adder.a);
    }
}
""",
    "interfaces/Addition.idl4": "procedure Addition { int add(in int x, in int y); };\n",
    "components/Adder/Adder.camkes": """\
import "../../interfaces/Addition.idl4";
component Adder { provides Addition a; }
""",
    "components/Adder/src/adder.c": """\
#include <camkes.h>
int a_add(int x, int y) { return x + y; }
""",
    "components/Client/Client.camkes": """\
import "../../interfaces/Addition.idl4";
component Client { control; uses Addition a; }
""",
    "components/Client/src/client.c": """\
#include <camkes.h>
int run(void) { return a_add(1, 2) - 3; }
""",
}
IN_ONE_FILE = """\
project(adder C)
DeclareCAmkESComponent(Adder SOURCES components/Adder/src/adder.c)
DeclareCAmkESComponent(
    Client # calls
    SOURCES components/Client/src/client.c
)

DeclareCAmkESRootserver(adder.camkes)
"""
IN_FOLDERS = """\
project(adder C)
add_subdirectory(components/Adder)
add_subdirectory(components/Client)
DeclareCAmkESRootserver(adder.camkes)
"""
IN_A_LOOP = """\
project(adder C)
foreach(name IN ITEMS Adder Client)
    string(TOLOWER ${name} lower)
    DeclareCAmkESComponent(${name} SOURCES components/${name}/src/${lower}.c)
endforeach()
DeclareCAmkESRootserver(adder.camkes)
"""


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture
def upstream(tmp_path: Path) -> Path:
    write(tmp_path, {**UPSTREAM, "CMakeLists.txt": IN_ONE_FILE})
    return tmp_path


def without(text: str, line: str) -> str:
    """A text without a line that has to be in it, once."""
    lines = text.splitlines(keepends=True)
    assert lines.count(line) == 1
    lines.remove(line)
    return "".join(lines)


def add(folder: Path, system: str, made: dict[str, object]) -> None:
    """Do what `camkes new component` says."""
    text = (folder / system).read_text()
    for block in ("composition", "configuration"):
        lines = made[block]
        assert isinstance(lines, list)
        added = "".join(f"{line}\n" for line in lines if "INSTANCE.INTERFACE" not in line)
        text = text.replace(f" {block} {{\n", f" {block} {{\n{added}")
    (folder / system).write_text(text)


def test_in_a_new_project_it_is_beside_the_others_and_runs(tmp_path: Path) -> None:
    camkes("new", "pump", cwd=tmp_path)
    pump = tmp_path / "pump"
    words = ("--period", "20ms", "--uses", "Reading:sensor", "--emits", "Ready:ready", "--json")
    made = conforming("new-component", camkes("new", "component", "Filter", *words, cwd=pump).output)
    assert made["files"] == ["components/filter.c"]
    assert made["changed"] == ["components/components.camkes", "CMakeLists.txt"]
    add(pump, "pump.camkes", made)
    assert camkes("fmt", "--check", "components", cwd=pump).status == 0
    assert camkes("test", cwd=pump).status == 0
    ran = camkes("run", "--for", "100ms", "--deny", "missed,exit-status", "--json", cwd=pump)
    assert ran.status == 0, ran.errors
    jobs = {task["name"]: task["jobs"] for task in conforming("run", ran.output)["tasks"]}
    assert jobs["filter"] == 5


@pytest.mark.parametrize("lists", [IN_ONE_FILE, IN_FOLDERS, IN_A_LOOP], ids=["one", "folders", "loop"])
def test_in_an_application_of_upstream_it_has_a_folder(lists: str, tmp_path: Path) -> None:
    write(tmp_path, {**UPSTREAM, "CMakeLists.txt": lists})
    for name in ("Adder", "Client"):
        text = f"DeclareCAmkESComponent({name} SOURCES src/{name.lower()}.c)\n"
        (tmp_path / f"components/{name}/CMakeLists.txt").write_text(text)
    words = ("--provides", "Addition:sum", "--uses", "Addition:next")
    made = conforming(
        "new-component", camkes("new", "component", "Twice", *words, "--json", cwd=tmp_path).output
    )
    assert made["files"] == ["components/Twice/Twice.camkes", "components/Twice/src/twice.c"]
    assert made["composition"] == [
        "component Twice twice;",
        "connection seL4RPCCall twice_sum(from INSTANCE.INTERFACE, to twice.sum);",
        "connection seL4RPCCall twice_next(from twice.next, to adder.a);",
    ]
    assert (tmp_path / "components/Twice/Twice.camkes").read_text() == (
        'import "../../interfaces/Addition.idl4";\n\n'
        "component Twice {\n    provides Addition sum;\n    uses Addition next;\n}\n"
    )
    # one line more in each file, where it counts
    system = (tmp_path / "adder.camkes").read_text()
    assert without(system, 'import "components/Twice/Twice.camkes";\n') == UPSTREAM["adder.camkes"]
    text = (tmp_path / "CMakeLists.txt").read_text().replace("\n\n", "\n")
    call = "DeclareCAmkESComponent(Twice SOURCES components/Twice/src/twice.c)\n"
    assert without(text, call) == lists.replace("\n\n", "\n")
    assert f"{call}DeclareCAmkESRootserver(" in text  # and not in the loop
    add(tmp_path, "adder.camkes", made)
    checked = camkes("check", cwd=tmp_path)
    assert (checked.status, checked.errors) == (0, "")
    assert camkes("stubs", cwd=tmp_path).output == "3 components: no handler is missing\n"


def test_without_cmake_the_source_is_found_by_its_name(tmp_path: Path) -> None:
    write(tmp_path, UPSTREAM)
    assert camkes("new", "component", "Twice", "--control", "--to", tmp_path / "adder.camkes").status == 0
    system = (tmp_path / "adder.camkes").read_text()
    (tmp_path / "adder.camkes").write_text(
        system.replace("composition {", "composition { component Twice t;")
    )
    built = camkes("build", tmp_path, "-o", tmp_path / "out")
    assert (built.status, built.errors) == (0, "")


def test_beside_the_assembly_if_the_others_are_there(tmp_path: Path) -> None:
    text = "component A { control; }\nassembly { composition { component A a; } }\n"
    write(tmp_path, {"one.camkes": text, "a.c": "int run(void) { return 0; }\n"})
    assert camkes("new", "component", "Later", "--consumes", "Tick:tick", cwd=tmp_path).status == 0
    first, rest = text.splitlines(keepends=True)
    declared = "component Later {\n    consumes Tick tick;\n}\n"
    assert (tmp_path / "one.camkes").read_text() == f"{first}\n{declared}{rest}"
    assert (
        "void post_init(void)\n{\n    tick_reg_callback(on_tick, NULL);\n"
        in (tmp_path / "later.c").read_text()
    )


def test_an_import_is_behind_the_procedures_that_the_system_defines(upstream: Path) -> None:
    own = "procedure Own { void go(); }\n"
    system = UPSTREAM["adder.camkes"].replace("assembly {", f"{own}assembly {{")
    (upstream / "adder.camkes").write_text(system)
    assert camkes("new", "component", "Goer", "--uses", "Own:own", cwd=upstream).status == 0
    written = (upstream / "adder.camkes").read_text()
    assert f'{own}import "components/Goer/Goer.camkes";\n\nassembly' in written
    assert camkes("check", cwd=upstream).status == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("Client",), "component `Client` is defined twice"),
        (("Other", "--uses", "Additon:a"), "there is no procedure `Additon`"),
        (("Other", "--uses", "Addition:a", "--provides", "Addition:a"), "`a`"),
        (("Other", "--provides", "Addition:a:inherit"), "`inherit`"),
        (("Other", "--provides", "Addition:int"), "`int`"),
    ],
)
def test_a_component_that_would_be_wrong_is_not_written(
    words: tuple[str, ...], message: str, upstream: Path
) -> None:
    (upstream / "components/Client/Client.camkes").rename(upstream / "components/Client/Klient.camkes")
    system = UPSTREAM["adder.camkes"].replace("Client.camkes", "Klient.camkes")
    (upstream / "adder.camkes").write_text(system)
    before = {path: path.read_bytes() for path in upstream.rglob("*") if path.is_file()}
    made = camkes("new", "component", *words, cwd=upstream)
    assert made.status == 1 and made.output == ""
    assert message in made.errors and "nothing was written" in made.errors
    assert {path: path.read_bytes() for path in upstream.rglob("*") if path.is_file()} == before


def test_no_file_is_replaced(upstream: Path) -> None:
    write(upstream, {"components/Twice/src/twice.c": "mine\n"})
    made = camkes("new", "component", "Twice", "--control", cwd=upstream)
    assert made.status == 1 and "E0777" in made.errors and "components/Twice/src/twice.c" in made.errors
    assert (upstream / "components/Twice/src/twice.c").read_text() == "mine\n"
    assert not (upstream / "components/Twice/Twice.camkes").exists()


def test_what_is_in_a_file_stays_byte_for_byte(upstream: Path) -> None:
    """Also ends of lines, and bytes in comments that are not UTF-8."""
    system, lists = upstream / "adder.camkes", upstream / "CMakeLists.txt"
    system.write_bytes(b"// \xff\r\n" + UPSTREAM["adder.camkes"].encode().replace(b"\n", b"\r\n"))
    lists.write_bytes(IN_ONE_FILE.encode().rstrip(b"\n"))
    before = system.read_bytes(), lists.read_bytes()
    assert camkes("new", "component", "Twice", "--control", cwd=upstream).status == 0
    added = b'import "components/Twice/Twice.camkes";\r\n'
    assert system.read_bytes().count(added) == 1 and system.read_bytes().replace(added, b"") == before[0]
    added = b"DeclareCAmkESComponent(Twice SOURCES components/Twice/src/twice.c)\n"
    assert lists.read_bytes().replace(added, b"") == before[1]


def test_a_folder_with_a_space(tmp_path: Path) -> None:
    files = {name.replace("components/", "my $parts/"): text for name, text in UPSTREAM.items()}
    files["adder.camkes"] = files["adder.camkes"].replace("components/", "my $parts/")
    lists = IN_ONE_FILE.replace("components/Adder/src/adder.c", '"my \\$parts/Adder/src/adder.c"')
    lists = lists.replace("components/Client/src/client.c", '"my \\$parts/Client/src/client.c"')
    write(tmp_path, {**files, "CMakeLists.txt": lists})
    assert camkes("new", "component", "Twice", "--control", cwd=tmp_path).status == 0
    assert (tmp_path / "my $parts/Twice/src/twice.c").is_file()
    system = (tmp_path / "adder.camkes").read_text()
    (tmp_path / "adder.camkes").write_text(
        system.replace("composition {", "composition { component Twice t;")
    )
    checked = camkes("check", cwd=tmp_path)
    assert (checked.status, checked.errors) == (0, "")


def test_a_project_can_be_called_component(tmp_path: Path) -> None:
    made = conforming("new", camkes("new", "component", "--template", "rpc", "--json", cwd=tmp_path).output)
    assert (made["folder"], made["template"]) == ("component", "rpc")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("pump", "Filter"), "unexpected argument: Filter"),
        (("pump", "--uses", "A:a"), "camkes new component NAME --uses"),
        (("component", "A", "--template", "rpc"), "--template is of a project"),
        (("component", "4ever"), "'4ever' is not a valid name"),
        (("component", "A", "--uses", "a b"), "expected TYPE:NAME"),
        (("component", "A", "--period", "10"), "expected 10ms"),
    ],
)
def test_words_that_do_not_go_together(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    made = camkes("new", *words, cwd=tmp_path)
    assert made.status == 2 and message in made.errors
    assert list(tmp_path.iterdir()) == []
