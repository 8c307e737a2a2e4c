# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The calls of handlers are found in their code for both kernels, with the same system or the same error."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.backends.sel4.complete import complete
from camkes.backends.sel4.devices import Machine, device_of
from camkes.backends.sel4.link import Unlinked
from camkes.backends.sel4.spec import unlinked
from camkes.capdl.model import CapabilityModel
from camkes.diagnostics import Sink
from tests.written import write_files

from .test_cmake import cmake

pytestmark = pytest.mark.requirement("PLAN-6")

SYSTEM = """\
import <std_connector.camkes>;
procedure P { int f(in int x); }
component Task { control; requestor; uses P p; uses P spare; }
component Server {
    provides P p with priority_protocol inherited%s;
    provides P q with priority_protocol inherited%s;
    uses P next;
    uses P log;
}
component Leaf { provides P p with priority_protocol propagated; }
assembly {
    composition {
        component Task t;
        component Task u;
        component Server s;
        component Leaf leaf;
        component Leaf logger;
        connection seL4RPCCall to_p(from t.p, from u.spare, to s.p);
        connection seL4RPCCall to_q(from u.p, from t.spare, to s.q);
        connection seL4RPCCall to_leaf(from s.next, to leaf.p);
        connection seL4RPCCall to_logger(from s.log, to logger.p);
    }
    configuration { t._priority = 10; u._priority = 20; }
}
"""

LISTS = """
cmake_minimum_required(VERSION 3.16)
project(calls C)
add_library(shared STATIC "${CMAKE_CURRENT_LIST_DIR}/shared/shared.c")
target_include_directories(shared PUBLIC "${CMAKE_CURRENT_LIST_DIR}/shared")
DeclareCAmkESComponent(Task SOURCES task.c)
DeclareCAmkESComponent(Server SOURCES server.c INCLUDES include C_FLAGS -DCALLS LIBS shared)
DeclareCAmkESComponent(Leaf SOURCES leaf.c)
DeclareCAmkESRootserver(system.camkes)
"""

SERVER = """\
#include <camkes.h>
#include <steps.h>
#include <shared.h>
int p_f(int x) { return shared(x, next_f); }
#ifdef CALLS
int q_f(int x) { return step(x); }
#endif
"""

FILES = {
    "task.c": "#include <camkes.h>\nint run(void) { return p_f(1); }\n",
    "leaf.c": "#include <camkes.h>\nint p_f(int x) { return x; }\n",
    "server.c": SERVER,
    "include/steps.h": "static inline int step(int x) { return log_f(x); }\n",
    "shared/shared.h": "int shared(int x, int (*f)(int));\n",
    "shared/shared.c": '#include "shared.h"\nint shared(int x, int (*f)(int)) { return f(x); }\n',
}

needs_ninja = pytest.mark.skipif(shutil.which("ninja") is None, reason="ninja is not installed")


def application(folder: Path, clauses: tuple[str, str] = ("", "")) -> Path:
    texts = {"CMakeLists.txt": LISTS, "system.camkes": SYSTEM % clauses, **FILES}
    return write_files(folder / "application", texts)


def on_host(folder: Path) -> tuple[CapabilityModel | None, list[tuple[str, str]]]:
    sink = Sink()
    request = pipeline.Input(folder / "application")
    checked = pipeline.check_code(request, folder / "host", sink, lambda _: None)
    said = [(d.code.number, d.message) for d in sink.diagnostics]
    return (pipeline.capabilities(checked, sink) if checked is not None else None), said


def specification(folder: Path) -> Unlinked:
    return Unlinked.read((folder / "build" / "camkes-spec.msgpack").read_bytes())


def same_on_both(folder: Path) -> Unlinked:
    model, _ = on_host(folder)
    assert model is not None
    found = specification(folder)
    heaps = {space.name: space.heap for space in found.spaces if space.heap is not None}  # of the build alone
    assert found == unlinked(complete(model, device_of(Machine("x86_64"))), "x86_64", heaps=heaps)
    return found


def serving(spec: Unlinked) -> set[str]:
    """The threads that serve requests, by interface and task."""
    return {thread.name for space in spec.spaces for thread in space.threads if "@" in thread.name}


