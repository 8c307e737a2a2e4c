# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a program in the sandbox tries to do to what is around it (attack.c), as root and as a user."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from camkes import sandbox
from tests.host.kernel import CC
from tests.processes import wait_for
from tests.project.support import app, find
from tests.sandbox.world import World, libc, world

pytestmark = [
    pytest.mark.requirement("TOOL-23"),
    pytest.mark.skipif(not sandbox.available(), reason="this machine has no sandbox"),
]

HERE = Path(__file__).parent
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror"]
SOURCES = [str(HERE / name) for name in ("attack.c", "named.c")]
USER = 12345
#: What succeeds. The first two lines change nothing; a pair of streams has no way out.
MEANT = {
    *("chmod", "fchmod", "chown", "fchown", "utimensat", "futimens"),
    *("flock", "F_SETLK", "F_OFD_SETLK", "setpgid-out"),
    "socketpair-1-1",
}


def _become_user() -> None:
    """Become an ordinary user, who can read this checkout and this Python wherever they are."""
    reading = 1 << 2 if sandbox._capabilities() & 1 << 2 else 1 << 1
    sandbox._set_capabilities(sandbox._capabilities(), reading)
    libc.prctl(28, 0b1111, 0, 0, 0)  # keeps them
    os.setgroups([])
    os.setresgid(USER, USER, USER)
    os.setresuid(USER, USER, USER)
    sandbox._set_capabilities(reading, reading)
    libc.prctl(47, 2, reading.bit_length() - 1, 0, 0)  # also for the programs that it becomes


def _without_capabilities() -> None:
    """Become what root is in some containers, which no longer can become another user."""
    for number in range(64):
        libc.prctl(24, number, 0, 0, 0)
    sandbox._set_capabilities(0, 0)


@contextmanager
def _place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="attack-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that all users can reach."""
    with _place() as folder:
        yield folder


@pytest.fixture(scope="module")
def attack() -> Iterator[str]:
    """The program."""
    with _place() as folder:
        program = str(folder / "attack")
        subprocess.run([CC, *FLAGS, *SOURCES, "-o", program], check=True)
        yield program


@pytest.fixture(params=["invoker", "user", "root"])
def user(request: pytest.FixtureRequest) -> int | None:
    """Who attacks; None is who runs the tests, 0 is root without capabilities."""
    if request.param == "invoker":
        return None
    if os.geteuid() != 0:
        pytest.skip("only root can run it as another user")
    return USER if request.param == "user" else 0


def _confined(program: list[str], folder: Path, user: int | None, stdin: int) -> subprocess.Popen[str]:
    folder.mkdir()
    if user is not None:
        os.chown(folder, user, user)
    command = sandbox.command(program, writable=str(folder), cpu_seconds=60, memory=2**30, file_size=2**20)
    return subprocess.Popen(
        command,
        cwd=folder,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        preexec_fn={None: None, 0: _without_capabilities}.get(user, _become_user),
        start_new_session=True,
    )


def _results(folder: Path) -> list[tuple[str, int, int]]:
    lines = [line.split() for line in (folder / "results").read_text().splitlines()]
    assert lines[-1] == ["end", "0", "0"]
    return [(what, int(result), int(error)) for what, result, error in lines[:-1]]


def _passed(folder: Path) -> set[str]:
    return {what for what, result, _ in _results(folder) if result >= 0}


def _has_no_devices(folder: Path) -> None:
    """Nor programs that run as their owner."""
    for path in folder.rglob("*"):
        assert path.is_symlink() or path.is_file() or path.is_dir() or path.is_fifo(), path
        assert path.is_symlink() or not path.stat().st_mode & 0o6000 or path.is_dir(), path


def test_nothing_around_the_sandbox_changes(place: Path, attack: str, user: int | None) -> None:
    scratch = place / "scratch"
    with world(place / "world", user) as around:
        before = around.now()
        with _confined([attack, "named", *around.words], scratch, user, around.terminal) as running:
            try:
                wait_for(lambda: (scratch / "results").exists() or running.poll() is not None)
                assert running.poll() is None, (running.returncode, running.communicate())
                assert around.now() == before
            finally:
                (scratch / "go").touch()
                running.communicate()
        assert around.now() == before
    assert _passed(scratch) == MEANT
    _has_no_devices(scratch)


