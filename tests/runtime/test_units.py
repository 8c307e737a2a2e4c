# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Parts of the runtime by themselves, with the sanitizers on."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.resources import HOST_KERNEL, RUNTIME
from tests.units import build, check

_UNIT = Path(__file__).parent / "unit"


@pytest.mark.parametrize(
    ("test", "sources", "mcs"),
    [
        ("queue_test.c", ("protocols/queue.c",), False),
        ("message_test.c", ("message.c", "message_error.c"), False),
        ("shared_memory_test.c", (), False),
        ("marshal_test.c", (), False),
        ("refusal_test.c", (), False),
        ("library_host_test.c", (), False),
        ("error_test.c", ("error.c",), False),
        ("semaphore_test.c", ("semaphore.c",), False),
        ("group_test.c", ("protocols/group.c", "protocols/lending.c"), False),
        ("condition_test.c", ("protocols/condition.c",), False),
        ("start_test.c", ("start.c",), False),
        ("manager_test.c", ("protocols/manager.c", "protocols/queue.c"), False),
        ("request_test.c", (), False),
        ("request_test.c", (), True),
        ("serve_test.c", ("protocols/serve.c",), False),
        ("serve_test.c", ("protocols/serve.c",), True),
        ("nested_test.c", ("protocols/nested.c",), False),
        ("nested_test.c", ("protocols/nested.c",), True),
        ("budget_test.c", ("protocols/budget.c",), True),
        ("overrun_test.c", ("protocols/overrun.c",), True),
        ("payers_test.c", ("protocols/overrun.c",), True),
    ],
)
def test_unit(test: str, sources: tuple[str, ...], mcs: bool, tmp_path: Path) -> None:
    flags = ("-DCAMKES_KERNEL_HOST=1", *(("-DCONFIG_KERNEL_MCS",) if mcs else ()))
    includes = (RUNTIME / "include", HOST_KERNEL / "include")
    check(build(tmp_path, _UNIT / test, [RUNTIME / "src" / s for s in sources], includes, *flags))
