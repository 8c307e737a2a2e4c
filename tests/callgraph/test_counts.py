# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""How often code makes requests is counted where there is a bound, and has to be stated elsewhere."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from camkes import pipeline
from camkes.analysis.workload import workload_of
from camkes.callgraph.counts import longest
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import Form, Style, render
from tests.command import camkes
from tests.golden import compare

pytestmark = pytest.mark.requirement("PLAN-7")

SYSTEM = """\
import <std_connector.camkes>;
procedure P { int f(in int x); int g(in int x); }
component Task { control; requestor; uses P p; uses P q; }
component Server {
    provides P p with priority_protocol inherited;
    uses P next;
    uses P log;
}
component Leaf { provides P p with priority_protocol fixed; }
assembly {
    composition {
        component Task t;
        component Server s;
        component Leaf leaf;
        component Leaf logger;
        connection seL4RPCCall to_p(from t.p, to s.p);
        connection seL4RPCCall to_leaf(from s.next, to leaf.p);
        connection seL4RPCCall to_logger(from s.log, from t.q, to logger.p);
    }
    configuration {
        t._priority = 10; t._period = 10 ms; t._wcet = 1 ms;
        s.p_wcet = 1 us; leaf.p_wcet = 1 us; logger.p_wcet = 1 us;
        %s
    }
}
"""
TASK = "int run(void) { while (camkes_next_job()) p_f(1); return 0; }"
SERVER = "int p_g(int x) { return x; }\nint p_f(int x) { return next_f(x); }"
LEAF = "int p_f(int x) { return x; }\nint p_g(int x) { return x; }"


class Counted:
    """What the code of a system was found to request."""

    def __init__(self, folder: Path, task: str, server: str, settings: str, suffix: str = "c") -> None:
        files = {
            "a.camkes": SYSTEM % settings,
            "Task/task.c": f"#include <camkes.h>\n{task}\n",
            f"Server/server.{suffix}": f"#include <camkes.h>\n{server}\n",
            "Leaf/leaf.c": f"#include <camkes.h>\n{LEAF}\n",
        }
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        self.sink = Sink()
        self.checked = pipeline.check_code(
            pipeline.Input(folder / "a.camkes"), folder / "out", self.sink, lambda _: None, counting=True
        )
        if self.checked is not None:
            for request in self.checked.plan.requests:
                if request.uncounted is not None:
                    self.sink.add(request.uncounted)
        self.text = render(self.sink.diagnostics, Style(Form.TEXT, base=folder))

    def of(self, caller: str) -> dict[str, int]:
        assert self.checked is not None, self.text
        workload = workload_of(self.checked.system, self.checked.plan)
        return dict({each.name: each.requests for each in (*workload.tasks, *workload.cpis)}[caller])


def served(folder: Path, code: str, settings: str = "") -> Counted:
    """The server whose method `f` is this code."""
    return Counted(folder, TASK, f"int p_g(int x) {{ return x; }}\n{code}", settings)


def job(folder: Path, code: str, settings: str = "") -> Counted:
    """The task with this code."""
    return Counted(folder, code, SERVER, settings)


