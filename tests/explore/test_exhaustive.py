# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Every schedule of two and three tasks at one CPI, in every protocol: a short form of `make explore`."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmarks.explore_topologies import Settings, Topology, run_topology, topologies
from camkes.backends.host.explore import SearchOptions
from tests.explore.search import LIMIT, built, exhausted, search
from tests.runtime import systems

pytestmark = pytest.mark.requirement("AN-20")

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.long
@pytest.mark.parametrize("topology", [*topologies(1, 2), *topologies(1, 3)], ids=lambda t: t.name)
def test_every_schedule_keeps_the_properties(topology: Topology) -> None:
    row = run_topology(topology, Settings(SearchOptions(seconds=LIMIT), ("fifo", "rr")))
    assert row.violations == []
    assert row.verdict == "exhausted"
    assert (row.mixes, row.rejected) == (3, 0)


@pytest.mark.long
def test_the_search_itself_has_no_undefined_behaviour(tmp_path: Path) -> None:
    compiler = "cc -fsanitize=undefined -fno-sanitize-recover=all"
    kernel = ("make", "-s", "-C", ROOT / "kernel" / "host", f"OUT={tmp_path / 'kernel'}", f"CC={compiler}")
    subprocess.run(kernel, check=True)
    what = built(tmp_path / "system", systems.RANKS)
    orders = SearchOptions(seconds=LIMIT, outcomes=True)
    plain = search(what, orders).outcomes
    image = replace(what.image, kernel=tmp_path / "kernel" / "camkes-host")
    sanitized = dataclasses.replace(what, image=image)
    assert search(sanitized, orders).outcomes == plain
    for processes in (1, 2):
        checked = search(sanitized, SearchOptions(seconds=LIMIT, processes=processes))
        assert checked.violation is None and exhausted(checked)
