# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The systems of components that the papers' task sets are for, as `topologies.toml` has them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

#: The word for a CPI with a ceiling above all tasks.
NON_PREEMPTIVE = "npcs"


class Topology(Struct, frozen=True, forbid_unknown_fields=True):
    """Tasks and CPIs with what they request, and the protocols of CPIs in a configuration; see the file."""

    name: str
    source: str
    tasks: Mapping[str, tuple[str, ...]]
    cpis: Mapping[str, tuple[str, ...]]
    configurations: Mapping[str, Mapping[str, str]]
    harmonic: tuple[int, ...]
    platform: str


def _read() -> dict[str, Topology]:
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return {name: msgspec.convert({"name": name, **table}, Topology) for name, table in tables.items()}


TOPOLOGIES = _read()
