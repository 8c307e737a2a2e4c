# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""One reader of the settings that the tool itself reads.

The value of a setting is, in this order: what a configuration gives (its own or, with `<-`, that of the
component around), the default of the attribute that the component declares by this name, and the default of
the tool. camkes-tool does the same. A name that is not set for a thread (`_priority`, `IFACE_priority`) is
looked for without its prefix (`priority`), if the row is `shared`. A wrong value is reported once and
replaced by the default.
"""

from __future__ import annotations

from msgspec import Struct

from camkes.diagnostics import Label, Sink, Span
from camkes.model.codes import (
    ACCESS_RIGHTS,
    BAD_TIME,
    HEAP_SIZE,
    SEMAPHORE_VALUE,
    SETTING_RANGE,
    SETTING_TYPE,
)
from camkes.model.settings import (
    ACCESS,
    AFFINITY,
    ATTRIBUTES,
    BUDGET,
    DATA,
    DEFAULT_MAX_PRIORITY,
    DEFAULT_PRIORITY,
    DEFAULT_STACK,
    DEGRADED,
    DOMAIN,
    HEAP_BYTES,
    MAXIMUM_PRIORITY,
    OVERRUN,
    PADDR,
    PASSIVE,
    PERIOD,
    PRIORITY,
    PRIORITY_PROTOCOL,
    REQUESTS,
    SERVER,
    SIZE,
    SIZE_BITS,
    STACK_SIZE,
    TABLE,
    TIMERS_PER_CLIENT,
    URGENT_FIRST,
    VALUE,
    WCET,
    WCETS,
    WITHIN,
    Known,
)
from camkes.model.system import (
    Attribute,
    Connection,
    CType,
    Instance,
    Setting,
    Sync,
    Value,
    in_digits,
    in_words,
)
from camkes.model.units import DEFAULT_UNIT, NANOSECONDS, duration, is_time, round_up


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


_TEXTS = tuple(known.of("_") for known in (PRIORITY_PROTOCOL, ACCESS, ATTRIBUTES, OVERRUN, SERVER, DEGRADED))


def _declares(attribute: Attribute) -> bool:
    """Whether an attribute can be the value, number or text, of a setting of its name."""
    if attribute.array or not isinstance(attribute.type, CType):
        return False
    text = attribute.name.endswith(_TEXTS)
    return (
        text if attribute.type.name == "string" else not text or attribute.name.endswith(ATTRIBUTES.of("_"))
    )


class Defaults(Struct, frozen=True, kw_only=True):
    """The values for threads without settings."""

    priority: int = DEFAULT_PRIORITY
    stack: int = DEFAULT_STACK
    affinity: int = 0


DEFAULTS = Defaults()


def _number(value: Value) -> Value:
    """A string of digits counts as their number, if that can be in the range of any setting."""
    if isinstance(value, str) and len(value) <= 40 and value.strip().isdecimal():
        return int(value)
    return value


class SettingReader(Struct, frozen=True):
    """Reads settings and reports wrong ones to `sink`."""

    sink: Sink
    defaults: Defaults = DEFAULTS

    def priority(self, instance: Instance, prefix: str) -> int:
        """A thread's priority."""
        return self.of_thread(instance, prefix, PRIORITY, self.defaults.priority)

    def max_priority(self, instance: Instance, prefix: str, default: int = DEFAULT_MAX_PRIORITY) -> int:
        """The highest priority a thread may give."""
        return self.of_thread(instance, prefix, MAXIMUM_PRIORITY, default)

    def stack_size(self, instance: Instance, prefix: str) -> int:
        """Bytes of stack, in whole pages."""
        return round_up(self.of_thread(instance, prefix, STACK_SIZE, self.defaults.stack))

    def affinity(self, instance: Instance, prefix: str) -> int:
        """The core a thread runs on."""
        return self.of_thread(instance, prefix, AFFINITY, self.defaults.affinity)

    def domain(self, instance: Instance, prefix: str) -> int:
        """The scheduling domain of a thread; only its own setting counts."""
        return self.of_thread(instance, prefix, DOMAIN)

    def period(self, instance: Instance, prefix: str) -> int | None:
        """Microseconds a scheduling context is replenished after; None: not given."""
        return self._microseconds(instance, prefix, PERIOD)

    def budget(self, instance: Instance, prefix: str) -> int | None:
        """Microseconds a scheduling context may run in a period; None: not given."""
        return self._microseconds(instance, prefix, BUDGET)

    def data(self, instance: Instance, prefix: str) -> int:
        """The name of a scheduling context in timeout faults."""
        return self.of_thread(instance, prefix, DATA)

    def context_bits(self, instance: Instance, prefix: str, default: int) -> int:
        """The size of a scheduling context, as a power of two."""
        return self.of_thread(instance, prefix, SIZE_BITS, default)

    def passive(self, instance: Instance, interface: str) -> bool:
        """Whether the threads of an interface run on the time of its callers."""
        return bool(self.of_thread(instance, f"{interface}_", PASSIVE))

    def urgent_first(self, instance: Instance) -> bool:
        """Whether a task ends the wait of the most urgent task first."""
        return bool(self.of_thread(instance, "_", URGENT_FIRST))

    def requests(self, instance: Instance, interface: str) -> int | None:
        """How often a job, or a request, calls a `uses` interface at most; None: not stated."""
        name = REQUESTS.of(f"{interface}_")
        setting = find(instance, name)
        return None if setting is None else self._integer(setting, name, REQUESTS)

    def heap_size(self, instance: Instance, default: int) -> int:
        """Bytes of heap of an instance."""
        setting = find(instance, HEAP_BYTES.name)
        if setting is None:
            return default
        if isinstance(setting.value, int) and setting.value >= 0:
            return setting.value
        self.sink.report(
            HEAP_SIZE,
            f"{HEAP_BYTES.name} must be a whole number of bytes, 0 or more",
            setting.span,
            help="for example 65536",
        )
        return 0

    def of_thread(self, instance: Instance, prefix: str, known: Known, default: int | None = None) -> int:
        """A number that a thread (`_`), an interface (`IFACE_`) or all of an instance is given."""
        default = known.default if default is None else default
        for each in known.names(prefix):
            setting = find(instance, each)
            if setting is not None:
                value = self._integer(setting, each, known)
                return default if value is None else value
        return default

    def number(self, instance: Instance, known: Known, name: str = "") -> int:
        """A number that an instance itself is given; `name` is its own name, where that is another."""
        setting = find(instance, name or known.name)
        value = None if setting is None else self._integer(setting, name or known.name, known)
        return known.default if value is None else value

    def numbers(self, instance: Instance, known: Known) -> list[int]:
        """A list of numbers that an instance itself is given."""
        setting = effective(instance, known.name)
        if setting is None:
            return []
        if not isinstance(setting.value, list):
            self._mistyped(setting, f"{known.name} must be a list of whole numbers")
            return []
        values = (self._integer(Setting(v, setting.span), known.name, known) for v in setting.value)
        return [number for number in values if number is not None]

    def badge(self, instance: Instance, interface: str) -> int | None:
        """The badge that `IFACE_attributes` chooses: a number or a string of digits."""
        setting = find(instance, ATTRIBUTES.of(f"{interface}_"))
        if setting is None:
            return None
        value = setting.value
        if isinstance(value, str) and not value.strip().isdecimal():
            return None  # other connectors keep other things there
        return self._integer(setting, ATTRIBUTES.of(f"{interface}_"), ATTRIBUTES)

    def access(self, instance: Instance, interface: str) -> str:
        """Rights of a dataport, a subset of "RWX"; read and write by default."""
        name = ACCESS.of(f"{interface}_")
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
                f'"{value}" is not a valid string of access rights',
                setting.span,
                help='write some of the letters "RWXP" in this order, for example "RW"',
            )
            return "RW"
        return value.replace("P", "")

    def size(self, connection: Connection, default: int) -> int:
        """Bytes of the memory behind a dataport connection, in whole pages."""
        setting = connection.settings.get(SIZE.name)
        value = None if setting is None else self._integer(setting, SIZE.name, SIZE)
        return round_up(default if value is None else value)

    def paddr(self, connection: Connection) -> int | None:
        """The physical address a connection asks for."""
        setting = connection.settings.get(PADDR.name)
        return None if setting is None else self._integer(setting, PADDR.name, PADDR)

    def timers(self, server: Instance) -> int:
        """How many timers each client of a time server has."""
        return self.of_thread(server, "", TIMERS_PER_CLIENT)

    def semaphore(self, instance: Instance, sync: Sync) -> int:
        """The value that a semaphore starts with."""
        binary = sync.kind == "binary_semaphore"
        default = 0 if sync.kind in ("binary_semaphore", "condition") else 1
        name = VALUE.of(f"{sync.name}_")
        setting = find(instance, name)
        if setting is None or sync.kind in ("mutex", "condition"):
            return default
        value = _number(setting.value)
        highest = 1 if binary else VALUE.high
        if isinstance(value, int) and 0 <= value <= highest:
            return value
        self.sink.report(
            SEMAPHORE_VALUE,
            f"{name} must be a whole number from 0 to {highest}",
            setting.span,
            related=[Label(sync.span, f"a {sync.kind.replace('_', ' ')}")],
        )
        return default

    def members(self, instance: Instance, record: str, prefix: str = "") -> tuple[tuple[str, int], ...]:
        """The members of a C record that have values of settings; a time that is not given is 0."""
        return tuple(
            (
                known.name,
                (self.time(instance, known, known.names(prefix), {}) or 0)
                if known.unit == DEFAULT_UNIT
                else self.of_thread(instance, prefix, known),
            )
            for known in TABLE.values()
            if known.record == record
        )

    def get(self, instance: Instance, *names: str) -> Setting | None:
        """The value of the first of these names that has one."""
        return find(instance, *names)

    def time(
        self,
        instance: Instance,
        known: Known,
        names: tuple[str, ...],
        spans: dict[str, Span],
        clause: Setting | None = None,
    ) -> int | None:
        """A time in nanoseconds, whose place is added to `spans`. A number without a unit counts
        microseconds. What is not a whole number of nanoseconds is rounded to the safe side: execution times
        up, others down. `clause` is what the component states.
        """
        own = {attribute.name for attribute in instance.type.attributes}
        # a plain `period` that the component declares itself may well mean something else
        setting = self.get(instance, *(name for name in names if name != known.name or name not in own))
        setting = setting or clause
        if setting is None:
            return None
        spans[known.name] = setting.span
        value = setting.value
        if not isinstance(value, (int, float)):
            self.sink.report(
                BAD_TIME,
                f"{known.phrase} must be a number, with a unit or in microseconds",
                setting.span,
                help=f"without quotes: `{value}`" if is_time(value) else "for example `10 ms`",
            )
            return None
        unit = NANOSECONDS[setting.unit or DEFAULT_UNIT]
        time = _whole(value, unit, up=known in (WCET, WITHIN, *WCETS)) if abs(value) < 1e30 else -1
        longest = known.high * NANOSECONDS[DEFAULT_UNIT]
        if value >= 0 and known.low <= time <= longest:
            return time
        problem = f"cannot be {in_digits(value)} {setting.unit or DEFAULT_UNIT}"
        if time > longest:
            problem = f"must be at most {duration(longest)}"
        elif 0 < time < known.low:
            problem = f"must be at least {duration(known.low)}"
        self.sink.report(BAD_TIME, f"{known.phrase} {problem}", setting.span)
        return None

    def _integer(self, setting: Setting, name: str, known: Known) -> int | None:
        value = _number(setting.value)
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

    def _microseconds(self, instance: Instance, prefix: str, known: Known) -> int | None:
        setting = find(instance, known.of(prefix), known.name)
        if setting is None:
            return None
        if not isinstance(setting.value, int | float):
            self._mistyped(setting, f"{known.of(prefix)} must be a time", "for example 10 ms")
            return None
        return round(setting.value * NANOSECONDS[setting.unit or known.unit] / NANOSECONDS[DEFAULT_UNIT])

    def place(self, instance: Instance, *names: str) -> Span | None:
        """Where the first of these names that has a value got it."""
        setting = find(instance, *names)
        return None if setting is None else setting.span


def _whole(value: int | float, unit: int, *, up: bool) -> int:
    """Whole nanoseconds. What floating-point numbers are wrong by does not count."""
    numerator, denominator = value.as_integer_ratio()
    numerator *= unit
    nearest = (2 * numerator + denominator) // (2 * denominator)
    if abs(numerator - nearest * denominator) << 50 <= abs(numerator):
        return nearest
    return -(-numerator // denominator) if up else numerator // denominator
