# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""A search finds what threads do wrong with memory that they share, whichever threads these are, and has
nothing to say against programs that do it right."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from camkes.backends.host.explore import SearchOptions
from camkes.diagnostics import Sink
from camkes.exploration import Exploration, ExploreSettings
from camkes.exploration import explore as find
from camkes.pipeline import Input
from tests.explore.search import LIMIT
from tests.explore.test_search import write_files

pytestmark = pytest.mark.requirement("AN-24")

JOBS = "int run(void) {{ while (camkes_next_job()) {{ {} }} return 0; }}\n"


@dataclass(frozen=True)
class Program:
    """`wrong` are properties that it breaks, one of which is found; "": none."""

    name: str
    text: str
    code: Mapping[str, str]
    wrong: str = ""


def explored(
    folder: Path,
    program: Program,
    *,
    any_order: bool = True,
    stated: bool = True,
    jobs: int = 1,
    until: int | None = None,
) -> Exploration:
    """`until`: virtual time, in ns."""
    search = SearchOptions(seconds=LIMIT, duration=until, arrivals=jobs)
    settings = ExploreSettings(search=search, any_order=any_order, stated=stated, output=folder / "out")
    sink = Sink()
    found = find(Input(write_files(folder, program.text, program.code)), settings, sink, lambda _: None)
    assert found is not None, [each.message for each in sink.diagnostics]
    return found


def judge(folder: Path, program: Program) -> Exploration:
    """The search ends with what is known of the program."""
    found = explored(folder, program)
    if program.wrong:
        assert found.violation is not None
        assert found.violation.property in program.wrong, found.violation
    else:
        assert found.violation is None, found.violation
        whole = [each.verdict for each in found.passes if each.options.scheduling == "fifo"]
        assert whole == ["exhausted", "exhausted"]
    return found


#: a periodic client above a server whose control thread has work of its own
BESIDE = """procedure P {{ void go(); }}
component Client {{ control; requestor; uses P p; }}
component Server {{ control; {} provides P p; }}
assembly {{ composition {{
    component Client client; component Server server;
    connection seL4RPCCall x(from client.p, to server.p);
}} configuration {{ client._priority = 120; client._period = 10 ms; server._priority = 50; }} }}
"""

#: two tasks, each at an interface of its own of one server
APART = """procedure P {{ void go(); }}
component Client {{ control; requestor; uses P p; }}
component Server {{ {} }}
assembly {{ composition {{
    component Client a; component Client b; component Server server;
    connection seL4RPCCall x(from a.p, to server.p); connection seL4RPCCall y(from b.p, to server.q);
}} configuration {{
    a._priority = 20; a._period = 10 ms; b._priority = 30; b._period = 10 ms; {}
}} }}
"""
CPIS = (
    "provides P p with priority_protocol inherited, requests (); "
    "provides P q with priority_protocol inherited, requests (); "
)
TWO_CPIS = APART.format(CPIS, "")
TWO_SERVERS = APART.format("provides P p; provides P q;", "server.p_priority = 20; server.q_priority = 30;")

CALLED_BACK = """component Ticker {{ control; requestor; emits Tick t; }}
component Worker {{ control; consumes Tick t; {} }}
assembly {{ composition {{
    component Ticker ticker; component Worker worker;
    connection seL4Notification n(from ticker.t, to worker.t);
}} configuration {{
    ticker._priority = 60; ticker._period = 10 ms; worker._priority = 40; worker.t_priority = 50;
}} }}
"""

DATAPORT = """component Writer { control; requestor; dataport Buf d; }
component Reader { control; requestor; dataport Buf d; }
assembly { composition {
    component Writer w; component Reader r; connection seL4SharedData s(from w.d, to r.d);
} configuration { w._priority = 20; w._period = 10 ms; r._priority = 30; r._period = 10 ms; } }
"""
BOX = "struct box {{ int ready; int data[4]; }};\n" + JOBS.replace(
    "{{ {} }}", "{{ struct box *b = (struct box *)d; {} }}"
)

#: a task that waits, with a deadline, for what another one brings
HANDED_OVER = """procedure P { void go(); }
component Producer { control; requestor; uses P p; }
component Consumer { control; requestor; provides P p; has semaphore s; }
assembly { composition {
    component Producer a; component Consumer c; connection seL4RPCCall x(from a.p, to c.p);
} configuration {
    a._priority = 60; a._period = 10 ms; c._priority = 40; c._period = 10 ms;
    c.p_priority = 60; c.s_value = 0;
} }
"""

CALL = JOBS.format("p_go();")
EMIT = JOBS.format("t_emit();")
THRICE = "int run(void) {{ {} for (int i = 0; i < 3; i++) {{ {} }} return {}; }}\n"


