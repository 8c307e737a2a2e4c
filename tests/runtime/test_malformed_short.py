# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Messages of every length to methods of fixed size, which are read without a check of each parameter, with
the same label and badge as the request before, which is not checked again, and with others."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from camkes.capdl.model import CapabilityModel
from camkes.capdl.uses import CpiRequest
from camkes.diagnostics import Sink
from camkes.running.decode import decode
from camkes.running.kinds import Kind
from camkes.running.refusals import MessageError, refusals
from tests.runtime.host import build, plan_of

pytestmark = pytest.mark.requirement("RT-2")

#: bytes of the requests of the methods; None: it has a string. In messages of up to four words each value
#: starts a word, in others values follow each other.
SIZES = (16, 0, 24, 40, None, 8)
PROCEDURE = """
procedure P {
    int f(in int a, in int b); void g();
    uint64_t h(in uint64_t a, in uint64_t b, in uint64_t c);
    uint64_t l(in uint64_t a, in uint64_t b, in uint64_t c, in uint64_t d, in uint64_t e);
    int s(in string t); void o(out int x, inout uint64_t y);
}
"""
HANDLERS = """
#include <string.h>
static int tag;
int p_f(int a, int b) { return a * 100 + b + tag; }
void p_g(void) {}
uint64_t p_h(uint64_t a, uint64_t b, uint64_t c) { return a * 10000 + b * 100 + c + tag; }
uint64_t p_l(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
    return (((a * 100 + b) * 100 + c) * 100 + d) * 100 + e + tag;
}
int p_s(const char *t) { return (int)strlen(t) + tag; }
void p_o(int *x, uint64_t *y) { *x = (int)*y + tag; *y += 5; }
"""
#: the same through the server in the middle, whose handler of f() sends malformed messages as well
MIDDLE = """
static int tag;
int p_f(int a, int b)
{
    if (a == 77) { attack(slot_of(camkes_requestor()), OF_HIGH); }
    return n_f(a, b) + tag;
}
void p_g(void) { n_g(); }
uint64_t p_h(uint64_t a, uint64_t b, uint64_t c) { return n_h(a, b, c) + tag; }
uint64_t p_l(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e) { return n_l(a, b, c, d, e) + tag; }
int p_s(const char *t) { return n_s(t) + tag; }
void p_o(int *x, uint64_t *y) { n_o(x, y); *x += tag; }
"""
KINDS = [
    (method, words, label)
    for label, words, method in product(
        ("good", "priority", "task", "above", "cap"), (0, 1, 2, 3, 4, 5, 6, 7, 120), (*range(6), 6, 255)
    )
    if label in ("good", "cap") or words in (1, 2)
]
#: first the label of another sender, whose request may be the last accepted one, and last an accepted one
KINDS = [(1, 0, "forged"), *KINDS, (1, 0, "good")]
ATTACK = """
#include <string.h>
enum label { GOOD, PRIORITY, TASK, ABOVE, CAP, FORGED };
static const struct { unsigned char method, words, label, accepted; } kinds[] = { KINDS };

static void attack(seL4_CPtr endpoint, seL4_Word forged)
{
    const seL4_Word good = (seL4_Word)camkes_request_priority() | (seL4_Word)camkes_requestor() << 8;
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const seL4_Word labels[] = {[GOOD] = good, [PRIORITY] = good | 0xff, [TASK] = good ^ 0xf00,
                                    [ABOVE] = good | (seL4_Word)1 << 51, [CAP] = good, [FORGED] = forged};
        memset(seL4_GetIPCBuffer()->msg, 0, sizeof seL4_GetIPCBuffer()->msg);
        seL4_SetCap(0, endpoint);
        const seL4_MessageInfo_t reply = seL4_Call(endpoint, seL4_MessageInfo_new(
            labels[kinds[i].label] | (seL4_Word)kinds[i].method << 36, 0, kinds[i].label == CAP,
            kinds[i].words));
        if ((seL4_MessageInfo_get_label(reply) == 0) != kinds[i].accepted) {
            printf("%s: method %u, %u words, label %u: %lu\\n", get_instance_name(), kinds[i].method,
                   kinds[i].words, kinds[i].label, (unsigned long)seL4_MessageInfo_get_label(reply));
        }
    }
}
"""
TASK = """
static seL4_CPtr slot;
static int tag;
static void good(void)
{
    uint64_t y = 7;
    int x = 0;
    p_g();
    p_o(&x, &y);
    if (p_f(1, 2) != 102 + tag || p_h(1, 2, 3) != 10203u + tag || p_l(1, 2, 3, 4, 5) != 102030405u + tag ||
        p_s("four") != 4 + tag || x != 7 + tag || y != 12) {
        printf("%s: a good request has a wrong reply\\n", get_instance_name());
    }
}
int run(void)
{
    for (unsigned job = 0; camkes_next_job(); job++) {
        if (job % 3 == 1) { attack(slot, get_instance_name()[0] == 'l' ? OF_MID : OF_LOW); continue; }
        if (job % 3 == 2) { (void)p_f(77, 0); }
        good();
    }
    return 0;
}
"""
CHAINS = {
    "inherited-inherited": ("inherited", "inherited"),
    "inherited-pool": ("inherited", "inherited, 2 threads"),
    "inherited-free-pool": ("inherited", "propagated, 2 threads"),
    "pool-inherited": ("propagated, 2 threads", "inherited"),
    "propagated-fixed": ("propagated", "fixed"),
    "fixed-inherited": ("fixed", "inherited"),
}
JOBS = 4


