# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Every setting, wherever its value comes from, as camkes-tool takes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.model.setting_reader import SettingReader
from camkes.model.settings import (
    BUDGETS,
    DMA_POOL,
    DMA_POOL_CACHED,
    DMA_POOL_PADDR,
    EP_POOL,
    NOTIFICATION_POOL,
    TABLE,
    TCB_POOL,
    UNTYPED_POOL,
    WCETS,
)
from camkes.model.system import Instance
from camkes.resolve import LoadOptions, load

DEFAULT = 16384

#: Of each setting: how it is set, a value, what it is where nothing is set, who reads it.
Read = Callable[[SettingReader, Instance], object]
SETTINGS: dict[str, tuple[str, int, object, Read]] = {
    "priority": ("_priority", 77, 254, lambda r, i: r.priority(i, "_")),
    "priority of an interface": ("s_priority", 55, 254, lambda r, i: r.priority(i, "s_")),
    "priority of all": ("priority", 9, 254, lambda r, i: r.priority(i, "s_")),
    "max_priority": ("_max_priority", 99, 254, lambda r, i: r.max_priority(i, "_")),
    "stack_size": ("_stack_size", 32768, DEFAULT, lambda r, i: r.stack_size(i, "_")),
    "stack_size of an interface": ("s_stack_size", 32768, DEFAULT, lambda r, i: r.stack_size(i, "s_")),
    "affinity": ("_affinity", 1, 0, lambda r, i: r.affinity(i, "_")),
    "domain": ("_domain", 3, 0, lambda r, i: r.domain(i, "_")),
    "period": ("_period", 5000, None, lambda r, i: r.period(i, "_")),
    "budget": ("_budget", 500, None, lambda r, i: r.budget(i, "_")),
    "data": ("_data", 8, 0, lambda r, i: r.data(i, "_")),
    "size_bits": ("_size_bits", 9, 8, lambda r, i: r.context_bits(i, "_", 8)),
    "passive": ("s_passive", 1, False, lambda r, i: r.passive(i, "s")),
    "urgent_first": ("_urgent_first", 1, False, lambda r, i: r.urgent_first(i)),
    "attributes": ("s_attributes", 7, None, lambda r, i: r.badge(i, "s")),
    "heap_size": ("heap_size", 4096, 65536, lambda r, i: r.heap_size(i, 65536)),
    "timers_per_client": ("timers_per_client", 4, 1, lambda r, i: r.timers(i)),
    "dma_pool": ("dma_pool", 8192, 0, lambda r, i: r.number(i, DMA_POOL)),
    "dma_pool_cached": ("dma_pool_cached", 1, 0, lambda r, i: r.number(i, DMA_POOL_CACHED)),
    "dma_pool_paddr": ("dma_pool_paddr", 4096, 0, lambda r, i: r.number(i, DMA_POOL_PADDR)),
    "tcb_pool": ("tcb_pool", 3, 0, lambda r, i: r.number(i, TCB_POOL)),
    "ep_pool": ("ep_pool", 3, 0, lambda r, i: r.number(i, EP_POOL)),
    "notification_pool": ("notification_pool", 3, 0, lambda r, i: r.number(i, NOTIFICATION_POOL)),
    "untyped_pool": ("untyped12_pool", 3, 0, lambda r, i: r.number(i, UNTYPED_POOL, "untyped12_pool")),
    "value": ("q_value", 5, 1, lambda r, i: r.semaphore(i, i.type.syncs[0])),
}

HEAD = "procedure P { void f(); }\nconnector K { from Procedures; to Procedure; }\n"


def instance(folder: Path, text: str, name: str) -> Instance:
    path, sink = folder / "system.camkes", Sink()
    path.write_text(HEAD + text)
    system = load(path, LoadOptions(), sink)
    assert system is not None and not sink.has_errors, sink.diagnostics
    found = system.instance(name)
    assert found is not None
    return found


def read(row: str, of: Instance) -> object:
    sink = Sink()
    value = SETTINGS[row][3](SettingReader(sink), of)
    assert not sink.diagnostics
    return value


BODY = "control; provides P s; has semaphore q; %s"
ASSEMBLY = "assembly { composition { component C c; } configuration { %s } }"


@pytest.mark.parametrize("row", SETTINGS)
def test_a_setting_by_default(tmp_path: Path, row: str) -> None:
    text = f"component C {{ {BODY % ''} }}\n{ASSEMBLY % ''}"
    assert read(row, instance(tmp_path, text, "c")) == SETTINGS[row][2]


