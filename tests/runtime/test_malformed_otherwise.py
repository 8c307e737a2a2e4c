# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Messages that are sent in other ways than by a call, with more than data, or answered more than once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from camkes.capdl.uses import CpiRequest, PlainRequest
from camkes.diagnostics import Sink
from camkes.running.decode import decode
from camkes.running.kinds import Kind
from camkes.running.refusals import MessageError, refusals
from tests.runtime.host import Run, build, plan_of

pytestmark = pytest.mark.requirement("RT-2")

#: what `odd` does before its request: a job for each, with the errors that this makes at the server
TROUBLE = {
    "nothing": ("", {}),
    "sent, not called": (
        "seL4_Send(SLOT, MESSAGE(0, 0, 0));",
        {MessageError.PRIORITY: 1, MessageError.SENT: 1},
    ),
    "sent if a thread waits": (
        "seL4_NBSend(SLOT, MESSAGE(0, 0, 0));",
        {MessageError.PRIORITY: 1, MessageError.SENT: 1},
    ),
    "signal to an endpoint": ("seL4_Signal(SLOT);", {MessageError.PRIORITY: 1, MessageError.SENT: 1}),
    "long, and sent": (
        "seL4_Send(SLOT, MESSAGE(GOOD, 0, 4));",
        {MessageError.TOO_LONG: 1, MessageError.SENT: 1},
    ),
    "extra capabilities": (
        "seL4_SetCap(0, SLOT); CALL(MESSAGE(GOOD, 3, 1));",
        {MessageError.TOO_LONG: 1},
    ),
    "unwrapped capabilities": (
        "CALL(seL4_MessageInfo_new(GOOD, 7, 3, 1));",
        {MessageError.TOO_LONG: 1},
    ),
    "more words than there are": ("CALL(MESSAGE(GOOD, 0, 127));", {MessageError.TOO_LONG: 1}),
    "reply without a caller": ("seL4_Reply(MESSAGE(GOOD, 0, 1));", {}),
    "storm": (
        "for (int i = 0; i < 50; i++) { seL4_Send(SLOT, MESSAGE(0, 0, 0)); }",
        {MessageError.PRIORITY: 50, MessageError.SENT: 50},
    ),
    "storm of signals": ("for (int i = 0; i < 50; i++) { now_emit(); }", {}),
    "another task": ("CALL(MESSAGE(LABEL(camkes_request_priority(), HIGH), 0, 0));", {MessageError.TASK: 1}),
    "no task": ("CALL(MESSAGE(LABEL(camkes_request_priority(), 0xfff), 0, 0));", {MessageError.TASK: 1}),
    "a priority": ("CALL(MESSAGE(LABEL(250, camkes_requestor()), 0, 0));", {MessageError.PRIORITY: 1}),
    "a method where there is one": ("CALL(MESSAGE(GOOD | 1ull << 36, 0, 0));", {MessageError.LABEL: 1}),
    "a good request again, after a bad one": ("CALL(MESSAGE(GOOD, 0, 0)); continue;", {}),
    "a bad request twice": (
        "for (int i = 0; i < 2; i++) { CALL(MESSAGE(LABEL(250, camkes_requestor()), 0, 0)); }",
        {MessageError.PRIORITY: 2},
    ),
    # these are served in place of the request, and are as good
    "old sequence": ("CALL(MESSAGE(GOOD, 0, 0)); continue;", {}),
    "sequence to come": ("CALL(MESSAGE(GOOD | 0xffffull << 20, 0, 0)); continue;", {}),
    "request with capabilities": (
        "seL4_SetCap(0, SLOT); CALL(seL4_MessageInfo_new(GOOD, 7, 3, 0)); continue;",
        {},
    ),
}

