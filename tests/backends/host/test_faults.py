# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Where faults are placed, by which calls they came about, and the threads that wait for ever because of
them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from camkes.backends.host.faults import Located, diagnose, diagnose_findings, locate_faults
from camkes.backends.host.options import RunOptions
from camkes.backends.host.run import run_host
from camkes.diagnostics import Diagnostic, Sink
from camkes.running.decode import decode
from camkes.running.events import parse_trace
from camkes.running.names import TraceNames, trace_names
from camkes.running.waits import Situation
from tests.runtime.host import Built, build
from tests.runtime.systems import PROTOCOLS, every_pair

pytestmark = pytest.mark.requirement("HOST-4")

#: a component with a fault each; `// FAULT` marks the line of the fault, `// CALL` those of the calls to it
CASES = {path.stem: path.read_text() for path in sorted(Path(__file__).with_name("faults").glob("*.c"))}


@dataclass(frozen=True, slots=True)
class Ended:
    """A run with its faults by component, and its diagnostics."""

    first: Located | None
    faults: Mapping[str, Located]
    situation: Situation
    names: TraceNames
    diagnostics: tuple[Diagnostic, ...]

    def of(self, component: str) -> Diagnostic:
        (found,) = [d for d in self.diagnostics if d.message.startswith(f"component {component},")]
        return found


def ended(folder: Path, text: str, code: Mapping[str, str]) -> Ended:
    return ended_run(build(folder, text, code))


def ended_run(built: Built, *, fast: bool = False) -> Ended:
    trace = built.image.folder / "run.trace"
    result = run_host(built.image, RunOptions(duration=30_000_000, fast=fast), trace, lambda _: None)
    assert not result.diagnostics
    sink = Sink()
    events = parse_trace(trace.read_bytes(), str(trace), sink)
    assert events is not None
    names = trace_names(built.model, built.plan, built.system)
    at_end = decode(events, names).situation
    faults = locate_faults(result.faults, built.image)
    diagnostics = tuple(diagnose(faults, at_end, names))
    return Ended(next(iter(faults), None), {f.fault.component: f for f in faults}, at_end, names, diagnostics)


