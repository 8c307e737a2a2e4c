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

from msgspec.structs import replace

from camkes import process
from camkes.backends.host.jobs import BuildJob, BuildOutcome, Progress
from camkes.backends.host.link import report_linker
from camkes.backends.host.messages import Sources, report_compiler
from camkes.backends.host.ninja import run_jobs
from camkes.backends.sel4.address_space import OverlapError
from camkes.backends.sel4.build import SPEC
from camkes.backends.sel4.codes import SEL4_BUILD, UNUSABLE_SDK
from camkes.backends.sel4.elf import ElfError
from camkes.backends.sel4.link import LinkError, linked
from camkes.backends.sel4.project import InstanceParts, SpaceParts, SystemParts
from camkes.backends.sel4.sdk import description as placeholders
from camkes.backends.sel4.sdk.archive import Sdk
from camkes.backends.sel4.sdk.cpio import write_cpio
from camkes.backends.sel4.sdk.description import Configuration, ToolCommand
from camkes.backends.sel4.workspace import QEMU
from camkes.cache import cache_folder, forget_older
from camkes.capdl.loader_table import loader_table
from camkes.capdl.specification import read_sizes
from camkes.capdl.text import capdl_text
from camkes.diagnostics import Sink
from camkes.files import write_changed
from camkes.project.application import Application
from camkes.project.builds import ComponentBuild
from camkes.resources import ROOT, SEL4_KERNEL
from camkes.resources import RUNTIME as RUNTIME_SOURCES

LIBRARY = "libcamkes_rt.a"
LAST = "loader"  # the folder in which the loader is linked
#: the variables that the C library takes its heap from
_MORECORE = tuple(f"morecore_{each}" for each in ("area", "size"))
_KEPT = 64  # runtimes, for other SDKs, configurations and versions of the tool
_ARCHIVE, _LOADER = "archive.capdl-loader_archive.o.cpio", "capdl-loader"
_TABLES = "capdl_spec.c"
#: the commands of cmake/generate.cmake for what is generated: see there
_GLUE, _RENDERED = ("-O2", "-fno-tree-vectorize"), ("-O2", "-UNDEBUG")
_ASSEMBLED = f"""\
.section ._archive_cpio,"aw"
.globl _capdl_archive, _capdl_archive_end
_capdl_archive:
.incbin "{_ARCHIVE}"
_capdl_archive_end:
"""