SYSTEM = """
procedure P {{ void go(); }}
component Task {{ control; requestor; uses P p; }}
component Odd {{ control; requestor; uses P p; emits Now now; }}
component Hearer {{ control; consumes Now now; }}
component Leaf {{ provides P p with priority_protocol {protocol}, requests (); }}
component Both {{
    uses P a; uses P b; emits Now c;
    composition {{
        component Task low; component Odd odd;
        export low.p -> a; export odd.p -> b; export odd.now -> c;
    }}
    configuration {{ {own} }}
}}
assembly {{
    composition {{
        {place}
        component Task high; component Leaf leaf; component Hearer hearer;
        connection seL4RPCCall x(from {low}, from {odd}, from high.p, to leaf.p);
        connection seL4Notification n(from {now}, to hearer.now);
    }}
    configuration {{
        {settings}
        high._priority = 30; high._period = 1 ms; high._offset = 40 us;
        hearer._priority = 5;
    }}
}}
"""
#: where `low` and `odd` are: what declares them, what is before their names, and what the clients are called
PLACES = {
    "alone": ("component Task low; component Odd odd;", "", ("low.p", "odd.p", "odd.now")),
    "group": (
        "group both { component Task low; component Odd odd; }",
        "",
        ("both.low.p", "both.odd.p", "both.odd.now"),
    ),
    "composite": ("component Both both;", "both.", ("both.a", "both.b", "both.c")),
}
SETTINGS = """
low._priority = 10; low._period = 1 ms;
odd._priority = 20; odd._period = 1 ms; odd._offset = 20 us;
"""
TASK = "int run(void) { while (camkes_next_job()) { p_go(); } return 0; }\n"
ODD = """
#define MESSAGE(label, capabilities, words) seL4_MessageInfo_new(label, 0, capabilities, words)
#define LABEL(priority, task) ((seL4_Word)(priority) | (seL4_Word)(task) << 8)
#define GOOD LABEL(camkes_request_priority(), camkes_requestor())
#define CALL(message) (void)seL4_Call(SLOT, message)
static camkes_error_action_t discard(camkes_error_t *error) { (void)error; return CEA_DISCARD; }
int run(void)
{
    (void)p_register_error_handler(discard);
    for (unsigned job = 0; camkes_next_job(); job++) {
        switch (job) {
        CASES
        default: break;
        }
        p_go();
    }
    return 0;
}
"""
LEAF = "void p_go(void) { camkes_work(CAMKES_US(100)); }\n"
HEARER = "int run(void) { for (;;) { now_wait(); } return 0; }\n"


def _jobs(run: Run, task: str) -> list[int]:
    """Responses of the jobs of a task, in ns."""
    return [event.time - event.args[1] for event in run.of(Kind.JOB_END, task)]


@pytest.mark.mostly_long("inherited, 3 threads-alone")
@pytest.mark.parametrize(
    ("protocol", "place"),
    [
        ("inherited, 3 threads", "alone"),
        ("propagated", "composite"),
        ("fixed", "group"),
        pytest.param("inherited", "alone", marks=pytest.mark.long),
        pytest.param("inherited", "group", marks=pytest.mark.long),
    ],
)
def test_every_way_to_send_leaves_other_clients_unharmed(protocol: str, place: str, tmp_path: Path) -> None:
    declared, inside, (low, odd, now) = PLACES[place]
    settings = (
        {"own": SETTINGS, "settings": ""} if place == "composite" else {"own": "", "settings": SETTINGS}
    )
    text = SYSTEM.format(protocol=protocol, place=declared, low=low, odd=odd, now=now, **settings)
    _, plan, model = plan_of(tmp_path, text, Sink())
    (slot,) = {
        number
        for use, number in model.slots.items()
        if isinstance(use, PlainRequest | CpiRequest)
        and use.instance.endswith("odd")
        and use.interface == "p"
    }
    high = next(task.id for task in plan.tasks if task.name == "high")
    cases = "".join(f"case {i}: {{ {code} break; }}\n" for i, (code, _) in enumerate(TROUBLE.values()))
    code = f"#define SLOT {slot}\n#define HIGH {high}\n" + ODD.replace("CASES", cases)
    built = build(tmp_path, text, {"Task": TASK, "Odd": code, "Leaf": LEAF, "Hearer": HEARER})
    run = built.run(duration=len(TROUBLE) * 1_000_000)
    assert (run.status, run.output, run.complaints) == (0, "", "")
    assert run.violations() == []
    for task in (f"{inside}low", f"{inside}odd", "high"):
        found = _jobs(run, task)
        assert len(found) == len(TROUBLE)
        wrong = {name: t for name, t in zip(TROUBLE, found, strict=True) if t != found[0]}
        assert wrong == {}, task
    refused = refusals(decode(run.events, run.names), built.system, run.plan)
    expected: Counter[int] = Counter()
    for _, errors in TROUBLE.values():
        expected.update(errors)
    assert {(r.client, r.server) for r in refused} == {(f"{inside}odd.p", "leaf.p")}
    assert Counter({r.error: r.count for r in refused}) == expected


