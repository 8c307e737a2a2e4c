# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a request costs on the seL4 kernel, in instructions, counted by QEMU.

Builds `application/` in the workspace that SEL4_WORKSPACE names, boots it and prints a row for each kind of
request. `call` is from before the request to its handler, `reply` from there to after the request; what it
takes to read the counter is subtracted. Figures are medians; a run repeats to the digit. With what library.py
needs, there are rows of the priority-aware-camkes library, too.

    SEL4_WORKSPACE=DIR .venv/bin/python benchmarks/overheads/overheads.py [--json] [--debug] [--profile FILE]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from camkes.backends.sel4.workspace import console, find_workspace, make
from camkes.diagnostics import Sink
from camkes.project.application import KERNEL_IS_MCS

APPLICATION = Path(__file__).resolve().parent / "application"

HEAD = (
    # REUSE-IgnoreStart
    "# SPDX-License-Identifier: BSD-2-Clause",
    "# SPDX-FileCopyrightText: 2026 The camkes-rt developers",
    # REUSE-IgnoreEnd
    "# Instructions, taken for cycles of 1 GHz: no machine's.",
    "# Written by benchmarks/overheads/overheads.py --profile.",
)

#: seconds after which a run has failed
LIMIT = 600

#: rows of the application's output, and what they are called; a row is compared with another one
ROWS = {
    "bare": ("bare Call and ReplyRecv", None),
    "upstream": ("plain, as camkes-tool makes it", "bare"),
    "plain": ("plain", "bare"),
    "own_time": ("plain, a server with time of its own", "plain"),
    "shapes_none": ("plain, nothing in, nothing out", "bare"),
    "shapes_in4": ("plain, four words in", "bare"),
    "bare_out3": ("bare, four words out", "bare"),
    "shapes_out3": ("plain, four words out", "bare_out3"),
    "shapes_add": ("plain, two integers in, one out", "bare"),
    "fixed": ("fixed", "plain"),
    "propagated": ("propagated", "plain"),
    "inherited": ("inherited, free lock", "plain"),
    "upstream_upstream": ("plain through plain, as camkes-tool makes it", None),
    "plain_plain": ("plain through plain", "upstream_upstream"),
    "inherited_inherited": ("inherited through inherited", "plain_plain"),
    "inherited_propagated": ("inherited through propagated", "plain_plain"),
    "event": ("emit, no waiter", None),
    "event_helpers": ("emit to `with helpers`, no waiter", "event"),
    "delivered": ("emit to a more urgent thread, no waiter", None),
    "delivered_helpers": ("the same, `with helpers`", "delivered"),
    "contended_inherited": ("contended, one lock", None),
    "contended_inherited_inherited": ("contended, holder in an inner lock", None),
    "library_plain": ("plain with a priority, camkes-tool itself", None),
    "library_fixed": ("`fixed`, library", "fixed"),
    "library_propagated": ("`propagated`, library", "propagated"),
    "library_inherited": ("`inherited`, library, free lock", "inherited"),
    "library_contended": ("`inherited`, library, contended", "contended_inherited"),
}


class Sample(Struct, frozen=True):
    """Readings of the counter; `middle` 0: not known."""

    begin: int
    middle: int
    end: int


class Release(Struct, frozen=True):
    """Instructions of a release, by how many its interrupt is late at most, and those of an interrupt of the
    kernel's clock, at most, which comes `every` so many nanoseconds; 0: none came."""

    cost: int
    late: int
    tick: int
    every: int


class Cost(Struct, frozen=True):
    """Instructions of a request and of its two halves, None: not known."""

    both: int
    call: int | None
    reply: int | None


#: rows that an MCS kernel does not have: its servers are threads without time of their own, but for one
WITHOUT_MCS = ("bare", "bare_out3", "upstream", "upstream_upstream")
OWN_TIME = "upstream"


