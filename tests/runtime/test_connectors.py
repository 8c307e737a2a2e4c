# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What component code sees of every connector and primitive, on the host kernel."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from camkes.resources import HOST_KERNEL, RUNTIME
from tests.runtime.host import build

pytestmark = pytest.mark.requirement("RT-12")

_TIMER = "import <TimeServer/TimeServer.camkes>;\nimport <global-connectors.camkes>;\n"


def _compiles_without_a_warning(folder: Path) -> None:
    for source in sorted(folder.glob("out/*/*.c")):
        subprocess.run(
            [
                *("gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fPIC"),
                *("-DCAMKES_KERNEL_HOST=1", f"-I{source.parent}", f"-I{folder}"),
                *(f"-I{RUNTIME}/include", f"-I{HOST_KERNEL}/include", "-c", str(source), "-o", "/dev/null"),
            ],
            check=True,
        )


def test_attributes_are_constants(tmp_path: Path) -> None:
    text = r"""
    struct point { int x; int y[]; }
    component Client {
        control;
        attribute int n = 3;
        attribute string name;
        attribute point where;
        attribute int sizes[];
        attribute string words[];
        attribute int unset;
        attribute { int a; string z; } both;
        attribute int64_t least;
        attribute uint64_t most;
    }
    assembly {
        composition { component Client client; }
        configuration {
            client.name = "back\slash";
            client.where = {"x": 1, "y": [1, 2, 3]};
            client.sizes = [1, 2];
            client.words = ["a", "bc"];
            client.both = {"a": 1, "z": "q"};
            client.least = -9223372036854775808;
            client.most = 18446744073709551615;
        }
    }
    """
    source = r"""
    int run(void)
    {
        int room[CAMKES_CONST_ATTR(n)];
        printf("%zu %d %s\n", sizeof room / sizeof *room, n, name);
        printf("%d %d %zu\n", where.x, where.y[2], sizeof where.y / sizeof *where.y);
        printf("%d %zu %s\n", sizes[1], sizeof sizes / sizeof *sizes, words[1]);
        printf("%d %s %s\n", both.a, both.z, get_instance_name());
        printf("%d %d\n", least == INT64_MIN, most == UINT64_MAX);
        return 0;
    }
    """
    run = build(tmp_path, text, {"Client": source}).run()
    assert run.output == "3 3 back\\slash\n1 3 3\n2 2 bc\n1 q client\n1 1\n"
    _compiles_without_a_warning(tmp_path)


@pytest.mark.long
def test_callers_of_other_types_are_served_by_their_type(tmp_path: Path) -> None:
    text = """
    procedure P { int add(in int a, in int b); }
    procedure Q { int mul(in int a, in int b); void hello(in string s); }
    component Client { control; uses P p; uses Q q; }
    component Server { provides P p; }
    assembly {
        composition {
            component Client client;
            component Server server;
            connection seL4RPCCallNoType x(from client.p, from client.q, to server.p);
        }
        configuration { client.q_attributes = 7; }
    }
    """
    client = r"""
    int run(void) { printf("%d %d\n", p_add(1, 2), q_mul(3, 4)); q_hello("there"); return 0; }
    """
    server = r"""
    int p_add(int a, int b) { return a + b; }
    int p_mul(int a, int b) { return a * b; }
    void p_hello(const char *s) { printf("hello %s from %d\n", s, (int)p_get_sender_id()); }
    """
    run = build(tmp_path, text, {"Client": client, "Server": server}).run()
    assert run.output == "3 12\nhello there from 7\n"
    _compiles_without_a_warning(tmp_path)


_EVENTS = """
component Source { control; emits E e; emits E unheard; }
component Sink { consumes E e; }
assembly {
    composition {
        component Source source;
        component Sink sink;
        connection CONNECTOR x(from source.e, to sink.e);
    }
    configuration { sink.e_priority = 100; source._priority = 200; }
}
"""


def _burst(connector: str, folder: Path) -> str:
    """What a consumer of low priority hears of five events in a row."""
    source = "int run(void) { for (int i = 0; i < 5; i++) { e_emit(); } unheard_emit(); return 0; }\n"
    sink = r"""
    static int events;
    static void on_e(void *cookie)
    {
        events++;
        printf("%d\n", events);
        if (e_reg_callback(on_e, cookie) != 0) { printf("not registered\n"); }
    }
    void post_init(void)
    {
        if (e_reg_callback(on_e, NULL) != 0) { printf("not registered\n"); }
        printf("%d\n", e_reg_callback(on_e, NULL));
    }
    """
    text = _EVENTS.replace("CONNECTOR", connector)
    run = build(folder, text, {"Source": source, "Sink": sink}).run()
    _compiles_without_a_warning(folder)
    return run.output


@pytest.mark.long
def test_pending_events_are_merged(tmp_path: Path) -> None:
    assert _burst("seL4Notification", tmp_path) == "-1\n1\n"


@pytest.mark.long
def test_queued_events_are_counted(tmp_path: Path) -> None:
    assert _burst("seL4NotificationQueue", tmp_path) == "-1\n1\n2\n3\n4\n5\n"


