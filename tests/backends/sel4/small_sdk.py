# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""An SDK of the right form, with nothing of seL4 in it, for what is decided before anything is compiled.

python -m tests.backends.sel4.small_sdk FILE [of-gcc-12]
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec.structs import replace

from camkes.backends.sel4.sdk.archive import packed, write_archive
from camkes.backends.sel4.sdk.description import SCHEMA, Configuration, Description, Part, ToolCommand
from tests.backends.sel4.project import USUAL

LEFT_OUT = ("import_paths", "cpp_flags", "template_paths", "connectors", "gpio_list", "dtb", "builds")
KERNEL = b"a kernel\n"
NAME = "x86_64/images/kernel-x86_64-pc99"
CONTENT: Mapping[str, bytes] = {
    NAME: KERNEL,
    "x86_64/sizes.yaml": b"",
    "licences/kernel/LICENSE": b"As you like.\n",
}
COMMAND = ToolCommand("gcc", ("-I@workspace@/kernel/libsel4/include", "-m64", "-g", "@includes@", "@flags@"))


def configuration(**given: object) -> Configuration:
    usual = {
        "name": "x86_64",
        "definitions": {},
        "cache": {"PLATFORM": "x86_64", "KernelIsMCS": "OFF", "KernelMaxNumNodes": "1", "RELEASE": "OFF"},
        "project": {
            **{name: value for name, value in USUAL.items() if name not in LEFT_OUT},
            "trace": False,
            "core_libraries": ["muslc", "sel4"],
        },
        "compile": dict.fromkeys(("C", "CXX", "ASM", "glue", "space", "heap", "runtime", "tables"), COMMAND),
        "link": dict.fromkeys(("C", "CXX"), COMMAND),
        "join": COMMAND,
        "heap": COMMAND,
        "objcopy": "objcopy",
        "nm": "nm",
        "loader": COMMAND,
        "archive": COMMAND,
        "boot": None,
        "kernel": "@build@/kernel.elf",
        "images": {"kernel-x86_64-pc99": "@build@/images/kernel-x86_64-pc99", "capdl-loader-image": ""},
        "qemu": ("qemu-system-x86_64", "-cpu", "Nehalem", "-nographic", "-serial", "mon:stdio"),
        "sizes": "@build@/sizes.yaml",
        "many": "20000",
    }
    return Configuration(**{**usual, **given})  # type: ignore[arg-type]


def description(*configurations: Configuration) -> Description:
    parts = (Part("kernel", "0123456789abcdef", ("GPL-2.0-only",)),)
    files = {name: packed(data) for name, data in CONTENT.items()}
    return Description(SCHEMA, "1.0", configurations or (configuration(),), parts, {"gcc": "gcc 12"}, files)


def write_small_sdk(path: Path, *, any_compiler: bool = False) -> Path:
    found = description()
    write_archive(path, replace(found, compilers={}) if any_compiler else found, CONTENT)
    return path


if __name__ == "__main__":
    write_small_sdk(Path(sys.argv[1]), any_compiler="of-gcc-12" not in sys.argv)
