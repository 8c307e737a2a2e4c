# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The call graph of a component across its sources, and what can be reached in it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct

from camkes.callgraph.flow import FunctionFlow
from camkes.callgraph.gcc import CallPlace, SourceCalls, StackFrame
from camkes.callgraph.objects import FunctionSymbol, ObjectFile
from camkes.protocols.cycles import reached, walk

#: Functions of the C library that call what they are given.
CALLING_BACK = frozenset(
    (
        *("atexit", "at_quick_exit", "on_exit", "bsearch", "qsort", "qsort_r", "call_once"),
        *("signal", "sigaction", "bsd_signal", "ftw", "nftw", "glob", "scandir", "lfind", "lsearch"),
        *("tsearch", "tfind", "tdelete", "tdestroy", "twalk", "twalk_r"),
        *("pthread_create", "pthread_once", "pthread_atfork", "thrd_create"),
    )
)


class Function(NamedTuple):
    """A function of a component. `unit` distinguishes static or weak functions of one name, else ""."""

    name: str
    unit: str


class CallStep(NamedTuple):
    """A call of `callee`, and where; through a pointer it is not `sure`."""

    callee: Function
    place: CallPlace | None
    sure: bool


class CallPath(Struct, frozen=True):
    """A shortest way through calls: functions and the places of the calls between them."""

    functions: tuple[str, ...]
    places: tuple[CallPlace | None, ...]
    sure: bool


class Reached(Struct, frozen=True):
    """What roots can reach: a walk to each target. `unbounded` is a call through a pointer of which nothing
    describes where it leads: the name of its function and its place."""

    walks: Mapping[str, CallPath]
    unbounded: tuple[str, CallPlace | None] | None


