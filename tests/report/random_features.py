# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems in which features meet: `python -m tests.report.random_features --count 100`.

A system has tasks in a band of a scheduler, or none, and tasks of fixed priorities above and below it; CPIs
with random protocols, monitors among them, that request each other; two of them may be in a group; and for an
MCS kernel budgets and policies. What `check` rejects is left out. No property is broken in a run.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from camkes import pipeline
from camkes.diagnostics import Sink
from camkes.project.application import KERNEL_IS_MCS
from tests.runtime.host import HEAD, Built, build_found

DURATION = 120_000_000
PROTOCOLS = ("inherited", "inherited, monitor m", "propagated", "fixed")
POLICIES = ("wait", "extend", "abort", "suspend")
PERIODS = (4, 5, 6, 8, 10, 12, 15, 20)


class Parts(NamedTuple):
    """The lines of a system."""

    components: list[str]
    instances: list[str]
    settings: list[str]
    sources: dict[str, str]
    #: the interfaces that request each CPI
    users: defaultdict[int, list[str]]


def body(rng: random.Random, calls: Sequence[int], most: int) -> str:
    """Work of up to `most` microseconds before, between and after requests."""
    works = [f"camkes_work({rng.randint(20, most)} * 1000);" for _ in range(len(calls) + 1)]
    return "\n".join([*(f"{w} q{c}_go();" for w, c in zip(works, calls, strict=False)), works[-1]])


def uses(cpis: Sequence[int]) -> str:
    return " ".join(f"uses P q{number};" for number in dict.fromkeys(cpis))


def add_cpi(rng: random.Random, parts: Parts, number: int, count: int, *, mcs: bool) -> None:
    inner = [other for other in range(number + 1, count) if rng.random() < 0.45]
    protocol = rng.choice(PROTOCOLS)
    policy = ""
    if mcs and rng.random() < 0.6:
        policy = rng.choice((*POLICIES, "help") if protocol.startswith("inherited") else POLICIES)
    if policy == "extend":
        parts.settings.append(f"s{number}.p_extension = {rng.randint(300, 2000)} us;")
    requests = f"requests ({', '.join(f'q{other}' for other in inner)})"
    overrun = f", overrun {policy}" if policy else ""
    provides = f"provides P p with priority_protocol {protocol}, {requests}{overrun};"
    parts.components.append(f"component S{number} {{ {provides} {uses(inner)} }}")
    rollback = "void p__rollback(void) { }\n" if policy in ("abort", "suspend") else ""
    parts.sources[f"S{number}"] = f"void p_go(void) {{ {body(rng, inner, 300)} }}\n{rollback}"
    for other in inner:
        parts.users[other].append(f"s{number}.q{other}")


def add_task(rng: random.Random, parts: Parts, number: int, cpis: int, scheduler: str, *, mcs: bool) -> None:
    """`scheduler`: of its band, "": it has a priority of its own."""
    name = f"t{number}"
    called = rng.sample(range(cpis), rng.randint(0, min(3, cpis)))
    calls = [cpi for cpi in called for _ in range(rng.choice([1, 1, 2]))]
    for cpi in called:
        parts.users[cpi].append(f"{name}.q{cpi}")
    ordered = "uses UserScheduler band;" if scheduler else ""
    parts.components.append(f"component T{number} {{ control; requestor; {ordered} {uses(calls)} }}")
    parts.instances.append(f"component T{number} {name};")
    parts.sources[f"T{number}"] = (
        f"int run(void) {{ while (camkes_next_job()) {{ {body(rng, calls, 600)} }} return 0; }}\n"
    )
    period = rng.choice(PERIODS)
    settings = [f"{name}._period = {period} ms;", f"{name}._offset = {rng.randint(0, 3000)} us;"]
    if not scheduler:
        settings.append(f"{name}._priority = {rng.choice([120, 110, 90, 60, 60, 30])};")
    if scheduler == "FairScheduler":
        settings.append(f"{name}._weight = {rng.randint(1, 5)};")
    if mcs and (scheduler == "FairScheduler" or rng.random() < 0.8):
        settings.append(f"{name}._budget = {rng.randint(200, period * 800)} us;")
        if not scheduler:
            policy = rng.choice(["wait", "extend", "stop"])
            settings.append(f'{name}._overrun = "{policy}";')
            if policy == "extend":
                settings.append(f"{name}._extension = 500 us; {name}._extension_period = 10 ms;")
    parts.settings.extend(settings)


