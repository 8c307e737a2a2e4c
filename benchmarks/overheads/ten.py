# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a system of ten instances takes in memory: `ten/`, five tasks and five servers without protocols.

Builds it as a release image in the workspace that SEL4_WORKSPACE names, and in that of camkes-tool, if
SEL4_WORKSPACE_UPSTREAM names one; python3 on the path has what camkes-tool needs then. Prints a row for each:
threads, and the bytes of the kernel objects (with endpoints, CNodes and page tables), of all images, and in
these of code, stacks, IPC buffers and what else there is.

    SEL4_WORKSPACE=DIR SEL4_WORKSPACE_UPSTREAM=DIR .venv/bin/python benchmarks/overheads/ten.py
"""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from pathlib import Path

from memory import objects, sections, specification
from overheads import APPLICATION, build, places

PARTS = ("code", "stack", "ipc_buffer")

#: the file of an image
_FILE = re.compile(r'FileData "([^"]+)"')


def row(name: str, folder: Path) -> str:
    """Of the build in a folder."""
    text = specification(folder)
    found = objects(text)
    sizes: Counter[str] = Counter()
    for image in sorted(set(_FILE.findall(text))):
        sizes += sections(folder / image)
    threads = sum(kind == "tcb" for _, kind, _ in found)
    parts = [sizes[part] for part in PARTS]
    figures = (threads, sum(size for *_, size in found), sizes["image"], *parts, sizes["image"] - sum(parts))
    return f"| {name} | {' | '.join(map(str, figures))} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--output", type=Path, metavar="DIR", help="keep the builds in this folder")
    with places(parser.parse_args().output) as (workspace, folder):
        tools = {"this tool": workspace}
        if os.environ.get("SEL4_WORKSPACE_UPSTREAM"):
            tools["camkes-tool"] = Path(os.environ["SEL4_WORKSPACE_UPSTREAM"]).absolute()
        print("| built by | threads | kernel objects | images | code | stacks | IPC buffers | other |")
        print("|---|---|---|---|---|---|---|---|")
        for name, place in tools.items():
            output = folder / name.replace(" ", "-")
            output.mkdir(exist_ok=True)
            build(place, output, "x86_64", debug=False, application=APPLICATION.parent / "ten")
            print(row(name, output), flush=True)


if __name__ == "__main__":
    main()
