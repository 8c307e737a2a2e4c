# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Paths of the tool's files that are not Python: templates, C sources, CMake modules.

In a checkout they are beside the package, in an installed one below it.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_INSTALLED = _PACKAGE / "data"

ROOT = _INSTALLED if _INSTALLED.is_dir() else _PACKAGE.parent
TEMPLATES = ROOT / "templates"
RUNTIME = ROOT / "runtime"
HOST_KERNEL = ROOT / "kernel" / "host"
#: what a run has in place of device components: `.camkes` files that take the place of those of the same path
DEVICES = HOST_KERNEL / "devices"
SEL4_KERNEL = ROOT / "kernel" / "sel4"
#: an installed tool has those of which new projects are made
EXAMPLES = ROOT / "examples"
_REPO_INIT = shlex.quote(str(ROOT / "repo-init.sh"))
#: what makes a workspace for seL4; an installed tool does not know where its repository is
MAKE_WORKSPACE = f"{_REPO_INIT} -u URL -b BRANCH DIR" if ROOT == _INSTALLED else f"{_REPO_INIT} DIR"


def install_packages(*names: str) -> str:
    """The line that installs packages of Python where this tool finds them."""
    packages = shlex.join(names)
    if Path(sys.prefix, "pipx_metadata.json").is_file():
        return f"pipx inject camkes-rt {packages}"
    return f"{shlex.quote(sys.executable)} -m pip install {packages}"
