# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The words of reports of runs: states, faults, budgets, missed jobs, refused messages, times."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camkes.capdl.model import Role
from camkes.diagnostics import Diagnostic, Sink, SourceFile, Span
from camkes.running.codes import DEADLINE_MISSED, MALFORMED_MESSAGE, RUN_RETURNED, WINDOW_EMPTY
from camkes.running.denied import missed_deadline, missed_jobs, returned_error
from camkes.running.jobless import tasks_without_jobs
from camkes.running.kinds import FaultKind
from camkes.running.model import (
    Fault,
    Inheritance,
    Job,
    JobOutcome,
    Lane,
    LockEvent,
    LockStep,
    Overrun,
    Payment,
    Run,
    ServedRequest,
    Spent,
    State,
    StateSegment,
)
from camkes.running.names import NamedCondition, NamedCpi, NamedTask, NamedThread, TraceNames
from camkes.running.refusals import MessageError, Refusal, refusal_report
from camkes.running.times import Window, choose_window, format_number, format_time, make_axis, next_round
from camkes.running.waits import Cause, Wait, WaitStep
from camkes.showing.draw.flame import MARGIN, ROW, TOP, bars, flame_svg
from camkes.showing.draw.terminal import criticality_table, overrun_table, payment_table, spent_table
from camkes.showing.listing import event_lines
from camkes.showing.words import (
    LOOKS,
    fault_words,
    helped_words,
    letters,
    overrun_words,
    payment_words,
    state_words,
)
from tests.runtime.host import checked

pytestmark = pytest.mark.requirement("TOOL-14")

MS = 1_000_000
THREADS = (
    NamedThread(0, "low", "low", "low", Role.CONTROL, 10, task=0),
    NamedThread(1, "db.store@low", "db", "db", Role.WORKER, 10, "db.store", 0, 0),
)
TASKS = (NamedTask(0, "low", 10, 0, period=10 * MS),)
HELPED = NamedCondition(0, "log.full", ("writer", "other"), ())
NAMES = TraceNames(
    THREADS,
    TASKS,
    (),
    (NamedCpi(0, "db.store", "inherited", 10),),
    conditions=(HELPED,),  # type: ignore[arg-type]
)


def made_run(lanes: tuple[Lane, ...] = (), **fields: object) -> Run:
    """A run of 100 ms in which no more is known than this."""
    empty = dict.fromkeys(
        ("threads", "requests", "locks", "inheritances", "outputs", "refused", "faults"), ()
    )
    known = {**empty, "waits": (), "exits": {}, **fields}
    return Run(NAMES, 100 * MS, None, True, lanes=lanes, **known)  # type: ignore[arg-type]


def job(number: int, begin: int | None, end: int | None, outcome: JobOutcome = JobOutcome.COMPLETED) -> Job:
    """Job `number`, released 10 ms after the one before, with a deadline 5 ms later; times in ms."""
    release = 10 * number * MS
    times = (None if t is None else t * MS for t in (begin, end))
    return Job(number, release, *times, release + 5 * MS, outcome)


def lane(*jobs: Job) -> Lane:
    return Lane(TASKS[0], 0, (), jobs)


def segment(state: State, what: str = "", priority: int = 0) -> StateSegment:
    return StateSegment(0, 1, state, what, priority)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (segment(State.RUNNING), "running"),
        (segment(State.RUNNING, "db.store"), "running in db.store"),
        (segment(State.WAITS_LOCK, "db.store"), "waits for the lock of db.store"),
        (segment(State.WAITS_SERVER, "db.store"), "waits for the server db.store"),
        (segment(State.WAITS_REPLY, "db.store"), "waits for a reply of db.store"),
        (segment(State.WAITS_REPLY), "waits for reply"),
        (segment(State.WAITS_SIGNAL, "a:event"), "waits for the signal a:event"),
        (segment(State.SUSPENDED, "db.store"), "suspended"),
        (segment(State.WAITS_HELPED, "log.full"), "blocked on log.full, helped by writer, other"),
        (segment(State.WAITS_HELPED, "log.none"), "blocked on log.none"),
        (segment(State.HELD_UP, "db.store", 30), "held up by work in db.store at priority 30"),
        (segment(State.HELD_UP, "", 30), "held up by work at priority 30"),
    ],
)
def test_states(given: StateSegment, words: str) -> None:
    assert state_words(given, NAMES) == words


def test_helpers() -> None:
    assert helped_words(HELPED) == "helped by writer, other"
    assert helped_words(NamedCondition(0, "log.full", (), ())) == helped_words(None) == ""


def test_every_state_but_running_has_a_look() -> None:
    assert set(LOOKS) == set(State) - {State.RUNNING}