class CallGraph:
    """Calls of the sources of a component. Add every source, then ask. With `foreign` code, what the
    component does not define may call back whatever it is given."""

    def __init__(self, *, foreign: bool = False) -> None:
        self._foreign = foreign
        self._calls: dict[Function, dict[Function, CallPlace | None]] = {}
        self._indirect: dict[Function, CallPlace | None] = {}
        self._guessed: set[Function] = set()
        self._takes: dict[Function, dict[Function, None]] = {}
        self._taken: dict[Function, None] = {}
        self._defined: set[Function] = set()
        self._weak: dict[str, Function] = {}  # the first of each name
        self._same: dict[Function, list[Function]] = {}
        self._flows: dict[Function, FunctionFlow] = {}
        self._frames: dict[Function, StackFrame] = {}
        self._units: dict[Function, str] = {}
        self._static: set[Function] = set()

    def defines(self, name: str) -> bool:
        """Whether a global function is in the sources."""
        return self._linked(Function(name, "")) in self._defined

    def add(
        self,
        unit: str,
        calls: SourceCalls | None,
        code: ObjectFile,
        flows: Mapping[str, FunctionFlow] = {},
        frames: Mapping[FunctionSymbol, StackFrame] = {},
    ) -> None:
        """Add a source. Without `calls` each of its functions counts as calling through pointers. `flows` are
        those of its functions, if calls are to be counted, and `frames` if their stacks are."""

        def function(name: FunctionSymbol) -> Function:
            # GCC's call graph names weak functions as it does static ones
            local = name.local and FunctionSymbol(name.text, local=False) not in code.functions
            return Function(name.text, unit if local else "")

        def own(name: FunctionSymbol) -> Function:
            weak = FunctionSymbol(name.text, local=False) in code.weak
            return Function(name.text, unit) if weak else function(name)

        self._defined.update(map(own, code.functions))
        for name in code.weak:
            self._weak.setdefault(name.text, own(name))
        if calls is not None:
            for caller, callee, place in calls.calls:
                self._calls.setdefault(own(caller), {}).setdefault(function(callee), place)
            for caller, place in calls.indirect:
                self._indirect.setdefault(own(caller), place)
        else:
            self._guessed.update(map(own, code.functions))
        # also what assembly in a function calls
        for caller, callee in (*code.calls, *code.same):
            self._calls.setdefault(own(caller), {}).setdefault(function(callee), None)
        for name, other in code.same:
            self._same.setdefault(own(name), []).append(own(other))
        self._static.update(Function(name.text, unit) for name in code.functions if name.local)
        for symbol in code.functions:
            self._units[own(symbol)] = unit
            if symbol.text in flows:
                self._flows[own(symbol)] = flows[symbol.text]
        self._frames |= {own(symbol): frame for symbol, frame in frames.items()}
        for caller, callee in code.takes:
            self._takes.setdefault(own(caller), {})[function(callee)] = None
        for name in sorted(code.taken):
            self._taken[function(name)] = None

    def reach(
        self,
        roots: Iterable[str],
        targets: Collection[str],
        callbacks: Collection[str] = (),
        handlers: Collection[str] = (),
    ) -> Reached:
        """What the global functions `roots` reach of `targets`. Functions handed to one of `callbacks` are
        roots too; where it is not known which are handed over, all may be, and walks from there are not sure.
        Functions handed to one of `handlers` may be called by every target."""
        taken = self._can_be_taken(targets)
        given, unknown = self._handed_to(callbacks)
        starts = [self._linked(Function(name, "")) for name in roots] + [self._linked(f) for f in given]
        maybe = [self._linked(f) for f in taken] if unknown else []
        handled, unknown = self._handed_to(handlers)
        from_targets = taken if unknown else handled

        def linked(steps: Iterable[CallStep]) -> Iterable[tuple[Function, CallStep]]:
            return ((self._linked(step.callee), step) for step in steps)

        def steps(function: Function) -> Iterable[tuple[Function, CallStep]]:
            """Those through pointers, too."""
            is_target = not function.unit and function.name in targets
            handlers = [CallStep(f, None, False) for f in from_targets] if is_target else []
            return linked([*self._direct(function), *self._pointers(function, taken, targets), *handlers])

        direct = walk(starts, lambda function: linked(self._direct(function)))
        whole = walk([*starts, *maybe], steps)
        walks: dict[str, CallPath] = {}
        for found in (direct, whole):
            for function in found:
                if not function.unit and function.name in targets:
                    walks.setdefault(function.name, _walk(found, function, sure=found is direct))
        anywhere = [] if taken else [f for f in whole if f in self._indirect or f in self._guessed]
        return Reached(walks, (anywhere[0].name, self._indirect.get(anywhere[0])) if anywhere else None)

    def flow(self, function: Function) -> FunctionFlow | None:
        """The blocks of a function, None if they are not known."""
        return self._flows.get(function)

    def frame(self, function: Function) -> StackFrame | None:
        """The stack that a function takes, None if that is not known."""
        return self._frames.get(function)

    def unit(self, function: Function) -> str:
        """The source that defines a function; "" if none does."""
        return self._units.get(function, "")

    def called_by(self, function: Function) -> list[Function]:
        """What a function calls by name."""
        return [self._linked(step.callee) for step in self._direct(function)]

    def calls_pointers(self, function: Function) -> bool:
        """Whether a function calls through pointers."""
        return function in self._indirect

    def taken_in(self, function: Function) -> list[Function]:
        """Functions whose address the code of a function takes."""
        return [self._linked(other) for other in self._takes.get(function, ())]

    def taken(self) -> list[Function]:
        """All functions whose address is taken."""
        return [self._linked(function) for function in self._can_be_taken(())]

    def names_ending(self, ending: str) -> set[str]:
        """Names of global functions of the sources that end so."""
        return {f.name for f in self._defined if not f.unit and f.name.endswith(ending)}

    def named(self, unit: str, name: str) -> Function:
        """What a name means in a source."""
        static = Function(name, unit)
        return static if static in self._defined else self.linked(name)

    def linked(self, name: str) -> Function:
        """The global function of a name."""
        return self._linked(Function(name, ""))

    def callee(self, caller: Function, name: str) -> Function:
        """What a call of a name in a function means."""
        static = Function(name, self._units[caller])
        return static if static in self._static else self.linked(name)

    def same(self, function: Function) -> Iterable[Function]:
        """Other names of a function."""
        return self._same.get(function, ())

    def handed_to(self, names: Collection[str]) -> set[Function]:
        """Functions that may be handed to one of these."""
        given, unknown = self._handed_to(names)
        return {self._linked(function) for function in (self._all_taken() if unknown else given)}

    def handed_over(self, names: Collection[str]) -> tuple[list[Function], bool]:
        """Functions whose address is taken where one of these is called, and whether there are calls where
        none is."""
        given, unknown = self._handed_to(names)
        return [self._linked(function) for function in given], unknown

    def hidden_steps(self, function: Function, targets: Collection[str]) -> list[CallStep]:
        """Calls of a function through pointers, and those that only its machine code shows."""
        direct = [step for step in self._direct(function) if step.place is None]
        same = self._same.get(function, ())
        steps = [*self._pointers(function, self._can_be_taken(targets), targets), *direct]
        return [step._replace(callee=self._linked(step.callee)) for step in steps if step.callee not in same]

    def leading_to(self, targets: Collection[str]) -> set[Function]:
        """All functions from which a call can get to one of the targets."""
        taken = self._can_be_taken(targets)
        callers: dict[Function, list[Function]] = {}
        for function in dict.fromkeys([*self._calls, *self._indirect, *self._guessed]):
            for step in (*self._direct(function), *self._pointers(function, taken, targets)):
                callers.setdefault(self._linked(step.callee), []).append(function)
        return set(reached(map(self.linked, targets), lambda function: callers.get(function, ())))

    def _can_be_taken(self, targets: Collection[str]) -> list[Function]:
        """Functions that a pointer can lead to."""
        return [f for f in self._all_taken() if self._linked(f) in self._defined or f.name in targets]

    def _linked(self, function: Function) -> Function:
        """What a name means to the linker: a weak function where there is no other."""
        if function.unit or function in self._defined:
            return function
        return self._weak.get(function.name, function)

    def _direct(self, function: Function) -> Iterable[CallStep]:
        return [CallStep(callee, place, True) for callee, place in self._calls.get(function, {}).items()]

    def _pointers(
        self, function: Function, taken: list[Function], targets: Collection[str]
    ) -> Iterable[CallStep]:
        if function in self._indirect or function in self._guessed:
            place = self._indirect.get(function)
            return [CallStep(callee, place, False) for callee in taken]
        for callee, place in self._calls.get(function, {}).items():
            calls_back = callee.name in CALLING_BACK or (self._foreign and callee.name not in targets)
            if calls_back and self._linked(callee) not in self._defined:
                given = self._takes.get(function) or dict.fromkeys(taken)
                return [CallStep(callee, place, False) for callee in given]
        return ()

    def _all_taken(self) -> dict[Function, None]:
        return {**self._taken, **{f: None for taken in self._takes.values() for f in taken}}

    def _handed_to(self, names: Collection[str]) -> tuple[list[Function], bool]:
        """Functions whose address is taken where one of these is called, and whether there are calls where
        none is."""
        found: dict[Function, None] = {}
        unknown = False
        for caller, called in self._calls.items():
            if any(f.name in names for f in called):
                found.update(self._takes.get(caller, {}))
                unknown = unknown or not self._takes.get(caller)
        return list(found), unknown


def _walk(
    found: Mapping[Function, tuple[Function, CallStep] | None], target: Function, *, sure: bool
) -> CallPath:
    functions, places = [target.name], []
    at = target
    while (before := found[at]) is not None:
        at, step = before
        functions.append(at.name)
        places.append(step.place)
        sure = sure and step.sure
    return CallPath(tuple(reversed(functions)), tuple(reversed(places)), sure)
