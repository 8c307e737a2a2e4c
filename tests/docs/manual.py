# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tables of the safety manual whose source is elsewhere in the repository."""

from __future__ import annotations

import re
from importlib.util import module_from_spec, spec_from_file_location
from itertools import groupby
from pathlib import Path
from types import ModuleType

from camkes.diagnostics.explain import all_codes
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


def not_modelled() -> str:
    """The rows of the page about that."""
    (rows,) = re.findall(
        r"^\| not modelled .*\n\|[-|]+\n((?:\|.*\n)+)", _read("docs/not-modelled.md"), re.MULTILINE
    )
    return str(rows)


def warnings() -> str:
    """The codes of all warnings with their names, by what they are about."""
    rows = ""
    for number, subject in reference().SUBJECTS.items():
        codes = [code for code in all_codes() if code.number.startswith(f"W{number}")]
        named = [f"{code.number} {code.name}" for code in sorted(codes, key=lambda code: code.number)]
        rows += f"| {subject} | {', '.join(named)} |\n" if named else ""
    return rows


def reference() -> ModuleType:
    """The script that makes the pages of the reference."""
    found = spec_from_file_location("reference", ROOT / "docs" / "site" / "reference.py")
    assert found is not None and found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


def _read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def tables() -> dict[str, str]:
    """The rows below the heads of these tables."""
    return {
        "| area | ids | number |\n|---|---|---|\n": requirements(),
        "| not modelled | in a run | where it is |\n|---|---|---|\n": not_modelled(),
        "| about | warnings |\n|---|---|\n": warnings(),
        "| version | known defects |\n|---|---|\n": defects(_read("CHANGELOG.md")),
    }
