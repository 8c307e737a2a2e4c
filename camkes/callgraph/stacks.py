# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How much stack each thread of an image takes at most: the deepest way through calls, of which GCC writes
the graph and the frames.

Each source is compiled once more, with the flags of the build. Code that only the linker sees, as the C
library, is not counted, nor are calls that nothing bounds: a bound has the names of what it leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from camkes.backends.host.host import HostImage
from camkes.backends.host.jobs import BuildJob
from camkes.backends.host.kernel import symbols
from camkes.backends.host.ninja import run_jobs
from camkes.callgraph.gcc import read_calls, read_frames
from camkes.callgraph.graph import CALLING_BACK, CallGraph, Function
from camkes.callgraph.objects import ObjectError, is_x86_64, read_object
from camkes.capdl.size import OUTSIDE
from camkes.protocols.cycles import has_cycle, strongly_connected, walk

_FLAGS = ("-fcallgraph-info=su", "-ffunction-sections", "-w")
_SUFFIX = ".ci"
#: what a function that calls none may use below its stack pointer, on x86_64: no frame has it
_RED_ZONE = 128
#: the record of a thread in generated code, the function that it starts with, and its interface
_RECORD = re.compile(
    r'^struct camkes_thread \w+ = \{\n    \.name = "((?:\\.|[^"\\])*)",(.*?)^\};', re.MULTILINE | re.DOTALL
)
_START = re.compile(r"\.start = (\w+),")
_INTERFACE = re.compile(r"\.interface = &(\w+)__(?:interface|event),")
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


class CompiledSpace(Struct, frozen=True):
    """An address space: what compiles each of its instances (the jobs in `generated` what is generated for
    it), the generated sources with the records of its threads, by instances, and the names of functions that
    its image needs of libraries, None: not known."""

    jobs: Mapping[str, Sequence[BuildJob]]
    generated: frozenset[BuildJob]
    records: Mapping[str, Sequence[Path]]
    libraries: Set[str] | None


def spaces_of_host(image: HostImage) -> list[CompiledSpace]:
    """The address spaces of a system for the host kernel."""
    found = []
    for space in image.capabilities.spaces:
        jobs = {name: image.compiled[name] for name in space.instances}
        of = {job for each in jobs.values() for job in each if "-DCAMKES_GENERATED=1" in job.command}
        paths = [path for path in image.code if path.suffix == ".c"]
        records = {name: [path for path in paths if path.parent.name == name] for name in jobs}
        # where instances are linked by themselves first, their names are not in the image
        undefined = symbols("--undefined-only", image.images[space.name], dynamic=True)
        libraries = {name.partition("@")[0] for name in undefined} if len(jobs) == 1 else None
        found.append(CompiledSpace(jobs, frozenset(of), records, libraries))
    return found


def stack_bounds(
    spaces: Sequence[CompiledSpace], runtime: Sequence[BuildJob], out: Path, progress: Callable[[str], None]
) -> dict[str, StackBound]:
    """Bounds by the names of threads, for code that GCC compiles; `runtime` compiles the runtime. Those whose
    code cannot be read are missing. Compiles in the folder `out`; OSError where it cannot be written."""
    out = out.absolute()
    jobs = dict.fromkeys(job for space in spaces for of in space.jobs.values() for job in of)
    again = {job: _again(job, out / f"{n}-{job.output.name}") for n, job in enumerate((*jobs, *runtime))}
    run_jobs(out, list(again.values()), progress)
    found: dict[str, StackBound] = {}
    for space in spaces:
        try:
            found |= _SpaceStacks(space, [again[job] for job in runtime], again).bounds()
        except (ObjectError, OSError):
            continue
    return found


def _again(job: BuildJob, output: Path) -> BuildJob:
    """The job, with a call graph."""
    words = [word.replace(str(job.output), str(output)) for word in job.command]
    place = words.index("-c")
    command = (*words[:place], *_FLAGS, *words[place:])
    return replace(job, title=f"{job.title} (stack)", output=output, command=command, beside=_SUFFIX)


class _SpaceStacks:
    """The code of an address space. `again` compiled it with a call graph, by the jobs of the build."""

    def __init__(
        self, space: CompiledSpace, runtime: Sequence[BuildJob], again: Mapping[BuildJob, BuildJob]
    ) -> None:
        self.graph = CallGraph()
        written = CallGraph()  # by users: what a pointer of theirs can lead to
        self.runtime = {str(job.inputs[0]): job.inputs[0].stem.partition("_")[0] for job in runtime}
        self.libraries = space.libraries
        own = {again[job]: job for of in space.jobs.values() for job in of if job.inputs[0].suffix != ".S"}
        red_zone = False
        for job in (*own, *runtime):
            unit, code = str(job.inputs[0]), read_object(job.output)
            calls, frames = read_calls(job.second), read_frames(job.second)
            red_zone = red_zone or is_x86_64(job.output)
            self.graph.add(unit, calls, code, frames=frames)
            if job in own and own[job] not in space.generated:
                written.add(unit, calls, code)
        self.red_zone = _RED_ZONE if red_zone else 0
        self.written = [self.graph.linked(f.name) if not f.unit else f for f in written.taken()]
        #: of each thread: the unit of its record, the function that it starts with, its interface
        self.starts: dict[str, tuple[str, str, str]] = {}
        for name, paths in space.records.items():
            units = [str(job.inputs[0]) for job in space.jobs[name] if job in space.generated]
            for path in paths:
                for record in _RECORD.finditer(path.read_text(encoding="utf-8")):
                    start, interface = _START.search(record[2]), _INTERFACE.search(record[2])
                    if start is not None and units:
                        of = str(path) if str(path) in units else units[0]
                        self.starts[record[1]] = of, start[1], "" if interface is None else interface[1]

    def bounds(self) -> dict[str, StackBound]:
        return {thread: self.bound(thread) for thread in self.starts}

    def bound(self, thread: str) -> StackBound:
        unit, start, interface = self.starts[thread]
        first = self.graph.named(unit, start)
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
            most, way = max(below, default=(self.red_zone, ()))
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
        own = [function for function in part if self._of_runtime(function) == "event"]
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
        if function.name.startswith(("camkes_serve_cpi", "camkes_serve_plain")):
            return self.graph.taken_in(first)
        match self._of_runtime(function):
            case "start" if function.name == _ENTRY:
                return [first]
            case "start":
                return self._defined(f"{interface}__init")
            case "serve" if function.name.startswith("camkes_run_interface"):
                return self._defined(f"{interface}__run")
            case "event":
                return self._handed(_REGISTERS)
            case "error":
                return self._handed("_register_error_handler")
        return self.written

    def _of_runtime(self, function: Function) -> str:
        """The source of the runtime that a function is in, without its ending; "" for others."""
        return self.runtime.get(self.graph.unit(function), "")

    def _defined(self, name: str) -> list[Function] | None:
        return [self.graph.linked(name)] if self.graph.defines(name) else None

    def _handed(self, ending: str) -> list[Function] | None:
        given, unknown = self.graph.handed_over(self.graph.names_ending(ending))
        return list(dict.fromkeys((*given, *(self.written if unknown else ())))) or None
