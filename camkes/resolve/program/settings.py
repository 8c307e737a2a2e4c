# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Settings: references followed, queries asked, values checked, each brought to what it sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field

from camkes.diagnostics import Label, Sink
from camkes.model.settings import TABLE, WCET
from camkes.model.system import Attribute, ComponentType, Interface, Procedure, Setting, Value
from camkes.model.units import DEFAULT_UNIT, NANOSECONDS
from camkes.parser import ast
from camkes.resolve import codes
from camkes.resolve.program.hierarchy import Flat, FlatInstance, FlatSetting
from camkes.resolve.values.attributes import AttributeTypes
from camkes.resolve.values.expressions import fold, item_of, key_text, no_item
from camkes.resolve.values.queries import Queries
from camkes.resolve.words.keywords import C_KEYWORDS
from camkes.resolve.words.known import candidates, is_known
from camkes.resolve.words.methods import method_of, unknown_method
from camkes.resolve.words.nearest import suggestion
from camkes.resources import DEVICES

#: Suffixes of the settings that are times.
TIMES = tuple(known.of("_") for known in TABLE.values() if known.unit == DEFAULT_UNIT)


class Settings(Struct, eq=False, dict=True):
    """What is set, by what it is set on."""

    of_instance: dict[str, dict[str, Setting]] = field(default_factory=dict)
    of_connection: dict[str, dict[str, Setting]] = field(default_factory=dict)
    other: dict[str, dict[str, Setting]] = field(default_factory=dict)


def resolve_settings(flat: Flat, types: AttributeTypes, queries: Queries, sink: Sink) -> Settings:
    """Follow, check and sort the settings of a flat system."""
    return _Resolver(flat, types, queries, sink).run()