def build(
    workspace: Path,
    folder: Path,
    platform: str,
    *,
    debug: bool,
    mcs: bool = False,
    application: Path = APPLICATION,
) -> None:
    sink = Sink()
    settings = {"PLATFORM": platform, "KernelPrinting": "ON", KERNEL_IS_MCS: "ON" if mcs else "OFF"}
    if not debug:
        settings["RELEASE"] = "ON"
    if platform == "qemu-arm-virt":
        settings["KernelArmExportVCNTUser"] = "ON"  # the counter; camkes-tool leaves it closed
    if not make(workspace, application, folder, settings, sink, lambda text: print(text, file=sys.stderr)):
        sys.exit("\n".join(line for d in sink.diagnostics for line in (d.message, *d.notes)))


def read_samples(lines: Iterable[str]) -> dict[str, list[Sample]] | None:
    """The samples of each row that the application printed; None if it did not come to its end."""
    samples: dict[str, list[Sample]] = {}
    for line in lines:
        rest = line.strip().partition("overheads: ")[2]
        if rest == "end":
            return samples
        if rest:
            row, *numbers = rest.split()
            samples.setdefault(row, []).append(Sample(*map(int, numbers)))
    return None


#: an instruction takes 2 to this power of nanoseconds, which is one step of the platform's counter
SHIFT = {"x86_64": 0, "qemu-arm-virt": 4, "qemu-riscv-virt": 0}


def boot(folder: Path, platform: str) -> dict[str, list[Sample]]:
    """The samples of a run in QEMU."""
    lines = console(folder, instruction_counting=True, shift=SHIFT[platform], seconds=LIMIT)
    samples = read_samples(lines)
    lines.close()
    if samples is None:
        sys.exit("the application did not come to its end")
    return samples


def cost(samples: list[Sample], counter: int) -> Cost:
    """`counter` is what a reading takes."""

    def median(values: list[int]) -> int:
        return round(statistics.median(values))

    known = all(s.middle != 0 for s in samples)
    both = median([s.end - s.begin for s in samples]) - (2 if known else 1) * counter
    if not known:
        return Cost(both, None, None)
    call = median([s.middle - s.begin for s in samples]) - counter
    reply = median([s.end - s.middle for s in samples]) - counter
    return Cost(both, call, reply)


def costs(samples: dict[str, list[Sample]]) -> dict[str, Cost]:
    counter = round(statistics.median(s.middle - s.begin for s in samples["counter"]))
    return {row: cost(samples[row], counter) for row in ROWS if row in samples}


def table(found: dict[str, Cost]) -> str:
    lines = ["| request | instructions | call | reply | beside |", "|---|---|---|---|---|"]
    for row, each in found.items():
        name, other = ROWS[row]
        halves = " | ".join("" if half is None else str(half) for half in (each.call, each.reply))
        beside = "" if other not in found else f"{each.both / found[other].both:.3f} of {ROWS[other][0]}"
        lines.append(f"| {name} | {each.both} | {halves} | {beside} |")
    return "\n".join(lines)


