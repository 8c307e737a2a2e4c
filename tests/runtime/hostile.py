# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems in which one client sends what a client can send, and others are to notice nothing of it.

The attacker has the capabilities that any client has, and uses those to endpoints in each way that the kernel
offers. A run in which it does so is compared with one in which it is silent. What is sent, and what its
requests execute, takes no time, so that outputs and responses of all other tasks have to be the same. Where a
message is served, because its server has time of its own, the silent run has a call in place of it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from camkes.capdl import uses
from camkes.capdl.model import CapabilityModel, ObjectKind
from camkes.diagnostics import Sink
from camkes.protocols.plan import Plan
from camkes.running.decode import decode
from camkes.running.kinds import Kind
from camkes.running.refusals import refusals
from tests.runtime.host import Built, Run, build_found, checked, model_of

MS = 1_000_000
ATTACKER = "odd"
#: name, priority, period in us, work of its own and with the server in us, budget in us
OTHERS = (
    ("low", 10, 14_000, 300, 2_600, 1_500),
    ("mid", 20, 9_000, 200, 900, 2_500),
    ("high", 40, 5_000, 100, 400, 1_500),
)
DURATION = 150 * MS


class Server(Struct, frozen=True):
    """What is attacked: components, what is in the composition, settings, and sources. `{all}` are the
    from ends of all clients, `{odd}` is that of the attacker, `{others}` are those of the others. `mcs`: on
    which kernels there is one, `own`: further members of the attacker, `budgets`: of all others."""

    name: str
    components: str
    composition: str
    settings: str = ""
    sources: tuple[tuple[str, str], ...] = ()
    mcs: tuple[bool, ...] = (False, True)
    own: str = ""
    budgets: bool = False


HANDLER = "int p_go(int us) { camkes_work(CAMKES_US(us)); return us + 7; }\n"
PASS = "int p_go(int us) { camkes_work(CAMKES_US(us)); return n_go(us) + 1; }\n"
ROLLBACK = "void p__rollback(void) {}\n"
MCS_ONLY = (True,)


def _leaf(name: str, clause: str, **rest: object) -> Server:
    return Server(
        name,
        f"component Leaf {{ provides Work p{clause}; }}",
        "component Leaf leaf; connection seL4RPCCall c({all}, to leaf.p);",
        sources=(("Leaf", HANDLER + ROLLBACK),),
        **rest,  # type: ignore[arg-type]
    )


def _protocol(words: str) -> str:
    return f" with priority_protocol {words}, requests ()"


def _chain(name: str, outer: str, inner: str, **rest: object) -> Server:
    """The attacker has connections to both CPIs."""
    return Server(
        name,
        f"component Outer {{ provides Work p with priority_protocol {outer}, requests (n); uses Work n; }}"
        f"component Leaf {{ provides Work p{_protocol(inner)}; }}",
        "component Outer outer; component Leaf leaf; connection seL4RPCCall c({all}, to outer.p);"
        f"connection seL4RPCCall d(from outer.n, from {ATTACKER}.q, to leaf.p);",
        sources=(("Leaf", HANDLER + ROLLBACK), ("Outer", PASS + ROLLBACK)),
        own="uses Work q;",
        **rest,  # type: ignore[arg-type]
    )


def _policy(protocol: str, policy: str) -> Server:
    settings = "" if policy == "help" else EXTENSION
    clause = _protocol(f"{protocol}, overrun {policy}")
    return _leaf(f"{protocol}-{policy}", clause, settings=settings, mcs=MCS_ONLY, budgets=True)


