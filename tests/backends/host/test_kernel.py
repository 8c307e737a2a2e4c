# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Entries of the cache of host kernels."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from camkes.backends.host import folder, kernel
from camkes.backends.host.compiler import find_compiler
from camkes.diagnostics import Sink
from tests.command import camkes

pytestmark = pytest.mark.requirement("TOOL-20")

Built = list[Path]


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Built:
    """The folders in which kernels were compiled. Another program takes their place."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    built: Built = []
    program = shutil.which("true")
    assert program is not None

    def make_kernel(place: Path, *_: object) -> Path:
        built.append(place)
        for name in ("camkes-host", "camkes-oracle"):
            shutil.copy2(program, place / name)
        return place / "camkes-host"

    monkeypatch.setattr(kernel, "_make_kernel", make_kernel)
    monkeypatch.setattr(kernel, "_make_runtime", lambda *_: True)
    monkeypatch.setattr(
        kernel, "_join_runtime", lambda _, entry, *others: (entry / "runtime.o").touch() is None
    )
    monkeypatch.setattr(kernel, "_names_source", lambda _: "")
    return built


def kit_of(fallback: Path, *, mcs: bool = False, sanitize: bool = False) -> Path:
    compiler = find_compiler(sanitize, Sink(), mcs=mcs)
    assert compiler is not None
    kit = kernel.host_kit(compiler, fallback, Sink(), lambda _: None)
    assert kit is not None
    return kit.kernel


def test_flags_of_the_environment_have_a_kernel_of_their_own(
    tmp_path: Path, built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = set()
    for flags in ("-O0", "-O3 -g", "-O0"):
        monkeypatch.setenv("CFLAGS", flags)
        kernels.add(kit_of(tmp_path))
    assert len(kernels) == len(built) == 2


@pytest.mark.parametrize("first", [False, True])
def test_a_kernel_is_compiled_once_for_use_with_and_without_mcs(
    tmp_path: Path, built: Built, first: bool
) -> None:
    assert kit_of(tmp_path, mcs=first) != kit_of(tmp_path, mcs=not first)
    assert len(built) == 1
    kit_of(tmp_path, mcs=first, sanitize=True)
    assert len(built) == 2


def test_a_kernel_of_all_users_is_taken(
    tmp_path: Path, built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where that folder cannot be written; one that is damaged is not."""
    monkeypatch.setattr(kernel, "SHARED", tmp_path / "shared")
    done = camkes("doctor", "--compile", "check")
    assert done.status == 0 and done.errors.count("compiling the host kernel") == 2
    assert len(built) == 1
    shared = kit_of(tmp_path, mcs=True)
    assert shared.parent.parent == tmp_path / "shared" and len(built) == 1
    shared.with_name("runtime.o").write_text("damaged")
    assert kit_of(tmp_path, mcs=True).parent.parent != tmp_path / "shared"
    monkeypatch.setattr(folder, "WAIT", 0.0)
    with folder.locked(tmp_path / "shared", lambda _: None):
        refused = camkes("doctor", "--compile", "check")
        assert refused.status == 1 and "another command compiles in" in refused.errors
    assert camkes("doctor", "--compile", "check").status == 0
    assert kit_of(tmp_path, mcs=True) == shared


def test_a_command_that_does_not_end_its_build_in_the_cache_stops_no_other(
    tmp_path: Path, built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "WAIT", 0.0)
    out = tmp_path / "out"
    with folder.locked(tmp_path / "cache" / "camkes-rt", lambda _: None):
        assert kit_of(out).parent.parent == out
        with folder.locked(out, lambda _: None), pytest.raises(folder.FolderInUseError):
            kit_of(out, sanitize=True)
    assert len(built) == 1
