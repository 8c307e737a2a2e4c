# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Builds an application with an SDK: the same images as in the workspace that the SDK was made from.

What is compiled and linked, in which order, is what cmake/generate.cmake says for a workspace.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from camkes import process
from camkes.backends.host.addresses import named_folders
from camkes.backends.host.declared import DeclaredNames
from camkes.backends.host.jobs import BuildJob, Progress
from camkes.backends.sel4.address_space import OverlapError
from camkes.backends.sel4.build import SPEC
from camkes.backends.sel4.codes import SEL4_BUILD, UNUSABLE_SDK
from camkes.backends.sel4.elf import ElfError
from camkes.backends.sel4.link import LinkError, cdl_name, linked
from camkes.backends.sel4.project import InstanceParts, SpaceParts, SystemParts
from camkes.backends.sel4.sdk import description as placeholders
from camkes.backends.sel4.sdk.archive import Sdk
from camkes.backends.sel4.sdk.boot import bootable
from camkes.backends.sel4.sdk.cpio import write_cpio
from camkes.backends.sel4.sdk.description import Configuration
from camkes.backends.sel4.sdk.programs import LOADER, Programs, run
from camkes.backends.sel4.size import SIZES
from camkes.backends.sel4.workspace import KERNEL, QEMU, can_be_mapped
from camkes.cache import cache_folder, forget_older, mark_used
from camkes.callgraph.stacks import CompiledSpace, StackBound, stack_bounds
from camkes.capdl.loader_table import loader_table
from camkes.capdl.specification import read_sizes
from camkes.capdl.text import capdl_text
from camkes.diagnostics import Sink
from camkes.files import write_changed
from camkes.model.system import ComponentType
from camkes.project.application import Application
from camkes.project.builds import ComponentBuild
from camkes.resources import RUNTIME as RUNTIME_SOURCES
from camkes.resources import SEL4_KERNEL

LIBRARY = "libcamkes_rt.a"
#: the variables that the C library takes its heap from
_MORECORE = tuple(f"morecore_{each}" for each in ("area", "size"))
_KEPT = 64  # runtimes, for other SDKs, configurations and versions of the tool
_ARCHIVE, _LOADER = "archive.capdl-loader_archive.o.cpio", "capdl-loader"
_TABLES = "capdl_spec.c"
#: the commands of cmake/generate.cmake for what is generated: see there
_GLUE, _RENDERED = ("-O2", "-fno-tree-vectorize", "-fno-jump-tables"), ("-O2", "-UNDEBUG")
_SYMBOL = "_capdl_archive"


