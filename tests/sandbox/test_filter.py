# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The sandbox's filter of system calls, for each architecture: its numbers, and what it answers."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from itertools import product

import pytest

from camkes import sandbox
from tests.host.kernel import CC

pytestmark = pytest.mark.requirement("TOOL-23")

MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
VERSIONS = (1, 6)  # of Landlock, where the filter changes
TABLES = "_ALLOWED", "_SIGNALS", "_IGNORED", "_UNSUPPORTED", "_JUDGED"
ALLOWED, PRETENDED, EPERM, ENOTTY, EINVAL, ENOSYS, ENOTSUP = "allowed", 0, 1, 25, 22, 38, 95
AT_FDCWD = 2**64 - 100
O_CREAT, O_TRUNC, O_TMPFILE = 0o100, 0o1000, 0o20200000
EXAMPLES = [
    ("openat", (AT_FDCWD, 0, 0o2000000), ALLOWED),
    ("openat", (AT_FDCWD, 0, O_CREAT | O_TRUNC | 1, 0o666), ALLOWED),
    ("openat", (AT_FDCWD, 0, O_TRUNC), EPERM),
    ("openat", (AT_FDCWD, 0, O_CREAT | 1, 0o4755), EPERM),
    ("openat", (AT_FDCWD, 0, O_CREAT | 1, 0o2755), EPERM),
    ("openat", (AT_FDCWD, 0, O_TMPFILE | 2, 0o4755), EPERM),
    ("openat", (AT_FDCWD, 0, 0, 0o4755), ALLOWED),  # without O_CREAT there is anything
    ("mknodat", (AT_FDCWD, 0, 0o010600, 0), ALLOWED),
    ("mknodat", (AT_FDCWD, 0, 0o100600, 0), ALLOWED),
    ("mknodat", (AT_FDCWD, 0, 0o104600, 0), EPERM),
    ("mknodat", (AT_FDCWD, 0, 0o020600, 0x103), EPERM),
    ("mknodat", (AT_FDCWD, 0, 0o060600, 0x700), EPERM),
    ("mknodat", (AT_FDCWD, 0, 0o140600, 0), EPERM),
    ("renameat2", (AT_FDCWD, 0, AT_FDCWD, 0, 2), ALLOWED),
    ("renameat2", (AT_FDCWD, 0, AT_FDCWD, 0, 4), EPERM),
    ("clone", (17,), ALLOWED),
    ("clone", (0x3D0F00,), ALLOWED),  # a thread
    ("clone", (0x4111,), ALLOWED),  # posix_spawn()
    *(("clone", (1 << bit | 17,), EPERM) for bit in (12, 13, 15, 17, 23, *range(25, 32))),
    ("fcntl", (3, 2, 1), ALLOWED),
    ("fcntl", (3, 1030, 0), ALLOWED),
    *(("fcntl", (3, command, 0), PRETENDED) for command in (6, 7, 37, 38)),  # locks
    *(("fcntl", (3, command, 0), EPERM) for command in (8, 10, 15, 1024, 1026, 1031, 1033)),
    *(("ioctl", (0, command, 0), ALLOWED) for command in (0x5401, 0x5413, 0x541B, 0x5421, 0x5451)),
    *(
        ("ioctl", (0, command, 0), ENOTTY)
        for command in (0x5402, 0x5412, 0x5414, 0x541C, 0x40086602, 0x401C5820)
    ),
    ("prctl", (15, 0), ALLOWED),
    *(("prctl", (option, 0), EINVAL) for option in (8, 22, 24, 28, 35, 36, 47, 0x59616D61)),
    ("personality", (0xFFFFFFFF,), ALLOWED),
    ("personality", (0x0040000,), EPERM),
    ("prlimit64", (0, 7, 0, 0), ALLOWED),
    ("prlimit64", (1, 7, 0, 0), EPERM),
    ("socketpair", (1, 0o2000001, 0, 0), ALLOWED),
    ("socketpair", (1, 2, 0, 0), EPERM),
    ("socketpair", (1, 5, 0, 0), EPERM),
    ("socketpair", (2, 1, 0, 0), EPERM),
]


