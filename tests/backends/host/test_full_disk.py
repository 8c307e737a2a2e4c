# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Disks that are full, and folders that are removed while a command uses them."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.backends.host import folder as folder_module
from camkes.backends.host.folder import locked
from camkes.diagnostics import Sink
from camkes.files import OutputError
from camkes.generate.render import Renderer
from camkes.process import disk_error
from tests.command import camkes

pytestmark = pytest.mark.requirement("TOOL-6")

ROOT = Path(__file__).resolve().parents[3]
INVERSION = ROOT / "examples" / "inversion"
ADDER = ROOT / "examples" / "adder"

Disk = Callable[[str], Path]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """Makes a file system of a size, as `64k`."""
    mounted: list[Path] = []

    def make(size: str) -> Path:
        folder = tmp_path / f"disk{len(mounted)}"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)]
        if os.getuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode != 0:
            pytest.skip("file systems cannot be mounted here")
        mounted.append(folder)
        return folder

    yield make
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def given(*words: str | Path, **environment: str | Path) -> tuple[int, str, str]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, str(value))
        patch.setattr(tempfile, "tempdir", None)  # as in a process that has just begun
        done = camkes(*words)
    assert "Traceback" not in done.errors
    return done.status, done.output, done.errors


SIZES = ("16k", "64k", "200k", "400k", "500k", "600k", "700k", "800k")
#: one for each step; `make test-long` takes all sizes for both commands
SHORT = {("build", "16k"), ("build", "200k"), ("run", "800k")}


@pytest.mark.long
@pytest.mark.parametrize(
    ("command", "size"),
    [
        pytest.param(command, size, marks=[] if (command, size) in SHORT else [pytest.mark.long])
        for command in ("build", "run")
        for size in SIZES
    ],
)
def test_a_full_build_folder(disk: Disk, command: str, size: str) -> None:
    """Each size ends another step: generating, compiling, linking, copying what is run."""
    out = disk(size) / "out"
    status, said, errors = given(command, INVERSION, "-o", out)
    assert (status, said) == (1, "")
    assert f"{out}" in errors and os.strerror(errno.ENOSPC) in errors
    assert "E0723" not in errors and "E0722" not in errors
    subprocess.run(["mount", "-o", "remount,size=64m", str(out.parent)], check=True)
    assert given(command, INVERSION, "-o", out)[0] == 0


@pytest.mark.long
@pytest.mark.parametrize(
    "size", ["200k", *(pytest.param(size, marks=pytest.mark.long) for size in ("16k", "1m"))]
)
def test_a_full_cache_is_not_needed(
    disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: str
) -> None:
    cache = disk(size)
    monkeypatch.setenv("CFLAGS", "-O0")  # of the host kernel
    status, said, errors = given("run", ADDER, "-o", tmp_path / "out", XDG_CACHE_HOME=cache)
    assert (status, errors) == (0, "")
    assert said
    assert given("check", INVERSION, XDG_CACHE_HOME=cache)[0] == 0


@pytest.mark.long
@pytest.mark.usefixtures("ready_runtime")
def test_a_cache_that_cannot_be_made_is_not_needed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for command in (("check", ADDER), ("run", ADDER, "-o", tmp_path / "out")):
        status, _, errors = given(*command, XDG_CACHE_HOME=tmp_path / "file")
        assert (status, errors) == (0, "")


@pytest.mark.long
def test_a_full_folder_for_temporary_files(disk: Disk, tmp_path: Path) -> None:
    place = disk("4k")
    status, _, errors = given("check", INVERSION, TMPDIR=place)
    assert status == 1
    assert "E0110" in errors and f"free space in {place}" in errors
    words = ("run", ADDER, "-o", tmp_path / "out")
    status, _, errors = given(*words, TMPDIR=place, XDG_CACHE_HOME=tmp_path / "cache")
    assert status == 1
    assert f"{place}: {os.strerror(errno.ENOSPC)}" in errors


def test_the_diagnostic_of_a_full_disk(tmp_path: Path, disk: Disk) -> None:
    full = disk("4k")
    assert disk_error("ld returned 1 exit status", tmp_path) is None
    error = disk_error("ld returned 1 exit status", tmp_path, full)
    assert error is not None and (error.errno, error.filename) == (errno.ENOSPC, str(full))
    assert disk_error("a.c:1:1: error: expected", full, mistake=True) is None
    error = disk_error(f"as: {os.strerror(errno.EROFS)}", tmp_path, mistake=True)
    assert error is not None and (error.errno, error.filename) == (errno.EROFS, str(tmp_path))


