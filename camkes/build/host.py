# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Builds a system for the host kernel: a shared object for each address space, and the boot table."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from camkes.application import Application
from camkes.build.codes import BUILD_FOLDER, NO_COMPILER
from camkes.build.compiler import Compiler, find_compiler
from camkes.build.digests import Digests, of_words
from camkes.build.jobs import Job, Progress, run_jobs, write_whole
from camkes.build.kernel import host_kernel
from camkes.build.link import link_spaces
from camkes.build.messages import Sources, report_compiler
from camkes.build.places import HOST_KERNEL, ROOT, RUNTIME
from camkes.build.sources import build_of, compile_job, lacks, sources_and_objects
from camkes.cache import cache_folder
from camkes.capdl.host_table import host_table
from camkes.capdl.model import CapabilityModel
from camkes.cmakelists.declarations import ComponentBuild
from camkes.diagnostics import Sink
from camkes.generate.write import GeneratedFile
from camkes.model.system import Instance, System
from camkes.protocols.plan import Plan
from camkes.records import dataclass


@dataclass(frozen=True, slots=True)
class HostImage:
    """A system that can run: `kernel` boots `table`, whose images are beside it in `folder`."""

    folder: Path
    table: Path
    kernel: Path
    images: Mapping[str, Path]
    capabilities: CapabilityModel


def build_host(
    system: System,
    plan: Plan,
    capabilities: CapabilityModel,
    application: Application,
    out: Path,
    generated: Sequence[GeneratedFile],
    sink: Sink,
    progress: Progress,
    *,
    sanitize: bool = False,
) -> HostImage | None:
    """Compile what changed and link it in the folder `out`; None after a diagnostic."""
    try:
        return _Build(system, capabilities, application, out.absolute(), generated, sink, progress).run(
            sanitize
        )
    except OSError as error:
        sink.report(
            BUILD_FOLDER,
            f"{error.filename or out} cannot be written: {error.strerror}",
            help="make room there, or choose another folder with -o",
        )
        return None


class _Build:
    def __init__(
        self,
        system: System,
        capabilities: CapabilityModel,
        application: Application,
        out: Path,
        generated: Sequence[GeneratedFile],
        sink: Sink,
        progress: Progress,
    ) -> None:
        self.system = system
        self.capabilities = capabilities
        self.application = application
        self.out = out
        #: no instance has this name, so nothing that is generated gets in its way
        self.folder = out / "host-image"
        self.generated = generated
        self.sink = sink
        self.progress = progress
        self.digests = Digests()
        self.sources = Sources()

    def run(self, sanitize: bool) -> HostImage | None:
        compiler = find_compiler(sanitize, self.sink)
        instances = [i for i in self.system.instances if not i.type.hardware]
        builds = {i.name: build_of(self.application, i, self.sink) for i in instances}
        if compiler is None or self.sink.has_errors:
            return None
        runtime = self._runtime_jobs(compiler)
        jobs = {i.name: self._instance_jobs(i, builds[i.name], compiler) for i in instances}
        shared = {s.name: self._space_jobs(s.name, compiler) for s in self.capabilities.spaces}
        every = [*runtime, *(j for of in (jobs, shared) for some in of.values() for j in some)]
        if not self._compile(every):
            return None
        kernel = host_kernel(compiler, self.folder / "kernel", self.digests, self.sink, self.progress)
        if kernel is None:
            return None
        objects = {name: tuple(j.output for j in of) for name, of in jobs.items()}
        kinds = {instance.name: instance.type for instance in instances}
        images = link_spaces(
            self.capabilities,
            compiler,
            objects,
            {name: tuple(j.output for j in of) for name, of in shared.items()},
            tuple(j.output for j in runtime),
            {name: self._libraries(build) for name, build in builds.items()},
            kernel,
            self.folder,
            lambda name, symbol: lacks(kinds[name], symbol, builds[name]),
            self.digests,
            self.sink,
            self.progress,
        )
        if images is None:
            return None
        table = self.folder / "system.table"
        names = {space: f"./{path.name}" for space, path in images.items()}
        write_whole(table, host_table(self.capabilities, names))
        return HostImage(self.folder, table, kernel, images, self.capabilities)

    # what is compiled

    def _libraries(self, build: ComponentBuild) -> tuple[str, ...]:
        """Link arguments; libraries of other projects are not there on a workstation."""
        known = ("m", "rt", "pthread", "dl", "stdc++")
        libs = tuple(f"-l{name}" for name in build.libs if name in known)
        return (*build.ld_flags, *libs)

    def _runtime_jobs(self, compiler: Compiler) -> list[Job]:
        """The runtime is the same for every system: its objects are in the user's cache."""
        headers = (RUNTIME / "include", HOST_KERNEL / "include")
        files = sorted(f for folder in (RUNTIME / "src", *headers) for f in folder.rglob("*.[ch]"))
        # debug information has the place of the sources
        words = (compiler.identity, str(compiler.sanitize), str(ROOT), self.digests.of_all(files))
        key = of_words(words)[:16]
        cache = cache_folder(f"runtime-{key}")
        folder = None if cache is None else _writable(Path(cache))
        folder = folder or self.folder / "objects" / "runtime"
        base = RUNTIME / "src"
        sources = [s for s in sorted(base.rglob("*.c")) if not s.name.endswith("_sel4.c")]
        return [
            compile_job(compiler, s, folder / s.relative_to(base).with_suffix(".o"), (), (), "the runtime")
            for s in sources
        ]

    def _instance_jobs(self, instance: Instance, build: ComponentBuild, compiler: Compiler) -> list[Job]:
        """Two instances of a component are compiled apart: each has its own camkes.h."""
        folder = self.folder / "objects" / instance.name
        files = [f.path for f in self.generated if f.instance == instance.name]
        own = files[0].parent if files else self.out / instance.name
        about = f"component {instance.type.name}, instance {instance.name}"
        jobs: list[Job] = []
        for source in files:
            if source.suffix in (".c", ".cc", ".cpp"):
                output = folder / "generated" / f"{source.name}.o"
                jobs.append(compile_job(compiler, source, output, (own, *build.includes), (), about))
        for source, output in sources_and_objects(build, folder):
            flags = build.cxx_flags if compiler.is_cxx(source) else build.c_flags
            jobs.append(compile_job(compiler, source, output, (own, *build.includes), flags, about))
        return jobs

    def _space_jobs(self, space: str, compiler: Compiler) -> list[Job]:
        """What belongs to an address space as a whole."""
        folder = self.folder / "objects" / space / "space"
        return [
            compile_job(compiler, source, folder / f"{source.name}.o", (), (), f"address space {space}")
            for source in (f.path for f in self.generated if f.instance is None and f.space == space)
            if source.suffix == ".c"
        ]

    def _compile(self, jobs: list[Job]) -> bool:
        good = True
        for outcome in run_jobs(jobs, self.digests, self.progress):
            about = outcome.job.about
            if outcome.missing_program:
                program = outcome.job.command[0]
                self.sink.report(
                    NO_COMPILER,
                    f"there is no C++ compiler: {program} was not found",
                    help="install a C++ compiler (apt install g++), or name one in CXX",
                )
            else:
                report_compiler(outcome.messages, outcome.good, about, self.sources, self.sink)
            good = good and outcome.good
        return good


def _writable(folder: Path) -> Path | None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise
        return None
    return folder if os.access(folder, os.W_OK) else None
