# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Only what changed is made again, and what is half made is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.build.digests import Digests
from camkes.build.jobs import DEPENDENCIES, OUTPUT, Job, run_jobs, write_whole


def compile_job(folder: Path, name: str) -> Job:
    source = folder / f"{name}.c"
    command = ("cc", "-MMD", "-MF", DEPENDENCIES, "-MT", "x", "-c", str(source), "-o", OUTPUT)
    return Job(name, folder / "out" / f"{name}.o", command, (source,), name)


def run(*jobs: Job) -> list[str]:
    """Titles of the jobs that had something to do."""
    done: list[str] = []
    run_jobs(jobs, Digests(), done.append)
    return done


@pytest.fixture
def jobs(tmp_path: Path) -> list[Job]:
    (tmp_path / "a b.h").write_text("#define A 1\n")
    (tmp_path / "one.c").write_text('#include "a b.h"\nint one = A;\n')
    (tmp_path / "two.c").write_text("int two;\n")
    return [compile_job(tmp_path, "one"), compile_job(tmp_path, "two")]


def test_only_what_changed(tmp_path: Path, jobs: list[Job]) -> None:
    assert run(*jobs) == ["one", "two"]
    assert run(*jobs) == []
    (tmp_path / "a b.h").write_text("#define A 2\n")
    assert run(*jobs) == ["one"]
    (tmp_path / "two.c").touch()
    assert run(*jobs) == []  # the time of a file says nothing
    jobs[1].output.unlink()
    assert run(*jobs) == ["two"]


def test_another_command_is_another_result(tmp_path: Path, jobs: list[Job]) -> None:
    run(*jobs)
    changed = Job("one", jobs[0].output, (*jobs[0].command, "-DX"), jobs[0].inputs, "one")
    assert run(changed) == ["one"]


def test_a_failed_job_leaves_what_was_there(tmp_path: Path, jobs: list[Job]) -> None:
    run(*jobs)
    before = jobs[1].output.read_bytes()
    (tmp_path / "two.c").write_text("int two = ;\n")
    (outcome,) = run_jobs(jobs, Digests(), lambda _: None)
    assert not outcome.good
    assert "error" in outcome.messages
    assert jobs[1].output.read_bytes() == before
    assert run(*jobs) == ["two"]
    assert not list((tmp_path / "out").glob("*.part*"))


def test_warnings_are_said_again(tmp_path: Path) -> None:
    (tmp_path / "w.c").write_text('#warning "look"\n')
    job = compile_job(tmp_path, "w")
    first = run_jobs([job], Digests(), lambda _: None)
    again = run_jobs([job], Digests(), lambda _: None)
    assert [o.messages for o in first] == [o.messages for o in again]
    assert "look" in first[0].messages


def test_a_missing_program(tmp_path: Path) -> None:
    job = Job("x", tmp_path / "x", ("no-such-program", OUTPUT), (), "x")
    (outcome,) = run_jobs([job], Digests(), lambda _: None)
    assert outcome.missing_program
    assert outcome.messages == "no-such-program was not found"


def test_write_whole(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "file"
    assert write_whole(path, "text")
    assert not write_whole(path, "text")
    assert write_whole(path, "other")
    assert [p.name for p in path.parent.iterdir()] == ["file"]
