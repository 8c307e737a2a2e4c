# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The tool is installed from a wheel and works in a folder without a clone."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from camkes import __version__
from tests.backends.host.test_host import CLIENT, SERVER, SYSTEM
from tests.written import write_files

pytestmark = pytest.mark.requirement("TOOL-25")

ROOT = Path(__file__).resolve().parents[3]
#: the packages of the tests take the place of those that pip would fetch
PACKAGES = [p for p in sys.path if p.endswith("site-packages")]


def other_pythons() -> list[str]:
    """Interpreters of other versions that the tool supports, where pyenv has them."""
    found = {}
    for path in sorted(Path.home().glob(".pyenv/versions/3.*/bin/python3")):
        minor = int(path.parts[-3].split(".")[1])
        if minor >= 11 and minor != sys.version_info.minor:
            found[minor] = str(path)
    return list(found.values())[-1:]


def call(*words: str | Path, cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {
        k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV", "CAMKES"))
    }
    return subprocess.run(
        [str(word) for word in words],
        cwd=cwd,
        env={**environment, **more},
        capture_output=True,
        text=True,
        check=False,
        input=more.get("INPUT", ""),
    )


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the source distribution that it was built from."""
    folder = tmp_path_factory.mktemp("dist")
    # not isolated where the backend is there, so that nothing is fetched
    options = ["--no-isolation"] if importlib.util.find_spec("hatchling") else []
    done = call(sys.executable, "-m", "build", *options, "-o", folder, ROOT, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(
    scope="module",
    params=[sys.executable, *(pytest.param(path, marks=pytest.mark.long) for path in other_pythons())],
)
def installed(
    distributions: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Path:
    """The `bin` folder of an environment that has the wheel, and nothing of this checkout."""
    folder = tmp_path_factory.mktemp("venv")
    assert call(request.param, "-m", "venv", "--without-pip", folder, cwd=folder).returncode == 0
    (wheel,) = distributions.glob("*.whl")
    pip = ("--python", folder / "bin" / "python", "install", "-q", "--no-deps", "--no-index", wheel)
    done = call(sys.executable, "-m", "pip", "--disable-pip-version-check", *pip, cwd=folder)
    assert done.returncode == 0, done.stderr
    if request.param != sys.executable:  # the one dependency that is compiled for a version of Python
        done = call(
            sys.executable, "-m", "pip", "--disable-pip-version-check", *pip[:4], "msgspec", cwd=folder
        )
        if done.returncode != 0:
            pytest.skip(f"msgspec for {request.param} cannot be fetched")
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text("\n".join(PACKAGES))
    for path in sorted(site.rglob("*")):
        path.chmod(path.stat().st_mode & ~0o222)
    return folder / "bin"


@pytest.fixture
def application(tmp_path: Path) -> Path:
    return write_files(tmp_path / "app", {"a.camkes": SYSTEM, "Client.c": CLIENT, "Server.c": SERVER})


def files(folder: Path) -> dict[Path, int]:
    return {
        p: p.stat().st_mtime_ns
        for p in folder.rglob("*")
        if p.is_file() and p.suffix not in (".pyc", ".marshal")
    }


@pytest.mark.long
def test_an_installed_tool_works_without_a_clone(installed: Path, application: Path, tmp_path: Path) -> None:
    camkes = installed / "camkes"
    cache = {
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "CFLAGS": "-O0",  # of the host kernel
        "PATH": f"{installed}{os.pathsep}{os.environ['PATH']}",
    }
    before = files(installed.parent)

    def run(*words: str, **more: str) -> str:
        done = call(camkes, *words, cwd=application, **cache, **more)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    where = call(
        installed / "python",
        "-c",
        "from camkes import resources, parser; print(resources.ROOT); print(parser.__file__)",
        cwd=application,
    )
    assert all(Path(line).is_relative_to(installed.parent) for line in where.stdout.splitlines()), where
    assert len(where.stdout.splitlines()) == 2, where.stderr
    assert run("--version") == f"camkes-rt {__version__}\n"
    assert "good" in run("check", "a.camkes")
    assert json.loads(run("dump", "a.camkes"))
    assert "built" in run("build", "a.camkes")
    assert "c: 42\n" in run("run", "a.camkes")
    assert run("graph", "a.camkes").startswith("digraph")
    assert "E0501" in run("explain", "E0501")
    assert run("explain").count("\n") > 100
    run("fmt", "a.camkes")
    assert "camkes" in run("completion", "bash")
    assert str(ROOT) not in run("plan", "a.camkes")
    assert files(installed.parent) == before


@pytest.mark.long
def test_the_editor_server_starts(installed: Path, application: Path) -> None:
    messages = (
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    )
    text = ""
    for message in messages:
        body = json.dumps({"jsonrpc": "2.0", **message})
        text += f"Content-Length: {len(body)}\r\n\r\n{body}"
    done = call(installed / "camkes", "lsp", cwd=application, INPUT=text)
    assert done.returncode == 0, done.stderr
    assert '"serverInfo"' in done.stdout and __version__ in done.stdout


@pytest.mark.long
def test_the_source_distribution_is_a_checkout_that_builds(distributions: Path) -> None:
    (archive,) = distributions.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    wanted = (
        "templates/glue.template.c",
        "runtime/src/core/start.c",
        "kernel/sel4/CMakeLists.txt",
        "LICENSES",
    )
    assert {"camkes/parser/camkes.lark", "repo-init.sh", "cmake/camkes.cmake"} <= names
    assert all(any(name.startswith(w) for name in names) for w in wanted)
    assert not any("__pycache__" in name or ".git/" in name for name in names)


@pytest.mark.long
def test_every_data_file_of_the_repository_is_in_the_wheel(distributions: Path) -> None:
    listed = call("git", "ls-files", "templates", "runtime", "kernel", "cmake", "camkes", "parser", cwd=ROOT)
    if listed.returncode != 0:
        pytest.skip("not a clone")
    (wheel,) = distributions.glob("*.whl")
    listing = call(sys.executable, "-m", "zipfile", "-l", wheel, cwd=ROOT).stdout
    inside = {line.split()[0] for line in listing.splitlines()}
    for name in listed.stdout.splitlines():
        if name == "camkes/parser" or name.endswith(".gitignore") or not (ROOT / name).exists():
            continue
        top = name.partition("/")[0]
        place = {"camkes": name, "parser": f"camkes/{name}"}.get(top, f"camkes/data/{name}")
        assert place in inside


def test_no_document_names_a_package_that_no_index_has() -> None:
    texts = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "camkes" / "cli").rglob("*.py")]
    for path in texts:
        text = path.read_text()
        assert "install camkes-rt" not in text and "install 'camkes-rt" not in text, path
