# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""An answer is given again only while nothing that it depends on has changed: it is always the answer that a
run without memory gives."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from camkes import remember

ROOT = Path(__file__).resolve().parents[2]

LISTS = """
project(thing C)
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/extra.cmake)
    include(extra.cmake)
endif()
file(GLOB sources clients/*.c)
DeclareCAmkESComponent(Client SOURCES ${sources} main.c)
CAmkESAddImportPath(first second)
CAmkESAddCPPInclude(early late)
DeclareCAmkESRootserver(thing.camkes)
"""
TEXT = """import <std_connector.camkes>;
import "part.camkes";
import <Service.camkes>;
#include "size.h"
component Client { control; uses Work work; attribute int size = SIZE; }
assembly { composition {
    component Client client;
    component Service service;
    connection seL4RPCCall c(from client.work, to service.work);
} configuration { client.size = SIZE; } }
"""
SERVICE = 'component Service { provides Work work; attribute string name = "second"; }\n'
PART = "procedure Work { void work(in int x); };\n"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    output: str
    errors: str
    worked_out: bool  # not from memory


def age(*paths: Path) -> None:
    """As if they were made a while ago: what is fresh is not remembered. Other files stay as they are."""
    for path in paths:
        os.utime(path, (1_000_000_000, 1_000_000_000), follow_symlinks=False)


