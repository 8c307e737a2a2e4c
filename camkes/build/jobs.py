# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Commands that make files, run in parallel and only where something changed.

A job writes to a name of its own and the result is renamed into place, so that an interrupted build
leaves nothing half written. Beside an output is a note of what it was made from.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from camkes.build.digests import Digests, of_words
from camkes.process import in_english
from camkes.records import dataclass

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Job:
    """`command` makes `output` from `inputs`; in it OUTPUT and DEPENDENCIES stand for the files to write
    (the latter in the form of make). `title` is for people; `about` is what the job is about. `beside` is
    the suffix of a second file that the command writes by itself, named after OUTPUT. `identity` changes with
    the program that the command runs."""

    title: str
    output: Path
    command: tuple[str, ...]
    inputs: tuple[Path, ...]
    about: str
    beside: str = ""
    identity: str = ""

    @property
    def second(self) -> Path:
        """The second file."""
        return self.output.with_suffix(self.beside)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a job. `messages` is what the command said."""

    job: Job
    good: bool
    messages: str
    missing_program: bool = False


OUTPUT = "@OUTPUT@"
DEPENDENCIES = "@DEPENDENCIES@"


def run_jobs(jobs: Sequence[Job], digests: Digests, progress: Progress) -> tuple[Outcome, ...]:
    """Outcomes of the jobs that had something to do or to say, in the order of the jobs. OSError where the
    build folder cannot be written."""
    todo = [job for job in jobs if not _is_current(job, digests)]
    outcomes: dict[int, Outcome] = {}
    if todo:
        from concurrent.futures import ThreadPoolExecutor

        executor = ThreadPoolExecutor(max_workers=min(len(todo), os.cpu_count() or 1))
        try:
            futures = {id(job): executor.submit(_run, job, digests) for job in todo}
            for job in todo:
                progress(job.title)
                outcomes[id(job)] = futures[id(job)].result()
        finally:
            executor.shutdown(wait=True, cancel_futures=True)
    result: list[Outcome] = []
    for job in jobs:
        if id(job) in outcomes:
            result.append(outcomes[id(job)])
        else:
            messages = _messages_of(job)
            if messages:
                result.append(Outcome(job, True, messages))
    return tuple(result)


def _note(job: Job) -> Path:
    return job.output.with_name(job.output.name + ".made")


def _command_digest(job: Job) -> str:
    return of_words((job.identity, *job.command, *map(str, job.inputs)))


def _read_note(job: Job) -> dict[str, object]:
    try:
        note = json.loads(_note(job).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}


def inputs_of(job: Job) -> tuple[Path, ...]:
    """What the output of a job was made from, headers included; before it was made, what is known of that."""
    inputs = _read_note(job).get("inputs")
    return tuple(map(Path, inputs)) if isinstance(inputs, dict) else job.inputs


def _messages_of(job: Job) -> str:
    """Warnings stay until the file is compiled again."""
    messages = _read_note(job).get("messages", "")
    return messages if isinstance(messages, str) else ""


def _is_current(job: Job, digests: Digests) -> bool:
    note = _read_note(job)
    inputs = note.get("inputs")
    if note.get("command") != _command_digest(job) or not isinstance(inputs, dict):
        return False
    there = job.output.is_file() and (not job.beside or job.second.is_file())
    return there and all(digests.of(Path(p)) == d for p, d in inputs.items())


def _run(job: Job, digests: Digests) -> Outcome:
    job.output.parent.mkdir(parents=True, exist_ok=True)
    output = job.output.with_name(f".{job.output.name}.{os.getpid()}.part")
    dependencies = output.with_name(output.name + ".d")
    places = {OUTPUT: str(output), DEPENDENCIES: str(dependencies)}
    command = [places.get(word, word) for word in job.command]
    try:
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                env=in_english(),
                check=False,
            )
        except FileNotFoundError as error:
            return Outcome(job, False, f"{error.filename} was not found", missing_program=True)
        second = output.with_suffix(job.beside) if job.beside else output
        if done.returncode != 0 or not output.exists() or not second.exists():
            return Outcome(job, False, done.stdout)
        used = {*job.inputs, *_dependencies(dependencies)}
        note = {
            "command": _command_digest(job),
            "inputs": {str(p): digests.of(p) for p in sorted(used)},
            "messages": done.stdout,
        }
        _note(job).unlink(missing_ok=True)
        if job.beside:
            second.replace(job.second)
        output.replace(job.output)
        digests.forget(job.output)
        write_whole(_note(job), json.dumps(note, indent=1))
        return Outcome(job, True, done.stdout)
    finally:
        output.unlink(missing_ok=True)
        if job.beside:
            output.with_suffix(job.beside).unlink(missing_ok=True)
        dependencies.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> bool:
    """Write a file unless it has this text already; all of it or nothing. Was it written?"""
    try:
        if path.read_text(encoding="utf-8") == text:
            return False
    except (OSError, ValueError):
        pass
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_text(text, encoding="utf-8")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    return True


def _dependencies(file: Path) -> Iterable[Path]:
    """The files after the colon of a make rule."""
    try:
        text = file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return []
    text = text.replace("\\\n", " ").partition(": ")[2].partition("\n")[0]
    words = text.replace("\\ ", "\0").split()
    return [Path(w.replace("\0", " ").replace("$$", "$").replace("\\#", "#")) for w in words]
