# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a sweep varies: `inst.attribute=VALUES` read, and the combinations of all values by their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from math import prod
from pathlib import Path
from random import Random

from msgspec import Struct

from camkes.diagnostics import Sink, SourceFile, Span
from camkes.model.system import Value
from camkes.model.units import NANOSECONDS
from camkes.resolve.options import Override
from camkes.running.times import format_time
from camkes.sweep.codes import VARIED_SETTING, VARIED_VALUES

#: Values that a range may have, and combinations of which a sweep can be made or drawn.
MOST_VALUES = 100_000
MOST_COMBINATIONS = 10_000_000

_SETTING = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\.([A-Za-z_]\w*)")
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?)\s*(ns|us|ms|s)?")
_FORMS = "a list of values, such as `fixed,inherited`, or FROM:TO:STEP, such as `1ms:5ms:0.5ms`"


class AxisValue(Struct, frozen=True):
    """A value as it is shown, as it is set, and, of a number or a time, its place on an axis. Times are
    nanoseconds."""

    text: str
    value: Value
    unit: str | None = None
    number: float | None = None


class SweepAxis(Struct, frozen=True):
    """A setting and its values. The spans are in the text of the option."""

    instance: str
    attribute: str
    values: tuple[AxisValue, ...]
    instance_span: Span
    attribute_span: Span
    value_span: Span

    @property
    def name(self) -> str:
        return f"{self.instance}.{self.attribute}"

    @property
    def is_number(self) -> bool:
        """Whether all values are places on an axis, of one kind."""
        return len({each.unit for each in self.values}) == 1 and all(
            each.number is not None for each in self.values
        )

    @property
    def is_time(self) -> bool:
        return self.is_number and self.values[0].unit is not None

    def setting(self, index: int) -> Override:
        """The setting of one of the values, to override that of the system."""
        chosen = self.values[index]
        return Override(
            self.instance,
            self.attribute,
            chosen.value,
            chosen.unit,
            self.instance_span,
            self.attribute_span,
            self.value_span,
        )


def read_axes(texts: Iterable[str], sink: Sink) -> tuple[SweepAxis, ...]:
    """What the options `--vary` say; mistakes are errors."""
    found: dict[str, SweepAxis] = {}
    for text in texts:
        axis = _axis(SourceFile(Path("--vary"), text), sink)
        if axis is not None and axis.name in found:
            place = axis.instance_span.to(axis.attribute_span)
            sink.report(VARIED_SETTING, f"`{axis.name}` is varied twice", place, "varied again here")
        elif axis is not None:
            found[axis.name] = axis
    axes = tuple(found.values())
    count = combinations(axes)
    if count > 1 << 62:
        sink.report(VARIED_VALUES, f"there are {count:,} combinations of these values, which is too many")
    return axes


def combinations(axes: Iterable[SweepAxis]) -> int:
    """How many there are."""
    return prod(len(axis.values) for axis in axes)


def indices(axes: Sequence[SweepAxis], number: int) -> tuple[int, ...]:
    """Which value of each axis a combination has; the last axis varies first."""
    found = []
    for axis in reversed(axes):
        number, index = divmod(number, len(axis.values))
        found.append(index)
    return tuple(reversed(found))


def sample(total: int, count: int, seed: int) -> Sequence[int]:
    """The numbers of so many different combinations of a `total`, drawn at random, in their order; all, if
    there are no more."""
    every = range(total)
    return every if count >= total else sorted(Random(seed).sample(every, count))


