# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What must hold for any system."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camkes.diagnostics import Sink
from camkes.resolve import LoadOptions, load
from tests.examples import examples
from tests.operations import assert_linear

from .systems import good, resolve

pytestmark = pytest.mark.requirement("LANG-11")


@dataclass(frozen=True)
class Plan:
    """A system to generate: clients of servers through boxes, and what is set on them."""

    servers: int
    clients: tuple[int, ...]  # the server of each client
    boxed: tuple[bool, ...]  # whether each server is inside of a box
    priorities: tuple[int, ...]


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    servers = draw(st.integers(1, 5))
    clients = draw(st.lists(st.integers(0, servers - 1), min_size=1, max_size=8))
    boxed = draw(st.lists(st.booleans(), min_size=servers, max_size=servers))
    priorities = draw(st.lists(st.integers(0, 255), min_size=len(clients), max_size=len(clients)))
    return Plan(servers, tuple(clients), tuple(boxed), tuple(priorities))


def text_of(plan: Plan, order: list[int]) -> str:
    instances = [f"component {'Box' if b else 'Server'} s{i};" for i, b in enumerate(plan.boxed)]
    instances += [f"component Client c{i};" for i in range(len(plan.clients))]
    connections = [
        f"connection seL4RPCCall k{i}(from c{i}.p, to s{server}.p);" for i, server in enumerate(plan.clients)
    ]
    connections = [connections[i] for i in order]
    sets = [f"c{i}._priority = {priority};" for i, priority in enumerate(plan.priorities)]
    return f"""
    import <std_connector.camkes>;
    procedure P {{ void f(); }}
    component Client {{ control; requestor; uses P p; }}
    component Server {{ provides P p with priority_protocol propagated; }}
    component Box {{ provides P p; composition {{ component Server in_box; export in_box.p -> p; }} }}
    assembly {{ composition {{ {" ".join(instances + connections)} }} configuration {{ {" ".join(sets)} }} }}
    """


@given(plans(), st.data())
@examples(40)
def test_a_system_resolves_to_what_was_written(plan: Plan, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(plan.clients))))
    with tempfile.TemporaryDirectory() as folder:
        system = good(Path(folder), text_of(plan, order))
    inner = [f"s{i}.in_box" if boxed else f"s{i}" for i, boxed in enumerate(plan.boxed)]
    assert [t.priority for t in system.tasks] == list(plan.priorities)
    assert [c.instance for c in system.cpis] == inner
    for server, name in enumerate(inner):
        clients = [i for i in order if plan.clients[i] == server]
        found = [c for c in system.connections if c.to_ends[0].instance == name]
        assert len(found) == (1 if clients else 0)
        if clients:
            assert [end.instance for end in found[0].from_ends] == [f"c{i}" for i in clients]
            assert found[0].name == ".".join(sorted(f"k{i}" for i in clients))


VOCABULARY = (
    "component procedure connector assembly composition configuration connection control requestor uses "
    "provides from to with threads priority_protocol inherited export group A B p q a b { } ( ) ; , . = <- "
    '-> [ ] 1 0 "s" ms int attribute struct import <std_connector.camkes> seL4RPCCall'
)
WORDS = st.sampled_from(VOCABULARY.split())


@pytest.mark.long
@given(st.integers(0, 10**9), st.lists(st.tuples(st.integers(0, 200), WORDS), min_size=1, max_size=4))
@examples(150)
def test_changed_files_never_break_the_tool(seed: int, edits: list[tuple[int, str]]) -> None:
    plan = Plan(2, (seed % 2, 1, 0), (bool(seed & 4), bool(seed & 8)), (1, 2, 3))
    tokens = text_of(plan, [0, 1, 2]).replace(";", " ; ").replace(".", " . ").split(" ")
    for at, word in edits:
        tokens[at % len(tokens)] = word
    with tempfile.TemporaryDirectory() as folder:
        system, diagnostics = resolve(Path(folder), " ".join(tokens))
        assert system is not None or diagnostics


DUMP = """
import sys
from pathlib import Path
from camkes.diagnostics import Sink
from camkes.model.dump import dump_text
from camkes.resolve import LoadOptions, load
from tests.operations import assert_linear
sink = Sink()
system = load(Path(sys.argv[1]), LoadOptions(cpp=False), sink)
print(dump_text(system, places=True) if system else "")
print([(d.code.number, d.message, d.help) for d in sink.diagnostics])
"""


def outputs(path: Path) -> set[str]:
    root = Path(__file__).parents[2]
    found = set()
    for seed in ("0", "1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)}
        run = subprocess.run(
            [sys.executable, "-c", DUMP, str(path)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found.add(run.stdout)
    return found


@pytest.mark.long
def test_output_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    plan = Plan(3, (0, 1, 2, 0, 0, 1, 2, 0), (True, False, True), tuple(range(8)))
    path = tmp_path / "system.camkes"
    path.write_text(text_of(plan, list(range(8))), encoding="utf-8")
    assert len(outputs(path)) == 1


@pytest.mark.long
def test_diagnostics_do_not_depend_on_the_hash_seed() -> None:
    bad = Path(__file__).parent / "bad"
    for name in ("unknown_ends", "settings"):
        assert len(outputs(bad / f"{name}.camkes")) == 1


def ring(count: int) -> str:
    """A system of `count` instances with three connections each."""
    instances = "".join(f"component A a{i};" for i in range(count))
    connections = "".join(
        f"connection seL4RPCCall c{i}_{u}(from a{i}.{u}, to a{(i + k) % count}.{p});"
        for i in range(count)
        for k, u, p in ((1, "a", "x"), (2, "b", "y"), (3, "c", "z"))
    )
    sets = "".join(f"a{i}._priority = {i % 250};" for i in range(count))
    return f"""import <std_connector.camkes>; procedure P {{ void f(); }}
        component A {{ control; requestor; uses P a; uses P b; uses P c;
                       provides P x; provides P y; provides P z; }}
        assembly {{ composition {{ {instances} {connections} }} configuration {{ {sets} }} }}"""


@pytest.mark.long
def test_operations_grow_linearly_with_the_size_of_a_system(tmp_path: Path) -> None:
    def prepare(count: int) -> Callable[[], object]:
        path = tmp_path / f"{count}.camkes"
        path.write_text(ring(count), encoding="utf-8")

        def run() -> None:
            system = load(path, LoadOptions(cpp=False), Sink())
            assert system is not None and len(system.connections) == 3 * count

        return run

    assert_linear(prepare, (20, 40, 80))