def test_letters_differ() -> None:
    assert letters(["alpha", "alpine", "lp", "4.5"]) == {"alpha": "a", "alpine": "l", "lp": "p", "4.5": "b"}
    many = letters(str(number) for number in range(54))
    assert list(many.values())[51:] == ["Z", "?", "?"]
    assert len(set(many.values())) == 53


def test_overruns_and_payments() -> None:
    assert overrun_words(Overrun(3 * MS, "low", "t", "low", "db.store", "help")) == (
        "the budget of low is used up at 3 ms in db.store: help"
    )
    assert overrun_words(Overrun(1, "low", "t", "low", "", "stop")) == (
        "the budget of low is used up at 1 ns: stop"
    )
    assert payment_words(Payment(0, 1, "high", "low", "db.store")) == "low in db.store on the budget of high"
    assert payment_words(Payment(0, 1, "high", "low", "")) == "low on the budget of high"


def test_a_table_of_overruns_names_the_thread_where_there_is_no_task() -> None:
    rows = [Overrun(MS, "low", "low", "", "", "stop"), Overrun(2 * MS, "x", "w", "low", "db.store", "help")]
    lines = overrun_table(rows).splitlines()
    assert lines[0] == "overruns"
    assert [line.split() for line in lines[2:]] == [
        ["low", "1", "ms", "own", "code", "low", "stop"],
        ["x", "2", "ms", "db.store", "low", "help"],
    ]
    assert overrun_table([]) == criticality_table([]) == ""


def test_tables_of_budgets_and_payments() -> None:
    """Sums by payer, task and place, in the unit of the largest."""
    paid = [
        Payment(0, 2 * MS, "high", "low", "db.store"),
        Payment(5 * MS, 6 * MS, "high", "low", ""),
        Payment(8 * MS, 9 * MS + 500_000, "high", "low", "db.store"),
    ]
    assert [" ".join(line.split()) for line in payment_table(paid).splitlines()] == [
        "time that others paid (ms)",
        "on time of worked in used",
        "high low db.store 3.5",
        "high low own code 1",
    ]
    spent = [Spent("low", 3 * MS, 10 * MS, 1500, 2, 1), Spent("high", 2 * MS, 50 * MS, 0)]
    assert [" ".join(line.split()) for line in spent_table(spent).splitlines()] == [
        "budgets (us)",
        "time of budget period used waits timeouts",
        "low 3000 10000 1.5 2 1",
        "high 2000 50000 0 0 0",
    ]
    assert payment_table([]) == spent_table([]) == ""


def test_flame_graphs_have_a_row_for_each_level() -> None:
    """And a bar for what a row leaves over is none: widths are times."""
    stacks = {("low",): 2 * MS, ("low", "db.store"): 6 * MS, ("high",): 2 * MS}
    found = [(bar.stack, bar.start, bar.time) for bar in bars(stacks)]
    assert found == [
        (("high",), 0, 2 * MS),
        (("low",), 2 * MS, 8 * MS),
        (("low", "db.store"), 2 * MS, 6 * MS),
    ]
    two, one = (flame_svg(each, 20 * MS, "title") for each in (stacks, {("low",): 8 * MS, ("high",): 2 * MS}))
    assert "title, 10 ms of 20 ms" in two and "title, 10 ms of 20 ms" in one
    heights = [float(re.findall(r'height="([\d.]+)"', svg)[0]) for svg in (two, one)]
    assert heights == [TOP + 2 * ROW + MARGIN, TOP + ROW + MARGIN]


@pytest.mark.parametrize(("count", "last"), [(7, None), (8, None), (9, "and 1 more"), (12, "and 4 more")])
def test_long_tables_are_cut(count: int, last: str | None) -> None:
    lines = criticality_table([(MS * n, n) for n in range(count)]).splitlines()
    assert lines[0] == "criticality of the system"
    shown = [line for line in lines if line.split()[-1].isdigit()]
    assert len(shown) == min(count, 8)
    assert [line for line in lines if line.startswith("and ")] == ([] if last is None else [last])


def fault(kind: FaultKind, task: str, *, stopped: bool = True) -> Fault:
    return Fault(12 * MS, THREADS[1], kind, 8, 0, 0, "db.store", task, "low", (), stopped)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            fault(FaultKind.READ, "low"),
            "fault of db.store@low at 12 ms, working for low: invalid read",
        ),
        (fault(FaultKind.WRITE, ""), "fault of db.store@low at 12 ms: invalid write"),
        (fault(FaultKind.ABORT, "db.store@low"), "fault of db.store@low at 12 ms: abort"),
        (
            fault(FaultKind.TIMEOUT, "low", stopped=False),
            "fault of db.store@low at 12 ms, working for low: its budget is used up (handled)",
        ),
    ],
)
def test_faults(given: Fault, words: str) -> None:
    assert fault_words(given) == words


def said(diagnostic: Diagnostic) -> tuple[str, ...]:
    return (diagnostic.message, *diagnostic.notes, diagnostic.help)


