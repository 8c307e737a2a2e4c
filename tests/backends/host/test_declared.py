# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Messages of GCC and Clang about what `camkes.h` declares mean the same to the user."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.backends.host.declared import DeclaredNames, one_for_each_cause
from camkes.backends.host.messages import Sources, compiler_messages
from camkes.diagnostics import Diagnostic, Sink
from camkes.resolve import LoadOptions, load

pytestmark = pytest.mark.requirement("CHECK-6")

SYSTEM = """\
procedure P {
    int go(in int a, out int b);
}
component Client { control; uses P p; dataport Buf d; }
assembly { composition { component Client client; } }
"""
HEADER = """\
#pragma once
int p_go(int a, int *b) __attribute__((nonnull));
extern Buf *d;
"""
SOURCE = """\
#include <camkes.h>
int run(void)
{
    p_go(1);
    p_og(1);
    return fabsf(1) > d;
}
#include <clock.h>
int p_go(int a);
"""

#: What a compiler prints, the place and the message of it, and the help. H is the header, C the source.
MESSAGES = {
    "call (GCC)": (
        "C:4:5: error: too few arguments to function 'p_go'\nH:2:5: note: declared here\n",
        (4, "this use of `p_go()` does not fit method `go` of procedure `P`"),
        "it is declared as `int p_go(int a, int *b)`",
    ),
    "call (Clang)": (
        "C:4:11: error: too few arguments to function call, expected 2, have 1\n"
        "H:2:5: note: 'p_go' declared here\n",
        (4, "this use of `p_go()` does not fit method `go` of procedure `P`"),
        "it is declared as `int p_go(int a, int *b)`",
    ),
    "handler (GCC)": (
        "C:9:5: error: conflicting types for 'p_go'; have 'int(int)'\n"
        "H:2:5: note: previous declaration of 'p_go' with type 'int(int, int *)'\n",
        (9, "`p_go()` does not fit method `go` of procedure `P`"),
        "write `int p_go(int a, int *b)`",
    ),
    "handler (Clang)": (
        "C:9:5: error: conflicting types for 'p_go'\nH:2:5: note: previous declaration is here\n",
        (9, "`p_go()` does not fit method `go` of procedure `P`"),
        "write `int p_go(int a, int *b)`",
    ),
    "slip (GCC 14)": (
        "C:5:5: error: implicit declaration of function 'p_og'; did you mean 'p_go'? [-Wimplicit]\n",
        (5, "`p_og()` is not declared"),
        "did you mean `p_go`?",
    ),
    "slip (Clang)": (
        "C:5:5: error: call to undeclared function 'p_og'; ISO C99 and later do not support implicit "
        "function declarations [-Wimplicit-function-declaration]\nH:2:5: note: 'p_go' declared here\n",
        (5, "`p_og()` is not declared"),
        "did you mean `p_go`?",
    ),
    "library (GCC)": (
        "C:6:12: error: implicit declaration of function 'fabsf' [-Wimplicit-function-declaration]\n"
        "C:1:1: note: include '<math.h>' or provide a declaration of 'fabsf'\n"
        "C:6:12: warning: incompatible implicit declaration of built-in function 'fabsf'\n"
        "C:6:12: note: include '<math.h>' or provide a declaration of 'fabsf'\n",
        (6, "`fabsf()` is not declared"),
        "add `#include <math.h>`",
    ),
    "library (Clang)": (
        "C:6:12: error: call to undeclared library function 'fabsf' with type 'float (float)'\n"
        "C:6:12: note: include the header <math.h> or explicitly provide a declaration for 'fabsf'\n",
        (6, "`fabsf()` is not declared"),
        "add `#include <math.h>`",
    ),
    "header (GCC)": (
        "C:8:10: fatal error: clock.h: No such file or directory\n",
        (8, "there is no header `clock.h`"),
        "did you mean `clocks.h`?",
    ),
    "header (Clang)": (
        "C:8:10: fatal error: 'clock.h' file not found\n",
        (8, "there is no header `clock.h`"),
        "did you mean `clocks.h`?",
    ),
}


@pytest.fixture
def explained(tmp_path: Path) -> object:
    (tmp_path / "s.camkes").write_text(SYSTEM)
    (tmp_path / "camkes.h").write_text(HEADER)
    (tmp_path / "client.c").write_text(SOURCE)
    (tmp_path / "clocks.h").write_text("")
    system = load(tmp_path / "s.camkes", LoadOptions(cpp=False), Sink())
    assert system is not None
    header = tmp_path / "camkes.h"
    declared = DeclaredNames(system.types["Client"], [header], [tmp_path])

    def explain(output: str) -> list[Diagnostic]:
        said = output.replace("C:", f"{tmp_path}/client.c:").replace("H:", f"{header}:")
        return one_for_each_cause(
            map(declared.explained, compiler_messages(said, False, "Client", Sources()))
        )

    return explain


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message_means_the_same_with_each_compiler(name: str, explained: object) -> None:
    output, (line, message), help = MESSAGES[name]
    assert callable(explained)
    (found,) = explained(output)
    assert (found.span.line, found.message, found.help) == (line, message, help)
    assert found.span.file.path.name == "client.c"
    assert all(label.span.file.path.name != "camkes.h" for label in found.related)
    if "fit method" in message:
        assert [(label.span.line, label.text) for label in found.related] == [(2, "the method")]
