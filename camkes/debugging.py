# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Runs a system in gdb: finds where to stop, writes the data that gdb needs, starts it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

from msgspec import Struct
from msgspec.structs import replace

from camkes import pipeline, process
from camkes.backends.host.codes import NO_DEBUGGER, NO_SUCH_EVENT
from camkes.backends.host.host import HostImage
from camkes.backends.host.run import kernel_arguments
from camkes.backends.sel4.fault_lines import WORKSPACE_NAME, folders_of
from camkes.backends.sel4.sdk.choice import opened
from camkes.backends.sel4.workspace import KERNEL, find_workspace, simulator
from camkes.debug_adapter import DebugAdapter
from camkes.diagnostics import Sink
from camkes.files import OutputError, write_output
from camkes.model.system import Procedure, System
from camkes.model.units import NANOSECONDS
from camkes.resolve.words.nearest import suggestion
from camkes.resources import HOST_KERNEL, RUNTIME, SEL4_KERNEL
from camkes.running.denied import missed_jobs
from camkes.running.model import LockStep, Run
from camkes.running.names import save_names, trace_names
from camkes.showing import waiting
from camkes.visible import visible

_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(ns|us|ms|s)")
#: what `--at` can name beside a time: the event, its subject, and which of several
_EVENT = re.compile(r"(missed|fault|release|request|lock)(?::([A-Za-z_][\w.]*))?(?::(\d+))?")

#: of the run that gdb controls: its record, and a copy with what is still in memory
_TRACE, _SO_FAR = "debug.trace", "so-far.trace"

#: of a build for seL4, in its folder: QEMU's door for gdb, what gdb needs to know
_SOCKET, _DESCRIBED = "gdb.socket", "debug.json"


class StopAt(Struct, frozen=True):
    """Where to stop: at a `time` (ns), or at the event number `number` (from 0) of a kind. `subject` is the
    task, instance or CPI that it is about, "": any."""

    kind: str = "time"
    subject: str = ""
    number: int = 0
    time: int = 0


class DebugSettings(Struct, frozen=True, kw_only=True):
    """How to debug: `run` is how the system is built and run, `stop` where it stops, `breaks` are instances
    and interfaces; `commands` are gdb's own, after which it ends if `batch`."""

    run: pipeline.RunSettings
    stop: StopAt | None = None
    breaks: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    batch: bool = False


def parse_stop(text: str) -> StopAt:
    """`12ms`, `missed`, `missed:TASK:2`, `fault:INSTANCE`, `release:TASK:3`, `request:CPI`, `lock:CPI:1`.
    Raises ValueError."""
    time = _TIME.fullmatch(text)
    if time is not None:
        return StopAt(time=round(float(time[1]) * NANOSECONDS[time[2]]))
    event = _EVENT.fullmatch(text)
    if event is None:
        raise ValueError(text)
    return StopAt(event[1], event[2] or "", int(event[3] or 0))


def debug(
    asked: pipeline.Input, settings: DebugSettings, sink: Sink, progress: Callable[[str], None]
) -> int | None:
    """Build a system and run it in gdb; the exit status of gdb, None after a diagnostic."""
    with ExitStack() as stack:
        prepared = _prepared(asked, settings, stack, sink, progress)
        if prepared is None:
            return None
        progress("")
        return _start(*prepared)


def debug_for_editor(asked: pipeline.Input, settings: DebugSettings, words: Callable[[Sink], str]) -> None:
    """Serve an editor on standard input and output, which speaks the Debug Adapter Protocol. The system is
    built when it is launched; `words` makes a text of what there is to report."""
    with ExitStack() as stack, os.fdopen(os.dup(sys.stdout.fileno()), "wb") as output:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what anything else prints

        def prepare() -> tuple[list[str], Path] | str:
            sink = Sink()
            try:
                found = _prepared(asked, settings, stack, sink, lambda _: None, machine=True)
            except OutputError as error:
                return str(error)
            return found if found is not None else words(sink)

        DebugAdapter(sys.stdin.buffer, output, prepare).serve()