def beside(name: str, handler: str, control: str, declared: str, wrong: str = "", has: str = "") -> Program:
    server = f"{declared}\nvoid p_go(void) {{ {handler} }}\n" + THRICE.format("", control, 0)
    return Program(name, BESIDE.format(has), {"Client": CALL, "Server": server}, wrong)


def apart(name: str, p: str, q: str, declared: str, wrong: str = "", text: str = TWO_CPIS) -> Program:
    server = f"{declared}\nvoid p_go(void) {{ {p} }}\nvoid q_go(void) {{ {q} }}\n"
    return Program(name, text, {"Client": CALL, "Server": server}, wrong)


def called_back(
    name: str, callback: str, control: str, declared: str, wrong: str = "", has: str = ""
) -> Program:
    worker = f"{declared}\nstatic void on(void *x) {{ (void)x; {callback} }}\n"
    worker += THRICE.format("int own = 0; t_reg_callback(on, &own);", control, "own > 99")
    return Program(name, CALLED_BACK.format(has), {"Ticker": EMIT, "Worker": worker}, wrong)


def dataport(name: str, writer: str, reader: str, wrong: str = "") -> Program:
    return Program(name, DATAPORT, {"Writer": BOX.format(writer), "Reader": BOX.format(reader)}, wrong)


def handed_over(name: str, producer: str, consumer: str, declared: str, wrong: str = "") -> Program:
    code = f"{declared}\nvoid p_go(void) {{ {producer} }}\n" + JOBS.format(consumer)
    return Program(name, HANDED_OVER, {"Producer": CALL, "Consumer": code}, wrong)


N = "static int n;"
LOCKED = "(void)m_lock(); n++; (void)m_unlock();"
ATOMIC = "#include <stdatomic.h>\nstatic _Atomic int n;"
MUTEX = "has mutex m;"
INDEX = "*(volatile int *)&b->ready"

PROGRAMS = (
    beside("run-and-handler", "n++;", "n++;", N, "R"),
    beside("run-and-handler-locked", LOCKED, LOCKED, N, has=MUTEX),
    beside("run-and-handler-atomic", "n++;", "n++;", ATOMIC),
    beside("run-and-handler-atomic-and-plain", "n++;", "*(int *)&n = 1;", ATOMIC, "R"),
    apart("two-cpis", "n++;", "n++;", N, "R"),
    apart("two-cpis-locked", LOCKED, LOCKED, N, text=APART.format(CPIS + MUTEX, "")),
    apart("two-cpis-one-unlocked", LOCKED, "n++;", N, "R", APART.format(CPIS + MUTEX, "")),
    apart("two-cpis-neighbours", "n[0]++;", "n[1]++;", "static char n[16];"),
    called_back("callback", "n++;", "n++;", N, "R"),
    called_back("callback-locked", LOCKED, LOCKED, N, has=MUTEX),
    called_back("stack-of-another", "(*(int *)x)++;", "own++;", "", "R"),
    called_back("own-stacks", "int other = 0; *(volatile int *)&other = 1;", "own++;", ""),
    apart("two-servers", "n++;", "n++;", N, "R", TWO_SERVERS),
    apart("two-servers-volatile", "n = 1;", "if (n > 1) n = 2;", "static volatile int n;", text=TWO_SERVERS),
    apart("volatile-and-plain", "if (n != 2) n = 1;", "*(volatile int *)&n = 2;", N, "R", TWO_SERVERS),
    apart("volatile-of-two-words", "n = n;", "n = n;", "static volatile __int128 n;", "R", TWO_SERVERS),
    dataport("dataport", "b->data[0]++;", "if (b->data[0] > 9) abort();", "R"),
    dataport(
        "dataport-index-first",
        f"{INDEX} = 1; b->data[0] = 7;",
        f"if ({INDEX} && b->data[0] != 7) abort();",
        "RF",
    ),
    dataport(
        "dataport-index-last",
        f"if (!{INDEX}) {{ b->data[0] = 7; d_release(); {INDEX} = 1; }}",
        f"if ({INDEX}) {{ d_acquire(); if (b->data[0] != 7) abort(); }}",
    ),
    handed_over(
        "lost-wake-up",
        "ready = 1; if (waits) { (void)s_post(); }",
        "if (!ready) { waits = 1; (void)s_wait(); waits = 0; } ready = 0;",
        "static volatile int ready, waits;",
        "L",
    ),
    handed_over("wake-up", "(void)s_post();", "(void)s_wait();", ""),
    beside("table-filled-by-run", "if (n != 3) abort();", "n++;", "static volatile int n;", "F"),
    beside("table-filled-before", "if (n != 3) abort();", "", f"{N}\nvoid post_init(void) {{ n = 3; }}"),
)  # fmt: skip