@pytest.mark.long
@pytest.mark.parametrize(
    ("code", "next_", "log"),
    [
        ("int p_f(int x) { return next_f(x) + next_g(x); }", 2, 0),
        ("int p_f(int x) { for (int i = 0; i < 5; i++) x += next_f(i); return x; }", 5, 0),
        ("int p_f(int x) { for (int i = 9; i >= 0; i -= 3) next_f(i); return x; }", 4, 0),
        ("int p_f(int x) { int i = 0; do next_f(i); while (++i < 3); return x; }", 3, 0),
        ("int p_f(int x) { for (int i = 0; i < 3; i++) { next_f(i); for (int j = 0; j < 4; j++) log_f(j); }"
         " return x; }", 3, 12),
        # the longest way counts, for each interface
        ("int p_f(int x) { if (x) { next_f(1); } else { next_f(2); next_f(3); log_f(1); } return x; }", 2, 1),
        ("int p_f(int x) { switch (x) { case 1: next_f(1); case 2: next_f(2); break; case 7: log_f(1); break;"
         " case 9: log_f(2); log_f(3); } return x; }", 2, 2),
        ("int p_f(int x) { if (x) return next_f(1); next_f(2); return log_f(3); }", 1, 1),
        # a loop that may end earlier, and one in which nothing is called
        ("int p_f(int x) { for (int i = 0; i < 6 && i < x; i++) if (next_f(i)) break; return x; }", 6, 0),
        ("int p_f(int x) { for (int i = 0; i < x; i++) log_g(0) ? x-- : x; return x; }", None, None),
        ("int p_f(int x) { for (int i = 0; i < x; i++) x ^= i; return next_f(x); }", 1, 0),
        # through functions
        ("static int twice(int x) { return next_f(x) + next_f(x); }\n"
         "int p_f(int x) { for (int i = 0; i < 4; i++) twice(i); return twice(x); }", 10, 0),
        ("static inline __attribute__((always_inline)) int once(int x) { return next_f(x); }\n"
         "int p_f(int x) { return once(x) + once(1); }", 2, 0),
        ('int real(int x) { return next_f(x) + next_f(1); }\nint other(int) __attribute__((alias("real")));\n'
         "int p_f(int x) { return other(x); }", 2, 0),
        ("int deep(int x); int p_f(int x) { return x ? deep(x) : 0; }\nint deep(int x) { return next_f(x); }",
         1, 0),
    ],
)  # fmt: skip
def test_counts(tmp_path: Path, code: str, next_: int | None, log: int | None) -> None:
    seen = served(tmp_path, code)
    if next_ is None:
        assert "E0743" in seen.text
        return
    wanted = {"leaf.p": next_, "logger.p": log}
    assert seen.of("s.p") == {name: count for name, count in wanted.items() if count}


@pytest.mark.long
@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("int p_f(int x) { for (int i = 0; i < x; i++) next_f(i); return x; }", "in a loop"),
        ("int p_f(int x) { while (next_f(x)) x++; return x; }", "in a loop"),
        ("int p_f(int x) { again: x--; next_f(x); if (x) goto again; return x; }", "in a loop"),
        # two ways into a loop
        ("int p_f(int x) { if (x > 3) goto b; a: x--; log_f(x); b: next_f(x); if (x) goto a; return x; }",
         "in a loop"),
        ("static int help(int x) { return next_f(x); }\n"
         "int p_f(int x) { for (int i = 0; i < x; i++) help(i); return x; }", "in a loop"),
        ("int p_f(int x) { return x ? p_f(x - 1) + next_f(x) : 0; }", "in a function that calls itself"),
        ("static int help(int x) { return next_f(x); }\nstatic int (*const table[])(int) = {help};\n"
         "int p_f(int x) { return table[0](x); }", "through a pointer"),
        ("int p_f(int x) { int (*f)(int) = next_f; return f(x) + next_f(x); }", "through a pointer"),
        ("int p_f(int x) { static void *to[] = {&&a, &&b}; goto *to[x & 1]; a: next_f(x); b: return x; }",
         "in a function with jumps that cannot be followed"),
        ("#include <setjmp.h>\nstatic jmp_buf env;\n"
         "int p_f(int x) { if (setjmp(env) < x) { next_f(x); longjmp(env, x); } return x; }",
         "in a function with jumps that cannot be followed"),
    ],
)  # fmt: skip
def test_without_a_bound_the_count_has_to_be_stated(tmp_path: Path, code: str, why: str) -> None:
    seen = served(tmp_path, code)
    assert f"`s.p` calls `next` {why}" in seen.text
    stated = served(tmp_path, code, "s.next_requests = 7; s.log_requests = 1;")
    assert stated.of("s.p")["leaf.p"] == 7


@pytest.mark.long
def test_assembly_has_no_count(tmp_path: Path) -> None:
    code = 'int p_f(int x) { asm volatile("call next_f@PLT\\n call next_f@PLT"); return x; }'
    assert "calls `next` in assembly" in served(tmp_path, code).text


@pytest.mark.long
@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("static int twice(int x) { return next_f(x) + next_f(x); }", 8),
        ("static int twice(double x) { return next_f(x); }\n"
         "static int twice(int x) { return next_f(x) + next_f(x); }", 8),
        ("template <class T> int twice(T x) { return next_f(x) + next_f(x); }", 8),
        # what an exception skips or adds is not seen
        ("static int twice(int x) { try { return next_f(x); } catch (...) { return next_f(1); } }",
         None),
    ],
)  # fmt: skip
def test_counts_in_cxx(tmp_path: Path, code: str, count: int | None) -> None:
    code = f'{code}\nextern "C" int p_g(int x) {{ return x; }}\n'
    code += 'extern "C" int p_f(int x) { for (int i = 0; i < 4; i++) twice(i); return x; }'
    seen = Counted(tmp_path, TASK, code, "", suffix="cc")
    if count is None:
        assert "`s.p` calls `next` in a function with jumps that cannot be followed" in seen.text
    else:
        assert seen.of("s.p") == {"leaf.p": count}