class _Programs:
    """Commands of a configuration, with paths of this machine in place of placeholders. Files of `out`
    have the names that they have in a build of a workspace; those of `kept` stay as they are."""

    def __init__(
        self, sdk: Sdk, configuration: Configuration, out: Path, work: Path, kept: Path | None = None
    ) -> None:
        self.folder = sdk.folder
        self.configuration = configuration
        self.build = sdk.folder / configuration.name
        self._identities: dict[str, str] = {}
        self._inside: dict[str, str] = {}
        maps = {sdk.folder / "workspace": "/workspace", self.build: "/build"}
        maps |= {ROOT / name: f"/camkes-rt/{name}" for name in ("kernel", "runtime")}
        maps |= {} if kept is None else {kept: str(kept)}
        maps |= dict.fromkeys((out, work, work / LAST), "/build")  # the last that fits counts
        self._maps = tuple(f"-ffile-prefix-map={place}={name}" for place, name in maps.items())

    def missing(self) -> str | None:
        """A program that is not there."""
        programs = {command.program for command in self.configuration.commands()}
        return next((name for name in sorted(programs) if shutil.which(name) is None), None)

    def words(self, command: ToolCommand, inserted: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
        """A command, with `inserted` in place of whole words."""
        words = [command.program]
        for word in command.words:
            words += inserted[word] if word in inserted else [self.path(word, command.program)]
        return tuple(words)

    def path(self, text: str, program: str = "") -> str:
        if "@" not in text:
            return text
        if placeholders.COMPILER in text:
            text = text.replace(placeholders.COMPILER, self._compiler_folder(program))
        places = {placeholders.BUILD: self.build, placeholders.TOOL: ROOT}
        places[placeholders.WORKSPACE] = self.folder / "workspace"
        for mark, folder in places.items():
            text = text.replace(mark, str(folder))
        return text

    def _compiler_folder(self, program: str) -> str:
        if program not in self._inside:
            said = process.run([program, "-print-file-name=crtbegin.o"]).output.strip()
            self._inside[program] = str(Path(said).parent)
        return self._inside[program]

    def identity(self, program: str) -> str:
        """Changes with the program."""
        if program not in self._identities:
            path = Path(shutil.which(program) or program)
            status = path.stat()
            self._identities[program] = f"{path} {status.st_size} {status.st_mtime_ns}"
        return self._identities[program]

    def compile(
        self,
        how: str,
        source: Path,
        output: Path,
        about: str,
        inserted: Mapping[str, Sequence[str]] | None = None,
        more: Sequence[str] = (),
    ) -> BuildJob:
        """Compile a source as the configuration does with `how`; `more` are flags that come last."""
        template = self.configuration.compile[how]
        language = {"CXX": "c++", "ASM": "assembler-with-cpp"}.get(how, "c")
        command = (*self.words(template, inserted or {}), *more, *self._maps)
        explicit = ("-x", language) if _language(source) != language else ()
        plain = source.suffix == ".s"
        job = BuildJob(
            f"{about}: {source.name}",
            output,
            (),
            (source,),
            about,
            identity=self.identity(template.program),
            search=() if plain else (*command, "-x", language),
            compiler=(template.program, "-x", language),
        )
        rule = () if plain else ("-MD", "-MF", str(job.dependencies), "-MQ", str(output))
        return replace(job, command=(*command, *rule, *explicit, "-c", str(source), "-o", str(output)))

    def link(
        self,
        command: ToolCommand,
        objects: Sequence[Path],
        output: Path,
        about: str,
        inserted: Mapping[str, Sequence[str]] | None = None,
        inputs: Sequence[Path] = (),
    ) -> BuildJob:
        named = {placeholders.OBJECTS: tuple(map(str, objects)), **(inserted or {})}
        return BuildJob(
            f"linking {about}",
            output,
            (*self.words(command, named), "-o", str(output)),
            (*objects, *inputs),
            about,
            identity=self.identity(command.program),
        )


def _language(source: Path) -> str:
    """What the compiler takes a file for, by its name."""
    if source.suffix == ".S":
        return "assembler-with-cpp"
    return "c" if source.suffix == ".c" else "c++"


class _SystemBuild:
    """The jobs that make the images of a system in `out`."""

    def __init__(
        self,
        programs: _Programs,
        parts: SystemParts,
        runtime: Path,
        out: Path,
        builds: Mapping[str, ComponentBuild],
    ) -> None:
        self.programs = programs
        self.parts = parts
        self.runtime = runtime
        self.out = out
        self.builds = builds
        self.linker_jobs: set[Path] = set()

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
            yield self.programs.compile(language, source, output, about, inserted, more)

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
    out: Path,
    sink: Sink,
    progress: Progress,
) -> bool:
    """Compile and link what changed, and put the images into `out`/images; False after a diagnostic.
    `builds` are how instances are built, by their names. OSError where something cannot be written."""
    work = out / "objects"
    programs = _Programs(sdk, configuration, out, work, application.folder)
    missing = programs.missing()
    if missing is not None:
        sink.report(
            UNUSABLE_SDK,
            f"the SDK compiles with {missing}, which was not found",
            help="install it: `camkes doctor`",
        )
        return False
    runtime = _runtime(sdk, configuration, parts, sink, progress)
    if runtime is None:
        return False
    system = _SystemBuild(programs, parts, runtime, out, builds)
    if not _run(work, system.first(), system.linker_jobs, sink, progress):
        return False
    progress("distributing capabilities")
    if not _distribute(programs, system.images, application.root.stem, out, sink):
        return False
    write_cpio(out / _ARCHIVE, [(path.name, path.read_bytes()) for path in system.images.values()])
    write_changed(work / "archive.S", _ASSEMBLED)
    tables = programs.compile("tables", out / _TABLES, work / "tables.o", "the loader")
    assembled = _assemble(programs, work / "archive.S", out, work / "archive.o")
    inserted = {placeholders.TABLES: (str(tables.output),)}
    loader = programs.link(
        configuration.loader, [assembled.output], out / _LOADER, "the loader", inserted, [tables.output]
    )
    if not _run(work / LAST, [assembled, tables, loader], {out / _LOADER}, sink, progress):
        return False
    images = out / "images"
    images.mkdir(exist_ok=True)
    for name, source in configuration.images.items():
        _place(Path(programs.path(source)) if source else out / _LOADER, images / name)
    write_changed(out / QEMU, json.dumps(_qemu(configuration)))
    return True


