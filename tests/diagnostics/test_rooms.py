# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What commands say where no other test looks: the exact text, in golden files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from camkes import cli
from camkes.diagnostics import Diagnostic, Sink, SourceFile, Span
from camkes.generate.codes import NEEDS_SEL4
from camkes.resolve import LoadOptions, load
from camkes.sel4 import build, codes, workspace

GOLDEN = Path(__file__).parent / "golden" / "commands"

SHARED = """\
import <std_connector.camkes>;
component A { control; dataport Buf d; attribute string text = TEXT; }
assembly {
    composition {
        component A a;
        component A b;
        connection seL4SharedData s(from a.d, to b.d);
    }
    configuration { a.d_access = "ACCESS"; }
}
"""
LISTS = """\
DeclareCAmkESComponent(A SOURCES a.c)
DeclareCAmkESRootserver(main.camkes)
"""


def application(folder: Path, text: str) -> Path:
    for name, content in {
        "main.camkes": text,
        "CMakeLists.txt": LISTS,
        "a.c": "int run(void) { return 0; }\n",
    }.items():
        (folder / name).write_text(content)
    return folder


def said(capsys: pytest.CaptureFixture[str], folder: Path, name: str, *words: str | Path) -> None:
    """A command fails with the text of the golden file."""
    assert cli.main([str(word) for word in words]) == cli.USER_ERROR
    text = capsys.readouterr().err.replace(f"{folder}/", "").replace(str(folder), "FOLDER")
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("CAMKES_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_access_rights(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = application(tmp_path, SHARED.replace("TEXT", '"t"').replace("ACCESS", "WR"))
    said(capsys, tmp_path, "access_rights", "plan", folder, "--authority")


def test_the_value_of_an_attribute(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = application(tmp_path, SHARED.replace("TEXT", "7").replace("ACCESS", "RW"))
    said(capsys, tmp_path, "attribute_value", "build", folder, "-o", tmp_path / "out")


def test_nothing_to_migrate_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, tmp_path, "no_files_to_migrate", "migrate", tmp_path)


def test_no_workspace(tmp_path: Path) -> None:
    sink = Sink()
    assert workspace.find_workspace(tmp_path, sink) is None
    (found,) = sink.diagnostics
    assert (found.code, found.message) == (codes.NO_WORKSPACE, f"{tmp_path} is no seL4 workspace")


def test_a_build_for_sel4_that_fails(tmp_path: Path) -> None:
    sink = Sink()
    assert not workspace._run(["sh", "-c", "echo one; echo an error; exit 1"], tmp_path, "ninja", sink)
    assert not workspace._run(["no-such-command"], tmp_path, "cmake", sink)
    failed, missing = sink.diagnostics
    assert failed.code is missing.code is codes.SEL4_BUILD
    assert failed.notes == ("an error",)
    assert missing.message == "no-such-command was not found"


def test_the_size_of_a_heap(tmp_path: Path) -> None:
    path = tmp_path / "main.camkes"
    path.write_text(
        "component A { control; }\nassembly { composition { component A a; component A b; }\n"
        '    configuration { a.heap_size = "much"; b.heap_size = 4096; } }\n'
    )
    system = load(path, LoadOptions(), Sink())
    assert system is not None
    sink = Sink()
    assert build._heap_size(system, "a", 7, sink) == 0
    assert build._heap_size(system, "b", 7, sink) == 4096
    (found,) = sink.diagnostics
    assert found.code is codes.HEAP_SIZE
    assert found.span is not None and found.span.line == 3


def test_a_connector_that_sel4_builds_lack() -> None:
    place = Span(SourceFile(Path("a.camkes"), "x\n"), 1, 1, 1, 2)
    message = "connector C needs the seL4 kernel: the host kernel has no device"
    found = build._for_sel4(Diagnostic(NEEDS_SEL4, message, place))
    assert found.code is codes.NO_CONNECTOR
    assert found.message == "connector C cannot be built: there is no template for device"
    assert found.span == place


def test_a_host_kernel_without_make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from camkes.build import kernel
    from camkes.build.codes import KERNEL_BUILD
    from camkes.build.compiler import Compiler
    from camkes.build.digests import Digests

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(kernel.shutil, "which", lambda name: None)
    sink = Sink()
    compiler = Compiler(("no-such-compiler",), (), False, "none")
    assert kernel.host_kernel(compiler, tmp_path / "out", Digests(), sink, lambda text: None) is None
    assert [(d.code, d.message) for d in sink.diagnostics] == [(KERNEL_BUILD, "make was not found")]
