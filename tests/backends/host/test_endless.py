# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which `run()` of a task is found to loop for ever without camkes_next_job()."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from camkes.backends.host import endless
from camkes.diagnostics import SourceFile, Span
from camkes.model.system import Task

ENDLESS = {
    "while": "int run(void) { while (1) step(); }",
    "empty": "int run(void) { for (;;) { } }",
    "two_loops": "int run(void) { for (int i = 0; i < 3; i++) step(); for (;;) step(); return 0; }",
    "with_a_check": "int run(void) { for (;;) { if (step() > 3) abort(); } }",
    "in_a_function": "static void loop(void) { for (;;) step(); }\nint run(void) { loop(); return 0; }",
    "goto": "int run(void) { again: step(); goto again; }",
    "of_two": "int run(void) { if (step()) for (;;) step(); for (;;) other(); }",
    "calls_itself": "int run(void) { step(); return run(); }",
    "with_a_switch": "int run(void) { for (;;) switch (step()) { case 1: other(); break; case 2: step(); } }",
}
FINE = {
    "asks": "int run(void) { while (camkes_next_job()) step(); return 0; }",
    "asks_in_a_function": "static void f(void) { camkes_next_job(); }\nint run(void) { for (;;) f(); }",
    "returns": "int run(void) { return step(); }",
    "counts": "int run(void) { for (int i = 0; i < 3; i++) step(); return 0; }",
    "breaks": "int run(void) { for (;;) if (step()) break; return 0; }",
    "exits": "int run(void) { for (int i = 0; i < 3; i++) step(); exit(0); }",
    "exits_from_a_loop": "int run(void) { for (;;) if (step()) exit(0); }",
    "fails": "int run(void) { abort(); }",
    "elsewhere": "int run(void) { return away(); }",
    "through_a_pointer": "int (*f)(void);\nint run(void) { return f(); }",
    "another_function": "int run(void) { return step(); }\nvoid g(void) { for (;;) step(); }",
    "maybe": "static int loop(void) { for (;;) step(); }\nint run(void) { return step() ? loop() : 0; }",
}
_HEAD = "#include <stdlib.h>\nint step(void); int other(void); int away(void); int camkes_next_job(void);\n"


@pytest.fixture(params=["-O0", "-O1", "-O2"])
def said(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., list[str]]:
    def compiled(text: str, period: int | None = 10) -> list[str]:
        source, output = tmp_path / "c.c", tmp_path / "c.o"
        source.write_text(_HEAD + text)
        command = ["cc", "-w", "-g", "-fPIC", request.param, "-c", str(source), "-o", str(output)]
        subprocess.run(command, check=True)
        span = Span(SourceFile(source, "x"), 1, 1, 1, 1)
        task = Task("t", None, 1, period, None, None, None, 0, span, {})
        found = endless.endless_tasks([task], {"t": [output]}, {"t": [source]})
        return [f"{d.code.number} {d.span.line if d.span else 0}" for d in found]

    return compiled


@pytest.mark.parametrize("name", ENDLESS)
def test_a_loop_without_jobs(name: str, said: Callable[..., list[str]]) -> None:
    line = 3 + ENDLESS[name][: ENDLESS[name].index("int run")].count("\n")
    assert said(ENDLESS[name]) == [f"W0737 {line}"]


@pytest.mark.parametrize("name", FINE)
def test_no_loop_without_jobs(name: str, said: Callable[..., list[str]]) -> None:
    assert said(FINE[name]) == []


def test_only_tasks_with_a_period(said: Callable[..., list[str]]) -> None:
    assert said(ENDLESS["while"], None) == []


def test_without_a_disassembler_there_is_no_diagnostic(
    said: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endless.shutil, "which", lambda _: None)
    assert said(ENDLESS["while"]) == []
