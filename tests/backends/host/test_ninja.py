# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What changed is made again, and nothing else; what is half made is not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from camkes.backends.host import ninja
from camkes.backends.host.compiler import find_compiler
from camkes.backends.host.jobs import BuildJob
from camkes.backends.host.ninja import inputs_of, run_jobs
from camkes.backends.host.sources import compile_job
from camkes.diagnostics import Sink
from tests.backends.host.conftest import Build
from tests.backends.host.test_host import CLIENT, FILES, SERVER

pytestmark = pytest.mark.requirement("TOOL-20")

LISTS = (
    "DeclareCAmkESComponent(Client SOURCES Client.c)\n"
    "DeclareCAmkESComponent(Server SOURCES Server.c INCLUDES first second)\n"
    "DeclareCAmkESRootserver(a.camkes)\n"
)


class Place:
    """A build folder with one object, `one.o`, of `one.c`."""

    def __init__(self, folder: Path) -> None:
        self.source = folder / "src" / "one.c"
        self.out = folder / "out"
        self.first, self.second = folder / "first", folder / "second"
        for made in (self.source.parent, self.out, self.first, self.second):
            made.mkdir(parents=True)
        self.flags: tuple[str, ...] = ()

    def job(self) -> BuildJob:
        compiler = find_compiler(False, Sink())
        assert compiler is not None
        output = self.out / f"{self.source.name}.o"
        return compile_job(compiler, self.source, output, (self.first, self.second), self.flags, "one")

    def build(self) -> list[str]:
        """Titles of what was compiled, and what failed."""
        done: list[str] = []
        outcomes = run_jobs(self.out, [self.job()], done.append)
        return [*done, *("failed" for outcome in outcomes if not outcome.good)]

    def value(self) -> int:
        """The number that `one` is in the object."""
        from elftools.elf.elffile import ELFFile

        with self.job().output.open("rb") as stream:
            elf = ELFFile(stream)
            (symbol,) = elf.get_section_by_name(".symtab").get_symbol_by_name("one")
            data = elf.get_section(symbol["st_shndx"]).data()
            return int.from_bytes(data[symbol["st_value"] :][:4], "little")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


BUILT = ["one: one.c"]


@pytest.mark.long
def test_only_what_changed(place: Place) -> None:
    (place.second / "a b.h").write_text("#define A 1\n")
    place.source.write_text('#include "a b.h"\nint one = A;\n')
    assert place.build() == BUILT
    assert place.build() == []
    (place.second / "a b.h").write_text("#define A 2\n")
    assert place.build() == BUILT
    assert place.value() == 2
    place.job().output.unlink()
    assert place.build() == BUILT
    assert place.build() == []


@pytest.mark.long
def test_other_flags_are_another_result(place: Place) -> None:
    place.source.write_text("int one = A;\n")
    for value in (1, 2, 1):
        place.flags = (f"-DA={value}",)
        assert place.build() == BUILT
        assert place.value() == value
    assert place.build() == []


def test_an_older_file_in_the_place_of_a_newer_one(place: Place, tmp_path: Path) -> None:
    header, old = place.first / "a.h", tmp_path / "old.h"
    header.write_text("#define A 1\n")
    place.source.write_text('#include "a.h"\nint one = A;\n')
    assert place.build() == BUILT
    old.write_text("#define A 2\n")
    os.utime(old, (10**9, 10**9))
    old.rename(header)
    assert place.build() == BUILT
    assert place.value() == 2


