# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a request costs on the seL4 kernel, in instructions, counted by QEMU.

Builds the application with which `camkes measure --platform` measures, with what its requests are compared
with (`application/`), in the workspace that SEL4_WORKSPACE names, boots it and prints a row for each kind of
request. `call` is from before the request to its handler, `reply` from there to after the request; what it
takes to read the counter is subtracted. Figures are medians; a run repeats to the digit. With what library.py
needs, there are rows of the priority-aware-camkes library, too.

    SEL4_WORKSPACE=DIR .venv/bin/python benchmarks/overheads/overheads.py [--json] [--debug] [--mcs]
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from camkes.backends.sel4.workspace import console, find_workspace, make
from camkes.diagnostics import Sink
from camkes.measuring import figures
from camkes.measuring.images import MACHINES, SOURCES, Wanted, write_application
from camkes.measuring.log import REQUESTS, Sample, samples_of
from camkes.project.application import KERNEL_IS_MCS

APPLICATION = Path(__file__).resolve().parent / "application"
#: what is measured with
MEASURE = SOURCES

#: seconds after which a run has failed
LIMIT = 600

#: the machines that count instructions, by the platform of seL4
COUNTING = {machine.platform: name for name, machine in MACHINES.items() if machine.exact}

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


class Cost(Struct, frozen=True):
    """Instructions of a request and of its two halves, None: not known."""

    both: int
    call: int | None
    reply: int | None


#: rows that an MCS kernel does not have: its servers are threads without time of their own, but for one
WITHOUT_MCS = ("bare", "bare_out3", "upstream", "upstream_upstream")
OWN_TIME = "upstream"


def wanted(platform: str, *, debug: bool, mcs: bool) -> Wanted:
    """What is measured, and with which kernel."""
    settings = {KERNEL_IS_MCS: "ON" if mcs else "OFF", "RELEASE": "OFF" if debug else "ON"}
    return Wanted(COUNTING[platform], settings, samples=15)


def write(folder: Path, what: Wanted) -> None:
    """The measuring application, with what it is compared with."""
    write_application(REQUESTS, what, folder)
    shutil.copytree(APPLICATION, folder, dirs_exist_ok=True)


def build(
    workspace: Path, folder: Path, platform: str, *, debug: bool, mcs: bool = False, application: Path
) -> None:
    sink = Sink()
    settings = {**wanted(platform, debug=debug, mcs=mcs).all_definitions, "MEASURE": str(MEASURE)}
    if not make(workspace, application, folder, settings, sink, lambda text: print(text, file=sys.stderr)):
        sys.exit("\n".join(line for d in sink.diagnostics for line in (d.message, *d.notes)))


def boot(folder: Path, platform: str) -> dict[str, list[Sample]]:
    """The samples of a run in QEMU."""
    shift = MACHINES[COUNTING[platform]].shift or 0
    lines = console(folder, instruction_counting=True, shift=shift, seconds=LIMIT)
    samples = samples_of(lines)
    lines.close()
    if samples is None:
        sys.exit("the application did not come to its end")
    return samples


def measure(
    workspace: Path, folder: Path, platform: str, *, debug: bool, mcs: bool = False
) -> dict[str, list[Sample]]:
    """The samples of all rows, built in a folder."""
    application, output = folder / "overheads", folder / "build"
    write(application, wanted(platform, debug=debug, mcs=mcs))
    output.mkdir(exist_ok=True)
    build(workspace, output, platform, debug=debug, mcs=mcs, application=application)
    samples = boot(output, platform)
    if mcs:
        own_time = samples[OWN_TIME]
        samples = {row: each for row, each in samples.items() if row not in WITHOUT_MCS}
        samples["own_time"] = own_time
    return samples


def counter_of(samples: Mapping[str, Sequence[Sample]]) -> int:
    """What a reading of the counter takes."""
    return figures.counter_of(samples, exact=True).most


def cost(samples: Sequence[Sample], counter: int) -> Cost:
    """`counter` is what a reading takes."""
    found = figures.cost(samples, figures.Spread(counter, counter), exact=True)
    halves = (None if half is None else half.most for half in (found.call, found.reply))
    return Cost(found.both.most, *halves)


def costs(samples: Mapping[str, Sequence[Sample]]) -> dict[str, Cost]:
    counter = counter_of(samples)
    return {row: cost(samples[row], counter) for row in ROWS if row in samples}


def table(found: dict[str, Cost]) -> str:
    lines = ["| request | instructions | call | reply | beside |", "|---|---|---|---|---|"]
    for row, each in found.items():
        name, other = ROWS[row]
        halves = " | ".join("" if half is None else str(half) for half in (each.call, each.reply))
        beside = "" if other not in found else f"{each.both / found[other].both:.3f} of {ROWS[other][0]}"
        lines.append(f"| {name} | {each.both} | {halves} | {beside} |")
    return "\n".join(lines)


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
    parser.add_argument("--platform", default="x86_64", choices=COUNTING, help="as seL4 names it")
    parser.add_argument("--debug", action="store_true", help="a debug image instead of a release image")
    parser.add_argument("--mcs", action="store_true", help="an MCS kernel: all servers are passive")
    parser.add_argument("--json", action="store_true", help="write figures as JSON instead of a table")
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep the build in this folder")
    given = parser.parse_args()
    with places(given.output) as (workspace, folder):
        found = costs(measure(workspace, folder, given.platform, debug=given.debug, mcs=given.mcs))
        if not given.mcs:
            import library  # which imports this module

            found |= library.rows(folder, given.platform, debug=given.debug)
    kind = "debug" if given.debug else "release"
    if given.json:
        rows = {row: {"both": c.both, "call": c.call, "reply": c.reply} for row, c in found.items()}
        print(json.dumps({"platform": given.platform, "build": kind, "instructions": rows}, indent=2))
    else:
        print(table(found))


if __name__ == "__main__":
    main()
