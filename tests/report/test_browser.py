# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The pages in a browser, narrow and wide, light and dark: contrast of text as WCAG (AA) asks for; keys."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from camkes.model.protocols import Protocol
from camkes.running.decode import decode
from camkes.showing.draw.timeline_page import timeline_page
from tests.command import camkes
from tests.report.simulator import MS, CpiSpec, TaskSpec, simulate

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")
ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("browser.js")

pytestmark = [
    pytest.mark.requirement("TOOL-12"),
    pytest.mark.long,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed"),
]


def many() -> str:
    """The timeline of three tasks with long names, and of more interfaces than hues."""
    count = 14
    tasks = [
        TaskSpec(f"task_{n}_with_a_long_name_that_does_not_fit", 50 - n, (0,), (2 * MS, f"c{n}.p"), 900 * MS)
        for n in range(count)
    ]
    cpis = [CpiSpec(f"c{n}.p", Protocol.INHERITED, (3 * MS,)) for n in range(count)]
    events, names, _ = simulate(tasks, cpis)
    return timeline_page(decode(events, names), "many")


def analysis(folder: Path) -> str:
    assert camkes("analyze", str(ROOT / "examples" / "nested"), "--html", "page.html", cwd=folder).status == 0
    return (folder / "page.html").read_text()


def drawn(page: str, width: int, dark: bool, folder: Path) -> Any:
    """What browser.js finds in a page that is drawn."""
    file, profile = folder / "drawn.html", folder / "profile"
    file.write_text(page.replace("</body>", f"<script>{SCRIPT.read_text()}</script></body>"))
    command = [
        str(BROWSER),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={profile}",
        f"--window-size={width},9000",
        f"--blink-settings=preferredColorScheme={0 if dark else 1}",
        "--dump-dom",
        file.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    shutil.rmtree(profile)  # it remembers light or dark
    (report,) = re.findall(r'<pre id="report">(.*?)</pre>', done.stdout, re.DOTALL)
    return json.loads(html.unescape(report))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("kind", ["timeline", "analysis"])
def test_pages_can_be_read(kind: str, width: int, dark: bool, tmp_path: Path) -> None:
    found = drawn(many() if kind == "timeline" else analysis(tmp_path), width, dark, tmp_path)
    assert found["dark"] == dark
    assert found["texts"] > 40 and found["found"] == []
    assert not (dark and found["white"])
    assert found["wider"] <= 0 and found["unnamed"] == []


def test_keys_move_the_timeline(tmp_path: Path) -> None:
    steps = drawn(many(), 1600, False, tmp_path)["keys"]
    by_key = {each["key"]: each for each in steps}
    end = by_key["0"]["to"]
    enlarged = by_key["+"]["to"] - by_key["+"]["from"]
    assert enlarged == pytest.approx(0.6 * end) and by_key["Home"]["from"] == 0
    assert by_key["ArrowRight"]["from"] > by_key["+"]["from"] and by_key["End"]["to"] <= end
    assert by_key["ArrowDown"]["lane"] == 1
    assert by_key["s"]["servers"] > 0
    start, end = by_key["Shift"]["measured"]
    assert end - start == pytest.approx(0.01 * (by_key["m"]["to"] - by_key["m"]["from"]))
    assert by_key["Shift"]["rows"] == 14 and by_key["Escape"]["rows"] == 0
    first, second, back = (each for each in steps if each["key"] in ".,")
    assert first["chosen"] == back["chosen"] != second["chosen"] and "task_1_" in first["about"]
