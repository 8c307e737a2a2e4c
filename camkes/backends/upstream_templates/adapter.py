# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""All templates of a system: rendered in the order of the description, with one record of their
allocations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from msgspec import Struct, field

from camkes.backends.upstream_templates.codes import NO_TEMPLATE
from camkes.backends.upstream_templates.context import Session
from camkes.backends.upstream_templates.macros import PAGES
from camkes.backends.upstream_templates.objects import Recorder
from camkes.backends.upstream_templates.view import (
    CompositionView,
    ConfigurationView,
    ConnectionView,
    EndView,
    InstanceView,
)
from camkes.capdl.model import CapabilityModel, Pools, Space
from camkes.diagnostics import Diagnostic, Sink, Span
from camkes.generate.facts import Rendered
from camkes.generate.render import Renderer
from camkes.generate.write import GeneratedFile
from camkes.model.configured import DEFAULTS, Defaults
from camkes.model.connectors import GENERATED
from camkes.model.settings import BUDGET, DATA, DEFAULT_MAX_PRIORITY, PERIOD, SIZE_BITS
from camkes.model.system import Instance, System
from camkes.project.application import Application
from camkes.project.builds import ComponentBuild
from camkes.project.codes import NOT_TRUSTED
from camkes.project.declarations import ConnectorTemplates

if TYPE_CHECKING:
    from camkes.backends.upstream_templates.rendering import TemplateRenderer

#: templates for instances that have a setting: the template, the file, and what it is
_SETTING_TEMPLATES = {
    "single_threaded": (
        ("seL4SingleThreadedComponent.template.c", "seL4SingleThreadedComponent.template.c", "source"),
        ("seL4SingleThreadedComponent.template.h", "seL4SingleThreadedComponent.template.h", "header"),
    ),
    "debug": (("component.debug.c", "camkes.debug.c", "source"),),
    "rump_config": (("component.rumprun.c", "camkes.rumprun.c", "source"),),
}
#: settings of components that make kernel objects while they run, or are looked into from outside
_ON_MACHINES = ("debug", "rump_config", "simple")


class DeclaredTemplates(Struct, frozen=True):
    """What CMake declares: templates of connectors, of component types and of instances (by both names), and
    where templates are."""

    folders: tuple[Path, ...] = ()
    connectors: Mapping[str, ConnectorTemplates] = field(default_factory=dict)
    components: Mapping[str, ComponentBuild] = field(default_factory=dict)
    instances: Mapping[tuple[str, str], ComponentBuild] = field(default_factory=dict)

    @classmethod
    def of(cls, application: Application) -> DeclaredTemplates:
        """Those that the CMake files of an application declare."""
        return cls(
            application.template_paths, application.connectors, application.components, application.instances
        )

    def rendered(self, system: System) -> frozenset[str]:
        """The connectors of a system that are rendered from templates of their own."""
        names = {connection.connector.name for connection in system.connections}
        return frozenset((names & self.connectors.keys()) - GENERATED)


class TemplateSettings(Struct, frozen=True, kw_only=True):
    """How the system is built, as far as templates depend on it. `machine`: it is for one, not for the host
    kernel, where no component makes kernel objects."""

    architecture: str
    defaults: Defaults = DEFAULTS
    fault_handlers: bool = True
    large_dma_frames: bool = False
    mcs: bool = False
    machine: bool = True

    @property
    def device_frames(self) -> tuple[int, ...]:
        """The sizes of frames that memory for devices may be made of, the smallest first."""
        sizes = PAGES[self.architecture]
        return sizes if self.large_dma_frames else sizes[:1]

    def options(self) -> SimpleNamespace:
        """Under the names of the tool's options."""
        return SimpleNamespace(
            architecture=self.architecture,
            realtime=self.mcs,
            debug_fault_handlers=self.fault_handlers,
            default_priority=self.defaults.priority,
            default_max_priority=DEFAULT_MAX_PRIORITY,
            default_affinity=self.defaults.affinity,
            default_stack_size=self.defaults.stack,
            default_period=PERIOD.default,
            default_budget=BUDGET.default,
            default_data=DATA.default,
            default_size_bits=SIZE_BITS.default,
            largeframe=True,
            largeframe_dma=self.large_dma_frames,
            frpc_lock_elision=True,
            fprovide_tcb_caps=True,
            verbosity=0,
        )


