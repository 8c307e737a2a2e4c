# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The system as templates see it: `me`, `composition` and `configuration`.

Each thing is one object, so that templates can compare with `is` and `id`. A dataport's type is a C type or
"Buf(N)"; an event's type is its name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from camkes.diagnostics import Span
from camkes.model.system import (
    Attribute,
    ComponentType,
    Connection,
    ConnectionEnd,
    Connector,
    CType,
    DataportType,
    Include,
    Instance,
    Interface,
    Method,
    Parameter,
    Procedure,
    Setting,
    StructType,
    Sync,
    System,
)
from camkes.model.units import PAGE


class IncludeView:
    def __init__(self, include: Include) -> None:
        self.source = include.path
        self.relative = not include.system


class ParameterView:
    def __init__(self, parameter: Parameter) -> None:
        self.name = parameter.name
        self.direction = parameter.direction
        self.type = type_name(parameter.type)
        self.array = parameter.array


class MethodView:
    def __init__(self, method: Method) -> None:
        self.name = method.name
        self.return_type = None if method.return_type is None else type_name(method.return_type)
        self.parameters = tuple(ParameterView(p) for p in method.parameters)


class ProcedureView:
    def __init__(self, procedure: Procedure) -> None:
        self.name = procedure.name
        self.methods = tuple(MethodView(m) for m in procedure.methods)
        self.includes = tuple(IncludeView(i) for i in procedure.includes)
        self.attributes: tuple[AttributeView, ...] = ()


class StructView:
    def __init__(self, struct: StructType) -> None:
        self.name = struct.name
        self.attributes = tuple(
            AttributeView(m.name, attribute_type(m.type), m.array, None) for m in struct.members
        )

    def __str__(self) -> str:
        return self.name


class AttributeView:
    def __init__(self, name: str, type: str | StructView, array: bool, default: Any) -> None:
        self.name = name
        self.type = type
        self.array = array
        self.default = default


class InterfaceView:
    """An interface of a component."""

    def __init__(self, name: str, type: ProcedureView | str, optional: bool) -> None:
        self.name = name
        self.type = type
        self.optional = optional

    def __str__(self) -> str:
        return self.name


class Uses(InterfaceView):
    pass


class Provides(InterfaceView):
    pass


class Emits(InterfaceView):
    pass


class Consumes(InterfaceView):
    pass


class Dataport(InterfaceView):
    pass


class Synchronisation:
    def __init__(self, name: str) -> None:
        self.name = name

    def __str__(self) -> str:
        return self.name


class Mutex(Synchronisation):
    pass


class Semaphore(Synchronisation):
    pass


class BinarySemaphore(Synchronisation):
    pass


_KINDS: dict[str, type[InterfaceView]] = {
    "uses": Uses,
    "provides": Provides,
    "emits": Emits,
    "consumes": Consumes,
    "dataport": Dataport,
}


class ComponentView:
    """A type of components. Its parts are instances of the system, so it has no composition."""

    composition = None
    configuration = None

    def __init__(self, component: ComponentType, procedures: dict[int, ProcedureView]) -> None:
        self.name = component.name
        self.control = component.control
        self.hardware = component.hardware
        self.includes = tuple(IncludeView(i) for i in component.includes)
        self.attributes = tuple(attribute(a) for a in component.attributes)
        self.exported = component.exported
        self.interfaces = {i.name: _interface(i, procedures) for i in component.interfaces}
        views = tuple(self.interfaces.values())
        self.uses = tuple(v for v in views if isinstance(v, Uses))
        self.provides = tuple(v for v in views if isinstance(v, Provides))
        self.emits = tuple(v for v in views if isinstance(v, Emits))
        self.consumes = tuple(v for v in views if isinstance(v, Consumes))
        self.dataports = tuple(v for v in views if isinstance(v, Dataport))
        self.mutexes = tuple(Mutex(s.name) for s in _of("mutex", component.syncs))
        self.semaphores = tuple(Semaphore(s.name) for s in _of("semaphore", component.syncs))
        self.binary_semaphores = tuple(
            BinarySemaphore(s.name) for s in _of("binary_semaphore", component.syncs)
        )

    def use_words(self) -> None:
        """Change types to the words for them, whichever was written: `Buf` and `boolean`."""
        for port in self.dataports:
            if port.type == f"Buf({PAGE})":
                port.type = "Buf"
        for interface in (*self.uses, *self.provides):
            for method in interface.type.methods if isinstance(interface.type, ProcedureView) else ():
                if method.return_type == "bool":
                    method.return_type = "boolean"
                for parameter in method.parameters:
                    if parameter.type == "bool":
                        parameter.type = "boolean"

    def interface_is_exported(self, interface: object) -> bool:
        """Is it an alias of one of a part's?"""
        return str(interface) in self.exported

    def __str__(self) -> str:
        return self.name


