# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes export` writes systems that camkes-tool reads, and says what they lose.

With CAMKES_UPSTREAM, a checkout of camkes-tool, and CAMKES_UPSTREAM_PYTHON, a Python that has what that
checkout needs, its own parser reads them.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from camkes.diagnostics import Sink, SourceFile
from camkes.parser import ast
from camkes.parser.parse import parse
from tests.command import ROOT, camkes
from tests.documents import conforming

pytestmark = pytest.mark.requirement("LANG-29")

UPSTREAM, PYTHON = os.environ.get("CAMKES_UPSTREAM"), os.environ.get("CAMKES_UPSTREAM_PYTHON")
EXAMPLES = (
    *("aav", "adder", "buffer", "dataport", "encryption", "flight", "hierarchy", "inversion", "nested"),
    *("protocols", "publish"),
)
#: what only our language has
OURS = (
    *(ast.Requestor, ast.CriticalityControl, ast.ProtocolClause, ast.RequestsClause, ast.HelpersClause),
    *(ast.WithinClause, ast.MonitorClause, ast.OverrunClause, ast.ThreadsClause),
)

SYSTEM = """\
import <std_connector.camkes>;
procedure Store { int put(in int value); int get(); }
component Task {
    control;
    requestor;   // a task
    uses Store s;
    attribute int _wcet;
}
component Lock {
    provides Store s with priority_protocol inherited, requests (next), monitor m;
    uses Store next; /* below */
    has condition full with helpers, within 2 ms;
    has semaphore free with helpers;
    consumes E e with helpers;
}
component Leaf { provides Store s with priority_protocol propagated, 2 threads; emits E e; }
component Both {
    provides Store s;
    composition {
        component Lock lock;
        component Leaf leaf;
        connection seL4RPCCall c(from lock.next, to leaf.s) with 2 threads;
        connection seL4Notification n(from leaf.e, to lock.e);
        export lock.s -> s;
    }
}
assembly {
    composition {
        component Task one; component Task two;
        component Both both;
        connection seL4RPCCall c(from one.s, from two.s, to both.s);
    }
    configuration {
        one._priority = 40; one._period = 10 ms; two._priority = 30;
        one._deadline = 5 ms; one._wcet = 1500 ns; two._offset = 1 ms;
        two._stack_size = 65536;
    }
    schedule { [(0, 10 ms), (0, 2000 us)] }
}
"""
LOCK = """\
#include <camkes.h>
int s_put(int value)
{
    full_wait();
    full_signal();
    return next_put(value);
}
int s_get(void)
{
    e_wait();
    free_wait();
    return camkes_requestor();
}
"""
LEAF = "#include <camkes.h>\nint s_put(int value) { return value; }\nint s_get(void) { return 0; }\n"
TASK = "#include <camkes.h>\nint run(void) { while (camkes_next_job()) { s_put(1); } return 0; }\n"


def nodes(node: object) -> Iterator[object]:
    """A tree, its parts, and so on."""
    yield node
    if isinstance(node, SourceFile):
        return
    parts = [getattr(node, name) for name in node.__struct_fields__] if isinstance(node, Struct) else node
    for part in parts if isinstance(parts, (tuple, list)) else ():
        yield from nodes(part)


def ours(path: Path) -> list[object]:
    """The words of ours in a file."""
    sink = Sink()
    tree = parse(SourceFile(path, path.read_text()), sink)
    assert tree is not None and not sink.has_errors
    return [
        node
        for node in nodes(tree.items)
        if isinstance(node, OURS)
        or (isinstance(node, ast.SyncDecl) and node.kind == "condition")
        or (isinstance(node, ast.Quantity) and node.unit.text not in ("us", "ticks"))
    ]


def upstream_says(path: Path) -> dict[str, object]:
    if not (UPSTREAM and PYTHON):
        pytest.skip("CAMKES_UPSTREAM and CAMKES_UPSTREAM_PYTHON name no camkes-tool")
    job = {"file": str(path), "import_path": [str(Path(UPSTREAM) / "include" / "builtin")]}
    done = subprocess.run(
        [PYTHON, str(ROOT / "tests" / "resolve" / "upstream_dump.py")],
        input=json.dumps(job),
        capture_output=True,
        text=True,
        check=True,
    )
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    folder = tmp_path / "system"
    folder.mkdir()
    (folder / "s.camkes").write_text(SYSTEM)
    for name, text in (("Lock", LOCK), ("Leaf", LEAF), ("Task", TASK)):
        (folder / f"{name}.c").write_text(text)
    return folder