def expected(method: int, words: int, label: str) -> MessageError | None:
    """What is wrong with a message; its label names the method, and everything else is 0."""
    wrong = {"priority": MessageError.PRIORITY, "task": MessageError.TASK, "above": MessageError.METHOD}
    wrong["forged"] = MessageError.PRIORITY
    if label in wrong:
        return wrong[label]
    if method >= len(SIZES):
        return MessageError.METHOD
    needed = 1 if SIZES[method] is None else -(-SIZES[method] // 8)
    return None if words == needed else MessageError.TOO_SHORT if words < needed else MessageError.TOO_LONG


def text(middle: str, leaf: str) -> str:
    return f"""
    {PROCEDURE}
    component Task {{ control; requestor; uses P p; }}
    component Pass {{ provides P p with priority_protocol {middle}, requests (n); uses P n; }}
    component Leaf {{ provides P p with priority_protocol {leaf}, requests (); }}
    assembly {{
        composition {{
            component Task low; component Task mid; component Task high;
            component Pass pass; component Leaf leaf;
            connection seL4RPCCall x1(from low.p, from mid.p, to pass.p);
            connection seL4RPCCall x2(from pass.n, from high.p, to leaf.p);
        }}
        configuration {{
            low._priority = 10; low._period = 1 ms; mid._priority = 20; mid._period = 1 ms;
            high._priority = 30; high._period = 1 ms;
        }}
    }}
    """


def slots_of(model: CapabilityModel, middle: str, ids: dict[str, int]) -> tuple[str, str]:
    """C that sets `slot` of a task, and the function slot_of() of the server in the middle."""

    def slot(instance: str, interface: str, context: str) -> int:
        return model.slots[CpiRequest(instance, interface, context)]

    own = " ".join(f"case '{t[0]}': slot = {slot(t, 'p', t)}; break;" for t in ("low", "mid", "high"))
    cases = " ".join(
        f"case {ids[t]}: return {slot('pass', 'n', 'pass.p' if middle == 'fixed' else t)};"
        for t in ("low", "mid")
    )
    post_init = f"tag = TAG; switch (get_instance_name()[0]) {{ {own} default: break; }}"
    return (
        f"void post_init(void) {{ {post_init} }}\n",
        f"static seL4_CPtr slot_of(int task) {{ switch (task) {{ {cases} default: return 0; }} }}\n",
    )


@pytest.mark.mostly_long("fixed-inherited")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=[] if n in ("inherited-pool", "fixed-inherited") else [pytest.mark.long])
        for n in CHAINS
    ],
)
def test_every_length_with_every_label_from_every_place(name: str, tmp_path: Path) -> None:
    middle, leaf = CHAINS[name]
    _, plan, model = plan_of(tmp_path, text(middle, leaf), Sink())
    ids = {task.name: task.id for task in plan.tasks}
    own, slot_of = slots_of(model, middle, ids)
    priorities = {"low": 10, "mid": 20, "high": 30}
    labels = "".join(
        f"#define OF_{task.upper()} ((seL4_Word){priority} | (seL4_Word){ids[task]} << 8)\n"
        for task, priority in priorities.items()
    )
    own = own.replace("TAG", "get_instance_name()[0] == 'h' ? 3 : 8")  # what the servers on the way add
    rows = ", ".join(
        f"{{{m}, {w}, {label.upper()}, {int(expected(m, w, label) is None)}}}" for m, w, label in KINDS
    )
    attack = labels + ATTACK.replace("KINDS", rows)
    sources = {
        "Task": attack + TASK + own,
        "Pass": attack + slot_of + MIDDLE.replace("int tag", "int tag = 5"),
        "Leaf": HANDLERS.replace("int tag", "int tag = 3"),
    }
    built = build(tmp_path, text(middle, leaf), sources)
    run = built.run(duration=JOBS * 1_000_000)
    assert (run.status, run.output, run.complaints) == (0, "", "")
    assert run.violations() == []
    assert [len(run.of(Kind.JOB_END, task)) for task in ("low", "mid", "high")] == [JOBS] * 3
    wrong = Counter(error for kind in KINDS if (error := expected(*kind)) is not None)
    found = refusals(decode(run.events, run.names), built.system, run.plan)
    from_all = {
        ("low.p", "pass.p"): 1,
        ("mid.p", "pass.p"): 1,
        ("pass.n", "leaf.p"): 2,
        ("high.p", "leaf.p"): 1,
    }
    assert {(r.client, r.server, r.error): r.count for r in found} == {
        (*ends, error): count * times for ends, times in from_all.items() for error, count in wrong.items()
    }
