# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Release images boot and do the same: optimised, without unused sections, from a kernel without debugging.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR. SEL4_BUILDS=DIR keeps the builds for the next time.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from camkes.backends.sel4.elf import read_image
from camkes.backends.sel4.trace import Record, output, read_line
from camkes.backends.sel4.workspace import console, make
from camkes.diagnostics import Sink
from camkes.running.kinds import Kind
from tests.backends.sel4.platforms import PLATFORMS

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")
pytestmark = [
    pytest.mark.requirement("SEL4-9"),
    pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace"),
]

EXAMPLES = Path(__file__).parents[3] / "examples"
SYSTEM = Path(__file__).parent / "release"
#: seconds until an image must have printed its lines; QEMU without instruction counting
LIMIT = 120


def build(application: Path, platform: str, folder: Path, **options: str) -> Path:
    qemu, own = PLATFORMS[platform]
    if shutil.which(qemu) is None:
        pytest.skip(f"{qemu} is not installed")
    if os.environ.get("SEL4_BUILDS"):
        folder = Path(os.environ["SEL4_BUILDS"])
    folder = folder / "-".join(["release", platform, application.name, *options])
    sink = Sink()
    settings = {**own, "RELEASE": "ON", **options}
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


def expected_text(name: str) -> str:
    return (EXAMPLES / name / "expected.txt").read_text()


@pytest.mark.parametrize("platform", PLATFORMS)
def test_components_print_through_a_release_kernel_that_may(platform: str, tmp_path: Path) -> None:
    folder = build(EXAMPLES / "dataport", platform, tmp_path, KernelPrinting="ON")
    assert_prints(folder, expected_text("dataport").splitlines())


def test_a_device_of_global_components(tmp_path: Path) -> None:
    """The time server counts from power-on, so only what happens is known. It needs the timer of a PC."""
    folder = build(EXAMPLES / "timer", "x86_64", tmp_path, KernelPrinting="ON")
    assert_prints(folder, [line.partition(" ms")[2] for line in expected_text("timer").splitlines()])


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", ["inversion", "protocols", "nested"])
def test_examples_print_what_they_print_without_release(name: str, platform: str, tmp_path: Path) -> None:
    """Recorded, since a thread can interrupt another's line. A recorded run always prints."""
    folder = build(EXAMPLES / name, platform, tmp_path, CAmkESTrace="ON")
    lines = expected_text(name).splitlines()
    records: list[Record] = []
    run = console(folder, instruction_counting=True, seconds=LIMIT)
    for record in filter(None, map(read_line, run)):
        records.append(record)
        if record.kind == Kind.OUTPUT and output(records).splitlines()[: len(lines)] == lines:
            break
    run.close()
    assert output(records).splitlines()[: len(lines)] == lines


@pytest.mark.parametrize("platform", ["x86_64", "qemu-arm-virt"])  # whose serial ports the component knows
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
