# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What systems on an MCS kernel have to reckon with: each is so in seL4, and here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import compare
from tests.host.kernel import REPLY
from tests.host.mcs.systems import (
    BIND_BLOCKED,
    BUSY,
    CARELESS,
    CLIENT,
    CONFIGURE,
    CONSUMED,
    ERRORS,
    EXTEND,
    LOWER,
    MS,
    NAMING,
    POSTPONE,
    REPORTER,
    SET_HANDLER,
    TIMEOUT,
    UNBIND,
    US,
    YIELD_TO,
    Runner,
    System,
)

pytestmark = pytest.mark.requirement("HOST-11")


@pytest.mark.parametrize(("least", "postponed"), [(0, []), (10, []), (11, [90]), (20, [90])])
def test_what_is_less_than_the_least_budget_is_gone(mcs: Runner, least: int, postponed: list[int]) -> None:
    """Of 100 us a job takes 90; then the thread enters the kernel to wait."""
    system = System()
    system.worker("t", 10, (0, 0, 90 * US))
    system.time("t", 100 * US, 1_000 * US)
    run = mcs.run(system, 2_000 * US, "--least-budget", str(least * US))
    assert [time // US for time in run.times(POSTPONE, "t")] == postponed


def test_a_context_of_a_waiting_thread_that_is_configured_has_its_whole_budget_at_once(mcs: Runner) -> None:
    """Who has no right to that any more cannot do it."""
    system = System()
    system.worker("t", 10, (0, 0, 2 * MS), (10 * MS, 0, 2 * MS))
    system.time("t", 2 * MS, 100 * MS)
    plain = mcs.run(system, 150 * MS)
    assert plain.intervals("t") == [(0, 2 * MS), (100 * MS, 102 * MS)]
    system.object("control", "sched-control")
    system.actor("manager", 255, CONFIGURE, 5 * MS, s4="t:sc - 0", s7="control - 0")
    run = mcs.run(system, 150 * MS, notes="no right to configure scheduling contexts (slot 7)\n")
    assert run.intervals("t") == [(0, 2 * MS), (10 * MS, 12 * MS)]
    assert run.output == "0\n2\n"


def test_a_timeout_fault_does_not_bring_time_to_its_handler(mcs: Runner) -> None:
    system = System()
    system.passive_server("handler", 200, "faults")
    system.thread("t", 10, BUSY)
    system.time("t", 2 * MS, 10 * MS)
    system.timeout("t", "faults")
    run = mcs.run(system, 50 * MS)
    assert run.intervals("t") == [(0, 2 * MS)]
    assert run.times(TIMEOUT, "t") == [2 * MS]


def test_a_budget_as_long_as_its_period_never_faults(mcs: Runner) -> None:
    system = System()
    system.server("handler", 200, "faults")
    system.time("handler", MS, MS)
    system.thread("t", 10, BUSY)
    system.time("t", 10 * MS, 10 * MS)
    system.timeout("t", "faults")
    run = mcs.run(system, 50 * MS)
    assert run.intervals("t") == [(0, 50 * MS)]
    assert run.times(TIMEOUT, "t") == []


def test_the_message_of_a_timeout_fault(mcs: Runner) -> None:
    """Its badge is that of the capability that was set; data is of the context. What was consumed is counted
    from the last time on."""
    system = System()
    system.object("faults", "endpoint")
    system.object("answer", "reply")
    caps = {"s1": "faults R 0", "s2": "answer - 0", "s3": "faults WP 42", "s5": "t - 0"}
    system.thread("t", 10, BUSY)
    system.actor("handler", 200, SET_HANDLER, **caps)
    system.time("t", 2 * MS, 10 * MS, badge=77)
    run = mcs.run(system, 15 * MS)
    assert run.output.splitlines() == [
        "0",
        "2000 us: badge 42 label 5 length 2 data 77 consumed 2000",
        "12000 us: badge 42 label 5 length 2 data 77 consumed 2000",
    ]


def test_a_reply_object_is_for_one_call(mcs: Runner) -> None:
    system = System()
    system.object("requests", "endpoint")
    system.object("answer", "reply")
    system.actor("server", 30, CARELESS, s1="requests R 0", s2="answer - 0")
    for number in (1, 2):
        system.thread(f"c{number}", 21 - number, CLIENT, s1=f"requests WP {number}")
        system.time(f"c{number}", 10 * MS, 10 * MS)
    run = mcs.run(
        system, 10 * MS, notes="received with a reply object that a call still waits for (slot 2)\n"
    )
    assert run.output == "call of 1\ncall of 2\n"
    assert (run.answers("c1"), run.answers("c2")) == (0, 1)


def extended(timeout_of_client: bool) -> System:
    """A request of 6 on the 3 of 20 that its client has; then the server gets another context."""
    system = System()
    system.passive_server("s", 50, "requests")
    system.thread("c", 10, CLIENT, 6_000, s1="requests WP 1")
    system.time("c", 3 * MS, 20 * MS)
    system.object("faults", "endpoint")
    system.object("answer", "reply")
    system.object("extension", "scheduling-context 8")
    system.last.append(f"time extension - {100 * MS} {100 * MS} 2 0 constant")
    caps = {"s1": "faults R 0", "s2": "answer - 0", "s4": "c:sc - 0", "s5": "s - 0", "s6": "extension - 0"}
    system.actor("handler", 200, EXTEND, **caps)
    system.timeout("s", "faults", 5)
    if timeout_of_client:
        system.timeout("c", "faults", 6)
    return system


def test_a_context_that_was_unbound_goes_back_with_the_answer(mcs: Runner) -> None:
    run = mcs.run(extended(False), 20 * MS)
    assert run.output == "3000 us: fault of 5\n0\n0\n"
    assert run.intervals("s") == [(0, 6 * MS)]
    assert (run.charged("c"), run.times(POSTPONE, "c")) == (3 * MS, [6 * MS])


def test_a_caller_that_gets_an_empty_context_back_faults_too(mcs: Runner) -> None:
    run = mcs.run(extended(True), 20 * MS)
    assert run.output.splitlines()[::3] == ["3000 us: fault of 5", "6000 us: fault of 6"]
    assert run.times(TIMEOUT, "c") == [6 * MS]


def test_a_message_is_kept_while_the_budget_that_came_with_it_is_used_up(mcs: Runner) -> None:
    """The client calls at 2 with an empty budget, the server receives that at 4 and faults at once. Its
    handler is less urgent, and so receives the fault later. The next call of the other client is the same."""
    system = System()
    system.object("requests", "endpoint")
    system.object("s:reply", "reply")
    system.actor("s", 50, NAMING, s1="requests R 0", s2="s:reply - 0")
    system.actor("start", 50, UNBIND, s4="s:sc - 0", s5="s - 0")
    system.thread("c1", 20, CLIENT, 3_000, s1="requests WP 1")
    system.time("c1", 3 * MS, 100 * MS)
    system.object("c2:n", "notification")
    system.thread("c2", 60, REPORTER, s1="c2:n R 0", s3="requests WP 2")
    system.jobs("c2", (MS, 0, MS))
    system.time("c2", MS, 20 * MS)
    system.server("handler", 5, "faults")
    system.time("handler", MS, MS)
    system.timeout("s", "faults", 7)
    run = mcs.run(system, 40 * MS)
    assert run.output == "0 us: call of 1\n21000 us: call of 2\n"
    assert run.times(TIMEOUT, "s") == [4 * MS, 21 * MS]


def test_a_waiting_thread_can_be_bound_if_the_context_has_budget_now(mcs: Runner) -> None:
    """Another thread has used it up; later it is refilled."""
    system = System()
    system.passive_server("s", 50, "requests")
    system.worker("t", 10, (0, 0, 2 * MS))
    system.time("t", 2 * MS, 20 * MS)
    system.actor("binder", 200, BIND_BLOCKED, s4="t:sc - 0", s5="s - 0", s6="t - 0")
    system.object("binder:n", "notification")
    system.spaces.insert(-1, "cap 1 binder:n R 0")
    system.jobs("binder", (5 * MS, 20 * MS, 1))
    run = mcs.run(system, 50 * MS)
    assert run.output == "3\n0\n"


def test_a_new_priority_of_a_thread_without_budget_is_kept_for_its_refill(mcs: Runner) -> None:
    """Below M, T does not run at its refill, but twice as long when M is done."""
    system = System()
    system.thread("t", 25, BUSY)
    system.time("t", 2 * MS, 10 * MS)
    system.worker("m", 20, (0, 0, 18 * MS))
    system.time("m", 100 * MS, 100 * MS)
    system.actor("manager", 255, LOWER, 5 * MS, s5="t - 0", s8="manager - 0")
    run = mcs.run(system, 25 * MS)
    assert run.intervals("t") == [(0, 2 * MS), (20 * MS, 24 * MS)]


def test_calls_wait_by_priority_and_equals_in_the_order_in_which_they_came(mcs: Runner) -> None:
    system = System()
    system.server("s", 5, "requests")
    system.thread("first", 4, CLIENT, 5_000, s1="requests WP 1")
    for name, priority, at in (("low", 40, 1), ("high", 60, 2), ("middle", 50, 3), ("later", 50, 4)):
        system.object(f"{name}:n", "notification")
        system.thread(name, priority, REPORTER, s1=f"{name}:n R 0", s3="requests WP 1")
        system.jobs(name, (at * MS, 0, 1))
    for name in ("first", "s", "low", "high", "middle", "later"):
        system.time(name, 100 * MS, 100 * MS)
    run = mcs.run(system, 20 * MS)
    answered = [system.threads[r.other] for r in run.records if r.kind == REPLY]
    assert answered[:5] == ["first", "high", "middle", "later", "low"]


def test_a_signal_brings_time_to_a_thread_that_has_none(mcs: Runner) -> None:
    """Until it waits again."""
    system = System()
    system.worker("t", 50, (5 * MS, 0, 2 * MS), (30 * MS, 0, MS))
    system.time("t", 100 * MS, 100 * MS)
    system.actor("unbinder", 5, 0, s4="t:sc - 0", s5="t - 0")
    system.object("given", "scheduling-context 8")
    system.last += [f"time given - {MS} {10 * MS} 4 0 sporadic", "bind t:n given"]
    run = mcs.run(system, 50 * MS)
    assert run.intervals("t") == [(5 * MS, 6 * MS), (15 * MS, 16 * MS), (30 * MS, 31 * MS)]


def test_consumed_is_counted_from_the_last_time_on(mcs: Runner) -> None:
    system = System()
    system.worker("t", 10, (0, 0, 2 * MS + 345 * US))
    system.time("t", 10 * MS, 20 * MS)
    system.actor("manager", 255, CONSUMED, 10 * MS, s4="t:sc - 0")
    assert mcs.run(system, 20 * MS).output == "2345 0\n"


def test_who_yields_to_a_thread_runs_after_it(mcs: Runner) -> None:
    """Equals: both have their turns, the yielder after a second time slice of the other."""
    system = System()
    system.thread("t", 10, BUSY)
    system.time("t", 4 * MS, 4 * MS)
    system.actor("yielder", 10, YIELD_TO, 2 * MS, s4="t:sc - 0")
    assert mcs.run(system, 20 * MS).output == "8000\n"


def test_errors_are_those_of_the_manual(mcs: Runner) -> None:
    """The numbers are those of <sel4/errors.h>."""
    system = System()
    for name, kind in (
        ("n", "notification"),
        ("e", "endpoint"),
        ("other", "scheduling-context 10"),
        ("control", "sched-control"),
    ):
        system.object(name, kind)
    system.thread("t", 10, BUSY)
    system.time("t", 2 * MS, 10 * MS)
    caps = {"s1": "n RW 0", "s3": "e W 0", "s4": "t:sc - 0", "s5": "t - 0", "s6": "other - 0"}
    system.actor("tester", 255, ERRORS, **caps, s7="control - 0", s8="tester - 0", s9="tester:sc - 0")
    table = mcs.workplace.folder / "errors.table"
    table.write_text(system.text())
    done = mcs.workplace.run(table, "--fast", "--for", str(MS))
    compare(done.stdout, Path(__file__).parent / "errors.txt")


# who pays for requests

PAID = {"active": (250, 250), "own": (166, 500), "shared": (166, 166)}


@pytest.mark.parametrize("server", PAID)
def test_requests_are_paid_by_who_has_the_time(mcs: Runner, server: str) -> None:
    """A asks for 3 and B for 1, both have 5 of 10, for 1 s. A server with time of its own serves them in
    turn; on their own time each gets what it pays for; where they share a server without time, each
    waits for the refills of the other."""
    system = System()
    if server == "active":
        system.server("s", 5, "ep_a")
        system.time("s", 1_000 * MS, 1_000 * MS)
    else:
        system.passive_server("s", 20, "ep_a", below=True)
    if server == "own":
        system.passive_server("sb", 20, "ep_b", below=True)
    system.thread("a", 10, CLIENT, 3_000, s1="ep_a WP 1")
    system.time("a", 5 * MS, 10 * MS)
    system.thread("b", 10, CLIENT, 1_000, s1=f"{'ep_b' if server == 'own' else 'ep_a'} WP 2")
    system.time("b", 5 * MS, 10 * MS)
    run = mcs.run(system, 1_000 * MS)
    assert (run.answers("a"), run.answers("b")) == PAID[server]


@pytest.mark.parametrize(("budget", "options", "status"), [(19_999, (), 2), (20_000, (), 0), (1, ("0",), 0)])
def test_no_budget_is_shorter_than_that_of_sel4(
    mcs: Runner, budget: int, options: tuple[str, ...], status: int
) -> None:
    system = System()
    system.thread("t", 10, BUSY)
    system.time("t", budget, MS)
    table = mcs.workplace.folder / "short.table"
    table.write_text(system.text())
    more = [word for value in options for word in ("--least-budget", value)]
    done = mcs.workplace.run(table, "--fast", "--for", str(MS), *more)
    assert done.returncode == status
    assert ("no budget is shorter than 20000 ns" in done.stderr) == (status != 0)


@pytest.mark.parametrize("names", ["ab", "ba"])
def test_of_equals_that_wake_at_one_instant_that_of_the_last_name_runs_first(mcs: Runner, names: str) -> None:
    """Its timer fires last, in whatever order a system declares them, and who is woken last runs first."""
    system = System()
    for name in names:
        system.worker(name, 10, (MS, 0, 2 * MS))
        system.time(name, 100 * MS, 100 * MS)
    run = mcs.run(system, 20 * MS)
    assert (run.intervals("a"), run.intervals("b")) == ([(3 * MS, 5 * MS)], [(MS, 3 * MS)])
