# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Several commands in one output folder, and the cache that they share."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.backends.host import folder as folder_module
from camkes.backends.host.folder import LOCK, copied, locked, publish
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import Style, render
from tests.backends.host.conftest import Build
from tests.backends.host.test_host import FILES
from tests.command import camkes
from tests.golden import compare

pytestmark = pytest.mark.requirement("TOOL-20")

ROOT = Path(__file__).resolve().parents[3]


def run(*words: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "camkes", *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.long
def test_runs_at_once_in_one_folder_each_give_their_own_results(tmp_path: Path) -> None:
    """From nothing: one of them builds, the others wait for it; then all run at the same time."""
    seeds = range(4)
    example = str(ROOT / "examples" / "inversion")

    def words(seed: int, out: str, *more: str) -> tuple[str, ...]:
        choices = ("--choices", f"random:{seed}", "--for", f"{40 + 20 * (seed % 4)}ms", "--verify", "--json")
        return ("run", example, "-o", out, *choices, "-q", *more)

    def sweep(out: str) -> list[str]:
        started = [run(*words(n, out, "--trace", f"{out}-{n}.trace"), cwd=tmp_path) for n in seeds]
        said = [process.communicate() for process in started]
        assert [(p.returncode, err) for p, (_, err) in zip(started, said, strict=True)] == [(0, "")] * len(
            seeds
        )
        return [out for out, _ in said]

    together = sweep("one")
    alone = []
    for seed in seeds:
        alone.append(camkes(*words(seed, "two", "--trace", f"two-{seed}.trace"), cwd=tmp_path).output)
    assert together == alone
    assert len(set(alone)) > 1
    traces = {(tmp_path / f"one-{n}.trace").read_bytes() for n in seeds}
    assert traces == {(tmp_path / f"two-{n}.trace").read_bytes() for n in seeds}
    last = tmp_path / "one" / "host-image" / "run.trace"
    assert last.read_bytes() in traces
    assert json.loads(last.with_name("run.trace.names.json").read_text())
    assert not list((tmp_path / "one").glob(f"{folder_module._COPY}*"))


def test_builds_in_one_folder_wait_for_each_other(tmp_path: Path) -> None:
    waiting = threading.Event()
    order: list[str] = []

    def second() -> None:
        with locked(tmp_path, lambda _: waiting.set()):
            order.append("second")

    thread = threading.Thread(target=second)
    with locked(tmp_path, lambda _: None):
        thread.start()
        assert waiting.wait(60)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


@pytest.mark.parametrize("command", ["build", "run", "plan --code"])
def test_a_folder_that_stays_in_use_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(folder_module, "WAIT", 0.0)
    request = pipeline.Input(ROOT / "examples" / "nested")
    sink = Sink()
    with locked(tmp_path, lambda _: None):
        if command == "build":
            assert pipeline.build(request, tmp_path, sink, lambda _: None) is None
        elif command == "run":
            options = pipeline.RunSettings(output=tmp_path)
            assert pipeline.run(request, options, sink, lambda _: None) is None
        else:
            assert pipeline.check_code(request, tmp_path, sink, lambda _: None) is None
    assert [d.code.number for d in sink.diagnostics] == ["E0726"]
    text = render(sink.diagnostics, Style(base=tmp_path)).replace(str(tmp_path), "FOLDER")
    compare(text, Path(__file__).parent / "golden" / "folder_in_use.txt")


def test_a_child_that_inherits_the_lock_of_the_folder_holds_it(tmp_path: Path) -> None:
    """Compilers of a build that was killed must not write into the next one."""
    text = (
        "import os, subprocess, sys, pathlib\nfrom camkes.backends.host.folder import locked\n"
        "with locked(pathlib.Path(sys.argv[1]), print) as lock:\n"
        "    child = subprocess.Popen(['cat'], stdin=0, stdout=subprocess.DEVNULL, pass_fds=(lock,))\n"
        "    print('held', flush=True)\n    os._exit(9)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", text, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    assert process.stdout.readline() == "held\n"
    assert process.wait() == 9
    with pytest.raises(folder_module.FolderInUseError), locked(tmp_path, lambda _: None, wait=0):
        pass
    process.stdin.close()  # ends the compiler
    with locked(tmp_path, lambda _: None):
        pass


def test_a_copy_keeps_the_files_it_was_made_from(tmp_path: Path) -> None:
    image = tmp_path / "a.so"
    image.write_text("old")
    left = tmp_path / f"{folder_module._COPY}left0000"
    left.mkdir()
    with copied([image], tmp_path) as copy, copied([image], tmp_path) as other:
        assert copy != other and copy.is_dir() and not left.exists()
        new = tmp_path / "new"
        new.write_text("new")
        new.replace(image)
        assert (copy / "a.so").read_text() == "old"
        publish([copy / "a.so"], tmp_path)
    assert image.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.so"]


def _truncate(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])


def _flip(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(bytes([data[0] ^ 1, *data[1:]]))


DAMAGE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "truncate": ("camkes-host", _truncate),
    "flip": ("runtime/start.o", _flip),
    "remove": ("kernel-names.s", Path.unlink),
    "empty list": ("checksums.json", lambda file: file.write_text("{}")),
    "not executable": ("camkes-host", lambda file: file.chmod(0o644)),
}


@pytest.mark.long
@pytest.mark.usefixtures("ready_runtime")
def test_a_damaged_cache_is_built_again(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    build(FILES)
    (entry,) = (tmp_path / "cache" / "camkes-rt").glob("host-*")
    for damage, (file, harm) in DAMAGE.items():
        data = (entry / file).read_bytes()
        harm(entry / file)
        again = build({})
        assert "the host kernel" in again.steps, damage
        text, result = again.run()
        assert (text, result.status) == ("c: 42\n", 0), damage
        assert (entry / file).read_bytes()[:4] == data[:4], damage
        assert [p.name for p in entry.parent.iterdir() if p.name.startswith("host")] == [entry.name]
    assert "the host kernel" not in build({}).steps


def test_the_lock_is_in_the_folder(tmp_path: Path) -> None:
    with locked(tmp_path / "new", lambda _: None):
        assert (tmp_path / "new" / LOCK).is_file()
