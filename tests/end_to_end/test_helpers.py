# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Waiting with helpers on the host kernel: every response is what the definition gives, in virtual time.

Responses are computed by hand from eff(o) = max(base(o), eff(w) of each w that waits for a lock that o holds
or for what o can signal).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.running.decode import decode_trace
from camkes.running.events import Event, parse_trace
from camkes.running.kinds import KernelCall, Kind
from camkes.running.model import Run, State
from camkes.running.names import load_names
from camkes.showing.draw.timeline import timeline_svg
from tests.command import Result, camkes
from tests.end_to_end.support import EXAMPLES, loop, write

pytestmark = pytest.mark.requirement("RT-26")

MS = 1_000_000


@dataclass(frozen=True)
class Ran:
    """A run whose properties held."""

    result: Result
    run: Run
    events: tuple[Event, ...]

    def responses(self, task: str) -> list[float | None]:
        """In milliseconds; None: the job did not end."""
        lane = next(lane for lane in self.run.tasks if lane.task.name == task)
        return [None if job.response is None else job.response / MS for job in lane.jobs]

    def executed(self) -> list[tuple[str, float, float]]:
        """Which task the processor worked for, from when to when, in milliseconds."""
        found = [
            (segment.start / MS, segment.end / MS, lane.task.name)
            for lane in self.run.lanes
            for segment in lane.segments
            if segment.state is State.RUNNING
        ]
        joined: list[tuple[str, float, float]] = []
        for start, end, name in sorted(found):
            if joined and joined[-1][0] == name and joined[-1][2] == start:
                joined[-1] = (name, joined[-1][1], end)
            else:
                joined.append((name, start, end))
        return joined

    def thread(self, name: str) -> int:
        return next(t.number for t in self.run.names.threads if t.name == name)

    def priorities(self, thread: str) -> list[tuple[float, int]]:
        """The priorities of a thread and when they begin, in milliseconds."""
        found = self.run.threads[self.thread(thread)].priorities
        return [(time / MS, priority) for time, priority in found]


def run(path: Path, out: Path, *options: str, duration: str = "100ms") -> Ran:
    trace = out / "run.trace"
    words = ("-o", out / "build", "--for", duration, "--verify", "--trace", trace)
    result = camkes("run", path, *options, *words)
    assert result.status == 0, result.errors + result.output
    assert "hold at every event" in result.output
    sink = Sink()
    names = load_names(trace, sink)
    assert names is not None
    found, events = decode_trace(trace, names, sink), parse_trace(trace.read_bytes(), str(trace), sink)
    assert found is not None and events is not None
    return Ran(result, found, events)


# An inversion without a lock ---------------------------------------------------------------------

STORE = """#pragma GCC diagnostic ignored "-Wunused-result"
void taken_take(void) { full_wait(); }
void given_give(void) { full_post(); }"""


def bounded(folder: Path, clause: str, protocol: str = "inherited") -> Path:
    """A consumer waits in a CPI for a semaphore, which the producer posts in another one."""
    return write(
        folder,
        f"""
        procedure Take {{ void take(); }}
        procedure Give {{ void give(); }}
        component Consumer {{ control; requestor; uses Take store; }}
        component Producer {{ control; requestor; uses Give store; }}
        component Bystander {{ control; requestor; }}
        component Store {{
            provides Take taken with priority_protocol {protocol};
            provides Give given with priority_protocol {protocol};
            has semaphore full {clause};
        }}""",
        """
        composition {
            component Consumer consumer;
            component Producer producer;
            component Bystander bystander;
            component Store store;
            connection seL4RPCCall taking(from consumer.store, to store.taken);
            connection seL4RPCCall giving(from producer.store, to store.given);
        }
        configuration {
            consumer._priority = 30; consumer._period = 20 ms;
            bystander._priority = 20; bystander._period = 20 ms; bystander._offset = 1 ms;
            producer._priority = 10; producer._period = 20 ms;
            store.full_value = 0;
        }""",
        {
            "Consumer": loop("store_take();"),
            "Producer": loop("MS(2); store_give();"),
            "Bystander": loop("MS(8);"),
            "Store": STORE,
        },
    )


