# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Code that does not compile with an SDK is reported as on the host: at the method of the `.camkes` file."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.backends.host.declared import DeclaredNames
from camkes.backends.host.jobs import BuildJob
from camkes.backends.sel4.sdk.programs import run
from camkes.diagnostics import Sink
from camkes.resolve import LoadOptions, load
from tests.written import write_files

pytestmark = pytest.mark.requirement("SEL4-12")

FILES = {
    "s.camkes": "procedure Spi { int read(in int chip, in int place); }\n"
    "component Bus { provides Spi spi; }\n"
    "assembly { composition { component Bus bus; } }\n",
    "generated/camkes.h": "int spi_read(int chip, int place);\n",
    "bus.c": "#include <camkes.h>\nint spi_read(int chip, long place) { return chip + (int)place; }\n",
}


def test_a_handler_that_does_not_fit_is_at_its_method(tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    system = load(tmp_path / "s.camkes", LoadOptions(cpp=False), Sink())
    assert system is not None
    header, source, output = (tmp_path / name for name in ("generated/camkes.h", "bus.c", "out/bus.o"))
    command = ("cc", f"-I{header.parent}", "-c", str(source), "-o", str(output))
    job = BuildJob("bus", output, command, (source,), "component Bus", compiler=("cc", "-x", "c"))
    names = DeclaredNames(system.types["Bus"], [header], [])
    sink = Sink()
    assert not run(tmp_path / "out", [job], set(), sink, lambda _: None, {job: names}.get)
    (found,) = sink.diagnostics
    assert found.span is not None and (found.span.file.path, found.span.line) == (source, 2)
    (method,) = [label for label in found.related if label.text == "the method"]
    assert method.span.file.path.name == "s.camkes"
    assert found.help == "write `int spi_read(int chip, int place)`"
