# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Builds with Ninja: a `build.ninja` for a set of jobs, and the result of each of them.

Ninja decides what to run, in which order and how much at once. A job is run again where its command, its
compiler or one of its inputs changed; `camkes.backends.host.inputs` adds the changes of inputs that times of
modification do not show.
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from camkes.backends.host.folder import locked
from camkes.backends.host.inputs import LIST, ObjectInputs
from camkes.backends.host.jobs import BuildJob, BuildOutcome, Progress
from camkes.files import write_changed
from camkes.process import StartedProgram, disk_error, in_english
from camkes.resources import install_packages

#: Messages of compilers and linkers about errors in their input.
_MISTAKE = re.compile(r":\d+: (fatal )?error: |undefined reference|multiple definition")
_SECONDS_TO_END = 5
_MARK = "camkes job "  # begins the lines of Ninja that are about a job
_RULE = f"""\
ninja_required_version = 1.10
rule run
  command = $cmd
  description = {_MARK}$number
  depfile = $dependencies
  rspfile = $list
  rspfile_content = $listed
"""
#: variables with which a compiler would write dependencies elsewhere
_UNWANTED = ("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES")


class NinjaError(OSError):
    """Ninja itself failed: it is missing, or a file of its own cannot be written. `strerror` is the
    reason."""


def program() -> str:
    """The program `ninja`: of the package of that name, else the one on PATH."""
    try:
        from ninja import BIN_DIR
    except ImportError:
        BIN_DIR = ""  # noqa: N806
    found = shutil.which("ninja", path=BIN_DIR) or shutil.which("ninja")
    if found is None:
        raise NinjaError(0, f"ninja was not found; install it ({install_packages('ninja')})", "ninja")
    return found


def run_jobs(
    folder: Path, jobs: Sequence[BuildJob], progress: Progress, targets: Iterable[BuildJob] | None = None
) -> tuple[BuildOutcome, ...]:
    """Run in `folder` what is not up to date of `jobs` (or of `targets` among them and what these need).
    Outcomes of the jobs that were run or have warnings to repeat, in the order of the jobs. OSError where the
    folder cannot be written."""
    _make_folders(jobs)
    inputs = ObjectInputs(folder / LIST)
    inputs.remove_stale(jobs)
    write_changed(folder / "build.ninja", _text(jobs).encode(errors="surrogateescape"))
    run, status, said = _run(folder, jobs, targets, progress)
    failed = {number for number in run if not jobs[number].output.exists()}
    good = [jobs[number] for number in sorted(run - failed)]
    inputs.note(good)
    for number in failed:
        _raise_if_unwritable(_messages(jobs[number]) or said, folder)
    if status != 0 and not failed:
        _raise_if_missing(jobs)
        raise disk_error(said, folder) or NinjaError(0, said.strip().removeprefix("ninja: "), str(folder))
    outcomes = []
    for number, job in enumerate(jobs):
        messages = _messages(job) if number in run or job.output.exists() else ""
        if number in run or messages:
            outcomes.append(BuildOutcome(job, number not in failed, messages))
    return tuple(outcomes)


def inputs_of(folder: Path, jobs: Iterable[BuildJob]) -> tuple[Path, ...]:
    """What the outputs of jobs that were run in `folder` are made from, headers included."""
    inputs = ObjectInputs(folder / LIST)
    return tuple(sorted(folder / name for name in {name for job in jobs for name in inputs.of(job)}))


def _run(
    folder: Path, jobs: Sequence[BuildJob], targets: Iterable[BuildJob] | None, progress: Progress
) -> tuple[set[int], int, str]:
    """Numbers of the jobs that were run, the exit status of Ninja, and what it printed beside that."""
    environment = {k: v for k, v in in_english().items() if k not in _UNWANTED} | {"NINJA_STATUS": ""}
    wanted = ["all"] if targets is None else [str(job.output) for job in targets]
    command = [program(), "-k", "0", "-j", str(os.cpu_count() or 1), *wanted]
    run: set[int] = set()
    said: list[str] = []
    with locked(folder, progress) as lock:
        # compilers hold the lock too: those of a build that was killed must not write into the next one
        ninja = StartedProgram(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(lock,),
        )
        with ninja as process:
            try:
                assert process.stdout is not None
                for raw in process.stdout:
                    line = raw.decode(errors="replace")
                    if line.startswith(_MARK):
                        number = int(line.removeprefix(_MARK))
                        run.add(number)
                        progress(jobs[number].title)
                    else:
                        said.append(line)
                status = process.wait()
            except BaseException:
                ninja.send_signal(signal.SIGTERM)  # Ninja ends its compilers and removes what they have begun
                with suppress(TimeoutError):
                    process.wait(_SECONDS_TO_END)
                raise
    return run, status, "".join(said)


def _make_folders(jobs: Iterable[BuildJob]) -> None:
    for parent in dict.fromkeys(job.output.parent for job in jobs):
        parent.mkdir(parents=True, exist_ok=True)
    for job in jobs:
        if job.output.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(job.output))


def _raise_if_unwritable(messages: str, folder: Path) -> None:
    """A compiler that cannot write does not find fault with its input."""
    error = disk_error(messages, folder, mistake=_MISTAKE.search(messages) is not None)
    if error is not None:
        raise error
    if "cannot create" in messages and os.strerror(errno.EACCES) in messages:  # the status that a shell gives
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))


def _raise_if_missing(jobs: Sequence[BuildJob]) -> None:
    """Files are removed by others while Ninja runs."""
    made = {job.output for job in jobs}
    for path in dict.fromkeys(path for job in jobs for path in job.inputs if path not in made):
        if not path.exists():
            raise FileNotFoundError(errno.ENOENT, "it was removed during the build", str(path))


def _messages(job: BuildJob) -> str:
    try:
        return job.messages.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


# build.ninja


def _text(jobs: Sequence[BuildJob]) -> str:
    lines = [_RULE]
    for number, job in enumerate(jobs):
        outputs = _path(job.output) + (f" | {_path(job.second)}" if job.beside else "")
        lines.append(f"build {outputs}: run {' '.join(map(_path, job.inputs))}".rstrip())
        lines.append(f"  number = {number}")
        lines.append(f"  cmd = {_escaped(_command(job))}")
        if job.search:
            lines.append(f"  dependencies = {_escaped(str(job.dependencies))}")
        if job.listed:
            lines.append(f"  list = {_escaped(_list(job))}")
            lines.append(f"  listed = {_escaped(shlex.join(job.listed))}")
    lines.append(f"build all: phony {' '.join(_path(job.output) for job in jobs)}")
    return "\n".join([*lines, ""])


def _command(job: BuildJob) -> str:
    """For a shell. What the program prints is kept beside the output; a program that fails leaves none."""
    words = [*job.command, f"@{_list(job)}"] if job.listed else job.command
    output, messages = shlex.quote(str(job.output)), shlex.quote(str(job.messages))
    first = "" if job.compiler else f"rm -f {output}; "  # who runs the old one goes on with it
    return f": {job.identity}; {first}{shlex.join(words)} >{messages} 2>&1 || {{ rm -f {output}; exit 1; }}"


def _list(job: BuildJob) -> str:
    return f"{job.output}.list"


def _escaped(text: str) -> str:
    return text.replace("$", "$$")


def _path(path: Path) -> str:
    return _escaped(str(path)).replace(" ", "$ ").replace(":", "$:")
