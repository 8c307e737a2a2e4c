# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The ELF reader agrees with another reader, and takes any file without falling over."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from camkes.backends.sel4.elf import ElfError, Image, read_image

pytestmark = pytest.mark.requirement("SEL4-14")

SOURCE = """
char zero[9000];
char data[5000] = {1};
const char constant[] = "text";
int longer_name(void) { return data[1] + zero[2]; }
void _start(void) { for (;;) longer_name(); }
"""
NAMES = ("zero", "data", "constant", "_start", "longer_name", "name", "nowhere")


@pytest.fixture(scope="module", params=["-m64", "-m32"])
def image(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    assert compiler is not None
    folder = tmp_path_factory.mktemp("elf")
    (folder / "program.c").write_text(SOURCE)
    command = [compiler, request.param, "-static", "-nostdlib", "-o", "program", "program.c"]
    made = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"the compiler does not make {request.param} programs")
    return folder / "program"


def expected(path: Path) -> Image:
    with path.open("rb") as file:
        elf = ELFFile(file)
        table = elf.get_section_by_name(".symtab")
        symbols = {s.name: (s["st_value"], s["st_size"]) for s in table.iter_symbols() if s.name in NAMES}
        segments = [
            (
                s["p_vaddr"],
                s["p_memsz"],
                s["p_offset"],
                s["p_filesz"],
                "".join(r for r, bit in zip("RWX", (4, 2, 1), strict=True) if s["p_flags"] & bit),
            )
            for s in elf.iter_segments()
            if s["p_type"] == "PT_LOAD" and s["p_memsz"]
        ]
        return Image("program", elf["e_entry"], tuple(segments), symbols)  # type: ignore[arg-type]


def test_agrees_with_another_reader(image: Path) -> None:
    assert read_image(image, NAMES) == expected(image)
    assert "name" not in read_image(image, NAMES).symbols


@pytest.mark.mostly_long("-m64")
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files_are_reported(image: Path, tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(image.read_bytes())
    for at in data.draw(st.lists(st.integers(0, 600) | st.integers(0, len(content) - 1), max_size=8)):
        content[at] = data.draw(st.integers(0, 255))
    damaged = tmp_path / "damaged"
    damaged.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        read_image(damaged, NAMES)
    except ElfError as error:
        assert "damaged" in str(error)


def test_an_undefined_symbol_is_not_there(tmp_path: Path) -> None:
    """A name that the linker was asked to keep (-u) and did not find."""
    compiler = shutil.which("cc")
    assert compiler is not None
    (tmp_path / "program.c").write_text(SOURCE)
    command = [compiler, "-static", "-nostdlib", "-Wl,-u,nowhere", "-o", "program", "program.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    assert "nowhere" not in read_image(tmp_path / "program", NAMES).symbols
