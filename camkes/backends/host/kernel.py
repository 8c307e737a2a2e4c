# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Builds the parts that are the same for every system: the host kernel and the object of the runtime.

They are compiled once for each version of them and of the compiler, and kept in the user's cache, or in the
tool's own folder for all its users. The kernel is the same program with and without MCS, the runtime is
not. An entry is a folder that appears there whole, with a list of checksums. One that does not agree with it
is replaced.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from camkes.backends.host.addresses import TOOL, naming_flags
from camkes.backends.host.codes import KERNEL_BUILD
from camkes.backends.host.compiler import Compiler, find_compiler
from camkes.backends.host.digests import of_file, of_words
from camkes.backends.host.folder import FolderInUseError, locked
from camkes.backends.host.jobs import HOST_KERNEL_STEP, BuildJob, Progress
from camkes.backends.host.ninja import run_jobs
from camkes.backends.host.sources import compile_job
from camkes.cache import cache_folder
from camkes.diagnostics import Sink
from camkes.files import temporary_folder
from camkes.process import disk_error, run
from camkes.resources import HOST_KERNEL, ROOT, RUNTIME

_PROGRAM = "camkes-host"
_ORACLE = "camkes-oracle"
_NAMES = "kernel-names.s"
_RUNTIME = "runtime"
_JOINED = "runtime.o"
_CHECKSUMS = "checksums.json"
#: kernels, of 2 MB: one for each compiler, folder of the tool and kind of kernel, with and without sanitizers
_MOST_KEPT = 32
#: of all users of the tool; `share_kits` writes it
SHARED = ROOT / "build" / "host-kernels"
#: seconds: a build that uses an entry has ended, or has been killed
_IN_USE = 3600


class Kit(Struct, frozen=True):
    """`kernel` is the program that boots a system, `oracle` the one that judges runs, `names` an assembly
    source that defines what components find in the kernel, `runtime` is the object that every address space
    gets: one, as a linker reads it much faster than one for each source."""

    kernel: Path
    oracle: Path
    names: Path
    runtime: Path


def host_kit(compiler: Compiler, fallback: Path, sink: Sink, progress: Progress) -> Kit | None:
    """The kit: of all users or from the user's cache, else made and put there (or in `fallback` if that
    cannot be, or if another command does not end its build there). None after a diagnostic."""
    name = _entry(compiler)
    cache = cache_folder()
    parents = [*([] if cache is None else [Path(cache)]), fallback]
    for parent in (SHARED, *parents):
        if (kit := _checked(parent / name)) is not None:
            with suppress(OSError):
                os.utime(parent / name)  # it is in use
            return kit
    last = OSError()
    for parent in parents:
        try:
            with locked(parent, progress):
                kit = _checked(parent / name)  # another command may have made it meanwhile
                made = Sink()
                if kit is None and _make(parent, name, compiler, made, progress):
                    kit = _checked(parent / name)
            for diagnostic in made.diagnostics:
                sink.add(diagnostic)
            if kit is not None or made.has_errors:
                return kit
            last = OSError(errno.EIO, os.strerror(errno.EIO), str(parent))
        except FolderInUseError:
            if parent == fallback:
                raise
        except OSError as error:
            last = error
    sink.report(
        KERNEL_BUILD,
        f"the host kernel cannot be stored: {last.filename}: {last.strerror}",
        notes=[f"neither in {' nor in '.join(map(str, parents))}"],
        help="set XDG_CACHE_HOME to another folder, or choose another build folder with -o",
    )
    return None


def share_kits(sink: Sink, progress: Progress) -> bool:
    """Compile the kits for the user's compiler, with and without MCS, into the tool's folder. False after a
    diagnostic; OSError where that cannot be written."""
    SHARED.mkdir(parents=True, exist_ok=True)
    for mcs in (False, True):
        compiler = find_compiler(False, sink, mcs=mcs)
        if compiler is None:
            return False
        with locked(SHARED, progress):
            name = _entry(compiler)
            if _checked(SHARED / name) is None and not _make(SHARED, name, compiler, sink, progress):
                return False
    return True


def _entry(compiler: Compiler) -> str:
    folders = (HOST_KERNEL / "src", HOST_KERNEL / "include", RUNTIME / "src", RUNTIME / "include")
    files = [HOST_KERNEL / "Makefile", *sorted(f for d in folders for f in d.rglob("*.[chS]"))]
    # the place of the sources is in the debugging information; the Makefile takes CFLAGS from the environment
    words = [
        compiler.identity,
        str(compiler.sanitize),
        str(compiler.mcs),
        str(ROOT),
        TOOL,
        os.environ.get("CFLAGS", ""),
    ]
    return f"host-{of_words([*words, *(f'{f} {of_file(f)}' for f in files)])[:16]}"


def _checked(folder: Path) -> Kit | None:
    """The kit in a folder, if it is whole."""
    try:
        sums = json.loads((folder / _CHECKSUMS).read_text(encoding="utf-8"))
        good = isinstance(sums, dict) and all(of_file(folder / name) == sum_ for name, sum_ in sums.items())
    except (OSError, ValueError):
        return None
    programs = (folder / _PROGRAM, folder / _ORACLE)
    if not good or not {_NAMES, _JOINED} <= sums.keys() or not all(os.access(p, os.X_OK) for p in programs):
        return None
    return Kit(*programs, folder / _NAMES, folder / _JOINED)