@pytest.mark.long
@pytest.mark.parametrize(
    ("code", "count"),
    [
        (TASK, 1),
        ("int run(void) { p_f(1); return p_f(2); }", 2),  # one job
        ("int run(void) { for (;;) { if (!camkes_next_job()) break; p_f(1); p_f(2); } return 0; }", 2),
        ("int run(void) { while (camkes_next_job()) for (int i = 0; i < 3; i++) p_f(i); return 0; }", 3),
        # the first job is also what comes before, and the last one what comes after
        ("int run(void) { p_f(0); while (camkes_next_job()) p_f(1); return 0; }", 2),
        ("int run(void) { while (camkes_next_job()) p_f(1); p_f(2); return p_f(3); }", 2),
        ("int run(void) { for (int i = 0; camkes_next_job(); i++) if (i % 2) p_f(1); else { p_f(2); p_f(3); }"
         " return 0; }", 2),
        ("int run(void) { while (camkes_next_job()) { p_f(1); camkes_next_job(); p_g(2); p_g(3); }"
         " return 0; }",
         2),
    ],
)  # fmt: skip
def test_counts_of_a_job(tmp_path: Path, code: str, count: int) -> None:
    assert job(tmp_path, code).of("t") == {"s.p": count}


@pytest.mark.long
def test_the_plan_has_the_counts_of_the_code(tmp_path: Path) -> None:
    """Three requests of 1 us at each of two CPIs, the second from the first, and 1 ms of the task itself."""
    found = job(tmp_path, "int run(void) { while (camkes_next_job()) { p_f(1); p_f(2); p_f(3); } return 0; }")
    assert found.of("t") == {"s.p": 3}
    plan = camkes("plan", str(tmp_path / "a.camkes"), "--code", "-o", str(tmp_path / "out"), "--json")
    assert json.loads(plan.output)["tasks"][0]["wcet"] == 1_006_000


@pytest.mark.long
def test_jobs_that_end_in_another_function(tmp_path: Path) -> None:
    code = "static int step(void) { p_f(1); return camkes_next_job(); }\n"
    assert (
        "`t` calls `p` in a loop"
        in job(tmp_path, f"{code}int run(void) {{ while (step()); return 0; }}").text
    )


@pytest.mark.long
def test_messages(tmp_path: Path) -> None:
    """The call is underlined; a count that is stated has to be as much as is counted."""
    loop = "int p_f(int x) {\n    for (int i = 0; i < x; i++)\n        x += next_f(i);\n    return x;\n}"
    golden = Path(__file__).parent / "golden"
    compare(served(tmp_path, loop).text, golden / "not_counted.txt")
    known = loop.replace("i < x", "i < 8")
    compare(served(tmp_path, known, "s.next_requests = 7;").text, golden / "more_requests.txt")
    assert served(tmp_path, known, "s.next_requests = 8;").of("s.p") == {"leaf.p": 8}
    assert served(tmp_path, known, "s.next_requests = 9;").of("s.p") == {"leaf.p": 9}


@pytest.mark.long
def test_without_the_code_a_stated_count_holds(tmp_path: Path) -> None:
    served(tmp_path, SERVER, "s.next_requests = 3; t.p_requests = 2;")
    checked = pipeline.check(pipeline.Input(tmp_path / "a.camkes"), Sink())
    assert checked is not None
    workload = workload_of(checked.system, checked.plan)
    assert workload.cpi["s.p"].requests == {"leaf.p": 3, "logger.p": 1}
    assert {task.name: task.requests for task in workload.tasks} == {"t": {"s.p": 2, "logger.p": 1}}


def test_nested_loops_and_ways() -> None:
    """a, then b up to four times with c two or three times each, then d or nothing."""
    after = {"a": ["b"], "b": ["c", "d"], "c": ["c", "e"], "e": ["b", "end"], "d": ["end"], "end": []}
    weights = Counter(a=1, b=10, c=100, d=1000)
    found = longest(after, weights, {"b": 3, "c": 2}, "a", AssertionError)
    assert found["a"] == 1
    assert found["c"] == 1 + 4 * (10 + 3 * 100)
    assert found["d"] == 1 + 3 * (10 + 3 * 100) + 10 + 1000
    assert found["end"] == max(found["e"], found["d"])
