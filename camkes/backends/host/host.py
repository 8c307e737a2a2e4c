# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Builds a system for the host kernel: a shared object for each address space, and the boot table."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from camkes.backends.host.addresses import named_folders, naming_flags
from camkes.backends.host.codes import LINK_ERROR, NO_COMPILER, UNUSABLE_NAME
from camkes.backends.host.compiler import WATCH_GENERATED, Compiler, find_compiler
from camkes.backends.host.declared import DeclaredNames, is_of_missing_name, one_for_each_cause
from camkes.backends.host.errors import unusable
from camkes.backends.host.jobs import BuildJob, Progress
from camkes.backends.host.kernel import host_kit, symbols
from camkes.backends.host.link import Linker
from camkes.backends.host.messages import Sources, compiler_messages
from camkes.backends.host.ninja import run_jobs
from camkes.backends.host.shared_glue import FLAGS, MOST, Glue, read_glue, shared_text
from camkes.backends.host.sharing import read_headers, share_objects
from camkes.backends.host.sources import (
    builds_of,
    compile_job,
    headers_of_workspace,
    lacks,
    links_foreign_code,
    sources_and_objects,
    unusable_name,
)
from camkes.backends.host.unwatched import Unwatched, find_unwatched, names_of_numbers
from camkes.capdl.host_table import host_table
from camkes.capdl.model import CapabilityModel
from camkes.diagnostics import Diagnostic, Sink
from camkes.files import write_changed
from camkes.generate.write import GeneratedFile
from camkes.model.settings import DEFAULT_HEAP
from camkes.model.system import System
from camkes.project.application import Application
from camkes.project.builds import ComponentBuild, language_by_name
from camkes.protocols.plan import Plan

#: Flags for generated sources: lines, for places of faults, but no variables, which take the compiler long,
#: and no optimisation: the little that is not in the runtime need not be fast.
GENERATED_FLAGS = ("-g1", "-O0")

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|[1-9]\d*")  # as CMake reads them


def heap_sizes(application: Application, system: System, model: CapabilityModel) -> dict[str, int]:
    """Bytes of the heap of each address space: as in an image for seL4."""
    stated = application.options.get("CAmkESDefaultHeapSize", "")
    default = (int(stated, 0) if _NUMBER.fullmatch(stated) else 0) or DEFAULT_HEAP
    own = {i.name: i.configured.heap_size for i in system.instances if not i.type.hardware}
    sizes = {name: default if size is None else size for name, size in own.items()}
    return {space.name: sum(sizes.get(name, default) for name in space.instances) for space in model.spaces}


class HostImage(Struct, frozen=True):
    """A system that can run: `kernel` boots `table`, whose images are beside it in `folder`; `oracle` judges
    what it records. `unwatched`: accesses to memory that an image for a search does not report. `code` was
    generated for it; `compiled` is what compiles the sources of each instance; `named` are folders by the
    names that images have for them."""

    folder: Path
    table: Path
    kernel: Path
    oracle: Path
    images: Mapping[str, Path]
    capabilities: CapabilityModel
    sanitized: bool = False
    unwatched: tuple[Unwatched, ...] = ()
    code: tuple[Path, ...] = ()
    compiled: Mapping[str, tuple[BuildJob, ...]] = {}
    named: Mapping[str, Path] = {}


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
    watch: bool = False,
) -> HostImage | None:
    """Compile what changed and link it in the folder `out`; None after a diagnostic."""
    try:
        build = _Build(system, capabilities, application, out.absolute(), generated, sink, progress)
        build.watched = _sharing(capabilities) if watch else frozenset()
        return build.run(sanitize)
    except OSError as error:
        sink.add(unusable(error, out))
        return None


def _sharing(capabilities: CapabilityModel) -> frozenset[str]:
    """The instances whose code can access what another thread does: in an address space with several threads,
    or with memory that is mapped in others."""
    return frozenset(
        name
        for space in capabilities.spaces
        if len(space.threads) > 1 or space.mappings
        for name in space.instances
    )


#: What CMAKE_BUILD_TYPE adds for components, also where there is no CMake file.
BUILD_TYPES = {
    "debug": ("-O0",),
    "coverage": ("-O0",),
    "release": ("-O2", "-DNDEBUG"),
    "relwithdebinfo": ("-O2", "-DNDEBUG"),
    "minsizerel": ("-Os", "-DNDEBUG"),
}


