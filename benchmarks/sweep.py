# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A sweep by workers of Dask, one of which is killed in the middle, beside the same sweep in one process.

    python -m benchmarks.sweep --count 100000

Exit status: 1 if the tables are not the same to the byte, or no worker was killed.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from camkes import pipeline
from camkes.diagnostics import Sink
from camkes.files import temporary_folder
from camkes.sweep.axes import read_axes
from camkes.sweep.evaluate import Doable, Evaluation, Prepared
from camkes.sweep.prepare import prepare
from camkes.sweep.reports import to_csv
from camkes.sweep.results import ResultsFile
from camkes.sweep.rows import SweepRow
from camkes.sweep.run import sweep
from camkes.sweep.workers import Workers, distributed, local

ROOT = Path(__file__).resolve().parents[1]
SYSTEM = ROOT / "examples" / "inversion"


def prepared(count: int) -> Prepared:
    """So many combinations of an execution time, from 1 us on, and a protocol."""
    sink = Sink()
    vary = [
        f"high._wcet=1us:{max(count // 2, 1)}us:1us",
        "shared.store_priority_protocol=fixed,inherited",
    ]
    found = prepare(pipeline.Input(SYSTEM), read_axes(vary, sink), (), Doable(), sink, lambda _: None)
    assert found is not None, sink.diagnostics
    return found


def table(
    asked: Prepared,
    count: int,
    workers: Workers[int, SweepRow],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[str, float]:
    """The table, and how many seconds it took."""
    start = time.monotonic()
    rows = sweep(asked, range(count), workers, ResultsFile(None, None, {}), progress)
    return to_csv(asked, rows), time.monotonic() - start


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=2_000, help="combinations, an even number")
    parser.add_argument("--workers", type=int, default=2, help="worker processes of Dask, of one thread each")
    arguments = parser.parse_args(words)
    from dask.distributed import LocalCluster

    count = arguments.count // 2 * 2
    asked = prepared(count)
    with local(Evaluation(asked), 1) as workers:
        alone, seconds = table(asked, count, workers)
    print(f"one process:        {count:,} analyses in {seconds:.1f} s: {count / seconds:,.0f} a second")
    killed: list[int] = []
    with ExitStack() as stack:
        cluster = stack.enter_context(
            LocalCluster(
                n_workers=arguments.workers,
                threads_per_worker=1,
                processes=True,
                dashboard_address=None,
                local_directory=stack.enter_context(temporary_folder("camkes-sweep-dask-")),
            )
        )

        def kill_one(done: int, total: int) -> None:
            if not killed and done >= total // 2:
                killed.append(next(iter(cluster.workers.values())).pid)
                os.kill(killed[0], signal.SIGKILL)

        there = stack.enter_context(distributed(Evaluation(asked), cluster.scheduler_address, 60))
        spread, longer = table(asked, count, there, kill_one)
    rate = f"{count:,} analyses in {longer:.1f} s: {count / longer:,.0f} a second"
    print(f"{arguments.workers} workers of Dask:  {rate}, with process {killed} killed after half of them")
    same = alone == spread
    print(f"tables of {len(alone):,} bytes: {'the same' if same else 'NOT the same'}")
    return 0 if same and killed else 1


if __name__ == "__main__":
    sys.exit(main())
