# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""`camkes test`: mocks, expectations, results. What fails is in tests/diagnostics (tests_that_fail)."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from xml.etree import ElementTree

import pytest

from camkes.diagnostics import Sink
from camkes.testing import run as suite_run
from camkes.testing.checks import split_reports, whole_lines
from camkes.testing.suite import CaseSettings, read_settings
from tests.command import Result, camkes
from tests.documents import conforming

pytestmark = pytest.mark.requirement("TOOL-16")

PARTS = """
procedure Io {
    int get(in int a, out int b, inout string s, in string t, in char c[], out int list[],
            out string names[]);
    void put(inout int x, inout int kept);
    string name();
}
component User { control; uses Io io; }
component Pump { control; requestor; }
component Server { provides Io io; }
"""

SERVER = r"""
#include <camkes.h>
#include <stdlib.h>
#include <string.h>
int io_get(int a, int *b, char **s, const char *t, size_t c_sz, const char *c, size_t *list_sz, int **list,
           size_t *names_sz, char ***names)
{
    *b = a + 1;
    *list_sz = c_sz;
    *list = calloc(c_sz + 1, sizeof(int));
    for (size_t i = 0; i < c_sz; i++) {
        (*list)[i] = c[i];
    }
    *names_sz = 1;
    *names = malloc(sizeof(char *));
    (*names)[0] = strdup(t);
    (*s)[0]++;
    camkes_work(CAMKES_MS(1));
    return (int)strlen(*s);
}
void io_put(int *x, int *kept)
{
    (*x)++;
}
char *io_name(void)
{
    return strdup("ann");
}
"""

USER = r"""
#include <camkes.h>
#include <stdio.h>
#include <string.h>

int run(void)
{
    char *s = strdup("in");
    int b = 0, *list, x = 5, kept = 6;
    size_t items, texts;
    char **names;
    const int result = io_get(1, &b, &s, "text", 2, "ab", &items, &list, &texts, &names);
    io_put(&x, &kept);
    printf("%d %d %s, list %zu %d, names %zu %s, %d %d, %s\n", result, b, s, items, list[1], texts, names[1],
           x, kept, io_name());
    printf("%s\n", io_name());
    return 0;
}
"""

PUMP = r"""
#include <camkes.h>
int run(void)
{
    while (camkes_next_job()) {
        camkes_work(CAMKES_MS(3));
    }
    return 0;
}
"""

ASSEMBLY = """
import <std_connector.camkes>;
import "../parts.camkes";
component {name} {{ control; provides Io io; }}
assembly {{
    composition {{
        component User user;  component {name} test;  {more}
        connection seL4RPCCall c(from user.io, to test.io);
    }}
    configuration {{ test._priority = 1; {settings} }}
}}
"""

MOCKS = r"""
#include <mocks.h>
static const int list[] = {3, 4};
static const char *const names[] = {"x", "yz"};
static const int seven = 7;
void pre_init(void)
{
    mock_io_get_answer(.result = 9, .b = 8, .s = "out", .list = list, .list_sz = 2, .names = names,
                       .names_sz = 2);
    mock_io_put_usually(.x = &seven);
    mock_io_name_answer(.result = "ann", .work = CAMKES_MS(2));
}
int run(void)
{
    camkes_case("what was called");
    camkes_expect_text(mock_io_get.call[0].t, "text");
    camkes_expect_text(mock_io_get.call[0].s, "in");
    camkes_expect_equal(mock_io_get.call[0].c_sz, 2);
    camkes_expect_equal(mock_io_get.call[0].c[1], 'b');
    camkes_expect_equal(mock_io_put.call[0].x, 5);
    camkes_case("when");
    camkes_expect_equal(mock_io_name.call[1].time - mock_io_name.call[0].time, CAMKES_MS(2));
    camkes_expect_equal(mock_io_name.calls, 2);
    return 0;
}
"""

FAILING = r"""
#include <mocks.h>
void pre_init(void)
{
    mock_io_get_answer(.fails = CAMKES_MOCK_HOW);
}
int run(void)
{
    camkes_expect_blocked("user");
    return 0;
}
"""

#: a mock of its own, an expected fault and an expected miss
OWN = r"""
#include <camkes/test.h>
#include <mocks.h>
#include <stdlib.h>
int io_get(int a, int *b, char **s, const char *t, size_t c_sz, const char *c, size_t *list_sz, int **list,
           size_t *names_sz, char ***names)
{
    abort();
}
int run(void)
{
    camkes_expect_fault("test");
    camkes_expect_blocked("user");
    camkes_expect_missed("pump");
    return 0;
}
"""