@pytest.mark.parametrize("row", SETTINGS)
def test_a_setting_by_a_configuration(tmp_path: Path, row: str) -> None:
    name, value, _, _ = SETTINGS[row]
    text = f"component C {{ {BODY % ''} }}\n{ASSEMBLY % f'c.{name} = {value};'}"
    assert read(row, instance(tmp_path, text, "c")) == value


@pytest.mark.parametrize("row", SETTINGS)
def test_a_setting_by_an_attribute(tmp_path: Path, row: str) -> None:
    name, value, _, _ = SETTINGS[row]
    declared = f"attribute int {name} = {value};"
    text = f"component C {{ {BODY % declared} }}\n{ASSEMBLY % ''}"
    assert read(row, instance(tmp_path, text, "c")) == value


@pytest.mark.parametrize("row", SETTINGS)
def test_a_configuration_wins_over_an_attribute(tmp_path: Path, row: str) -> None:
    name, value, _, _ = SETTINGS[row]
    other = {"passive": 0, "urgent_first": 0, "size_bits": 10, "dma_pool_cached": 0}.get(
        row, 4096 * 3 if "stack" in row else 2
    )
    text = (
        f"component C {{ {BODY % f'attribute int {name} = {other};'} }}\n{ASSEMBLY % f'c.{name} = {value};'}"
    )
    assert read(row, instance(tmp_path, text, "c")) == value


@pytest.mark.parametrize("given", ["attribute", "configuration"])
@pytest.mark.parametrize("row", SETTINGS)
def test_a_setting_by_the_component_around(tmp_path: Path, row: str, given: str) -> None:
    name, value, _, _ = SETTINGS[row]
    default = f" = {value}" if given == "attribute" else ""
    text = (
        f"component C {{ {BODY % ''} }}\n"
        f"component O {{ attribute int given{default}; composition {{ component C c; }}"
        f" configuration {{ c.{name} <- given; }} }}\n"
        "assembly { composition { component O o; } configuration { "
        + ("" if default else f"o.given = {value};")
        + " } }"
    )
    assert read(row, instance(tmp_path, text, "o.c")) == value


@pytest.mark.parametrize("row", SETTINGS)
def test_of_a_member_of_a_group(tmp_path: Path, row: str) -> None:
    name, value, _, _ = SETTINGS[row]
    text = (
        f"component C {{ {BODY % f'attribute int {name} = {value};'} }}\n"
        "assembly { composition { group g { component C c; } } }"
    )
    assert read(row, instance(tmp_path, text, "c")) == value


@pytest.mark.parametrize(
    "declared", ["int _priority[] = [1, 2]", 'string _priority = "x"', "{ int a; } _priority"]
)
def test_an_attribute_that_only_has_the_name(tmp_path: Path, declared: str) -> None:
    text = f"component C {{ {BODY % f'attribute {declared};'} }}\n{ASSEMBLY % ''}"
    assert read("priority", instance(tmp_path, text, "c")) == 254


def test_every_setting_with_a_reader_is_tested() -> None:
    elsewhere = {"size", "paddr", "num_threads", "deadline", "wcet", "offset", "within", "value"}
    elsewhere |= {"tcb_pool_domains", "allowed_smc_functions"}  # lists
    elsewhere |= {"requests"}  # in tests/callgraph
    elsewhere |= {"access", "buffer", "dtb", "helpers", "priority_protocol", "release"}  # text
    elsewhere |= {"overrun", "server", "degraded", "refills", "criticality", "weight"}  # in tests/resolve
    elsewhere |= {"slice"}  # in tests/runtime
    elsewhere |= {"extension", "extension_period", *(known.name for known in (*BUDGETS, *WCETS))}
    assert {row.partition(" of ")[0] for row in SETTINGS} | elsewhere == set(TABLE)


def test_a_value_out_of_range_is_reported_with_its_unit(tmp_path: Path) -> None:
    text = f"component C {{ {BODY % 'attribute int _stack_size = 100;'} }}\n{ASSEMBLY % ''}"
    path, loading, sink = tmp_path / "system.camkes", Sink(), Sink()
    path.write_text(HEAD + text)
    system = load(path, LoadOptions(), loading)
    assert system is not None
    assert SettingReader(sink).stack_size(system.instances[0], "_") == DEFAULT
    assert loading.diagnostics == sink.diagnostics
    (found,) = sink.diagnostics
    assert found.message == "_stack_size must be 4096 to 1073741824 bytes, not 100 bytes"
    assert found.span is not None and found.span.line == 3
