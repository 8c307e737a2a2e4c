# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which instances share the objects of their sources.

Those that are built alike, with equal generated headers. Headers may differ in the values of attributes,
which are macros there, if no source uses these macros. The preprocessor finds that out: with a header that
forbids their names, it accepts only a source that has none of them, in whatever way it would make the name.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from camkes.backends.host.inputs import LIST
from camkes.backends.host.jobs import BuildJob, Progress
from camkes.backends.host.ninja import run_jobs
from camkes.backends.host.sources import unusable_name
from camkes.files import write_changed
from camkes.project.builds import ComponentBuild

HEADER = "camkes.h"

#: the macro of a value, as `camkes.h` has it
_VALUE = re.compile(r"^#define (\w+_DEF) (?:.*\\\n)*.*$", re.MULTILINE)


class Headers(Struct, frozen=True):
    """The generated headers of an instance: `others` than `camkes.h` with their names and content, and
    `common`, which is `camkes.h` without the values of attributes. `values` is empty if it has none."""

    others: tuple[tuple[str, bytes], ...]
    common: str
    values: str


def read_headers(paths: Iterable[Path]) -> Headers:
    others = [(path.name, path.read_bytes()) for path in paths]
    text = next((content.decode() for name, content in others if name == HEADER), "")
    common = _VALUE.sub(r"#pragma GCC poison \1", text)
    values = "\n".join(found[0] for found in _VALUE.finditer(text))
    return Headers(tuple(each for each in others if each[0] != HEADER), common, values)


def share_objects(
    builds: Mapping[str, ComponentBuild],
    headers: Mapping[str, Headers],
    compile_as: Callable[[str], Sequence[BuildJob]],
    folder: Path,
    progress: Progress,
    apart: Callable[[str], Hashable] = lambda _: None,
) -> list[tuple[list[str], Sequence[BuildJob]]]:
    """The instances `builds` in groups that share objects, with the jobs that compile these: `compile_as` the
    first one. What is `apart` is not shared. `folder` is for what is asked of the preprocessor."""
    found: dict[Hashable, dict[str, list[str]]] = {}
    for name, build in builds.items():
        own = headers[name]
        key = (build, own.others, own.common, apart(name))
        found.setdefault(key, {}).setdefault(own.values, []).append(name)
    groups: list[tuple[list[str], Sequence[BuildJob]]] = []
    asked: list[tuple[list[list[str]], Sequence[BuildJob], list[BuildJob]]] = []
    for alike in found.values():
        lists = list(alike.values())
        jobs = compile_as(lists[0][0])
        if len(lists) == 1:
            groups.append((lists[0], jobs))
        else:
            first = lists[0][0]
            forbidden = folder / first
            write_changed(forbidden / HEADER, headers[first].common)
            for header, content in headers[first].others:
                write_changed(forbidden / header, content)
            asked.append((lists, jobs, [_question(job, forbidden) for job in jobs if job.search]))
    every = [question for _, _, questions in asked for question in questions]
    if not every:
        (folder / LIST).unlink(missing_ok=True)
    elif unusable_name(folder, every) is None:
        run_jobs(folder, every, progress)
    for lists, jobs, questions in asked:
        if all(_is_empty(question.output) for question in questions):
            groups.append(([name for names in lists for name in names], jobs))
        else:
            groups.append((lists[0], jobs))
            groups += [(names, compile_as(names[0])) for names in lists[1:]]
    return groups


def _question(job: BuildJob, forbidden: Path) -> BuildJob:
    """Preprocesses the source of a job with the headers in `forbidden` in place of the generated ones; the
    output is empty if that has no errors."""
    output = forbidden / f"{job.output.name}.uses"
    named = replace(job, output=output)
    new = {str(job.dependencies): str(named.dependencies), str(job.output): str(output), "-c": "-E"}
    usual = [new.get(word, word) for word in job.command]
    usual[-1] = os.devnull  # the output
    strict, answer = shlex.join(_with_headers(usual, forbidden)), shlex.quote(str(output))
    # with errors, a compiler does not write what it read
    otherwise = f"echo used >{answer}; {shlex.join(usual)} 2>{os.devnull} || :"
    script = f"if {strict} 2>{os.devnull}; then : >{answer}; else {otherwise}; fi"
    return replace(
        named,
        title=f"{job.title}: attributes",
        command=("sh", "-c", script),
        beside="",
        search=_with_headers(job.search, forbidden),
    )


def _with_headers(words: Sequence[str], folder: Path) -> tuple[str, ...]:
    """A compiler's command with this folder of generated headers, which is the first that is named."""
    place = next(number for number, word in enumerate(words) if word.startswith("-I"))
    return (*words[:place], f"-I{folder}", *words[place + 1 :])


def _is_empty(file: Path) -> bool:
    return file.is_file() and file.stat().st_size == 0
