# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What fits into a kernel's words is accepted, and one more is not; the texts are in `golden/`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from msgspec.structs import replace

from camkes.capdl.allocate import allocate
from camkes.capdl.check import check_limits
from camkes.capdl.model import CapabilityModel
from camkes.capdl.uses import CpiRequest
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import Style, render
from camkes.model import limits
from camkes.model.system import System
from camkes.protocols import analyse
from camkes.protocols.plan import Plan
from camkes.resolve.load import load
from camkes.resolve.options import LoadOptions
from tests.golden import compare

pytestmark = pytest.mark.requirement("PLAN-10")

GOLDEN = Path(__file__).parent / "golden"
ROOT = Path(__file__).parents[2]
LABEL = ROOT / "runtime" / "include" / "camkes" / "label.h"

HEAD = """import <std_connector.camkes>;
procedure P { void f(); }
component Task { control; requestor; uses P p; }
component Client { control; uses P p; }
component Server { provides P p; }
component Lock { provides P p with priority_protocol inherited; }
"""


@dataclass(frozen=True)
class Made:
    system: System
    plan: Plan
    text: str


def made(text: str, folder: Path, bits: int = 64) -> Made:
    """A system as it is allocated for a kernel with words of so many bits, and its diagnostics."""
    path = folder / "system.camkes"
    path.write_text(HEAD + text)
    sink = Sink()
    system = load(path, LoadOptions(cpp=False), sink)
    assert system is not None, render(sink.diagnostics)
    plan = analyse(system, sink)
    if plan is None:
        return Made(system, Plan((), (), (), ()), render(sink.diagnostics, Style(base=folder)))
    allocate(system, plan, sink, word_bits=bits)
    return Made(system, plan, render(sink.diagnostics, Style(base=folder)))


def tasks(count: int) -> str:
    names = [f"t{i}" for i in range(count)]
    return f"""assembly {{
    composition {{
        component Lock server;
        {" ".join(f"component Task {name};" for name in names)}
        connection seL4RPCCall c({" ".join(f"from {name}.p," for name in names)} to server.p);
    }}
    configuration {{
        {" ".join(f"{name}._priority = 10;" for name in names)}
    }}
}}
"""


def badge(number: int) -> str:
    return f"""assembly {{
    composition {{
        component Client client; component Server server;
        connection seL4RPCCall c(from client.p, to server.p);
    }}
    configuration {{
        client.p_attributes = {number};
    }}
}}
"""


def badge_of_events(number: int) -> str:
    return f"""component Sender {{ control; emits E e; }}
component Hearer {{ control; consumes E e; }}
assembly {{
    composition {{
        component Sender sender; component Hearer hearer;
        connection seL4Notification c(from sender.e, to hearer.e);
    }}
    configuration {{
        sender.e_attributes = {number};
    }}
}}
"""


CASES = {
    "tasks": (tasks, 32, 63),
    "badge": (badge, 32, (1 << 28) - 1),
    "badge-of-events": (badge_of_events, 32, (1 << 28) - 1),
    "badge-64": (badge, 64, (1 << 64) - 1),
}


@pytest.mark.parametrize("name", CASES)
def test_the_last_that_fits_and_the_first_that_does_not(name: str, tmp_path: Path) -> None:
    text, bits, most = CASES[name]
    assert made(text(most), tmp_path, bits).text == ""
    found = made(text(most + 1), tmp_path, bits).text
    compare(found, GOLDEN / f"{name}.txt")


def test_the_last_id_of_64_bits(tmp_path: Path) -> None:
    """That of a task that states it: the highest number of the field means that there is no task."""
    stated = tasks(1).replace("Task t0", "Last t0")
    for number, said in ((4094, ""), (4095, "error[E0515]: id 4095 of task `t0` is not in 0..4094")):
        last = f"component Last {{ control; requestor {number}; uses P p; }}\n"
        assert made(last + stated, tmp_path).text.partition("\n")[0] == said


def test_numbers_above_32_bits_fit_64(tmp_path: Path) -> None:
    assert made(tasks(64), tmp_path).text == ""
    assert made(badge(1 << 28), tmp_path).text == ""


def one_lock(tmp_path: Path) -> tuple[System, Plan, CapabilityModel]:
    found = made(
        HEAD.partition("\n")[0].replace(HEAD.partition("\n")[0], "")
        + """assembly {
    composition {
        component Lock lock; component Task a; component Task b;
        connection seL4RPCCall c(from a.p, from b.p, to lock.p);
    }
    configuration { a._priority = 10; b._priority = 20; }
}
""",
        tmp_path,
    )
    assert found.text == ""
    return found.system, found.plan, allocate(found.system, found.plan)