@pytest.mark.long
def test_waiting_polling_and_late_callbacks(tmp_path: Path) -> None:
    text = """
    component Source { control; emits E e; emits E n; consumes E done; }
    component Sink { control; consumes E e; consumes E n; emits E done; }
    assembly { composition {
        component Source source;
        component Sink sink;
        connection seL4Notification x(from source.e, to sink.e);
        connection seL4NotificationNative y(from source.n, to sink.n);
        connection seL4Notification z(from sink.done, to source.done);
    } }
    """
    source = r"""
    int run(void)
    {
        e_emit();
        done_wait();
        n_emit();
        done_wait();
        e_emit();
        return 0;
    }
    """
    sink = r"""
    static void on_e(void *cookie) { printf("called with %s\n", (const char *)cookie); }
    int run(void)
    {
        printf("%d %d\n", e_poll(), n_poll());
        e_wait();
        done_emit();
        n_wait();
        printf("%d %d %d\n", e_poll(), n_poll(), n_reg_callback(on_e, NULL));
        done_emit();
        camkes_work(CAMKES_MS(1));
        return e_reg_callback(on_e, "an event that was there");
    }
    """
    run = build(tmp_path, text, {"Source": source, "Sink": sink}).run()
    assert run.output.splitlines()[1:] == ["0 0 -1", "called with an event that was there"]
    _compiles_without_a_warning(tmp_path)


@pytest.mark.long
def test_dataports_are_shared_and_pointers_travel(tmp_path: Path) -> None:
    text = """
    procedure P { void look(in dataport_ptr_t at); }
    component Client { control; uses P p; dataport Buf d; dataport Buf(8192) big; dataport thing_t thing;
                       include "thing.h"; maybe dataport Buf missing; }
    component Server { provides P p; dataport Buf d; dataport Buf(8192) large; dataport thing_t thing;
                       include "thing.h"; }
    assembly { composition {
        component Client client;
        component Server server;
        connection seL4RPCCall x(from client.p, to server.p);
        connection seL4SharedData y(from client.d, to server.d);
        connection seL4SharedData z(from client.big, to server.large);
        connection seL4SharedData t(from client.thing, to server.thing);
    } }
    """
    client = r"""
    #include <string.h>
    int run(void)
    {
        strcpy((char *)big + 8000, "far away");
        thing->number = 42;
        thing_release();
        p_look(dataport_wrap_ptr((char *)big + 8000));
        p_look(dataport_wrap_ptr(&text_outside));
        printf("%zu %zu %d\n", big_get_size(), thing_get_size(), missing_wrap_ptr == NULL);
        return 0;
    }
    """.replace("int run", "static int text_outside;\n    int run")
    server = r"""
    void p_look(dataport_ptr_t at)
    {
        thing_acquire();
        const char *text = dataport_unwrap_ptr(at);
        printf("%s %d\n", text == NULL ? "nowhere" : text, thing->number);
    }
    """
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / "thing.h").write_text("#pragma once\ntypedef struct { char pad[64]; int number; } thing_t;\n")
    run = build(tmp_path, text, {"Client": client, "Server": server}).run()
    assert run.errors == ""
    assert run.output == "far away 42\nnowhere 42\n8192 68 1\n"
    _compiles_without_a_warning(tmp_path)


@pytest.mark.long
def test_a_virtual_time_server_has_the_usual_timers(tmp_path: Path) -> None:
    text = (
        _TIMER
        + """
    component Client { control; uses Timer timeout; }
    assembly {
        composition {
            component Client client;
            component TimeServer time_server;
            connection seL4TimeServer t(from client.timeout, to time_server.the_timer);
        }
        configuration { time_server.timers_per_client = 3; }
    }
    """
    )
    source = r"""
    int run(void)
    {
        timeout_periodic(0, CAMKES_MS(1));
        timeout_oneshot_relative(2, CAMKES_US(2500));
        for (int i = 0; i < 4; i++) {
            seL4_Wait(timeout_notification(), NULL);
            const unsigned completed = timeout_completed();
            printf("%d us: %x\n", (int)(timeout_time() / 1000), completed);
        }
        timeout_stop(0);
        timeout_oneshot_absolute(1, CAMKES_MS(7));
        timeout_wait();
        printf("%d us: %x\n", (int)(timeout_time() / 1000), timeout_completed());
        timeout_oneshot_absolute(1, CAMKES_MS(2));
        timeout_wait();
        printf("%d us: %x\n", (int)(timeout_time() / 1000), timeout_completed());
        printf("%d %d %d\n", timeout_periodic(3, 5), timeout_stop(-1), timeout_poll());
        return 0;
    }
    """
    run = build(tmp_path, text, {"Client": source, "TimeServer": ""}).run()
    expected = ["1000 us: 1", "2000 us: 1", "2500 us: 4", "3000 us: 1", "7000 us: 2", "7000 us: 2", "-1 -1 0"]
    assert run.output.splitlines() == expected
    _compiles_without_a_warning(tmp_path)


