# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The clock of the workstation has no influence on builds and runs, also if it jumps."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.end_to_end.support import EXAMPLES

pytestmark = pytest.mark.requirement("HOST-15")

#: Each third reading of the wall clock jumps by years, hours or back.
JUMPS = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static time_t jumped(void)
{
    static const long by[] = {0, 86400L * 400, -86400L * 3650, 3600, -3600, 86400L * 9000};
    static long calls;
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
    return now.tv_sec + by[__sync_fetch_and_add(&calls, 1) / 3 % 6];
}
int clock_gettime(clockid_t clock, struct timespec *result)
{
    int status = (int)syscall(SYS_clock_gettime, clock, result);
    if (clock == CLOCK_REALTIME) {
        result->tv_sec = jumped();
    }
    return status;
}
int gettimeofday(struct timeval *restrict result, void *restrict zone)
{
    (void)zone;
    *result = (struct timeval){.tv_sec = jumped()};
    return 0;
}
time_t time(time_t *result)
{
    time_t now = jumped();
    if (result) {
        *result = now;
    }
    return now;
}
"""


@pytest.mark.long
def test_a_clock_that_jumps_changes_nothing(tmp_path: Path) -> None:
    source, library = tmp_path / "jumps.c", tmp_path / "jumps.so"
    source.write_text(JUMPS)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    found = []
    for name, jumps in (("even", False), ("jumping", True), ("again", True)):
        out = tmp_path / ("even" if not jumps else "jumping")  # the second one builds nothing anew
        words = ["run", EXAMPLES / "inversion", "-o", out, "--for", "100ms", "--json", "--verify", "-q"]
        trace = tmp_path / f"{name}.json"
        environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / f"cache-{jumps}")}
        done = subprocess.run(
            [sys.executable, "-m", "camkes", *words, "--trace", trace],
            env={**environment, "LD_PRELOAD": str(library)} if jumps else environment,
            capture_output=True,
            check=True,
        )
        found.append((done.stdout, trace.read_bytes()))
    assert found[0] == found[1] == found[2]
