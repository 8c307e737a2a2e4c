# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The device tree of a platform, as the kernel of a workspace has it.

The kernel's CMake files say which texts it is made of, and for machines of QEMU they ask QEMU for one. The
compiler of device trees, `dtc`, makes a blob of them. It is kept for as long as these files and programs
are unchanged.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from textwrap import shorten

from camkes import sandbox
from camkes.cache import cache_folder, forget_older
from camkes.files import temporary_folder, write_all
from camkes.process import Finished, run
from camkes.project import inputs
from camkes.project.cmake import find_cmake
from camkes.resolve.options import NoTreeError

_SCRIPT = Path(__file__).with_suffix(".cmake")
_TIMEOUT = 30  # seconds
#: in bytes; QEMU asks for the address space of the machine's memory
_MEMORY, _FILE_SIZE = 2**36, 2**26
_MOST_KEPT = 50
_EMULATORS = tuple(f"qemu-system-{machine}" for machine in ("arm", "aarch64", "riscv32", "riscv64"))


def platform_tree(workspace: Path, definitions: Mapping[str, str]) -> bytes:
    """The blob for the PLATFORM and other definitions of a build; raises NoTreeError."""
    if not definitions.get("PLATFORM"):
        raise NoTreeError("that of a workspace needs a platform, -D PLATFORM=NAME")
    key = sha256(json.dumps([str(workspace), sorted(definitions.items())]).encode()).hexdigest()[:32]
    kept = cache_folder(f"trees/{key}")
    if kept is not None:
        with suppress(OSError, ValueError, TypeError, AttributeError):
            if inputs.still(json.loads(Path(f"{kept}.json").read_bytes())):
                return Path(f"{kept}.dtb").read_bytes()
    try:
        with temporary_folder("camkes-tree-") as folder:
            texts = _texts(workspace, definitions, folder)
            blob = _compiled(texts, definitions["PLATFORM"], folder)
            replies = _replies(workspace, [text for text in texts if not text.is_relative_to(folder)])
    except OSError as error:
        raise NoTreeError(f"its tools cannot be run: {error.filename}: {error.strerror}") from error
    if kept is not None:
        with suppress(OSError):
            write_all([(Path(f"{kept}.dtb"), blob), (Path(f"{kept}.json"), json.dumps(replies).encode())])
            forget_older(Path(kept).parent, _MOST_KEPT)
    return blob


def _texts(workspace: Path, definitions: Mapping[str, str], folder: Path) -> list[Path]:
    """The files that together are the text of the tree."""
    cmake, output = find_cmake(), folder / "files"
    if cmake is None:
        raise NoTreeError("CMake, which says where it is in the workspace, was not found")
    given = {**definitions, "CAMKES_WORKSPACE": str(workspace), "CAMKES_OUTPUT": str(output)}
    command = [cmake, *(f"-D{name}={value}" for name, value in given.items()), "-P", str(_SCRIPT)]
    done = _run(command, folder)
    platform = definitions["PLATFORM"]
    if done.status != 0 or not output.is_file():
        said = re.search(r"CMake Error at .*\n+((?:  .+\n)+)", done.output)
        why = shorten(said[1], 120, placeholder=" ...") if said else "CMake failed"
        raise NoTreeError(f"that of platform `{platform}` is not known: {why}")
    texts = [Path(line) for line in output.read_text().splitlines()]
    if not texts:
        raise NoTreeError(f"platform `{platform}` has none")
    return texts


def _compiled(texts: Iterable[Path], platform: str, folder: Path) -> bytes:
    compiler = shutil.which("dtc")
    if compiler is None:
        raise NoTreeError(f"dtc, which compiles that of platform `{platform}`, was not found")
    source, output = folder / "tree.dts", folder / "tree.dtb"
    source.write_bytes(b"".join(text.read_bytes() for text in texts))
    command = [compiler, "-q", "-I", "dts", "-O", "dtb", "-o", str(output), str(source)]
    done = _run(command, folder)
    if done.status != 0:
        said = (done.output.strip().splitlines() or ["it failed"])[0].replace(f"{folder}/", "")
        raise NoTreeError(f"dtc cannot compile that of platform `{platform}`: {said}")
    return output.read_bytes()


def _run(command: Sequence[str], folder: Path) -> Finished:
    """Run a program that can write in the folder only, where the workstation can confine it."""
    writable = str(folder) if sandbox.available() else None
    confined = sandbox.command(
        command, writable=writable, cpu_seconds=_TIMEOUT, memory=_MEMORY, file_size=_FILE_SIZE
    )
    return run(confined, cwd=folder, timeout=_TIMEOUT, merged=True)


def _replies(workspace: Path, texts: Iterable[Path]) -> dict[str, str]:
    """By which it is known whether the tree would be the same."""
    rules = [_SCRIPT, *(workspace / "kernel/src/plat").glob("*/config.cmake")]
    rules.append(workspace / "kernel/configs/seL4Config.cmake")
    rules.append(workspace / "tools/seL4/cmake-tool/helpers/application_settings.cmake")
    programs = [path for name in ("dtc", *_EMULATORS) if (path := shutil.which(name)) is not None]
    return inputs.replies(("changed", str(path)) for path in (*texts, *rules, *programs))
