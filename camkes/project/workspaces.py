# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""seL4 workspaces: folders with the kernel and the packages that applications build on."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from os.path import abspath
from pathlib import Path

from camkes.project.places import read_text
from camkes.project.values import is_on

#: what a workspace is known by
_MARKS = ("kernel/CMakeLists.txt", "tools/seL4/cmake-tool", "tools/camkes-tool", "projects/camkes-tool")
_PLATFORM = re.compile(r"declare_platform\(\s*[^\s)]+\s+\S+\s+\S+\s+\"?([^\")]*)")
#: what is asked for with -D, beside names of the kernel's own variables
PLATFORM_WORDS = ("PLATFORM", "AARCH32", "AARCH64", "RELEASE", "SIMULATION")
#: by the words of a platform of seL4
_ARCHITECTURES = {"ArchARM": "arm", "AArch": "arm", "Aarch": "arm", "RiscV": "riscv", "ArchX86": "x86"}
_X86 = {"x86_64": "x86_64", "ia32": "ia32", "pc99": "ia32"}


def is_workspace(folder: Path) -> bool:
    return all((folder / mark).exists() for mark in _MARKS)


def is_of_workspace(path: Path, workspace: Path | None, folder: Path) -> bool:
    """Whether a file is of a workspace, and not of the application in `folder`, which can be in it too."""
    return workspace is not None and path.is_relative_to(workspace) and not path.is_relative_to(folder)


def named_workspace(given: Path | None) -> Path | None:
    """The folder that is named, or else that of SEL4_WORKSPACE, as an absolute path without dots, as paths of
    files in it are. It need not be a workspace."""
    named = given or os.environ.get("SEL4_WORKSPACE")
    return Path(abspath(named)) if named else None  # noqa: PTH100


def _config(folder: Path) -> str:
    """The settings of a platform, without comments."""
    return re.sub(r"#.*", "", read_text(folder / "config.cmake"))


def _family(platforms: Path, platform: str) -> str:
    """The folder of a platform: its own, or that of the boards that it is one of."""
    if not platform or (platforms / platform).is_dir():
        return platform
    name = re.compile(rf"(?<![\w-]){re.escape(platform)}(?![\w-])")
    folders = sorted(each for each in platforms.glob("*") if name.search(_config(each)))
    return folders[0].name if folders else platform


def workspace_variables(workspace: Path, definitions: Mapping[str, str]) -> dict[str, str]:
    """What the files of an application see of a workspace, and of the platform that is asked for
    (`-D PLATFORM`), beside the definitions themselves."""
    found = {"CAMKES_WORKSPACE": str(workspace)}
    platform = definitions.get("PLATFORM", "")
    family = _family(workspace / "kernel/src/plat", platform)
    declared = _PLATFORM.search(_config(workspace / "kernel/src/plat" / family))
    words = declared[1] if declared is not None and family else ""
    architecture = next((name for word, name in _ARCHITECTURES.items() if word in words), "")
    if platform in _X86:
        found |= {"KernelArch": "x86", "KernelSel4Arch": _X86[platform], "KernelPlatform": "pc99"}
    elif architecture == "arm":
        asked = is_on(definitions.get("AARCH64", ""))
        wide = asked or "Aarch64" in words
        found |= {"KernelArch": "arm", "KernelArchARM": "ON", "KernelArchX86": "OFF"}
        found |= {"KernelPlatform": family, "KernelARMPlatform": platform}
        found |= {"KernelSel4Arch": "aarch64" if wide else "aarch32", "KernelSel4ArchX86_64": "OFF"}
        found |= {"KernelSel4ArchAarch64": "ON" if wide else "OFF", "KernelWordSize": "64" if wide else "32"}
    elif architecture:
        found |= {"KernelArch": architecture, "KernelPlatform": family, "KernelArchX86": "OFF"}
    return found