def test_a_missed_deadline() -> None:
    late = job(1, 12, 19, JobOutcome.LATE)
    found = missed_deadline(lane(job(0, 0, 1), late), late, None)
    assert found.code is DEADLINE_MISSED
    assert said(found) == (
        "job 1 of task `low` missed its deadline",
        "released at 10 ms, deadline 15 ms, ended at 19 ms",
        "`camkes run --timeline FILE` shows what ran instead",
    )


def test_several_missed_deadlines() -> None:
    jobs = (
        job(0, 0, 7, JobOutcome.LATE),
        job(1, 11, 12),
        job(2, 21, 27, JobOutcome.LATE),
        job(3, 30, None, JobOutcome.OVERDUE),
    )
    first, *_ = missed_jobs(made_run((lane(*jobs),)))
    assert first == (lane(*jobs), jobs[0])
    assert said(missed_deadline(*first, None))[0] == (
        "job 0 of task `low` missed its deadline, and so did 2 more of its 4 jobs"
    )
    assert list(missed_jobs(made_run((lane(jobs[1]),)))) == []
    stopped = Job(3, 30 * MS, 30 * MS, None, None, JobOutcome.OVERDUE)
    assert missed_deadline(lane(stopped), stopped, None).notes == ("released at 30 ms, stopped, did not end",)


def test_other_ends() -> None:
    found = returned_error("db", -3, None)
    assert (found.code, found.message) == (RUN_RETURNED, "run() of `db` returned -3")


def test_tasks_that_end_no_job(tmp_path: Path) -> None:
    """But for those that a fault, a wait or their end explains, or that have one job or no period."""
    text = """component A { control; requestor; }
    assembly { composition { component A low; } configuration { low._period = 10 ms; low._priority = 1; } }"""
    system = checked(tmp_path, text, Sink()).system
    never = lane(job(0, 2, None), job(1, None, None), job(2, None, None))
    (found,) = tasks_without_jobs(made_run((never,)), system)
    assert said(found)[:2] == (
        "task `low` was released 3 times but did not end its first job",
        "it began at 2 ms; `run()` waits in it",
    )
    assert found.span is not None and found.span.line == 3
    wait = Wait((WaitStep(0, "", None),), 0, Cause.FAULT)
    others = (
        made_run((never,), faults=(Fault(1, THREADS[0], FaultKind.READ, 0, 0, 0, "", "", "", (), True),)),
        made_run((never,), waits=(wait,)),
        made_run((never,), exits={0: 0}),
        made_run((lane(job(0, 2, 3), job(1, None, None)),)),
        made_run((lane(job(0, None, None), job(1, None, None)),)),
        made_run((lane(job(0, 2, None)),)),
        made_run((Lane(NamedTask(0, "low", 1, 0), 0, (), never.jobs),)),
    )
    assert [tasks_without_jobs(run, system) for run in others] == [[]] * len(others)


GOT = "at 5 ns; the sender got an error as the reply"
WAITS_NOT = "at 5 ns; the sender does not wait for a reply"
SPAN = Span(SourceFile(Path("/home/a/system.camkes"), "component A a;\n"), 1, 1, 1, 9)


@pytest.mark.parametrize(
    ("error", "count", "what", "note"),
    [
        (MessageError.TOO_SHORT, 1, "it is shorter than its parameters", f"refused once {GOT}"),
        (MessageError.LABEL, 3, "its label is not that of a request", f"refused 3 times, first {GOT}"),
        (MessageError.SENT, 1, "it was sent, not called", f"once {WAITS_NOT}"),
        (MessageError.SENT, 2, "it was sent, not called", f"2 times, first {WAITS_NOT}"),
        (99, 1, "error 99", f"refused once {GOT}"),
    ],
)
def test_refused_messages(error: int, count: int, what: str, note: str) -> None:
    refusal = Refusal("a.p", "db.store", error, count, 5, SPAN)
    found = refusal.diagnostic()
    assert found.code is MALFORMED_MESSAGE
    assert (found.message, found.notes) == (f"`a.p` sent `db.store` a malformed message: {what}", (note,))
    assert (found.span, found.label) == (SPAN, "the sender")
    nowhere = Refusal("a.p", "db.store", error, count, 5, None)
    assert nowhere.diagnostic().label == ""
    report = refusal_report(refusal, Path("/home"))
    assert (report.what, report.count, report.time) == (what, count, 5)
    assert (report.file, report.line) == ("a/system.camkes", 1)
    assert refusal_report(refusal, Path("/other")).file == "/home/a/system.camkes"
    assert (refusal_report(nowhere, Path("/")).file, refusal_report(nowhere, Path("/")).line) == (None, None)