class _Resolver:
    def __init__(self, flat: Flat, types: AttributeTypes, queries: Queries, sink: Sink) -> None:
        self.flat = flat
        self.types = types
        self.queries = queries
        self.sink = sink
        self.connections = {connection.name for connection in flat.connections} | flat.unknown_connections
        self.table: dict[tuple[str, str], FlatSetting] = {}
        self.values: dict[tuple[str, str], Setting | None] = {}
        self.attributes: dict[int, dict[str, Attribute]] = {}

    def run(self) -> Settings:
        for setting in self.flat.settings:
            key = (setting.instance, setting.attribute)
            first = self.table.setdefault(key, setting)
            if first.definition.block is not setting.definition.block:
                self.duplicate(first, setting)
        result = Settings()
        for key, setting in self.table.items():
            value = self.follow(key)
            value = self.checked(setting, value)
            if value is None:
                continue
            place = self.place(setting.instance, result)
            place.setdefault(setting.instance, {})[setting.attribute] = value
        return result

    def duplicate(self, first: FlatSetting, again: FlatSetting) -> None:
        self.sink.report(
            codes.DUPLICATE_SETTING,
            f"`{again.instance}.{again.attribute}` is set twice",
            again.definition.span,
            "set again here",
            related=[Label(first.definition.span, "first set here")],
        )

    def place(self, instance: str, result: Settings) -> dict[str, dict[str, Setting]]:
        if instance in self.flat.instances:
            return result.of_instance
        return result.of_connection if instance in self.connections else result.other

    # Values --------------------------------------------------------------------------------------

    def follow(self, start: tuple[str, str]) -> Setting | None:
        """The value at the end of a chain of references; None if there is none."""
        key = start
        chain: dict[tuple[str, str], ast.Reference] = {}
        while key not in self.values:
            setting = self.table[key]
            reference = setting.definition.value
            if not isinstance(reference, ast.Reference):
                self.values[key] = self.own_value(setting)
            else:
                chain[key] = reference
                target = self.target(setting, reference)
                if target is None:
                    self.values[key] = None
                elif target in chain:
                    self.loop(chain, target)
                    self.values[key] = None
                elif target in self.table:
                    key = target
                else:
                    self.values[key] = self.default(setting, target, reference)
        value = self.values[key]
        for member, reference in reversed(chain.items()):
            if member not in self.values:
                value = self.looked_up(value, reference)
                self.values[member] = value
        return self.values[start]

    def own_value(self, setting: FlatSetting) -> Setting | None:
        definition = setting.definition
        value = definition.value
        if isinstance(value, ast.Query):
            value = self.queries.ask(value)
        if value is None or isinstance(value, ast.Reference):
            return None
        return Setting(value, definition.value_span, definition.unit)

    def target(self, setting: FlatSetting, reference: ast.Reference) -> tuple[str, str] | None:
        """What a reference names, in full."""
        path = [name.text for name in reference.path]
        if setting.scope:
            path.insert(0, setting.scope)
        elif len(path) < 2:
            self.sink.report(
                codes.REFERENCE_PATH,
                f"`{path[0]}` is not an attribute: outside of a component a reference is written "
                "`instance.attribute`",
                reference.span,
            )
            return None
        return ".".join(path[:-1]), path[-1]

    def default(
        self, setting: FlatSetting, target: tuple[str, str], reference: ast.Reference
    ) -> Setting | None:
        """What a reference to something that is not set gives: the default of what it names, or its own."""
        span = setting.definition.value_span
        default = self.default_of(target)
        if default is not None:
            return self.looked_up(Setting(default, span), reference)
        if target[0] in self.flat.unknown or setting.instance in self.flat.unknown:
            return None
        own = self.default_of((setting.instance, setting.attribute))
        if own is None:
            self.without_value(setting, target, reference)
            return None
        self.check_target(target, reference)
        return Setting(own, span)

    def default_of(self, key: tuple[str, str]) -> Value | None:
        instance = self.flat.instances.get(key[0])
        attribute = None if instance is None else self.declared(instance).get(key[1])
        return None if attribute is None else attribute.default

    def without_value(self, setting: FlatSetting, target: tuple[str, str], reference: ast.Reference) -> None:
        name = f"{setting.instance}.{setting.attribute}"
        why, word, names = self.missing(target) or (f"`{'.'.join(target)}` is not set", "", ())
        self.sink.report(
            codes.REFERENCE_WITHOUT_VALUE,
            f"`{name}` gets no value: {why}, and there is no default",
            reference.span,
            help=suggestion(word, names),
        )

    def check_target(self, target: tuple[str, str], reference: ast.Reference) -> None:
        """Warn of a reference that names nothing, though there is a default."""
        missing = self.missing(target)
        if missing is None:
            return
        why, word, names = missing
        if target[0] in self.flat.instances and (len(reference.path) == 1 and not suggestion(word, names)):
            return  # a component may pass on what it does not declare; then only a slip is suspicious
        self.sink.report(
            codes.REFERENCE_TO_NOTHING,
            f"this reference gives no value: {why}",
            reference.span,
            help=suggestion(word, names),
        )

    def missing(self, target: tuple[str, str]) -> tuple[str, str, Iterable[str]] | None:
        """Why a reference names nothing, with the word that may be misspelt and those it may be meant for."""
        name, attribute = target
        instance = self.flat.instances.get(name)
        if instance is None:
            if name in self.connections:
                return None
            return f"there is no instance `{name}`", name, self.flat.instances
        declared = self.declared(instance)
        if attribute in declared or is_known(
            attribute, members_of(instance.component.type), method_words(instance.component.type)
        ):
            return None
        return f"`{name}` has no attribute `{attribute}`", attribute, declared

    def looked_up(self, setting: Setting | None, reference: ast.Reference) -> Setting | None:
        """The value after following the keys of a reference."""
        if setting is None or not reference.lookup:
            return setting
        value = setting.value
        for node in reference.lookup:
            folded = fold(node, self.sink)
            if folded is None:
                return None
            if node is reference.lookup[0] and not isinstance(value, dict):
                self.sink.report(
                    codes.NOT_A_DICTIONARY,
                    f'`["{key_text(folded)}"]` has no effect: the value is not a dictionary',
                    node.span,
                    related=[Label(setting.span, "the value")],
                )
                break
            found = item_of(value, folded)
            if found is None:
                self.sink.report(
                    codes.MISSING_KEY,
                    no_item(value, folded),
                    node.span,
                    related=[
                        Label(setting.span, f"the {'dictionary' if isinstance(value, dict) else 'value'}")
                    ],
                    help=suggestion(key_text(folded), value if isinstance(value, dict) else ()),
                )
                return None
            value = found
        return Setting(value, setting.span, setting.unit)

    def loop(self, chain: Mapping[tuple[str, str], ast.Reference], target: tuple[str, str]) -> None:
        hops = list(chain.items())[list(chain).index(target) :]
        names = [".".join(key) for key, _ in hops]
        self.sink.report(
            codes.REFERENCE_LOOP,
            f"these references form a cycle: {' <- '.join([*names, names[0]])}",
            hops[0][1].span,
            related=[Label(reference.span, f"the value of `{'.'.join(k)}`") for k, reference in hops[1:]],
        )

    # Checks --------------------------------------------------------------------------------------

    def declared(self, instance: FlatInstance) -> Mapping[str, Attribute]:
        type = instance.component.type
        found = self.attributes.get(id(type))
        if found is None:
            found = self.attributes[id(type)] = {a.name: a for a in type.attributes}
        return found

    def checked(self, setting: FlatSetting, value: Setting | None) -> Setting | None:
        """The value in the type of the attribute. A setting of something unknown is kept, with a warning."""
        instance = self.flat.instances.get(setting.instance)
        if instance is None:
            self.check_place(setting)
            return value
        attribute = self.declared(instance).get(setting.attribute)
        near = self.nearest_name(setting, instance) if attribute is None else ""
        if value is not None and value.unit is not None and not self.unit_fits(setting, value.unit, near):
            return None
        if attribute is None:
            self.check_name(setting, instance, near)
        if value is None:
            return None
        if attribute is None or value.unit is not None:
            return value
        span = setting.definition.value_span
        fitted = self.types.fit(
            value.value, attribute.type, attribute.array, setting.attribute, span, self.sink
        )
        return None if fitted is None else Setting(fitted, value.span, value.unit)

    def unit_fits(self, setting: FlatSetting, unit: str, near: str) -> bool:
        is_time = f"_{setting.attribute}".endswith(TIMES)
        if is_time and unit in NANOSECONDS:
            return True
        if is_time:
            message = f"`{unit}` is not a valid unit of time"
            help = "the units are `ns`, `us`, `ms` and `s`"
        else:
            message = f"`{setting.attribute}` is not a time, so it cannot have the unit `{unit}`"
            help = near or "write the number alone"
        span = setting.definition.attribute.span if near else setting.definition.value_span
        self.sink.report(codes.UNEXPECTED_UNIT, message, span, help=help)
        return False

    def check_place(self, setting: FlatSetting) -> None:
        name = setting.instance
        if name in self.connections or name in self.flat.unknown or name in self.flat.address_spaces:
            return
        head, _, tail = name.rpartition(".")
        owner = self.flat.instances.get(head)
        if owner is not None and tail in owner.component.spelled:
            return  # `instance.interface`, which some connectors read
        if head in self.flat.unknown:
            return
        prefix = setting.scope + "." if setting.scope else ""
        names = [
            n.removeprefix(prefix) for n in (*self.flat.instances, *self.connections) if n.startswith(prefix)
        ]
        self.sink.report(
            codes.UNKNOWN_SETTING_INSTANCE,
            f"there is no instance or connection `{setting.definition.instance.text}`",
            setting.definition.instance.span,
            "this setting has no effect",
            help=suggestion(setting.definition.instance.text, names),
        )

    def nearest_name(self, setting: FlatSetting, instance: FlatInstance) -> str:
        """The hint for a name that neither the component nor the tool knows; empty if nothing is near."""
        members, words = members_of(instance.component.type), method_words(instance.component.type)
        if is_known(setting.attribute, members, words):
            return ""
        return suggestion(setting.attribute, [*self.declared(instance), *candidates(members, words)])

    def check_name(self, setting: FlatSetting, instance: FlatInstance, near: str) -> None:
        if setting.attribute in C_KEYWORDS or self.is_unknown_method(setting, instance):
            return
        if is_known(
            setting.attribute, members_of(instance.component.type), method_words(instance.component.type)
        ):
            return
        type = instance.component.type
        if type.span.file.path.is_relative_to(DEVICES):
            return  # it is for the device, such as the number of an interrupt
        self.sink.report(
            codes.UNKNOWN_SETTING,
            f"component `{type.name}` has no attribute `{setting.attribute}`",
            setting.definition.attribute.span,
            "unknown name" if near else "only templates that read this name use it",
            related=[Label(type.span, "the component")],
            help=near,
        )

    def is_unknown_method(self, setting: FlatSetting, instance: FlatInstance) -> bool:
        """Whether it is the execution time of a method that there is not, which is reported."""
        methods = _methods(instance.component.type)
        found = unknown_method(setting.attribute, methods)
        if found is None:
            return False
        interface, word = found
        times = [
            *(WCET.of(f"{name}_") for name in methods),
            *candidates((), method_words(instance.component.type)),
        ]
        near = suggestion(setting.attribute, [name for name in times if name not in self.declared(instance)])
        words = [f"{interface}_{method}" for method in methods[interface]]
        example = next((f"for example `{WCET.of(f'{w}_')}`" for w in words if method_of(w, methods)), "")
        there = " and ".join(f"`{method}`" for method in methods[interface][-2:])
        there = ", ".join([*(f"`{method}`" for method in methods[interface][:-2]), there])
        self.sink.report(
            codes.UNKNOWN_METHOD,
            f"`{interface}` of component `{instance.component.type.name}` has no method `{word}`",
            setting.definition.attribute.span,
            related=[
                Label(i.span, f"its methods: {there}") for i in _provided(instance.component.type, interface)
            ],
            help=near or example,
        )
        return True


def _methods(type: ComponentType) -> dict[str, list[str]]:
    """The methods of each interface that a component provides."""
    return {
        i.name: [method.name for method in i.type.methods]
        for i in _provided(type)
        if isinstance(i.type, Procedure) and i.type.methods
    }


def _provided(type: ComponentType, name: str = "") -> Iterator[Interface]:
    """The interfaces that a component provides; with a name the one of this name."""
    for interface in type.interfaces:
        if interface.kind == "provides" and name in ("", interface.name):
            yield interface


def method_words(type: ComponentType) -> list[str]:
    """IFACE_METHOD, as in settings, of all methods that a component provides."""
    return [f"{name}_{method}" for name, methods in _methods(type).items() for method in methods]


def members_of(type: ComponentType) -> list[str]:
    """The names of what a component has that can have settings."""
    return [i.name for i in type.interfaces] + [s.name for s in type.syncs]
