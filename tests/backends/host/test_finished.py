# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A build that would change nothing is not done, and any change that matters is seen."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from camkes import pipeline
from camkes.backends.host import finished
from camkes.backends.host.codes import SUBSTITUTE
from camkes.backends.host.link import Linker
from camkes.diagnostics import Sink
from camkes.model.system import System
from camkes.project.application import Application
from tests.command import camkes
from tests.written import write_files

SYSTEM = """
import <std_connector.camkes>;
import "types.camkes";
component Client { control; requestor; uses P p; attribute int number = 1; }
component Server { provides P p with priority_protocol inherited; }
assembly { composition {
    component Client c; component Client d; component Server s;
    connection seL4RPCCall r(from c.p, from d.p, to s.p);
} configuration { c._priority = 2; d._priority = 1; } }
"""
FILES = {
    "a.camkes": SYSTEM,
    "types.camkes": 'procedure P { include "kind.h"; kind ask(in int x); }\n',
    "Client.c": '#include <camkes.h>\n#include "own.h"\nint run(void) { return p_ask(number) - OWN; }\n',
    "Server.c": "#include <camkes.h>\nkind p_ask(int x) { return x; }\n",
    "include/kind.h": "#pragma once\ntypedef int kind;\n",
    "include/own.h": "#define OWN 0\n",
}

pytestmark = [pytest.mark.requirement("TOOL-20"), pytest.mark.usefixtures("ready_kernel")]


class Place:
    """An application and a folder in which it is built."""

    def __init__(self, folder: Path) -> None:
        self.root = write_files(folder / "app", FILES)
        self.out = folder / "out"
        self.image = self.out / "host-image"

    def steps(self, **more: bool) -> list[str]:
        """What a build without errors or warnings does."""
        sink, steps = Sink(), list[str]()
        asked = pipeline.Input(self.root / "a.camkes", definitions=self.definitions)
        built = pipeline.build_or_leave(asked, self.out, sink, steps.append, **more)
        assert (built, sink.diagnostics) == (self.image, ())
        return steps

    definitions: tuple[tuple[str, str], ...] = ()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    assert "generating" in made.steps()
    assert made.steps() == ["reading"]
    return made


def edited(name: str, old: str, new: str) -> Callable[[Place], None]:
    def edit(place: Place) -> None:
        file = place.root / name
        status = file.stat()
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))  # as a tool that keeps times

    return edit


def written(name: str, text: str) -> Callable[[Place], None]:
    def write(place: Place) -> None:
        write_files(place.root, {name: text})

    return write


def removed(name: str) -> Callable[[Place], None]:
    return lambda place: (place.out / name).unlink()


def appended(name: str) -> Callable[[Place], None]:
    def append(place: Place) -> None:
        with (place.out / name).open("ab") as file:
            file.write(b"\n")

    return append


def damaged(name: str) -> Callable[[Place], None]:
    def damage(place: Place) -> None:
        (place.out / name).write_bytes((place.out / name).read_bytes()[:40])

    return damage


