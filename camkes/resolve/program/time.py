# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The words for time as a resource: servers, overrun policies, extensions and criticality."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from camkes.diagnostics import Span
from camkes.model.overrun import Degradation, Degraded, Policy, Server
from camkes.model.settings import (
    DEGRADED,
    EXTENSION,
    EXTENSION_PERIOD,
    OVERRUN,
    SERVER,
    Known,
    SettingReader,
)
from camkes.model.system import Instance, Setting, in_words
from camkes.resolve import codes
from camkes.resolve.values.clauses import policy, quoted
from camkes.resolve.words.nearest import suggestion

_Choice = TypeVar("_Choice", Server, Degraded)


class TimeReader(SettingReader, frozen=True):
    """Reads what is stated of the time of tasks and CPIs. Each place is added to `spans`; what is wrong is
    reported, and counts as not stated."""

    def policy(
        self, instance: Instance, prefix: str, possible: Sequence[Policy], spans: dict[str, Span]
    ) -> Policy | None:
        """The overrun policy that a configuration states."""
        stated = self._text(instance, OVERRUN, prefix, [each.value for each in possible], spans)
        return None if stated is None else policy(str(stated.value), possible, stated.span, self.sink)

    def server(self, instance: Instance, spans: dict[str, Span]) -> Server | None:
        """How the scheduling context of a task accounts for time."""
        words = [each.value for each in Server]
        stated = self._text(instance, SERVER, "_", words, spans)
        return None if stated is None else self._choice(str(stated.value), Server, words, stated.span)

    def degradation(self, instance: Instance, spans: dict[str, Span]) -> Degradation:
        """What a task does above its criticality."""
        words = ["suspend", "background", "stretch 4"]
        stated = self._text(instance, DEGRADED, "_", words, spans)
        if stated is None:
            return Degradation()
        word, _, factor = str(stated.value).partition(" ")
        if word == Degraded.STRETCH.value and factor.isdecimal() and int(factor) > 1:
            return Degradation(Degraded.STRETCH, int(factor))
        if word == Degraded.STRETCH.value:
            self.sink.report(
                codes.UNKNOWN_CHOICE,
                f'"{word}" needs a factor of at least 2, by which the period becomes longer',
                stated.span,
                help=f'for example "{words[-1]}"',
            )
            return Degradation()
        kind = self._choice(str(stated.value), Degraded, words, stated.span)
        return Degradation() if kind is None else Degradation(kind)

    def extension(
        self, instance: Instance, prefix: str, spans: dict[str, Span]
    ) -> tuple[int | None, int | None]:
        """The budget and the period of an extension, in nanoseconds."""
        budget, period = (
            self.time(instance, known, known.names(prefix), spans) for known in (EXTENSION, EXTENSION_PERIOD)
        )
        return budget, period

    def raised(
        self, instance: Instance, levels: Sequence[Known], prefix: str, spans: dict[str, Span]
    ) -> tuple[int | None, ...]:
        """The times at criticalities from 1 on, in nanoseconds; empty if none is stated."""
        times = tuple(self.time(instance, known, known.names(prefix), spans) for known in levels)
        return times if any(time is not None for time in times) else ()

    def integer(self, instance: Instance, known: Known, spans: dict[str, Span]) -> int | None:
        """A whole number that is stated of a task."""
        stated = self.get(instance, known.of("_"))
        if stated is None:
            return None
        spans[known.name] = stated.span
        return self._integer(stated, known.of("_"), known)

    def _text(
        self, instance: Instance, known: Known, prefix: str, words: Sequence[str], spans: dict[str, Span]
    ) -> Setting | None:
        stated = self.get(instance, known.of(prefix))
        if stated is None:
            return None
        spans[known.name] = stated.span
        if isinstance(stated.value, str):
            return stated
        self.sink.report(
            codes.UNKNOWN_CHOICE,
            f"{known.of(prefix)} must be one of the strings " + quoted(words, '"'),
            stated.span,
            f"this is {in_words(stated.value)}",
        )
        return None

    def _choice(self, word: str, kind: type[_Choice], words: Sequence[str], span: Span) -> _Choice | None:
        for each in kind:
            if each.value == word:
                return each
        self.sink.report(
            codes.UNKNOWN_CHOICE,
            f'expected one of the strings {quoted(words, chr(34))}, not "{word}"',
            span,
            help=suggestion(word, words),
        )
        return None
