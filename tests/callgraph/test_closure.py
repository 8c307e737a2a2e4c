# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What handlers call is what their compiled code calls."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
from msgspec.structs import replace

from camkes import pipeline
from camkes.backends.host.compiler import Compiler, find_compiler
from camkes.callgraph import read
from camkes.diagnostics import Sink
from camkes.diagnostics.rendering import render
from tests.golden import compare

from .conftest import SYSTEM, Look

pytestmark = pytest.mark.requirement("PLAN-6")

CODE = "code"
BOTH = ["s.next", "s.log"]


def test_code_supplies_a_missing_clause(look: Look) -> None:
    seen = look("int p_f(int x) { return next_f(x); }\nint q_f(int x) { return x; }")
    assert seen.calls("s.p") == (["s.next"], CODE)
    assert seen.calls("s.q") == ([], "")
    plan = seen.checked.plan
    assert plan.cpi("leaf.p").ceiling == 10 and plan.cpi("leaf.p").tasks == ("t",)
    assert "W0505" not in seen.codes


def test_without_code_every_interface_counts(look: Look) -> None:
    seen = look("int p_f(int x) { return next_f(x); }\nint q_f(int x) { return x; }")
    sink = Sink()
    checked = pipeline.check(pipeline.Input(seen.folder / "a.camkes"), sink)
    assert checked is not None
    assert {r.source for r in checked.plan.requests if r.caller == "s.q"} == {"all"}
    assert checked.plan.cpi("leaf.p").ceiling == 20


@pytest.mark.long
def test_through_functions_of_other_files(look: Look) -> None:
    shared = "int deep(int x) { return next_f(x); }"
    seen = look(
        files={
            "a.c": "int deep(int); int p_f(int x) { return deep(x); }",
            "b.c": "int q_f(int x) { return log_f(x); }",
            "c.c": shared,
        }
    )
    assert seen.calls("s.p") == (["s.next"], CODE)
    assert seen.calls("s.q") == (["s.log"], CODE)


@pytest.mark.long
def test_static_functions_of_one_name_are_two(look: Look) -> None:
    seen = look(
        files={
            "a.c": "static int help(int x) { return next_f(x); }\nint p_f(int x) { return help(x); }",
            "b.c": "static int help(int x) { return log_f(x); }\nint q_f(int x) { return help(x); }",
        }
    )
    assert seen.calls("s.p") == (["s.next"], CODE)
    assert seen.calls("s.q") == (["s.log"], CODE)


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize(
    "code",
    [
        "static inline int help(int x) { return next_f(x); }\nint p_f(int x) { return help(x); }",
        "static inline __attribute__((always_inline)) int help(int x) { return next_f(x); }\n"
        "int p_f(int x) { return help(x); }",
        'int real(int x) { return next_f(x); }\nint other(int x) __attribute__((alias("real")));\n'
        "int p_f(int x) { return other(x); }",
        'int real_p(int x) { return next_f(x); }\nint p_f(int x) __attribute__((alias("real_p")));',
        "#define CALL(x) next_f(x)\nint p_f(int x) { return CALL(x); }",
        "int p_f(int x) { return x ? p_f(x - 1) : next_f(x); }",
        "int p_f(int x) { int in(int y) { return next_f(y + x); } return in(x); }",
        'int p_f(int x) { asm volatile("call next_f@PLT"); return x; }',
    ],
    ids=["inline", "always-inline", "alias", "handler-is-alias", "macro", "recursive", "nested", "assembly"],
)
def test_ways_of_calling(look: Look, code: str) -> None:
    if "asm" in code and os.uname().machine != "x86_64":
        pytest.skip("written for x86-64")
    seen = look(code + "\nint q_f(int x) { return x; }")
    assert seen.calls("s.p") == (["s.next"], CODE)
    assert seen.calls("s.q") == ([], "")


def test_a_pointer_reaches_functions_whose_address_is_taken(look: Look) -> None:
    seen = look(
        "static int help(int x) { return next_f(x); }\n"
        "static int (*const table[])(int) = {help};\n"
        "int p_f(int x) { return table[0](x); }\nint q_f(int x) { return log_f(x); }"
    )
    assert seen.calls("s.p") == (["s.next"], CODE)
    assert seen.calls("s.q") == (["s.log"], CODE)


@pytest.mark.long
def test_a_pointer_to_a_stub(look: Look) -> None:
    seen = look("int p_f(int x) { int (*f)(int) = log_f; return f(x); }\nint q_f(int x) { return x; }")
    assert seen.calls("s.p") == (["s.log"], CODE)


