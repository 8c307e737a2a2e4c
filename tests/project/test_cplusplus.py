# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Names that are keywords of C++ only, in what `camkes.h` declares."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.diagnostics import Sink

pytestmark = pytest.mark.requirement("LANG-24")

SYSTEM = """\
import <std_connector.camkes>;
struct point { int class; }
procedure P { void new(in int this); }
component Server { provides P delete; attribute point friend; dataport Buf private; emits E public; }
component Client { control; uses P p; dataport Buf d; consumes E e; }
assembly {
    composition {
        component Server s; component Client c;
        connection seL4RPCCall k(from c.p, to s.delete);
        connection seL4SharedData l(from s.private, to c.d);
        connection seL4Notification m(from s.public, to c.e);
    }
    configuration { s.friend = {"class": 1}; }
}
"""
ALL = ["this", "class", "friend", "private"]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("Server.cpp", "#include <camkes.h>\n", ALL),
        ("Server.cpp", "int no_header;\n", []),
        ("Server.c", "#include <camkes.h>\n", []),
    ],
)
def test_keywords_of_cxx(name: str, text: str, expected: list[str], tmp_path: Path) -> None:
    """Methods, events and interfaces have longer names in C; C code can have all of these."""
    (tmp_path / "main.camkes").write_text(SYSTEM)
    (tmp_path / name).write_text(text)
    sink = Sink()
    pipeline.check(pipeline.Input(tmp_path / "main.camkes", preprocess=False), sink)
    assert {d.code.number for d in sink.diagnostics} == ({"E0208"} if expected else set())
    found = {name for d in sink.diagnostics for name in re.findall(r"`(\w+)` has", d.message)}
    assert found == set(expected)
