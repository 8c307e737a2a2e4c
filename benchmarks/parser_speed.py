# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""CPU time of camkes-tool's parser and of ours, side by side on public applications.

Every measurement is a process of its own, started cold; the two tools take turns, so that a busy machine
slows both. Upstream is `python -m camkes.parser`, which reads, preprocesses, parses and resolves; ours is
`camkes check`, which reads the CMakeLists.txt, plans and checks as well. Both get the same options, and their
preprocessors count. Ours is measured twice: the first time, with nothing kept from an earlier run, and again,
with what CMake answered kept; camkes-tool keeps nothing.
Needs CAMKES_CORPUS, CAMKES_UPSTREAM and CAMKES_UPSTREAM_PYTHON (see `tests/resolve/test_upstream.py`).

    .venv/bin/python benchmarks/parser_speed.py [ROUNDS]
"""

from __future__ import annotations

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

LIST = """component A {{ control; attribute int numbers[]; }}
assembly {{ composition {{ component A a; }} configuration {{ a.numbers = [{numbers}]; }} }}
"""


def cpu_seconds(command: list[str], folder: Path | None = None, **variables: str) -> tuple[float, int, str]:
    """What a command costs with all that it starts, its exit status, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | variables
    run = subprocess.run(command, env=environment, cwd=folder, text=True, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (
        after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime,
        run.returncode,
        run.stdout + run.stderr,
    )


def flags(options: LoadOptions) -> list[str]:
    """Options that both tools understand."""
    cpp = [*options.cpp_flags, *(f"-I{folder}" for folder in options.include_path)]
    return [
        *(f"--import-path={folder}" for folder in options.import_path),
        *(f"--cpp-flag={flag}" for flag in cpp),
        *(["--allow-forward-references"] if options.allow_forward_references else []),
        *([f"--dtb={options.dtb}"] if options.dtb else []),
    ]


def upstream_seconds(file: Path, options: LoadOptions) -> float | None:
    """None where upstream rejects the file."""
    tool = Path(os.environ["CAMKES_UPSTREAM"]).absolute()
    own = [
        f"--import-path={tool / 'include/builtin'}",
        f"--save-ast={os.devnull}",
        f"--file={file.absolute()}",
    ]
    command = [os.environ["CAMKES_UPSTREAM_PYTHON"], "-m", "camkes.parser", *flags(options), "--cpp", *own]
    seconds, status, _ = cpu_seconds(command, tool)
    return seconds if status == 0 else None


def our_seconds(file: Path, options: LoadOptions) -> tuple[float, float]:
    """The first time, and again."""
    command = [str(Path(sys.executable).parent / "camkes"), "check", *flags(options), str(file)]
    with tempfile.TemporaryDirectory() as cache:
        first, _, answer = cpu_seconds(command, XDG_CACHE_HOME=cache)
        again, _, same = cpu_seconds(command, XDG_CACHE_HOME=cache)
    assert ": good: " in answer, f"we reject {file}: {answer[:500]}"
    assert same == answer
    return first, again


def systems(root: Path) -> list[tuple[Path, LoadOptions]]:
    """The applications of seL4/camkes that both tools accept, without what is only a part of one."""
    found = []
    for file in corpus.files(root):
        parts = file.relative_to(root).parts
        if parts[:2] == ("camkes", "apps"):
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
    rows: list[tuple[float, float, float]] = []
    print(f"{'upstream':>9} {'first':>8} {'ratio':>7} {'again':>9} {'ratio':>7}")
    for file, options in systems:
        theirs, ours = [], []
        for _ in range(rounds):
            seconds = upstream_seconds(file, options)
            if seconds is None:
                break
            theirs.append(seconds)
            ours.append(our_seconds(file, options))
        if not theirs:
            continue
        upstream = statistics.median(theirs)
        first, again = (statistics.median(each) for each in zip(*ours, strict=True))
        rows.append((upstream, first, again))
        ours_text = " ".join(f"{each:7.3f} s {upstream / each:6.1f}x" for each in (first, again))
        print(f"{upstream:7.2f} s {ours_text}  {file.relative_to(root)}", flush=True)
    upstream_of, first_of, again_of = zip(*rows, strict=True)
    print(f"{len(rows)} systems; medians: upstream {statistics.median(upstream_of):.2f} s")
    for name, ours_of in (("first", first_of), ("again", again_of)):
        ratios = [theirs / mine for theirs, mine in zip(upstream_of, ours_of, strict=True)]
        print(
            f"  {name}: {statistics.median(ours_of):.3f} s, ratio {statistics.median(ratios):.1f} "
            f"(from {min(ratios):.1f} to {max(ratios):.1f}); ratio of the sums "
            f"{sum(upstream_of) / sum(ours_of):.1f}"
        )


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    root = corpus.corpus()
    if root is None or "CAMKES_UPSTREAM" not in os.environ or "CAMKES_UPSTREAM_PYTHON" not in os.environ:
        sys.exit(__doc__)
    compare(systems(root), root, rounds)
    with tempfile.TemporaryDirectory() as folder:
        compare(generated(Path(folder)), Path(folder), rounds)


if __name__ == "__main__":
    main()
