# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The words about CMake files and about what they name; and the limits of what CMake may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.diagnostics import Diagnostic, Sink
from camkes.project.application import Application, Missing, find_application
from camkes.project.codes import (
    CMAKE_MESSAGE,
    CMAKE_SYNTAX,
    MISSING_FILE,
    MISSING_FOLDER,
    NO_SUCH_INSTANCE,
    NOT_DECLARED,
    UNKNOWN_DEFINITION,
)
from camkes.project.flags import COMPILING, PREPROCESSING, sifted
from camkes.project.places import span_of
from camkes.project.usage import Usage
from tests.project.support import app
from tests.runtime.host import checked

pytestmark = pytest.mark.requirement("CHECK-9")

SYSTEM = """component Pump { control; }
component Valve { control; }
component Empty { }
assembly { composition { component Pump one; component Pump two; component Valve three; component Empty e; } }
"""


def reported(folder: Path, text: str, **files: str) -> list[Diagnostic]:
    """What is wrong with the application whose CMakeLists.txt has this, and the system above."""
    sink = Sink()
    found = find_application(app(folder / "app", text, **files), sink)
    assert found is not None and not sink.diagnostics, sink.diagnostics
    found.report_undeclared(checked(folder / "system", SYSTEM, Sink()).system, sink)
    return list(sink.diagnostics)


def text(found: Diagnostic) -> tuple[str, ...]:
    return (found.message, *(label.text for label in found.related), *found.notes, found.help)


BOTH = "DeclareCAmkESComponent(Pump SOURCES p.c)\nDeclareCAmkESComponent(Valve SOURCES p.c)\n"


@pytest.mark.long
def test_all_that_is_declared(tmp_path: Path) -> None:
    assert reported(tmp_path, BOTH, **{"p.c": ""}) == []
    more = (
        "ExtendCAmkESComponentInstance(Pump two SOURCES p.c)\nExtendCAmkESComponentInstance(No x SOURCES p.c)"
    )
    assert reported(tmp_path / "more", BOTH + more, **{"p.c": ""}) == []


@pytest.mark.long
def test_a_component_that_is_not_declared(tmp_path: Path) -> None:
    """What its folder has is proposed; one without code needs no declaration."""
    only = BOTH.partition("\n")[0]
    (found,) = reported(tmp_path, only, **{"p.c": ""})
    assert found.code is NOT_DECLARED and found.span is not None and found.span.line == 3
    assert text(found) == (
        "component `Valve` is not declared in CMakeLists.txt",
        "add DeclareCAmkESComponent(Valve SOURCES ...)",
    )
    (found,) = reported(tmp_path / "files", only, **{"p.c": "", "valve/b.c": "", "valve/a.c": ""})
    assert found.help == "add DeclareCAmkESComponent(Valve SOURCES valve/a.c valve/b.c)"
    extended = f"{only}\nExtendCAmkESComponentInstance(Valve three SOURCES p.c)"
    assert reported(tmp_path / "extended", extended, **{"p.c": ""}) == []


def test_a_component_with_a_name_that_is_nearly_another(tmp_path: Path) -> None:
    (found,) = reported(tmp_path, BOTH.replace("Valve", "Valwe"), **{"p.c": ""})
    assert text(found) == (
        "the system has no component type `Valwe`",
        "`Valve` is not declared",
        "did you mean `Valve`?",
    )


@pytest.mark.long
def test_an_instance_that_is_not_there(tmp_path: Path) -> None:
    """Those of other components are not meant."""
    wrong = BOTH + "ExtendCAmkESComponentInstance(Pump on SOURCES p.c)"
    (found,) = reported(tmp_path, wrong, **{"p.c": ""})
    assert found.code is NO_SUCH_INSTANCE
    assert text(found) == ("component `Pump` has no instance `on`", "did you mean `one`?")
    (found,) = reported(tmp_path / "other", wrong.replace(" on ", " three "), **{"p.c": ""})
    assert found.message == "component `Pump` has no instance `three`"
    assert "three" not in found.help


@pytest.mark.mostly_long("LIMID-did you mean `-D LIMIT=...`?")
@pytest.mark.parametrize(
    ("name", "help"), [("LIMID", "did you mean `-D LIMIT=...`?"), ("Unrelated", ""), ("KernelIsMCS", None)]
)
def test_a_definition_that_no_file_uses(name: str, help: str | None, tmp_path: Path) -> None:
    sink = Sink()
    folder = app(tmp_path, 'set(LIMIT 1 CACHE STRING "")')
    assert find_application(folder, sink, {name: "1"}) is not None
    assert [(d.code, d.message, d.help) for d in sink.diagnostics] == (
        []
        if help is None
        else [
            (
                UNKNOWN_DEFINITION,
                f"`{name}`, which is set with `-D`, is not used by any CMake file of this application",
                help,
            )
        ]
    )


@pytest.mark.mostly_long("if(-code1-None", "endif()-code2-None")
@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ('message(FATAL_ERROR "no  such\n thing")', CMAKE_MESSAGE, "no such thing"),
        ("if(", CMAKE_SYNTAX, None),
        ("endif()", CMAKE_SYNTAX, None),
    ],
)
def test_errors_of_cmake(line: str, code: object, message: str | None, tmp_path: Path) -> None:
    sink = Sink()
    assert find_application(app(tmp_path, line), sink) is None
    found = sink.diagnostics[0]
    assert found.code is code and found.span is not None
    assert message in (None, found.message)


