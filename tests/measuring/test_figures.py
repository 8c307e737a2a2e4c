# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What operations cost, of readings that are written here, and of a log."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from camkes.analysis.platform import FixedCost, Halves, OverrunCost
from camkes.analysis.profiles import read_platform
from camkes.diagnostics import Sink, SourceFile
from camkes.measuring.figures import APART, Spread, cost, counter_of, figures, of_releases, spread
from camkes.measuring.log import (
    OVERRUN_ROWS,
    OVERRUNS,
    RELEASES,
    REQUESTS,
    ROWS,
    Boot,
    Sample,
    is_mcs,
    read_log,
    releases_part,
)
from camkes.measuring.profile import profile_of
from tests.measuring.logs import GOLDEN

pytestmark = pytest.mark.requirement("AN-30")

ABOUT = {
    **{"machine": "qemu-x86_64", "platform": "x86_64", "kernel": "0123", "settings": "none"},
    **{"samples": "2", "gaps": "4", "queue": "10", "counter": "tsc", "compiler": "gcc-12.2.0"},
    "camkes-rt": "0.1.0",
}


def rows(extra: int = 0) -> dict[str, list[Sample]]:
    """Two samples of each row; the second one takes `extra` longer in each half."""
    readings = dict.fromkeys(ROWS, (10, 260, 510)) | {
        "counter": (10, 15, 20),
        "inherited_inherited": (10, 560, 1110),
        "contended_inherited": (10, 5000, 5300),
        "holder_inherited": (1, 4000, 4200),
        "contended_fixed": (10, 1400, 1750),
        "contended_inherited_inherited": (10, 9000, 9500),
        "queued": (10, 8000, 8300),
        "released": (10, 0, 1400),
        "emitted": (10, 0, 400),
    }
    return {
        row: [Sample(*each), Sample(each[0], each[1] + more, each[2] + 2 * more)]
        for row, each in readings.items()
        for more in (0 if row == "counter" else extra,)
    }


