# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Pages of the site in a browser, narrow and wide, light and dark: contrast of text as WCAG (AA) asks for."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.test_examples import ROOT
from tests.report.test_browser import BROWSER, drawn

pytestmark = [
    pytest.mark.requirement("TOOL-27"),
    pytest.mark.long,
    pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed"),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    pytest.importorskip("furo", reason="the extra docs is not installed")
    folder = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source") / "pages"
    for words in (
        ["docs/site/pages.py", str(source)],
        ["-m", "sphinx", "-q", "-W", "--keep-going", "-c", "docs/site", str(source), str(folder)],
    ):
        subprocess.run([sys.executable, *words], cwd=ROOT, check=True, capture_output=True)
    yield folder
    shutil.rmtree(folder)


#: one with code in C and CAmkES and what commands print, one with tables, one made of argparse
@pytest.mark.parametrize(
    "page", ["index.html", "tutorial/1-task.html", "reference/trace.html", "reference/commands.html"]
)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_pages_can_be_read(page: str, dark: bool, site: Path) -> None:
    for width in (400, 1600):
        found = drawn((site / page).read_text(), width, dark, (site / page).parent)
        assert found["dark"] == dark
        assert found["texts"] > 30 and found["found"] == []
        assert found["wider"] <= 0


def test_no_table_is_text(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = re.sub(r"<(pre|code|script)\b.*?</\1>", "", page.read_text(), flags=re.DOTALL)
        assert not re.search(r"\|\s*-{3}", text), page


def test_every_page_is_in_the_menu(site: Path) -> None:
    """Those of the examples and the benchmarks are led to by others."""
    menu = set(re.findall(r'href="([\w/.-]+\.html)"', (site / "index.html").read_text()))
    every = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    elsewhere = ("examples/", "_static/", "decisions/", "requirements/", "index", "search")
    elsewhere += ("genindex", "benchmarks")
    every = {name for name in every if not name.endswith("drawn.html")}  # what the tests above wrote
    assert sorted(name for name in every - menu if not name.startswith(elsewhere)) == []
    assert len(menu) > 50


def test_the_search_works_without_a_server(site: Path, tmp_path: Path) -> None:
    page = f"{(site / 'search.html').as_uri()}?q=priority"
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command = [str(BROWSER), *flags, "--virtual-time-budget=20000", "--dump-dom", page]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert re.search(r"found \d+ pages? matching the search query", done.stdout)
