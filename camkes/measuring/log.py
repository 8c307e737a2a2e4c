# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What an image that measures prints, as its serial line brings it (kernel/sel4/measure/include/measure.h).

Other text may be between its lines and before them. An image can be in a log several times: the last time
that it came to its end without damage counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from camkes.diagnostics import Sink, SourceFile, Span
from camkes.measuring.codes import DAMAGED_LOG, INCOMPLETE_LOG, OTHER_IMAGE
from camkes.model.protocols import Protocol
from camkes.project.application import KERNEL_IS_MCS
from camkes.project.values import is_on

MARK = "camkes-measure: "
#: of the lines; the first one of an image has it
FORMAT = "3"

#: the image of requests, and those of releases, by the number of their timers
REQUESTS = "requests"
RELEASES = (1, 50)


def releases_part(timers: int) -> str:
    return f"releases-{timers}"


#: the image of ends of budgets, of an MCS kernel
OVERRUNS = "overruns"
#: all images, in the order in which they are booted
PARTS = (REQUESTS, *map(releases_part, RELEASES), OVERRUNS)


def is_mcs(about: Mapping[str, str]) -> bool:
    """Whether an image has a kernel with MCS."""
    settings = dict(each.partition("=")[::2] for each in about.get("settings", "").split(","))
    return is_on(settings.get(KERNEL_IS_MCS, "OFF"))


def parts_of(*, mcs: bool) -> tuple[str, ...]:
    """The images of a kernel."""
    return tuple(part for part in PARTS if mcs or part != OVERRUNS)


#: the rows of the image of requests
COUNTER, PLAIN, CONTENDED, HOLDER, QUEUED = "counter", "plain", "contended_", "holder_", "queued"
#: an event that releases a task, above who emits it, and below
RELEASED, EMITTED = "released", "emitted"
#: a lock that inherits priorities, and one within another
LOCK = next(protocol.value for protocol in Protocol if protocol.inherits)
NESTED = f"{LOCK}_{LOCK}"
#: of a CPI for which requests wait in the kernel
WAITED = next(protocol.value for protocol in Protocol if protocol.own_priority)
ROWS = (
    *(COUNTER, PLAIN, *(protocol.value for protocol in Protocol), NESTED, QUEUED),
    *(RELEASED, EMITTED),
    *(how + row for how in (CONTENDED, HOLDER) for row in (LOCK, NESTED, WAITED)),
)
#: of those of releases
GAP, CLOCK = "gap", "clock"
#: of that of ends of budgets: of no one, of a task with a policy, and in a request to a CPI with one
STAYS, WAITS, JOB_EXTENDS, JOB_STOPS = "stays", "waits", "job_extends", "job_stops"
EXTENDS, ABORTS, HELPS = "extends", "aborts", "helps"
OVERRUN_ROWS = (STAYS, WAITS, JOB_EXTENDS, JOB_STOPS, EXTENDS, ABORTS, HELPS)

_SUM = re.compile(r"(.*) \*([0-9a-f]{4})")
_ROW = re.compile(r"(\w+) (\d{1,20}) (\d{1,20}) (\d{1,20})")
_HELP = "boot the image again, and keep all that it prints"
_AGAIN = "build the images again with this version of camkes, and boot them"


class Sample(Struct, frozen=True):
    """Readings of the counter; `middle` 0: not known. Of a row `clock`, `end` is the time in nanoseconds."""

    begin: int
    middle: int
    end: int


class Boot(Struct, frozen=True):
    """What one image printed: which it is, what it is built for, and the samples of each row."""

    part: str
    about: Mapping[str, str]
    rows: Mapping[str, Sequence[Sample]]

    def number(self, name: str) -> int:
        """One of the numbers that it has."""
        return int(self.about[name])


def checksum(text: str) -> int:
    """Of a line, as measure.h has it."""
    found = 0
    for byte in text.encode("utf-8", "replace"):
        found = (found * 31 + byte) % (1 << 16)
    return found


def written(text: str) -> str:
    """A line, as an image prints it."""
    return f"{MARK}{text} *{checksum(text):04x}"


def content(line: str) -> str | None:
    """What is in a line of an image; None for other lines and damaged ones."""
    found = _SUM.fullmatch(line.rstrip().partition(MARK)[2])
    return found[1] if found is not None and checksum(found[1]) == int(found[2], 16) else None


def samples_of(lines: Iterable[str]) -> dict[str, list[Sample]] | None:
    """The samples of each row of one image; None if it does not come to its end."""
    samples: dict[str, list[Sample]] = {}
    for line in lines:
        text = content(line)
        if text == "end":
            return samples
        if text is not None and (row := _ROW.fullmatch(text)) is not None:
            samples.setdefault(row[1], []).append(_sample(row))
    return None


def _sample(row: re.Match[str]) -> Sample:
    return Sample(int(row[2]), int(row[3]), int(row[4]))


class _Seen:
    """An image in a log: where its first line is, and what is wrong with others."""

    def __init__(self, part: str, about: Mapping[str, str], span: Span) -> None:
        self.part, self.about, self.span = part, about, span
        self.rows: dict[str, list[Sample]] = {}
        self.damaged: list[Span] = []
        self.last = span
        self.ended = False

    def missing(self) -> str:
        """What is not there of what it should have printed; empty: nothing."""
        if self.part in (REQUESTS, OVERRUNS):
            rows = ROWS if self.part == REQUESTS else OVERRUN_ROWS
            wanted = dict.fromkeys(rows, self._number("samples"))
        else:
            wanted = {CLOCK: 2, GAP: self._number("gaps")}
        for row, count in wanted.items():
            has = len(self.rows.get(row, ()))
            if has != count:
                return f"row `{row}` has {has} of {count} lines"
        return ""

    def _number(self, name: str) -> int:
        text = self.about.get(name, "")
        return int(text) if text.isdecimal() else -1

    @property
    def good(self) -> bool:
        return self.ended and not self.damaged and not self.missing()


