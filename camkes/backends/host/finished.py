# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Whether a folder has all that a build of a system would make there: then nothing need be planned.

A record is written after a build without diagnostics. It has a digest of the system as it was resolved, and
of all that the build depends on beside it: how sources are built, the compiler, the tool. It has the state of
the files that were made, and names the lists of what each object was made from (`inputs`). A system whose
connectors have templates of their own, or that is linked with flags of its own, has no record.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, msgpack

from camkes.backends.host.compiler import Compiler, find_compiler
from camkes.backends.host.digests import of_bytes
from camkes.backends.host.inputs import LIST, ObjectInputs, signature
from camkes.backends.host.jobs import Progress
from camkes.backends.host.kernel import host_kit
from camkes.backends.host.sources import builds_of, headers_of_workspace
from camkes.diagnostics import Sink, SourceFile
from camkes.model.system import System
from camkes.project.application import Application
from camkes.project.builds import ComponentBuild
from camkes.resources import ROOT, TEMPLATES


class BuildInput(Struct, frozen=True):
    """What is to be built, and how; see `HostBackend`."""

    system: System
    application: Application
    sanitize: bool
    watch: bool


class FinishedBuild:
    """The record of a folder with an image."""

    def __init__(self, image: Path) -> None:
        self._folder = image
        self._file = image / "finished.json"

    def has(self, asked: BuildInput, progress: Progress) -> bool:
        """Whether a build would change nothing and report nothing."""
        try:
            known = json.loads(self._file.read_text(encoding="utf-8"))
            digest, kernel, files, lists = (known[name] for name in ("digest", "kernel", "files", "lists"))
        except (OSError, ValueError, KeyError, TypeError):
            return False
        if any(signature(path) != state for path, state in files.items()):
            return False
        if not all(ObjectInputs(self._folder / name).all_current() for name in lists):
            return False
        compiler = _compiler_of(asked)
        if compiler is None or digest != _digest(asked, compiler):
            return False
        kit = host_kit(compiler, self._folder / "kernel", Sink(), progress)
        return kit is not None and str(kit.kernel) == kernel

    def forget(self) -> None:
        self._file.unlink(missing_ok=True)

    def note(self, asked: BuildInput, kernel: Path, made: Iterable[Path], lists: Iterable[Path]) -> None:
        """Note that a build was good and had nothing to report. `made` are the files that it made or left,
        `lists` the folders in which it ran jobs."""
        builds = _builds_of(asked)
        compiler = _compiler_of(asked)
        if compiler is None or asked.application.connectors or any(b.ld_flags for b in builds.values()):
            return
        known = {
            "digest": _digest(asked, compiler),
            "kernel": str(kernel),
            "files": {str(path): signature(path) for path in made},
            "lists": [os.path.relpath(folder / LIST, self._folder) for folder in lists],
        }
        self._file.write_text(json.dumps(known), encoding="utf-8")


def _builds_of(asked: BuildInput) -> Mapping[str, ComponentBuild]:
    instances = [instance for instance in asked.system.instances if not instance.type.hardware]
    served = asked.application.served_by_connectors(asked.system)
    return builds_of(asked.application, instances, Sink(), served)


def _compiler_of(asked: BuildInput) -> Compiler | None:
    languages = {b.language_of(source) for b in _builds_of(asked).values() for source in b.sources}
    return find_compiler(asked.sanitize, Sink(), languages, mcs=asked.system.mcs)


def _digest(asked: BuildInput, compiler: Compiler) -> str:
    made_of = (asked, compiler, _builds_of(asked), headers_of_workspace(asked.application), _state_of_tool())
    return of_bytes(msgpack.encode(made_of, enc_hook=_encoded))


def _encoded(value: Any) -> str:
    """Of a file, its path counts: what is written there is in the system as it was resolved."""
    if isinstance(value, SourceFile):
        return str(value.path)
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value))


def _state_of_tool() -> list[Any]:
    """What changes with the tool: its Python files and templates. The rest is part of the host kernel's
    name, and of what objects are made from."""
    found: list[Any] = [sys.version]
    for base in (Path(__file__).parents[2], ROOT / "parser", TEMPLATES):
        for folder, _, names in os.walk(base):
            for name in sorted(names):
                if not name.endswith(".pyc"):
                    found.append((f"{folder}/{name}", signature(f"{folder}/{name}")))
    return found
