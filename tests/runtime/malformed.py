# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Clients that write messages of every malformed kind to the endpoints they have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from camkes.capdl.uses import CpiRequest, Update
from camkes.diagnostics import Sink
from camkes.running.refusals import MessageError
from tests.runtime.host import Built, build, plan_of

#: kinds of messages to an endpoint of a CPI, in the order of `send_kind` below, and what is wrong with each
REQUESTS = {
    "unknown method": MessageError.METHOD,
    "string without its end": MessageError.STRING,
    "empty": MessageError.TOO_SHORT,
    "ends in the string": MessageError.STRING,
    "ends in the array": MessageError.ARRAY,
    "a word too long": MessageError.TOO_LONG,
    "as long as can be": MessageError.STRING,
    "more elements than bytes": MessageError.ARRAY,
    "elements that overflow": MessageError.ARRAY,
    "priority 255": MessageError.PRIORITY,
    "priority 0": MessageError.PRIORITY,
    "another task": MessageError.TASK,
    "no task": MessageError.TASK,
    "unknown method, the highest bit": MessageError.METHOD,
    "no label": MessageError.PRIORITY,
}

#: kinds of messages to a manager, likewise
OPERATIONS = {
    "no operation": (0, 0, MessageError.OPERATION),
    "unknown operation": (15, 0, MessageError.OPERATION),
    "acquire": (1, 0, MessageError.OPERATION),
    "release": (2, 0, MessageError.OPERATION),
    "begin": (3 | 0xFFFF << 12, 0, MessageError.OPERATION),
    "end": (4 | 0xFFFF << 12, 0, MessageError.OPERATION),
    "settle": (5, 0, MessageError.OPERATION),
    "update above the bound": (6 | 255 << 4, 0, MessageError.PRIORITY),
    "with words": (7, 5, MessageError.TOO_LONG),
    "unused bits": (7 | 1 << 40, 0, MessageError.LABEL),
}

_LIAR = """
#include <stdint.h>
#include <string.h>

static unsigned char *bytes;
static size_t at;

static void add(const void *from, size_t size)
{
    memcpy(bytes + at, from, size);
    at += size;
}

/* A request for add(), correct until it is changed; returns its words. */
static unsigned fill(const char *text, size_t length, size_t announced)
{
    const int a = 1, values[3] = {1, 2, 3};
    bytes = (unsigned char *)seL4_GetIPCBuffer()->msg;
    at = 0;
    add(&a, sizeof a);
    add(text, length);
    add(&announced, sizeof announced);
    add(values, sizeof values);
    while (at % sizeof(seL4_Word) != 0) { bytes[at++] = 0; }
    return (unsigned)(at / sizeof(seL4_Word));
}

#define LABEL(priority, task) ((seL4_Word)(priority) | (seL4_Word)(task) << 8)
#define METHOD(number) ((seL4_Word)(number) << 36)

__attribute__((unused))
static void send_kind(seL4_CPtr endpoint, unsigned kind, unsigned priority, unsigned task)
{
    unsigned words = fill("text", 5, 3);
    seL4_Word label = LABEL(priority, task);
    switch (kind) {
    case 0: label |= METHOD(7); break;
    case 1: words = 3; memset(bytes + 4, 'x', 3 * sizeof(seL4_Word) - 4); break;
    case 2: words = 0; break;
    case 3: words = 1; break;
    case 4: words -= 1; break;
    case 5: words += 1; break;
    case 6: memset(bytes, 0xff, seL4_MsgMaxLength * sizeof(seL4_Word)); words = seL4_MsgMaxLength; break;
    case 7: words = fill("text", 5, 1000); break;
    case 8: words = fill("text", 5, SIZE_MAX / 4 + 4); break;
    case 9: label = LABEL(255, task); break;
    case 10: label = LABEL(0, task); break;
    case 11: label = LABEL(priority, OTHER(task)); break;
    case 12: label = LABEL(priority, 0xfff); break;
    case 13: label |= METHOD(0x8000); break;
    default: label = 0; break;
    }
    const seL4_MessageInfo_t reply = seL4_Call(endpoint, seL4_MessageInfo_new(label, 0, 0, words));
    if (seL4_MessageInfo_get_label(reply) == 0) { printf("kind %u was accepted\\n", kind); }
}

__attribute__((unused)) static void ask_manager(seL4_CPtr manager, unsigned kind)
{
    static const struct { seL4_Word label; unsigned words; } operation[] = { OPERATIONS };
    const seL4_MessageInfo_t reply = seL4_Call(
        manager, seL4_MessageInfo_new(operation[kind].label, 0, 0, operation[kind].words));
    if (seL4_MessageInfo_get_label(reply) == 0) { printf("operation %u was accepted\\n", kind); }
}

/* A request as the generated code makes it. */
#define REQUEST(add) do { \\
    const int values[3] = {1, 2, 3}; \\
    const int sum = add(1, "text", 3, values); \\
    if (sum != 7 + 4) { printf("%s: the sum is %d\\n", get_instance_name(), sum); } \\
} while (0)
"""

