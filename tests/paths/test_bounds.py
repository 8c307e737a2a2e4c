# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""No function executes more instructions than its bound, which is attained where nothing is left open."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from camkes.paths.codes import NO_PATH, UNBOUNDED_LOOP, UNKNOWN_CALL
from camkes.paths.steps import PathError
from tests.paths.programs import Compiled, needs_gcc

pytestmark = [pytest.mark.requirement("AN-31"), needs_gcc]

_EXACT = """
static volatile unsigned long sink;
static __attribute__((noinline)) unsigned long leaf(unsigned long n) { return n * 3 + sink; }
unsigned long straight(unsigned long n) { return n + 1; }
unsigned long calls(unsigned long n) { return leaf(n) + leaf(n + 1); }
unsigned long tail(unsigned long n) { return leaf(n + 1); }
unsigned long up(unsigned long n) { for (int i = 0; i < 10; i++) { sink += n; } return n; }
unsigned long down(unsigned long n) { for (unsigned i = 7; i > 0; i--) { sink += i; } return n; }
unsigned long steps(unsigned long n) { for (long i = -9; i < 12; i += 3) { sink += n; } return n; }
unsigned long nested(unsigned long n)
{
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 5; k++) {
            sink += n;
        }
        sink -= leaf(n);
    }
    return n;
}
unsigned long called(unsigned long n) { for (int i = 0; i < 6; i++) { n = leaf(n); } return n; }
"""
_NAMES = ("straight", "calls", "tail", "up", "down", "steps", "nested", "called")


@pytest.mark.parametrize("level", ["-O1", "-O2", "-Os"])
def test_loops_to_constants_are_exact(level: str, tmp_path: Path) -> None:
    program = Compiled(tmp_path, _EXACT, _NAMES, level)
    for name in _NAMES:
        assert program.bound(name).instructions == program.count(name, 3), name


_CHOICES = """
static volatile unsigned long sink;
unsigned long chooses(unsigned long n)
{
    if (n > 100) {
        sink = n; sink = n; sink = n; sink = n;
    } else if (n > 10) {
        sink = n;
    }
    return n;
}
unsigned long switches(unsigned long n)
{
    switch (n) {
    case 0: sink = 5; return 1;
    case 1: sink = 4; sink = 9; return 7;
    case 2: sink = 3; sink = 9; sink = 1; return 3;
    case 3: sink = 2; return 9;
    case 4: sink = 1; sink = 2; sink = 3; sink = 4; sink = 5; return 2;
    case 5: sink = 7; return 8;
    case 6: sink = 8; sink = 3; return 6;
    default: return 0;
    }
}
"""


def test_the_longest_choice_counts(tmp_path: Path) -> None:
    flags = ("-O2", "-fno-tree-switch-conversion", "-fno-jump-tables")
    program = Compiled(tmp_path, _CHOICES, ("chooses", "switches"), *flags)
    for name, arguments in (("chooses", (0, 50, 200)), ("switches", range(9))):
        assert program.bound(name).instructions == max(program.count(name, each) for each in arguments), name


def test_a_jump_through_a_table_is_refused_at_its_line(tmp_path: Path) -> None:
    program = Compiled(tmp_path, _CHOICES, ("switches",), "-O2", "-fno-tree-switch-conversion")
    with pytest.raises(PathError, match="jump through a table") as error:
        program.bound("switches")
    assert error.value.code is UNKNOWN_CALL and error.value.help.endswith("-fno-jump-tables")
    assert error.value.place is not None and error.value.place.line == program.line("switch (n)")


_COPIES = """
#include <string.h>
static unsigned char bytes[64];
unsigned long copies(unsigned long n)
{
    memset(bytes, (int)n, 24);
    return bytes[n % 24];
}
unsigned long asks(unsigned long n)
{
    memset(bytes, (int)n, n);
    return bytes[0];
}
void *memset(void *to, int byte, size_t size)
{
    unsigned char *at = to;
    for (size_t i = 0; i < size; i++) {
        at[i] = (unsigned char)byte;
        __asm__ volatile("" : : : "memory");
    }
    return to;
}
"""


def test_a_number_of_bytes_that_is_known_bounds_functions_of_the_library(tmp_path: Path) -> None:
    program = Compiled(tmp_path, _COPIES, ("copies", "asks"), "-O1", "-fno-builtin")
    counted = program.count("copies", 7)
    assert counted <= program.bound("copies").instructions <= 1.1 * counted
    with pytest.raises(PathError, match="nothing bounds a loop of `memset`"):
        program.bound("asks")


_CONTRACTS = """
static volatile unsigned long sink;
unsigned long beside(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) { /* at most 8 times: n is that of a byte */
        sink += i;
    }
    return n;
}
unsigned long above(unsigned long n)
{
    /* at most 2 * things + 1
     * times: there are so many */
    while (n > 0) {
        sink += n--;
    }
    return n;
}
unsigned long last(unsigned long n)
{
    do {
        sink += n;
    } while (n-- > 1); // at most 8 times: as often as before
    return n;
}
unsigned long within(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) { /* at most 8 times: the same */
        for (unsigned long k = 0; k < i; k++) { /* at most 7 times: i is less */
            sink += k;
        }
    }
    return n;
}
"""
_STATED = ("beside", "above", "last", "within")


