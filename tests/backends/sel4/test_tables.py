# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The loader's tables by the tool and by parse-capDL: the same system, and images of both boot.

Needs a workspace with parse-capDL (`repo-init.sh -p`) and QEMU: SEL4_WORKSPACE=DIR. SEL4_APPLICATIONS chooses
as for `test_applications`.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from camkes.backends.sel4.workspace import console, make
from camkes.diagnostics import Sink
from tests.capdl.tables import read_tables

from .platforms import PLATFORMS
from .recorded import PARSE_CAPDL, needs_parse_capdl
from .test_applications import APPLICATIONS, SETTINGS, chosen

ROOT = Path(__file__).parents[3]
WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")
APPS = Path(WORKSPACE) / "projects" / "camkes" / "apps"
pytestmark = [
    pytest.mark.requirement("SEL4-3"),
    pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no workspace"),
    needs_parse_capdl,
]

EXAMPLES = [
    (ROOT / "examples" / "nested", "x86_64", "t4: job 1 computed", {"KernelIsMCS": "ON"}),
    (ROOT / "examples" / "nested", "qemu-arm-virt", "t4: job 1 computed", {"CAmkESCapDLStaticAlloc": "ON"}),
    (ROOT / "examples" / "nested", "qemu-arm-virt-32", "t4: job 1 computed", {}),
    (ROOT / "examples" / "nested", "qemu-riscv-virt", "t4: job 1 computed", {}),
]
CASES = [
    *EXAMPLES,
    *(
        (APPS / name, APPLICATIONS[name].platform, APPLICATIONS[name].texts[-1], SETTINGS.get(name, {}))
        for name in chosen()
    ),
]


@pytest.mark.parametrize(
    ("folder", "platform", "text", "more"),
    CASES,
    ids=lambda each: each.name if isinstance(each, Path) else "",
)
def test_the_same_as_by_parse_capdl(
    folder: Path, platform: str, text: str, more: dict[str, str], tmp_path: Path
) -> None:
    qemu, options = PLATFORMS[platform]
    for extra in ({}, {"CAmkESParseCapDL": str(PARSE_CAPDL)}):
        sink = Sink()
        settings = {**options, **more, **extra}
        built = make(Path(WORKSPACE), folder, tmp_path, settings, sink, lambda *_: None)
        assert built, [diagnostic.message for diagnostic in sink.diagnostics]
        if shutil.which(qemu) is not None:
            assert any(text in line for line in console(tmp_path, seconds=120))
    ours, theirs = (read_tables(tmp_path / name) for name in ("capdl_spec.c", "parse-capDL.c"))
    assert ours.differences(theirs) == []
    assert ours.threads == theirs.threads, "they are started in this order"
    if "CAmkESCapDLStaticAlloc" not in more:
        assert list(ours.objects) == list(theirs.objects), "they are made in this order"
