# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Tests in C of parts of the runtime by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from camkes.resources import HOST_KERNEL, RUNTIME
from tests.runtime.host import place
from tests.units import SANITIZED, build

FOLDER = Path(__file__).parent / "unit"
#: by name: the sources besides the test itself, and whether the kernel is an MCS kernel
UNITS = (
    ("queue_test", ("queue.c",), False),
    ("message_test", ("message.c", "message_error.c"), False),
    ("shared_memory_test", (), False),
    ("marshal_test", (), False),
    ("refusal_test", (), False),
    ("refusal_test", (), True),
    ("library_host_test", (), False),
    ("heap_host_test", (), False),
    ("error_test", ("error.c",), False),
    ("every_error_test", (), False),
    ("semaphore_test", ("semaphore.c",), False),
    ("group_test", ("group.c", "lending.c"), False),
    ("monitor_test", ("group.c", "lending.c"), False),
    ("monitor_test", ("group.c", "lending.c"), True),
    ("condition_test", ("condition.c",), False),
    ("condition_test", ("condition.c",), True),
    ("helper_test", ("helper.c",), False),
    ("alarm_test", ("alarm.c",), False),
    ("alarm_test", ("alarm.c",), True),
    ("start_test", ("start.c",), False),
    ("start_test", ("start.c",), True),
    ("event_test", ("event.c", "semaphore.c"), False),
    ("platform_test", ("platform_host.c",), False),
    ("platform_test", ("platform_host.c",), True),
    ("manager_test", ("manager.c", "check.c", "queue.c"), False),
    ("manage_test", ("manager.c", "check.c", "queue.c"), False),
    ("manage_test", ("manager.c", "check.c", "queue.c"), True),
    ("lock_test", ("lock.c",), False),
    ("lock_test", ("lock.c",), True),
    ("thread_test", ("thread.c",), False),
    ("timer_test", ("timer.c",), False),
    ("checks_test", (), False),
    ("request_test", (), False),
    ("request_test", (), True),
    ("serve_test", ("serve.c",), False),
    ("serve_test", ("serve.c",), True),
    ("nested_test", ("managers.c", "nested.c"), False),
    ("nested_test", ("managers.c", "nested.c"), True),
    ("budget_test", ("managers.c", "budget.c"), True),
    ("overrun_test", ("overrun.c",), True),
    ("payers_test", ("overrun.c",), True),
    ("aborted_test", ("aborted.c", "overrun.c"), True),
    ("worker_states_test", ("check.c",), True),
    ("time_manager_test", ("managers.c", "time_manager.c", "criticality.c"), True),
    ("task_test", ("managers.c", "task.c"), False),
    ("task_test", ("managers.c", "task.c"), True),
    ("passive_test", ("passive.c",), True),
    ("scheduler_test", ("scheduler.c",), True),
)


def build_unit(
    folder: Path, name: str, sources: Sequence[str], mcs: bool, compiler: Sequence[str] = SANITIZED
) -> Path:
    """The program of one of `UNITS`, in a folder."""
    return build(
        folder,
        FOLDER / f"{name}.c",
        [FOLDER / "assertion.c", *(RUNTIME / place(s) for s in sources)],
        (RUNTIME / "include", HOST_KERNEL / "include"),
        *("-DCAMKES_KERNEL_HOST=1", *(("-DCONFIG_KERNEL_MCS",) if mcs else ())),
        compiler=compiler,
    )
