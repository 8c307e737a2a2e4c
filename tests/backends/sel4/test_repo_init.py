# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""repo-init.sh: what it needs of the host, what it gets from servers, its messages when things are missing.

The servers are folders of this machine; ghc, make and what a build calls are stand-ins.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.written import write_files

pytestmark = pytest.mark.requirement("SEL4-20")

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "repo-init.sh"
MANIFEST = ROOT / "manifest.xml"

#: every command the script looks for
HOST = [
    *("git", "python3", "make", "cmake", "ninja", "gcc", "g++", "cpp", "cpio", "xmllint", "dtc", "ccache"),
    *("ghc", "ghc-pkg", "qemu-system-x86_64", "qemu-system-aarch64", "aarch64-linux-gnu-gcc"),
    *("aarch64-linux-gnu-g++", "rsync", "mkimage"),
]
#: what the script itself is written with
SHELL = ["bash", "basename", "dirname", "mkdir", "rm", "cat", "env", "ln"]

SERVERS = {"sel4": "seL4", "picotcp": "tass-belgium", "riscv": "riscv"}
LINKED = ("cmake-tool/init-build.sh", "cmake-tool/griddle", "easy-settings.cmake", "docs/sel4.md")

STANDINS = {
    "git": f'#!/bin/sh\nexec {shutil.which("git")} "$@"\n',
    "python3": '#!/bin/sh\ncase "$*" in *ensurepip*) exit ${NO_VENV:-0};; esac\n'
    f'exec {sys.executable} "$@"\n',
    "ghc-pkg": '#!/bin/sh\ncase "$NO_LIBRARY" in *$3*) ;; *) echo $3-1.0;; esac\n',
    "ghc": f"""#!{sys.executable}
import os, pathlib, sys
output = pathlib.Path(sys.argv[sys.argv.index("-o") + 1])
with open(os.environ["LOG"], "a") as log:
    print("ghc", output, file=log)
if os.environ.get("GHC_FAILS"):
    sys.exit("Main.hs:1:1: error")
output.write_text("")
""",
    "make": f"""#!{sys.executable}
import os, pathlib
python = pathlib.Path("projects/camkes-tool/.venv/bin/python")
python.parent.mkdir(parents=True, exist_ok=True)
python.write_text("#!/bin/sh\\necho \\"$@\\" >> $LOG\\n")
python.chmod(0o755)
""",
}


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def repository(folder: Path, files: dict[str, str]) -> str:
    """A repository with one more commit; its revision."""
    write_files(folder, files)
    git(folder, "init", "-q", "-b", "main", "--template=")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "commit")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture(scope="session")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What servers have: a small repository for each project, and one with a manifest that names them."""
    folder = tmp_path_factory.mktemp("servers")
    tree = ElementTree.parse(MANIFEST)
    for project in tree.getroot().iter("project"):
        server = SERVERS.get(project.get("remote") or "sel4")
        if server is not None:
            place = folder / server / (project.get("name") or "")
            files = {**dict.fromkeys(LINKED, "text\n"), "name": place.name}
            project.set("revision", repository(place, files))
            repository(place, {"later": "not what the manifest names\n"})
    own = folder / "camkes-rt"
    own.mkdir()
    shutil.copy(SCRIPT, own)
    tree.write(own / "manifest.xml")
    repository(own, {"docs/sel4.md": "text\n"})
    return folder


class Host:
    """A directory that is the whole PATH of a run, and servers of its own."""

    def __init__(self, path: Path, projects: Path) -> None:
        self.path = path
        self.workspace = path / "ws"
        self.servers = path / "servers"
        self.bin = path / "bin"
        self.bin.mkdir()
        for command in SHELL:
            found = shutil.which(command)
            assert found
            (self.bin / command).symlink_to(found)
        for command in HOST:
            (self.bin / command).write_text(STANDINS.get(command, "#!/bin/sh\n"))
            (self.bin / command).chmod(0o755)
        shutil.copytree(projects, self.servers)
        sections = [
            f'[url "file://{self.servers}/{server}/"]\n\tinsteadOf = https://github.com/{server}/\n'
            for server in SERVERS.values()
        ]
        (path / ".gitconfig").write_text("".join(sections))
        self.git("clone", "-q", f"file://{self.servers}/camkes-rt", str(path / "clone"))

    def remove(self, *commands: str) -> None:
        for command in commands:
            (self.bin / command).unlink()

    def git(self, *arguments: str) -> None:
        """git with the settings of this host."""
        environment = {**os.environ, "HOME": str(self.path)}
        subprocess.run(["git", *arguments], env=environment, check=True, capture_output=True)

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.path / "clone" / "repo-init.sh"), *arguments],
            cwd=self.path,
            env={"PATH": str(self.bin), "HOME": str(self.path), "LOG": str(self.path / "log"), **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def log(self) -> list[str]:
        log = self.path / "log"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def host(tmp_path: Path, projects: Path) -> Host:
    return Host(tmp_path, projects)


@pytest.mark.long
def test_a_workspace_from_a_fresh_clone(host: Host) -> None:
    run = host.run("ws")
    assert run.returncode == 0, run.stderr
    assert "the workspace is ready" in run.stdout
    for project in ElementTree.parse(host.path / "clone" / "manifest.xml").getroot().iter("project"):
        folder = host.workspace / (project.get("path") or "")
        if "notdefault" in (project.get("groups") or ""):
            assert not folder.exists(), "it is large, and nobody asked for it (-g)"
            continue
        # the build of the C library cannot copy a repository inside its folder
        assert (folder / ".git").is_file(), folder
        if project.get("remote") != "self":
            assert git(folder, "rev-parse", "HEAD") == project.get("revision")
    assert all((host.workspace / Path(name).name).exists() for name in LINKED[:3])
    assert (host.workspace / "README.md").exists()
    assert "init-build.sh -DCAMKES_APP=adder" in run.stdout


@pytest.mark.long
def test_can_run_again(host: Host) -> None:
    assert host.run("-p", "ws").returncode == 0
    assert host.run("-p", "ws").returncode == 0
    assert host.log.count("ghc tools/bin/parse-capDL") == 1, "it is there already"


@pytest.mark.long
def test_parse_capdl_is_built_again_for_another_revision(host: Host) -> None:
    assert host.run("-p", "ws").returncode == 0
    manifest = host.path / "clone" / "manifest.xml"
    old = git(host.workspace / "projects" / "capdl", "rev-parse", "HEAD")
    new = git(host.servers / "seL4" / "capdl", "rev-parse", "HEAD")
    manifest.write_text(manifest.read_text().replace(old, new))
    assert host.run("-p", "ws").returncode == 0
    assert git(host.workspace / "projects" / "capdl", "rev-parse", "HEAD") == new
    assert host.log.count("ghc tools/bin/parse-capDL") == 2


@pytest.mark.long
@pytest.mark.parametrize("command", ["parse-capDL", "stack"])
def test_ghc_is_not_needed_where_something_else_brings_parse_capdl(command: str, host: Host) -> None:
    (host.bin / "ghc").rename(host.bin / command)
    run = host.run("-p", "ws")
    assert run.returncode == 0, run.stderr
    assert "ghc tools/bin/parse-capDL" not in host.log


@pytest.mark.long
def test_ghc_is_not_needed_without_the_option(host: Host) -> None:
    host.remove("ghc", "ghc-pkg")
    run = host.run("ws")
    assert run.returncode == 0, run.stderr
    assert not (host.workspace / "tools" / "bin" / "parse-capDL").exists()


@pytest.mark.long
def test_parse_capdl_that_does_not_build(host: Host) -> None:
    run = host.run("-p", "ws", GHC_FAILS="1")
    assert run.returncode == 1
    assert "Main.hs:1:1: error" in run.stderr
    assert "parse-capDL could not be built" in run.stderr
    assert host.run("-p", "ws").returncode == 0, "again"


@pytest.mark.long
def test_the_python_environment_has_what_a_build_imports(host: Host) -> None:
    assert host.run("ws").returncode == 0
    installed = next(line for line in host.log if line.startswith("-m pip install"))
    assert {"ply", "pyfdt", "libarchive-c", "jsonschema"} <= set(installed.split())


@pytest.mark.long
def test_missing_packages_are_named_with_one_line_that_installs_all(host: Host) -> None:
    host.remove("dtc", "xmllint", "ghc", "ghc-pkg")
    run = host.run("-p", "ws", NO_VENV="1")
    assert run.returncode == 1
    assert "this host lacks: xmllint dtc venv of python3 parse-capDL, or ghc to build it" in run.stderr
    line = next(line for line in run.stderr.splitlines() if "install with:" in line)
    packages = line.partition("apt-get install ")[2].split()
    assert packages[:4] == ["libxml2-utils", "device-tree-compiler", "python3-venv", "ghc"]
    assert "libghc-lens-dev" in packages
    # neither is in Debian 12
    assert not {"repo", "stack"} & set(packages)
    assert not host.workspace.exists()


def test_a_library_that_ghc_lacks(host: Host) -> None:
    assert host.run("-c", NO_LIBRARY="yaml").returncode == 0, "parse-capDL is not asked for"
    run = host.run("-p", "-c", NO_LIBRARY="yaml")
    assert run.returncode == 1
    assert "sudo apt-get install libghc-yaml-dev\n" in run.stderr


@pytest.mark.long
def test_optional_packages_do_not_stop_it(host: Host) -> None:
    host.remove("qemu-system-aarch64", "ccache")
    run = host.run("ws")
    assert run.returncode == 0, run.stderr
    assert "only needed to configure and boot qemu-arm-virt: qemu-system-aarch64" in run.stderr
    assert "sudo apt-get install qemu-system-arm ccache\n" in run.stderr


@pytest.mark.long
def test_only_checks_the_host(host: Host) -> None:
    run = host.run("-c", "ws")
    assert run.returncode == 0
    assert "has what a build needs" in run.stdout
    assert not host.workspace.exists()


@pytest.mark.long
def test_an_unreachable_repository_of_the_tool(host: Host) -> None:
    run = host.run("-u", f"file://{host.path}/nowhere", "ws")
    assert run.returncode == 1
    assert f"projects/camkes-tool: could not reach file://{host.path}/nowhere" in run.stderr


@pytest.mark.long
def test_repositories_that_cannot_be_fetched_are_named_and_fetched_later(host: Host) -> None:
    servers = host.servers
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
    assert "run this command again" in run.stderr
    assert (host.workspace / "kernel" / ".git").exists()
    shutil.rmtree(servers / "seL4" / "musllibc")
    (servers / "musllibc").rename(servers / "seL4" / "musllibc")
    again = host.run("ws")
    assert again.returncode == 0, again.stderr
    assert "(only needed for: network)" in again.stderr


@pytest.mark.long
def test_an_interrupted_checkout_is_resumed(host: Host) -> None:
    real = STANDINS["git"]
    (host.bin / "git").write_text(
        real.replace("exec", 'case "$*" in *util_libs*) kill -INT $PPID;; esac\nexec')
    )
    assert host.run("ws").returncode != 0
    (host.bin / "git").write_text(real)
    run = host.run("ws")
    assert run.returncode == 0, run.stderr


@pytest.mark.long
def test_a_clone_made_by_hand_is_taken_over(host: Host) -> None:
    folder = host.workspace / "projects" / "musllibc"
    host.git("clone", "-q", f"file://{host.servers}/seL4/musllibc", str(folder))
    assert host.run("ws").returncode == 0
    assert (folder / ".git").is_file()


@pytest.mark.long
def test_a_link_is_left_as_it_is(host: Host) -> None:
    mine = host.path / "mine"
    before = repository(mine, {"cmake-tool/init-build.sh": "mine\n"})
    (host.workspace / "tools").mkdir(parents=True)
    (host.workspace / "tools" / "seL4").symlink_to(mine)
    run = host.run("ws")
    assert run.returncode == 0, run.stderr
    assert "tools/seL4 is a link: left as it is" in run.stderr
    assert git(mine, "rev-parse", "HEAD") == before
    assert (mine / ".git").is_dir()


@pytest.mark.long
def test_changes_of_the_user_are_kept(host: Host) -> None:
    assert host.run("ws").returncode == 0
    folder = host.workspace / "projects" / "util_libs"
    host.git("-C", str(folder), "fetch", "-q", "origin", "main")
    git(folder, "checkout", "-q", "FETCH_HEAD")
    (folder / "later").write_text("changed\n")
    run = host.run("ws")
    assert run.returncode == 1
    assert "projects/util_libs: has changes of its own in the way of revision" in run.stderr
    assert (folder / "later").read_text() == "changed\n"


@pytest.mark.long
def test_a_fork_keeps_its_name_and_branch(host: Host) -> None:
    fork = host.servers / "my-fork"
    repository(fork, {"docs/sel4.md": "text\n"})
    git(fork, "checkout", "-q", "-b", "topic")
    topic = repository(fork, {"docs/sel4.md": "topic\n"})
    run = host.run("-u", f"file://{fork}", "-b", "topic", "ws")
    assert run.returncode == 0, run.stderr
    assert git(host.workspace / "projects" / "camkes-tool", "rev-parse", "HEAD") == topic
    newer = repository(fork, {"docs/sel4.md": "newer\n"})
    assert host.run("-u", f"file://{fork}", "-b", "topic", "ws").returncode == 0
    assert git(host.workspace / "projects" / "camkes-tool", "rev-parse", "HEAD") == newer


@pytest.mark.long
def test_another_manifest(host: Host) -> None:
    run = host.run("-m", "nowhere.xml", "-b", "main", "ws")
    assert run.returncode == 2
    assert "no manifest 'nowhere.xml'" in run.stderr


@pytest.mark.long
def test_a_copy_of_an_installed_package_needs_a_clone(host: Host) -> None:
    """Also within another repository, whose branch is not meant."""
    package = host.path / "clone" / "site-packages"
    package.mkdir()
    for name in ("repo-init.sh", "manifest.xml"):
        shutil.copy2(host.path / "clone" / name, package)
    done = subprocess.run(
        [package / "repo-init.sh", "ws"],
        cwd=host.path,
        env={"PATH": str(host.bin), "HOME": str(host.path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2 and f"{package} is not a clone of camkes-rt" in done.stderr
    assert not host.workspace.exists()


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
