# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Links the objects of each address space into one shared object.

Instances that share an address space can define the same names. Each of them is linked by itself first
and then hides all names but those that the rest of the address space or the kernel looks for.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from camkes.build.codes import LINK_ERROR
from camkes.build.compiler import Compiler
from camkes.build.digests import Digests
from camkes.build.jobs import OUTPUT, Job, Progress, run_jobs, write_whole
from camkes.build.messages import Sources
from camkes.capdl.model import CapabilityModel, Space
from camkes.diagnostics import Diagnostic, Label, Sink, Span
from camkes.model.system import INSTANCE_PREFIX
from camkes.process import in_english

#: with the places where GNU ld knows them
_DUPLICATE = re.compile(
    r"(?:(?P<file>/[^:\n]+):(?P<line>\d+): )?multiple definition of [`'](?P<name>[^']+)'"
    r"(?:; [^:\n]+:(?P<first_file>/[^:\n]+):(?P<first_line>\d+): first defined here)?"
)
_UNDEFINED = re.compile(
    r"(?:(?P<file>/[^:\n]+):(?P<line>\d+): )?(?:more )?undefined reference to [`'](?P<name>[^']+)'"
)

Objects = Mapping[str, tuple[Path, ...]]

#: what is said of an instance and a name that its code lacks; None if nothing asks it for that name
Expected = Callable[[str, str], Diagnostic | None]


def link_spaces(
    capabilities: CapabilityModel,
    compiler: Compiler,
    objects: Objects,
    shared: Objects,
    runtime: tuple[Path, ...],
    libraries: Mapping[str, tuple[str, ...]],
    kernel: Path,
    out: Path,
    expected_of: Expected,
    digests: Digests,
    sink: Sink,
    progress: Progress,
) -> dict[str, Path] | None:
    """The image of each address space by its name; None after a diagnostic. `objects` and `libraries`
    (link arguments) are those of each instance, `shared` are objects of each address space. `expected_of`
    tells of a name that the code of an instance must define."""
    parts: dict[str, tuple[Path, ...]] = {}
    for space in capabilities.spaces:
        if len(space.instances) > 1:
            joined = _group(
                space,
                compiler,
                objects,
                (*shared[space.name], *runtime),
                out,
                digests,
                sink,
                progress,
            )
            if joined is None:
                return None
        else:
            joined = objects[space.instances[0]]
        parts[space.name] = (*joined, *shared[space.name], *runtime)
    images = {name: out / f"{name}.so" for name in parts}
    jobs: list[Job] = []
    for space in capabilities.spaces:
        arguments = tuple(dict.fromkeys(a for i in space.instances for a in libraries[i]))
        command = (
            *compiler.c,
            "-shared",
            *compiler.link_flags(),
            "-Wl,-Bsymbolic,-z,now,-z,noexecstack",
            *map(str, parts[space.name]),
            *arguments,
            *("-o", OUTPUT),
        )
        about = _about(space)
        image, objects_of = images[space.name], parts[space.name]
        title = f"linking {space.name}"
        jobs.append(Job(title, image, command, objects_of, about, identity=compiler.identity))
    if not _run(jobs, digests, sink, progress):
        return None
    checked = _check(
        images, objects, capabilities, compiler, kernel, out, expected_of, digests, sink, progress
    )
    return images if checked else None


def _run(jobs: Sequence[Job], digests: Digests, sink: Sink, progress: Progress) -> bool:
    good = True
    for outcome in run_jobs(jobs, digests, progress):
        if outcome.good:
            continue
        good = False
        about, sources = outcome.job.about, Sources()
        twice = {m["name"]: m for m in reversed([*_DUPLICATE.finditer(outcome.messages)])}
        missing = {m["name"]: m for m in reversed([*_UNDEFINED.finditer(outcome.messages)])}
        for name, match in twice.items():
            # the line is that of the first statement
            span = _place(match["file"], match["line"], name, sources, above=9)
            first = _place(match["first_file"], match["first_line"], name, sources, above=9)
            sink.report(
                LINK_ERROR,
                f"{about} defines `{name}` twice",
                span,
                related=[Label(first, "defined here first")] if first is not None else [],
                notes=[] if span is not None else [outcome.messages.strip()],
                help="make one of them `static`, or give it another name",
            )
        for name, match in missing.items():
            span = _place(match["file"], match["line"], name, sources)
            sink.report(LINK_ERROR, f"{about} uses `{name}`, which nothing defines", span)
        if not twice and not missing:
            lines = outcome.messages.strip().splitlines()[:40]
            sink.report(LINK_ERROR, f"{about} cannot be linked", notes=lines)
    return good


def _place(file: str | None, line: str | None, name: str, sources: Sources, above: int = 0) -> Span | None:
    """Where a name is in a line of a file, if these are known."""
    return None if file is None or line is None else sources.word(Path(file), int(line), name, above)