class _SystemBuild:
    """The jobs that make the images of a system in `out`."""

    def __init__(
        self,
        programs: Programs,
        parts: SystemParts,
        runtime: Path,
        out: Path,
        builds: Mapping[str, ComponentBuild],
        kinds: Mapping[str, ComponentType],
    ) -> None:
        self.programs = programs
        self.parts = parts
        self.runtime = runtime
        self.out = out
        self.builds = builds
        self.kinds = kinds
        self.linker_jobs: set[Path] = set()
        #: of which instance a job compiles code of users
        self.of_user: dict[BuildJob, InstanceParts] = {}
        #: what compiles each instance, by address spaces
        self.compiled: dict[str, dict[str, list[BuildJob]]] = {}

    @cached_property
    def images(self) -> dict[str, Path]:
        return {space.name: self.out / space.image for space in self.parts.spaces}

    def first(self) -> list[BuildJob]:
        """Everything up to the images of address spaces."""
        jobs: list[BuildJob] = []
        for space in self.parts.spaces:
            objects: list[Path] = []
            for source in space.sources:
                output = self._object(f"{space.name}.space", source, objects)
                jobs.append(self.programs.compile("space", source, output, f"address space {space.name}"))
                objects.append(output)
            flags: list[str] = []
            language = "C"
            typed = [instance for instance in space.instances if instance.type]
            parts: dict[str, list[Path]] = {}
            for instance in typed:
                build = self.builds[instance.name]
                own = list(self._instance(instance, build))
                self.compiled.setdefault(space.name, {})[instance.name] = own
                jobs += own
                parts[instance.name] = [job.output for job in own]
                flags += build.ld_flags
                language = build.linker_language or language
            inside = [path for paths in parts.values() for path in paths]
            if len(typed) > 1:
                hidden = list(self._hidden(space, parts, objects))
                jobs += hidden
                inside = [job.output for job in hidden if job.output.name.endswith(".hidden.o")]
            symbols = [f"-Wl,-u,{symbol}" for symbol in space.symbols]
            inserted = {
                placeholders.SYMBOLS: symbols,
                placeholders.FLAGS: flags,
                placeholders.RUNTIME: (str(self.runtime),),
            }
            command = self.programs.configuration.link["CXX" if language == "CXX" else "C"]
            output = self.images[space.name]
            about = f"component {space.name}" if len(typed) == 1 else f"address space {space.name}"
            jobs.append(
                self.programs.link(command, [*objects, *inside], output, about, inserted, [self.runtime])
            )
            self.linker_jobs.add(output)
        return jobs

    def _object(self, target: str, source: Path, used: Iterable[Path]) -> Path:
        output = self.out / "objects" / target / f"{source.name}.o"
        if output in used:  # two files of one name in different folders
            digest = hashlib.sha256(str(source).encode()).hexdigest()[:8]
            output = output.with_name(f"{digest}-{source.name}.o")
        return output

    def _instance(self, instance: InstanceParts, build: ComponentBuild) -> Iterator[BuildJob]:
        used: list[Path] = []
        folders = tuple(f"-I{folder}" for folder in instance.includes)
        about = f"component {instance.type}"
        sources = [*dict.fromkeys(build.sources), *instance.sources]
        for source in sources:
            generated = source in instance.sources
            language = build.language_of(source)
            if language is None:
                continue
            includes, flags = build.flags_of(source)
            inserted = {
                placeholders.INSTANCE: folders,
                placeholders.INCLUDES: tuple(f"-I{folder}" for folder in includes),
                placeholders.FLAGS: flags,
            }
            more = () if not generated else _GLUE if source.name == "glue.c" else _RENDERED
            output = self._object(f"{instance.name}.instance", source, used)
            used.append(output)
            job = self.programs.compile(language, source, output, about, inserted, more)
            if not generated and instance.name in self.kinds:
                self.of_user[job] = instance
            yield job

    def declared(self, job: BuildJob) -> DeclaredNames | None:
        """What the code of users that a job compiles can use of the system."""
        instance = self.of_user.get(job)
        if instance is None:
            return None
        headers = [path for folder in instance.includes for path in sorted(folder.glob("*.h"))]
        return DeclaredNames(self.kinds[instance.name], headers, self.builds[instance.name].includes)

    def _hidden(
        self, space: SpaceParts, parts: Mapping[str, Sequence[Path]], objects: Sequence[Path]
    ) -> Iterator[BuildJob]:
        """Each instance of an address space as one object that shows only what others need, and each heap."""
        configuration = self.programs.configuration
        folder = self.out / "objects" / f"{space.name}.joined"
        joined = {name: folder / f"{name}.o" for name in parts}
        others = [*objects, self.runtime]
        for name, own in parts.items():
            yield self.programs.link(configuration.join, own, joined[name], f"instance {name}")
        every = ("malloc", "free", "realloc", "aligned_alloc", "camkes_arena")
        symbols = {instance.name: instance.symbols for instance in space.instances}
        for index, (name, size) in enumerate(zip(parts, space.heaps, strict=True)):
            arena = folder / f"{name}.arena.o"
            inserted = {placeholders.ARENA: (f"-DCAMKES_ARENA_SIZE={size}",)}
            source = SEL4_KERNEL / "heap" / "arena.c"
            yield self.programs.compile("heap", source, arena, f"the heap of {name}", inserted)
            heap = folder / f"{name}.heap.o"
            yield self.programs.link(configuration.heap, [arena], heap, f"the heap of {name}")
            variables = [f"{each}=camkes_heap_{index}_{each}" for each in _MORECORE]
            functions = [f"{each}=camkes_heap_{index}_{each}" for each in every]
            yield self._hide(heap, [*variables, *functions], (), ())
            for symbol in symbols[name]:
                variables.append(f"{symbol}={symbol if symbol == 'dtb_symbol' else f'{name}.{symbol}'}")
            variables += [f"{symbol}={symbol}" for symbol in space.symbols]
            yield self._hide(joined[name], variables, tuple(joined.values()), others)

    def _hide(
        self, file: Path, renamed: Sequence[str], beside: Sequence[Path], others: Sequence[Path]
    ) -> BuildJob:
        configuration = self.programs.configuration
        output = file.with_name(f"{file.stem}.hidden.o")
        words = [sys.executable, "-m", "camkes.cli.sel4", "hide", "-o", str(output)]
        words += ["--objcopy", configuration.objcopy, "--nm", configuration.nm]
        words += [word for each in renamed for word in ("--rename", each)]
        words += [f"--instance={each}" for each in beside]
        command = (*words, str(file), *map(str, others))
        return BuildJob(
            f"names of {file.stem}", output, command, (file, *beside, *others), f"instance {file.stem}"
        )