def _prepared(
    asked: pipeline.Input,
    settings: DebugSettings,
    stack: ExitStack,
    sink: Sink,
    progress: Callable[[str], None],
    *,
    machine: bool = False,
) -> tuple[list[str], Path] | None:
    """The command that starts gdb for a system, which is built, and the folder where it starts; None after a
    diagnostic. With `machine` gdb waits for a program that speaks to it."""
    progress("reading")
    checked = pipeline.check_code(asked, settings.run.output, sink, progress)
    if checked is None:
        return None
    known = functions(checked.system)
    if not _all_known(settings.breaks, known, sink) or not _can_happen(settings.stop, checked.system, sink):
        return None
    gdb = shutil.which("gdb")
    if gdb is None:
        sink.report(NO_DEBUGGER, "gdb was not found", help="install it (apt install gdb)")
        return None
    image = pipeline.build_to_run(checked, settings.run, stack, sink, progress)
    if image is None or sink.has_errors:
        return None
    described = describe(image, checked, known, settings.breaks)
    earlier = 0
    if settings.stop is not None:
        found = _find(image, checked, settings, sink)
        if found is None:
            return None
        described["time"], described["thread"], earlier = found
    names = trace_names(image.capabilities, checked.plan, checked.system)
    save_names(image.folder / _SO_FAR, names, sink)
    file = image.folder / "debug.json"
    write_output(file, json.dumps(described, indent=1).encode())
    return gdb_command(gdb, image, settings, file, earlier, machine=machine), image.folder


def functions(system: System) -> dict[str, dict[str, list[str]]]:
    """The C functions of each instance: run() under "", and those of its interfaces."""
    found: dict[str, dict[str, list[str]]] = {}
    for instance in system.instances:
        if instance.type.hardware:
            continue
        of = found[instance.name] = {"": ["run"]} if instance.type.control else {}
        for each in instance.type.interfaces:
            if isinstance(each.type, Procedure) and each.kind == "provides":
                of[each.name] = [f"{each.name}_{method.name}" for method in each.type.methods]
    return found


def _all_known(names: Sequence[str], known: dict[str, dict[str, list[str]]], sink: Sink) -> bool:
    every = [*known, *(f"{name}.{interface}" for name, of in known.items() for interface in of if interface)]
    for name in names:
        if name not in every:
            help = suggestion(name, every) or f"there are {', '.join(every)}"
            message = (
                f"there is no instance `{name}`, and no interface of that name whose methods it provides"
            )
            sink.report(NO_SUCH_EVENT, message, help=help)
    return all(name in every for name in names)


def describe(
    image: HostImage,
    checked: pipeline.Checked,
    known: dict[str, dict[str, list[str]]],
    breaks: Sequence[str],
) -> dict[str, object]:
    """What the commands in kernel/host/gdb read."""
    names = trace_names(image.capabilities, checked.plan, checked.system)
    # the kernel is compiled in a folder for temporary files, where links lead to its sources
    tools = [str(HOST_KERNEL), str(RUNTIME), str(image.folder.parent), str(image.kernel.parent.parent)]
    return {
        "instances": known,
        "threads": [thread.name for thread in names.threads],
        "tools": tools,
        "break": list(breaks),
        "sources": [[name, str(place)] for name, place in image.named.items()],
        "time": None,
        "thread": None,
        "trace": str(image.folder / _TRACE),
        "so_far": str(image.folder / _SO_FAR),
        "waits": [sys.executable, "-m", waiting.__name__, str(image.folder / _SO_FAR)],
    }


def gdb_command(
    gdb: str,
    image: HostImage,
    settings: DebugSettings,
    described: Path,
    earlier: int = 0,
    *,
    machine: bool = False,
) -> list[str]:
    """The command that starts gdb in the folder of an image. All components are in one process, which changes
    nothing in what they do; nothing is stopped because it takes long. gdb stops at each fault by itself, and
    goes on at `earlier` ones."""
    duration = settings.run.duration or pipeline.DEFAULT_DURATION
    options = replace(settings.run, duration=duration, fast=True, loop_limit_ms=0, timeout=0, memory_limit=0)
    words = kernel_arguments(options)
    script = HOST_KERNEL / "gdb" / "camkes_gdb.py"
    more = []
    if not machine and (settings.stop is not None or settings.breaks or settings.commands):
        more = ["-ex", "run", *(["-ex", "continue"] * earlier)]  # else the user looks around first
    for command in settings.commands:
        more += ["-ex", command]
    return [
        *(gdb, "-q", "-nx", *(["-batch"] if settings.batch else []), *(["-i=mi3"] if machine else [])),
        *("-ex", f"source {script}", "-ex", f'python setup("{described}")', *more),
        *("--args", str(image.kernel), image.table.name, *words, "--trace", _TRACE),
    ]


