# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Values that are varied, and the combinations of them."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from camkes.diagnostics import Sink
from camkes.sweep.axes import SweepAxis, combinations, indices, read_axes, sample

pytestmark = pytest.mark.requirement("AN-29")


def axis(text: str) -> SweepAxis:
    sink = Sink()
    (found,) = read_axes([text], sink)
    assert not sink.diagnostics
    return found


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a._wcet=1ms:2ms:0.5ms", [(1_000_000, "ns"), (1_500_000, "ns"), (2_000_000, "ns")]),
        ("a._wcet=500us:2 ms:1ms", [(500_000, "ns"), (1_500_000, "ns")]),
        ("a.n=-1:3:2", [(-1, None), (1, None), (3, None)]),
        ("a.i_priority_protocol=fixed, inherited", [("fixed", None), ("inherited", None)]),
        ('a.name="b c",d-e', [("b c", None), ("d-e", None)]),
        ("b.a._priority=1,5:7:1,9", [(n, None) for n in (1, 5, 6, 7, 9)]),
        ("a.x=0.5,1.25", [(0.5, None), (1.25, None)]),
        ("a.x=true,false", [(1, None), (0, None)]),
    ],
)
def test_values(text: str, values: list[tuple[object, object]]) -> None:
    assert [(each.value, each.unit) for each in axis(text).values] == values


def test_spans_are_those_of_the_parts() -> None:
    found = axis("b.a._wcet=1ms,2ms")
    names = (found.instance_span, found.attribute_span, found.value_span)
    text = found.value_span.file.text
    assert [text[s.column - 1 : s.end_column - 1] for s in names] == ["b.a", "_wcet", "1ms,2ms"]
    assert found.name == "b.a._wcet"


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_each_number_is_another_combination(lengths: list[int]) -> None:
    axes = read_axes([f"a{n}.x=1:{length}:1" for n, length in enumerate(lengths)], Sink())
    found = [indices(axes, number) for number in range(combinations(axes))]
    assert found == list(product(*(range(length) for length in lengths)))


@given(st.integers(1, 10**15), st.integers(1, 50), st.integers(0, 100))
def test_samples_are_drawn_without_repetition(total: int, count: int, seed: int) -> None:
    found = sample(total, count, seed)
    assert len(set(found)) == len(found) == min(total, count)
    assert list(found) == sorted(found) == list(sample(total, count, seed))
    assert set(found) <= {*range(total)} if total < 1_000 else max(found) < total