def test_events_of_a_run() -> None:
    request = ServedRequest(1, 2 * MS, 4 * MS, 0, 0, 10, 0, 0)
    run = made_run(
        (lane(job(0, 1, 6, JobOutcome.LATE), job(1, None, None, JobOutcome.OPEN)),),
        requests=(request, ServedRequest(1, 5 * MS, 100 * MS, 7, 0, 12, None, 1, True)),
        locks=(
            LockEvent(2 * MS, LockStep.TAKES, 1, 0, 0),
            LockEvent(3 * MS, LockStep.GETS, 1, 0, 0),
            LockEvent(4 * MS, LockStep.FREES, 1, 9, 0),
        ),
        inheritances=(Inheritance(3 * MS, 1, None, 0, 0, 0, 10, 30),),
        faults=(Fault(6 * MS, THREADS[0], FaultKind.ABORT, 0, 0, 0, "", "", "", (), True),),
    )
    assert event_lines(run) == [
        "0.000000 ms  low: job 0 is released",
        "1.000000 ms  low: job 0 begins",
        "2.000000 ms  db.store@low: serves a request to db.store for task low at priority 10",
        "2.000000 ms  db.store@low: takes the lock of db.store",
        "3.000000 ms  db.store@low: is given the lock of db.store",
        "3.000000 ms  db.store@low: priority 10 becomes 30",
        "4.000000 ms  db.store@low: the request to db.store ends",
        "4.000000 ms  db.store@low: frees the lock of ?",
        "5.000000 ms  db.store@low: serves a request to ? at priority 12",
        "6.000000 ms  low: job 0 ends, late",
        "6.000000 ms  low: fault: abort",
        "10.000000 ms  low: job 1 is released",
    ]


# -- times --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"), (999, "999 ns"), (1000, "1 us"), (2_500_000, "2.5 ms"), (1_234_567, "1.235 ms"),
        (10**9, "1 s"), (-1500, "-1.5 us"), (100, "100 ns"), (60 * 10**9, "60 s"),
    ],
)  # fmt: skip
def test_times(ns: int, text: str) -> None:
    assert format_time(ns) == text


def test_numbers() -> None:
    assert [format_number(v) for v in (0.0004, -0.0004, 10.0, 2.50, 100)] == ["0", "0", "10", "2.5", "100"]
    assert [next_round(v) for v in (0.5, 1, 1.1, 3, 5.1, 11, 1000)] == [1, 1, 2, 5, 10, 20, 1000]


def test_an_axis() -> None:
    axis = make_axis(3 * MS, 21 * MS, 4)
    assert axis.unit == "ms"
    assert axis.ticks == ((5 * MS, "5"), (10 * MS, "10"), (15 * MS, "15"), (20 * MS, "20"))
    assert axis.minor[:3] == (3 * MS, 4 * MS, 6 * MS) and axis.minor[-1] == 21 * MS
    assert make_axis(0, 0, 4).ticks == ((0, "0"),)
    assert make_axis(10**9, 10**9 + 8, 4).unit == "ns"


BUSY = [(n * 10, n * 10 + width) for n, width in enumerate([4, 4, 2, 9, 9, 5, 4, 2, 9, 9])]


def test_a_window_shows_as_many_stretches_of_the_middle_length_as_fit() -> None:
    sink = Sink()
    assert choose_window(1000, BUSY, (None, None), sink, 5) == Window(0, 25, "the first 25 ns of 1 us")
    assert choose_window(1000, BUSY, (None, None), sink, 1) == Window(0, 5, "the first 5 ns of 1 us")
    assert choose_window(1000, BUSY, (None, None), sink, 100) == Window(0, 100, "the first 100 ns of 1 us")
    assert choose_window(110, BUSY, (None, None), sink, 100) == Window(0, 110)
    assert choose_window(1000, [], (None, None), sink, 5) == Window(0, 1000)
    assert choose_window(1000, BUSY, (10, None), sink, 5) == Window(10, 1000)
    assert choose_window(1000, BUSY, (None, 20), sink, 5) == Window(0, 20)
    assert choose_window(1000, BUSY, (10, 5000), sink, 5) == Window(10, 1000)
    assert Window(10, 25).span == 15
    assert not sink.diagnostics


def test_a_window_with_nothing_in_it() -> None:
    for end, wanted, message, helped in (
        (1000, (1000, None), "nothing to show from 1 us to 1 us: the run ended at 1 us", False),
        (1000, (20, 20), "nothing to show from 20 ns to 20 ns: the run ended at 1 us", False),
        (0, (None, 0), "nothing to show from 0 ns to 0 ns: the run ended at 0 ns", True),
    ):
        sink = Sink()
        assert choose_window(end, BUSY, wanted, sink, 5) is None
        (found,) = sink.diagnostics
        assert (found.code, found.message, bool(found.help)) == (WINDOW_EMPTY, message, helped)
