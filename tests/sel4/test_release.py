# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Release images boot and do the same: optimised, without unused sections, from a kernel without debugging.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR. SEL4_BUILDS=DIR keeps the builds for the next time.
"""

from __future__ import annotations

import os
import shutil
from itertools import islice
from pathlib import Path

import pytest

from camkes.capdl.elf import read_image
from camkes.diagnostics import Sink
from camkes.sel4.trace import read_console
from camkes.sel4.workspace import console, make

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")
pytestmark = pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace")

EXAMPLES = Path(__file__).parents[2] / "examples"
SYSTEM = Path(__file__).parent / "release"
PLATFORMS = {"x86_64": "qemu-system-x86_64", "qemu-arm-virt": "qemu-system-aarch64"}

#: seconds until an image must have printed its lines; QEMU without instruction counting
LIMIT = 120


def build(application: Path, platform: str, folder: Path, **options: str) -> Path:
    if shutil.which(PLATFORMS[platform]) is None:
        pytest.skip(f"{PLATFORMS[platform]} is not installed")
    if os.environ.get("SEL4_BUILDS"):
        folder = Path(os.environ["SEL4_BUILDS"])
    folder = folder / "-".join(["release", platform, application.name, *options])
    sink = Sink()
    settings = {"PLATFORM": platform, "RELEASE": "ON", **options}
    built = make(Path(WORKSPACE), application, folder, settings, sink, lambda *_: None)
    assert built, [(diagnostic.message, diagnostic.notes) for diagnostic in sink.diagnostics]
    return folder


def assert_prints(folder: Path, expected: list[str]) -> None:
    """In any order: QEMU's clock is the workstation's here."""
    missing = list(expected)
    printed = []
    for line in console(folder, seconds=LIMIT):
        printed.append(line)
        missing = [text for text in missing if text not in line]
        if not missing:
            break
    assert not missing, "".join(printed[-30:])


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", ["inversion", "protocols", "nested", "dataport", "timer"])
def test_examples_print_what_they_print_without_release(name: str, platform: str, tmp_path: Path) -> None:
    folder = build(EXAMPLES / name, platform, tmp_path, KernelPrinting="ON")
    assert_prints(folder, (EXAMPLES / name / "expected.txt").read_text().splitlines())


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_kernel_that_prints_nothing(platform: str, tmp_path: Path) -> None:
    """A component drives the serial port. No code refers to the clock and to the memory of dataports, also of
    instances in one address space: both are in the images."""
    folder = build(SYSTEM, platform, tmp_path)
    cache = (folder / "CMakeCache.txt").read_text()
    assert "KernelPrinting:BOOL=OFF" in cache and "CMAKE_BUILD_TYPE:STRING=Release" in cache
    for image, symbols in {
        "shared": {"_camkes_epoch", "untouched_data"},
        "together": {"one.untouched_data", "two.untouched_data", "one.unused_data", "two.unused_data"},
    }.items():
        assert read_image(folder / f"{image}.elf", symbols).symbols.keys() == symbols
    assert_prints(folder, ["high: 42", "low: 42"])


def test_a_recorded_run_prints_through_the_kernel(tmp_path: Path) -> None:
    """Without its output, who records would wait for ever."""
    folder = build(EXAMPLES / "inversion", "x86_64", tmp_path, CAmkESTrace="ON")
    run = console(folder, instruction_counting=True, seconds=LIMIT)
    recorded = [record.kind for record in islice(read_console(run), 20)]
    run.close()
    assert len(recorded) == 20
