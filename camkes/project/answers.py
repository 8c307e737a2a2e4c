# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Results of CMake, cached for as long as their inputs are unchanged.

An answer belongs to a question (the application, the definitions, the program CMake, this tool) and to the
replies that the file system gave to all that CMake asked it: the contents of files, whether they exist, what
folders have (see inputs.py). They are asked again, each time. Where it is not known what an answer depends
on, it is not kept.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from camkes import __version__
from camkes.cache import cache_folder, forget_older
from camkes.diagnostics import Sink
from camkes.files import temporary_folder, write_whole
from camkes.project import cmake, inputs, trust
from camkes.project.compilers import find_compilers
from camkes.project.records import Answer

_FORMAT = 2  # of a kept answer
_MOST_KEPT = 200  # applications
_OURS = (
    *("recorder.cmake", "cache.cmake", "config.cmake", "languages.cmake", "workspace.cmake", "cmake.py"),
    *("records.py", "codemodel.py", "compilers.py", "inputs.py", "answers.py"),
)
_NO_OUTPUTS = (
    "CMakeFiles",
    ".cmake",
    "CMakeCache.txt",
    "build.ninja",
    ".ninja_deps",
    ".ninja_log",
    ".ninja_lock",
    "cmake_install.cmake",
    "initial.cmake",
    "trace.json",
    "records",
    "messages",
    "started",
)


def answer(
    lists: Path, host: Mapping[str, str], definitions: Mapping[str, str], sink: Sink, *, may_ask: bool = True
) -> Answer | None:
    """What a CMakeLists.txt declares; None after a diagnostic. Without `may_ask`, CMake is not run: None if
    no answer is kept."""
    program = cmake.find_cmake()
    if program is None:
        cmake.missing(lists, sink)
        return None
    ninja = cmake.find_ninja() or "ninja"
    question = cmake.Question(lists, host, definitions, program, ninja, find_compilers(), Path())
    key = sha256(json.dumps(_key(question), sort_keys=True).encode()).hexdigest()[:32]
    folder = cache_folder(f"cmake/{key}")
    if folder is not None:
        kept = _recall(Path(folder))
        if kept is not None:
            return kept
    if not may_ask or not trust.allows(lists, sink):
        return None
    if folder is not None:
        with suppress(OSError), _locked(Path(folder)):  # a cache that cannot be used, or is removed
            kept = _recall(Path(folder))  # another command may have run CMake meanwhile
            return kept or _ask(question._replace(build=Path(folder) / "build"), Path(folder), sink)
    with temporary_folder("camkes-cmake-") as place:
        result = cmake.ask(question._replace(build=place / "build"), sink)
        cmake.remove(place / "build")
        return result.answer if result else None


def _key(question: cmake.Question) -> list[object]:
    """All that an answer depends on, but the files that CMake reads and the environment variables that it
    reads."""
    files = (os.path.realpath(question.cmake), *question.compilers.programs)
    programs = [inputs.reply("changed", path) for path in files]
    ours = [inputs.reply("content", str(cmake.HERE / name)) for name in _OURS]
    words: list[object] = [
        str(question.lists),
        dict(question.host),
        dict(question.definitions),
        question.cmake,
    ]
    words += [question.ninja, question.compilers.commands]
    words += [os.environ.get("PATH"), os.environ.get("HOME"), os.uname().machine]
    return [_FORMAT, __version__, programs, ours, *words]


def _recall(folder: Path) -> Answer | None:
    """The answer that is kept in a folder, if nothing that it depends on has changed."""
    try:
        stored = json.loads((folder / "answer.json").read_bytes())
        if any(os.environ.get(name) != value for name, value in stored["variables"].items()):
            return None
        return Answer.from_json(stored["answer"]) if inputs.still(stored["replies"]) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _ask(question: cmake.Question, folder: Path, sink: Sink) -> Answer | None:
    kept = folder / "answer.json"
    kept.unlink(missing_ok=True)
    result = cmake.ask(question, sink)
    if result is None:
        return None
    found = _with_outputs(result.answer, question.build, folder)
    if result.replies is not None:
        stored = {"replies": result.replies, "variables": result.variables, "answer": found.as_json()}
        write_whole(kept, json.dumps(stored).encode())
    forget_older(folder.parent, _MOST_KEPT)
    return found


def _with_outputs(answer: Answer, build: Path, folder: Path) -> Answer:
    """The answer with copies of the files that CMake generated: in a folder named by what they
    contain."""
    text = json.dumps(answer.as_json())
    if json.dumps(str(build))[1:-1] not in text:
        return answer
    digest = sha256()
    made = [p for p in sorted(build.rglob("*")) if p.is_file() and not p.is_symlink()]
    made = [p for p in made if not set(p.relative_to(build).parts) & set(_NO_OUTPUTS)]
    for path in made:
        mark = f"{path.relative_to(build)}\0{path.stat().st_size}\0"
        digest.update(mark.encode("utf-8", "surrogateescape"))
        digest.update(path.read_bytes())
    place = folder / f"made-{digest.hexdigest()[:32]}"
    if not place.exists():
        part = folder / "made.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        for path in made:
            copy = part / path.relative_to(build)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
        part.replace(place)
    for path in build.rglob("*"):
        if path.is_dir() and not set(path.relative_to(build).parts) & set(_NO_OUTPUTS):
            (place / path.relative_to(build)).mkdir(parents=True, exist_ok=True)
    text = text.replace(json.dumps(str(build))[1:-1], json.dumps(str(place))[1:-1])
    return Answer.from_json(json.loads(text))


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Alone in a folder: one process at a time runs CMake."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
