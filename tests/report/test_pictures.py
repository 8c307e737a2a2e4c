# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Timeline, terminal chart and graph."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from shutil import which

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from camkes.diagnostics import Sink
from camkes.model.protocols import Protocol
from camkes.model.system import System
from camkes.protocols import analyse
from camkes.protocols.plan import Plan, Request
from camkes.resolve import LoadOptions, load
from camkes.running.decode import decode
from camkes.running.kinds import Kind
from camkes.running.model import State
from camkes.running.times import choose_window, format_time, make_axis
from camkes.showing.draw.graph import graph_dot
from camkes.showing.draw.graph_svg import graph_svg
from camkes.showing.draw.graphviz import dot_layout
from camkes.showing.draw.layers import GraphLayout, Point, lay_out
from camkes.showing.draw.pictures import write_picture
from camkes.showing.draw.table import table
from camkes.showing.draw.terminal import terminal_report
from camkes.showing.draw.timeline import MARKS, timeline_svg
from camkes.showing.words import LOOKS

from .simulator import INVERSION, MS, SPAN, CpiSpec, TaskSpec, make_plan, nested, simulate
from .test_properties import systems

pytestmark = pytest.mark.requirement("TOOL-12")

Layouter = Callable[[Mapping[str, Point], Sequence[tuple[str, str]]], GraphLayout | None]
SVG = "{http://www.w3.org/2000/svg}"


def picture(window: tuple[int | None, int | None] = (None, None), sink: Sink | None = None) -> str | None:
    events, names, _ = simulate(*nested())
    return timeline_svg(decode(events, names), sink or Sink(), window, "nested <locks> & more")


def words(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}text")]


def test_a_lane_a_task_with_what_happens_in_it() -> None:
    svg = picture()
    assert svg
    said = words(svg)
    for name in (
        "t1",
        "t2",
        "t3",
        "t4",
        "priority 40",
        "nested <locks> & more",
        "time (ms)",
        "inherited priority",
    ):
        assert name in said
    assert "20" in said  # the priority that t4 inherits
    tips = [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}title")]
    assert (
        "t3: waits for the lock of b.p, held by b.p@t4 since 500 us while t4 runs, 14 ms to 18.5 ms (4.5 ms)"
        in tips
    )
    assert "t4: running in c.p at priority 20, 14.5 ms to 16.5 ms (2 ms)" in tips
    assert "t1: job 0 released at 3 ms" in tips
    assert "url(#hatch-b-p)" in svg


def test_waiting_and_interference_are_drawn_differently() -> None:
    events, names, _ = simulate(INVERSION["tasks"], INVERSION["cpis"])  # type: ignore[arg-type]
    svg = timeline_svg(decode(events, names), Sink())
    assert svg
    assert {"waits for a lock or server", "held up by a raised priority", "ready or preempted"} <= set(
        words(svg)
    )
    fills = {
        re.split(r", \d", title.text or "")[0]: box.get("fill", "")
        for box in ET.fromstring(svg).iter(f"{SVG}rect")
        for title in box.iter(f"{SVG}title")
    }
    waits = "high: waits for the lock of lock.p, held by lock.p@low since 1 ms while low runs"
    assert fills[waits] == "url(#hatch-lock-p)"
    assert fills["middle: held up by work in lock.p at priority 30 while low runs"] == "url(#dots-lock-p)"
    assert not fills["middle: preempted while high runs"].startswith("url")


def test_every_state_has_a_style() -> None:
    assert set(LOOKS) == set(State) - {State.RUNNING}


def test_equal_runs_give_equal_bytes() -> None:
    assert picture() == picture()


def test_a_window_leaves_out_events_outside_it() -> None:
    svg = picture((14 * MS, 20 * MS))
    assert svg
    tips = [element.text or "" for element in ET.fromstring(svg).iter(f"{SVG}title")]
    assert not any("t1: running" in tip for tip in tips)
    assert any("t4: running in c.p" in tip for tip in tips)
    left, right = 0.0, 1000.0
    for rect in ET.fromstring(svg).iter(f"{SVG}rect"):
        assert left <= float(rect.get("x", "0")) <= right


