# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The timeline as a page, as other pictures, and whether its colours can be read."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from camkes.diagnostics import Sink
from camkes.files import OutputError
from camkes.model.protocols import Protocol
from camkes.running.decode import decode
from camkes.running.model import Run, Wakeup
from camkes.showing.draw import svg
from camkes.showing.draw.pictures import write_picture
from camkes.showing.draw.terminal import terminal_report
from camkes.showing.draw.timeline import service_letters, timeline_svg
from camkes.showing.draw.timeline_page import TEMPLATE, timeline_page
from tests.report.simulator import INVERSION, MS, CpiSpec, TaskSpec, simulate

pytestmark = pytest.mark.requirement("TOOL-12")


def inversion() -> Run:
    events, names, _ = simulate(INVERSION["tasks"], INVERSION["cpis"])  # type: ignore[arg-type]
    return decode(events, names)


def data_of(page: str) -> dict[str, object]:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page)
    assert found is not None
    document: dict[str, object] = json.loads(found[1])
    return document


def test_the_page_has_what_each_task_does_and_why() -> None:
    run = inversion()
    data: dict[str, list] = data_of(timeline_page(run, "a <b>"))  # type: ignore[type-arg,assignment]
    assert data["name"] == "a <b>" and [each["name"] for each in data["lanes"]] == [
        lane.task.name for lane in run.lanes
    ]
    high = data["lanes"][0]
    waits = [
        data["texts"][text]
        for _, _, look, _, text in high["segments"]
        if data["looks"][look - 1][:5] == "waits"
    ]
    assert waits and all(text.startswith("waits for the lock of ") and " while " in text for text in waits)
    for start, end, look, _, text in high["segments"]:
        if data["looks"][look - 1][:5] == "waits":
            (lock,) = [each for each in data["holds"] if each[1] <= start and end <= each[2]]
            assert data["texts"][text].startswith(
                f"waits for the lock of {lock[0]}, held by {lock[3]} "
            ) and lock[3].endswith("low")
    assert len(high["jobs"]) == 2 and high["jobs"][0][3] - high["jobs"][0][1] in (6 * MS, 9 * MS)
    assert any(lane["raised"] for lane in data["lanes"])
    for lane in data["lanes"]:
        assert all(a[1] <= b[0] for a, b in zip(lane["segments"], lane["segments"][1:], strict=False))


def test_the_page_has_callers_and_emitters() -> None:
    run = inversion()
    data: dict[str, list] = data_of(timeline_page(run, ""))  # type: ignore[type-arg,assignment]
    served = {row["name"]: row["served"] for row in data["servers"]}
    assert sum(map(len, served.values())) == len(run.requests)
    lanes = {lane["name"]: lane for lane in data["lanes"]}
    for found in served.values():
        for start, end, service, task, caller in found:
            assert caller == "" and data["services"][service]["name"] == "lock.p"
            assert any(s[0] <= start and end <= s[1] for s in jobs_of(lanes[task], data["end"]))  # type: ignore[arg-type]
    assert data["signals"] == []
    high, low = run.lanes[0], run.lanes[-1]
    wakeups = (
        Wakeup(7 * MS, low.thread, high.thread, "ready"),
        Wakeup(8 * MS, low.thread, low.thread, "own"),  # of one task: no arrow
    )
    data = data_of(timeline_page(replace(run, wakeups=wakeups), ""))  # type: ignore[assignment]
    assert data["signals"] == [[7 * MS, low.task.name, high.task.name, "ready", 0]]


def jobs_of(lane: dict[str, list[list[int]]], end: int) -> list[tuple[int, int]]:
    """From the release of each job to its end."""
    return [(job[1], end if job[3] is None else job[3]) for job in lane["jobs"]]


def test_names_cannot_end_the_page() -> None:
    page = timeline_page(inversion(), "</script><b>")
    assert page.count("</script>") == 2 and "<b>" not in page.partition("<main>")[0]


