# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Figures of the modules that take a whole system, as in test_all_formulas: budgets, criticality, proposals,
warnings, and the limits that a search of schedules checks. Bounds with budgets are
compared with simulations in test_budgets, margins and priorities with all others in test_assignment."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from camkes.analysis import assignment
from camkes.diagnostics import Sink
from camkes.model.protocols import Protocol
from camkes.model.system import System
from camkes.protocols import analyse
from camkes.protocols.plan import Plan
from tests.analysis.budget_reference import SimTask
from tests.analysis.formulas import ANALYSIS, text
from tests.analysis.test_after_a_fall import LATE_B
from tests.analysis.test_after_a_fall import RAISED as A_RAISES
from tests.analysis.test_budgets import CHAIN, LOCK, of_deadline, of_tasks, planned, table_1
from tests.analysis.test_late_budgets import (
    AFTER,
    EXTENDED_TWICE,
    GROWS_LATE,
    PAYING,
    RAISED_TWICE,
    RAISING,
    RISING,
    ROLLED_BACK_IN_MONITOR,
    ROLLED_BACK_INSIDE,
    TWO_JOBS,
)
from tests.golden import compare

pytestmark = pytest.mark.requirement("AN-4")

GOLDEN = Path(__file__).parent / "golden" / "figures_of_systems.txt"
COUNT = 60

SECOND = CHAIN % "second._period = 20 ms; second._budget = 4 ms; %s"
LATE = SECOND % "first._budget = 500 us;"
CHAINS = (
    CHAIN % "",
    SECOND % 'second._server = "constant_bandwidth";',
    # without a bound for `first` those up to the priority of `second` have none
    *(LATE.replace("task._priority = 20", f"task._priority = {priority}") for priority in (20, 30, 40)),
    # and those up to the other one that it releases
    LATE.replace("component Task {", "component Task { consumes Go go;")
    .replace("component First {", "component First { emits Go also;")
    .replace(
        "to second.go);", "to second.go); connection seL4NotificationNative d(from first.also, to task.go);"
    )
    .replace("task._priority = 20; task._period = 40 ms", 'task._priority = 40; task._release = "go"'),
)
#: The policies of two CPIs that a holder executes in differ.
NESTED = """
import <std_connector.camkes>;
procedure Access { void use(); };
component User { control; requestor; uses Access p; }
component Outer { provides Access p with priority_protocol inherited, overrun abort; uses Access below; }
component Inner { provides Access p with priority_protocol inherited, overrun extend; }
assembly {
    composition {
        component User low; component User high; component Outer outer; component Inner inner;
        connection seL4RPCCall a(from low.p, from high.p, to outer.p);
        connection seL4RPCCall b(from outer.below, to inner.p);
    }
    configuration {
        low._priority = 10; low._period = 20 ms; low._budget = 3 ms; low._wcet = 0;
        high._priority = 30; high._period = 90 ms; high._wcet = 1 ms;
        outer.p_wcet = 1 ms; outer.p_extension = 2 ms; inner.p_wcet = 1 ms;
        inner.p_extension = 12 ms; inner.p_extension_period = 20 ms;
    }
}
"""
#: `raises` can use more than its execution time before the criticality rises, and so `low` has more jobs.
RAISED = """
component Task { control; requestor; }
assembly {
    composition { component Task low; component Task raises; component Task last; }
    configuration {
        low._priority = 30; low._period = 5 ms; low._wcet = 1 ms;
        raises._priority = 20; raises._period = 60 ms; raises._wcet = 2 ms; raises._budget = 8 ms;
        raises._criticality = 1; raises._overrun = "raise"; raises._wcet_1 = 9 ms; raises._budget_1 = 9 ms;
        last._priority = 10; last._period = 60 ms; last._wcet = 3 ms; last._criticality = 1;
    }
}
"""

#: The same, where a component may set the criticality.
SETTABLE = (
    RAISED.replace("assembly", "component Setter { control; criticality_control; }\nassembly")
    .replace("component Task last;", "component Task last; component Setter setter;")
    .replace("low._priority = 30;", "low._priority = 30; setter._priority = 1;")
)