def test_no_application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is as the user wrote it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    nothing = ": neither a CMakeLists.txt nor a .camkes file with an assembly"
    help = "name a .camkes file or the folder of an application"
    for given, place in ((Path(), "the current folder"), (Path("sub"), "sub")):
        sink = Sink()
        assert find_application(given, sink) is None
        assert [(d.message, d.help) for d in sink.diagnostics] == [
            (f"there is no system in {place}{nothing}", help)
        ]
    for name in ("a", "b"):
        (tmp_path / "sub" / f"{name}.camkes").write_text("assembly { composition { } }")
    sink = Sink()
    assert find_application(Path("sub"), sink) is None
    (found,) = sink.diagnostics
    assert text(found) == (
        "there is no CMakeLists.txt in sub, but 2 systems",
        "a.camkes",
        "b.camkes",
        "write for example sub/a.camkes",
    )


def test_flags_that_are_refused_are_named(tmp_path: Path) -> None:
    """Those of a list of CMake are words; what stands behind the next keyword is something else."""
    sink = Sink()
    refused = 'C_FLAGS "-O2;-fplugin=x.so" -DX CXX_FLAGS -Wl,-y SOURCES p.c'
    declared = app(tmp_path, f"DeclareCAmkESComponent(Pump {refused})", **{"p.c": ""})
    found = find_application(declared, sink)
    assert found is not None
    assert [
        word for d in sink.diagnostics for word in ("-fplugin=x.so", "-Wl,-y", "-O2") if word in d.message
    ] == [
        "-fplugin=x.so",
        "-Wl,-y",
    ]
    build = found.build_of("Pump", "one", found.root)
    assert build is not None
    (source,) = build.sources
    assert {"-O2", "-DX"} <= set(build.flags_of(source)[1])


# -- sources that do not exist ------------------------------------------------------------------------


def test_missing_files_are_reported_once_a_call(tmp_path: Path) -> None:
    lists = tmp_path / "CMakeLists.txt"
    lists.write_text("one\ntwo three\nfour\n")
    (tmp_path / "is").mkdir()
    first, second, third = (span_of(str(lists), line) for line in (1, 2, 3))
    found = Application(
        tmp_path / "app.camkes",
        "app",
        tmp_path,
        missing=(
            Missing(tmp_path / "a.c", first, first),
            Missing(tmp_path / "b.c", first, first),
            Missing(tmp_path / "c.c", first, second),
            Missing(tmp_path / "d.c", first, None),
            Missing(Path("/else/e.c"), third, third),
            Missing(tmp_path / "is", second, second),
        ),
        missing_folders=(Missing(tmp_path / "include", second, second),),
    )
    sink = Sink()
    found.report_missing(MISSING_FILE, sink)
    assert [text(each)[:-1] for each in sink.diagnostics] == [
        ("there is no file a.c", "nor this", "nor b.c", "nor d.c"),
        ("there is no file /else/e.c",),
        ("is is not a file",),
        ("there is no folder include",),
    ]
    assert [each.code for each in sink.diagnostics] == [MISSING_FILE] * 3 + [MISSING_FOLDER]
    assert [label.span for label in sink.diagnostics[0].related] == [second]


def test_places(tmp_path: Path) -> None:
    lists = tmp_path / "CMakeLists.txt"
    lists.write_bytes(b"a(b)\r\n   Add(x)  \r\n\r\n")
    for line, command, place in (
        (1, "", (1, 1, 1, 5)),
        (2, "", (2, 4, 2, 10)),
        (2, "add", (2, 4, 2, 7)),
        (2, "dd", (2, 4, 2, 10)),
        (3, "", (3, 1, 3, 2)),
        (0, "", (1, 1, 1, 1)),
        (9, "", (1, 1, 1, 1)),
    ):
        span = span_of(str(lists), line, command)
        assert (span.line, span.column, span.end_line, span.end_column) == place, (line, command)
    assert span_of(str(tmp_path / "none"), 1)[1:] == (1, 1, 1, 2)


# -- limits -------------------------------------------------------------------------------------------


def test_the_number_and_size_of_files(tmp_path: Path) -> None:
    """Folders count as files do; their contents do not."""
    (tmp_path / "a" / "b").mkdir(parents=True)
    for name in ("x", "a/y", "a/b/z"):
        (tmp_path / name).write_bytes(b"1" * 8192)
    size = sum((tmp_path / name).lstat().st_blocks * 512 for name in ("x", "a/y", "a/b/z"))
    for files, most, good in (
        (5, size, True),
        (4, size, False),
        (5, size - 1, False),
        (100, 10 * size, True),
    ):
        assert Usage(tmp_path, 1, 1 << 40, files, most).files_within() == good, (files, most)


def test_folders_in_folders(tmp_path: Path) -> None:
    for depth, good in ((100, True), (101, False)):
        (tmp_path / "/".join(["d"] * depth)).mkdir(parents=True)
        assert Usage(tmp_path, 1, 1 << 40, 1000, 1 << 40).files_within() == good


@pytest.mark.parametrize(
    ("flags", "bad"),
    [
        ("-DX -I dir -O2 -std=c11 -Wall -fno-common", ""),
        ("-wrapper -fplugin=p.so -fno-plugin -o out", "-wrapper -fplugin=p.so -fno-plugin -o out"),
        ("-I @file -O2", "-I @file"),
        ("@file", "@file"),
        ("-I", "-I"),
        ("-D -I -include", "-include"),
        ("-lm -pthread", ""),
    ],
)
def test_flags(flags: str, bad: str) -> None:
    good, left, others = sifted(flags.split(), COMPILING)
    assert not left
    assert sorted(others) == sorted(bad.split())
    assert sorted((*good, *others)) == sorted(flags.split())
    assert sifted(["-O2", "-P", ""], PREPROCESSING) == (("-P",), (), ("-O2",))
