# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Evaluates many cases: in processes of this machine, or with the workers of a Dask scheduler.

A process that ends costs no case but its own more than another try. On workers of Dask, too, cases are
evaluated in processes of their own, so that one can be given up.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from camkes.process import StartedProgram
from camkes.sweep.worker import read_frame, write_frame

Case = TypeVar("Case")
Result = TypeVar("Result")

#: How often a case is begun whose process ends.
TRIES = 2
#: Cases that a process is given at once, so that it need not wait for the next, if one takes less than so
#: many seconds; others may be for another process.
AHEAD, QUICK = 3, 0.05
#: How often in a row a process may end before it has begun.
STARTS = 3
#: Seconds that one part of the work of a Dask worker should take, and the most cases in one.
PART = 5.0
MOST = 2_000
#: How often a part is given to workers of Dask all of which end, before that is an error.
ROUNDS = 5


class Lost(Struct, frozen=True):
    """A case that has no result, and the reason."""

    reason: str


#: Evaluates all cases; the results come in any order, each with the index of its case. What the function
#: raises is raised.
Workers: TypeAlias = Callable[[Sequence[Case]], Iterator[tuple[int, Result | Lost]]]


class WorkersError(Exception):
    """Processes cannot be started, or workers cannot evaluate anything; the text says why."""


@contextmanager
def local(
    function: Callable[[Case], Result], jobs: int, timeout: float | None = None
) -> Iterator[Workers[Case, Result]]:
    """So many processes of this machine; no case takes longer than `timeout` seconds. With one process and no
    `timeout`, it is the process that asks. The function and cases are pickled."""
    if jobs <= 1 and timeout is None:
        yield lambda cases: ((index, function(case)) for index, case in enumerate(cases))
        return
    call = pickle.dumps(function)
    with ExitStack() as stack:
        pool = [stack.enter_context(_Worker(call, timeout)) for _ in range(max(jobs, 1))]
        yield lambda cases: _evaluated(pool, cases)


def _evaluated(pool: Sequence[_Worker], cases: Sequence[Case]) -> Iterator[tuple[int, Any]]:
    """The results of all cases, each of which is begun by the next process that is free."""
    waiting = deque(range(len(cases)))
    begun = [0] * len(cases)
    left = len(cases)
    while left:
        for worker in pool:
            while waiting and len(worker.given) < worker.room:
                worker.give(index := waiting.popleft(), cases[index])
        for worker in _ready(pool):
            try:
                found: Any = worker.result()
            except _EndedError as ended:
                begun[ended.index] += 1
                again = ended.again and begun[ended.index] < TRIES
                found = None if again else (ended.index, Lost(ended.reason))
                waiting.extendleft(reversed([ended.index, *ended.others] if again else ended.others))
            if found is not None:
                left -= 1
                yield found


def _ready(pool: Sequence[_Worker]) -> list[_Worker]:
    """The processes that have a result or have ended, or that take too long; waits until there is one."""
    busy = [worker for worker in pool if worker.given]
    while True:
        now = time.monotonic()
        left = [worker.until - now for worker in busy if worker.until is not None]
        ready = select.select(busy, [], [], max(0.0, min(left)) if left else None)[0]
        found = [worker for worker in busy if worker in ready or worker.is_late]
        if found:
            return found


class _EndedError(Exception):
    """The process of a worker ended while it evaluated the case of an index. `others` are cases that it was
    given and had not begun. `again`: another process may succeed."""

    def __init__(self, index: int, others: list[int], reason: str, again: bool) -> None:
        super().__init__(reason)
        self.index, self.others, self.reason, self.again = index, others, reason, again


