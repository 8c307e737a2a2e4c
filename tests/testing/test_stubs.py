# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes stubs` writes the handlers that sources lack: those that a build misses, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.scaffold.stubs import defined
from tests.command import camkes
from tests.documents import conforming

pytestmark = pytest.mark.requirement("TOOL-18")

#: a method of each shape of values, in each direction
SHAPES = """\
import <std_connector.camkes>;
procedure Shapes {
    include "own.h";
    void nothing();
    int number(in int a, out int b, inout int c, refin uint64_t d);
    bool flag(in boolean a, out character b);
    string text(in string a, out string b, inout string c);
    own_t structure(in own_t a, out own_t b, inout own_t c);
    void arrays(in int a[], out int b[], inout own_t c[]);
    void strings(in string a[], out string b[], inout string c[]);
}
component Server { provides Shapes s; provides Shapes t; }
component Client { control; requestor; include "own.h"; uses Shapes s; uses Shapes t; }
assembly {
    composition {
        component Server server;
        component Client client;
        connection seL4RPCCall s(from client.s, to server.s);
        connection seL4RPCCall t(from client.t, to server.t);
    }
    configuration { client._priority = 10; }
}
"""
CLIENT = """\
#include <camkes.h>
#include <string.h>
int run(void)
{
    int number = 1, kept = 5, *array = NULL;
    size_t size = 7;
    uint64_t wide = 0;
    bool good = t_number(1, &number, &kept, &wide) == 0 && number == 0 && kept == 5;
    char letter = 'x', *text = NULL, *more = strdup("kept");
    good = good && !t_flag(true, &letter) && letter == 0;
    char *result = t_text("a", &text, &more);
    good = good && strcmp(result, "") == 0 && strcmp(text, "") == 0 && strcmp(more, "kept") == 0;
    own_t own = {1, 2}, other = {3, 4}, *owns = malloc(sizeof(own_t));
    size_t none = 0;
    good = good && t_structure(own, &own, &other).x == 0 && own.y == 0 && other.y == 4;
    t_arrays(1, &kept, &size, &array, &none, &owns);
    return good && size == 0 ? 0 : 1;
}
"""


@pytest.fixture
def shapes(tmp_path: Path) -> Path:
    (tmp_path / "CMakeLists.txt").write_text(
        "project(shapes C)\n"
        "DeclareCAmkESComponent(Server SOURCES server.c INCLUDES . C_FLAGS -Wall -Werror)\n"
        "DeclareCAmkESComponent(Client SOURCES client.c INCLUDES .)\n"
        "DeclareCAmkESRootserver(shapes.camkes)\n"
    )
    (tmp_path / "shapes.camkes").write_text(SHAPES)
    (tmp_path / "own.h").write_text("#pragma once\ntypedef struct { int x, y; } own_t;\n")
    (tmp_path / "client.c").write_text(CLIENT)
    (tmp_path / "server.c").write_text(
        "#include <camkes.h>\nint s_number(int a, int *b, int *c, const uint64_t *d)\n{\n    return a;\n}\n"
    )
    return tmp_path


def test_what_the_build_lacks_is_written_and_works(shapes: Path) -> None:
    """The names in the errors of the build are those that are added; with them the system runs."""
    before = (shapes / "server.c").read_text()
    failed = camkes("build", shapes, "-o", shapes / "out", "--format", "oneline")
    assert failed.status == 1
    added = conforming("stubs", camkes("stubs", shapes, "--json", cwd=shapes).output)
    assert [(each["component"], each["file"]) for each in added] == [("Server", "server.c")]
    names = added[0]["handlers"]
    assert len(names) == 13 and "s_number" not in names and "t_number" in names
    assert all(f"does not define `{name}()`" in failed.errors for name in names)
    assert failed.errors.count("error[E0723]") == len(names)
    assert (shapes / "server.c").read_text() == before + added[0]["text"]
    ran = camkes("run", shapes, "-o", shapes / "out", "--deny", "exit-status")
    assert (ran.status, ran.errors) == (0, "")
    assert camkes("stubs", shapes).output == "2 components: no handler is missing\n"