def _qemu(configuration: Configuration) -> list[str]:
    """The command that boots the image, in the folder of the build."""
    kernel = next((name for name, source in configuration.images.items() if source), None)
    system = next(name for name, source in configuration.images.items() if not source)
    words = ["-initrd" if kernel else "-kernel", f"images/{system}"]
    return [*configuration.qemu, *([] if kernel is None else ["-kernel", f"images/{kernel}"]), *words]


def _assemble(programs: _Programs, source: Path, out: Path, output: Path) -> BuildJob:
    command = programs.configuration.archive
    words = (*programs.words(command, {}), f"-I{out}", "-c", str(source), "-o", str(output))
    inputs = (source, out / _ARCHIVE)
    return BuildJob(
        "images", output, words, inputs, "the loader", identity=programs.identity(command.program)
    )


def _place(source: Path, target: Path) -> None:
    data = source.read_bytes()
    write_changed(target, data)


def _distribute(programs: _Programs, images: Mapping[str, Path], name: str, out: Path, sink: Sink) -> bool:
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
    write_changed(out / _TABLES, loader_table(distribution, read_sizes(programs.path(configuration.sizes))))
    return True


def _run(folder: Path, jobs: Sequence[BuildJob], links: set[Path], sink: Sink, progress: Progress) -> bool:
    outcomes = run_jobs(folder, jobs, progress)
    return _reported(outcomes, links, sink)


def _reported(outcomes: Iterable[BuildOutcome], links: set[Path], sink: Sink) -> bool:
    sources = Sources()
    failed = False
    for outcome in outcomes:
        failed = failed or not outcome.good
        if outcome.job.compiler:
            report_compiler(outcome.messages, outcome.good, outcome.job.about, sources, sink)
        elif not outcome.good and outcome.job.output in links:
            report_linker(outcome, sink)
        elif not outcome.good:
            notes = outcome.messages.strip().splitlines()[-20:]
            sink.report(SEL4_BUILD, f"{outcome.job.title} failed", notes=notes)
    return not failed


# the runtime --------------------------------------------------------------------------------------------


def _runtime(
    sdk: Sdk, configuration: Configuration, parts: SystemParts, sink: Sink, progress: Progress
) -> Path | None:
    """The runtime of this tool, compiled once for a configuration and what a system asks of it."""
    definitions = []
    if parts.clock_stopped:
        definitions.append("-DCAMKES_CLOCK_STOPPED")
    if parts.timebase is not None:
        definitions.append(f"-DCAMKES_TIMEBASE={parts.timebase}")
    sources = [
        path for path in sorted((RUNTIME_SOURCES / "src").rglob("*.c")) if not path.stem.endswith("_host")
    ]
    headers = [*RUNTIME_SOURCES.rglob("*.h"), *(SEL4_KERNEL / "trace").rglob("*.h")]
    digest = hashlib.sha256(repr((sdk.identity, configuration.name, definitions)).encode())
    compiler = configuration.compile["runtime"].program
    digest.update(str(shutil.which(compiler)).encode())
    for file in sorted((*sources, *headers)):
        digest.update(str(file).encode())
        digest.update(file.read_bytes())
    parent = Path(cache_folder("sdk-runtime") or tempfile.gettempdir(), "sdk-runtime")
    parent.mkdir(parents=True, exist_ok=True)
    entry = parent / digest.hexdigest()[:32]
    if (entry / LIBRARY).is_file():
        return entry / LIBRARY
    forget_older(parent, _KEPT)
    with tempfile.TemporaryDirectory(prefix=".make-", dir=parent) as scratch:
        work = Path(scratch)
        programs = _Programs(sdk, configuration, work, work)
        base = RUNTIME_SOURCES / "src"
        jobs = [
            programs.compile(
                "runtime",
                source,
                work / f"{'-'.join(source.relative_to(base).parts)}.o",
                "the runtime",
                more=definitions,
            )
            for source in sources
        ]
        made = work / LIBRARY
        ar = configuration.nm.removesuffix("nm") + "ar"
        objects = tuple(job.output for job in jobs)
        archive = BuildJob(
            "the runtime", made, (ar, "qcsD", str(made), *map(str, objects)), objects, "the runtime"
        )
        if not _run(work, [*jobs, archive], set(), sink, progress):
            return None
        target = Path(tempfile.mkdtemp(prefix=".done-", dir=parent))
        made.rename(target / LIBRARY)
        try:
            target.rename(entry)
        except OSError:
            shutil.rmtree(target, ignore_errors=True)  # another command was faster
    return entry / LIBRARY