def test_nor_does_it_for_a_program_that_cmake_runs(
    place: Path, attack: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(place / "cache"))
    with world(place / "world") as around:
        before = around.now()
        words = " ".join([attack, "named", *around.words])
        text = f"file(TOUCH go)\nexecute_process(COMMAND {words} WORKING_DIRECTORY ${{CMAKE_BINARY_DIR}})"
        text = text.replace("go)", "${CMAKE_BINARY_DIR}/go)")
        assert find(app(place / "app", text))[0] is not None
        assert around.now() == before
    (build,) = (place / "cache").rglob("build")
    assert _passed(build) == {*MEANT, "input-to-write"}  # it is the null device
    _has_no_devices(build)


def _sweep(
    place: Path, attack: str, user: int | None, seed: int, count: int
) -> tuple[dict[int, set[int]], World]:
    """Of each number of a call, the errors that it gave; and the world afterwards."""
    scratch = place / f"scratch{seed}"
    with world(place / f"world{seed}", user) as around:
        before = around.now()
        with (place / f"said{seed}").open("w") as said, Path(os.devnull).open() as nothing:
            words = [attack, "sweep", str(seed), str(count), *around.words]
            running = _confined(words, scratch, user, nothing.fileno())
            said.write(running.communicate()[0])
        assert running.returncode == 0
        assert around.now() == before
    found: dict[int, set[int]] = {}
    for number, _, error in _results(scratch):
        found.setdefault(int(number), set()).add(error)
    _has_no_devices(scratch)
    return found, around


REFUSED = {1, 38}  # EPERM, ENOSYS
#: Probes of the kernel itself, which no filter sees; a program that makes them gets a signal.
UNFILTERED = {"x86_64": {335, 336}}
ON_LIST = "_ALLOWED", "_SIGNALS", "_IGNORED", "_UNSUPPORTED", "_JUDGED"


def _check_sweep(found: dict[int, set[int]]) -> None:
    machine = os.uname().machine
    listed = {n for table in ON_LIST for n in sandbox.calls(getattr(sandbox, table), machine).values()}
    through = {number: errors for number, errors in found.items() if errors - REFUSED}
    assert sorted(set(through) - listed - UNFILTERED.get(machine, set())) == []
    assert len(found) > 500


def test_every_call_that_is_not_on_the_list_is_refused(place: Path, attack: str, user: int | None) -> None:
    found, _ = _sweep(place, attack, user, seed=1, count=3)
    _check_sweep(found)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 6))
def test_every_call_with_other_arguments(place: Path, attack: str, user: int | None, seed: int) -> None:
    found, _ = _sweep(place, attack, user, seed, count=50)
    _check_sweep(found)


def _status(place: Path, user: int | None) -> dict[str, str]:
    program = [shutil.which("cat") or "cat", "/proc/self/status"]
    with _confined(program, place / "scratch", user, subprocess.DEVNULL) as running:
        lines = running.communicate()[0].splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def test_no_capability_is_left_but_that_of_root_to_read(place: Path, user: int | None) -> None:
    status = _status(place, user)
    held = [int(status[f"Cap{kind}"], 16) for kind in ("Prm", "Eff", "Inh", "Amb")]
    needed = sum(1 << each for each in (0, 1, 6, 7, 8))
    if os.geteuid() != 0 or user is not None:
        assert held == [0, 0, 0, 0]
    elif sandbox._capabilities() & needed == needed:
        assert held[0] in (1 << 1, 1 << 2) and len(set(held)) == 1
        assert (status["Uid"].split(), status["Groups"]) == (["65534"] * 4, "")
        assert int(status["CapBnd"], 16) == 0


@pytest.mark.parametrize("compiler", ["aarch64-linux-gnu-gcc", "x86_64-linux-gnu-gcc"])
def test_the_attack_is_compiled_for_both_architectures(compiler: str, place: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    subprocess.run([compiler, *FLAGS, *SOURCES, "-o", str(place / "attack")], check=True)
