# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The description in an SDK: its files, and the commands with which its workspace compiles and links.

A command is a program and its words. Words have placeholders: `@build@`, `@workspace@` and `@tool@` begin
paths, `@compiler@` is the folder of the compiler's own objects; a word that is a placeholder as a whole
(`@objects@`) is where systems differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from posixpath import normpath
from typing import Any

from msgspec import DecodeError, Struct, json

SCHEMA = "camkes-sdk 1"

#: beginnings of paths
BUILD, WORKSPACE, TOOL, COMPILER = "@build@", "@workspace@", "@tool@", "@compiler@"
#: whole words: include folders and flags of a component, include folders of what is generated for an
#: instance, the size of a heap, symbols that a link asks for, objects, the runtime, the
#: loader's tables
INCLUDES, FLAGS, INSTANCE = "@includes@", "@flags@", "@instance@"
ARENA, SYMBOLS, OBJECTS, RUNTIME, TABLES = "@arena@", "@symbols@", "@objects@", "@runtime@", "@tables@"

_PROGRAM = re.compile(r"[a-z0-9_.+-]*(gcc|g\+\+|cc|c\+\+|clang|clang\+\+|objcopy|nm|ar|strip)(-[0-9.]+)?")
#: nothing that runs a program, reads words from a file or writes another file than that which is asked for
_WORD = re.compile(
    r"@(includes|flags|instance|arena|symbols|objects|runtime|tables)@"
    r"|(-I|-isystem|-idirafter|-Wl,-T,?|-T|--sysroot=)?@(build|workspace|tool|compiler)@(/[^\s@,]*)?"
    r"|-Wl,-T|-isystem|-idirafter|-T|-I"
    r"|-[DUu][\w]+(=[^@]*)?|-m[\w=.+-]+|-f(?!plugin|dump|profile|callgraph|diagnostics|save|stack-usage|prefix)[\w=.+-]+"
    r"|-O[0-3sgz]?|-g(gdb|dwarf)?[\w-]*|-std=[\w+]+|-W(?![lpa],)[\w=+-]+|-w|-pedantic|-ansi|-nostd(inc|lib)|-nostdinc\+\+"
    r"|-nostartfiles|-no-pie|-static(-libgcc)?|-N|-r|-z|max-page-size=\w+|-l(gcc|gcc_eh|c|m|stdc\+\+|supc\+\+)|-Wa,--?\w+"
    r"|-Wl,(-m,\w+|-[uez],?\w*|-n|--gc-sections|--(start|end)-group|--undefined=\w+(,--undefined=\w+)*|--build-id=none|--no-[\w-]+|_?_?\w+)"
)
_QEMU = re.compile(r"qemu-system-\w+")
_QEMU_WORD = re.compile(r"-(machine|cpu|m|nographic|serial|smp|bios|no-reboot)|(?!-)[\w=,+.:-]+")
_SECTION = re.compile(r"\.[a-z_.]+")
_MOST_ALIGNED = 256
_HASH = re.compile(r"[0-9a-f]{64}")


class DescriptionError(Exception):
    """The description is not one of an SDK that can be used. The message says why."""


class ToolCommand(Struct, frozen=True):
    """A program, by its name on PATH, and its words, without those that name input and output."""

    program: str
    words: tuple[str, ...]


class PlacedSource(Struct, frozen=True):
    """A source that is compiled, or a linker script that is preprocessed, anew for each system, as it has the
    place of the boot loader in memory."""

    source: str
    command: ToolCommand


class Firmware(Struct, frozen=True):
    """What is started before the boot loader and has it as its payload. `link` links the object `payload`,
    in whose section `section` the boot loader is from `begin` to `end`, and then zeros up to a multiple of
    `align` bytes."""

    payload: str
    section: str
    begin: int
    end: int
    align: int
    link: ToolCommand


class BootLoader(Struct, frozen=True):
    """How seL4's ELF loader, which starts the kernel on machines other than PCs, is linked with a system.

    Its archive has `files` (names, and files of the SDK) and then the system; `archive` makes an object of
    it. It begins at an address that depends on the system, in one of the regions of `memory` (first address,
    and the one after the last), unless that is empty; `headers` is the folder of the header that has the
    address, and `placed` are sources that include it, by the objects in the command `link`; `script` is its
    linker script. `binary`: the image is not an ELF file but what is in memory."""

    files: tuple[tuple[str, str], ...]
    archive: ToolCommand
    memory: tuple[tuple[int, int], ...]
    headers: str
    placed: Mapping[str, PlacedSource]
    script: PlacedSource
    link: ToolCommand
    strip: str
    binary: bool
    firmware: Firmware | None

    def commands(self) -> Iterator[ToolCommand]:
        yield from (self.archive, self.script.command, self.link)
        yield from (each.command for each in self.placed.values())
        if self.firmware is not None:
            yield self.firmware.link

    def files_named(self) -> Iterator[str]:
        yield from (*(name for _, name in self.files), self.script.source, self.headers)
        yield from (each.source for each in self.placed.values())
        if self.firmware is not None:
            yield self.firmware.payload


