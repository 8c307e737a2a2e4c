# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The inputs of each object, recorded after a build and compared before the next one.

Ninja compares times of modification only. It misses an input that an older file replaced, one that was saved
while the compiler ran, and a header that has appeared earlier in the search path than the one that was used.
An object for which any of that holds is removed before Ninja starts, and Ninja makes it again.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from camkes.backends.host.jobs import BuildJob
from camkes.files import write_changed
from camkes.process import in_english, run

#: the file in the folder of a build
LIST = "inputs.json"

_FORMAT = 2  # of the file
#: `__has_include`, whole or as a part that a macro may complete
_HAS_INCLUDE = re.compile(r"\b__has_(?:i\w*)?\b")
_LITERAL = re.compile(r"__has_include(?:_next)?\s*\(\s*(?:\"([^\"\n]+)\"|<([^>\n]+)>)\s*\)")
#: flags whose file is looked for first in the folder in which the compiler runs
_FIRST_HERE = frozenset(("-include", "-imacros"))
_PATHS = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH")
_WHETHER_KNOWN = re.compile(r"(?:ifn?def\s+|defined\s*\(?\s*)__has_include(?:_next)?\b")
_SPLICE = re.compile(r"\\[ \t]*\r?\n")
_JOINED = re.compile(r'"\s*"')  # one literal after the other
_IGNORED = re.compile(r"ignoring (?:nonexistent|duplicate) directory \"?(.*?)\"?$")
_NAMES_FOLDER = re.compile(r"-I[^=-]")
#: what makes an assembler read a file that no rule for make names
_ASSEMBLER_READS = re.compile(r"\.inc(?:bin|lude)\b")

Signature = list[int]


