# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Callbacks of events that register themselves again, while events wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.runtime.host import build

pytestmark = pytest.mark.requirement("RT-12")

_SYSTEM = """
component Emitter { control; requestor; emits E e; emits E f; }
component Consumer { control; consumes E e; consumes E f; }
assembly {
    composition {
        component Emitter emitter; component Consumer consumer;
        connection seL4NotificationQueue q1(from emitter.e, to consumer.e);
        connection seL4NotificationQueue q2(from emitter.f, to consumer.f);
    }
    configuration {
        emitter._priority = 200; emitter._period = 2 ms;
        consumer._priority = 100;
    }
}
"""
_EMITTER = """
extern unsigned long e_queue __asm__("e_queue0"), f_queue __asm__("f_queue0");
int run(void)
{
    e_queue = COUNT - 1;
    f_queue = COUNT - 1;
    e_emit();
    f_emit();
    (void)camkes_next_job();
    (void)camkes_next_job();
    e_emit();
    f_emit();
    return 0;
}
"""
_COUNT = """
static volatile unsigned long lowest = ~0ul;
static int e_events, f_events;
static void note_stack(void)
{
    const unsigned long here = (unsigned long)__builtin_frame_address(0);
    lowest = here < lowest ? here : lowest;
}
"""
_SAME = """
static void on_f(void *cookie)
{
    note_stack();
    f_events++;
    if (f_reg_callback(on_f, cookie) != 0) { puts("f is not registered"); }
}
static void on_e(void *cookie)
{
    note_stack();
    e_events++;
    if (e_reg_callback(on_e, cookie) != 0) { puts("e is not registered"); }
}
"""
#: each callback registers the other's
_MUTUAL = """
static void on_f(void *cookie);
static void on_e(void *cookie)
{
    note_stack();
    e_events++;
    (void)f_reg_callback(on_f, cookie);
    (void)e_reg_callback(on_e, cookie);
}
static void on_f(void *cookie)
{
    note_stack();
    f_events++;
    (void)e_reg_callback(on_e, cookie);
    (void)f_reg_callback(on_f, cookie);
}
"""
_RUN = """
int run(void)
{
    camkes_work(CAMKES_MS(1)); /* both queues are handed off meanwhile */
    const unsigned long begin = (unsigned long)__builtin_frame_address(0);
    (void)e_reg_callback(on_e, NULL);
    (void)f_reg_callback(on_f, NULL);
    printf("%d %d %s\\n", e_events, f_events, begin - lowest < 2048 ? "shallow" : "deep");
    camkes_work(CAMKES_MS(2));
    printf("%d %d\\n", e_events, f_events);
    return 0;
}
"""


@pytest.mark.mostly_long("1-each the other")
@pytest.mark.parametrize("callbacks", [_SAME, _MUTUAL], ids=["each itself", "each the other"])
@pytest.mark.parametrize("count", [1, 3, 65535])
def test_a_callback_is_called_for_each_event_that_waits(callbacks: str, count: int, tmp_path: Path) -> None:
    """On a stack that does not grow with their number; and for those that come later."""
    sources = {
        "Emitter": _EMITTER.replace("COUNT", str(count)),
        "Consumer": _COUNT + callbacks + _RUN,
    }
    run = build(tmp_path, _SYSTEM, sources).run()
    assert (run.status, run.errors) == (0, "")
    assert run.output == f"{count} {count} shallow\n{count + 1} {count + 1}\n"


@pytest.mark.long
def test_a_callback_that_does_not_register_again_is_called_once(tmp_path: Path) -> None:
    code = """
    static int calls;
    static void on_e(void *cookie) { (void)cookie; calls++; }
    int run(void)
    {
        camkes_work(CAMKES_MS(1));
        (void)e_reg_callback(on_e, NULL);
        int others = 0;
        while (e_poll()) { others++; }
        printf("%d %d\\n", calls, others);
        return 0;
    }
    """
    run = build(tmp_path, _SYSTEM, {"Emitter": _EMITTER.replace("COUNT", "5"), "Consumer": code}).run()
    assert run.output == "1 4\n"
