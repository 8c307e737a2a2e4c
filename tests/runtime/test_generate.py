# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Generated files: their contents, and that they are written only when they must be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.diagnostics.explain import explanation
from camkes.generate import codes, generate
from camkes.generate.facts import SystemFacts
from camkes.generate.names import c_string
from camkes.model import settings
from camkes.model.codes import SETTING_RANGE
from tests.codes import codes_of
from tests.resolve.systems import STD, numbers
from tests.runtime.host import plan_of

pytestmark = pytest.mark.requirement("RT-14")

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parent / "golden"

_SMALL = """
procedure Store {
    int put(in string key, in int values[]);
    void get(in string key, out string value, inout int count);
}
procedure Log { void line(in string text); }
component Task { control; requestor; uses Store store; }
component Shared { provides Store store with priority_protocol inherited, requests (); }
component Client { control; uses Log log; emits Done done; }
component Logger { provides Log log; consumes Done done; has mutex lock; attribute int depth = 4; }
assembly {
    composition {
        component Task high;
        component Task low;
        component Shared shared;
        connection seL4RPCCall requests(from high.store, from low.store, to shared.store);
        component Client client;
        component Logger logger;
        connection seL4RPCCall logging(from client.log, to logger.log);
        connection seL4Notification end(from client.done, to logger.done);
    }
    configuration {
        high._priority = 30; high._period = 10 ms;
        low._priority = 10;
    }
}
"""


_A_MONITOR_IN_PART = """
procedure P { int f(); }
component Task { control; requestor; uses P p; }
component Pass { provides P p with priority_protocol propagated, requests (); uses P next; }
component Buffer {
    provides P put with priority_protocol inherited, monitor q;
    provides P get with priority_protocol inherited, monitor q;
}
assembly {
    composition {
        component Task a; component Task b; component Pass pass; component Buffer buffer;
        connection seL4RPCCall one(from a.p, to buffer.PUT);
        connection seL4RPCCall two(from b.p, to pass.p);
        connection seL4RPCCall never(from pass.next, to buffer.GET);
    }
    configuration { a._priority = 30; b._priority = 10; }
}
"""


def _small(folder: Path, text: str = _SMALL) -> dict[str, str]:
    sink = Sink()
    system, plan, model = plan_of(folder, text, sink)
    files = generate(system, plan, model, folder / "out", sink)
    assert not sink.has_errors
    return {f.path.relative_to(folder / "out").as_posix(): f.path.read_text() for f in files}


@pytest.mark.parametrize(("called", "not_called"), [("get", "put"), ("put", "get")])
def test_a_monitor_of_which_a_cpi_is_connected_and_never_called(
    called: str, not_called: str, tmp_path: Path
) -> None:
    text = _A_MONITOR_IN_PART.replace("PUT", called).replace("GET", not_called)
    assert any("manager" in content for content in _small(tmp_path, text).values())
    plan = plan_of(tmp_path, text, Sink())[1]
    assert [cpi.interface for cpi in plan.cpis if cpi.instance == "buffer" and cpi.manager] == [called]


def test_the_files_of_a_small_system(tmp_path: Path) -> None:
    files = _small(tmp_path)
    if os.environ.get("CAMKES_UPDATE_GOLDEN"):
        for name, content in files.items():
            (GOLDEN / name).parent.mkdir(parents=True, exist_ok=True)
            (GOLDEN / name).write_text(content)
    golden = {p.relative_to(GOLDEN).as_posix(): p.read_text() for p in sorted(GOLDEN.glob("*/*"))}
    assert files == golden


def test_the_place_on_disk_does_not_matter(tmp_path: Path) -> None:
    assert _small(tmp_path / "here") == _small(tmp_path / "over" / "there")