class InstanceView:
    def __init__(self, instance: Instance, type: ComponentView) -> None:
        self.name = instance.name
        self.type = type
        self.address_space = instance.address_space
        self.span = instance.span

    @property
    def instance(self) -> InstanceView:
        return self

    @property
    def parent(self) -> InstanceView:
        """What a template for an instance is rendered for is not part of a connection."""
        return self

    def label(self) -> str:
        return self.name

    def __str__(self) -> str:
        return self.name


class ConnectorView:
    def __init__(self, connector: Connector) -> None:
        self.name = connector.name
        self.from_threads = connector.from_end.threads
        self.to_threads = connector.to_end.threads
        self.from_type = connector.from_end.kind
        self.to_type = connector.to_end.kind
        self.from_hardware = connector.from_end.hardware
        self.to_hardware = connector.to_end.hardware
        self.from_multiple = connector.from_end.many
        self.to_multiple = connector.to_end.many
        self.attributes = tuple(attribute(a) for a in connector.attributes)

    def get_attribute(self, name: str) -> AttributeView | None:
        return next((a for a in self.attributes if a.name == name), None)

    def __str__(self) -> str:
        return self.name


class EndView:
    """An end of a connection. `end` is "from" or "to"."""

    def __init__(
        self, which: str, parent: ConnectionView, instance: InstanceView, end: ConnectionEnd
    ) -> None:
        self.end = which
        self.parent = parent
        self.instance = instance
        self.interface = instance.type.interfaces[end.interface]
        self.span = end.span

    def might_block(self) -> bool:
        """Can the code behind this end wait for something else than this end?"""
        kind = self.instance.type
        return len((*kind.provides, *kind.uses, *kind.consumes, *kind.mutexes, *kind.semaphores)) > 1

    def label(self) -> str:
        return self.parent.label()

    def __str__(self) -> str:
        return f"{self.instance}.{self.interface}"


class ConnectionView:
    def __init__(
        self, connection: Connection, type: ConnectorView, instances: Mapping[str, InstanceView]
    ) -> None:
        self.name = connection.name
        self.type = type
        self.from_ends = tuple(EndView("from", self, instances[e.instance], e) for e in connection.from_ends)
        self.to_ends = tuple(EndView("to", self, instances[e.instance], e) for e in connection.to_ends)

    @property
    def from_end(self) -> EndView:
        return self.from_ends[0]

    @property
    def to_end(self) -> EndView:
        return self.to_ends[0]

    @property
    def from_instance(self) -> InstanceView:
        return self.from_end.instance

    @property
    def to_instance(self) -> InstanceView:
        return self.to_end.instance

    @property
    def from_interface(self) -> InterfaceView:
        return self.from_end.interface

    @property
    def to_interface(self) -> InterfaceView:
        return self.to_end.interface

    @property
    def from_instances(self) -> tuple[InstanceView, ...]:
        return tuple(e.instance for e in self.from_ends)

    @property
    def to_instances(self) -> tuple[InstanceView, ...]:
        return tuple(e.instance for e in self.to_ends)

    @property
    def from_interfaces(self) -> tuple[InterfaceView, ...]:
        return tuple(e.interface for e in self.from_ends)

    @property
    def to_interfaces(self) -> tuple[InterfaceView, ...]:
        return tuple(e.interface for e in self.to_ends)

    def label(self) -> str:
        return self.name

    def __str__(self) -> str:
        return self.name


class SettingView:
    def __init__(self, instance: str, attribute: str, setting: Setting) -> None:
        self.instance = instance
        self.attribute = attribute
        self.value = setting.value
        self.span: Span = setting.span


