# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems in which bands, monitors, groups, nested requests and policies meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.backends.host.explore import SearchOptions
from tests.explore.search import search

from .random_features import make, problems

pytestmark = pytest.mark.requirement("AN-28")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_random_features(seed: int, tmp_path: Path) -> None:
    built = make(seed, tmp_path)
    if built is not None:
        assert problems(built) == []


@pytest.mark.long
@pytest.mark.parametrize("arrivals", [0, 1])
@pytest.mark.parametrize("seed", [3, 11])  # bands with several CPIs
def test_searches_of_random_features(seed: int, arrivals: int, tmp_path: Path) -> None:
    built = make(seed, tmp_path)
    assert built is not None
    found = search(built, SearchOptions(arrivals=arrivals, duration=25_000_000, states=5000)).violation
    assert found is None or found.property == "D"
