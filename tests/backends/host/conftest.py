# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Small systems, built as a user would build them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.backends.host import kernel
from camkes.backends.host.compiler import Compiler
from camkes.backends.host.host import HostImage
from camkes.backends.host.kernel import Kit
from camkes.backends.host.options import RunOptions
from camkes.backends.host.run import RunResult, run_host
from camkes.diagnostics import Diagnostic, Sink
from tests.kit import copy_runtime, ready_kit
from tests.written import write_files


@dataclass(frozen=True)
class Built:
    image: HostImage | None
    diagnostics: tuple[Diagnostic, ...]
    steps: list[str]

    @property
    def codes(self) -> list[str]:
        return [d.code.number for d in self.diagnostics]

    def run(self, trace: Path | None = None, **options: object) -> tuple[str, RunResult]:
        """What the components print, and the result."""
        assert self.image is not None, self.diagnostics
        said: list[bytes] = []
        settings = RunOptions(duration=10**9, **options)  # type: ignore[arg-type]
        result = run_host(self.image, settings, trace, output=said.append)
        return b"".join(said).decode(), result


Build = Callable[..., Built]


@pytest.fixture
def ready_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kit:
    """The kernel's program is that of the user's cache, where a test is not about compiling it. One with
    sanitizers is another one."""
    kit, made = ready_kit(tmp_path / "kernel"), kernel._make_kernel

    def make_kernel(folder: Path, compiler: Compiler, sink: Sink) -> Path | None:
        return made(folder, compiler, sink) if compiler.sanitize else kit.kernel

    monkeypatch.setattr(kernel, "_make_kernel", make_kernel)
    return kit


@pytest.fixture
def ready_runtime(ready_kernel: Kit, monkeypatch: pytest.MonkeyPatch) -> None:
    """The objects of the runtime are those of the user's cache, too."""

    def make_runtime(work: Path, entry: Path, *_: object) -> bool:
        copy_runtime(ready_kernel, entry)
        return True

    monkeypatch.setattr(kernel, "_make_runtime", make_runtime)


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Writes files (what is written before stays) and builds the system in `a.camkes`."""

    def make(files: dict[str, str], sanitize: bool = False) -> Built:
        root = write_files(tmp_path / "app", files)
        sink = Sink()
        steps: list[str] = []
        path = root if (root / "CMakeLists.txt").exists() else root / "a.camkes"
        image = pipeline.build(
            pipeline.Input(path), tmp_path / "out dir", sink, steps.append, sanitize=sanitize
        )
        return Built(image, sink.diagnostics, steps)

    return make
