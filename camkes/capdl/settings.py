# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Settings that decide about kernel objects, looked up by type in one place.

A thread's prefix is "_" for the control thread and "IFACE_" for a thread of an interface. A wrong value
is reported once and replaced by the default.
"""

from __future__ import annotations

from collections.abc import Mapping

from camkes.capdl.codes import ACCESS_RIGHTS, SETTING_RANGE, SETTING_TYPE
from camkes.diagnostics import Sink
from camkes.model.system import Connection, Instance, Setting, in_words
from camkes.records import dataclass

PAGE = 4096
DEFAULT_PRIORITY = 254
DEFAULT_MAX_PRIORITY = 254
DEFAULT_STACK = 16384
MAX_PRIORITY = 255
#: of a client: a word has a bit for each that has completed
TIMERS = 32

#: microseconds, where the text writes no unit
_NANOSECONDS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000, None: 1_000}


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds of a thread that no setting speaks of."""

    priority: int = DEFAULT_PRIORITY
    stack: int = DEFAULT_STACK
    affinity: int = 0


DEFAULTS = Defaults()


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads settings and reports wrong ones to `sink`."""

    sink: Sink
    defaults: Defaults = DEFAULTS

    def priority(self, instance: Instance, prefix: str) -> int:
        """A thread's priority: its own setting, else the instance's, else the default."""
        names = (f"{prefix}priority", "priority")
        return self._first(instance, names, self.defaults.priority, 0, MAX_PRIORITY)

    def max_priority(self, instance: Instance, prefix: str, default: int = DEFAULT_MAX_PRIORITY) -> int:
        """The highest priority a thread may give."""
        names = (f"{prefix}max_priority", "max_priority")
        return self._first(instance, names, default, 0, MAX_PRIORITY)

    def stack_size(self, instance: Instance, prefix: str) -> int:
        """Bytes of stack, in whole pages."""
        size = self._first(instance, (f"{prefix}stack_size",), self.defaults.stack, PAGE, 1 << 30)
        return round_up(size)

    def affinity(self, instance: Instance, prefix: str) -> int:
        """The core a thread runs on."""
        names = (f"{prefix}affinity", "affinity")
        return self._first(instance, names, self.defaults.affinity, 0, 255)

    def domain(self, instance: Instance, prefix: str) -> int:
        """The scheduling domain of a thread; only its own setting counts."""
        return self._first(instance, (f"{prefix}domain",), 0, 0, 255)

    def period(self, instance: Instance, prefix: str) -> int | None:
        """Microseconds a scheduling context is replenished after; None: not given."""
        return self._microseconds(instance, (f"{prefix}period", "period"))

    def budget(self, instance: Instance, prefix: str) -> int | None:
        """Microseconds a scheduling context may run in a period; None: not given."""
        return self._microseconds(instance, (f"{prefix}budget", "budget"))

    def data(self, instance: Instance, prefix: str) -> int:
        """What a scheduling context is called in timeout faults."""
        return self._first(instance, (f"{prefix}data", "data"), 0, 0, (1 << 64) - 1)

    def context_bits(self, instance: Instance, prefix: str, default: int) -> int:
        """The size of a scheduling context."""
        return self._first(instance, (f"{prefix}size_bits", "size_bits"), default, 7, 20)

    def passive(self, instance: Instance, interface: str) -> bool:
        """Whether the threads of an interface run on the time of its callers."""
        return bool(self._first(instance, (f"{interface}_passive",), 0, 0, 1))

    def badge(self, instance: Instance, interface: str) -> int | None:
        """The badge that `IFACE_attributes` chooses: a number or a string of digits."""
        setting = instance.settings.get(f"{interface}_attributes")
        if setting is None:
            return None
        value = setting.value
        if isinstance(value, str) and not value.strip().isdecimal():
            return None  # other connectors keep other things there
        return self._integer(setting, f"{interface}_attributes", 0, (1 << 64) - 1)

    def access(self, instance: Instance, interface: str) -> str:
        """Rights of a dataport, a subset of "RWX"; read and write where nothing is said."""
        name = f"{interface}_access"
        setting = instance.settings.get(name)
        if setting is None:
            return "RW"
        value = setting.value
        if not isinstance(value, str):
            self._mistyped(setting, f"{name} must be a string of access rights", 'for example "RW"')
            return "RW"
        if not value or [c for c in "RWXP" if c in value] != list(value):
            self.sink.report(
                ACCESS_RIGHTS,
                f'"{value}" are no access rights',
                setting.span,
                help='write letters out of "RWXP" in this order, for example "RW"',
            )
            return "RW"
        return value.replace("P", "")

    def size(self, connection: Connection, default: int) -> int:
        """Bytes of the memory behind a dataport connection, in whole pages."""
        setting = connection.settings.get("size")
        value = None if setting is None else self._integer(setting, "size", 1, 1 << 40)
        return round_up(default if value is None else value)

    def paddr(self, connection: Connection) -> int | None:
        """The physical address a connection asks for."""
        setting = connection.settings.get("paddr")
        return None if setting is None else self._integer(setting, "paddr", 0, (1 << 64) - 1)

    def timers(self, server: Instance) -> int:
        """How many timers each client of a time server has."""
        attribute = next((a for a in server.type.attributes if a.name == "timers_per_client"), None)
        default = attribute.default if attribute is not None else None
        return self._first(
            server, ("timers_per_client",), default if isinstance(default, int) else 1, 1, TIMERS
        )

    def _first(self, instance: Instance, names: tuple[str, ...], default: int, low: int, high: int) -> int:
        for name in names:
            setting = instance.settings.get(name)
            if setting is not None:
                value = self._integer(setting, name, low, high)
                return default if value is None else value
        return default

    def _integer(self, setting: Setting, name: str, low: int, high: int) -> int | None:
        value = setting.value
        if isinstance(value, str) and value.strip().isdecimal():
            value = int(value)
        if not isinstance(value, int):
            self._mistyped(setting, f"{name} must be a whole number")
            return None
        if not low <= value <= high:
            self.sink.report(SETTING_RANGE, f"{name} must be {low} to {high}, not {value}", setting.span)
            return None
        return value

    def _mistyped(self, setting: Setting, message: str, help: str = "") -> None:
        self.sink.report(SETTING_TYPE, message, setting.span, f"this is {in_words(setting.value)}", help=help)

    def _microseconds(self, instance: Instance, names: tuple[str, ...]) -> int | None:
        return next((self._time(instance.settings, n) for n in names if n in instance.settings), None)

    def _time(self, settings: Mapping[str, Setting], name: str) -> int | None:
        setting = settings[name]
        if not isinstance(setting.value, int | float):
            self._mistyped(setting, f"{name} must be a time", "for example 10 ms")
            return None
        return round(setting.value * _NANOSECONDS[setting.unit] / 1_000)


def round_up(size: int, unit: int = PAGE) -> int:
    """`size` in whole units."""
    return -(-size // unit) * unit
