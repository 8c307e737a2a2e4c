# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The host kernel, tried with small components.

A scenario is NAME.c (one image for all address spaces), NAME.table (its boot table; comments in it give
options, modes and the exit status), NAME.expected.txt (standard output) and NAME.errors.txt (standard error,
addresses masked). CAMKES_HOST_SANITIZED is a kernel with the sanitizers; scenarios
are then compiled with these, too.
"""

from __future__ import annotations

import itertools
import os
import re
import struct
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.golden import compare
from tests.host.kernel import (
    CHOICE,
    END,
    FAULT,
    NO_NUMBER,
    OUTPUT,
    RUNNER,
    SANITIZE,
    SCENARIOS,
    SWITCH,
    WORK,
    Record,
    Workplace,
    read_trace,
)
from tests.units import requirement_of

#: how a scenario runs unless its table says otherwise
MODES = "isolated fast"


def without_addresses(records: list[Record]) -> list[Record]:
    """Where a component is loaded differs with --fast; nothing else does."""
    return [
        Record(r.time, r.kind, r.thread, r.other, (r.args[0],)) if r.kind == FAULT else r for r in records
    ]


def setting(table: Path, name: str, default: str) -> str:
    match = re.search(rf"^# {name}: (.*)$", table.read_text(), re.MULTILINE)
    return match[1] if match else default


def masked(text: str) -> str:
    """Addresses depend on compiler and C library, the order of everything does not. An emulator may lack what
    confines components."""
    if RUNNER:
        text = re.sub(r"camkes-host: note: this workstation does not have .*\n", "", text)
    text = re.sub(r"\+0x[0-9a-f]+\)", "+OFFSET)", text)
    text = re.sub(r"libc[^+ ]*\+OFFSET", "LIBC+OFFSET", text)
    return re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", text)


def modes() -> Iterator[tuple[str, str]]:
    for table in sorted(SCENARIOS.glob("*.table")):
        if SANITIZE and setting(table, "sanitizers", "yes") == "no":
            continue
        for mode in setting(table, "modes", MODES).split():
            yield table.stem, mode


def requirements_of_scenario(name: str) -> list[pytest.MarkDecorator]:
    """Those of the components in C that a table names."""
    names = dict.fromkeys(re.findall(r"(\w+)\.so\b", (SCENARIOS / f"{name}.table").read_text()))
    return [requirement_of(SCENARIOS / f"{image}.c") for image in names]


def options_of(name: str, mode: str) -> list[str]:
    options = setting(SCENARIOS / f"{name}.table", "options", "").split()
    return options + (["--fast"] if mode == "fast" else [])


@cache
def traced(workplace: Workplace, name: str, mode: str) -> tuple[subprocess.CompletedProcess[str], Path]:
    """The result of a scenario and its trace; several tests look at one run."""
    trace = workplace.folder / f"{name}.{mode}"
    table = workplace.folder / f"{name}.table"
    return workplace.run(table, *options_of(name, mode), "--trace", trace.name), trace


@pytest.mark.mostly_long(2)
@pytest.mark.parametrize(
    ("name", "mode"),
    [pytest.param(*each, marks=requirements_of_scenario(each[0])) for each in modes()],
)
def test_scenario(workplace: Workplace, name: str, mode: str) -> None:
    table = SCENARIOS / f"{name}.table"
    result, trace = traced(workplace, name, mode)
    errors = table.with_suffix(".errors.txt")
    if os.environ.get("CAMKES_HOST_ACCEPT"):
        table.with_suffix(".expected.txt").write_text(result.stdout)
        if result.stderr:
            errors.write_text(masked(result.stderr))
    assert masked(result.stderr) == (errors.read_text() if errors.exists() else "")
    assert result.stdout == table.with_suffix(".expected.txt").read_text()
    assert result.returncode == int(setting(table, "status", "0"))
    records = read_trace(trace)
    assert records[0].kind == 1
    assert [r.kind for r in records].count(END) == 1
    assert all(a.time <= b.time for a, b in itertools.pairwise(records))
    output = b"".join(
        struct.pack(f"<{len(r.args) - 1}Q", *r.args[1:])[: r.args[0]] for r in records if r.kind == OUTPUT
    )
    assert output.decode() == result.stdout


BOTH = [n for n in dict(modes()) if setting(SCENARIOS / f"{n}.table", "modes", MODES) == MODES]


@pytest.mark.requirement("HOST-5")
@pytest.mark.mostly_long(2)
@pytest.mark.parametrize("name", BOTH)
def test_isolation_does_not_change_a_run(workplace: Workplace, name: str) -> None:
    isolated, fast = (read_trace(traced(workplace, name, mode)[1]) for mode in ("isolated", "fast"))
    assert without_addresses(isolated) == without_addresses(fast)


@pytest.mark.requirement("HOST-3")
@pytest.mark.mostly_long("threads-isolated", "slices-fast", "choices-isolated")
@pytest.mark.parametrize(("name", "mode"), [("threads", "isolated"), ("slices", "fast"),
                                            ("faults", "isolated"), ("choices", "isolated")])  # fmt: skip
def test_repeated_runs_have_the_same_trace(workplace: Workplace, name: str, mode: str) -> None:
    traces = set()
    workplace.build(workplace.folder / f"{name}.table")
    for i in range(5 if name == "faults" or SANITIZE else 20):
        extra = ["--choices", "random:7"] if name == "choices" else []
        options = [*options_of(name, mode), *extra, "--trace", "trace"]
        subprocess.run(
            [*RUNNER, str(workplace.host), f"{name}.table", *options], cwd=workplace.folder, check=False,
            env={**os.environ, "PADDING": "x" * 100 * i}, capture_output=True, timeout=60,
        )  # fmt: skip
        traces.add((workplace.folder / "trace").read_bytes())
    assert len(traces) == 1


@pytest.mark.requirement("HOST-2")
def test_work_is_preempted_at_the_instant(workplace: Workplace) -> None:
    workplace.run(workplace.folder / "timing.table", "--for", "20000", "--trace", "trace")
    switches = [(r.time, r.thread) for r in read_trace(workplace.folder / "trace") if r.kind == SWITCH]
    assert switches[:7] == [(0, 0), (0, 1), (500, 0), (600, 1), (1500, 0), (1600, 1), (2500, 0)]
    end = read_trace(workplace.folder / "trace")[-1]
    assert (end.kind, end.args[0]) == (END, 1) and end.time == 20000


@pytest.mark.requirement("HOST-2")
@pytest.mark.parametrize("until", [0, 1, 250, 500, 599])
def test_the_run_ends_in_the_middle_of_work(workplace: Workplace, until: int) -> None:
    workplace.run(workplace.folder / "timing.table", "--for", str(until), "--trace", "trace")
    end = read_trace(workplace.folder / "trace")[-1]
    assert (end.kind, end.args[0], end.time) == (END, 1, until)


def check_schedule(records: list[Record], table: str) -> int:
    """Replays a trace: the running thread is runnable and has the highest priority; messages are first in,
    first out; whoever gets a reply waited for it. Returns how many things were looked at."""
    threads = re.findall(r"^thread \S+ \d+ \S+ (\d+)", table, re.MULTILINE)
    priority = dict(enumerate(map(int, threads)))
    runnable: set[int] = set()
    queues: dict[tuple[int, bool], list[int]] = {}
    waits: dict[int, tuple[int, int]] = {}
    running = NO_NUMBER
    looks = 0

    def leave_queue(thread: int) -> None:
        for queue in queues.values():
            if thread in queue:
                queue.remove(thread)

    for before, record in itertools.pairwise(records):
        if record.time > before.time and running != NO_NUMBER:
            assert running in runnable
            assert all(priority[running] >= priority[t] for t in runnable), record
            looks += 1
        match record.kind:
            case 2:
                assert record.other == running
                running = record.thread
                assert running in runnable and record.args == (priority[running],)
                assert all(priority[running] >= priority[t] for t in runnable), record
                looks += 1
            case 3:
                assert not runnable and record.other == running
                running = NO_NUMBER
            case 4:
                leave_queue(record.thread)
                waits.pop(record.thread, None)
                runnable.add(record.thread)
            case 5:
                leave_queue(record.thread)
                runnable.discard(record.thread)
                waits[record.thread] = record.args
                if record.args[0] in (1, 2, 4, 5):
                    queues.setdefault((record.args[1], record.args[0] in (1, 2)), []).append(record.thread)
            case 6:
                assert record.args[0] == priority[record.thread]
                priority[record.thread] = record.args[1]
            case 7 | 11:
                assert record.thread == running
            case 8:
                senders, receivers = ((record.args[0], sending) for sending in (True, False))
                if record.thread in waits and waits[record.thread][0] in (1, 2):
                    assert queues[senders][0] == record.thread
                else:
                    assert queues[receivers][0] == record.other
                looks += 1
            case 9:
                assert waits[record.other][0] == 3
                looks += 1
    return looks


@pytest.mark.requirement("HOST-20")
@pytest.mark.long
@pytest.mark.parametrize("chosen", ["first", *(f"random:{seed}" for seed in range(4))])
@pytest.mark.parametrize("scheduling", ["fifo", "rr"])
def test_schedules_are_right_whatever_happens(workplace: Workplace, chosen: str, scheduling: str) -> None:
    options = ["--for", "3000000", "--timeslice", "400", "--scheduling", scheduling, "--choices", chosen]
    traces = []
    for mode in ([], ["--fast"]):
        result = workplace.run(workplace.folder / "stress.table", *options, *mode, "--trace", "trace")
        assert result.returncode == 0, result.stderr
        traces.append(read_trace(workplace.folder / "trace"))
    assert traces[0] == traces[1]
    assert check_schedule(traces[0], (SCENARIOS / "stress.table").read_text()) > 1000


@pytest.mark.requirement("HOST-2")
@pytest.mark.long
@pytest.mark.skipif(SANITIZE, reason="the thread that counts takes long")
def test_a_time_slice_is_10_ms_if_none_is_given(workplace: Workplace) -> None:
    """As long as a thread looks for what another one of its priority does."""
    workplace.run(workplace.folder / "polling.table", "--loop-limit", "20000", "--trace", "trace")
    work = [record.args for record in read_trace(workplace.folder / "trace") if record.kind == WORK]
    assert work.count((10_000_000,)) >= 6, work


def choices(workplace: Workplace, chosen: str) -> tuple[str, list[tuple[int, ...]]]:
    options = ["--for", "1000000", "--choices", chosen, "--trace", "trace"]
    result = workplace.run(workplace.folder / "choices.table", *options)
    assert result.returncode == 0, result.stderr
    return result.stdout, [r.args for r in read_trace(workplace.folder / "trace") if r.kind == CHOICE]


@pytest.mark.requirement("HOST-3")
def test_the_first_choice_is_zero(workplace: Workplace) -> None:
    _, made = choices(workplace, "first")
    assert made and all(options > 1 and chosen == 0 for _, options, chosen in made)
    assert {kind for kind, _, _ in made} == {1, 2, 3, 4}


@pytest.mark.requirement("HOST-3")
@pytest.mark.long
def test_a_script_repeats_a_random_run(workplace: Workplace) -> None:
    seen = set()
    for seed in range(6):
        output, made = choices(workplace, f"random:{seed}")
        script = workplace.folder / "script"
        script.write_text("\n".join(str(chosen) for _, _, chosen in made))
        assert choices(workplace, f"script:{script}") == (output, made)
        seen.add(output)
    assert len(seen) > 3


@pytest.mark.requirement("HOST-3")
def test_a_tie_can_go_either_way(workplace: Workplace) -> None:
    script = workplace.folder / "script"
    script.write_text("0")
    first, _ = choices(workplace, f"script:{script}")
    script.write_text("1")
    second, _ = choices(workplace, f"script:{script}")
    assert first != second and "thread 0" in first.splitlines()[1] and "thread 1" in second.splitlines()[1]


@pytest.mark.requirement("HOST-3")
def test_a_number_beyond_the_options_is_the_last_one(workplace: Workplace) -> None:
    script = workplace.folder / "script"
    script.write_text("999\n" * 9)
    _, made = choices(workplace, f"script:{script}")
    assert made and all(chosen == options - 1 for _, options, chosen in made[:9])
    assert any(options > 2 for _, options, _ in made[:9])


@pytest.mark.requirement("HOST-23")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no boot table"),
        (["--nonsense", "1", "t"], "unknown option --nonsense"),
        (["call.table", "--for"], "no value for --for"),
        (["call.table", "--for", "x"], "--for wants a number, not `x`"),
        (["call.table", "--for", "-1"], "--for wants a number"),
        (["call.table", "--scheduling", "edf"], "--scheduling does not know edf"),
        (["call.table", "--choices", "best"], "--choices does not know best"),
        (["call.table", "--choices", "script:/nowhere"], "cannot read /nowhere"),
        (["call.table", "other.table"], "one table only"),
        (["nowhere.table"], "cannot read nowhere.table"),
        (["call.table", "--trace", "/nowhere/t"], "cannot write /nowhere/t"),
        (["call.table", "--timeslice", "0"], "a time slice has to be longer than 0\n"),
        (
            ["call.table", "--hardened", "--fast"],
            "--hardened needs processes, which are not there with --fast\n",
        ),
    ],
)
def test_wrong_usage(workplace: Workplace, arguments: list[str], message: str) -> None:
    result = subprocess.run(
        [*RUNNER, str(workplace.host), *arguments],
        capture_output=True,
        text=True,
        cwd=workplace.folder,
        check=False,
    )
    assert result.returncode == 2
    assert f"camkes-host: {message}" in result.stderr


@pytest.mark.requirement("HOST-23")
def test_usage_is_shown(workplace: Workplace) -> None:
    done = subprocess.run([*RUNNER, str(workplace.host)], capture_output=True, text=True, check=False)
    compare(done.stderr, SCENARIOS / "usage.txt")


def change(old: str, new: str) -> Callable[[str], str]:
    def apply(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return apply


@pytest.mark.requirement("HOST-23")
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (change("camkes-host-table 1", "camkes-host-table 2"), "not a boot table"),
        (change("camkes-host-table 1", ""), "not a boot table"),
        (change("object ep endpoint", "object ep semaphore"), "`semaphore` is not a kind of object"),
        (change("object ep endpoint", "object ep endpoint\nobject ep endpoint"), "two objects ep"),
        (change("object ep endpoint", "object ep"), "fields behind that word"),
        (change("object client tcb", "object client endpoint"), "client is not a tcb"),
        (change("cap 1 ep WP 5", "cap 1 none WP 5"), "no object none"),
        (change("cap 1 ep WP 5", "cap 1 ep WPZ 5"), "`Z` is not a right"),
        (change("cap 1 ep WP 5", "cap x ep WP 5"), "`x` is not a number"),
        (change("cap 1 ep WP 5", "cap 0 ep WP 5"), "slot 0 stays empty"),
        (change("cap 1 ep WP 5", "cap 1 ep WP 5\ncap 1 ep WP 5"), "two capabilities in slot 1"),
        (change("cap 1 ep WP 5", "cap 99999999 ep WP 5"), "too large"),
        (change("control 10 10", "control 256 10"), "256 is too large"),
        (change("space client", "cap 1 ep R 0\nspace client"), "before the first space"),
        (change("space client", "nonsense 1\nspace client"), "`nonsense` is not an item"),
        (change("space client", "timer ep ep 0 0 0\nspace client"), "ep is not a timer"),
        (change("thread server", "thread client"), "two threads client"),
        (change("space client call.so", "space client missing.so"), "missing.so"),
        (change("cap 1 ep WP 5", "cap 1 ep WP 5\nmap nothing ep RW"), "ep is not a region"),
        (
            lambda t: change("cap 1 ep WP 5", "map nothing r RW")(
                change("object ep", "object r region 4096\nobject ep")(t)
            ),
            "no symbol nothing",
        ),
    ],
)
def test_bad_table(workplace: Workplace, damage: Callable[[str], str], message: str) -> None:
    table = workplace.folder / "bad.table"
    table.write_text(damage((SCENARIOS / "call.table").read_text()))
    for mode in ([], ["--fast"]):
        result = workplace.run(table, *mode)
        assert message in result.stderr
        assert result.returncode == 2


@pytest.mark.requirement("HOST-23")
@pytest.mark.parametrize(
    ("symbol", "message"),
    [("char shared[4096] __attribute__((aligned(8192)));",
      "first: shared has 4096 bytes, but the region memory has 8192 (whole pages)"),
     ("char pad[64] __attribute__((aligned(4096))); __asm__(\".globl shared\\n.set shared, pad + 16\");",
      "first: shared does not begin with a page")],
)  # fmt: skip
def test_a_region_needs_whole_pages(workplace: Workplace, symbol: str, message: str) -> None:
    source = workplace.folder / "small.c"
    source.write_text(f"#include <camkes/host.h>\n{symbol}\nvoid _camkes_thread(unsigned i) {{ (void)i; }}\n")
    workplace.compile(source, workplace.folder / "regions.small.so", "-fno-sanitize=all")
    table = workplace.folder / "small.table"
    table.write_text((SCENARIOS / "regions.table").read_text().replace("regions.so", "regions.small.so"))
    result = workplace.run(table)
    assert message in result.stderr and result.returncode == 2


@pytest.mark.requirement("HOST-23")
def test_a_component_that_does_not_load(workplace: Workplace) -> None:
    source = workplace.folder / "unready.c"
    table = workplace.folder / "unready.table"
    table.write_text((SCENARIOS / "call.table").read_text().replace("call.so", "unready.so"))
    cases = {
        "int x;": "no function _camkes_thread",
        "void missing(void); void _camkes_thread(unsigned i) { (void)i; missing(); }": "undefined symbol",
        "#include <sel4/sel4.h>\nvoid _camkes_thread(unsigned i) { (void)i; }\n"
        "__attribute__((constructor)) static void early(void) { seL4_Yield(); }": "before its threads run",
    }
    for text, message in cases.items():
        source.write_text(text + "\n")
        workplace.compile(source, workplace.folder / "unready.so", "-fno-sanitize=all")
        for mode in ([], ["--fast"]):
            result = workplace.run(table, *mode)
            assert message in result.stderr
            assert result.returncode == 2
