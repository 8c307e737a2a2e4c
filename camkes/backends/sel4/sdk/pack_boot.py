# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How a build of a workspace links seL4's ELF loader, and firmware before it, with a system."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

from camkes import process
from camkes.backends.sel4.sdk import description as words_of
from camkes.backends.sel4.sdk.description import BUILD, BootLoader, Firmware, PlacedSource
from camkes.backends.sel4.sdk.elfloader import HEADER, KERNEL, SCRIPT, SYSTEM, TREE
from camkes.backends.sel4.sdk.probe_build import PackError, ProbeBuild

_PROGRAM = "elfloader/elfloader"
_HEADERS = f"{BUILD}/elfloader/gen_headers"
_FORM = "ElfloaderImage"
_PAYLOAD, _SECTION = "fw_payload", ".payload"
#: to which assemblers for RISC-V extend a section of this alignment
_ALIGN = 16
#: words of the firmware's compiler that a link has no use for
_NOT_TO_LINK = ("-I", "-D", "-W", "-g")
_REGION = re.compile(r"- end: (\w+)\n  start: (\w+)\n?")


def boot_loader(build: ProbeBuild, cache: Mapping[str, str]) -> BootLoader | None:
    """How it is linked; None where the kernel is started by something else."""
    if _PROGRAM not in build.edges:
        return None
    form = cache.get(_FORM, "elf")
    if form not in ("elf", "binary"):
        raise PackError(
            f"{build.name}: an SDK makes images of the forms elf and binary, not {form}; "
            f"choose one with -D {_FORM}=elf, or build applications in a workspace"
        )
    archive = build.edge("elfloader/archive.o")
    members = {Path(name).name: name for name in re.findall(r"cp -a (\S+) \.", " ".join(archive.words))}
    system = members.pop(SYSTEM, None)
    if system is None or not members.keys() <= {KERNEL, TREE}:
        raise PackError(f"{build.name}: its ELF loader has {', '.join(members)}, for which there is no SDK")
    sources = {object: build.edges[object] for object in build.users_of(HEADER)}
    words = build.link(build.edge(_PROGRAM), lambda word: word == "elfloader/archive.o")
    marked = {build.marked(object): edge for object, edge in sources.items()}
    script = build.edge(f"elfloader/{SCRIPT}")
    return BootLoader(
        files=tuple((name, build.keep(build.marked(path))) for name, path in members.items()),
        archive=build.assembler(archive),
        memory=_memory(build),
        headers=_HEADERS,
        placed={
            name: PlacedSource(build.keep(build.marked(edge.source)), build.compile(edge))
            for name, edge in marked.items()
        },
        script=_script(build, script.words),
        link=build.linked(words),
        strip=Path(cache["CMAKE_STRIP"]).name,
        binary=form == "binary",
        firmware=_firmware(build, cache),
    )


def remade(boot: BootLoader) -> Iterator[str]:
    """What an SDK makes for each system, and need not have."""
    if boot.memory:
        yield from (*boot.placed, f"{boot.headers}/{HEADER}", f"{BUILD}/elfloader/{SCRIPT}")


def _memory(build: ProbeBuild) -> tuple[tuple[int, int], ...]:
    """The regions of the machine's memory, in the order in which the kernel's build has them; none where the
    place does not depend on the system."""
    if not any(name.endswith(f"/{HEADER}") for name in build.edges):
        return ()
    file = build.out / "kernel/gen_headers/plat/machine/platform_gen.yaml"
    text = file.read_text().partition("\nmemory:\n")[2]
    found = tuple((int(start, 0), int(end, 0)) for end, start in _REGION.findall(text))
    if not found:
        raise PackError(f"{build.name}: {file} lists no memory")
    return found


def _script(build: ProbeBuild, words: list[str]) -> PlacedSource:
    """The source of the linker script, and how it is preprocessed."""
    *others, source = words
    left_out = ("-P", "-E", "-x", "c", "-o", SCRIPT)
    command = build.linked([word for word in others if word not in left_out])
    return PlacedSource(build.keep(build.marked(source)), command)


def _firmware(build: ProbeBuild, cache: Mapping[str, str]) -> Firmware | None:
    """OpenSBI, which a makefile of its own builds."""
    name = next((each for each in build.edges if each.endswith(f"/{_PAYLOAD}.elf")), None)
    if name is None:
        return None
    words = build.edges[name].words
    start = len(words) - 1 - words[::-1].index("make")
    payload = next(word.partition("=")[2] for word in words if word.startswith("FW_PAYLOAD_PATH="))
    # what it would do if the payload were another
    asked = [*words[start:], "--dry-run", "V=1", f"--what-if={payload}"]
    said = process.run(asked, cwd=build.out).output
    line = next(
        (each for each in said.splitlines() if f"/{_PAYLOAD}.elf.ld" in each and "-Wl,-T" in each), None
    )
    if line is None:
        raise PackError(f"{build.name}: the makefile of its firmware links none with a payload")
    command = shlex.split(line.rpartition(";")[2])
    kept: list[str] = []
    skip = False
    object = ""
    for word in command:
        if skip:
            skip = False
        elif word == "-o":
            skip = True
        elif word.endswith(f"/{_PAYLOAD}.o"):
            object = build.keep(build.marked(word))
            kept.append(words_of.OBJECTS)
        elif not word.startswith(_NOT_TO_LINK) or word.startswith("-Wl,"):
            kept.append(word)
    begin, end = _inside(build, build.path(object), Path(payload), cache["CMAKE_OBJCOPY"])
    return Firmware(object, _SECTION, begin, end, _ALIGN, build.linked(kept))


def _inside(build: ProbeBuild, object: Path | None, payload: Path, objcopy: str) -> tuple[int, int]:
    """Where the payload is in its section. Before it are instructions that the linker takes out."""
    section = build.out / "camkes-payload-section"
    process.run([objcopy, f"--dump-section={_SECTION}={section}", str(object), f"{section}.o"])
    data, inside = section.read_bytes(), payload.read_bytes()
    begin = data.find(inside)
    end = begin + len(inside)
    if begin < 0 or any(data[end:]) or len(data) % _ALIGN or len(data) - end >= _ALIGN:
        raise PackError(f"{build.name}: its firmware has its payload in another way than this tool knows")
    return begin, end
