# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What never ends, or grows without bound: an error at its line, soon."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.parser.files import read_source
from camkes.parser.parse import parse
from camkes.parser.preprocess import command as limited

pytestmark = pytest.mark.requirement("LANG-6")


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "CPU_SECONDS", 2)
    monkeypatch.setattr(limited, "MEMORY", 2**28)
    monkeypatch.setattr(limited, "OUTPUT", 2**22)


def said(path: Path) -> list[str]:
    sink = Sink()
    source = read_source(path, sink)
    assert source is not None
    parse(source, sink)
    return [f"{d.code.number} {d.span.line if d.span else 0} {d.message}" for d in sink.diagnostics]


BOMB = "\n".join(f"#define M{n} M{n + 1} M{n + 1} M{n + 1} M{n + 1} M{n + 1} M{n + 1}" for n in range(12))


@pytest.mark.mostly_long(3)
@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (f"{BOMB}\nM0\n", "E0112", 1),
        (f"{BOMB}\n#define S(x) #x\n#define T(x) S(x)\nattribute T(M0)\n", "E0112", 1),
        ('component A {}\n#include "/dev/zero"\n', "E0101", 2),
        ('\n\n#include "fifo"\n', "E0101", 3),
        ('#include "outer.h"\n', "E0101", 1),
        ('#define PIPE "fifo"\n#include PIPE\n', "E0101", 2),
        ('#include "names.h"\n#define A NAME\n#include A\n', "E0101", 3),
        ("#define S(x) #x\n#define T(x) S(x)\n#define J(a, b) a##b\n#include T(J(fi, fo))\n", "E0101", 4),
        ('#define A \\\n "fi" \\\n\n#undef A\n#define A "fifo"\n#include A // x\n', "E0101", 6),
        ('#include "pasted.h"\n', "E0101", 1),
        ('#include "."\n', "E0111", 1),
        ('#include "itself.h"\n', "E0111", 1),
        ('#include "/proc/self/mem"\n', "E0101", 1),
    ],
    ids=[
        "bomb",
        "string",
        "device",
        "pipe",
        "pipe in a header",
        "pipe of a macro",
        "pipe of two macros",
        "pipe of a name that is put together",
        "pipe of a macro that is defined again",
        "pipe in a header, put together",
        "folder",
        "endless",
        "memory",
    ],
)
def test_the_preprocessor_is_stopped(text: str, code: str, line: int, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "outer.h").write_text('#include "fifo"\n')
    (tmp_path / "names.h").write_text('#define NAME "fifo"\n')
    pasted = "#define S(x) #x\n#define T(x) S(x)\n#define J(a, b) a##b\n#include T(J(fi, fo))\n"
    (tmp_path / "pasted.h").write_text(pasted)
    (tmp_path / "itself.h").write_text('#include "itself.h"\n')
    path = tmp_path / "a.camkes"
    path.write_text(text)
    found = said(path)
    assert any(each.startswith(f"{code} ") for each in found), found
    assert not any("20 seconds" in each for each in found), found
    if not any(name in text for name in ("outer", "itself", "pasted")):
        assert any(each.startswith(f"{code} {line} ") for each in found), found


@pytest.mark.parametrize("name", ["/dev/zero", "/proc/self/mem", "fifo", "."])
def test_imports_are_of_ordinary_files(name: str, tmp_path: Path) -> None:
    from camkes.resolve import LoadOptions, load

    os.mkfifo(tmp_path / "fifo")
    path = tmp_path / "a.camkes"
    path.write_text(
        f'import "{name}";\ncomponent A {{ control; }}\nassembly {{ composition {{ component A a; }} }}\n'
    )
    sink = Sink()
    load(path, LoadOptions(), sink)
    assert sink.has_errors
    assert all(d.span is not None and d.span.line == 1 for d in sink.diagnostics)