#: `a` is kept waiting anew, as its budget is not twice its execution time.
ANEW = """
import <std_connector.camkes>;
procedure Access { void use(); };
component User { control; requestor; uses Access p; }
component Lock { provides Access p with priority_protocol inherited, overrun help; }
assembly {
    composition {
        component User a; component User b; component Lock x;
        connection seL4RPCCall k(from a.p, from b.p, to x.p);
    }
    configuration {
        a._priority = 20; a._period = 90 ms; a._wcet = 3 ms; a._budget = 6 ms; a._criticality = 1;
        b._priority = 10; b._period = 90 ms; b._wcet = 3 ms; b._budget = 50 ms; x.p_wcet = 1 ms;
    }
}
"""

#: `z` has a manager of its own, and `v` a server that can be late.
ANOTHER = (
    RAISED_TWICE.replace("component Worker z;", "component User z; component Other other;")
    .replace(
        "assembly",
        "component Other { provides Access s with priority_protocol inherited, overrun abort; }\nassembly",
    )
    .replace("    configuration {", '    configuration { other.s_wcet = 0; v._server = "constant_bandwidth";')
    .replace("to server.s);", "to server.s); connection seL4RPCCall d(from z.s, to other.s);")
    .replace("v._budget = 1 ms; v._budget_1 = 5 ms;", "v._budget = 18 ms; v._budget_1 = 19 ms;")
    .replace("n._priority = 35", "n._priority = 15")
)

#: `low` pays for `high`, which can be without a budget, before `mid`, and has more at criticality 1.
PAID_BY_LOWER = """
import <std_connector.camkes>;
procedure Access { void use(); };
component User { control; requestor; uses Access p; }
component Task { control; requestor; }
component Lock { provides Access p with priority_protocol inherited, overrun help; }
assembly {
    composition {
        component User high; component Task mid; component User low; component Lock x;
        connection seL4RPCCall k(from high.p, from low.p, to x.p);
    }
    configuration {
        high._priority = 30; high._period = 50 ms; high._wcet = 1 ms; high._budget = 3 ms;
        high._criticality = 1;
        mid._priority = 20; mid._period = 200 ms; mid._wcet = 2 ms; mid._criticality = 1;
        low._priority = 10; low._period = 200 ms; low._wcet = 2 ms; low._criticality = 1;
        low._budget = 5 ms; low._budget_1 = 9 ms; x.p_wcet = 1 ms;
    }
}
"""

#: In 45 ms `above` has its extension up to five times.
EXTENDED = """
component Task { control; requestor; }
assembly {
    composition { component Task above; component Task low; }
    configuration {
        above._priority = 20; above._period = 45 ms; above._wcet = 20 ms; above._budget = 2 ms;
        above._overrun = "extend"; above._extension = 3 ms; above._extension_period = 10 ms;
        low._priority = 10; low._period = 90 ms; low._wcet = 5 ms;
    }
}
"""


def _locks(tasks: str, connections: str, settings: str) -> str:
    return f"""
import <std_connector.camkes>;
procedure Access {{ void use(); }};
component User {{ control; requestor; uses Access p; }}
component Both {{ control; requestor; uses Access p; uses Access q; }}
component Lock {{ provides Access p with priority_protocol inherited; }}
assembly {{ composition {{ {tasks} component Lock x; component Lock y; {connections} }}
configuration {{ x.p_wcet = 1 ms; y.p_wcet = 1 ms; {settings} }} }}
"""


def _times(priorities: dict[str, int], period: int = 100) -> str:
    return " ".join(
        f"{name}._priority = {priority}; {name}._period = {period} ms; {name}._wcet = 1 ms;"
        for name, priority in priorities.items()
    )


