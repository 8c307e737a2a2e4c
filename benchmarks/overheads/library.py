# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a request costs with the priority-aware-camkes library (Sudvarg and Gill, 2022) on camkes-tool.

Builds `library/` with camkes-tool in the workspace that SEL4_WORKSPACE_UPSTREAM names, with the checkout of
the library that PRIORITY_AWARE_CAMKES names, and boots it. overheads.py does this where both are set. python3
on the path has what camkes-tool needs.

    SEL4_WORKSPACE_UPSTREAM=DIR PRIORITY_AWARE_CAMKES=DIR .venv/bin/python benchmarks/overheads/library.py
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from overheads import APPLICATION, MEASURE, Cost, boot, build, costs, table

SOURCES = APPLICATION.parent / "library"


def write(checkout: Path, folder: Path) -> None:
    """The application, with the library where its templates look for it."""
    shutil.copytree(SOURCES, folder, dirs_exist_ok=True)
    shutil.copytree(MEASURE / "include", folder / "include", dirs_exist_ok=True)
    link = folder / "priority-aware-camkes"
    link.unlink(missing_ok=True)
    link.symlink_to(checkout)


def rows(folder: Path, platform: str, *, debug: bool) -> dict[str, Cost]:
    """Its rows of the table, built in this folder; none without the workspace and the checkout."""
    named = [os.environ.get(name) for name in ("SEL4_WORKSPACE_UPSTREAM", "PRIORITY_AWARE_CAMKES")]
    workspace, checkout = (Path(name).absolute() if name else None for name in named)
    if workspace is None or checkout is None:
        return {}
    application, output = folder / "library", folder / "library-build"
    write(checkout, application)
    output.mkdir(exist_ok=True)
    build(workspace, output, platform, debug=debug, application=application)
    return costs(boot(output, platform))


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        found = rows(Path(temporary), "x86_64", debug=False)
    print(table(found) if found else __doc__)


if __name__ == "__main__":
    main()
