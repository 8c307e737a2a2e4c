# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the words of `camkes analyze` cover: none is printed where an assumption, or what it does not know of,
was left out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from camkes import pipeline
from camkes.analysis.verdict import analyse_system
from camkes.cli.main import main
from camkes.diagnostics import Sink
from tests.end_to_end.support import loop, write

pytestmark = pytest.mark.requirement("AN-13")

#: Everything that a bound rests on is stated: `c`, which requests nothing, is between `a` and `b`.
STATED = """import <std_connector.camkes>;
procedure Store { int add(in int value); }
component Task { control; requestor; uses Store store; }
component Alone { control; requestor; }
component Shared { provides Store store with priority_protocol inherited; }
assembly {
    composition {
        component Task a; component Task b; component Alone c; component Shared s;
        connection seL4RPCCall r(from a.store, from b.store, to s.store);
    }
    configuration {
        a._priority = 20; a._period = 10 ms; a._wcet = 1 ms; a.store_requests = 1;
        b._priority = 10; b._period = 20 ms; b._wcet = 1 ms; b.store_requests = 1;
        c._priority = 15; c._period = 20 ms; c._wcet = 1 ms;
        s.store_wcet = 1 ms;
    }
}
"""
NONE = ("--platform", "none")


def changed(*changes: tuple[str, str]) -> str:
    """The text with these words replaced, once each."""
    text = STATED
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


