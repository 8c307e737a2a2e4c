# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the workflow of a new project installs: this tool, from where a server can get it.

A package index does not have it. So that is the repository that it was installed from, or else a wheel in the
project, which is made of the files that are installed here.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import stat
import zipfile
from collections.abc import Sequence
from importlib.metadata import Distribution, PackageNotFoundError, PackagePath, distribution
from pathlib import Path

from msgspec import Struct

from camkes import process
from camkes.resources import ROOT

_NAME = "camkes-rt"
#: where the wheel is in a project
_FOLDER = Path(".github")
#: of an installation, which the wheel that was installed did not have
_OF_INSTALLER = {"INSTALLER", "REQUESTED", "RECORD", "direct_url.json"}
_SCHEME = "https://"
_TIME = (1980, 1, 1, 0, 0, 0)


class ToolSource(Struct, frozen=True):
    """What pipx installs. `wheel` is a file that it is in the project, by its path there."""

    reference: str
    wheel: tuple[Path, bytes] | None = None


def source_of_tool() -> ToolSource:
    """Where a server gets this version of the tool from. In a clone, without an installation, that is the
    repository of the clone, if it has an address that others can use; else the name of a package."""
    try:
        found = distribution(_NAME)
    except PackageNotFoundError:
        return _of_clone()
    said = json.loads(found.read_text("direct_url.json") or "{}")
    if "vcs_info" in said and _is_public(said["url"]):
        return ToolSource(f"{said['vcs_info']['vcs']}+{said['url']}@{said['vcs_info']['commit_id']}")
    if said.get("dir_info", {}).get("editable") or not found.files:
        return _of_clone()
    path = _FOLDER / f"camkes_rt-{found.version}-py3-none-any.whl"
    try:
        return ToolSource(f"./{path}", (path, wheel_of(found, found.files)))
    except OSError:  # a file of the installation is missing
        return ToolSource(_NAME)


def _of_clone() -> ToolSource:
    if not (ROOT / ".git").exists():
        return ToolSource(_NAME)
    try:
        done = process.run(["git", "-C", str(ROOT), "remote", "get-url", "origin"])
    except OSError:  # without git
        return ToolSource(_NAME)
    address = done.output.strip()
    return ToolSource(f"git+{address}" if done.status == 0 and _is_public(address) else _NAME)


def _is_public(address: str) -> bool:
    """Whether a server can use an address without a key. One with a name or a token of its user has a key,
    which is not to be in files of a project."""
    return address.startswith(_SCHEME) and "@" not in address.removeprefix(_SCHEME).partition("/")[0]


def wheel_of(installed: Distribution, files: Sequence[PackagePath]) -> bytes:
    """A wheel with the files of an installation; the same files make the same wheel."""
    made = io.BytesIO()
    record = []
    with zipfile.ZipFile(made, "w") as archive:

        def add(name: str, data: bytes, mode: int = 0o644) -> None:
            about = zipfile.ZipInfo(name, _TIME)
            about.external_attr = (stat.S_IFREG | mode) << 16
            about.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(about, data)

        for file in sorted(files, key=str):
            described = file.parent.name.endswith(".dist-info")
            if ".." in file.parts or file.suffix == ".pyc" or (described and file.name in _OF_INSTALLER):
                continue
            path = Path(str(installed.locate_file(file)))
            data = path.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            record.append(f"{file},sha256={digest},{len(data)}\n")
            add(str(file), data, 0o755 if path.stat().st_mode & 0o100 else 0o644)
        folder = next(file.parent for file in files if file.name == "METADATA")
        add(f"{folder}/RECORD", "".join([*record, f"{folder}/RECORD,,\n"]).encode())
    return made.getvalue()