class Configuration(Struct, frozen=True):
    """What is in an SDK for one platform and its options.

    `definitions` are what it was made with, `cache` all variables of its build; `project` is what CMake gives
    to the tool, but for the application. `compile` and `link` are commands by what is made; `join` makes an
    object of those of an instance, `heap` one with a heap; `loader` links the loader with the object that
    `archive` makes, and `boot` what starts that, None for PCs; `kernel` has symbols, for debuggers. `images`
    are what is booted, by name, with the file of the SDK, "" for that which has the system; `qemu` boots
    them. The file `sizes` has those of kernel objects, of which the loader has space for so `many`."""

    name: str
    definitions: Mapping[str, str]
    cache: Mapping[str, str]
    project: Mapping[str, Any]
    compile: Mapping[str, ToolCommand]
    link: Mapping[str, ToolCommand]
    join: ToolCommand
    heap: ToolCommand
    objcopy: str
    nm: str
    loader: ToolCommand
    archive: ToolCommand
    boot: BootLoader | None
    kernel: str
    images: Mapping[str, str]
    qemu: tuple[str, ...]
    sizes: str
    many: str

    def commands(self) -> Iterator[ToolCommand]:
        yield from (
            *self.compile.values(),
            *self.link.values(),
            self.join,
            self.heap,
            self.loader,
            self.archive,
            *(() if self.boot is None else self.boot.commands()),
        )


class Packed(Struct, frozen=True):
    """A file of an SDK: the SHA-256 of its content, and its size in bytes."""

    sha256: str
    size: int


class Part(Struct, frozen=True):
    """A project of the workspace of which files are in the SDK. `licences` are the SPDX identifiers in its
    files, `revision` is that of its repository, "" where that is not known."""

    name: str
    revision: str
    licences: tuple[str, ...]


class _OfAnyVersion(Struct, frozen=True):
    """What descriptions of all versions have."""

    schema: str


class Description(Struct, frozen=True):
    """All of an SDK. `version` is that of the tool that made it; `compilers` are the versions of the
    compilers that its libraries were made with, by their names."""

    schema: str
    version: str
    configurations: tuple[Configuration, ...]
    parts: tuple[Part, ...]
    compilers: Mapping[str, str]
    files: Mapping[str, Packed]

    def write(self) -> bytes:
        return json.format(json.encode(self, order="deterministic"), indent=1)

    @classmethod
    def read(cls, data: bytes) -> Description:
        """Raises DescriptionError unless it is one that this tool made, or could have made: commands only
        compile and link, and names are those of files below it."""
        try:
            schema = json.decode(data, type=_OfAnyVersion).schema
            if schema != SCHEMA:
                raise DescriptionError(
                    f"it is of another version of camkes: its description is {schema!r}, and this one reads "
                    f"{SCHEMA!r}"
                )
            found = json.decode(data, type=cls)
        except DecodeError as error:
            raise DescriptionError(f"its description is not valid: {error}") from error
        for name, packed in found.files.items():
            if not is_inside(name) or not _HASH.fullmatch(packed.sha256) or packed.size < 0:
                raise DescriptionError(f"it has a file {name!r}, which cannot be")
        for each in found.configurations:
            _check(each)
        return found


def _check(configuration: Configuration) -> None:
    if not re.fullmatch(r"[\w.+-]+", configuration.name) or configuration.name.startswith("."):
        raise DescriptionError(f"a configuration has the name {configuration.name!r}")
    programs = [configuration.objcopy, configuration.nm]
    for command in configuration.commands():
        programs.append(command.program)
        for word in command.words:
            place = word.rpartition("@")[2]
            if not _WORD.fullmatch(word) or normpath(f"x{place}").startswith(".."):
                raise DescriptionError(f"a command has the word {word!r}")
    boot = configuration.boot
    if boot is not None:
        programs.append(boot.strip)
        wrong = [name for name, _ in boot.files if not is_inside(name) or "/" in name]
        wrong += [] if boot.firmware is None else _wrong(boot.firmware)
        if wrong:
            raise DescriptionError(f"a boot loader has {wrong[0]!r}")
    qemu, *words = configuration.qemu or ("qemu-system-none",)
    wrong = [each for each in programs if not _PROGRAM.fullmatch(each)]
    wrong += [] if _QEMU.fullmatch(qemu) else [qemu]
    wrong += [word for word in words if not _QEMU_WORD.fullmatch(word)]
    if wrong:
        raise DescriptionError(f"a command has {wrong[0]!r}")
    names = [configuration.sizes, configuration.kernel, *configuration.images.values()]
    names += [] if boot is None else boot.files_named()
    wrong = [name for name in names if name and not _is_packed(name)]
    wrong += [name for name in configuration.images if not is_inside(name)]
    if wrong:
        raise DescriptionError(f"a configuration names {wrong[0]!r}")


def _wrong(firmware: Firmware) -> Iterator[str]:
    if not _SECTION.fullmatch(firmware.section):
        yield firmware.section
    if not 0 <= firmware.begin <= firmware.end or not 1 <= firmware.align <= _MOST_ALIGNED:
        yield f"{firmware.begin} to {firmware.end}, {firmware.align}"


def _is_packed(name: str) -> bool:
    """Whether a name is that of a file of the SDK, with a placeholder."""
    folder, _, inside = name.partition("/")
    return folder in (BUILD, WORKSPACE) and is_inside(inside)


def is_inside(name: str) -> bool:
    """Whether a path is one of a file below a folder, written in the one way that there is."""
    return (
        bool(name)
        and name == normpath(name)
        and not name.startswith(("/", "../"))
        and name not in (".", "..")
        and name.isprintable()
        and "\\" not in name
    )
