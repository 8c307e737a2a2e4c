# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Random systems on the seL4 kernel in QEMU, with instruction counting: each response beside its bound.

A system is analysed with the profile of the machine, built and booted. Its work is loops of so many
instructions. `cases`: one of its tasks meets the worst case that the analysis found; the distance is that of
this task. (With MCS, the worst one if operations took half of the times of the profile, which happens more
often.) `conditions`, `budgets` and `bands`: systems of text, of which the distance is the least of all
tasks. No response of any task may be above its bound. A seed is a system: others are tried with other seeds.

    SEL4_WORKSPACE=DIR .venv/bin/python benchmarks/on_sel4.py [--count N] [--seed FIRST] [--kind NAME]
        [--platform NAME] [--mcs] [-D NAME=VALUE] [--profile FILE] [--unit N] [--sdk FILE] [--host]
        [--json FILE]

With `--host` the cases are executed on the host kernel, too, where operations take the times of the
profile: it is compared whether jobs end in the same order, and how far apart those end that do not. Where
the host has another order as soon as operations take half or three quarters of these times, so can a kernel
whose operations do not always take the longest; systems in which it has not count by themselves. No tasks
have equal priorities then, as the kernels have different orders of those; systems in slots are left out, as
slots begin at other times on the kernel.

An SDK builds faster than a workspace. It has to have the configuration of these images:

    camkes sdk -o bounds.sdk --no-trace --release -D PLATFORM=NAME -D KernelPrinting=ON -D KernelNumDomains=2
    camkes sdk -o mcs.sdk --no-trace --release -D PLATFORM=NAME -D KernelPrinting=ON -D KernelIsMCS=ON
        -D KernelInvocationReportErrorIPC=ON -D LibSel4PrintInvocationErrors=0

and that of qemu-arm-virt also `-D KernelArmExportVCNTUser=ON`, with which components read the clock, that of
x86_64 with MCS also `-D KernelPC99TSCFrequency=1000000000`, without which budgets do not end in QEMU. With
`-D QEMU_MEMORY=256`, here and there, a system of qemu-riscv-virt takes 6 s of the processor and not 10: less
memory has to be cleared before an image begins.

Exit status 1: a response was longer than its bound, or a job did not end within it; the seeds are printed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

from msgspec import to_builtins

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.kernel_bounds.attacks import KINDS, try_attack
from benchmarks.kernel_bounds.cases import try_case
from benchmarks.kernel_bounds.image import Setting, Tried
from camkes.analysis.profiles import find_platform
from camkes.diagnostics import Sink
from camkes.measuring.images import MACHINES, Wanted
from camkes.project.application import KERNEL_IS_MCS

#: profiles of the kernel without MCS, and machines, by platforms of seL4
PLATFORMS = {machine.platform: (name, machine) for name, machine in MACHINES.items() if machine.exact}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=20, metavar="N", help="systems (20)")
    parser.add_argument("--seed", type=int, default=0, metavar="FIRST")
    parser.add_argument("--kind", default="cases", choices=["cases", *KINDS], help="what systems have")
    parser.add_argument("--platform", default="x86_64", choices=PLATFORMS, help="as seL4 names it")
    parser.add_argument("--mcs", action="store_true", help="an MCS kernel")
    parser.add_argument("-D", action="append", default=[], metavar="NAME=VALUE", help="a variable of CMake")
    parser.add_argument(
        "--profile", metavar="NAME", help="what operations cost, as of `camkes analyze --platform`"
    )
    parser.add_argument(
        "--unit", type=int, default=50_000, metavar="N", help="instructions of the shortest work"
    )
    parser.add_argument(
        "--host", action="store_true", help="compare the order in which jobs end with the host's"
    )
    parser.add_argument("--sdk", type=Path, metavar="FILE", help="build with an SDK (a workspace)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results")
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep the last build in this folder")
    given = parser.parse_args()
    sink = Sink()
    name, machine = PLATFORMS[given.platform]
    profile = find_platform(given.profile or (f"{name}-mcs" if given.mcs else name), sink)
    if profile is None or machine.shift is None:
        sys.exit(sink.diagnostics[0].message)
    kernel = {KERNEL_IS_MCS: "ON"} if given.mcs else {"KernelNumDomains": "2"}
    more = dict(each.split("=", 1) for each in given.D)
    options = {**Wanted(name, kernel, samples=0).all_definitions, **more}
    results: list[Tried] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = (given.output or Path(temporary)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        setting = Setting(
            given.sdk, folder, options, machine.shift, profile, given.mcs, given.unit, given.host
        )
        seed = given.seed
        while len(results) < given.count:
            if given.kind == "cases":
                tried = try_case(seed, setting)
            else:
                tried = try_attack(given.kind, seed, setting)
            if tried is not None:
                results.append(tried)
                _print(tried)
                if given.json is not None:
                    given.json.write_text(json.dumps(to_builtins(results), indent=1) + "\n")
            seed += 1
    above = [each.seed for each in results if each.above]
    distances = [each.distance for each in results if each.response and not each.slots]
    print(
        f"{len(results)} systems (seeds {given.seed} to {seed - 1}), {sum(r.jobs for r in results)} jobs: "
        f"{len(above)} systems above; distance: median {statistics.median(distances or [0]):.1%}, "
        f"at most {max(distances, default=0):.1%}"
    )
    if given.host:
        tried_on_host = [each for each in results if each.exchanged is not None]
        for what, of in (
            ("of all", tried_on_host),
            ("with the same order if operations take less", [each for each in tried_on_host if each.sure]),
        ):
            apart = [each.exchanged or 0 for each in of]
            print(
                f"jobs end in the order of the host kernel in {apart.count(0)} of {len(apart)} systems {what}"
                f"; those in another order end at most {max(apart, default=0)} ns apart there"
            )
    return 1 if above else 0


def _print(tried: Tried) -> None:
    found = f", found {tried.found}" if tried.found else ""
    print(
        f"seed {tried.seed}: {tried.task} {tried.response}{found}, bound {tried.bound} "
        f"(+{tried.distance:.1%}), {tried.jobs} jobs, {len(tried.above)} above"
        f"{f', in another order on the host up to {tried.exchanged} ns' if tried.exchanged else ''}",
        flush=True,
    )
    for job in tried.above[:3]:
        print(f"    {job.task} released at {job.release}: {job.response}, bound {job.bound}")


if __name__ == "__main__":
    sys.exit(main())