_TASK = """
int run(void)
{
    for (unsigned job = 0; camkes_next_job(); job++) {
        camkes_work(CAMKES_US(10));
        if (job / KINDS == me) {
            send_kind(slot, job % KINDS, camkes_request_priority(), camkes_requestor());
        }
        if (job / KINDS == 10 + me && job % KINDS == 0) {
            /* whose reply is not read */
            seL4_Send(slot, seL4_MessageInfo_new(LABEL(camkes_request_priority(), camkes_requestor()), 0, 0,
                                                 fill("text", 5, 3)));
        }
        REQUEST(p_add);
        camkes_work(CAMKES_US(10));
    }
    return 0;
}
"""
_PASS = """
void p_go(void) {}
static unsigned served[8];
int p_add(int a, const char *text, size_t n, const int *values)
{
    const int task = camkes_requestor();
    const unsigned job = served[task]++, kind = job % KINDS;
    camkes_work(CAMKES_US(20));
    if (job / KINDS == 4 + (unsigned)task) {
        send_kind(slot_of(task), kind, camkes_request_priority(), (unsigned)task);
        if (manager_of(task) != 0 && kind < OPERATION_KINDS) { ask_manager(manager_of(task), kind); }
    }
    const int sum = n_add(a, text, n, values);
    camkes_work(CAMKES_US(20));
    return sum;
}
"""
_LEAF = """
#include <string.h>
void p_go(void) {}
int p_add(int a, const char *text, size_t n, const int *values)
{
    int sum = a + (int)strlen(text);
    for (size_t i = 0; i < n; i++) { sum += values[i]; }
    camkes_work(CAMKES_US(60));
    return sum;
}
"""

#: the last of the windows of KINDS jobs each; in most of them one place sends a malformed message
WINDOWS = 15
PERIOD_US = 1000


@dataclass(frozen=True)
class Chain:
    """The tasks low (10) and mid (20) request `pass`, and high (30) `leaf`; `pass` requests `leaf`."""

    middle: str
    leaf: str

    @property
    def text(self) -> str:
        return f"""
        procedure P {{ int add(in int a, in string text, in int values[]); void go(); }}
        component Task {{ control; requestor; uses P p; }}
        component Pass {{ provides P p with {self.middle}, requests (n); uses P n; }}
        component Leaf {{ provides P p with {self.leaf}, requests (); }}
        assembly {{
            composition {{
                component Task low; component Task mid; component Task high;
                component Pass pass; component Leaf leaf;
                connection seL4RPCCall x1(from low.p, from mid.p, to pass.p);
                connection seL4RPCCall x2(from pass.n, from high.p, to leaf.p);
            }}
            configuration {{
                low._priority = 10; low._period = {PERIOD_US} us;
                mid._priority = 20; mid._period = {PERIOD_US} us; mid._offset = 25 us;
                high._priority = 30; high._period = {PERIOD_US} us; high._offset = 45 us;
            }}
        }}
        """


TASKS = ("low", "mid", "high")


def build_chain(folder: Path, chain: Chain) -> Built:
    """The chain with liars in it."""
    _, plan, model = plan_of(folder, chain.text, Sink())
    ids = {task.name: task.id for task in plan.tasks}
    fixed = "priority_protocol fixed" in chain.middle

    def slot(instance: str, interface: str, task: str, use: type[CpiRequest | Update] = CpiRequest) -> int:
        context = "pass.p" if instance == "pass" and fixed else task
        return model.slots.get(use(instance, interface, context), 0)

    def table(name: str, use: type[CpiRequest | Update]) -> str:
        cases = "".join(f"case {ids[t]}: return {slot('pass', 'n', t, use)};" for t in ("low", "mid"))
        return f"static seL4_CPtr {name}(int task) {{ switch (task) {{ {cases} default: return 0; }} }}\n"

    operations = ", ".join(f"{{{label}ull, {words}}}" for label, words, _ in OPERATIONS.values())
    head = _LIAR.replace("OPERATIONS", operations)
    other = f"#define OTHER(task) ((task) == {ids['high']} ? {ids['low']}u : {ids['high']}u)\n"
    head = other + f"#define KINDS {len(REQUESTS)}u\n#define OPERATION_KINDS {len(OPERATIONS)}u\n" + head
    which = "".join(
        f"if (get_instance_name()[0] == '{t[0]}') {{ me = {i}; slot = {slot(t, 'p', t)}; }}\n"
        for i, t in enumerate(TASKS)
    )
    task = f"static unsigned me; static seL4_CPtr slot;\nvoid post_init(void) {{ {which} }}\n"
    middle = table("slot_of", CpiRequest) + table("manager_of", Update)
    sources = {"Task": head + task + _TASK, "Pass": head + middle + _PASS, "Leaf": _LEAF}
    return build(folder, chain.text, sources)
