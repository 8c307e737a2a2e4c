# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a system consists of and was made with, in the JSON of CycloneDX 1.6: a bill of materials.

It is equal for equal inputs: it has neither a time nor a serial number, and no path of the machine.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path
from typing import Any

from msgspec import Struct

from camkes import __version__
from camkes.backends.host.host import HostImage
from camkes.backends.host.inputs import LIST, ObjectInputs
from camkes.backends.host.sources import builds_of
from camkes.backends.sel4.sdk.archive import read_description
from camkes.backends.sel4.sdk.pack import revision_of
from camkes.diagnostics import Sink
from camkes.doctor import needs
from camkes.documents import json_text
from camkes.pipeline import Checked
from camkes.resources import HOST_KERNEL, ROOT, RUNTIME

#: programs that make an image, by their names in `camkes doctor`
_PROGRAMS = ("cpp", "C compiler", "make", "objcopy")
_LICENCE = re.compile(rb"SPDX-License-" rb"Identifier:[ \t]*([\w.+() -]*[\w.+)])")
_HOLDER = re.compile(rb"SPDX-FileCopyrightText:[ \t]*([^\n]*?)[ \t]*(?:\*/|-->)?[ \t]*\n")
_HEAD = 2000  # bytes in which a file says what its licence is
_OPERATOR = re.compile(r"\b(and|or|with)\b")  # files write them small, too
_OF_MACHINE = ("/usr/", "/lib/", "/opt/")  # headers of the C library and of compilers
#: files of an SDK that are linked into an image, or booted beside it
_LINKED = (".a", ".o", ".elf")

#: An object of CycloneDX.
Entry = dict[str, Any]


class BuiltFor(Struct, frozen=True):
    """Images for seL4, and the SDK or the workspace that they were built with."""

    images: Sequence[Path]
    sdk: Path | None
    workspace: Path | None


