# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""On an MCS kernel the task that makes a request pays for it, whoever executes it.

The figures were computed by hand; 163 was explained when a run had shown it. Servers and clients of each kind
are by themselves and have a time of their own, so one run shows all.
"""

from __future__ import annotations

import re

import pytest

from camkes.running.kinds import Kind
from tests.runtime.host import Run, build

#: each call of these overruns is in tests/runtime/unit
pytestmark = [pytest.mark.requirement("RT-21"), pytest.mark.long]

MS = 1_000_000

#: the clause, the priorities of two clients with 5 ms in 10 each, and how many requests of 3 and of 1 ms end
#: within a second
REQUESTS = {
    # the server, which is less urgent than both, pays: they take turns
    "active": ("", (20, 20), (250, 250)),
    # each client pays for its own, and nothing else counts
    "propagated": (" with priority_protocol propagated", (20, 21), (166, 500)),
    # so it is here, but the second comes to the lock only when the first, which is more urgent, has no
    # budget: that divides it, until each request of the first is interrupted, and one of the second follows
    "fixed": (" with priority_protocol fixed", (21, 20), (166, 163)),
}

SERVERS = "".join(
    f"component S{name} {{ provides Work w{clause}; }}\n" for name, (clause, *_) in REQUESTS.items()
)
COMPONENTS = f"""
procedure Work {{ void spend(in int ms); }}
component Client {{ control; requestor; uses Work w; attribute int length; attribute int until; }}
component Once {{ control; requestor; uses Work w; attribute int length; }}
{SERVERS}
"""
INSTANCES = "".join(
    f"component Client {name}_a; component Client {name}_b; component S{name} {name};"
    f"connection seL4RPCCall c_{name}(from {name}_a.w, from {name}_b.w, to {name}.w);\n"
    for name in REQUESTS
)
SETTINGS = "".join(
    f"{name}_{who}._priority = {priority}; {name}_{who}._period = 10 ms;"
    f"{name}_{who}._offset = {2000 * number} ms;"
    f"{name}_{who}._budget = 5 ms; {name}_{who}.length = {length};"
    f"{name}_{who}.until = {2000 * number + 1000};\n"
    for number, (name, (_, priorities, _)) in enumerate(REQUESTS.items())
    for who, length, priority in zip("ab", (3, 1), priorities, strict=True)
)
#: a request of a less urgent client in the way of an urgent one
SYSTEM = f"""
{COMPONENTS}
assembly {{
    composition {{
        {INSTANCES}
        component Once first; component Once second; component Sfixed shared;
        connection seL4RPCCall c(from first.w, from second.w, to shared.w);
    }}
    configuration {{
        {SETTINGS}
        active.w_priority = 10;
        first._priority = 20; first._period = 20 ms; first._budget = 3 ms; first.length = 4;
        second._priority = 30; second._period = 50 ms; second.length = 4;
        first._offset = 6000 ms; second._offset = 6001 ms;
    }}
}}
"""

HEAD = "#include <camkes/realtime.h>\n"
SOURCES = {
    "Client": HEAD
    + """
int run(void)
{
    int requests = 0;
    while (camkes_now() < CAMKES_MS(until)) {
        w_spend(length);
        requests += camkes_now() <= CAMKES_MS(until);
    }
    printf("%s: %d\\n", get_instance_name(), requests);
    return 0;
}
""",
    "Once": HEAD + "int run(void) { w_spend(length); return 0; }\n",
    **{f"S{name}": HEAD + "void w_spend(int ms) { camkes_work(CAMKES_MS(ms)); }\n" for name in REQUESTS},
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return build(tmp_path_factory.mktemp("pays"), SYSTEM, SOURCES, mcs=True).run(duration=7000 * MS)


@pytest.mark.long
def test_requests_in_a_second(run: Run) -> None:
    text = "".join(event.text for event in run.of(Kind.OUTPUT))
    found = {name: int(number) for name, number in re.findall(r"(\w+): (\d+)", text)}
    assert found == {
        f"{name}_{who}": number
        for name, (*_, numbers) in REQUESTS.items()
        for who, number in zip("ab", numbers, strict=True)
    }


def test_one_without_budget_keeps_a_fixed_server(run: Run) -> None:
    (end,) = run.of(Kind.JOB_END, "second")
    assert end.time - end.args[1] == 24 * MS
    assert run.violations() == []
