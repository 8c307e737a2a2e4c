# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Refills of the host kernel against their reference, operation by operation and in whole runs."""

from __future__ import annotations

import ctypes
import itertools
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camkes.resources import HOST_KERNEL
from tests.host.mcs.refill_reference import Budget, Worker, simulate
from tests.host.mcs.systems import Runner, System

pytestmark = pytest.mark.requirement("HOST-11")

#: ns; a power of two, for durations that are joined by `|`
UNIT = 1 << 20


class Refill(ctypes.Structure):
    _fields_ = (("time", ctypes.c_uint64), ("amount", ctypes.c_uint64))


class Context(ctypes.Structure):
    """The first fields of `struct context`."""

    _fields_ = (
        ("refills", ctypes.POINTER(Refill)),
        *((name, ctypes.c_uint) for name in ("room", "most", "count")),
        *((name, ctypes.c_uint64) for name in ("budget", "period")),
        ("rest", ctypes.c_char * 128),
    )


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """refill.c by itself."""
    library = tmp_path_factory.mktemp("refill") / "refill.so"
    flags = ("-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-O1")
    source = HOST_KERNEL / "src/time/refill.c"
    places = (f"-I{HOST_KERNEL}/include", f"-I{HOST_KERNEL}/src")
    subprocess.run(["cc", *flags, *places, "-o", library, source], check=True)
    return ctypes.CDLL(str(library))


class Real:
    """A scheduling context of the kernel."""

    def __init__(self, kernel: ctypes.CDLL, size: int, period: int, most: int) -> None:
        self.kernel = kernel
        self.memory = (Refill * most)()
        self.context = Context(refills=self.memory, room=most)
        self.call("new", most, size, period, 0)

    def call(self, name: str, *arguments: int) -> None:
        function = getattr(self.kernel, f"refill_{name}")
        words = [ctypes.c_uint64(a) for a in arguments]
        if name in {"new", "update"}:
            words[0] = ctypes.c_uint(arguments[0])
        function(ctypes.byref(self.context), *words)

    def refills(self) -> list[tuple[int, int]]:
        return [(r.time, r.amount) for r in self.memory[: self.context.count]]


#: (budget, period, refills)
SHAPES = st.integers(1, 12).flatmap(
    lambda size: st.tuples(st.just(size), st.integers(size + 1, 4 * size + 4), st.integers(2, 6))
)
#: (units used, units of time that pass after that, whether the thread then wakes up)
STEPS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 20), st.booleans()), max_size=30)


@given(SHAPES, STEPS)
def test_refills_are_those_of_the_reference(
    kernel: ctypes.CDLL, shape: tuple[int, int, int], steps: list[tuple[int, int, bool]]
) -> None:
    real, budget, now = Real(kernel, *shape), Budget(*shape), 0
    for use, passes, wakes in steps:
        used = min(use, budget.available(now))
        now += used + passes
        budget.use(used)
        real.call("charge", used, 1)
        if wakes:
            budget.begin(now)
            real.call("unblock", now)
        assert real.refills() == budget.refills()


@given(SHAPES, STEPS, st.integers(1, 5))
def test_refills_add_up_and_are_in_order(
    kernel: ctypes.CDLL, shape: tuple[int, int, int], steps: list[tuple[int, int, bool]], least: int
) -> None:
    """With a least budget too, below which a refill is joined with the next one."""
    size, period, most = 10 * shape[0], 10 * shape[1], shape[2]
    real, now = Real(kernel, size, period, most), 0
    for use, passes, wakes in steps:
        time, amount = real.refills()[0]
        used = min(10 * use + 3, amount) if time <= now else 0
        now += used + passes
        real.call("charge", used, least)
        if wakes:
            real.call("unblock", now)
        refills = real.refills()
        assert sum(amount for _, amount in refills) == size
        assert len(refills) <= most
        assert refills[0][1] >= least
        assert all(a[0] + a[1] <= b[0] for a, b in itertools.pairwise(refills))


@given(SHAPES, SHAPES, STEPS)
def test_new_parameters_of_a_context_in_use_keep_its_bandwidth(
    kernel: ctypes.CDLL, before: tuple[int, int, int], after: tuple[int, int, int],
    steps: list[tuple[int, int, bool]],
) -> None:  # fmt: skip
    real, now = Real(kernel, *before[:2], 6), 0
    for use, passes, _ in steps:
        time, amount = real.refills()[0]
        used = min(use, amount) if time <= now else 0
        now += used + passes
        real.call("charge", used, 1)
    time, amount = real.refills()[0]
    size, period, most = after
    real.call("update", most, size, period, now)
    first = max(time, now)
    expected = [(first, min(amount, size)), (first + period, size - amount)]
    assert real.refills() == [refill for refill in expected if refill[1] > 0]


JOBS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 7)), min_size=1, max_size=5)


def run(mcs: Runner, shape: tuple[int, int, int], server: str, low: list[tuple[int, int]],
        high: list[tuple[int, int]], until: int) -> list[tuple[int, int]]:  # fmt: skip
    size, period, most = shape
    system = System()
    system.worker("low", 10, *((time * UNIT, 0, work * UNIT) for time, work in low))
    system.time("low", size * UNIT, period * UNIT, server, most)
    system.worker("high", 20, *((time * UNIT, 0, work * UNIT) for time, work in high))
    system.time("high", until * UNIT, until * UNIT)
    done = mcs.run(system, until * UNIT)
    at_end = done.running_at_end("low")
    assert done.charged("low") == sum(b - a for a, b in done.intervals("low")) - at_end
    return [(a // UNIT, b // UNIT) for a, b in done.intervals("low")]


@pytest.mark.mostly_long("constant")
@pytest.mark.parametrize("server", ["sporadic", "constant"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shape=SHAPES, low=JOBS, high=JOBS)
def test_a_thread_runs_when_the_reference_says(
    mcs: Runner, server: str, shape: tuple[int, int, int], low: list[tuple[int, int]],
    high: list[tuple[int, int]],
) -> None:  # fmt: skip
    until = 100
    low, high = [list({time: (time, work) for time, work in jobs}.values()) for jobs in (low, high)]
    low = [(time + 1, work) for time, work in low]  # not before they wait
    high = [(time + 1, work) for time, work in high]
    ran = run(mcs, shape, server, low, high, until)
    assert ran == simulate(Budget(*shape), server == "sporadic", Worker(low), Worker(high), until)
    if server == "constant":
        size, period, _ = shape
        for start, _ in ran:
            used = sum(max(0, min(b, start + period) - max(a, start)) for a, b in ran)
            assert used <= size