def sha256(path: Path) -> str:
    """The SHA-256 of a file. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def to_cyclonedx(
    checked: Checked, image: HostImage | None, out: Path, sel4: BuiltFor | None, revision: str
) -> bytes:
    """The bill of materials of a system that was built for the host kernel in the folder `out`, and for
    `sel4` if that is given. `revision` is that of its repository, "" where that is not known. Raises OSError
    where a file cannot be read, ArchiveError where the SDK cannot."""
    return (json_text(_Materials(checked, out).document(image, sel4, revision)) + "\n").encode()


class _Materials:
    def __init__(self, checked: Checked, out: Path) -> None:
        self._application = checked.application
        self._system = checked.system
        self._out = out.absolute()
        self._components: dict[str, Entry] = {}
        self._needed: dict[str, set[str]] = {}

    def document(self, image: HostImage | None, sel4: BuiltFor | None, revision: str) -> Entry:
        whole: Entry = {"type": "application", "bom-ref": "application", "name": self._application.name}
        if revision:
            whole["version"] = revision
        described = [file.path for file in self._system.files] + list(self._application.files)
        for path in described:
            self._add_file("application", path, "description")
        self._of_tool("runtime", "camkes-rt-runtime", "library", RUNTIME)
        self._instances({} if image is None else self._compiled(image))
        self._tools()
        if image is not None:
            self._of_tool("host-kernel", "camkes-rt-host-kernel", "operating-system", HOST_KERNEL)
            self._c_library()
            made = [*image.images.values(), image.table]
            self._images("host-image", "host", made, ("host-kernel", "c-library"))
        if sel4 is not None:
            self._images("sel4-image", "seL4", sel4.images, self._sel4(sel4))
        return {
            "bomFormat": "CycloneDX",
            "specVersion": "1.6",
            "version": 1,
            "metadata": {
                "tools": {
                    "components": [{"type": "application", "name": "camkes-rt", "version": __version__}]
                },
                "component": whole,
            },
            "components": [self._components[ref] for ref in sorted(self._components)],
            "dependencies": [
                {"ref": ref, "dependsOn": sorted(self._needed.get(ref, ()))}
                for ref in sorted({"application", *self._components})
            ],
        }

    def _compiled(self, image: HostImage) -> Mapping[str, set[Path]]:
        """What the code of each instance was compiled from, headers included."""
        inputs = ObjectInputs(image.folder / LIST)
        return {
            name: {
                Path(os.path.normpath(image.folder / each))
                for job in jobs
                for each in (*map(str, job.inputs), *inputs.of(job))
            }
            for name, jobs in image.compiled.items()
        }

    def _instances(self, compiled: Mapping[str, set[Path]]) -> None:
        """Component types and instances, each with its files; those that all instances of a type have are
        files of the type."""
        instances = [each for each in self._system.instances if not each.type.hardware]
        builds = builds_of(
            self._application, instances, Sink(), self._application.served_by_connectors(self._system)
        )
        files = {each.name: set(compiled.get(each.name, builds[each.name].sources)) for each in instances}
        for kind in dict.fromkeys(each.type.name for each in instances):
            own = [each.name for each in instances if each.type.name == kind]
            shared = set.intersection(*(files[name] for name in own))
            ref = self._add(f"type:{kind}", type="library", name=kind, description="component type")
            self._add_files(ref, shared, sources=set(builds[own[0]].sources))
            for name in own:
                instance = self._add(f"instance:{name}", type="application", name=name, description=f"{kind}")
                self._need("application", instance)
                self._need(instance, ref, "runtime")
                self._add_files(instance, files[name] - shared, sources=set(builds[name].sources))
                for library in builds[name].libs:
                    if library not in self._application.libraries:
                        self._need(instance, self._add(f"library:{library}", type="library", name=library))

    def _tools(self) -> None:
        """What made the image: they are not part of it."""
        version = platform.python_version()
        python = self._add("python", type="application", name="python", version=version, **_NOT_PART)
        self._need("camkes-rt", python)
        self._add("camkes-rt", type="application", name="camkes-rt", version=__version__, **_NOT_PART)
        for name in _packages():
            ref = self._add(f"pypi:{name}", **_package(name), **_NOT_PART)
            self._need("camkes-rt", ref)
        for need in needs():
            if need.name in _PROGRAMS and (found := need.find()):
                self._add(f"tool:{need.name}", type="application", name=need.name, version=found, **_NOT_PART)

    def _c_library(self) -> None:
        name, version = platform.libc_ver()
        self._add("c-library", type="library", name=name or "C library", **_given(version=version))

    def _of_tool(self, ref: str, name: str, kind: str, folder: Path) -> None:
        """A part of the image that comes with the tool."""
        files = sorted(path for path in folder.rglob("*") if path.suffix in (".c", ".h", ".S"))
        licences = {found for path in files if (found := _says(_LICENCE, path))}
        self._add(ref, type=kind, name=name, version=__version__, **_licensed(licences))
        for path in files:
            self._add_file(ref, path, "source")

    def _sel4(self, built: BuiltFor) -> Iterator[str]:
        """What is in an image beside the application."""
        if built.sdk is not None:
            description = read_description(built.sdk)
            yield self._add(
                "sdk",
                type="framework",
                name=built.sdk.name,
                version=f"made by camkes-rt {description.version}",
                hashes=_hashes(sha256(built.sdk)),
                components=[
                    {"type": "file", "bom-ref": f"sdk/{name}", "name": name, "hashes": _hashes(packed.sha256)}
                    for name, packed in sorted(description.files.items())
                    if name.endswith(_LINKED)
                ],
            )
            for part in description.parts:
                yield self._project(part.name, part.revision, part.licences)
            for name, version in description.compilers.items():
                self._add(f"tool:{name}", type="application", name=name, version=version, **_NOT_PART)
        elif built.workspace is not None:
            folders = [*built.workspace.glob("projects/*"), *built.workspace.glob("tools/*")]
            for folder in sorted([built.workspace / "kernel", *folders]):
                if folder.is_dir():
                    licences = sorted(text.stem for text in folder.glob("LICENSES/*.txt"))
                    name = folder.relative_to(built.workspace).as_posix()
                    yield self._project(name, revision_of(folder), licences)

    def _project(self, name: str, revision: str, licences: Iterable[str]) -> str:
        """A repository of seL4's workspace."""
        kind = "operating-system" if name == "kernel" else "library"
        version = _given(version=revision)
        return self._add(f"project:{name}", type=kind, name=name, **version, **_licensed(licences))

    def _images(self, ref: str, kernel: str, files: Iterable[Path], parts: Iterable[str]) -> None:
        """What is booted."""
        made = [
            {
                "type": "file",
                "bom-ref": f"{ref}/{path.name}",
                "name": path.name,
                "hashes": _hashes(sha256(path)),
            }
            for path in sorted(files)
        ]
        name = f"{self._application.name} for the {kernel} kernel"
        self._add(ref, type="firmware", name=name, components=made)
        self._need("application", ref)
        self._need(ref, *parts, *(f"instance:{name}" for name in self._named("instance:")))

    def _named(self, prefix: str) -> list[str]:
        return [ref.removeprefix(prefix) for ref in self._components if ref.startswith(prefix)]

    def _add_files(self, ref: str, paths: Iterable[Path], *, sources: set[Path]) -> None:
        for path in paths:
            role = "source" if path in sources else "generated" if self._is_made(path) else "header"
            self._add_file(ref, path, role)

    def _is_made(self, path: Path) -> bool:
        return path.is_relative_to(self._out)

    def _add_file(self, ref: str, path: Path, role: str) -> None:
        """A file that a part needs. Those of the machine are in its C library and its compiler."""
        path = path.absolute()
        if path.is_relative_to(ROOT) and not path.is_relative_to(self._application.folder.absolute()):
            name = f"camkes-rt/{path.relative_to(ROOT).as_posix()}"
        elif self._is_made(path):
            name = f"build/{path.relative_to(self._out).as_posix()}"
        elif str(path).startswith(_OF_MACHINE):
            return
        else:
            name = os.path.relpath(path, self._application.folder.absolute())
        more: Entry = _licensed([found] if (found := _says(_LICENCE, path)) else [])
        file = self._add(
            f"file:{name}",
            type="file",
            name=name,
            hashes=_hashes(sha256(path)),
            properties=[{"name": "camkes:role", "value": role}],
            **more,
            **_given(copyright=_says(_HOLDER, path)),
        )
        self._need(ref, file)

    def _add(self, ref: str, **values: Any) -> str:
        self._components.setdefault(ref, {"bom-ref": ref, **values})
        return ref

    def _need(self, ref: str, *others: str) -> None:
        self._needed.setdefault(ref, set()).update(others)


