# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Monitors on the host kernel: CPIs with one lock, in which threads wait for conditions. Every response is
what the definition gives, in virtual time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from camkes.running.kinds import KernelCall, Kind
from tests.command import camkes
from tests.end_to_end.support import EXAMPLES, loop, write
from tests.end_to_end.test_helpers import MS, Ran, run, through_a_lock

pytestmark = pytest.mark.requirement("RT-27")

STORE = """static int items;
void put_put(int ms) { camkes_work(CAMKES_MS(ms)); items++; nonempty_SIGNAL(); camkes_work(CAMKES_MS(ms)); }
void get_get(void) { while (items == 0) { nonempty_wait(); } items--; camkes_work(CAMKES_MS(1)); }"""


def store(
    folder: Path,
    users: dict[str, str],
    settings: str,
    bodies: dict[str, str],
    *,
    signal: str = "signal",
    clause: str = "with helpers",
) -> Path:
    """A store whose `get` waits for what `put` brings. `users` are instances of components P, with `put`, C,
    with `get`, and B, with neither."""
    ends = {
        kind: ", ".join(f"from {name}.store" for name, each in users.items() if each == kind) for kind in "PC"
    }
    return write(
        folder,
        f"""
        procedure Put {{ void put(in int ms); }}
        procedure Get {{ void get(); }}
        component P {{ control; requestor; uses Put store; attribute int work = 2; }}
        component C {{ control; requestor; uses Get store; }}
        component B {{ control; requestor; }}
        component Store {{
            provides Put put with priority_protocol inherited, monitor items;
            provides Get get with priority_protocol inherited, monitor items;
            has condition nonempty {clause};
        }}""",
        f"""
        composition {{
            {" ".join(f"component {kind} {name};" for name, kind in users.items())}
            component Store store;
            connection seL4RPCCall puts({ends["P"]}, to store.put);
            connection seL4RPCCall gets({ends["C"]}, to store.get);
        }}
        configuration {{
            {" ".join(f"{name}._period = 100 ms;" for name in users)}
            {settings}
        }}""",
        {**bodies, "Store": STORE.replace("SIGNAL", signal)},
    )


@pytest.mark.long
def test_a_bounded_buffer(tmp_path: Path) -> None:
    """examples/buffer/README.md. After the signal the consumer waits for the lock, which the producer leaves
    at the same instant."""
    found = run(EXAMPLES / "buffer", tmp_path, duration="95ms")
    assert found.responses("consumer") == [2] * 5
    assert found.responses("bystander") == [9, 9, 9, 9, 9]
    assert found.responses("producer") == [10] * 5
    assert found.executed()[:2] == [("producer", 0, 2), ("bystander", 2, 10)]
    assert found.priorities("producer")[:3] == [(0, 10), (0, 30), (2, 10)]


@pytest.mark.mostly_long(2)
def test_the_graph_names_monitors_and_helpers() -> None:
    result = camkes("graph", EXAMPLES / "buffer")
    assert result.output.count("monitor places") == 2
    assert '"buffer.put" -> "buffer.not_full"' in result.output
    assert '"buffer.not_full" -> "consumer"' in result.output


@pytest.mark.long
@pytest.mark.parametrize("clause", ["with helpers", ""])
def test_the_signaller_has_the_priority_of_the_waiter_until_it_leaves(clause: str, tmp_path: Path) -> None:
    """The producer (10) works for 2 ms, then 1 ms before and 1 ms after its signal in the monitor; the
    consumer (30) waits from 0, and a bystander (20) comes at 1 with 8 ms. The lock lends to the producer from
    the signal to the end of its request, also without helpers."""
    path = store(
        tmp_path / "system",
        {"p": "P", "c": "C", "b": "B"},
        "p._priority = 10; c._priority = 30; b._priority = 20; b._offset = 1 ms;",
        {"P": loop("MS(2); store_put(1);"), "C": loop("store_get();"), "B": loop("MS(8);")},
        clause=clause,
    )
    found = run(path, tmp_path, duration="90ms")
    if clause:
        assert found.executed() == [("p", 0, 4), ("c", 4, 5), ("b", 5, 13)]
        assert found.priorities("store.put@p") == [(0, 10), (2, 30), (4, 10)]
    else:
        assert found.executed() == [("p", 0, 1), ("b", 1, 9), ("p", 9, 12), ("c", 12, 13)]
        assert found.priorities("store.put@p") == [(0, 10), (11, 30), (12, 10)]
        assert "W0511" in found.result.errors


