# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Clients that die, do not wait, or lie to servers without a protocol or through shared memory."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from camkes.capdl.model import CapabilityModel
from camkes.capdl.uses import CpiRequest, PlainRequest, Tcb, WorkerTcb
from camkes.diagnostics import Sink
from camkes.running.decode import decode
from camkes.running.kinds import Kind
from camkes.running.refusals import MessageError, refusals
from tests.runtime.host import Built, Run, build, plan_of
from tests.runtime.systems import PROTOCOLS, every_pair

pytestmark = pytest.mark.requirement("RT-4")

_JOBS = 6


def _request_slot(model: CapabilityModel, task: str) -> int:
    """Where a task has the endpoint of its requests."""
    return model.slots[CpiRequest(task, "p", task)]


_TASKS = """
procedure P {{ void go(); }}
component Task {{ control; requestor; uses P p; }}
component Odd {{ control; requestor; uses P p; {odd} }}
component Leaf {{ provides P p with {protocol}, requests (); }}
{more}
assembly {{
    composition {{
        component Task low; component Odd odd; component Task high; component Leaf leaf;
        connection seL4RPCCall x(from low.p, from odd.p, from high.p, to leaf.p);
        {connections}
    }}
    configuration {{
        low._priority = 10; low._period = 1 ms;
        odd._priority = 20; odd._period = 1 ms; odd._offset = 20 us;
        high._priority = 30; high._period = 1 ms; high._offset = 40 us;
        {settings}
    }}
}}
"""
_TASK = "int run(void) { while (camkes_next_job()) { p_go(); } return 0; }\n"
_LEAF = "void p_go(void) { camkes_work(CAMKES_US(100)); }\n"


def _refused(built: Built, run: Run) -> Counter[tuple[str, str, int]]:
    found = refusals(decode(run.events, run.names), built.system, run.plan)
    return Counter({(r.client, r.server, r.error): r.count for r in found})


def _jobs(run: Run, task: str) -> list[int]:
    """Responses of the jobs of a task, in ns."""
    return [event.time - event.args[1] for event in run.of(Kind.JOB_END, task)]


_KILLER = """
component Killer { control; requestor; emits Now now; }
"""


@pytest.mark.long
@pytest.mark.parametrize(("end", "protocol"), every_pair(("suspend", "exit", "fault"), PROTOCOLS))
def test_a_client_that_ends_while_it_waits(protocol: str, end: str, tmp_path: Path) -> None:
    text = _TASKS.format(
        odd="consumes Now now;",
        protocol=f"priority_protocol {protocol}",
        more=_KILLER,
        connections="component Killer killer; connection seL4Notification k(from killer.now, to odd.now);",
        settings="killer._priority = 40; killer._offset = 2060 us;",
    )
    _, _, model = plan_of(tmp_path, text, Sink())
    how = {
        "suspend": f"seL4_TCB_Suspend({model.slots[Tcb('odd', 0)]});",
        "exit": "exit(3);",
        "fault": "*(volatile int *)8 = 1;",
    }[end]
    odd = f"""
    #include <stdlib.h>
    static void on_now(void *cookie) {{ (void)cookie; {how} }}
    void pre_init(void) {{ (void)now_reg_callback(on_now, NULL); }}
    {_TASK}
    """
    killer = "int run(void) { now_emit(); return 0; }\n"
    sources = {"Task": _TASK, "Odd": odd, "Leaf": _LEAF, "Killer": killer}
    run = build(tmp_path, text, sources).run(duration=_JOBS * 1_000_000)
    assert run.violations() == []
    for task in ("low", "high"):
        assert len(_jobs(run, task)) == _JOBS
    assert len(_jobs(run, "odd")) == (_JOBS if end == "fault" else 2)
    # the requests of the client that are under way are served to their end, and then it is gone
    assert _jobs(run, "high")[:3] == [_jobs(run, "high")[0]] * 3
    assert max(_jobs(run, "high")[3:]) <= _jobs(run, "high")[0]