def gaps(cost: int, late: int, apart: int, tick: int = 0) -> dict[str, list[Sample]]:
    """Ten releases, and ticks in the middle between two."""
    found = []
    for number in range(1, 11):
        found.append(Sample(number * apart + late, 0, number * apart + late + cost))
        if tick:
            found.append(Sample(number * apart + apart // 3, 0, number * apart + apart // 3 + tick))
    return {"gap": found, "clock": [Sample(0, 0, 0), Sample(12 * apart, 0, 12 * apart)]}


def boots(extra: int = 0, **about: str) -> tuple[Boot, ...]:
    few, many = map(releases_part, RELEASES)
    own = {**ABOUT, **about}
    ends = {row: [Sample(0, 700, 800 + n), Sample(0, 710, 820 + n)] for n, row in enumerate(OVERRUN_ROWS)}
    return (
        *([Boot(OVERRUNS, own, ends)] if is_mcs(own) else []),
        Boot(REQUESTS, own, rows(extra)),
        Boot(few, own, gaps(10_102, 700, 2 * APART, tick=300)),
        Boot(many, own, gaps(13_498, 800, APART, tick=310)),
    )


def test_halves_are_without_the_readings_of_the_counter() -> None:
    found = cost([Sample(1000, 1255, 1560)], Spread(5, 5), exact=True)
    assert (found.both.most, found.call, found.reply) == (550, Spread(250, 250), Spread(300, 300))
    found = cost([Sample(2000, 0, 2500)], Spread(5, 5), exact=True)
    assert (found.both.most, found.call, found.reply) == (495, None, None)


def test_samples_that_differ() -> None:
    """The median where instructions are counted; else what is subtracted is the least."""
    assert spread([3, 1, 9], exact=True) == Spread(3, 3) and spread([3, 1, 9], exact=False) == Spread(1, 9)
    assert Spread(10, 20) - Spread(1, 5) == Spread(5, 19) and Spread(1, 2) + Spread(3, 4) == Spread(4, 6)
    counter = counter_of({"counter": [Sample(0, 4, 9), Sample(0, 8, 9)]}, exact=False)
    found = cost([Sample(0, 100, 200), Sample(0, 110, 290)], counter, exact=False)
    assert (counter, found.call, found.reply) == (Spread(4, 8), Spread(92, 106), Spread(92, 176))
    assert found.both == Spread(200 - 16, 290 - 8)


def test_a_profile(tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(profile_of(boots()))
    platform = read_platform(str(path))
    assert (platform.runtime, platform.clock, platform.plain) == ("camkes-rt", 10**9, Halves(245, 245))
    assert platform.fixed == FixedCost(245, 245, waiting=1740 - 500)
    # until the holder can go on, and from there to the handler of who waited
    assert (platform.inherited.acquire, platform.inherited.release) == (3985 - 245, 995)
    assert platform.inherited.queue == 8300 - 5300
    assert platform.inherited.update == (9480 - 5280) - (1090 - 490)
    assert (platform.event.emit, platform.event.release) == (385, 1385)
    # 71.3 instructions for each timer more, with which the interrupt is later, too, rounded up
    assert (platform.timer.release, platform.timer.each) == (10_802 - 72, 72)
    assert [platform.release_cycles(count) for count in (1, 50)] == [10_802, 14_330]
    # the greatest of all operations that are not of the driver
    assert platform.timer.uninterrupted == max(1740 - 500, 3985 - 245, 995)
    assert (platform.tick.cost, platform.tick.every) == (310, APART)
    assert platform.measured is not None
    assert (platform.measured.figures, platform.measured.samples, platform.measured.mcs) == (
        "median",
        2,
        False,
    )
    assert platform.measured.compiler == "gcc 12.2.0" and platform.measured.longest_queue == 10


def test_a_profile_of_a_board(tmp_path: Path) -> None:
    """Each figure is at least what the samples show: the maximum, less the least of what is subtracted."""
    path = tmp_path / "board.toml"
    path.write_text(profile_of(boots(extra=40, machine="board", platform="zynqmp")))
    platform = read_platform(str(path))
    assert platform.plain == Halves(285, 285)
    assert platform.fixed == FixedCost(285, 285, waiting=1740 + 80 - 500)
    assert platform.inherited.acquire == 3985 + 40 - 245 and platform.inherited.release == 995
    assert platform.inherited.queue == 8300 + 80 - 5300
    assert (platform.event.emit, platform.event.release) == (385 + 80, 1385 + 80)
    nested, inner = (9480 + 80) - 5280, 1090 - (490 + 80)
    assert platform.inherited.update == nested - inner
    assert platform.measured is not None and platform.measured.figures == "maximum"
    assert "maximum of 2 samples seen, not a bound" in platform.source and "zynqmp" in platform.source
    assert path.read_text().splitlines()[1] == "# Each figure is the maximum of 2 samples seen, not a bound."


def test_a_profile_of_an_mcs_kernel(tmp_path: Path) -> None:
    """It has no ticks: what else interrupts the thread that observes is the end of its own budget."""
    path = tmp_path / "mcs.toml"
    path.write_text(profile_of(boots(settings="KernelIsMCS=ON")))
    platform = read_platform(str(path))
    assert platform.tick.cost == 0 and "[tick]" not in path.read_text()
    assert platform.fixed == FixedCost(245, 245), "a manager has requests wait"
    assert platform.measured is not None and platform.measured.mcs and "MCS kernel" in platform.source
    # medians of the rounds with an end of a budget, less those without one
    assert platform.overrun == OverrunCost(106, 107, 108, 109, 110, 111)
    path.write_text(profile_of(boots(settings="KernelIsMCS=ON", machine="board")))
    assert read_platform(str(path)).overrun == OverrunCost(121, 122, 123, 124, 125, 126)


def test_the_longest_gaps_are_releases() -> None:
    """Each 5000 ns a release of 900, up to 20 late, and between these a tick of 300."""
    begins = [(number * 2500, 300 if number % 2 else 900) for number in range(1, 41)]
    found_gaps = [
        Sample(begin + (0 if begin % 15_000 else 20), 0, begin + length) for begin, length in begins
    ]
    clock = Sample(0, 0, 0), Sample(200_000, 0, 200_000)
    found = of_releases(found_gaps, *clock, 5000)
    assert (found.cost, found.late, found.tick, found.every) == (900, 20, 300, 5000), found
    slow = Sample(0, 0, 0), Sample(200_000, 0, 400_000)  # two nanoseconds an instruction
    found = of_releases(found_gaps, *slow, 10_000)
    assert (found.every, found.rate) == (10_000, Fraction(1, 2))


def test_what_else_interrupts_a_board() -> None:
    """An interrupt that is longer than a release is none, and neither makes ticks come more often."""
    begins = [(number * 2500, 300 if number % 2 else 900) for number in range(1, 41)]
    found_gaps = [Sample(begin, 0, begin + length) for begin, length in begins]
    other = Sample(23_500, 0, 23_700)
    clock = Sample(0, 0, 0), Sample(200_000, 0, 200_000)
    found = of_releases(sorted([*found_gaps, other], key=lambda gap: gap.begin), *clock, 5000, exact=False)
    assert (found.cost, found.most, found.late, found.tick, found.every) == (900, 900, 0, 300, 5000)
    one = of_releases([*found_gaps[1::2], Sample(201_000, 0, 201_150)], *clock, 5000)
    assert (one.tick, one.every) == (150, 200_000), "once in the whole time"


def test_a_log(tmp_path: Path) -> None:
    """That of x86_64, whose figures are those of the profile that comes with the tool."""
    sink, path = Sink(), tmp_path / "x86_64.toml"
    file = SourceFile(GOLDEN / "qemu-x86_64.log", (GOLDEN / "qemu-x86_64.log").read_text())
    found = read_log([file], sink)
    assert found is not None
    path.write_text(profile_of(found))
    ours, packed = read_platform(str(path)), read_platform("qemu-x86_64")
    for name in ("clock", "plain", "fixed", "propagated", "inherited", "event"):
        assert getattr(ours, name) == getattr(packed, name)
    # how late an interrupt is, up to a step of the timer, depends on when it comes
    assert abs(ours.timer.release - packed.timer.release) < 100
    assert abs(ours.timer.each - packed.timer.each) <= 1
    assert ours.tick == packed.tick
    with pytest.raises(KeyError):
        figures(found[1:], exact=True, mcs=False)