@pytest.mark.parametrize("protocol", ["inherited", ""])
def test_a_client_with_one_method_names_no_other(protocol: str, tmp_path: Path) -> None:
    """Also at a server whose other clients have several: only their labels have the number of a method."""
    rules = f"with priority_protocol {protocol}, requests ()" if protocol else ""
    text = f"""
    procedure One {{ void go(); }}
    procedure Two {{ void go(); void stop(); }}
    component Task {{ control; requestor; uses Two p; }}
    component Odd {{ control; requestor; uses One p; }}
    component Leaf {{ provides Two p {rules}; }}
    assembly {{
        composition {{
            component Task task; component Odd odd; component Leaf leaf;
            connection seL4RPCCallNoType x(from task.p, from odd.p, to leaf.p);
        }}
        configuration {{
            task._priority = 10; task._period = 1 ms;
            odd._priority = 20; odd._period = 1 ms; leaf.p_priority = 30;
        }}
    }}
    """
    _, _, model = plan_of(tmp_path, text, Sink())
    (slot,) = {
        number
        for use, number in model.slots.items()
        if isinstance(use, PlainRequest | CpiRequest) and use.instance == "odd" and use.interface == "p"
    }
    other = "CALL(MESSAGE(GOOD | 1ull << 36, 0, 0));"
    odd = f"#define SLOT {slot}\n" + ODD.replace("CASES", f"case 1: {other} break;\n")
    leaf = """
    static int served;
    void p_go(void) { served++; }
    void p_stop(void) { printf("after %d\\n", served); }
    """
    task = "int run(void) { while (camkes_next_job()) { p_go(); } p_stop(); return 0; }\n"
    built = build(tmp_path, text, {"Task": task, "Odd": odd, "Leaf": leaf})
    run = built.run(duration=3_000_000)
    assert (run.status, run.output, run.complaints) == (0, "", "")
    refused = refusals(decode(run.events, run.names), built.system, run.plan)
    assert [(r.client, r.server, r.error, r.count) for r in refused] == [
        ("odd.p", "leaf.p", MessageError.METHOD, 1)
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    "protocol",
    [
        "inherited, 2 threads",
        "fixed",
        *(pytest.param(protocol, marks=pytest.mark.long) for protocol in ("inherited", "propagated")),
    ],
)
def test_a_server_that_replies_twice(protocol: str, tmp_path: Path) -> None:
    """Its clients go on before it has ended; who shares nothing with it notices nothing."""
    text = f"""
    procedure P {{ void go(); }}
    component Task {{ control; requestor; uses P p; }}
    component Leaf {{ provides P p with priority_protocol {protocol}, requests (); }}
    component Own {{ provides P p with priority_protocol inherited, requests (); }}
    assembly {{
        composition {{
            component Task low; component Task mid; component Task x; component Task y;
            component Leaf leaf; component Own own;
            connection seL4RPCCall a(from low.p, from mid.p, to leaf.p);
            connection seL4RPCCall b(from x.p, from y.p, to own.p);
        }}
        configuration {{
            low._priority = 10; low._period = 1 ms;
            mid._priority = 20; mid._period = 1 ms; mid._offset = 20 us;
            y._priority = 30; y._period = 1 ms; y._offset = 30 us;
            x._priority = 40; x._period = 1 ms; x._offset = 50 us;
        }}
    }}
    """
    leaf = """
    static int served;
    void p_go(void)
    {
        const int request = served++;
        camkes_work(CAMKES_US(50));
        for (int replies = 0; replies < 3 && request / 2 % 2; replies++) {
            seL4_Reply(seL4_MessageInfo_new(0, 0, 0, 0));
            seL4_Yield();
        }
        camkes_work(CAMKES_US(50));
    }
    """
    run = build(tmp_path, text, {"Task": TASK, "Leaf": leaf, "Own": LEAF}).run(duration=6_000_000)
    assert (run.status, run.output, run.complaints) == (0, "", "")
    jobs = {task: _jobs(run, task) for task in ("low", "mid", "x", "y")}
    assert {task: len(responses) for task, responses in jobs.items()} == dict.fromkeys(jobs, 6)
    assert [len(set(jobs[task])) for task in ("x", "y")] == [1, 1]
    if protocol != "fixed":  # whose ceiling keeps the processor
        assert any(jobs[task][1] < jobs[task][0] for task in ("low", "mid")), "the first reply came early"