def _group(
    space: Space,
    compiler: Compiler,
    objects: Objects,
    others: tuple[Path, ...],
    out: Path,
    digests: Digests,
    sink: Sink,
    progress: Progress,
) -> tuple[Path, ...] | None:
    """An object for each instance of a group, with the names hidden that only it needs."""
    joins: list[Job] = []
    for name in space.instances:
        command = (*compiler.c, "-r", "-nostdlib", *map(str, objects[name]), "-o", OUTPUT)
        output = out / "objects" / name / "joined.o"
        about = f"instance {name}"
        joins.append(Job(about, output, command, objects[name], about, identity=compiler.identity))
    if not _run(joins, digests, sink, progress):
        return None
    # of each other, instances want what was generated for that; other names mean another thing in each
    between = set().union(*(_names("--undefined-only", job.output) for job in joins))
    outside = {name for name in between if name.startswith(INSTANCE_PREFIX)}.union(
        (m.symbol for m in space.mappings), *(_names("--undefined-only", file) for file in others)
    )
    hides: list[Job] = []
    for job in joins:
        kept = sorted(_names("--defined-only", job.output) & outside)
        keep = [f"--keep-global-symbol={name}" for name in kept] or ["--keep-global-symbol="]
        output = job.output.with_name("hidden.o")
        command = ("objcopy", *keep, str(job.output), OUTPUT)
        hides.append(Job(job.title, output, command, (job.output,), job.about))
    return tuple(j.output for j in hides) if _run(hides, digests, sink, progress) else None


# what is left to the kernel


def _check(
    images: Mapping[str, Path],
    objects: Objects,
    capabilities: CapabilityModel,
    compiler: Compiler,
    kernel: Path,
    out: Path,
    expected_of: Expected,
    digests: Digests,
    sink: Sink,
    progress: Progress,
) -> bool:
    """Every name an image leaves open must be the kernel's. A shared object may leave anything open, so each
    is linked into a program that has the kernel's names and nothing else."""
    names = _names("--defined-only", kernel, "-D") | {"main"}
    source = out / "objects" / "kernel-names.s"
    text = "".join(f'.globl "{n}"\n"{n}":\n' for n in sorted(names) if "@" not in n)
    write_whole(source, f'.text\n{text}.section .note.GNU-stack,"",%progbits\n')
    jobs: list[Job] = []
    for space in capabilities.spaces:
        image = images[space.name]
        flags = (*compiler.check_flags(), "-nostartfiles", "-Wl,--no-as-needed,--no-allow-shlib-undefined")
        command = (*compiler.c, *flags, str(source), str(image), "-o", OUTPUT)
        output = out / "objects" / f"{space.name}.resolved"
        title = f"checking {space.name}"
        jobs.append(Job(title, output, command, (source, image), space.name, identity=compiler.identity))
    good = True
    spaces = {s.name: s for s in capabilities.spaces}
    for outcome in run_jobs(jobs, digests, progress):
        if outcome.good:
            continue
        good = False
        space = spaces[outcome.job.about]
        for name in dict.fromkeys(m["name"] for m in _UNDEFINED.finditer(outcome.messages)):
            users = [i for i in space.instances if _leaves_open(objects[i], name)]
            expected = [found for i in users if (found := expected_of(i, name)) is not None]
            used_in = tuple(o for i in users for o in objects[i])
            for diagnostic in expected or [_undefined(name, _about(space), used_in, compiler, out)]:
                sink.add(diagnostic)
        if not sink.has_errors:
            lines = outcome.messages.strip().splitlines()[:40]
            sink.report(LINK_ERROR, f"{outcome.job.about} cannot be linked", notes=lines)
    return good


def _about(space: Space) -> str:
    return f"component {space.name}" if len(space.instances) == 1 else f"group {space.name}"


def _leaves_open(objects: Sequence[Path], name: str) -> bool:
    """Whether one of the objects uses a name that none of them defines."""
    used, defined = (any(name in _names(f"--{w}-only", o) for o in objects) for w in ("undefined", "defined"))
    return used and not defined


def _names(which: str, file: Path, *options: str) -> set[str]:
    """Global symbols of a file; weak ones that are not defined do not count."""
    command = ("nm", "-g", which, *options, str(file))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    words = [line.split()[-2:] for line in done.stdout.splitlines()]
    return {w[1] for w in words if len(w) == 2 and w[0] not in ("w", "v")}


def _undefined(name: str, about: str, objects: Sequence[Path], compiler: Compiler, out: Path) -> Diagnostic:
    """A name that nothing defines, where it is used. A linker says where if it may leave nothing open."""
    output = out / "objects" / "closed.so"
    command = (*compiler.c, "-shared", "-Wl,-z,defs", *map(str, objects), "-o", str(output))
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env=in_english(),
    )
    output.unlink(missing_ok=True)
    sources = Sources()
    uses = [m for m in _UNDEFINED.finditer(done.stderr) if m["name"] == name]
    places = [place for m in uses if (place := _place(m["file"], m["line"], name, sources)) is not None]
    users = [o.name.removesuffix(".o") for o in objects if name in _names("--undefined-only", o)]
    return Diagnostic(
        LINK_ERROR,
        f"{about} uses `{name}`, which nothing defines",
        places[0] if places else None,
        related=tuple(Label(place, "used here too") for place in dict.fromkeys(places[1:3])),
        notes=(f"used in {', '.join(users)}",) if users and not places else (),
        help="define it in a source of the component, or name the source that does in CMakeLists.txt",
    )
