# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Which configuration of an SDK an application is built with, and whether it has all that the application
asks for."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from camkes.backends.host.jobs import Progress
from camkes.backends.sel4.codes import NO_CONNECTOR, NOT_IN_SDK, OTHER_COMPILER, UNUSABLE_SDK
from camkes.backends.sel4.project import Project
from camkes.backends.sel4.sdk.archive import ArchiveError, Sdk, open_sdk
from camkes.backends.sel4.sdk.description import BUILD, Configuration
from camkes.backends.sel4.sdk.programs import compiler_version
from camkes.backends.sel4.workspace import DEFAULT_PLATFORM
from camkes.backends.upstream_templates.adapter import DeclaredTemplates
from camkes.diagnostics import Sink, SourceFile, Span
from camkes.model.configured import Defaults
from camkes.project.application import Application
from camkes.project.places import place_of, read_text
from camkes.project.values import is_off, is_on, same
from camkes.resolve import LoadOptions
from camkes.resolve.codes import IMPORT_NOT_FOUND

_PLATFORM = "PLATFORM"
#: of a platform that has several; the first configuration of a platform counts where none is asked for
_ARCHITECTURES = ("AARCH32", "AARCH64", "ARM_HYP", "RISCV32", "RISCV64")
_SET = re.compile(
    r"^[^#\n]*?\b(?:set|config_set)\s*\(\s*(\w+)\s+(\"[^\"\n]*\"|[^\s)]+)", re.MULTILINE | re.IGNORECASE
)
_SETTINGS = ("settings.cmake", "easy-settings.cmake")
_IN_WORKSPACE = "build in a workspace: --workspace DIR in place of --sdk"
#: what of a workspace is missing where these are reported
_ONLY_IN_WORKSPACE = {IMPORT_NOT_FOUND: "components", NO_CONNECTOR: "templates"}

#: Options that change what the tool does, and nothing that is in an SDK: switches, by the field of the
#: project, and numbers.
_SWITCHES = {
    "CAmkESVerbose": "verbose",
    "CAmkESFaultHandlers": "fault_handlers",
    "CAmkESLargeFramePromotion": "large_frames",
    "CAmkESProvideTCBCaps": "tcb_caps",
    "CAmkESDMALargeFramePromotion": "large_dma_frames",
}
_PRIORITY, _STACK, _AFFINITY = (f"CAmkESDefault{each}" for each in ("Priority", "StackSize", "Affinity"))
#: read by `load_options`, or without an effect
_ELSEWHERE = (
    "CAmkESCPP",
    "CAmkESAllowForwardReferences",
    "CAmkESDTS",
    "CAmkESPython",
    "CAmkESRPCLockElision",
)
_FREE = frozenset((*_SWITCHES, _PRIORITY, _STACK, _AFFINITY, *_ELSEWHERE))


def opened(file: Path, sink: Sink, progress: Progress) -> Sdk | None:
    """The SDK in a file; None after a diagnostic."""
    progress("unpacking the SDK")
    try:
        return open_sdk(file)
    except ArchiveError as error:
        why = str(error)
    except FileNotFoundError as error:
        why = error.strerror or str(error)
    except OSError as error:
        where = f" ({error.filename})" if error.filename and error.filename != str(file) else ""
        sink.report(
            UNUSABLE_SDK,
            f"{file} cannot be unpacked: {error.strerror or error}{where}",
            help="it is unpacked in the cache, once; XDG_CACHE_HOME names another folder for that",
        )
        return None
    sink.report(
        UNUSABLE_SDK,
        f"{file} cannot be used as an SDK: {why}",
        help="`camkes sdk -o FILE` makes one from a workspace",
    )
    return None


def choose(sdk: Sdk, file: Path, definitions: Mapping[str, str], sink: Sink) -> Configuration | None:
    """The configuration that was made with what is asked for (`-D`), and with nothing else; None after a
    diagnostic."""
    configurations = sdk.description.configurations
    platforms = {each.definitions.get(_PLATFORM, DEFAULT_PLATFORM) for each in configurations}
    usual = DEFAULT_PLATFORM if DEFAULT_PLATFORM in platforms else min(platforms, default=DEFAULT_PLATFORM)
    asked = {_PLATFORM: usual, **definitions}
    for each in configurations:
        has = {_PLATFORM: DEFAULT_PLATFORM, **each.cache, **each.definitions}
        if any(name in asked and name not in has for name in _ARCHITECTURES):
            continue
        # what its build does not know is the application's
        others = [name for name in (asked.keys() & has.keys()) - _FREE if not same(asked[name], has[name])]
        left_out = [
            name
            for name, value in each.definitions.items()
            if name not in asked and name not in _ARCHITECTURES and not is_off(value)
        ]
        if not others and not left_out:
            return each
    wanted = " ".join(f"-D{name}={value}" for name, value in asked.items() if name not in _FREE)
    notes = [f"it has {_options(each)}" for each in configurations]
    sink.report(
        NOT_IN_SDK,
        f"{file} has no configuration for {wanted}",
        notes=notes,
        help=f"ask for one that it has, make another SDK (`camkes sdk {wanted} -o FILE`), or {_IN_WORKSPACE}",
    )
    return None


def _options(configuration: Configuration) -> str:
    return " ".join(
        f"-D{name}={value}"
        for name, value in {_PLATFORM: DEFAULT_PLATFORM, **configuration.definitions}.items()
    )


def seen_by_applications(configuration: Configuration) -> dict[str, str]:
    """The variables of the kernel, which CMake files of applications ask for."""
    return {name: value for name, value in configuration.cache.items() if name.startswith("Kernel")}


