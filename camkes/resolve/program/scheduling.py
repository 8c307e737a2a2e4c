# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The settings of scheduling contexts: only an MCS kernel uses them, and they have to make sense for any."""

from __future__ import annotations

from collections.abc import Iterator

from camkes.diagnostics import Diagnostic, Label, Sink, Span
from camkes.model.codes import BAD_TIME
from camkes.model.setting_reader import SettingReader
from camkes.model.settings import BUDGET, DATA, DEFAULT_TIME, PASSIVE, PERIOD, SHORTEST_TIME, SIZE_BITS
from camkes.model.system import Instance, Setting
from camkes.model.units import duration
from camkes.resolve import codes

#: log2 of bytes: less does not hold a scheduling context
_SIZES = range(SIZE_BITS.low, SIZE_BITS.high + 1)


def check_scheduling(instances: tuple[Instance, ...], sink: Sink) -> None:
    """Check what the threads of a system state. What is wrong for several threads is reported once."""
    said: set[tuple[str, Span | None]] = set()
    for instance in instances:
        if instance.type.hardware:
            continue
        for diagnostic in _of_instance(instance):
            key = diagnostic.message, diagnostic.span
            if key not in said:
                said.add(key)
                sink.add(diagnostic)


class _Undeclared(SettingReader, frozen=True):
    """Reads what can only be for the tool: what a component declares itself may mean anything to it.

    A build for an MCS kernel looks at the threads that there are, and takes either.
    """

    def get(self, instance: Instance, *names: str) -> Setting | None:
        declared = {attribute.name for attribute in instance.type.attributes}
        return super().get(instance, *(name for name in names if name not in declared))


def _of_instance(instance: Instance) -> Iterator[Diagnostic]:
    own = Sink()
    reader = _Undeclared(own)
    prefixes = ["_", "fault", *(f"{interface.name}_" for interface in instance.type.interfaces)]
    for prefix in prefixes:
        yield from _times(reader, instance, prefix)
        _integer(reader.get(instance, SIZE_BITS.of(prefix)), "size", _SIZES, own)
        _integer(reader.get(instance, DATA.of(prefix)), "datum", range(DATA.high + 1), own)
    for interface in instance.type.interfaces:
        setting = reader.get(instance, PASSIVE.of(f"{interface.name}_"))
        if setting is None:
            continue
        _integer(setting, "choice to be passive", range(2), own)
        if setting.value and interface.kind != "provides":
            yield Diagnostic(
                codes.NOT_PASSIVE,
                f"`{interface.name}` is declared with `{interface.kind}`, so it cannot be passive",
                setting.span,
                "a passive thread runs on the scheduling contexts of its callers, and this interface has "
                "none",
                related=(Label(interface.span, "the interface"),),
            )
    yield from own.diagnostics


def _times(reader: SettingReader, instance: Instance, prefix: str) -> Iterator[Diagnostic]:
    spans: dict[str, Span] = {}
    task = prefix == "_" and instance.type.requestor
    quiet = SettingReader(Sink()) if task else reader  # a task's own times are reported where they are read
    period = quiet.time(instance, PERIOD, PERIOD.names(prefix), spans)
    budget = quiet.time(instance, BUDGET, BUDGET.names(prefix), spans)
    # a plain `budget` may be another thing; a build for an MCS kernel looks again
    if budget is not None and budget < SHORTEST_TIME and BUDGET.of(prefix) in instance.settings:
        yield Diagnostic(
            BAD_TIME,
            f"a budget must be at least {duration(SHORTEST_TIME)}",
            spans[BUDGET.name],
            "too short",
            notes=("an MCS kernel may need that long to switch to a thread and back",),
        )
    if period is None and PERIOD.name in spans:
        return
    longest = DEFAULT_TIME if period is None else period
    if budget is not None and budget > longest:
        said = [Label(spans[PERIOD.name], "the period")] if PERIOD.name in spans else []
        yield Diagnostic(
            codes.BUDGET,
            f"a budget of {duration(budget)} is longer than the period of {duration(longest)}",
            spans[BUDGET.name],
            "longer than the period",
            related=tuple(said),
            notes=() if said else ("the default of the period is 10 ms",),
            help="a budget is the time for which a thread may run in each period",
        )


def _integer(setting: Setting | None, what: str, good: range, sink: Sink) -> None:
    if setting is None:
        return
    if not isinstance(setting.value, int) or setting.value not in good:
        message = f"a {what} must be an integer from {good[0]} to {good[-1]}"
        sink.report(codes.BAD_COUNT, message, setting.span)