@pytest.mark.mostly_long(6)
@pytest.mark.parametrize("program", PROGRAMS, ids=[p.name for p in PROGRAMS])
def test_programs_that_share_memory(program: Program, tmp_path: Path) -> None:
    found = judge(tmp_path, program)
    if found.violation is None:
        assert " R" in found.report_text()


#: what each does with `text` while another thread writes its second byte
LIBRARY = {
    "memcpy": "memcpy(other, text, 32);",
    "memcpy-to": "memcpy(text, other, 32);",
    "memmove": "memmove(text + 1, text, 8);",
    "memset": "memset(text, 0, 32);",
    "memcmp": "if (memcmp(text, other, 32) == 5) abort();",
    "memchr": "if (memchr(text, 1, 8)) abort();",
    "strcpy": "strcpy(other, text);",
    "strcpy-to": "strcpy(text, other);",
    "strncpy": "strncpy(text, other, 32);",
    "strcat": "strcat(other, text); other[0] = 0;",
    "strlen": "if (strlen(text) > 60) abort();",
    "strcmp": "if (strcmp(text, other) == 77) abort();",
    "strncmp": "if (strncmp(text, other, 4) == 77) abort();",
    "strchr": "if (strchr(text, 1)) abort();",
    "strstr": 'if (strstr(text, "none")) abort();',
    "strdup": "free(strdup(text));",
    "strtol": "if (strtol(text, NULL, 10) == 77) abort();",
    "snprintf": 'snprintf(text, sizeof text, "%d", 10);',
    "snprintf-argument": 'snprintf(other, sizeof other, "%*ld %-5.1f %c %.4s", 3, 1L, 2.0, 65, text);',
    "sprintf": 'sprintf(other, "%%%llu%s", 1ULL, text);',
    "printf": 'printf("%p %zu %s\\n", (void *)other, sizeof other, text);',
    "sscanf": 'int i; if (sscanf(text, "%d", &i) == 77) abort();',
    "sscanf-to": 'sscanf("abc 1", "%*d%31s", text); sscanf("abc", "%[^x]", text);',
    "qsort": "qsort(text, 32, 1, less);",
}
TEXT = """#include <stdio.h>
#include <string.h>
static char text[64] = "12345", other[64] = "23456";
static int less(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
"""


@pytest.mark.mostly_long(12)
@pytest.mark.parametrize("name", LIBRARY)
def test_functions_of_the_library_access_memory(name: str, tmp_path: Path) -> None:
    code = TEXT if name == "qsort" else TEXT.replace("static int", "__attribute__((unused)) static int")
    found = judge(tmp_path, apart(name, LIBRARY[name], "text[1] = '3';", code, "R"))
    assert found.violation is not None and "`text`" in found.violation.explanation


@pytest.mark.long
def test_a_race_names_the_dataport(tmp_path: Path) -> None:
    found = judge(tmp_path, dataport("named", "b->data[1]++;", "if (b->data[1] > 9) abort();", "R"))
    assert found.violation is not None
    assert "r reads what w is about to" in found.violation.explanation
    assert ": byte 8 of the dataport `r.d` (Reader.c:3 and Writer.c:3)" in found.violation.explanation


def test_functions_of_the_library_do_not_access_other_memory(tmp_path: Path) -> None:
    """All of them, of one text each."""
    p = "".join(call for call in LIBRARY.values())
    judge(tmp_path, apart("apart", p, 'memcpy(q, "abc", 3);', TEXT + "static char q[64];"))


def test_a_long_copy_has_points_within(tmp_path: Path) -> None:
    """At most four, however long it is; here a flag keeps the reader from it."""

    def states(size: int) -> int:
        put = f"memcpy(b + 1, own, {size}); d_release(); {INDEX} = 1;"
        writer = f"static char own[{size}]; if (!{INDEX}) {{ {put} }}"
        reader = f"static char own[{size}]; if ({INDEX}) {{ d_acquire(); memcpy(own, b + 1, {size}); }}"
        code = {"Writer": "#include <string.h>\n" + BOX.format(writer)}
        code["Reader"] = "#include <string.h>\n" + BOX.format(reader)
        found = explored(tmp_path / str(size), Program("copy", DATAPORT, code), jobs=2, stated=False)
        assert found.violation is None
        return found.passes[0].state.distinct

    assert states(8) < states(16) < states(32) == states(320)