class World:
    """An application, the folders that its imports and includes are looked for in, and a memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.app = folder / "app"
        for name in ("first", "second", "early", "late", "clients"):
            (self.app / name).mkdir(parents=True)
        texts = {"CMakeLists.txt": LISTS, "thing.camkes": TEXT, "part.camkes": PART, "main.c": ""}
        texts |= {"second/Service.camkes": SERVICE, "late/size.h": "#define SIZE 4\n", "clients/a.c": ""}
        for name, text in texts.items():
            self.write(name, text)
        age(folder, *folder.rglob("*"))

    def write(self, name: str, text: str) -> None:
        path = self.app / name
        new = not path.exists()
        path.write_text(text)
        age(path, *([path.parent] if new else []))

    def remove(self, name: str) -> None:
        (self.app / name).unlink()
        age((self.app / name).parent)

    def ask(
        self,
        *words: str,
        memory: bool = True,
        cwd: str = "",
        python: str = "",
        output: int = subprocess.PIPE,
        **environment: str,
    ) -> Answer:
        command = [sys.executable, "-X", "importtime", "-m", "camkes", *(words or ("check", "../app"))]
        settings = {"XDG_CACHE_HOME": str(self.folder / "cache"), "PYTHONPATH": python or str(ROOT)}
        settings |= {"CAMKES_REMEMBER": "1" if memory else "0", **environment}
        done = subprocess.run(
            command,
            cwd=self.app / cwd,
            env=os.environ | settings,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        lines = done.stderr.splitlines(keepends=True)
        imports = [line for line in lines if line.startswith("import time:")]
        worked_out = any("camkes.pipeline" in line for line in imports)
        errors = "".join(line for line in lines if not line.startswith("import time:"))
        return Answer(done.returncode, done.stdout or "", errors, worked_out)

    def assert_remembered(self) -> Answer:
        """Ask twice; the second answer is the first from memory."""
        first, again = self.ask(), self.ask()
        assert not again.worked_out
        assert (again.status, again.output, again.errors) == (first.status, first.output, first.errors)
        return again


@pytest.fixture(scope="module", autouse=True)
def _the_tool_is_not_fresh(tmp_path_factory: pytest.TempPathFactory) -> None:
    """After a change the first runs of the tool write what is kept with it; until that is old they do not
    remember."""
    world = World(tmp_path_factory.mktemp("first"))
    for _ in range(20):
        world.ask()
        if not world.ask().worked_out:
            break
        time.sleep(0.5)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


CHANGES: dict[str, Callable[[World], object]] = {
    "the system": lambda w: w.write("thing.camkes", TEXT.replace("client.size", "client.sise")),
    "the same length": lambda w: w.write("thing.camkes", TEXT.replace("client.work,", "client.wrok,")),
    "a part": lambda w: w.write("part.camkes", "// nothing\n"),
    "an included file": lambda w: w.write("late/size.h", "#define SIZE nothing\n"),
    "an earlier included file": lambda w: w.write("early/size.h", "#define SIZE nothing\n"),
    "an import": lambda w: w.write("second/Service.camkes", "component Service { }\n"),
    "an earlier import": lambda w: w.write("first/Service.camkes", "component Service { }\n"),
    "no import": lambda w: w.remove("second/Service.camkes"),
    "a folder for a file": lambda w: (w.remove("part.camkes"), (w.app / "part.camkes").mkdir()),
    "a link": lambda w: (
        (w.app / "part.camkes").rename(w.app / "whole.camkes"),
        (w.app / "part.camkes").symlink_to("size.h"),
    ),
    "the lists": lambda w: w.write("CMakeLists.txt", LISTS.replace("second", "")),
    "included lists": lambda w: w.write("extra.cmake", "CAmkESAddCPPInclude(nowhere)\nif(\n"),
    "no source": lambda w: w.remove("main.c"),
    "no lists": lambda w: w.remove("CMakeLists.txt"),
    "what nobody asks for": lambda w: w.write("clients/b.camkes", TEXT),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_seen(world: World, change: str) -> None:
    before = world.assert_remembered()
    assert before.output == "../app: good: 2 instances, 1 connection, 0 tasks, 0 protocol CPIs\n"
    CHANGES[change](world)
    after = world.ask()
    assert after == world.ask(memory=False)
    if change != "what nobody asks for":
        assert (after.status, after.output, after.errors) != (before.status, before.output, before.errors)


def test_mistakes_are_remembered_as_they_were_told(world: World) -> None:
    CHANGES["the same length"](world)
    told = world.assert_remembered()
    assert told.status == 1 and "client.wrok" in told.errors and told.output == ""
    world.write("thing.camkes", TEXT)
    assert world.ask().status == 0


def test_what_a_folder_lists_is_asked_again(world: World) -> None:
    (world.app / "alone").mkdir()
    world.write("alone/one.camkes", "component A { control; }\nassembly { composition { component A a; } }\n")
    age(world.app, world.app / "alone")
    for _ in range(2):
        one = world.ask("check", "alone")
    assert one.status == 0 and not one.worked_out
    world.write("alone/two.camkes", (world.app / "alone/one.camkes").read_text())
    two = world.ask("check", "alone")
    assert two.status == 1 and two == world.ask("check", "alone", memory=False)


def test_the_same_words_elsewhere_are_another_question(world: World) -> None:
    world.assert_remembered()
    (world.app / "sub").mkdir()
    elsewhere = world.ask(cwd="sub")
    assert elsewhere.worked_out and elsewhere.status == 1


def test_options_and_the_environment_are_part_of_the_question(world: World) -> None:
    world.write(
        "CMakeLists.txt", LISTS + "if(DEFINED ENV{SMALL} OR SMALL)\n  message(FATAL_ERROR small)\nendif()\n"
    )
    assert world.assert_remembered().status == 0
    assert world.ask(SMALL="1") == world.ask(SMALL="1", memory=False)
    assert world.ask("check", "-DSMALL=1", "../app").worked_out
    assert not world.ask().worked_out


def test_the_tool_is_part_of_the_question(world: World, tmp_path: Path) -> None:
    copy = tmp_path / "tool"
    for name in ("camkes", "parser"):
        shutil.copytree(ROOT / name, copy / name, symlinks=True)
    age(*copy.rglob("*"))

    def ask() -> Answer:
        return world.ask(python=str(copy), PYTHONDONTWRITEBYTECODE="")  # bytecode hides the source

    ask()  # writes bytecode, and what is kept with the tool
    age(*copy.rglob("*"))
    assert ask().worked_out
    assert not ask().worked_out
    cli = copy / "camkes" / "cli.py"
    cli.write_text(cli.read_text().replace(": good: ", ": fine: "))
    assert ": fine: " in ask().output


def test_all_commands_that_only_read_remember(world: World) -> None:
    for command in sorted(remember.COMMANDS):
        first = world.ask(command, ".")
        again = world.ask(command, ".")
        assert first.worked_out and not again.worked_out
        assert (again.status, again.output, again.errors) == (first.status, first.output, first.errors)


def test_a_command_that_does_something_does_it_each_time(world: World, tmp_path: Path) -> None:
    rules = tmp_path / "rules.d"
    for _ in range(2):
        assert world.ask("check", "../app", "-MD", str(rules)).worked_out
        assert "part.camkes" in rules.read_text()
        rules.unlink()
    program = tmp_path / "mycpp"
    program.write_text(f'#!/bin/sh\necho x >> {tmp_path}/started\nexec cpp "$@"\n')
    program.chmod(0o755)
    age(program)
    for count in (1, 2):
        assert world.ask("check", "../app", "--cpp-bin", str(program)).status == 0
        assert (tmp_path / "started").read_text().count("x") == count


@pytest.mark.parametrize(
    "text",
    [
        '#if __has_include("other.h")\n#endif\n',
        "#include <stdbool.h>\n",  # where else is it looked for?
        '#define FILE "size.h"\n#include FILE\n',
        "#if 0\n__TIME__\n#endif\n",
        "#define TWICE(x) x x\nTWICE(/* */) TWICE(/* */)\n",  # the preprocessor runs again, on copies
    ],
)
def test_what_the_preprocessor_may_have_looked_for_is_known_or_nothing_is_remembered(
    world: World, text: str
) -> None:
    world.write("thing.camkes", text + TEXT)
    assert world.ask().status == 0
    assert world.ask().worked_out


def test_what_is_fresh_is_not_remembered(world: World) -> None:
    header = world.app / "late/size.h"
    header.touch()
    assert world.ask().worked_out and world.ask().worked_out
    age(header)
    world.assert_remembered()


def test_a_memory_that_cannot_be_used_is_done_without(world: World) -> None:
    for place in ("/dev/null", "/proc", "/dev/full"):
        assert [world.ask(XDG_CACHE_HOME=place).status for _ in range(2)] == [0, 0]
    world.assert_remembered()
    kept = [path for path in (world.folder / "cache").rglob("answers/*") if path.is_file()]
    assert len(kept) == 1
    whole = kept[0].read_bytes()
    for damage in (b"", whole[:3], whole[:-1], whole[:50] + b"\xff" + whole[51:], b"\0" * len(whole)):
        kept[0].write_bytes(damage)
        answer = world.ask()
        assert answer.worked_out and answer.status == 0
        assert kept[0].read_bytes() == whole


def test_the_memory_does_not_grow_without_end(world: World) -> None:
    folder = world.folder / "cache/camkes-rt/answers"
    folder.mkdir(parents=True)
    for number in range(remember.MOST_KEPT):
        (folder / str(number)).touch()
        os.utime(folder / str(number), (number, number))
    world.assert_remembered()
    assert len(list(folder.iterdir())) == remember.MOST_KEPT // 2
    assert not (folder / "500").exists() and (folder / "501").exists()


@pytest.mark.parametrize("memory", [False, True])
def test_output_that_cannot_be_written(world: World, memory: bool) -> None:
    world.assert_remembered()
    for _ in range(2):
        with Path("/dev/full").open("w") as full:
            said = world.ask(memory=memory, output=full.fileno())
        assert (said.status, said.errors) == (
            1,
            "camkes: cannot write the output: No space left on device\n",
        )
        read, write = os.pipe()
        os.close(read)  # a reader that went away is no mistake
        said = world.ask(memory=memory, output=write)
        os.close(write)
        assert (said.status, said.errors) == (0, "")
    assert world.ask().output


STATES: dict[str, tuple[str | None, ...]] = {
    "thing.camkes": (TEXT, TEXT.replace("client.size", "client.sise"), TEXT.replace("SIZE;", "1;")),
    "part.camkes": (PART, "// nothing\n", None),
    "first/Service.camkes": (None, SERVICE.replace("second", "first"), "component Service { }\n"),
    "second/Service.camkes": (SERVICE, None),
    "early/size.h": (None, "#define SIZE 8\n"),
    "late/size.h": ("#define SIZE 4\n", "#define SIZE 5\n", "#define SIZE x\n", None),
    "main.c": ("", None),
    "extra.cmake": (None, "CAmkESAddImportPath(clients)\n"),
    "clients/Service.camkes": (None, SERVICE),
}
STEP = st.sampled_from([(name, state) for name, states in STATES.items() for state in states])


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@given(steps=st.lists(STEP, min_size=3, max_size=8))
@settings(max_examples=8)
def test_after_any_changes_memory_says_what_a_fresh_look_says(
    folder: Path, steps: list[tuple[str, str | None]]
) -> None:
    world = World(folder / f"{time.monotonic_ns()}")
    for name, state in steps:
        path = world.app / name
        if state is None:
            if path.exists():
                world.remove(name)
        elif not path.exists() or path.read_text() != state:
            world.write(name, state)
        fresh = world.ask(memory=False)
        for _ in range(2):
            said = world.ask()
            assert (said.status, said.output, said.errors) == (fresh.status, fresh.output, fresh.errors)
        assert not said.worked_out or "E0111" in said.errors  # the preprocessor failed