def test_a_change_that_keeps_size_and_time(place: Place) -> None:
    place.source.write_text("int one = 1;\n")
    assert place.build() == BUILT
    before = place.source.stat()
    place.source.write_text("int one = 2;\n")
    os.utime(place.source, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert place.build() == BUILT
    assert place.value() == 2


@pytest.mark.mostly_long("header")
@pytest.mark.parametrize("where", ["header", "source", "link"])
def test_an_input_that_is_saved_while_the_compiler_runs(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """The compiler has read the old one; afterwards there is the new one."""
    for name in ("v1", "v2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.h").write_text(f"#define A {name[1]}\n")
    (place.first / "v").symlink_to(tmp_path / "v1")
    (place.first / "b.h").write_text("#define B 0\n")
    place.source.write_text('#include "v/a.h"\n#include "b.h"\nint one = A + B;\n')
    change = {
        "header": f"echo '#define B 1' >{place.first}/b.h",
        "source": f"echo 'int one = 2;' >{place.source}",
        "link": f"ln -sfn {tmp_path}/v2 {place.first}/v",
    }[where]
    compiler = tmp_path / "slow"
    once = f"[ -e {tmp_path}/done ] || {{ {change}; touch {tmp_path}/done; }}"
    script = f'#!/bin/sh\ncc "$@" || exit 1\ncase "$*" in *-MD*) {once} ;; esac\n'
    compiler.write_text(script)
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    assert place.build() == BUILT
    assert (tmp_path / "done").exists()
    assert place.value() == 1
    assert place.build() == BUILT
    assert place.value() == 2
    assert place.build() == []


@pytest.mark.mostly_long("src-quoted")
@pytest.mark.parametrize(
    "include", ['"a.h"', "<a.h>", '"sub/a.h"', "NAME"], ids=["quoted", "angled", "below", "computed"]
)
@pytest.mark.parametrize("where", ["first", "src"])
def test_a_header_that_appears_earlier_in_the_search(place: Place, include: str, where: str) -> None:
    if where == "src" and include == "<a.h>":
        pytest.skip("is not looked for beside the source")
    name = "sub/a.h" if "sub" in include else "a.h"
    (place.second / name).parent.mkdir(exist_ok=True)
    (place.second / name).write_text("#define A 1\n")
    place.source.write_text(f'#define NAME "a.h"\n#include {include}\nint one = A;\n')
    assert place.build() == BUILT
    assert place.build() == []
    earlier = (place.first if where == "first" else place.source.parent) / name
    earlier.parent.mkdir(exist_ok=True)
    earlier.write_text("#define A 2\n")
    assert place.build() == BUILT
    assert place.value() == 2
    earlier.unlink()
    assert place.build() == BUILT
    assert place.value() == 1
    (place.first / "unrelated.h").touch()
    assert place.build() == []


def test_a_folder_of_headers_that_appears(place: Place, tmp_path: Path) -> None:
    (place.second / "a.h").write_text("#define A 1\n")
    place.source.write_text('#include "a.h"\nint one = A;\n')
    place.flags = ("-iquote", str(tmp_path / "later"))
    assert place.build() == BUILT
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "a.h").write_text("#define A 2\n")
    assert place.build() == BUILT
    assert place.value() == 2


@pytest.mark.long
@pytest.mark.parametrize("variable", ["CPATH", "C_INCLUDE_PATH"])
def test_folders_that_the_environment_names(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    place.source.write_text("#include <a.h>\nint one = A;\n")
    for value in (1, 2):
        folder = tmp_path / f"v{value}"
        folder.mkdir()
        (folder / "a.h").write_text(f"#define A {value}\n")
        monkeypatch.setenv(variable, str(folder))
        assert place.build() == BUILT
        assert place.value() == value
        assert place.build() == []


ASKS = {
    "literal": "#if __has_include(<opt.h>)",
    "quoted": '#if __has_include ("opt.h")',
    "guarded": '#ifdef __has_include\n#if __has_include("opt.h")\n#define YES\n#endif\n#endif\n#ifdef YES',
    "spliced": '#if __has_\\\ninclude("opt.h")',
    "macro": "#define HAS(x) __has_include(x)\n#if HAS(<opt.h>)",
    "flag": "#if ASK(<opt.h>)",
    "pasted": "#define CAT(a, b) a##b\n#define HAS CAT(__has_, include)\n#if HAS(<opt.h>)",
}


@pytest.mark.mostly_long("literal")
@pytest.mark.parametrize("asks", ASKS)
def test_has_include(place: Place, asks: str) -> None:
    place.flags = ("-DASK=__has_include",) if asks == "flag" else ()
    place.source.write_text(f"{ASKS[asks]}\nint one = 2;\n#else\nint one = 1;\n#endif\n")
    if place.build() != BUILT:
        pytest.skip("this compiler does not accept it")
    assert place.value() == 1
    (place.second / "opt.h").touch()
    assert place.build() == BUILT
    assert place.value() == 2
    (place.second / "opt.h").unlink()
    assert place.build() == BUILT
    assert place.value() == 1
    if asks in ("literal", "quoted", "guarded", "spliced"):
        assert place.build() == []


def test_an_input_that_is_not_a_header(place: Place) -> None:
    (place.first / "data.bin").write_bytes(bytes([1, 0, 0, 0]))
    text = f'__asm__(".data\\n.globl one\\none: .incbin \\"{place.first}/data.bin\\"\\n.text\\n");\n'
    place.source.write_text(text)
    place.build()
    (place.first / "data.bin").write_bytes(bytes([2, 0, 0, 0]))
    assert place.build() == BUILT


_DATA = r".data\n.globl one\none:\n"
READS = {
    "incbin in two literals": f'__asm__("{_DATA}.inc" "bin \\"FILE\\"\\n.text\\n");\n',
    "incbin of a flag": f'__asm__("{_DATA}" READ " \\"FILE\\"\\n.text\\n");\n',
    "include": f'__asm__("{_DATA}.include \\"FILE\\"\\n.text\\n");\n',
    "preprocessed": '.data\n.globl one\none:\n.include "FILE"\n',
    "plain": '.data\n.globl one\none:\n.include "FILE"\n',
}


@pytest.mark.parametrize("reads", READS)
def test_files_that_the_assembler_reads(place: Place, reads: str) -> None:
    suffix = {"preprocessed": ".S", "plain": ".s"}.get(reads, ".c")
    place.source = place.source.with_suffix(suffix)
    data = place.first / "data.inc"
    place.flags = ('-DREAD=".incbin"',) if "flag" in reads else ()
    place.source.write_text(READS[reads].replace("FILE", str(data)))
    for value in (1, 2):
        binary = "incbin" in reads
        data.write_bytes(value.to_bytes(4, "little") if binary else f".long {value}\n".encode())
        assert "failed" not in place.build()
        assert place.value() == value


def test_a_plain_assembler_source(place: Place) -> None:
    place.source = place.source.with_suffix(".s")
    for value in (1, 2):
        place.source.write_text(f".data\n.globl one\none: .long {value}\n")
        assert place.build() == ["one: one.s"]
        assert place.value() == value
        assert place.build() == []


@pytest.mark.parametrize("flag", ["-include", "-imacros"])
def test_a_header_of_a_flag_is_first_looked_for_where_the_compiler_runs(place: Place, flag: str) -> None:
    (place.second / "a.h").write_text("#define A 1\n")
    place.source.write_text("int one = A;\n")
    place.flags = (flag, "a.h")
    assert (place.build(), place.value(), place.build()) == (BUILT, 1, [])
    (place.out / "a.h").write_text("#define A 2\n")
    assert (place.build(), place.value(), place.build()) == (BUILT, 2, [])


@pytest.mark.mostly_long("@FILE")
@pytest.mark.parametrize("flag", ["@FILE", "-specs=FILE"])
def test_files_that_a_command_names(place: Place, flag: str) -> None:
    text = {"@FILE": "-DA={}\n", "-specs=FILE": "*cc1:\n+ -DA={}\n"}[flag]
    file = place.first / "flags"
    place.flags = (flag.replace("FILE", str(file)),)
    place.source.write_text("int one = A;\n")
    for value in (1, 2):
        file.write_text(text.format(value))
        if place.build() != BUILT:
            pytest.skip("this compiler does not know the flag")
        assert place.value() == value
        assert place.build() == []


def test_a_folder_in_the_place_of_an_earlier_header(place: Place) -> None:
    (place.second / "a.h").write_text("#define A 1\n")
    (place.first / "a.h").mkdir()
    place.source.write_text('#include "a.h"\nint one = A;\n')
    assert (place.build(), place.value()) == (BUILT, 1)
    (place.first / "a.h").rmdir()
    (place.first / "a.h").write_text("#define A 2\n")
    assert (place.build(), place.value()) == (BUILT, 2)


@pytest.mark.long
@pytest.mark.parametrize("change", ["wrapper", "callee", "flag"])
def test_another_compiler_with_the_same_version_text(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.write_text('#!/bin/sh\nexec cc -DA=1 "$@"\n')
    version = 'if [ "$1" = --version ]; then echo one; exit; fi\n'
    outer.write_text(f'#!/bin/sh\n{version}exec {inner} "$@"\n')
    for script in (inner, outer):
        script.chmod(0o755)
    monkeypatch.setenv("CC", str(outer))
    place.source.write_text("#ifndef A\n#define A 0\n#endif\nint one = A + 1;\n")
    place.build()
    assert (place.value(), place.build()) == (2, [])
    if change == "wrapper":
        outer.write_text(f'#!/bin/sh\n{version}exec cc "$@"\n')
    elif change == "callee":
        inner.write_text('#!/bin/sh\nexec cc "$@"\n')
    else:
        monkeypatch.setenv("CC", f"{outer} -UA")
    assert place.build() == BUILT
    assert place.value() == 1


def test_a_killed_build_leaves_no_partial_files(place: Place) -> None:
    (place.first / "a.h").write_text("#define A 1\n")
    place.source.write_text('#include "a.h"\nint one = A;\n')
    place.build()
    output = place.job().output
    whole = output.read_bytes()
    # as after kill -9 while the assembler wrote, before anything was noted
    old = place.source.stat()
    replaced = place.first / "a.h"
    replaced.write_text("#define A 1 \n")
    os.utime(replaced, ns=(old.st_atime_ns, old.st_mtime_ns))
    ninja.ObjectInputs(place.out / "inputs.json").remove_stale([place.job()])
    output.write_bytes(whole[:100])
    assert place.build() == BUILT
    assert output.read_bytes()[:4] == b"\x7fELF" and place.value() == 1


@pytest.mark.parametrize("name", ["inputs.json", ".ninja_log", "build.ninja"])
def test_damaged_notes_of_a_build(place: Place, name: str) -> None:
    place.source.write_text("int one = 1;\n")
    place.build()
    file = place.out / name
    file.write_bytes(file.read_bytes()[:40])
    place.source.write_text("int one = 2;\n")
    assert place.build() == BUILT
    assert place.value() == 2


def test_a_failed_job_is_run_again_and_reports_itself(place: Place) -> None:
    place.source.write_text("int one = ;\n")
    assert place.build() == [*BUILT, "failed"]
    assert place.build() == [*BUILT, "failed"]
    assert not place.job().output.exists()
    (outcome,) = run_jobs(place.out, [place.job()], lambda _: None)
    assert "error" in outcome.messages


def test_warnings_are_reported_again(place: Place) -> None:
    place.source.write_text('#warning "look"\n')
    first = run_jobs(place.out, [place.job()], lambda _: None)
    again = run_jobs(place.out, [place.job()], lambda _: None)
    assert [o.messages for o in first] == [o.messages for o in again]
    assert "look" in first[0].messages


@pytest.mark.mostly_long(4)
@pytest.mark.parametrize("name", ["a b.c", "a$b.c", "a#b.c", "a:b.c", "a'b.c", 'a"b.c', "größe.c", "a&b.c"])
def test_names_with_unusual_characters(place: Place, name: str) -> None:
    place.source = place.source.with_name(name)
    header = place.first / name.replace(".c", ".h")
    header.write_text("#define A 1\n")
    include = f'#include "{header.name}"\nint one = A;\n'
    place.source.write_text(include if '"' not in name else "int one = 1;\n")
    assert place.build() == [f"one: {name}"]
    assert place.build() == []
    if '"' not in name:
        header.write_text("#define A 2\n")
        assert place.build() == [f"one: {name}"]
        assert place.value() == 2


@pytest.mark.long
@pytest.mark.parametrize("character", ["\n", "\t", "\\ ", "\x7f"])
def test_names_that_a_compiler_cannot_list(build: Build, tmp_path: Path, character: str) -> None:
    folder = f"first{character}one"
    lists = LISTS.replace("INCLUDES first", f"INCLUDES [[{folder}]]")
    build_files = {**FILES, "CMakeLists.txt": LISTS, f"{folder}/a.h": ""}
    assert build({**build_files, "first/x.h": "", "second/x.h": ""}).codes == []
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "out dir" / "host-image").rglob("*.o")}
    built = build({"CMakeLists.txt": lists})
    if "E0735" not in built.codes:
        assert built.codes and built.image is None  # CMake itself may refuse the name
    assert before == {p: p.stat().st_mtime_ns for p in (tmp_path / "out dir" / "host-image").rglob("*.o")}


@pytest.mark.long
def test_every_mistake_in_one_run_and_each_once(build: Build) -> None:
    wrong = {
        "Client.c": CLIENT + "int a = nothing_a;\n",
        "Server.c": SERVER + '#include "bad.h"\nint b = nothing_b;\n',
        "first/bad.h": "int c = nothing_c;\n",
        "second/x.h": "",
        "CMakeLists.txt": LISTS,
    }
    built = build({**FILES, **wrong})
    messages = sorted(d.message.split("'")[1] for d in built.diagnostics)
    assert messages == ["nothing_a", "nothing_b", "nothing_c"]
    (header,) = [d for d in built.diagnostics if "nothing_c" in d.message]
    assert header.span is not None and header.span.file.path.name == "bad.h"
    assert [label.span.file.path.name for label in header.related] == ["Server.c"]


@pytest.mark.long
@pytest.mark.usefixtures("ready_runtime")
def test_the_folder_of_the_command_does_not_matter(
    build: Build, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def files() -> dict[str, bytes]:
        out = tmp_path / "out dir" / "host-image"
        return {str(p): p.read_bytes() for p in out.rglob("*") if p.suffix in (".o", ".so")}

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "one"))
    build(FILES)
    first = files()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "two"))
    monkeypatch.setenv("PWD", "/")
    for path in first:
        Path(path).unlink()
    build({})
    assert files() == first


def test_the_inputs_of_an_object(place: Place) -> None:
    (place.first / "a.h").touch()
    place.source.write_text('#include "a.h"\n')
    assert inputs_of(place.out, [place.job()]) == (place.source,)
    place.build()
    assert set(inputs_of(place.out, [place.job()])) >= {place.source, place.first / "a.h"}


def test_ninja_is_that_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert Path(ninja.program()).name == "ninja"
