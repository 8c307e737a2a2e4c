# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Makes an SDK from a workspace: builds a small application in it, and packs what that was made with."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from camkes import __version__, process
from camkes.backends.host.ninja import program as find_ninja
from camkes.backends.sel4.sdk import description as words_of
from camkes.backends.sel4.sdk import probe
from camkes.backends.sel4.sdk.archive import packed, write_archive
from camkes.backends.sel4.sdk.description import (
    BUILD,
    COMPILER,
    SCHEMA,
    TOOL,
    WORKSPACE,
    Configuration,
    Description,
    Part,
    ToolCommand,
)
from camkes.backends.sel4.workspace import make
from camkes.diagnostics import Sink

# REUSE-IgnoreStart
_SPDX = re.compile(r"SPDX-License-Identifier:\s*([\w.+() -]+?)\s*(?:\*/|-->|$)", re.MULTILINE)
# REUSE-IgnoreEnd
_LICENCE = re.compile(r"(?i)(licen[cs]e|copying|copyright|notice)[\w.-]*")
_CACHE = re.compile(r"^([A-Za-z_]\w*):(BOOL|STRING|INTERNAL|UNINITIALIZED|PATH|FILEPATH)=(.*)$", re.MULTILINE)
_PATH = re.compile(r"(-I|--?[\w-]+=|-Wl,-T,)?(/.*)")
_RELATIVE = re.compile(r"[\w.][^@=,]*/[^@=,]*|[\w.-]+\.(?:o|a)")
_MAP = "-ffile-prefix-map="
_HEADERS = (".h", ".inc", ".def")
_LAUNCHER = "ccache"
_HEADS = 2000  # bytes of a file in which its licence is named
#: options of a compile command that name files of it
_NAMING = ("-MT", "-MF", "-MQ", "-o")
_LOADER = "capdl-loader"


class PackError(Exception):
    """The build of the workspace is not one that an SDK can be made of. The message says why."""


class _NinjaEdge(Struct, frozen=True):
    """A command of ninja: its words, and what it makes."""

    output: str
    source: str
    words: list[str]


class _ProbeBuild:
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

    def _read_edges(self) -> dict[str, _NinjaEdge]:
        said = process.run([find_ninja(), "-t", "compdb", "-x"], cwd=self.out)
        edges = {}
        for entry in json.loads(said.output):
            if not entry["command"]:  # a name for others
                continue
            words = [word for word in _split(entry["command"]) if not word.endswith(f"/{_LAUNCHER}")]
            edges[entry["output"]] = _NinjaEdge(entry["output"], entry["file"], words)
        return edges

    def edge(self, ending: str) -> _NinjaEdge:
        found = self.edges.get(ending)
        found = found or next(
            (each for name, each in self.edges.items() if name.endswith(f"/{ending}")), None
        )
        if found is None:
            raise PackError(f"no command makes {ending}")
        return found

    # words

    def compile(self, edge: _NinjaEdge, replaced: Mapping[str, str] | None = None) -> ToolCommand:
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

    def _command(self, words: list[str], replaced: Mapping[str, str]) -> ToolCommand:
        program, *rest = words
        self._note_compiler(program)
        marked = [self.marked(word) for word in rest if word]
        return ToolCommand(Path(program).name, tuple(replaced.get(word, word) for word in marked))

    def _note_compiler(self, program: str) -> None:
        name = Path(program).name
        if name in self.compilers:
            return
        self.compilers[name] = process.run([program, "--version"]).output.partition("\n")[0]
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
                name = f"{BUILD}/objects/{Path(text).name}"
                if self._objects.setdefault(name, self.out / text) != self.out / text:
                    raise PackError(f"two objects have the name {Path(text).name}")
            return name
        return text

    def link(self, edge: _NinjaEdge, objects: Callable[[str], bool]) -> list[str]:
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


def _is_object(word: str) -> bool:
    return "CMakeFiles/" in word and word.endswith(".obj")


def sdk_name(definitions: Mapping[str, str]) -> str:
    """The name of a configuration: its platform, and what is not as usual."""
    platform = definitions.get("PLATFORM", "x86_64")
    # without "=", at which compilers divide -ffile-prefix-map
    others = [f"{name}-{value}" for name, value in sorted(definitions.items()) if name != "PLATFORM"]
    text = "+".join([platform, *others])
    return re.sub(r"[^\w.+-]", "_", text)


