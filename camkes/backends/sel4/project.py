# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The exchange with what builds a system: CMake's input for the tool as JSON, and the result, also as
CMake code."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from camkes.backends.sel4.devices import Machine
from camkes.backends.sel4.spec import file_name
from camkes.backends.upstream_templates.adapter import DeclaredTemplates, Rendering, TemplateSettings
from camkes.capdl.model import CapabilityModel
from camkes.generate import GeneratedFile
from camkes.model.configured import Defaults
from camkes.model.system import System
from camkes.project.application import Application, ComponentBuild, ConnectorTemplates
from camkes.resolve import LoadOptions


class Project(Struct, frozen=True):
    """An application as the CMake package describes it."""

    output: Path
    machine: Machine
    kernel_dtb: Path | None
    options: LoadOptions
    fault_handlers: bool
    heap_size: int
    trace: bool
    large_frames: bool
    tcb_caps: bool
    verbose: bool
    defaults: Defaults
    #: what components are built from, as far as that is known before anything is generated
    application: Application
    declared: DeclaredTemplates
    large_dma_frames: bool
    #: see `camkes.project.domains`
    kernel_settings: Mapping[str, str]
    #: of the timer of an MCS kernel, in Hz; 0: it is measured at boot
    timer_frequency: int
    #: theories for proofs are written
    verification: bool

    @classmethod
    def read(cls, path: Path) -> Project:
        data = json.loads(path.read_text())
        return cls.of(data, _application(Path(data["adl"]), data["builds"]))

    @classmethod
    def of(cls, data: Mapping[str, Any], application: Application) -> Project:
        """The project of an application that was read already; its `adl` and `builds` need not be there."""
        return cls(
            output=Path(data["output"]),
            machine=Machine(
                data["architecture"], data["platform"], data["generic_timer"], data["three_levels"]
            ),
            kernel_dtb=_path(data["kernel_dtb"]),
            options=LoadOptions(
                import_path=tuple(map(Path, data["import_paths"])),
                cpp=data["cpp"],
                cpp_flags=tuple(data["cpp_flags"]),
                allow_forward_references=data["allow_forward_references"],
                dtb=_path(data["dtb"]),
                gpio_list=_path(data["gpio_list"]),
                mcs=data["mcs"],
            ),
            fault_handlers=data["fault_handlers"],
            heap_size=data["heap_size"],
            trace=data["trace"],
            large_frames=data["large_frames"],
            tcb_caps=data["tcb_caps"],
            verbose=data["verbose"],
            defaults=Defaults(priority=data["priority"], stack=data["stack_size"], affinity=data["affinity"]),
            application=application,
            declared=_declared(data, application),
            large_dma_frames=data["large_dma_frames"],
            kernel_settings={key: value for key, value in data["kernel_settings"].items() if value},
            timer_frequency=int(data["timer_frequency"] or 0),
            verification=data["verification"],
        )

    def template_settings(self) -> TemplateSettings:
        """The inputs of templates of connectors."""
        return TemplateSettings(
            architecture=self.machine.architecture,
            defaults=self.defaults,
            fault_handlers=self.fault_handlers,
            large_dma_frames=self.large_dma_frames,
            mcs=self.options.mcs,
        )


def _declared(data: Mapping[str, Any], application: Application) -> DeclaredTemplates:
    connectors = {
        name: ConnectorTemplates(
            {key: value for key, value in record["templates"].items() if value},
            tuple(record["from_libs"]),
            tuple(record["to_libs"]),
            None,
        )
        for name, record in data["connectors"].items()
    }
    folders = tuple(map(Path, data["template_paths"]))
    return DeclaredTemplates(folders, connectors, application.components, application.instances)


def _application(adl: Path, builds: Sequence[Mapping[str, Any]]) -> Application:
    """Targets of CMake by what they build: a component, an instance of one, or a library."""
    components: dict[str, ComponentBuild] = {}
    instances: dict[tuple[str, str], ComponentBuild] = {}
    libraries: dict[str, ComponentBuild] = {}
    for data in builds:
        build = ComponentBuild(
            sources=tuple(map(Path, data["sources"])),
            includes=tuple(map(Path, data["includes"])),
            c_flags=tuple(data["c_flags"]),
            cxx_flags=tuple(data["cxx_flags"]),
            libs=tuple(data["libs"]),
            template_sources=tuple(data["template_sources"]),
            template_headers=tuple(data["template_headers"]),
        )
        if data["library"]:
            libraries[data["library"]] = build
        elif data["instance"]:
            instances[data["component"], data["instance"]] = build
        else:
            components[data["component"]] = build
    return Application(
        adl, adl.stem, adl.parent, components=components, instances=instances, libraries=libraries
    )


