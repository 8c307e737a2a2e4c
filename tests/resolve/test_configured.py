# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Every setting, wherever its value comes from, as camkes-tool takes it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.model.configured import InstanceSettings
from camkes.model.settings import BUDGETS, TABLE, WCETS
from camkes.resolve import LoadOptions, load

pytestmark = pytest.mark.requirement("LANG-12")

#: Of each setting: how it is set, a value, what it is where nothing is set, and where it is read to.
Read = Callable[[InstanceSettings], object]
SETTINGS: dict[str, tuple[str, int, object, Read]] = {
    "priority": ("_priority", 77, None, lambda i: i.control.priority),
    "priority of an interface": ("s_priority", 55, None, lambda i: i.thread("s").priority),
    "priority of all": ("priority", 9, None, lambda i: i.thread("s").priority),
    "max_priority": ("_max_priority", 99, None, lambda i: i.control.max_priority),
    "stack_size": ("_stack_size", 32768, None, lambda i: i.control.stack_size),
    "stack_size of an interface": ("s_stack_size", 32768, None, lambda i: i.thread("s").stack_size),
    "affinity": ("_affinity", 1, None, lambda i: i.control.affinity),
    "affinity of all": ("affinity", 1, 0, lambda i: i.affinity),
    "domain": ("_domain", 3, 0, lambda i: i.control.domain),
    "period": ("_period", 5000, None, lambda i: _microseconds(i.control.period)),
    "budget": ("_budget", 500, None, lambda i: _microseconds(i.control.budget)),
    "period of the fault handler": ("faultperiod", 50, None, lambda i: _microseconds(i.fault.period)),
    "data": ("_data", 8, 0, lambda i: i.control.data),
    "size_bits": ("_size_bits", 9, None, lambda i: i.control.size_bits),
    "passive": ("s_passive", 1, 0, lambda i: i.interface("s").passive),
    "across_domains": ("s_across_domains", 1, 0, lambda i: i.interface("s").across_domains),
    "urgent_first": ("_urgent_first", 1, 0, lambda i: i.control.urgent_first),
    "attributes": ("u_attributes", 7, None, lambda i: i.interface("u").attributes),
    "requests": ("u_requests", 7, None, lambda i: i.interface("u").requests),
    "heap_size": ("heap_size", 4096, None, lambda i: i.heap_size),
    "timers_per_client": ("timers_per_client", 4, 1, lambda i: i.timers_per_client),
    "dma_pool": ("dma_pool", 8192, 0, lambda i: i.dma_pool),
    "dma_pool_cached": ("dma_pool_cached", 1, 0, lambda i: i.dma_pool_cached),
    "dma_pool_paddr": ("dma_pool_paddr", 4096, 0, lambda i: i.dma_pool_paddr),
    "tcb_pool": ("tcb_pool", 3, 0, lambda i: i.tcb_pool),
    "ep_pool": ("ep_pool", 3, 0, lambda i: i.ep_pool),
    "notification_pool": ("notification_pool", 3, 0, lambda i: i.notification_pool),
    "untyped_pool": ("untyped12_pool", 3, 0, lambda i: sum(pool.count for pool in i.untyped_pools)),
    "value": ("q_value", 5, 1, lambda i: i.semaphores["q"]),
}


def _microseconds(time: int | None) -> float | None:
    return None if time is None else time / 1000


HEAD = """import <std_connector.camkes>;
procedure P { void f(); }
connector seL4TimeServer { from Procedures with 0 threads; to Procedure with 1 thread; }
component Peer { provides P p; uses P t; }
"""


def configured(folder: Path, text: str, name: str) -> InstanceSettings:
    path, sink = folder / "system.camkes", Sink()
    path.write_text(HEAD + text)
    system = load(path, LoadOptions(cpp=False, mcs=True), sink)
    assert system is not None and not sink.has_errors, sink.diagnostics
    found = system.instance(name)
    assert found is not None
    return found.configured


BODY = "control; requestor; provides P s; uses P u; provides P t; has semaphore q; %s"
CONNECTED = """component Peer peer; connection seL4RPCCall k(from {0}.u, to peer.p);
    connection seL4TimeServer l(from peer.t, to {0}.t);"""
ASSEMBLY = "assembly { composition { component C c; " + CONNECTED.format("c") + " } configuration { %s } }"


@pytest.mark.parametrize("row", SETTINGS)
def test_a_setting_by_default(tmp_path: Path, row: str) -> None:
    text = f"component C {{ {BODY % ''} }}\n{ASSEMBLY % ''}"
    assert SETTINGS[row][3](configured(tmp_path, text, "c")) == SETTINGS[row][2]


