# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""repo-init.sh: what it asks of the host, what it hands to `repo`, what it says when things are missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "repo-init.sh"
MANIFEST = ROOT / "manifest.xml"

#: every command the script looks for; `repo` is made by each test
HOST = [
    *("git", "python3", "cmake", "ninja", "gcc", "g++", "cpp", "cpio", "xmllint", "dtc", "ccache", "stack"),
    *("qemu-system-x86_64", "qemu-system-aarch64", "aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++"),
]
#: what the script itself is written with
SHELL = ["bash", "basename", "dirname", "mkdir", "rm", "cat", "env"]

#: stands in for `repo`: notes its arguments, and checks out all but what REPO_FAILS names
FAKE_REPO = """#!/usr/bin/env python3
import os, pathlib, sys
from xml.etree import ElementTree
with open(os.environ["REPO_LOG"], "a") as log:
    print(*sys.argv[1:], file=log)
fails = os.environ.get("REPO_FAILS", "").split()
if sys.argv[1] in fails:
    sys.exit(1)
if sys.argv[1] == "init":
    pathlib.Path(".repo").mkdir(exist_ok=True)
if sys.argv[1] == "sync":
    for project in ElementTree.parse(os.environ["REPO_MANIFEST"]).getroot().iter("project"):
        if project.get("path") not in fails:
            pathlib.Path(project.get("path"), ".git").mkdir(parents=True, exist_ok=True)
    sys.exit(any("/" in f for f in fails))
"""