#: A setting for each record of the runtime that can have one, and where the generated code has the record.
_OF_RECORDS = {
    "instance": ("instance", "shared.limit = 7;", "shared", "struct camkes_instance camkes__instance = {"),
    "cpi": ("interface", "shared.store_limit = 7;", "shared", "struct camkes_cpi store__cpi = {"),
    "task": ("thread", "low._limit = 7;", "low", "struct camkes_task camkes__task = {"),
    "thread": ("thread", "low._limit = 7;", "low", "struct camkes_thread camkes__low__control = {"),
}


@pytest.mark.parametrize("record", _OF_RECORDS)
def test_a_row_of_the_table_is_enough_for_a_setting_to_reach_a_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, record: str
) -> None:
    owner, setting, instance, start = _OF_RECORDS[record]
    known = settings.Known("limit", owner, "a limit", 1, 9, default=3, record=record)
    monkeypatch.setitem(settings.TABLE, known.name, known)

    def value(text: str) -> str:
        glue = _small(tmp_path, text)[f"{instance}/glue.c"]
        return glue.split(start)[-1].split(".limit = ")[1].split(",")[0]

    assert value(_SMALL) == "3"
    assert value(_SMALL.replace("low._priority", setting + "low._priority")) == "7"
    wrong = STD + _SMALL.replace("low._priority", setting.replace("7", "10") + "low._priority")
    assert SETTING_RANGE.number in numbers(tmp_path, wrong)


def test_a_time_reaches_a_record_in_nanoseconds(tmp_path: Path) -> None:
    text = _SMALL.replace("low._priority", "low._offset = 1.5; low._period = 3 ms; low._priority")
    glue = _small(tmp_path, text)["low/glue.c"]
    assert "    .offset = 1500,\n    .period = 3000000,\n" in glue


def test_records_have_a_member_for_each_of_their_settings() -> None:
    headers = "".join(path.read_text() for path in (ROOT / "runtime" / "include" / "camkes").glob("*.h"))
    for known in settings.TABLE.values():
        if known.record:
            members = headers.split(f"struct camkes_{known.record} {{")[1].split("}")[0]
            assert f" {known.name};" in members


def test_a_second_run_writes_nothing(tmp_path: Path) -> None:
    _small(tmp_path)
    before = {p: p.stat().st_mtime_ns for p in tmp_path.glob("out/*/*")}
    for path in before:
        os.utime(path, ns=(1, 1))
    _small(tmp_path)
    assert {p.stat().st_mtime_ns for p in tmp_path.glob("out/*/*")} == {1}
    assert set(tmp_path.glob("out/*/*")) == set(before)


def test_only_what_changed_is_written_and_what_is_gone_is_removed(tmp_path: Path) -> None:
    _small(tmp_path)
    mine = tmp_path / "out" / "logger" / "glue.c"
    foreign = tmp_path / "out" / "notes" / "glue.c"
    foreign.parent.mkdir()
    foreign.write_text("int mine;\n")
    for path in tmp_path.glob("out/*/*"):
        os.utime(path, ns=(1, 1))
    gone = ("component Logger logger;", "component Client client;", "connection seL4RPCCall logging")
    gone += ("connection seL4Notification end",)
    less = "".join(line for line in _SMALL.splitlines(True) if not line.strip().startswith(gone))
    _small(tmp_path, less)
    assert not mine.parent.exists()
    assert foreign.read_text() == "int mine;\n"
    assert (tmp_path / "out" / "high" / "camkes.h").stat().st_mtime_ns == 1


