# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Whether a folder has all that a build of a system would make there: then nothing need be planned.

A record is written after a build that reported nothing. It has a digest of the system as it was resolved, and
of all that the build depends on beside it: how sources are built, the compiler, the tool. It has the state of
the files that were made, and of the lists of what each object was made from (`inputs`): where another build
changed these and did not come to its end, the images are older than they say. A system whose connectors have
templates of their own, or that is linked with flags of its own, has no record.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct, msgpack

from camkes.backends.host.compiler import Compiler, find_compiler
from camkes.backends.host.digests import of_bytes, of_file
from camkes.backends.host.host import HostImage
from camkes.backends.host.inputs import LIST, ObjectInputs, signature, signature_of_image
from camkes.backends.host.jobs import Progress
from camkes.backends.host.kernel import host_kit
from camkes.backends.host.sources import builds_of, headers_of_workspace
from camkes.diagnostics import Sink, SourceFile
from camkes.model.system import System
from camkes.project.application import Application
from camkes.resources import ROOT, TEMPLATES


class BuildInput(Struct, frozen=True):
    """What is to be built, and how; see `HostBackend`."""

    system: System
    application: Application
    sanitize: bool
    watch: bool


class BuildState(Struct, frozen=True):
    """A digest of what a build depends on, but for what sources and headers contain, and its compiler."""

    digest: str
    compiler: Compiler


def state_of(build: BuildInput) -> BuildState | None:
    """To be asked before a build, since files can change during one. None: this is not known for certain."""
    application = build.application
    instances = [instance for instance in build.system.instances if not instance.type.hardware]
    served = application.served_by_connectors(build.system)
    builds = builds_of(application, instances, Sink(), served)
    languages = {each.language_of(source) for each in builds.values() for source in each.sources}
    compiler = find_compiler(build.sanitize, Sink(), languages, mcs=build.system.mcs)
    if compiler is None or application.connectors or any(each.ld_flags for each in builds.values()):
        return None
    made_of = (build, compiler, builds, headers_of_workspace(application), _state_of_tool())
    try:
        return BuildState(of_bytes(msgpack.encode(made_of, enc_hook=_encoded)), compiler)
    except UnicodeEncodeError:  # names that are not UTF-8
        return None


class FinishedBuild:
    """The record of a folder with an image."""

    def __init__(self, image: Path) -> None:
        self._folder = image
        self._file = image / "finished.json"

    def has(self, state: BuildState, progress: Progress) -> bool:
        """Whether a build would change nothing and report nothing."""
        try:
            known = json.loads(self._file.read_text(encoding="utf-8"))
            digest, kernel, images = known["digest"], known["kernel"], known["images"]
            code, lists = known["code"], known["lists"]
        except (OSError, ValueError, KeyError, TypeError):
            return False
        if (
            digest != state.digest
            or any(signature_of_image(self._folder / name) != was for name, was in images.items())
            or any(signature(path) != was for path, was in code.items())
            or any(of_file(self._folder / name) != was for name, was in lists.items())
            or not all(ObjectInputs(self._folder / name).all_current() for name in lists)
        ):
            return False
        kit = host_kit(state.compiler, self._folder / "kernel", Sink(), progress)
        return kit is not None and str(kit.kernel) == kernel

    def note(self, state: BuildState, image: HostImage, lists: Iterable[Path]) -> None:
        """Note that a build was good and had nothing to report. `lists` are the folders in which it ran
        jobs."""
        names = [os.path.relpath(folder / LIST, self._folder) for folder in lists]
        made = (image.table, *image.images.values())
        known = {
            "digest": state.digest,
            "kernel": str(image.kernel),
            "images": {path.name: signature_of_image(path) for path in made},
            "code": {str(path): signature(path) for path in image.code},
            "lists": {name: of_file(self._folder / name) for name in names},
        }
        self._file.write_text(json.dumps(known), encoding="utf-8")


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
