# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Equal inputs make equal images, byte for byte: in other folders, of other users, at other times.

Images for seL4 need an SDK: CAMKES_SDK=FILE.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import camkes
from tests.written import write_files

SDK = os.environ.get("CAMKES_SDK", "")

#: two components in folders of their own, a header, an assertion, an attribute, a lock
FILES = {
    "pair.camkes": """
        import <std_connector.camkes>;
        procedure Put { int put(in int value); }
        component Store {
            provides Put put with priority_protocol inherited;
        }
        component Worker {
            control; requestor; uses Put store; attribute int step = 1;
        }
        assembly {
            composition {
                component Worker fast; component Worker slow; component Store store;
                connection seL4RPCCall puts(from fast.store, from slow.store, to store.put);
            }
            configuration {
                fast._priority = 20; fast._period = 5 ms; fast.step = 2;
                slow._priority = 10; slow._period = 20 ms; slow.step = 3;
            }
        }
    """,
    "code/worker.c": """
        #include <camkes.h>
        #include <assert.h>
        #include "limit.h"
        int run(void)
        {
            while (camkes_next_job()) {
                assert(store_put(step) < LIMIT);
            }
            return 0;
        }
    """,
    "code/store.c": """
        #include <camkes.h>
        static int total;
        int put_put(int value)
        {
            total += value;
            return total;
        }
    """,
    "include/limit.h": "#define LIMIT 1000000\n",
    "CMakeLists.txt": """
        cmake_minimum_required(VERSION 3.16)
        project(pair C)
        DeclareCAmkESComponent(Worker SOURCES code/worker.c INCLUDES include)
        DeclareCAmkESComponent(Store SOURCES code/store.c)
        DeclareCAmkESRootserver(pair.camkes)
        GenerateCAmkESRootserver()
    """,
}


def images(folder: Path, *words: str) -> dict[str, bytes]:
    """What is booted of a build in a folder."""
    assert camkes("build", "-q", *words, cwd=folder).status == 0
    made = [path for path in (folder / "out").rglob("*") if path.suffix in (".so", ".table")]
    made += (folder / "out" / "images").glob("*") if "sel4" in words else ()
    return {path.name: path.read_bytes() for path in made}


def places(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders with the application, with other times and modes."""
    first, second = tmp_path / "a", tmp_path / "another place" / "with more" / "folders"
    write_files(first / "pair", FILES)
    second.mkdir(parents=True)
    shutil.copytree(first / "pair", second / "application")
    for path in second.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
        path.chmod(0o700)
    return first, second


def other_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("LC_ALL", "C"), ("LANG", "tr_TR.UTF-8"), ("TZ", "Asia/Tokyo"), ("USER", "eve")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.requirement("HOST-28")
@pytest.mark.usefixtures("umask")
@pytest.mark.parametrize("cache", [False, pytest.param(True, marks=pytest.mark.long)])
def test_images_for_the_host_kernel(cache: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the host kernel and the runtime of the cache, and where they are compiled again."""
    first, second = places(tmp_path)
    one = images(first, "pair", "-o", "out")
    assert {"fast.so", "slow.so", "store.so", "system.table"} <= set(one)
    other_user(tmp_path, monkeypatch)
    os.umask(0o077)
    if cache:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert images(second, "application/pair.camkes", "-o", "out") == one
    for data in one.values():
        assert str(tmp_path).encode() not in data
    assert b"/application/code/worker.c" in one["fast.so"]


@pytest.mark.requirement("HOST-28")
def test_an_assertion_names_its_line_on_this_machine(tmp_path: Path) -> None:
    """Whatever the image calls the folder."""
    files = {**FILES, "include/limit.h": "#define LIMIT 1\n"}
    write_files(tmp_path / "pair", files)
    done = camkes("run", "pair", "-o", "out", "--for", "20ms", cwd=tmp_path)
    assert done.status == 1
    assert "pair/code/worker.c:8" in done.errors and "/application" not in done.errors


@pytest.mark.requirement("HOST-28")
@pytest.mark.parametrize(
    "options", [(), pytest.param(("--kernel", "sel4"), marks=pytest.mark.skipif(not SDK, reason="no SDK"))]
)
def test_a_linker_names_lines_on_this_machine(options: tuple[str, ...], tmp_path: Path) -> None:
    wrong = FILES["code/worker.c"].replace("store_put(step)", "store_put(other_step())")
    wrong = wrong.replace("int run", "extern int other_step(void);\n        int run")
    write_files(tmp_path / "pair", {**FILES, "code/worker.c": wrong})
    done = camkes("build", "pair", "-o", "out", *options, cwd=tmp_path)
    assert done.status == 1 and "uses `other_step`, which is not defined" in done.errors
    assert "pair/code/worker.c:9" in done.errors and "/application" not in done.errors


@pytest.mark.requirement("SEL4-23")
@pytest.mark.skipif(not SDK, reason="CAMKES_SDK names no SDK")
@pytest.mark.usefixtures("umask")
def test_images_for_sel4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--kernel", "sel4", "--sdk", str(Path(SDK).absolute()), "-o", "out")
    first, second = places(tmp_path)
    one = images(first, "pair", *words)
    assert len(one) == 2 and all(one.values())
    other_user(tmp_path, monkeypatch)
    os.umask(0o077)
    assert images(second, "application/pair.camkes", *words) == one
    assert all(str(tmp_path).encode() not in data for data in one.values())


@pytest.mark.requirement("SEL4-23")
@pytest.mark.skipif(not SDK, reason="CAMKES_SDK names no SDK")
@pytest.mark.skipif(shutil.which("qemu-system-x86_64") is None, reason="QEMU is not installed")
def test_a_recorded_run_with_an_sdk_is_judged(tmp_path: Path) -> None:
    write_files(tmp_path / "pair", FILES)
    words = ("--kernel", "sel4", "--sdk", str(Path(SDK).absolute()), "-o", "out", "--for", "100ms")
    done = camkes("run", "pair", *words, "--verify", cwd=tmp_path)
    assert done.status == 0, done.errors
    assert "hold at every event" in done.output