EXTENSION = "leaf.p_extension = 4 ms; leaf.p_extension_period = 10 ms;"
EXTENSIONS = EXTENSION + "outer.p_extension = 4 ms; outer.p_extension_period = 10 ms;"
SERVERS = (
    _leaf("plain", "", settings="leaf.p_priority = 60;"),
    _leaf("fixed", _protocol("fixed")),
    _leaf("propagated", _protocol("propagated")),
    _leaf("inherited", _protocol("inherited")),
    _policy("fixed", "extend"),
    _policy("fixed", "abort"),
    _policy("propagated", "abort"),
    _policy("inherited", "help"),
    _policy("inherited", "extend"),
    _policy("inherited", "abort"),
    _policy("inherited", "suspend"),
    _chain("nested", "inherited", "inherited"),
    _chain("nested-free", "inherited", "propagated"),
    _chain("nested-fixed", "inherited", "fixed"),
    _chain("fixed-nested", "fixed", "inherited"),
    _chain("nested-pool", "inherited", "propagated, 2 threads"),
    _chain("nested-locked-pool", "inherited", "inherited, 2 threads"),
    _chain("nested-help", "inherited, overrun help", "inherited, overrun help", mcs=MCS_ONLY, budgets=True),
    _chain(
        "nested-abort",
        "inherited, overrun abort",
        "inherited, overrun abort",
        settings=EXTENSIONS,
        mcs=MCS_ONLY,
        budgets=True,
    ),
    _chain(
        "fixed-extend-nested",
        "fixed, overrun extend",
        "inherited, overrun extend",
        settings=EXTENSIONS,
        mcs=MCS_ONLY,
        budgets=True,
    ),
    Server(
        "monitor",
        "component Leaf { provides Work p with priority_protocol inherited, monitor m, requests ();"
        " provides Work q with priority_protocol inherited, monitor m, requests (); }",
        "component Leaf leaf; connection seL4RPCCall c({others}, to leaf.p);"
        "connection seL4RPCCall d({odd}, to leaf.q);",
        sources=(("Leaf", HANDLER + HANDLER.replace("p_go", "q_go")),),
    ),
    Server(
        "monitor-pool-abort",
        "component Outer { provides Work p with priority_protocol inherited, requests (n); uses Work n; }"
        "component Leaf { provides Work p with priority_protocol inherited, 2 threads, monitor m,"
        " overrun abort, requests (); }",
        "component Outer outer; component Leaf leaf; connection seL4RPCCall c({others}, to outer.p);"
        "connection seL4RPCCall d(from outer.n, {odd}, to leaf.p);",
        EXTENSION,
        (("Leaf", HANDLER + ROLLBACK), ("Outer", PASS)),
        MCS_ONLY,
        budgets=True,
    ),
    Server(
        "waits",  # the attacker waits for an event with helpers: those of low's group have one manager
        "component Leaf { provides Work p with priority_protocol inherited, requests (); }",
        "component Leaf leaf; connection seL4RPCCall c({all}, to leaf.p);"
        f"connection seL4Notification e(from low.done, to {ATTACKER}.done);",
        sources=(("Leaf", HANDLER),),
        own="consumes Done done with helpers;",
    ),
    Server(
        "band",
        "component Leaf { provides Work p with priority_protocol inherited, requests (); }",
        "component Leaf leaf; connection seL4RPCCall c({all}, to leaf.p); component EDFScheduler edf;"
        f"connection seL4UserScheduler b(from low.band, from mid.band, from {ATTACKER}.band, to edf.tasks);",
        "edf._priority = 30;",
        (("Leaf", HANDLER),),
    ),
    Server(
        "criticality",
        "component Leaf { provides Work p with priority_protocol inherited, overrun extend, requests (); }",
        "component Leaf leaf; connection seL4RPCCall c({all}, to leaf.p);",
        EXTENSION + "high._criticality = 1; high._budget_1 = 3 ms;",
        (("Leaf", HANDLER),),
        MCS_ONLY,
        own="criticality_control;",
        budgets=True,
    ),
)


class Message(Struct, frozen=True):
    """What is sent to a slot. `served`: as a request or operation, which is the attacker's right. `once`: it
    can be sent in the end only."""

    slot: int
    label: int = 0
    words: int = 0
    caps: int = 0
    served: bool = False
    once: bool = False


class Action(Struct, frozen=True):
    """A message at a job of the attacker (0: during start-up), and by which operation. The silent run does
    nothing in place of it, or with `quiet` calls. `ends`: it is the last one, whether more could follow or
    not."""

    job: int
    operation: str
    message: Message
    quiet: bool = False
    ends: bool = False

    def c(self) -> str:
        what = self.message
        values = (self.job, self.operation, what.slot, what.label, what.words, what.caps)
        return "{" + ", ".join(map(str, values)) + f", {int(self.quiet)}, {int(self.ends)}}},"


