# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Overruns in nested requests, in pools and in requests that come through a fixed CPI.

The figures were computed by hand. Each case has components of its own, which are released after those of the
one before are done: so one run shows all.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec import Struct

from camkes.running.kinds import Kind
from tests.runtime.host import Run, build

pytestmark = pytest.mark.requirement("RT-18")

MS = 1_000_000
SPACE = 200

HEAD = "#include <camkes/realtime.h>\n"
PROCEDURE = "procedure Section { int enter(in int ms); }\n"
USERS = """
component User { control; requestor; uses Section s; attribute int length; attribute int jobs; }
component Worker { control; requestor; attribute int length; }
"""
SOURCES = {
    "User": HEAD
    + """
int run(void)
{
    for (int i = 0; i < jobs && camkes_next_job(); i++) {
        const int result = s_enter(length);
        printf("%s %s at %d\\n", get_instance_name(), camkes_request_aborted() ? "aborted" : "served",
               (int)(camkes_now() / 1000000));
        if (result != 0 && result != length) {
            printf("wrong\\n");
        }
    }
    return 0;
}
""",
    "Worker": HEAD + "int run(void) { camkes_work(CAMKES_MS(length)); return 0; }\n",
}


def clause(protocol: str, policy: str, more: str = "") -> str:
    return f"provides Section s with priority_protocol {protocol}, overrun {policy}{more};"


#: a handler that works itself, and one that also requests: before, there, and after, in ms
LEAF = HEAD + "int s_enter(int ms) { camkes_work(CAMKES_MS(ms)); return ms; }\n"
PASS = HEAD + "int s_enter(int ms) { return next_enter(ms); }\n"


def nested(before: int, after: int) -> str:
    return (
        HEAD
        + f"""
int s_enter(int ms)
{{
    if (ms == 1) {{
        camkes_work(CAMKES_MS(1));
        return 1;
    }}
    camkes_work(CAMKES_MS({before}));
    next_enter(ms - {before + after});
    camkes_work(CAMKES_MS({after}));
    return ms;
}}
"""
    )


class Case(Struct, frozen=True):
    """Low has priority 10, 3 of 20 ms, and needs 6; high 30, 10 of 50, needs 1; middle 20, at 4, needs 8.
    `at` is when high comes; `high` and `middle` are responses, in ms. The handler of an outer CPI works for
    `work` before and after its nested request."""

    name: str
    at: int
    high: int
    middle: int
    parts: str
    work: tuple[int, int] | None = None


def connected(name: str, ends: str, to: str) -> str:
    return f"connection seL4RPCCall {name}{{n}}({ends}, to {to});"


CHAIN = (
    "component Outer{n} o{n}; component Inner i{n};"
    + connected("c", "from low{n}.s, from high{n}.s", "o{n}.s")
    + connected("d", "from o{n}.next", "i{n}.s")
)
POOL = (
    "component Pool p{n}; component Gate g{n}; component User other{n};"
    + connected("c", "from low{n}.s, from other{n}.s", "g{n}.s")
    + connected("d", "from g{n}.next, from high{n}.s", "p{n}.s")
)
FIXED = (
    "component Fixed f{n}; component Inner i{n};"
    + connected("c", "from low{n}.s", "f{n}.s")
    + connected("d", "from f{n}.next, from high{n}.s", "i{n}.s")
)
CASES = (
    # low is in the inner CPI when its budget ends, high waits for the outer one, and pays
    Case("inside", 2, 5, 11, CHAIN, (0, 0)),
    # and for what low does in the outer CPI after that
    Case("after", 2, 5, 11, CHAIN, (0, 2)),
    # high waited before low made the nested request
    Case("before", 1, 6, 11, CHAIN, (2, 1)),
    # high comes when low is without budget already
    Case("late", 5, 4, 12, CHAIN, (0, 0)),
    # a pool of two threads for three callers, two of which come through a lock
    Case("pool", 2, 5, 11, POOL),
    # through a fixed CPI
    Case("through", 2, 5, 11, FIXED),
)


class Two(Struct, frozen=True):
    """Two wait for the lock of the outer CPI while low is in the inner one: first, which is more urgent, has
    2 of 50 ms, second 10 of 50. Low has 3 of 50 and needs 6 in the inner CPI, `work` before and after that.
    `second` is the response of second, in ms."""

    name: str
    second: int
    work: tuple[int, int]
    parts: str