@pytest.fixture(scope="module")
def every_case(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A component for each case."""
    types = "\n".join(f"component C_{name} {{ control; }}" for name in CASES)
    instances = "\n".join(f"component C_{name} c_{name};" for name in CASES)
    text = f"{types}\nassembly {{ composition {{ {instances} }} }}"
    code = {f"C_{name}": source for name, source in CASES.items()}
    return build(tmp_path_factory.mktemp("cases"), text, code)


@pytest.fixture(scope="module", params=[False, True], ids=["processes", "fast"])
def cases(request: pytest.FixtureRequest, every_case: Built) -> Ended:
    """All run at once."""
    return ended_run(every_case, fast=request.param)


def marked(name: str, mark: str) -> list[int]:
    """Lines of the component's file (`build` puts two before its code)."""
    return [n for n, line in enumerate(CASES[name].splitlines(), 3) if f"// {mark}" in line]


@pytest.mark.mostly_long("fast-assertion", "fast-exits", "fast-operation")
@pytest.mark.parametrize("name", CASES)
def test_a_fault_is_at_the_users_line(name: str, cases: Ended) -> None:
    diagnostic = cases.of(f"c_{name}")
    assert diagnostic.span is not None, diagnostic
    assert diagnostic.span.file.path.name == f"C_{name}.c"
    if name != "deep":
        assert diagnostic.span.line == marked(name, "FAULT")[0]


@pytest.mark.mostly_long("fast-callback", "fast-inlined")
@pytest.mark.parametrize("name", ["callback", "inlined"])
def test_the_call_stack_is_reported(name: str, cases: Ended) -> None:
    calls = [place.line for place in cases.faults[f"c_{name}"].calls]
    assert calls == marked(name, "FAULT") + marked(name, "CALL")
    notes = [n for n in cases.of(f"c_{name}").notes if n.startswith("called from")]
    assert [int(re.findall(r":(\d+)", n)[0]) for n in notes] == marked(name, "CALL")


def test_a_recursion_is_counted(cases: Ended) -> None:
    assert any(re.search(r"in dig\(\), \d+ times or more", note) for note in cases.of("c_deep").notes)


def test_the_function_of_a_library_is_named(cases: Ended) -> None:
    assert cases.of("c_print").label == "it stopped here, in printf()"


TWO = """
procedure P { void go(); }
component Task { control; requestor; uses P p; }
component Leaf { provides P p with priority_protocol PROTOCOL, requests (); }
assembly {
    composition {
        component Task a; component Task b; component Leaf leaf;
        connection seL4RPCCall x(from a.p, from b.p, to leaf.p);
    }
    configuration {
        a._priority = 10; a._period = 10 ms;
        b._priority = 20; b._period = 10 ms; b._offset = 1 ms;
    }
}
"""
TASK = "int run(void) { while (camkes_next_job()) { p_go(); } return 0; }\n"
FAULTS = {
    "write": "*(volatile int *)8 = 1;",
    "abort": "__builtin_abort();",
    "exit": "extern void exit(int); exit(0);",
}


@pytest.mark.long
@pytest.mark.parametrize(("how", "protocol"), every_pair(tuple(FAULTS), PROTOCOLS))
def test_threads_that_wait_because_of_a_fault(how: str, protocol: str, tmp_path: Path) -> None:
    leaf = f"void p_go(void) {{ camkes_work(CAMKES_MS(2)); {FAULTS[how]} }}\n"
    end = ended(tmp_path, TWO.replace("PROTOCOL", protocol), {"Task": TASK, "Leaf": leaf})
    # in a propagated CPI the urgent task's request comes to that point first
    first = "b" if protocol == "propagated" else "a"
    assert end.first is not None
    fault = end.first.fault
    culprit = end.situation.at(fault.number if fault.cause is None else fault.cause)
    assert culprit is not None
    assert (culprit.time, culprit.service) == (3_000_000 if first == "b" else 2_000_000, "leaf.p")
    assert (culprit.client, culprit.task) == (first, first)
    assert culprit.holds == (("leaf.p",) if protocol == "inherited" else ())
    assert {end.names.thread_name(wait.thread) for wait in end.situation.waits} == {"a", "b"}
    assert {wait.cause.value for wait in end.situation.waits} == {"fault"}
    consequences = [
        note for d in end.diagnostics for note in d.notes if note.startswith("as a consequence, ")
    ]
    assert len(consequences) == 2
    if protocol == "inherited":
        (other,) = [w for w in end.situation.waits if end.names.thread_name(w.thread) == "b"]
        if how != "exit":  # which stops the thread of b's request too
            assert [step.cpi for step in other.steps] == ["", "leaf.p"]
            assert any(
                "holds the lock of leaf.p, which remains locked" in n
                for d in end.diagnostics
                for n in d.notes
            )


@pytest.mark.long
def test_an_exit_is_reported_once_for_all_threads_of_a_component(tmp_path: Path) -> None:
    leaf = "#include <stdlib.h>\nvoid p_go(void)\n{\n    exit(4);\n}\n"
    end = ended(tmp_path, TWO.replace("PROTOCOL", "inherited"), {"Task": TASK, "Leaf": leaf})
    (diagnostic,) = end.diagnostics
    assert "leaf.p@a: its component called exit, status 4" in diagnostic.message
    assert diagnostic.span is not None and diagnostic.span.line == 6
    (others,) = [n for n in diagnostic.notes if "other threads" in n]
    assert "leaf.p@b" in others


CIRCLE = """
procedure P { void go(); }
component Start { control; uses P p; }
component Server { provides P p; uses P q; }
component Silent { provides P p; uses P q; has semaphore never; }
assembly { composition {
    component Start start; component Server x; component LAST y;
    connection seL4RPCCall c(from start.p, from y.q, to x.p);
    connection seL4RPCCall d(from x.q, to y.p);
} }
"""


@pytest.mark.long
def test_a_cycle_of_calls_is_a_deadlock(tmp_path: Path) -> None:
    code = {"Start": "int run(void) { p_go(); return 0; }", "Server": "void p_go(void) { q_go(); }"}
    end = ended(
        tmp_path,
        CIRCLE.replace("LAST", "Server"),
        code,
    )
    (diagnostic,) = end.diagnostics
    assert diagnostic.code.number == "E0737"
    assert "deadlock: x.p waits for a reply of y.p; y.p waits for x.p to receive" in diagnostic.message
    assert "as a consequence, start waits for a reply of x.p" in diagnostic.notes


@pytest.mark.long
def test_a_wait_for_what_only_the_same_thread_could_post_is_a_deadlock(tmp_path: Path) -> None:
    code = {
        "Start": "int run(void) { p_go(); return 0; }",
        "Server": "void p_go(void) { q_go(); }",
        "Silent": "void p_go(void) { never_wait(); never_wait(); }",
    }
    text = CIRCLE.replace("LAST", "Silent")
    end = ended(tmp_path, text, code)
    (wait,) = end.situation.waits
    assert wait.cause.value == "deadlock"
    assert [end.names.thread_name(step.thread) for step in wait.steps] == ["start", "x.p", "y.p"]


@pytest.mark.long
def test_sanitizer_findings_are_reported_at_their_lines_and_stop_no_thread(tmp_path: Path) -> None:
    text = """
    component One { control; }
    component Two { control; }
    assembly { composition { component One one; component Two two; } }
    """
    one = """static volatile int big = 2147483647;
    int run(void) {
        big = big + 1;
        printf("on\\n");
        return 0;
    }
    """
    two = """#include <stdlib.h>
    int run(void) {
        volatile char *p = malloc(3);
        free((char *)p);
        return p[1];
    }
    """
    built = build(tmp_path, text, {"One": one, "Two": two}, sanitize=True)
    said: list[bytes] = []
    result = run_host(built.image, RunOptions(), tmp_path / "t", said.append)
    assert (result.status, result.faults, result.diagnostics) == (1, (), ())
    assert b"".join(said) == b"on\n"
    found = diagnose_findings(locate_faults(result.findings, built.image))
    places = {(d.span.file.path.name, d.span.line) for d in found if d.span is not None}
    assert places == {("One.c", 5), ("Two.c", 7)}
    words = " ".join(d.message for d in found)
    assert "component one, thread one: " in words and "overflow" in words
    assert "component two, thread two: read of 1 byte: heap-use-after-free" in words
    assert any("ERROR: AddressSanitizer" in fault.finding for fault in result.findings)
