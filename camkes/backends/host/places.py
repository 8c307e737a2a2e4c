# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Where threads are in the user's code at each record of a schedule that the host kernel repeats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from camkes.backends.host.addresses import CodeLine, locate
from camkes.backends.host.faults import is_tools
from camkes.backends.host.host import HostImage
from camkes.model.limits import NO_NUMBER
from camkes.running.events import Event
from camkes.running.kinds import Kind
from camkes.running.names import TraceNames
from camkes.running.story import CodePlace, Moment


class PlaceFinder:
    """Lines of C behind calls; each offset is looked for once, each file read once."""

    def __init__(self, image: HostImage) -> None:
        self._image = image
        self._found: dict[tuple[str, int], tuple[CodeLine, ...]] = {}
        self._texts: dict[Path, list[str]] = {}

    def prepare(self, frames: Iterable[tuple[str, int]]) -> None:
        """Look for all of these (space, offset) at once, which is quicker than one after the other."""
        wanted: dict[str, list[int]] = {}
        for space, offset in dict.fromkeys(frames):
            if (space, offset) not in self._found:
                wanted.setdefault(space, []).append(offset)
        for space, offsets in wanted.items():
            places = locate(self._image.images[space], offsets, self._image.named)
            self._found.update(
                ((space, offset), lines) for offset, lines in zip(offsets, places, strict=True)
            )

    def place(self, space: str, frames: Sequence[int]) -> CodePlace | None:
        """The innermost of these calls that is the user's own; None: none is."""
        self.prepare((space, offset) for offset in frames)
        for offset in frames:
            for line in self._found[space, offset]:
                if not is_tools(line.file, self._image):
                    return CodePlace(line.file, line.line, self._text(line.file, line.line))
        return None

    def _text(self, file: Path, line: int) -> str:
        if file not in self._texts:
            try:
                self._texts[file] = file.read_text(encoding="utf-8", errors="replace").splitlines()
            except OSError:
                self._texts[file] = []
        lines = self._texts[file]
        return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def moments_of(records: Sequence[Mapping[str, Any]], image: HostImage, names: TraceNames) -> list[Moment]:
    """What happened in the schedule that a search was asked for, with lines."""
    finder = PlaceFinder(image)
    spaces = {thread.number: thread.space for thread in names.threads}
    finder.prepare(
        (spaces[record["at"]], offset) for record in records for offset in record.get("frames", ())
    )
    known = {kind.value for kind in Kind}
    moments = []
    for record in records:
        at = record.get("at")
        place = None if at is None else finder.place(spaces[at], record["frames"])
        if "kind" not in record:
            moments.append(Moment(None, at, place))
        elif record["kind"] in known:
            moments.append(Moment(_event(record), at, place))
    return moments


def _event(record: Mapping[str, Any]) -> Event:
    thread, other = (None if record[name] == NO_NUMBER else record[name] for name in ("thread", "other"))
    return Event(record["time"], Kind(record["kind"]), thread, other, tuple(record["args"]))