THROUGH = (
    "component Outer{n} o{n}; component Between{n} b{n}; component Inner i{n};"
    + connected("c", "from low{n}.s, from first{n}.s, from second{n}.s", "o{n}.s")
    + connected("d", "from o{n}.next", "b{n}.s")
    + connected("e", "from b{n}.next", "i{n}.s")
)
DIRECT = (
    "component Outer{n} o{n}; component Inner i{n};"
    + connected("c", "from low{n}.s, from first{n}.s, from second{n}.s", "o{n}.s")
    + connected("d", "from o{n}.next", "i{n}.s")
)
#: first pays from 3 to 5, then second for all that follows: low's sections, and that of first
TWO = (
    # low is in the inner CPI when they come: until 7, in the outer one until 8; first's section until 9
    Two("come", 8, (1, 1), DIRECT),
    # low makes its request at 4, when both wait: the inner CPI until 10, the outer one until 11
    Two("were-there", 11, (4, 1), DIRECT),
    # as the first, with one more CPI in between
    Two("through", 8, (1, 1), THROUGH),
    Two("were-there-through", 11, (4, 1), THROUGH),
)

EXTENDED = (
    "component User low{n}; component User high{n}; component Outer{n} o{n}; component Inner{n} i{n};"
    + connected("c", "from low{n}.s, from high{n}.s", "o{n}.s")
    + connected("d", "from o{n}.next", "i{n}.s")
)

#: top waits for high at a lock with `help`, and high for low at one without
NOT_BELOW = (
    "component User low{n}; component User high{n}; component User top{n};"
    "component First{n} f{n}; component Outer{n} o{n}; component Inner i{n};"
    + connected("c", "from high{n}.s, from top{n}.s", "f{n}.s")
    + connected("d", "from low{n}.s, from f{n}.next", "o{n}.s")
    + connected("e", "from o{n}.next", "i{n}.s")
)
NOT_BELOW_TASKS = (("low", 10, 10, 40, 0, 12), ("high", 20, 1, 10, 1, 4), ("top", 30, 10, 50, 3, 1))


def not_below(start: int) -> tuple[str, str, str]:
    """Components, parts and settings of the last case."""
    components = f"component First_n {{ {clause('inherited', 'help')} uses Section next; }}\n"
    components += f"component Outer_n {{ {clause('inherited', 'extend')} uses Section next; }}\n"
    settings = "o_n.s_extension = 3 ms; o_n.s_extension_period = 50 ms;"
    for task, priority, budget, period, at, length in NOT_BELOW_TASKS:
        settings += f"""
            {task}_n._priority = {priority}; {task}_n._period = {period} ms; {task}_n.jobs = 1;
            {task}_n._budget = {budget} ms; {task}_n._offset = {start + at} ms; {task}_n.length = {length};
        """
    return components, NOT_BELOW.format(n="_n"), settings