def pack(
    path: Path,
    workspace: Path,
    asked: Iterable[Mapping[str, str]],
    scratch: Path,
    sink: Sink,
    progress: Callable[[str], None],
) -> Description | None:
    """Build each of the configurations that are `asked` for, below `scratch`, and write an SDK of them.
    None after a diagnostic. OSError where it cannot be written; PackError."""
    application = scratch / "application"
    probe.write_probe(application)
    builds: list[_ProbeBuild] = []
    configurations = []
    for definitions in asked:
        name = sdk_name(definitions)
        out = scratch / name
        if not make(workspace, application, out, definitions, sink, _named(name, progress)):
            return None
        progress(f"{name}: packing")
        build = _ProbeBuild(name, workspace, application, out)
        builds.append(build)
        configurations.append(_configuration(build, definitions))
    content: dict[str, Path | bytes] = {}
    for build in builds:
        content.update(build.files)
    compilers = {name: version for build in builds for name, version in build.compilers.items()}
    parts = tuple(_parts(workspace, builds, content))
    files = {
        name: packed(data if isinstance(data, bytes) else data.read_bytes()) for name, data in content.items()
    }
    description = Description(SCHEMA, __version__, tuple(configurations), parts, compilers, files)
    Description.read(description.write())  # who unpacks it checks it
    progress("writing")
    write_archive(path, description, content)
    return description


def _named(name: str, progress: Callable[[str], None]) -> Callable[[str], None]:
    """Progress of one of several configurations."""
    return lambda text: progress(f"{name}: {text}")


def _configuration(build: _ProbeBuild, definitions: Mapping[str, str]) -> Configuration:
    if "elfloader/elfloader" in build.edges:
        raise PackError(
            f"there are no SDKs for {build.name} yet, only for PCs: its image has a program that starts the "
            "kernel, whose place in memory depends on the system"
        )
    generated = f"-I{BUILD}/camkes"
    marks = {
        f"-I@probe@/{probe.FOLDER}": words_of.INCLUDES,
        probe.C_FLAG: words_of.FLAGS,
        probe.CXX_FLAG: words_of.FLAGS,
        f"{generated}/{probe.ALONE}": words_of.INSTANCE,
    }
    own = f"CMakeFiles/{probe.ALONE}.instance.dir/"
    compiled = {
        "C": build.compile(_in(build, own, "/part.c.obj"), marks),
        "CXX": build.compile(_in(build, own, "/other.cc.obj"), marks),
        "ASM": build.compile(_in(build, own, "/other.S.obj"), marks),
        "glue": build.compile(_in(build, own, "/glue.c.obj"), marks),
        "space": build.compile(_in(build, f"CMakeFiles/{probe.ALONE}.space.dir/", f"/{probe.ALONE}.c.obj")),
        "heap": build.compile(_in(build, f"CMakeFiles/{probe.HEAP}.dir/", ".c.obj"), _arena(build)),
        "runtime": build.compile(_runtime(build)),
        "tables": build.compile(build.edge(f"{_LOADER}.dir/capdl_spec.c.obj")),
    }
    if words_of.INCLUDES not in compiled["C"].words or words_of.FLAGS not in compiled["C"].words:
        raise PackError("the marks of the application are not in the commands of its build")
    links = {
        "C": _link(build, probe.ALONE),
        "CXX": _link(build, probe.CXX),
    }
    join = build.linked(build.link(build.edge(f"{probe.JOINED}.o"), _is_object))
    heap = build.linked(build.link(build.edge(f"{probe.HEAP}.o"), _is_object))
    loader_words = build.link(build.edge(_LOADER), lambda word: word == f"{_LOADER}_archive.o")
    tables = next(word for word in loader_words if word.endswith("/capdl_spec.c.obj"))
    loader_words[loader_words.index(tables)] = words_of.TABLES
    loader = build.linked(loader_words)
    archive = _archive(build)
    cache = {name: value for name, _, value in _CACHE.findall((build.out / "CMakeCache.txt").read_text())}
    project = json.loads((build.out / "camkes-project.json").read_text())
    configuration = Configuration(
        name=build.name,
        definitions=dict(definitions),
        cache={name: build.marked(value) for name, value in cache.items() if _is_setting(name, value)},
        project=_project(build, project),
        compile=compiled,
        link=links,
        join=join,
        heap=heap,
        objcopy=Path(cache["CMAKE_OBJCOPY"]).name,
        nm=Path(cache["CMAKE_NM"]).name,
        loader=loader,
        archive=archive,
        images=_images(build),
        qemu=_qemu(build),
        sizes=build.keep(f"{BUILD}/capdl/object_sizes/object_sizes.yaml"),
        many=cache.get("CapDLLoaderMaxObjects", ""),
    )
    for command in configuration.commands():
        build.keep_inputs(command)
    build.sources = [
        build.out / each.source for each in build.edges.values() if each.output.endswith((".o", ".obj"))
    ]
    return configuration


def _is_setting(name: str, value: str) -> bool:
    """Whether a variable may say how the kernel or a library is."""
    return not name.startswith(("CMAKE_", "CAMKES_", "_")) and "/" not in value and len(value) < 200


def _in(build: _ProbeBuild, folder: str, ending: str) -> _NinjaEdge:
    for name, edge in build.edges.items():
        if name.startswith(folder) and name.endswith(ending):
            return edge
    raise PackError(f"no command makes {folder}...{ending}")


