# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A limit of the shell that is too low is named, with its value and what is enough."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.cli.main import main
from camkes.process import limits
from camkes.process.limits import LimitError, error_of_limit, low_limits, raise_if_limited
from tests.host.systems import write_system

pytestmark = pytest.mark.requirement("TOOL-6")

NEVER = resource.RLIM_INFINITY


def set_limits(patch: pytest.MonkeyPatch, **values: int) -> None:
    """The limits of this process, without that they hold."""
    numbers = {getattr(resource, f"RLIMIT_{name}"): value for name, value in values.items()}
    patch.setattr(limits.resource, "getrlimit", lambda kind: (numbers.get(kind, NEVER), NEVER))
    patch.setattr(limits.os, "geteuid", lambda: 1000)


def test_only_what_is_low_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    set_limits(monkeypatch)
    assert low_limits() == []
    set_limits(monkeypatch, NOFILE=1024, STACK=8 * 2**20, NPROC=4096)
    assert low_limits() == []
    set_limits(monkeypatch, NOFILE=10, FSIZE=512, NPROC=7)
    assert low_limits() == [
        "the limit of open files is 10; `ulimit -n 256` is enough",
        "the limit of processes of the user is 7; `ulimit -u 1000` is enough",
        "the limit of the size of a file is 0.5 KiB; `ulimit -f 524288` is enough",
    ]
    monkeypatch.setattr(limits.os, "geteuid", lambda: 0)  # whose processes are not counted
    assert not any("processes" in line for line in low_limits())


@pytest.mark.parametrize(
    ("name", "number", "said"),
    [
        ("NOFILE", errno.EMFILE, "ninja: fatal: pipe: Too many open files"),
        ("NPROC", errno.EAGAIN, "a.c:1: note: x\ncc: fatal error: vfork: Resource temporarily unavailable"),
        ("AS", errno.ENOMEM, "cc1: out of memory: Cannot allocate memory"),
        ("DATA", errno.ENOMEM, "virtual memory exhausted"),
        ("FSIZE", errno.EFBIG, "as: File size limit exceeded"),
        ("STACK", errno.ECONNRESET, ""),
        ("CPU", errno.ECHILD, "\n"),
        ("STACK", errno.ECHILD, "failed with:\n   Segmentation fault"),
    ],
)
def test_the_limit_that_an_error_comes_of(
    name: str, number: int, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_limits(monkeypatch, **{name: 1})
    error = error_of_limit(number, "x")
    assert error is not None and error.limits == low_limits() != []
    with pytest.raises(LimitError) as raised:
        raise_if_limited(said)
    failed = f"a program failed: {said.splitlines()[-1].strip()}" if said.strip() else "a program was stopped"
    assert str(raised.value) == failed
    raise_if_limited("a.c:1:1: error: expected ';'")  # that is not why
    set_limits(monkeypatch)
    assert error_of_limit(number, "x") is None
    raise_if_limited(said)
    set_limits(monkeypatch, **{"NOFILE" if name != "NOFILE" else "FSIZE": 1})
    assert number not in (errno.EMFILE, errno.EAGAIN, errno.ENOMEM, errno.EFBIG) or not error_of_limit(
        number, "x"
    )


@pytest.mark.parametrize(
    ("name", "error"), [("AS", MemoryError()), ("NPROC", RuntimeError("can't start new thread"))]
)
def test_what_python_runs_into(
    name: str,
    error: Exception,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(pipeline, "check", fails)
    write_system(tmp_path, "")
    command = ["check", str(tmp_path / "system.camkes")]
    assert main(command) == 3  # for another reason
    assert "defect of camkes" in capsys.readouterr().err
    set_limits(monkeypatch, **{name: 1})
    assert main(command) == 1
    assert capsys.readouterr().err.startswith("error[E0732]")


@pytest.mark.mostly_long("-n 10-build-E0732-the limit of open files is 10; `ulimit -n 256` is enough")
@pytest.mark.parametrize(
    ("limit", "command", "code", "named"),
    [
        ("-n 10", "build", "E0732", "the limit of open files is 10; `ulimit -n 256` is enough"),
        pytest.param("-n 32", "run", "E0732", "the limit of open files is 32", marks=pytest.mark.long),
        ("-v 1000000", "run", "E0730", "the limit of the addresses of a process is 1000000 KiB"),
        pytest.param("-s 256", "build", "E0732", "the stack of a process is 256 KiB", marks=pytest.mark.long),
    ],
)
def test_a_shell_with_a_low_limit(limit: str, command: str, code: str, named: str, tmp_path: Path) -> None:
    write_system(tmp_path, "")
    main(["build", str(tmp_path / "system.camkes"), "-o", str(tmp_path / "before")])  # the kernel is there
    words = [sys.executable, "-m", "camkes", command, str(tmp_path / "system.camkes"), "-o", "out"]
    shell = ["sh", "-c", f'ulimit {limit} && exec "$@"', "sh", *words]
    done = subprocess.run(shell, capture_output=True, text=True, check=False, cwd=tmp_path, env=os.environ)
    assert (done.returncode, f"error[{code}]" in done.stderr) == (1, True), done.stderr
    assert named in done.stderr
