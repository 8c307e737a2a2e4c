# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What happens when a budget is used up: the policies of tasks and of CPIs, in one table.

Only an MCS kernel has budgets. Other modules use these properties and compare no names.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

#: criticalities are 0 to LEVELS - 1
LEVELS = 4


class OverrunRules(Struct, frozen=True, kw_only=True):
    """A policy. `task`, `cpi`: what can have it. `extends`: execution goes on on a reservation of its own;
    `aborts`: the request ends without a result; `suspends`: and its task waits until it is resumed; `helps`:
    on the budgets of those that wait; `stops`: the job ends, and counts as missed; `raises`: the criticality
    of the system rises. `binds`: a thread of the tool gives and takes scheduling contexts of tasks."""

    about: str  # for a user
    task: bool = False
    cpi: bool = False
    extends: bool = False
    aborts: bool = False
    suspends: bool = False
    helps: bool = False
    stops: bool = False
    raises: bool = False
    binds: bool = False


class OverrunPolicy(Enum):
    """The value is the word for it in `.camkes` files."""

    WAIT = "wait"
    HELP = "help"
    EXTEND = "extend"
    ABORT = "abort"
    SUSPEND = "suspend"
    STOP = "stop"
    RAISE = "raise"

    @property
    def rules(self) -> OverrunRules:
        return TABLE[self]


TABLE = {
    OverrunPolicy.WAIT: OverrunRules(about="execution goes on with the next budget", task=True, cpi=True),
    OverrunPolicy.HELP: OverrunRules(
        about="the request goes on at once, on the budgets of the tasks that wait for it",
        cpi=True,
        helps=True,
        binds=True,
    ),
    OverrunPolicy.EXTEND: OverrunRules(
        about="execution goes on at once, on a reservation of its own",
        task=True,
        cpi=True,
        extends=True,
        binds=True,
    ),
    OverrunPolicy.ABORT: OverrunRules(
        about="the request ends without a result", cpi=True, aborts=True, binds=True
    ),
    OverrunPolicy.SUSPEND: OverrunRules(
        about="as `abort`, and the task waits until it is resumed",
        cpi=True,
        aborts=True,
        suspends=True,
        binds=True,
    ),
    OverrunPolicy.STOP: OverrunRules(about="the job ends, and counts as missed", task=True, stops=True),
    OverrunPolicy.RAISE: OverrunRules(about="the criticality of the system rises", task=True, raises=True),
}

OF_TASKS = tuple(policy for policy, rules in TABLE.items() if rules.task)
OF_CPIS = tuple(policy for policy, rules in TABLE.items() if rules.cpi)


class ServerKind(Enum):
    """How a scheduling context accounts for time: a sporadic server gets back what was used one period after
    it was used, one of constant bandwidth all of its budget at once."""

    SPORADIC = "sporadic"
    CONSTANT_BANDWIDTH = "constant_bandwidth"


class Degraded(Enum):
    """What a task does while the criticality of the system is above its own: none of its jobs execute; they
    execute in the time that others leave; they are released less often."""

    SUSPEND = "suspend"
    BACKGROUND = "background"
    STRETCH = "stretch"


class Degradation(Struct, frozen=True):
    """`factor`: by how much `stretch` makes periods longer; 1 for the others."""

    kind: Degraded = Degraded.BACKGROUND
    factor: int = 1


def from_level(stated: tuple[int | None, ...], level: int) -> int | None:
    """The value that holds at a level: that of the highest level, up to this one, with a value."""
    return next((value for value in reversed(stated[: level + 1]) if value is not None), None)
