# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Connectors of a workspace, rendered, compiled and used on seL4.

Needs a workspace and QEMU: SEL4_WORKSPACE=DIR. The application of connectors/ uses every connector of
camkes-tool and global-components that has a template and needs no particular board.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.sel4.workspace import console, make

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")
pytestmark = [
    pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace"),
    pytest.mark.skipif(shutil.which("qemu-system-x86_64") is None, reason="QEMU is not installed"),
]

APPLICATION = Path(__file__).parent / "connectors"

#: what the components print when all that they tried went well
EXPECTED = ("10 of 10 good", "server 7 of 7 good", "called back 1")


def test_every_connector_works(tmp_path: Path) -> None:
    sink = Sink()
    built = make(Path(WORKSPACE), APPLICATION, tmp_path, {"PLATFORM": "x86_64"}, sink, lambda *_: None)
    assert built, [(diagnostic.message, diagnostic.notes) for diagnostic in sink.diagnostics]
    rendered = sorted(path.name for path in (tmp_path / "camkes").rglob("*_seL4*_0.c"))
    text = (APPLICATION / "connectors.camkes").read_text()
    for connector in set(re.findall(r"connection (seL4\w+)", text)) - {"seL4NotificationNative"}:
        assert any(f"_{connector}_" in name for name in rendered), connector
    missing = set(EXPECTED)
    printed = []
    for line in console(tmp_path, seconds=120):
        printed.append(line)
        missing -= {words for words in missing if words in line}
        if not missing:
            break
    assert not missing, "".join(printed[-30:])
