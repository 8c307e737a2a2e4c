# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The compiled host kernel and runtime of the user's cache, for tests that are not about compiling them."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

from camkes.backends.host.compiler import find_compiler
from camkes.backends.host.kernel import Kit, host_kit
from camkes.diagnostics import Sink


def ready_kit(fallback: Path, *, mcs: bool = False) -> Kit:
    """Made in `fallback` where it cannot be put into the cache."""
    compiler = find_compiler(False, Sink(), mcs=mcs)
    assert compiler is not None
    kit = host_kit(compiler, fallback, Sink(), lambda _: None)
    assert kit is not None
    return kit


def copy_runtime(kit: Kit, entry: Path, without: Collection[Path] = ()) -> None:
    """Copy the objects of the runtime into the folder of another kit, but for those of some sources, which
    are relative to the folder of the runtime."""
    for path in (kit.kernel.parent / "runtime").rglob("*.o"):
        name = path.relative_to(kit.kernel.parent)
        if Path("src", *name.parts[1:]).with_suffix(".c") not in without:
            (entry / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, entry / name)
