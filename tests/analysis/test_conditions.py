# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Response times where jobs wait `with helpers`: figures of the paper, and runs on the host kernel."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from camkes.analysis.codes import MAY_WAIT
from camkes.analysis.obstacles import find_obstacles
from camkes.cli.main import main
from camkes.protocols.requests import Chain
from tests.command import camkes
from tests.end_to_end.support import loop, write
from tests.protocols.test_groups import planned

pytestmark = pytest.mark.requirement("AN-9")

EXAMPLES = Path(__file__).parents[2] / "examples"
MS = 1_000_000


def analysed(path: Path, capsys: pytest.CaptureFixture[str], status: int = 0) -> dict[str, dict[str, int]]:
    """What `camkes analyze` says of each task."""
    assert main(["analyze", str(path), "--json"]) == status
    return {task["name"]: task for task in json.loads(capsys.readouterr().out)["tasks"]}


@pytest.mark.long
def test_table_i(capsys: pytest.CaptureFixture[str]) -> None:
    """Two clients execute for 10 ms and wait for a server, which executes for 4.5 ms and may have begun with
    the other: 14.5 + 4.5; 2 * 14.5; and the third task waits for both, 10 + 2 * 14.5. All are attained."""
    found = analysed(EXAMPLES / "helpers", capsys)
    responses = {name: task["response"] / MS for name, task in found.items()}
    assert responses == {"client1": 19, "client2": 29, "annoyer": 39}
    assert found["client1"]["blocking"] == 4.5 * MS
    assert main(["analyze", str(EXAMPLES / "helpers"), "--explain", "client1"]) == 0
    text = capsys.readouterr().out
    assert "4.5 ms  client1.reply: 1 wait of 4.5 ms\n" in text
    assert "4.5 ms  client2 in client2.reply: its helpers are at work for it, or will be before\n" in text
    assert "Case: a response of 19 ms, the bound is exact, if what is assumed is so\n" in text


