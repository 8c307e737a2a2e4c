# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from camkes.files import OutputError, temporary_folder, write_all, write_changed, write_output, write_whole

pytestmark = pytest.mark.requirement("TOOL-24")


def full(*names: str) -> Callable[..., Any]:
    """`Path.open` on a disk that is full for files whose names begin with one of these."""
    opened = Path.open

    def open_(path: Path, *arguments: Any, **settings: Any) -> Any:
        if path.name.startswith(names):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return opened(path, *arguments, **settings)

    return open_


def test_a_file_that_does_not_fit_is_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    monkeypatch.setattr(Path, "open", full(".a."))
    with pytest.raises(OutputError, match=f"cannot write {file}: No space left"):
        write_output(file, b"new")
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"a": b"old"}


def test_of_several_files_none_changes_if_one_cannot(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "b").mkdir()
    with pytest.raises(OSError, match="Is a directory") as raised:
        write_all([(tmp_path / "a", b"new"), (tmp_path / "b", b"new")])
    assert raised.value.filename == str(tmp_path / "b")
    assert (tmp_path / "a").read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]


def test_links_and_permissions_are_kept(tmp_path: Path) -> None:
    real, link = tmp_path / "sub" / "real", tmp_path / "link"
    real.parent.mkdir()
    real.write_text("old")
    real.chmod(0o750)
    link.symlink_to(real)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o750


def test_a_new_file_has_the_usual_permissions_and_its_folders(tmp_path: Path) -> None:
    write_whole(tmp_path / "one" / "two" / "file", b"new")
    (tmp_path / "usual").write_bytes(b"")
    modes = {path.stat().st_mode for path in (tmp_path / "usual", tmp_path / "one" / "two" / "file")}
    assert len(modes) == 1


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_whole(pipe, b"new")
    reader.join()
    assert read == [b"new"]
    assert pipe.is_fifo()


def test_a_reader_keeps_the_file_that_it_opened(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    with file.open() as opened:
        write_whole(file, b"new")
        assert opened.read() == "old"
    assert file.read_text() == "new"


def test_an_unchanged_file_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "a"
    assert write_changed(file, "text")
    os.utime(file, ns=(1, 1))
    assert not write_changed(file, b"text")
    assert file.stat().st_mtime_ns == 1
    assert write_changed(file, "other")
    assert file.read_text() == "other"


HOLDS = """
import sys
from pathlib import Path
from camkes.files import temporary_folder
with temporary_folder(".x-", Path(sys.argv[1])) as folder:
    (folder / "file").touch()
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_the_temporary_folder_of_a_killed_process_is_removed_by_the_next(tmp_path: Path) -> None:
    """That of one which runs is not, nor what is named otherwise."""
    others = [tmp_path / ".x-kept", tmp_path / ".x-kept0000.c", tmp_path / ".y-kept0000"]
    for other in others:
        other.mkdir()
    victim = tmp_path / "victim"
    victim.mkdir()
    (tmp_path / ".x-link0000").symlink_to(victim)
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", HOLDS, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    killed, running = (Path(p.stdout.readline().strip()) for p in processes if p.stdout is not None)
    processes[0].kill()
    processes[0].communicate()
    assert killed.is_dir() and running.is_dir()
    with temporary_folder(".x-", tmp_path) as folder:
        assert not killed.exists()
        assert (running / "file").exists()
        assert list(folder.iterdir()) == []
        with temporary_folder(".x-", tmp_path) as other:
            assert folder.is_dir() and other != folder
    assert not folder.exists()
    processes[1].communicate()
    assert not running.exists()
    assert victim.is_dir() and all(other.is_dir() for other in others)


def test_a_temporary_folder_without_locks_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On such a file system it is not known whether it is in use."""

    def none(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", none)
    with temporary_folder(".x-", tmp_path) as one, temporary_folder(".x-", tmp_path) as other:
        assert one.is_dir() and other.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_a_temporary_folder_that_another_command_removes_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between its making and its lock it looks like one that was left."""
    taken: list[int] = []
    lock = fcntl.flock

    def late(handle: int, how: int) -> None:
        lock(handle, how)
        if not taken:
            taken.append(handle)
            (folder,) = tmp_path.iterdir()
            folder.rmdir()

    monkeypatch.setattr(fcntl, "flock", late)
    with temporary_folder(".x-", tmp_path) as folder:
        assert taken and folder.is_dir()
