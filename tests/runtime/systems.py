# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Small systems whose tasks contend, for every protocol and nesting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from _pytest.mark import ParameterSet

#: of CPIs
PROTOCOLS = ("inherited", "propagated", "fixed")


def every_pair(firsts: Sequence[str], seconds: Sequence[str]) -> list[ParameterSet]:
    """Parameters of a test: each of both is in a short run, each with each in a long one."""
    return [
        pytest.param(first, second, marks=[] if (i + j) % len(seconds) == 0 else [pytest.mark.long])
        for i, first in enumerate(firsts)
        for j, second in enumerate(seconds)
    ]


PROCEDURE = "procedure P { void go(); }\n"

TASK = """
int run(void)
{
    while (camkes_next_job()) {
        camkes_work(CAMKES_US(10));
        p_go();
        camkes_work(CAMKES_US(10));
    }
    return 0;
}
"""
PASS = """
void p_go(void)
{
    camkes_work(CAMKES_US(20));
    n_go();
    camkes_work(CAMKES_US(20));
}
"""
TWICE = """
void p_go(void)
{
    n_go();
    camkes_work(CAMKES_US(10));
    m_go();
}
"""
LEAF = """
void p_go(void)
{
    camkes_work(CAMKES_US(60));
}
"""


@dataclass(frozen=True)
class Contended:
    """`tasks` are (name, priority, offset in us); a period of 1 ms for all."""

    name: str
    components: str
    composition: str
    tasks: tuple[tuple[str, int, int], ...]
    settings: str = ""
    sources: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        tasks = "\n".join(f"component Task {name};" for name, _, _ in self.tasks)
        settings = "\n".join(
            f"{name}._priority = {priority}; {name}._period = 1 ms; {name}._offset = {offset} us;"
            for name, priority, offset in self.tasks
        )
        return f"""{PROCEDURE}
component Task {{ control; requestor; uses P p; }}
{self.components}
assembly {{
    composition {{
        {tasks}
        {self.composition}
    }}
    configuration {{
        {settings}
        {self.settings}
    }}
}}
"""

    @property
    def code(self) -> dict[str, str]:
        return {"Task": TASK, **self.sources}


def _leaf(protocol: str) -> str:
    return f"component Leaf {{ provides P p with priority_protocol {protocol}, requests (); }}\n"


def _pass(name: str, protocol: str, extra: str = "") -> str:
    clauses = f"priority_protocol {protocol}, requests (n){extra}"
    return f"component {name} {{ provides P p with {clauses}; uses P n; }}\n"


_THREE = (("a", 10, 0), ("b", 20, 30), ("c", 20, 50))

ONE_LOCK = Contended(
    "one-lock",
    _leaf("inherited"),
    """component Leaf leaf;
       connection seL4RPCCall x(from a.p, from b.p, from c.p, to leaf.p);""",
    _THREE,
    sources={"Leaf": LEAF},
)

#: three of one priority that arrive together
EQUALS = Contended(
    "equals",
    _leaf("inherited"),
    """component Leaf leaf;
       connection seL4RPCCall x(from a.p, from b.p, from c.p, from d.p, to leaf.p);""",
    (("a", 10, 0), ("b", 20, 30), ("c", 20, 30), ("d", 20, 30)),
    sources={"Leaf": LEAF},
)

#: waiters of different priorities, the lower one first
RANKS = Contended(
    "ranks",
    _leaf("inherited"),
    """component Leaf leaf;
       connection seL4RPCCall x(from a.p, from b.p, from c.p, to leaf.p);""",
    (("a", 10, 0), ("b", 20, 30), ("c", 30, 45)),
    sources={"Leaf": LEAF},
)

CHAIN = Contended(
    "chain",
    _pass("Pass", "inherited") + _leaf("inherited"),
    """component Pass one; component Pass two; component Leaf leaf;
       connection seL4RPCCall x1(from a.p, from b.p, to one.p);
       connection seL4RPCCall x2(from c.p, to two.p);
       connection seL4RPCCall x3(from one.n, from two.n, to leaf.p);""",
    _THREE,
    sources={"Pass": PASS, "Leaf": LEAF},
)

#: the same, but `a` inherits before it makes its nested request
RAISED_BEFORE = replace(CHAIN, name="raised-before", tasks=(("a", 10, 0), ("b", 20, 12), ("c", 20, 50)))

#: `a` waits for the leaf behind `e`, and passes it when `b` comes to wait for `one`
QUEUE_MOVES = Contended(
    "queue-moves",
    _pass("Pass", "inherited") + _leaf("inherited"),
    """component Pass one; component Leaf leaf;
       connection seL4RPCCall x1(from a.p, from b.p, to one.p);
       connection seL4RPCCall x2(from one.n, from d.p, from e.p, to leaf.p);""",
    (("d", 5, 0), ("a", 10, 20), ("e", 20, 60), ("b", 30, 72)),
    sources={"Pass": PASS, "Leaf": LEAF},
)

