# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes run --cost-profile`: operations take their measured time in virtual time."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.command import camkes
from tests.end_to_end.support import EXAMPLES, loop, write

pytestmark = pytest.mark.requirement("HOST-16")

PROFILE = """
clock = 1_000_000_000
plain = { call = 100, reply = 200 }
inherited = { acquire = 1_000, release = 2_000, queue = 50_000 }
timer = { release = 10_000, each = 500 }
"""


@pytest.fixture(scope="module")
def two_tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """H arrives 1 ms after L, which has the lock from its begin on for 2 ms; H's request takes 1 ms."""
    return write(
        tmp_path_factory.mktemp("system"),
        """procedure P { void go(in int ms); }
        component High { control; requestor; uses P p; }
        component Low { control; requestor; uses P p; }
        component Lock { provides P p with priority_protocol inherited, requests (); }""",
        """composition {
            component High h; component Low l; component Lock lock;
            connection seL4RPCCall c(from h.p, from l.p, to lock.p);
        }
        configuration {
            h._priority = 20; h._period = 20 ms; h._offset = 1 ms; l._priority = 10; l._period = 20 ms;
        }""",
        {
            "High": loop("p_go(1);"),
            "Low": loop("p_go(2);"),
            "Lock": "void p_go(int ms) { camkes_work(CAMKES_MS(ms)); }",
        },
    )


def responses(path: Path, *more: str | Path) -> dict[str, int]:
    document = json.loads(camkes("run", path, "--for", "10ms", "--verify", "--json", *more).output)
    assert document["violations"] == [] and "budgets" not in document, "it is not an MCS kernel"
    return {task["name"]: task["response"]["max"] for task in document["tasks"]}


@pytest.mark.long
def test_response_times_are_exact(two_tasks: Path, tmp_path: Path) -> None:
    path, profile = two_tasks, tmp_path / "board.toml"
    profile.write_text(PROFILE)
    assert responses(path) == {"h": 2_000_000, "l": 3_000_000}
    release, waits = 10_000 + 2 * 500, 1_000 + 2_000  # two tasks: the manager keeps the only reply
    h_begins = 1_000_000 + release + 100
    l_is_left = 2_000_000 - (1_000_000 - release - 100)
    h_ends = h_begins + waits + l_is_left + 1_000_000 + 200
    assert responses(path, "--cost-profile", profile) == {"h": h_ends - 1_000_000, "l": h_ends + 200}


@pytest.mark.long  # that a monitor has no other costs is known from the boot table
def test_a_monitor_takes_the_time_of_its_requests(tmp_path: Path) -> None:
    """The consumer waits in its request until the producer, released behind it, has worked for 2 ms."""
    profile = tmp_path / "board.toml"
    profile.write_text(PROFILE)
    found = responses(EXAMPLES / "buffer", "-o", tmp_path / "out", "--cost-profile", profile)
    release = 10_000 + 3 * 500
    assert found["consumer"] == 2 * release + 2_000_000 + 100 + 100 + 200


@pytest.mark.long
def test_profile_is_stated_with_the_results(two_tasks: Path, tmp_path: Path) -> None:
    path = two_tasks
    plain, plain_trace = tmp_path / "plain.trace", tmp_path / "none.trace"
    assert "operations take" not in camkes("run", path, "--for", "10ms", "--trace", plain).output
    result = camkes("run", path, "--for", "10ms", "--trace", plain_trace, "--cost-profile", "none")
    assert plain.read_bytes() == plain_trace.read_bytes()
    assert "operations take their time on none\n" in result.output
    result = camkes("run", path, "--for", "10ms", "--cost-profile", "sudvarg2024-intel", "--json")
    assert json.loads(result.output)["cost_profile"] == "sudvarg2024-intel"
    wrong = camkes("run", path, "--cost-profile", "nothing")
    assert wrong.status == 1
    assert "there is no platform profile `nothing`" in wrong.errors


def random_system(rng: random.Random, folder: Path) -> Path:
    """Three or four tasks, which request one or two of three CPIs; X requests Z, and Y may do that."""
    tasks = [f"t{i}" for i in range(rng.randint(3, 4))]
    cpis = {name: rng.choice(("inherited", "inherited", "propagated", "fixed")) for name in "xyz"}
    uses = {name: rng.random() < 0.5 for name in "xy"}
    targets = {task: sorted(rng.sample("xyz", rng.randint(1, 2))) for task in tasks}
    for lonely in set("xy") - {t for each in targets.values() for t in each}:
        targets[rng.choice(tasks)] = [lonely]
    components, instances, given, sources = [], [], [], {}
    links: dict[str, list[str]] = {name: [] for name in cpis}
    for task, priority in zip(tasks, rng.sample(range(2, 60), len(tasks)), strict=True):
        work = rng.randint(1, 200)
        used = " ".join(f"uses P {name};" for name in targets[task])
        components.append(f"component T{task} {{ control; requestor; {used} }}")
        instances.append(f"component T{task} {task};")
        given.append(
            f"{task}._priority = {priority}; {task}._period = {rng.choice((5, 8, 10, 20))} ms;"
            f" {task}._offset = {rng.randint(0, 900)} us; {task}._wcet = {work} us;"
        )
        for name in targets[task]:
            given.append(f"{task}.{name}_requests = 1;")
            links[name].append(f"from {task}.{name}")
        calls = " ".join(f"{name}_go();" for name in targets[task])
        sources[f"T{task}"] = loop(f"camkes_work(CAMKES_US({work})); {calls}")
    for name, protocol in cpis.items():
        work, deeper = rng.randint(1, 300), uses.get(name, False)
        if deeper:
            links["z"].append(f"from {name}.z")
        used = "uses P z;" if deeper else ""
        components.append(
            f"component C{name} {{ provides P p with priority_protocol {protocol},"
            f" requests ({'z' if deeper else ''}); {used} }}"
        )
        instances.append(f"component C{name} {name};")
        given.append(f"{name}.p_wcet = {work} us;" + (f" {name}.z_requests = 1;" if deeper else ""))
        sources[f"C{name}"] = (
            f"void p_go(void) {{ camkes_work(CAMKES_US({work})); {'z_go();' if deeper else ''} }}"
        )
    connections = [
        f"connection seL4RPCCall c{name}({', '.join(ends)}, to {name}.p);"
        for name, ends in links.items()
        if ends
    ]
    return write(
        folder,
        "procedure P { void go(); } " + " ".join(components),
        f"composition {{ {' '.join([*instances, *connections])} }} configuration {{ {' '.join(given)} }}",
        sources,
    )


@pytest.mark.long
@pytest.mark.parametrize("seed", range(60))
def test_analysis_bounds_a_run_on_the_same_machine(seed: int, tmp_path: Path) -> None:
    path = random_system(random.Random(seed), tmp_path)
    profile = ("qemu-x86_64", "qemu-aarch64")[seed % 2]
    analysed = camkes("analyze", path, "--platform", profile, "--no-search", "--json")
    bounds = {each["name"]: each["response"] for each in json.loads(analysed.output)["tasks"]}
    run = camkes("run", path, "--for", "100ms", "--cost-profile", profile, "--verify", "--json")
    document = json.loads(run.output)
    assert document["violations"] == []
    compared = 0
    for task in document["tasks"]:
        if bounds[task["name"]] is not None:
            assert 0 < task["response"]["max"] <= bounds[task["name"]], task["name"]
            compared += 1
    assert compared > 0