@pytest.mark.long
def test_a_client_that_does_not_wait_for_its_reply(tmp_path: Path) -> None:
    """The second request of a context in a pool has no thread that could serve it at the right priority."""
    text = """
    procedure P { void go(); }
    component Task { control; requestor; uses P p; }
    component Lock { provides P p with priority_protocol inherited, requests (n); uses P n; }
    component Pool { provides P p with priority_protocol propagated, 2 threads, requests (); }
    assembly {
        composition {
            component Task low; component Task mid; component Task odd;
            component Lock lock; component Pool pool;
            connection seL4RPCCall x(from low.p, from mid.p, to lock.p);
            connection seL4RPCCall y(from lock.n, from odd.p, to pool.p);
        }
        configuration {
            low._priority = 10; low._period = 1 ms; mid._priority = 20; mid._period = 1 ms;
            odd._priority = 5; odd._period = 1 ms; odd._offset = 300 us;
        }
    }
    """
    _, plan, model = plan_of(tmp_path, text, Sink())
    number = next(task.id for task in plan.tasks if task.name == "odd")
    task = f"""
    static camkes_error_action_t discard(camkes_error_t *error) {{ (void)error; return CEA_DISCARD; }}
    int run(void)
    {{
        (void)p_register_error_handler(discard);
        while (camkes_next_job()) {{
            for (int i = 0; i < 3 && get_instance_name()[0] == 'o'; i++) {{
                seL4_Send({_request_slot(model, "odd")}, seL4_MessageInfo_new(5 | {number} << 8, 0, 0, 0));
            }}
            p_go();
        }}
        return 0;
    }}
    """
    sources = {"Task": task, "Lock": "void p_go(void) { n_go(); }\n", "Pool": _LEAF}
    built = build(tmp_path, text, sources)
    run = built.run("--scheduling", "rr", "--timeslice", "20000", duration=_JOBS * 1_000_000)
    assert (run.status, run.output, run.errors) == (0, "", "")
    assert run.violations() == []
    assert set(_refused(built, run)) == {
        ("odd.p", "pool.p", MessageError.BUSY),
        ("odd.p", "pool.p", MessageError.SENT),
    }
    for name in ("low", "mid"):
        assert len(set(_jobs(run, name))) == 1


_LYING_STUB = """
static camkes_error_action_t on_error(camkes_error_t *error)
{
    printf("%d %s.%s: %s\\n", error->type == CE_MALFORMED_RPC_PAYLOAD, error->instance, error->interface,
           error->description);
    return CEA_DISCARD;
}
int run(void)
{
    HANDLER
    while (camkes_next_job()) { p_go(); }
    return 0;
}
"""

#: a header of the component changes the labels that its generated code has
_LIE = """
#include <camkes/label.h>
#undef CAMKES_LABEL_OF
#define CAMKES_LABEL_OF(priority, task) ((seL4_Word)(priority) | (seL4_Word)77 << 8)
"""


def _lying_stub(folder: Path, handler: str) -> tuple[Built, Run]:
    odd, inherited = 'include "lie.h";', "priority_protocol inherited"
    text = _TASKS.format(odd=odd, protocol=inherited, more="", connections="", settings="")
    (folder / "lie.h").write_text(_LIE)
    odd = _LYING_STUB.replace("HANDLER", handler)
    built = build(folder, text, {"Task": _TASK, "Odd": odd, "Leaf": _LEAF})
    return built, built.run(duration=_JOBS * 1_000_000)


