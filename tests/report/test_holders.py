# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The holders of mutexes and semaphores, and the threads that can end a wait for one."""

from __future__ import annotations

import pytest

from camkes.running.holders import SyncState
from camkes.running.names import NamedSync

pytestmark = pytest.mark.requirement("TOOL-10")

A, B, C, D = range(4)


def semaphore(
    value: int, senders: tuple[int, ...] | None = (A, B, C), free: tuple[int, ...] = ()
) -> SyncState:
    return SyncState(NamedSync(0, "s.u", "semaphore", value, senders, free))


def test_a_thread_that_posts_gives_back_what_it_has_taken() -> None:
    state = semaphore(2)
    for thread, time in ((A, 1), (B, 2), (A, 3)):
        state.take(thread, time)
    assert state.holders == {A: 1, B: 2} and state.enders() == (A, B)
    state.post(A)
    assert state.holders == {A: 1, B: 2}
    state.post(A)
    assert state.holders == {B: 2} and state.enders() == (B,)
    state.post(B)
    assert state.holders == {} and state.enders() == (A, B, C)


def test_a_thread_that_posts_what_it_has_not_taken_says_that_it_is_for_signals() -> None:
    state = semaphore(1)
    state.take(A, 1)
    assert state.is_lock
    state.post(B)
    assert not state.is_lock and state.held == {}
    state.take(C, 2)
    assert state.holders == {} and state.enders() == (A, B, C)


def test_so_does_code_that_never_waits_for_it() -> None:
    state = semaphore(1, free=(B,))
    state.take(A, 1)
    assert not state.is_lock and state.enders() == (A, B)


def test_without_a_value_at_the_start_it_is_for_signals() -> None:
    state = semaphore(0)
    state.take(A, 1)
    assert state.holders == {} and state.enders() == (A, B, C)


def test_a_semaphore_that_no_code_posts_has_no_holder() -> None:
    state = semaphore(1, senders=())
    state.take(A, 1)
    assert state.holders == {} and state.enders() == ()


def test_others_than_threads_can_end_a_wait() -> None:
    state = semaphore(1, senders=None)
    state.take(A, 1)
    assert state.enders() is None


def test_the_holder_of_a_mutex_is_known_even_if_another_thread_unlocks_it() -> None:
    state = SyncState(NamedSync(0, "s.m", "mutex", 1, (A, B), ()))
    state.take(A, 1)
    state.post(B)
    state.take(A, 4)
    assert state.holders == {A: 4} and state.enders() == (A, B)
