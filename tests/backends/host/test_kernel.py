# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Entries of the cache of host kernels."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from camkes.backends.host import kernel
from camkes.backends.host.compiler import find_compiler
from camkes.diagnostics import Sink


def test_flags_of_the_environment_have_a_kernel_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = find_compiler(False, Sink())
    assert compiler is not None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    built: list[Path] = []
    program = shutil.which("true")
    assert program is not None

    def make_kernel(folder: Path, *_: object) -> Path:
        built.append(folder)
        return Path(program)

    monkeypatch.setattr(kernel, "_make_kernel", make_kernel)
    monkeypatch.setattr(kernel, "_make_runtime", lambda *_: True)
    monkeypatch.setattr(kernel, "_names_source", lambda _: "")
    kits = set()
    for flags in ("-O0", "-O3 -g", "-O0"):
        monkeypatch.setenv("CFLAGS", flags)
        kit = kernel.host_kit(compiler, tmp_path / "out", Sink(), lambda _: None)
        assert kit is not None
        kits.add(kit.kernel)
    assert len(kits) == len(built) == 2