class Asker(Struct, frozen=True):
    """What a template is rendered for, in words that begin a sentence, and where that is in the text."""

    words: str
    span: Span


class RenderedText(Struct, frozen=True):
    """A rendered file."""

    file: GeneratedFile
    text: str


class Rendering(Struct, frozen=True):
    """What became of the templates. `libraries` and `symbols` are by instance: what it is linked with, and
    the names of its variables that memory was put behind. `allocated`: what first asked for each object."""

    model: CapabilityModel
    connectors: frozenset[str]
    files: tuple[RenderedText, ...] = ()
    libraries: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    symbols: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    templates: tuple[Path, ...] = ()
    allocated: Mapping[str, Asker] = field(default_factory=dict)

    def for_code(self) -> Rendered:
        """What the rest of the generated code needs to know."""
        headers: dict[str, tuple[str, ...]] = {}
        for text in self.files:
            if text.file.kind == "header" and text.file.instance is not None:
                headers[text.file.instance] = (*headers.get(text.file.instance, ()), text.file.path.name)
        return Rendered(self.connectors, headers)


def render(
    system: System,
    model: CapabilityModel,
    declared: DeclaredTemplates,
    settings: TemplateSettings,
    out: Path,
    sink: Sink,
    completion: Callable[[Space], int] = lambda space: 0,
    may_run: Callable[[Path], bool] = lambda template: True,
) -> Rendering:
    """Render every template of a system; files are for below `out`. What goes wrong is reported to `sink`.
    `completion` is how many slots of a space must be kept, where templates may use the last ones; `may_run`
    whether a template is trusted, or the first that is not ends all of it."""
    connectors = declared.rendered(system)
    run = _TemplateRun(system, model, declared, settings, connectors, out, completion, may_run)
    run.pools = {each.name: each for each in model.pools}
    for instance in system.instances:
        if not instance.type.hardware:
            run.instance(instance)
    for diagnostic in run.diagnostics:
        sink.add(diagnostic)
    return run.result()


