# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Public CAmkES files, and the options that the build of each would give.

CAMKES_CORPUS names a folder of checkouts, each under the name of its repository: `camkes-tool`, `camkes`,
`global-components`, `camkes-vm`, `camkes-vm-examples`, `rumprun`, `sel4-tutorials`. Every other repository
is a folder OWNER+NAME; repositories of one owner may import from each other. CAMKES_CORPUS_DTB may name a
folder of device trees (`sabre.dtb`, ...) for the files that ask one.
"""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from camkes.resolve import LoadOptions

#: The platform folders of a platform, most special first.
PLATFORMS = {
    "x86_64": ("pc99", "x86"),
    "sabre": ("imx6", "arm_common", "arm", "sabre"),
    "tx2": ("tx2", "arm_common", "arm"),
    "exynos5422": ("exynos5422", "exynos5", "arm_common", "arm"),
    "qemu-arm-virt": ("qemu-arm-virt", "arm_common", "arm"),
    "odroidc2": ("odroidc2", "arm_common", "arm"),
    "tk1": ("tk1", "arm_common", "arm"),
    "tx1": ("tx1", "arm_common", "arm"),
    "zynqmp": ("zynqmp", "arm_common", "arm"),
}

#: Words in paths that are not names of platforms, but imply one.
WORDS = {"zcu102": "zynqmp", "fdtgen": "sabre", "good/dtb": "sabre", "ResetServer": "tx2"}

#: Macros that the build of an application gives.
DEFINES = ("-DCAMKES_TOOL_PROCESSING", '-DPICOSERVER_IP_ADDR="10.0.0.2"')

#: Folders of applications, by what repositories call them.
APPLICATIONS = ("apps", "tutorials")


def corpus() -> Path | None:
    folder = os.environ.get("CAMKES_CORPUS")
    return Path(folder) if folder else None


def files(root: Path) -> Iterator[Path]:
    """Every file of the language in the corpus. What a fork has not changed is there once."""
    seen: set[tuple[Path, bytes]] = set()
    for repository in sorted(filter(Path.is_dir, root.iterdir()), key=lambda path: ("+" in path.name, path)):
        for suffix in ("camkes", "idl4"):
            for file in sorted(path for path in repository.rglob(f"*.{suffix}") if path.is_file()):
                key = file.relative_to(repository), file.read_bytes()
                if key not in seen:
                    seen.add(key)
                    yield file


@cache
def folders_of(root: Path, owner: str) -> tuple[Path, ...]:
    """The folders of all repositories of an owner that hold files of the language, or headers."""
    found = {
        file.parent
        for repository in sorted(root.glob(f"{owner}+*"))
        for suffix in ("camkes", "idl4", "h")
        for file in repository.rglob(f"*.{suffix}")
        if suffix != "h" or file.parent.name in ("include", "camkes-include")
    }
    return tuple(sorted(found))


def application(root: Path, file: Path) -> Path:
    """The folder of the application that a file belongs to, or its own folder."""
    parts = file.relative_to(root).parts
    if parts[1] not in APPLICATIONS:
        return file.parent
    depth = 4 if len(parts) > 4 and (parts[2] in ("Arm", "x86") or parts[1] == "tutorials") else 3
    return root.joinpath(*parts[:depth])


def platform(root: Path, file: Path) -> str:
    """A platform that a file is for."""
    parts = file.relative_to(root).parts
    text = "/".join(parts)
    for name in PLATFORMS:
        if name in text:
            return name
    for word, name in WORDS.items():
        if word in text:
            return name
    if "Arm" in text or "tutorials" in parts:
        # a virtual machine says what it is made of in a file for each platform
        folder = application(root, file)
        for name in ("qemu-arm-virt", "exynos5422"):
            if (folder / name).is_dir():
                return name
        return "exynos5422"
    return "x86_64"


def options(root: Path, file: Path, name: str | None = None) -> LoadOptions:
    """The options that the build of a file gives, as far as they can be guessed."""
    name = name or platform(root, file)
    platforms = PLATFORMS.get(name, (name, "arm_common", "arm"))
    components = root / "global-components"
    standard = root / "camkes-tool" / "components"
    machines = root / "camkes-vm"
    machine = machines / "components" / ("VM" if name == "x86_64" else "VM_Arm")
    folder = application(root, file)
    below = [path for path in sorted(folder.rglob("*")) if path.is_dir()]
    # a folder for another platform is not looked into
    below = [path for path in below if path.name == name or path.name not in PLATFORMS]
    plat = [components / "plat_components" / p for p in platforms]
    plat += [standard, *(standard / kind / p for p in platforms for kind in ("plat", "arch"))]
    plat.append(standard / "plat/pc99/plat/components/serial_com1")
    include = [p for p in sorted(components.rglob("*include")) if p.is_dir()]
    include += [q for p in include for part in platforms if (q := p / "plat" / part).is_dir()]
    plat += [p for p in include if p.name == "camkes-include"]
    include += [
        root / "rumprun/platform/sel4/camkes",
        machine,
        *(machine / "plat_include" / p for p in platforms),
    ]
    include += [
        machines / "components" / n for n in ("Sataserver/include/plat/empty", "StringReverse/include")
    ]
    trees = os.environ.get("CAMKES_CORPUS_DTB")
    tree = Path(trees) / f"{name}.dtb" if trees else None
    owner, plus, _ = file.relative_to(root).parts[0].partition("+")
    elsewhere = folders_of(root, owner) if plus else ()
    return LoadOptions(
        import_path=(
            *(components / n for n in ("", "interfaces", "components")),
            *(machines / n for n in ("components", "interfaces")),
            root / "rumprun/platform/sel4/camkes",
            *plat,
            folder,
            folder / name,
            *below,
            *elsewhere,
        ),
        cpp_flags=(*DEFINES, "-DKernelArchX86" if name == "x86_64" else "-DKernelArchArm"),
        include_path=(folder, *below, *include, *elsewhere),
        allow_forward_references="multiassembly" in str(file),
        dtb=tree if tree and tree.exists() else None,
    )
