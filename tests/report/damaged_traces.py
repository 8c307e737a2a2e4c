# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Damaged traces through everything that reads one: `python -m tests.report.damaged_traces --count 1000`.

Traces of several systems get bits that are flipped, are cut, and have records that are exchanged, repeated,
left out, moved, changed or forged, with extreme values and with others of the same trace. Each is decoded,
verified and shown in every form, in one process; every tenth as what an image for seL4 prints. A trace that
is damaged is reported or read: nothing is raised, and nothing takes more than 2 s of processor time.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from camkes import pipeline
from camkes.backends.host.oracle import verify
from camkes.backends.host.run import RunResult
from camkes.backends.sel4 import recording
from camkes.debugging import StopAt, find_event
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering.machine import to_json
from camkes.experiments.measure import times, undisturbed_times
from camkes.outcome import judge
from camkes.project.application import KERNEL_IS_MCS
from camkes.running.decode import decode_trace
from camkes.running.events import MAGIC, encode_records
from camkes.running.kinds import ARGUMENTS, Kind
from camkes.running.names import trace_names
from camkes.showing.draw.flame import flame_svg
from camkes.showing.draw.perfetto import perfetto_json
from camkes.showing.draw.timeline import timeline_svg
from camkes.showing.draw.timeline_page import timeline_page
from camkes.showing.listing import event_lines
from camkes.showing.profile import by_component, by_task, folded
from tests.report import random_overruns
from tests.report.checking import oracle
from tests.runtime.host import Built

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: seconds of processor time for one trace
MOST = 2.0
#: of each trace
RECORDS = 160
MS = 1_000_000
_HEADER = struct.Struct("<QHHHH")


class Base(NamedTuple):
    """A trace that is whole, and its system."""

    name: str
    built: Built
    data: bytes


#: what is damaged: an example, its definitions, and how long it runs
SYSTEMS: dict[str, tuple[str, dict[str, str], int]] = {
    "nested": ("nested", {}, 60 * MS),
    "waiting": ("inversion", {}, 60 * MS),
    "group": ("helpers", {}, 60 * MS),
    "group mcs": ("helpers", {KERNEL_IS_MCS: "ON"}, 60 * MS),
    "monitor": ("buffer", {}, 60 * MS),
    "bands": ("edf", {}, 40 * MS),
    "criticality": ("aav", {KERNEL_IS_MCS: "ON"}, 200 * MS),
}
#: random systems whose budgets are overrun
OVERRUNS = (1, 2)


def bases(folder: Path, names: list[str] | None = None) -> Iterator[Base]:
    """The traces of these systems, None: of all."""
    for name, (example, definitions, duration) in SYSTEMS.items():
        if names is None or name in names:
            yield _run(
                name, _built(EXAMPLES / example, definitions, folder / name.replace(" ", "-")), duration
            )
    for seed in OVERRUNS:
        if names is None or f"overruns {seed}" in names:
            built, _ = random_overruns.make(seed, folder / f"overruns-{seed}")
            yield _run(f"overruns {seed}", built, random_overruns.DURATION)


def _built(path: Path, definitions: dict[str, str], folder: Path) -> Built:
    sink = Sink()
    found = pipeline.check(pipeline.Input(path, definitions=tuple(definitions.items())), sink)
    assert found is not None, to_json(sink.diagnostics, str)
    image = pipeline.build_checked(found, folder, sink, lambda _: None)
    assert image is not None, to_json(sink.diagnostics, str)
    return Built(image, found.system, found.plan, image.capabilities)


def _run(name: str, built: Built, duration: int) -> Base:
    built.run(duration=duration)
    data = (built.image.folder / "test.trace").read_bytes()
    return Base(name, built, b"".join([MAGIC, *split(data)[:RECORDS]]))


def split(data: bytes) -> list[bytes]:
    """The records of a trace that is whole."""
    records, at = [], len(MAGIC)
    while at < len(data):
        size = _HEADER.unpack_from(data, at)[2]
        records.append(data[at : at + size])
        at += size
    return records


# -- damage -------------------------------------------------------------------------------------------

_EXTREME = (
    0,
    1,
    2,
    255,
    256,
    65534,
    65535,
    65536,
    1 << 31,
    1 << 32,
    1 << 40,
    1 << 62,
    1 << 63,
    (1 << 64) - 1,
)


