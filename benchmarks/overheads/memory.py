# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the threads of an application take in memory on a 64-bit seL4 kernel without MCS.

Reads a build folder: the kernel objects of NAME.cdl and the symbols of the images. Prints a row for each
image: its threads, the bytes of their TCBs, stacks, IPC buffers and thread-local storage, of endpoints and
notifications, of its CNode and page tables, and of its code.

    .venv/bin/python benchmarks/overheads/memory.py FOLDER
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

from elftools.elf.elffile import ELFFile
from msgspec import Struct

#: bytes of kernel objects; all others but frames and CNodes are tables of a page
OBJECTS = {"tcb": 2048, "ep": 16, "notification": 32}
SLOT, PAGE = 32, 4096
TABLES = ("pt", "pd", "pdpt", "pml4", "pud", "pgd")

_OBJECT = re.compile(r"^(\S+) = (\w+)(?: \((\d+) bits)?", re.MULTILINE)
#: of the symbols of an image; stacks and IPC buffers lie between two pages that are not mapped; one thread
#: has its storage in a variable of sel4runtime
_SYMBOL = re.compile(r"_camkes_(stack|ipc_buffer|tls)_\w+|static_(tls)")
GUARDS = {"stack": 2 * PAGE, "ipc_buffer": 2 * PAGE, "tls": 0}


class Image(Struct, frozen=True):
    """Numbers of bytes, but for `threads`."""

    name: str
    threads: int
    tcbs: int
    stack: int
    ipc_buffer: int
    tls: int
    endpoints: int
    cnode: int
    tables: int
    code: int


def objects(cdl: str) -> list[tuple[str, str, int]]:
    """Name, kind and bytes of each object but frames."""
    found = []
    for name, kind, bits in _OBJECT.findall(cdl.partition("caps {")[0]):
        if kind in OBJECTS:
            found.append((name, kind, OBJECTS[kind]))
        elif kind == "cnode":
            found.append((name, kind, SLOT << int(bits)))
        elif kind in TABLES:
            found.append((name, "table", PAGE))
    return found


def sections(path: Path) -> Counter[str]:
    """Bytes of an image, of its code, and of what its threads have there."""
    sizes: Counter[str] = Counter()
    with path.open("rb") as file:
        elf = ELFFile(file)
        for segment in elf.iter_segments("PT_LOAD"):
            sizes["image"] += segment["p_memsz"]
            if segment["p_flags"] & 1:
                sizes["code"] += segment["p_memsz"]
        for symbol in elf.get_section_by_name(".symtab").iter_symbols():
            match = _SYMBOL.fullmatch(symbol.name)
            if match is not None:
                part = match[1] or match[2]
                sizes[part] += symbol["st_size"] - GUARDS[part]
    return sizes


def image(name: str, all_objects: list[tuple[str, str, int]], sizes: Counter[str]) -> Image:
    own: Counter[str] = Counter()
    threads = 0
    for each, kind, size in all_objects:
        if re.match(re.escape(name) + r"(?![\w])", each):
            own[kind] += size
            threads += kind == "tcb"
    return Image(
        name,
        threads,
        own["tcb"],
        sizes["stack"],
        sizes["ipc_buffer"],
        sizes["tls"],
        own["ep"] + own["notification"],
        own["cnode"],
        own["table"],
        sizes["code"],
    )


def table(images: list[Image]) -> str:
    names = [*Image.__struct_fields__, "of a thread"]
    lines = [" | ".join(["", *names, ""]).strip(), "|" + "---|" * len(names)]
    for each in images:
        per_thread = (each.tcbs + each.stack + each.ipc_buffer + each.tls) // each.threads
        values = [getattr(each, field) for field in Image.__struct_fields__]
        lines.append("| " + " | ".join(map(str, [*values, per_thread])) + " |")
    return "\n".join(lines)


def specification(folder: Path) -> str:
    """The kernel objects of the build in a folder."""
    found = sorted(folder.glob("*.cdl"))
    if len(found) != 1:
        sys.exit(f"{folder} has no build of one application")
    return found[0].read_text()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    folder = parser.parse_args().folder
    found = objects(specification(folder))
    images = [image(path.stem, found, sections(path)) for path in sorted(folder.glob("*.elf"))]
    print(table([each for each in images if each.threads > 0]))


if __name__ == "__main__":
    main()
