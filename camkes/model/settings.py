# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Settings that the tool itself reads: one table of them, and one reader.

The value of a setting is, in this order: what a configuration gives (its own or, with `<-`, that of the
component around), the default of the attribute that the component declares by this name, and the default of
the tool. camkes-tool does the same. A name that is not set for a thread (`_priority`, `IFACE_priority`) is
looked for without its prefix (`priority`), where the table says so. A wrong value is reported once and
replaced by the default.
"""

from __future__ import annotations

from msgspec import Struct

from camkes.diagnostics import Sink, Span
from camkes.model.codes import ACCESS_RIGHTS, HEAP_SIZE, SETTING_RANGE, SETTING_TYPE
from camkes.model.limits import MAX_AFFINITY, MAX_DOMAIN, MAX_PRIORITY, MAX_THREADS, TIMERS
from camkes.model.system import (
    Attribute,
    Connection,
    CType,
    Instance,
    Setting,
    in_digits,
    in_words,
)
from camkes.model.units import NANOSECONDS, PAGE, round_up

DEFAULT_PRIORITY = 254
DEFAULT_MAX_PRIORITY = 254
DEFAULT_STACK = 16384


class Known(Struct, frozen=True):
    """A setting: `owner` is what it can be set on (thread, interface, instance, ...), `unit`
    that of a value without one, `low` and `high` its range.

    `shared`: the name without a prefix holds for all threads.
    """

    name: str
    owner: str
    low: int = 0
    high: int = (1 << 63) - 1
    unit: str = ""
    default: int | None = None
    shared: bool = True


_HOUR = 3_600_000_000

#: All settings with a number. The defaults are those where a build gives no others.
TABLE = {
    known.name: known
    for known in (
        Known("priority", "thread", 0, MAX_PRIORITY, default=DEFAULT_PRIORITY),
        Known("max_priority", "thread", 0, MAX_PRIORITY, default=DEFAULT_MAX_PRIORITY),
        Known("stack_size", "thread", PAGE, 1 << 30, "bytes", DEFAULT_STACK, shared=False),
        Known("affinity", "thread", 0, MAX_AFFINITY, default=0),
        Known("domain", "thread", 0, MAX_DOMAIN, default=0, shared=False),
        Known("period", "thread", 1, _HOUR, "us"),
        Known("budget", "thread", 1, _HOUR, "us"),
        Known("deadline", "thread", 1, _HOUR, "us"),
        Known("wcet", "thread", 0, _HOUR, "us", 0),
        Known("offset", "thread", 0, _HOUR, "us", 0),
        Known("data", "thread", 0, (1 << 64) - 1, default=0),
        Known("size_bits", "thread", 7, 20),
        Known("num_threads", "interface", 1, MAX_THREADS),
        Known("passive", "interface", 0, 1, default=0, shared=False),
        Known("attributes", "interface", 0, (1 << 64) - 1, shared=False),
        Known("value", "semaphore", 0, (1 << 31) - 1, shared=False),
        Known("heap_size", "instance", 0, 1 << 40, "bytes"),
        Known("dma_pool", "instance", 0, 1 << 40, "bytes", 0),
        Known("dma_pool_cached", "instance", 0, 1, default=0),
        Known("dma_pool_paddr", "instance", 0, (1 << 64) - 1, default=0),
        Known("tcb_pool", "instance", default=0),
        Known("tcb_pool_domains", "instance", 0, MAX_DOMAIN),
        Known("ep_pool", "instance", default=0),
        Known("notification_pool", "instance", default=0),
        Known("untyped_pool", "instance", default=0),
        Known("allowed_smc_functions", "instance", 0, (1 << 64) - 1),
        Known("timers_per_client", "instance", 1, TIMERS, default=1),
        Known("size", "connection", 1, 1 << 40, "bytes"),
        Known("paddr", "connection", 0, (1 << 64) - 1),
    )
}


def find(instance: Instance, *names: str) -> Setting | None:
    """The value of the first of these names that has one: what is set, or the default of the attribute.

    An attribute that the component declares as something else than the name means only has the name.
    """
    attributes = {attribute.name: attribute for attribute in instance.type.attributes}
    for name in names:
        attribute = attributes.get(name)
        if attribute is not None and not _declares(attribute):
            continue
        setting = effective(instance, name)
        if setting is not None:
            return setting
    return None


def effective(instance: Instance, name: str) -> Setting | None:
    """The value that an instance has for a name: what is set, or the default of the attribute."""
    setting = instance.settings.get(name)
    if setting is not None:
        return setting
    for attribute in instance.type.attributes:
        if attribute.name == name and attribute.default is not None:
            return Setting(attribute.default, attribute.span)
    return None


_TEXTS = ("_priority_protocol", "_access", "_attributes")


def _declares(attribute: Attribute) -> bool:
    """Whether an attribute can be the value, number or text, that a setting of its name stands for."""
    if attribute.array or not isinstance(attribute.type, CType):
        return False
    text = attribute.name.endswith(_TEXTS)
    return text if attribute.type.name == "string" else not text or attribute.name.endswith("_attributes")


class Defaults(Struct, frozen=True):
    """What holds of a thread that no setting speaks of."""

    priority: int = DEFAULT_PRIORITY
    stack: int = DEFAULT_STACK
    affinity: int = 0


DEFAULTS = Defaults()


class Reader(Struct, frozen=True):
    """Reads settings and reports wrong ones to `sink`."""

    sink: Sink
    defaults: Defaults = DEFAULTS

    def priority(self, instance: Instance, prefix: str) -> int:
        """A thread's priority."""
        return self._of_thread(instance, prefix, "priority", self.defaults.priority)

    def max_priority(self, instance: Instance, prefix: str, default: int = DEFAULT_MAX_PRIORITY) -> int:
        """The highest priority a thread may give."""
        return self._of_thread(instance, prefix, "max_priority", default)

    def stack_size(self, instance: Instance, prefix: str) -> int:
        """Bytes of stack, in whole pages."""
        return round_up(self._of_thread(instance, prefix, "stack_size", self.defaults.stack))

    def affinity(self, instance: Instance, prefix: str) -> int:
        """The core a thread runs on."""
        return self._of_thread(instance, prefix, "affinity", self.defaults.affinity)

    def domain(self, instance: Instance, prefix: str) -> int:
        """The scheduling domain of a thread; only its own setting counts."""
        return self._of_thread(instance, prefix, "domain", 0)

    def period(self, instance: Instance, prefix: str) -> int | None:
        """Microseconds a scheduling context is replenished after; None: not given."""
        return self._microseconds(instance, prefix, "period")

    def budget(self, instance: Instance, prefix: str) -> int | None:
        """Microseconds a scheduling context may run in a period; None: not given."""
        return self._microseconds(instance, prefix, "budget")

    def data(self, instance: Instance, prefix: str) -> int:
        """The name of a scheduling context in timeout faults."""
        return self._of_thread(instance, prefix, "data", 0)

    def context_bits(self, instance: Instance, prefix: str, default: int) -> int:
        """The size of a scheduling context, as a power of two."""
        return self._of_thread(instance, prefix, "size_bits", default)

    def passive(self, instance: Instance, interface: str) -> bool:
        """Whether the threads of an interface run on the time of its callers."""
        return bool(self._of_thread(instance, f"{interface}_", "passive", 0))

    def heap_size(self, instance: Instance, default: int) -> int:
        """Bytes of heap of an instance."""
        setting = find(instance, "heap_size")
        if setting is None:
            return default
        if isinstance(setting.value, int) and setting.value >= 0:
            return setting.value
        self.sink.report(
            HEAP_SIZE,
            "heap_size must be a whole number of bytes, 0 or more",
            setting.span,
            help="for example 65536",
        )
        return 0

    def instance_number(self, instance: Instance, name: str, known: str = "") -> int:
        """A number that an instance itself is given; `known` is its name in the table, if that differs."""
        setting = find(instance, name)
        value = None if setting is None else self._integer(setting, name, TABLE[known or name])
        return TABLE[known or name].default or 0 if value is None else value

    def instance_numbers(self, instance: Instance, name: str) -> list[int]:
        """A list of numbers that an instance itself is given."""
        setting = effective(instance, name)
        if setting is None:
            return []
        if not isinstance(setting.value, list):
            self._mistyped(setting, f"{name} must be a list of whole numbers")
            return []
        numbers = (self._integer(Setting(v, setting.span), name, TABLE[name]) for v in setting.value)
        return [number for number in numbers if number is not None]

    def badge(self, instance: Instance, interface: str) -> int | None:
        """The badge that `IFACE_attributes` chooses: a number or a string of digits."""
        setting = find(instance, f"{interface}_attributes")
        if setting is None:
            return None
        value = setting.value
        if isinstance(value, str) and not value.strip().isdecimal():
            return None  # other connectors keep other things there
        return self._integer(setting, f"{interface}_attributes", TABLE["attributes"])

    def access(self, instance: Instance, interface: str) -> str:
        """Rights of a dataport, a subset of "RWX"; read and write where nothing is said."""
        name = f"{interface}_access"
        setting = find(instance, name)
        if setting is None:
            return "RW"
        value = setting.value
        if not isinstance(value, str):
            self._mistyped(setting, f"{name} must be a string of access rights", 'for example "RW"')
            return "RW"
        if not value or [c for c in "RWXP" if c in value] != list(value):
            self.sink.report(
                ACCESS_RIGHTS,
                f'"{value}" are not access rights',
                setting.span,
                help='write letters out of "RWXP" in this order, for example "RW"',
            )
            return "RW"
        return value.replace("P", "")

    def size(self, connection: Connection, default: int) -> int:
        """Bytes of the memory behind a dataport connection, in whole pages."""
        setting = connection.settings.get("size")
        value = None if setting is None else self._integer(setting, "size", TABLE["size"])
        return round_up(default if value is None else value)

    def paddr(self, connection: Connection) -> int | None:
        """The physical address a connection asks for."""
        setting = connection.settings.get("paddr")
        return None if setting is None else self._integer(setting, "paddr", TABLE["paddr"])

    def timers(self, server: Instance) -> int:
        """How many timers each client of a time server has."""
        return self._of_thread(server, "", "timers_per_client", 1)

    def _of_thread(self, instance: Instance, prefix: str, name: str, default: int) -> int:
        known = TABLE[name]
        full = f"{prefix}{name}"
        names = (full, name) if known.shared else (full,)
        for each in names:
            setting = find(instance, each)
            if setting is not None:
                value = self._integer(setting, each, known)
                return default if value is None else value
        return default

    def _integer(self, setting: Setting, name: str, known: Known) -> int | None:
        value = setting.value
        if isinstance(value, str) and value.strip().isdecimal():
            value = int(value)
        if not isinstance(value, int):
            self._mistyped(setting, f"{name} must be a whole number")
            return None
        if not known.low <= value <= known.high:
            unit = f" {known.unit}" if known.unit else ""
            self.sink.report(
                SETTING_RANGE,
                f"{name} must be {known.low} to {known.high}{unit}, not {in_digits(value)}{unit}",
                setting.span,
            )
            return None
        return value

    def _mistyped(self, setting: Setting, message: str, help: str = "") -> None:
        self.sink.report(SETTING_TYPE, message, setting.span, f"this is {in_words(setting.value)}", help=help)

    def _microseconds(self, instance: Instance, prefix: str, name: str) -> int | None:
        setting = find(instance, f"{prefix}{name}", name)
        if setting is None:
            return None
        if not isinstance(setting.value, int | float):
            self._mistyped(setting, f"{prefix}{name} must be a time", "for example 10 ms")
            return None
        return round(setting.value * NANOSECONDS[setting.unit or TABLE[name].unit] / NANOSECONDS["us"])

    def place(self, instance: Instance, *names: str) -> Span | None:
        """Where the first of these names that has a value got it."""
        setting = find(instance, *names)
        return None if setting is None else setting.span