def messages(model: CapabilityModel, plan: Plan, mcs: bool) -> Iterator[tuple[type[uses.Use], Message]]:
    """What there is to send to the endpoints to which the attacker has capabilities."""
    endpoints = {item.name for item in model.objects if item.kind is ObjectKind.ENDPOINT}
    space = next(space for space in model.spaces if ATTACKER in space.instances)
    held = {cap.slot: cap.object for cap in space.caps if cap.object in endpoints}
    task = plan.task(ATTACKER)
    assert task is not None
    good = task.priority | task.id << 8
    cpis = {f"{cpi.name}@{ATTACKER}:endpoint": cpi for cpi in plan.cpis}
    cpis |= {f"{cpi.name}:endpoint": cpi for cpi in plan.cpis}
    for use, slot in model.slots.items():
        if use.instance != ATTACKER or slot not in held:
            continue
        match use:
            case uses.PlainRequest() | uses.CpiRequest():
                plain = held[slot] not in cpis
                labels = (good, good | 0xFF, good ^ 0xF00, good | 1 << 45, 0)
                for label in labels:
                    yield type(use), Message(slot, label, 1, served=plain or label == good)
                yield type(use), Message(slot, good, 1, caps=3, served=True)
                for words in (0, 2, 120):
                    yield type(use), Message(slot, good, words)
            case uses.Update() | uses.Settle() | uses.AlarmCall():
                ticks = isinstance(
                    use, uses.AlarmCall
                )  # whatever it says, the manager looks whose time is over
                for operation in (*range(6), *range(10, 16)):
                    yield type(use), Message(slot, operation, served=ticks)
                yield type(use), Message(slot, 6 | 255 << 4)
                for label in (6 | task.priority << 4 | task.context.id << 12, 7):
                    yield type(use), Message(slot, label, served=True)
            case uses.WaitCall():
                for operation in (*range(1, 6), *range(10, 14)):
                    yield type(use), Message(slot, operation)
                yield type(use), Message(slot, 8, served=True, once=True)
            case uses.Turn():
                for label in (0, 1, 3, 99):
                    yield type(use), Message(slot, label)
                yield type(use), Message(slot, 2, once=True)
            case uses.SetCriticality():
                for label in (0, 1, 7):
                    yield type(use), Message(slot, label, served=label > 0)


def actions(
    choose: random.Random, model: CapabilityModel, plan: Plan, *, mcs: bool
) -> tuple[tuple[Action, ...], bool]:
    """What the attacker does, and whether it has to be named: a message arrives that is none of those that
    may be called."""
    kinds: dict[tuple[type[uses.Use], int], list[Message]] = {}
    for purpose, message in messages(model, plan, mcs):
        kinds.setdefault((purpose, message.slot), []).append(message)
    passive = mcs and bool(plan.cpis)
    operations = ("SEND", "NBSEND", "CALL", "SIGNAL", *(("DONATE",) if mcs else ()))
    found: list[Action] = []
    stuck: set[int] = set()
    noticed = False
    for job in sorted(choose.choices(range(choose.choice((0, 1)), 20), k=choose.randint(1, 8))):
        for _ in range(choose.choice((1, 1, 1, 3, 20))):
            (purpose, slot), there = choose.choice(list(kinds.items()))
            message, operation = choose.choice(there), choose.choice(operations)
            if job == 0 and operation in ("NBSEND", "DONATE"):
                operation = "SEND"  # the server may not be there yet
            if operation == "SIGNAL":
                message = Message(slot)
            calls = operation == "CALL"
            worker = passive and purpose in (uses.PlainRequest, uses.CpiRequest)
            hangs = slot in stuck and operation != "NBSEND"
            quiet = message.served and not hangs and (calls or operation == "DONATE" or not worker)
            ends = message.once or operation == "DONATE" or hangs
            found.append(Action(job, operation, message, quiet and slot not in stuck, ends))
            noticed |= (
                not hangs and operation in ("SEND", "SIGNAL", "CALL") and not (calls and message.served)
            )
            if worker and operation in ("SEND", "NBSEND", "SIGNAL"):
                stuck.add(slot)
            if ends:
                return tuple(found), noticed
    return tuple(found), noticed


