# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What each check says, to the letter: `golden/NAME.camkes` and the text in `golden/NAME.txt`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from camkes.diagnostics import Diagnostic, Severity, Sink, SourceFile, Span
from camkes.diagnostics.explain import explanation
from camkes.diagnostics.rendering import Style, render
from camkes.protocols import analyse, codes, sketch
from camkes.protocols.checks import CHECKS
from camkes.protocols.plan import Plan
from camkes.protocols.requests import Chain
from camkes.protocols.signals import signals_matter
from camkes.resolve.load import load
from camkes.resolve.options import LoadOptions
from tests.codes import codes_of
from tests.golden import compare

pytestmark = pytest.mark.requirement("CHECK-1")

GOLDEN = Path(__file__).parent / "golden"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.camkes") if not path.stem.endswith("_types"))


def chain(word: str, file: SourceFile) -> tuple[str, Chain]:
    """The chain of calls that `NAME?@LINE,LINE` means; `-` is a call of which no line is known."""
    name, _, lines = word.partition("@")
    target = name.rstrip("?")
    calls = [
        None if line == "-" else Span(file, int(line), 1, int(line), 2) for line in (lines or "-").split(",")
    ]
    steps = [f"step{number}" for number in range(1, len(calls))]
    return target, Chain(("handler", *steps, f"{target}_f"), tuple(calls), name == target)


def for_mcs(path: Path) -> bool:
    """Whether a file has the line `// on an MCS kernel`."""
    return "// on an MCS kernel" in path.read_text("utf-8")


def check(path: Path) -> tuple[tuple[Diagnostic, ...], Plan | None]:
    """Load and check a file; lines `// code: CALLER calls NAME...` replace compiled code, where `NAME?` is
    a call through a pointer, and `NAME@LINE,LINE` one that takes two steps, in these lines. Lines
    `// signals: CALLER reaches NAME...` are the functions of events and semaphores that code reaches. A line
    `// refused: WHERE` is a build for which there are no helpers yet."""
    found = re.findall(r"^// code: (\S+) calls ?(.*)$", path.read_text("utf-8"), re.MULTILINE)
    sink = Sink()
    mcs = for_mcs(path)
    system = load(path, LoadOptions(cpp=False, mcs=mcs), sink)
    assert system is not None, render(sink.diagnostics)
    known = {caller: dict(chain(word, system.root) for word in words.split()) for caller, words in found}
    code = {caller: set(chains) for caller, chains in known.items()}
    chains = {(caller, name): each for caller, chains in known.items() for name, each in chains.items()}
    reached = re.findall(r"^// signals: (\S+) reaches ?(.*)$", path.read_text("utf-8"), re.MULTILINE)
    operations = {
        caller: {
            name: Chain((*each.functions[:-1], name), each.calls, each.sure)
            for name, each in (chain(word, system.root) for word in words.split())
        }
        for caller, words in reached
    }
    plan = analyse(system, sink, code, chains, operations if reached else None)
    return sink.diagnostics, plan


@pytest.mark.parametrize("name", NAMES)
def test_text(name: str) -> None:
    diagnostics, plan = check(GOLDEN / f"{name}.camkes")
    compare(render(diagnostics, Style(base=GOLDEN)), GOLDEN / f"{name}.txt")
    assert (plan is None) == any(d.severity is Severity.ERROR for d in diagnostics)