def test_a_helper_that_is_not_analysed_is_in_the_plan(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", str(EXAMPLES / "helpers")]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[:5]]
    assert rows[0] == ["task", "id", "priority", "C", "B", "R"]
    assert rows[4] == ["server", "3", "50", "-", "-", "-"]


#: Clients of two servers: period, execution time, and the times of the servers for it, in milliseconds.
CLIENTS = ((50, 10, 2, 2), (80, 12, 5, 4), (120, 20, 4, 1))


def clients(folder: Path, servers: int = 2, settings: str = "") -> Path:
    """Clients that wait for each server once in a job, as far as there are so many."""
    count = range(len(CLIENTS))
    waits = "".join(f"emits Ask ask{s}; consumes Told told{s} with helpers;" for s in range(servers))
    told = "".join(f"emits Told told{c};" for c in count)
    lines = [f"component Client c{c}; " for c in count] + [f"component Server s{s};" for s in range(servers)]
    for s in range(servers):
        ends = ", ".join(f"from c{c}.ask{s}" for c in count)
        lines.append(f"connection seL4NotificationNative ask{s}({ends}, to s{s}.ask);")
        lines += [
            f"connection seL4Notification told{s}{c}(from s{s}.told{c}, to c{c}.told{s});" for c in count
        ]
    given = [f"s{s}._priority = 1;" for s in range(servers)]
    for c, (period, work, *times) in enumerate(CLIENTS):
        given.append(f"c{c}._priority = {9 - c}; c{c}._period = {period} ms; c{c}._wcet = {work} ms;")
        given += [f"c{c}.told{s}_within = {times[s]} ms;" for s in range(servers)]
    return write(
        folder,
        f"component Client {{ control; requestor; {waits} }}\n"
        f"component Server {{ control; requestor; consumes Ask ask; {told} }}\n",
        f"composition {{ {' '.join(lines)} }} configuration {{ {' '.join(given)} {settings} }}",
        {},
    )


#: Both servers end the wait of the most urgent client first, as those of Cucinotta et al. do.
URGENT_FIRST = "s0._urgent_first = true; s1._urgent_first = true;"


def test_three_clients_of_two_servers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first waits for the second in one server and for the third in the other: 4 + 4, not 5 + 1 and not
    5 + 4. C is 14, 21, 25: R1 = 14 + 8, R2 = 21 + 4 + 14, R3 = 25 + 2 * 14 + 21."""
    found = analysed(clients(tmp_path, 2, URGENT_FIRST), capsys)
    assert [task["wcet"] / MS for task in found.values()] == [14, 21, 25]
    assert [task["blocking"] / MS for task in found.values()] == [8, 4, 0]
    assert [task["response"] / MS for task in found.values()] == [22, 39, 74]


@pytest.mark.parametrize("settings", ["", "s0._urgent_first = true; s1._urgent_first = false;"])
def test_a_server_may_have_any_order(
    settings: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With any order in both servers both others can be ahead in the first one: 5 + 4. With any order in the
    second alone they can both be ahead there, 4 + 1, but one in each, 4 + 4, is more."""
    found = analysed(clients(tmp_path, 2, settings), capsys)
    first = 8 if settings else 9
    assert [task["blocking"] / MS for task in found.values()] == [first, 4, 0]
    assert [task["response"] / MS for task in found.values()] == [14 + first, 39, 74]


def in_order_of_arrival(folder: Path, settings: str = "") -> Path:
    """Three clients of a server that executes 5 ms for each, in the order of their requests."""
    clients = "".join(f"component Client c{i}; " for i in (1, 2, 3))
    told = "".join(f"connection seL4Notification told{i}(from s.told{i}, to c{i}.told); " for i in (1, 2, 3))
    work = ((1, 2, 3), (2, 1, 2), (3, 1, 0))
    given = "".join(
        f"c{i}.number = {i}; c{i}.work = {w}; c{i}._wcet = {w} ms; c{i}._offset = {offset} ms;"
        f" c{i}._priority = {9 - i}; c{i}._period = 100 ms; c{i}.told_within = 5 ms;"
        for i, w, offset in work
    )
    body = "MS(work); char *q = queue; q[++q[0]] = (char)number; ask_emit(); told_wait();"
    served = "q[next] == 1 ? told1_emit() : q[next] == 2 ? told2_emit() : told3_emit();"
    return write(
        folder,
        """component Client { control; requestor; dataport Buf queue; emits Ask ask;
            consumes Told told with helpers; attribute int number; attribute int work; }
        component Server { control; requestor; dataport Buf queue; consumes Ask ask;
            emits Told told1; emits Told told2; emits Told told3; }""",
        f"""composition {{ {clients} component Server s; {told}
            connection seL4NotificationNative ask(from c1.ask, from c2.ask, from c3.ask, to s.ask);
            connection seL4SharedData queue(from c1.queue, from c2.queue, from c3.queue, to s.queue); }}
        configuration {{ s._priority = 1; {given} {settings} }}""",
        {
            "Client": loop(body),
            "Server": f"""int run(void) {{
                const volatile char *q = queue;
                for (unsigned next = 1;; next++) {{
                    while (!q[next]) {{ ask_wait(); }}
                    camkes_work(CAMKES_MS(5));
                    {served}
                }}
            }}""",
        },
    )


@pytest.mark.long
def test_a_run_in_the_order_of_arrival(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The third asks at 1, the second at 3, the first, released at 3, at 5 ms: the server ends their waits at
    9, 14 and 19 ms. R is 7 + 2 * 5; 7 + 5, if the server were one that takes the most urgent first."""
    path = in_order_of_arrival(tmp_path)
    words = ("--for", "90ms", "--verify", "-o", tmp_path / "build", "--json")
    seen = {t["name"]: t for t in json.loads(camkes("run", path, *words).output)["tasks"]}
    assert seen["c1"]["response"]["max"] == 16 * MS
    assert analysed(path, capsys)["c1"]["response"] == 17 * MS
    stated = in_order_of_arrival(tmp_path, "s._urgent_first = 1;")
    assert analysed(stated, capsys)["c1"]["response"] == 12 * MS


def test_conditions_with_a_helper_in_common_have_one_lock(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With one server the first waits once, for the longer time: 12 + 5. So do servers that help each other's
    clients, in all conditions."""
    one = analysed(clients(tmp_path / "one", 1, "s0._urgent_first = true;"), capsys)
    assert [task["blocking"] / MS for task in one.values()] == [5, 4, 0]
    every = '["s0", "s1"]'
    both = "".join(f"c{c}.told{s}_helpers = {every};" for c in range(3) for s in range(2))
    path = clients(tmp_path / "both", 2, both)
    assert main(["analyze", str(path)]) == 1  # s0 cannot emit what s1 does
    assert "E0518" in capsys.readouterr().err


# Systems that have no bound -----------------------------------------------------------------------


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ("s1._priority = 1;", "s1._priority = 8;", "E0903", "has priority 8, above that of a task"),
        ("s1._priority = 1;", "s1._priority = 1; s1._period = 90 ms; s1._wcet = 1;", "E0903",
         "its helper `s1` waits for its next release"),
        ("consumes Told told0 with helpers;", "consumes Told told0;", "E0903",
         "`c0` can wait for the event `told0` without a bound"),
        ("from c0.ask1", "from clock.tick, from c0.ask1", "E0903",
         "`s1` can wait for the event `ask` without a bound"),
    ],
)  # fmt: skip
def test_waits_without_a_bound(
    old: str, new: str, code: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = clients(tmp_path)
    text = path.read_text()
    assert old in text
    text = text.replace(old, new)
    if "clock" in new:
        text = text.replace(
            "component Client {", "component Clock { control; emits Ask tick; } component Client {"
        )
        text = text.replace("composition {", "composition { component Clock clock;")
    path.write_text(text)
    assert main(["analyze", str(path)]) == 1
    errors = capsys.readouterr().err
    assert f"error[{code}]" in errors and message in errors


@pytest.mark.parametrize(("function", "reported"), [("told0_wait_until", True), ("told0_wait", False)])
def test_waits_that_can_be_given_up(function: str, reported: bool, tmp_path: Path) -> None:
    """c0 asks s0 for 4 ms and gives up: then these are still to be done when c1 asks."""
    system, plan = planned(tmp_path, clients(tmp_path).read_text())
    place = plan.conditions[0].span
    chain = Chain(("run", function), (place,), sure=True)
    found = []
    for known in (False, True):
        assert not found
        lending = replace(plan.conditions[0].lending, waiters={"c0": chain}, known=known)
        conditions = (replace(plan.conditions[0], lending=lending), *plan.conditions[1:])
        found = [each.problem for each in find_obstacles(system, replace(plan, conditions=conditions))]
    assert [(each.code, each.span) for each in found] == [(MAY_WAIT, place)] * reported
    if reported:
        assert "`c0` can give up its wait for `c0.told0`" in found[0].message


def test_tasks_that_wait_for_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "each_other.camkes"
    path.write_text(
        """import <std_connector.camkes>;
        component Task { control; requestor; emits E sent; consumes E awaited with helpers, within 1 ms; }
        assembly {
            composition {
                component Task a;
                component Task b;
                connection seL4Notification one(from a.sent, to b.awaited);
                connection seL4Notification two(from b.sent, to a.awaited);
            }
            configuration { a._priority = 10; b._priority = 10; }
        }"""
    )
    assert main(["check", str(path)]) == 0
    assert main(["analyze", str(path)]) == 1
    errors = capsys.readouterr().err
    for name in ("a.awaited", "b.awaited"):
        assert f"a wait for `{name}` has no bound: what its helpers do can wait for it, too" in errors


def test_servers_may_have_the_priority_of_the_least_urgent_client(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = clients(tmp_path)
    path.write_text(path.read_text().replace("s1._priority = 1;", "s1._priority = 7;"))
    assert [task["response"] / MS for task in analysed(path, capsys).values()] == [23, 39, 74]


@pytest.mark.long
@pytest.mark.parametrize(
    ("job", "served", "waits"),
    [
        ("if (told_poll()) { MS(1); }", "free_post();", []),
        ("told_wait();", "free_post();", ["event `told`"]),
        ("told_wait_until(camkes_now());", "free_wait();", ["event `told`", "semaphore `free`"]),
    ],
)
def test_what_no_code_waits_for_has_no_bound_to_miss(
    job: str, served: str, waits: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The mutex `own` is of one thread, so it is never waited for."""
    path = write(
        tmp_path,
        """
        procedure Use { void use(); }
        component Task { control; requestor; uses Use p; consumes Told told; }
        component One { control; requestor; uses Use p; has mutex own; emits Told tell; }
        component Store { provides Use p with priority_protocol inherited; has semaphore free; }""",
        """
        composition {
            component Task a;
            component One b;
            component Store store;
            connection seL4RPCCall c(from a.p, from b.p, to store.p);
            connection seL4Notification n(from b.tell, to a.told);
        }
        configuration {
            a._priority = 10; a._period = 20 ms; a._wcet = 1 ms; a.told_priority = 1;
            b._priority = 5; b._period = 40 ms; b._wcet = 1 ms; store.p_wcet = 1 ms;
        }""",
        {
            "Task": loop(f"p_use(); {job}"),
            "One": loop("p_use(); W(own_lock()); tell_emit(); W(own_unlock());"),
            "Store": f"void p_use(void) {{ {served} }}",
        },
    )
    status = main(["analyze", str(path), "-o", str(tmp_path / "out")])
    errors = capsys.readouterr().err
    assert re.findall(r"can wait for the (.*) without a bound", errors) == waits
    assert status == (1 if waits else 0) and "was not read" not in errors
    assert main(["analyze", str(path), "--text"]) == 1
    assert capsys.readouterr().err.count("= note: its code, which was not read, may never wait for it") == 2