ODD = """
#include <camkes/realtime.h>
#include <stdbool.h>
enum operation { SEND, NBSEND, CALL, SIGNAL, DONATE };
static const struct action {
    unsigned job;
    enum operation operation;
    seL4_CPtr slot;
    seL4_Word label;
    unsigned words, caps;
    bool quiet, ends;
} actions[] = { ACTIONS };
static bool over;

static void act(const struct action *action)
{
    const seL4_MessageInfo_t info = seL4_MessageInfo_new(action->label, 0, action->caps, action->words);
    for (unsigned i = 0; i < action->words; i++) { seL4_SetMR((int)i, 0); }
    for (unsigned i = 0; i < action->caps; i++) { seL4_SetCap((int)i, action->slot); }
    if (!HOSTILE && !action->quiet) { return; }
    switch (HOSTILE ? action->operation : CALL) {
    case SEND: seL4_Send(action->slot, info); break;
    case NBSEND: seL4_NBSend(action->slot, info); break;
    case CALL: (void)seL4_Call(action->slot, info); break;
    case SIGNAL: seL4_Signal(action->slot); break;
#if defined(CONFIG_KERNEL_MCS)
    case DONATE: (void)seL4_NBSendWait(action->slot, info, RELEASE, NULL); break;
#else
    case DONATE: break;
#endif
    }
}

static void attack(unsigned job)
{
    for (unsigned i = 0; i < sizeof actions / sizeof actions[0] && !over; i++) {
        if (actions[i].job == job) {
            act(&actions[i]);
            over = actions[i].ends;
        }
    }
}

void pre_init(void)
{
    attack(0);
}

int run(void)
{
    for (unsigned job = 1; !over && camkes_next_job(); job++) { attack(job); }
    return 0;
}
"""
USER = """
#include <camkes/realtime.h>
void done_emit(void) __attribute__((weak));
int run(void)
{
    for (int job = 0; camkes_next_job(); job++) {
        camkes_work(CAMKES_US(own));
        const int result = p_go(served);
        printf("%s %d: %d %d\\n", get_instance_name(), job, result, camkes_request_aborted());
        camkes_work(CAMKES_US(own));
        if (done_emit) { done_emit(); }
    }
    return 0;
}
"""


class Seen(Struct, frozen=True):
    """What others can notice in a run: outputs, and releases and ends of jobs by task; what properties do not
    hold; and who is named."""

    output: tuple[str, ...]
    jobs: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...]
    faults: tuple[str, ...]
    violations: tuple[str, ...]
    named: frozenset[str]


