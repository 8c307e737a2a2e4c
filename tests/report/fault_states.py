# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Faults at every state of a lock: `python -m tests.report.fault_states --shape nested`.

A system of a shape is built once. It has tasks that contend (`low`, `mid`, `high`, and `near`, which requests
the leaf itself), tasks of higher priorities that share nothing with them (`x`, `y`), and a killer of the
highest priority. Two timers of the killer, which each run sets in the boot table, say what goes wrong in that
run: which component, where and how, and if it does not come from the component's own code, when.

Not from its own code: a second thread of the component (its event callback) faults, ends the component, or
suspends one of its threads, at any instant: before the lock, queued for it, granted it but not running yet,
holding it, in a nested request, in a reply, after it. From its own code: the thread itself, at each place.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from camkes import pipeline
from camkes.capdl.uses import Tcb, WorkerTcb
from camkes.diagnostics import Sink
from camkes.outcome import Outcome
from tests.runtime.host import plan_of

from .compare import compare_outputs

US = 1000
PERIOD = 2000 * US
END = 2 * PERIOD - 100 * US
START = 200 * US

#: priorities and offsets in us
TASKS = {
    "low": (10, 200),
    "mid": (20, 215),
    "high": (30, 225),
    "near": (25, 240),
    "y": (45, 250),
    "x": (50, 260),
}
#: those that share nothing with a component that fails
UNDISTURBED = ("x", "y")
SERVERS = ("front", "inner", "leaf")
VICTIMS = (*TASKS, *SERVERS)


@dataclass(frozen=True)
class Shape:
    """The clauses of the CPI of each component that serves; None: it has no such component."""

    leaf: str
    front: str | None = None
    inner: str | None = None

    @property
    def chain(self) -> tuple[str, ...]:
        """The components that serve, in the order of requests."""
        return tuple(name for name in SERVERS if getattr(self, name) is not None)

    @property
    def victims(self) -> tuple[str, ...]:
        return ("low", "mid", "high", *self.chain)


SHAPES = {
    "plain": Shape(""),
    "plain-nested": Shape("", ""),
    "propagated": Shape("propagated"),
    "inherited": Shape("inherited"),
    "fixed": Shape("fixed"),
    "nested": Shape("inherited", "inherited"),
    "nested-fixed": Shape("fixed", "inherited"),
    "fixed-nested": Shape("inherited", "fixed"),
    "fixed-fixed": Shape("fixed", "fixed"),
    "propagated-nested": Shape("inherited", "propagated"),
    "nested-3": Shape("inherited", "inherited", "propagated"),
    "locks-3": Shape("inherited", "inherited", "inherited"),
    "pooled": Shape("propagated, 2 threads", "inherited"),
    "pooled-lock": Shape("inherited, 2 threads", "inherited"),
    "pooled-inside": Shape("inherited", "inherited", "propagated, 1 thread"),
}

#: what happens, by number; from SUSPEND on, a thread of the component is suspended
ACTIONS = {
    "fault": "*(volatile int *)8 = 1;",
    "abort": "abort();",
    "exit": "exit(3);",
    "loop": "for (;;) { }",
    "stack pointer": 'asm volatile("mov $8, %rsp\\n\\tpush %rax");',
    "stack": "memset(__builtin_frame_address(0), 0x5a, 256);",
    "call": "pause();",
    "overrun": "(void)deeper(1);",
    "work": "for (;;) { camkes_work(CAMKES_MS(1)); }",
}
NAMES = ("nothing", *ACTIONS)
SUSPEND = 16
#: from a second thread, at any instant
OUTSIDE = ("fault", "exit")
PLACES = {"task": 2, "server": 4}
EVENT = 15

_HEAD = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#pragma GCC diagnostic ignored "-Wunused-function"

/* What goes wrong: the component, the place, the how manieth time, the action. */
#define ORDER ((volatile const uint32_t *)(const void *)order)

static int deeper(volatile int n)
{
    volatile char buffer[4096];
    buffer[0] = (char)n;
    return n == 0 ? buffer[0] : deeper(n + 1) + buffer[0];
}

static const seL4_CPtr threads[] = {THREADS};

static __attribute__((noinline)) void act(void)
{
    const unsigned action = ORDER[3];
    switch (action) {
ACTIONS
    default:
        if (action >= SUSPEND) { (void)seL4_TCB_Suspend(threads[action - SUSPEND]); }
    }
}