@pytest.mark.long
def test_the_client_s_error_handler_decides(tmp_path: Path) -> None:
    built, run = _lying_stub(tmp_path, "(void)p_register_error_handler(on_error);")
    assert (
        run.output
        == ("1 odd.p: message of go() refused by leaf.p: its task is not valid for its sender\n") * _JOBS
    )
    assert (run.status, run.errors, run.violations()) == (0, "", [])
    assert [len(_jobs(run, task)) for task in ("low", "odd", "high")] == [_JOBS] * 3
    assert _refused(built, run) == {("odd.p", "leaf.p", MessageError.TASK): _JOBS}


def test_without_a_handler_the_client_stops(tmp_path: Path) -> None:
    _, run = _lying_stub(tmp_path, "(void)on_error;")
    assert "camkes: odd.p: message of go() refused by leaf.p: its task" in run.output
    assert run.status == 1 and "odd" in run.errors
    assert "leaf" not in run.errors
    assert [len(_jobs(run, task)) for task in ("low", "odd", "high")] == [_JOBS, 0, _JOBS]
    assert run.violations() == []


_PLAIN = """
procedure P { int length(in string text); void go(in int values[]); }
component Client { control; uses P p; dataport Buf(4096) room; }
component Server { provides P p; dataport Buf(4096) space; }
assembly {
    composition {
        component Client a; component Client b; component Server server;
        connection seL4RPCCall x(from a.p, from b.p, to server.p);
        connection seL4SharedData memory(from a.room, to server.space);
        connection seL4SharedData other(from b.room, to server.space2);
    }
    SETTINGS
}
""".replace("dataport Buf(4096) space;", "dataport Buf(4096) space; dataport Buf(4096) space2;")

_PLAIN_SERVER = """
#include <string.h>
int p_length(const char *text) { return (int)strlen(text); }
void p_go(size_t n, const int *values) { (void)values; printf("%zu\\n", n); }
"""

_PLAIN_CLIENT = """
#include <stdint.h>
#include <string.h>
static void lie(const void *data, size_t size, unsigned words)
{
    unsigned char *to = (unsigned char *)MEMORY;
    memset(to, 'x', MEMORY_SIZE);
    memcpy(to, data, size);
    const seL4_MessageInfo_t reply = seL4_Call(SLOT, seL4_MessageInfo_new(0, 0, 0, words));
    if (seL4_MessageInfo_get_label(reply) == 0) { printf("accepted\\n"); }
}
int run(void)
{
    if (get_instance_name()[0] == 'a') {
        unsigned char method[9] = {2};
        lie(method, 1, 1);
        method[0] = 0;
        lie(method, 1, 30);
        method[0] = 1;
        size_t count = SIZE_MAX / 4 + 2;
        memcpy(method + 1, &count, sizeof count);
        lie(method, sizeof method, 30);
        count = 4096;
        memcpy(method + 1, &count, sizeof count);
        lie(method, sizeof method, 30);
    }
    printf("%s %d\\n", get_instance_name(), p_length("text"));
    return 0;
}
"""


@pytest.mark.long
@pytest.mark.parametrize("shared", [False, True])
def test_a_server_without_a_protocol(shared: bool, tmp_path: Path) -> None:
    text = _PLAIN
    if shared:  # one client, whose messages are in a dataport
        text = text.replace(", from b.p", "").replace("component Client b; ", "")
        text = text.replace("connection seL4SharedData other(from b.room, to server.space2);", "")
        text = text.replace(" dataport Buf(4096) space2;", "")
    text = text.replace("SETTINGS", 'configuration { x.buffer = "memory"; }' if shared else "")
    _, _, model = plan_of(tmp_path, text, Sink())
    memory = ("room", "room_size") if shared else ("seL4_GetIPCBuffer()->msg", "120 * sizeof(seL4_Word)")
    client = f"#define MEMORY {memory[0]}\n#define MEMORY_SIZE ({memory[1]})\n"
    client += f"#define SLOT {model.slots[PlainRequest('a', 'p')]}\n" + _PLAIN_CLIENT
    built = build(tmp_path, text, {"Client": client, "Server": _PLAIN_SERVER})
    run = built.run()
    assert sorted(run.output.splitlines()) == (["a 4"] if shared else ["a 4", "b 4"])
    assert (run.status, run.errors) == (0, "")
    assert _refused(built, run) == {
        ("a.p", "server.p", MessageError.METHOD): 1,
        ("a.p", "server.p", MessageError.STRING): 1,
        ("a.p", "server.p", MessageError.ARRAY): 2,
    }


