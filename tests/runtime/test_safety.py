# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a component that does not keep to the protocol can do, and what it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.capdl.uses import CapUse, CpiRequest, Update
from camkes.diagnostics import Sink
from camkes.running.demands import Property
from camkes.running.kinds import Kind
from tests.runtime.host import build, plan_of
from tests.runtime.systems import CHAIN, LEAF, PASS, TASK

pytestmark = pytest.mark.requirement("RT-5")

#: the system: a (10) and b (20) request `one`, c (20) `two`, both request `leaf`
_UPDATE, _CLEAR = 6, 7


def _slot(folder: Path, use: CapUse) -> int:
    _, _, model = plan_of(folder, CHAIN.text, Sink())
    return model.slots[use]


@pytest.mark.long
def test_an_update_cannot_go_above_the_connection(tmp_path: Path) -> None:
    slot = _slot(tmp_path, Update("one", "n", "a"))
    text = CHAIN.text.replace("c._priority = 20;", "c._priority = 90;")
    liar = PASS.replace(
        "    n_go();",
        f"    if (get_instance_name()[0] == 'o') {{\n"
        f"        (void)seL4_Call({slot}, seL4_MessageInfo_new({_UPDATE} | 255 << 4, 0, 0, 0));\n"
        f"    }}\n    n_go();",
    )
    run = build(tmp_path, text, {"Task": TASK, "Pass": liar, "Leaf": LEAF}).run(duration=3_000_000)
    worker = run.number("leaf.p@a")
    given = {e.args[1] for e in run.of(Kind.PRIORITY) if e.thread == worker}
    # 20 is the ceiling of `one`, 90 what c brings when it waits
    assert given <= {10, 20, 90}
    assert 20 in given
    assert not [v for v in run.violations() if v.property is Property.SAFE_METADATA]
    assert not [v for v in run.violations() if v.property is Property.MUTUAL_EXCLUSION]


def test_a_label_cannot_claim_a_priority(tmp_path: Path) -> None:
    slot = _slot(tmp_path, CpiRequest("a", "p", "a"))
    liar = f"""
    int run(void)
    {{
        if (get_instance_name()[0] == 'a') {{
            const seL4_MessageInfo_t reply = seL4_Call({slot}, seL4_MessageInfo_new(255, 0, 0, 0));
            printf("%d\\n", seL4_MessageInfo_get_label(reply) != 0);
        }}
        return 0;
    }}
    """
    run = build(tmp_path, CHAIN.text, {"Task": liar, "Pass": PASS, "Leaf": LEAF}).run()
    assert run.output == "1\n"
    assert not run.of(Kind.REQUEST_BEGIN)


@pytest.mark.long
def test_a_clear_affects_only_the_priority_of_its_sender(tmp_path: Path) -> None:
    """While c waits for the leaf that a holds, `one` clears a's request: the leaf keeps c's priority."""
    text = CHAIN.text.replace("uses P n; }", "uses P n; maybe consumes Halfway halfway; }")
    text = text.replace("requests (); }", "requests (); emits Halfway halfway; }")
    text = text.replace(
        "component Leaf leaf;",
        "component Leaf leaf; connection seL4Notification h(from leaf.halfway, to one.halfway);",
    )
    text = text.replace("c._offset = 50 us;", "c._offset = 35 us;")
    _, _, model = plan_of(tmp_path, text, Sink())
    slot = model.slots[Update("one", "n", "a")]
    liar = f"""
    {PASS}
    static void on_halfway(void *cookie)
    {{
        (void)seL4_Call({slot}, seL4_MessageInfo_new({_CLEAR}, 0, 0, 0));
        printf("cleared %d\\n", halfway_reg_callback(on_halfway, cookie));
    }}
    void post_init(void)
    {{
        if (get_instance_name()[0] == 'o') {{ (void)halfway_reg_callback(on_halfway, NULL); }}
    }}
    """
    leaf = """
    void p_go(void)
    {
        camkes_work(CAMKES_US(60));
        const unsigned before = camkes_request_priority();
        halfway_emit();
        camkes_work(CAMKES_US(60));
        printf("%d: %u %u\\n", camkes_requestor(), before, camkes_request_priority());
    }
    """
    run = build(tmp_path, text, {"Task": TASK, "Pass": liar, "Leaf": leaf}).run(duration=900_000)
    assert run.output.splitlines()[:2] == ["cleared 0", "0: 20 20"]
    assert run.of(Kind.CLEAR)
    assert not [v for v in run.violations() if v.property is not Property.PRIORITY]