@pytest.mark.long  # the warning is in tests/protocols/golden
def test_a_wait_without_helpers_is_an_inversion_with_a_warning(tmp_path: Path) -> None:
    found = run(bounded(tmp_path / "system", ""), tmp_path)
    assert found.responses("consumer") == [10] * 5
    assert [found.responses(name) for name in ("bystander", "producer")] == [[8] * 5, [10] * 5]
    assert "warning[W0511]" in found.result.errors
    assert "write `has semaphore full with helpers;`" in found.result.errors
    assert "waits for an event or semaphore" in found.result.output


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["inherited", "propagated"])
def test_helpers_end_the_inversion(protocol: str, tmp_path: Path) -> None:
    """The producer has 30 from the wait to the signal; then the bystander is more urgent again, so the
    producer's job ends after the bystander's."""
    found = run(bounded(tmp_path / "system", "with helpers", protocol), tmp_path)
    assert found.responses("consumer") == [2] * 5
    assert found.responses("bystander") == [9] * 5
    assert found.executed()[:2] == [("producer", 0, 2), ("bystander", 2, 10)]
    assert "W0511" not in found.result.errors
    assert "blocked on store.full, helped by producer" in found.result.output
    assert found.priorities("producer")[:3] == [(0, 10), (0, 30), (2, 10)]
    picture = timeline_svg(found.run, Sink())
    assert picture is not None
    assert "consumer: blocked on store.full, helped by producer while producer runs, 0 ns to 2 ms" in picture


@pytest.mark.long
def test_round_robin_gives_the_same_responses(tmp_path: Path) -> None:
    options = ("--scheduling", "rr", "--timeslice", "100us")
    found = run(bounded(tmp_path / "system", "with helpers"), tmp_path, *options)
    assert found.responses("consumer") == [2] * 5
    assert found.responses("bystander") == [9] * 5


def consumers(folder: Path) -> Path:
    """A consumer waits in a CPI and holds its lock; a more urgent one waits for the lock."""
    return write(
        folder,
        """
        procedure Take { void take(); }
        procedure Give { void give(); }
        component Consumer { control; requestor; uses Take store; }
        component Producer { control; requestor; uses Give store; }
        component Bystander { control; requestor; }
        component Store {
            provides Take taken with priority_protocol inherited;
            provides Give given with priority_protocol inherited;
            has semaphore full with helpers;
        }""",
        """
        composition {
            component Consumer consumer; component Consumer urgent;
            component Producer producer; component Bystander bystander; component Store store;
            connection seL4RPCCall taking(from consumer.store, from urgent.store, to store.taken);
            connection seL4RPCCall giving(from producer.store, to store.given);
        }
        configuration {
            consumer._priority = 30; consumer._period = 100 ms;
            urgent._priority = 40; urgent._period = 100 ms; urgent._offset = 1 ms;
            bystander._priority = 35; bystander._period = 100 ms; bystander._offset = 1 ms;
            producer._priority = 10; producer._period = 100 ms;
            store.full_value = 0;
        }""",
        {
            "Consumer": loop("store_take();"),
            "Producer": loop("MS(3); store_give(); MS(2); store_give();"),
            "Bystander": loop("MS(8);"),
            "Store": STORE,
        },
    )


def side_by_side(folder: Path) -> Path:
    """The same without a lock: both wait for the semaphore."""
    path = consumers(folder)
    text = (folder / "system.camkes").read_text()
    (folder / "system.camkes").write_text(text.replace("inherited", "propagated"))
    return path


@pytest.mark.long
def test_the_first_signal_is_for_the_most_urgent_waiter(tmp_path: Path) -> None:
    found = run(side_by_side(tmp_path / "system"), tmp_path, duration="90ms")
    assert found.responses("urgent") == [2]
    assert found.executed()[:2] == [("producer", 0, 3), ("bystander", 3, 11)]
    assert found.responses("consumer") == [13]


