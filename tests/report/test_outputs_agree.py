# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""All outputs of one run say the same, whatever happens in it, and it is what was worked out by hand."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.end_to_end.support import system

from .compare import Outputs, Piece, chrome_tracks, compare_outputs

pytestmark = pytest.mark.requirement("TOOL-10")

MS = 1_000_000
LOCK = """
procedure P {{ void go(); }}
component Low {{ control; requestor; uses P s; }}
component Mid {{ control; requestor; }}
component High {{ control; requestor; uses P s; }}
component Store {{ provides P p with priority_protocol inherited; }}
assembly {{
    composition {{
        {order}
        component Store store;
        connection seL4RPCCall c(from low.s, from high.s, to store.p);
    }}
    configuration {{
        low._priority = 10; low._period = 50 ms;
        mid._priority = 20; mid._period = 50 ms; mid._offset = 2 ms;
        high._priority = 30; high._period = 50 ms; high._offset = 1 ms;
        {settings}
    }}
}}
"""
ORDER = "component Low low; component Mid mid; component High high;"
CALL = "int run(void) { while (camkes_next_job()) { camkes_work(100000); s_go(); } return 0; }\n"
WORK = "int run(void) { while (camkes_next_job()) camkes_work(CAMKES_MS(3)); return 0; }\n"
SERVE = "void p_go(void) { camkes_work(CAMKES_MS(3)); }\n"
CODE = {"low.c": CALL, "mid.c": WORK, "high.c": CALL, "store.c": SERVE}
CRASH = "void p_go(void) { camkes_work(CAMKES_MS(2)); *(volatile int *)8 = 1; }\n"


def lock_system(folder: Path, order: str = ORDER, settings: str = "", **code: str) -> Path:
    text = LOCK.format(order=order, settings=settings)
    return system(folder, text, CODE | {f"{name}.c": body for name, body in code.items()})


def lanes(outputs: Outputs) -> dict[str, list[Piece]]:
    return chrome_tracks(outputs.chrome, "task")


def threads(outputs: Outputs) -> dict[str, list[Piece]]:
    return chrome_tracks(outputs.chrome, "state")


