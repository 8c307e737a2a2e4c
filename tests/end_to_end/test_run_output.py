# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a run writes to where: one JSON document whatever happens, and nothing that controls a terminal."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.command import ROOT, camkes
from tests.documents import conforming
from tests.end_to_end.support import EXAMPLES, system
from tests.host.test_confinement import OPENED_MEMORY, camkes_run, write_system

pytestmark = pytest.mark.requirement("TOOL-15")

ONE = "component One { control; }\nassembly { composition { component One one; } }\n"
NOTHING = {
    "schema": 1,
    "end": None,
    "tasks": [],
    "chains": [],
    "faults": [],
    "findings": [],
    "refused": [],
    "exit_statuses": {},
    "interrupted": False,
    "waits": [],
}


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("int run(void) { return nothing; }\n", "E0722"),
        ("int nothing(void);\nint run(void) { return nothing(); }\n", "E0723"),
    ],
)
def test_a_run_that_cannot_be_is_a_document_too(tmp_path: Path, text: str, code: str) -> None:
    path = system(tmp_path, ONE, {"One.c": text})
    result = camkes("run", path, "--json", "-o", tmp_path / "out")
    assert result.status == 1
    report = conforming("run", result.output)
    assert [e["code"] for e in report.pop("errors")] == [code]
    assert report == NOTHING


def test_a_system_that_cannot_be_read_is_a_document_too(tmp_path: Path) -> None:
    result = camkes("run", tmp_path / "nowhere", "--json")
    assert result.status == 1
    assert json.loads(result.output)["errors"][0]["code"] == "E0701"


@pytest.mark.long
@pytest.mark.parametrize("option", ["--trace", "--timeline", "--console", "-o"])
def test_files_that_cannot_be_written_are_in_the_document(tmp_path: Path, option: str) -> None:
    """The report of the run is there where there was a run."""
    (tmp_path / "file").write_text("old")
    place = tmp_path / "file" / {"--trace": "a.json", "--timeline": "a.svg"}.get(option, "a")
    words = ["run", EXAMPLES / "inversion", "--json", option, place]
    result = camkes(*words, *([] if option == "-o" else ["-o", tmp_path / "out"]))
    assert result.status == 1 and "error[E0725]" in result.errors
    report = json.loads(result.output)
    if option in ("--trace", "--timeline"):
        assert [task["completed"] for task in report["tasks"]] == [10, 10, 10]
    else:
        assert [e["code"] for e in report["errors"]] == ["E0725"]
    assert (tmp_path / "file").read_text() == "old"


@pytest.mark.long
def test_a_run_without_a_report_is_a_json_document(tmp_path: Path) -> None:
    write_system(tmp_path, "memset(opened_memory(), 0, 4096);", OPENED_MEMORY)
    done = camkes_run(tmp_path, "--json")
    assert done.status == 1, done.errors
    report = json.loads(done.output)
    assert [e["code"] for e in report.pop("errors")] == ["E0730"]
    assert report == NOTHING


WILD = (
    "#include <string.h>\nstatic char line[1 << 20];\n"
    r'int run(void) { printf("\033[31mred\033]0;title\007 \302\233 caf\303\251 \tend\n");'
    r' fwrite("\377\000x\n", 1, 4, stdout);'
    r" memset(line, 97, sizeof line); fwrite(line, 1, sizeof line, stdout); return 0; }"
    "\n"
)


def on_terminal(*words: str | Path) -> bytes:
    """What a command writes to a terminal."""
    mine, its = pty.openpty()
    command = [sys.executable, "-m", "camkes", *map(str, words)]
    with subprocess.Popen(command, cwd=ROOT, stdin=its, stdout=its, stderr=subprocess.DEVNULL) as process:
        os.close(its)
        said = b""
        while True:
            try:
                data = os.read(mine, 65536)
            except OSError:  # so ends a terminal
                break
            said += data
        assert process.wait() == 0
    os.close(mine)
    return said.replace(b"\r\n", b"\n")


@pytest.mark.long
def test_components_do_not_control_the_terminal(tmp_path: Path) -> None:
    path = system(tmp_path, ONE, {"One.c": WILD})
    out = tmp_path / "out"
    said = on_terminal("run", path, "-o", out, "--color", "never")
    line, rest = said.split(b"\n", 1)
    assert line.decode() == r"\x1b[31mred\x1b]0;title\x07 \x9b café " + "\tend"
    assert rest.startswith(rb"\xff\x00x" + b"\n" + b"a" * (1 << 20))
    assert b"\033" not in said


@pytest.mark.long
@pytest.mark.parametrize("words", [[], ["--json"]])
def test_output_that_is_not_a_terminal_is_not_escaped(tmp_path: Path, words: list[str]) -> None:
    path = system(tmp_path, ONE, {"One.c": WILD})
    command = [sys.executable, "-m", "camkes", "run", str(path), "-o", str(tmp_path / "out"), *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    said = done.stderr if words else done.stdout
    assert said.startswith(b"\033[31mred\033]0;title\007 \302\233 caf\303\251 \tend\n\377\0x\naaaa")
    assert said.count(b"a") >= 1 << 20
    if words:
        assert json.loads(done.stdout)["exit_statuses"] == {"one": 0}


def test_kernels_that_were_not_used_for_long_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from camkes.backends.host import kernel

    now = time.time()
    ages = [0.0] * 2 + [now - 10**9 + age for age in range(kernel._MOST_KEPT)]
    for number, age in enumerate(ages):
        entry = tmp_path / f"host-{number:x}"
        entry.mkdir()
        os.utime(entry, (now - age, now - age))
    (tmp_path / "texts").mkdir()
    kernel._forget_unused(tmp_path)
    left = {f"host-{number:x}" for number in range(kernel._MOST_KEPT)} | {"texts"}
    assert {path.name for path in tmp_path.iterdir()} == left
    monkeypatch.setattr(kernel, "_MOST_KEPT", 1)
    kernel._forget_unused(tmp_path)  # not what may be in use
    assert {path.name for path in tmp_path.iterdir()} == {"host-0", "host-1", "texts"}
    shutil.rmtree(tmp_path)
