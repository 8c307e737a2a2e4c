# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Links seL4's ELF loader, which unpacks kernel and system on machines other than PCs, with a system."""

from __future__ import annotations

from pathlib import Path

from camkes.backends.host.jobs import BuildJob, Progress
from camkes.backends.sel4.codes import SEL4_BUILD
from camkes.backends.sel4.elf import ElfError, with_content
from camkes.backends.sel4.sdk import description as placeholders
from camkes.backends.sel4.sdk import elfloader
from camkes.backends.sel4.sdk.cpio import write_cpio
from camkes.backends.sel4.sdk.description import BootLoader, Firmware
from camkes.backends.sel4.sdk.programs import ARCHIVED, PLACED, Programs, run
from camkes.diagnostics import Sink
from camkes.files import write_changed

_FOLDER = "elfloader"  # its folder in a build, of which debug information has the name
_ARCHIVE = "archive.archive.o.cpio"
_SYMBOL = "_archive_start"


def bootable(
    programs: Programs, boot: BootLoader, system: Path, sink: Sink, progress: Progress
) -> Path | None:
    """The image that unpacks and starts the kernel and the program `system`, in the folder of that; None
    after a diagnostic. OSError where something cannot be written."""
    out = system.parent
    work, folder = out / "objects", out / _FOLDER
    archive = folder / "archive.o"
    stripped = folder / elfloader.SYSTEM
    job = _job(boot.strip, (str(system), "-o", str(stripped)), stripped, system)
    if not run(work / ARCHIVED, [job], set(), sink, progress):
        return None
    members = [
        *((name, Path(programs.path(file))) for name, file in boot.files),
        (elfloader.SYSTEM, stripped),
    ]
    contents = [(name, path.read_bytes()) for name, path in members]
    write_cpio(folder / _ARCHIVE, contents, data_files=(elfloader.TREE,))
    assembled = programs.assemble(boot.archive, folder / _ARCHIVE, _SYMBOL, folder, archive)
    if not run(work / ARCHIVED, [job, assembled], set(), sink, progress):
        return None
    if boot.memory:
        try:
            address = elfloader.start(boot.memory, members, archive)
        except ElfError as error:
            sink.report(SEL4_BUILD, str(error))
            return None
        write_changed(folder / "gen_headers" / elfloader.HEADER, elfloader.header(address))
    jobs = _linked(programs, boot, folder, archive, work)
    if boot.firmware is not None:
        objcopy = programs.configuration.objcopy
        jobs.append(_flat(objcopy, jobs[-1].output, folder / "payload"))
        if not run(work / PLACED, jobs, {job.output for job in jobs}, sink, progress):
            return None
        try:
            jobs.append(_with_payload(programs, boot.firmware, jobs[-1].output))
        except ElfError as error:
            sink.report(SEL4_BUILD, str(error))
            return None
    if boot.binary:
        jobs.append(_flat(programs.configuration.objcopy, jobs[-1].output, folder / "image.bin"))
    return jobs[-1].output if run(work / PLACED, jobs, {job.output for job in jobs}, sink, progress) else None


def _job(program: str, words: tuple[str, ...], output: Path, *inputs: Path) -> BuildJob:
    return BuildJob("the image", output, (program, *words), inputs, "the image")


def _linked(programs: Programs, boot: BootLoader, folder: Path, archive: Path, work: Path) -> list[BuildJob]:
    """What has its place in memory is compiled anew, and all of it is linked."""
    named = {}
    jobs = []
    if boot.memory:
        own = {f"-I{boot.headers}": (f"-I{folder / 'gen_headers'}", programs.path(f"-I{boot.headers}"))}
        for object, placed in boot.placed.items():
            source = Path(programs.path(placed.source))
            # its name is in the image
            output = work / PLACED / Path(object).parent.name / Path(object).name
            jobs.append(programs.compile(placed.command, source, output, "the image", own))
            named[object] = (str(output),)
        script = folder / elfloader.SCRIPT
        jobs.append(
            programs.preprocess(boot.script.command, Path(programs.path(boot.script.source)), script, own)
        )
        named[f"{placeholders.BUILD}/{_FOLDER}/{elfloader.SCRIPT}"] = (str(script),)
    image = folder / "elfloader"
    inputs = [job.output for job in jobs]
    return [*jobs, programs.link(boot.link, [archive], image, "the image", named, inputs)]


def _flat(objcopy: str, image: Path, output: Path) -> BuildJob:
    return _job(objcopy, ("-O", "binary", str(image), str(output)), output, image)


def _with_payload(programs: Programs, firmware: Firmware, payload: Path) -> BuildJob:
    """Put what is in memory of the boot loader into the firmware's object, and link that. Raises ElfError."""
    given = Path(programs.path(firmware.payload))
    place = (firmware.section, firmware.begin, firmware.end)
    changed = payload.with_name(given.name)
    write_changed(changed, with_content(given.read_bytes(), *place, payload.read_bytes(), firmware.align))
    return programs.link(firmware.link, [changed], changed.with_suffix(".elf"), "the image")
