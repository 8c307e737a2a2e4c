# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What a search leaves out is listed under its verdict, with the option that adds it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from camkes.cli.main import main
from tests.command import camkes
from tests.documents import conforming
from tests.end_to_end.support import system
from tests.explore.test_search import write_files
from tests.explore.test_shared_memory import CALL, TWO_CPIS

pytestmark = pytest.mark.requirement("AN-22")

SERVER = """#include <string.h>
#include <stdlib.h>
#include <math.h>
static char text[] = "a,b";
void p_go(void) {{ {} }}
void q_go(void) {{ camkes_work(CAMKES_US(10)); }}
"""


def left_out(
    folder: Path, handler: str, capsys: pytest.CaptureFixture[str], *options: str, status: int = 0
) -> dict[str, str | None]:
    """What is not searched, and the option that adds it."""
    write_files(folder, TWO_CPIS, {"Client": CALL, "Server": SERVER.format(handler)})
    cmake = folder / "CMakeLists.txt"
    cmake.write_text(cmake.read_text().replace("SOURCES Server.c", "SOURCES Server.c LIBS m"))
    words = ["explore", str(folder), "-o", str(folder / "out"), "--limit", "60s", *options]
    assert main(words) == status
    text = capsys.readouterr().out
    assert main([*words, "--json"]) == status
    report = conforming("explore", capsys.readouterr().out)
    assert json.dumps(report)
    for each in report["not_searched"]:
        option = f" ({each['option']})" if each["option"] else ""
        assert f"\n  {each['subject']}{option}\n" in text
    return {each["subject"]: each["option"] for each in report["not_searched"]}


def test_what_no_search_can_look_at_is_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    handler = (
        'strtok(text, ","); free(malloc(10)); if (sin(text[0]) > 1.0) abort();\n /* asm("") */\n asm("");'
    )
    assert left_out(tmp_path, handler, capsys) == {
        "more than one job of each task": "--jobs 2",
        "what happens after 40 ms": "--for 80ms",
        "deadlines where jobs are released at other times than stated": None,
        "server: the assembly at Server.c:8": None,
        "server: what strtok() accesses": None,
    }
    assert left_out(tmp_path, handler, capsys, "--strict", status=1)


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "listed"),
    [
        (["--jobs", "2", "--arrivals", "any"], {
            "deadlines, and budgets, at the stated times": "--arrivals stated",
            "more than 2 jobs of each task": "--jobs 3",
        }),
        (["--arrivals", "stated", "--for", "30ms"], {
            "other orders of arrivals than the stated one": "--arrivals any",
            "races, and preemptions between accesses to memory": "--arrivals any",
            "what happens after 30 ms": "--for 60ms",
            "deadlines where jobs are released at other times than stated": None,
        }),
        (["--bound", "0", "--arrivals", "any"], {
            "deadlines, and budgets, at the stated times": "--arrivals stated",
            "more than one job of each task": "--jobs 2",
            "more than 0 preemptions": "no --bound",
        }),
        (["--random", "5", "--arrivals", "any"], {
            "deadlines, and budgets, at the stated times": "--arrivals stated",
            "more than one job of each task": "--jobs 2",
            "all but 5 schedules": "no --random",
        }),
        (["--states", "1", "--arrivals", "any"], {
            "deadlines, and budgets, at the stated times": "--arrivals stated",
            "more than one job of each task": "--jobs 2",
            "what was left when the search was stopped": None,
        }),
    ],
    ids=["any", "stated", "bound", "random", "stopped"],
)  # fmt: skip
def test_what_options_leave_out_is_listed(
    options: list[str], listed: dict[str, str | None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert left_out(tmp_path, "", capsys, *options) == listed


@pytest.mark.long
def test_races_are_checked_where_memory_has_points(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_files(tmp_path, TWO_CPIS, {"Client": CALL, "Server": SERVER.format("")})
    for arrivals, properties in (("any", "M P H B L Z S F R"), ("stated", "M P H B L Z S F D")):
        assert main(["explore", str(tmp_path), "-o", str(tmp_path / "out"), "--arrivals", arrivals]) == 0
        assert f"\nproperties {properties}: no violation was found\n" in capsys.readouterr().out


TWO_SERVERS = """
procedure P { void f(); }
component T { control; requestor; uses P p; }
component S { provides P p; provides P q; }
assembly {
    composition {
        component T a;
        component T b;
        component S s;
        connection seL4RPCCall c(from a.p, to s.p);
        connection seL4RPCCall d(from b.p, to s.q);
    }
    configuration {
        a._priority = 20;
        a._period = 10 ms;
        b._priority = 10;
        b._period = 10 ms;
        s.p_priority = 20;
        s.q_priority = 20;
    }
}
"""
INIT = "void p__init(void) { }"


@pytest.mark.parametrize(
    ("code", "option", "listed"),
    [
        ("void p__init(void) { }", (), True),
        ("", (), False),
        ("void p__init(void) { }", ("--no-reduction",), False),
    ],
    ids=["initialised", "not-initialised", "all-orders"],
)
@pytest.mark.mostly_long("initialised", "not-initialised")
def test_the_order_in_which_interfaces_are_initialised(
    code: str, option: tuple[str, ...], listed: bool, tmp_path: Path
) -> None:
    task = "int run(void) { while (camkes_next_job()) { p_f(); } return 0; }\n"
    server = f"void p_f(void) {{ }}\nvoid q_f(void) {{ }}\n{code}\n"
    path = system(tmp_path, TWO_SERVERS, {"t.c": task, "s.c": server})
    result = camkes("explore", path, "-o", tmp_path / "out", "--limit", "60s", *option)
    assert result.status == 0
    words = "other orders in which threads of one priority initialise interfaces (--no-reduction)"
    assert (words in result.output) == listed
