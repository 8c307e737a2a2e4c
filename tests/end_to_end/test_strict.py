# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""--strict: what a verdict assumes, or left out, is a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import camkes
from tests.end_to_end.support import loop, system

pytestmark = pytest.mark.requirement("CHECK-7")

TEXT = """
procedure P { void f(); }
component Task { control; requestor; uses P p; }
component Alone { control; requestor; }
component Server { provides P p; }
assembly {
    composition {
        component Task task; component Alone alone; component Server server;
        connection seL4RPCCall c(from task.p, to server.p);
    }
    configuration {
        task._priority = 10; task._period = 20 ms;
        alone._priority = PRIORITY; alone._period = 10 ms;
    }
}
"""
SOURCES = {"task.c": loop("p_f();"), "alone.c": loop(""), "server.c": "void p_f(void) { }\n"}


def test_a_warning_of_check_and_run(tmp_path: Path) -> None:
    delayed = system(tmp_path, TEXT.replace("PRIORITY", "20"), SOURCES)  # by the server, which is at 254
    for quiet in ((), ("-q",)):
        for command in (("check",), ("run", "-o", tmp_path / "out", "--for", "50ms")):
            name, *words = command
            assert camkes(name, delayed, *words, *quiet).status == 0
            result = camkes(name, delayed, *words, *quiet, "--strict")
            assert result.status == 1 and "[W0513]" in result.errors
    good = system(tmp_path, TEXT.replace("PRIORITY", "10"), SOURCES)
    assert camkes("check", good, "--strict").status == 0


def test_what_a_run_did_not_judge(tmp_path: Path) -> None:
    text = TEXT.replace("PRIORITY", "10").replace("alone._period", "alone._domain = 1; alone._period")
    path = system(tmp_path, text, SOURCES)
    words = ("run", path, "-o", tmp_path / "out", "--for", "50ms", "--verify")
    assert camkes(*words).status == 0
    result = camkes(*words, "--strict")
    assert "not judged: " in result.output and result.status == 1