class _TemplateRun:
    def __init__(
        self,
        system: System,
        model: CapabilityModel,
        declared: DeclaredTemplates,
        settings: TemplateSettings,
        connectors: frozenset[str],
        out: Path,
        completion: Callable[[Space], int],
        may_run: Callable[[Path], bool],
    ) -> None:
        self.may_run = may_run
        self.completion = {space.name: completion(space) for space in model.spaces}
        self.system = system
        self.declared = declared
        self.connectors = connectors
        self.out = out
        self.recorder = Recorder(model, settings.architecture)
        self.composition = CompositionView(system)
        self.session = Session(self.composition, ConfigurationView(system), self.recorder, settings.options())
        self.machine = settings.machine
        self.renderer: TemplateRenderer | None = None  # most systems need none
        for name, cspace in self.recorder.spaces.items():
            size = self.session.configuration[name].get("cnode_size_bits")
            if size is not None:
                cspace.cnode.size_bits = int(size, 0) if isinstance(size, str) else int(size)
        self.pools: Mapping[str, Pools] = {}
        self.files: list[RenderedText] = []
        self.libraries: dict[str, dict[str, None]] = {}
        self.allocated: dict[str, Asker] = {}
        self.diagnostics: list[Diagnostic] = []

    def instance(self, instance: Instance) -> None:
        """What belongs to an instance: the instance itself, then its ends of connections, then its own
        templates."""
        me = self.composition.instance(instance.name)
        if instance.name in self.pools:
            self._pools(me, self.pools[instance.name])
        for connection in self.composition.connections:
            if connection.type.name not in self.connectors:
                continue
            for number, end in enumerate(connection.from_ends):
                if end.instance is me:
                    self._end(end, connection, number, "FROM")
            for number, end in enumerate(connection.to_ends):
                if end.instance is me:
                    self._end(end, connection, number, "TO")
        kind = instance.type.name
        builds = self.declared.components.get(kind), self.declared.instances.get((kind, instance.name))
        for build in builds:
            if build is None:
                continue
            for template in build.template_sources:
                self._source(me, template, Path(template).name)
            for template in build.template_headers:
                self._header(me, template, Path(template).name)

        set_ = self.session.configuration[me.name]
        asked = {name for name in (*_SETTING_TEMPLATES, "simple") if set_.get(name)}
        if not self.machine:
            asked -= {*_ON_MACHINES}
        for setting, templates in _SETTING_TEMPLATES.items():
            for template, name, suffix in templates if setting in asked else ():
                self._render(me, template, name, suffix)
        if "simple" in asked:
            self._simple(me)

    def _simple(self, me: InstanceView) -> None:
        """An instance that makes objects itself takes all slots after the last that it knows of as free."""
        cnode = self.recorder.spaces[me.address_space].cnode
        cnode.keep(self.completion[me.address_space])
        self._source(me, "component.simple.c", "camkes.simple.c")
        if not isinstance(cnode.size_bits, int):
            # as large as the component takes it to be
            cnode.size_bits = (cnode.next - 1).bit_length() + 1

    def _pools(self, me: InstanceView, pools: Pools) -> None:
        text = Renderer().render("pools.template.c", pools)
        path = self.out / me.name / "rendered" / "camkes.sel4.c"
        self.files.append(RenderedText(GeneratedFile(path, me.name, "source"), text))

    def _end(self, end: EndView, connection: ConnectionView, number: int, side: str) -> None:
        declared = self.declared.connectors[connection.type.name]
        name = f"{end.interface}_{connection.type.name}_{number}"
        template = declared.templates.get(side)
        if template is None:
            which = "from" if side == "FROM" else "to"
            self.diagnostics.append(
                Diagnostic(
                    NO_TEMPLATE,
                    f'connector "{connection.type.name}" has no template for its "{which}" end',
                    end.span,
                    help=f"declare one: DeclareCAmkESConnector({connection.type.name} {side} file)",
                )
            )
            return
        self._source(end, template, f"{name}.c")
        header = declared.templates.get(f"{side}_HEADER")
        if header is not None:
            self._header(end, header, f"{name}.h")
        libraries = declared.from_libs if side == "FROM" else declared.to_libs
        self.libraries.setdefault(end.instance.name, {}).update(dict.fromkeys(libraries))

    def _source(self, me: EndView | InstanceView, template: str, name: str) -> None:
        self._render(me, template, name, "source")

    def _header(self, me: EndView | InstanceView, template: str, name: str) -> None:
        self._render(me, template, name, "header")

    def _render(self, me: EndView | InstanceView, template: str, name: str, kind: str) -> None:
        from camkes.backends.upstream_templates.rendering import RenderError, TemplateRenderer

        instance = me.instance
        if any(diagnostic.code is NOT_TRUSTED for diagnostic in self.diagnostics):
            return
        if self.renderer is None:
            self.renderer = TemplateRenderer(self.declared.folders, self.session, self.may_run)
        try:
            text = self.renderer.render(template, me)
        except RenderError as error:
            self.diagnostics.append(error.diagnostic)
            return
        if isinstance(me, InstanceView):
            words = f"instance `{me.name}`"
        else:
            words = f"`{me}` of {me.parent.type.name}"
        for item in islice(self.recorder.objects, len(self.allocated), None):  # those of this template
            self.allocated[item] = Asker(words, me.span)
        path = self.out / instance.name / "rendered" / name
        self.files.append(RenderedText(GeneratedFile(path, instance.name, kind), text))

    def result(self) -> Rendering:
        symbols = {name: dict.fromkeys(pools.variables()) for name, pools in self.pools.items()}
        for mappings in self.recorder.mappings.values():
            for instance, mapping in mappings:
                symbols.setdefault(instance, {})[mapping.use.variable] = None
        return Rendering(
            self.recorder.merged(),
            self.connectors,
            tuple(self.files),
            {name: tuple(libraries) for name, libraries in self.libraries.items()},
            {name: tuple(names) for name, names in symbols.items()},
            () if self.renderer is None else self.renderer.files,
            self.allocated,
        )