def prefix(end: str, group: Sequence[int]) -> str:
    """What is before the name of an end of a connection: the name of the group that its instance is in."""
    return "g." if end.partition(".")[0] in [f"s{number}" for number in group] else ""


def random_text(rng: random.Random, *, mcs: bool) -> tuple[str, dict[str, str]]:
    """The text of a system, and the code of its components."""
    parts = Parts([], [], [], {}, defaultdict(list))
    cpis, ordered = rng.randint(2, 4), rng.choice([0, 2, 2, 3])
    scheduler = rng.choice(["EDFScheduler", "EDFScheduler", "FairScheduler"] if mcs else ["EDFScheduler"])
    group = rng.sample(range(cpis), 2) if rng.random() < 0.35 else []
    for number in range(cpis):
        add_cpi(rng, parts, number, cpis, mcs=mcs)
        if number not in group:
            parts.instances.append(f"component S{number} s{number};")
    for number in range(ordered + rng.randint(1, 3)):
        add_task(rng, parts, number, cpis, scheduler if number < ordered else "", mcs=mcs)
    lines = list(parts.instances)
    if group:
        lines.append(f"group g {{ {' '.join(f'component S{n} s{n};' for n in group)} }}")
    for number, users in parts.users.items():
        ends = [f"from {prefix(user, group)}{user}" for user in users]
        cpi = f"s{number}.p"
        lines.append(f"connection seL4RPCCall c{number}({', '.join(ends)}, to {prefix(cpi, group)}{cpi});")
    if ordered:
        ends = [f"from t{number}.band" for number in range(ordered)]
        lines.append(f"component {scheduler} order;")
        lines.append(f"connection seL4UserScheduler band({', '.join(ends)}, to order.tasks);")
        parts.settings.append("order._priority = 100;")
    text = "\n".join(
        [
            *("import <user_scheduler.camkes>;", "procedure P { void go(); }", *parts.components),
            *("assembly { composition {", *lines, "} configuration {", *parts.settings, "} }", ""),
        ]
    )
    return text, parts.sources


def make(seed: int, folder: Path) -> Built | None:
    """The system of a seed, None if it has errors."""
    rng = random.Random(seed)
    mcs = rng.random() < 0.6
    text, sources = random_text(rng, mcs=mcs)
    root = folder / "system.camkes"
    root.write_text(HEAD + text)
    definitions = ((KERNEL_IS_MCS, "ON"),) if mcs else ()
    found = pipeline.check(pipeline.Input(root, preprocess=False, definitions=definitions), Sink())
    return None if found is None else build_found(folder, found, sources)


def problems(built: Built) -> list[str]:
    run = built.run(duration=DURATION)
    return [*map(str, run.violations()), *([run.errors] if run.status != 0 else [])]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100, help="systems")
    parser.add_argument("--seed", type=int, default=1, help="of the first")
    options = parser.parse_args()
    wrong = rejected = 0
    for seed in range(options.seed, options.seed + options.count):
        with tempfile.TemporaryDirectory() as folder:
            built = make(seed, Path(folder))
            found = [] if built is None else problems(built)
        rejected += built is None
        wrong += bool(found)
        for line in found[:3]:
            print(f"{seed}: {line}", flush=True)
    print(f"{options.count} systems, {rejected} rejected, {wrong} with problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
