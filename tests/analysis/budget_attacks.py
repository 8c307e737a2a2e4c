# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Looks for a response above its bound in random systems for an MCS kernel, run on the host kernel: CPIs of
all protocols nested in each other, with all overrun policies; tasks with budgets of both kinds, some too
short, with policies of their own; criticalities, some of which code sets; some in one address space;
monitors; pools; tasks that others release; waits with helpers. In every second system, tasks do not keep
their execution times and make more requests than stated: the others must be isolated from them. With --bands:
without budgets, and some of the tasks ordered by their deadlines.

    python -m tests.analysis.budget_attacks [--count SYSTEMS] [--seed FIRST] [--runs RUNS] [--bands]
"""

from __future__ import annotations

import argparse
import itertools
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from camkes.analysis.budgets import budget_results
from camkes.analysis.criticality import level_results
from camkes.analysis.demand import Time
from camkes.analysis.platform import FREE, Platform
from camkes.diagnostics import Sink
from camkes.pipeline import Checked
from camkes.running.decode import decode
from camkes.running.kinds import Kind
from tests.analysis.pools import few_threads
from tests.analysis.random_budgets import (
    UNIT,
    WIDE_VARIANTS,
    Attack,
    Part,
    Step,
    attack,
    banded,
    own_work,
)
from tests.runtime.host import Built, Run, build_found, checked, describe

#: how often tasks that are not trusted do what they do
GREED = 3
#: which jobs of critical tasks do more than others
LONGER = 5

#: what is needed to know when jobs begin and end
JOBS = frozenset(
    {
        *(Kind.TIMER, Kind.SIGNAL, Kind.JOB_BEGIN, Kind.JOB_END, Kind.JOB_STOP, Kind.JOB_LEFT_OUT),
        *(Kind.CRITICALITY, Kind.END),
    }
)


class _Text:
    """What the text of a system and its code are made of."""

    def __init__(self, system: Attack, threads: Mapping[str, int]) -> None:
        self.rng = random.Random(system.kind)
        self.system, self.threads = system, threads
        self.parts = {part.name: part for part in (*system.tasks, *system.cpis, *system.servers)}
        self.configuration: list[str] = []
        self.composition: list[str] = []
        self.groups: dict[str, list[str]] = {}
        self.ends: dict[str, list[str]] = {}
        self.items: dict[str, list[str]] = {}
        self.sources: dict[str, str] = {}
        for part in self.parts.values():
            self._add(part)

    def where(self, name: str) -> str:
        group = self.parts[name].group
        return f"{group}.{name}" if group else name

    def _connect(self, kind: str, ends: str) -> None:
        self.composition.append(f"connection {kind} n{len(self.composition)}({ends});")

    def _add(self, part: Part) -> None:
        home, interface = part.inside or part.name, "q" if part.inside else "p"
        task, server = part in self.system.tasks, part in self.system.servers
        callees = sorted({step for step in part.body if isinstance(step, str)} - {"s0"})
        items = self.items.setdefault(home, [])
        items += [f"uses P to_{callee};" for callee in callees]
        if not part.inside:
            self.groups.setdefault(part.group, []).append(f"component {part.name.title()} {part.name};")
        for callee in callees:
            self.ends.setdefault(callee, []).append(f"from {self.where(home)}.to_{callee}")
        for key, value in part.settings.items():
            prefix = "" if key.endswith("requests") else "_" if task else f"{interface}_"
            self.configuration.append(f"{home}.{prefix}{key} = {value};")
        code = "\n".join(_line(self.rng, part, step) for step in part.body)
        if task or server:
            items.append("control; requestor;")
            if part.name in self.system.band:
                items.append("uses UserScheduler band;")
            self.sources[home.title()] = self._task(part, code) if task else self._server(part, code)
            return
        more = f", {self.threads[part.name]} threads" if part.name in self.threads else ""
        requests = ", ".join(f"to_{callee}" for callee in callees)
        items.append(f"provides P {interface} with {part.clauses}{more}, requests ({requests});")
        length = part.settings.get("extension", "0 ns").removesuffix(" ns")
        undo = self.rng.choice((0, max(int(length) // self.rng.choice((1, 2)) - 1, 0)))
        self.sources[home.title()] = self.sources.get(home.title(), "") + (
            f"void {interface}_go(void) {{ {code} }}\n"
            f"void {interface}__rollback(void) {{ camkes_work({undo}u); }}\n"
        )

    def _task(self, part: Part, code: str) -> str:
        items = self.items[part.name]
        if part.after:
            items.append(f"consumes Go from_{part.after};")
            self.items[part.after].append(f"emits Go to_{part.name};")
            ends = (
                f"from {self.where(part.after)}.to_{part.name}, to {self.where(part.name)}.from_{part.after}"
            )
            self._connect("seL4NotificationNative", ends)
        if "s0" in part.body:
            items.append("emits Ask ask; consumes Told told with helpers;")
            within = own_work(self.system.servers[0].body) * UNIT
            self.configuration.append(f"{part.name}.told_within = {within} ns;")
            self._connect("seL4NotificationNative", f"from {self.where(part.name)}.ask, to s0.ask")
            self._connect("seL4Notification", f"from s0.told, to {self.where(part.name)}.told")
        emits = "".join(f"to_{other.name}_emit();" for other in self.system.tasks if other.after == part.name)
        if part.sets:
            items.append("criticality_control;")
            code = f"if (job % {LONGER} == 2) {{ camkes_set_criticality({part.sets}); }} {code}"
        again = f"for (int again = 0; again < {GREED}; again++)" if part.greedy else ""
        return (
            "int run(void) { for (int job = 0; camkes_next_job(); job++) {"
            f" {again} {{ {code} }} {emits} }} return 0; }}\n"
        )

    def _server(self, part: Part, code: str) -> str:
        self.items[part.name].append("consumes Ask ask; emits Told told;")
        self.configuration.append(f"{part.name}._priority = 1;")
        return f"int run(void) {{ for (;;) {{ ask_wait(); {code} told_emit(); }} }}\n"

    def written(self) -> str:
        lines = ["procedure P { void go(); }"]
        lines += [f"component {home.title()} {{ {' '.join(items)} }}" for home, items in self.items.items()]
        instances = self.groups.pop("", [])
        instances += [f"group {name} {{ {' '.join(inside)} }}" for name, inside in self.groups.items()]
        for callee, callers in self.ends.items():
            of = self.parts[callee]
            end = f"{self.where(of.inside)}.q" if of.inside else f"{self.where(callee)}.p"
            self._connect("seL4RPCCall", f"{', '.join(callers)}, to {end}")
        if self.system.band:
            lines.insert(0, "import <user_scheduler.camkes>;")
            instances.append("component EDFScheduler edf;")
            ends = ", ".join(f"from {name}.band" for name in self.system.band)
            self._connect("seL4UserScheduler", f"{ends}, to edf.tasks")
            self.configuration.append("edf._priority = 100;")
        body = ["composition {", *instances, *self.composition, "} configuration {", *self.configuration, "}"]
        return "\n".join([*lines, "assembly {", *body, "}"]) + "\n"


def written(system: Attack, threads: Mapping[str, int] = MappingProxyType({})) -> tuple[str, dict[str, str]]:
    """The system as text, and its code. Each piece of work is a nanosecond shorter than stated: a job that
    would end when another one is released ends before it."""
    text = _Text(system, threads)
    return text.written(), text.sources


def pools(system: Attack, found: Checked) -> Mapping[str, int]:
    """For the CPIs that can have fewer threads, the least that suffice."""
    few = few_threads(found.plan)
    named = ((part.name, f"{part.group}.{part.name}.p".lstrip(".")) for part in system.cpis)
    return {name: few[planned] for name, planned in named if planned in few}


def prepared(
    folder: Path, seed: int, *, wide: bool = False, bands: bool = False
) -> tuple[Attack, Checked, dict[str, str]]:
    """A system, planned, and its code: with as few threads as suffice, in every second one with pools."""
    system, sink = banded(seed) if bands else attack(seed, wide=wide), Sink()
    text, sources = written(system)
    found = checked(folder, text, sink, mcs=True)
    if wide and system.kind % 2:
        text, sources = written(system, pools(system, found))
        found = checked(folder, text, sink, mcs=True)
    assert not sink.has_errors, describe(sink)
    return system, found, sources


def _line(rng: random.Random, part: Part, step: Step) -> str:
    if step == "s0":
        return "ask_emit(); told_wait();"
    if isinstance(step, str):
        return f"to_{step}_go();"
    most = max(step * UNIT - 1, 0)
    least = rng.choice((most, most, most // 2, 0))
    work = f"camkes_work_between({least}u, {most}u);"
    if part.more == 1:
        return work
    longer = f"camkes_work_between({most}u, {max(part.more * step * UNIT - 1, 0)}u);"
    return f"if (job % {LONGER} == 1) {{ {longer} }} else {{ {work} }}"


def _responses(run: Run, system: Attack) -> list[tuple[str, int, bool, int]]:
    """The jobs: of which task, how long each takes (so far), if it has ended, and the highest criticality
    in between, or that whose time it needs, for those of tasks that do more in some."""
    found = decode(run.events, run.names)
    changes = [(0, 0), *found.criticality]
    ends = [*(time for time, _ in found.criticality), found.end]
    longer = {part.name: int(part.settings["criticality"]) for part in system.tasks if part.more > 1}
    jobs = []
    for lane in found.tasks:
        for begun, job in enumerate(lane.jobs):  # as code counts them: without those that are left out
            end = found.end if job.end is None else job.end
            spans = zip(changes, ends, strict=True)
            level = max((c[1] for c, until in spans if c[0] < end and job.release < until), default=0)
            if begun % LONGER == 1:
                level = max(level, longer.get(lane.task.name, 0))
            jobs.append((lane.task.name, end - job.release, job.end is not None, level))
    return jobs


def bounds_of(
    system: Attack, found: Checked, platform: Platform = FREE
) -> Mapping[tuple[str, int], tuple[str, Time]]:
    """For tasks and criticalities that have a bound, its kind and value."""
    if system.critical:
        levels = level_results(found.system, found.plan, platform)
        return {(e.task.name, e.level): ("at a criticality", e.ours) for e in levels if e.ours is not None}
    greedy = {part.name for part in system.tasks if part.greedy}
    kind = "trusted" if system.trusted else "isolated"
    results = (
        each for each in budget_results(found.system, found.plan, platform) if each.task.name not in greedy
    )
    bounds = {each.task.name: each.trusted if system.trusted else each.isolated for each in results}
    return {(name, 0): (kind, e.response) for name, e in bounds.items() if e.response is not None}


def problems(
    system: Attack,
    built: Built,
    bounds: Mapping[tuple[str, int], tuple[str, Time]],
    runs: int,
    *,
    verify: bool = False,
) -> tuple[list[str], Counter[str]]:
    """Responses above their bounds; how many were compared, and how many had no bound."""
    counted: Counter[str] = Counter()
    wrong: list[str] = []
    longest: Counter[tuple[str, int]] = Counter()
    period = max(int(part.settings["period"].removesuffix(" ns")) for part in system.tasks)
    for number in range(runs):
        choices = "first" if number == 0 else f"random:{number}"
        duration, kinds = min(20 * period, 400_000_000), frozenset(Kind) if verify else JOBS
        run = built.run("--fast", "--choices", choices, duration=duration, kinds=kinds)
        if run.status:
            wrong.append(f"run {number} ends with {run.status}: {run.errors[-200:]}")
        if verify:
            wrong += [f"run {number}: {violation}" for violation in run.violations()][:2]
        for name, took, ended, level in _responses(run, system):
            level = max(level, system.reached)
            if (name, level) not in bounds:
                counted["without bound"] += ended
                continue
            kind, bound = bounds[name, level]
            counted[kind] += ended
            longest[name, level] = max(longest[name, level], took)
            if took > bound:
                wrong.append(f"run {number}: {name} takes {took}, its bound at {level} is {bound}")
    counted["exact"] = sum(took > bounds[key][1] - 20 for key, took in longest.items() if took)
    counted["tasks"] = len(longest)
    return wrong, counted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", type=int, default=100, metavar="SYSTEMS", help="that have a bound")
    parser.add_argument("--seed", type=int, default=0, metavar="FIRST")
    parser.add_argument("--runs", type=int, default=4, help="of each system")
    parser.add_argument("--bands", action="store_true", help="a component orders tasks by their deadlines")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir(), "budget-attacks"))
    given = parser.parse_args()
    counted: Counter[str] = Counter()
    for seed in itertools.count(given.seed):
        if counted["systems"] == given.count:
            break
        if seed % 100 == 0:
            print(f"{seed}: {dict(counted)}", flush=True)
        alike = given.folder / str(seed // WIDE_VARIANTS)
        if seed % WIDE_VARIANTS == 0:
            shutil.rmtree(alike.parent / str(seed // WIDE_VARIANTS - 1), ignore_errors=True)
        try:
            system, found, sources = prepared(alike, seed, wide=True, bands=given.bands)
        except AssertionError as error:
            counted["rejected"] += 1
            print(f"{seed}: {error}", flush=True)
            continue
        if not (bounds := bounds_of(system, found)):
            counted["systems without bounds"] += 1
            continue
        wrong, more = problems(system, build_found(alike, found, sources), bounds, given.runs)
        counted += more
        counted["systems"] += 1
        counted["wrong"] += bool(wrong)
        for line in wrong[:3]:
            print(f"{seed}: {line}", flush=True)
    print(dict(counted))
    return 1 if counted["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