CHANGES = {
    "a source": edited("Client.c", "- OWN", "+ OWN"),
    "a header": edited("include/own.h", "0", "1"),
    "a header of types": edited("include/kind.h", "int", "long"),
    "a header that is found earlier": written("own.h", "#define OWN 2\n"),
    "a value": edited("a.camkes", "number = 1", "number = 2"),
    "the line of a component": edited("a.camkes", "component Server {", "\ncomponent Server {"),
    "an imported file": edited("types.camkes", "in int x", "in int y"),
    "a source that is found first": written("components/Server/src/first.c", FILES["Server.c"]),
    "no image": removed("host-image/d.so"),
    "no table": removed("host-image/system.table"),
    "another image": appended("host-image/c.so"),
    "generated code": appended("generated/s/glue.c"),
    "no record": removed("host-image/finished.json"),
    "a damaged record": damaged("host-image/finished.json"),
    "no list of inputs": removed("host-image/inputs.json"),
    "no list of inputs of what was read": removed("host-image/calls/inputs.json"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(place: Place, change: str) -> None:
    CHANGES[change](place)
    assert "generating" in place.steps()
    assert place.steps() == ["reading"]


def test_another_compiler_is_seen(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "cc -DMORE")
    assert "generating" in place.steps()


def test_other_options_are_seen(place: Place) -> None:
    assert "generating" in place.steps(sanitize=True)
    assert "generating" in place.steps()
    place.definitions = (("CMAKE_BUILD_TYPE", "Release"),)
    assert "generating" in place.steps()


def test_another_tool_is_seen(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    state = finished._state_of_tool()
    monkeypatch.setattr(finished, "_state_of_tool", lambda: [*state[:-1], "a changed template"])
    assert "generating" in place.steps()


def test_the_state_of_the_tool_has_its_code_and_templates() -> None:
    names = {Path(each[0]).name for each in finished._state_of_tool() if isinstance(each, tuple)}
    assert {"glue.template.c", "rpc-to.c", "host.py", "parse.py", "std_connector.camkes"} <= names


def test_another_kernel_is_seen(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("camkes.backends.host.finished.host_kit", lambda *_: None)
    assert "generating" in place.steps()


def test_a_build_that_did_not_come_to_its_end_goes_on(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: Linker) -> None:
        raise KeyboardInterrupt

    edited("Client.c", "- OWN", "+ OWN")(place)
    monkeypatch.setattr(Linker, "make_copies", interrupt)
    with pytest.raises(KeyboardInterrupt):
        place.steps()
    monkeypatch.undo()
    assert "generating" in place.steps()


def test_a_run_changes_nothing(place: Place) -> None:
    done = camkes("run", place.root / "a.camkes", "-o", place.out, "--for", "1ms")
    assert done.status == 0, done
    assert place.steps() == ["reading"]


def test_a_change_during_a_build_is_seen(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    build = pipeline.build_with

    def build_and_change(*words: Any) -> Any:
        image = build(*words)
        written("components/Server/src/first.c", FILES["Server.c"].replace("return x", "return x + 1"))(place)
        return image

    edited("Client.c", "- OWN", "+ OWN")(place)
    monkeypatch.setattr(pipeline, "build_with", build_and_change)
    place.steps()
    monkeypatch.undo()
    assert "generating" in place.steps()


def test_what_is_reported_of_a_system_is_reported_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A system is read each time; its notes alone need no build."""
    load = pipeline.load_input

    def load_with_a_note(application: Application, asked: pipeline.Input, sink: Sink) -> System | None:
        sink.report(SUBSTITUTE, "on the host kernel, `clock` is virtual time")
        return load(application, asked, sink)

    monkeypatch.setattr(pipeline, "load_input", load_with_a_note)
    (place.image / "finished.json").unlink()
    for expected in (True, False):
        sink, steps = Sink(), list[str]()
        pipeline.build_or_leave(pipeline.Input(place.root / "a.camkes"), place.out, sink, steps.append)
        assert [each.code for each in sink.diagnostics] == [SUBSTITUTE]
        assert ("generating" in steps) == expected


def test_a_comment_changes_nothing(place: Place) -> None:
    with (place.root / "a.camkes").open("a") as file:
        file.write("/* the end */\n")
    assert place.steps() == ["reading"]


def test_warnings_are_repeated(place: Place) -> None:
    edited("Client.c", "{ return", "{ int unused; return")(place)
    for _ in range(3):
        sink = Sink()
        pipeline.build_or_leave(pipeline.Input(place.root / "a.camkes"), place.out, sink, lambda _: None)
        assert [each.code.number for each in sink.diagnostics] == ["W0728"]


def test_after_an_error_nothing_is_finished(place: Place) -> None:
    good = (place.root / "Client.c").read_text()
    (place.root / "Client.c").write_text("int run(void) { return nothing; }\n")
    sink = Sink()
    for _ in range(2):
        asked = pipeline.Input(place.root / "a.camkes")
        assert pipeline.build_or_leave(asked, place.out, sink, lambda _: None) is None
    assert sink.has_errors
    (place.root / "Client.c").write_text(good)
    assert "generating" in place.steps()


@pytest.mark.usefixtures("ready_runtime")
def test_the_first_build_says_that_it_compiles_the_kernel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So does the first of several tests, which are built by processes of their own."""
    line = "compiling the host kernel, once for this compiler\n"
    write_files(tmp_path / "app", FILES)
    camkes("new", "pump", cwd=tmp_path)
    for number, words in enumerate((["build", "app/a.camkes"], ["test", "pump"])):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / f"cache{number}"))
        first, second = (camkes(*words, cwd=tmp_path) for _ in range(2))
        assert (first.status, second.status) == (0, 0), first
        assert (first.errors, second.errors) == (line, "")
