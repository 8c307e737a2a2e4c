# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Budgets of a run in every output: what is left, who paid for whom, what was used up and what followed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from camkes.diagnostics import Sink
from camkes.running.decode import decode
from camkes.running.model import Overrun, Payment, Run
from camkes.showing.draw.budgets import STRIP
from camkes.showing.draw.terminal import terminal_report
from camkes.showing.draw.timeline import timeline_svg
from camkes.showing.draw.timeline_page import timeline_page
from tests.command import camkes
from tests.documents import conforming
from tests.runtime.host import build

pytestmark = pytest.mark.requirement("TOOL-14")

MS = 1_000_000

SYSTEM = """import <std_connector.camkes>;
procedure Section { void enter(in int ms); }
component User { control; requestor; uses Section s; attribute int ms; }
component Worker { control; requestor; }
component Store { provides Section s with priority_protocol inherited, overrun POLICY; }
assembly {
    composition {
        component User low; component Worker middle; component User high; component Store store;
        connection seL4RPCCall c(from low.s, from high.s, to store.s);
    }
    configuration {
        low._priority = 10; low._period = 100 ms; low._budget = 3 ms; low.ms = 6;
        middle._priority = 20; middle._period = 50 ms; middle._budget = 20 ms; middle._offset = 4 ms;
        high._priority = 30; high._period = 50 ms; high._budget = 10 ms; high._offset = 2 ms; high.ms = 1;
        store.s_extension = 3 ms; store.s_extension_period = 50 ms;
    }
}
"""
SOURCES = {
    "User": "int run(void) { while (camkes_next_job()) { s_enter(ms); } return 0; }\n",
    "Worker": "int run(void) { while (camkes_next_job()) { camkes_work(CAMKES_MS(8)); } return 0; }\n",
    "Store": "void s_enter(int ms) { camkes_work(CAMKES_MS(ms)); }\n",
}


@pytest.fixture(scope="module")
def helped(tmp_path_factory: pytest.TempPathFactory) -> Run:
    text = re.sub(r"store.s_extension.*", "", SYSTEM.replace("POLICY", "help")).partition("\n")[2]
    run = build(tmp_path_factory.mktemp("helped"), text, SOURCES, mcs=True).run(duration=45 * MS)
    return decode(run.events, run.names)


@pytest.mark.long
def test_who_paid_for_whom(helped: Run) -> None:
    """`low` uses 3 ms of its own and 3 of `high`, which waits."""
    assert helped.payments == (Payment(3 * MS, 6 * MS, "high", "low", "store.s"),)


@pytest.mark.long
def test_an_overrun_with_time_place_task_and_policy(helped: Run) -> None:
    assert helped.overruns == (Overrun(3 * MS, "low", "store.s@low", "low", "store.s", "help"),)


def test_what_is_left_is_a_line(helped: Run) -> None:
    left = {spent.name: spent.left for spent in helped.spent}
    assert left["low"] == ((0, 3 * MS), (2 * MS, 1 * MS), (3 * MS, 0))
    assert left["high"][-1] == (7 * MS, 6 * MS), "3 for low, 1 of its own"
    for corners in left.values():
        assert [time for time, _ in corners] == sorted(time for time, _ in corners)


def test_tables(helped: Run) -> None:
    text = terminal_report(helped, width=80)
    assert "time that others paid (ms)\non time of  worked  in       used\n" in text
    assert "high        low     store.s     3\n" in text
    assert "overruns\nbudget of  used up at  in       by   policy\n" in text
    assert "low              3 ms  store.s  low  help\n" in text


def test_pictures(helped: Run) -> None:
    svg = timeline_svg(helped, Sink())
    page = timeline_page(helped, "a run")
    assert svg is not None
    for text in (svg, page):
        assert "low in store.s on the budget of high" in text
        assert "the budget of low is used up at 3 ms in store.s: help" in text
        assert "on the budget of another task, or an extension" in text
    lanes = json.loads(page.partition('type="application/json">')[2].partition("</script>")[0])["lanes"]
    low = next(lane for lane in lanes if lane["name"] == "low")
    assert low["budget"][0] == 3 * MS
    assert [each[:3] for each in low["paid"]] == [[3 * MS, 6 * MS, "high"]]


def test_a_part_of_the_line_in_a_window(helped: Run) -> None:
    """Also where its corners are outside: 2 ms are left at 1 ms, and 0.5 at 2.5 ms."""
    svg = timeline_svg(helped, Sink(), (MS, 5 * MS // 2))
    assert svg is not None
    (path,) = re.findall(r'd="M([^"]*)"[^>]*><title>what is left of 3 ms<', svg)
    bottom, *line, _ = (float(y) for y in re.findall(r"[\d.]+,([\d.]+)", path))
    assert [round((bottom - y) / STRIP * 3, 1) for y in line] == [2, 1, 0.5]


@pytest.mark.long
def test_json(tmp_path: Path) -> None:
    """The extension pays. On another kernel there are no budgets: tests/end_to_end/test_cost_profile.py."""
    (tmp_path / "system.camkes").write_text(SYSTEM.replace("POLICY", "extend"))
    for name, source in SOURCES.items():
        (tmp_path / f"{name}.c").write_text(f"#include <camkes.h>\n{source}")
    words = ("run", tmp_path / "system.camkes", "--for", "45ms", "--json")
    report: dict[str, Any] = conforming("run", camkes(*words, "-DKernelIsMCS=ON").output)
    assert report["payments"] == [
        {
            "start": 3 * MS,
            "end": 6 * MS,
            "payer": "extension of store.s",
            "task": "low",
            "what": "store.s",
        }
    ]
    assert report["overruns"][0]["policy"] == "extend" and report["overruns"][0]["time"] == 3 * MS
    assert {each["name"]: each["timeouts"] for each in report["budgets"]}["low"] == 1
    assert {each["name"]: each["used"] for each in report["budgets"]} == {
        "extension of store.s": 3 * MS, "low": 3 * MS, "middle": 8 * MS, "high": 1 * MS,
    }  # fmt: skip


def test_changes_of_the_criticality(helped: Run) -> None:
    found = replace(helped, criticality=((4 * MS, 1),))
    svg = timeline_svg(found, Sink())
    assert svg is not None and "the criticality of the system is 1 from 4 ms on" in svg
    assert '"criticality":[[4000000,1]]' in timeline_page(found, "a run")


def test_a_crash_on_the_budget_of_another(tmp_path: Path) -> None:
    """After 5 ms, 2 of which `high` paid; it waits then for a lock that stays locked."""
    sources = SOURCES | {
        "Store": "void s_enter(int ms) { camkes_work(CAMKES_MS(ms - 1)); *(volatile int *)8 = ms; }\n"
    }
    text = re.sub(r"store.s_extension.*", "", SYSTEM.replace("POLICY", "help"))
    run = build(tmp_path, text.partition("\n")[2], sources, mcs=True).run(duration=45 * MS)
    found = decode(run.events, run.names)
    assert found.payments == (Payment(3 * MS, 5 * MS, "high", "low", "store.s"),)
    (fault,) = found.faults
    assert (fault.time, fault.task, fault.holds) == (5 * MS, "low", ("store.s",))
    assert {spent.name: spent.used for spent in found.spent}["high"] == 2 * MS
    assert run.violations() == []