def _arena(build: _ProbeBuild) -> dict[str, str]:
    edge = _in(build, f"CMakeFiles/{probe.HEAP}.dir/", ".c.obj")
    return {word: words_of.ARENA for word in edge.words if word.startswith("-DCAMKES_ARENA_SIZE=")}


def _runtime(build: _ProbeBuild) -> _NinjaEdge:
    for name, edge in build.edges.items():
        if "/camkes_rt.dir/" in name and name.endswith(".c.obj"):
            return edge
    raise PackError("no command makes the runtime")


def _link(build: _ProbeBuild, instance: str) -> ToolCommand:
    words = build.link(build.edge(f"{instance}.elf"), _is_object)
    start = words.index("-Wl,-e,_camkes_start")
    script = next(i for i, word in enumerate(words) if word.endswith("aligned.lds"))
    words[script + 1 : script + 1] = [words_of.FLAGS]
    words[start + 1 : start + 1] = [words_of.SYMBOLS]
    words = [words_of.RUNTIME if word.endswith("/libcamkes_rt.a") else word for word in words]
    return build.linked(words)


def _archive(build: _ProbeBuild) -> ToolCommand:
    """How the file with the images of components becomes an object: the last command of a line for a
    shell."""
    words = build.edge(f"{_LOADER}_archive.o").words
    start = len(words) - 1 - words[::-1].index("&&")
    return build.compile(_NinjaEdge("", f"{_LOADER}_archive.o.S", words[start + 1 :]))


def _project(build: _ProbeBuild, data: dict[str, Any]) -> dict[str, Any]:
    """What CMake passes to the tool, but for the application and for what only a workspace has."""
    left_out = (
        "adl",
        "output",
        "builds",
        "connectors",
        "template_paths",
        "import_paths",
        "cpp_flags",
        "gpio_list",
        "dtb",
    )
    found = {}
    for key, value in data.items():
        if key not in left_out:
            found[key] = build.keep(build.marked(value)) if isinstance(value, str) else value
    return found


def _images(build: _ProbeBuild) -> dict[str, str]:
    """What is in `images/`: the kernel by itself, and what has the system."""
    found = {}
    for file in sorted((build.out / "images").iterdir()):
        own = file.name.startswith(_LOADER)
        found[file.name] = "" if own else build.keep(f"{BUILD}/images/{file.name}")
    return found


def _qemu(build: _ProbeBuild) -> tuple[str, ...]:
    """What the script `simulate` starts, without the images."""
    if not (build.out / "simulate").is_file():
        return ()
    said = process.run(["python3", "./simulate", "--dry-run"], cwd=build.out, merged=True).output
    words = shlex.split(said.partition("QEMU command: ")[2])
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in ("-kernel", "-initrd"):
            skip = True
        else:
            kept.append(word)
    return tuple(kept)


# licences ---------------------------------------------------------------------------------------------


def _parts(
    workspace: Path, builds: Iterable[_ProbeBuild], content: dict[str, Path | bytes]
) -> Iterator[Part]:
    """The projects of which something is in the SDK; the texts of their licences are added to it."""
    used: dict[str, set[Path]] = {}
    for build in builds:
        for file in (*build.files.values(), *build.sources):
            if file.is_relative_to(
                build.out
            ):  # a library that a project builds by itself is in a folder of its name
                name = f"projects/{file.relative_to(build.out).parts[0]}"
                if name != "projects/camkes" and (workspace / name).is_dir():
                    used.setdefault(name, set())
                continue
            for root in (workspace, workspace.resolve()):
                if file.is_relative_to(root) and file.is_file():
                    used.setdefault(_project_of(file.relative_to(root)), set()).add(file)
                    break
    for name in sorted(used):
        if name == "projects/camkes-tool":
            continue
        folder = workspace / name
        licences = {each.strip() for file in used[name] for each in _SPDX.findall(_head(file))}
        for text in sorted(folder.glob("*")) + sorted((folder / "LICENSES").glob("*")):
            if text.is_file() and (text.parent.name == "LICENSES" or _LICENCE.fullmatch(text.name)):
                content[f"licences/{name}/{text.relative_to(folder)}"] = text.read_bytes()
        yield Part(name, revision_of(folder), tuple(sorted(licences)))


def _project_of(file: Path) -> str:
    first, *others = file.parts
    if first == "kernel":
        return first
    deep = 2 if others and others[0] == "seL4" else 1
    return "/".join([first, *others[:deep]])


def _head(file: Path) -> str:
    with file.open("rb") as opened:
        return opened.read(_HEADS).decode("utf-8", "replace")


def revision_of(folder: Path) -> str:
    """The revision of the repository that a folder is of; "" where that is not known."""
    try:
        said = process.run(["git", "-C", str(folder), "rev-parse", "HEAD"])
    except OSError:
        return ""
    return said.output.strip() if said.status == 0 else ""
