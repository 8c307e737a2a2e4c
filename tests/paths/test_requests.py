# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The bounds of requests and replies are what generated code and runtime execute, as components for seL4 have
them; tests/runtime/fast_path counts that by single steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from camkes.diagnostics import Sink
from camkes.generate import generate
from camkes.generate.facts import SystemFacts
from camkes.paths.bound import PathBound, bound
from camkes.paths.contracts import LoopStatements, StatedSources
from camkes.paths.graph import WayFinder
from camkes.paths.program import LinkedProgram
from camkes.paths.steps import Path as WayThrough
from camkes.paths.system import (
    CALLS,
    CONTENDED,
    ERRORS,
    BoundedPath,
    PathKind,
    SpaceProgram,
    bound_paths,
    least_of_paths,
)
from tests.paths.programs import needs_gcc
from tests.runtime.host import plan_of
from tests.runtime.test_fast_path import _LABEL, _SOURCES, _SYSTEM, _count, _program

pytestmark = [pytest.mark.requirement("AN-31"), needs_gcc]

#: a step that count.c subtracts: the return of a function that does nothing
_RETURN = 1

#: requests by the functions that make them, with the words of their replies
_REQUESTS = {"r0": "1", "r1": "1", "r2": "1", "r3": "0", "r4": "1"}
#: replies by instances: threads, labels, words, and paths
_REPLIES = {
    "plain": ("plain.p", "0", "1", "p.now"),
    "fixed": ("fixed.p", _LABEL, "1", "p.now"),
    "inherited": ("inherited.p@client", _LABEL, "1", "p.now"),
    "nested": ("nested.p@client", _LABEL, "1", "p.now"),
}
_CHOSEN = ("plain.shapes", "0", "4", "shapes.in4")


class Fast:
    """The system of tests/runtime/test_fast_path.py, with programs of its instances."""

    def __init__(self, folder: Path) -> None:
        sink = Sink()
        self.system, self.plan, model = plan_of(folder, _SYSTEM, sink)
        generate(self.system, self.plan, model, folder / "out", sink)
        assert not sink.has_errors
        self.programs = {
            name: _program(folder / "out", name, _SOURCES[name]) for name in ("client", *_REPLIES)
        }
        self.sink = Sink()
        spaces = [SpaceProgram(name, path, (name,)) for name, path in self.programs.items()]
        facts = SystemFacts(self.system, self.plan, model, self.sink)
        self.bounds = bound_paths(facts, spaces, {}, {}, self.sink).paths
        self.least = least_of_paths(facts, spaces)[1]

    def of(self, instance: str, name: str, kind: PathKind) -> BoundedPath:
        return next(b for b in self.bounds if (b.of.instance, b.of.name, b.of.kind) == (instance, name, kind))


@pytest.fixture(scope="module")
def fast(tmp_path_factory: pytest.TempPathFactory) -> Fast:
    return Fast(tmp_path_factory.mktemp("paths"))


def _bound(fast: Fast, instance: str, name: str, kind: PathKind) -> PathBound:
    found = fast.of(instance, name, kind).bound
    assert found is not None
    return found


@pytest.mark.parametrize("function", _REQUESTS)
def test_requests_execute_what_is_bounded(function: str, fast: Fast) -> None:
    program = fast.programs["client"]
    path = WayThrough(function=function, without=ERRORS | CONTENDED)
    found = bound(WayFinder(LinkedProgram(program), CALLS, LoopStatements(StatedSources())), path)
    counted = _count(program, "caller", function[1:], _REQUESTS[function])
    assert found.instructions == counted + _RETURN
    assert found.kernel == {"Call": 1}


@pytest.mark.parametrize("instance", _REPLIES)
def test_replies_execute_what_is_bounded(instance: str, fast: Fast) -> None:
    *arguments, name = _REPLIES[instance]
    reply = _bound(fast, instance, name, PathKind.REPLY)
    handler = _bound(fast, instance, name, PathKind.HANDLER)
    assert reply.instructions + handler.instructions == _count(fast.programs[instance], *arguments)
    assert reply.kernel == {"ReplyRecv": 1}


@pytest.mark.parametrize("instance", ["plain", "fixed", "inherited"])
@pytest.mark.requirement("AN-32")
def test_no_more_is_subtracted_than_is_executed(instance: str, fast: Fast) -> None:
    """Of a measured request and reply. That of `plain` has one way only."""
    *arguments, _ = _REPLIES[instance]
    kinds = {"client": (f"{instance}.now", PathKind.REQUEST), instance: ("p.now", PathKind.REPLY)}
    least = [fast.least[of, *path] for of, path in kinds.items()]
    number = str(list(_REPLIES).index(instance))
    handler = _bound(fast, instance, "p.now", PathKind.HANDLER).instructions
    # a function of the test sets the argument and jumps to that of the request
    request = _count(fast.programs["client"], "caller", number, "1") + _RETURN - 2
    reply = _count(fast.programs[instance], *arguments) - handler
    assert 0 < least[0] <= request and 0 < least[1] <= reply
    if instance == "plain":
        assert least == [request, reply]


def test_a_method_of_several_is_close_to_its_bound(fast: Fast) -> None:
    *arguments, name = _CHOSEN
    bounds = [_bound(fast, "plain", name, kind) for kind in (PathKind.REPLY, PathKind.HANDLER)]
    most = sum(each.instructions for each in bounds)
    assert 0.9 * most <= _count(fast.programs["plain"], *arguments) <= most


def test_a_request_that_is_not_usual_takes_longer(fast: Fast) -> None:
    """The bound of a usual reply leaves out messages that generated code does not send."""
    program = LinkedProgram(fast.programs["plain"])
    usual = fast.of("plain", "p.now", PathKind.REPLY).of.path
    with_all = bound(
        WayFinder(program, CALLS, LoopStatements(StatedSources())), replace(usual, without=ERRORS)
    )
    assert with_all.instructions > _bound(fast, "plain", "p.now", PathKind.REPLY).instructions


def test_paths_without_a_bound_are_reported(fast: Fast) -> None:
    """A memcpy() without lines, of so many bytes as the message has."""
    assert fast.of("client", "arrays.give", PathKind.REQUEST).bound is None
    texts = {each.message for each in fast.sink.diagnostics}
    assert "nothing bounds a loop of `memcpy`" in texts


def test_what_the_linker_has_left_out_has_no_path(fast: Fast) -> None:
    """These programs have no manager."""
    assert PathKind.MANAGER not in {each.of.kind for each in fast.bounds}


def test_limits_bound_functions_of_libraries(fast: Fast) -> None:
    """Eight integers are four words, which one repeated instruction moves."""
    program = fast.programs["client"]
    path = WayThrough(function="r5", without=ERRORS | CONTENDED)
    found = bound(
        WayFinder(LinkedProgram(program), CALLS, LoopStatements(StatedSources(), {}, {"memcpy": 4})), path
    )
    assert _count(program, "caller", "5", "5", "8") <= found.instructions