static void at(unsigned place)
{
    static unsigned times;
    if (ORDER[0] == (unsigned)number && ORDER[1] == place && ++times == ORDER[2]) { act(); }
}

static void on_now(void *cookie)
{
    (void)now_reg_callback(on_now, cookie);
    at(EVENT);
}

void pre_init(void) { (void)now_reg_callback(on_now, NULL); }
"""
_KILLER = """
#include <stdint.h>
int run(void)
{
    volatile uint32_t *to = (volatile uint32_t *)(void *)order;
    for (;;) {
        seL4_Wait(t_notification(), NULL);
        const unsigned done = t_completed();
        if (done & 1u) {
            uint32_t code = (uint32_t)camkes_now() - 1;
            to[3] = code % 64; code /= 64;
            to[2] = code % 4; code /= 4;
            to[1] = code % 16; code /= 16;
            to[0] = code;
        }
        if (done & 2u) { now_emit(); }
    }
}
"""
_TASK = """
int run(void)
{
    while (camkes_next_job()) {
        camkes_work(CAMKES_US(7));
        at(1);
        p_go();
        at(2);
        camkes_work(CAMKES_US(5));
    }
    return 0;
}
"""
_LONE = "int run(void) { while (camkes_next_job()) { p_go(); camkes_work(CAMKES_US(4)); } return 0; }\n"
_CONTROL = "int run(void) { return 0; }\n"


def _server(onward: bool) -> str:
    request = "at(2); camkes_work(CAMKES_US(3)); n_go(); at(3);" if onward else ""
    work = f"camkes_work(CAMKES_US(11)); {request} camkes_work(CAMKES_US(9));"
    return f"void p_go(void) {{ at(1); {work} at(4); }}\n"


def _clauses(text: str, onward: bool) -> str:
    requests = f"requests ({'n' if onward else ''})"
    if not text:
        return ""
    protocol, _, more = text.partition(", ")
    return f" with priority_protocol {protocol}, {requests}" + (f", {more}" if more else "")


def system_text(shape: Shape) -> str:
    parts = "consumes Now now; dataport Buf order; attribute int number;"
    types = [f"component {t.title()} {{ control; requestor; uses P p; {parts} }}" for t in TASKS]
    body = [f"component {name.title()} {name};" for name in TASKS]
    settings = [
        f"{t}._priority = {p}; {t}._period = 2 ms; {t}._offset = {o} us;" for t, (p, o) in TASKS.items()
    ]
    settings += [f"{name}.p_priority = 35;" for name in shape.chain if not getattr(shape, name)]
    for name, onward in zip(shape.chain, [*shape.chain[1:], ""], strict=True):
        uses = "uses P n;" if onward else ""
        clauses = _clauses(getattr(shape, name), bool(onward))
        types.append(f"component {name.title()} {{ provides P p{clauses}; {uses} {parts} }}")
        body.append(f"component {name.title()} {name};")
        callers = [f"{last}.n" for last, to in zip(shape.chain, shape.chain[1:], strict=False) if to == name]
        callers += [f"{task}.p" for task in ("low", "mid", "high") if name == shape.chain[0]]
        callers += ["near.p"] if name == "leaf" else []
        froms = ", ".join(f"from {caller}" for caller in callers)
        body.append(f"connection seL4RPCCall to_{name}({froms}, to {name}.p);")
    victims = [*TASKS, *shape.chain]
    settings += [f"{name}.number = {VICTIMS.index(name) + 1};" for name in victims]
    ends = ", ".join(f"to {name}.now" for name in victims)
    ports = ", ".join(f"to {name}.order" for name in victims)
    types_text, body_text, settings_text = "\n".join(types), "\n".join(body), "\n".join(settings)
    return f"""import <TimeServer/TimeServer.camkes>;
