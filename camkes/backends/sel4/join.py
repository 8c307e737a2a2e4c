# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Instances that share an address space can define the same names. The objects of each become one, in
which only those names are still seen that another part of the address space asks for, or that get a name
of which there is one only."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from camkes.model.system import INSTANCE_PREFIX
from camkes.process import run


class JoinError(Exception):
    """A program of the tool chain failed, and has printed the reason."""


def hide(
    objcopy: str,
    nm: str,
    joined: Path,
    others: Iterable[Path],
    instances: Iterable[Path],
    renamed: Mapping[str, str],
    output: Path,
) -> None:
    """Write `joined` to `output` with names `renamed` (those renamed to themselves are shown), and all others
    hidden that none of the `others` needs. The `instances` beside it need of it what was generated for that;
    other names mean another thing in each."""
    offered = _names(nm, "--defined-only", joined)
    wanted: set[str] = set()
    for other in others:
        wanted |= _names(nm, "--undefined-only", other)
    for instance in instances:
        wanted |= {n for n in _names(nm, "--undefined-only", instance) if n.startswith(INSTANCE_PREFIX)}
    shown = (offered & wanted - renamed.keys()) | {renamed[name] for name in offered & renamed.keys()}
    kept = [f"--keep-global-symbol={name}" for name in sorted(shown)] or ["--keep-global-symbol="]
    names = [f"--redefine-sym={old}={new}" for old, new in renamed.items() if old != new]
    _run([objcopy, *kept, *names, str(joined), str(output)])


def _names(nm: str, which: str, file: Path) -> set[str]:
    lines = _run([nm, "-g", which, str(file)]).splitlines()
    words = [line.split()[-2:] for line in lines]
    return {w[1] for w in words if len(w) == 2 and w[0] not in ("w", "v")}


def _run(command: Sequence[str]) -> str:
    done = run(command)
    sys.stderr.write(done.errors)
    if done.status != 0:
        raise JoinError(f"{command[0]} failed")
    return done.output
