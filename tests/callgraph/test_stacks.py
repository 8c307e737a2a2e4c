# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes size --stacks`: what threads use of their stacks is seen in a run, and bounded from their code."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from camkes.callgraph.gcc import read_frames
from tests.command import camkes
from tests.documents import conforming

pytestmark = pytest.mark.requirement("PLAN-14")

SYSTEM = """\
import <std_connector.camkes>;
procedure P { int f(in int value); int g(in int value); }
component Task { control; requestor; uses P p; emits E e; }
component Server {
    provides P p with priority_protocol inherited;
    consumes E e;
}
component Other { provides P p; }
assembly {
    composition {
        component Task deep;
        component Task flat;
        component Server server;
        component Other other;
        connection seL4RPCCall c(from deep.p, to server.p);
        connection seL4RPCCall d(from flat.p, to other.p);
        connection seL4Notification e(from deep.e, to server.e);
    }
    configuration {
        deep._priority = 10;
        flat._priority = 20;
        deep._stack_size = 65536;
    }
}
"""
TASK = """\
#include <camkes.h>
#include <string.h>
static __attribute__((noinline)) int deep(int value)
{
    volatile char room[20000];
    room[0] = (char)value;
    room[19999] = (char)value;
    return room[0] + p_f(value);
}
int run(void)
{
    e_emit();
    return strcmp(get_instance_name(), "deep") == 0 ? deep(1) : p_f(1);
}
"""
SERVER = """\
#include <camkes.h>
static __attribute__((noinline)) int five_thousand(int value)
{
    volatile char room[5000];
    room[0] = (char)value;
    return room[0];
}
static __attribute__((noinline)) int again(int value)
{
    volatile char room[100];
    room[0] = (char)value;
    return value > 0 ? again(value - 1) + room[0] : 0;
}
static int (*const TABLE[])(int) = {five_thousand};
int p_f(int value)
{
    return TABLE[value & 0](value);
}
int p_g(int value)
{
    volatile char room[value];
    room[0] = (char)value;
    return again(value) + room[0];
}
static void called(void *cookie)
{
    volatile char room[3000];
    room[0] = 0;
    e_reg_callback(called, cookie);
}
void e__init(void)
{
    e_reg_callback(called, NULL);
}
"""
OTHER = """\
#include <camkes.h>
int (*set_elsewhere)(int);
int p_f(int value)
{
    return set_elsewhere ? set_elsewhere(value) : value;
}
int p_g(int value)
{
    return value;
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stacks")
    (folder / "s.camkes").write_text(SYSTEM)
    for name, text in (("Task", TASK), ("Server", SERVER), ("Other", OTHER)):
        (folder / f"{name}.c").write_text(text)
    return folder


@pytest.fixture(scope="module")
def threads(folder: Path) -> dict[str, dict[str, Any]]:
    result = camkes(
        *("size", folder / "s.camkes", "--stacks", "--for", "1s", "-o", folder / "out", "--json"),
        *("--svg", folder / "s.svg"),
    )
    assert result.status == 0, result.errors
    found = conforming("size", result.output)
    assert found["run"] == 10**9
    return {thread["name"]: thread for each in found["components"] for thread in each["threads"]}


def test_what_a_run_used_is_seen(threads: dict[str, dict[str, Any]]) -> None:
    assert 20000 < threads["deep"]["use"]["seen"] < 24000
    assert threads["flat"]["use"]["seen"] < 2500
    assert 5000 < threads["server.p@deep"]["use"]["seen"] < 8000  # through a pointer
    assert 3000 < threads["server.e"]["use"]["seen"] < 6000  # in a callback


def test_bounds_follow_calls_pointers_and_callbacks(threads: dict[str, dict[str, Any]]) -> None:
    bounds = {name: thread["use"]["bound"] for name, thread in threads.items()}
    assert 20000 < bounds["deep"] < 24000
    assert bounds["flat"] > 20000  # the code is the same, which way it takes is not known
    assert 5000 < bounds["server.p@deep"] < 8000
    assert 3000 < bounds["server.e"] < 6000
    # what the host kernel itself needs of a stack is seen, too, and is not in the bound
    assert all(thread["use"]["seen"] <= bounds[name] + 1024 for name, thread in threads.items())
    assert "deep" in threads["deep"]["use"]["path"] and "called" in threads["server.e"]["use"]["path"]


def test_a_bound_is_the_sum_of_the_frames(threads: dict[str, dict[str, Any]], folder: Path) -> None:
    """Each once; but a callback that registers itself again calls the runtime's function once more."""
    stacks = folder / "out" / "host-image" / "stacks"
    files = [file for file in stacks.glob("*.ci") if not file.name.endswith(("Task.c.ci", "Other.c.ci"))]
    files.sort(key=lambda file: "glue" in file.name)  # of functions of one name, that of the server's glue
    frames = {name.text: frame.bytes for file in files for name, frame in read_frames(file).items()}
    for thread, again in (("server", ()), ("server.e", ("camkes_event_register", "deliver"))):
        use = threads[thread]["use"]
        whole = sum(frames.get(name, 0) for name in ("_camkes_thread", *use["path"], *again))
        assert use["bound"] - whole in (0, 128), thread  # what the last may use below its stack pointer


