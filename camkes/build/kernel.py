# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The host kernel's runner, compiled once for each version of it and of the compiler."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

from camkes.build.codes import KERNEL_BUILD
from camkes.build.compiler import Compiler
from camkes.build.digests import Digests, of_words
from camkes.build.jobs import Progress
from camkes.build.places import HOST_KERNEL, ROOT, RUNTIME
from camkes.cache import cache_folder
from camkes.diagnostics import Sink

_PROGRAM = "camkes-host"


def host_kernel(
    compiler: Compiler, fallback: Path, digests: Digests, sink: Sink, progress: Progress
) -> Path | None:
    """The runner: from the user's cache, else made and put there (or in `fallback` if that cannot be)."""
    key = _key(compiler, digests)
    folders = [cache_folder(f"host-{key}"), fallback / f"host-{key}"]
    places = [Path(folder, _PROGRAM) for folder in folders if folder is not None]
    found = next((p for p in places if p.is_file() and os.access(p, os.X_OK)), None)
    if found is not None:
        return found
    progress("the host kernel")
    with tempfile.TemporaryDirectory(prefix="camkes-host-") as folder:
        made = _make(Path(folder), compiler, sink)
        if made is None:
            return None
        for place in places:
            try:
                return _store(made, place)
            except OSError as error:
                last = error
    sink.report(
        KERNEL_BUILD,
        f"the host kernel cannot be stored: {last.strerror}",
        notes=[f"neither in {' nor in '.join(str(place.parent.parent) for place in places)}"],
        help="name a folder with XDG_CACHE_HOME, or another one to build in with -o",
    )
    return None


def _store(made: Path, place: Path) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        shutil.copy2(made, part)
        part.replace(place)
    finally:
        part.unlink(missing_ok=True)
    return place


def _key(compiler: Compiler, digests: Digests) -> str:
    files = [HOST_KERNEL / "Makefile"]
    for folder in (HOST_KERNEL / "src", HOST_KERNEL / "include", RUNTIME / "include"):
        files += sorted(f for f in folder.rglob("*") if f.suffix in (".c", ".h", ".S"))
    words = (digests.of_all(files), compiler.identity, str(compiler.sanitize))
    return of_words(words)[:16]


def _make(folder: Path, compiler: Compiler, sink: Sink) -> Path | None:
    make = shutil.which("make")
    if make is None:
        sink.report(KERNEL_BUILD, "make was not found", help="install make (apt install build-essential)")
        return None
    # make cannot do with blanks in names: it sees the tool's own folder through a link
    root = folder / "root"
    root.symlink_to(ROOT)
    command = [
        make,
        f"--makefile={root / HOST_KERNEL.relative_to(ROOT) / 'Makefile'}",
        f"-j{os.cpu_count() or 1}",
        "--no-print-directory",
        f"OUT={folder}",
        f"CC={shlex.join(compiler.c)}",
        f"SANITIZE={1 if compiler.sanitize else ''}",
    ]
    # nothing of a make that runs us may reach this one
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        cwd=folder,
        env=environment,
        check=False,
    )
    program = folder / _PROGRAM
    if done.returncode != 0 or not program.is_file():
        sink.report(
            KERNEL_BUILD, "the host kernel does not compile", notes=done.stdout.strip().splitlines()[-20:]
        )
        return None
    return program