def test_names_of_the_user_cannot_break_generated_code(tmp_path: Path) -> None:
    text = """
    procedure P {
        int message(in int message, in string reply, inout int result, in int method, in int scratch);
    }
    component A { control; uses P start; attribute int instance; attribute int task; attribute string words; }
    component B { provides P self; dataport Buf task; }
    component C { dataport Buf task; }
    assembly { composition {
        component A a; component B b; component C c;
        connection seL4RPCCall x(from a.start, to b.self);
        connection seL4SharedData y(from b.task, to c.task);
    } configuration { a.instance = 1; a.words = "x"; } }
    """
    from tests.runtime.host import build

    source = """
    int run(void)
    {
        int inout = 3;
        int got = start_message(1, "two", &inout, 4, 5);
        printf("%d %d %d %s\\n", got, inout, instance, words);
        return 0;
    }
    """
    server = """
    int self_message(int message, const char *reply, int *result, int method, int scratch)
    {
        *result += scratch + (int)sizeof(task);
        return message + method + reply[0];
    }
    """
    run = build(tmp_path, text, {"A": source, "B": server}).run()
    assert run.output == f"{1 + 4 + ord('t')} {3 + 5 + 8} 1 x\n"


def test_threads_of_an_address_space_have_different_names(tmp_path: Path) -> None:
    """`a.b__p` and `a__b.p` would both be `a__b__p`."""
    text = """
    procedure P { int f(); }
    component A { control; uses P q; provides P b__p; }
    component B { control; uses P q; provides P p; }
    assembly { composition {
        group g { component A a; component B a__b; }
        connection seL4RPCCall x(from g.a.q, to g.a__b.p);
        connection seL4RPCCall y(from g.a__b.q, to g.a.b__p);
    } }
    """
    system, plan, model = plan_of(tmp_path, text, Sink())
    threads = [thread for space in model.spaces for thread in space.threads]
    facts = SystemFacts(system, plan, model, Sink())
    names = [facts.thread_name(thread) for thread in threads]
    assert len(set(names)) == len(threads) == 4
    assert "camkes_instance_a__b__p" in names


@pytest.mark.parametrize(
    ("declaration", "connection", "code"),
    [
        (
            "component D { hardware; dataport Buf regs; } component C { control; dataport Buf regs; }",
            "connection seL4HardwareMMIO m(from c.regs, to d.regs);",
            "E0651",
        ),
        (
            "connector Mine { from Event; to Event; }"
            " component D { emits E e; } component C { consumes E e; }",
            "connection Mine m(from d.e, to c.e);",
            "E0652",
        ),
    ],
)
def test_connectors_that_the_host_kernel_has_not(
    declaration: str, connection: str, code: str, tmp_path: Path
) -> None:
    text = f"""
    {declaration}
    assembly {{
        composition {{ component C c; component D d; {connection} }}
        configuration {{ d.regs_paddr = 4096; d.regs_size = 4096; }}
    }}
    """
    sink = Sink()
    system, plan, model = plan_of(tmp_path, text, sink)
    assert generate(system, plan, model, tmp_path / "out", sink) == ()
    (diagnostic,) = [d for d in sink.diagnostics if d.code.number == code]
    assert diagnostic.span is not None and diagnostic.span.line > 1
    assert "`m`" in diagnostic.message
    assert not (tmp_path / "out").exists()


def test_a_time_server_has_no_other_methods(tmp_path: Path) -> None:
    text = """
    procedure Timer { uint64_t time(); void sing(); int stop(); }
    connector seL4TimeServer { from Procedures with 0 threads; to Procedure; }
    component C { control; uses Timer t; }
    component TimeServer { provides Timer t; }
    assembly { composition {
        component C c; component TimeServer s;
        connection seL4TimeServer x(from c.t, to s.t);
    } }
    """
    sink = Sink()
    system, plan, model = plan_of(tmp_path, text, sink)
    assert generate(system, plan, model, tmp_path / "out", sink) == ()
    assert [d.message for d in sink.diagnostics if d.code.number == "E0653"] == [
        "the virtual time server has no method `sing`",
        "the virtual time server has no method `stop` with these parameters",
    ]


def test_explanations_show_what_fails_and_what_works() -> None:
    for code in codes_of(codes):
        assert explanation(code).count("```") % 2 == 0
        assert "```camkes" in explanation(code)


def test_strings_of_c() -> None:
    assert c_string('a"b\\c\n\t??/\x01é') == '"a\\"b\\\\c\\n\\t?""?/\\001\\303\\251"'
