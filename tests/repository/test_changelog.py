# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The notes of a release are its section of the changelog."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.requirement("TOOL-29")

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / ".github" / "scripts" / "changelog-section"

CHANGELOG = """# Changelog

## [Unreleased]

## [0.10.0] - 2026-12-02

### Added
- Ten.

- More.

## [0.1.0] - 2026-12-01
### Added
- One.
"""


def section(version: str, path: Path) -> tuple[int, str]:
    done = subprocess.run([SCRIPT, version, path], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout or done.stderr


@pytest.fixture
def changelog(tmp_path: Path) -> Path:
    path = tmp_path / "CHANGELOG.md"
    path.write_text(CHANGELOG)
    return path


def test_a_section_has_all_lines_of_its_version_and_no_others(changelog: Path) -> None:
    assert section("0.10.0", changelog) == (0, "### Added\n- Ten.\n\n- More.\n\n")
    assert section("0.1.0", changelog) == (0, "### Added\n- One.\n")


@pytest.mark.parametrize("version", ["0.2.0", "0.1", "Unreleased", "0.1.0] - 2026"])
def test_a_version_that_the_changelog_lacks_is_an_error(changelog: Path, version: str) -> None:
    assert section(version, changelog) == (1, f"CHANGELOG.md has no section for version {version}\n")


def test_the_changelog_has_a_section_for_what_comes_next() -> None:
    assert section("Unreleased", ROOT / "CHANGELOG.md")[0] == 0