class _Worker:
    """A process that evaluates cases, and another one when it has ended."""

    def __init__(self, call: bytes, timeout: float | None) -> None:
        self._call, self._timeout = call, timeout
        self._stack = ExitStack()
        self._program: StartedProgram | None = None
        #: cases that it has and whose results are to come, the first has begun
        self.given: deque[int] = deque()
        self._began = 0.0
        #: when that takes too long
        self.until: float | None = None
        #: how many cases it may have
        self.room = 1

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, *_: object) -> None:
        program, self._program = self._program, None
        if program is not None and not self.given and program.stdin is not None:
            with suppress(OSError, TimeoutError):  # it removes what it has in its folders
                program.stdin.close()
                program.wait(5)
        self._stack.close()

    @property
    def is_late(self) -> bool:
        return self.until is not None and self.until <= time.monotonic()

    def fileno(self) -> int:
        assert self._program is not None and self._program.stdout is not None
        return self._program.stdout.fileno()

    def give(self, index: int, case: object) -> None:
        if self._program is None:
            self._start()
        assert self._program is not None and self._program.stdin is not None
        if not self.given:
            self._begin()
        self.given.append(index)
        with suppress(BrokenPipeError):  # it has ended, which `result` finds
            write_frame(self._program.stdin.fileno(), pickle.dumps(case))

    def result(self) -> tuple[int, Any]:
        """The index of the first case and its result. Raises _EndedError, or what the function raised."""
        if self.is_late and not select.select([self], [], [], 0)[0]:
            raise self._ended(f"it took more than {self._timeout:g} s", again=False)
        assert self._program is not None and self._program.stdout is not None
        frame = read_frame(self._program.stdout.fileno())
        if frame is None:
            status = self._program.wait()
            raise self._ended(_words(status), again=True)
        index = self.given.popleft()
        self.room = AHEAD if time.monotonic() - self._began < QUICK else 1
        self._begin()
        good, found = pickle.loads(frame)
        if not good:
            raise found
        return index, found

    def _begin(self) -> None:
        self._began = time.monotonic()
        self.until = None if self._timeout is None else self._began + self._timeout

    def _ended(self, reason: str, *, again: bool) -> _EndedError:
        index, *others = self.given
        self._stop()
        return _EndedError(index, others, reason, again)

    def _stop(self) -> None:
        self._program = None
        self.given.clear()
        self._stack.close()

    def _start(self) -> None:
        """Start a process and wait until it has the function. Raises WorkersError."""
        words = [sys.executable, "-m", "camkes.sweep.worker"]
        path = os.pathsep.join(folder or os.getcwd() for folder in sys.path)  # noqa: PTH109
        for _ in range(STARTS):
            program = StartedProgram(
                words, env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            try:
                self._stack.enter_context(program)
            except OSError as error:
                raise WorkersError(str(error)) from error
            assert program.stdin is not None and program.stdout is not None
            with suppress(BrokenPipeError):
                write_frame(program.stdin.fileno(), self._call)
            if read_frame(program.stdout.fileno()) is not None:
                self._program = program
                return
            status = program.wait()
            self._stack.close()
        raise WorkersError(f"a process to evaluate cases does not start: {_words(status)}")


def _words(status: int) -> str:
    """How a process ended."""
    if status >= 0:
        return f"its process ended with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"its process was ended by {name}"


# On other machines -------------------------------------------------------------------------------


@contextmanager
def distributed(
    function: Callable[[Case], Result], address: str, timeout: float | None = None
) -> Iterator[Workers[Case, Result]]:
    """The workers of a Dask scheduler, which need camkes-rt and the module of the function. What a worker
    that ends had to do, another one does. Raises ImportError without Dask, WorkersError if no
    scheduler responds."""
    from dask import distributed as dask

    call = pickle.dumps(function)
    try:
        client = dask.Client(address, timeout="10s")  # type: ignore[no-untyped-call, unused-ignore]
    except (OSError, ValueError) as error:
        raise WorkersError(f"no scheduler responds at {address}: {error}") from error
    with client:
        yield lambda cases: _from_workers(client, call, cases, timeout)


def _from_workers(
    client: Any, call: bytes, cases: Sequence[Case], timeout: float | None
) -> Iterator[tuple[int, Any]]:
    """The results of all cases. Workers are given two parts each, of a size that takes a few seconds, so that
    little is lost with one of them, and the scheduler has little to keep."""
    from dask import distributed as dask

    waiting = deque(range(len(cases)))
    parts: dict[Any, list[int]] = {}
    failed = [0] * len(cases)
    running = dask.as_completed()  # type: ignore[no-untyped-call, unused-ignore]
    size = 1

    def submit() -> None:
        while waiting and len(parts) < 2 * max(1, sum(client.nthreads().values())):
            indices = [waiting.popleft() for _ in range(min(size, len(waiting)))]
            if failed[indices[0]]:  # alone
                waiting.extendleft(reversed(indices[1:]))
                indices = indices[:1]
            chosen = [cases[index] for index in indices]
            future = client.submit(evaluate_part, call, chosen, timeout, pure=False)
            parts[future] = indices
            running.add(future)  # type: ignore[no-untyped-call, unused-ignore]

    submit()
    while parts:
        future = next(running)
        indices = parts.pop(future)
        if future.status == "finished":
            seconds, results = future.result()
            size = max(1, min(MOST, 2 * size, int(PART * len(indices) / max(seconds, 1e-3))))
            yield from zip(indices, results, strict=True)
        else:
            reason = _unfinished(client, future)
            for index in indices:
                failed[index] += 1
                if failed[index] < ROUNDS:
                    waiting.append(index)
                else:
                    yield index, Lost(reason)
        submit()


def _unfinished(client: Any, future: Any) -> str:
    """Why a part was not evaluated. Raises what the function raised, WorkersError where the scheduler is
    gone."""
    if future.status != "error":
        if client.status != "running":
            raise WorkersError("the scheduler does not respond any more")
        return "the scheduler forgot it"
    error = future.exception()
    if type(error).__name__ == "KilledWorker":
        return "all workers that had it ended"
    raise error


def evaluate_part(call: bytes, cases: Sequence[Case], timeout: float | None) -> tuple[float, list[Any]]:
    """The results of some cases in their order, by a process of a worker, and the seconds that it took."""
    start = time.monotonic()
    results: list[Any] = [None] * len(cases)
    with _Worker(call, timeout) as worker:
        for index, found in _evaluated([worker], cases):
            results[index] = found
    return time.monotonic() - start, results
