# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Producers and consumers that use one CPI: a task helps if it calls a method that leads to the signal."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import camkes
from tests.end_to_end.support import loop, write
from tests.end_to_end.test_helpers import run

pytestmark = pytest.mark.requirement("RT-26")


def queue(folder: Path, *, relay: str = "") -> Path:
    """Two consumers (30, 15), a producer (10) and a bystander (20) at one CPI with both methods. `relay`:
    the producer calls it through a CPI with two methods, too."""
    between = "" if not relay else "component Relay relay;"
    return write(
        folder,
        """
        procedure Queue { void put(in int value); int get(); }
        component Producer { control; requestor; uses Queue queue; }
        component Consumer { control; requestor; uses Queue queue; }
        component Bystander { control; requestor; }
        component Relay { provides Queue given with priority_protocol propagated; uses Queue next; }
        component Store {
            provides Queue queue with priority_protocol inherited, monitor values;
            has condition not_empty with helpers;
        }""",
        f"""
        composition {{
            component Producer p; component Consumer c1; component Consumer c2; component Bystander b;
            component Store store; {between}
            connection seL4RPCCall all(from {"relay.next" if relay else "p.queue"}, from c1.queue,
                                       from c2.queue, to store.queue);
            {"connection seL4RPCCall relayed(from p.queue, to relay.given);" if relay else ""}
        }}
        configuration {{
            p._priority = 10; c1._priority = 30; c2._priority = 15; b._priority = 20;
            p._period = 100 ms; c1._period = 100 ms; c2._period = 100 ms; b._period = 100 ms;
            b._offset = 1 ms;
        }}""",
        {
            "Producer": loop("MS(2); queue_put(1);"),
            "Consumer": loop("queue_get(); MS(1);"),
            "Bystander": loop("MS(8);"),
            "Relay": f"void given_put(int value) {{ {relay} }}\nint given_get(void) {{ return next_get(); }}",
            "Store": """static int count;
void queue_put(int value) { (void)value; count++; not_empty_signal(); }
int queue_get(void) { while (count == 0) { not_empty_wait(); } return count--; }""",
        },
    )


@pytest.mark.long
def test_only_those_help_that_call_the_method_with_the_signal(tmp_path: Path) -> None:
    """`c1` waits from 0; the other consumer, which also uses the CPI, does not get its priority."""
    path = queue(tmp_path / "system")
    found = run(path, tmp_path, duration="90ms")
    assert found.priorities("p")[:3] == [(0, 10), (0, 30), (2, 10)]
    assert found.priorities("c2") == [(0, 15)]
    assert found.executed()[:2] == [("p", 0, 2), ("c1", 2, 3)]
    assert "helped by p" in found.result.output
    plan = camkes("plan", "--code", path)
    assert (
        "store.not_empty is signalled by p -> store.queue -> queue_put() -> not_empty_signal()" in plan.output
    )
    assert "signalled by c1" not in plan.output


@pytest.mark.long
def test_methods_count_on_the_way_too(tmp_path: Path) -> None:
    path = queue(tmp_path / "system", relay="next_put(value);")
    plan = camkes("plan", "--code", path)
    way = (
        "store.not_empty is signalled by p -> relay.given -> store.queue -> queue_put() -> not_empty_signal()"
    )
    assert way in plan.output


def test_a_way_through_the_other_method_is_none(tmp_path: Path) -> None:
    """The producer's request leads to `get` only: no task can signal."""
    result = camkes("plan", "--code", queue(tmp_path / "system", relay="(void)value; (void)next_get();"))
    assert result.status == 1
    assert "error[E0517]" in result.errors


def test_a_task_that_only_puts_does_not_wait(tmp_path: Path) -> None:
    """A producer above the consumers has no inversion to warn of."""
    path = queue(tmp_path / "system")
    text = path.read_text().replace(" with helpers;", ";").replace("p._priority = 10", "p._priority = 50")
    path.write_text(text)
    result = camkes("plan", "--code", path)
    assert (result.status, result.errors) == (0, ""), result.errors


@pytest.mark.long
def test_a_task_helps_that_signals_in_code_that_it_calls_directly(tmp_path: Path) -> None:
    """`a` waits at 0 for `h`, which works 3 ms and has another instance of its address space work 1 ms and
    emit. `b` is between them from 1 on."""
    path = write(
        tmp_path / "system",
        """
        procedure Send { void send(); }
        component A { control; requestor; consumes Done done with helpers; }
        component B { control; requestor; }
        component H { control; requestor; uses Send direct; }
        component Emitter { provides Send p; emits Done done; }""",
        """
        composition {
            component A a; component B b;
            group g { component H h; component Emitter e; }
            connection seL4DirectCall calls(from g.h.direct, to g.e.p);
            connection seL4Notification end(from g.e.done, to a.done);
        }
        configuration {
            a._priority = 30; b._priority = 20; h._priority = 10; b._offset = 1 ms;
            a._period = 100 ms; b._period = 100 ms; h._period = 100 ms;
        }""",
        {
            "A": loop("done_wait(); MS(1);"),
            "B": loop("MS(8);"),
            "H": loop("MS(3); direct_send(); MS(1);"),
            "Emitter": "void p_send(void) { camkes_work(CAMKES_MS(1)); done_emit(); }",
        },
    )
    found = run(path, tmp_path, duration="90ms")
    assert found.executed() == [("h", 0, 4), ("a", 4, 5), ("b", 5, 13), ("h", 13, 14)]
    assert found.priorities("h") == [(0, 10), (0, 30), (4, 10)]


@pytest.mark.long
def test_a_wait_in_code_that_is_called_directly_is_rejected(tmp_path: Path) -> None:
    """By the methods that are called: here `get` waits. Whoever calls only `count` may do so."""
    path = write(
        tmp_path / "system",
        """
        procedure Get { void get(); void count(); }
        component App { control; requestor; uses Get direct; }
        component Store { control; requestor; provides Get p; consumes Done done with helpers; }
        component Source { control; requestor; emits Done done; }""",
        """
        composition {
            component Source source;
            group g { component App app; component Store store; }
            connection seL4DirectCall calls(from g.app.direct, to g.store.p);
            connection seL4Notification end(from source.done, to g.store.done);
        }
        configuration { app._priority = 20; store._priority = 30; source._priority = 10; }""",
        {
            "App": "int run(void) { direct_get(); return 0; }",
            "Store": """static void inner(void) { done_wait(); }
                int run(void) { inner(); return 0; }
                void p_get(void) { inner(); }
                void p_count(void) {}""",
            "Source": "int run(void) { done_emit(); return 0; }",
        },
    )
    result = camkes("plan", "--code", path)
    assert result.status == 1 and result.errors.count("error[") == 1
    assert "error[E0524]: `app` calls `store.p` directly, whose code calls `done_wait`" in result.errors
    assert "1. `p_get` calls `inner`" in result.errors and "2. `inner` calls `done_wait`" in result.errors
    source = path.parent / "App.c"
    source.write_text(source.read_text().replace("direct_get", "direct_count"))
    result = camkes("plan", "--code", path)
    assert (result.status, result.errors) == (0, ""), result.errors
