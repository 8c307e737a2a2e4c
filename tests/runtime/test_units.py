# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Parts of the runtime by themselves, with the sanitizers on."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from shutil import which

import pytest

from camkes.resources import HOST_KERNEL, RUNTIME
from tests.runtime.code_of_images import of_sel4
from tests.runtime.host import place
from tests.runtime.units import FOLDER, UNITS, build_unit
from tests.units import build, check, requirement_of
from tests.written import write_files

SEL4 = RUNTIME / "src" / "platform" / "sel4"
WARNINGS = ("-Wall", "-Wextra", "-Wswitch-enum", "-Wsign-conversion")
#: sources with instructions of one machine, which others cannot compile
OF_ONE_MACHINE = {"clock_sel4.c", "arm_generic.c"}
CROSS_COMPILERS = ("aarch64-linux-gnu-gcc", "riscv64-linux-gnu-gcc")


@pytest.mark.requirement("RT-36")
@pytest.mark.parametrize(
    ("name", "sources", "mcs"),
    [
        pytest.param(*unit, id=f"{unit[0]}{'-mcs' * unit[2]}", marks=requirement_of(FOLDER / f"{unit[0]}.c"))
        for unit in UNITS
    ],
)
def test_unit(name: str, sources: tuple[str, ...], mcs: bool, tmp_path: Path) -> None:
    check(build_unit(tmp_path, name, sources, mcs))


@pytest.mark.requirement("RT-36")
@requirement_of(FOLDER / "release_sel4_test.c")
def test_a_task_on_sel4_asks_the_clock_for_its_release(tmp_path: Path) -> None:
    """Headers of seL4's libraries are empty here, and other functions of the source are not linked."""
    empty = ("autoconf.h", "camkes/pid.h", "sel4runtime/gen_config.h")
    headers = write_files(tmp_path / "headers", dict.fromkeys(empty, ""))
    includes = (RUNTIME / "include", SEL4, HOST_KERNEL / "include", headers)
    source = RUNTIME / place("platform_sel4.c")
    flags = ("-DCAMKES_KERNEL_HOST=1", "-ffunction-sections", "-Wl,--gc-sections")
    check(build(tmp_path, FOLDER / "release_sel4_test.c", [source], includes, *flags))


@pytest.mark.requirement("RT-36")
@requirement_of(FOLDER / "printer_sel4_test.c")
def test_records_are_printed_on_sel4_in_the_order_of_their_times(tmp_path: Path) -> None:
    includes = (RUNTIME / "include", SEL4, HOST_KERNEL / "include")
    flags = ("-DCAMKES_KERNEL_HOST=1", "-DCONFIG_PRINTING")
    printer = HOST_KERNEL.parent / "sel4" / "trace" / "printer.c"
    check(build(tmp_path, FOLDER / "printer_sel4_test.c", [printer], includes, *flags))


def _warnings(folder: Path, mcs: bool, *sources: Path, how: Sequence[str] = ("-fsyntax-only",)) -> str:
    """The warnings and errors of the compiler."""
    flags = ("-std=gnu11", *how, *WARNINGS, "-DCAMKES_KERNEL_HOST=1")
    includes = (f"-I{RUNTIME / 'include'}", f"-I{HOST_KERNEL / 'include'}")
    kernel = ("-DCONFIG_KERNEL_MCS=1",) if mcs else ()
    command = ["cc", *flags, *kernel, *includes, *map(str, sources)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder).stderr


@pytest.mark.requirement("RT-17")
@pytest.mark.parametrize("mcs", [False, True], ids=["", "mcs"])
def test_the_compiler_has_nothing_to_say(mcs: bool, tmp_path: Path) -> None:
    sources = [s for s in sorted((RUNTIME / "src").rglob("*.c")) if not s.name.endswith("_sel4.c")]
    assert _warnings(tmp_path, mcs, *sources) == ""


@pytest.mark.requirement("RT-17")
@pytest.mark.mostly_long("cc--O2-mcs")
@pytest.mark.parametrize("mcs", [False, True], ids=["plain", "mcs"])
@pytest.mark.parametrize("level", ["-O2", "-O3", "-Os"])
@pytest.mark.parametrize("compiler", ["cc", *CROSS_COMPILERS])
def test_no_compiler_has_anything_to_say_about_release_code(
    compiler: str, level: str, mcs: bool, tmp_path: Path
) -> None:
    """The optimiser sees paths that a check of the syntax does not."""
    if which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    said, other = {}, set()
    for code in of_sel4(tmp_path, mcs=mcs):
        command = [compiler, *WARNINGS, level, *code.flags, "-c", str(code.source), "-o", "code.o"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            said[code.source] = done.stderr
        else:
            other.add(code.source.name)
    assert len(said) > 20 and other <= OF_ONE_MACHINE
    assert {source: text for source, text in said.items() if text} == {}


def _version_of_gcc() -> int:
    """0: another compiler."""
    told = subprocess.run(
        ["cc", "-dM", "-E", "-x", "c", "/dev/null"], capture_output=True, text=True, check=True
    )
    words = dict(line.split(" ", 2)[1:] for line in told.stdout.splitlines() if line.count(" ") > 1)
    return 0 if "__clang__" in words else int(words["__GNUC__"])


@pytest.mark.requirement("RT-17")
@pytest.mark.skipif(_version_of_gcc() < 12, reason="-fanalyzer is that of GCC 12 or newer")
@pytest.mark.parametrize("mcs", [False, True], ids=["", "mcs"])
def test_the_analyzer_of_the_compiler_has_nothing_to_say(mcs: bool, tmp_path: Path) -> None:
    """It takes the assertions for invariants; unit tests and searches check these. In inlined functions, GCC
    12 takes what kernel calls of MCS return for uninitialised; -Wall has a warning of its own."""
    sources = [s for s in sorted((RUNTIME / "src").rglob("*.c")) if not s.name.endswith("_sel4.c")]
    how = ("-O2", "-c", "-fanalyzer", "-Wno-analyzer-use-of-uninitialized-value")
    assert _warnings(tmp_path, mcs, *sources, how=how) == ""


_OPERATIONS = """
#include <camkes/label.h>
unsigned step(seL4_Word label)
{{
    enum camkes_caller_operation operation;
    if (!camkes_caller_read(label, &operation)) {{
        return 1;
    }}
    switch (operation) {{
    case CAMKES_UPDATE: case CAMKES_CLEAR: case CAMKES_FALL:{case}
        return 0;
    }}
    CAMKES_UNREACHABLE();
}}
seL4_Word message(void)
{{
    return camkes_{to}_label(CAMKES_CLEAR, 0, 0);
}}
"""


@pytest.mark.requirement("RT-17")
@pytest.mark.parametrize(
    ("case", "to", "said"),
    [
        (" case CAMKES_RAISE:", "caller", ""),
        ("", "caller", "CAMKES_RAISE"),
        (" case CAMKES_RAISE:", "worker", "enum camkes_worker_operation"),
    ],
    ids=["good", "an operation is forgotten", "an operation of others"],
)
def test_a_wrong_operation_does_not_compile(case: str, to: str, said: str, tmp_path: Path) -> None:
    files = write_files(tmp_path, {"manager.c": _OPERATIONS.format(case=case, to=to)})
    found = _warnings(tmp_path, True, files / "manager.c")
    assert said in found
    assert bool(said) == bool(found)
