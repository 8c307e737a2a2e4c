# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""repo-init.sh with the real `repo`, and servers that are folders of this machine.

Needs a clone of the `repo` tool: CAMKES_REPO_TOOL=DIR.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest

from .test_repo_init import MANIFEST, ROOT, Host

TOOL = os.environ.get("CAMKES_REPO_TOOL", "")
pytestmark = pytest.mark.skipif(not TOOL, reason="CAMKES_REPO_TOOL names no clone of repo")

SERVERS = {"sel4": "seL4", "picotcp": "tass-belgium", "riscv": "riscv"}
LINKED = ("cmake-tool/init-build.sh", "cmake-tool/griddle", "easy-settings.cmake", "docs/sel4.md")


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def repository(folder: Path, files: dict[str, str]) -> str:
    """A repository with one commit; its revision."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "first")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def host(tmp_path: Path) -> Host:
    """A host whose servers have a small repository for each project of the manifest."""
    host = Host(tmp_path)
    servers = tmp_path / "servers"
    tree = ElementTree.parse(MANIFEST)
    for project in tree.getroot().iter("project"):
        server = SERVERS.get(project.get("remote") or "sel4")
        if server is not None:
            folder = servers / server / (project.get("name") or "")
            project.set("revision", repository(folder, dict.fromkeys(LINKED, "text\n")))
    own = servers / "camkes-rt"
    own.mkdir()
    shutil.copy(ROOT / "repo-init.sh", own)
    tree.write(own / "manifest.xml")
    repository(own, {"docs/sel4.md": "text\n"})
    for server in SERVERS.values():
        setting = f"url.file://{servers}/{server}/.insteadOf"
        host.git("config", "--global", setting, f"https://github.com/{server}/")
    host.git("config", "--global", "user.name", "x")
    host.git("config", "--global", "user.email", "x@example.org")
    host.git("clone", "-q", f"file://{own}", str(tmp_path / "clone"))
    branch = git(Path(TOOL), "rev-parse", "--abbrev-ref", "HEAD")
    (host.bin / "repo").write_text(
        f"#!/bin/sh\nexport REPO_URL=file://{TOOL} REPO_REV={branch}\n"
        f'test "$1" = init && shift && set -- init --no-repo-verify "$@"\n'
        f'exec python3 {TOOL}/repo "$@"\n'
    )
    host.script = tmp_path / "clone" / "repo-init.sh"
    return host


def test_a_workspace_from_a_fresh_clone(host: Host) -> None:
    run = host.run("ws")
    assert run.returncode == 0, run.stderr
    assert "the workspace is ready" in run.stdout
    paths = [project.get("path") or "" for project in ElementTree.parse(MANIFEST).getroot().iter("project")]
    assert all((host.path / "ws" / path / ".git").exists() for path in paths)
    assert all((host.path / "ws" / Path(name).name).exists() for name in LINKED[:3])
    assert host.run("ws").returncode == 0, "again"


def test_what_cannot_be_had_is_named_and_comes_later(host: Host) -> None:
    servers = host.path / "servers"
    (servers / "seL4" / "lwip").rename(servers / "lwip")
    (servers / "seL4" / "musllibc").rename(servers / "musllibc")
    repository(servers / "seL4" / "musllibc", {"other": "text\n"})
    run = host.run("ws")
    assert run.returncode == 1
    assert "projects/musllibc: did not get revision" in run.stderr
    assert (
        "projects/lwip: could not reach https://github.com/seL4/lwip (only needed for: network)" in run.stderr
    )
    assert "projects/capdl:" not in run.stderr
    assert (host.path / "ws" / "kernel" / ".git").exists()
    shutil.rmtree(servers / "seL4" / "musllibc")
    (servers / "musllibc").rename(servers / "seL4" / "musllibc")
    again = host.run("ws")
    assert again.returncode == 0, again.stderr
    assert (host.path / "ws" / "projects" / "musllibc" / ".git").exists()
    assert "(only needed for: network)" in again.stderr


def test_an_interrupted_one_goes_on(host: Host) -> None:
    real = host.bin / "repo"
    text = real.read_text()
    real.write_text(
        text.replace("exec ", 'test "$1" = sync && { mkdir -p kernel; kill -INT $PPID; exit 130; }\nexec ')
    )
    assert host.run("ws").returncode != 0
    real.write_text(text)
    run = host.run("ws")
    assert run.returncode == 0, run.stderr