_NOT_PART: Entry = {"scope": "excluded"}


def _given(**values: str) -> Entry:
    return {name: value for name, value in values.items() if value}


def _hashes(found: str) -> list[Entry]:
    return [{"alg": "SHA-256", "content": found}]


def _licensed(licences: Iterable[str]) -> Entry:
    """All of them hold: a file says one, a project has files of several."""
    found = sorted(set(licences))
    if not found:
        return {}
    whole = [_OPERATOR.sub(lambda word: word[0].upper(), each) for each in found]
    whole = [f"({each})" if " " in each and len(whole) > 1 else each for each in whole]
    return {"licenses": [{"expression": " AND ".join(whole)}]}


def _says(pattern: re.Pattern[bytes], path: Path) -> str:
    """What the first lines of a file say, "" if nothing."""
    with path.open("rb") as file:
        found = pattern.search(file.read(_HEAD))
    return "" if found is None else found[1].decode("utf-8", "replace").strip()


def _packages() -> Sequence[str]:
    """The packages of Python that the tool needs."""
    try:
        said = requires("camkes-rt") or []
    except PackageNotFoundError:
        return ()
    return [re.split(r"[^\w.-]", each)[0] for each in said if "extra ==" not in each]


def _package(name: str) -> Entry:
    entry: Entry = {"type": "library", "name": name}
    try:
        found = metadata(name)
    except PackageNotFoundError:
        return entry
    licence = "".join(found.get_all("License-Expression") or ())
    version = found["Version"]
    return entry | {
        "version": version,
        "purl": f"pkg:pypi/{name.lower()}@{version}",
        **_licensed([licence] if licence else []),
    }