def test_to_print_writes_nothing(shapes: Path) -> None:
    before = (shapes / "server.c").read_text()
    printed = camkes("stubs", shapes, "server", "--print", cwd=shapes)
    assert printed.status == 0 and printed.output.startswith("/* server.c */\n")
    assert (
        "void s_arrays(size_t a_sz, const int *a, size_t *b_sz, int **b, size_t *c_sz, own_t **c)\n{"
        in printed.output
    )
    assert (shapes / "server.c").read_text() == before


def test_a_declared_source_that_is_not_there_is_made(shapes: Path) -> None:
    (shapes / "client.c").unlink()
    assert camkes("stubs", shapes, "Client", cwd=shapes).output == "client.c: added run()\n"
    assert (shapes / "client.c").read_text() == (
        "#include <camkes.h>\n\nint run(void)\n{\n    while (camkes_next_job()) {\n"
        "        /* the work of a job */\n    }\n    return 0;\n}\n"
    )


def test_a_source_of_one_component_is_preferred(shapes: Path) -> None:
    lists = (shapes / "CMakeLists.txt").read_text()
    lists = lists.replace("SOURCES server.c", "SOURCES both.c server.c").replace(
        "SOURCES client", "SOURCES both.c client"
    )
    (shapes / "CMakeLists.txt").write_text(lists)
    (shapes / "both.c").write_text("#include <camkes.h>\nvoid s_nothing(void) { }\n")
    (shapes / "server.c").write_text("#include <camkes.h>\n")
    (added,) = conforming("stubs", camkes("stubs", shapes, "Server", "--print", "--json", cwd=shapes).output)
    assert added["file"] == "server.c"


def test_two_components_with_one_source_both_get_their_handlers(shapes: Path) -> None:
    lists = (shapes / "CMakeLists.txt").read_text().replace("client.c", "server.c")
    (shapes / "CMakeLists.txt").write_text(lists)
    (shapes / "server.c").write_text("")
    assert camkes("stubs", shapes).status == 0
    text = (shapes / "server.c").read_text()
    assert text.count("int run(void)") == 1 and text.count("#include <camkes.h>") == 1
    assert camkes("stubs", shapes).output == "2 components: no handler is missing\n"


def test_a_component_without_sources_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.camkes").write_text("component A { control; } assembly { composition { component A a; } }")
    result = camkes("stubs", tmp_path)
    assert result.status == 1 and "there are no source files for component A" in result.errors
    (tmp_path / "a.c").write_text("")
    assert camkes("stubs", tmp_path).status == 0
    assert camkes("build", tmp_path, "-o", tmp_path / "out").status == 0


def test_the_name_of_another_thing(shapes: Path) -> None:
    result = camkes("stubs", shapes, "Serve")
    assert result.status == 2 and "did you mean Server?" in result.errors


def test_a_source_of_cplusplus_gets_its_zeros(shapes: Path) -> None:
    lists = (shapes / "CMakeLists.txt").read_text().replace("shapes C)", "shapes C CXX)")
    (shapes / "CMakeLists.txt").write_text(lists.replace("server.c ", "server.cc "))
    (shapes / "server.c").rename(shapes / "server.cc")
    assert "return own_t{};" in camkes("stubs", shapes, "--print").output
    assert camkes("stubs", shapes).status == 0
    assert camkes("build", shapes, "-o", shapes / "out").status == 0


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("int a_f(int x)\n{\n}", True),
        ("int a_f(int x, void (*g)(int)) { }", True),
        ("int\na_f (int x) /* of a { */ __attribute__((noinline))\n{ }", True),
        ('extern "C" { int a_f(int x) noexcept { } }', True),
        ('int a_f(int x) __attribute__((alias("g")));', True),
        ("int a_f(int x);", False),
        ("int g(void) { if (a_f(1)) { return a_f(2); } }", False),
        ("// int a_f(int x) { }", False),
        ("/* int a_f(int x)\n{ } */", False),
        ('const char *s = "a_f() {";', False),
        ("int aa_f(int x) { } int a_f2(int x) { }", False),
    ],
)
def test_what_counts_as_a_definition(code: str, *, found: bool) -> None:
    names = [name for name, offset in defined(code, ["a_f"]) if code[offset:].startswith("a_f")]
    assert names == ["a_f"] * found