def profile(
    found: dict[str, Cost],
    samples: dict[str, list[Sample]],
    queue: int,
    releases: Mapping[int, Release],
    source: str,
) -> str:
    """A platform profile (docs/analysis.md): an instruction is taken for a cycle of 1 GHz. `queue` is what
    the longest queue adds to a contended request, `releases` what a release costs with how many timers: that
    begins when it should, and an interrupt that is late is a part of it."""
    counter = round(statistics.median(s.middle - s.begin for s in samples["counter"]))
    pairs = list(zip(samples["contended_inherited"], samples["holder_inherited"], strict=True))
    asked = round(statistics.median(held.middle - s.begin for s, held in pairs)) - counter
    granted = round(statistics.median(s.middle - held.middle for s, held in pairs)) - counter
    plain = found["plain"]
    assert plain.call is not None and plain.reply is not None
    nested = found["contended_inherited_inherited"].both - found["contended_inherited"].both
    level = nested - (found["inherited_inherited"].both - found["inherited"].both)
    text = [f'source = "{source}"', 'runtime = "camkes-rt"', "clock = 1_000_000_000"]
    for row in ("plain", "fixed", "propagated"):
        text += ["", f"[{row}]", f"call = {found[row].call}", f"reply = {found[row].reply}"]
    text += ["", "[inherited]", f"acquire = {asked - plain.call}", f"release = {granted}"]
    text += [f"queue = {queue}"]
    text += ["# update, settle and clear of a level of the chain, together", f"update = {level}"]
    few, many = min(releases), max(releases)
    whole = {count: release.cost + release.late for count, release in releases.items()}
    costs_alone = {count: release.cost for count, release in releases.items()}
    each = max(-(-(taken[many] - taken[few]) // (many - few)) for taken in (whole, costs_alone))
    late = ", ".join(f"{release.late} with {count}" for count, release in releases.items())
    text += ["", "[timer]", f"# by how much the interrupt is late: {late} timers"]
    text += [f"release = {max(taken - count * each for count, taken in whole.items())}", f"each = {each}"]
    if tick := max(release.tick for release in releases.values()):
        every = min(release.every for release in releases.values() if release.every)
        text += ["", "[tick]", f"cost = {tick}", f"every = {every}"]
    return "\n".join(text)


@contextmanager
def places(output: Path | None) -> Iterator[tuple[Path, Path]]:
    """The workspace for seL4, and a folder for a build, which is kept if it is stated. Ends the program if
    there is no workspace."""
    sink = Sink()
    workspace = find_workspace(None, sink)
    if workspace is None:
        sys.exit(sink.diagnostics[0].message)
    with tempfile.TemporaryDirectory() as temporary:
        folder = (output or Path(temporary)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        yield workspace, folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--platform", default="x86_64", choices=SHIFT, help="as seL4 names it")
    parser.add_argument("--debug", action="store_true", help="a debug image instead of a release image")
    parser.add_argument("--mcs", action="store_true", help="an MCS kernel: all servers are passive")
    parser.add_argument("--json", action="store_true", help="write figures as JSON instead of a table")
    parser.add_argument("--profile", type=Path, metavar="FILE", help="write a platform profile, too")
    parser.add_argument(
        "--waiters", type=int, default=10, metavar="N", help="tasks in the longest queue of the profile (10)"
    )
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep the build in this folder")
    given = parser.parse_args()
    with places(given.output) as (workspace, folder):
        build(workspace, folder, given.platform, debug=given.debug, mcs=given.mcs)
        samples = boot(folder, given.platform)
        if given.mcs:
            own_time = samples[OWN_TIME]
            samples = {row: each for row, each in samples.items() if row not in WITHOUT_MCS}
            samples["own_time"] = own_time
        queue, of_releases = 0, {}
        if given.profile is not None:
            import releases  # which import this module
            import waiters

            one, most = (
                waiters.measure(
                    count, workspace, folder, given.platform, debug=given.debug, mcs=given.mcs
                ).both
                for count in (1, given.waiters)
            )
            queue = most - one
            of_releases = {
                count: releases.measure(
                    count, workspace, folder, given.platform, debug=given.debug, mcs=given.mcs
                )
                for count in (1, 10, 50)
            }
        found = costs(samples)
        if not given.mcs:
            import library  # which imports this module, too

            found |= library.rows(folder, given.platform, debug=given.debug)
    kind = "debug" if given.debug else "release"
    if given.profile is not None:
        longest = f"queue of {given.waiters}"
        kernel = f"{kind}, MCS" if given.mcs else kind
        source = f"benchmarks/overheads: {given.platform}, {kernel}, instructions in QEMU, {longest}"
        given.profile.write_text("\n".join([*HEAD, profile(found, samples, queue, of_releases, source), ""]))
    if given.json:
        rows = {row: {"both": c.both, "call": c.call, "reply": c.reply} for row, c in found.items()}
        print(json.dumps({"platform": given.platform, "build": kind, "instructions": rows}, indent=2))
    else:
        print(table(found))


if __name__ == "__main__":
    main()