class Host:
    """A directory that is the whole PATH of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.script = SCRIPT
        self.log = path / "log"
        self.bin = path / "bin"
        self.bin.mkdir()
        for command in SHELL:
            found = shutil.which(command)
            assert found
            (self.bin / command).symlink_to(found)
        for command in HOST:
            self.add(command)
        (self.bin / "repo").write_text(FAKE_REPO)
        (self.bin / "repo").chmod(0o755)

    def add(self, command: str) -> None:
        real = {"git": shutil.which("git"), "python3": sys.executable}.get(command)
        (self.bin / command).write_text(f'#!/bin/sh\nexec {real} "$@"\n' if real else "#!/bin/sh\n")
        (self.bin / command).chmod(0o755)

    def remove(self, *commands: str) -> None:
        for command in commands:
            (self.bin / command).unlink()

    def git(self, *arguments: str) -> None:
        """git with the settings of this host."""
        environment = {**os.environ, "HOME": str(self.path)}
        subprocess.run(["git", *arguments], env=environment, check=True, capture_output=True)

    def run(self, *arguments: str, fails: str = "") -> subprocess.CompletedProcess[str]:
        environment = {
            "PATH": str(self.bin),
            "HOME": str(self.path),
            "REPO_LOG": str(self.log),
            "REPO_MANIFEST": str(MANIFEST),
            "REPO_FAILS": fails,
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        }
        return subprocess.run(
            [str(self.script), *arguments],
            cwd=self.path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def calls(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_makes_a_workspace(host: Host) -> None:
    run = host.run("-u", "https://example.org/team/camkes-rt", "-b", "main", "ws")
    assert run.returncode == 0, run.stderr
    assert host.calls[0] == "init -q -u https://example.org/team/camkes-rt -b main -m manifest.xml"
    assert host.calls[1].startswith("sync")
    assert (host.path / "ws/kernel/.git").exists()
    assert not (host.path / "ws/.repo/local_manifests").exists()
    assert "init-build.sh -DCAMKES_APP=adder" in run.stdout


def test_can_run_again(host: Host) -> None:
    arguments = ("-u", "https://example.org/team/camkes-rt", "-b", "main", "ws")
    assert host.run(*arguments).returncode == 0
    assert host.run(*arguments).returncode == 0
    assert host.calls[:2] == host.calls[2:]


def test_missing_packages_are_named_with_their_install_line(host: Host) -> None:
    host.remove("repo", "dtc", "xmllint")
    run = host.run("ws")
    assert run.returncode == 1
    assert "this host lacks: repo xmllint dtc" in run.stderr
    assert "sudo apt-get install repo libxml2-utils device-tree-compiler" in run.stderr
    assert not (host.path / "ws").exists()


def test_optional_packages_do_not_stop_it(host: Host) -> None:
    host.remove("qemu-system-aarch64", "stack")
    run = host.run("-b", "main", "ws")
    assert run.returncode == 0, run.stderr
    assert (
        "to configure and boot qemu-arm-virt: qemu-system-aarch64 (sudo apt-get install qemu-system-arm)"
        in run.stderr
    )
    assert "parse-capDL" in run.stderr


def test_only_checks_the_host(host: Host) -> None:
    run = host.run("-c")
    assert run.returncode == 0
    assert "has what a build needs" in run.stdout
    assert host.calls == []


def test_unreachable_repository(host: Host) -> None:
    run = host.run("-u", "https://example.org/nowhere", "-b", "main", "ws", fails="init")
    assert run.returncode == 1
    assert "could not reach https://example.org/nowhere" in run.stderr
    assert len(host.calls) == 1


def test_what_is_missing_is_named_with_the_reason(host: Host) -> None:
    """`git ls-remote` reaches everything but capdl."""
    (host.bin / "git").write_text('#!/bin/sh\ncase "$*" in *capdl*) exit 128;; esac\n')
    run = host.run("-u", "u/camkes-rt", "-b", "main", "ws", fails="projects/capdl tools/camkes-tool")
    assert run.returncode == 1
    assert "projects/capdl: could not reach https://github.com/seL4/capdl" in run.stderr
    assert "tools/camkes-tool: did not get revision 44c30497" in run.stderr
    assert "projects/musllibc" not in run.stderr
    assert "run this command again" in run.stderr
    again = host.run("-u", "u/camkes-rt", "-b", "main", "ws")
    assert again.returncode == 0, again.stderr


def test_what_single_applications_need_may_be_missing(host: Host) -> None:
    (host.bin / "git").write_text("#!/bin/sh\n")
    run = host.run("-u", "u/camkes-rt", "-b", "main", "ws", fails="projects/lwip")
    assert run.returncode == 0, run.stderr
    assert "projects/lwip" in run.stderr and "(only needed for: network)" in run.stderr
    assert "the workspace is ready" in run.stdout


def test_a_fork_keeps_its_name_and_branch(host: Host) -> None:
    run = host.run("-u", "https://example.org/me/my-fork.git", "-b", "topic", "ws")
    assert run.returncode == 0, run.stderr
    override = ElementTree.parse(host.path / "ws/.repo/local_manifests/camkes-rt.xml").getroot()
    removed = override.find("remove-project")
    project = override.find("project")
    assert removed is not None and removed.get("name") == "camkes-rt"
    assert project is not None
    assert (project.get("name"), project.get("revision")) == ("my-fork", "topic")
    assert project.get("path") == "projects/camkes-tool"


def test_another_manifest(host: Host) -> None:
    run = host.run("-m", "nowhere.xml", "-b", "main", "ws")
    assert run.returncode == 2
    assert "no manifest 'nowhere.xml'" in run.stderr


@pytest.mark.parametrize("arguments", [("-x",), ("a", "b")])
def test_wrong_usage(host: Host, arguments: tuple[str, ...]) -> None:
    run = host.run(*arguments)
    assert run.returncode == 2
    assert "usage: repo-init.sh" in run.stderr


def test_shellcheck() -> None:
    shellcheck = shutil.which("shellcheck")
    if shellcheck is None:
        pytest.skip("shellcheck is not installed")
    run = subprocess.run([shellcheck, str(SCRIPT)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_manifest_pins_every_project_but_this_one() -> None:
    root = ElementTree.parse(MANIFEST).getroot()
    projects = {project.get("path"): project for project in root.iter("project")}
    for path, project in projects.items():
        revision = project.get("revision") or ""
        if path != "projects/camkes-tool":
            assert len(revision) == 40 and int(revision, 16), path
    links = {link.get("dest") for link in root.iter("linkfile")}
    assert {"init-build.sh", "griddle", "easy-settings.cmake"} <= links
    # a second Findcamkes-tool.cmake must not be where CMake looks for packages
    assert projects["tools/camkes-tool"].get("name") == "camkes-tool"
    needed = {"kernel", "tools/seL4"} | {
        f"projects/{name}"
        for name in [
            "musllibc",
            "sel4runtime",
            "util_libs",
            "seL4_libs",
            "capdl",
            "projects_libs",
            "global-components",
        ]
    }
    assert needed <= set(projects)
