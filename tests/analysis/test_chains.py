# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Jobs that events release: response times and end-to-end latencies, and runs that do not exceed them."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camkes.analysis.platform import FREE
from camkes.analysis.response import Load, Response, response
from camkes.analysis.simulation import Simulation, program
from camkes.analysis.supply import supply_of
from camkes.analysis.verdict import analyse
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.cli.main import main
from camkes.model.protocols import Protocol
from camkes.showing.analysis import explain
from tests.analysis.enumeration import chained_workload
from tests.command import camkes
from tests.end_to_end.support import loop, write

pytestmark = pytest.mark.requirement("AN-8")

MS = 1_000_000


def chain(folder: Path, settings: str = "", emits: str = "go_emit();") -> Path:
    """a (T 20, 2 ms) releases b (3 ms), which releases c (1 ms); `other` (T 50, 4 ms) is above both."""
    return write(
        folder,
        """
        component A { control; requestor; emits Go go; }
        component B { control; requestor; consumes Go go; emits Go next; }
        component C { control; requestor; consumes Go go; }
        component Other { control; requestor; }""",
        f"""
        composition {{
            component A a; component B b; component C c; component Other other;
            connection seL4NotificationNative x(from a.go, to b.go);
            connection seL4NotificationNative y(from b.next, to c.go);
        }}
        configuration {{
            a._priority = 40;  a._period = 20 ms;  a._wcet = 2 ms;
            b._priority = 10;  b.release = "go";   b._wcet = 3 ms;  b._deadline = 15 ms;
            c._priority = 20;  c._release = "go";  c._wcet = 1 ms;
            other._priority = 30;  other._period = 50 ms;  other._wcet = 4 ms;
            {settings}
        }}""",
        {
            "A": loop(f"MS(2); {emits}"),
            "B": loop("MS(3); next_emit();"),
            "C": loop("MS(1);"),
            "Other": loop("MS(4);"),
        },
    )


