# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""B: tasks of lower priority keep a job waiting no more than the analysis lets them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from camkes.analysis.limits import BlockingLimit, blocking_limits
from camkes.backends.host.explore import SearchOptions
from camkes.diagnostics import Sink
from camkes.pipeline import Input, check
from tests.explore.search import LIMIT, built, exhausted, search
from tests.runtime import systems
from tests.runtime.host import HEAD
from tests.runtime.systems import Contended

pytestmark = pytest.mark.requirement("AN-25")


def limits_of(
    folder: Path, system: Contended, jobs: int, definitions: tuple[tuple[str, str], ...] = ()
) -> Mapping[str, BlockingLimit]:
    folder.mkdir(exist_ok=True)
    root = folder / "system.camkes"
    root.write_text(HEAD + system.text)
    checked = check(Input(root, preprocess=False, definitions=definitions), Sink())
    assert checked is not None
    return blocking_limits(checked.system, checked.plan, jobs)


def with_protocol(system: Contended, protocol: str) -> Contended:
    return replace(system, components=system.components.replace("inherited", protocol))


#: c requests two locks, a and b one of them each
TWO_LOCKS = Contended(
    "two-locks",
    """component Leaf { provides P p with priority_protocol inherited, requests (); }
       component Both {
           provides P p with priority_protocol propagated, requests (n, m); uses P n; uses P m;
       }""",
    """component Leaf left; component Leaf right; component Both both;
       connection seL4RPCCall x(from a.p, from both.n, to left.p);
       connection seL4RPCCall y(from b.p, from both.m, to right.p);
       connection seL4RPCCall z(from c.p, to both.p);""",
    (("a", 10, 0), ("b", 20, 0), ("c", 30, 30)),
    sources={"Leaf": systems.LEAF, "Both": systems.TWICE},
)


@pytest.mark.parametrize(
    ("system", "jobs", "expected"),
    [
        (systems.RANKS, 1, {"c": 1}),  # one of a and b has the lock; b could wait for a, the only other
        (with_protocol(systems.RANKS, "propagated"), 1, {"b": 0, "c": 0}),
        (with_protocol(systems.RANKS, "fixed"), 1, {"c": 1}),
        (systems.RANKS, 2, {}),  # two requests of c, which a and b can both precede
        (TWO_LOCKS, 1, {}),  # a and b can each have a lock that c requests
        (with_protocol(TWO_LOCKS, "fixed"), 1, {"c": 1}),  # one at a ceiling keeps the other out
    ],
)
def test_at_most_so_many_tasks_of_lower_priority_keep_a_job_waiting(
    system: Contended, jobs: int, expected: dict[str, int], tmp_path: Path
) -> None:
    limits = limits_of(tmp_path, system, jobs)
    assert {name: limit.tasks for name, limit in limits.items()} == expected
    assert all(limit.time is None for limit in limits.values())


def test_there_is_no_limit_where_budgets_can_end(tmp_path: Path) -> None:
    system = with_protocol(systems.RANKS, "propagated")
    assert limits_of(tmp_path, system, 1, (("KernelIsMCS", "OFF"),)) != {}
    assert limits_of(tmp_path, system, 1, (("KernelIsMCS", "ON"),)) == {}


@pytest.mark.long
@pytest.mark.parametrize("system", [systems.RANKS, TWO_LOCKS], ids=lambda s: s.name)
def test_a_search_finds_a_lock_of_which_the_analysis_does_not_know(system: Contended, tmp_path: Path) -> None:
    """A `propagated` CPI that is served under a lock, with inheritance, breaks no other property."""
    what = built(tmp_path / "system", system)
    options = SearchOptions(seconds=LIMIT)
    limits = limits_of(tmp_path / "propagated", with_protocol(system, "propagated"), 1)
    found = search(what, options, limits).violation
    assert found is not None and found.property == "B"
    assert "works before" in found.explanation and found.explanation.endswith("by the analysis at most 0 can")
    for right in (limits_of(tmp_path / "inherited", system, 1), {}):
        result = search(what, options, right)
        assert result.violation is None and exhausted(result)


def test_the_greatest_number_is_reached(tmp_path: Path) -> None:
    """With one less, there is a violation."""
    what = built(tmp_path / "system", systems.RANKS)
    found = search(what, None, {"c": BlockingLimit(0)}).violation
    assert found is not None and found.property == "B"
    assert "c could go on" in found.explanation


@pytest.mark.mostly_long("59-True")
@pytest.mark.parametrize(("stated", "violated"), [(60, False), (59, True)])
def test_sections_that_are_longer_than_stated_are_found(stated: int, violated: bool, tmp_path: Path) -> None:
    """The low task is in a section of 60 us when the high one is released; no deadline is missed."""
    times = f"leaf.p_wcet = {stated} us; a._wcet = 20 us; b._wcet = 20 us;"
    system = replace(
        systems.ONE_LOCK,
        composition="""component Leaf leaf;
            connection seL4RPCCall x(from a.p, from b.p, to leaf.p);""",
        tasks=(("a", 10, 0), ("b", 20, 10)),
        settings=times,
    )
    what = built(tmp_path / "system", system)
    found = search(what, SearchOptions(arrivals=0, duration=1_000_000, seconds=LIMIT)).violation
    assert (found is not None) == violated
    if found is not None:
        assert found.explanation == (
            "a works before b could go on; with it tasks of lower priority have for 60 us, and by the "
            "analysis can for at most 59 us"
        )
