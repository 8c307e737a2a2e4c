# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes run --coverage`: the lines and branches of two instances of a component count together."""

from __future__ import annotations

from pathlib import Path

import pytest

from camkes.backends.host import coverage
from tests.command import camkes
from tests.documents import conforming
from tests.end_to_end.support import system
from tests.golden import compare

pytestmark = pytest.mark.requirement("TOOL-21")

SYSTEM = """
procedure P { int f(in int a); }
component A { control; uses P p; attribute int n; }
component B { provides P p; }
assembly {
    composition {
        component A one;  component A two;  component B b;
        connection seL4RPCCall c(from one.p, from two.p, to b.p);
    }
    configuration { one.n = 1; two.n = 2; }
}
"""

A = """
int run(void)
{
    if (n == 1) {
        printf("one\\n");
    } else {
        printf("two\\n");
    }
    if (p_f(n) > 5) {
        printf("never\\n");
    }
    return 0;
}
"""

B = """
int p_f(int a)
{
    if (a == 2) {
        abort();
    }
    return a;
}
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    return system(tmp_path, SYSTEM, {"A.c": A, "B.c": B})


@pytest.mark.long
def test_lines_and_branches_are_counted(files: Path, tmp_path: Path) -> None:
    """Also those of a component that stops at a fault; a second run counts from 0."""
    pytest.importorskip("gcovr")
    out = tmp_path / "coverage"
    for _ in range(2):
        result = camkes("run", files, "-o", tmp_path / "out", "--coverage", out, "--json")
        assert result.status == 1, result.errors  # because of the fault
    parts = {part["file"]: part for part in conforming("run", result.output)["coverage"]}
    assert list(parts) == ["", "A.c", "B.c"]
    assert [parts["A.c"][name] for name in ("lines", "lines_of", "branches", "branches_of")] == [6, 7, 3, 4]
    assert [parts["B.c"][name] for name in ("branches", "branches_of")] == [2, 2]
    records = (out / "coverage.info").read_text().splitlines()
    assert f"SF:{tmp_path / 'A.c'}" in records
    counts = {tuple(record.split(",")[:2]) for record in records if record.startswith("DA:")}
    assert {("DA:7", "1"), ("DA:9", "1"), ("DA:12", "0")} <= counts
    assert "A.c" in (out / "index.html").read_text()
    plain = camkes("run", files, "-o", tmp_path / "out")
    assert "coverage" not in plain.output and not list((tmp_path / "out").rglob("*.gcda"))


def test_without_gcovr(files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "find_spec", lambda name: None)
    monkeypatch.setattr(coverage, "install_packages", "install {}".format)
    result = camkes("run", files, "-o", tmp_path / "out", "--coverage", tmp_path / "coverage")
    assert result.status == 1
    compare(result.errors, Path(__file__).parent / "golden" / "no_gcovr.txt")
    assert not (tmp_path / "out").exists()