def check(application: Application, sdk: Sdk, configuration: Configuration, sink: Sink) -> None:
    """Report what an application asks for that the SDK has not, where it does so, and compilers that differ
    from those of the SDK."""
    _compare_compilers(sdk, configuration, sink)
    for span, name, value in _settings(application):
        if name in configuration.cache and name not in _FREE and not same(value, configuration.cache[name]):
            has = configuration.cache[name] or "nothing"
            sink.report(
                NOT_IN_SDK,
                f"{name} is {value} here, and {has} in the SDK",
                span,
                help=f"make an SDK with `camkes sdk -D {name}={value}`, or {_IN_WORKSPACE}",
            )
    files = [*(application.folder / name for name in _SETTINGS), *application.files]
    core = set(configuration.project.get("core_libraries", ()))
    builds = {
        **{(name, ""): build for name, build in application.components.items()},
        **application.instances,
    }
    for (component, _), build in builds.items():
        missing = [
            name for name in build.libs if name not in application.libraries and not _comes_along(name, core)
        ]
        for name in dict.fromkeys(missing):
            sink.report(
                NOT_IN_SDK,
                f"the SDK has no library `{name}`, which component {component} is linked with",
                place_of(name, files) or build.span,
                help=_IN_WORKSPACE,
            )
        if build.cakeml_sources:
            sink.report(
                NOT_IN_SDK, f"component {component} is written in CakeML", build.span, help=_IN_WORKSPACE
            )
    if application.dts is not None:
        place = place_of(application.dts.name, files)
        sink.report(
            NOT_IN_SDK,
            "DTS_FILE_PATH names the source of a device tree, which only a workspace compiles",
            place,
            help=f"name a compiled one with DTB_FILE_PATH, or {_IN_WORKSPACE}",
        )


def pass_on(found: Sink, sink: Sink) -> None:
    """Pass on what was found when an application was read, with the way out where it misses what only a
    workspace has."""
    for each in found.diagnostics:
        missed = _ONLY_IN_WORKSPACE.get(each.code)
        notes = () if missed is None else (f"an SDK has no {missed} of a workspace; {_IN_WORKSPACE}",)
        sink.add(replace(each, notes=(*each.notes, *notes)))


def _compare_compilers(sdk: Sdk, configuration: Configuration, sink: Sink) -> None:
    """Warn of compilers of other versions. One that is missing is an error later."""
    for name in sorted({command.program for command in configuration.commands()}):
        expected = sdk.description.compilers.get(name)
        if expected is None or shutil.which(name) is None:
            continue
        found = compiler_version(name)
        if found != expected:
            sink.report(
                OTHER_COMPILER,
                f"{name} is another one than that of the SDK, with which its libraries were compiled",
                notes=[f"here:       {found}", f"in the SDK: {expected}"],
                help="install that version, or make an SDK with this one: `camkes sdk -o FILE`",
            )


def _comes_along(name: str, core: set[str]) -> bool:
    return name in core or name == "m"


def _settings(application: Application) -> Iterator[tuple[Span, str, str]]:
    """Variables that files of the application write, where, and their values."""
    if application.lists is None and not application.files:
        return
    for file in dict.fromkeys([*(application.folder / name for name in _SETTINGS), *application.files]):
        text = read_text(file).replace("\r\n", "\n")
        source = SourceFile(file, text) if text else None
        for found in _SET.finditer(text):
            assert source is not None
            line = text.count("\n", 0, found.start(1)) + 1
            start = found.start(1) - text.rfind("\n", 0, found.start(1))
            value = found[2].strip('"')
            if "$" not in value:
                yield Span(source, line, start, line, start + len(found[1])), found[1], value


def project_of(
    application: Application, options: LoadOptions, sdk: Sdk, configuration: Configuration, out: Path
) -> Project:
    """The application as CMake would describe it."""
    data = {key: _placed(value, sdk, configuration) for key, value in configuration.project.items()}
    given = application.options
    use_tree = is_on(given.get("CAmkESDTS", "OFF"))
    tree = (
        (application.dtb or (Path(data["kernel_dtb"]) if data["kernel_dtb"] else None)) if use_tree else None
    )
    usual = {
        "import_paths": [],
        "cpp_flags": [],
        "template_paths": [],
        "connectors": {},
        "gpio_list": "",
        "dtb": "",
    }
    project = Project.of({**usual, **data, "output": str(out)}, application)
    read = LoadOptions(
        import_path=options.import_path,
        cpp=options.cpp,
        cpp_flags=(*options.cpp_flags, *(f"-I{p}" for p in options.include_path), "-DCAMKES_TOOL_PROCESSING"),
        allow_forward_references=options.allow_forward_references,
        dtb=tree,
        mcs=project.options.mcs,
    )
    usual_of = project.defaults
    defaults = Defaults(
        priority=int(given.get(_PRIORITY, usual_of.priority)),
        stack=int(str(given.get(_STACK, usual_of.stack)), 0),
        affinity=int(given.get(_AFFINITY, usual_of.affinity)),
    )
    switches = {field: is_on(given[name]) for name, field in _SWITCHES.items() if name in given}
    return replace(
        project, options=read, declared=DeclaredTemplates.of(application), defaults=defaults, **switches
    )


def _placed(value: Any, sdk: Sdk, configuration: Configuration) -> Any:
    if isinstance(value, str) and value.startswith(f"{BUILD}/"):
        return str(sdk.folder / configuration.name / value.removeprefix(f"{BUILD}/"))
    return value