@pytest.mark.long
def test_a_handler_of_the_server_may_decide(tmp_path: Path) -> None:
    text = _TASKS.format(odd="", protocol="priority_protocol fixed", more="", connections="", settings="")
    text = text.replace("void go();", "void go(in int x);")
    _, plan, model = plan_of(tmp_path, text, Sink())
    number = next(task.id for task in plan.tasks if task.name == "odd")
    leaf = """
    static camkes_error_action_t on_error(camkes_error_t *error)
    {
        printf("%d %s\\n", error->type == CE_MALFORMED_RPC_PAYLOAD, error->description);
        return CEA_IGNORE;
    }
    void p__init(void) { (void)p_register_error_handler(on_error); }
    void p_go(int x) { printf("%d\\n", x); }
    """
    odd = f"""
    int run(void)
    {{
        (void)seL4_Call({_request_slot(model, "odd")}, seL4_MessageInfo_new(20 | {number} << 8, 0, 0, 0));
        return 0;
    }}
    """
    sources = {"Task": "int run(void) { return 0; }\n", "Odd": odd, "Leaf": leaf}
    run = build(tmp_path, text, sources).run(duration=1_000_000)
    assert run.output == "1 message of go(): it is shorter than its parameters\n0\n"
    assert run.violations() == []


@pytest.mark.long
def test_a_priority_that_cannot_be_set_is_reported(tmp_path: Path) -> None:
    """A handler deletes its own thread's capability, so that its manager cannot let it inherit."""
    text = _TASKS.format(odd="", protocol="priority_protocol inherited", more="", connections="", settings="")
    _, _, model = plan_of(tmp_path, text, Sink())
    worker = model.slots[WorkerTcb("leaf", "p", "low")]
    leaf = f"""
    void p_go(void)
    {{
        (void)seL4_CNode_Delete(seL4_CapNull, {worker}, seL4_WordBits);
        camkes_work(CAMKES_US(100));
    }}
    """
    run = build(tmp_path, text, {"Task": _TASK, "Odd": _TASK, "Leaf": leaf}).run(duration=1_000_000)
    assert "camkes: leaf: thread leaf.p@low cannot be set to priority 20: kernel error" in run.output
    assert run.status == 1 and "leaf.p!manager" in run.errors


_QUEUE = """
component Emitter { control; emits E e; }
component Consumer { control; consumes E e; }
assembly { composition {
    component Emitter emitter; component Consumer consumer;
    connection seL4NotificationQueue q(from emitter.e, to consumer.e);
} }
"""
_CONSUMER = """
int run(void)
{
    int events = 0;
    camkes_work(CAMKES_MS(1));
    while (e_poll()) { events++; }
    printf("%d\\n", events);
    return 0;
}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("count", "events"), [(1, 2), (65534, 65535), (65535, 65535), (65536, 1), (2**63, 1)]
)
def test_a_count_of_events_that_cannot_be(count: int, events: int, tmp_path: Path) -> None:
    emitter = f"""
    extern unsigned long queue __asm__("e_queue0");
    int run(void)
    {{
        queue = {count}ul;
        e_emit();
        return 0;
    }}
    """
    run = build(tmp_path, _QUEUE, {"Emitter": emitter, "Consumer": _CONSUMER}).run()
    said = f"camkes: consumer.e: {count} queued events cannot be: they are taken for one\n"
    assert run.errors == ""
    assert run.output == (said if count > 65535 else "") + f"{events}\n"
    assert run.status == 0
