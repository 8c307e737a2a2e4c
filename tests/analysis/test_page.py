# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The HTML page of an analysis."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from camkes.analysis.simulation import Simulation, Slice, program
from camkes.analysis.workload import Workload, WorkloadCpi, WorkloadTask
from camkes.cli.main import main
from camkes.model.protocols import Protocol
from tests.analysis.test_budgets import LOCK
from tests.analysis.test_witness import MISSING, NESTED

pytestmark = pytest.mark.requirement("TOOL-12")

VOID = {"meta", "br", "input", "img", "link"}


class Page(HTMLParser):
    """Checks that elements end where they should; `rows` are the texts of table cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.attributes: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1].append(data)


def page(folder: Path, path: Path, *options: str) -> str:
    main(["analyze", "--nocpp", str(path), "--html", str(folder / "page.html"), *options])
    return (folder / "page.html").read_text()


def test_page_of_a_miss(tmp_path: Path) -> None:
    """a needs 3.5 ms and waits for 1.5 ms; its deadline is at 4 of 5 parts of the width."""
    (tmp_path / "s.camkes").write_text(MISSING)
    text = page(tmp_path, tmp_path / "s.camkes")
    found = Page(text)
    assert "1 of 2 tasks can miss their deadlines: a." in text
    row = ["a", "20", "10 ms", "4 ms", "3.5 ms", "1.5 ms", "5 ms", "5 ms", "can be missed"]
    assert row in found.rows
    bars = re.findall(
        r'<span class="(own|blocking|interference)" style="width:([\d.]+)%" title="([^"]*)"', text
    )
    assert bars[:2] == [
        ("own", "70.000", "own execution 3.5 ms"),
        ("blocking", "30.000", "blocked by b in s.store 1.5 ms"),
    ]
    assert '<i style="left:80.000%" title="deadline 4 ms">' in text
    assert "a waits for s.store, 2.000001 ms to 3.500001 ms" in text
    assert ["s.store!manager", "s", "manager", "20"] in found.rows


def test_the_page_needs_no_other_file(tmp_path: Path) -> None:
    """It loads nothing, has no script, and is the same each time."""
    text = page(tmp_path, NESTED, "--platform", "none")
    found = Page(text)
    assert "All deadlines are met." in text
    links = [value for name, value in found.attributes if name in ("src", "href", "action", "srcset")]
    assert [link for link in links if not link.startswith("#")] == []
    assert "<script" not in text and "@import" not in text and "url(http" not in text
    assert "prefers-color-scheme: dark" in text and "@media print" in text
    assert str(tmp_path) not in text
    assert text == page(tmp_path, NESTED, "--platform", "none")


def test_page_of_tasks_in_slots(tmp_path: Path) -> None:
    """The case is in the slots of one domain, with its tasks: q waits 3 ms for its slot, and works 3 ms."""
    path = tmp_path / "s.camkes"
    path.write_text(
        "component Task { control; requestor; } assembly { composition { component Task p;"
        " component Task q; } configuration { p._priority = 5; p._period = 70 ms; p._wcet = 2 ms;"
        " p._domain = 1; q._priority = 4; q._period = 12 ms; q._wcet = 3 ms; q._domain = 2; }"
        " schedule { [(1, 3 ms), (2, 4 ms)] } }"
    )
    text = page(tmp_path, path, "-DKernelTimerTickMS=1")
    Page(text)
    assert "From 0 ns to 6 ms;" in text
    lanes = re.findall(r'<div>(\w+)</div>\n<div class="lane">(.*)</div></div>', text)
    assert [name for name, _ in lanes] == ["slots", "q"]
    pieces = [re.findall(r'left:([\d.]+)%;width:([\d.]+)%.*?title="(.*?)"', lane) for _, lane in lanes]
    assert pieces == [
        [("0.000", "50.000", "slots of other domains, 0 ns to 3 ms")],
        [("50.000", "50.000", "q in its own code, 3 ms to 6 ms")],
    ]
    assert '<span class="slots" style="width:25.000%" title="slots of other domains 3 ms">' in text
    assert "</b>slots of other domains</span>" in text
    assert "</b>slots of other domains</span>" not in page(tmp_path, NESTED)


def test_page_without_a_search(tmp_path: Path) -> None:
    assert "The case that leaves least time" not in page(tmp_path, NESTED, "--no-search")


def test_page_of_budgets_and_criticalities(tmp_path: Path) -> None:
    """Both tables are in the page, as in the text."""
    path, page = tmp_path / "system.camkes", tmp_path / "page.html"
    path.write_text(
        "component Task { control; requestor; } assembly { composition { component Task t; }"
        " configuration { t._priority = 5; t._period = 10 ms; t._wcet = 1 ms; t._budget = 2 ms;"
        ' t._criticality = 1; t._budget_1 = 5 ms; t._wcet_1 = 4 ms; t._overrun = "raise"; } }'
    )
    words = ["analyze", str(path), "-DKernelIsMCS=ON", "--platform", "none", "--html", str(page)]
    assert main(words) == 0
    rows = Page(page.read_text("utf-8")).rows
    assert ["t", "1 ms", "2 ms", "10 ms", "raise", "1 ms", "1 ms", "met, isolated"] in rows
    assert ["t", "1", "4 ms", "4 ms", "4 ms", "10 ms", "met"] in rows


def test_names_are_escaped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The folder's name is the user's."""
    path = tmp_path / "a&b<i>.camkes"
    path.write_text(MISSING)
    text = page(tmp_path, path)
    Page(text)
    assert "<h1>a&amp;b&lt;i&gt;</h1>" in text


def test_slices_of_a_simulation() -> None:
    """b takes the lock at 1; a comes at 1, waits, and has it from 4."""
    workload = Workload(
        (WorkloadTask("a", 2, 50, 50, 0, {"lock": 1}), WorkloadTask("b", 1, 50, 50, 2, {"lock": 1})),
        (WorkloadCpi("lock", Protocol.INHERITED, 3),),
    )
    what = program(workload)
    simulation = Simulation(
        workload,
        type(what)({"a": ("lock",), "b": (1, "lock", 1)}, what.cpis, {"a": 1, "b": 0}),
        record=True,
    )
    simulation.run(20)
    assert simulation.slices == [
        Slice("b", "", False, 0, 1),
        Slice("a", "lock", True, 1, 4),
        Slice("b", "lock", False, 1, 4),
        Slice("a", "lock", False, 4, 7),
        Slice("b", "", False, 7, 8),
    ]


def test_page_of_budgets_that_do_not_suffice(tmp_path: Path) -> None:
    """The request of l takes 6 ms, and its budget is 3 ms. Without budgets all deadlines are met."""
    stated = 'store.p_overrun = "help"; l.p_requests = 1; h.p_requests = 1;'
    (tmp_path / "s.camkes").write_text(LOCK % (20, 6, stated))
    assert "All deadlines are met." in page(tmp_path, tmp_path / "s.camkes", "-q", "--platform", "none")
    text = page(tmp_path, tmp_path / "s.camkes", "-DKernelIsMCS=ON")
    assert "1 of 3 tasks can miss their deadlines: l." in text