#: inheritance that arrives at `one` travels through a propagated CPI to the lock at the end
THROUGH_PROPAGATED = Contended(
    "through-propagated",
    _pass("Lock", "inherited") + _pass("Free", "propagated") + _leaf("inherited"),
    """component Lock one; component Free mid; component Leaf leaf;
       connection seL4RPCCall x1(from a.p, from b.p, to one.p);
       connection seL4RPCCall x2(from one.n, from c.p, to mid.p);
       connection seL4RPCCall x3(from mid.n, to leaf.p);""",
    _THREE,
    sources={"Lock": PASS, "Free": PASS, "Leaf": LEAF},
)

THREE_LOCKS = Contended(
    "three-locks",
    _pass("Lock", "inherited") + _leaf("inherited"),
    """component Lock one; component Lock two; component Leaf leaf;
       connection seL4RPCCall x1(from a.p, from b.p, to one.p);
       connection seL4RPCCall x2(from one.n, from c.p, to two.p);
       connection seL4RPCCall x3(from two.n, from d.p, to leaf.p);""",
    (("a", 10, 0), ("b", 30, 40), ("c", 20, 30), ("d", 30, 50)),
    sources={"Lock": PASS, "Leaf": LEAF},
)

#: what is inherited at the first reaches the fourth
FOUR_LOCKS = Contended(
    "four-locks",
    _pass("Lock", "inherited") + _leaf("inherited"),
    """component Lock one; component Lock two; component Lock three; component Leaf leaf;
       connection seL4RPCCall x1(from a.p, from b.p, to one.p);
       connection seL4RPCCall x2(from one.n, to two.p);
       connection seL4RPCCall x3(from two.n, to three.p);
       connection seL4RPCCall x4(from three.n, from c.p, to leaf.p);""",
    (("a", 10, 0), ("b", 30, 50), ("c", 20, 40)),
    sources={"Lock": PASS, "Leaf": LEAF},
)

FIXED_LEAF = Contended(
    "fixed-leaf",
    _pass("Lock", "inherited") + _leaf("fixed"),
    """component Lock one; component Leaf leaf;
       connection seL4RPCCall x1(from a.p, from b.p, to one.p);
       connection seL4RPCCall x2(from one.n, from c.p, to leaf.p);""",
    _THREE,
    sources={"Lock": PASS, "Leaf": LEAF},
)

NON_PREEMPTIVE = Contended(
    "non-preemptive",
    _pass("Lock", "inherited") + _leaf("fixed"),
    FIXED_LEAF.composition,
    _THREE,
    settings="leaf.p_priority = 255;",
    sources={"Lock": PASS, "Leaf": LEAF},
)

#: a fixed CPI is a context of its own at the lock behind it
FIXED_CALLER = Contended(
    "fixed-caller",
    _pass("Top", "fixed") + _leaf("inherited"),
    """component Top top; component Leaf leaf;
       connection seL4RPCCall x1(from a.p, from b.p, to top.p);
       connection seL4RPCCall x2(from top.n, from c.p, to leaf.p);""",
    _THREE,
    sources={"Top": PASS, "Leaf": LEAF},
)

#: at most two requests can be at `mid` at once, so two threads serve three tasks
POOL = Contended(
    "pool",
    _pass("Lock", "inherited") + _pass("Free", "propagated", ", 2 threads") + _leaf("inherited"),
    """component Lock one; component Free mid; component Leaf leaf;
       connection seL4RPCCall x1(from a.p, from b.p, to one.p);
       connection seL4RPCCall x2(from one.n, from c.p, to mid.p);
       connection seL4RPCCall x3(from mid.n, to leaf.p);""",
    _THREE,
    sources={"Lock": PASS, "Free": PASS, "Leaf": LEAF},
)

POOLED_LOCK = Contended(
    "pooled-lock",
    _pass("Lock", "inherited") + _pass("Pooled", "inherited", ", 2 threads") + _leaf("inherited"),
    """component Lock one; component Pooled mid; component Leaf leaf;
       connection seL4RPCCall x1(from a.p, from b.p, to one.p);
       connection seL4RPCCall x2(from one.n, from c.p, to mid.p);
       connection seL4RPCCall x3(from mid.n, from d.p, to leaf.p);""",
    (("a", 10, 0), ("b", 30, 40), ("c", 20, 30), ("d", 30, 50)),
    sources={"Lock": PASS, "Pooled": PASS, "Leaf": LEAF},
)

#: two nested requests in one, to different locks
TWO_NESTED = Contended(
    "two-nested",
    """component Twice { provides P p with priority_protocol inherited, requests (n, m); uses P n; uses P m; }
"""
    + _leaf("inherited"),
    """component Twice one; component Leaf left; component Leaf right;
       connection seL4RPCCall x1(from a.p, from b.p, to one.p);
       connection seL4RPCCall x2(from one.n, from c.p, to left.p);
       connection seL4RPCCall x3(from one.m, to right.p);""",
    _THREE,
    sources={"Twice": TWICE, "Leaf": LEAF},
)

ALL = (
    ONE_LOCK,
    EQUALS,
    RANKS,
    CHAIN,
    RAISED_BEFORE,
    QUEUE_MOVES,
    THROUGH_PROPAGATED,
    THREE_LOCKS,
    FOUR_LOCKS,
    FIXED_LEAF,
    NON_PREEMPTIVE,
    FIXED_CALLER,
    POOL,
    POOLED_LOCK,
    TWO_NESTED,
)