@pytest.mark.parametrize("row", SETTINGS)
def test_a_setting_by_a_configuration(tmp_path: Path, row: str) -> None:
    name, value, _, _ = SETTINGS[row]
    text = f"component C {{ {BODY % ''} }}\n{ASSEMBLY % f'c.{name} = {value};'}"
    assert SETTINGS[row][3](configured(tmp_path, text, "c")) == value


@pytest.mark.parametrize("row", SETTINGS)
def test_a_setting_by_an_attribute(tmp_path: Path, row: str) -> None:
    name, value, _, _ = SETTINGS[row]
    declared = f"attribute int {name} = {value};"
    text = f"component C {{ {BODY % declared} }}\n{ASSEMBLY % ''}"
    assert SETTINGS[row][3](configured(tmp_path, text, "c")) == value


@pytest.mark.parametrize("row", SETTINGS)
def test_a_configuration_wins_over_an_attribute(tmp_path: Path, row: str) -> None:
    name, value, _, _ = SETTINGS[row]
    other = {"passive": 0, "across_domains": 0, "urgent_first": 0, "size_bits": 10, "dma_pool_cached": 0}.get(
        row, 4096 * 3 if "stack" in row else 2
    )
    text = (
        f"component C {{ {BODY % f'attribute int {name} = {other};'} }}\n{ASSEMBLY % f'c.{name} = {value};'}"
    )
    assert SETTINGS[row][3](configured(tmp_path, text, "c")) == value


@pytest.mark.parametrize("given", ["attribute", "configuration"])
@pytest.mark.parametrize("row", SETTINGS)
def test_a_setting_by_the_component_around(tmp_path: Path, row: str, given: str) -> None:
    name, value, _, _ = SETTINGS[row]
    default = f" = {value}" if given == "attribute" else ""
    text = (
        f"component C {{ {BODY % ''} }}\n"
        f"component O {{ attribute int given{default}; composition {{ component C c;"
        f" {CONNECTED.format('c')} }} configuration {{ c.{name} <- given; }} }}\n"
        "assembly { composition { component O o; } configuration { "
        + ("" if default else f"o.given = {value};")
        + " } }"
    )
    assert SETTINGS[row][3](configured(tmp_path, text, "o.c")) == value


@pytest.mark.parametrize("row", SETTINGS)
def test_of_a_member_of_a_group(tmp_path: Path, row: str) -> None:
    name, value, _, _ = SETTINGS[row]
    text = (
        f"component C {{ {BODY % f'attribute int {name} = {value};'} }}\n"
        f"assembly {{ composition {{ group g {{ component C c; }} {CONNECTED.format('g.c')} }} }}"
    )
    assert SETTINGS[row][3](configured(tmp_path, text, "c")) == value


@pytest.mark.parametrize(
    "declared", ["int _priority[] = [1, 2]", 'string _priority = "x"', "{ int a; } _priority"]
)
def test_an_attribute_that_only_has_the_name(tmp_path: Path, declared: str) -> None:
    text = f"component C {{ {BODY % f'attribute {declared};'} }}\n{ASSEMBLY % ''}"
    assert configured(tmp_path, text, "c").control.priority is None


@pytest.mark.parametrize(("declared", "badge"), [("7", 7), ("irq", None)])
def test_a_badge_in_an_attribute_that_is_a_string(tmp_path: Path, declared: str, badge: int | None) -> None:
    attribute = f'attribute string u_attributes = "{declared}";'
    text = f"component C {{ {BODY % attribute} }}\n{ASSEMBLY % ''}"
    assert configured(tmp_path, text, "c").interface("u").attributes == badge


def test_every_setting_of_instances_is_tested() -> None:
    elsewhere = {"size", "paddr", "num_threads", "deadline", "wcet", "offset", "within", "requestor"}
    elsewhere |= {"tcb_pool_domains", "allowed_smc_functions"}  # lists
    elsewhere |= {"access", "buffer", "dtb", "helpers", "priority_protocol", "release"}  # strings
    elsewhere |= {"overrun", "server", "degraded", "refills", "criticality", "weight"}  # of tasks
    elsewhere |= {"slice"}  # of schedulers
    elsewhere |= {"extension", "extension_period", *(known.name for known in (*BUDGETS, *WCETS))}
    assert {row.partition(" of ")[0] for row in SETTINGS} | elsewhere == set(TABLE)