#: two threads with work of their own, of one priority
EQUALS = """component Writer {{ control; dataport Buf d; }}
component Reader {{ control; dataport Buf d; }}
assembly {{ composition {{
    component Writer w; component Reader r; connection seL4SharedData s(from w.d, to r.d);
}} configuration {{ {} }} }}
"""
SUM = "int run(void) { struct box *b = (struct box *)d; %s return 0; }\n"


@pytest.mark.long
def test_time_slices_of_equals_are_searched(tmp_path: Path) -> None:
    """Threads without a task, as plain CAmkES has them."""
    box = "struct box { int ready; int data[4]; };\n"
    code = {"Writer": box + SUM % "b->data[0]++;", "Reader": box + SUM % "if (b->data[0] > 1) abort();"}
    found = explored(tmp_path / "equals", Program("equals", EQUALS.format(""), code))
    assert found.violation is not None and found.violation.property == "R"
    assert [each.options.scheduling for each in found.passes] == ["fifo", "rr"]
    assert "1 job of each task, in any order, with time slices" in found.report_text()
    apart = EQUALS.format("w._priority = 10; r._priority = 20;")
    found = explored(tmp_path / "apart", Program("apart", apart, code))
    assert found.violation is None
    assert [each.options.scheduling for each in found.passes] == ["fifo", "fifo"]
    assert [each.subject for each in found.not_searched] == []


@pytest.mark.long
@pytest.mark.parametrize("any_order", [True, False])
def test_a_loop_of_accesses_ends(any_order: bool, tmp_path: Path) -> None:
    """A thread looks again and again at a word that one of lower priority is to write."""
    code = {
        "Writer": BOX.format(f"{INDEX} = 1;"),
        "Reader": BOX.format(f"while (!{INDEX}) {{ }}"),
    }
    found = explored(tmp_path, Program("loop", DATAPORT, code), any_order=any_order)
    assert found.violation is not None and found.violation.property == "F"


@pytest.mark.long
def test_a_long_loop_that_ends_breaks_nothing(tmp_path: Path) -> None:
    """And have few states if only one thread is interested in what they access."""
    once = "for (int i = 0; i < 3000; i++) { ((volatile char *)b)[i] = 1; }"
    reader = "if (((volatile char *)b)[100] == 7) abort();"
    code = {"Writer": BOX.format(40 * once), "Reader": BOX.format(reader)}
    found = explored(tmp_path, Program("long", DATAPORT, code), until=10_000_000)
    assert found.violation is None
    assert found.passes[0].state.distinct < 400  # the reader looks at one word


#: a server that asks another one while a second thread of its own accesses the answer
ASKS = """procedure P {{ void go(); }}
procedure Q {{ {} }}
component Client {{ control; requestor; uses P p; }}
component Server {{ control; provides P p; uses Q q; }}
component Source {{ provides Q q; }}
assembly {{ composition {{
    component Client client; component Server server; component Source source;
    connection seL4RPCCall x(from client.p, to server.p);
    connection seL4RPCCall y(from server.q, to source.q);
}} configuration {{ client._priority = 120; client._period = 10 ms; server._priority = 50; }} }}
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("method", "call", "answer"),
    [
        ("int get(out int value)", "(void)q_get(&n);", "int q_get(int *value) { *value = 1; return 0; }"),
        ("void put(in char value[])", "q_put(sizeof n, n);", "void q_put(size_t sz, const char *v) { }"),
    ],
    ids=["scalar", "array"],
)
def test_parameters_of_requests_are_memory_of_a_component(
    method: str, call: str, answer: str, tmp_path: Path
) -> None:
    """What generated code copies for a component."""
    declared = "static int n;" if "int value" in method else "static char n[8];"
    other = "n = 2;" if "int value" in method else "n[1] = 2;"
    server = f"{declared}\nvoid p_go(void) {{ {other} }}\nint run(void) {{ {call} return 0; }}\n"
    code = {"Client": CALL, "Server": server, "Source": answer}
    judge(tmp_path, Program("asks", ASKS.format(method + ";"), code, "R"))


def test_the_error_number_is_of_a_thread(tmp_path: Path) -> None:
    declared = "#include <errno.h>"
    judge(tmp_path, apart("errno", "errno = 1;", "if (errno == 1) abort();", declared))


def test_a_search_has_points_at_shared_words_only(tmp_path: Path) -> None:
    """A thousand accesses to a thread's own memory add no state."""

    def states(times: int) -> list[int]:
        own = f"for (int i = 0; i < {times}; i++) {{ mine[i % 8]++; }} {LOCKED}"
        program = beside(f"own-{times}", LOCKED, own, f"{N} static long mine[8];", has=MUTEX)
        return [each.state.distinct for each in explored(tmp_path / program.name, program).passes]

    assert states(1) == states(1000)
