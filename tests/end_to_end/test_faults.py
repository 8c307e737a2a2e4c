# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A component that goes wrong is named, with its thread and C line; the others go on."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from tests.command import camkes
from tests.end_to_end.support import system

pytestmark = pytest.mark.requirement("HOST-4")

SYSTEM = """
component Bad { control; dataport Buf shared; }
component Good { control; dataport Buf shared; }
assembly {
    composition {
        component Bad bad;
        component Good good;
        connection seL4SharedData d(from good.shared, to bad.shared);
    }
    configuration { bad._priority = 20; good._priority = 10; bad.shared_access = "R"; }
}
"""
GOOD = """
int run(void) {
    for (int i = 1; i <= 3; i++) { camkes_work(CAMKES_MS(1)); printf("good: %d\\n", i); }
    return 0;
}
"""
#: the instruction is the first one of its line, so that one byte before it is another line
DIVISION: dict[str, tuple[str, str, int | None]] = {}
if platform.machine() == "x86_64":
    DIVISION["division"] = (
        'int run(void) {\n    __asm__ volatile("xor %ecx, %ecx; cltd");\n'
        '    __asm__ volatile("idivl %ecx");\n    return 0;\n}\n',
        "division by zero",
        5,
    )
CASES = {
    "null": ("int run(void) {\n    volatile int *p = 0;\n    return *p;\n}\n", "read", 5),
    "wild": ("int run(void) {\n    *(volatile int *)0x7654321000UL = 1;\n    return 0;\n}\n", "write", 4),
    "read-only": ("int run(void) {\n    ((volatile char *)shared)[7] = 1;\n    return 0;\n}\n", "write", 4),
    "stack": (
        "static int dig(volatile int n) {\n    volatile char room[512];\n    room[n % 512] = 1;\n"
        "    return n < 0 ? 0 : dig(n + 1) + room[0];\n}\nint run(void) { return dig(0); }\n",
        "stack overflow",
        None,
    ),
    **DIVISION,
    "loop": ("int run(void) {\n    for (;;) { }\n}\n", "loops", None),
}


@pytest.mark.mostly_long("null-isolated")
@pytest.mark.parametrize("fast", [(), ("--fast",)], ids=["isolated", "fast"])
@pytest.mark.parametrize("case", CASES)
def test_bad_component_is_named_and_others_go_on(case: str, fast: tuple[str, ...], tmp_path: Path) -> None:
    code, what, line = CASES[case]
    path = system(tmp_path, SYSTEM, {"bad.c": code, "good.c": GOOD})
    result = camkes("run", path, *fast, "-o", tmp_path / "out", "--loop-limit", "200")
    assert result.status == 1
    assert "good: 1\ngood: 2\ngood: 3\n" in result.output
    assert "Traceback" not in result.errors
    assert "bad" in result.errors and what in result.errors
    if line is not None:
        assert f"bad.c:{line}" in result.errors


@pytest.mark.long
def test_exit_of_a_component_is_its_own_end(tmp_path: Path) -> None:
    path = system(
        tmp_path,
        SYSTEM,
        {"bad.c": "#include <unistd.h>\nint run(void) { _exit(3); }\n", "good.c": GOOD},
    )
    result = camkes("run", path, "-o", tmp_path / "out")
    assert result.status == 1
    assert "good: 3\n" in result.output
    assert "bad" in result.errors


@pytest.mark.long
def test_an_unhandled_runtime_error_is_not_an_illegal_instruction(tmp_path: Path) -> None:
    text = """
procedure P { string back(in int length); }
component Client { control; uses P p; }
component Server { provides P p; }
assembly { composition {
    component Client client; component Server server;
    connection seL4RPCCall c(from client.p, to server.p);
} }
"""
    server = "char *p_back(int n) { char *s = malloc(n + 1); memset(s, 'x', n); s[n] = 0; return s; }\n"
    client = "int run(void) { p_back(5000); return 0; }\n"
    path = system(tmp_path, text, {"server.c": f"#include <string.h>\n{server}", "client.c": client})
    result = camkes("run", path, "-o", tmp_path / "out")
    assert result.status == 1
    assert "camkes: server.p: message of back(): needs 5001 bytes" in result.output + result.errors
    assert "component server, thread server.p: stopped at an unhandled error" in result.errors
