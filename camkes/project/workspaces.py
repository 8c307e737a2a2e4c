# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""seL4 workspaces: folders with the kernel and the packages that applications build on."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from camkes.project.places import read_text

#: what a workspace is known by
_MARKS = ("kernel/CMakeLists.txt", "tools/seL4/cmake-tool", "tools/camkes-tool", "projects/camkes-tool")
_PLATFORM = re.compile(r"declare_platform\(\s*\S+\s+\S+\s+\S+\s+\"?([^\")]*)")
#: what is asked for with -D, beside names of the kernel's own variables
PLATFORM_WORDS = ("PLATFORM", "AARCH64", "RELEASE", "SIMULATION")
#: by the words of a platform of seL4
_ARCHITECTURES = {"KernelArchARM": "arm", "KernelArchRiscV": "riscv", "KernelArchX86": "x86"}
_X86 = {"x86_64": "x86_64", "ia32": "ia32", "pc99": "ia32"}


def is_workspace(folder: Path) -> bool:
    return all((folder / mark).exists() for mark in _MARKS)


def named_workspace(given: Path | None) -> Path | None:
    """The folder that is named, or else that of SEL4_WORKSPACE; it need not be one."""
    return given or (Path(os.environ["SEL4_WORKSPACE"]) if os.environ.get("SEL4_WORKSPACE") else None)


def workspace_variables(workspace: Path, definitions: Mapping[str, str]) -> dict[str, str]:
    """What the files of an application see of a workspace, and of the platform that is asked for
    (`-D PLATFORM`), beside the definitions themselves."""
    found = {"CAMKES_WORKSPACE": str(workspace)}
    platform = definitions.get("PLATFORM", "")
    declared = _PLATFORM.search(read_text(workspace / "kernel/src/plat" / platform / "config.cmake"))
    words = declared[1] if declared is not None and platform else ""
    architecture = next((name for word, name in _ARCHITECTURES.items() if word in words), "")
    if platform in _X86:
        found |= {"KernelArch": "x86", "KernelSel4Arch": _X86[platform], "KernelPlatform": "pc99"}
    elif architecture == "arm":
        wide = definitions.get("AARCH64", "").upper() in ("1", "ON", "TRUE", "YES")
        found |= {"KernelArch": "arm", "KernelArchARM": "ON", "KernelArchX86": "OFF"}
        found |= {"KernelPlatform": platform, "KernelARMPlatform": platform}
        found |= {"KernelSel4Arch": "aarch64" if wide else "aarch32", "KernelSel4ArchX86_64": "OFF"}
        found |= {"KernelSel4ArchAarch64": "ON" if wide else "OFF", "KernelWordSize": "64" if wide else "32"}
    elif architecture:
        found |= {"KernelArch": architecture, "KernelPlatform": platform, "KernelArchX86": "OFF"}
    return found
