# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tables of the safety manual whose source is elsewhere in the repository."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

from camkes.evidence.requirements import stated

ROOT = Path(__file__).resolve().parents[2]

_LINKED = re.compile(r"^- \[.+\]\((.+)\): `(\w+)`$", re.MULTILINE)
_VERSION = re.compile(r"^## \[(.+?)\].*\n((?:(?!## \[).*\n?)*)", re.MULTILINE)
_DEFECTS = re.compile(r"^### Known defects\n((?:(?!### ).*\n?)*)", re.MULTILINE)


def requirements() -> str:
    """The areas of requirements, with links to their pages, their ids, and how many there are."""
    pages = {name: page for page, name in _LINKED.findall(_read("docs/requirements/index.md"))}
    rows = ""
    for area, found in groupby(stated(ROOT), lambda each: each.area):
        names = [each.id.rpartition("-")[0] for each in found]
        rows += f"| [{area}](requirements/{pages[names[0]]}) | `{names[0]}` | {len(names)} |\n"
    return rows


def defects(changelog: str) -> str:
    """The known defects of each version, the newest first."""
    rows = ""
    for version, section in _VERSION.findall(changelog):
        found = _DEFECTS.search(section)
        items = re.findall(r"^- (.+(?:\n  .+)*)", found[1] if found else "", re.MULTILINE)
        texts = [re.sub(r"\s+", " ", item).replace("](docs/", "](") for item in items]
        rows += f"| {version} | {'<br>'.join(texts) or 'none is known'} |\n"
    return rows


def _read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def tables() -> dict[str, str]:
    """The rows below the heads of these tables."""
    return {
        "| area | ids | number |\n|---|---|---|\n": requirements(),
        "| version | known defects |\n|---|---|\n": defects(_read("CHANGELOG.md")),
    }