def test_a_chain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """b is released while a executes, and c while b does, each once. So R(b) = 3 + 2 + 4 + 1 = 10, after a,
    too. c waits for `other` at most, R = 1 + 4, as a is not released again before c has ended: c does not end
    later than all with the priority of b have, 10 after a."""
    path = chain(tmp_path)
    assert main(["analyze", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    found = {task["name"]: task["response"] / MS for task in document["tasks"]}
    assert found == {"a": 2, "other": 6, "c": 5, "b": 10}
    assert document["chains"] == [{"tasks": ["a", "b", "c"], "latency": 10 * MS}]
    assert [bound["applicable"] for bound in document["bounds"]] == [False] * 3
    assert main(["analyze", str(path), "--explain", "b"]) == 0
    text = capsys.readouterr().out
    assert "released by events of a, up to 2 ms after the first of its chain\n" in text
    assert "c: 1 job of 1 ms, period 20 ms\n" in text
    assert main(["analyze", str(path)]) == 0
    assert "\na -> b -> c    10 ms\n" in capsys.readouterr().out


@pytest.mark.long
def test_responses_and_latencies_of_a_run(tmp_path: Path) -> None:
    """A job is released when the event comes. Where `other` is released with a, b ends at 2 + 4 + 3, and c at
    10: the latest. A run that begins later has 6 everywhere."""
    words = ("--for", "100ms", "--verify", "-o", tmp_path / "build", "--json")
    document = json.loads(camkes("run", chain(tmp_path), *words).output)
    jobs = {
        t["name"]: [(j["release"] // MS, j["end"] // MS) for j in t["job_list"]] for t in document["tasks"]
    }
    assert jobs["b"] == [(2, 9), (22, 25), (42, 45), (62, 65), (82, 85)] or jobs["b"][0] == (2, 10)
    assert [release for release, _ in jobs["c"]][1:] == [25, 45, 65, 85]
    (latencies,) = document["chains"]
    assert latencies["tasks"] == ["a", "b", "c"] and latencies["completed"] == 5
    assert (latencies["latency"]["min"] // MS, latencies["latency"]["max"] // MS) == (6, 10)
    assert document["violations"] == []
    text = camkes("run", tmp_path / "system.camkes", *words[:-1]).output
    assert "end-to-end latencies (ms)\nchain        completed  min  mean  max\na -> b -> c          5" in text


@pytest.mark.long
def test_one_event_waits_for_the_end_of_a_job(tmp_path: Path) -> None:
    """Of three events at 2 ms one wakes b, one waits, and one is lost; b takes 25 ms for a job. So of those
    at 22 ms all are lost, of those at 42 ms, after the second job began, one waits."""
    path = chain(tmp_path, "a._offset = 0;", "go_emit(); go_emit(); go_emit();")
    (tmp_path / "B.c").write_text(f"#include <camkes.h>\n{loop('MS(25); next_emit();')}\n")
    words = ("--for", "70ms", "-o", tmp_path / "build", "--json")
    tasks = {t["name"]: t for t in json.loads(camkes("run", path, *words).output)["tasks"]}
    assert [job["release"] // MS for job in tasks["b"]["job_list"]] == [2, 2, 42]
    begins = [job["begin"] for job in tasks["b"]["job_list"]]
    ends = [job["end"] for job in tasks["b"]["job_list"]]
    assert begins[1] == ends[0] and begins[2] in (None, ends[1])


@given(st.integers(0, 2**32 - 1))
def test_no_simulated_response_is_longer(seed: int) -> None:
    rng = random.Random(seed)
    cpi = WorkloadCpi("lock", rng.choice(list(Protocol)), 1_000 * rng.randint(0, 2), {}, 9)
    tasks: list[WorkloadTask] = []
    for index in range(rng.randint(2, 5)):
        before = rng.choice(tasks) if tasks and rng.random() < 0.5 else None
        period = before.period if before is not None else rng.choice((20, 30, 40, 60)) * 1_000
        tasks.append(
            WorkloadTask(
                f"t{index}", rng.randint(1, 9), period, 10 * period, 1_000 * rng.randint(1, 6) - 1,
                {"lock": 1} if rng.random() < 0.5 else {}, "" if before is None else before.name,
            )
        )  # fmt: skip
    workload = Workload(tuple(tasks), (cpi,))
    found = {each.task.name: each.response for each in analyse(workload, FREE).tasks}
    plain = program(workload)
    offsets = {task.name: rng.randint(0, 20_000) for task in tasks}
    simulation = Simulation(workload, type(plain)(plain.tasks, plain.cpis, offsets))
    for job in simulation.run(1_200_000):
        limit = found[job.task]
        assert limit is None or job.took(simulation.now) <= limit.time


@pytest.mark.parametrize("seed", range(40))
def test_the_parts_of_a_response_are_its_sum(seed: int) -> None:
    """Own jobs, blocking and the jobs of others are the window, whose periods are those of the tasks."""
    workload = chained_workload(random.Random(seed))
    analysis = analyse(workload, FREE)
    for result in analysis.tasks:
        found = result.response
        if found is not None:
            others = sum(count * load.demand for load, count in found.interference)
            assert (found.job + 1) * result.demand.total + result.blocking.least + others == found.window
            text = explain(workload, analysis, result.task.name, {})
            periods = {int(each) for each in re.findall(r"period (\d+) ns$", text or "", re.M)}
            assert periods <= {task.period for task in workload.tasks} and " s\n" not in f"{text}\n"


def test_jitter_brings_two_jobs_close_together() -> None:
    """Each 10 ns, 4 of work, up to 7 late: one of them at 7 and the next at 10. A lower task of 2 waits for
    both: 2 + 2 * 4. A job of its own that comes 3 after the one before ends at 8, 5 after its release, and
    4 + 7 after the one without jitter."""
    late = Load("late", 2, 10, 4, 7)
    low = response(Load("low", 1, 100, 2), [late], lambda window: 0)
    assert isinstance(low, Response) and (low.time, low.interference) == (10, ((late, 2),))
    own = response(late, [], lambda window: 0)
    assert isinstance(own, Response) and (own.time, own.job, own.latest) == (5, 1, 11)


def test_what_is_released_by_a_task_without_a_bound_has_none() -> None:
    tasks = (
        WorkloadTask("hog", 3, 10, 10, 11),
        WorkloadTask("first", 2, 100, 100, 1),
        WorkloadTask("second", 4, 100, 100, 1, {}, "first"),
    )
    found = analyse(Workload(tasks, ()), FREE)
    assert {each.task.name: each.response is None for each in found.tasks} == {
        "second": True, "hog": True, "first": True,
    }  # fmt: skip
    assert [(each.tasks, each.latency) for each in found.chains] == [(("first", "second"), None)]


def test_periods_of_events(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where two tasks emit an event, the least time between two of them has to be stated."""
    path = chain(tmp_path)
    text = path.read_text().replace("to b.go);", "to b.go);").replace("(from a.go,", "(from a.go, from d.go,")
    path.write_text(text.replace("component Other other;", "component Other other; component A d;"))
    settings = path.read_text().replace(
        "a._priority", "d._priority = 50; d._period = 30 ms; d._wcet = 1; a._priority"
    )
    path.write_text(settings)
    assert main(["analyze", str(path)]) == 1
    errors = capsys.readouterr().err
    assert "error[E0901]: the time between two events `b.go` is not known" in errors
    path.write_text(settings.replace("b.release", "b._period = 16 ms; b.release"))
    assert main(["analyze", str(path), "--json"]) == 0
    (chain_of_b,) = json.loads(capsys.readouterr().out)["chains"]
    assert chain_of_b["tasks"] == ["b", "c"] and chain_of_b["latency"] is not None


def test_a_task_that_follows_can_need_the_next_slot() -> None:
    """In slots of 5 of 10 the work of a and of b, which follows, ends with the slot. After a request b has
    something to do still, and ends in the next slot; a job alone that does so responds after 15, too."""
    for requests, end in (({}, 10), ({"p": 1}, 15)):
        tasks = (
            WorkloadTask("a", 1, 100, 100, 3),
            WorkloadTask("b", 2, 100, 100, 2 - len(requests), requests, "a", timed=False),
        )
        supplies = {0: supply_of([(0, 5), (1, 5)], 0)}
        found = analyse(Workload(tasks, (WorkloadCpi("p", Protocol.PROPAGATED, 1),), supplies=supplies), FREE)
        assert [each.latency for each in found.chains] == [end]