@pytest.mark.long
def test_an_unknown_pointer_counts_as_all_calls_and_is_reported(look: Look) -> None:
    seen = look("int (*f)(int);\nint p_f(int x) { return f(x); }\nint q_f(int x) { return x; }")
    assert seen.calls("s.p") == (BOTH, "all")
    assert seen.calls("s.q") == ([], "")
    assert "N0741" in seen.codes
    assert "server.c:3" in seen.text


def test_the_library_calls_back(look: Look) -> None:
    seen = look(
        "#include <stdlib.h>\n#include <camkes.h>\n"
        "static int order(const void *a, const void *b) { (void)b; return next_f(*(const int *)a); }\n"
        "static int other(const void *a, const void *b) { (void)b; return log_f(*(const int *)a); }\n"
        "int p_f(int x) { int y[2] = {x, 1}; qsort(y, 2, sizeof *y, order); return y[0]; }\n"
        "int q_f(int x) { int y[2] = {x, 1}; qsort(y, 2, sizeof *y, other); return y[0]; }"
    )
    assert seen.calls("s.p") == (["s.next"], CODE)
    assert seen.calls("s.q") == (["s.log"], CODE)


def test_initialisation_is_not_serving(look: Look) -> None:
    seen = look("void p__init(void) {}\nint p_f(int x) { return next_f(x); }\nint q_f(int x) { return x; }")
    assert seen.calls("s.p") == (["s.next"], CODE)


def test_a_call_that_initialises_belongs_to_no_task(look: Look) -> None:
    seen = look(
        "void p__init(void) { next_f(1); }\nint p_f(int x) { return next_f(x); }\n"
        "int q_f(int x) { return x; }"
    )
    assert "E0510" in seen.codes


CONTRADICTION = """\
static int helper(int x)
{
    return next_f(x) + 1;
}

int p_f(int x)
{
    return helper(x);
}

int q_f(int x) { return x; }
"""


def test_contradiction_shows_the_chain_and_its_lines(look: Look) -> None:
    seen = look("#include <camkes.h>\n" + CONTRADICTION, clause=", requests ()")
    assert seen.checked is None
    found = next(d for d in seen.diagnostics if d.code.number == "E0516")
    assert found.notes[0] == "p_f -> helper -> next_f"
    assert [(r.span.file.path.name, r.span.line, r.text) for r in found.related] == [
        ("server.c", 9, "1. `p_f` calls `helper`"),
        ("server.c", 4, "2. `helper` calls `next_f`"),
    ]
    compare(seen.text, Path(__file__).parent / "golden" / "contradiction.txt")


def test_a_clause_that_agrees_with_the_code_gives_no_diagnostic(look: Look) -> None:
    seen = look("#include <camkes.h>\n" + CONTRADICTION, clause=", requests (next)")
    assert not {"E0516", "W0507", "W0508"} & set(seen.codes)


def test_a_clause_with_an_interface_that_the_code_does_not_call(look: Look) -> None:
    seen = look("#include <camkes.h>\n" + CONTRADICTION, clause=", requests (next, log)")
    assert "W0507" in seen.codes
    assert seen.calls("s.p") == (BOTH, "clause")


def test_a_contradiction_through_a_pointer_is_a_warning(look: Look) -> None:
    seen = look(
        "int p_f(int x) { int (*f)(int) = log_f; return f(x) + next_f(x); }\nint q_f(int x) { return x; }",
        clause=", requests (next)",
    )
    assert "W0508" in seen.codes
    assert seen.calls("s.p") == (["s.next"], "clause")


def test_source_that_does_not_compile_is_left_to_the_build(look: Look) -> None:
    seen = look("int p_f(int x) { return nonsense; }\nint q_f(int x) { return x; }")
    assert seen.calls("s.p") == (BOTH, "all")
    assert "N0742" in seen.codes


def without_call_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(
        sanitize: bool, sink: Sink, languages: Iterable[str | None] = (), *, mcs: bool = False
    ) -> Compiler | None:
        found = find_compiler(sanitize, sink, languages, mcs=mcs)
        return None if found is None else replace(found, call_graphs=False)

    monkeypatch.setattr(read, "find_compiler", find)