def task(outputs: Outputs, name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(t for t in outputs.report["tasks"] if t["name"] == name)
    return found


def counts(outputs: Outputs, name: str) -> tuple[int, int, int, int]:
    """Jobs: released, completed, missed, open."""
    about = task(outputs, name)
    return about["released"], about["completed"], about["missed"], about["open"]


@pytest.mark.long
def test_a_normal_run(tmp_path: Path) -> None:
    outputs = compare_outputs(lock_system(tmp_path))
    words = {name: [piece.words for piece in pieces] for name, pieces in lanes(outputs).items()}
    assert "waits for the lock of store.p, held by store.p@low since 100 us" in words["high"]
    assert "held up by work in store.p at priority 30" in words["mid"]
    assert "preempted" in words["low"]
    assert counts(outputs, "high") == (2, 2, 0, 0)
    # a component without `control`: its thread did its work and ended
    assert threads(outputs)["store"][-1].state == "ended"


@pytest.mark.long
def test_a_handler_that_faults_while_it_holds_its_lock(tmp_path: Path) -> None:
    outputs = compare_outputs(lock_system(tmp_path, store=CRASH))
    (fault,) = outputs.report["faults"]
    assert (fault["thread"], fault["time"], fault["task"]) == ("store.p@low", 2_200_000, "low")
    final = {name: pieces[-1].words for name, pieces in lanes(outputs).items()}
    assert final["high"] == "waits for the lock of store.p, held by store.p@low since 100 us"
    assert final["low"] == "waits for a reply of store.p"
    assert threads(outputs)["store.p@low"][-1].state == "stopped by a fault"
    assert counts(outputs, "low") == (2, 0, 2, 0)  # the last deadline is that of the run's end
    assert counts(outputs, "high") == (2, 0, 1, 1)
    assert counts(outputs, "mid") == (2, 2, 0, 0)


@pytest.mark.long
def test_a_task_that_faults(tmp_path: Path) -> None:
    crash = "int run(void) { camkes_work(CAMKES_MS(1)); *(volatile int *)8 = 1; return 0; }\n"
    outputs = compare_outputs(lock_system(tmp_path, settings="mid._deadline = 5 ms;", mid=crash))
    assert lanes(outputs)["mid"][-1].state == "stopped by a fault"
    # its timer goes on: what is released after the fault is missed
    assert counts(outputs, "mid") == (2, 0, 2, 0)
    assert counts(outputs, "high") == (2, 2, 0, 0)


@pytest.mark.long
def test_a_task_that_never_gets_to_run(tmp_path: Path) -> None:
    hog = "int run(void) { camkes_work(CAMKES_S(10)); return 0; }\n"
    text = LOCK.format(order=ORDER, settings="").replace("mid._offset = 2 ms;", "")
    text = text.replace("low._period = 50 ms", "low._period = 10 ms")
    outputs = compare_outputs(system(tmp_path, text, CODE | {"mid.c": hog}))
    assert counts(outputs, "low") == (10, 0, 10, 0)
    assert [job["begin"] for job in task(outputs, "low")["job_list"]] == [None] * 10
    assert {piece.state for piece in lanes(outputs)["low"]} <= {"ready", "preempted", "not started"}
    assert counts(outputs, "high")[1] == 2


ONE = """
component T {{ control; requestor; }}
component U {{ control; requestor; }}
assembly {{
    composition {{ component T t; component U u; }}
    configuration {{
        t._priority = 20; t._period = 10 ms; {t}
        u._priority = 10; u._period = 10 ms; {u}
    }}
}}
"""
SHORT = "int run(void) { while (camkes_next_job()) camkes_work(CAMKES_MS(1)); return 0; }\n"


@pytest.mark.long
def test_a_job_that_lasts_for_several_periods(tmp_path: Path) -> None:
    """Releases are kept: the jobs of those at 10, 20 and 30 ms begin when the long one has ended."""
    stuck = (
        "int run(void) { for (int i = 0; camkes_next_job(); i++) camkes_work(CAMKES_MS(i == 0 ? 40 : 1)); "
        "return 0; }\n"
    )
    path = system(tmp_path, ONE.format(t="", u=""), {"t.c": stuck, "u.c": SHORT})
    outputs = compare_outputs(path, duration=60 * MS)
    jobs = task(outputs, "t")["job_list"]
    assert [job["begin"] for job in jobs] == [n * MS for n in (0, 40, 41, 42, 43, 50)]
    assert [job["response"] for job in jobs] == [n * MS for n in (40, 31, 22, 13, 4, 1)]
    assert [job["outcome"] for job in jobs] == ["completed late"] * 4 + ["completed"] * 2
    assert counts(outputs, "t") == (6, 6, 4, 0)


@pytest.mark.long
def test_a_job_that_never_ends(tmp_path: Path) -> None:
    """Stuck for 40 ms at a period of 10 ms, and still so at the end."""
    stuck = "int run(void) { camkes_work(CAMKES_MS(40)); return 0; }\n"
    path = system(tmp_path, ONE.format(t="", u=""), {"t.c": stuck, "u.c": SHORT})
    outputs = compare_outputs(path, duration=39 * MS)
    assert counts(outputs, "t") == (4, 0, 3, 1)
    assert counts(outputs, "u") == (4, 0, 3, 1)


@pytest.mark.long
def test_a_component_that_exits(tmp_path: Path) -> None:
    leave = "#include <stdlib.h>\nvoid p_go(void) { camkes_work(CAMKES_MS(2)); exit(3); }\n"
    outputs = compare_outputs(lock_system(tmp_path, store=leave))
    assert {f["component"] for f in outputs.report["faults"]} == {"store"}
    assert lanes(outputs)["low"][-1].words == "waits for a reply of store.p"
    assert counts(outputs, "mid") == (2, 2, 0, 0)


@pytest.mark.long
def test_a_lock_that_is_held_when_the_run_ends(tmp_path: Path) -> None:
    outputs = compare_outputs(lock_system(tmp_path), duration=int(2.5 * MS))
    assert not outputs.report["faults"]
    final = {name: pieces[-1].state for name, pieces in lanes(outputs).items()}
    assert final == {"low": "running", "mid": "held up", "high": "waits for lock"}
    assert counts(outputs, "high") == (1, 0, 0, 1)


@pytest.mark.long
def test_a_task_that_ends_early(tmp_path: Path) -> None:
    once = "int run(void) { camkes_next_job(); camkes_work(CAMKES_MS(1)); return 0; }\n"
    outputs = compare_outputs(lock_system(tmp_path, mid=once))
    assert counts(outputs, "mid") == (1, 1, 0, 0)  # run() returned: no releases after it
    assert counts(outputs, "low") == (2, 2, 0, 0)


@pytest.mark.long
def test_an_idle_end_leaves_no_deadline_open(tmp_path: Path) -> None:
    """Nothing will ever happen again, so a job that has not ended has missed its deadline."""
    text = """
procedure P {{ void go(); }}
component T {{ control; requestor; uses P s; }}
component Store {{ provides P p with priority_protocol inherited; }}
assembly {{
    composition {{
        component T t; component Store store;
        connection seL4RPCCall c(from t.s, to store.p);
    }}
    configuration {{ t._priority = 10; t._deadline = 50 ms; }}
}}
""".format()
    path = system(tmp_path, text, {"t.c": CALL, "store.c": CRASH})
    outputs = compare_outputs(path)
    assert outputs.report["end"] == 2_100_000
    assert counts(outputs, "t") == (1, 0, 1, 0)


SAME = """
procedure P {{ void go(); }}
component Task {{ control; requestor; uses P s; }}
component Store {{ provides P p with priority_protocol inherited; }}
assembly {{
    composition {{
        {order}
        component Store store;
        connection seL4RPCCall calls({ends}, to store.p);
    }}
    configuration {{ {settings} }}
}}
"""
TASK = "int run(void) { while (camkes_next_job()) s_go(); return 0; }\n"


IN_SHORT = ((("alpha", "omega"), True, 0), (("omega", "alpha"), False, 5))


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize(
    ("names", "reverse", "offset"),
    [
        pytest.param(*case, marks=[] if case in IN_SHORT else [pytest.mark.long])
        for case in product((("alpha", "omega"), ("omega", "alpha")), (False, True), (0, 5))
    ],
)
def test_all_releases_of_an_instant_precede_the_next_run(
    names: tuple[str, str], reverse: bool, offset: int, tmp_path: Path
) -> None:
    """Whatever the tasks are called, and whichever is declared first."""
    low, high = names
    order = names[::-1] if reverse else names
    text = SAME.format(
        order=" ".join(f"component Task {name};" for name in order),
        ends=", ".join(f"from {name}.s" for name in order),
        settings=" ".join(
            f"{name}._priority = {priority}; {name}._period = 20 ms; {name}._offset = {offset} ms;"
            for name, priority in ((low, 10), (high, 20))
        ),
    )
    outputs = compare_outputs(system(tmp_path, text, {"task.c": TASK, "store.c": SERVE}), duration=60 * MS)
    assert task(outputs, high)["response"]["max"] == 3 * MS
    assert task(outputs, low)["response"]["max"] == 6 * MS


@pytest.mark.long
@pytest.mark.parametrize("reverse", [False, True])
def test_the_order_of_declaration_changes_nothing(reverse: bool, tmp_path: Path) -> None:
    """Three tasks of one priority and one of a higher, all released at once: the same jobs, whoever comes
    first in the text."""
    names = ["a", "b", "c", "d"]
    order = names[::-1] if reverse else names
    text = SAME.format(
        order=" ".join(f"component Task {name};" for name in order),
        ends=", ".join(f"from {name}.s" for name in order),
        settings=" ".join(
            f"{name}._priority = {20 if name == 'c' else 10}; {name}._period = 20 ms;" for name in order
        ),
    )
    outputs = compare_outputs(system(tmp_path, text, {"task.c": TASK, "store.c": SERVE}), duration=30 * MS)
    found = {name: [job["response"] for job in task(outputs, name)["job_list"]] for name in names}
    assert found["c"] == [3 * MS, 3 * MS]
    assert sorted(found, key=lambda name: found[name][0] or 0) == ["c", "d", "b", "a"]


EVENTS = """
component Producer { control; emits E e; }
component Relay { control; consumes E a; emits E b; }
component Consumer { control; consumes E e; }
component Clock { control; }
assembly {
    composition {
        component Producer producer; component Relay relay; component Consumer consumer;
        component Clock clock;
        connection seL4Notification first(from producer.e, to relay.a);
        connection seL4Notification second(from relay.b, to consumer.e);
    }
    configuration { clock._priority = 1; }
}
"""
WORK_LONG = "int run(void) { camkes_work(CAMKES_MS(200)); return 0; }\n"
FAULTY = "int run(void) { e_emit(); camkes_work(1000); *(volatile int *)8 = 1; return 0; }\n"
RELAY = "int run(void) { for (;;) { a_wait(); b_emit(); } }\n"
CONSUMER = "int run(void) { for (;;) { e_wait(); } }\n"
CALLBACK = """
static void again(void *p) { (void)e_reg_callback(again, p); }
int run(void) { again(NULL); return 0; }
"""


def stops(outputs: Outputs) -> list[str]:
    (fault,) = outputs.report["faults"]
    found: list[str] = fault["stops"]
    return found


@pytest.mark.long
@pytest.mark.parametrize("consumer", [CONSUMER, CALLBACK])
def test_a_wait_for_events_of_a_component_that_faulted(consumer: str, tmp_path: Path) -> None:
    """Through a component that passes them on, too; the thread of its interface waits, and then its own."""
    code = {"producer.c": FAULTY, "relay.c": RELAY, "consumer.c": consumer, "clock.c": WORK_LONG}
    outputs = compare_outputs(system(tmp_path, EVENTS, code))
    waiting = "consumer" if consumer is CONSUMER else "consumer.e"
    assert sorted(stops(outputs)) == sorted(["relay", waiting])
    for wait in outputs.report["waits"]:
        assert (wait["cause"], wait["because"]) == ("fault", "producer")
        last = {key: value for key, value in wait["steps"][-1].items() if key != "since"}
        assert last == {
            "thread": "relay.a",
            "for": "a signal of producer",
            "by": "producer",
            "cpi": None,
            "held": None,
        }


@pytest.mark.long
def test_events_to_a_component_that_has_ended_are_not_a_fault(tmp_path: Path) -> None:
    """Nor is a consumer at rest one that waits for ever."""
    code = {
        "producer.c": "int run(void) { e_emit(); return 0; }\n",
        "relay.c": RELAY,
        "consumer.c": CONSUMER,
        "clock.c": WORK_LONG,
    }
    outputs = compare_outputs(system(tmp_path, EVENTS, code))
    assert outputs.report["waits"] == [] and outputs.report["faults"] == []
