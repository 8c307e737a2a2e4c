# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Commands of an SDK on this machine: words with paths, jobs that run them, and what became of those."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from msgspec.structs import replace

from camkes import process
from camkes.backends.host.addresses import APPLICATION
from camkes.backends.host.declared import DeclaredNames, one_for_each_cause
from camkes.backends.host.jobs import BuildJob, BuildOutcome, Progress
from camkes.backends.host.link import report_linker
from camkes.backends.host.messages import Sources, compiler_messages
from camkes.backends.host.ninja import run_jobs
from camkes.backends.sel4.codes import SEL4_BUILD
from camkes.backends.sel4.sdk import description as placeholders
from camkes.backends.sel4.sdk.archive import Sdk
from camkes.backends.sel4.sdk.description import Configuration, ToolCommand
from camkes.diagnostics import Diagnostic, Sink
from camkes.files import write_changed
from camkes.resources import ROOT

#: folders in which the loader is linked, and what starts it
LINKED = LOADER, ARCHIVED, PLACED = "loader", "archived", "placed"
_ASSEMBLED = """\
.section ._archive_cpio,"aw"
.globl {symbol}, {symbol}_end
{symbol}:
.incbin "{file}"
{symbol}_end:
"""


class Programs:
    """Commands of a configuration, with paths of this machine in place of placeholders. Files of `out` and
    of the `application` have the names that they have in a build of a workspace."""

    def __init__(
        self,
        sdk: Sdk,
        configuration: Configuration,
        out: Path,
        work: Path,
        application: Path | None = None,
        flags: Sequence[str] = (),
    ) -> None:
        """`flags` are further ones, with which all sources of C are compiled."""
        self.folder = sdk.folder
        self.configuration = configuration
        self._flags = tuple(flags)
        self.build = sdk.folder / configuration.name
        self._identities: dict[str, str] = {}
        self._inside: dict[str, str] = {}
        maps = {sdk.folder / "workspace": "/workspace", self.build: "/build"}
        maps |= {ROOT / name: f"/camkes-rt/{name}" for name in ("kernel", "runtime")}
        maps |= {} if application is None or "=" in str(application) else {application: APPLICATION}
        # the last that fits counts
        maps |= dict.fromkeys((out, work, *(work / name for name in LINKED)), "/build")
        self.mapped = tuple(maps)
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
        how: str | ToolCommand,
        source: Path,
        output: Path,
        about: str,
        inserted: Mapping[str, Sequence[str]] | None = None,
        more: Sequence[str] = (),
    ) -> BuildJob:
        """Compile a source with a command, or as the configuration does with `how`; `more` are flags that
        come last."""
        if isinstance(how, ToolCommand):
            template, language = how, _language(source)
        else:
            template = self.configuration.compile[how]
            language = {"CXX": "c++", "ASM": "assembler-with-cpp"}.get(how, "c")
        flags = self._flags if language == "c" else ()
        command = (*self.words(template, inserted or {}), *flags, *more, *self._maps)
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

    def preprocess(
        self, command: ToolCommand, source: Path, output: Path, inserted: Mapping[str, Sequence[str]]
    ) -> BuildJob:
        """Make a linker script of its source."""
        job = self.compile(command, source, output, "the linker script", inserted)
        words = (*self.words(command, inserted), "-E", "-P", "-x", "c", "-MD", "-MF", str(job.dependencies))
        words += ("-MQ", str(output), str(source), "-o", str(output))
        return replace(job, command=words)

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

    def assemble(
        self, command: ToolCommand, archive: Path, symbol: str, work: Path, output: Path
    ) -> BuildJob:
        """Make an object of an archive, with `symbol` at its begin; `work` is for its source."""
        source = work / f"{output.stem}.S"
        write_changed(source, _ASSEMBLED.format(symbol=symbol, file=archive.name))
        words = (*self.words(command, {}), f"-I{archive.parent}", "-c", str(source), "-o", str(output))
        identity = self.identity(command.program)
        return BuildJob("images", output, words, (source, archive), "the loader", identity=identity)


def compiler_version(program: str) -> str:
    """The first line of what a compiler prints about its version."""
    return process.run([program, "--version"]).output.partition("\n")[0]


def _language(source: Path) -> str:
    """What the compiler takes a file for, by its name."""
    if source.suffix == ".S":
        return "assembler-with-cpp"
    return "c" if source.suffix == ".c" else "c++"


def run(
    folder: Path,
    jobs: Sequence[BuildJob],
    links: set[Path],
    sink: Sink,
    progress: Progress,
    declared: Callable[[BuildJob], DeclaredNames | None] = lambda _: None,
    named: Mapping[str, Path] = MappingProxyType({}),
) -> bool:
    """Run jobs, of which those with these outputs link; False after a diagnostic. `declared` says what the
    headers have that a job sees that compiles code of users, `named` are folders by their names in
    objects."""
    outcomes = run_jobs(folder, jobs, progress)
    return _reported(outcomes, links, sink, declared, named)


def _reported(
    outcomes: Iterable[BuildOutcome],
    links: set[Path],
    sink: Sink,
    declared: Callable[[BuildJob], DeclaredNames | None],
    named: Mapping[str, Path],
) -> bool:
    sources = Sources()
    said: list[Diagnostic] = []
    failed = False
    for outcome in outcomes:
        failed = failed or not outcome.good
        if outcome.job.compiler:
            found = compiler_messages(outcome.messages, outcome.good, outcome.job.about, sources)
            names = declared(outcome.job) if found else None
            said += found if names is None else map(names.explained, found)
        elif not outcome.good and outcome.job.output in links:
            report_linker(outcome, sink, named)
        elif not outcome.good:
            notes = outcome.messages.strip().splitlines()[-20:]
            sink.report(SEL4_BUILD, f"{outcome.job.title} failed", notes=notes)
    for diagnostic in one_for_each_cause(said):
        sink.add(diagnostic)
    return not failed