#: a script of calls, and what is recorded of their answers
CALLS = r"""
#include <mocks.h>
static const int list[] = {'a', 'b'};
static const char *const names[] = {"text"};
void pre_init(void)
{
    mock_io_get_call(.a = 1, .s = "in", .t = "text", .c = "ab", .c_sz = 2, .within = CAMKES_MS(1));
    mock_io_get_expect(.result = 2, .b = 2, .s = "jn", .list = list, .list_sz = 2,
                       .names = names, .names_sz = 1);
    mock_io_put_call(.x = 5, .kept = 6, .times = 2, .work = CAMKES_MS(2));
    mock_io_put_expect(.x = 6, .kept = 6);
    mock_io_name_call();
    mock_io_name_expect(.result = "ann");
}
"""
PLAYED = r"""
int run(void)
{
    while (camkes_mock_next()) {
    }
    camkes_expect_equal(mock_io_get.answers + mock_io_put.answers + mock_io_name.answers, 4);
    camkes_expect_equal(mock_io_get.answer[0].response, CAMKES_MS(1));
    camkes_expect_equal(mock_io_put.answer[1].time, CAMKES_MS(5));
    camkes_expect_text(mock_io_get.answer[0].s, "jn");
    camkes_expect_equal(mock_io_get.answer[0].list[1], 'b');
    camkes_expect_text(mock_io_name.answer[0].result, "ann");
    return 0;
}
"""
CALLING = """
import <std_connector.camkes>;
import "../parts.camkes";
component {name} {{ control; requestor; uses Io io; }}
assembly {{
    composition {{
        component {name} test;  component Server server;
        connection seL4RPCCall c(from test.io, to server.io);
    }}
    configuration {{ {settings} }}
}}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    tests = folder / "tests"
    tests.mkdir()
    (folder / "parts.camkes").write_text(PARTS)
    (folder / "User.c").write_text(USER)
    (folder / "Pump.c").write_text(PUMP)
    (folder / "Server.c").write_text(SERVER)
    pump = ("component Pump pump;", "pump._priority = 9; pump._period = 2 ms;")
    for name, code, more, settings in (
        ("answers", MOCKS, "", ""),
        ("crash", FAILING.replace("HOW", "CRASHES"), "", ""),
        (
            "never",
            FAILING.replace("HOW", "NEVER_ANSWERS"),
            pump[0],
            "pump._priority = 9; pump._period = 4 ms;",
        ),
        ("own", OWN, *pump),
    ):
        text = ASSEMBLY.format(name=name.capitalize(), more=more, settings=settings)
        (tests / f"{name}.camkes").write_text(text)
        (tests / f"{name}.c").write_text(code)
    for name, code, settings in (
        ("calls", CALLS + PLAYED, "test._priority = 9;"),
        ("scripted", CALLS, "test._priority = 9; test._period = 10 ms;"),
    ):
        (tests / f"{name}.camkes").write_text(CALLING.format(name=name.capitalize(), settings=settings))
        (tests / f"{name}.c").write_text(code)
    (tests / "own.toml").write_text('for = "10ms"\nchoices = ["first", "random:3"]\n')
    (tests / "never.toml").write_text('for = "10ms"\n')
    (tests / "answers.output").write_text("")
    (tests / "answers.events").write_text("")
    return folder


@pytest.fixture(scope="module")
def ran(project: Path) -> Result:
    """All tests in parallel; those with expected output write it."""
    words = ("--json", "--junit", project / "out.xml", "--update", "-j", "2")
    return camkes("test", project, *words, "-o", project / "out", cwd=project)


@pytest.mark.long
def test_all_tests_of_the_project_pass(ran: Result) -> None:
    report = conforming("test", ran.output)
    assert ran.status == 0, ran.errors
    assert report["summary"] == {"tests": 7, "passed": 7, "failed": 0}
    titles = [(test["name"], test["choices"]) for test in report["tests"]]
    assert titles == [
        ("answers", "first"), ("calls", "first"), ("crash", "first"), ("never", "first"), ("own", "first"),
        ("own", "random:3"), ("scripted", "first"),
    ]  # fmt: skip


def test_mocks_record_and_answer(project: Path, ran: Result) -> None:
    (answers, *_) = json.loads(ran.output)["tests"]
    assert answers["output"] == "9 8 out, list 2 4, names 2 yz, 7 6, ann\n\n"
    assert [case["name"] for case in answers["cases"]] == ["what was called", "when"]
    assert (project / "tests" / "answers.output").read_text() == answers["output"]


def test_junit_has_a_case_for_each_case(project: Path, ran: Result) -> None:
    root = ElementTree.parse(project / "out.xml").getroot()
    cases = {suite.get("name"): [c.get("name") for c in suite.iter("testcase")] for suite in root}
    assert cases["answers"] == ["what was called", "when"]
    assert cases["own[random:3]"] == ["own[random:3]"]
    assert {suite.get("failures") for suite in root} == {"0"}


def test_a_failure_is_in_every_form_of_results(project: Path, ran: Result) -> None:
    """Also: `--filter`, and what differs from what is expected."""
    (project / "tests" / "answers.output").write_text("nothing\n")
    words = ("--filter", "answers", "-o", project / "out", "--junit", project / "failed.xml", "--tap")
    result = camkes("test", project, *words, cwd=project)
    assert result.status == 1 and "E0765" in result.errors
    assert result.output.startswith("TAP version 13\n1..3\nnot ok 1 - answers\n# the run differs")
    (failure,) = ElementTree.parse(project / "failed.xml").getroot().iter("failure")
    assert failure.get("message") == "the run differs from what answers.output expects"
    assert failure.text is not None and "-nothing" in failure.text


def test_names_are_listed(project: Path, ran: Result) -> None:
    result = camkes("test", "--list", cwd=project)
    assert result.output.split() == [
        "answers", "calls", "crash", "never", "own[first]", "own[random:3]", "scripted",
    ]  # fmt: skip


def test_pieces_of_a_line_are_joined() -> None:
    """The kernel cuts long lines; lines of other threads can be between the pieces."""
    pieces = [
        (1, 0, "camkes-test\tfailed\ta.c\t"), (2, 1, "other\n"), (3, 0, "12\tx == 1\nrest"), (4, 0, "\n"),
    ]  # fmt: skip
    reports, lines = split_reports(whole_lines(pieces, ["a", "b"]))
    assert [(r.what, r.path.name, r.line, r.text, r.instance, r.time) for r in reports] == [
        ("failed", "a.c", 12, "x == 1", "a", 3)
    ]
    assert [(line.instance, line.text) for line in lines] == [("b", "other"), ("a", "rest")]


@pytest.mark.parametrize("text", ["camkes-test\tfailed", "camkes-test\tfailed\ta.c\tx\ttext", "camkes-test"])
def test_a_line_that_only_looks_like_a_report_is_output(text: str) -> None:
    reports, lines = split_reports(whole_lines([(0, 0, f"{text}\n")], ["a"]))
    assert (reports, [line.text for line in lines]) == ([], [text])


def test_settings(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text('for = "1.5ms"\nscheduling = "rr"\ntimeslice = "5 ms"\n[definitions]\nA = "B"\n')
    assert read_settings(path, Sink()) == CaseSettings(
        duration=1_500_000, scheduling="rr", timeslice=5_000_000, definitions={"A": "B"}
    )
    assert read_settings(tmp_path / "none.toml", Sink()) == CaseSettings()


@pytest.mark.parametrize(
    "text",
    [
        "for = 3", 'for = "0ms"', "choices = []", 'choices = "script:x"', "definitions = 1",
        "definitions = {A=1}", 'scheduling = "edf"', "[for]\nx = 1", "\xff",
    ],
)  # fmt: skip
def test_wrong_settings_are_errors(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_bytes(text.encode("latin-1"))
    sink = Sink()
    assert read_settings(path, sink) is None
    assert [each.code.number for each in sink.diagnostics] == ["E0766"]


@pytest.mark.long
def test_coverage_is_that_of_all_tests_together(project: Path, ran: Result) -> None:
    words = ("--coverage", project / "covered", "-o", project / "out-covered", "--json")
    done = camkes("test", project, "--filter", "own[", *words, cwd=project)
    assert done.status == 0, done.errors
    report = json.loads(done.output)
    assert [test["choices"] for test in report["tests"]] == ["first", "random:3"]
    covered = {each["file"]: (each["lines"], each["lines_of"]) for each in report["coverage"]}
    assert set(covered) == {"", "Pump.c", "User.c"}  # neither tests nor mocks
    assert 0 < covered["User.c"][0] < covered["User.c"][1]
    assert (project / "covered" / "coverage.info").is_file()
    assert (project / "covered" / "index.html").is_file()


@pytest.mark.parametrize("ends", [False, True])
def test_a_worker_is_interrupted_in_a_test_only(ends: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a test it would print a traceback."""
    seen: list[object] = []
    monkeypatch.setattr(suite_run, "run_test", lambda *_: seen.append(signal.getsignal(signal.SIGINT)))
    before = signal.getsignal(signal.SIGINT)
    try:
        suite_run._ignore_interrupts()
        suite_run._run_in_worker(None, None, ends)  # type: ignore[arg-type]
        assert seen == [signal.default_int_handler if ends else signal.SIG_IGN]
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