def luminance(colour: str) -> float:
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_text_has_the_contrast_that_wcag_asks_for() -> None:
    blocks = re.findall(r"^:root[.\w]* \{(.*?)^\}", TEMPLATE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 2
    for block in blocks:
        colours = dict(re.findall(r"--([\w-]+): (#\w{6})", block))
        for ground in ("ground", "panel"):
            for ink in ("ink", "faint", "raised"):
                assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
        assert all(contrast(colours["bar-ink"], each) >= 4.5 for each in (*svg.PALETTE, svg.OWN))
    assert all(contrast(ink, "#ffffff") >= 4.5 for ink in (svg.INK, svg.FAINT))
    assert all(contrast(svg.INK, each) >= 4.5 for each in svg.PALETTE)


def test_more_interfaces_than_hues_differ_by_lines() -> None:
    count = len(svg.PALETTE) + 2
    tasks = [TaskSpec(f"t{n}", 50 - n, (0,), (2 * MS, f"c{n}.p"), 900 * MS) for n in range(count)]
    events, names, _ = simulate(tasks, [CpiSpec(f"c{n}.p", Protocol.FIXED, (3 * MS,)) for n in range(count)])
    picture = timeline_svg(decode(events, names), Sink())
    assert picture is not None
    fills = set(re.findall(r'fill="(#\w{6}|url\(#lined-[\w-]+\))"', picture))
    assert len([each for each in fills if each.startswith("url(#lined")]) == 2


def test_each_bar_with_space_has_a_letter_and_the_legend_explains_it() -> None:
    """So that pictures can be read in grey: the letters are those of the chart on a terminal."""
    tasks = [TaskSpec(f"t{n}", 50 - n, (0,), (2 * MS, f"service{n}.part"), 900 * MS) for n in range(12)]
    events, names, _ = simulate(
        tasks, [CpiSpec(f"service{n}.part", Protocol.FIXED, (3 * MS,)) for n in range(12)]
    )
    run = decode(events, names)
    letters = service_letters(run)
    assert len(set(letters.values())) == 12
    legend = dict(
        re.findall(r"(\w) (service\d+\.part)", terminal_report(run, width=110).partition("own code")[2])
    )
    assert letters == {service: letter for letter, service in legend.items()}
    picture = timeline_svg(run, Sink())
    assert picture is not None
    for letter in letters.values():  # on its bar, and in the legend
        assert picture.count(f">{letter}</text>") >= 2, letter
    data = data_of(timeline_page(run, ""))
    assert {each["name"]: each["letter"] for each in data["services"][1:]} == letters  # type: ignore[index]


def test_long_names_of_tasks_are_shortened() -> None:
    name = "a_task_whose_name_takes_more_space_than_a_picture_has_beside_its_lanes"
    events, names, _ = simulate([TaskSpec(name, 50, (0,), (2 * MS,), 900 * MS)], [])
    picture = timeline_svg(decode(events, names), Sink())
    assert picture is not None and f"<title>{name}</title>" in picture
    (shown,) = re.findall(r">(a_task\w*…)</text>", picture)
    assert 20 < len(shown) < len(name)


@pytest.mark.parametrize(("suffix", "begin"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_pictures_as_png_and_pdf(
    suffix: str, begin: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = timeline_svg(inversion(), Sink())
    assert picture is not None
    if shutil.which("rsvg-convert") is not None:
        write_picture(tmp_path / f"a{suffix}", picture)
        assert (tmp_path / f"a{suffix}").read_bytes().startswith(begin)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(OutputError, match="apt install librsvg2-bin"):
        write_picture(tmp_path / f"b{suffix}", picture)
    assert not (tmp_path / f"b{suffix}").exists()


@pytest.mark.long
def test_a_browser_draws_it(tmp_path: Path) -> None:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("chromium is not installed")
    page = tmp_path / "page.html"
    page.write_text(timeline_page(inversion(), "inversion"))
    words = (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--window-size=400,800",
        "--dump-dom",
        page.as_uri(),
    )
    done = subprocess.run([program, *words], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.count('data-t="') > 5 and "job 0 of high: released at " in done.stdout
