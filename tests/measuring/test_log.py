# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Serial logs: all of a measurement is read, and nothing that is damaged, cut off or of another image."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from camkes.diagnostics import Sink, SourceFile
from camkes.measuring.log import (
    MARK,
    OVERRUNS,
    REQUESTS,
    ROWS,
    Boot,
    content,
    parts_of,
    read_log,
    samples_of,
    written,
)
from tests.measuring.logs import LINES, cut, damaged, with_about

pytestmark = pytest.mark.requirement("AN-30")

END = written("end")
PARTS = parts_of(mcs=False)
STARTS = [number for number, line in enumerate(LINES) if "begin " in line]


def read(*texts: str | Iterable[str]) -> tuple[tuple[Boot, ...] | None, list[str], Sink]:
    sink = Sink()
    files = [
        SourceFile(Path(f"{number}.log"), text if isinstance(text, str) else "\n".join(text) + "\n")
        for number, text in enumerate(texts)
    ]
    found = read_log(files, sink)
    assert (found is None) == sink.has_errors
    return found, [diagnostic.code.number for diagnostic in sink.diagnostics], sink


def test_all_images_are_read() -> None:
    found, _, _ = read(LINES)
    assert found is not None and tuple(boot.part for boot in found) == PARTS
    requests = found[0]
    assert requests.about["machine"] == "qemu-x86_64" and requests.number("samples") == 5
    assert set(requests.rows) == set(ROWS) and {len(row) for row in requests.rows.values()} == {5}
    assert [len(boot.rows["gap"]) for boot in found[1:]] == [300, 300]
    first, second = STARTS[1:]
    assert read(LINES[:first], LINES[first:second], LINES[second:])[0] == found, "in logs of their own"
    assert read(LINES[second:], LINES[:second])[0] == found, "in another order"


def test_other_text_is_left_out() -> None:
    """Of a boot loader, the kernel and a program that writes times before each line."""
    noisy = ["U-Boot 2026.01", *(f"[{n}.5] {line}\r" for n, line in enumerate(LINES)), "halted"]
    noisy.insert(40, "a driver says hello")
    assert read(noisy)[0] == read(LINES)[0]


def test_the_last_complete_boot_counts() -> None:
    """A reset, and a first boot that was damaged, do no harm if the image comes to its end once."""
    good = read(LINES)[0]
    assert read([*LINES[:30], *LINES])[0] == good
    assert read([*damaged()[: STARTS[1]], *LINES])[0] == good
    assert read([*LINES, *LINES[:30]])[0] == good


@pytest.mark.parametrize("part", range(3))
def test_a_log_that_ends_too_early(part: int) -> None:
    end = [*STARTS[1:], len(LINES)][part]
    for lines in (LINES[: end - 1], [*LINES[: end - 2], LINES[end - 2][:20]], [*LINES[: end - 1], MARK]):
        _, codes, sink = read(lines)
        assert set(codes) == {"E0790"}
        assert sink.diagnostics[0].message == f"the log ends before image `{PARTS[part]}` had printed all"
        assert sink.diagnostics[0].span is not None
        assert len(sink.diagnostics) == 1


def test_an_image_is_missing() -> None:
    for lines, names in (
        (LINES[: STARTS[1]], "images `releases-1` and `releases-50`"),
        (LINES[STARTS[1] :], "image `requests`"),
    ):
        _, codes, sink = read(lines)
        assert codes == ["E0790"] and sink.diagnostics[0].message == f"no log has what {names} printed"


def test_an_mcs_kernel_has_one_more_image() -> None:
    """That of ends of budgets."""
    lines: Iterable[str] = LINES
    for part in PARTS:
        lines = with_about("settings=none", "settings=KernelIsMCS=ON", part, tuple(lines))
    _, codes, sink = read(lines)
    assert codes == ["E0790"] and sink.diagnostics[0].message == f"no log has what image `{OVERRUNS}` printed"


def test_a_log_of_something_else() -> None:
    for text in ("", "\0\0\0", "Booting\n", "\n"):
        _, codes, sink = read(text)
        assert codes == ["E0790"] and "no line is from an image that measures" in sink.diagnostics[0].message


def test_a_first_line_is_missing() -> None:
    _, codes, sink = read(LINES[1:])
    assert codes == ["E0790"]
    assert sink.diagnostics[0].message == f"the log does not have the first line of image `{REQUESTS}`"


def test_damaged_lines() -> None:
    _, codes, sink = read(damaged())
    (found,) = sink.diagnostics
    assert codes == ["E0791"] and found.span is not None and found.span.line == 3
    assert found.notes == ("lines that are damaged: 1",)
    _, codes, sink = read([*LINES[:10], *LINES[11:]])
    assert codes == ["E0791"] and "has 4 of 5 lines" in sink.diagnostics[0].message


def test_no_damage_goes_unnoticed() -> None:
    """One character is another one, is lost or comes in addition, anywhere in the lines that are read."""
    rng = random.Random(1)
    good = read(LINES)[0]
    for _ in range(300):
        lines = list(LINES)
        number = rng.randrange(len(lines))
        line = lines[number]
        at = rng.randrange(len(line))
        other = rng.choice("0123456789 *aegns")
        changed = rng.choice([line[:at] + other + line[at + 1 :], line[:at] + line[at + 1 :]])
        changed = rng.choice([changed, line[:at] + other + line[at:]])
        lines[number] = changed
        found, _, sink = read(lines)
        assert found is None or found == good or changed == line, (number, line, changed)
        assert found is not None or sink.diagnostics[0].code.number in ("E0790", "E0791")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("format=3", "format=2", "another version of camkes: format 2; this one reads format 3"),
        ("format=3 ", "", "another version of camkes: format unknown"),
        ("begin releases-1 ", "begin releases-7 ", "another version of camkes: image `releases-7`"),
        ("kernel=93f73a49ad2b", "kernel=0123", "image `releases-1` has kernel=0123, and image `requests`"),
        ("settings=none", "settings=KernelIsMCS=ON", "has settings=KernelIsMCS=ON, and image `requests`"),
    ],
)
def test_images_of_another_build(old: str, new: str, message: str) -> None:
    _, codes, sink = read(with_about(old, new, "releases-1"))
    assert codes == ["E0792"] and message in sink.diagnostics[0].message
    assert sink.diagnostics[0].span is not None


def test_a_number_of_samples_that_is_wrong() -> None:
    for word in ("samples=x", "samples=", "samples=6"):
        assert read(with_about("samples=5", word, REQUESTS))[1] == ["E0791"]


def test_samples_of_one_image() -> None:
    lines = [written("counter 100 105 110"), "something else", written("plain 1000 1255 1560"), END]
    samples = samples_of(lines)
    assert samples is not None and [list(samples), samples["plain"][0].middle] == [["counter", "plain"], 1255]
    assert samples_of(lines[:-1]) is None, "it has no end"
    assert content(written("a b")) == "a b" and content("a b") is None and cut().count(MARK) == 4