def signature(path: str | Path) -> Signature | None:
    """What changes with every change of a file; None: there is no file."""
    try:
        status = os.stat(path)  # noqa: PTH116 - called very often
    except OSError:
        return None
    return [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def signature_of_image(path: Path) -> Signature | None:
    """The same of a file that runs have a second name for: that changes one of its times, too."""
    found = signature(path)
    return None if found is None else found[:3]


class ObjectInputs:
    """The inputs of objects, kept in `file`. Paths are those that the compiler names; relative ones are below
    the folder of `file`, where the compiler runs."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._folder = str(file.parent)
        self._known: dict[str, dict[str, object] | None] = {}
        self._read = False
        self._signatures: dict[str, Signature | None] = {}
        self._names: dict[str, frozenset[str]] = {}
        self._missing: dict[str, tuple[str, str]] = {}
        self._texts: dict[str, tuple[set[str], bool]] = {}
        self._fresh: dict[str, bool] = {}
        self._began = 0
        with suppress(OSError, ValueError):
            data = json.loads(file.read_text(encoding="utf-8"))
            if isinstance(data, dict) and data.get("format") == _FORMAT:
                self._known = data["jobs"]
                self._read = True

    def of(self, job: BuildJob) -> Iterable[str]:
        """What an output was made from, headers included; before it was made, what is known of that."""
        inputs = (self._known.get(str(job.output)) or {}).get("inputs")
        return inputs if isinstance(inputs, dict) else map(str, job.inputs)

    def all_current(self) -> bool:
        """Whether the inputs of all jobs are known and as they were."""
        return self._read and all(map(self._is_current, self._known))

    def remove_stale(self, jobs: Iterable[BuildJob]) -> None:
        """Remove the outputs of which it is not known that their inputs are as they were."""
        compiled = {str(job.output): job for job in jobs if job.compiler}
        stale = {output for output in compiled if not self._is_current(output)}
        for output in stale:
            compiled[output].output.unlink(missing_ok=True)
        self._known = {output: None if output in stale else self._known[output] for output in compiled}
        self._begin(wait=bool(stale))

    def note(self, jobs: Iterable[BuildJob]) -> None:
        """Note the inputs of jobs that were run."""
        self._signatures.clear()
        self._names.clear()
        self._missing.clear()
        for job in jobs:
            if job.compiler:
                self._known[str(job.output)] = self._noted(job)
        write_changed(self._file, json.dumps({"format": _FORMAT, "jobs": self._known}))

    # comparing

    def _is_current(self, output: str) -> bool:
        known = self._known.get(output)
        if known is None:
            return False
        inputs, absent = known["inputs"], known["absent"]
        assert isinstance(inputs, dict) and isinstance(absent, dict)
        return all(self._signature(path) == was for path, was in inputs.items()) and all(
            self._listing(folder).isdisjoint(names) for folder, names in absent.items()
        )

    def _signature(self, path: str) -> Signature | None:
        """What changes with every change of a file; None: there is no file."""
        if path not in self._signatures:
            self._signatures[path] = signature(os.path.join(self._folder, path))  # noqa: PTH118
        return self._signatures[path]

    def _listing(self, folder: str) -> frozenset[str]:
        if folder not in self._names:
            try:
                names = os.listdir(os.path.join(self._folder, folder))  # noqa: PTH118, PTH208
            except OSError:
                names = []
            self._names[folder] = frozenset(names)
        return self._names[folder]

    # noting

    def _begin(self, *, wait: bool) -> None:
        """Note the time, by the clock of the file system: what changes from now on, changes while we build.
        That clock is coarse; `wait` until it has passed what was written just now."""
        mark = self._file.with_name(".began")
        mark.parent.mkdir(parents=True, exist_ok=True)
        last = None
        while True:
            mark.write_bytes(b"")
            now = mark.stat().st_mtime_ns
            if not wait or last not in (None, now):
                break
            last = now
            time.sleep(0.001)
        self._began = now

    def _noted(self, job: BuildJob) -> dict[str, object] | None:
        """The inputs of a job that was run just now; None where nothing is known for certain."""
        try:
            used = read_rule(job.dependencies) if job.search else ()
        except OSError:
            return None
        if any("__has_" in word or _ASSEMBLER_READS.search(word) for word in job.search):
            return None
        folders = _folders(job, job.search) if job.search else ()
        if not _FIRST_HERE.isdisjoint(job.search):
            folders = (".", *folders)
        system = tuple(f"{folder}/" for folder in _folders(job, job.compiler, bare=True))
        own = [path for path in used or map(str, job.inputs) if not path.startswith(system)]
        texts = [self._asked(path) for path in own]
        if any(unknown for _, unknown in texts):
            return None
        places = tuple(dict.fromkeys((*folders, *map(_folder_of, own))))
        names = {path[len(p) + 1 :] for path in used for p in places if path.startswith(f"{p}/")}
        asked = {name for found, _ in texts for name in found}
        inputs: dict[str, Signature | None] = dict.fromkeys(
            (*used, *map(str, job.inputs), *self._named(job.search or job.compiler))
        )
        absent: dict[str, set[str]] = {}
        firsts: dict[str, list[str]] = {}  # names by their first part: most folders have none of that name
        for name in sorted(names | asked):
            firsts.setdefault(name.partition("/")[0], []).append(name)
        for folder in places:
            missing, there = self._split(folder, firsts)
            for parent, gone in missing:
                absent.setdefault(parent, set()).update(gone)
            for name in (name for first in there for name in firsts[first]):
                path = f"{folder}/{name}"
                if path in inputs:
                    continue
                parent, part = self._first_missing(path)
                if part:
                    absent.setdefault(parent, set()).add(part)
                elif name in asked:
                    inputs[path] = None
                elif self._is_fresh(path) or not os.path.isfile(os.path.join(self._folder, path)):  # noqa: PTH113, PTH118
                    return None
        for path in inputs:
            inputs[path] = self._signature(path)
            if inputs[path] is None or self._is_fresh(path):
                return None
        return {"inputs": inputs, "absent": {k: sorted(v) for k, v in absent.items()}}

    def _named(self, words: Iterable[str]) -> Iterator[str]:
        """The files that a command names: `@FILE`, `-specs=FILE`, `-include FILE`."""
        for word in words:
            for name in (word, word.removeprefix("@"), word.partition("=")[2]):
                if name and os.path.isfile(os.path.join(self._folder, name)):  # noqa: PTH113, PTH118
                    yield name

    def _asked(self, path: str) -> tuple[set[str], bool]:
        """Names that a text asks for with `__has_include`, and whether it may read what it does not show."""
        if path not in self._texts:
            try:
                text = Path(self._folder, path).read_text(encoding="utf-8", errors="replace")
            except OSError:
                text = "__has_include"
            text = _WHETHER_KNOWN.sub("", _SPLICE.sub("", text))
            literal = _LITERAL.findall(text)
            rest = _LITERAL.sub("", text)
            reads = _ASSEMBLER_READS.search(_JOINED.sub("", rest))
            unknown = reads is not None or _HAS_INCLUDE.search(rest) is not None
            self._texts[path] = {one or other for one, other in literal}, unknown
        return self._texts[path]

    def _split(
        self, folder: str, names: Collection[str]
    ) -> tuple[list[tuple[str, Collection[str]]], list[str]]:
        """What is missing of these names in a folder, or of the folder itself, each with the folder that
        lacks it; and the names that are there."""
        found = self._listing(folder or "/")
        if not found and not os.path.isdir(os.path.join(self._folder, folder or "/")):  # noqa: PTH112, PTH118
            parent, part = self._first_missing(f"{folder}/.")
            return [(parent, (part,))], []
        there = [name for name in names if name in found or name in ("", ".", "..")]
        return [(folder or "/", set(names).difference(there))], there

    def _first_missing(self, path: str) -> tuple[str, str]:
        """The folder, and the name in it, without which there is no such file; no name where there is one."""
        if path not in self._missing:
            self._missing[path] = self._look_for(path)
        return self._missing[path]

    def _look_for(self, path: str) -> tuple[str, str]:
        parent, _, name = path.rpartition("/")
        if name in self._listing(parent):
            return "", ""
        while parent and not os.path.isdir(os.path.join(self._folder, parent)):  # noqa: PTH112, PTH118
            parent, _, name = parent.rpartition("/")
        return parent or "/", name

    def _is_fresh(self, path: str) -> bool:
        """Whether a file, or a link on the way to it, may have changed after the build began."""
        if path not in self._fresh:
            self._fresh[path] = self._changed_lately(path)
        return self._fresh[path]

    def _changed_lately(self, path: str) -> bool:
        place = Path(self._folder, path)
        with suppress(OSError):
            if place.stat().st_ctime_ns >= self._began:
                return True
            if str(place) == os.path.realpath(place):
                return False
            return any(
                p.is_symlink() and p.lstat().st_ctime_ns >= self._began for p in (place, *place.parents)
            )
        return True


def _folders(job: BuildJob, command: tuple[str, ...], *, bare: bool = False) -> tuple[str, ...]:
    """Folders in which the compiler of a job looks for headers with a command, with those that do not exist;
    `bare`: but for those that the environment names. What `-I` names need not be asked for: commands differ
    in little else."""
    named = tuple(word[2:].rstrip("/") for word in command if _NAMES_FOLDER.match(word))
    rest = tuple(word for word in command if not _NAMES_FOLDER.match(word))
    return (*named, *_asked(job.identity, rest, bare))


@lru_cache(maxsize=64)
def _asked(_identity: str, command: tuple[str, ...], bare: bool) -> tuple[str, ...]:
    """Asks a compiler once: the identity changes with it, its programs and the environment they look at."""
    environment = {k: v for k, v in in_english().items() if not (bare and k in _PATHS)}
    words = (*command, "-E", "-v", os.devnull, "-o", os.devnull)
    done = run(words, env=environment, undecodable="surrogateescape")
    return tuple(_search_list(done.errors))


def _search_list(said: str) -> Iterable[str]:
    listed = False
    for line in said.splitlines():
        if ignored := _IGNORED.match(line):  # at this moment
            yield ignored[1].rstrip("/")
        elif line.startswith("#include ") and line.endswith("search starts here:"):
            listed = True
        elif line.startswith("End of search list"):
            return
        elif listed:
            yield line.strip().rstrip("/")


def _folder_of(path: str) -> str:
    return path.rpartition("/")[0] or "."


def read_rule(file: Path) -> tuple[str, ...]:
    """The files after the colon of a rule for make. OSError where there is no rule."""
    text = file.read_text(encoding="utf-8", errors="surrogateescape")
    text = text.replace("\\\n", " ").partition(": ")[2].partition("\n")[0]
    words = text.replace("\\ ", "\0").split()
    unquoted = (
        w.replace("\0", " ").replace("$$", "$").replace("\\#", "#").replace("\\:", ":") for w in words
    )
    return tuple(dict.fromkeys(unquoted))