class _Numbers:
    """Those of a trace, and extreme ones: `strange` is how often the latter."""

    def __init__(self, rng: random.Random, records: list[bytes]) -> None:
        self.rng, self.records = rng, records
        self.strange = rng.choice((0.0, 0.0, 0.1, 0.5))

    def word(self) -> int:
        rng = self.rng
        if rng.random() < self.strange:
            return rng.choice((rng.choice(_EXTREME), rng.randrange(1 << 64)))
        record = rng.choice(self.records)
        words = struct.unpack_from(f"<{len(record) // 8 - 2}Q", record, 16)
        return rng.choice((*words, rng.randrange(12)))

    def thread(self) -> int:
        if self.rng.random() < self.strange:
            return self.word() & 0xFFFF
        return self.rng.choice(_HEADER.unpack_from(self.rng.choice(self.records))[3:])

    def kind(self) -> int:
        return self.rng.randrange(1 << 16) if self.rng.random() < self.strange / 4 else self.rng.choice(KINDS)


KINDS = tuple(map(int, Kind))


def _forged(numbers: _Numbers, near: bytes) -> bytes:
    """A record of a time near that of another."""
    rng, moment, kind = numbers.rng, _HEADER.unpack_from(near)[0], numbers.kind()
    count = len(ARGUMENTS[Kind(kind)]) if kind in KINDS else rng.randrange(6)
    if rng.random() < numbers.strange:
        count, moment = rng.randrange(7), rng.choice((moment, moment + 1, moment + 1000, numbers.word()))
    words = struct.pack(f"<{count}Q", *(numbers.word() for _ in range(count)))
    return _HEADER.pack(moment % (1 << 64), kind, 16 + 8 * count, numbers.thread(), numbers.thread()) + words


def _changed(numbers: _Numbers, record: bytes) -> bytes:
    """The same with another word or field."""
    changed, rng = bytearray(record), numbers.rng
    place = rng.randrange(len(record) // 8)
    if place == 1:
        field = rng.choice((0, 2, 3))
        struct.pack_into("<H", changed, 8 + 2 * field, numbers.kind() if field == 0 else numbers.thread())
    elif place > 1 or rng.random() < numbers.strange:
        struct.pack_into("<Q", changed, 8 * place, numbers.word())
    return bytes(changed)


def _damaged_records(rng: random.Random, records: list[bytes]) -> list[bytes]:
    records, numbers = list(records), _Numbers(rng, records)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8, 40))):
        at, other = rng.randrange(len(records)), rng.randrange(len(records))
        match rng.randrange(7):
            case 0:
                records[at], records[other] = records[other], records[at]
            case 1:
                records[at:at] = [records[at]] * rng.choice((1, 1, 5, 50))
            case 2 if len(records) > 2:
                del records[at : at + rng.choice((1, 1, 2, 10))]
                records = records or [b""]
            case 3:
                # as if it were of the time of its new place
                moved = _HEADER.unpack_from(records[at])[0].to_bytes(8, "little") + records[other][8:]
                records.insert(at, moved)
            case 4:
                records[at] = _changed(numbers, records[at])
            case _:
                records.insert(at + 1, _forged(numbers, records[at]))
    return records


def damaged(rng: random.Random, base: Base, others: list[Base]) -> bytes:
    """A trace with some damage."""
    records = split(base.data)
    kind = rng.randrange(10)
    if kind == 0:
        data = bytearray(base.data)
        for _ in range(rng.choice((1, 2, 5, 50))):
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        return bytes(data)
    if kind == 1:
        return base.data[: rng.randrange(len(base.data))]
    if kind == 2:  # records of another system
        strange = split(rng.choice(others).data)
        at = rng.randrange(len(records))
        records[at:at] = rng.sample(strange, min(len(strange), rng.choice((1, 5, 30))))
        if rng.random() < 0.7:
            records.sort(key=lambda record: _HEADER.unpack_from(record)[0])
        return MAGIC + b"".join(records)
    records = _damaged_records(rng, records)
    if kind < 8:  # or it ends where time goes backwards
        records.sort(key=lambda record: _HEADER.unpack_from(record)[0])
    return MAGIC + b"".join(records)


# -- readers ------------------------------------------------------------------------------------------


def read_all(base: Base, trace: Path) -> None:
    """Read a trace file in all ways."""
    built, sink = base.built, Sink()
    names = trace_names(built.model, built.plan, built.system)
    run = decode_trace(trace, names, sink)
    if run is None:
        return
    judging = Sink()
    violations = verify(oracle(sanitize=True), trace, names, built.plan, built.system, judging)
    assert not judging.diagnostics, judging.diagnostics
    result = RunResult(0, (), trace, ())
    outcome = judge(run, built.image, built.system, built.plan, trace.parent, result, violations, sink)
    outcome.report_text(color=True, unicode=True)
    outcome.report_json()
    for diagnostic in outcome.denied(("missed", "exit-status", "waits")):
        sink.add(diagnostic)
    to_json(sink.diagnostics, str)
    perfetto_json(run)
    timeline_page(run, base.name)
    timeline_svg(run, sink, (None, None), base.name)
    for stacks in (by_task(run), by_component(run)):
        folded(stacks)
        flame_svg(stacks, run.end, base.name)
    event_lines(run)
    times(run)
    undisturbed_times(run)
    for kind in ("missed", "fault", "release", "request", "lock"):
        find_event(run, StopAt(kind, "", 0))