def system(cases: Sequence[Case] = CASES, twos: Sequence[Two] = TWO) -> tuple[str, dict[str, str]]:
    """With these cases, and the last two."""
    components = PROCEDURE + USERS
    sources = dict(SOURCES)
    components += f"component Inner {{ {clause('inherited', 'help')} }}\n"
    components += f"component Pool {{ {clause('inherited', 'help', ', 2 threads')} }}\n"
    components += f"component Gate {{ {clause('inherited', 'wait')} uses Section next; }}\n"
    components += f"component Fixed {{ {clause('fixed', 'abort')} uses Section next; }}\n"
    sources |= {"Inner": LEAF, "Pool": LEAF, "Fixed": PASS, "Gate": PASS}
    parts = settings = ""
    for number, case in enumerate(cases):
        n, start = number, 50 + SPACE * number
        if case.work is not None:
            components += f"component Outer{n} {{ {clause('inherited', 'help')} uses Section next; }}\n"
            sources[f"Outer{n}"] = nested(*case.work)
        parts += f"component User low{n}; component User high{n}; component Worker middle{n};"
        parts += case.parts.format(n=n)
        settings += f"""
            low{n}._priority = 10; low{n}._period = 20 ms; low{n}._budget = 3 ms;
            low{n}._offset = {start} ms; low{n}.length = 6; low{n}.jobs = 1;
            middle{n}._priority = 20; middle{n}._period = 50 ms;
            middle{n}._offset = {start + 4} ms; middle{n}.length = 8;
            high{n}._priority = 30; high{n}._period = 50 ms; high{n}._budget = 10 ms;
            high{n}._offset = {start + case.at} ms; high{n}.length = 1; high{n}.jobs = 1;
        """
        if case.parts == POOL:
            settings += f"other{n}._priority = 5; other{n}._period = 1 s; other{n}._offset = 1900 ms;"
            settings += f"other{n}.length = 1; other{n}.jobs = 1;"
    for number, two in enumerate(twos):
        n, start = f"_{number}", 50 + SPACE * (len(cases) + number)
        components += f"component Outer{n} {{ {clause('inherited', 'help')} uses Section next; }}\n"
        components += f"component Between{n} {{ {clause('inherited', 'help')} uses Section next; }}\n"
        sources |= {f"Outer{n}": nested(*two.work), f"Between{n}": PASS}
        parts += "".join(f"component User {task}{n};" for task in ("low", "first", "second"))
        parts += two.parts.format(n=n)
        for task, priority, budget, at in (("low", 10, 3, 0), ("first", 40, 2, 1), ("second", 30, 10, 2)):
            settings += f"""
                {task}{n}._priority = {priority}; {task}{n}._period = 50 ms; {task}{n}._budget = {budget} ms;
                {task}{n}._offset = {start + at} ms; {task}{n}.jobs = 1;
                {task}{n}.length = {6 + sum(two.work) if task == "low" else 1};
            """
    n, start = "_e", 50 + SPACE * (len(cases) + len(twos))
    components += f"component Outer{n} {{ {clause('inherited', 'extend')} uses Section next; }}\n"
    components += f"component Inner{n} {{ {clause('inherited', 'extend')} }}\n"
    sources |= {f"Outer{n}": nested(1, 1), f"Inner{n}": LEAF}
    parts += EXTENDED.format(n=n)
    settings += f"""
        low{n}._priority = 10; low{n}._period = 50 ms; low{n}._budget = 3 ms; low{n}._offset = {start} ms;
        high{n}._priority = 30; high{n}._period = 50 ms; high{n}._offset = {start + 2} ms;
        low{n}.length = 6; low{n}.jobs = 1; high{n}.length = 1; high{n}.jobs = 1;
        o{n}.s_extension = 3 ms; o{n}.s_extension_period = 50 ms;
        i{n}.s_extension = 3 ms; i{n}.s_extension_period = 50 ms;
    """
    more = not_below(start + 100)
    components, parts, settings = components + more[0], parts + more[1], settings + more[2]
    sources |= {"First_n": nested(3, 0), "Outer_n": nested(1, 1)}
    return components + f"assembly {{ composition {{ {parts} }} configuration {{ {settings} }} }}", sources


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    text, sources = system()
    return build(tmp_path_factory.mktemp("chains"), text, sources, mcs=True).run(
        duration=(50 + SPACE * (len(CASES) + len(TWO) + 1)) * MS
    )


@pytest.mark.mostly_long("before", "pool")
@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.name for case in CASES])
def test_those_that_wait_pay_for_the_deepest_worker(run: Run, number: int) -> None:
    case = CASES[number]
    for task, expected in (("high", case.high), ("middle", case.middle)):
        (end,) = run.of(Kind.JOB_END, f"{task}{number}")
        assert end.time - end.args[1] == expected * MS


@pytest.mark.parametrize("number", range(len(TWO)), ids=[two.name for two in TWO])
def test_the_next_one_further_up_pays(run: Run, number: int) -> None:
    for task, expected in (("first", 52), ("second", TWO[number].second), ("low", 50)):
        (end,) = run.of(Kind.JOB_END, f"{task}_{number}")
        assert end.time - end.args[1] == expected * MS


def test_an_extension_of_the_inner_cpi_is_followed_by_that_of_the_outer(run: Run) -> None:
    """Low has 3, and is in the inner CPI from 1 to 5, from 3 on on its extension; then until 6 on that of the
    outer one. So high, at 2, waits for that only, and then needs 1."""
    for task, expected in (("high_e", 5), ("low_e", 50)):
        (end,) = run.of(Kind.JOB_END, task)
        assert end.time - end.args[1] == expected * MS


def test_a_task_at_a_lock_without_help_does_not_pay_below_it(run: Run) -> None:
    """Low is in the inner CPI from 1 on, for 10, and has 10 of 40. High has 1 of 10, and top pays for it from
    3 to 5; then it waits for low, whose budget ends at 13. High has one again since 11, but does not pay:
    low goes on at 40, leaves the outer CPI at 42, and then high and top need 1 each."""
    for task, expected in (("top_n", 41), ("high_n", 43), ("low_n", 44)):
        (end,) = run.of(Kind.JOB_END, task)
        assert end.time - end.args[1] == expected * MS


def test_all_is_well_in_the_end(run: Run) -> None:
    assert "wrong" not in run.output
    assert run.violations() == []
    assert run.without_own_time() == []