def _start(command: list[str], folder: Path) -> int:
    """gdb has the terminal, and Ctrl-C is for it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with process.StartedProgram(command, cwd=folder, env=os.environ, terminal=True) as gdb:
            return gdb.wait()
    finally:
        signal.signal(signal.SIGINT, before)


def debug_sel4(
    asked: pipeline.Input,
    settings: DebugSettings,
    workspace: Path | None,
    sink: Sink,
    progress: Callable[[str], None],
) -> int | None:
    """Build an image for seL4 and run it in QEMU, to which gdb is connected; the exit status of gdb, None
    after a diagnostic. Of `settings`, breakpoints and commands have a meaning."""
    application = pipeline.find_for_sel4(asked, sink, progress)
    system = None if application is None else pipeline.load_input(application, asked, sink)
    if application is None or system is None or sink.has_errors:
        return None
    known = functions(system)
    if not _all_known(settings.breaks, known, sink):
        return None
    spaces = {each.name: each.address_space for each in system.instances if each.name in known}
    described = {
        "instances": known,
        "spaces": spaces,
        "images": {space: f"{space}.elf" for space in spaces.values()},
        "kernel": KERNEL,
        "socket": _SOCKET,
        "break": list(settings.breaks),
    }
    with pipeline.built_for_sel4(asked, workspace, settings.run.output, sink, progress) as out:
        gdb = None if out is None else _debugger_for(out / KERNEL, sink)
        if out is None or gdb is None:
            return None
        progress("")
        places = folders_of(out)
        if (sources := _sources_of_libraries(asked, workspace)) is not None:
            places[WORKSPACE_NAME] = sources
        described["sources"] = [[name, str(place)] for name, place in places.items()]
        write_output(out / _DESCRIBED, json.dumps(described, indent=1).encode())
        return _connect(gdb, out, settings)


def _sources_of_libraries(asked: pipeline.Input, workspace: Path | None) -> Path | None:
    """Where the files of the workspace are. An SDK has the headers of its own."""
    unheard = Sink()
    if asked.sdk is None:
        return find_workspace(workspace, unheard)
    sdk = opened(asked.sdk, unheard, lambda _: None)
    return None if sdk is None else sdk.folder / "workspace"


def _debugger_for(kernel: Path, sink: Sink) -> str | None:
    """A gdb for the machine of an image: that of the workstation, or one for many machines."""
    with kernel.open("rb") as image, Path(sys.executable).open("rb") as own:
        same = image.read(20)[18:] == own.read(20)[18:]  # e_machine of ELF
    gdb = shutil.which("gdb-multiarch") or (shutil.which("gdb") if same else None)
    if gdb is None:
        name = "gdb" if same else "gdb-multiarch"
        sink.report(NO_DEBUGGER, f"{name} was not found", help=f"install it (apt install {name})")
    return gdb


def _connect(gdb: str, out: Path, settings: DebugSettings) -> int:
    """Start QEMU, which waits, and gdb. What the image prints goes to standard output as it comes."""
    more = ["-ex", "continue"] if settings.breaks or settings.commands else []
    for wanted in settings.commands:
        more += ["-ex", wanted]
    folders = [str(kernel / "gdb") for kernel in (HOST_KERNEL, SEL4_KERNEL)]
    start = (
        f"import sys; sys.path += {folders!r}; import camkes_sel4_gdb; camkes_sel4_gdb.setup({_DESCRIBED!r})"
    )
    command = [gdb, "-q", "-nx", *(["-batch"] if settings.batch else []), "-ex", f"python {start}", *more]
    (out / _SOCKET).unlink(missing_ok=True)
    waits = f"-S -chardev socket,path={_SOCKET},server=on,wait=off,id=gdb -gdb chardev:gdb"
    with simulator(out, waits) as qemu:
        assert qemu.stdout is not None
        printed = threading.Thread(target=_show, args=(qemu.stdout,), daemon=True)
        printed.start()
        while not (out / _SOCKET).exists():
            with suppress(TimeoutError):
                qemu.wait(0.05)
                break
        return _start(command, out)


def _show(stream: IO[bytes]) -> None:
    for line in stream:
        sys.stdout.write(visible(line.decode(errors="replace").rstrip("\r\n")) + "\n")
        sys.stdout.flush()


def _find(
    image: HostImage, checked: pipeline.Checked, settings: DebugSettings, sink: Sink
) -> tuple[int | None, int | None, int] | None:
    """When to stop, in which thread (its number; None: in any), and at how many faults not to stop. Where a
    fault is asked for, there is no time: gdb stops at it. Runs are deterministic, so an event is found in a
    run before."""
    stop = settings.stop
    assert stop is not None
    if stop.kind == "time":
        return stop.time, None, 0
    own = Sink()
    silent = replace(settings.run, fast=True, show=lambda _: None, trace=None)
    outcome = pipeline.run_image(image, checked, silent, own)
    found = None if outcome is None else find_event(outcome.run, stop)
    if found is None:
        what = f"{stop.kind}{f' of {stop.subject}' if stop.subject else ''}"
        sink.report(
            NO_SUCH_EVENT,
            f"there is no event number {stop.number} of this kind in the run: {what}",
            help="`camkes run PATH` shows what happens; `--for TIME` lets both run longer",
        )
    if found is None or outcome is None:
        return None
    if stop.kind == "fault":
        return None, None, _events(outcome.run, "fault", "").index(found)
    return *found, 0


def _can_happen(stop: StopAt | None, system: System, sink: Sink) -> bool:
    """Whether what is named has such events."""
    if stop is None or not stop.subject:
        return True
    known = _subjects(system, stop.kind)
    if stop.subject not in known:
        help = suggestion(stop.subject, known) or (f"there are {', '.join(known)}" if known else "")
        sink.report(NO_SUCH_EVENT, f"there is no event `{stop.kind}` of `{stop.subject}`", help=help)
    return stop.subject in known


def _subjects(system: System, kind: str) -> list[str]:
    """What has events of a kind: tasks, instances or CPIs."""
    match kind:
        case "missed" | "release":
            return [task.instance for task in system.tasks]
        case "fault":
            return [instance.name for instance in system.instances]
    return [cpi.name for cpi in system.cpis]


def find_event(run: Run, stop: StopAt) -> tuple[int, int | None] | None:
    """The time and the thread of an event; None if there is none."""
    events = _events(run, stop.kind, stop.subject)
    return events[stop.number] if stop.number < len(events) else None


def _events(run: Run, kind: str, subject: str) -> list[tuple[int, int | None]]:
    cpis = {cpi.id: cpi.name for cpi in run.names.cpis}
    match kind:
        case "missed":
            jobs = [(lane, job) for lane, _ in missed_jobs(run) for job in lane.jobs if job.missed]
            found = [(job.deadline or 0, None) for lane, job in jobs if subject in ("", lane.task.name)]
        case "fault":
            faults = [fault for fault in run.faults if subject in ("", fault.thread.instance)]
            return [(fault.time, fault.thread.number) for fault in faults]
        case "release":
            lanes = [lane for lane in run.tasks if subject in ("", lane.task.name)]
            found = [(job.release, None) for lane in lanes for job in lane.jobs]
        case "request":
            requests = [each for each in run.requests if subject in ("", cpis.get(each.cpi))]
            return sorted((each.start, each.thread) for each in requests)
        case _:
            locks = [each for each in run.locks if subject in ("", cpis.get(each.cpi))]
            return [(each.time, each.thread) for each in locks if each.step is not LockStep.FREES]
    return sorted(found, key=lambda event: event[0])