@pytest.mark.long
def test_a_thread_that_waits_for_the_lock_of_a_waiter_lends_too(tmp_path: Path) -> None:
    """The producer has 40 from 1, when `urgent` waits for the lock, until its second signal at 5."""
    found = run(consumers(tmp_path / "system"), tmp_path, duration="90ms")
    assert found.executed()[:2] == [("producer", 0, 5), ("bystander", 5, 13)]
    assert found.responses("urgent") == [4]
    assert found.responses("bystander") == [12]
    assert (1, 40) in found.priorities("producer")
    assert found.priorities("producer")[-1] == (5, 10)


def inside(folder: Path) -> Path:
    """The producer is in a request, whose handler works and then posts, when the consumer begins to wait."""
    path = bounded(folder, "with helpers")
    text = (folder / "system.camkes").read_text()
    text = text.replace("consumer._period = 20 ms;", "consumer._period = 20 ms; consumer._offset = 1 ms;")
    (folder / "system.camkes").write_text(text)
    (folder / "Producer.c").write_text(f"#include <camkes.h>\n{loop('store_give(); MS(1);')}\n")
    source = folder / "Store.c"
    source.write_text(
        source.read_text().replace("{ full_post(); }", "{ camkes_work(CAMKES_MS(3)); full_post(); }")
    )
    return path


@pytest.mark.long
def test_a_request_under_way_has_what_is_lent_until_the_signal(tmp_path: Path) -> None:
    found = run(inside(tmp_path / "system"), tmp_path, duration="19ms")
    assert found.executed() == [("producer", 0, 3), ("bystander", 3, 11), ("producer", 11, 12)]
    assert found.responses("consumer") == [2]
    assert found.responses("bystander") == [10]
    assert found.priorities("store.given@producer") == [(0, 10), (1, 30), (3, 10)]


# Three scenarios ---------------------------------------------------------------------------------


def one_event(folder: Path, clause: str) -> Path:
    """S1: A (30) waits at 0 for C (10), which has 5 ms to go; B (20) comes at 1 with 8; then A has 1."""
    return write(
        folder,
        f"""
        component A {{ control; requestor; consumes Done done {clause}; }}
        component B {{ control; requestor; }}
        component C {{ control; requestor; emits Done done; }}""",
        """
        composition {
            component A a; component B b; component C c;
            connection seL4Notification end(from c.done, to a.done);
        }
        configuration {
            a._priority = 30; b._priority = 20; c._priority = 10;
            a._period = 100 ms; b._period = 100 ms; c._period = 100 ms; b._offset = 1 ms;
        }""",
        {"A": loop("done_wait(); MS(1);"), "B": loop("MS(8);"), "C": loop("MS(5); done_emit();")},
    )


@pytest.mark.mostly_long("helpers")
@pytest.mark.parametrize(
    ("clause", "of_a", "of_b"), [("with helpers", 6, 13), ("", 14, 8)], ids=["helpers", "plain"]
)
def test_an_event_of_a_task(clause: str, of_a: int, of_b: int, tmp_path: Path) -> None:
    path = one_event(tmp_path / "system", clause)
    found = run(path, tmp_path, duration="90ms")
    assert found.responses("a") == [of_a]
    assert found.responses("b") == [of_b]


def locked(folder: Path, first: int = 0) -> Path:
    """`through_a_lock` with an event."""
    return through_a_lock(
        folder,
        """
        component Prod { control; requestor; uses Section lock; emits Done done; }
        component Cons { control; requestor; consumes Done done with helpers; }""",
        "connection seL4Notification end(from p.done, to c.done);",
        {"Prod": "done_emit();", "Cons": "done_wait();"},
        first=first,
    )


