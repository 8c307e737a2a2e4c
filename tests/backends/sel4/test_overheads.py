# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a request costs on seL4: the benchmark reads its application's output, and the bounds of docs/costs.md
hold. The latter needs a workspace and QEMU: SEL4_WORKSPACE=DIR. SEL4_BUILDS=DIR keeps the builds.
"""

from __future__ import annotations

import importlib
import os
import shutil
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from tests.command import camkes

pytestmark = pytest.mark.requirement("SEL4-8")

ROOT = Path(__file__).parents[3]
FOLDER = str(ROOT / "benchmarks" / "overheads")


def benchmark(name: str = "overheads") -> ModuleType:
    """A program of the benchmark, which imports others from its folder."""
    if FOLDER not in sys.path:
        sys.path.append(FOLDER)
    return importlib.import_module(name)


def test_costs_are_of_all_rows() -> None:
    overheads = benchmark()
    readings = {"counter": (100, 105, 110), "plain": (1000, 1255, 1560), "shapes_none": (2000, 0, 2500)}
    found = overheads.costs({row: [overheads.Sample(*each)] for row, each in readings.items()})
    assert found == {
        "plain": overheads.Cost(550, 250, 300),
        "shapes_none": overheads.Cost(495, None, None),
    }
    assert "| plain | 550 | 250 | 300 |" in overheads.table(found)


def test_rows_are_added_to_those_of_the_measuring_application(tmp_path: Path) -> None:
    overheads = benchmark()
    overheads.write(tmp_path, overheads.wanted("x86_64", debug=False, mcs=False))
    result = camkes("check", tmp_path, "-q")
    assert result.status == 0, result.errors


def test_memory_of_an_image() -> None:
    """Names that begin like those of another image are not its own."""
    memory = benchmark("memory")
    objects = memory.objects(
        "arch x86_64\n\nobjects {\n"
        "leaf = tcb (addr: 0x534000, prio: 254)\n"
        "leaf.p@low = tcb (addr: 0x524000, prio: 10)\n"
        "leaf.p@low-endpoint = ep\n"
        "leaf.p-manager-wake = notification\n"
        "leaf-400000 = frame (4k, fill: [])\n"
        "leaf-cnode = cnode (4 bits)\n"
        "leaf-pt3-400000 = pt\n"
        "leaf2 = tcb (addr: 0x534000, prio: 254)\n"
        "leaf_3-cnode = cnode (9 bits)\n"
        "}\ncaps {\nleaf-cnode {\n0x1 = tcb\n}\n}\n"
    )
    sizes = Counter({"stack": 32768, "ipc_buffer": 8192, "tls": 4096, "code": 5000})
    found = memory.image("leaf", objects, sizes)
    assert found == memory.Image("leaf", 2, 4096, 32768, 8192, 4096, 16 + 32, 512, 4096, 5000)
    assert memory.table([found]).splitlines()[2].endswith(f"| {(4096 + 32768 + 8192 + 4096) // 2} |")


def test_components_tell_when_they_begin(tmp_path: Path) -> None:
    boot = benchmark("boot")
    source, copy = tmp_path / "source", tmp_path / "copy"
    (source / "client").mkdir(parents=True)
    (source / "CMakeLists.txt").write_text("add_subdirectory(client)\nDeclareCAmkESRootserver(a.camkes)\n")
    (source / "client" / "CMakeLists.txt").write_text(
        "DeclareCAmkESComponent(\n    A\n    INCLUDES include\n    SOURCES a.c)\nDeclareCAmkESComponent(B)\n"
    )
    boot.write(source, copy)
    text = (copy / "client" / "CMakeLists.txt").read_text()
    assert f'SOURCES "{FOLDER}/boot/boot.c" a.c)' in text and text.count("boot.c") == 1
    lines = ["Booting all finished, dropped to user space\n", "boot: 1200\n", "boot: 1500\n"]
    assert boot.first(lines) == 1200 and boot.first(lines[:1]) is None
    row = {"a": (boot.Booted(90, 1200), boot.Booted(100, 1300))}
    assert boot.table(row).splitlines()[2] == "| a | 90 | 100 | 0.900 | 1200 | 1300 | -100 |"


#: a row, what it is compared with, and how much more it may be
BOUNDS = (
    ("plain", "bare", 1.03),
    ("shapes_none", "bare", 1.02),
    ("shapes_out3", "bare_out3", 1.03),
    ("fixed", "plain", 1.02),
    ("propagated", "plain", 1.02),
    ("inherited", "plain", 1.03),
    ("inherited_inherited", "plain_plain", 1.05),
    ("inherited_propagated", "plain_plain", 1.05),
    ("plain", "upstream", 1.0),
    ("plain_plain", "upstream_upstream", 1.0),
    ("event_helpers", "event", 1.02),
    ("delivered_helpers", "delivered", 1.02),
)
#: instructions of a row, at most
MOST = {
    "shapes_in4": 560,
    "shapes_add": 560,
    "contended_inherited": 4500,
    "contended_inherited_inherited": 7500,
}


@pytest.mark.skipif(not os.environ.get("SEL4_WORKSPACE"), reason="SEL4_WORKSPACE names no workspace")
@pytest.mark.skipif(shutil.which("qemu-system-x86_64") is None, reason="QEMU is not installed")
def test_bounds_of_requests(tmp_path: Path) -> None:
    overheads = benchmark()
    folder = Path(os.environ.get("SEL4_BUILDS") or tmp_path) / "overheads"
    folder.mkdir(parents=True, exist_ok=True)
    workspace = Path(os.environ["SEL4_WORKSPACE"])
    found = overheads.costs(overheads.measure(workspace, folder, "x86_64", debug=False))
    above = {(row, other): found[row].both / found[other].both for row, other, _ in BOUNDS}
    assert {(row, other): above[row, other] for row, other, most in BOUNDS if above[row, other] > most} == {}
    assert {row: found[row].both for row, most in MOST.items() if found[row].both > most} == {}


@pytest.mark.skipif(not os.environ.get("SEL4_WORKSPACE"), reason="SEL4_WORKSPACE names no workspace")
@pytest.mark.skipif(shutil.which("qemu-system-x86_64") is None, reason="QEMU is not installed")
def test_bounds_of_requests_on_an_mcs_kernel(tmp_path: Path) -> None:
    """With servers without time of their own, both sides of each."""
    overheads = benchmark()
    folder = Path(os.environ.get("SEL4_BUILDS") or tmp_path) / "mcs-overheads"
    folder.mkdir(parents=True, exist_ok=True)
    workspace = Path(os.environ["SEL4_WORKSPACE"])
    found = overheads.costs(overheads.measure(workspace, folder, "x86_64", debug=False, mcs=True))
    pairs = [
        (row, other) for row, other, _ in BOUNDS if other in ("plain", "plain_plain", "event", "delivered")
    ]
    above = {(row, other): found[row].both / found[other].both for row, other in pairs}
    assert len(above) == 7 and {pair: times for pair, times in above.items() if times > 1.05} == {}


@pytest.mark.skipif(not os.environ.get("SEL4_WORKSPACE"), reason="SEL4_WORKSPACE names no workspace")
@pytest.mark.skipif(shutil.which("qemu-system-x86_64") is None, reason="QEMU is not installed")
def test_no_shape_is_dearer_than_by_camkes_tool(tmp_path: Path) -> None:
    shapes = benchmark("shapes")
    folder = Path(os.environ.get("SEL4_BUILDS") or tmp_path) / "shapes"
    folder.mkdir(parents=True, exist_ok=True)
    found = shapes.measure(Path(os.environ["SEL4_WORKSPACE"]), folder, "x86_64")
    assert len(found) > 20 and {row: each for row, each in found.items() if each[0] > each[1]} == {}