@pytest.mark.long
def test_locks_and_semaphores_between_threads(tmp_path: Path) -> None:
    text = """
    procedure P { void take(in int n); void give(in int n); }
    component Client { control; uses P p; }
    component Server {
        provides P x; provides P y;
        has mutex m; has semaphore s; has binary_semaphore b;
    }
    assembly {
        composition {
            component Client one;
            component Client two;
            component Server server;
            connection seL4RPCCall c1(from one.p, to server.x);
            connection seL4RPCCall c2(from two.p, to server.y);
        }
        configuration { server.s_value = 2; server.b_value = 0; one._priority = 100; two._priority = 90;
                        server.x_priority = 100; server.y_priority = 90; }
    }
    """
    client = r"""
    #include <string.h>
    int run(void)
    {
        if (strcmp(get_instance_name(), "one") == 0) {
            for (int i = 0; i < 5; i++) { p_take(i); }
        } else {
            for (int i = 0; i < 3; i++) { camkes_work(CAMKES_MS(1)); p_give(i); }
        }
        return 0;
    }
    """
    server = r"""
    #include <assert.h>
    static void take(int n) { assert(s_wait() == 0); printf("took %d\n", n); }
    static void give(int n)
    {
        assert(m_lock() == 0);
        printf("give %d\n", n);
        assert(m_unlock() == 0);
        assert(s_post() == 0);
    }
    void x_take(int n) { take(n); }
    void y_take(int n) { take(n); }
    void x_give(int n) { give(n); }
    void y_give(int n) { give(n); }
    void pre_init(void)
    {
        assert(s_trywait() == 0 && s_post() == 0);
        assert(b_post() == 0 && b_post() == 0 && b_wait() == 0);
    }
    """
    run = build(tmp_path, text, {"Client": client, "Server": server}).run()
    assert run.errors == ""
    assert run.output.split("\n")[:-1] == [
        *("took 0", "took 1", "give 0", "took 2", "give 1", "took 3", "give 2", "took 4")
    ]
    _compiles_without_a_warning(tmp_path)


@pytest.mark.long
def test_the_order_of_starting(tmp_path: Path) -> None:
    text = """
    procedure P { void go(); }
    component Client { control; uses P p; }
    component Task { control; requestor; uses P q; }
    component Server { control; provides P p; provides P q with priority_protocol inherited, requests (); }
    assembly {
        composition {
            component Client client; component Task task; component Server server;
            connection seL4RPCCall x(from client.p, to server.p);
            connection seL4RPCCall y(from task.q, to server.q);
        }
        configuration { client._priority = 255; server._priority = 20; task._priority = 200; }
    }
    """
    server = r"""
    void pre_init(void) { printf("pre_init\n"); }
    void q__init(void) { printf("q__init\n"); }
    void p__init(void) { printf("p__init\n"); }
    void post_init(void) { printf("post_init\n"); }
    int run(void) { printf("run\n"); return 0; }
    void p_go(void) { printf("p\n"); }
    void q_go(void) { printf("q\n"); }
    """
    sources = {
        "Client": "int run(void) { p_go(); return 0; }\n",
        "Task": "int run(void) { q_go(); return 0; }\n",
        "Server": server,
    }
    run = build(tmp_path, text, sources).run()
    lines = run.output.split()
    assert lines[:4] == ["pre_init", "q__init", "p__init", "post_init"]
    assert sorted(lines[4:]) == ["p", "q", "run"]


@pytest.mark.long
def test_the_effective_priority_of_a_request(tmp_path: Path) -> None:
    text = """
    procedure P { void go(); }
    component Task { control; requestor; uses P p; }
    component Lock { provides P p with priority_protocol inherited, requests (n); uses P n; }
    component Leaf { provides P p with priority_protocol fixed, requests (); }
    assembly {
        composition {
            component Task low; component Task high; component Lock lock; component Leaf leaf;
            connection seL4RPCCall x(from low.p, from high.p, to lock.p);
            connection seL4RPCCall y(from lock.n, to leaf.p);
        }
        configuration {
            low._priority = 10; low.requestor = 4;
            high._priority = 30; high._offset = 1 ms; high.requestor = 9;
        }
    }
    """
    say = (
        r'printf("%s: task %d at %u\n", get_instance_name(), camkes_requestor(), camkes_request_priority());'
    )
    sources = {
        "Task": f"int run(void) {{ while (camkes_next_job()) {{ {say} p_go(); }} return 0; }}\n",
        "Lock": f"void p_go(void) {{ {say} camkes_work(CAMKES_MS(2)); {say} n_go(); }}\n",
        "Leaf": f"void p_go(void) {{ {say} }}\n",
    }
    run = build(tmp_path, text, sources).run()
    assert run.output.splitlines() == [
        "low: task 4 at 10",
        "lock: task 4 at 10",
        "high: task 9 at 30",
        "lock: task 4 at 30",
        "leaf: task 4 at 30",
        "lock: task 9 at 30",
        "lock: task 9 at 30",
        "leaf: task 9 at 30",
    ]
    assert not run.violations()
