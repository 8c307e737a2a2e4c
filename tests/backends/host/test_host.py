# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems become images, and images run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from camkes.backends.host import host
from camkes.backends.host.compiler import find_compiler
from camkes.backends.host.options import RunOptions
from camkes.backends.host.run import run_host
from camkes.diagnostics import Sink
from camkes.generate.write import GeneratedFile
from camkes.project.builds import ComponentBuild
from tests.backends.host.conftest import Build
from tests.written import write_files

pytestmark = pytest.mark.requirement("TOOL-21")

SYSTEM = """
import <std_connector.camkes>;
procedure P { int twice(in int x); }
component Client { control; uses P p; }
component Server { provides P q; }
assembly { composition {
    component Client c;
    component Server s;
    connection seL4RPCCall r(from c.p, to s.q);
} }
"""
CLIENT = """
#include <camkes.h>
#include <stdio.h>
int run(void) { printf("%s: %d\\n", get_instance_name(), p_twice(21)); return 0; }
"""
SERVER = """
#include <camkes.h>
int q_twice(int x)
{
    return 2 * x;
}
"""
FILES = {"a.camkes": SYSTEM, "Client.c": CLIENT, "Server.c": SERVER}


@pytest.mark.long
def test_it_runs(build: Build) -> None:
    text, result = build(FILES).run()
    assert text == "c: 42\n"
    assert (result.status, result.faults) == (0, ())


@pytest.mark.long
def test_without_isolation(build: Build) -> None:
    assert build(FILES).run(fast=True)[0] == "c: 42\n"


@pytest.mark.long
def test_a_second_build_compiles_nothing(build: Build) -> None:
    build(FILES)
    assert build({}).steps == ["reading", "generating"]
    again = build({"Server.c": SERVER.replace("2 * x", "3 * x")})
    assert not any("Client" in s for s in again.steps)
    assert again.run()[0] == "c: 63\n"