@pytest.mark.parametrize(("most", "messages"), [(2, 0), (1, 2)])
def test_contexts_have_an_index(
    most: int, messages: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two contexts, and the two callers that they come from."""
    system, plan, model = one_lock(tmp_path)
    monkeypatch.setattr("camkes.capdl.check.INDEXES", most)
    sink = Sink()
    check_limits(system, plan, model, 64, sink)
    assert len([d for d in sink.diagnostics if d.message.startswith(("CPI", "`a.p`", "`b.p`"))]) == messages


@pytest.mark.parametrize("bits", [32, 64])
def test_threads_of_a_pool(bits: int, tmp_path: Path) -> None:
    system, plan, model = one_lock(tmp_path)
    most = limits.WORDS[bits].threads
    for threads, good in ((most, True), (most + 1, False)):
        sink = Sink()
        cpi = replace(plan.cpis[0], pooled=True, threads=threads)
        check_limits(system, replace(plan, cpis=(cpi,)), model, bits, sink)
        assert [d.message for d in sink.diagnostics] == (
            [] if good else [f"the pool of CPI `lock.p` has {threads} threads; the maximum is {most}"]
        )


def test_a_caller_has_sixteen_bits(tmp_path: Path) -> None:
    system, plan, model = one_lock(tmp_path)
    key = CpiRequest("a", "p", "a")
    for badge, good in ((0xFFFF, True), (0x10000, False)):
        sink = Sink()
        spaces = tuple(
            replace(
                space,
                caps=tuple(
                    replace(c, badge=badge)
                    if c.slot == model.slots[key] and key.instance in space.instances
                    else c
                    for c in space.caps
                ),
            )
            for space in model.spaces
        )
        check_limits(system, plan, replace(model, spaces=spaces), 64, sink)
        found = ["is caller 65536 of a CPI; the maximum is 65535" in d.message for d in sink.diagnostics]
        assert found == ([] if good else [True])


def test_the_runtime_has_fields_of_these_widths() -> None:
    text = LABEL.read_text("utf-8")
    bits = dict(re.findall(r"#define CAMKES_LABEL_(\w+)_BITS \(sizeof\(seL4_Word\) == 8 \? (.*)\)", text))
    for field, found in (("TASK", "task_bits"), ("DETAIL", "detail_bits")):
        for word, width in zip((64, 32), bits[field].split(" : "), strict=True):
            assert getattr(limits.WORDS[word], found) == int(width)


#: where the C code has a number, and Python's; the pattern finds it, as C writes it
SHARED = {
    "priority": (limits.MAX_PRIORITY, "kernel/host/include/sel4/types.h", r"define seL4_MaxPrio (\w+)"),
    "priorities of the host kernel": (
        limits.MAX_PRIORITY + 1,
        "kernel/host/src/state.h",
        r"PRIORITIES = (\w+)",
    ),
    "priority in a label": (
        (limits.MAX_PRIORITY + 1).bit_length() - 1,
        "runtime/include/camkes/label.h",
        r"define CAMKES_LABEL_PRIORITY_BITS (\w+)",
    ),
    "no task": (limits.INDEXES, "runtime/include/camkes/thread.h", r"define CAMKES_NO_TASK (\w+)"),
    "no route": (limits.INDEXES, "runtime/include/camkes/thread.h", r"define CAMKES_NO_ROUTE (\w+)"),
    "contexts of a lock word": (
        limits.INDEXES.bit_length(),
        "runtime/include/camkes/cpi.h",
        r"define CAMKES_WAITERS \(\(uintptr_t\)1 << (\w+)\)",
    ),
    "no thread in a record": (
        limits.NO_NUMBER,
        "runtime/include/camkes/platform.h",
        r"define CAMKES_TRACE_NO_NUMBER (\w+)",
    ),
    "no thread of the host kernel": (limits.NO_NUMBER, "kernel/host/src/state.h", r"\bNONE = (\w+)"),
    "frames of a fault": (limits.FAULT_FRAMES, "kernel/host/src/threads.h", r"FAULT_FRAMES = (\w+)"),
    "ring of records": (
        limits.SEL4_TRACE_BYTES,
        "runtime/src/platform/sel4/trace_sel4.h",
        r"define CAMKES_SEL4_TRACE_BYTES (\w+)",
    ),
    "size of a record": (
        limits.RECORD_LIMIT.bit_length() - 1,
        "kernel/host/src/boot/main.c",
        r"\.trace_limit = \(uint64_t\)1 << (\w+)",
    ),
}


@pytest.mark.parametrize("name", SHARED)
def test_c_has_the_same_number(name: str) -> None:
    number, file, pattern = SHARED[name]
    assert [int(n, 0) for n in re.findall(pattern, (ROOT / file).read_text("utf-8"))] == [number]