#: b has the priority of a, and only c is below.
EQUALS = _locks(
    "component Both a; component User b; component User c;",
    "connection seL4RPCCall k(from a.p, from b.p, to x.p);"
    " connection seL4RPCCall l(from a.q, from c.p, to y.p);",
    _times({"a": 20, "b": 20, "c": 10}),
)
#: a requests the lock twice.
TWICE = _locks(
    "component Both a; component User b; component User c; component User d;",
    "connection seL4RPCCall k(from a.p, from a.q, from b.p, from c.p, from d.p, to x.p);",
    _times({"a": 40, "b": 30, "c": 20, "d": 10}),
)
#: Only the task with the longest deadline requests a CPI.
ALONE = _locks(
    "component User a; component User b;",
    "connection seL4RPCCall k(from b.p, to x.p);",
    "a._priority = 2; a._period = 4 ms; a._wcet = 1 ms; b._priority = 1; b._period = 90 ms; b._wcet = 1 ms;",
)
#: A job as long as its deadline, a processor that is needed all of the time, and for longer.
FULL = (
    (("a", 2, 10, 10),),
    (("a", 3, 10, 5), ("b", 2, 20, 5), ("c", 1, 40, 10)),
    (("a", 3, 10, 5), ("b", 2, 20, 5), ("c", 1, 40, 20)),
)


def _settings(rng: random.Random, task: int) -> dict[str, str]:
    """Times, budgets and criticalities of a task."""
    period = rng.choice((10, 20, 20, 40, 50))
    wcet = rng.randint(0, 4)
    budget = rng.choice((0, wcet, wcet + 1, wcet + 2, 2 * wcet + 2, wcet - 1))
    settings = {
        "priority": str(rng.choice((10 * task + 10, 10))),
        "period": f"{period} ms",
        "wcet": f"{wcet} ms",
        "criticality": str(rng.choice((0, 0, 1, 2))),
        "wcet_1": f"{wcet + rng.randint(0, 3)} ms",
    }
    if rng.random() < 0.3:
        settings["deadline"] = f"{period - rng.choice((0, 4, -8))} ms"
    if budget > 0:
        settings["budget"] = f"{min(budget, period)} ms"
        settings["budget_1"] = f"{min(budget + rng.randint(1, 4), period)} ms"
        settings["server"] = rng.choice(('"sporadic"', '"constant_bandwidth"'))
        settings["overrun"] = rng.choice(('"wait"', '"wait"', '"extend"', '"raise"'))
        settings["extension"] = f"{rng.randint(1, 3)} ms"
        settings["extension_period"] = f"{rng.choice((period, period, period // 2, 2 * period))} ms"
        if rng.random() < 0.5:
            settings["refills"] = str(rng.randint(2, 5))
    return settings


def random_system(rng: random.Random, *, mcs: bool) -> tuple[System, Plan]:
    """Up to four tasks with budgets and criticalities, and up to two CPIs that they share, the second of
    which the first may request."""
    tasks, cpis = rng.randint(1, 4), rng.randint(0, 2)
    deep = cpis == 2 and rng.random() < 0.5
    lines, uses, components = [], [], []
    for task in range(tasks):
        name, settings = f"t{task}", _settings(rng, task)
        lines += [f"{name}._{word} = {value};" for word, value in settings.items()]
        reached = [cpi for cpi in range(cpis) if rng.random() < 0.6 and not (deep and cpi == 1)]
        uses += [(f"{name}.to{cpi}", cpi) for cpi in reached]
        items = " ".join(f"uses Access to{cpi};" for cpi in reached)
        components.append(
            (f"component T{task} {{ control; requestor; {items} }}", f"component T{task} {name};")
        )
    for cpi in range(cpis):
        protocol = rng.choice(("inherited", "inherited", "inherited", "fixed", "propagated"))
        below = "uses Access below;" if deep and cpi == 0 else ""
        components.append(
            (
                f"component C{cpi} {{ provides Access p with priority_protocol {protocol}; {below} }}",
                f"component C{cpi} c{cpi};",
            )
        )
        uses += [("c0.below", 1)] if below else []
        policy = rng.choice(("wait", "wait", "help", "extend", "abort"))
        lines += [f"c{cpi}.p_wcet = {rng.randint(0, 3)} ms; c{cpi}.p_wcet_1 = {rng.randint(3, 4)} ms;"]
        lines += [f'c{cpi}.p_overrun = "{policy}"; c{cpi}.p_extension = {rng.randint(1, 5)} ms;']
        lines += [f"c{cpi}.p_extension_period = {rng.choice((5, 10, 10, 20, 40))} ms;"]
    connections = []
    for cpi in range(cpis):
        ends = ", ".join(f"from {end}" for end, to in uses if to == cpi)
        if ends:
            connections.append(f"connection seL4RPCCall k{cpi}({ends}, to c{cpi}.p);")
    instances = " ".join(instance for _, instance in components)
    text = "\n".join(component for component, _ in components)
    return planned(
        f"import <std_connector.camkes>; procedure Access {{ void use(); }};\n{text}\nassembly {{"
        f" composition {{ {instances} {' '.join(connections)} }} configuration {{ {' '.join(lines)} }} }}",
        mcs=mcs,
    )


