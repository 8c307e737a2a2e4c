# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How much stack each thread of an image takes at most: the deepest way through calls, of which GCC writes
the graph and the frames.

Each source is compiled once more, with the flags of the build. Code that only the linker sees, as the C
library, is not counted, nor are calls that nothing bounds: a bound has the names of what it leaves out.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from camkes.backends.host.compiler import Compiler
from camkes.backends.host.host import HostImage
from camkes.backends.host.jobs import BuildJob
from camkes.backends.host.kernel import runtime_jobs, symbols
from camkes.backends.host.ninja import run_jobs
from camkes.callgraph.gcc import read_calls, read_frames
from camkes.callgraph.graph import CALLING_BACK, CallGraph, Function
from camkes.callgraph.objects import ObjectError, read_object
from camkes.capdl.model import Space
from camkes.capdl.size import OUTSIDE
from camkes.protocols.cycles import has_cycle, strongly_connected, walk
from camkes.resources import RUNTIME

_FLAGS = ("-fcallgraph-info=su", "-ffunction-sections", "-w")
_SUFFIX = ".ci"
#: what a function that calls none may use below its stack pointer: no frame has it
_RED_ZONE = 128 if platform.machine() == "x86_64" else 0
#: the record of a thread in generated code, and the function that it starts with
_START = re.compile(
    r'^struct camkes_thread \w+ = \{\n    \.name = "((?:\\.|[^"\\])*)",.*?^    \.start = (\w+),',
    re.MULTILINE | re.DOTALL,
)
#: what calls that function
_ENTRY = "_camkes_thread"
#: registers a callback, and what the functions are called that call it
_REGISTER, _REGISTERS = "camkes_event_register", "_reg_callback"
#: functions of the kernel, or of its API: on seL4 they take no stack of the thread
_KERNEL = ("seL4_", "camkes_host_", "camkes_watched_")


class StackBound(Struct, frozen=True):
    """The most `bytes` of a thread's stack that its known code uses, and the functions on the deepest way.
    `left_out` says what is not in it."""

    bytes: int
    path: tuple[str, ...]
    left_out: tuple[str, ...]


def stack_bounds(
    image: HostImage, compiler: Compiler, out: Path, progress: Callable[[str], None]
) -> dict[str, StackBound]:
    """Bounds by the names of threads. Those of which code cannot be read are missing, all of them if the
    compiler writes no call graphs. Compiles in the folder `out`; OSError where it cannot be written."""
    if not compiler.call_graphs:
        return {}
    out = out.absolute()
    again: dict[int, BuildJob] = {}
    for name, jobs in image.compiled.items():
        for number, job in enumerate(jobs):
            again.setdefault(id(job), _again(job, out / name / f"{number}-{job.output.name}"))
    runtime = [replace(job, beside=_SUFFIX) for job in runtime_jobs(compiler, out / "runtime", _FLAGS)]
    run_jobs(out, [*again.values(), *runtime], progress)
    found: dict[str, StackBound] = {}
    for space in image.capabilities.spaces:
        own = {name: [again[id(job)] for job in image.compiled[name]] for name in space.instances}
        try:
            reader = _SpaceStacks(image, space, own, runtime)
        except (ObjectError, OSError):
            continue
        found |= {thread.name: reader.bound(thread.name, thread.interface) for thread in space.threads}
    return found


def _again(job: BuildJob, output: Path) -> BuildJob:
    """The job, with a call graph."""
    words = [word.replace(str(job.output), str(output)) for word in job.command]
    place = words.index("-c")
    command = (*words[:place], *_FLAGS, *words[place:])
    return replace(job, title=f"{job.title} (stack)", output=output, command=command, beside=_SUFFIX)


