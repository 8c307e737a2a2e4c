# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""CPU time of camkes-tool's parser and of ours, side by side on public applications.

Every measurement is a process of its own, started cold; the two tools take turns, so that a busy machine
slows both. Upstream parses and resolves; ours parses, resolves, plans and checks (`camkes check`). Needs
CAMKES_CORPUS, CAMKES_UPSTREAM and CAMKES_UPSTREAM_PYTHON (see `tests/resolve/test_upstream.py`).

    .venv/bin/python benchmarks/parser_speed.py [ROUNDS]
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.scale import write_system  # noqa: E402
from camkes.diagnostics import Sink  # noqa: E402
from camkes.resolve import LoadOptions, load  # noqa: E402
from tests.resolve import corpus  # noqa: E402
from tests.resolve.test_upstream import job  # noqa: E402

LIST = """component A {{ control; attribute int numbers[]; }}
assembly {{ composition {{ component A a; }} configuration {{ a.numbers = [{numbers}]; }} }}
"""


def cpu_seconds(command: list[str], text: str = "") -> tuple[float, str]:
    """What a command costs, and what it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    run = subprocess.run(command, env=environment, input=text, text=True, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, run.stdout


def upstream_seconds(file: Path, options: LoadOptions) -> float:
    script = ROOT / "tests/resolve/upstream_dump.py"
    command = [os.environ["CAMKES_UPSTREAM_PYTHON"], str(script)]
    seconds, answer = cpu_seconds(command, json.dumps(job(file, options)))
    assert answer.startswith('{"system"'), f"upstream rejects {file}: {answer[:300]}"
    return seconds


def our_seconds(file: Path, options: LoadOptions) -> float:
    flags = [*options.cpp_flags, *(f"-I{folder}" for folder in options.include_path)]
    command = [
        str(Path(sys.executable).parent / "camkes"),
        "check",
        *(f"--import-path={folder}" for folder in options.import_path),
        *(f"--cpp-flag={flag}" for flag in flags),
        *(["--allow-forward-references"] if options.allow_forward_references else []),
        *([f"--dtb={options.dtb}"] if options.dtb else []),
        str(file),
    ]
    seconds, answer = cpu_seconds(command)
    assert ": good: " in answer, f"we reject {file}"
    return seconds


def systems(root: Path) -> list[tuple[Path, LoadOptions]]:
    """The applications of the corpus, without what is a part of one, and without the tests of upstream."""
    found = []
    for file in corpus.files(root):
        parts = file.relative_to(root).parts
        if parts[1] in corpus.APPLICATIONS:
            options = corpus.options(root, file)
            if load(file, options, Sink()) is not None:
                found.append((file, options))
    return found


def generated(folder: Path) -> list[tuple[Path, LoadOptions]]:
    """Systems on which the time of a parser shows more than that of its start."""
    texts = {f"{size}_instances": write_system(size, plain=True) for size in (100, 200, 400)}
    for size in (1000, 4000):
        numbers = ", ".join(map(str, range(size)))
        texts[f"list_of_{size}"] = LIST.format(numbers=numbers)
    for name, text in texts.items():
        (folder / f"{name}.camkes").write_text(text, encoding="utf-8")
    return [(folder / f"{name}.camkes", LoadOptions()) for name in texts]


def compare(systems: list[tuple[Path, LoadOptions]], root: Path, rounds: int) -> None:
    """Measure both tools on each system, print each, and what they come to."""
    ours_of, upstream_of, ratios = [], [], []
    print(f"{'upstream':>9} {'ours':>8} {'ratio':>7}")
    for file, options in systems:
        theirs, ours = [], []
        for _ in range(rounds):
            theirs.append(upstream_seconds(file, options))
            ours.append(our_seconds(file, options))
        upstream_of.append(statistics.median(theirs))
        ours_of.append(statistics.median(ours))
        ratios.append(upstream_of[-1] / ours_of[-1])
        times = f"{upstream_of[-1]:7.2f} s {ours_of[-1]:6.3f} s {ratios[-1]:6.1f}x"
        print(f"{times}  {file.relative_to(root)}", flush=True)
    print(
        f"{len(ratios)} systems; medians: upstream {statistics.median(upstream_of):.2f} s, "
        f"ours {statistics.median(ours_of):.3f} s, ratio {statistics.median(ratios):.1f} "
        f"(from {min(ratios):.1f} to {max(ratios):.1f})"
    )


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    root = corpus.corpus()
    if root is None or "CAMKES_UPSTREAM" not in os.environ or "CAMKES_UPSTREAM_PYTHON" not in os.environ:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        compare(generated(Path(folder)), Path(folder), rounds)
    compare(systems(root), root, rounds)


if __name__ == "__main__":
    main()