def test_what_bounds_leave_out_is_named(threads: dict[str, dict[str, Any]]) -> None:
    left_out = {name: " ".join(thread["use"]["left_out"]) for name, thread in threads.items()}
    assert "again: recursion, counted once" in left_out["server.p@deep"]
    assert "p_g: an array of variable length" in left_out["server.p@deep"]
    assert "p_f: a call through a pointer" in left_out["other.p"]
    for name in ("deep", "server.p@deep", "server.e"):
        assert "pointer" not in left_out[name]
    assert "recursion" not in left_out["server.e"]  # the runtime does not let callbacks nest
    assert "recursion" not in left_out["deep"] and "variable length" not in left_out["deep"]
    assert "strcmp: code that is not compiled here" in left_out["deep"]


def test_the_picture_shows_what_was_used(threads: dict[str, dict[str, Any]], folder: Path) -> None:
    root = ElementTree.fromstring((folder / "s.svg").read_text())
    name = "{http://www.w3.org/2000/svg}"
    boxes = {
        str(group.get("aria-label")): [float(each.get("height", "")) for each in group.iter(f"{name}rect")]
        for group in root.iter(f"{name}g")
        if "stacks" in str(group.get("aria-label"))
    }
    (label,) = (each for each in boxes if each.startswith("deep, stacks"))
    whole, used = boxes[label]
    assert used / whole == pytest.approx(threads["deep"]["use"]["seen"] / 65536, rel=0.02)
    assert label.endswith(" KiB used")


def test_the_table_has_a_line_for_each_thread(folder: Path) -> None:
    result = camkes("size", folder / "s.camkes", "--stacks", "-o", folder / "out")
    lines = result.output.partition("stacks  ")[2].partition("bounds leave out:")[0].splitlines()
    assert any(line.split()[:3] == ["deep", "64", "KiB"] for line in lines), result.output
    assert "  again: recursion, counted once (server.p@deep)\n" in result.output


def test_a_stack_that_is_too_small_is_reported(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "small", ignore=shutil.ignore_patterns("out"))
    text = SYSTEM.replace("deep._stack_size = 65536;", "deep._stack_size = 4096;")
    (tmp_path / "small" / "s.camkes").write_text(text)
    result = camkes("size", tmp_path / "small" / "s.camkes", "--stacks", "--json")
    deep = next(
        thread
        for each in conforming("size", result.output)["components"]
        for thread in each["threads"]
        if thread["name"] == "deep"
    )
    assert deep["stack"] == 4096 < deep["use"]["seen"]  # the host kernel allows for more


@pytest.mark.long
@pytest.mark.skipif("CAMKES_SDK" not in os.environ, reason="CAMKES_SDK names no SDK")
def test_bounds_of_code_for_sel4(folder: Path) -> None:
    sdk = os.environ["CAMKES_SDK"]
    (first, *_) = json.loads(camkes("sdk", "--json", "--list", sdk).output)["configurations"]
    definitions = [f"-D{name}={value}" for name, value in first["definitions"].items()]
    words = ["--kernel", "sel4", "--sdk", sdk, *definitions, "-o", str(folder / "sel4")]
    table = camkes("size", "examples/inversion", "--stacks", *words).output
    manager = r"^shared\.store-manager .* at least \d[.\d]* (B|KiB)  camkes_manage_cpi "
    assert re.search(manager, table, re.MULTILINE), table
    result = camkes("size", folder / "s.camkes", "--stacks", "--json", *words)
    assert result.status == 0, result.errors
    found = {
        thread["name"]: thread["use"]
        for each in conforming("size", result.output)["components"]
        for thread in each["threads"]
    }
    assert all(use["seen"] is None for use in found.values())
    assert 20000 < found["deep"]["bound"] < 24000 and "deep" in str(found["deep"]["path"])
    assert 5000 < found["server.p@deep"]["bound"] < 8000
    assert 3000 < found["server.e"]["bound"] < 6000
    assert found["server"]["bound"] > 0 and found["deep-fault-handler"]["bound"] is None
    left_out = {name: " ".join(use["left_out"]) for name, use in found.items()}
    assert "recursion" in left_out["server.p@deep"] and "recursion" not in left_out["server.e"]
    assert "p_f: a call through a pointer" in left_out["other.p"] or "p__loop" in left_out["other.p"]