class _SpaceStacks:
    """The code of an address space."""

    def __init__(
        self,
        image: HostImage,
        space: Space,
        jobs: Mapping[str, Sequence[BuildJob]],
        runtime: Sequence[BuildJob],
    ) -> None:
        self.graph = CallGraph()
        written = CallGraph()  # by users: what a pointer of theirs can lead to
        self.units: dict[str, str] = {}  # the generated source of each instance
        own = [job for of in jobs.values() for job in of]
        for job in dict.fromkeys((*own, *runtime)):
            unit, code = str(job.inputs[0]), read_object(job.output)
            calls, frames = read_calls(job.second), read_frames(job.second)
            self.graph.add(unit, calls, code, frames=frames)
            if job in own and not _is_generated(job):
                written.add(unit, calls, code)
        for name, of in jobs.items():
            self.units[name] = next((str(job.inputs[0]) for job in of if _is_generated(job)), "")
        self.written = [self.graph.linked(f.name) if not f.unit else f for f in written.taken()]
        self.starts = {
            match[1]: (name, match[2])
            for name in space.instances
            for path in image.code
            if path.parent.name == name and path.suffix == ".c"
            for match in _START.finditer(path.read_text(encoding="utf-8"))
        }
        #: names that a library has to define; where instances are linked by themselves, any others too
        undefined = symbols("--undefined-only", image.images[space.name], dynamic=True)
        self.libraries = {name.partition("@")[0] for name in undefined} if len(jobs) == 1 else None

    def bound(self, thread: str, interface: str) -> StackBound:
        instance, start = self.starts[thread]
        first = self.graph.named(self.units[instance], start)
        left_out: dict[str, None] = {}

        def steps(function: Function) -> Iterable[tuple[Function, None]]:
            return ((other, None) for other in self._called(function, first, interface, left_out))

        entry = self.graph.linked(_ENTRY)
        every = list(walk([entry], steps))
        keys = {function: f"{function.unit}:{function.name}" for function in every}
        functions = {key: function for function, key in keys.items()}
        after = {keys[f]: [keys[other] for other, _ in steps(f)] for f in every}
        deepest: dict[str, tuple[int, tuple[str, ...]]] = {}
        for part in reversed(list(strongly_connected(after))):
            inside = set(part)
            below = [deepest[o] for key in part for o in after[key] if o not in inside]
            names = tuple(functions[key].name for key in part)
            used = sum(self._frame(functions[key], left_out) for key in part)
            if len(part) > 1 or part[0] in after[part[0]]:
                nested = self._nested([functions[key] for key in part], after, keys)
                if nested is None:
                    left_out[f"{' and '.join(sorted(set(names)))}: recursion, counted once"] = None
                used += nested or 0
            most, way = max(below, default=(_RED_ZONE, ()))
            deepest |= dict.fromkeys(part, (used + most, (*names, *way)))
        used, path = deepest[keys[entry]]
        return StackBound(used, tuple(name for name in path if self._is_known(name)), tuple(sorted(left_out)))

    def _nested(
        self, part: Sequence[Function], after: Mapping[str, Sequence[str]], keys: Mapping[Function, str]
    ) -> int | None:
        """What functions that call each other take beside one frame of each, if only a callback that
        registers itself again makes them do so: while a callback of an event runs, the runtime calls no other
        of it. None: their calls have no bound."""
        events = sum(function.name.endswith(_REGISTERS) for function in part)
        others = [keys[function] for function in part if function.name != _REGISTER]
        cut = {key: [other for other in after[key] if other in others] for key in others}
        if not events or has_cycle(cut):
            return None
        own = [function for function in part if function.name in (_REGISTER, "deliver")]
        return events * sum(self._frame(function, {}) for function in own)

    def _is_known(self, name: str) -> bool:
        return name != _ENTRY and not name.startswith(_KERNEL)

    def _frame(self, function: Function, left_out: dict[str, None]) -> int:
        frame = self.graph.frame(function)
        if frame is None:
            is_library = self.libraries is None or function.name in self.libraries
            if is_library and not function.name.startswith(_KERNEL):
                left_out[f"{function.name}: {OUTSIDE}"] = None
            return 0
        if not frame.bounded:
            left_out[f"{function.name}: an array of variable length"] = None
        return frame.bytes

    def _called(
        self, function: Function, first: Function, interface: str, left_out: dict[str, None]
    ) -> list[Function]:
        found = self.graph.called_by(function)
        if any(callee.name in CALLING_BACK and self.graph.frame(callee) is None for callee in found):
            found += self.graph.taken_in(function)
        if not self.graph.calls_pointers(function):
            return found
        targets = self._pointed(function, first, interface)
        if not targets and targets is not None:
            left_out[f"{function.name}: a call through a pointer with an unknown target"] = None
        return [*found, *(targets or ())]

    def _pointed(self, function: Function, first: Function, interface: str) -> list[Function] | None:
        """What a function calls through a pointer; None: nothing that this thread can get to."""
        match function.name:
            case "_camkes_thread":
                return [first]
            case "camkes_serve_cpi" | "camkes_serve_plain":
                return self.graph.taken_in(first)
            case "camkes_start_interface":
                return self._defined(f"{interface}__init")
            case "camkes_run_interface":
                return self._defined(f"{interface}__run")
            case "deliver" if function.unit.startswith(str(RUNTIME)):
                return self._handed(_REGISTERS)
            case "camkes_handle_error":
                return self._handed("_register_error_handler")
        return self.written

    def _defined(self, name: str) -> list[Function] | None:
        return [self.graph.linked(name)] if self.graph.defines(name) else None

    def _handed(self, ending: str) -> list[Function] | None:
        given, unknown = self.graph.handed_over(self.graph.names_ending(ending))
        return list(dict.fromkeys((*given, *(self.written if unknown else ())))) or None


def _is_generated(job: BuildJob) -> bool:
    return "-DCAMKES_GENERATED=1" in job.command