def through_a_lock(
    folder: Path,
    components: str,
    connections: str,
    calls: dict[str, str],
    sources: dict[str, str] | None = None,
    *,
    first: int = 0,
) -> Path:
    """S2: Cons (40) waits for Prod (20), which waits for a lock that Mutex (10) holds; Annoy (30) is between.
    `calls` are how Prod signals and how Cons waits. The first release is at `first` ms."""
    return write(
        folder,
        f"""
        procedure Section {{ void section(in int ms); }}
        component Mutex {{ control; requestor; uses Section lock; }}
        component Annoy {{ control; requestor; }}
        component Lock {{ provides Section section with priority_protocol inherited; }}
        {components}""",
        f"""
        composition {{
            component Mutex m; component Prod p; component Cons c; component Annoy a; component Lock lock;
            connection seL4RPCCall locked(from m.lock, from p.lock, to lock.section);
            {connections}
        }}
        configuration {{
            m._priority = 10; p._priority = 20; a._priority = 30; c._priority = 40;
            m._period = 100 ms; p._period = 100 ms; a._period = 100 ms; c._period = 100 ms;
            m._offset = {first} ms; p._offset = {first + 1} ms; c._offset = {first + 2} ms;
            a._offset = {first + 4} ms;
        }}""",
        {
            "Mutex": loop("lock_section(6);"),
            "Prod": loop(f"MS(3); lock_section(2); MS(1); {calls['Prod']}"),
            "Cons": loop(f"MS(1); {calls['Cons']} MS(1);"),
            "Annoy": loop("MS(10);"),
            "Lock": "void section_section(int ms) { camkes_work(CAMKES_MS(ms)); }",
            **(sources or {}),
        },
    )


@pytest.mark.long
def test_locks_and_events_are_one_chain(tmp_path: Path) -> None:
    path = locked(tmp_path / "system")
    found = run(path, tmp_path, duration="90ms")
    assert found.executed() == [
        ("m", 0, 1), ("p", 1, 2), ("c", 2, 3), ("p", 3, 5), ("m", 5, 10), ("p", 10, 13), ("c", 13, 14),
        ("a", 14, 24),
    ]  # fmt: skip
    assert found.responses("c") == [12]
    assert found.responses("a") == [20]
    assert (40, 5.0) in [(p, t) for t, p in found.priorities("lock.section@m")]


def posters(count: int, folder: Path) -> Path:
    """A waiter (90) and so many tasks of rising priorities that can post: the n-th after n ms of work."""
    names = [f"h{n}" for n in range(1, count + 1)]
    return write(
        folder,
        """
        procedure Take { void take(); }
        procedure Give { void give(); }
        component Waiter { control; requestor; uses Take store; }
        component Helper { control; requestor; uses Give store; }
        component Store {
            provides Take taken with priority_protocol propagated;
            provides Give given with priority_protocol propagated;
            has semaphore full with helpers;
        }""",
        f"""
        composition {{
            component Waiter waiter; component Store store;
            {" ".join(f"component Helper {name};" for name in names)}
            connection seL4RPCCall taking(from waiter.store, to store.taken);
            connection seL4RPCCall giving({" ".join(f"from {name}.store," for name in names)} to store.given);
        }}
        configuration {{
            waiter._priority = 90; waiter._period = 100 ms; waiter._offset = 1 ms; store.full_value = 0;
            {" ".join(f"{n}._priority = {i}; {n}._period = 100 ms;" for i, n in enumerate(names, 10))}
        }}""",
        {
            "Waiter": loop("store_take();"),
            "Helper": loop("MS(2); store_give();"),
            "Store": STORE,
        },
    )


@pytest.fixture(scope="module")
def posted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Ran]:
    """The run of so many helpers."""

    @cache
    def made(count: int) -> Ran:
        folder = tmp_path_factory.mktemp("posters")
        return run(posters(count, folder / "system"), folder, duration="90ms")

    return made


@pytest.mark.long
def test_the_first_signal_ends_what_all_helpers_have(posted: Callable[[int], Ran]) -> None:
    """S3: both helpers have the waiter's priority until the first signal, then neither."""
    found = posted(2)
    assert found.priorities("h1") == [(0, 10), (1, 90), (3, 10)]
    assert found.priorities("h2") == [(0, 11), (1, 90), (3, 11)]
    assert found.responses("waiter") == [2]  # the helper that was raised first runs first
    assert found.executed() == [("h2", 0, 1), ("h1", 1, 3), ("h2", 3, 4)]


