# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Mistakes in components that would go unnoticed if the values happened to be right."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from camkes.backends.host.compiler import find_compiler
from camkes.diagnostics import Sink
from tests.command import Result, camkes
from tests.end_to_end.support import system

pytestmark = pytest.mark.requirement("CHECK-8")

SYSTEM = """
procedure P { void bytes(out char data[]); void names(out string all[]); void both(inout char data[]); }
component Client { control; uses P p; }
component Server { provides P p; }
assembly { composition {
    component Client client; component Server server;
    connection seL4RPCCall c(from client.p, to server.p);
} }
"""
GOOD = """
#include <stdlib.h>
#include <string.h>
void p_bytes(size_t *data_sz, char **data) { *data_sz = 3; *data = malloc(3); memcpy(*data, "abc", 3); }
void p_names(size_t *all_sz, char ***all) { *all_sz = 1; *all = malloc(8); **all = strdup("one"); }
void p_both(size_t *data_sz, char **data) { *data_sz -= 1; }
"""
CLIENT = """
#include <stdio.h>
#include <stdlib.h>
int run(void)
{
    size_t n;
    char *data, **all;
    p_bytes(&n, &data);
    printf("%zu bytes\\n", n);
    p_names(&n, &all);
    printf("%zu names\\n", n);
    n = 5;
    data = calloc(1, 5);
    p_both(&n, &data);
    printf("%zu of 5\\n", n);
    return 0;
}
"""


def calls(folder: Path, server: str) -> Result:
    path = system(folder, SYSTEM, {"client.c": CLIENT, "server.c": server})
    return camkes("run", path, "-q", "-o", folder / "out")


@pytest.mark.parametrize(
    ("left_out", "method"),
    [("*data_sz = 3; ", "bytes"), ("*all_sz = 1; ", "names")],
    ids=["array", "strings"],
)
@pytest.mark.mostly_long("array")
def test_an_array_that_is_given_without_its_size(left_out: str, method: str, tmp_path: Path) -> None:
    result = calls(tmp_path, GOOD.replace(left_out, ""))
    assert result.status == 1
    assert f"server.p: message of {method}(): the handler set an array, but not its size" in result.output
    assert "component server, thread server.p: stopped at an unhandled error" in result.errors


def test_an_array_that_is_not_given_at_all_is_empty(tmp_path: Path) -> None:
    nothing = "void p_bytes(size_t *data_sz, char **data) { }\n"
    lines = [nothing if "p_bytes" in line else f"{line}\n" for line in GOOD.splitlines()]
    result = calls(tmp_path, "".join(lines))
    assert (result.status, result.output) == (0, "0 bytes\n1 names\n4 of 5\n")


def writes_patterns() -> bool:
    compiler = find_compiler(False, Sink())
    return compiler is not None and compiler.patterns and platform.libc_ver()[0] == "glibc"


@pytest.mark.skipif(not writes_patterns(), reason="the compiler or the C library writes no patterns")
def test_memory_that_is_used_before_it_is_written_has_a_pattern(tmp_path: Path) -> None:
    code = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int read(const volatile int *p) { return p[2]; }
int run(void)
{
    int variables[3];
    volatile char *bytes = malloc(12);
    printf("%d %d\\n", read(variables), read((const volatile int *)bytes));
    int *zero = calloc(3, sizeof *zero);
    printf("%d\\n", zero[2]);
    bytes[8] = 7;
    free((void *)bytes);
    printf("%d\\n", bytes[8]);
    return 0;
}
"""
    text = "component One { control; }\nassembly { composition { component One one; } }\n"
    path = system(tmp_path, text, {"one.c": code})
    result = camkes("run", path, "-q", "-o", tmp_path / "out")
    assert (result.status, result.output) == (0, "-16843010 -16843010\n0\n1\n")


def test_warnings_of_the_compiler_are_at_their_lines_and_once(tmp_path: Path) -> None:
    text = """
component One { control; attribute int number = 0; }
component Two { control; }
assembly {
    composition { component One first; component One second; component Two two; }
    configuration { second.number = 1; }
}
"""
    header = "static int helper(void) { return 1; }\n"
    code = '#include "h.h"\nint run(void) {\n    int unused;\n    return 0;\n}\n'
    path = system(tmp_path, text, {"h.h": header, "one.c": code, "two.c": code})
    result = camkes("run", path, "-o", tmp_path / "out", "--format", "oneline")
    assert result.status == 0
    found = [line for line in result.errors.splitlines() if "W0728" in line]
    assert len(found) == 3
    assert sum("h.h:3:12" in line and "'helper' defined but not used" in line for line in found) == 1
    for name in ("one", "two"):
        assert sum(f"{name}.c:" in line and "unused variable 'unused'" in line for line in found) == 1


TWO = """
procedure P { void f(); }
component Left { control; requestor; consumes Go go; emits Go gone; provides P p; uses P q; has semaphore s; }
component Right { control; consumes Go go; emits Go gone; provides P p; uses P q; }
assembly {
    composition {
        component Left left;
        component Right right;
        connection seL4Notification l(from left.gone, to right.go);
        connection seL4Notification r(from right.gone, to left.go);
        connection seL4RPCCall c(from left.q, to right.p);
        connection seL4RPCCall d(from right.q, to left.p);
    }
    configuration { left._priority = 20; left._period = 10 ms; left.s_value = 0; }
}
"""
BODY = "void p_f(void) { }\nint run(void) { return 0; }\n"


@pytest.mark.parametrize(
    ("left", "right", "waiting"),
    [
        ("if (s_wait() != 0) { }", "", {"left waits for the semaphore left.s"}),
        (
            "go_wait(); gone_emit();",
            "go_wait(); gone_emit();",
            {"left waits for the event", "right waits for"},
        ),
        ("q_f();", "q_f();", {"left waits for right.p to receive", "right waits for left.p to receive"}),
        ("go_wait();", "gone_emit();", {"left waits for the event left.go"}),  # its thread waits, too
        ("q_f();", "", set()),
    ],
    ids=["semaphore", "events", "requests", "event", "request-that-is-served"],
)
@pytest.mark.mostly_long("semaphore", "request-that-is-served")
def test_a_wait_in_the_initialisation_that_cannot_end(
    left: str, right: str, waiting: set[str], tmp_path: Path
) -> None:
    sources = {
        f"{name}.c": f"void post_init(void) {{ {code} }}\n{BODY}"
        for name, code in (("left", left), ("right", right))
    }
    result = camkes("run", system(tmp_path, TWO, sources), "-q", "-o", tmp_path / "out", "--for", "50ms")
    assert result.errors.count("[E0812]") == len(waiting)
    assert result.status == (1 if waiting else 0)
    for words in waiting:
        assert words in result.errors and "in its initialisation" in result.errors


@pytest.mark.parametrize(("flags", "errors"), [("-Werror", 0), ("-Werror -Wall", 1)])
def test_a_user_who_makes_warnings_errors_chooses_the_warnings(
    flags: str, errors: int, tmp_path: Path
) -> None:
    text = "component One { control; }\nassembly { composition { component One one; } }\n"
    system(tmp_path, text, {"one.c": "int run(void) { int unused; return 0; }\n"})
    (tmp_path / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.16)\nproject(one C)\n"
        f"DeclareCAmkESComponent(One SOURCES one.c C_FLAGS {flags})\n"
        "DeclareCAmkESRootserver(system.camkes)\n"
    )
    result = camkes("build", tmp_path, "-o", tmp_path / "out")
    assert (result.status, result.errors.count("[E0722]")) == (errors, errors)
    assert "W0728" not in result.errors