@pytest.mark.parametrize("level", ["-O1", "-O2", "-Os"])
def test_contracts_bound_loops(level: str, tmp_path: Path) -> None:
    program = Compiled(tmp_path, _CONTRACTS, _STATED, level)
    for name, argument in (("beside", 8), ("above", 7), ("last", 8)):
        most, count = program.bound(name, {"things": 3}).instructions, program.count(name, argument)
        assert count <= most <= 1.1 * count + 5, name
    # each inner loop counts with its most iterations
    assert program.count("within", 8) <= program.bound("within").instructions


def _error(program: Compiled, name: str, **limits: int) -> PathError:
    with pytest.raises(PathError) as caught:
        program.bound(name, {"things": 3}, limits)
    return caught.value


_OPEN = """
static volatile unsigned long sink;
unsigned long open(unsigned long n)
{
    while (sink < n) { sink++; } /* open */
    return n;
}
unsigned long inner(unsigned long n)
{
    /* at most 3 times: stated */
    for (unsigned long i = 0; i < n; i++) {
        for (unsigned long k = 0; k < i; k++) { /* inner */
            sink += k;
        }
        sink++;
    }
    return n;
}
unsigned long misses(unsigned long n)
{
    while (sink < n) { /* at most others times: misses */
        sink += 2;
    }
    return n;
}
unsigned long recursive(unsigned long n)
{
    const unsigned long less = n > sink ? recursive(n - sink) + 1 : 0; /* recursive */
    sink = less;
    return less;
}
unsigned long (*volatile pointer)(unsigned long);
unsigned long through(unsigned long n) { return pointer(n) + 1; /* through */ }
unsigned long known(unsigned long n)
{
    return pointer(n) + 2; /* calls other, another: it is set to these only */
}
unsigned long other(unsigned long n) { return n; }
unsigned long another(unsigned long n) { sink = n; sink = n; return n; }
"""
_OPENS = ("open", "inner", "misses", "recursive", "through", "known", "other", "another")


def test_what_is_not_bounded_is_named_at_its_place(tmp_path: Path) -> None:
    program = Compiled(tmp_path, _OPEN, _OPENS)
    expected = {
        "open": (UNBOUNDED_LOOP, "nothing bounds a loop of `open`"),
        "inner": (UNBOUNDED_LOOP, "nothing bounds a loop of `inner`"),
        "misses": (UNBOUNDED_LOOP, "there is no number `others` here; known are: things"),
        "recursive": (UNKNOWN_CALL, "`recursive` calls itself"),
        "through": (UNKNOWN_CALL, "a call through a pointer cannot be followed"),
    }
    marks = {"misses": ": misses"}
    for name, (code, why) in expected.items():
        error = _error(program, name)
        assert (error.code, error.why) == (code, why)
        place = error.place
        assert place is not None and place.path == str(program.source) and error.help, name
        assert place.line == program.line(marks.get(name, f"/* {name} */")), name
    assert _error(program, "nowhere").code == NO_PATH


def test_calls_that_are_stated_are_followed(tmp_path: Path) -> None:
    program = Compiled(tmp_path, _OPEN, _OPENS)
    longest = max(program.bound(name).instructions for name in ("other", "another"))
    assert program.bound("known").instructions > longest


def test_limits_are_for_functions_without_sources(tmp_path: Path) -> None:
    program = Compiled(tmp_path, _OPEN, _OPENS)
    few, many = (program.bound("open", {}, {"open": n}).instructions for n in (2, 10))
    assert program.count("open", 2) <= few < program.count("open", 9) <= many
    # a contract that is there counts, and an inner loop without one has no bound
    assert _error(program, "misses", misses=5).code == UNBOUNDED_LOOP


_REPEATED = """
unsigned long repeated(unsigned long n)
{
    static unsigned char from[64], to[64];
    void *t = to;
    const void *f = from;
    unsigned long words = 8;
    __asm__ volatile("rep movsq" : "+D"(t), "+S"(f), "+c"(words) : : "memory");
    return n;
}
"""


def test_repeated_instructions_count_as_often_and_once_more(tmp_path: Path) -> None:
    program = Compiled(tmp_path, _REPEATED, ("repeated",))
    assert program.bound("repeated").instructions == program.count("repeated", 0) + 1


_JUMPS = """
static volatile unsigned long sink;
unsigned long jumps(unsigned long n)
{
    unsigned long i = 0;
    if (n > 3) {
        goto middle;
    }
    /* at most 5 times: it is left then */
    while (i < 5) {
        sink += n;
    middle:
        if (sink == n) {
            break;
        }
        i++;
    }
    return i;
}
"""