def test_without_call_graphs_the_disassembly_does(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with Clang."""
    without_call_graphs(monkeypatch)
    seen = look(
        "static int help(int x) { return next_f(x); }\nint p_f(int x) { return help(x); }\n"
        "int q_f(int x) { return log_f(x); }"
    )
    assert seen.calls("s.p") == (["s.next"], CODE)
    assert seen.calls("s.q") == (["s.log"], CODE)
    chain = seen.checked.plan.requests
    assert any(request.caller == "s.p" and request.source == CODE for request in chain)


@pytest.mark.mostly_long("False")
@pytest.mark.parametrize("disassembler", [True, False])
def test_without_call_graphs_a_pointer_from_nowhere_leads_anywhere(
    look: Look, monkeypatch: pytest.MonkeyPatch, disassembler: bool
) -> None:
    without_call_graphs(monkeypatch)
    if not disassembler:
        monkeypatch.setattr(read, "disassembled_calls", lambda *_: None)
    seen = look(
        "int p_f(int x) { int (*volatile anywhere)(int) = (int (*)(int))0x1234; return anywhere(x); }\n"
        "int q_f(int x) { return x; }"
    )
    assert seen.calls("s.p") == (BOTH, "all")
    assert seen.calls("s.q") == (([], "") if disassembler else (BOTH, "all"))
    assert "N0741" in seen.codes


@pytest.mark.long
def test_assembly_sources(look: Look) -> None:
    seen = look(
        files={
            "a.c": "int p_f(int x) { extern int low(int); return low(x); }\nint q_f(int x) { return x; }",
            "low.S": '.text\n.globl low\nlow:\n    jmp next_f@PLT\n.section .note.GNU-stack,"",%progbits\n',
        }
    )
    assert seen.calls("s.p") == (["s.next"], CODE)


def test_a_local_function_in_the_middle_of_a_section(look: Look) -> None:
    if os.uname().machine != "x86_64":
        pytest.skip("written for x86-64")
    function = ".type {0}, @function\n{0}:\n    jmp {1}@PLT\n.size {0}, .-{0}\n"
    low = (
        '.section .text.low,"ax"\n'
        + function.format("first", "log_f")
        + function.format("second", "next_f")
        + ".text\n.globl low\n.type low, @function\nlow:\n    jmp second\n.size low, .-low\n"
        + '.section .note.GNU-stack,"",%progbits\n'
    )
    source = "int p_f(int x) { extern int low(int); return low(x); }\nint q_f(int x) { return x; }"
    seen = look(files={"a.c": source, "low.S": low})
    assert seen.calls("s.p") == (["s.next"], CODE)


def test_an_alias_of_a_function_that_calls_through_a_pointer(look: Look) -> None:
    seen = look(
        "int real(int x) { static int (*const table[])(int) = {next_f}; return table[x](x); }\n"
        'int p_f(int x) __attribute__((alias("real")));\nint q_f(int x) { return x; }'
    )
    assert seen.calls("s.p") == (["s.next"], CODE)


@pytest.mark.parametrize("graphs", [True, False])
def test_the_place_of_a_call_behind_wide_characters(
    look: Look, monkeypatch: pytest.MonkeyPatch, graphs: bool
) -> None:
    if not graphs:
        without_call_graphs(monkeypatch)
    code = "int p_f(int x)\n{\n\t/* \u65e5\U0001f600 */\treturn next_f(x);\n}\nint q_f(int x) { return x; }"
    (mistake,) = [d for d in look(code, clause=", requests ()").diagnostics if d.code.number == "E0516"]
    span = mistake.related[0].span
    shown = span.file.lines[span.line - 1][span.column - 1 : span.end_column - 1]
    assert shown == "next_f" if graphs else "next_f" in shown


@pytest.mark.long
def test_a_weak_function_is_replaced(look: Look) -> None:
    weak = "__attribute__((weak)) int help(int x) { return next_f(x); }\n"
    use = "int p_f(int x) { return help(x); }\nint q_f(int x) { return x; }\n"
    assert look(files={"a.c": weak + use}).calls("s.p") == (["s.next"], CODE)
    strong = "int help(int x) { return log_f(x); }"
    assert look(files={"a.c": weak + use, "b.c": strong}).calls("s.p") == (["s.log"], CODE)
    assert look(files={"a.c": strong, "b.c": weak + use}).calls("s.p") == (["s.log"], CODE)
    assert "E0516" not in look(files={"a.c": weak + use, "b.c": strong}, clause=", requests (log)").codes


@pytest.mark.long
def test_a_switch_takes_no_address(look: Look) -> None:
    cases = "".join(f"case {n}: return next_f({n * n});" for n in range(12))
    seen = look(
        f"int (*any)(int);\nint p_f(int x) {{ switch (x) {{ {cases} default: return any(x); }} }}\n"
        "int q_f(int x) { return x; }"
    )
    assert seen.calls("s.p") == (BOTH, "all"), "nothing says where the pointer leads"
    seen = look(
        f"int p_f(int x) {{ switch (x) {{ {cases} }} return log_f(x); }}\n"
        "static int help(int x) { return next_f(x); }\n"
        "int q_f(int x) { int (*f)(int) = help; return f(x); }"
    )
    assert seen.calls("s.q") == (["s.next"], CODE)


@pytest.mark.long
def test_flags_that_let_functions_vanish(look: Look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "cc -fwhole-program -flto -O2")
    seen = look("int p_f(int x) { return next_f(x); }\nint q_f(int x) { return x; }")
    assert seen.calls("s.p") == (["s.next"], CODE)


@pytest.mark.long
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_calls_are_underlined_with_each_compiler(
    look: Look, monkeypatch: pytest.MonkeyPatch, compiler: str
) -> None:
    """Clang does not tell columns."""
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    monkeypatch.setenv("CC", compiler)
    seen = look(
        "int p_f(int x)\n{\n    return 2 * next_f(x);\n}\nint q_f(int x) { return x; }",
        clause=", requests ()",
    )
    (error,) = [d for d in seen.diagnostics if d.code.number == "E0516"]
    words = [
        label.span.file.lines[label.span.line - 1][label.span.column - 1 : label.span.end_column - 1]
        for label in error.related
    ]
    assert "next_f" in words


def test_a_handler_that_is_in_no_source(look: Look) -> None:
    seen = look("int q_f(int x) { return x; }")
    assert seen.calls("s.p") == (BOTH, "all")
    assert seen.calls("s.q") == ([], "")
    assert "no source file defines `p_f`" in seen.text


@pytest.mark.long
def test_an_interrupt_handler_is_not_a_task(look: Look) -> None:
    code = "int p_f(int x) { return x; }\nint q_f(int x) { return x; }\n"
    handler = "void irq_handle(void) { next_f(1); }\n"
    device = SYSTEM.replace("uses P log;", "uses P log; consumes Irq irq;").replace(
        "component Server s;",
        "component Server s; component Dev d; connection seL4HardwareInterrupt i(from d.irq, to s.irq);",
    )
    device = device.replace(
        "component Server {", "component Dev { hardware; emits Irq irq; }\ncomponent Server {"
    )
    assert "E0510" in look(code + handler, system=device).codes
    assert "E0510" not in look(code, system=device).codes
    assert "E0510" not in look(code + handler).codes


@pytest.mark.long
def test_nothing_is_compiled_twice(look: Look, tmp_path: Path) -> None:
    code = "int p_f(int x) { return next_f(x); }\nint q_f(int x) { return x; }"
    look(code)
    objects = {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*.o")}
    assert sorted(p.name for p in objects) == ["server.c.o", "task.c.o"]  # both tasks are of one component
    pipeline.check_code(
        pipeline.Input(tmp_path / "app" / "a.camkes"), tmp_path / "out", Sink(), lambda _: None
    )
    assert objects == {p: p.stat().st_mtime_ns for p in (tmp_path / "out").rglob("*.o")}


def test_a_deadlock_that_the_code_rules_out(tmp_path: Path) -> None:
    path = tmp_path / "a.camkes"
    path.write_text(
        "import <std_connector.camkes>; procedure P { int f(in int x); }\n"
        "component T { control; requestor; uses P p; }\n"
        "component S { provides P a with priority_protocol inherited;\n"
        "              provides P b with priority_protocol inherited; uses P next; }\n"
        "assembly { composition { component T t; component S s; component S r;\n"
        "  connection seL4RPCCall c1(from t.p, to s.a);\n"
        "  connection seL4RPCCall c2(from s.next, to r.b);\n"
        "  connection seL4RPCCall c3(from r.next, to s.b);\n"
        "} configuration { t._priority = 1; } }\n"
    )
    (tmp_path / "T.c").write_text("#include <camkes.h>\nint run(void) { return p_f(1); }\n")
    (tmp_path / "S.c").write_text(
        "#include <camkes.h>\nint a_f(int x) { return next_f(x); }\nint b_f(int x) { return x; }\n"
    )
    sink = Sink()
    assert pipeline.check(pipeline.Input(path), sink) is None
    assert [d.code.number for d in sink.diagnostics if d.code.number == "E0501"]
    sink = Sink()
    checked = pipeline.check_code(pipeline.Input(path), tmp_path / "out", sink, lambda _: None)
    assert checked is not None, render(sink.diagnostics)
    assert {c.name: c.tasks for c in checked.plan.cpis} == {
        "s.a": ("t",),
        "s.b": (),
        "r.a": (),
        "r.b": ("t",),
    }
