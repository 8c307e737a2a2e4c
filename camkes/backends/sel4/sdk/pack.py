# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Makes an SDK from a workspace: builds a small application in it, and packs what that was made with."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from camkes import __version__, process
from camkes.backends.sel4.sdk import description as words_of
from camkes.backends.sel4.sdk import probe
from camkes.backends.sel4.sdk.archive import packed, write_archive
from camkes.backends.sel4.sdk.description import (
    BUILD,
    SCHEMA,
    Configuration,
    Description,
    DescriptionError,
    Part,
    ToolCommand,
)
from camkes.backends.sel4.sdk.pack_boot import boot_loader, remade
from camkes.backends.sel4.sdk.probe_build import NinjaEdge, PackError, ProbeBuild, is_object
from camkes.backends.sel4.workspace import make
from camkes.diagnostics import Sink

# REUSE-IgnoreStart
_SPDX = re.compile(r"SPDX-License-Identifier:\s*([\w.+() -]+?)\s*(?:\*/|-->|$)", re.MULTILINE)
# REUSE-IgnoreEnd
_LICENCE = re.compile(r"(?i)(licen[cs]e|copying|copyright|notice)[\w.-]*")
_CACHE = re.compile(r"^([A-Za-z_]\w*):(BOOL|STRING|INTERNAL|UNINITIALIZED|PATH|FILEPATH)=(.*)$", re.MULTILINE)
_HEADS = 2000  # bytes of a file in which its licence is named
_LOADER = "capdl-loader"


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
    builds: list[ProbeBuild] = []
    configurations = []
    for definitions in asked:
        name = sdk_name(definitions)
        out = scratch / name
        if not make(workspace, application, out, definitions, sink, _named(name, progress)):
            return None
        progress(f"{name}: packing")
        build = ProbeBuild(name, workspace, application, out)
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
    try:
        Description.read(description.write())  # who unpacks it checks it
    except DescriptionError as error:
        raise PackError(f"the workspace builds in a way for which there is no SDK: {error}") from error
    progress("writing")
    write_archive(path, description, content)
    return description


def _named(name: str, progress: Callable[[str], None]) -> Callable[[str], None]:
    """Progress of one of several configurations."""
    return lambda text: progress(f"{name}: {text}")


def _configuration(build: ProbeBuild, definitions: Mapping[str, str]) -> Configuration:
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
    join = build.linked(build.link(build.edge(f"{probe.JOINED}.o"), is_object))
    heap = build.linked(build.link(build.edge(f"{probe.HEAP}.o"), is_object))
    loader_words = build.link(build.edge(_LOADER), lambda word: word == f"{_LOADER}_archive.o")
    tables = next(word for word in loader_words if word.endswith("/capdl_spec.c.obj"))
    loader_words[loader_words.index(tables)] = words_of.TABLES
    loader = build.linked(loader_words)
    archive = build.assembler(build.edge(f"{_LOADER}_archive.o"))
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
        boot=boot_loader(build, cache),
        kernel=build.keep(f"{BUILD}/kernel/kernel.elf"),
        images=_images(build),
        qemu=_qemu(build),
        sizes=build.keep(f"{BUILD}/capdl/object_sizes/object_sizes.yaml"),
        many=cache.get("CapDLLoaderMaxObjects", ""),
    )
    for command in configuration.commands():
        build.keep_inputs(command)
    if configuration.boot is not None:
        build.leave_out(remade(configuration.boot))
    build.sources = [
        build.out / each.source for each in build.edges.values() if each.output.endswith((".o", ".obj"))
    ]
    return configuration


def _is_setting(name: str, value: str) -> bool:
    """Whether a variable may say how the kernel or a library is."""
    return not name.startswith(("CMAKE_", "CAMKES_", "_")) and "/" not in value and len(value) < 200


def _in(build: ProbeBuild, folder: str, ending: str) -> NinjaEdge:
    for name, edge in build.edges.items():
        if name.startswith(folder) and name.endswith(ending):
            return edge
    raise PackError(f"no command makes {folder}...{ending}")


def _arena(build: ProbeBuild) -> dict[str, str]:
    edge = _in(build, f"CMakeFiles/{probe.HEAP}.dir/", ".c.obj")
    return {word: words_of.ARENA for word in edge.words if word.startswith("-DCAMKES_ARENA_SIZE=")}


def _runtime(build: ProbeBuild) -> NinjaEdge:
    for name, edge in build.edges.items():
        if "/camkes_rt.dir/" in name and name.endswith(".c.obj"):
            return edge
    raise PackError("no command makes the runtime")


def _link(build: ProbeBuild, instance: str) -> ToolCommand:
    words = build.link(build.edge(f"{instance}.elf"), is_object)
    start = words.index("-Wl,-e,_camkes_start")
    script = next(i for i, word in enumerate(words) if word.endswith("aligned.lds"))
    words[script + 1 : script + 1] = [words_of.FLAGS]
    words[start + 1 : start + 1] = [words_of.SYMBOLS]
    words = [words_of.RUNTIME if word.endswith("/libcamkes_rt.a") else word for word in words]
    return build.linked(words)


def _project(build: ProbeBuild, data: dict[str, Any]) -> dict[str, Any]:
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


def _images(build: ProbeBuild) -> dict[str, str]:
    """What is in `images/`: the kernel by itself, and what has the system."""
    found = {}
    for file in sorted((build.out / "images").iterdir()):
        own = file.name.startswith(_LOADER)
        found[file.name] = "" if own else build.keep(f"{BUILD}/images/{file.name}")
    return found


def _qemu(build: ProbeBuild) -> tuple[str, ...]:
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


def _parts(workspace: Path, builds: Iterable[ProbeBuild], content: dict[str, Path | bytes]) -> Iterator[Part]:
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