class Answer:
    """What `camkes analyze` says of a system, in all forms."""

    def __init__(
        self, path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...] = NONE
    ) -> None:
        capsys.readouterr()
        html = path.with_name("page.html")
        words = ["analyze", "--nocpp", str(path), "-o", str(path.parent / "out"), *options]
        self.status = main([*words, "--json", "--html", str(html)])
        output = capsys.readouterr()
        self.json: dict[str, Any] = json.loads(output.out)
        self.errors = output.err
        self.page = html.read_text("utf-8")
        self.strict = main([*words, "--strict"])
        self.strict_errors = capsys.readouterr().err
        assert main(words) == self.status
        self.text = capsys.readouterr().out
        self.verdicts = {task["name"]: task["verdict"] for task in self.json["tasks"]}
        #: the words in the table
        self.words = {
            name: re.split(r"  +", line)[-1]
            for line in self.text.partition("\n\n")[0].splitlines()[1:]
            for name in line.split()[:1]
        }

    def no_bound(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = next(t["no_bound"] for t in self.json["tasks"] if t["name"] == name)
        return found


def test_met_where_all_is_stated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.camkes").write_text(STATED)
    found = Answer(tmp_path / "s.camkes", capsys)
    assert (found.status, found.strict, found.json["verdict"]) == (0, 0, "met")
    assert set(found.verdicts.values()) == set(found.words.values()) == {"met"}
    assert found.json["assumptions"] == [] and "met if" not in found.text
    assert '<p class="good">All deadlines are met.</p>' in found.page


@pytest.mark.parametrize(
    ("left_out", "options", "kind", "subject", "concerned"),
    [
        ("", (), "operations", "", "abc"),
        # of all that executes before, and of what can be in the way
        ("a._wcet = 1 ms;", NONE, "execution time", "a", "abc"),
        ("c._wcet = 1 ms;", NONE, "execution time", "c", "bc"),
        ("b._wcet = 1 ms;", NONE, "execution time", "b", "b"),
        ("s.store_wcet = 1 ms;", NONE, "execution time", "s.store", "abc"),
        # how often a lower task requests does not matter: it is in one section
        ("a.store_requests = 1;", NONE, "requests", "a", "abc"),
        ("b.store_requests = 1;", NONE, "requests", "b", "b"),
    ],
)
def test_met_if_names_what_is_assumed(
    left_out: str,
    options: tuple[str, ...],
    kind: str,
    subject: str,
    concerned: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert left_out in STATED
    (tmp_path / "s.camkes").write_text(STATED.replace(left_out, "") if left_out else STATED)
    found = Answer(tmp_path / "s.camkes", capsys, options)
    (assumed,) = found.json["assumptions"]
    assert (assumed["kind"], assumed["subject"], set(assumed["tasks"])) == (kind, subject, set(concerned))
    assert {name for name, verdict in found.verdicts.items() if verdict == "met if"} == set(concerned)
    assert found.words == {name: "met if 1" if name in concerned else "met" for name in "abc"}
    assert f"1: {assumed['text']}" in found.text and assumed["help"] in found.text
    assert found.json["verdict"] == "met if"
    assert (found.status, found.strict) == (0, 1)
    assert "error[E0902]" in found.strict_errors and assumed["text"] in found.strict_errors
    assert "All deadlines are met." not in found.page and 'class="left assumed"' in found.page
    assert assumed["text"].split("`")[0] in found.page
    assert main(["analyze", "--nocpp", str(tmp_path / "s.camkes"), *options, "--explain", "b"]) == 0
    text = capsys.readouterr().out
    assert "the longest response: met if 1\n" in text and f"  1: {assumed['text']}" in text
    assert "the bound is exact\n" not in text


def test_bounds_of_utilisation_rest_on_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.camkes").write_text(STATED)
    assert {each["verdict"] for each in Answer(tmp_path / "s.camkes", capsys).json["bounds"]} == {"met"}
    found = Answer(tmp_path / "s.camkes", capsys, ())
    assert {each["verdict"] for each in found.json["bounds"]} == {"met if"}


def test_helpers_without_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wait counts for nothing until it is stated for how long the helpers execute."""
    text = """import <std_connector.camkes>;
    component Client { control; requestor; emits E ask; consumes E told with helpers%s; }
    component Server { control; requestor; consumes E asked; emits E tell; }
    assembly {
        composition {
            component Client client; component Server server;
            connection seL4Notification one(from client.ask, to server.asked);
            connection seL4Notification two(from server.tell, to client.told);
        }
        configuration {
            client._priority = 10; client._period = 10 ms; client._wcet = 1 ms; server._priority = 5;
            server.asked_priority = 1; client.told_priority = 1;
        }
    }"""
    responses = {}
    for within in ("", ", within 2 ms"):
        (tmp_path / "s.camkes").write_text(text % within)
        found = Answer(tmp_path / "s.camkes", capsys)
        kinds = [(each["kind"], each["subject"]) for each in found.json["assumptions"]]
        assert ("execution time", "client.told") in kinds or within
        assert ("waits", "client.told") in kinds  # no code was read, so it may give up
        responses[within] = found.json["tasks"][0]["response"] / 1_000_000
    assert responses == {"": 1, ", within 2 ms": 3}


# What has no bound --------------------------------------------------------------------------------


def test_a_task_without_a_bound_spoils_no_task_above(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """b waits for an event; a waits for b's request only, c is above b."""
    text = changed(
        ("assembly {", "component Waits { control; requestor; uses Store store; consumes E e; }\nassembly {"),
        ("assembly {", "component Driver { emits E e; }\nassembly {"),
        ("component Task b;", "component Waits b; component Driver d;"),
        ("connection", "connection seL4Notification n(from d.e, to b.e); connection"),
        ("s.store_wcet", "b.e_priority = 1; d._priority = 1; s.store_wcet"),
    )
    (tmp_path / "s.camkes").write_text(text)
    found = Answer(tmp_path / "s.camkes", capsys)
    assert found.verdicts == {"a": "met", "c": "met", "b": "unbounded"}
    assert found.words["b"] == "no bound: waits for b.e" and found.json["verdict"] == "unbounded"
    none = found.no_bound("b")
    assert none["reason"] == "obstacle" and none["place"]["line"] and none["help"]
    assert found.status == 1 and "error[E0903]" in found.errors
    assert "No bound for b: `b` can wait for the event `e` without a bound (" in found.text
    assert found.json["tasks"][0]["blocking"] == 1_000_000  # b's request

    # without a deadline that does not fail
    (tmp_path / "s.camkes").write_text(text.replace("b._period = 20 ms;", ""))
    found = Answer(tmp_path / "s.camkes", capsys)
    assert (found.status, found.json["verdict"], found.errors) == (0, "met", "")
    assert found.verdicts == {"a": "met", "c": "met", "b": "unbounded"}
    b = found.json["tasks"][2]
    assert (b["name"], b["period"], b["deadline"], b["response"]) == ("b", None, None, None)
    assert found.json["tasks"][0]["blocking"] == 1_000_000
    assert "No bound for b: task `b` has no period" in found.text

    # what is below it has none
    higher = text.replace("b._period = 20 ms;", "").replace("b._priority = 10;", "b._priority = 17;")
    (tmp_path / "s.camkes").write_text(higher)
    found = Answer(tmp_path / "s.camkes", capsys)
    assert found.verdicts == {"a": "met", "c": "unbounded", "b": "unbounded"}
    assert found.words["c"] == "no bound: interference of b, which has none"
    assert found.status == 1 and "error[E0901]: task `b` has no period" in found.errors


MONITOR = """
procedure P { void f(); }
component Task { control; requestor; uses P p; }
component Queue {
    provides P put with priority_protocol inherited, monitor m;
    provides P get with priority_protocol inherited, monitor m;
    has condition some with helpers;
}
component Front { provides P f with priority_protocol inherited; uses P queue; }"""
WAITING = """
composition {
    component Task high; component Task low; component Task logger;
    component Queue queue; component Front front;
    %s
}
configuration {
    high._priority = 30; high._period = 10 ms; high._wcet = 1 ms;
    low._priority = 20; low._period = 20 ms; low._wcet = 1 ms;
    logger._priority = 10; logger._period = 20 ms; logger._wcet = 1 ms;
    queue.put_wcet = 1 ms; queue.get_wcet = 1 ms; front.f_wcet = 1 ms;
}"""
QUEUES = {
    "Task": loop("p_f();"),
    "Queue": "static int n; void put_f(void) { n++; some_signal(); }\n"
    "void get_f(void) { while (!n) { some_wait(); } n--; }",
    "Front": "void f_f(void) { queue_f(); }",
}


@pytest.mark.parametrize(
    ("connections", "expected"),
    [
        # the lock is free while the logger waits: only its sections block
        ("connection seL4RPCCall a(from high.p, from low.p, to queue.put);"
         " connection seL4RPCCall b(from logger.p, from front.queue, to queue.get);",
         {"high": "met", "low": "met", "logger": "no bound: waits for queue.some"}),
        # it has the lock of `front` while it waits, which `high` wants
        ("connection seL4RPCCall a(from low.p, to queue.put);"
         " connection seL4RPCCall c(from high.p, from logger.p, to front.f);"
         " connection seL4RPCCall b(from front.queue, to queue.get);",
         {"high": "no bound: waits for queue.some",
          "low": "no bound: blocked by logger in front.f, without a bound",
          "logger": "no bound: waits for queue.some"}),
    ],
)  # fmt: skip
def test_a_wait_in_a_monitor(
    connections: str, expected: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = Answer(write(tmp_path, MONITOR, WAITING % connections, QUEUES), capsys)
    assert found.words == expected and found.status == 1


def test_a_section_without_a_bound_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """b waits for a semaphore in the lock of s.store, which a requests, or not; c, between them, requests
    nothing."""
    text = changed(
        ("inherited; }", "inherited, requests (next); uses Store next; }"),
        ("assembly {", "component Inner { provides Store p with priority_protocol propagated; "
         "has semaphore free; }\nassembly {"),
        ("component Shared s;", "component Shared s; component Inner inner;"),
        ("connection", "connection seL4RPCCall n(from s.next, to inner.p); connection"),
        ("s.store_wcet", "s.next_requests = 1; inner.p_wcet = 1 ms; s.store_wcet"),
        ("from a.store, ", ""),  # only b requests the lock
        ("uses Store store; }", "maybe uses Store store; }"),
    )  # fmt: skip
    (tmp_path / "s.camkes").write_text(text)
    found = Answer(tmp_path / "s.camkes", capsys)
    assert found.words == {"a": "met", "c": "met", "b": "no bound: waits for inner.free"}
    (tmp_path / "s.camkes").write_text(text.replace("from b.store", "from a.store, from b.store"))
    found = Answer(tmp_path / "s.camkes", capsys)
    assert found.words["a"] == found.words["b"] == "no bound: waits for inner.free"
    assert found.words["c"] == "no bound: blocked by b in s.store, without a bound"


def test_a_ceiling_without_a_bound_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """b waits for a semaphore at the ceiling of s.store, above c and not above a."""
    text = changed(
        ("inherited; }", "fixed; has semaphore free; }"),
        ("from a.store, ", ""),
        ("uses Store store; }", "maybe uses Store store; }"),
        ("s.store_wcet", "s.store_priority = 17; s.store_wcet"),
    )
    (tmp_path / "s.camkes").write_text(text)
    found = Answer(tmp_path / "s.camkes", capsys)
    assert found.words == {
        "a": "met",
        "c": "no bound: blocked by b in s.store, without a bound",
        "b": "no bound: waits for s.free",
    }
    assert found.no_bound("c") == {
        "reason": "blocking", "by": "b", "cpi": "s.store", "message": "", "place": None, "help": ""
    }  # fmt: skip


def test_threads_of_no_task_delay_those_up_to_their_priority(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = changed(
        ("assembly {", "component Plain { control; }\nassembly {"),
        ("component Shared s;", "component Shared s; component Plain p;"),
        ("s.store_wcet", "p._priority = 15; s.store_wcet"),
    )
    (tmp_path / "s.camkes").write_text(text)
    found = Answer(tmp_path / "s.camkes", capsys)
    thread = "no bound: the thread of p, at 15"
    assert found.words == {"a": "met", "c": thread, "b": thread}


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ("a._affinity = 1;", "several processors"),
        ("a._domain = 1; s.store_across_domains = 1;", "several processors"),
        # of one domain, which does not have the processor at all times, and has budgets
        ("", "slots of other domains"),
    ],
)
def test_the_processor_at_all_times(
    settings: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mcs = () if settings else ("-D", "KernelIsMCS=ON")
    slots = "" if settings else "schedule { [(0, 10 ms), (1, 10 ms)] }\n"
    text = changed(
        ("s.store_wcet", f"{settings} s.store_wcet"), ("    composition {", f"    {slots}composition {{")
    )
    (tmp_path / "s.camkes").write_text(text)
    found = Answer(tmp_path / "s.camkes", capsys, (*NONE, *mcs))
    assert set(found.words.values()) == {f"no bound: {why}"} and found.status == 1


# Counts from the code -------------------------------------------------------------------------------

CODE = """
procedure Store { int add(in int value); int sub(in int value); }
component Task { control; requestor; uses Store store; }
component Log { control; requestor; uses Store store; }
component Shared { provides Store store with priority_protocol inherited; }"""
ASSEMBLY = """
composition {
    component Task t; component Log log; component Shared s;
    connection seL4RPCCall c(from t.store, from log.store, to s.store);
}
configuration {
    t._priority = 20; t._period = 100 ms; t._wcet = 1 ms;
    log._priority = 10; log._period = 100 ms; log._wcet = 1 ms;
    s.store_wcet = 100 us;
}"""
SHARED = "int store_add(int value) { return value; }\nint store_sub(int value) { return value; }"


def counted(folder: Path, task: str, capsys: pytest.CaptureFixture[str], *options: str) -> Answer:
    sources = {"Task": loop(task), "Log": loop("store_add(1);"), "Shared": SHARED}
    return Answer(write(folder, CODE, ASSEMBLY, sources), capsys, (*NONE, *options))


def test_requests_are_counted_in_the_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Three in a row are three; 400 in a loop are 40 ms; the branch that makes more counts."""
    for task, ms in (
        ("store_add(1); store_sub(2); store_add(3);", 1.3),
        ("for (int i = 0; i < 400; i++) { store_add(i); }", 41),
        ("if (store_add(1)) { store_add(2); } else { store_sub(1); store_sub(2); }", 1.3),
    ):
        found = counted(tmp_path, task, capsys)
        assert (found.json["tasks"][0]["wcet"] / 1_000_000, found.verdicts["t"]) == (ms, "met")
        assert found.json["assumptions"] == [] and found.strict == 0


def test_a_loop_without_a_known_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The task has no bound, with the place of the call; the other one is below it."""
    found = counted(tmp_path, "for (int i = 0; i < store_sub(1); i++) { }", capsys)
    none = found.no_bound("t")
    assert found.words["t"] == "no bound: number of requests to s.store"
    assert none["place"]["file"].endswith("Task.c") and none["place"]["line"] == 4
    assert "t.store_requests" in none["help"] and "error[E0743]" in found.errors
    assert found.words["log"] == "no bound: interference of t, which has none" and found.status == 1


def test_a_loop_in_a_handler_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """log is less urgent, but has the lock while its requests go on."""
    sources = {
        "Task": loop("store_add(1);"),
        "Log": loop("store_add(1);"),
        "Shared": "int store_sub(int value) { return value; }\n"
        "int store_add(int value) { for (int i = 0; i < value; i++) { next_sub(i); } return value; }",
        "Leaf": SHARED,
    }
    components = CODE.replace("inherited; }", "inherited; uses Store next; }")
    components += "component Leaf { provides Store store with priority_protocol fixed; }"
    assembly = ASSEMBLY.replace("component Shared s;", "component Shared s; component Leaf leaf;")
    assembly = assembly.replace(
        "to s.store);", "to s.store); connection seL4RPCCall d(from s.next, to leaf.store);"
    )
    assembly = assembly.replace("s.store_wcet", "leaf.store_wcet = 1 us; s.store_wcet")
    found = Answer(write(tmp_path, components, assembly, sources), capsys)
    assert set(found.words.values()) == {"no bound: number of requests to leaf.store"}


@pytest.mark.parametrize(
    "code", ["for (;;) { MS(1); }", "for (;;) { store_add(1); if (camkes_now()) { MS(1); } }"]
)
def test_a_job_that_does_not_end(code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever time is stated. A loop that can be left, or in which jobs end, is another matter."""
    stated = ASSEMBLY.replace("s.store_wcet", "t.store_requests = 1; s.store_wcet")
    sources = {"Log": loop("store_add(1);"), "Shared": SHARED}
    task = "#define MS(n) camkes_work(CAMKES_MS(n))\nint run(void) { %s }"
    found = Answer(write(tmp_path, CODE, stated, {**sources, "Task": task % code}), capsys, NONE)
    assert found.words["t"] == "no bound: t does not end" and "error[E0746]" in found.errors
    assert found.words["log"] == "no bound: interference of t, which has none"
    for code in (
        "for (;;) { if (!camkes_next_job()) { return 1; } store_add(1); }",
        "for (;;) { MS(1); if (camkes_now()) { return 0; } }",
    ):
        found = Answer(write(tmp_path, CODE, stated, {**sources, "Task": task % code}), capsys, NONE)
        assert (found.words["t"], found.errors) == ("met", "")


def test_text_is_what_was_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = counted(tmp_path, "store_add(1); store_add(2);", capsys, "--text")
    assert [each["kind"] for each in found.json["assumptions"]] == ["requests", "requests"]
    assert all("(not counted: --text)" in each["text"] for each in found.json["assumptions"])
    assert found.json["tasks"][0]["wcet"] == 1_100_000 and found.strict == 1
    assert counted(tmp_path, "store_add(1); store_add(2);", capsys, "--code").json["assumptions"] == []


def test_without_a_compiler(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    found = counted(tmp_path, "store_add(1);", capsys)
    assert [each["kind"] for each in found.json["assumptions"]] == ["requests", "requests"]
    assert "no-such-compiler" in found.json["assumptions"][0]["text"] and found.status == 0


# Tasks that events release ------------------------------------------------------------------------

CHAIN = """
component First { control; requestor; emits Go go; }
component Second { control; requestor; consumes Go go; }"""
RELEASED = """
composition {
    component First first; component Second second;
    connection seL4NotificationNative c(from first.go, to second.go);
}
configuration {
    first._priority = 20; first._period = 10 ms; first._wcet = 1 ms;
    second._priority = 10; second._release = "go"; second._wcet = 1 ms; %s
}"""


def released(
    folder: Path, emits: str, settings: str, capsys: pytest.CaptureFixture[str], *options: str
) -> Answer:
    sources = {"First": loop(f"MS(1); {emits}"), "Second": loop("MS(1);")}
    return Answer(write(folder, CHAIN, RELEASED % settings, sources), capsys, (*NONE, *options))


def test_a_profile_without_what_an_event_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not where operations take no time; all tasks can be kept waiting."""
    profile = tmp_path / "older.toml"
    profile.write_text("[plain]\ncall = 250\n")
    found = released(tmp_path, "go_emit();", "", capsys, "--platform", str(profile))
    (assumed,) = found.json["assumptions"]
    assert (assumed["kind"], assumed["tasks"]) == ("operations", ["first", "second"])
    assert assumed["text"] == "the event that releases `second` takes no time to emit and to wait for"
    assert found.verdicts == {"first": "met if", "second": "met if"}
    assert released(tmp_path, "go_emit();", "", capsys).json["assumptions"] == []


def test_a_profile_with_what_an_event_takes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who emits has the emission, and the task that is released all that its release takes."""
    profile = tmp_path / "newer.toml"
    profile.write_text("[event]\nemit = 300\nrelease = 1000\n")
    found = released(tmp_path, "go_emit();", "", capsys, "--platform", str(profile))
    assert found.json["assumptions"] == [] and found.verdicts == {"first": "met", "second": "met"}
    assert [each["wcet"] for each in found.json["tasks"]] == [1_000_300, 1_001_000]
    assert [each["response"] for each in found.json["tasks"]] == [1_000_300, 2_001_300]


def test_events_are_counted_in_the_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = released(tmp_path, "go_emit();", "", capsys)
    assert (found.json["verdict"], found.json["tasks"][1]["period"]) == ("met", 10_000_000)
    found = released(tmp_path, "go_emit();", "", capsys, "--text")
    assert [(each["kind"], each["tasks"]) for each in found.json["assumptions"]] == [("events", ["second"])]
    assert found.verdicts == {"first": "met", "second": "met if"}
    for emits in ("go_emit(); go_emit();", "while (camkes_now()) { go_emit(); }", ""):
        found = released(tmp_path, emits, "", capsys)
        assert found.words["second"] == "no bound: no period" and found.verdicts["first"] == "met"
        # without a deadline that does not fail; with one it does
        assert (found.status, released(tmp_path, emits, "second._deadline = 5 ms;", capsys).status) == (0, 1)
        found = released(tmp_path, emits, "second._period = 4 ms;", capsys)
        assert (found.json["verdict"], found.json["tasks"][1]["period"]) == ("met", 4_000_000)


def test_progress_names_each_task(tmp_path: Path) -> None:
    """Of large systems it is seen what is done."""
    (tmp_path / "s.camkes").write_text(STATED)
    checked = pipeline.check(pipeline.Input(tmp_path / "s.camkes", preprocess=False), Sink())
    assert checked is not None
    shown: list[str] = []
    analyse_system(checked.system, checked.plan, None, Sink(), progress=shown.append)
    assert [text.rpartition(" ")[2] for text in shown] == ["a", "b", "c"]
    assert shown[-1].startswith("task 3 of 3")