def console_lines(data: bytes) -> list[str]:
    """What an image prints that records this, as far as it can be read."""
    lines, at = [], len(MAGIC)
    while at + 16 <= len(data):
        moment, kind, size, thread, other = _HEADER.unpack_from(data, at)
        if size < 16 or size % 8 or at + size > len(data):
            break
        numbers = struct.unpack_from(f"<{size // 8 - 2}Q", data, at + 16)
        lines.append("~ " + " ".join(f"{number:x}" for number in (moment, kind, thread, other, *numbers)))
        at += size
    return lines


_LINES = (
    "~ lost",
    "~",
    "~ 0 0 0 0",
    "~ 0 e 0 0",
    "~ -1 2 3 4 5",
    "~ 1 _2 0 0 1",
    f"~ {'f' * 40} 2 0 0 1",
    f"~ 1 e 0 0 {'f' * 16}",
    f"~ 1 2 0 0 {' '.join(['1'] * 9000)}",
    f"FAULT HANDLER: a: thread b: c, pc 0x{'f' * 30}",
)


def _damaged_lines(rng: random.Random, lines: list[str]) -> list[str]:
    for _ in range(rng.choice((0, 1, 5))):
        at = rng.randrange(len(lines) + 1)
        text = rng.choice(_LINES)
        lines.insert(at, text)
    return lines


def read_console(rng: random.Random, base: Base, data: bytes, trace: Path) -> None:
    """Read it as what an image for seL4 prints."""
    lines = _damaged_lines(rng, console_lines(data))
    before, recording.console = recording.console, lambda *_, **__: _printed(lines)  # type: ignore[assignment]
    try:
        records = recording.record(trace.parent, 1 << 62, lambda _: None, Sink())
    finally:
        recording.console = before
    trace.write_bytes(encode_records(records))


def _printed(lines: list[str]) -> Iterator[str]:
    yield from lines


# -- the campaign -------------------------------------------------------------------------------------


class LateError(Exception):
    """It takes too long."""


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises LateError after so much processor time."""

    def end(*_: object) -> None:
        raise LateError

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def attempt(seed: int, found: list[Base], trace: Path) -> str:
    """What is wrong with reading the damaged trace of this seed, "": nothing."""
    rng = random.Random(seed)
    base = found[seed % len(found)]
    data = damaged(rng, base, found)
    trace.write_bytes(data)
    start = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    try:
        with limited(5 * MOST):
            if seed % 10 == 9:
                read_console(rng, base, data, trace)
            read_all(base, trace)
    except LateError as error:
        return f"takes more than {5 * MOST} s{_where(error)}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}{_where(error)}"
    took = resource.getrusage(resource.RUSAGE_SELF).ru_utime - start
    return f"takes {took:.1f} s" if took > MOST else ""


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    return "".join(f"\n    {Path(f.filename).name}:{f.lineno} {f.name}: {f.line}" for f in frames[-4:])


def campaign(
    found: list[Base], seeds: range, folder: Path, tell: Callable[[str], None], most: int
) -> Counter[str]:
    """Try these seeds; how often what went wrong. Ends at `most` kinds of problems."""
    wrong: Counter[str] = Counter()
    for seed in seeds:
        with patch.dict(os.environ, UBSAN_OPTIONS="halt_on_error=1"):  # of the judge
            problem = attempt(seed, found, folder / "damaged.trace")
        if problem:
            kind = problem.rpartition("\n")[2] if "\n" in problem else problem[:5]
            if kind not in wrong:
                tell(f"{seed} ({found[seed % len(found)].name}): {problem}")
            wrong[kind] += 1
            if len(wrong) >= most:
                break
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=1000, help="traces")
    parser.add_argument("--seed", type=int, default=0, help="of the first")
    parser.add_argument("--problems", type=int, default=20, help="kinds of problems after which it ends")
    parser.add_argument("--systems", nargs="*", help="of these only")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found = list(bases(Path(name), options.systems))
        start, before = time.process_time(), time.monotonic()
        print({base.name: len(split(base.data)) for base in found}, flush=True)
        seeds = range(options.seed, options.seed + options.count)
        wrong = campaign(found, seeds, Path(name), lambda line: print(line, flush=True), options.problems)
        took = time.process_time() - start
        print(f"{options.count} traces, {sum(wrong.values())} with problems, {took:.0f} s of processor time, "
              f"{time.monotonic() - before:.0f} s elapsed")  # fmt: skip
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