def _make(parent: Path, name: str, compiler: Compiler, sink: Sink, progress: Progress) -> bool:
    """Make the entry `name` of a folder; False after a diagnostic, OSError where it cannot be written."""
    progress(HOST_KERNEL_STEP)
    with temporary_folder(".host-", parent) as scratch:
        work, entry = scratch / "work", scratch / "entry"
        (work / "objects").mkdir(parents=True)
        entry.mkdir()
        other = _checked(parent / _entry(replace(compiler, mcs=not compiler.mcs)))
        program = _make_kernel(work, compiler, sink) if other is None else other.kernel
        if program is None or not (
            _make_runtime(work, entry, compiler, sink, progress)
            and _join_runtime(work, entry, compiler, sink, progress)
        ):
            return False
        for file in (_PROGRAM, _ORACLE):
            shutil.copy2(program.with_name(file), entry / file)
            (entry / file).chmod(0o755)
        (entry / _NAMES).write_text(_names_source(program), encoding="utf-8")
        files = [str(f.relative_to(entry)) for f in sorted(entry.rglob("*")) if f.is_file()]
        sums = {file: of_file(entry / file) for file in files}
        (entry / _CHECKSUMS).write_text(json.dumps(sums, indent=1), encoding="utf-8")
        with suppress(FileNotFoundError):
            (parent / name).rename(scratch / "damaged")
        entry.rename(parent / name)
    _forget_unused(parent)
    return True


def _forget_unused(parent: Path) -> None:
    """Remove the entries that were not used for the longest time, where there are many. Other commands may
    be linking with those that were used lately."""
    used: dict[Path, int] = {}
    recent = time.time_ns() - _IN_USE * 10**9
    for entry in parent.glob("host-*"):
        with suppress(OSError):
            used[entry] = entry.stat().st_mtime_ns
    for entry in sorted(used, key=used.__getitem__)[:-_MOST_KEPT]:
        if used[entry] < recent:
            shutil.rmtree(entry, ignore_errors=True)


def _make_kernel(folder: Path, compiler: Compiler, sink: Sink) -> Path | None:
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
        "OUT=.",
        f"CC={shlex.join(compiler.c)}",
        f"SANITIZE={1 if compiler.sanitize else ''}",
    ]
    # nothing of a make that runs us may reach this one
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    done = run(command, cwd=folder, env=environment, merged=True)
    program = folder / _PROGRAM
    if done.status != 0 or not (program.is_file() and program.with_name(_ORACLE).is_file()):
        error = disk_error(done.output, folder, mistake=": error: " in done.output)
        if error is not None:
            raise error
        sink.report(
            KERNEL_BUILD, "the host kernel failed to compile", notes=done.output.strip().splitlines()[-20:]
        )
        return None
    return program


def runtime_jobs(compiler: Compiler, out: Path, last: Sequence[str]) -> list[BuildJob]:
    """Compile the sources of the runtime to objects in the folder `out`; `last` are flags that win over
    others."""
    base = RUNTIME / "src"
    sources = [s for s in sorted(base.rglob("*.c")) if not s.name.endswith("_sel4.c")]
    return [
        compile_job(
            compiler,
            source,
            (out / source.relative_to(base)).with_suffix(".o"),
            (),
            (),
            "the runtime",
            last=last,
        )
        for source in sources
    ]


def _make_runtime(work: Path, entry: Path, compiler: Compiler, sink: Sink, progress: Progress) -> bool:
    # the scratch folder is another one each time; each image is linked with the lines, and needs no more
    names = (*naming_flags({TOOL: ROOT}), f"-ffile-prefix-map={work}=.")
    jobs = runtime_jobs(compiler, entry / _RUNTIME, (*names, "-g1"))
    good = _run_jobs(work, jobs, sink, progress)
    for job in jobs:
        for file in (job.dependencies, job.messages):
            file.unlink(missing_ok=True)
    return good


def _join_runtime(work: Path, entry: Path, compiler: Compiler, sink: Sink, progress: Progress) -> bool:
    output, objects = entry / _JOINED, tuple(sorted((entry / _RUNTIME).rglob("*.o")))
    command = (*compiler.c, "-r", "-nostdlib", "-o", str(output), *map(str, objects))
    job = BuildJob("the runtime", output, command, objects, "the runtime", identity=compiler.identity)
    good = _run_jobs(work, [job], sink, progress)
    job.messages.unlink(missing_ok=True)
    return good


def _run_jobs(work: Path, jobs: Sequence[BuildJob], sink: Sink, progress: Progress) -> bool:
    failed = [outcome for outcome in run_jobs(work, jobs, progress) if not outcome.good]
    if failed:
        notes = failed[0].messages.strip().splitlines()[-20:]
        sink.report(KERNEL_BUILD, "the runtime of components failed to compile", notes=notes)
    return not failed


def _names_source(kernel: Path) -> str:
    """The names that components find in the kernel, and `main`, as symbols of an assembly source."""
    names = symbols("--defined-only", kernel, dynamic=True) | {"main"}
    text = "".join(f'.globl "{n}"\n"{n}":\n' for n in sorted(names) if "@" not in n)
    return f'.text\n{text}.section .note.GNU-stack,"",%progbits\n'


def symbols(which: str, *files: Path, dynamic: bool = False) -> set[str]:
    """Global symbols of files; weak ones that are not defined do not count."""
    command = ("nm", "-g", which, *(("-D",) if dynamic else ()), *map(str, files))
    words = [line.split()[-2:] for line in run(command).output.splitlines()]
    return {w[1] for w in words if len(w) == 2 and w[0] not in ("w", "v")}
