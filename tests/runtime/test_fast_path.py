# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The instructions of requests that meet no contention, as seL4's components execute them: the glue and the
runtime are compiled as for seL4 on x86_64, and run in steps of one instruction (fast_path/count.c)."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

from camkes.diagnostics import Sink
from camkes.generate import generate
from camkes.resources import HOST_KERNEL, RUNTIME
from tests.runtime.host import place, plan_of

HERE = Path(__file__).parent / "fast_path"
_COMPILER = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=False).stdout
_IS_GCC = "Free Software Foundation" in _COMPILER

pytestmark = [
    pytest.mark.requirement("RT-10"),
    pytest.mark.skipif(
        platform.machine() != "x86_64" or not _IS_GCC,
        reason="the figures are those of GCC for x86_64",
    ),
]

_SYSTEM = """
procedure Clock { uint64_t now(in uint64_t release); }
procedure Shapes {
    void in4(in uint64_t a, in uint64_t b, in uint64_t c, in uint64_t d);
    int add(in int a, in int b);
}
procedure Arrays { void give(out int values[]); void change(inout int values[]); }
component Client {
    control; requestor; uses Clock plain; uses Shapes shapes; uses Clock fixed; uses Clock propagated;
    uses Clock inherited; uses Clock nested; uses Arrays arrays; consumes Released released;
}
component Plain { provides Clock p; provides Shapes shapes; }
component ArrayServer { provides Arrays arrays; }
component Leaf { provides Clock p with requests (); }
component Releases { control; emits Released released; }
component Pass { provides Clock p with priority_protocol inherited, requests (next); uses Clock next; }
assembly {
    composition {
        component Client client;
        component Client other;
        component Plain plain;
        component ArrayServer arrays;
        component Releases releases;
        component Leaf fixed;
        component Leaf propagated;
        component Leaf inherited;
        component Leaf inner;
        component Pass nested;
        connection seL4RPCCall c1(from client.plain, from other.plain, to plain.p);
        connection seL4RPCCall c2(from client.shapes, from other.shapes, to plain.shapes);
        connection seL4RPCCall c3(from client.fixed, from other.fixed, to fixed.p);
        connection seL4RPCCall c4(from client.propagated, from other.propagated, to propagated.p);
        connection seL4RPCCall c5(from client.inherited, from other.inherited, to inherited.p);
        connection seL4RPCCall c6(from client.nested, from other.nested, to nested.p);
        connection seL4Notification e(from releases.released, to client.released, to other.released);
        connection seL4RPCCall c7(from nested.next, to inner.p);
        connection seL4RPCCall c8(from client.arrays, from other.arrays, to arrays.arrays);
    }
    configuration {
        client._priority = 50;
        other._priority = 40;
        fixed.p_priority_protocol = "fixed";
        propagated.p_priority_protocol = "propagated";
        inherited.p_priority_protocol = "inherited";
        inner.p_priority_protocol = "inherited";
    }
}
"""

_LEAF = "uint64_t p_now(uint64_t word) { return word; }\n"
_SHAPES = """
void shapes_in4(uint64_t a, uint64_t b, uint64_t c, uint64_t d) { (void)a, (void)b, (void)c, (void)d; }
int shapes_add(int a, int b) { return a + b; }
"""
#: in place of the C library's, with a number of instructions that does not depend on the processor
_MEMORY = """
static _Alignas(max_align_t) char heap[4096];
void *malloc(size_t size) { return size > sizeof heap ? NULL : heap; }
void free(void *memory) { (void)memory; }
void *memcpy(void *to, const void *from, size_t size)
{
    void *const begin = to;
    size_t words = size / 8;
    __asm__ volatile("rep movsq" : "+D"(to), "+S"(from), "+c"(words) : : "memory");
    return begin;
}
"""
_ARRAYS = """
void arrays_give(size_t *count, int **values) { *values = malloc(32); *count = 8; }
void arrays_change(size_t *count, int **values) { (void)count, (void)values; }
"""
_CALLS = (
    *("plain_now(1)", "fixed_now(1)", "inherited_now(1)", "shapes_in4(1, 2, 3, 4)", "shapes_add(1, 2)"),
    *("arrays_give(&count, &values)", "arrays_change(&count, &values)"),
)
_SOURCES = {
    "client": _MEMORY
    + "int run(void) { return 0; }\n"
    + "static size_t count = 8;\nstatic int eight[8], *values = eight;\n"
    + "".join(f"static void r{i}(void) {{ (void){call}; }}\n" for i, call in enumerate(_CALLS))
    + "extern void (*const requests[])(void);\n"
    + f"void (*const requests[])(void) = {{{', '.join(f'r{i}' for i in range(len(_CALLS)))}}};\n",
    "plain": _LEAF + _SHAPES,
    "arrays": _MEMORY + _ARRAYS,
    "fixed": _LEAF,
    "inherited": _LEAF,
    "nested": "uint64_t p_now(uint64_t word) { return next_now(word); }\n",
}

#: `client` has priority 50 and is task 0, which its label says
_LABEL = "50"

