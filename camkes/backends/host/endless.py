# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tasks whose `run()` never returns and never calls for the next job, as the disassembly of their code shows.

Every way through the machine code is followed. Where it is not known where a way leads (a jump through a
pointer, another compiler's text), the function counts as one that returns, and is not reported.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec import Struct, field

from camkes.backends.host.codes import ENDLESS_TASK
from camkes.diagnostics import Diagnostic, Label, SourceFile, Span
from camkes.model.system import Task
from camkes.process import run
from camkes.protocols.cycles import reached as walked

_NEXT_JOB = b"camkes_next_job\0"  # in the names of an object that refers to it
#: Functions that end the thread, and those that do so where something is wrong: a loop with a check in it is
#: still a loop.
_ENDING = frozenset(("exit", "_exit", "_Exit", "quick_exit", "pthread_exit", "longjmp", "siglongjmp"))
_FAILING = frozenset(("abort", "__assert_fail", "__stack_chk_fail", "__builtin_unreachable"))
_FUNCTION = re.compile(r"[0-9a-f]+ <([^>]+)>:$")
_INSTRUCTION = re.compile(r"\s+([0-9a-f]+):\t(?:notrack |bnd )?(\S+)\s*(.*)$")
_RELOCATION = re.compile(r"\s+[0-9a-f]+: R_\S+\s+(.+?)(?:[-+]0x[0-9a-f]+)?$")
_TARGET = re.compile(r"\b([0-9a-f]+) <([^>+]+)(?:\+0x[0-9a-f]+)?>")
_CALLS = ("call", "callq", "bl")
_JUMPS = ("jmp", "jmpq", "b")
_BRANCHES = re.compile(r"j(?!mp)\w+|b\.\w+|cbn?z|tbn?z|loop\w*")
_RETURNS = ("ret", "retq", "br", "eret")
_TRAPS = ("ud2", "hlt", "brk", "udf")
_NEXT, _BEYOND = -1, -2
_RUN = re.compile(r"\brun\s*\(\s*(?:void)?\s*\)\s*\{")


class _MachineInstruction(Struct):
    """An instruction: the addresses it can lead to, and the function it calls or jumps to (`leaves`)."""

    to: list[int] = field(default_factory=list)
    calls: str = ""
    leaves: str = ""
    returns: bool = False


class _MachineFunction(Struct):
    """A function's instructions by address, from the first on."""

    steps: dict[int, _MachineInstruction] = field(default_factory=dict)


def endless_tasks(
    tasks: Iterable[Task], objects: Mapping[str, Sequence[Path]], sources: Mapping[str, Sequence[Path]]
) -> list[Diagnostic]:
    """A warning for each task with a period whose `run()` loops for ever without `camkes_next_job()`.
    `objects` and `sources` are those of each instance."""
    found: list[Diagnostic] = []
    for task in tasks:
        own = objects.get(task.instance, ())
        if task.period is not None and own and _never_asks(own) and _is_endless("run", _functions(own)):
            found.append(_warning(task, sources.get(task.instance, ())))
    return found


def _warning(task: Task, sources: Sequence[Path]) -> Diagnostic:
    place = _place_of_run(sources)
    period = task.spans.get("period", task.span)
    return Diagnostic(
        ENDLESS_TASK,
        f"`run()` of task `{task.instance}` loops for ever and does not call `camkes_next_job()`",
        place or period,
        related=(Label(period, "the task has a period"),) if place is not None else (),
        notes=("its first job never ends, so it misses all its deadlines",),
        help="write `while (camkes_next_job()) { ... }`",
    )


def _place_of_run(sources: Sequence[Path]) -> Span | None:
    for path in sources:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        match = _RUN.search(text)
        if match is not None:
            line = text.count("\n", 0, match.start()) + 1
            column = match.start() - text.rfind("\n", 0, match.start())
            return Span(SourceFile(path, text), line, column, line, column + len("run"))
    return None


def _never_asks(objects: Iterable[Path]) -> bool:
    try:
        return not any(_NEXT_JOB in path.read_bytes() for path in objects)
    except OSError:
        return False


def _functions(objects: Iterable[Path]) -> dict[str, _MachineFunction]:
    """The functions of objects by name; none where they cannot be disassembled."""
    program = shutil.which("objdump")
    if program is None:
        return {}
    command = [program, "-dr", "--no-show-raw-insn", *map(str, objects)]
    done = run(command)
    return _read(done.output) if done.status == 0 else {}


def _read(text: str) -> dict[str, _MachineFunction]:
    found: dict[str, _MachineFunction] = {}
    name, step = "", _MachineInstruction()
    for line in text.splitlines():
        if match := _INSTRUCTION.match(line):
            step = found[name].steps[int(match[1], 16)] = _step(match[2], match[3], name)
        elif match := _RELOCATION.match(line):
            target = match[1].removeprefix(".text.")
            step.calls = step.calls and target
            step.leaves = step.leaves and target
        elif match := _FUNCTION.match(line):
            name = match[1]
            found[name] = _MachineFunction()
    for function in found.values():
        for (_, each), (after, _) in pairwise((*function.steps.items(), (_BEYOND, _MachineInstruction()))):
            each.to = [after if to == _NEXT else to for to in each.to]
    return found


def _step(operation: str, operand: str, function: str) -> _MachineInstruction:
    """An instruction; _NEXT is the one after it."""
    target = _TARGET.search(operand)
    inside = target is not None and target[2] == function
    if operation in _CALLS:
        return _MachineInstruction([_NEXT], calls=target[2] if target is not None else "a pointer")
    if operation in _JUMPS:
        if target is None:
            return _MachineInstruction(returns=True)  # through a pointer, to anywhere
        return _MachineInstruction([int(target[1], 16)]) if inside else _MachineInstruction(leaves=target[2])
    if _BRANCHES.fullmatch(operation):
        if target is None or not inside:
            return _MachineInstruction(returns=True)
        return _MachineInstruction([_NEXT, int(target[1], 16)])
    if operation in _TRAPS:
        return _MachineInstruction()
    if operation in _RETURNS:
        return _MachineInstruction(returns=True)
    return _MachineInstruction([_NEXT])


def _is_endless(name: str, functions: Mapping[str, _MachineFunction]) -> bool:
    """Whether a function never returns, and stays in a loop."""
    if name not in functions:
        return False
    returning: set[str] = set()
    while True:  # until nothing new is found to return
        more = {each for each in functions if each not in returning and _returns(each, functions, returning)}
        if not more:
            break
        returning |= more
    return name not in returning and _loops(name, functions, returning, set())


def _goes_on(called: str, functions: Mapping[str, _MachineFunction], returning: Collection[str]) -> bool:
    """Whether a call can come back, as far as is known."""
    return called in returning if called in functions else called not in _FAILING


def _reached(
    function: _MachineFunction, functions: Mapping[str, _MachineFunction], returning: Collection[str]
) -> dict[int, list[int]]:
    """The instructions that can be reached, with those that follow."""

    def following(address: int) -> list[int]:
        step = function.steps.get(address)
        if step is None or (step.calls and not _goes_on(step.calls, functions, returning)):
            return []
        return step.to

    found = walked(list(function.steps)[:1], following)
    return {address: following(address) for address in found if address in function.steps}


def _returns(name: str, functions: Mapping[str, _MachineFunction], returning: Collection[str]) -> bool:
    steps = functions[name].steps
    for address, following in _reached(functions[name], functions, returning).items():
        step = steps[address]
        if step.returns or step.calls in _ENDING or any(to not in steps for to in following):
            return True
        if step.leaves and _goes_on(step.leaves, functions, returning):
            return True
    return not steps


def _loops(
    name: str, functions: Mapping[str, _MachineFunction], returning: Collection[str], seen: set[str]
) -> bool:
    """Whether a function, or one that it calls and that does not return, has a loop that is reached."""
    seen.add(name)
    reached = _reached(functions[name], functions, returning)
    for address, following in reached.items():
        step = functions[name].steps[address]
        inner = step.calls or step.leaves
        follow = inner in functions and inner not in returning and inner not in seen
        if inner == name or _leads_back(address, following, reached):
            return True
        if follow and _loops(inner, functions, returning, seen):
            return True
    return False


def _leads_back(address: int, following: Sequence[int], reached: Mapping[int, list[int]]) -> bool:
    return address in walked(following, lambda at: reached.get(at, []))
