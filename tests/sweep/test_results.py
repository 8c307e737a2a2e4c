# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Files of results: what a stopped command left is used, what is of another sweep is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from camkes.diagnostics import Sink
from camkes.files import OutputError
from camkes.sweep.codes import RESULTS_FILE
from camkes.sweep.results import SweepIdentity, results_file
from camkes.sweep.rows import SweepRow
from tests.diagnostics.test_commands import limited_files

pytestmark = pytest.mark.requirement("AN-29")

IDENTITY = SweepIdentity(vary=("a.b=1,2",), options={"--do": "analyze"}, files="1")


def row(number: int) -> SweepRow:
    return SweepRow(number=number, values=(str(number),), verdict="met", slack=number)


def known(path: Path, identity: SweepIdentity = IDENTITY) -> dict[int, SweepRow] | None:
    """The rows of a file; None where it is refused, with an error."""
    sink = Sink()
    with results_file(path, identity, sink) as results:
        assert sink.has_errors == (results is None)
        assert {each.code for each in sink.diagnostics} <= {RESULTS_FILE}
        return None if results is None else dict(results.rows)


def write(path: Path, *numbers: int) -> None:
    with results_file(path, IDENTITY, Sink()) as results:
        assert results is not None
        for number in numbers:
            results.add(row(number))


def test_rows_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "r"
    write(path, 3, 1)
    write(path, 2)
    assert known(path) == {n: row(n) for n in (3, 1, 2)}


def test_a_file_that_was_cut_anywhere(tmp_path: Path) -> None:
    """Whole lines are used, and after another row the file is as if it had not been cut."""
    path = tmp_path / "r"
    write(path, 1, 2)
    whole = path.read_bytes()
    ends = [n for n in range(len(whole)) if whole[n : n + 1] == b"\n"]
    for cut in range(len(whole) + 1):
        path.write_bytes(whole[:cut])
        found = known(path)
        lines = sum(end < cut for end in ends)
        assert found == {n: row(n) for n in range(1, lines)}
        write(path, *range(max(lines, 1), 3))
        assert path.read_bytes() == whole


def test_a_last_line_that_is_damaged_is_dropped_and_another_one_not(tmp_path: Path) -> None:
    path = tmp_path / "r"
    write(path, 1, 2)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1] + b'{"number":\n')
    assert known(path) == {1: row(1)}
    path.write_bytes(lines[0] + b"\0" * 20 + b"\n" + lines[2])
    assert known(path) is None
    assert path.read_bytes().endswith(lines[2])


@pytest.mark.parametrize(
    "other",
    [
        replace(IDENTITY, vary=("a.b=1,3",)),
        replace(IDENTITY, options={"--do": "run"}),
        replace(IDENTITY, options={"--do": "analyze", "--platform": "none"}),
        replace(IDENTITY, files="2"),
    ],
)
def test_another_sweep(other: SweepIdentity, tmp_path: Path) -> None:
    path = tmp_path / "r"
    write(path, 1)
    before = path.read_bytes()
    assert known(path, other) is None
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", [b"text\n", b"text", b'{"number":1}\n'])
def test_a_file_of_something_else(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_bytes(text)
    assert known(path) is None
    assert path.read_bytes() == text


def test_two_commands_at_once(tmp_path: Path) -> None:
    with results_file(tmp_path / "r", IDENTITY, Sink()):
        assert known(tmp_path / "r") is None


def test_a_full_disk(tmp_path: Path) -> None:
    """A row for which there is no space is not there, not even in part."""
    path = tmp_path / "r"
    with limited_files(400), results_file(path, IDENTITY, Sink()) as results:
        assert results is not None
        with pytest.raises(OutputError, match="cannot write"):
            for number in range(100):
                results.add(row(number))
        assert 0 < len(results.rows) < 100
        before = set(results.rows)
    assert path.read_bytes().endswith(b"}\n")
    assert known(path) == {number: row(number) for number in before}