def plan_lines(plan: Plan, cycle: tuple[str, ...]) -> Iterator[str]:
    yield from (f"context {c.id} {c.name} task={c.is_task} {c.base_priority}" for c in plan.contexts)
    yield from (f"task {t.id} {t.name} {t.priority} context={t.context.name}" for t in plan.tasks)
    for cpi in plan.cpis:
        yield f"cpi {cpi.id} {cpi.name} {cpi.instance} {cpi.interface} {cpi.protocol.value} {cpi.span.line}"
        yield f"  ceiling={cpi.ceiling} threads={cpi.threads} minimum={cpi.threads_minimum} chain={cpi.chain}"
        yield f"  pooled={cpi.pooled} manager={cpi.manager} inherits={cpi.inherits_from_above}"
        names = (cpi.tasks, tuple(context.name for context in cpi.contexts), cpi.requests)
        yield "  tasks={} contexts={} requests={}".format(*map(" ".join, names))
    for task in plan.tasks if plan.mcs else ():
        yield f"{task.name} refills={task.refills} priorities={task.priorities}"
    yield from (f"{c.name} payers={c.payers}" for c in plan.cpis if c.payers)
    yield from (f"{r.caller} -> {r.callee} {r.via} {r.connection} {r.source}" for r in plan.requests)
    yield f"cycle: {' '.join(cycle)}"


@pytest.mark.parametrize("name", NAMES)
def test_plan(name: str) -> None:
    """Also of systems with mistakes: a picture of them is drawn from it."""
    path = GOLDEN / f"{name}.camkes"
    system = load(path, LoadOptions(cpp=False, mcs=for_mcs(path)), Sink())
    assert system is not None
    plan, cycle = sketch(system)
    compare("\n".join((*plan_lines(plan, cycle), "")), GOLDEN / f"{name}.plan")
    assert [plan.cpi(cpi.name) for cpi in plan.cpis] == list(plan.cpis)
    assert [plan.task(task.name) for task in plan.tasks] == list(plan.tasks)
    assert plan.cpi("t") is None and plan.task("server.p") is None


@pytest.mark.parametrize(
    ("name", "matters"),
    [
        ("inversion_at_wait", {"consumer", "producer", "store"}),  # tasks and CPIs
        ("signalled_by_callback", {"waiter", "relay", "ticker"}),  # any, as there is a wait with helpers
        ("handlers_of_events", set()),  # one task
    ],
)
def test_signals_matter_where_a_task_may_wait_or_end_a_wait(name: str, matters: set[str]) -> None:
    system = load(GOLDEN / f"{name}.camkes", LoadOptions(cpp=False), Sink())
    assert system is not None
    assert {each.name for each in system.instances if signals_matter(system, each)} == matters


def test_every_code_has_a_golden_file_named_after_it() -> None:
    of_files_of_the_kernel = {codes.NO_SLOT_IN_FILE}  # tests/diagnostics/golden/commands/kernel_schedule
    for code in set(codes_of(codes)) - of_files_of_the_kernel:
        path = GOLDEN / f"{code.name.replace('-', '_')}.txt"
        assert f"[{code.number}]" in path.read_text("utf-8"), code


def test_every_code_is_explained() -> None:
    numbers = [code.number for code in codes_of(codes)]
    assert len(set(numbers)) == len(numbers)
    for code in codes_of(codes):
        first, *rest = explanation(code).split("\n")
        assert first.endswith(".") and rest[0] == "", code
        assert explanation(code).count("```") >= 2, code
        assert re.search(
            r"corrected|remove|ignore|declare|replace|more exact|give|say so|order:", explanation(code), re.I
        ), code


def test_every_code_belongs_to_a_check_and_prerequisites_come_first() -> None:
    of_checks = {code for check in CHECKS for code in check.codes}
    plain = {  # of systems without protocols, too
        codes.PLAIN_CYCLE,
        codes.INVERSION_AT_CALL,
        codes.DELAYED_BY_SERVER,
        codes.MAY_WAIT_FOR_LESS_URGENT,
        codes.EMPTY_SLOT,
        codes.UNEVEN_SLOT,
        codes.DOMAIN_TOO_HIGH,
        codes.IMPOSSIBLE_SLOT,
    }
    assert of_checks == set(codes_of(codes)) - plain
    before: set[str] = set()
    for entry in CHECKS:
        assert before.issuperset(entry.after)
        assert entry.name not in before
        before.add(entry.name)