@cache
def systems() -> tuple[tuple[System, Plan], ...]:
    policies = ("", 'store.p_overrun = "help";', 'store.p_overrun = "extend"; store.p_extension = 6 ms;')
    found = [of_tasks(*table_1(*given)) for given in ((), (7,))]
    found += [of_tasks(*table_1(7, raises=True, t2=t2)) for t2 in (4, 13)]
    found += [planned(LOCK % (budget, 6, policy)) for policy in policies for budget in (7, 12, 20)]
    for extension, period in ((14, 20), (13, 20), (14, 21)):  # lasts for the overruns of its period, or not
        policy = f'store.p_overrun = "extend"; store.p_extension = {extension} ms;'
        found.append(planned(LOCK % (20, 1, f"{policy} store.p_extension_period = {period} ms;")))
    more = RAISED.replace("raises._wcet = 2 ms", "raises._wcet = 4 ms")
    found += [planned(text) for text in (*CHAINS, NESTED, RAISED, more, EXTENDED, ANEW)]
    found += [planned(AFTER % ("abort", above)) for above in (2, 3, 5)]
    # two lower tasks without a budget in one lock, for 17 and for 18
    text = LOCK.replace("User h;", "User h; component User k;").replace("from l.p,", "from l.p, from k.p,")
    more = "k._priority = 5; k._period = 20 ms; k._budget = 2 ms; k._wcet = 0;"
    found.append(planned(text % (20, 2, more)))
    found += [planned(RAISED_TWICE % 30), planned(ANOTHER % 30)]
    missed = (RAISED_TWICE % 30).replace("v._wcet =", "v._deadline = 1 ms; v._wcet =")
    found.append(planned(missed.replace("v._budget_1 = 5 ms", "v._budget_1 = 6 ms")))
    found += [of_deadline(7, 20), of_deadline(20, 7)]
    waiting = RAISING.replace("low._wcet = 40 ms", "low._wcet = 81 ms") % ("wait", "")
    found += [planned(waiting), planned(waiting.replace("t._wcet_1", "t._budget_2 = 12 ms; t._wcet_1"))]
    found.append(planned(waiting.replace("t._budget_1 = 10 ms", "t._budget_1 = 3 ms; t._budget_2 = 12 ms")))
    late = SECOND % 'second._overrun = "extend"; second._extension = 1 ms;'
    found.append(planned(late.replace("first._wcet = 1 ms", "first._wcet = 3 ms")))  # by 17 of 20 ms
    found.append(planned(late.replace("first._wcet = 1 ms", "first._wcet = 5 ms")))  # by 17, and for 4
    found += [planned(PAYING % (budget, 6, 'store.p_overrun = "help";')) for budget in (23, 24)]
    # roll-backs of two jobs can be 100 - 12 apart
    extension = "store.p_extension = 2 ms; store.p_extension_period = %d ms;"
    found += [planned(RAISING % ("abort", extension % period)) for period in (88, 89)]
    found += map(planned, (ROLLED_BACK_INSIDE, ROLLED_BACK_IN_MONITOR, EXTENDED_TWICE, TWO_JOBS, GROWS_LATE))
    enough = RAISING.replace(
        "t._budget = 3 ms; t._budget_1 = 10 ms;", "t._budget = 10 ms; t._budget_1 = 11 ms;"
    )
    found.append(planned(enough % ("wait", "")))
    more = "b._criticality = 2; b._budget_2 = 9 ms;"
    rising = RISING.replace("b._criticality = 1;", more).replace("t._criticality = 1;", "t._criticality = 2;")
    found.append(planned(rising % ("", 'a._overrun = "raise"; b._overrun = "raise";')))
    found += map(planned, (PAID_BY_LOWER, SETTABLE, RISING % ("", A_RAISES + LATE_B)))
    found.append(of_tasks(SimTask("a", 2, 10, 5, 5), SimTask("b", 1, 10, 5, 5)))  # at its deadline
    return (*found, *(random_system(random.Random(seed), mcs=True) for seed in range(COUNT)))