import <global-connectors.camkes>;
procedure P {{ void go(); }}
{types_text}
component Own {{ provides P p with priority_protocol inherited, requests (); }}
component Killer {{ control; emits Now now; dataport Buf order; uses Timer t; }}
assembly {{
    composition {{
        {body_text}
        component Own own; component Killer killer; component TimeServer clock;
        connection seL4TimeServer timing(from killer.t, to clock.the_timer);
        connection seL4RPCCall to_own(from x.p, from y.p, to own.p);
        connection seL4Notification kills(from killer.now, {ends});
        connection seL4SharedData orders(from killer.order, {ports});
    }}
    configuration {{ clock.timers_per_client = 2; killer._priority = 254;
        {settings_text}
    }}
}}
"""


@dataclass(frozen=True)
class Trouble:
    """`place` is one in the code, or EVENT: an event at `instant`. `time`: the how manieth time."""

    victim: str
    place: int
    time: int
    action: int
    instant: int = 0

    @property
    def code(self) -> int:
        victim = VICTIMS.index(self.victim) + 1
        return ((victim * 16 + self.place) * 4 + self.time) * 64 + self.action

    def words(self, threads: Sequence[str]) -> str:
        what = NAMES[self.action] if self.action < SUSPEND else f"suspend {threads[self.action - SUSPEND]}"
        where = f"at {self.instant} ns" if self.place == EVENT else f"at place {self.place}, time {self.time}"
        return f"{what} in {self.victim} {where}"


NOTHING = Trouble("low", 0, 0, 0)


class System:
    """A shape, built in a folder."""

    def __init__(self, shape: Shape, folder: Path, stack: ExitStack) -> None:
        self.shape = shape
        text = system_text(shape)
        _, _, model = plan_of(folder / "plan", text, Sink())
        self.threads = {
            name: [u for u in model.slots if u.instance == name and isinstance(u, Tcb | WorkerTcb)]
            for name in VICTIMS
        }
        actions = "\n".join(f"    case {i}: {code} break;" for i, code in enumerate(ACTIONS.values(), 1))
        for name in (*TASKS, *shape.chain):
            slots = ", ".join(str(model.slots[key]) for key in self.threads[name])
            head = _HEAD.replace("{THREADS}", f"{{{slots}}}" if slots else "{0}").replace("ACTIONS", actions)
            head = head.replace("SUSPEND)", f"{SUSPEND}u)").replace("- SUSPEND", f"- {SUSPEND}u")
            body = _LONE if name in UNDISTURBED else _TASK
            if name in shape.chain:
                body = _server(name != "leaf")
            self._write(folder, name, head.replace("EVENT", str(EVENT)) + body)
        self._write(folder, "own", "void p_go(void) { camkes_work(CAMKES_US(13)); }\n")
        self._write(folder, "killer", _KILLER)
        (folder / "system.camkes").write_text("import <std_connector.camkes>;\n" + text)
        sink = Sink()
        self.options = pipeline.RunSettings(
            output=folder / "out", duration=END, fast=True, verify=True, loop_limit_ms=100
        )
        request = pipeline.Input(folder / "system.camkes")
        checked = pipeline.check_code(request, folder / "out", sink, lambda _: None)
        assert checked is not None, [(d.message, d.notes) for d in sink.diagnostics]
        image = pipeline.build_to_run(checked, self.options, stack, sink, lambda _: None)
        assert image is not None, [(d.message, d.notes) for d in sink.diagnostics]
        self.checked, self.image = checked, image
        self.table = image.table.read_text()

    @staticmethod
    def _write(folder: Path, name: str, code: str) -> None:
        head = "#include <camkes.h>\n#include <stdio.h>\n"
        (folder / f"{name.title()}.c").write_text(f"{head}{code}")

    def run(self, trouble: Trouble) -> tuple[Outcome, Sink]:
        lines = []
        for line in self.table.splitlines():
            fields = line.split()
            if fields[:1] == ["timer"] and fields[1].startswith("killer."):
                fields[4] = str(trouble.instant if fields[1].endswith("@1") else trouble.code + 1)
                line = " ".join(fields)
            lines.append(line)
        self.image.table.write_text("\n".join(lines) + "\n")
        sink = Sink()
        outcome = pipeline.run_image(self.image, self.checked, self.options, sink)
        assert outcome is not None, [d.message for d in sink.diagnostics]
        return outcome, sink

    def instants(self, good: Outcome) -> list[int]:
        """When a thread changes its state in a run without trouble, and the middle between two such times."""
        times = {segment.start for thread in good.run.threads for segment in thread.segments}
        first = sorted(time for time in times if START <= time < START + PERIOD // 2)
        return sorted({*first, *((a + b) // 2 for a, b in pairwise(first))})

    def troubles(self, good: Outcome) -> Iterator[Trouble]:
        for victim in self.shape.victims:
            places = PLACES["server" if victim in self.shape.chain else "task"]
            for place in range(1, places + 1):
                for time in (1, 2):
                    for name in ACTIONS:
                        yield Trouble(victim, place, time, NAMES.index(name))
            suspended = range(SUSPEND, SUSPEND + len(self.threads[victim]))
            for instant in self.instants(good):
                for action in (*(NAMES.index(name) for name in OUTSIDE), *suspended):
                    yield Trouble(victim, EVENT, 1, action, instant)

    def mistakes(self, trouble: Trouble, good: Outcome) -> list[str]:
        outcome, sink = self.run(trouble)
        return [*wrong_outputs(outcome), *wrong_faults(trouble, outcome, sink), *wrong_others(good, outcome)]


def wrong_outputs(outcome: Outcome) -> Iterator[str]:
    """Outputs that differ, jobs that are lost, properties that are violated, waits without a reason."""
    try:
        outputs = compare_outputs(outcome)
    except AssertionError as error:
        yield str(error)
        return
    report = outputs.report
    for task in report["tasks"]:
        offset = TASKS[task["name"]][1] * US
        released = 1 + (report["end"] - offset) // PERIOD
        ended = any(
            t.named.name == task["name"] and t.segments[-1].state == "ended" for t in outcome.run.threads
        )
        if task["released"] != released and not ended:
            yield f"{task['name']} was released {released} times, not {task['released']}"
    yield from (f"violated: {violation}" for violation in outcome.violations)
    if any(
        thread.segments[-1].state in ("running", "ready", "preempted", "held up")
        for thread in outcome.run.threads
    ):
        return  # waiting threads may be served when that is over
    explained = {step["thread"] for wait in report["waits"] for step in wait["steps"]}
    for thread in outcome.run.threads:
        last = thread.segments[-1].state
        waits = last in ("waits for lock", "waits for server", "waits for reply")
        if waits and thread.named.name not in explained:
            yield f"{thread.named.name} {last} at the end, and no line says why"
    said = {name for fault in report["faults"] for name in fault["stops"]}
    because = {wait["thread"] for wait in report["waits"] if wait["cause"] == "fault"}
    if said != because:
        yield f"faults stop {said}, and {because} wait because of faults"


def wrong_faults(trouble: Trouble, outcome: Outcome, sink: Sink) -> Iterator[str]:
    for located in outcome.faults:
        if located.fault.component != trouble.victim:
            yield f"{located.fault.component} has a fault: {located.fault.what}"
    harmless = trouble.action == 0 or trouble.action >= SUSPEND or NAMES[trouble.action] == "work"
    if harmless and outcome.faults:
        yield f"{[f.fault.what for f in outcome.faults]}: no fault was expected"
    reported = [d for d in sink.diagnostics if d.code.number == "E0729"]
    if bool(reported) != bool(outcome.faults):
        yield f"{len(outcome.faults)} faults, {len(reported)} diagnostics"


def wrong_others(good: Outcome, bad: Outcome) -> Iterator[str]:
    for name in UNDISTURBED:
        before, after = responses(good, name), responses(bad, name)
        if before != after:
            yield f"{name}: responses {after} instead of {before}"


def responses(outcome: Outcome, name: str) -> list[int | None]:
    (lane,) = [lane for lane in outcome.run.tasks if lane.task.name == name]
    return [job.response for job in lane.jobs]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", choices=list(SHAPES), action="append")
    parser.add_argument("--stride", type=int, default=1, help="run every n-th case only")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    wrong = cases = 0
    for name in arguments.shape or SHAPES:
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            system = System(SHAPES[name], Path(folder), stack)
            good, _ = system.run(NOTHING)
            for number, trouble in enumerate([NOTHING, *system.troubles(good)]):
                if number % arguments.stride:
                    continue
                found = system.mistakes(trouble, good)
                cases += 1
                wrong += bool(found)
                if found or arguments.verbose:
                    threads = system.threads[trouble.victim]
                    print(f"{name}: {trouble.words(threads)}", *found, sep="\n    ", flush=True)
    print(f"{cases} cases, {wrong} with mistakes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