@pytest.mark.parametrize("level", ["-O1", "-O2"])
def test_loops_that_are_entered_twice_are_bounded(level: str, tmp_path: Path) -> None:
    program = Compiled(tmp_path, _JUMPS, ("jumps",), level)
    most = program.bound("jumps").instructions
    for argument in (1, 3, 4, 9):
        assert program.count("jumps", argument) <= most


_ASSEMBLY = """
static volatile unsigned long sink;
__asm__(".text\\n.globl changes\\n.type changes, @function\\n"
        "changes: mov $10, %ecx\\n1: call other\\nsub $1, %ecx\\njne 1b\\nmov %rdi, %rax\\nret\\n"
        ".size changes, .-changes\\n.type other, @function\\nother: mov $2, %ecx\\nret\\n"
        ".size other, .-other\\n");
unsigned long changes(unsigned long n);
unsigned long together(unsigned long n)
{
    do {
        do {
            sink = 1;
            n--;
        } while (n % 4 != 0); /* at most 4 times: it is divisible then */
    } while (n > 0); /* at most 2 times: n is at most 8 */
    return n;
}
unsigned long within(unsigned long n)
{
    while (n > 0) { /* at most 4 times: this is not how often the loop in it is executed */
        sink = 2;
        __asm__ volatile("1: dec %0\\njnz 1b" : "+r"(n));
        n >>= 1;
    }
    return n;
}
"""


def test_a_counter_that_a_called_function_changes_is_not_followed(tmp_path: Path) -> None:
    program = Compiled(tmp_path, _ASSEMBLY, ("changes", "together", "within"))
    assert _error(program, "changes").why == "nothing bounds a loop of `changes`"


def test_one_contract_is_not_for_two_loops(tmp_path: Path) -> None:
    program = Compiled(tmp_path, _ASSEMBLY, ("changes", "together", "within"))
    error = _error(program, "within")
    assert error.why == "two loops of the program, one in the other, are one loop of the source"
    assert error.place is not None and error.place.line == program.line("this is not how often")


@pytest.mark.parametrize("level", ["-O1", "-O2"])
def test_loops_that_begin_together_are_both_bounded(level: str, tmp_path: Path) -> None:
    program = Compiled(tmp_path, _ASSEMBLY, ("changes", "together", "within"), level)
    most = program.bound("together").instructions
    assert max(program.count("together", argument) for argument in range(1, 9)) <= most


class _Random:
    """C functions of nested loops and choices at random, with bounds that are right for arguments up to 9."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._variables = 0

    def function(self, name: str) -> str:
        return f"unsigned long {name}(unsigned long n)\n{{\n{self._body(3)}    return n;\n}}\n"

    def _body(self, depth: int) -> str:
        return "".join(self._statement(depth) for _ in range(self._random.randint(1, 3)))

    def _statement(self, depth: int) -> str:
        kind = self._random.choice(
            ("assign", "assign", "if", "loop", "while", "call") if depth else ("assign",)
        )
        variable, self._variables = f"v{self._variables}", self._variables + 1
        if kind == "if":
            limit, other = self._random.randint(0, 9), self._body(depth - 1)
            return f"if (n > {limit}) {{\n{self._body(depth - 1)}}} else {{\n{other}}}\n"
        if kind == "loop":
            most, step = self._random.randint(1, 6), self._random.randint(1, 2)
            head = f"for (unsigned {variable} = 0; {variable} < {most}; {variable} += {step})"
            return f"{head} {{\n{self._body(depth - 1)}}}\n"
        if kind == "while":
            head = f"for (unsigned long {variable} = n; {variable} > 0; {variable}--)"
            return f"{head} {{ /* at most 9 times: that is the argument */\n{self._body(depth - 1)}}}\n"
        return f"n = leaf(n + {variable[1:]}) % 10;\n" if kind == "call" else f"sink += n + {variable[1:]};\n"


@pytest.mark.mostly_long(6)
@pytest.mark.parametrize("level", ["-O1", "-O2", "-Os", "-O3"])
@pytest.mark.parametrize("seed", range(3))
def test_no_random_function_exceeds_its_bound(level: str, seed: int, tmp_path: Path) -> None:
    functions = _Random(seed)
    names = [f"f{number}" for number in range(12)]
    text = "static volatile unsigned long sink;\n" + _EXACT.splitlines()[2] + "\n"
    text += "".join(functions.function(name) for name in names)
    program = Compiled(tmp_path, text, names, level, "-fno-tree-vectorize")
    bounded = 0
    for name in names:
        try:
            most = program.bound(name).instructions
        except PathError as error:  # what a compiler makes of a loop may not be recognised
            assert error.code is UNBOUNDED_LOOP
            continue
        bounded += 1
        counts = [program.count(name, argument) for argument in range(10)]
        assert program.least(name) <= min(counts) and max(counts) <= most, name
    assert bounded >= len(names) // 2