@cache
def without_budgets() -> tuple[tuple[System, Plan], ...]:
    found = [planned(text, mcs=False) for text in (EQUALS, TWICE, ALONE)]
    found += [of_tasks(*(SimTask(*task) for task in tasks)) for tasks in FULL]
    return (*found, *(random_system(random.Random(seed), mcs=False) for seed in range(COUNT // 3)))


def figures(a: SimpleNamespace, found: list[Any]) -> None:
    """What this analysis says of systems that have all that there is."""
    ours = a.Platform(
        "ours", "", "camkes-rt", 1_000_000_000, a.Halves(5, 3), a.FixedCost(7, 2), a.Halves(4, 4),
        a.InheritanceCost(acquire=1, release=2, queue=3, update=10, settle=20, clear=40),
        a.TimerCost(2, 1), raised=7,
    )  # fmt: skip
    for system, plan in systems():
        for platform in (a.FREE, ours):
            budgets = a.budget_results(system, plan, platform)
            levels = a.level_results(system, plan, platform)
            found.append([(each.task.name, each.trusted, each.isolated) for each in budgets])
            found.append([(each.task.name, each.level, each.smc, each.amc, each.ours) for each in levels])
            found.append(sorted(a.late_tasks(budgets, levels)))
    for system, plan in without_budgets():
        _without_budgets(a, found, system, plan)
    found.append(_trials(a))


def _trials(a: SimpleNamespace) -> int:
    """How many tasks Audsley's algorithm tries where orders matter, and none of eight tasks fits above all
    others."""
    tried = []

    def analyse_task(workload: Any, platform: Any, name: str) -> SimpleNamespace:
        tried.append(name)
        highest = next(task.priority for task in workload.tasks if task.name == name) == 8
        return SimpleNamespace(verdict=a.Verdict.MISSED if highest else a.Verdict.MET)

    tasks = tuple(a.WorkloadTask(f"t{index}", index, 9, 9, 1) for index in range(8))
    cpis = (a.WorkloadCpi("fixed", Protocol.FIXED, 1), a.WorkloadCpi("lock", Protocol.INHERITED, 1))
    with patch.object(assignment, "analyse_task", analyse_task):
        assert assignment.assign(a.Workload(tasks, cpis), a.FREE, a.Policy.AUDSLEY) is None
    return len(tried)


def _without_budgets(a: SimpleNamespace, found: list[Any], system: System, plan: Plan) -> None:
    for jobs in (0, 1, 2):
        found.append(sorted(a.blocking_limits(system, plan, jobs).items()))
    sink = Sink()
    a.warn(system, plan, sink)
    found.append([(each.code.number, each.message, each.span.column) for each in sink.diagnostics])
    workload = a.workload_of(system, plan)
    analysis = a.analyse(workload, a.FREE)
    found.append(a.margins(workload, a.FREE))
    found.append(list(a.changes(system, analysis, analyse)))
    slow = a.Platform("slow", clock=3_000_000, plain=a.Halves(1, 1))  # not whole nanoseconds
    found.append(list(a.changes(system, a.analyse(workload, slow), analyse)))
    found.append([assignment.assign(workload, a.FREE, policy) for policy in a.Policy])
    other = assignment.changed(workload, {task.name: 100 - task.priority for task in workload.tasks})
    found.append([cpi.ceiling for cpi in other.cpis])
    for count in (1, 2, 3, 24, 25, 26, 127, 250, 251):
        found.append(assignment.values_for(workload, count)[-3:])


def test_results_of_all_formulas_are_those_of_the_file() -> None:
    found: list[Any] = []
    figures(ANALYSIS, found)
    compare(text(found), GOLDEN)
