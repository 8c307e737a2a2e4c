# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The host kernel, built once, and the tables of its scenarios."""

from __future__ import annotations

import shutil

import pytest

from camkes.backends.host.compiler import find_compiler
from camkes.backends.host.kernel import host_kit
from camkes.diagnostics import Sink
from tests.host.kernel import SANITIZE, SCENARIOS, Workplace


@pytest.fixture(scope="session")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    folder = tmp_path_factory.mktemp("host")
    sink = Sink()
    compiler = find_compiler(SANITIZE, sink)
    assert compiler is not None, sink.diagnostics
    kit = host_kit(compiler, folder, sink, lambda _: None)
    assert kit is not None, sink.diagnostics
    place = Workplace(kit.kernel, folder)
    for table in sorted(SCENARIOS.glob("*.table")):
        shutil.copy(table, folder)
    return place
