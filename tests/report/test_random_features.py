# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems in which bands, monitors, groups, nested requests and policies meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from .random_features import make, problems


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_random_features(seed: int, tmp_path: Path) -> None:
    built = make(seed, tmp_path)
    if built is not None:
        assert problems(built) == []