def test_no_word_of_ours_is_left(exported: Path, tmp_path: Path) -> None:
    found = conforming("export", camkes("export", exported, "-o", tmp_path / "out", "--json").output)
    text = (tmp_path / "out" / "s.camkes").read_text()
    assert ours(exported / "s.camkes") and not ours(tmp_path / "out" / "s.camkes")
    assert set(found["files"]) == {"CMakeLists.txt", "Leaf.c", "Lock.c", "Task.c", "s.camkes"}
    # what stays, stays as it is; an attribute is of the component
    for line in (
        "    uses Store next; /* below */\n",
        "    attribute int _wcet;\n",
        "two._stack_size = 65536;\n",
    ):
        assert line in text
    assert "one._wcet = 2;" in text and "schedule { [(0, 10000 us), (0, 2000 us)] }" in text
    for word in ("_deadline", "_period", "_offset", "a task"):
        assert word not in text
    for name in ("Lock.c", "Leaf.c", "Task.c"):
        assert (tmp_path / "out" / name).read_bytes() == (exported / name).read_bytes()


def test_each_server_executes_at_its_ceiling(exported: Path, tmp_path: Path) -> None:
    assert camkes("export", exported, "-o", tmp_path / "out").status == 0
    found = json.loads(camkes("dump", tmp_path / "out" / "s.camkes").output)
    settings = {
        instance["name"]: {name: setting["value"] for name, setting in instance["settings"].items()}
        for instance in found["instances"]
    }
    assert settings["both.lock"] == {"s_priority": 40}
    assert settings["both.leaf"] == {"s_priority": 40}


def test_what_is_lost_is_listed_with_its_line(exported: Path, tmp_path: Path) -> None:
    found = conforming("export", camkes("export", exported, "-o", tmp_path / "out", "--json").output)
    lost = {(each["file"], each["line"]) for each in found["lost"]}
    lines = {
        "s.camkes": SYSTEM.splitlines(),
        "Lock.c": LOCK.splitlines(),
        "Leaf.c": LEAF.splitlines(),
        "Task.c": TASK.splitlines(),
    }
    words = ("requestor", "inherited", "propagated", "within", "helpers", "2 threads", "_period", "_offset")
    more = ("full_wait", "full_signal", "camkes_requestor", "camkes_next_job")
    for word in (*words, *more):
        places = {(f, n) for f, text in lines.items() for n, line in enumerate(text, 1) if word in line}
        assert places and places <= lost, word
    assert ("Lock.c", 11) not in lost and ("Leaf.c", 2) not in lost  # semaphores and plain handlers stay
    text = camkes("export", exported, "-o", tmp_path / "again").output
    assert "`both.lock.s` was inherited, with 2 threads" in text
    assert "Lock.c:4: `full_wait()`" in text


def test_what_cannot_be_exported_is_refused(exported: Path, tmp_path: Path) -> None:
    text = SYSTEM.replace("requestor;", "TASK").replace("procedure", "#define TASK requestor;\nprocedure", 1)
    (exported / "s.camkes").write_text(text)
    result = camkes("export", exported, "-o", tmp_path / "out")
    assert result.status == 1 and "E0778" in result.errors and "macro" in result.errors
    (exported / "s.camkes").write_text(SYSTEM.replace("RPCCall c(from one", "RPCCall us(from one"))
    result = camkes("export", exported, "-o", tmp_path / "out")
    assert result.status == 1 and "`us` is a word" in result.errors and not (tmp_path / "out").exists()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    assert camkes("export", exported, "-o", tmp_path / "full").status == 2


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_read_by_camkes_tool(name: str, tmp_path: Path) -> None:
    result = camkes("export", ROOT / "examples" / name, "-o", tmp_path / name)
    assert result.status == 0, result.errors
    root = tmp_path / name / f"{name}.camkes"
    assert not ours(root)
    answer = upstream_says(root)
    assert "system" in answer, answer


def test_camkes_tool_reads_the_words_of_all_kinds(exported: Path, tmp_path: Path) -> None:
    assert camkes("export", exported, "-o", tmp_path / "out").status == 0
    answer = upstream_says(tmp_path / "out" / "s.camkes")
    assert "system" in answer, answer
    assert "error" in upstream_says(exported / "s.camkes")