def read_log(files: Sequence[SourceFile], sink: Sink) -> tuple[Boot, ...] | None:
    """All images of a measurement, from the logs of their boots; None after a diagnostic."""
    seen = [image for file in files for image in _images(file)]
    if not seen:
        names = ", ".join(str(file.path) for file in files)
        sink.report(
            INCOMPLETE_LOG,
            f"{names}: no line is from an image that measures",
            notes=[f"such a line begins with `{MARK.strip()}`"],
            help="boot the images that `camkes measure --platform --machine board` builds",
        )
        return None
    if not _same_format(seen, sink):
        return None
    found, missing = [], []
    wanted = parts_of(mcs=all(is_mcs(image.about) for image in seen if image.part))
    for part in wanted:
        of_part = [image for image in seen if image.part == part]
        good = next((image for image in reversed(of_part) if image.good), None)
        if good is not None:
            found.append(good)
        elif rest := of_part or [image for image in seen if not image.part]:
            _report(part, rest, sink)
        else:
            missing.append(part)
    if missing and not sink.has_errors:
        _report_missing(missing, wanted, sink)
    if sink.has_errors or not _same_images(found, sink):
        return None
    return tuple(Boot(image.part, image.about, image.rows) for image in found)


def _images(file: SourceFile) -> Iterator[_Seen]:
    """All in a log, in order; what follows no first line is an image without a name."""
    current: _Seen | None = None
    for number, line in enumerate(file.lines, 1):
        start = line.find(MARK)
        if start < 0:
            continue
        span = Span(file, number, start + 1, number, len(line.rstrip()) + 1)
        text = content(line)
        words = (text or "").split()
        if words[:1] == ["begin"] and len(words) > 1:
            if current is not None:
                yield current
            about = dict(word.split("=", 1) for word in words[2:] if "=" in word)
            current = _Seen(words[1], about, span)
            continue
        if current is None:
            current = _Seen("", {}, span)
        current.last = span
        row = _ROW.fullmatch(text or "")
        if text == "end":
            current.ended = True
            yield current
            current = None
        elif row is not None:
            current.rows.setdefault(row[1], []).append(_sample(row))
        else:
            current.damaged.append(span)
    if current is not None:
        if current.damaged and current.damaged[-1] == current.last:
            current.damaged.pop()  # the log ends in it
        yield current


def _same_format(seen: Sequence[_Seen], sink: Sink) -> bool:
    for image in seen:
        made = image.about.get("format", "")
        if image.part and (made != FORMAT or image.part not in PARTS):
            what = f"format {made or 'unknown'}" if made != FORMAT else f"image `{image.part}`"
            sink.report(
                OTHER_IMAGE,
                f"the image was built by another version of camkes: {what}; this one reads format {FORMAT}",
                image.span,
                help=_AGAIN,
            )
            return False
    return True


def _report_missing(parts: Sequence[str], wanted: Sequence[str], sink: Sink) -> None:
    names = " and ".join(f"`{part}`" for part in parts)
    sink.report(
        INCOMPLETE_LOG,
        f"no log has what {'image' if len(parts) == 1 else 'images'} {names} printed",
        notes=[f"a measurement has those of {', '.join(f'`{each}`' for each in wanted)}"],
        help="boot what is missing, too, and give its log with a further `--log FILE`",
    )


def _report(part: str, images: Sequence[_Seen], sink: Sink) -> None:
    """Why there is no measurement of an image, from the times that it was booted, or from what has no first
    line."""
    for image in reversed(images):
        if image.damaged:
            sink.report(
                DAMAGED_LOG,
                f"the serial line damaged what image `{image.part or part}` printed",
                image.damaged[0],
                notes=[f"lines that are damaged: {len(image.damaged)}"],
                help=_HELP,
            )
            return
    if not images[-1].part:
        text = f"the log does not have the first line of image `{part}`"
        sink.report(INCOMPLETE_LOG, text, images[-1].span, help=_HELP)
    elif images[-1].ended:
        text = f"lines of image `{part}` are missing: {images[-1].missing()}"
        sink.report(DAMAGED_LOG, text, images[-1].span, help=_HELP)
    else:
        text = f"the log ends before image `{part}` had printed all"
        sink.report(INCOMPLETE_LOG, text, images[-1].last, help=_HELP)


def _same_images(images: Sequence[_Seen], sink: Sink) -> bool:
    """Whether all are of one build."""
    first = images[0]
    for image in images[1:]:
        names = [*first.about, *(name for name in image.about if name not in first.about)]
        for name in names:
            one, other = first.about.get(name, "nothing"), image.about.get(name, "nothing")
            if one != other:
                sink.report(
                    OTHER_IMAGE,
                    f"image `{image.part}` has {name}={other}, and image `{first.part}` {name}={one}",
                    image.span,
                    notes=["the images of a measurement have to be of one build"],
                    help="boot all images of one build, and give the logs of these alone",
                )
                return False
    return True
