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

from camkes.analysis.platform import Halves
from camkes.analysis.profiles import read_platform

ROOT = Path(__file__).parents[3]
FOLDER = str(ROOT / "benchmarks" / "overheads")


def benchmark(name: str = "overheads") -> ModuleType:
    """A program of the benchmark, which imports others from its folder."""
    if FOLDER not in sys.path:
        sys.path.append(FOLDER)
    return importlib.import_module(name)


def test_halves_are_without_the_readings_of_the_counter() -> None:
    overheads = benchmark()
    lines = ["counter 100 105 110\n", "plain 1000 1255 1560\n", "shapes_none 2000 0 2500\n"]
    samples = overheads.read_samples(f"overheads: {line}" for line in [*lines, "end\n"])
    assert overheads.cost(samples["plain"], 5) == overheads.Cost(550, 250, 300)
    assert overheads.cost(samples["shapes_none"], 5) == overheads.Cost(495, None, None)
    assert overheads.read_samples(["overheads: plain 1 2 3\n"]) is None, "it has no end"


def test_the_profile_can_be_read(tmp_path: Path) -> None:
    overheads = benchmark()
    readings = dict.fromkeys(overheads.ROWS, (10, 260, 510)) | {
        "counter": (10, 15, 20),
        "inherited_inherited": (10, 560, 1110),
        "contended_inherited": (10, 5000, 5300),
        "holder_inherited": (1, 4000, 4200),
        "contended_inherited_inherited": (10, 9000, 9500),
    }
    lines = [f"overheads: {row} {' '.join(map(str, each))}\n" for row, each in readings.items()]
    samples = overheads.read_samples([*lines, "overheads: end\n"])
    path = tmp_path / "machine.toml"
    path.write_text(
        overheads.profile(
            overheads.costs(samples),
            samples,
            3000,
            {
                1: overheads.Release(10_102, 700, 300, 2_000_000),
                50: overheads.Release(13_498, 800, 310, 1_999_000),
            },
            "a test",
        )
    )
    platform = read_platform(str(path))
    assert (platform.runtime, platform.plain) == ("camkes-rt", Halves(245, 245))
    # until the holder can go on, and from there to the handler of who waited
    assert (platform.inherited.acquire, platform.inherited.release) == (3985 - 245, 995)
    assert platform.inherited.queue == 3000
    # 71.3 instructions for each timer more, with which the interrupt is later, too, rounded up
    assert (platform.timer.release, platform.timer.each) == (10_802 - 72, 72)
    assert [platform.release_cycles(count) for count in (1, 50)] == [10_802, 14_330]
    assert (platform.tick.cost, platform.tick.every) == (310, 1_999_000)
    assert platform.inherited.update == (9480 - 5280) - (1090 - 490)


def test_the_longest_gaps_are_releases() -> None:
    """Each 5000 ns a release of 900, up to 20 late, and between these a tick of 300."""
    releases, overheads = benchmark("releases"), benchmark()
    sample = overheads.Sample
    begins = [(number * 2500, 300 if number % 2 else 900) for number in range(1, 41)]
    gaps = [sample(begin + (0 if begin % 15_000 else 20), 0, begin + length) for begin, length in begins]
    clock = sample(0, 0, 0), sample(200_000, 0, 200_000)
    found = releases.of_releases(gaps, *clock, 5000)
    assert (found.late, found.tick, found.every) == (20, 300, 5000), found
    assert found.cost == 900
    slow = sample(0, 0, 0), sample(200_000, 0, 400_000)  # two nanoseconds an instruction
    assert releases.of_releases(gaps, *slow, 10_000).every == 10_000
    text = releases.system(3)
    assert "t2._priority = 10; t2._period = 14997111 ns; t2._offset = 9998074 ns;" in text
    assert "t0._period = 9998074 ns;" in releases.system(1)


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
    overheads.build(Path(os.environ["SEL4_WORKSPACE"]), folder, "x86_64", debug=False)
    found = overheads.costs(overheads.boot(folder, "x86_64"))
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
    overheads.build(Path(os.environ["SEL4_WORKSPACE"]), folder, "x86_64", debug=False, mcs=True)
    found = overheads.costs(overheads.boot(folder, "x86_64"))
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
