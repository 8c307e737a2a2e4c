# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A type that C does not know is reported where the `.camkes` file names it, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes import pipeline
from camkes.backends.host import types
from camkes.diagnostics import Diagnostic, Sink
from camkes.diagnostics.rendering import Style, render
from camkes.model.c_types import names_own_types
from tests.backends.host.conftest import Build
from tests.golden import compare
from tests.written import write_files

pytestmark = pytest.mark.requirement("CHECK-6")

GOLDEN = Path(__file__).parent / "golden"

SYSTEM = """\
import <std_connector.camkes>;
procedure P {
    %s
}
component Client {
    control;
    uses P p;
    %s
}
component Server {
    provides P q;
}
assembly {
    composition {
        component Client c;
        component Client d;
        component Server s;
        connection seL4RPCCall r(from c.p, from d.p, to s.q);
    }
}
"""
LISTS = (
    "DeclareCAmkESComponent(Client SOURCES client.c INCLUDES include)\n"
    "DeclareCAmkESComponent(Server SOURCES server.c INCLUDES include)\nDeclareCAmkESRootserver(a.camkes)\n"
)
CLIENT = "#include <camkes.h>\nint run(void) { return 0; }\n"
SERVER = "#include <camkes.h>\n"
HEADER = """\
#pragma once
#include <camkes.h>
typedef struct act { int x; } act_t;
typedef int list_t[4];
typedef int function_t(int);
struct hidden;
typedef struct hidden hidden_t;
enum colour { RED };
typedef const int fixed_t;
"""


class Application:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        sources = {"client.c": CLIENT, "server.c": SERVER, "include/act.h": HEADER}
        write_files(folder, {"CMakeLists.txt": LISTS, **sources})

    def write(self, procedure: str, client: str = "") -> None:
        (self.folder / "a.camkes").write_text(SYSTEM % (procedure, client))

    def check(self) -> tuple[Diagnostic, ...]:
        sink = Sink()
        pipeline.check(pipeline.Input(self.folder), sink)
        return sink.diagnostics

    def build(self) -> tuple[Diagnostic, ...]:
        sink = Sink()
        pipeline.build(pipeline.Input(self.folder), self.folder.parent / "out", sink, lambda _: None)
        return sink.diagnostics


@pytest.fixture
def application(tmp_path: Path) -> Application:
    return Application(tmp_path / "app")


WRONG = {
    "no_include": ("int go(in act_t a, in act_t b);", ""),
    "misspelt": ('include "act.h"; int go(in atc_t a);', ""),
    "result": ('include "act.h"; nothing_t go(in int a);', ""),
    "incomplete": ('include "act.h"; int go(in hidden_t a);', ""),
    "no_such_struct": ('include "act.h"; int go(in struct acts a);', ""),
    "function": ('include "act.h"; int go(in function_t a);', ""),
    "array": ('include "act.h"; int go(in list_t a);', ""),
    "void": ("int go(in void a);", ""),
    "out": ("int go(out foo_t a);", ""),
    "elements": ("int go(in foo_t a[]);", ""),
    "in_a_source": ("int go(in local_t a);", ""),
    "dataport": ("int go(in int a);", "maybe dataport foo_t d;"),
    "two": ("int go(in foo_t a);\n    bar_t come(in int b);", ""),
}


@pytest.mark.long
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_type(application: Application, name: str) -> None:
    application.write(*WRONG[name])
    if name == "in_a_source":
        (application.folder / "server.c").write_text(f"typedef int local_t;\n{SERVER}")
    found = application.check()
    if any(d.code.number != "E0736" for d in found):
        assert name == "void" and len(found) == 1, found  # the parser knows better
    else:
        assert [d.span.file.path.name for d in found if d.span] == ["a.camkes"] * (1 + (name == "two"))
    text = render(found, Style(base=application.folder)).replace(str(application.folder), "FOLDER")
    assert render(application.build(), Style(base=application.folder)) == text
    compare(text, GOLDEN / f"type_{name}.txt")


@pytest.mark.mostly_long("string go(in string a, in character b, in boolean c, out string d);")
@pytest.mark.parametrize(
    "procedure",
    [
        'include "act.h"; act_t go(in act_t a, out act_t b, inout act_t c, refin act_t d);',
        'include "act.h"; int go(in struct act a, in act_t b[]);',
        "include <act.h>; fixed_t go(in seL4_Word a, in uint64_t b, in unsigned int c);",
        "string go(in string a, in character b, in boolean c, out string d);",
        "seL4_Error go(in seL4_Word a);",
    ],
)
def test_a_type_that_is_there(application: Application, procedure: str) -> None:
    application.write(procedure)
    assert application.check() == ()


@pytest.mark.long
def test_a_folder_that_one_component_lacks(application: Application) -> None:
    """Only a build knows that the header is nowhere else: a check may be one for seL4."""
    application.write('include "act.h"; int go(in act_t a);')
    lists = application.folder / "CMakeLists.txt"
    lists.write_text(LISTS.replace("client.c INCLUDES include", "client.c"))
    assert application.check() == ()
    found = application.build()
    assert [d.span.file.path.name for d in found if d.span] == ["a.camkes"]
    compare(render(found, Style(base=application.folder)), GOLDEN / "type_no_folder.txt")


@pytest.mark.long
def test_an_error_of_a_header_is_reported_there(application: Application) -> None:
    application.write('include "act.h"; int go(in act_t a);')
    header = application.folder / "include" / "act.h"
    header.write_text(HEADER.replace("int x;", "in x;"))
    for found in (application.check(), application.build()):
        assert {d.span.file.path for d in found if d.span} == {header}
        assert {d.code.number for d in found} == {"E0722"}


@pytest.mark.long
def test_one_component_sees_the_header_and_another_does_not(application: Application) -> None:
    application.write("int go(in act_t a);", 'include "act.h";')
    (found,) = application.check()
    assert found.message == "unknown type `act_t`"
    assert found.notes == ("for component Server; other components find it",)


@pytest.mark.long
def test_without_types_of_its_own_no_compiler_is_started(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(types, "find_compiler", lambda *_: pytest.fail("a compiler is asked for"))
    client = "maybe dataport Buf d; attribute int n = 1;"
    application.write("int go(in int a, out string b, inout uint8_t c[]);", client)
    assert application.check() == ()


@pytest.mark.long
def test_without_a_compiler_a_check_goes_on(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    application.write("int go(in foo_t a);")
    assert application.check() == ()


@pytest.mark.long
def test_types_are_compiled_once(application: Application, tmp_path: Path) -> None:
    application.write('include "act.h"; int go(in act_t a);')
    (application.folder / "server.c").write_text(f"{SERVER}int q_go(act_t a) {{ return a.x; }}\n")
    assert application.build() == ()
    objects = {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*.o")}
    assert any(path.name == "types.o" for path in objects)
    assert application.build() == ()
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*.o")} == objects


@pytest.mark.long
def test_which_systems_need_the_compiler(build: Build, application: Application) -> None:
    for procedure, wanted in (("int go(in act_t a);", True), ("int go(in unsigned int a);", False)):
        application.write(procedure)
        request = pipeline.Input(application.folder)
        found = pipeline.find(request, Sink())
        assert found is not None
        system = pipeline.load_input(found, request, Sink())
        assert system is not None and names_own_types(system) == wanted
