# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Errors as people read them, in all places: headers, macros, long lines, files that are not text.

Each case has golden/NAME.txt beside this file.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import Style, render
from camkes.resolve import LoadOptions, load
from camkes.resolve.files.library import BUILTIN
from tests.golden import compare

pytestmark = pytest.mark.requirement("TOOL-3")

GOLDEN = Path(__file__).parent / "golden"

HEAD = """\
connector Call { from Procedures; to Procedure; }
procedure P { void f(); }
component A { control; uses P p; }
component B { provides P p; }
"""


def system(composition: str, head: str = HEAD) -> str:
    return f"{head}assembly {{\n    composition {{\n{composition}    }}\n}}\n"


PARTS = "        component A a;\n        component B b;\n"
JOINED = PARTS + "        connection Call c(from a.p, to b.p);\n"

#: The files of each case; the first is the one that is asked for.
CASES: dict[str, dict[str, str | bytes]] = {
    "included": {
        "main.camkes": '#include "outer.h"\n' + system(JOINED, ""),
        "outer.h": f'\n\n#include "inner.h"\n{HEAD}',
        "inner.h": "procedure Q {\n    void f(in int a, in int a);\n}\nstruct s { int; }\n",
    },
    "imported_then_included": {
        "main.camkes": '\nimport "part.camkes";\n' + system(JOINED),
        "part.camkes": '#include "part.h"\n',
        "part.h": "component C { uses Missing m; }\n",
    },
    "macro": {
        "main.camkes": "#define NAME nonsense\n"
        "#define CONNECT(name, a, b) \\\n    connection Call name(from a, \\\n        to b);\n"
        + system(PARTS + "        CONNECT(c,\n            a.p, b.q)\n        component NAME x;\n"),
    },
    "macro_of_a_header": {
        "main.camkes": '#include "macros.h"\n' + system(JOINED + "        EXTRA\n"),
        "macros.h": "// what may be added\n#define EXTRA component A more\n",
    },
    "macro_defined_twice": {
        "main.camkes": "#define N Missing\n#undef N\n#define N Other\n"
        + system(JOINED + "        component N n;\n"),
    },
    "windows_lines": {
        "main.camkes": system(JOINED + "        component C more;\n").replace("\n", "\r\n").encode()
    },
    "tabs": {"main.camkes": system(JOINED + "\t\tcomponent\tC\tmore;\tcomponent D\td;\n")},
    "wide_characters": {
        "main.camkes": system(JOINED + "        /* 広い 文字 */ component C more; // e\u0301\n"),
    },
    "byte_order_mark": {"main.camkes": b"\xef\xbb\xbf" + b"component A { uses P p; }\n"},
    "no_utf8": {
        "main.camkes": b'component A {\n    // \xc3\xa9 caf\xe9\n    attribute string drink = "caf\xe9";\n}\n'
    },
    "nul": {"main.camkes": b"component A {\n  con\0trol;\n}\n"},
    "empty": {"main.camkes": ""},
    "only_a_comment": {"main.camkes": "// nothing here\n"},
    "long_line": {
        "main.camkes": "component A { "
        + " ".join(f"attribute int a{n};" for n in range(3_000))
        + " uses Missing m; "
        + " ".join(f"attribute int b{n};" for n in range(3_000))
        + " }\nassembly { composition { component A a; component "
        + "X" * 200
        + " b; } }\n",
    },
    "long_line_of_braces": {"main.camkes": "component A { " + "{ " * 10_000 + "} " * 10_000 + "}\n"},
    "deep_parentheses": {
        "main.camkes": system(JOINED).rstrip()[:-1]
        + f"    configuration {{ a.x = {'-(' * 10_000}1{')' * 10_000}; }}\n}}\n",
    },
    "deep_components": {
        "main.camkes": "composition { component { " * 10_000 + "control; " + "} x; }" * 10_000 + "\n",
    },
    "import_circle": {
        "main.camkes": 'import "one.camkes";\n' + system(JOINED + "        component C more;\n"),
        "one.camkes": 'import "two.camkes";\ncomponent One { uses Missing m; }\n',
        "two.camkes": 'import "one.camkes";\nimport "main.camkes";\n',
    },
    "missing_imports": {
        "main.camkes": 'import "nowhere.camkes";\nimport <std_conector.camkes>;\n' + system(JOINED),
    },
    "import_of_a_folder": {
        "main.camkes": 'import "folder.camkes";\n' + system(JOINED),
        "folder.camkes/inside": "",
    },
    "import_of_no_text": {
        "main.camkes": 'import "binary.camkes";\n' + system(JOINED),
        "binary.camkes": b"component A { }\n\xff\xfe\n",
    },
    "missing_header": {"main.camkes": '#include "nowhere.h"\n' + system(JOINED)},
    "a_schedule_with_one_slot": {
        "main.camkes": "component A { control; }\nassembly {\n    composition { component A a; }\n"
        "    schedule { [(0, 10 us)] }\n}\n",
    },
    "a_second_schedule": {
        "main.camkes": "component A { control; }\nassembly { composition { component A a; } }\n"
        "assembly {\n    composition { component A b; }\n    schedule { [(0, 1), (1, 2)] }\n}\n",
    },
    "a_protocol_of_an_exported_interface": {
        "main.camkes": "procedure P { void f(); }\n"
        "component Leaf { provides P p with priority_protocol fixed; }\n"
        "component Box {\n    provides P p with priority_protocol inherited;\n"
        "    composition { component Leaf leaf; export leaf.p -> p; }\n}\n"
        "assembly { composition { component Box box; } }\n",
    },
    "counts_of_the_library_that_differ": {
        "main.camkes": "procedure P { void f(in int priority); }\n"
        "connector seL4RPCCallPrioritized2 { from Procedures with 0 threads; to Procedure with 2 threads; }\n"
        "component T { control; uses P p; }\n"
        "component S { provides P p; attribute int p_num_threads; attribute string p_priority_protocol; }\n"
        "assembly {\n    composition {\n        component T t;\n        component S s;\n"
        "        connection seL4RPCCallPrioritized2 c(from t.p, to s.p);\n    }\n    configuration {\n"
        "        t._priority = 1;\n        s.p_num_threads = 3;\n"
        '        s.p_priority_protocol = "inherited";\n'
        "    }\n}\n",
    },
    "error_in_a_header": {
        "main.camkes": '#include "stop.h"\n' + system(JOINED),
        "stop.h": "\n#error this platform has no timer\n",
    },
}


