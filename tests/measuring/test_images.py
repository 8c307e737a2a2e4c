# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The images that measure: their sources are systems that this tool accepts, as they are and installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.analysis.profiles import names, read_platform
from camkes.measuring.images import MACHINES, Wanted, queue_text, write_application
from camkes.measuring.log import OVERRUNS, PARTS, REQUESTS
from camkes.project.application import KERNEL_IS_MCS
from tests.command import camkes

pytestmark = pytest.mark.requirement("AN-30")

WANTED = Wanted("qemu-aarch64", {KERNEL_IS_MCS: "ON"}, 15, "0123456789abcdef")


@pytest.mark.parametrize("part", PARTS)
def test_sources(part: str, tmp_path: Path) -> None:
    write_application(part, WANTED, tmp_path)
    result = camkes("check", tmp_path, "-q")
    assert result.status == 0, result.errors
    about = (tmp_path / "include" / "about.h").read_text()
    assert f'#define MEASURE_PART "{part}"' in about and "#define SAMPLES 15" in about
    assert "kernel=0123456789ab settings=KernelIsMCS=ON samples=15" in about
    assert "MEASURE_ON_BOARD" not in about


def test_sources_for_a_board(tmp_path: Path) -> None:
    write_application(REQUESTS, Wanted("board", {"PLATFORM": "zynqmp"}, 7), tmp_path)
    about = (tmp_path / "include" / "about.h").read_text()
    assert "#define MEASURE_ON_BOARD 1" in about and "platform=zynqmp kernel=unknown settings=none" in about


def test_timers_come_at_all_parts_of_a_step(tmp_path: Path) -> None:
    write_application("releases-3", WANTED, tmp_path)
    text = (tmp_path / "releases.camkes").read_text()
    assert "t2._priority = 10; t2._period = 14997111 ns; t2._offset = 9998074 ns;" in text
    write_application("releases-1", WANTED, tmp_path)
    assert "t0._period = 9998074 ns;" in (tmp_path / "releases.camkes").read_text()


def test_the_last_client_is_measured() -> None:
    text = queue_text(3)
    assert "c3._priority = 13;" in text and text.count("measures") == 1 and "c3.measures = 1;" in text


def test_a_budget_ends_in_every_other_job(tmp_path: Path) -> None:
    """Of all tasks of the image but one; on a machine whose instructions take longer, all does."""
    write_application(OVERRUNS, WANTED, tmp_path)
    text = (tmp_path / "overruns.camkes").read_text()
    assert text.count(f"_budget = {400_000 << 4} ns;") == 6
    assert text.count(f".longer = {500_000 << 4};") == 6 and text.count(f".longer = {200_000 << 4};") == 1
    emitted = "{stay_emit, wait_emit, job_extend_emit, job_stop_emit, extend_emit, abort_emit, help_emit}"
    assert emitted in (tmp_path / "ticker.c").read_text()
    about = (tmp_path / "include" / "about.h").read_text()
    assert '#define OVERRUN_ROWS "stays", "waits"' in about and "#define USERS 11" in about
    assert 'aborts"' in about


def test_a_release_kernel_that_prints() -> None:
    assert WANTED.all_definitions == {
        **{"PLATFORM": "qemu-arm-virt", "RELEASE": "ON", "KernelPrinting": "ON"},
        **{"KernelArmExportVCNTUser": "ON", KERNEL_IS_MCS: "ON"},
        # no line is printed where a manager asks whether there is budget
        **{"KernelInvocationReportErrorIPC": "ON", "LibSel4PrintInvocationErrors": "0"},
    }
    plain = Wanted("qemu-x86_64", {}, 15).all_definitions
    assert plain == {"PLATFORM": "x86_64", "RELEASE": "ON", "KernelPrinting": "ON"}
    mcs = Wanted("qemu-x86_64", {KERNEL_IS_MCS: "ON"}, 15).all_definitions
    assert mcs["KernelPC99TSCFrequency"] == "1000000000", "or else no interrupt ends a budget"
    board = Wanted("board", {"PLATFORM": "zynqmp", "SIMULATION": "ON"}, 1).all_definitions
    assert (board["PLATFORM"], board["SIMULATION"], board["KernelArmExportPMUUser"]) == ("zynqmp", "ON", "ON")


def test_each_machine_has_profiles() -> None:
    """With and without MCS, which say of themselves what they are of."""
    for machine in MACHINES.keys() - {"board"}:
        for mcs in (False, True):
            name = f"{machine}-mcs" if mcs else machine
            assert name in names()
            measured = read_platform(name).measured
            assert measured is not None and (measured.machine, measured.mcs) == (machine, mcs)
            assert (measured.figures, measured.platform) == ("median", MACHINES[machine].platform)