@pytest.mark.long
@pytest.mark.parametrize("count", [2, 1, 4, 16])
def test_kernel_calls_grow_with_the_helpers(count: int, posted: Callable[[int], Ran]) -> None:
    """S4: for each helper one priority is set at the wait, and one at the wake."""
    found = posted(count)
    wait = next(i for i, e in enumerate(found.events) if e.kind is Kind.COND_WAIT)
    wake = next(i for i, e in enumerate(found.events) if e.kind is Kind.COND_WAKE)

    def set_at(time: int) -> int:
        return sum(
            event.kind is Kind.KCALL and event.args[0] == KernelCall.SETPRIORITY and event.time == time
            for event in found.events
        )

    assert set_at(found.events[wait].time) == count
    assert set_at(found.events[wake].time) >= count  # and of the worker that serves who posts
    tasks = [f"h{n}" for n in range(1, count + 1)]
    assert [len(found.priorities(name)) for name in tasks] == [3] * count


# The paper's Table I -----------------------------------------------------------------------------

WITHOUT = {
    "client1": [34.5, 34.5, 14.5, 24.5, 19, 24.5, 34.5, 14.5, 19, 29, 34.5, 24.5, 34.5, 14.5, 19],
    "client2": [39, 29, 14.5, 24.5, 29, 29, 34.5, 34.5, 39, 19, 19, 24.5],
}
WITH = {"client1": [14.5, 14.5, 14.5, 14.5, 19] * 3, "client2": [29, 19, 14.5, 29] * 3}


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "expected", "annoyer"),
    [(("-DPLAIN=ON",), WITHOUT, 30), ((), WITH, 39)],
    ids=["plain", "helpers"],
)
def test_clients_of_a_server(
    options: tuple[str, ...], expected: dict[str, list[float]], annoyer: int, tmp_path: Path
) -> None:
    """Table I of the paper on condition variables, 600 ms. What helpers cost is the annoyer's response."""
    found = run(EXAMPLES / "helpers", tmp_path, *options, duration="600ms")
    for client, responses in expected.items():
        assert found.responses(client) == responses
    worst = [response for response in found.responses("annoyer") if response is not None]
    assert max(worst) == annoyer


@pytest.mark.long  # inheritance on its own, which tests of examples/inversion show
def test_an_inherited_cpi_in_the_place_of_the_server_gives_the_same(tmp_path: Path) -> None:
    path = write(
        tmp_path / "system",
        """
        procedure Serve { void serve(); }
        component Client { control; requestor; uses Serve server; }
        component Annoyer { control; requestor; }
        component Server { provides Serve serve with priority_protocol inherited; }""",
        """
        composition {
            component Client client1; component Client client2;
            component Annoyer annoyer; component Server server;
            connection seL4RPCCall serving(from client1.server, from client2.server, to server.serve);
        }
        configuration {
            client1._priority = 90; client1._period = 40 ms;
            client2._priority = 80; client2._period = 50 ms;
            annoyer._priority = 70; annoyer._period = 60 ms;
        }""",
        {
            "Client": loop("MS(10); server_serve();"),
            "Annoyer": loop("MS(10);"),
            "Server": "void serve_serve(void) { camkes_work(CAMKES_US(4500)); }",
        },
    )
    found = run(path, tmp_path, duration="600ms")
    for client, responses in WITH.items():
        assert found.responses(client) == responses


@pytest.mark.long
def test_publishers_help_subscribers(tmp_path: Path) -> None:
    """examples/publish/README.md."""
    found = run(EXAMPLES / "publish", tmp_path)
    assert found.responses("display") == [6, 2]
    assert found.responses("logger") == [19]
    order = [(name, end) for name, _, end in found.executed()[:6]]
    assert order == [
        ("sensor", 4),
        ("display", 6),
        ("camera", 14),
        ("logger", 19),
        ("radio", 22),
        ("display", 52),
    ]
    assert found.priorities("radio")[:3] == [(0, 10), (0, 50), (4, 10)]
