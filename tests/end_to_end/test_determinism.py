# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""No output depends on the order in which Python's sets and dictionaries happen to be.

CAMKES_SEEDS says how many hash seeds to try (2).
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.scale import timed, write_system

from .support import EXAMPLES, ROOT

pytestmark = pytest.mark.requirement("HOST-15")

SEEDS = int(os.environ.get("CAMKES_SEEDS", "2"))


def systems(folder: Path) -> list[Path]:
    """The examples, files full of mistakes, and a system in which much is joined."""
    joined = folder / "joined.camkes"
    joined.write_text(write_system(100), encoding="utf-8")
    return [
        *sorted(path for path in EXAMPLES.iterdir() if path.is_dir()),
        *sorted((ROOT / "tests/resolve/bad").glob("*.camkes")),
        joined,
    ]


def digests(seed: int, folder: Path, files: list[Path]) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-m", "tests.end_to_end.every_output", str(folder / f"out{seed}"), *map(str, files)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


@pytest.mark.long
def test_every_hash_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    files = systems(tmp_path)
    first = digests(0, tmp_path, files)
    for output in ("plan", "boot table", "capDL", "glue.c"):
        assert any(line.endswith(output) for line in first), output
    for seed in range(1, SEEDS):
        assert digests(seed, tmp_path, files) == first, f"PYTHONHASHSEED={seed}"
    print(f"\n{len(first)} outputs of {len(files)} files are the same with {SEEDS} hash seeds")


@pytest.mark.long
def test_every_hash_seed_gives_the_same_analysis(tmp_path: Path) -> None:
    """Also where the search for the greatest blocking is cut off."""
    path = tmp_path / "large.camkes"
    path.write_text(timed(write_system(1000)), encoding="utf-8")
    command = [sys.executable, "-m", "camkes", "analyze", "--text", "--platform", "none", "--json", str(path)]
    found = {
        subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=False,
        ).stdout
        for seed in range(SEEDS)
    }
    assert len(found) == 1
    assert all(b"blocking_gap" in each for each in found)
