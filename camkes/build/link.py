# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Links the objects of each address space into one shared object.

Instances that share an address space can define the same names. Each of them is linked by itself first
and then hides all names but those that the rest of the address space or the kernel looks for.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from camkes.build.codes import LINK_ERROR
from camkes.build.compiler import Compiler
from camkes.build.digests import Digests
from camkes.build.jobs import OUTPUT, Job, Progress, run_jobs, write_whole
from camkes.capdl.model import CapabilityModel, Space
from camkes.diagnostics import Sink

_DUPLICATE = re.compile(r"multiple definition of [`'](?P<name>[^']+)'")
_UNDEFINED = re.compile(r"undefined reference to [`'](?P<name>[^']+)'")

Objects = Mapping[str, tuple[Path, ...]]


def link_spaces(
    capabilities: CapabilityModel,
    compiler: Compiler,
    objects: Objects,
    shared: Objects,
    runtime: tuple[Path, ...],
    libraries: Mapping[str, tuple[str, ...]],
    kernel: Path,
    out: Path,
    digests: Digests,
    sink: Sink,
    progress: Progress,
) -> dict[str, Path] | None:
    """The image of each address space by its name; None after a diagnostic. `objects` and `libraries`
    (link arguments) are those of each instance, `shared` are objects of each address space."""
    parts: dict[str, tuple[Path, ...]] = {}
    for space in capabilities.spaces:
        if len(space.instances) > 1:
            joined = _group(
                space, compiler, objects, (*shared[space.name], *runtime), out, digests, sink, progress
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
        about = f"component {space.name}" if len(space.instances) == 1 else f"group {space.name}"
        image, objects_of = images[space.name], parts[space.name]
        title = f"linking {space.name}"
        jobs.append(Job(title, image, command, objects_of, about, identity=compiler.identity))
    if not _run(jobs, digests, sink, progress):
        return None
    checked = _check(images, objects, capabilities, compiler, kernel, out, digests, sink, progress)
    return images if checked else None


def _run(jobs: Sequence[Job], digests: Digests, sink: Sink, progress: Progress) -> bool:
    good = True
    for outcome in run_jobs(jobs, digests, progress):
        if outcome.good:
            continue
        good = False
        names = dict.fromkeys(m["name"] for m in _DUPLICATE.finditer(outcome.messages))
        missing = dict.fromkeys(m["name"] for m in _UNDEFINED.finditer(outcome.messages))
        for name in names:
            sink.report(
                LINK_ERROR, f"{outcome.job.about} defines {name} twice", notes=[outcome.messages.strip()]
            )
        for name in missing:
            sink.report(LINK_ERROR, f"{outcome.job.about} uses {name}, which nothing defines")
        if not names and not missing:
            lines = outcome.messages.strip().splitlines()[:40]
            sink.report(LINK_ERROR, f"{outcome.job.about} cannot be linked", notes=lines)
    return good


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
    wanted = {file: _names("--undefined-only", file) for file in (*(j.output for j in joins), *others)}
    hides: list[Job] = []
    for job in joins:
        outside = set().union(
            {m.symbol for m in space.mappings}, *(w for f, w in wanted.items() if f != job.output)
        )
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
        instances = spaces[outcome.job.about].instances
        for name in dict.fromkeys(m["name"] for m in _UNDEFINED.finditer(outcome.messages)):
            users = _users(name, [o for i in instances for o in objects[i]])
            notes = [f"used in {', '.join(users)}"] if users else []
            sink.report(LINK_ERROR, f"{' and '.join(instances)}: nothing defines {name}", notes=notes)
        if not sink.has_errors:
            lines = outcome.messages.strip().splitlines()[:40]
            sink.report(LINK_ERROR, f"{outcome.job.about} cannot be linked", notes=lines)
    return good


def _names(which: str, file: Path, *options: str) -> set[str]:
    """Global symbols of a file; weak ones that are not defined do not count."""
    command = ("nm", "-g", which, *options, str(file))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    words = [line.split()[-2:] for line in done.stdout.splitlines()]
    return {w[1] for w in words if len(w) == 2 and w[0] not in ("w", "v")}


def _users(name: str, objects: Sequence[Path]) -> list[str]:
    return [o.name.removesuffix(".o") for o in objects if name in _names("--undefined-only", o)]