@pytest.mark.long
@pytest.mark.parametrize("signal", ["signal", "broadcast"])
def test_waiters_take_the_lock_again_in_the_order_of_their_priorities(signal: str, tmp_path: Path) -> None:
    """Two consumers wait, the less urgent one first; the producer brings two items. With a broadcast both
    wait for the lock after the first item, and the second one then waits again."""
    path = store(
        tmp_path / "system",
        {"p": "P", "low": "C", "high": "C"},
        "p._priority = 10; low._priority = 20; high._priority = 30; high._offset = 1 ms;",
        {"P": loop("MS(2); store_put(0); MS(2); store_put(0);"), "C": loop("store_get();"), "B": loop("")},
        signal=signal,
    )
    found = run(path, tmp_path, duration="90ms")
    assert found.executed() == [("p", 0, 2), ("high", 2, 3), ("p", 3, 5), ("low", 5, 6)]
    waits = [e for e in found.events if e.kind is Kind.COND_WAIT]
    assert len(waits) == (3 if signal == "broadcast" else 2)
    assert found.priorities("p") == [(0, 10), (0, 20), (1, 30), (2, 20), (5, 10)] or signal == "broadcast"


@pytest.mark.long
def test_monitors_locks_and_helpers_are_one_chain(tmp_path: Path) -> None:
    """S2, with an item in a monitor in the place of the event."""
    path = through_a_lock(
        tmp_path / "system",
        """
        procedure Put { void put(); }
        procedure Get { void get(); }
        component Prod { control; requestor; uses Section lock; uses Put store; }
        component Cons { control; requestor; uses Get store; }
        component Store {
            provides Put put with priority_protocol inherited, monitor items;
            provides Get get with priority_protocol inherited, monitor items;
            has condition nonempty with helpers;
        }""",
        """component Store store;
            connection seL4RPCCall puts(from p.store, to store.put);
            connection seL4RPCCall gets(from c.store, to store.get);""",
        {"Prod": "store_put();", "Cons": "store_get();"},
        {
            "Store": """static int items;
void put_put(void) { items++; nonempty_signal(); }
void get_get(void) { while (items == 0) { nonempty_wait(); } items--; }"""
        },
    )
    found = run(path, tmp_path, duration="90ms")
    assert found.executed() == [
        ("m", 0, 1), ("p", 1, 2), ("c", 2, 3), ("p", 3, 5), ("m", 5, 10), ("p", 10, 13), ("c", 13, 14),
        ("a", 14, 24),
    ]  # fmt: skip
    assert found.responses("c") == [12]
    assert found.responses("a") == [20]


@pytest.mark.long
def test_a_wait_without_the_lock_is_a_fault(tmp_path: Path) -> None:
    """Where the check of the code cannot see it: the call is through a pointer, in `__init`."""
    path = store(
        tmp_path / "system",
        {"p": "P", "c": "C"},
        "p._priority = 10; c._priority = 30;",
        {"P": loop("store_put(0);"), "C": loop("store_get();"), "B": loop("")},
    )
    (path.parent / "Store.c").write_text(
        "#include <camkes.h>\nvoid (*volatile wait)(void);\n"
        + STORE.replace("SIGNAL", "signal")
        + "\nvoid get__init(void) { wait = nonempty_wait; wait(); }"
    )
    result = camkes("run", path, "-o", tmp_path / "build", "--for", "50ms")
    assert result.status == 1
    assert "the manager of store.nonempty refused what thread store asked it for" in result.output


# What the kernel is called for ---------------------------------------------------------------------

CALLS = (KernelCall.CALL, KernelCall.SETPRIORITY, KernelCall.SAVECALLER, KernelCall.SIGNAL, KernelCall.SEND)


def waiting_for(kind: str, helpers: int, folder: Path, *, early: bool = False, above: bool = False) -> Path:
    """A waiter and so many tasks that help, the first of which signals at 3 ms, the others at 50. `early`: it
    signals at 1 ms, and the waiter comes at 2; else that waits from 2 on. `above`: no helper is lent to."""
    names = [f"h{n}" for n in range(helpers)]
    wait = {"event": "more_wait();", "semaphore": "store_get();", "monitor": "store_get();"}[kind]
    clauses = "" if kind != "monitor" else ", monitor items"
    emits = "emits More more;" if kind == "event" else "uses P store;"
    store = f"""component Store {{
            provides P put with priority_protocol propagated{clauses};
            provides P get with priority_protocol propagated{clauses};
            has {"condition" if kind == "monitor" else "semaphore"} c with helpers;
        }}""".replace("propagated, ", "inherited, ")
    sender = "more_emit();" if kind == "event" else "store_go();"
    connections = (
        f"connection seL4Notification c1({', '.join(f'from {n}.more' for n in names)}, to waiter.more);"
        if kind == "event"
        else f"component Store store; connection seL4RPCCall c1({' '.join(f'from {n}.store,' for n in names)}"
        " to store.put); connection seL4RPCCall c2(from waiter.store, to store.get);"
    )
    base = 100 if above else 10
    return write(
        folder,
        f"""
        procedure P {{ void go(); }}
        component Waiter {{ control; requestor;
            {"consumes More more with helpers;" if kind == "event" else "uses P store;"} }}
        component Helper {{ control; requestor; {emits} attribute int first = 0; }}
        {"" if kind == "event" else store}""",
        f"""
        composition {{
            component Waiter waiter; {" ".join(f"component Helper {n};" for n in names)} {connections}
        }}
        configuration {{
            waiter._priority = 90; waiter._period = 100 ms; waiter._offset = 2 ms;
            {"store.c_value = 0;" if kind == "semaphore" else ""}
            {" ".join(f"{n}._priority = {base + i}; {n}._period = 100 ms;" for i, n in enumerate(names))}
            {" ".join(f"{n}._offset = {50 if i else 1 if early else 3} ms;" for i, n in enumerate(names))}
        }}""",
        {
            "Waiter": loop(wait.replace("get", "go")),
            "Helper": loop(sender),
            **(
                {}
                if kind == "event"
                else {
                    "Store": """static int items;
void put_go(void) { items++; c_signal(); }
void get_go(void) { while (items == 0) { c_wait(); } items--; }"""
                    if kind == "monitor"
                    else "void put_go(void) { (void)c_post(); }\nvoid get_go(void) { (void)c_wait(); }"
                }
            ),
        },
    )