#: sources of the user count what is executed
COVERAGE_COMPILE = ("--coverage", "-fprofile-abs-path", "-fprofile-update=single")

#: the library that counts, with the function that writes what it counted
COVERAGE_LINK = ("--coverage", "-Wl,-u,__gcov_dump")


def compile_commands(folder: Path, jobs: Sequence[BuildJob]) -> str:
    """The compilation database that clangd and other tools read; commands are run in `folder`."""
    commands = [
        {
            "directory": str(folder),
            "file": str(job.inputs[0]),
            "output": str(job.output),
            "arguments": list(job.command),
        }
        for job in jobs
    ]
    return json.dumps(commands, indent=1) + "\n"


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
        #: by instances
        self.generated: dict[str, list[GeneratedFile]] = {}
        for file in generated:
            self.generated.setdefault(file.instance, []).append(file)
        self.sink = sink
        self.progress = progress
        self.sources = Sources()
        self.after = headers_of_workspace(application)
        #: instances whose code reports its accesses to memory, see accesses.c of the host kernel
        self.watched: frozenset[str] = frozenset()
        #: what the code that a job compiles can use of the system
        self.declared_for: dict[BuildJob, DeclaredNames] = {}
        self.declared: dict[str, DeclaredNames] = {}
        self.sources_of: dict[str, tuple[Path, ...]] = {}
        self.said: list[Diagnostic] = []  # by compilers, until the build ends

    @property
    def covers(self) -> bool:
        """Whether code counts what is executed."""
        return self.application.build_type.lower() == "coverage"

    @property
    def _of_type(self) -> tuple[str, ...]:
        """Flags of the kind of build, which those of the user's files win over."""
        return BUILD_TYPES.get(self.application.build_type.lower(), ())

    def run(self, sanitize: bool) -> HostImage | None:
        instances = [i for i in self.system.instances if not i.type.hardware]
        served = self.application.served_by_connectors(self.system)
        builds = builds_of(self.application, instances, self.sink, served)
        languages = {language_by_name(f.path) for files in self.generated.values() for f in files}
        languages |= {b.language_of(source) for b in builds.values() for source in b.sources}
        compiler = find_compiler(sanitize, self.sink, languages, mcs=self.system.mcs)
        if compiler is None or self.sink.has_errors:
            return None
        named = named_folders(self.application.folder, self.out)
        if not (sanitize or self.covers):  # which name files themselves, when they run
            compiler = replace(compiler, names=naming_flags(named))
        about = {i.name: f"component {i.type.name}, instance {i.name}" for i in instances}
        kinds = {instance.name: instance.type for instance in instances}
        self.sources_of = {name: build.sources for name, build in builds.items()}
        declared = self.declared = {
            name: DeclaredNames(kind, self._headers_of(name), builds[name].includes)
            for name, kind in kinds.items()
        }
        for space in self.capabilities.spaces:
            for name in space.instances:  # the time manager has no component
                builds.setdefault(name, ComponentBuild())
        written = self._written(builds, about, compiler)
        for name, of_headers in declared.items():
            for job in written[name]:
                self.declared_for.setdefault(job, of_headers)
        alike = self._alike(builds, written)
        jobs: dict[str, list[BuildJob]] = {}
        for together, glue in alike.items():
            first = together[0]
            job = self._shared_job(first, glue, about[first], builds[first], compiler)
            jobs |= {name: [job, *written[name]] for name in together}
        for name, build in builds.items():
            if name not in jobs:
                own = self._generated_jobs(name, about.get(name, name), build, compiler)
                jobs[name] = [*own, *written[name]]
        compiled = list(dict.fromkeys(job for of in jobs.values() for job in of))
        if not (self._can_compile(languages, compiler) and self._can_name(compiled)):
            return None
        write_changed(self.out / "compile_commands.json", compile_commands(self.folder, compiled))
        kit = host_kit(compiler, self.folder / "kernel", self.sink, self.progress)
        if kit is None:
            return None
        linker = Linker(
            capabilities=self.capabilities,
            compiler=compiler,
            objects={name: tuple(j.output for j in of) for name, of in jobs.items()},
            libraries={name: self._libraries(build) for name, build in builds.items()},
            kit=kit,
            out=self.folder,
            expected_of=lambda name, symbol: lacks(kinds[name], symbol, builds[name]),
            declared=declared,
            sink=self.sink,
            more_flags=COVERAGE_LINK if self.covers else (),
            watched=self.watched,
            alike=tuple(alike),
            named=named,
        )
        if not self._make(compiled, linker):
            return None
        linker.make_copies()
        table = self.folder / "system.table"
        names = {space: f"./{path.name}" for space, path in linker.images.items()}
        heaps = heap_sizes(self.application, self.system, self.capabilities)
        write_changed(table, host_table(self.capabilities, names, heaps))
        return HostImage(
            folder=self.folder,
            table=table,
            kernel=kit.kernel,
            oracle=kit.oracle,
            images=linker.images,
            capabilities=self.capabilities,
            sanitized=sanitize,
            unwatched=tuple(self._unwatched(written, builds, linker, compiler)),
            code=tuple(file.path for files in self.generated.values() for file in files),
            compiled={name: tuple(of) for name, of in jobs.items()},
            named=named,
        )

    def _unwatched(
        self,
        written: Mapping[str, Sequence[BuildJob]],
        builds: Mapping[str, ComponentBuild],
        linker: Linker,
        compiler: Compiler,
    ) -> Iterator[Unwatched]:
        if not self.watched:
            return
        known = linker.known_names() | names_of_numbers(compiler)
        for name in sorted(self.watched):
            foreign = links_foreign_code(self.application, builds[name])
            generated = symbols("--defined-only", *(o for o in linker.objects[name]))
            yield from find_unwatched(name, written[name], known | generated, foreign=foreign)

    def _make(self, compiled: list[BuildJob], linker: Linker) -> bool:
        """Compile and link, and report the messages of compilers, each cause once."""
        good = self._made(compiled, linker)
        errors = [d.span for d in self.sink.diagnostics if d.code is LINK_ERROR and d.span is not None]
        for name, declared in self.declared.items() if good else ():
            for function in linker.functions(name):
                slip = declared.slip_of_initialiser(function, self.sources_of.get(name, ()))
                self.said += [slip] if slip is not None else []
        for said in one_for_each_cause(self.said):
            if not is_of_missing_name(said, errors):
                self.sink.add(said)
        return good

    def _made(self, compiled: list[BuildJob], linker: Linker) -> bool:
        every = [*compiled, *linker.jobs()]
        if linker.joins:
            first = [*compiled, *linker.joins]
            if not self._run(every, linker, first):
                return False
            linker.write_kept_names()
        if not self._run(every, linker, None):
            return False
        checks = linker.checks()
        return not checks or self._run([*every, *checks], linker, checks)

    def _run(self, jobs: list[BuildJob], linker: Linker, targets: list[BuildJob] | None) -> bool:
        good = True
        for outcome in run_jobs(self.folder, jobs, self.progress, targets):
            good = good and outcome.good
            if outcome.job.compiler:
                if targets is None or not outcome.good:  # else there is, or was, another time
                    job = outcome.job
                    said = compiler_messages(outcome.messages, outcome.good, job.about, self.sources)
                    declared = self.declared_for.get(job)
                    self.said += said if declared is None else map(declared.explained, said)
            elif not outcome.good:
                linker.report(outcome)
        return good

    # what is compiled

    def _libraries(self, build: ComponentBuild) -> tuple[str, ...]:
        """Link arguments; libraries of other projects are not there on a workstation."""
        known = ("rt", "pthread", "dl", "stdc++")
        libs = tuple(f"-l{name}" for name in build.libs if name in known)
        return (*build.ld_flags, *libs)

    def _written(
        self, builds: Mapping[str, ComponentBuild], about: Mapping[str, str], compiler: Compiler
    ) -> dict[str, Sequence[BuildJob]]:
        """What compiles the user's sources of each instance. If what is executed is counted, each has objects
        of its own."""
        groups = share_objects(
            builds,
            {
                name: read_headers(f.path for f in self.generated.get(name, ()) if f.kind == "header")
                for name in builds
            },
            lambda name: self._user_jobs(name, about.get(name, name), builds[name], compiler),
            self.folder / "attributes",
            self.progress,
            apart=lambda name: (name in self.watched, name if self.covers else ""),
        )
        return {name: jobs for names, jobs in groups for name in names}

    def _alike(
        self, builds: Mapping[str, ComponentBuild], written: Mapping[str, Sequence[BuildJob]]
    ) -> dict[tuple[str, ...], str]:
        """The instances whose glue can be shared, with its text."""
        found: dict[Hashable, list[tuple[str, Glue]]] = {}
        for space in self.capabilities.spaces:
            name = space.instances[0]
            sources = [f.path for f in self.generated.get(name, ()) if f.kind == "source"]
            if len(space.instances) > 1 or [path.name for path in sources] != ["glue.c"]:
                continue  # names of other instances are in its code, or sources that others wrote
            glue = read_glue(sources[0].read_text(encoding="utf-8"))
            key = (glue.outline, id(written[name]), builds[name], name in self.watched)
            found.setdefault(key, []).append((name, glue))
        chunks = [all[n : n + MOST] for all in found.values() for n in range(0, len(all), MOST)]
        return {
            tuple(name for name, _ in chunk): shared_text([glue for _, glue in chunk])
            for chunk in chunks
            if len(chunk) > 1
        }

    def _headers_of(self, name: str) -> list[Path]:
        """The generated headers of an instance."""
        return [f.path for f in self.generated.get(name, ()) if f.kind == "header"]

    def _folders_of(self, name: str) -> tuple[Path, ...]:
        """The folders of the generated headers of an instance."""
        return tuple(dict.fromkeys(path.parent for path in self._headers_of(name))) or (self.out / name,)

    def _generated_jobs(
        self, name: str, about: str, build: ComponentBuild, compiler: Compiler
    ) -> list[BuildJob]:
        folder = self.folder / "objects" / name / "generated"
        sources = [f.path for f in self.generated.get(name, ()) if f.kind == "source"]
        return self._compile_generated(name, sources, folder, about, build, compiler)

    def _compile_generated(
        self,
        name: str,
        sources: Sequence[Path],
        folder: Path,
        about: str,
        build: ComponentBuild,
        compiler: Compiler,
        more: Sequence[str] = (),
    ) -> list[BuildJob]:
        includes = (*self._folders_of(name), *build.includes)
        outputs = [folder / f"{source.name}.o" for source in sources]
        last = (*GENERATED_FLAGS, *(WATCH_GENERATED if name in self.watched else ()), *more)
        return [
            compile_job(
                *(compiler, source, output, includes, self._of_type, about),
                last=last,
                generated=True,
                after=self.after,
            )
            for source, output in zip(sources, outputs, strict=True)
        ]

    def _shared_job(
        self, first: str, glue: str, about: str, build: ComponentBuild, compiler: Compiler
    ) -> BuildJob:
        """Compiles the glue of several instances, the first of which is `first`."""
        source = self.folder / "objects" / first / "shared" / "glue.c"
        write_changed(source, glue)
        (job,) = self._compile_generated(first, [source], source.parent, about, build, compiler, FLAGS)
        return job

    def _user_jobs(self, name: str, about: str, build: ComponentBuild, compiler: Compiler) -> list[BuildJob]:
        jobs: list[BuildJob] = []
        for source, output in sources_and_objects(build, self.folder / "objects" / name):
            includes, flags = build.flags_of(source)
            flags = (*compiler.user_flags(flags), *self._of_type, *flags)
            if self.covers:
                flags = (*flags, *COVERAGE_COMPILE)
            if name in self.watched:
                flags = (*flags, *compiler.watch_flags())
            language = build.language_of(source)
            folders = (*self._folders_of(name), *includes)
            jobs.append(
                compile_job(
                    *(compiler, source, output, folders, flags, about), language=language, after=self.after
                )
            )
        return jobs

    def _can_compile(self, languages: set[str | None], compiler: Compiler) -> bool:
        """A C++ compiler need not be there for a system in C."""
        if compiler.cxx_identity or "CXX" not in languages:
            return True
        self.sink.report(
            NO_COMPILER,
            f"there is no C++ compiler: {compiler.cxx[0]} was not found",
            help="install a C++ compiler (apt install g++), or set CXX",
        )
        return False

    def _can_name(self, jobs: list[BuildJob]) -> bool:
        """Compilers write the names of headers in a form of make that has no way to write some characters."""
        name = unusable_name(self.folder, jobs)
        if name is not None:
            self.sink.report(
                UNUSABLE_NAME,
                f"the name `{name}` contains a character that compilers cannot write in lists of headers",
                help="rename the file or folder, or choose another build folder with -o",
            )
        return name is None