def golden(main: Path, options: LoadOptions, name: str) -> None:
    """The diagnostics of a file are those of its golden file."""
    sink = Sink()
    load(main, options, sink)
    text = render(sink.diagnostics, Style(base=main.parent))
    for folder, word in ((f"{main.parent}/", ""), (str(main.parent), "FOLDER"), (str(BUILTIN), "BUILTIN")):
        text = text.replace(folder, word)
    compare(text, GOLDEN / f"{name}.txt")
    assert all(len(line) < 300 for line in text.splitlines() if "|" in line)


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize("name", CASES)
def test_golden(tmp_path: Path, name: str) -> None:
    for file, text in CASES[name].items():
        path = tmp_path / file
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    golden(tmp_path / next(iter(CASES[name])), LoadOptions(), name)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    golden(tmp_path / "none.camkes", LoadOptions(), "no_file")


def test_no_preprocessor(tmp_path: Path) -> None:
    path = tmp_path / "main.camkes"
    path.write_text('// a system\n#include "a.h"\n')
    golden(path, LoadOptions(cpp_bin="no-such-preprocessor"), "no_preprocessor")


def test_names_used_too_early(tmp_path: Path) -> None:
    path = tmp_path / "main.camkes"
    chain = "".join(f"component A{i} {{ composition {{ component A{i + 1} a; }} }}\n" for i in range(300))
    path.write_text(f"{chain}component A300 {{ }}\nassembly {{ composition {{ component A0 a; }} }}\n")
    golden(path, LoadOptions(allow_forward_references=True), "components_too_deep")


def test_every_golden_file_is_used() -> None:
    others = {"no_file", "no_preprocessor", "components_too_deep"}
    assert {path.stem for path in GOLDEN.glob("*.txt")} == others | set(CASES)


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "main.camkes"
    path.write_text("component A { }\n")
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("this user may read everything")
    sink = Sink()
    load(path, LoadOptions(), sink)
    assert [d.message for d in sink.diagnostics] == [f"cannot read `{path}`: Permission denied"]
