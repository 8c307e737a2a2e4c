# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Evaluates many cases: on the processors of this machine, or with the workers of a Dask scheduler."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias, TypeVar

Case = TypeVar("Case")
Result = TypeVar("Result")

#: Evaluates all cases; results come in any order.
Workers: TypeAlias = Callable[[Sequence[Case]], Iterable[Result]]


@contextmanager
def local(function: Callable[[Case], Result], jobs: int) -> Iterator[Workers[Case, Result]]:
    """So many processes of this machine; with one, the process that asks."""
    if jobs <= 1:
        yield lambda cases: map(function, cases)
        return
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import active_children, get_context

    with ProcessPoolExecutor(jobs, get_context("fork"), _end_with_parent) as pool:

        def each(cases: Sequence[Case]) -> Iterator[Result]:
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # workers leave it to us
            try:
                futures = [pool.submit(function, case) for case in cases]
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
            for future in as_completed(futures):
                yield future.result()

        try:
            yield each
        except BaseException:
            for worker in active_children():  # else the pool waits for all that it was given
                worker.kill()
            raise


def _end_with_parent() -> None:
    """A worker ends when its parent does, also when that is killed."""
    from multiprocessing import parent_process

    def wait(parent: Any) -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, args=(parent_process(),), daemon=True).start()


@contextmanager
def distributed(function: Callable[[Case], Result], address: str) -> Iterator[Workers[Case, Result]]:
    """The workers of a Dask scheduler, which need the module of the function. What a worker that ends had to
    do, another one does. Raises ImportError without Dask, OSError if no scheduler responds."""
    from dask import distributed as dask

    with dask.Client(address, timeout="10s") as client:  # type: ignore[no-untyped-call, unused-ignore]

        def each(cases: Sequence[Case]) -> Iterator[Result]:
            futures: list[Any] = client.map(function, list(cases), pure=False, retries=5)
            for future in dask.as_completed(futures):  # type: ignore[no-untyped-call, unused-ignore]
                yield future.result()

        yield each