class Case(Struct, frozen=True):
    """One attack, made from a number. Tasks begin at `start`, in ms."""

    server: Server
    mcs: bool
    seed: int
    start: int = 0

    @property
    def text(self) -> str:
        """The system."""
        choose = random.Random(f"{self.server.name} {self.mcs} {self.seed}")
        names = [name for name, *_ in OTHERS]
        ends = {
            "all": ", ".join(f"from {name}.p" for name in (*names, ATTACKER)),
            "others": ", ".join(f"from {name}.p" for name in names),
            "odd": f"from {ATTACKER}.p",
        }
        composition = self.server.composition.format(**ends) if "{" in self.server.composition else ""
        settings = [self.server.settings]
        for name, priority, period, own, served, budget in OTHERS:
            settings.append(f"{name}._offset = {self.start} ms;")
            settings.append(f"{name}._period = {period} us; {name}.own = {own}; {name}.served = {served};")
            if not (self.banded and name in ("low", "mid")):
                settings.append(f"{name}._priority = {priority};")
            if self.server.budgets and self.mcs:
                settings.append(f"{name}._budget = {budget} us;")
        settings.append(f"{ATTACKER}._period = {choose.choice((1_300, 3_700, 6_100))} us;")
        offset = 1_000 * self.start + choose.randrange(0, 4_000, 100)
        settings.append(f"{ATTACKER}._offset = {offset} us;")
        if not self.banded:
            settings.append(f"{ATTACKER}._priority = {choose.choice((5, 15, 30, 50))};")
        if self.mcs:
            settings.append(f"{ATTACKER}._budget = 1 ms;")
        return f"""
import <user_scheduler.camkes>;
procedure Work {{ int go(in int us); }}
component User {{
    control; requestor; uses Work p; attribute int own; attribute int served;
    maybe uses UserScheduler band; {"emits Done done;" if "Done" in self.server.own else ""}
}}
component Odd {{ control; requestor; uses Work p; maybe uses UserScheduler band; {self.server.own} }}
{self.server.components}
assembly {{
    composition {{
        {" ".join(f"component User {name};" for name in names)} component Odd {ATTACKER};
        {composition}
    }}
    configuration {{
        {chr(10).join(settings)}
    }}
}}
"""

    @property
    def banded(self) -> bool:
        """Whether the attacker is in a band of priorities."""
        return self.server.name == "band"

    def sources(self, folder: Path, *, hostile: bool) -> tuple[dict[str, str], bool]:
        """Those of a run, hostile or silent, and whether the attacker has to be named then."""
        sink = Sink()
        found = checked(folder, self.text, sink, mcs=self.mcs)
        model = model_of(found, sink)
        choose = random.Random(f"actions {self.server.name} {self.mcs} {self.seed}")
        attack, noticed = actions(choose, model, found.plan, mcs=self.mcs)
        odd = ODD
        for word, value in (
            ("ACTIONS", "\n".join(action.c() for action in attack)),
            ("HOSTILE", int(hostile)),
            ("RELEASE", model.slots[uses.Release(ATTACKER)]),
        ):
            odd = odd.replace(word, str(value))
        return {"User": USER, "Odd": odd, **dict(self.server.sources)}, noticed

    def seen(self, folder: Path, *, hostile: bool) -> tuple[Seen, bool]:
        """A run on the host kernel, and as above."""
        sources, noticed = self.sources(folder, hostile=hostile)
        built = build_found(folder, checked(folder, self.text, Sink(), mcs=self.mcs), sources)
        return look(built, built.run(duration=DURATION + self.start * MS)), noticed

    def differences(self, folder: Path) -> list[str]:
        """What others notice of the attack, and if the attacker is not named."""
        silent, _ = self.seen(folder / "silent", hostile=False)
        hostile, noticed = self.seen(folder / "hostile", hostile=True)
        differences = [
            f"{what}: {first_difference(before, after or ())}"
            for what, before, after in (
                *((name, before, dict(hostile.jobs).get(name)) for name, before in silent.jobs),
                ("output", silent.output, hostile.output),
                ("faults", silent.faults, hostile.faults),
                # in a band the attacker does not claim the priority that it has now, which the checker knows
                *((("properties", silent.violations, hostile.violations),) if not self.banded else ()),
            )
            if before != after
        ]
        if noticed and ATTACKER not in hostile.named:
            differences.append(f"{ATTACKER} is not named")
        others = hostile.named - {ATTACKER} - silent.named
        return differences + [f"{name} is named" for name in sorted(others)]


def first_difference(before: tuple[object, ...], after: tuple[object, ...]) -> str:
    """Where two lists differ first."""
    number = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), None)
    number = min(len(before), len(after)) if number is None else number
    return f"at {number} of {len(before)}: {before[number:][:2]} and {after[number:][:2]}"


def look(built: Built, run: Run) -> Seen:
    """What others can notice in a run."""
    own = {t.number for t in run.names.threads if t.instance == ATTACKER}
    decoded = decode(run.events, run.names)
    tasks = [name for name, *_ in OTHERS]
    return Seen(
        tuple(f"{o.time} {o.text}" for o in decoded.outputs if o.thread not in own),
        tuple((name, tuple((e.time, *e.args) for e in run.of(Kind.JOB_END, name))) for name in tasks),
        tuple(run.names.thread_name(e.thread) for e in run.of(Kind.FAULT) if e.thread not in own),
        tuple(text for text in map(str, run.violations()) if f" {ATTACKER} " not in f" {text} "),
        frozenset(r.client.partition(".")[0] for r in refusals(decoded, built.system, run.plan)),
    )


def cases(count: int, first: int = 0) -> Iterator[Case]:
    """So many cases, each server and kernel in turn."""
    each = [(server, mcs) for server in SERVERS for mcs in server.mcs]
    for number in range(first, first + count):
        server, mcs = each[number % len(each)]
        yield Case(server, mcs, number)
