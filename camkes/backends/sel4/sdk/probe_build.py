# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The build of the small application: its commands, with placeholders for folders, and their files."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from pathlib import Path

from msgspec import Struct

from camkes import process
from camkes.backends.host.ninja import program as find_ninja
from camkes.backends.sel4.sdk import description as words_of
from camkes.backends.sel4.sdk.description import BUILD, COMPILER, TOOL, WORKSPACE, ToolCommand
from camkes.backends.sel4.sdk.programs import compiler_version

_PATH = re.compile(r"(-I|--?[\w-]+=|-Wl,-T,?)?(/.*)")
_RELATIVE = re.compile(r"[\w.][^@=,]*/[^@=,]*|[\w.-]+\.(?:o|a)")
_MAP = "-ffile-prefix-map="
_HEADERS = (".h", ".inc", ".def")
_LAUNCHER = "ccache"
#: options of a compile command that name files of it
_NAMING = ("-MT", "-MF", "-MQ", "-o")


class PackError(Exception):
    """The build of the workspace is not one that an SDK can be made of. The message says why."""


class NinjaEdge(Struct, frozen=True):
    """A command of ninja: its words, and what it makes."""

    output: str
    source: str
    words: list[str]


class ProbeBuild:
    """A build of the probe, and what is taken of it."""

    def __init__(self, name: str, workspace: Path, application: Path, out: Path) -> None:
        self.name = name
        self.out = out
        self.workspace = workspace
        self.files: dict[str, Path] = {}
        self.compilers: dict[str, str] = {}
        self.sources: list[Path] = []
        places = {
            out: BUILD,
            workspace / "projects" / "camkes-tool": TOOL,
            workspace: WORKSPACE,
            application: "@probe@",
        }
        both = {**{each.resolve(): mark for each, mark in places.items()}, **places}
        #: the longest first
        self._places = sorted(((str(p), m) for p, m in both.items()), key=lambda each: -len(each[0]))
        self._inside: dict[str, str] = {}
        self._objects: dict[str, Path] = {}
        self.edges = self._read_edges()

    def _read_edges(self) -> dict[str, NinjaEdge]:
        said = process.run([find_ninja(), "-t", "compdb", "-x"], cwd=self.out)
        edges = {}
        for entry in json.loads(said.output):
            if not entry["command"]:  # a name for others
                continue
            words = [word for word in _split(entry["command"]) if not word.endswith(f"/{_LAUNCHER}")]
            edges[entry["output"]] = NinjaEdge(entry["output"], entry["file"], words)
        return edges

    def users_of(self, header: str) -> list[str]:
        """The objects whose sources include a header of this name."""
        said = process.run([find_ninja(), "-t", "deps"], cwd=self.out).output
        found, target = [], ""
        for line in said.splitlines():
            if not line.startswith(" "):
                target = line.partition(":")[0]
            elif line.endswith(f"/{header}"):
                found.append(target)
        return found

    def edge(self, ending: str) -> NinjaEdge:
        found = self.edges.get(ending)
        found = found or next(
            (each for name, each in self.edges.items() if name.endswith(f"/{ending}")), None
        )
        if found is None:
            raise PackError(f"no command makes {ending}")
        return found

    # words

    def compile(self, edge: NinjaEdge, replaced: Mapping[str, str] | None = None) -> ToolCommand:
        """How an object is made: the command without its source, what it makes, and dependencies.
        `replaced` are whole words, as they are with placeholders."""
        words: list[str] = []
        skip = False
        for word in edge.words:
            if skip:
                skip = False
            elif word in _NAMING:
                skip = True
            elif (
                word not in ("-MD", "-c")
                and not word.startswith(_MAP)
                and not _same(word, edge.source, self.out)
            ):
                words.append(word)
        return self._command(words, replaced or {})

    def assembler(self, edge: NinjaEdge) -> ToolCommand:
        """How a file with an archive becomes an object: the last command of a line for a shell."""
        start = len(edge.words) - 1 - edge.words[::-1].index("&&")
        return self.compile(NinjaEdge("", f"{Path(edge.output).name}.S", edge.words[start + 1 :]))

    def _command(self, words: list[str], replaced: Mapping[str, str]) -> ToolCommand:
        program, *rest = words
        self._note_compiler(program)
        marked = [self.marked(word) for word in rest if word]
        return ToolCommand(Path(program).name, tuple(replaced.get(word, word) for word in marked))

    def _note_compiler(self, program: str) -> None:
        name = Path(program).name
        if name in self.compilers:
            return
        self.compilers[name] = compiler_version(program)
        for asked in ("-print-file-name=crtbegin.o", "-print-file-name=include"):
            folder = Path(process.run([program, asked]).output.strip())
            if folder.is_absolute():
                self._inside[str(folder.parent)] = COMPILER
                self._inside[str(folder.parent.resolve())] = COMPILER

    def marked(self, text: str) -> str:
        """A word with placeholders for folders; a path relative to the build folder is one below it."""
        found = _PATH.fullmatch(text)
        option, path = found.groups() if found is not None else ("", text)
        for place, mark in (*self._places, *self._inside.items()):
            if path == place or path.startswith(f"{place}/"):
                return f"{option or ''}{mark}{path.removeprefix(place)}"
        if _RELATIVE.fullmatch(text) and (self.out / text).is_file():
            name = f"{BUILD}/{text}"
            if "CMakeFiles/" in text:  # whose names have paths of this machine
                name = self._object_name(self.out / text)
            return name
        return text

    def _object_name(self, path: Path) -> str:
        """A place for an object that no other has. Its name stays: it can be in what is linked."""
        names = (f"{BUILD}/objects/{number}/{path.name}" for number in count())
        return next(name for name in names if self._objects.setdefault(name, path) == path)

    def link(self, edge: NinjaEdge, objects: Callable[[str], bool]) -> list[str]:
        """The words that link something, but for `-o`; those `objects` become one placeholder."""
        words: list[str] = []
        skip = False
        for word in edge.words:
            if skip:
                skip = False
            elif word == "-o":
                skip = True
            elif objects(word):
                if words_of.OBJECTS not in words:
                    words.append(words_of.OBJECTS)
            elif not word.startswith(_MAP):
                words.append(word)
        return words

    def linked(self, words: list[str], replaced: Mapping[str, str] | None = None) -> ToolCommand:
        return self._command(words, replaced or {})

    # files

    def keep(self, name: str) -> str:
        """Pack a file that a text names with a placeholder; the text."""
        path = self.path(name)
        if path is not None and path.is_file():
            self.files[self.packed_name(name)] = path
        return name

    def leave_out(self, names: Iterable[str]) -> None:
        """Do not pack these files."""
        for name in names:
            self.files.pop(self.packed_name(name), None)

    def path(self, name: str) -> Path | None:
        if name in self._objects:
            return self._objects[name]
        for mark, folder in ((BUILD, self.out), (WORKSPACE, self.workspace)):
            if name.startswith(f"{mark}/"):
                return folder / name.removeprefix(f"{mark}/")
        return None

    def packed_name(self, name: str) -> str:
        place = os.path.normpath(name)
        return (
            place.replace(BUILD, self.name, 1)
            if place.startswith(BUILD)
            else place.replace(WORKSPACE, "workspace", 1)
        )

    def keep_inputs(self, command: ToolCommand) -> None:
        """Pack what the words of a command name: headers of folders, linker scripts, objects, libraries."""
        include = False
        for word in command.words:
            name = word[word.index("@") :] if "@" in word else ""
            folder = self.path(name)
            if word.startswith(("-I", "-isystem")) or include:
                if folder is not None and folder.is_dir():
                    self._keep_headers(name, folder)
            elif folder is not None and folder.is_file():
                self.keep(name)
            include = word in ("-isystem", "-idirafter", "-I")

    def _keep_headers(self, name: str, folder: Path) -> None:
        for file in folder.rglob("*"):
            if file.suffix in _HEADERS and file.is_file():
                self.keep(f"{name}/{file.relative_to(folder)}")


def _split(command: str) -> list[str]:
    """The words of what CMake writes for a command: `: && COMMAND && :`, or the last of `cd FOLDER &&
    COMMAND`."""
    words = shlex.split(command)
    if words[:2] == [":", "&&"] and words[-2:] == ["&&", ":"]:
        return words[2:-2]
    if words[:1] == ["cd"] and words.count("&&") == 1:
        return words[3:]
    return words


def _same(word: str, source: str, folder: Path) -> bool:
    return word == source or str(folder / source) == word


def is_object(word: str) -> bool:
    return "CMakeFiles/" in word and word.endswith(".obj")