Waiting = Callable[..., Ran]


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Waiting:
    """The run of `waiting_for`, once for each kind of wait."""

    @cache
    def made(kind: str, helpers: int, early: bool = False, above: bool = False) -> Ran:
        folder = tmp_path_factory.mktemp("waiting")
        path = waiting_for(kind, helpers, folder / "system", early=early, above=above)
        return run(path, folder, duration="40ms")

    return made


def calls_at(found: Ran, time: int) -> Counter[KernelCall]:
    """What threads entered the kernel for at an instant, without requests of tasks to the store."""
    tasks = {thread.number for thread in found.run.names.threads if thread.task is not None}
    calls = [e for e in found.events if e.kind is Kind.KCALL and e.time == time * MS]
    requests = [e for e in calls if e.args[0] == KernelCall.CALL and e.thread in tasks]
    in_store = requests if "store" in {t.instance for t in found.run.names.threads} else []
    counted = Counter(KernelCall(e.args[0]) for e in calls if e not in in_store)
    return Counter({call: counted[call] for call in CALLS if counted[call]})


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "helpers"), [("event", 1), ("semaphore", 1), ("semaphore", 4), ("monitor", 1), ("monitor", 4)]
)
def test_kernel_calls_of_a_wait_that_blocks(kind: str, helpers: int, waiting: Waiting) -> None:
    """One message to the manager of the group, which keeps the reply; for each helper that is lent to one to
    its manager, which sets the priority; in a monitor one that frees the lock."""
    found = waiting(kind, helpers)
    monitor = kind == "monitor"
    assert calls_at(found, 2) == {
        KernelCall.CALL: 1 + monitor + helpers,
        KernelCall.SETPRIORITY: helpers,
        KernelCall.SAVECALLER: 1,
    }


@pytest.mark.long
@pytest.mark.parametrize("kind", ["event", "semaphore", "monitor"])
def test_kernel_calls_of_a_wait_that_lends_to_no_helper(kind: str, waiting: Waiting) -> None:
    found = waiting(kind, 1, above=True)
    monitor = kind == "monitor"
    assert calls_at(found, 2) == {KernelCall.CALL: 1 + monitor, KernelCall.SAVECALLER: 1}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["event", "semaphore", "monitor"])
def test_kernel_calls_of_a_signal_without_waiters_and_of_a_wait_after_it(kind: str, waiting: Waiting) -> None:
    """The signal of an event is a signal to its thread; the others, and the wait, need no kernel."""
    found = waiting(kind, 1, early=True)
    assert found.responses("waiter") == [0]
    assert calls_at(found, 1) == ({KernelCall.SIGNAL: 1} if kind == "event" else {})
    assert not [e for e in found.events if e.kind in (Kind.COND_WAIT, Kind.COND_WAKE, Kind.LEND)]
    assert calls_at(found, 2) == {}


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "calls", "priorities"), [("event", 2, 1), ("semaphore", 4, 3), ("monitor", 7, 3)]
)
def test_kernel_calls_of_a_signal_with_a_waiter(
    kind: str, calls: int, priorities: int, waiting: Waiting
) -> None:
    """A message to the manager of the group, which has the priority of the helper set and ends the wait. A
    handler that signals gets the helper's priority when its request begins, and then its own back: two
    messages and priorities more. In a monitor the waiter waits for the lock first, which the handler hands
    over when it leaves: three messages more, one of them of the handler."""
    found = waiting(kind, 1)
    assert found.responses("waiter") == [1]
    assert calls_at(found, 3) == {
        **({KernelCall.SIGNAL: 1} if kind == "event" else {}),
        KernelCall.CALL: calls,
        KernelCall.SETPRIORITY: priorities,
        KernelCall.SEND: 1,
    }