#: instances, arguments of fast_path/count.c, and the most instructions, kernel calls among them: what GCC 12
#: makes, and 2 for others.
#: A server's are those with its handler, and that of `nested` with its request. Those of
#: arrays are of eight integers, with what moves them: 4 instructions.
_MOST = {
    "client": {
        ("caller", "0", "1"): 19,
        ("caller", "1", "1"): 22,
        ("caller", "2", "1"): 22,
        ("caller", "3", "0"): 21,
        ("caller", "4", "1"): 22,
        ("caller", "5", "5", "8"): 81,
        ("caller", "6", "5", "8"): 102,
    },
    "plain": {("plain.p", "0", "1"): 17, ("plain.shapes", "0", "4"): 25},
    "arrays": {
        ("arrays.arrays", "0", "0", "8"): 60,
        ("arrays.arrays", str(1 << 36), "5", "8"): 105,
    },
    "fixed": {("fixed.p", _LABEL, "1"): 18},
    "inherited": {("inherited.p@client", _LABEL, "1"): 24},
    "nested": {("nested.p@client", _LABEL, "1"): 69},
}
_OTHERS = 2

FLAGS = (
    *(
        "-std=gnu11",
        "-O2",
        "-fno-tree-vectorize",
        "-fno-jump-tables",
        "-DNDEBUG",
        "-Wall",
        "-Wextra",
        "-Werror",
    ),
    *("-march=nehalem", "-mno-red-zone", "-fno-stack-protector", "-fno-asynchronous-unwind-tables"),
    *("-fno-pic", "-fno-pie", "-no-pie", "-ftls-model=local-exec", "-ffunction-sections"),
    # what distributions switch on
    *("-fcf-protection=none", "-fno-stack-clash-protection", "-U_FORTIFY_SOURCE"),
    # what is not on the path of a request calls what is not here
    *("-Wl,--gc-sections", "-Wl,--unresolved-symbols=ignore-all"),
)
_RUNTIME = (
    *("message.c", "message_error.c", "self_sel4.c"),
    *("serve.c", "lock.c", "nested.c"),
)


def _generate(folder: Path, text: str) -> Path:
    sink = Sink()
    system, plan, model = plan_of(folder, text, sink)
    generate(system, plan, model, folder / "out", sink)
    assert not sink.has_errors
    return folder / "out"


def _program(generated: Path, instance: str, text: str) -> Path:
    """fast_path/count.c with an instance whose component has this code."""
    folder, program = generated / instance, generated / f"count-{instance}"
    source = generated / f"{instance}.c"
    source.write_text("#include <camkes.h>\n" + text)
    includes = (folder, HERE, RUNTIME / "include", HOST_KERNEL / "include")
    sources = (*folder.glob("*.c"), source, HERE / "count.c", *(RUNTIME / place(s) for s in _RUNTIME))
    subprocess.run(["cc", *FLAGS, *(f"-I{i}" for i in includes), "-o", program, *sources], check=True)
    return program


def _count(program: Path, *arguments: str) -> int:
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _generate(tmp_path_factory.mktemp("fast_path"), _SYSTEM)


#: nine instructions, and one that returns as `nothing` of count.c does
_KNOWN = """
void known(void);
__asm__("known: .rept 3\\n nop\\n syscall\\n nop\\n .endr\\n ret");
extern void (*const requests[])(void);
void (*const requests[])(void) = {known};
"""


def test_each_instruction_is_counted_once(generated: Path) -> None:
    assert _count(_program(generated, "plain", _LEAF + _SHAPES + _KNOWN), "caller", "0", "0") == 9


@pytest.mark.mostly_long("nested")
@pytest.mark.parametrize("instance", _MOST)
def test_instructions(instance: str, generated: Path) -> None:
    program = _program(generated, instance, _SOURCES[instance])
    for arguments, most in _MOST[instance].items():
        assert 0 < _count(program, *arguments) <= most + _OTHERS, arguments


_EVENT = """
component Emitter { control; requestor; emits Done done; }
component Waiter { control; requestor; consumes Done done CLAUSE; }
assembly {
    composition {
        component Emitter emitter;
        component Waiter waiter;
        connection seL4Notification c(from emitter.done, to waiter.done);
    }
    configuration { emitter._priority = 10; waiter._priority = 20; }
}
"""
_EMITTER = """int run(void) { return 0; }
extern void (*const requests[])(void);
void (*const requests[])(void) = {done_emit};
"""


@pytest.mark.long
def test_an_emit_costs_as_much_where_a_waiter_lends(tmp_path: Path) -> None:
    """Whether a thread waits is for the receiver's side: the emitter executes the same instructions."""
    counts = {
        clause: _count(
            _program(
                _generate(tmp_path / (clause or "plain"), _EVENT.replace("CLAUSE", clause)),
                "emitter",
                _EMITTER,
            ),
            *("caller", "0", "0"),
        )
        for clause in ("", "with helpers")
    }
    assert 0 < counts["with helpers"] <= 1.02 * counts[""]