def run(
    program: list[tuple[int, int, int, int]], machine: int, number: int, arguments: tuple[int, ...]
) -> object:
    """What the filter answers: ALLOWED or the error."""
    words = [number, machine, 0, 0]
    for argument in (*arguments, *(0,) * (6 - len(arguments))):
        words += [argument & 0xFFFFFFFF, argument >> 32 & 0xFFFFFFFF]
    at = value = 0
    while True:
        code, yes, no, operand = program[at]
        assert 0 <= yes < 256 and 0 <= no < 256 and 0 <= operand < 2**32
        at += 1
        match code:
            case 0x20:  # load
                value = words[operand // 4]
            case 0x54:  # and
                value &= operand
            case 0x15:  # equal
                at += yes if value == operand else no
            case 0x35:  # at least
                at += yes if value >= operand else no
            case 0x45:  # any bit
                at += yes if value & operand else no
            case 0x06:
                kind, error = operand & 0xFFFF0000, operand & 0xFFFF
                assert kind in (0x7FFF0000, 0x00050000)
                return ALLOWED if kind == 0x7FFF0000 else error
            case _:
                raise AssertionError(code)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_not_listed_is_refused(machine: str, version: int) -> None:
    program = sandbox.filter_of(machine, version)
    assert len(program) <= 4096  # the kernel's limit
    tables = {table: set(sandbox.calls(getattr(sandbox, table), machine).values()) for table in TABLES}
    always = tables["_ALLOWED"] | (tables["_SIGNALS"] if version >= 6 else set())
    for number in (*range(700), 0x40000000, 0x40000001, 0x7FFFFFFF, 0xFFFFFFFF):
        arguments = [(each,) * 6 for each in (0, 7, 2**64 - 1)]
        answers = {run(program, MACHINES[machine], number, each) for each in arguments}
        refused = ENOSYS if number >= 424 else EPERM
        if number in always:
            assert answers == {ALLOWED}
        elif number in tables["_IGNORED"]:
            assert answers == {PRETENDED}
        elif number in tables["_UNSUPPORTED"]:
            assert answers == {ENOTSUP}
        elif number not in tables["_JUDGED"]:
            assert answers == {refused}


@pytest.mark.parametrize("machine", MACHINES)
def test_another_architecture_has_no_calls(machine: str) -> None:
    program = sandbox.filter_of(machine, 6)
    for other in (0x40000003, 0x40000028, *(set(MACHINES.values()) - {MACHINES[machine]})):
        assert {run(program, other, number, ()) for number in range(512)} == {EPERM}


@pytest.mark.parametrize("machine", MACHINES)
def test_arguments_that_are_judged(machine: str) -> None:
    program = sandbox.filter_of(machine, 6)
    numbers = sandbox.calls(sandbox._JUDGED, machine)
    for name, arguments, answer in EXAMPLES:
        assert run(program, MACHINES[machine], numbers[name], arguments) == answer, (name, arguments)
    if "open" in numbers:
        for (name, arguments, answer), old in product(EXAMPLES, ("open", "creat", "mknod")):
            if name == f"{old}at":
                assert run(program, MACHINES[machine], numbers[old], arguments[1:]) == answer
        assert run(program, MACHINES[machine], numbers["creat"], (0, 0o4755)) == EPERM


def _numbers(machine: str) -> dict[str, int]:
    """As the kernel's headers have them."""
    compiler = CC if os.uname().machine == machine else f"{machine}-linux-gnu-gcc"
    if shutil.which(compiler) is None:
        pytest.skip(f"there are no headers for {machine}")
    command = [compiler, "-E", "-dM", "-include", "asm/unistd.h", "-x", "c", "/dev/null"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = dict(re.findall(r"#define (__NR\w+) (\w+)", text))
    numbers = {name: found.get(value, value) for name, value in found.items()}  # one may be another's name
    return {name.removeprefix("__NR_"): int(n) for name, n in numbers.items() if n.isdecimal()}


@pytest.mark.parametrize("machine", MACHINES)
def test_the_numbers_are_those_of_the_kernels_headers(machine: str) -> None:
    """But calls that headers do not know yet: all of those have the same number everywhere."""
    known = _numbers(machine)
    for table in TABLES:
        for name, number in sandbox.calls(getattr(sandbox, table), machine).items():
            if name in known:
                assert known[name] == number, name
            else:
                assert number > 424, name
        both = [set(sandbox.calls(getattr(sandbox, table), each)) for each in MACHINES]
        only = both[1] if machine == "x86_64" else both[0]
        here = set(sandbox.calls(getattr(sandbox, table), machine))
        assert not {name for name in only - here if name in known}


def test_no_call_is_in_two_tables() -> None:
    for machine in MACHINES:
        numbers = [n for table in TABLES for n in sandbox.calls(getattr(sandbox, table), machine).values()]
        assert len(numbers) == len(set(numbers))
