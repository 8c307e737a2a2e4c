# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Names in C: what is checked is what templates write and what headers declare."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from camkes.generate import generate_headers
from camkes.resolve import codes
from camkes.resolve.names.symbols import PRIVATE
from camkes.resolve.words.keywords import C_LIBRARY, C_MACROS, C_STRUCTS
from camkes.resources import HOST_KERNEL, RUNTIME, TEMPLATES
from tests.resolve.systems import STD, good, resolve

pytestmark = pytest.mark.requirement("LANG-24")

_MEMBERS = """
procedure P { int f(in int x); }
component Other { control; uses P p; provides P u; consumes E m; emits E c; dataport Buf d; }
component One {
    control;
    provides P p; uses P u; emits E m; consumes E c; dataport Buf d;
    has mutex mu; has semaphore se; has binary_semaphore bi;
    attribute int at = 1; ATTRIBUTES
}
assembly { composition {
    component One one; component Other other;
    connection seL4RPCCall a(from other.p, to one.p);
    connection seL4RPCCall b(from one.u, to other.u);
    connection seL4Notification e(from one.m, to other.m);
    connection seL4Notification g(from other.c, to one.c);
    connection seL4SharedData s(from one.d, to other.d);
} }
"""


def test_all_that_a_header_declares_is_known(tmp_path: Path) -> None:
    """Each of its names is an error as that of an attribute."""
    system = good(tmp_path, STD + _MEMBERS.replace("ATTRIBUTES", ""))
    text = (generate_headers(system, tmp_path / "out")["one"] / "camkes.h").read_text()
    code = re.sub(r"/\*.*?\*/|^#include.*?$", "", text, flags=re.DOTALL | re.MULTILINE)
    names = set(re.findall(r"\b(?:[pumcd]|mu|se|bi|at)_\w+|\bd\b", code))
    names |= set(re.findall(r"^\w[^#(]*?\b(\w+)\(", code, re.MULTILINE)) - {"defined"}
    assert len(names) > 30, names
    more = " ".join(f"attribute int {name} = 1;" for name in sorted(names))
    found = resolve(tmp_path, STD + _MEMBERS.replace("ATTRIBUTES", more))[1]
    clashes = {re.findall(r"attribute `(\w+)`", d.message)[-1] for d in found if d.code is codes.SYMBOL_CLASH}
    doubles = {d.message.split("`")[1] for d in found if d.code is codes.DUPLICATE_NAME}
    assert names - clashes - doubles == set()


def test_names_of_the_glue_are_those_of_the_templates() -> None:
    texts = [path.read_text() for path in TEMPLATES.rglob("*") if path.is_file()]
    written = {name for text in texts for name in re.findall(r"\?\*/__(\w+)", text)}
    assert written | {"monitor", "place"} == PRIVATE


def test_names_of_the_c_library_are_declared(tmp_path: Path) -> None:
    """As the compiler says, of the host's headers."""
    includes = "".join(
        f"#include <{name}>\n" for name in ("camkes/message.h", "utils/util.h", "errno.h", "stdlib.h")
    )
    names = sorted(C_LIBRARY | C_MACROS)
    structs = sorted(C_STRUCTS)
    source = tmp_path / "names.c"
    declared = "".join(f'#line 1 "{name}"\nint {name}[2][3];\n' for name in names)
    declared += "".join(f'#line 1 "{name}"\nstruct {name} {{ char x; }};\n' for name in (*structs, "tm"))
    source.write_text(includes + declared)
    folders = [f"-I{RUNTIME}/include", f"-I{HOST_KERNEL}/include"]
    command = ["cc", "-std=gnu11", "-fsyntax-only", "-fmax-errors=0", *folders, str(source)]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    assert sorted(set(re.findall(r"^(\w+):1:\d+: error", said, re.MULTILINE))) == sorted(names + structs)


def test_a_struct_of_the_c_library(tmp_path: Path) -> None:
    """`struct tm` is only declared where a source includes <time.h>."""
    structs = "struct timespec { int x; } struct tm { int x; } struct own { timespec t; tm u; }"
    text = f"{STD}{structs} component A {{ control; attribute own a; }}\n"
    text += "assembly { composition { component A a; } }"
    (found,) = resolve(tmp_path, text)[1]
    assert found.code is codes.SYMBOL_CLASH and "`timespec`" in found.message
