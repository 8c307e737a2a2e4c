# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The unit tests of the runtime execute all of it, but for lines with an argument, and a gap is noticed."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from benchmarks import generated_coverage
from benchmarks.runtime_coverage import (
    COUNTING,
    Count,
    Gap,
    Line,
    compiler,
    complaints,
    covered,
    main,
    measured,
    table,
    why_not,
)

pytestmark = pytest.mark.requirement("RT-37")

needs_gcc = pytest.mark.skipif(bool(why_not()), reason=why_not())

CODE = """\
#include <stdlib.h>
#define CAMKES_ASSERT(condition) ((condition) ? (void)0 : abort())

static int both(int a, int b)
{
    CAMKES_ASSERT(a >= 0 ||
                  b >= 0);
    if (a && b) {
        return 1;
    }
    return 0;
}

static int which(int a)
{
    switch (a) {
    case 1:
        return 2;
    default:
        return 3;
    }
}

int main(int count, char **word)
{
    (void)word;
    return both(1, 1) + both(0, 1) + which(1) + which(count) == 5 ? 0 : 1;
}
"""
LACKS = "branch 4 of 4, condition 2 of 2 as false"


def _measure(folder: Path, code: str) -> tuple[list[Gap], list[str]]:
    """The gaps of a program that is compiled and executed, and the complaints about them."""
    source = folder / "code.c"
    source.write_text(code)
    subprocess.run([*compiler(), *COUNTING, "-O0", "-o", "code", source.name], check=True, cwd=folder)
    subprocess.run([str(folder / "code")], check=True, cwd=folder)
    found = covered("code.c", code, measured(folder)[str(source)])
    return list(found.gaps), list(complaints([found]))


@needs_gcc
def test_a_condition_that_never_decides_is_a_gap(tmp_path: Path) -> None:
    gaps, said = _measure(tmp_path, CODE)
    assert gaps[0] == Gap(8, LACKS, "")
    assert said[0] == f"code.c:8: not covered: {LACKS}"
    assert [gap.line for gap in gaps] == [8, 16, 19, 20]


@needs_gcc
def test_arguments_are_of_a_line_or_a_block_and_may_not_be_stale(tmp_path: Path) -> None:
    code = CODE.replace("if (a && b) {", "/* not covered: b is\n       1 */\n    if (a && b) {")
    code = code.replace("switch (a) {", "switch (a) { /* not covered: it has no default */")
    code = code.replace("return 0;", "return 0; /* not covered: it is */")
    gaps, said = _measure(tmp_path, code)
    assert [(gap.line, gap.argument) for gap in gaps] == [
        (10, "b is 1"),
        (18, "it has no default"),
        (21, "it has no default"),
        (22, "it has no default"),
    ]
    assert said == ["code.c:13: covered, in spite of its argument"]


def _counted(count: int, taken: tuple[int, ...] = (), *unseen: tuple[list[int], list[int]]) -> Line:
    conditions = [
        {
            "count": 4,
            "covered": 4 - len(true) - len(false),
            "not_covered_true": true,
            "not_covered_false": false,
        }
        for true, false in unseen
    ]
    return _added(Line(), count, [{"count": each} for each in taken], conditions)


def _added(
    line: Line, count: int, branches: Sequence[Mapping[str, int]], conditions: Sequence[Mapping[str, object]]
) -> Line:
    line.add({"function_name": "f", "count": count, "branches": branches, "conditions": conditions})
    return line


def test_what_one_test_leaves_another_covers() -> None:
    line = _counted(1, (1, 0, 1, 0), ([0], [1]))
    assert list(line.lacks()) == [
        "branch 2 of 4",
        "branch 4 of 4",
        "condition 1 of 2 as true",
        "condition 2 of 2 as false",
    ]
    other = {"count": 4, "covered": 2, "not_covered_true": [1], "not_covered_false": [0]}
    _added(line, 0, [{"count": n} for n in (0, 1, 0, 0)], [other])
    assert list(line.lacks()) == ["branch 4 of 4"]
    assert (line.count_branches(), line.count_conditions()) == (Count(3, 4), Count(4, 4))


def test_another_function_and_another_kernel_count_by_themselves() -> None:
    line = _counted(1, (1, 1))
    _added(line, 1, [{"count": n} for n in (1, 1, 1, 0)], [])
    line.add({"function_name": "g", "count": 1, "branches": [{"count": 0}, {"count": 1}]})
    assert list(line.lacks()) == ["branch 4 of 4", "branch 1 of 2"]


def test_what_assertions_decide_does_not_count() -> None:
    text = "f();\nCAMKES_ASSERT(a(1) &&\n    b);\nCAMKES_UNREACHABLE();\n"
    text += "if (x) { /* not covered: never */\n    g();\n}\n"
    undecided = _counted(1, (1, 0), ([], [1]))
    lines = {
        1: _counted(0),
        2: undecided,
        3: undecided,
        4: _counted(0),
        5: _counted(1, (1, 0)),
        6: _counted(0),
    }
    found = covered("x.c", text, lines)
    assert (found.statements, found.branches, found.conditions) == (Count(3, 5), Count(1, 2), Count(0, 0))
    assert found.gaps == (
        Gap(1, "statement", ""),
        Gap(5, "branch 2 of 2", "never"),
        Gap(6, "statement", "never"),
    )
    assert found.unargued == found.gaps[:1] and not found.stale
    assert table([found]).splitlines()[1].split() == ["x.c", "3/5", "1/2", "0/0", "2"]


def test_an_argument_needs_a_gap() -> None:
    assert covered("x.c", "/* not covered: why */\nf();\n", {2: _counted(1)}).stale == (2,)
    assert covered("x.c", "f(); /* not covered: why */\n", {}).stale == (1,)


@needs_gcc
def test_the_units_cover_the_runtime(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["runtime_coverage.py", "--jobs", "1"])
    status = main()
    printed = capsys.readouterr()
    assert (printed.err, status) == ("", 0)
    rows, others = printed.out.split("\n\n")
    assert "  runtime/src/platform/sel4/start_sel4.c\n" in others and "timer_protocol" not in others
    files = {line.split()[0]: line.split()[1:] for line in rows.splitlines()[1:]}
    assert len(files) > 40 and "runtime/src/core/manager.c" in files
    statements, branches, conditions, argued = files["all"]
    assert int(argued) < 40
    for count in (statements, branches, conditions):
        covered_, of = map(int, count.split("/"))
        assert 0.97 * of < covered_ <= of and of > 1500


@pytest.mark.requirement("RT-39")
def test_lines_of_generated_code_are_the_same_but_for_names() -> None:
    one = '    if (!camkes_message_good(&reply, &p__place, "add")) { /* of p */'
    other = 'if (!camkes_message_good(&reply_, &store__place, "a \\" b")) {'
    assert generated_coverage.pattern(one) == generated_coverage.pattern(other)
    assert generated_coverage.pattern(one) == "if (!camkes_message_good(&_, &_, _)) {"
    line = Line()
    line.merge(_counted(0, (1, 0), ([0], [1])))
    assert list(line.lacks()) == ["statement"]
    line.merge(_counted(1, (0, 1)))
    assert list(line.lacks()) == ["condition 1 of 2 as true", "condition 2 of 2 as false"]


@pytest.mark.long
@needs_gcc
@pytest.mark.requirement("RT-39")
def test_systems_with_all_shapes_cover_generated_code(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", shlex.join(compiler()))
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    status = generated_coverage.main()
    printed = capsys.readouterr()
    assert (printed.err, status) == ("", 0)
    assert printed.out.startswith("lines 1")