@pytest.mark.parametrize("window", [(60 * MS, None), (5, 5), (9, 3)])
def test_an_empty_window_is_reported(window: tuple[int | None, int | None]) -> None:
    sink = Sink()
    assert picture(window, sink) is None
    assert [d.code.number for d in sink.diagnostics] == ["E0806"]


def test_a_long_run_is_cut_and_a_crowded_one_joined() -> None:
    tasks = [
        TaskSpec("a", 20, tuple(range(0, 2000 * MS, MS)), (250_000,), MS),
        TaskSpec("b", 10, tuple(range(0, 2000 * MS, 2 * MS)), (750_000,), 2 * MS),
    ]
    events, names, _ = simulate(tasks, [])
    sink = Sink()
    run = decode(events, names)
    cut = timeline_svg(run, sink)
    assert cut is not None
    assert re.search(r"the first \S+ ms of 1.99\S* s", cut)
    whole = timeline_svg(run, sink, (0, 2000 * MS))
    assert whole is not None
    assert "are joined" in whole
    assert not sink.diagnostics


def test_many_missed_deadlines_do_not_hide_what_happens() -> None:
    tasks = [TaskSpec("a", 20, (0, 5 * MS), (4 * MS,), 10 * MS)]
    tasks += [TaskSpec("b", 10, tuple(range(0, 10 * MS, MS // 20)), (10_000,), MS // 20)]
    events, names, _ = simulate(tasks, [])
    svg = timeline_svg(decode(events, names), Sink(), (0, 10 * MS))
    assert svg is not None
    missed = [each for each in svg.splitlines() if ", missed</title>" in each]
    assert len(missed) > 100
    lines = [float(y) for y in re.findall(r'd="M[\d.]+,([\d.]+) H', svg)]
    for each in missed:  # under the line, where no work is
        (y,) = re.findall(r'd="M[\d.]+,([\d.]+) l-3,-5 h6 z"', each)
        assert any(line <= float(y) - 5 and float(y) < line + MARKS for line in lines), each


@pytest.mark.long
@given(systems())
@settings(max_examples=40, deadline=None)
def test_every_run_can_be_drawn(system: tuple[list[TaskSpec], list[CpiSpec]]) -> None:
    events, names, _ = simulate(*system)
    sink = Sink()
    svg = timeline_svg(decode(events, names), sink)
    assert svg is not None and not sink.diagnostics
    ET.fromstring(svg)
    for width in (40, 72, 200):
        chart = terminal_report(decode(events, names), width=width, unicode=False).split("response times")[0]
        for line in chart.splitlines():
            assert len(line) <= max(width, 40)


TERMINAL = """\
high        ###///////lllllllll##                        ###lllllllll##
middle        %%%%%%%%___________##################
               ^30
low     ##lll__lllllll_____________________________##
        |---------------------|----------------------|-----------------
        0 ms                 10                     20 ms

# own code   l lock.p   / waits for a lock or server
% held up by a raised priority   _ ready or preempted
^ inherited priority

response times (ms)
task    priority  missed  open  min  mean  max  deadline  blocked
high          30       0     0    6   7.5    9        20        3
middle        20       0     0   16    16   16        40        3
low           10       0     0   20    20   20        40        0
left out in this width: released, completed
"""


def test_terminal_report() -> None:
    events, names, _ = simulate(INVERSION["tasks"], INVERSION["cpis"])  # type: ignore[arg-type]
    plain = terminal_report(decode(events, names), width=72, unicode=False)
    assert plain == TERMINAL
    assert plain.isascii()
    coloured = terminal_report(decode(events, names), width=72, unicode=False, color=True)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_a_table_is_as_wide_as_its_content_and_alarms_are_red() -> None:
    rows = [("task", "missed"), ("control", "0"), ("x", "12")]
    assert table(rows, right={1}, color=False, alarms={(2, 1)}) == (
        "task     missed\ncontrol       0\nx            12"
    )
    coloured = table(rows, right={1}, color=True, alarms={(2, 1)})
    assert coloured.splitlines()[1:] == ["control       0", "x        \x1b[31;1m    12\x1b[0m"]


def test_columns_are_left_out_and_words_put_below_each_other() -> None:
    rows = [("task", "C", "R", "verdict"), ("control", "1 ms", "12 ms", "met in 12 ms; no miss found")]
    (head, first, *more) = table(rows, right={1, 2}, color=False, width=37, spare=["C"]).splitlines()
    assert head == "task         R  verdict"
    assert [first, *more] == [
        "control  12 ms  met in 12 ms; no miss",
        "                found",
        "left out in this width: C",
    ]
    assert table(rows, right={1, 2}, color=False, width=56, spare=["C"]) == table(
        rows, right={1, 2}, color=False
    )


def test_a_trace_without_switches_gives_response_times_only() -> None:
    events, names, _ = simulate(INVERSION["tasks"], INVERSION["cpis"])  # type: ignore[arg-type]
    annotations = [event for event in events if event.kind >= Kind.JOB_BEGIN or event.kind is Kind.END]
    table = TERMINAL[TERMINAL.index("response times") :]
    expected = re.sub(r"\d+$", "-", table, flags=re.M)
    assert terminal_report(decode(annotations, names), width=72) == expected


def test_a_system_without_tasks_has_no_report() -> None:
    events, names, _ = simulate([], [])
    assert terminal_report(decode(events, names)) == ""


def system() -> System:
    return System(SPAN.file, (), (), (), (), (), (), {})


def nested_plan() -> Plan:
    return make_plan(*nested())


def test_dot_names_every_task_cpi_and_request() -> None:
    dot = graph_dot(nested_plan(), system())
    assert '"a.p" [label="a.p\\ninherited, ceiling 40\\n2 threads, manager"' in dot
    assert '"e.p" [label="e.p\\nfixed at 40"' in dot
    for request in nested_plan().requests:
        assert f'"{request.caller}" -> "{request.callee}"' in dot


def with_cycle() -> Plan:
    plan = nested_plan()
    back = Request("e.p", "e.x", "b.p", "c", "clause", SPAN)
    loose = Request("t1", "t1.x", "e.p", "c", "all", SPAN)
    own = Request("d.p", "d.x", "d.p", "c", "clause", SPAN)
    return replace(plan, requests=(*plan.requests, back, loose, own))


def test_a_cycle_is_drawn_and_marked() -> None:
    cycle = ("b.p", "c.p", "e.p")
    svg = graph_svg(with_cycle(), system(), cycle)
    ET.fromstring(svg)
    assert svg.count('marker-end="url(#cycle)"') == 3
    assert "e.p requests b.p" in svg
    assert "t1 requests e.p (perhaps)" in svg
    assert graph_dot(with_cycle(), system(), cycle).count("penwidth=2") == 6


def planned(example: str, *, mcs: bool = False) -> tuple[Plan, System]:
    return planned_file(Path(__file__).parents[2] / "examples" / example / f"{example}.camkes", mcs=mcs)


def planned_file(path: Path, *, mcs: bool = False) -> tuple[Plan, System]:
    sink = Sink()
    loaded = load(path, LoadOptions(mcs=mcs), sink)
    assert loaded is not None
    plan = analyse(loaded, sink)
    assert plan is not None
    return plan, loaded


def test_a_scheduler_and_the_tasks_of_its_band() -> None:
    shown = planned("edf")
    dot, svg = graph_dot(*shown), graph_svg(*shown, use_dot=False)
    ET.fromstring(svg)
    assert '"edf" [label="edf\\nEDFScheduler\\npriorities 99 to 101"' in dot
    for task in ("a", "b"):
        assert f'"{task}" [label="{task}\\npriority 99 to 100\\nevery ' in dot
        assert f'"edf" -> "{task}" [label="orders"]' in dot
        assert f"<title>edf orders {task}</title>" in svg


def test_events_periods_bounds_and_what_has_one_lock() -> None:
    """The events of a chain lead from job to job."""
    shown = planned("flight")
    svg = graph_svg(*shown, bounds={"imu": "responds within 80 us"}, use_dot=False)
    assert {"every 1 ms", "responds within 80 us", "event"} <= set(words(svg))
    for source, target in (("imu", "estimator"), ("estimator", "controller"), ("estimator", "safety")):
        assert f"<title>{source} releases {target}</title>" in svg
        assert f'"{source}" -> "{target}" [label="releases", ' in graph_dot(*shown)
    dot = graph_dot(*shown)
    assert 'tooltip="monitor log.entries"; "log.put"; "log.take";' in dot
    assert "monitor entries" in words(svg)


@pytest.mark.skipif(which("dot") is None, reason="needs Graphviz")
def test_a_frame_has_the_cpis_of_a_monitor_and_no_other_node() -> None:
    boxes = {}
    for each in ET.fromstring(graph_svg(*planned("flight"))).iter(f"{SVG}rect"):
        for tip in each.iter(f"{SVG}title"):
            boxes[tip.text or ""] = [float(each.get(key, 0)) for key in ("x", "y", "width", "height")]
    (frame,) = (box for words, box in boxes.items() if words.startswith("monitor log.entries"))
    inside = {
        words.partition(":")[0]
        for words, (x, y, width, height) in boxes.items()
        if frame[0] < x + width / 2 < frame[0] + frame[2] and frame[1] < y + height / 2 < frame[1] + frame[3]
    }
    assert inside == {"log.put", "log.take", "monitor log.entries"}


def test_an_event_of_a_component_without_tasks_is_of_its_instance(tmp_path: Path) -> None:
    """An instance without a CPI or a task is a node of its own, of the kind of its component."""
    text = """import <std_connector.camkes>;
component Driver { emits Tick tick; }
component Worker { control; requestor; consumes Tick work; }
assembly {
    composition {
        component Driver driver;
        component Worker worker;
        connection seL4NotificationNative ticks(from driver.tick, to worker.work);
    }
    configuration { worker._priority = 10; worker.release = "work"; }
}
"""
    (tmp_path / "system.camkes").write_text(text)
    dot = graph_dot(*planned_file(tmp_path / "system.camkes"))
    assert '"driver" [label="driver\\nDriver"' in dot
    assert '"driver" -> "worker" [label="releases", ' in dot


def test_a_picture_in_a_file_is_dark_where_its_viewer_is(tmp_path: Path) -> None:
    write_picture(tmp_path / "graph.svg", graph_svg(nested_plan(), system()))
    text = (tmp_path / "graph.svg").read_text()
    ET.fromstring(text)
    assert "@media screen and (prefers-color-scheme: dark) {:root {filter: invert" in text


def test_budgets_policies_and_priorities_at_each_criticality() -> None:
    dot = graph_dot(*planned("aav", mcs=True))
    assert "flight\\npriority 50 / 81 / 81\\nbudget 20 ms / 20 ms / 100 ms in 100 ms" in dot
    assert "4 threads, manager\\noverrun abort" in dot


@pytest.mark.long
def test_the_graph_does_not_depend_on_hashes() -> None:
    code = (
        "from tests.report.test_pictures import *\n"
        "import sys\n"
        "for use_dot in (True, False):\n"
        "    sys.stdout.write(graph_svg(with_cycle(), system(), use_dot=use_dot))\n"
        "sys.stdout.write(picture() or '')"
    )
    root = Path(__file__).parents[2]
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=root,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


GRAPHS = (st.integers(1, 9), st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=24))


def check_layout(count: int, pairs: list[tuple[int, int]], lay: Layouter) -> None:
    """Nodes are apart and inside; each route leads from its source to its target."""
    names = [f"n{i}" for i in range(count)]
    sizes = {name: (40.0 + 15 * i, 30.0 + 5 * (i % 3)) for i, name in enumerate(names)}
    edges = [(names[a], names[b]) for a, b in pairs if a < count and b < count]
    layout = lay(sizes, edges)
    assert layout is not None
    for a in names:
        (x, y), (w, h) = layout.places[a], sizes[a]
        assert x - w / 2 >= -0.1 and x + w / 2 <= layout.width + 0.1
        assert y - h / 2 >= -0.1 and y + h / 2 <= layout.height + 0.1
        for b in names:
            if a < b:
                (u, v), (p, q) = layout.places[b], sizes[b]
                assert abs(x - u) >= (w + p) / 2 - 0.1 or abs(y - v) >= (h + q) / 2 - 0.1
    for edge, route in zip(edges, layout.routes, strict=True):
        assert len(route.points) >= 4 and len(route.points) % 3 == 1
        for name, (x, y) in zip(edge, (route.points[0], route.points[-1]), strict=True):
            (u, v), (w, h) = layout.places[name], sizes[name]
            assert abs(x - u) <= w / 2 + 1.5 and abs(y - v) <= h / 2 + 1.5


@given(*GRAPHS)
@settings(deadline=None)
def test_our_layout(count: int, pairs: list[tuple[int, int]]) -> None:
    check_layout(count, pairs, lay_out)


@pytest.mark.skipif(which("dot") is None, reason="needs Graphviz")
@given(*GRAPHS)
@settings(deadline=None, max_examples=20)
def test_layout_by_graphviz(count: int, pairs: list[tuple[int, int]]) -> None:
    check_layout(count, pairs, lambda sizes, edges: dot_layout(sizes, edges, [(40.0, 16.0)] * len(edges)))


def test_a_long_chain_of_requests_has_a_layer_each() -> None:
    names = [f"n{i}" for i in range(3000)]
    layout = lay_out(dict.fromkeys(names, (10.0, 10.0)), list(pairwise(names)))
    heights = [layout.places[name][1] for name in names]
    assert all(upper < lower for upper, lower in pairwise(heights))


@pytest.mark.parametrize(
    "dot", ["exit 1", "echo '{}'", "echo nothing", 'echo \'{"bb": "0", "objects": []}\'']
)
def test_our_layout_where_dot_fails(dot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = graph_svg(with_cycle(), system(), use_dot=False)
    program = tmp_path / "dot"
    program.write_text(f"#!/bin/sh\n{dot}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert graph_svg(with_cycle(), system()) == expected
    program.unlink()
    assert graph_svg(with_cycle(), system()) == expected


@pytest.mark.skipif(which("dot") is None, reason="needs Graphviz")
def test_graphviz_is_used_where_it_is_installed() -> None:
    by_dot, ours = (graph_svg(with_cycle(), system(), use_dot=use) for use in (True, False))
    assert by_dot != ours
    assert sorted(words(by_dot)) == sorted(words(ours))


@pytest.mark.parametrize("use_dot", [True, False])
def test_many_cpis_of_one_task_are_below_each_other(use_dot: bool) -> None:
    """They would be 3,000 units wide beside each other."""
    names = [f"component_{number}.interface" for number in range(14)]
    plan = make_plan(
        [TaskSpec("task", 50, (0,), tuple(names))],
        [CpiSpec(name, Protocol.FIXED, (3 * MS,)) for name in names],
    )
    root = ET.fromstring(graph_svg(plan, system(), use_dot=use_dot))
    boxes = [
        {key: float(rect.get(key, 0)) for key in ("x", "y", "width", "height")}
        for rect in root.iter("{http://www.w3.org/2000/svg}rect")
        if len(rect)
    ]
    assert len(boxes) == 15
    assert float(root.get("width", 0)) < 800 < float(root.get("height", 0))
    right = sorted((box for box in boxes if box["x"] > 100), key=lambda box: box["y"])
    assert len(right) == 14
    assert all(above["y"] + above["height"] < below["y"] for above, below in pairwise(right))


def test_letters_are_drawn_without_outlines() -> None:
    """Converters that do not know `paint-order` would draw an outline over the letters."""
    for svg in (picture(), graph_svg(with_cycle(), system())):
        assert svg
        assert not [e for e in ET.fromstring(svg).iter(f"{SVG}text") if e.get("stroke")]
        assert "paint-order" not in svg


@given(st.integers(0, 10**12), st.integers(1, 10**12), st.integers(2, 20))
def test_axis_marks_are_round_few_and_inside(start: int, span: int, labels: int) -> None:
    axis = make_axis(start, start + span, labels)
    assert len(axis.ticks) <= labels + 1
    assert all(start <= time <= start + span for time, _ in axis.ticks)
    assert len({label for _, label in axis.ticks}) == len(axis.ticks)


def test_format_of_times() -> None:
    assert [format_time(t) for t in (0, 7, 1500, 2_500_000, 3 * 10**9)] == [
        "0 ns",
        "7 ns",
        "1.5 us",
        "2.5 ms",
        "3 s",
    ]


def test_a_window_past_the_end_is_cut() -> None:
    window = choose_window(10, [], (2, 99), Sink(), 5)
    assert window and (window.start, window.end) == (2, 10)
