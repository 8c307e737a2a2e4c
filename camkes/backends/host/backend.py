# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The backend for the host kernel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from camkes.files import OutputError

if TYPE_CHECKING:
    from camkes.backends.host.finished import BuildState
    from camkes.backends.host.host import HostImage
    from camkes.capdl.model import CapabilityModel
    from camkes.diagnostics import Sink
    from camkes.generate import GeneratedFile
    from camkes.model.system import System
    from camkes.project.application import Application
    from camkes.protocols.plan import Plan

    Result = TypeVar("Result")

#: Where below a build folder images are. No instance has this name.
IMAGE = "host-image"

#: the trace of the last run, in that folder
TRACE = "run.trace"


class HostCode(Struct, frozen=True):
    """The C code of a system, and the capabilities that it uses."""

    model: CapabilityModel
    files: Sequence[GeneratedFile]


class HostBackend(Struct, frozen=True):
    """Builds in the folder `out`, and writes nothing there if the system is only checked (`builds`). `watch`:
    accesses to memory in handlers that several requests can be in are noticed, see `accesses.c`."""

    application: Application
    out: Path
    sanitize: bool = False
    builds: bool = True
    watch: bool = False

    @property
    def folder(self) -> Path:
        return self.out.absolute()

    @property
    def generated(self) -> Path:
        """Where C code is generated."""
        return self.folder / "generated"

    @property
    def calls(self) -> Path:
        """Where code is compiled to read what it calls."""
        return self.folder / IMAGE / "calls"

    @property
    def headers(self) -> Path:
        """Where `camkes.h` is written for that: it is the same in the build, but where connectors have
        templates of their own, whose headers it includes there."""
        return self.calls / "include" if self.application.connectors else self.generated

    def check(self, system: System, sink: Sink) -> None:
        """Report components that are not declared and, if all are, C types that the compiler rejects."""
        from camkes.model.c_types import names_own_types
        from camkes.project.cplusplus import report_cxx_keywords

        self.application.report_undeclared(system, sink)
        report_cxx_keywords(self.application, system, sink)
        if sink.has_errors or not names_own_types(system):
            return
        from camkes.backends.host.folder import FolderInUseError
        from camkes.backends.host.types import check_types

        out = self.folder / IMAGE / "types" if self.builds else None
        try:
            check_types(system, self.application, out, sink, lambda _: None)
        except FolderInUseError as error:
            sink.add(error.diagnostic)
        except OSError as error:
            if out is not None:  # to check, nothing need be written
                raise OutputError(f"cannot write in {out}: {error.strerror}") from error

    def alone(self, step: Callable[[], Result], sink: Sink, progress: Callable[[str], None]) -> Result | None:
        """Do a step while no other command builds in the folder; None after a diagnostic. Raises
        OutputError."""
        from camkes.backends.host.folder import FolderInUseError, locked

        try:
            with locked(self.folder, progress):
                return step()
        except FolderInUseError as error:
            sink.add(error.diagnostic)
            return None
        except OSError as error:
            raise OutputError(f"cannot write in {self.folder}: {error.strerror}") from error

    def allocate(self, system: System, plan: Plan, sink: Sink) -> CapabilityModel:
        """The objects and capabilities of a system whose sources exist, or errors in `sink`."""
        from camkes.backends.host.templates import rendered_connectors
        from camkes.capdl.allocate import allocate
        from camkes.project.codes import MISSING_FILE

        self.application.report_missing(MISSING_FILE, sink)
        return allocate(system, plan, sink, rendered=rendered_connectors(self.application, system))

    def generate(self, system: System, plan: Plan, model: CapabilityModel, sink: Sink) -> HostCode | None:
        """Write the C code of a system."""
        from camkes.backends.host.templates import render_templates
        from camkes.files import write_changed
        from camkes.generate import generate

        rendering = render_templates(self.application, system, model, self.generated, sink)
        if sink.has_errors:
            return None
        files = generate(system, plan, rendering.model, self.generated, sink, rendering.for_code())
        for text in rendering.files:
            write_changed(text.file.path, text.text)
        return HostCode(rendering.model, (*files, *(text.file for text in rendering.files)))

    def build(
        self, system: System, plan: Plan, code: HostCode, sink: Sink, progress: Callable[[str], None]
    ) -> HostImage | None:
        """Compile and link what changed; errors report calls of code that cannot be determined."""
        from camkes.backends.host.host import build_host

        return build_host(
            system,
            plan,
            code.model,
            self.application,
            self.folder,
            code.files,
            sink,
            progress,
            sanitize=self.sanitize,
            watch=self.watch,
        )

    def state_of(self, system: System) -> BuildState | None:
        """What the build of a system depends on at this moment; None where that is not known for certain."""
        from camkes.backends.host.finished import BuildInput, state_of

        return state_of(BuildInput(system, self.application, self.sanitize, self.watch))

    def has_finished(self, state: BuildState, progress: Callable[[str], None]) -> bool:
        """Whether a build would change nothing in the folder, and report nothing."""
        from camkes.backends.host.finished import FinishedBuild

        return FinishedBuild(self.folder / IMAGE).has(state, progress)

    def note_finished(self, state: BuildState, system: System, image: HostImage) -> None:
        """Note that this is the image of a system, which was checked and built and had nothing to report."""
        from camkes.backends.host.finished import FinishedBuild

        FinishedBuild(image.folder).note(state, image, self._used(system))

    def _used(self, system: System) -> Iterator[Path]:
        """The folders in which a build runs jobs."""
        from camkes.backends.host.inputs import LIST
        from camkes.model.c_types import names_own_types
        from camkes.protocols.signals import code_matters

        image = self.folder / IMAGE
        yield image
        if names_own_types(system):
            yield image / "types"
        if code_matters(system):
            yield self.calls
        asked = (folder / "attributes" for folder in (image, self.calls))
        yield from (folder for folder in asked if (folder / LIST).exists())

    @contextmanager
    def copied(self, image: HostImage) -> Iterator[HostImage]:
        """A copy of an image, removed in the end: meanwhile others may build and run in the same folder.
        To be entered within a step that is done `alone`."""
        from camkes.backends.host.folder import copied

        with copied([image.table, *image.images.values()], self.folder) as copy:
            images = {name: copy / path.name for name, path in image.images.items()}
            yield replace(image, folder=copy, table=copy / image.table.name, images=images)

    def publish(self, files: Sequence[Path], sink: Sink) -> None:
        """Leave the trace of a run, with its names, as that of the last one."""
        from camkes.backends.host.folder import FolderInUseError, locked, publish
        from camkes.running.codes import TRACE_UNREADABLE

        folder = self.out / IMAGE
        try:
            with locked(self.out, lambda _: None):
                publish(files, folder)
        except FolderInUseError as error:
            sink.add(error.diagnostic)
        except OSError as error:
            sink.report(TRACE_UNREADABLE, f"cannot write {folder / files[0].name}: {error.strerror}")
