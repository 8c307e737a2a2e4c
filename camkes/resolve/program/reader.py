# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How the value of a setting that the tool knows is found, and what is wrong with it.

The value is, in this order: what a configuration gives (its own or, with `<-`, that of the component
around), the default of the attribute that the component declares by this name, and the default of the tool.
camkes-tool does the same. A name that is not set for a thread (`_priority`, `IFACE_priority`) is looked for
without its prefix (`priority`), if the row is `shared`. A string of digits is a number, as it is to
camkes-tool. A wrong value is reported, and counts as not given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from camkes.diagnostics import Label, Sink, Span
from camkes.model.codes import SETTING_RANGE, SETTING_TYPE
from camkes.model.configured import Members
from camkes.model.settings import ATTRIBUTES, DTB, TABLE, Known
from camkes.model.system import Attribute, CType, Setting, Value, in_digits, in_words
from camkes.model.units import NANOSECONDS, is_time
from camkes.resolve.values.clauses import quoted

Found = tuple[str, Setting]


class Reader:
    """Reads what is set on an instance, a connection, or an interface in a name of its own."""

    def __init__(
        self, settings: Mapping[str, Setting], attributes: Iterable[Attribute], sink: Sink, mcs: bool = False
    ) -> None:
        """`attributes` are those that the component declares; `mcs`: the system is for an MCS kernel."""
        self.settings = settings
        self.declared = {attribute.name: attribute for attribute in attributes}
        self.sink = sink
        self.mcs = mcs
        self.is_empty = not settings and all(each.default is None for each in self.declared.values())

    def find(self, known: Known, prefix: str = "") -> Found | None:
        """What sets it for a thread, an interface or a lock, and under which name. Where there are no
        scheduling contexts, attributes with the names of their settings may mean anything."""
        names = known.names(prefix)
        if known.mcs and not self.mcs:
            names = tuple(name for name in names if name not in self.declared)
        return self._first(known, names)

    def _first(self, known: Known, names: Iterable[str]) -> Found | None:
        """The first of these names that has a value. An attribute that the component declares as something
        else than the setting is only has the name."""
        for name in names:
            setting = self.settings.get(name)
            attribute = self.declared.get(name)
            if attribute is not None:
                if not _means(attribute, known):
                    continue
                if setting is None and attribute.default is not None:
                    setting = Setting(attribute.default, attribute.span)
            if setting is not None:
                return name, setting
        return None

    def _of_task(self, known: Known, prefix: str) -> Found | None:
        """The same for tasks: a plain `period` that the component declares itself may well mean something
        else."""
        names = known.names(prefix)
        return self._first(known, (n for n in names if n != known.name or n not in self.declared))

    def number(
        self,
        known: Known,
        prefix: str = "",
        spans: dict[str, Span] | None = None,
        related: Sequence[Label] = (),
    ) -> int | None:
        """A number, or a time in nanoseconds; its place is added to `spans`."""
        return self.taken(known, self.find(known, prefix), spans, related)

    def time(
        self, known: Known, prefix: str, spans: dict[str, Span], clause: Setting | None = None
    ) -> int | None:
        """A time of a task, a CPI or a condition, in nanoseconds. `clause` is what the component states."""
        found = self._of_task(known, prefix)
        if found is None and clause is not None:
            found = known.name, clause
        return self.taken(known, found, spans)

    def taken(
        self,
        known: Known,
        found: Found | None,
        spans: dict[str, Span] | None = None,
        related: Sequence[Label] = (),
    ) -> int | None:
        """The number that was found."""
        if found is None:
            return None
        name, setting = found
        if spans is not None:
            spans[known.name] = setting.span
        return self._number(known, name, setting, related)

    def numbers(self, known: Known, spans: dict[str, Span]) -> tuple[int, ...]:
        """A list of numbers."""
        values = self._list(known, "", spans, lambda value: isinstance(_without_quotes(value), int))
        span = spans.get(known.name)
        if span is None:
            return ()
        each = (self._number(known, known.name, Setting(value, span)) for value in values or ())
        return tuple(number for number in each if number is not None)

    def text(
        self, known: Known, prefix: str, spans: dict[str, Span], words: Sequence[str] = ()
    ) -> str | None:
        """A string; `words` are those that it can be."""
        found = self._of_task(known, prefix)
        if found is None:
            return None
        spans[known.name] = found[1].span
        if isinstance(found[1].value, str):
            return found[1].value
        self.mistyped(known, found, words)
        return None

    def texts(self, known: Known, prefix: str, spans: dict[str, Span]) -> tuple[str, ...] | None:
        """A list of strings."""
        values = self._list(known, prefix, spans, lambda value: isinstance(value, str))
        return None if values is None else tuple(map(str, values))

    def _list(
        self, known: Known, prefix: str, spans: dict[str, Span], is_right: Callable[[Value], bool]
    ) -> list[Value] | None:
        found = self.find(known, prefix)
        if found is None:
            return None
        name, setting = found
        spans[known.name] = setting.span
        if not isinstance(setting.value, list):
            self.mistyped(known, found)
            return None
        wrong = next((value for value in setting.value if not is_right(value)), None)
        if wrong is not None:
            self.mistyped(known, (name, Setting(wrong, setting.span)), label="an element is")
            return None
        return setting.value

    def members(self, record: str, prefix: str = "") -> Members:
        """The members of a record of the runtime that have values of settings. A time that is not given is
        0."""
        spans: dict[str, Span] = {}
        return tuple(
            (known.name, (self.time(known, prefix, spans) or 0))
            if known.is_time
            else (known.name, known.default if (value := self.number(known, prefix)) is None else value)
            for known in TABLE.values()
            if known.record == record
        )

    def mistyped(self, known: Known, found: Found, words: Sequence[str] = (), label: str = "this is") -> None:
        """Report a value of another type than the setting has."""
        name, setting = found
        if known.is_time and is_time(setting.value):
            help = f"without quotes: `{setting.value}`"
        elif words:
            help = f"write one of the strings {quoted(words, chr(34))}"
        else:
            help = f"for example `{name} = {known.instead};`"
        label = f"{label} {in_words(setting.value)}"
        self.sink.report(SETTING_TYPE, f"{name} must be {known.kind}", setting.span, label, help=help)

    def _number(self, known: Known, name: str, setting: Setting, related: Sequence[Label] = ()) -> int | None:
        value = _without_quotes(setting.value)
        if not isinstance(value, (int, float) if known.is_time else int):
            self.mistyped(known, (name, setting))
            return None
        unit = setting.unit or known.unit
        number = _nanoseconds(value, NANOSECONDS[unit], up=known.up) if known.is_time else value
        lowest, highest = known.limits
        if value >= 0 and lowest <= number <= highest:
            return int(number)
        given = f"{value:,}" if abs(value) < 1e30 else in_digits(value)
        self.sink.report(
            SETTING_RANGE,
            f"{name} must be {known.range}, not {given} {unit}".rstrip(),
            setting.span,
            related=related,
            help=f"for example `{name} = {known.instead};`",
        )
        return None


def _means(attribute: Attribute, known: Known) -> bool:
    """Whether an attribute of its name can be the setting."""
    if known.form not in ("", "string"):
        return attribute.array or known is DTB
    if attribute.array or not isinstance(attribute.type, CType):
        return False
    return known is ATTRIBUTES or (attribute.type.name == "string") == (known.form == "string")


def _without_quotes(value: Value) -> Value:
    """A string of digits as its number, if that can be in the range of any setting."""
    if isinstance(value, str) and len(value) <= 40 and value.strip().isdecimal():
        return int(value)
    return value


def _nanoseconds(value: int | float, unit: int, *, up: bool) -> int:
    """Whole nanoseconds; -1 for what has no such number. What is not whole is rounded to the safe side:
    execution times up, others down. What floating-point numbers are wrong by does not count."""
    if not abs(value) < 1e30:
        return -1
    numerator, denominator = value.as_integer_ratio()
    numerator *= unit
    nearest = (2 * numerator + denominator) // (2 * denominator)
    if abs(numerator - nearest * denominator) << 50 <= abs(numerator):
        return nearest
    return -(-numerator // denominator) if up else numerator // denominator
