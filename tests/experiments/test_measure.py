# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Execution times that are measured and proposed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.cli.commands.measurements import to_text
from camkes.cli.main import main
from camkes.diagnostics import Sink
from camkes.experiments.measure import Measured, Measurement, times, undisturbed_times
from tests.documents import conforming

pytestmark = pytest.mark.requirement("AN-30")

SYSTEM = """import <std_connector.camkes>;
procedure Store { void add(); }
component Task { control; requestor; uses Store store; }
component Low { control; requestor; uses Store store; }
component Shared { provides Store store with priority_protocol inherited; }
component Quiet { control; requestor; uses Store store; }
assembly {
    composition {
        component Task a;
        component Low b;
        component Quiet q;
        component Shared s;
        connection seL4RPCCall c(from a.store, from b.store, from q.store, to s.store);
    }
    configuration {
        a._priority = 20; a._period = 10 ms; a._wcet = 1 ms; a._offset = 2500 us;
        b._priority = 10; b._period = 20 ms;
        q._priority = 5; q._period = 100 ms;
    }
}
"""
LOOP = """#include <camkes.h>
int run(void)
{
    while (camkes_next_job()) {
        %s
    }
    return 0;
}
"""


@pytest.mark.long
def test_measured_times(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """a works for 2 ms, b for 2 to 3 ms around its request, in which it is preempted; a request takes 1.5 ms,
    the waiting for it does not count. q takes no time."""
    monkeypatch.chdir(tmp_path)
    Path("s.camkes").write_text(SYSTEM)
    Path("Task.c").write_text(LOOP % "camkes_work(1500000); store_add(); camkes_work(500000);")
    Path("Low.c").write_text(
        LOOP % "camkes_work_between(1000000, 2000000); store_add(); camkes_work(1000000);"
    )
    Path("Quiet.c").write_text(LOOP % "store_add();")
    Path("Shared.c").write_text(
        "#include <camkes.h>\nvoid store_add(void)\n{\n    camkes_work(1500000);\n}\n"
    )
    words = ["measure", "s.camkes", "--nocpp", "--for", "100ms", "--runs", "3"]
    assert main([*words, "--json", "--margin", "2"]) == 0
    document = conforming("measure", capsys.readouterr().out)
    assert document["bound"] is False
    found = {each["name"]: each for each in document["times"]}
    assert (found["a"]["longest"], found["a"]["proposed"], found["a"]["count"]) == (2_000_000, 4_000_000, 30)
    assert 2_000_000 < found["b"]["longest"] <= 3_000_000
    assert (found["s.store"]["longest"], found["s.store"]["kind"]) == (1_500_000, "cpi")
    assert (found["q"]["longest"], found["q"]["proposed"]) == (0, None)
    assert main([*words, "--write"]) == 0
    text = capsys.readouterr().out
    assert "longer than stated" in text and "no time passed" in text
    assert "They are measurements, not bounds" in text
    checked = pipeline.check(pipeline.Input(Path("s.camkes"), preprocess=False), Sink())
    assert checked is not None
    tasks = {task.instance: task.wcet for task in checked.system.tasks}
    assert (tasks["a"], checked.system.cpis[0].wcet, tasks["q"]) == (2_400_000, 1_800_000, None)
    assert 2_400_000 < (tasks["b"] or 0) <= 3_600_000


FRONT = """#include <camkes.h>
void store_get(void) {}
void store_add(void) {}
void store_wipe(void) { next_get(); camkes_work(3000); }
"""


@pytest.mark.long
def test_measured_times_of_methods(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that were requested, where there are several: all requests to x.store are to one method."""
    monkeypatch.chdir(tmp_path)
    front = "component Front { provides Store store with priority_protocol fixed; uses Store next; }"
    text = SYSTEM.replace("void add();", "void get(); void add(); void wipe();")
    text = text.replace("assembly {", f"{front}\nassembly {{").replace(
        "Quiet q;", "Quiet q; component Front x;"
    )
    text = text.replace("from q.store, to s.store);", "from x.next, to s.store);")
    text = text.replace(
        "    }\n    conf", "connection seL4RPCCall d(from q.store, to x.store);\n    }\n    conf"
    )
    Path("s.camkes").write_text(text)
    Path("Task.c").write_text(LOOP % "store_add(); store_get(); store_add();")
    Path("Low.c").write_text(LOOP % "store_get(); camkes_work(1000000);")
    Path("Quiet.c").write_text(LOOP % "store_wipe();")
    Path("Front.c").write_text(FRONT)
    Path("Shared.c").write_text(
        "#include <camkes.h>\nvoid store_add(void) { camkes_work(48000); }\n"
        "void store_get(void) { camkes_work(12000); }\nvoid store_wipe(void) {}\n"
    )
    words = ["measure", "s.camkes", "--nocpp", "--for", "100ms", "--runs", "2", "--margin", "1"]
    assert main([*words, "--json"]) == 0
    times = conforming("measure", capsys.readouterr().out)["times"]
    assert {each["name"]: (each["kind"], each["longest"], each["count"]) for each in times[3:]} == {
        "s.store": ("cpi", 48_000, 72),
        "s.store.get": ("method", 12_000, 32),
        "s.store.add": ("method", 48_000, 40),
        "x.store": ("cpi", 3_000, 2),
    }
    assert main([*words, "--write"]) == 0
    checked = pipeline.check(pipeline.Input(Path("s.camkes"), preprocess=False), Sink())
    assert checked is not None
    stated = {cpi.name: {m: t.wcet for m, t in cpi.method_times.items()} for cpi in checked.system.cpis}
    assert stated == {"s.store": {"get": 12_000, "add": 48_000}, "x.store": {}}


def test_proposals_are_rounded_up() -> None:
    for longest, margin, proposed in ((1000, 1, 1000), (1001, 1, 2000), (10_000, 1.1, 11_000), (0, 2, None)):
        assert Measurement("a", True, ("a", "x"), None, 1, longest).proposed(margin) == proposed


@pytest.mark.parametrize("words", [("--margin", "0.5"), ("--margin", "x"), ("--runs", "0")])
def test_wrong_usage(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", "s.camkes", *words]) == 2


@pytest.mark.long
@pytest.mark.parametrize("choices", ["first", "random:1", "random:2"])
def test_undisturbed_jobs_and_requests_are_measured_without_thread_switches(
    choices: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a run of which everything is known: jobs and requests that were interrupted, or waited, are left
    out, and the others have the times for which they executed."""
    monkeypatch.chdir(tmp_path)
    Path("s.camkes").write_text(SYSTEM.replace("a._period = 10 ms", "a._period = 70 ms"))
    for name, code in (
        ("Task", LOOP % "camkes_work(1500000); store_add(); camkes_work(500000);"),
        ("Low", LOOP % "camkes_work_between(1000000, 2000000); store_add(); camkes_work(1000000);"),
        ("Quiet", LOOP % "camkes_work(2000000); store_add(); store_add();"),
        ("Shared", "#include <camkes.h>\nvoid store_add(void) { camkes_work(1500000); }\n"),
    ):
        Path(f"{name}.c").write_text(code)
    settings = pipeline.RunSettings(duration=400_000_000, fast=True, choices=choices, show=lambda data: None)
    outcome = pipeline.run(pipeline.Input(Path("s.camkes"), preprocess=False), settings, Sink(), print)
    assert outcome is not None
    executed = {name: Counter(values) for name, values in times(outcome.run).items()}
    alone, interrupted = undisturbed_times(outcome.run)
    undisturbed = {name: Counter(values) for name, values in alone.items()}
    assert set(undisturbed) == {"a", "b", "q", "s.store"}
    for name, values in undisturbed.items():
        assert values <= executed[name], name
        assert values.total() + interrupted[name] == executed[name].total()
    assert interrupted["b"] > 0


def test_advice_where_nothing_was_measured(tmp_path: Path) -> None:
    """A longer run helps a job that did not end, not one that others always interrupt."""
    checked = pipeline.check(pipeline.Input(written(tmp_path), preprocess=False), Sink())
    assert checked is not None
    found = (
        Measurement("a", True, ("a", "_wcet"), None),
        Measurement("b", True, ("b", "_wcet"), None, interrupted=12),
        Measurement("s.store", False, ("s", "store_wcet"), None, interrupted=3),
    )
    lines = to_text(Measured(checked, 1, False, found, "sel4"), 1.2).splitlines()
    assert lines[1].endswith("none ended: run for longer with --for")
    assert lines[2].endswith("all 12 were interrupted: measure with its task above the others")
    assert lines[3].endswith("all 3 were interrupted: measure with a task that requests it above the others")


def written(folder: Path) -> Path:
    path = folder / "s.camkes"
    path.write_text(SYSTEM)
    return path


def test_measuring_on_sel4_is_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.camkes").write_text(SYSTEM)
    assert main(["measure", str(tmp_path / "s.camkes"), "--kernel", "sel4", "--runs", "7"]) == 2
    assert "--runs is for the host kernel" in capsys.readouterr().err