def _axis(file: SourceFile, sink: Sink) -> SweepAxis | None:
    text = file.text
    name, equals, values = text.partition("=")
    setting = _SETTING.fullmatch(name.strip())
    if setting is None or not equals:
        span = _span(file, 0, len(name) if equals else len(text))
        help = "expected INSTANCE.ATTRIBUTE=VALUES, such as `table.t_wcet=1ms:5ms:0.5ms`"
        sink.report(VARIED_SETTING, "this does not name a setting and its values", span, help=help)
        return None
    start = len(name) - len(name.lstrip())
    parsed = _values(file, len(name) + 1, values, sink)
    if parsed is None:
        return None
    return SweepAxis(
        setting[1],
        setting[2],
        parsed,
        _span(file, start + setting.start(1), start + setting.end(1)),
        _span(file, start + setting.start(2), start + setting.end(2)),
        _span(file, len(name) + 1, len(text)),
    )


def _span(file: SourceFile, start: int, end: int) -> Span:
    return Span(file, 1, start + 1, 1, max(end, start + 1) + 1)


def _values(file: SourceFile, start: int, text: str, sink: Sink) -> tuple[AxisValue, ...] | None:
    found: list[AxisValue] = []
    for word in text.split(","):
        span = _span(file, start, start + len(word))
        start += len(word) + 1
        values = _range(word, span, sink) if _is_range(word) else _single(word, span, sink)
        if values is None:
            return None
        for value in values:
            if any(value.text == other.text for other in found):
                sink.report(VARIED_VALUES, f"`{value.text}` is in this list twice", span, "again here")
                return None
        found += values
    return tuple(found)


def _is_range(word: str) -> bool:
    return ":" in word and not word.strip().startswith('"')


def _single(word: str, span: Span, sink: Sink) -> list[AxisValue] | None:
    text = word.strip()
    number = _number(text)
    if number is not None:
        return [_of_number(number, text)]
    if len(text) >= 2 and text[0] == text[-1] == '"':
        return [AxisValue(text[1:-1], text[1:-1])]
    if not re.fullmatch(r"[\w-]+", text):
        what = f"`{text}` is not a value" if text else "there is no value here"
        sink.report(VARIED_VALUES, what, span, help=f"expected {_FORMS}")
        return None
    return [AxisValue(text, {"true": 1, "false": 0}.get(text.lower(), text))]


def _range(word: str, span: Span, sink: Sink) -> list[AxisValue] | None:
    words = [part.strip() for part in word.split(":")]
    numbers = [number for part in words if (number := _number(part)) is not None]
    problem = ""
    if len(words) != 3:
        problem = "a range has three parts, FROM:TO:STEP"
    elif len(numbers) != 3 or any(isinstance(number.value, float) for number in numbers):
        problem = "a range is of whole numbers, or of times"
    elif len({number.unit for number in numbers}) != 1:
        problem = "times of a range all have units"
    if problem:
        sink.report(VARIED_VALUES, problem, span, help=f"expected {_FORMS}")
        return None
    first, last, step = (int(number.value) for number in numbers)
    if step <= 0 or last < first:
        problem = "the step of this range is not above 0" if step <= 0 else "this range ends before it begins"
    elif (last - first) // step >= MOST_VALUES:
        problem = f"this range has more than {MOST_VALUES:,} values"
    if problem:
        sink.report(VARIED_VALUES, problem, span, help=f"expected {_FORMS}")
        return None
    return [
        _of_number(_PlainNumber(value, numbers[0].unit), str(value)) for value in range(first, last + 1, step)
    ]


class _PlainNumber(Struct, frozen=True):
    """A number, or a time in nanoseconds."""

    value: int | float
    unit: str | None


def _number(text: str) -> _PlainNumber | None:
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    if match[2] is None:
        return _PlainNumber(float(match[1]) if "." in match[1] else int(match[1]), None)
    whole, _, decimals = match[1].partition(".")
    nanoseconds, rest = divmod(int(whole + decimals) * NANOSECONDS[match[2]], 10 ** len(decimals))
    return None if rest else _PlainNumber(nanoseconds, "ns")


def _of_number(number: _PlainNumber, text: str) -> AxisValue:
    shown = text if number.unit is None else format_time(int(number.value), 6)
    return AxisValue(shown, number.value, number.unit, float(number.value))