@pytest.mark.long
@pytest.mark.usefixtures("ready_kernel")
def test_another_compiler_of_the_same_name_compiles_again(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The objects of components, of the runtime and of the kernel belong to a compiler."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compiler = tmp_path / "mycc"
    script = '#!/bin/sh\nif [ "$1" = --version ]; then echo VERSION; else exec cc "$@"; fi\n'
    compiler.write_text(script)
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    first = build(FILES).steps
    assert build({}).steps == ["reading", "generating"]
    compiler.write_text(script.replace("VERSION", "'another one'"))
    assert sorted(build({}).steps) == sorted(first)  # what runs at once ends in any order
    assert "the host kernel" in first
    compiler.write_text(script)
    assert "the host kernel" not in build({}).steps


@pytest.mark.long
def test_compile_errors_are_at_the_users_line(build: Build) -> None:
    built = build({**FILES, "Server.c": SERVER.replace("2 * x", "2 * y"), "Client.c": "int run(void) { x }"})
    assert built.image is None
    assert set(built.codes) == {"E0722"}
    files = {d.span.file.path.name for d in built.diagnostics if d.span is not None}
    assert files == {"Server.c", "Client.c"}
    assert build(FILES).run()[0] == "c: 42\n"


@pytest.mark.long
def test_warnings_do_not_stop_a_build(build: Build) -> None:
    built = build({**FILES, "Server.c": SERVER + "#warning look here\n"})
    assert built.codes == ["W0728"]
    assert built.run()[0] == "c: 42\n"


@pytest.mark.long
def test_an_undefined_name(build: Build) -> None:
    built = build({**FILES, "Server.c": "int helper(void);\nint other(void) { return helper(); }\n"})
    assert built.image is None
    assert set(built.codes) == {"E0723"}
    said = " ".join(d.message for d in built.diagnostics)
    assert "q_twice" in said
    assert "helper" in said
    # and it is reported again, though nothing is compiled
    assert {d.message for d in build({}).diagnostics} == {d.message for d in built.diagnostics}


@pytest.mark.long
def test_a_name_that_a_library_without_versions_defines(build: Build, tmp_path: Path) -> None:
    """It is found there, and no other is."""
    library = tmp_path / "libown.so"
    words = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
    subprocess.run(words, input=b"int half(int x) { return x / 2; }\n", check=True)
    lists = f"""
    DeclareCAmkESComponent(Client SOURCES Client.c)
    DeclareCAmkESComponent(Server SOURCES Server.c LD_FLAGS {library})
    DeclareCAmkESRootserver(a.camkes)
    """
    server = "int half(int x);\nint q_twice(int x) { return half(x); }\n"
    built = build({**FILES, "CMakeLists.txt": lists, "Server.c": server})
    assert built.image is not None and not built.diagnostics
    built = build({"Server.c": server.replace("half", "third")})
    assert [d.message for d in built.diagnostics] == ["component s uses `third`, which is not defined"]


@pytest.mark.long
def test_a_name_defined_twice(build: Build) -> None:
    built = build(
        {
            **FILES,
            "CMakeLists.txt": "DeclareCAmkESComponent(Server SOURCES Server.c more.c)\n"
            "DeclareCAmkESComponent(Client SOURCES Client.c)\nDeclareCAmkESRootserver(a.camkes)\n",
            "more.c": "int q_twice(int x) { return x; }\n",
        }
    )
    assert [d.message for d in built.diagnostics] == ["component s defines `q_twice` twice"]


def test_missing_sources_are_reported(build: Build) -> None:
    built = build({"a.camkes": SYSTEM, "Client.c": CLIENT})
    assert built.codes == ["E0721"]
    (diagnostic,) = built.diagnostics
    assert "Server" in diagnostic.message
    assert diagnostic.span is not None
    assert any("Server.c" in n for n in diagnostic.notes)


@pytest.mark.long
def test_user_names_do_not_meet_those_of_the_library(build: Build) -> None:
    """A component's own function of a name that the C library has is its own."""
    server = "int write(int x) { return x; }\nint index(int x) { return write(x) + x; }\n" + SERVER.replace(
        "2 * x", "index(x)"
    )
    assert build({**FILES, "Server.c": server}).run()[0] == "c: 42\n"


@pytest.mark.long
def test_instances_with_the_same_header_share_objects(build: Build) -> None:
    system = """
    component A { control; attribute int n; }
    assembly { composition { component A a1; component A a2; component A a3; }
      configuration { a1.n = 1; a2.n = 2; a3.n = 1; } }
    """
    source = """
    #include <camkes.h>
    #include <stdio.h>
    int run(void) { printf("%s %d\\n", get_instance_name(), n_DEF); return 0; }
    """
    built = build({"a.camkes": system, "A.c": source})
    assert built.run()[0] == "a1 1\na2 2\na3 1\n"
    compiled = [step for step in built.steps if step.endswith(": A.c")]
    assert sorted(compiled) == ["component A, instance a1: A.c", "component A, instance a2: A.c"]


def test_an_empty_list_is_an_array_of_no_elements(build: Build) -> None:
    """Code can name it and ask for its size, whatever the type of its elements."""
    system = """
    struct point { int x; int y; }
    component A { control; attribute int n[] = []; attribute point p[]; }
    assembly { composition { component A a; } configuration { a.p = []; } }
    """
    source = """
    #include <camkes.h>
    #include <stdio.h>
    int run(void) {
        for (unsigned i = 0; i < sizeof n / sizeof n[0]; i++) { printf("%d\\n", n[i]); }
        printf("%zu %zu %d\\n", sizeof n, sizeof p, n != 0);
        return 0;
    }
    """
    assert build({"a.camkes": system, "A.c": source}).run()[0] == "0 0 1\n"


@pytest.mark.parametrize(
    ("kind", "watched", "expected"),
    [
        ("", "", [["a", "c"], ["b"], ["d"]]),
        ("", "c", [["a"], ["b"], ["c"], ["d"]]),
        ("coverage", "", [["a"], ["b"], ["c"], ["d"]]),
    ],
)
def test_which_instances_share_objects(
    kind: str, watched: str, expected: list[list[str]], tmp_path: Path
) -> None:
    """`b` has another header, `d` another source; glue does not count."""
    texts = {"a": "/* 1 */\n", "b": "/* 2 */\n", "c": "/* 1 */\n", "d": "/* 1 */\n"}
    files = []
    for name, text in texts.items():
        write_files(tmp_path, {f"{name}/camkes.h": text, f"{name}/glue.c": name})
        files += [GeneratedFile(tmp_path / name / "camkes.h", name, "header")]
        files += [GeneratedFile(tmp_path / name / "glue.c", name, "source")]
    application: Any = SimpleNamespace(build_type=kind, workspace=None)
    unused: Any = None
    found = host._Build(unused, unused, application, tmp_path, files, Sink(), print)
    found.watched = frozenset(watched)
    builds = {name: ComponentBuild((tmp_path / ("D.c" if name == "d" else "A.c"),)) for name in texts}
    compiler = find_compiler(False, Sink())
    assert compiler is not None
    jobs = found._written(builds, {}, compiler)
    shared: dict[int, list[str]] = {}
    for name in builds:
        shared.setdefault(id(jobs[name]), []).append(name)
    assert sorted(shared.values()) == expected


@pytest.mark.long
def test_instances_of_a_group_hide_their_names(build: Build) -> None:
    system = """
    import <std_connector.camkes>;
    procedure P { int twice(in int x); }
    component A { control; uses P p; dataport Buf d; }
    component B { provides P p; dataport Buf d; }
    assembly { composition {
        group g { component A a; component B b; }
        connection seL4RPCCall r(from g.a.p, to g.b.p);
        connection seL4SharedData x(from g.a.d, to g.b.d);
    } }
    """
    a = """
    #include <camkes.h>
    #include <stdio.h>
    int helper = 1;
    int run(void) { *(int *)d = 20; printf("%d %d\\n", helper, p_twice(1)); return 0; }
    """
    b = """
    #include <camkes.h>
    int helper = 2;
    int p_twice(int x) { return helper * (x + *(int *)d); }
    """
    assert build({"a.camkes": system, "A.c": a, "B.c": b}).run()[0] == "1 42\n"


@pytest.mark.long
def test_libraries_of_the_application(build: Build) -> None:
    lists = """
    add_library(half STATIC lib/half.c)
    target_include_directories(half PUBLIC lib)
    DeclareCAmkESComponent(Client SOURCES Client.c)
    DeclareCAmkESComponent(Server SOURCES Server.c LIBS half m)
    ExtendCAmkESComponentInstance(Server s C_FLAGS -DFACTOR=4)
    DeclareCAmkESRootserver(a.camkes)
    """
    server = '#include <camkes.h>\n#include <math.h>\n#include "half.h"\n' + (
        "int q_twice(int x) { return FACTOR * half(x) + (int)sqrt(x * 0.0); }\n"
    )
    half = {"lib/half.h": "int half(int x);\n", "lib/half.c": "int half(int x) { return x / 2; }\n"}
    files = {**FILES, "CMakeLists.txt": lists, "Server.c": server, **half}
    assert build(files).run()[0] == "c: 40\n"


@pytest.mark.long
def test_a_fault_is_reported_with_its_line(build: Build) -> None:
    server = """
#include <camkes.h>
int q_twice(int x)
{
    int *volatile nowhere = (int *)16;
    return *nowhere; /* here */
}
"""
    text, result = build({**FILES, "Server.c": server}).run()
    assert text == ""
    assert result.status == 1
    (fault,) = result.faults
    assert (fault.component, fault.thread, fault.address) == ("s", "s.q", 16)
    assert result.diagnostics == ()


@pytest.mark.long
def test_a_sanitized_build_runs(build: Build) -> None:
    assert build(FILES, sanitize=True).run()[0] == "c: 42\n"


@pytest.mark.long  # compile the kernel
@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed")
@pytest.mark.parametrize("sanitize", [False, True])
def test_clang_builds_what_runs(sanitize: bool, build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "clang")
    text, result = build(FILES, sanitize=sanitize).run()
    assert (text, result.status) == ("c: 42\n", 0)


def test_no_compiler(build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    built = build(FILES)
    assert built.codes == ["E0724"]


def test_the_compiler_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "cc -DEXTRA='a b'")
    compiler = find_compiler(False, Sink())
    assert compiler is not None
    assert compiler.c == ("cc", "-DEXTRA=a b")


@pytest.mark.long
def test_a_folder_that_cannot_be_written(build: Build, tmp_path: Path) -> None:
    build(FILES)
    folder = tmp_path / "out dir" / "host-image"
    for path in folder.glob("*.so"):
        path.unlink()
        path.mkdir()  # as hard to overwrite as a full disk
        (path / "x").touch()
    assert "E0725" in build({}).codes


@pytest.mark.long
def test_a_kernel_that_refuses(build: Build) -> None:
    built = build(FILES)
    assert built.image is not None
    built.image.table.write_text("nonsense\n")
    result = run_host(built.image, RunOptions(), output=lambda _: None)
    assert [d.code.number for d in result.diagnostics] == ["E0730"]


@pytest.mark.long
def test_two_builds_are_the_same_to_the_byte(build: Build, tmp_path: Path) -> None:
    first = build(FILES)
    assert first.image is not None
    table = first.image.table.read_bytes()
    images = {n: p.read_bytes() for n, p in first.image.images.items()}
    for path in (tmp_path / "out dir").rglob("*"):
        if path.is_file():
            path.unlink()
    second = build({})
    assert second.image is not None
    assert second.image.table.read_bytes() == table
    assert {n: p.read_bytes() for n, p in second.image.images.items()} == images


@pytest.mark.long
def test_a_trace_is_written_where_asked(build: Build, tmp_path: Path) -> None:
    os.chdir(tmp_path)
    _, result = build(FILES).run(trace=Path("x.trace"))
    assert result.trace is not None
    assert (tmp_path / "x.trace").read_bytes()[:8] == b"CAMKTRC1"


@pytest.mark.long
@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_a_component_in_cxx(build: Build) -> None:
    server = """
#include <camkes.h>
extern "C" int q_twice(int x)
{
    auto twice = [](int y) { return 2 * y; };
    return twice(x);
}
"""
    lists = (
        "DeclareCAmkESComponent(Client SOURCES client.c)\nDeclareCAmkESComponent(Server SOURCES server.cpp)\n"
        "DeclareCAmkESRootserver(a.camkes)\n"
    )
    files = {"a.camkes": SYSTEM, "client.c": CLIENT, "server.cpp": server, "CMakeLists.txt": lists}
    assert build(files).run()[0] == "c: 42\n"


@pytest.mark.long
@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_components_have_no_library_of_cxx(build: Build) -> None:
    server = """
#include <camkes.h>
#include <vector>
extern "C" int q_twice(int x)
{
    std::vector<int> all;
    all.push_back(x);
    return missing(all);
}
"""
    server = server.replace("extern", "int missing(std::vector<int> &all);\nextern", 1)
    found = build({"a.camkes": SYSTEM, "client.c": CLIENT, "server.cpp": server}).diagnostics
    assert [d.code.number for d in found] == ["E0723", "E0723"]
    library, own = found
    assert "uses the C++ library, which components do not have" in library.message
    assert "for example `operator new(unsigned long)`" in library.notes
    assert "missing(" in own.message


@pytest.mark.long
@pytest.mark.usefixtures("ready_runtime")
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_place_of_a_mistake_behind_tabs_and_wide_characters(
    build: Build, monkeypatch: pytest.MonkeyPatch, compiler: str
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    monkeypatch.setenv("CC", compiler)
    server = SERVER.replace(
        "    return 2 * x;", "\t/* \u65e5\u672c \U0001f600 e\u0301 */\treturn nothing * x;"
    )
    built = build({"a.camkes": SYSTEM, "Client/client.c": CLIENT, "Server/server.c": server})
    (mistake,) = [d for d in built.diagnostics if d.code.number == "E0722"]
    span = mistake.span
    assert span is not None
    assert span.file.lines[span.line - 1][span.column - 1 : span.end_column - 1] == "nothing"
