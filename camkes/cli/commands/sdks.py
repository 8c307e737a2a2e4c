# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The command that makes an SDK for seL4 from a workspace, and shows what is in one: sdk."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from camkes.cli.arguments import Command, add_build_type, add_messages, definition
from camkes.cli.output import GOOD, USAGE, USER_ERROR, Progress, write_diagnostics
from camkes.diagnostics import Sink
from camkes.documents import json_text

if TYPE_CHECKING:
    from camkes.backends.sel4.sdk.description import Description

SCHEMA = "camkes-sdk-list 1"
#: an image that records what it does is of another configuration of the kernel
_TRACE = ("CAmkESTrace", "ON")


class SdkConfiguration(Struct, frozen=True):
    """One that an application can be built for: its name, and the definitions that ask for it (`-D`)."""

    name: str
    definitions: Mapping[str, str]


class SdkPart(Struct, frozen=True):
    """A project of the workspace: the revision of its repository, "" where that is not known, and the
    licences that its files name (SPDX)."""

    name: str
    revision: str
    licences: tuple[str, ...]


class SdkReport(Struct, frozen=True):
    """What is in an SDK. `version` is that of the tool that made it; `compilers` are the versions of
    compilers by their names; `files` is their number and `bytes` their size, unpacked."""

    schema: str
    version: str
    configurations: tuple[SdkConfiguration, ...]
    parts: tuple[SdkPart, ...]
    compilers: Mapping[str, str]
    files: int
    bytes: int


def sdk(arguments: argparse.Namespace) -> int:
    if arguments.listed is not None:
        return show(arguments)
    if arguments.output is None or arguments.json:
        message = (
            "--json is for --list"
            if arguments.json
            else "name the file to make with -o FILE, or one to --list"
        )
        print(f"camkes sdk: {message}", file=sys.stderr)
        return USAGE
    from camkes.backends.sel4.sdk.pack import pack
    from camkes.backends.sel4.sdk.probe_build import PackError
    from camkes.backends.sel4.workspace import find_workspace

    sink = Sink()
    progress = Progress(arguments)
    workspace = find_workspace(arguments.workspace, sink)
    description = None
    if workspace is not None:
        try:
            with tempfile.TemporaryDirectory(prefix="camkes-sdk-") as scratch:
                folder = arguments.build_folder or Path(scratch)
                description = pack(
                    arguments.output, workspace, asked(arguments), folder.absolute(), sink, progress
                )
        except (OSError, PackError) as error:
            progress.clear()
            print(f"camkes sdk: {reason(error, arguments.output)}", file=sys.stderr)
            return USER_ERROR
    progress.clear()
    status = write_diagnostics(arguments, sink)
    if description is None:
        return max(status, USER_ERROR)
    if not arguments.quiet:
        print(f"made {arguments.output}")
        print(table(description), end="")
    return status


def reason(error: Exception, file: Path) -> str:
    """Why an SDK was not made."""
    if isinstance(error, OSError) and error.strerror:
        return f"cannot write {error.filename or file}: {error.strerror}"
    return str(error)


def asked(arguments: argparse.Namespace) -> list[dict[str, str]]:
    """The definitions of each configuration: those of all, with those of one, and the same with records."""
    common = dict(arguments.definitions)
    if arguments.build_type == "Release":
        common["RELEASE"] = "ON"
    found = []
    for own in arguments.also or [()]:
        usual = {**common, **dict(own)}
        found.append(usual)
        if not arguments.no_trace:
            found.append({**usual, _TRACE[0]: _TRACE[1]})
    return found


def show(arguments: argparse.Namespace) -> int:
    """Print what is in an SDK."""
    from camkes.backends.sel4.sdk.archive import ArchiveError, read_description

    try:
        description = read_description(arguments.listed)
    except (OSError, ArchiveError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        print(f"camkes sdk: {arguments.listed}: {why}", file=sys.stderr)
        return USER_ERROR
    print(
        json_text(report(description)) if arguments.json else table(description),
        end="\n" if arguments.json else "",
    )
    return GOOD


def report(description: Description) -> SdkReport:
    files = description.files.values()
    return SdkReport(
        SCHEMA,
        description.version,
        tuple(SdkConfiguration(each.name, each.definitions) for each in description.configurations),
        tuple(SdkPart(each.name, each.revision, each.licences) for each in description.parts),
        description.compilers,
        len(files),
        sum(each.size for each in files),
    )


def table(description: Description) -> str:
    """Its configurations, and the projects that it is of."""
    width = max(len("configuration"), *(len(each.name) for each in description.configurations))
    lines = [f"{'configuration':{width}}  asked for with"]
    for each in description.configurations:
        words = " ".join(f"-D{name}={value}" for name, value in each.definitions.items())
        lines.append(f"{each.name:{width}}  {words or 'nothing'}".rstrip())
    width = max(len("project"), *(len(each.name) for each in description.parts))
    lines += ["", f"{'project':{width}}  revision      licences"]
    for part in description.parts:
        licences = ", ".join(part.licences) or "see licences/ in the file"
        lines.append(f"{part.name:{width}}  {part.revision[:12] or 'not known':12}  {licences}")
    lines += ["", *(f"{name}: {version}" for name, version in sorted(description.compilers.items()))]
    return "\n".join([*lines, ""])


def several(text: str) -> tuple[tuple[str, str], ...]:
    """`NAME=VALUE,NAME=VALUE`."""
    return tuple(definition(each) for each in text.split(",") if each)


def sdk_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", type=Path, help="the file to make")
    parser.add_argument(
        "--list", dest="listed", metavar="FILE", type=Path, help="show what is in an SDK, and make none"
    )
    parser.add_argument("--json", action="store_true", help="print what --list shows as JSON")
    group = parser.add_argument_group("what is in it")
    text = "a variable of CMake for all configurations, such as PLATFORM or KernelIsMCS"
    group.add_argument(
        "-D",
        dest="definitions",
        metavar="NAME=VALUE",
        type=definition,
        action="append",
        default=[],
        help=text,
    )
    group.add_argument(
        "--also",
        metavar="NAME=VALUE,...",
        type=several,
        action="append",
        help="variables of one configuration more; may be repeated (default: one configuration, with "
        "those of -D)",
    )
    group.add_argument(
        "--no-trace",
        action="store_true",
        help="leave out the configurations that record runs, for --for, --trace and --json of `camkes run`",
    )
    add_build_type(group)
    group = parser.add_argument_group("how it is made")
    group.add_argument(
        "--workspace", metavar="DIR", type=Path, help="the workspace (default: SEL4_WORKSPACE)"
    )
    text = "where to build, and to keep the builds for the next time (default: a temporary folder)"
    group.add_argument("--build-folder", metavar="DIR", type=Path, help=text)
    add_messages(parser)


COMMANDS = (
    Command(
        "sdk",
        sdk,
        "pack what applications for seL4 are built with, from a workspace",
        sdk_arguments,
        """
  camkes sdk -o x86_64.sdk --workspace ~/camkes-workspace
  camkes sdk -o mcs.sdk -D KernelIsMCS=ON
  camkes sdk -o machines.sdk --also PLATFORM=x86_64 --also PLATFORM=qemu-arm-virt,AARCH64=1
  camkes sdk --list x86_64.sdk
  camkes run examples/adder --kernel sel4 --sdk x86_64.sdk""",
        has_results=True,
    ),
)