def build_system(
    sdk: Sdk,
    configuration: Configuration,
    application: Application,
    parts: SystemParts,
    builds: Mapping[str, ComponentBuild],
    kinds: Mapping[str, ComponentType],
    out: Path,
    sink: Sink,
    progress: Progress,
    stacks: dict[str, StackBound] | None = None,
    flags: Sequence[str] = (),
) -> bool:
    """Compile and link what changed, and put the images into `out`/images; False after a diagnostic.
    `builds` are how instances are built, `kinds` their types, by their names. `stacks` gets the bounds of the
    stacks of threads, by their names; all C is compiled with these `flags`, too. OSError where something
    cannot be written."""
    work = out / "objects"
    programs = Programs(sdk, configuration, out, work, application.folder, flags)
    missing = programs.missing()
    if missing is not None:
        sink.report(
            UNUSABLE_SDK,
            f"the SDK compiles with {missing}, which was not found",
            help="install it: `camkes doctor`",
        )
        return False
    if not can_be_mapped((place for place in programs.mapped if place != application.folder), sink):
        return False
    runtime = _runtime(sdk, configuration, parts, flags, sink, progress)
    if runtime is None:
        return False
    system = _SystemBuild(programs, parts, runtime, out, builds, kinds)
    named = named_folders(application.folder, out)
    if not run(work, system.first(), system.linker_jobs, sink, progress, system.declared, named):
        return False
    if stacks is not None:
        stacks |= _stacks(programs, configuration, parts, system, out / "stacks", progress)
    progress("distributing capabilities")
    if not _distribute(programs, system.images, application.root.stem, out, sink):
        return False
    write_cpio(out / _ARCHIVE, [(path.name, path.read_bytes()) for path in system.images.values()])
    tables = programs.compile("tables", out / _TABLES, work / "tables.o", "the loader")
    assembled = programs.assemble(configuration.archive, out / _ARCHIVE, _SYMBOL, work, work / "archive.o")
    inserted = {placeholders.TABLES: (str(tables.output),)}
    loader = programs.link(
        configuration.loader, [assembled.output], out / _LOADER, "the loader", inserted, [tables.output]
    )
    if not run(work / LOADER, [assembled, tables, loader], {out / _LOADER}, sink, progress):
        return False
    image: Path | None = out / _LOADER
    if configuration.boot is not None:
        image = bootable(programs, configuration.boot, out / _LOADER, sink, progress)
    if image is None:
        return False
    images = out / "images"
    images.mkdir(exist_ok=True)
    for name, source in configuration.images.items():
        write_changed(images / name, (Path(programs.path(source)) if source else image).read_bytes())
    write_changed(out / KERNEL, Path(programs.path(configuration.kernel)).read_bytes())
    write_changed(out / QEMU, json.dumps(_qemu(configuration)))
    return True


def _stacks(
    programs: Programs,
    configuration: Configuration,
    parts: SystemParts,
    system: _SystemBuild,
    out: Path,
    progress: Progress,
) -> dict[str, StackBound]:
    """The bounds of the stacks of threads that have code of components."""
    spaces = []
    for space in parts.spaces:
        jobs = system.compiled.get(space.name, {})
        records = {instance.name: instance.sources for instance in space.instances if instance.name in jobs}
        made = {source for sources in records.values() for source in sources}
        generated = frozenset(job for of in jobs.values() for job in of if job.inputs[0] in made)
        words = (configuration.nm, "-g", "--defined-only", str(system.images[space.name]))
        defined = {line.split()[-1] for line in process.run(words).output.splitlines() if line.strip()}
        spaces.append(CompiledSpace(jobs, generated, records, defined))
    found = stack_bounds(spaces, _runtime_jobs(programs, parts, out / "runtime"), out, progress)
    return {cdl_name(thread): bound for thread, bound in found.items()}