class CompositionView:
    def __init__(self, system: System) -> None:
        procedures: dict[int, ProcedureView] = {}
        types: dict[int, ComponentView] = {}
        connectors: dict[int, ConnectorView] = {}
        instances: dict[str, InstanceView] = {}
        for instance in system.instances:
            kind = types.setdefault(id(instance.type), ComponentView(instance.type, procedures))
            instances[instance.name] = InstanceView(instance, kind)
        self.instances = tuple(instances.values())
        self.connections = tuple(
            ConnectionView(c, connectors.setdefault(id(c.connector), ConnectorView(c.connector)), instances)
            for c in system.connections
        )

    def instance(self, name: str) -> InstanceView:
        return next(i for i in self.instances if i.name == name)


class AssemblyView:
    """The whole system, for templates that are rendered once."""

    name = None

    def __init__(self, system: System) -> None:
        self.composition = CompositionView(system)
        self.composition.instances = tuple(_by_part("", self.composition.instances))
        for kind in {id(i.type): i.type for i in self.composition.instances}.values():
            kind.use_words()
        self.configuration = OrderedConfiguration(system)
        root = system.root
        self.span = system.instances[0].span if system.instances else Span(root, 1, 1, 1, 1)

    def __str__(self) -> str:
        return "the assembly"


class ConfigurationView(Mapping[str, dict[str, Any]]):
    """Settings, and defaults of attributes, by the name of an instance, a connection, or "inst.iface". A name
    that nothing is set of has no settings."""

    def __init__(self, system: System) -> None:
        self.settings_dict: dict[str, dict[str, SettingView]] = {}
        self._values: defaultdict[str, dict[str, Any]] = defaultdict(dict)
        for connection in system.connections:
            self._add(connection.name, connection.settings)
        for instance in system.instances:
            self._add(instance.name, instance.settings)
        for name, settings in system.other_settings.items():
            self._add(name, settings)
        for instance in system.instances:
            for declared in instance.type.attributes:
                if declared.default is not None:
                    self._values[instance.name].setdefault(declared.name, declared.default)

    def _add(self, name: str, settings: Mapping[str, Setting]) -> None:
        for attribute_name, setting in settings.items():
            self._values[name].setdefault(attribute_name, setting.value)
            views = self.settings_dict.setdefault(name, {})
            views.setdefault(attribute_name, SettingView(name, attribute_name, setting))

    @property
    def settings(self) -> tuple[SettingView, ...]:
        return tuple(s for settings in self.settings_dict.values() for s in settings.values())

    def __getitem__(self, name: str) -> dict[str, Any]:
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __bool__(self) -> bool:
        return True  # there is one, with or without settings

    def get(self, name: str, default: Any = None) -> Any:
        return self._values.get(name, default)


def _by_part(whole: str, instances: Sequence[InstanceView]) -> Iterator[InstanceView]:
    """The parts of an instance, then the parts of each of them."""
    parts = [instance for instance in instances if instance.name.rpartition(".")[0] == whole]
    yield from parts
    for part in parts:
        yield from _by_part(part.name, instances)


class OrderedConfiguration(ConfigurationView):
    """With all settings in the order of the text, those of the assembly before those of its components."""

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self.depths = {instance.name: instance.name.count(".") for instance in system.instances}
        self.files = {id(file): number for number, file in enumerate(system.files)}

    @property
    def settings(self) -> tuple[SettingView, ...]:
        return tuple(sorted(super().settings, key=self._place))

    def _place(self, setting: SettingView) -> tuple[int, int, int, int]:
        span = setting.span
        file = self.files.get(id(span.file), 0)
        return self.depths.get(setting.instance, 0), file, span.line, span.column


def type_name(ctype: CType) -> str:
    return f"struct {ctype.name}" if ctype.struct else ctype.name


def attribute_type(kind: CType | StructType) -> str | StructView:
    return StructView(kind) if isinstance(kind, StructType) else type_name(kind)


def attribute(declared: Attribute) -> AttributeView:
    return AttributeView(declared.name, attribute_type(declared.type), declared.array, declared.default)


def _interface(interface: Interface, procedures: dict[int, ProcedureView]) -> InterfaceView:
    kind: ProcedureView | str
    if isinstance(interface.type, Procedure):
        kind = procedures.setdefault(id(interface.type), ProcedureView(interface.type))
    elif isinstance(interface.type, DataportType):
        size = interface.type.size
        kind = interface.type.name if size is None else f"Buf({size})"
    else:
        kind = interface.type
    return _KINDS[interface.kind](interface.name, kind, interface.optional)


def _of(kind: str, syncs: tuple[Sync, ...]) -> list[Sync]:
    return [s for s in syncs if s.kind == kind]
