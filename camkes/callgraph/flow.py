# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The flow of control of functions, as GCC writes it while it looks for loops that it can count.

The dump is that of the pass `ivcanon`, in the form of GIMPLE that GCC reads itself: blocks with calls and
jumps, loops with their first blocks, and the iterations of those that end after a constant number of them.
Functions without loops are only in that of the pass `optimized`, and names that the linker sees only in dumps
of the usual form, as that of the pass `retslot`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from camkes.callgraph.gcc import CallPlace
from camkes.protocols.cycles import reached

#: Calls stay where they are: nothing is inlined, cloned or merged, and conditions are not joined.
FLAGS = (
    *("-O1", "-g0", "-w", "-fno-lto", "-fno-inline", "-fno-ipa-cp", "-fno-ipa-sra", "-fno-ipa-icf"),
    *("-fno-partial-inlining", "-ftree-loop-ivcanon", "--param=logical-op-non-short-circuit=0"),
)
_GIMPLE = "-gimple-details-lineno-asmname"
DUMPS = tuple(
    f"-fdump-tree-{name}=stderr" for name in ("retslot", f"ivcanon{_GIMPLE}", f"optimized{_GIMPLE}")
)

_FUNCTION = re.compile(r"^;; Function .*\(\*?(\S+), funcdef_no=", re.MULTILINE)
_BODY = re.compile(r"^.*__GIMPLE \(", re.MULTILINE)
_COUNTED = re.compile(r"^Loop (\d+) iterates (\d+) times\.$", re.MULTILINE)
_BLOCK = re.compile(r"^  __BB\((\d+)(?:,loop_header\((\d+)\))?.*\):$", re.MULTILINE)
_TEXT = re.compile(r'"(?:\\.|[^"\\])*"')
_PLACE = re.compile(r"^\s*\[([^\]]*?):(\d+):(\d+)[^\]]*\]")
_JUMP = re.compile(r"\bgoto __BB(\d+)")
_LABEL = re.compile(r"^(?:\[[^\]]*\] )?(\w+):$", re.MULTILINE)
_CASE = re.compile(r"(?:default|case [^:]*): (\w+);")
_CALL = re.compile(r"([A-Za-z_$][\w$.]*) \(")
#: jumps with targets that are not in a block, and calls that return twice
_HIDDEN = re.compile(r"\bgoto (?!__BB\d)|\basm\b.*\bgoto\b|__asm__ goto|\b_?_?(?:sig)?setjmp \(")


class CalledName(Struct, frozen=True):
    """A call in a block: the name that the linker sees."""

    name: str
    place: CallPlace | None


class FlowBlock(Struct, frozen=True):
    """Calls in their order, or what looks like one, and the blocks that can follow."""

    calls: tuple[CalledName, ...]
    successors: tuple[int, ...]


class FunctionFlow(Struct, frozen=True):
    """The blocks of a function, the first one first. `counted` is for the first blocks of loops how often
    the loop goes back there at most. It is `hidden` if there are jumps that the blocks do not show."""

    blocks: Mapping[int, FlowBlock]
    counted: Mapping[int, int]
    hidden: bool


def read_flows(text: str) -> dict[str, FunctionFlow]:
    """The functions in dumps, by the names that the linker sees."""
    found: dict[str, FunctionFlow] = {}
    for head, part in _split(_FUNCTION, text):
        bodies = list(_split(_BODY, part))
        if bodies:  # the first dump counts; what is known of loops is before it
            found[head[1]] = _flow(part[: bodies[0][0].start()], bodies[0][1].partition("\n}\n")[0])
    return found


def _split(pattern: re.Pattern[str], text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Each head in a text with what follows it."""
    heads = list(pattern.finditer(text))
    ends = [*(head.start() for head in heads), len(text)][1:]
    return ((head, text[head.end() : end]) for head, end in zip(heads, ends, strict=True))


def _flow(loops: str, body: str) -> FunctionFlow:
    times = {int(loop): int(count) for loop, count in _COUNTED.findall(loops)}
    parts = list(_split(_BLOCK, body))
    bodies = {int(head[1]): _TEXT.sub('""', part) for head, part in parts}
    labels = {name: block for block, body in bodies.items() for name in _LABEL.findall(body)}
    counted = {int(head[1]): times[int(head[2])] for head, _ in parts if head[2] and int(head[2]) in times}
    hidden = any(_HIDDEN.search(body) for body in bodies.values())
    blocks = {}
    for block, body in bodies.items():
        cases = [name for name in _CASE.findall(body) if "switch (" in body]
        hidden = hidden or any(name not in labels for name in cases)
        after = [int(number) for number in _JUMP.findall(body)]
        after += [labels[name] for name in cases if name in labels]
        blocks[block] = FlowBlock(tuple(_calls(body)), tuple(dict.fromkeys(after)))
    return FunctionFlow(blocks, counted, hidden or not _all_reached(blocks))


def _calls(body: str) -> Iterator[CalledName]:
    for line in body.splitlines():
        found = _PLACE.match(line)
        place = None if found is None else CallPlace(found[1], int(found[2]), int(found[3]))
        for name in _CALL.findall(line):
            yield CalledName(name, place)


def _all_reached(blocks: Mapping[int, FlowBlock]) -> bool:
    """Whether jumps lead to all blocks; else some are reached in another way, as by an exception."""
    return len(reached(list(blocks)[:1], lambda block: blocks[block].successors)) == len(blocks)
