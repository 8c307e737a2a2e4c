# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Component code cannot set any thread to a priority above what the plan needs in its component."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.running.kinds import Kind
from tests.runtime.host import build

pytestmark = pytest.mark.requirement("RT-5")

#: tries all ways to give a thread more than `ceiling`, with every pair of slots, and counts those that work
_ATTACK = """
static int attack(unsigned ceiling)
{
    int successes = 0;
    for (seL4_CPtr tcb = 0; tcb < SLOTS; tcb++) {
        for (seL4_CPtr authority = 0; authority < SLOTS; authority++) {
            for (unsigned p = ceiling + 1; p <= 255; p += p < 254 && p > ceiling + 1 ? 254 - p : 1) {
                successes += seL4_TCB_SetPriority(tcb, authority, p) == seL4_NoError;
                successes += seL4_TCB_SetMCPriority(tcb, authority, p) == seL4_NoError;
                successes += seL4_TCB_SetSchedParams(tcb, authority, p, 0) == seL4_NoError;
                successes += seL4_TCB_SetSchedParams(tcb, authority, 0, p) == seL4_NoError;
            }
        }
    }
    return successes;
}
"""

#: what else the server is: it must not matter
_SERVERS = {
    "alone": "",
    "control": "control;",
    "plain": "provides P q;",
    "events": "maybe consumes E e;",
}


def _text(protocol: str, more: str, group: bool) -> str:
    instances = "component Server server; component Other other;"
    name = "g.server" if group else "server"
    if group:
        instances = f"group g {{ {instances} }}"
    plain = f"connection seL4RPCCall y(from plain.q, to {name}.q);" if "q;" in more else ""
    plain_instance = "component Plain plain;" if plain else ""
    return f"""
    procedure P {{ void go(); }}
    component Task {{ control; requestor; uses P p; }}
    component Plain {{ control; uses P q; }}
    component Other {{ control; }}
    component Server {{ {more} provides P p with priority_protocol {protocol}, requests (); }}
    assembly {{ composition {{
        component Task low; component Task high; {plain_instance} {instances}
        connection seL4RPCCall x(from low.p, from high.p, to {name}.p);
        {plain}
    }}
    configuration {{
        low._priority = 10; high._priority = 20; low._period = 5 ms; high._period = 5 ms; high._offset = 2 ms;
    }} }}
    """


@pytest.mark.long
@pytest.mark.parametrize("more", list(_SERVERS))
def test_no_handler_gets_a_thread_above_its_ceiling(more: str, tmp_path: Path) -> None:
    run_ = "int run(void) { return 0; }\n" if "control" in _SERVERS[more] else ""
    plain = "void q_go(void) {}\n" if more == "plain" else ""
    server = _ATTACK + run_ + plain + 'void p_go(void) { printf("%d\\n", attack(20)); }\n'
    _check(tmp_path, _text("inherited", _SERVERS[more], False), server)


@pytest.mark.long
@pytest.mark.parametrize("protocol", ["propagated", "fixed"])
def test_under_every_protocol(protocol: str, tmp_path: Path) -> None:
    _check(
        tmp_path, _text(protocol, "", False), _ATTACK + 'void p_go(void) { printf("%d\\n", attack(20)); }\n'
    )


@pytest.mark.long
def test_with_the_threads_of_others_in_a_group(tmp_path: Path) -> None:
    server = _ATTACK + 'void p_go(void) { printf("%d\\n", attack(20)); }\n'
    _check(tmp_path, _text("inherited", "", True), server)


def _check(folder: Path, text: str, server: str) -> None:
    sources = {
        "Task": "int run(void) { while (camkes_next_job()) { p_go(); } return 0; }\n",
        "Plain": "int run(void) { return 0; }\n",
        "Other": "int run(void) { return 0; }\n",
        "Server": "#define SLOTS 24\n" + server,
    }
    run = build(folder, text, sources).run("--loop-limit", "20000", duration=4_500_000)
    assert run.output == "0\n0\n"
    assert not [e for e in run.of(Kind.PRIORITY) if e.args[1] > 20]
    assert run.violations() == []


@pytest.mark.long
def test_a_task_cannot_raise_itself(tmp_path: Path) -> None:
    text = """
    component Task { control; requestor; }
    assembly { composition { component Task t; component Task u; }
    configuration { t._priority = 10; u._priority = 5; } }
    """
    task = "#define SLOTS 8\n" + _ATTACK + 'int run(void) { printf("%d\\n", attack(0)); return 0; }\n'
    assert build(tmp_path, text, {"Task": task}).run().output == "0\n0\n"


def test_other_components_keep_the_authority_that_camkes_tool_gives(tmp_path: Path) -> None:
    text = "component Main { control; } assembly { composition { component Main main; } }"
    main = "#define SLOTS 8\n" + _ATTACK + 'int run(void) { printf("%d\\n", attack(253) > 0); return 0; }\n'
    assert build(tmp_path, text, {"Main": main}).run().output == "1\n"
