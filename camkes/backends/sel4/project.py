# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The exchange with CMake: its input for the tool as JSON, and the result as CMake code."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
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
        application = _application(Path(data["adl"]), data["builds"])
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


def cmake_description(
    system: System,
    model: CapabilityModel,
    files: Sequence[GeneratedFile],
    space_files: dict[str, list[Path]],
    heaps: Mapping[str, Sequence[int]],
    inputs: Iterable[Path],
    code: Iterable[Path],
    rendering: Rendering,
    timebase: int | None = None,
    *,
    clock_stopped: bool = False,
) -> str:
    """CMake code that lists the images and their sources. `code` are the files from which
    it was read what handlers call, `timebase` the frequency of a clock that the device tree gives.
    `clock_stopped`: the machine has a clock that must be driven, and nothing drives it."""
    types = {instance.name: instance.type.name for instance in system.instances}
    lines = [
        "# Generated by camkes-rt.",
        _set("CAMKES_INPUTS", *map(str, inputs)),
        _set("CAMKES_CODE", *map(str, code)),
        _set("CAMKES_TIMEBASE", *([] if timebase is None else [str(timebase)])),
        _set("CAMKES_CLOCK_STOPPED", *(["1"] if clock_stopped else [])),
        _set("CAMKES_SPACES", *(space.name for space in model.spaces)),
    ]
    for space in model.spaces:
        generated = (f for f in files if f.instance in space.instances and f.instance not in types)
        own_sources = (*(f.path for f in generated), *space_files[space.name])
        lines += [
            _set(f"CAMKES_SPACE_{space.name}_IMAGE", file_name(space.name)),
            _set(f"CAMKES_SPACE_{space.name}_INSTANCES", *space.instances),
            _set(f"CAMKES_SPACE_{space.name}_SOURCES", *map(str, own_sources)),
            _set(f"CAMKES_SPACE_{space.name}_SYMBOLS", *(space.symbol(m.use) for m in space.mappings)),
            _set(f"CAMKES_SPACE_{space.name}_HEAPS", *map(str, heaps.get(space.name, ()))),
        ]
        for name in space.instances:
            own = [f for f in files if f.instance == name]
            folders = dict.fromkeys(str(f.path.parent) for f in own)
            lines += [
                _set(f"CAMKES_INSTANCE_{name}_TYPE", types.get(name, "")),
                _set(f"CAMKES_INSTANCE_{name}_SOURCES", *(str(f.path) for f in own if f.kind == "source")),
                _set(f"CAMKES_INSTANCE_{name}_INCLUDES", *folders),
                _set(f"CAMKES_INSTANCE_{name}_LIBS", *rendering.libraries.get(name, ())),
                _set(f"CAMKES_INSTANCE_{name}_SYMBOLS", *rendering.symbols.get(name, ())),
            ]
    return "\n".join([*lines, ""])


def _set(name: str, *values: str) -> str:
    return " ".join([f"set({name}", *(f'"{value}"' for value in values)]) + ")"