def _qemu(configuration: Configuration) -> list[str]:
    """The command that boots the image, in the folder of the build."""
    kernel = next((name for name, source in configuration.images.items() if source), None)
    system = next(name for name, source in configuration.images.items() if not source)
    words = ["-initrd" if kernel else "-kernel", f"images/{system}"]
    return [*configuration.qemu, *([] if kernel is None else ["-kernel", f"images/{kernel}"]), *words]


def _distribute(programs: Programs, images: Mapping[str, Path], name: str, out: Path, sink: Sink) -> bool:
    """The capability distribution as text, and the tables of the loader."""
    configuration = programs.configuration
    try:
        _, distribution = linked(str(out / SPEC), [f"{space}={path}" for space, path in images.items()])
        if configuration.many:
            distribution.check(int(configuration.many))
    except (ElfError, LinkError, OverlapError) as error:
        sink.report(SEL4_BUILD, str(error))
        return False
    write_changed(out / f"{name}.cdl", capdl_text(distribution))
    sizes = programs.path(configuration.sizes)
    write_changed(out / SIZES, Path(sizes).read_bytes())
    write_changed(out / _TABLES, loader_table(distribution, read_sizes(sizes)))
    return True


# the runtime --------------------------------------------------------------------------------------------


def _definitions(parts: SystemParts) -> list[str]:
    """What a system asks of the runtime."""
    definitions = ["-DCAMKES_CLOCK_STOPPED"] if parts.clock_stopped else []
    return definitions + ([] if parts.timebase is None else [f"-DCAMKES_TIMEBASE={parts.timebase}"])


def _sources() -> list[Path]:
    paths = sorted((RUNTIME_SOURCES / "src").rglob("*.c"))
    return [path for path in paths if not path.stem.endswith("_host")]


def _runtime_jobs(programs: Programs, parts: SystemParts, work: Path) -> list[BuildJob]:
    """Compile the sources of the runtime to objects in `work`."""
    base = RUNTIME_SOURCES / "src"
    return [
        programs.compile(
            "runtime",
            source,
            work / f"{'-'.join(source.relative_to(base).parts)}.o",
            "the runtime",
            more=_definitions(parts),
        )
        for source in _sources()
    ]


def _runtime(
    sdk: Sdk,
    configuration: Configuration,
    parts: SystemParts,
    flags: Sequence[str],
    sink: Sink,
    progress: Progress,
) -> Path | None:
    """The runtime of this tool, compiled once for a configuration, further flags, and what a system asks of
    it."""
    definitions, sources = _definitions(parts), _sources()
    headers = [*RUNTIME_SOURCES.rglob("*.h"), *(SEL4_KERNEL / "trace").rglob("*.h")]
    digest = hashlib.sha256(repr((sdk.identity, configuration.name, definitions, *flags)).encode())
    compiler = configuration.compile["runtime"].program
    digest.update(str(shutil.which(compiler)).encode())
    for file in sorted((*sources, *headers)):
        digest.update(str(file).encode())
        digest.update(file.read_bytes())
    parent = Path(cache_folder("sdk-runtime") or tempfile.gettempdir(), "sdk-runtime")
    parent.mkdir(parents=True, exist_ok=True)
    entry = parent / digest.hexdigest()[:32]
    if (entry / LIBRARY).is_file():
        mark_used(entry)
        return entry / LIBRARY
    forget_older(parent, _KEPT)
    with tempfile.TemporaryDirectory(prefix=".make-", dir=parent) as scratch:
        work = Path(scratch)
        programs = Programs(sdk, configuration, work, work, flags=flags)
        jobs = _runtime_jobs(programs, parts, work)
        made = work / LIBRARY
        ar = configuration.nm.removesuffix("nm") + "ar"
        objects = tuple(job.output for job in jobs)
        archive = BuildJob(
            "the runtime", made, (ar, "qcsD", str(made), *map(str, objects)), objects, "the runtime"
        )
        if not run(work, [*jobs, archive], set(), sink, progress):
            return None
        target = Path(tempfile.mkdtemp(prefix=".done-", dir=parent))
        made.rename(target / LIBRARY)
        try:
            target.rename(entry)
        except OSError:
            shutil.rmtree(target, ignore_errors=True)  # another command was faster
    return entry / LIBRARY