def _path(text: str) -> Path | None:
    return Path(text) if text else None


class InstanceParts(Struct, frozen=True):
    """What an instance is compiled and linked from beside its component's sources. `type` is "" for what
    is not a component of the system; `symbols` are those of its templates that others look for."""

    name: str
    type: str
    sources: tuple[Path, ...]
    includes: tuple[Path, ...]
    libs: tuple[str, ...]
    symbols: tuple[str, ...]


class SpaceParts(Struct, frozen=True):
    """What the image of an address space is made of. The link asks for `symbols`; `heaps` are sizes in bytes,
    of each instance."""

    name: str
    image: str
    instances: tuple[InstanceParts, ...]
    sources: tuple[Path, ...]
    symbols: tuple[str, ...]
    heaps: tuple[int, ...]


class SystemParts(Struct, frozen=True):
    """What is compiled and linked of a system. `inputs` are the files that it was read from, `code` those
    from
    which it was read what handlers call; `timebase` is the frequency in Hz of a clock that the device tree
    gives. `clock_stopped`: the machine has a clock that must be driven, and nothing drives it."""

    spaces: tuple[SpaceParts, ...]
    inputs: tuple[Path, ...]
    code: tuple[Path, ...]
    timebase: int | None = None
    clock_stopped: bool = False


def system_parts(
    system: System,
    model: CapabilityModel,
    files: Sequence[GeneratedFile],
    space_files: Mapping[str, Sequence[Path]],
    heaps: Mapping[str, Sequence[int]],
    rendering: Rendering,
) -> tuple[SpaceParts, ...]:
    """The images of a system and their sources."""
    types = {instance.name: instance.type.name for instance in system.instances}
    spaces = []
    for space in model.spaces:
        generated = (f for f in files if f.instance in space.instances and f.instance not in types)
        instances = []
        for name in space.instances:
            own = [f for f in files if f.instance == name]
            instances.append(
                InstanceParts(
                    name,
                    types.get(name, ""),
                    tuple(f.path for f in own if f.kind == "source"),
                    tuple(dict.fromkeys(f.path.parent for f in own)),
                    tuple(rendering.libraries.get(name, ())),
                    tuple(rendering.symbols.get(name, ())),
                )
            )
        spaces.append(
            SpaceParts(
                space.name,
                file_name(space.name),
                tuple(instances),
                (*(f.path for f in generated), *space_files[space.name]),
                tuple(space.symbol(m.use) for m in space.mappings),
                tuple(heaps.get(space.name, ())),
            )
        )
    return tuple(spaces)


def cmake_description(parts: SystemParts) -> str:
    """CMake code that lists the images and their sources."""
    lines = [
        "# Generated by camkes-rt.",
        _set("CAMKES_INPUTS", *map(str, parts.inputs)),
        _set("CAMKES_CODE", *map(str, parts.code)),
        _set("CAMKES_TIMEBASE", *([] if parts.timebase is None else [str(parts.timebase)])),
        _set("CAMKES_CLOCK_STOPPED", *(["1"] if parts.clock_stopped else [])),
        _set("CAMKES_SPACES", *(space.name for space in parts.spaces)),
    ]
    for space in parts.spaces:
        lines += [
            _set(f"CAMKES_SPACE_{space.name}_IMAGE", space.image),
            _set(f"CAMKES_SPACE_{space.name}_INSTANCES", *(each.name for each in space.instances)),
            _set(f"CAMKES_SPACE_{space.name}_SOURCES", *map(str, space.sources)),
            _set(f"CAMKES_SPACE_{space.name}_SYMBOLS", *space.symbols),
            _set(f"CAMKES_SPACE_{space.name}_HEAPS", *map(str, space.heaps)),
        ]
        for own in space.instances:
            lines += [
                _set(f"CAMKES_INSTANCE_{own.name}_TYPE", own.type),
                _set(f"CAMKES_INSTANCE_{own.name}_SOURCES", *map(str, own.sources)),
                _set(f"CAMKES_INSTANCE_{own.name}_INCLUDES", *map(str, own.includes)),
                _set(f"CAMKES_INSTANCE_{own.name}_LIBS", *own.libs),
                _set(f"CAMKES_INSTANCE_{own.name}_SYMBOLS", *own.symbols),
            ]
    return "\n".join([*lines, ""])


def _set(name: str, *values: str) -> str:
    return " ".join([f"set({name}", *(f'"{value}"' for value in values)]) + ")"