@pytest.mark.long
def test_the_same_capabilities_without_a_clause(tmp_path: Path) -> None:
    application(tmp_path)
    done = cmake(tmp_path)
    assert done.returncode == 0, done.stderr
    spec = same_on_both(tmp_path)
    # only t calls s.p, which calls only leaf.p; only u calls s.q, which calls only logger.p
    assert serving(spec) == {"s.p@t", "s.q@u", "leaf.p@t", "logger.p@u"}


@pytest.mark.long
def test_code_that_contradicts_its_clause(tmp_path: Path) -> None:
    application(tmp_path, ("", ", requests (next)"))
    model, said = on_host(tmp_path)
    done = cmake(tmp_path)
    assert model is None
    assert done.returncode != 0
    errors = [(number, message) for number, message in said if number.startswith("E")]
    assert errors
    for number, message in errors:
        assert f"error[{number}]: {message}" in done.stderr


FOREIGN = """\
#include <camkes.h>
void visit(int (*visitor)(int));
static int visitor(int x) { return log_f(x); }
int p_f(int x) { return next_f(x); }
int q_f(int x) { visit(visitor); return x; }
"""


@pytest.mark.long
@pytest.mark.parametrize(("libraries", "calls"), [("shared", False), ("shared elsewhere", True)])
def test_libraries_may_call_callbacks(tmp_path: Path, libraries: str, calls: bool) -> None:
    home = application(tmp_path)
    (home / "server.c").write_text(FOREIGN)
    lists = (home / "CMakeLists.txt").read_text().replace("LIBS shared", f"LIBS {libraries}")
    (home / "CMakeLists.txt").write_text(lists)
    assert cmake(tmp_path).returncode == 0
    assert ("logger.p@u" in serving(same_on_both(tmp_path))) == calls


@pytest.mark.long
@needs_ninja
def test_planned_again_when_the_calls_change_and_only_then(tmp_path: Path) -> None:
    home = application(tmp_path)
    assert cmake(tmp_path).returncode == 0

    def build() -> str:
        command = ["ninja", "-C", str(tmp_path / "build"), "-v", "build.ninja"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
        return done.stdout

    build()
    assert "camkes-project.json" not in build(), "nothing changed"
    description = tmp_path / "build" / "build.ninja"
    before = description.stat().st_mtime_ns
    (home / "server.c").write_text(f"/* words */\n{SERVER}")
    assert "sel4 calls" in build()
    assert description.stat().st_mtime_ns == before, "it calls what it called"
    (home / "include" / "steps.h").write_text("static inline int step(int x) { return next_f(x); }\n")
    build()
    spec = same_on_both(tmp_path)
    assert serving(spec) == {"s.p@t", "s.q@u", "leaf.p@t", "leaf.p@u"}
    assert description.stat().st_mtime_ns > before


@pytest.mark.long
def test_code_is_not_read_where_no_protocol_depends_on_it(tmp_path: Path) -> None:
    home = application(tmp_path)
    text = (home / "system.camkes").read_text().replace("requestor;", "")
    for protocol in ("inherited", "propagated"):
        text = text.replace(f" with priority_protocol {protocol}", "")
    (home / "system.camkes").write_text(text)
    assert cmake(tmp_path).returncode == 0
    assert not (tmp_path / "build" / "calls").exists()
    assert not (tmp_path / "build" / "camkes-calls.json").exists()


@pytest.mark.long
@needs_ninja
def test_what_is_generated_stays_when_code_is_read_again(tmp_path: Path) -> None:
    """The reading knows no headers that templates of the application are rendered to."""
    home = application(tmp_path)
    (home / "limits.template.h").write_text("enum { LIMIT = 3 };\n")
    more = 'CAmkESAddTemplatesPath("${CMAKE_CURRENT_LIST_DIR}")\n'
    more += "DeclareCAmkESComponent(Server TEMPLATE_HEADERS limits.template.h)\n"
    text = LISTS.replace("DeclareCAmkESRootserver", f"{more}DeclareCAmkESRootserver")
    (home / "CMakeLists.txt").write_text(text)
    assert cmake(tmp_path).returncode == 0
    header = tmp_path / "build" / "camkes" / "s" / "camkes.h"
    before = header.read_text()
    assert "limits.template.h" in before
    command = ["ninja", "-C", str(tmp_path / "build"), "-v", "build.ninja"]
    subprocess.run(command, capture_output=True, check=True)
    (home / "server.c").write_text(f"/* words */\n{SERVER}")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "sel4 calls" in done.stdout
    assert header.read_text() == before