def test_a_folder_that_is_removed_while_it_is_locked(tmp_path: Path) -> None:
    place = tmp_path / "out"
    with pytest.raises(FileNotFoundError, match="it was removed"), locked(place, lambda _: None):
        shutil.rmtree(place)
    with pytest.raises(FileNotFoundError, match="it was removed"), locked(place, lambda _: None):
        shutil.rmtree(place)
        raise OSError(errno.EIO, "what came of it")
    with pytest.raises(FileNotFoundError, match="it was removed"), locked(place, lambda _: None):
        shutil.rmtree(place)
        with locked(place, lambda _: None):  # the new one is another folder
            pass


def test_a_wait_for_a_folder_that_is_removed_gets_the_new_one(tmp_path: Path) -> None:
    place = tmp_path / "out"
    steps: list[str] = []

    def waiting(text: str) -> None:
        steps.append(text)
        shutil.rmtree(place)  # the first one's lock goes with it

    with pytest.raises(FileNotFoundError), locked(place, lambda _: None):
        with locked(place, waiting, wait=30):
            assert (place / folder_module.LOCK).is_file()
        assert len(steps) == 1


@pytest.mark.long
@pytest.mark.parametrize("what", ["out", "cache"])
def test_folders_that_are_removed_during_a_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, what: str
) -> None:
    """The compiler removes them when it compiles for the `times`-th time."""
    if what == "out":
        request.getfixturevalue("ready_runtime")
    monkeypatch.setenv("CFLAGS", "-O0")  # of the host kernel
    places = {"out": tmp_path / "out", "cache": tmp_path / "cache"}
    compiler = tmp_path / "cc"
    once = f"[ -e {tmp_path}/done ] || {{ rm -rf {places[what]}; touch {tmp_path}/done; }}"
    compiler.write_text(f'#!/bin/sh\ncase "$*" in *" -c "*) {once} ;; esac\nexec cc "$@"\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    monkeypatch.setenv("XDG_CACHE_HOME", str(places["cache"]))
    sink = Sink()
    application = pipeline.Input(INVERSION)
    if what == "cache":
        (tmp_path / "done").touch()
        assert pipeline.check_code(application, places["out"], sink, lambda _: None) is not None
        (tmp_path / "done").unlink()  # the next thing that is compiled is the host kernel
        assert pipeline.build(application, places["out"], sink, lambda _: None) is not None
        assert not sink.diagnostics
    else:
        with pytest.raises(OutputError, match="it was removed while it was in use"):
            pipeline.build(application, places["out"], sink, lambda _: None)
        assert not sink.diagnostics
    assert (tmp_path / "done").exists()
    assert pipeline.build(application, places["out"], sink, lambda _: None) is not None


def test_an_input_that_is_removed_during_a_build(tmp_path: Path) -> None:
    from camkes.backends.host.errors import unusable

    error = FileNotFoundError(errno.ENOENT, "it was removed during the build", "start.o")
    assert unusable(error, tmp_path).message == "start.o cannot be read: it was removed during the build"


def test_a_damaged_text_in_the_cache_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(Renderer, "_render", lambda *_: "text of a template")
    assert Renderer().render("t", None) == "text of a template"  # type: ignore[arg-type]
    (kept,) = (tmp_path / "camkes-rt" / "texts").iterdir()
    whole = kept.read_bytes()
    for damaged in (whole[:-4], b"", whole.replace(b"text", b"tent"), b"\xff" + whole):
        kept.write_bytes(damaged)
        assert Renderer().render("t", None) == "text of a template"  # type: ignore[arg-type]
        assert kept.read_bytes() == whole


@pytest.mark.long
@pytest.mark.parametrize("size", [1, 8, 40, 120, 300])
def test_a_limit_on_the_size_of_files(size: int, tmp_path: Path) -> None:
    """Compilers and linkers that are ended for it are not the user's mistake; then there is no limit."""
    command = [sys.executable, "-m", "camkes", "build", str(ADDER), "-o", str(tmp_path / "out")]
    given("build", ADDER, "-o", tmp_path / "before")  # CMake was asked, and the kernel is there
    limited = ["sh", "-c", f'ulimit -f {size}; exec "$@"', "sh", *command]
    # Python would cut its own files, too
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(limited, capture_output=True, text=True, check=False, env=environment)
    assert "Traceback" not in done.stderr
    if done.returncode != 0:
        assert (done.returncode, done.stderr.count("error[E0732]")) == (1, 1), done.stderr
        assert f"the limit of the size of a file is {size / 2:g} KiB" in done.stderr
    assert given("build", ADDER, "-o", tmp_path / "out")[0] == 0


@pytest.mark.long
@pytest.mark.requirement("TOOL-35")
@pytest.mark.parametrize("size", ["16k", "128k"])
def test_a_full_disk_gets_no_half_of_a_kit(disk: Disk, size: str) -> None:
    """It ends in the first part, or in a later one."""
    kit = disk(size) / "kit"
    status, _, errors = given("evidence", INVERSION, "-o", kit, "--for", "10ms", "--limit", "5s")
    assert status == 1 and os.strerror(errno.ENOSPC) in errors
    assert list(kit.parent.iterdir()) == []
