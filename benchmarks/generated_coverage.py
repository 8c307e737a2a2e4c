#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What systems with methods of all shapes execute of the code that the templates generate.

    make coverage               or: CC=gcc-14 .venv/bin/python benchmarks/generated_coverage.py

Many methods have the same lines but for names: a line counts once, with what all places of it execute in all
systems together. `ARGUMENTS` has the lines that are not covered and why; an argument without a gap is an
error, as is a gap without one: then the exit status is 1. Needs GCC 14 or newer (CC) and its gcov.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.runtime_coverage import COUNTING, Count, Line, compiler, measured, why_not
from camkes.capdl.uses import CpiRequest, PlainRequest
from camkes.diagnostics import Sink
from camkes.pipeline import Checked
from camkes.resources import RUNTIME
from tests.runtime.generated import SERVERS, SHAPES, SYSTEMS
from tests.runtime.host import build_found, checked, model_of
from tests.runtime.shapes import HELPERS, TYPES_H, calls, server

#: by lines, with `_` for names and numbers
ARGUMENTS = {
    "if (CAMKES_LIKELY(_ == CAMKES_MESSAGE_GOOD)) {": "the number is in the label, or in a dataport",
}
_NAME = re.compile(
    r'"(?:[^"\\]|\\.)*"|\b(?!camkes_|CAMKES_|seL4_|__atomic|if\b|else\b|return\b|switch\b|case\b)[A-Za-z_]\w*|\b\d\w*'
)


def pattern(line: str) -> str:
    """A line without the names of components, methods and parameters."""
    return _NAME.sub("_", re.sub(r"/\*.*?\*/", "", line)).strip()


def wrapper(folder: Path) -> Path:
    """A compiler that lets generated code count, and images write what was counted."""
    cc, counting = " ".join(compiler()), " ".join(COUNTING)
    path = folder / "cc"
    path.write_text(
        f"""#!/bin/sh
case " $* " in
*" -shared "*) exec {cc} "$@" --coverage -Wl,-u,__gcov_dump ;;
*"/glue.c "* | *"/time.c "*)
    # each system with its own names of files
    for each do shift; case $each in *-prefix-map=*) ;; *) set -- "$@" "$each" ;; esac; done
    exec {cc} "$@" {counting} -O0 ;;
esac
exec {cc} "$@"
"""
    )
    path.chmod(0o755)
    return path


def slots_of(found: Checked, instance: str) -> dict[str, int]:
    """Where the requests of an instance are sent to, by interfaces."""
    return {
        use.interface: slot
        for use, slot in model_of(found, Sink()).slots.items()
        if isinstance(use, PlainRequest | CpiRequest) and use.instance == instance
    }


def run_shapes(folder: Path, name: str) -> None:
    """All methods of all servers, by two tasks; one of them also sends what no method is."""
    text, mcs = SYSTEMS[name]
    folder.mkdir()
    (folder / "types.h").write_text(TYPES_H)
    found = checked(folder, text, Sink(), mcs=mcs)
    slots = slots_of(found, "a")
    names = [each.lower() for each in SERVERS]
    task = HELPERS + "".join(calls(SHAPES, each) for each in names)
    task += "int run(void) { while (camkes_next_job()) { " + "".join(f"{n}__calls(); " for n in names)
    task += "printf(\"done\\n\"); if (get_instance_name()[0] == 'a') { "
    for method in (len(SHAPES), *(n for n, method in enumerate(SHAPES) if method.name == "in_int")):
        label = f"(seL4_Word){method} << 36 | camkes_request_priority() | (seL4_Word)camkes_requestor() << 8"
        task += "".join(f"seL4_Call({slots[n]}, seL4_MessageInfo_new({label}, 0, 0, 0)); " for n in names)
    sources = {each: server(SHAPES, "s") for each in (*SERVERS, "Far")}
    sources["Task"] = task + "} } return 0; }\n"
    sources["Client"] = HELPERS + calls(SHAPES, "far") + FAR
    run = build_found(folder, found, sources).run("--coverage", duration=200_000_000)
    assert run.output == 5 * "done\n", run.output + run.errors


#: and pointers into a dataport
FAR = """
int run(void)
{
    char other;
    dataport_ptr_t last = dataport_wrap_ptr((char *)room + 8191), none = dataport_wrap_ptr(&other);
    need(dataport_unwrap_ptr(last) == (char *)room + 8191, "the last byte");
    need(none.id == -1 && dataport_unwrap_ptr(none) == NULL, "another byte");
    last.offset = 8192;
    need(dataport_unwrap_ptr(last) == NULL, "a byte behind the last one");
    last.id++;
    need(room_unwrap_ptr(&last) == NULL, "another dataport");
    far__calls();
    printf("done\\n");
    return 0;
}
"""

#: a server that refuses what it should not, or fails to reply, and callers that go on nevertheless
ERRORS = """
procedure P {
    int fixed(in int n); void fixed_out(out int n);
    void text(out int n, out string s); void takes(in string s);
}
component Client { control; uses P p; }
component Server { provides P p; }
component Locked { provides P p with priority_protocol inherited, requests (); }
component Task {
    control; requestor; uses P p; consumes Ping ping; consumes Ping pong; emits Ping ring; emits Ping on;
}
assembly {
    composition {
        component Client client; component Server server; component Task task; component Locked locked;
        connection seL4RPCCall c(from client.p, to server.p);
        connection seL4RPCCall d(from task.p, to locked.p);
        connection seL4Notification e(from task.ring, to task.ping);
        connection seL4Notification f(from task.on, to task.pong);
    }
    configuration { task._priority = 10; }
}
"""
SERVER = """
#include <string.h>
static camkes_error_action_t go_on(camkes_error_t *error) { (void)error; return CEA_DISCARD; }
void p__init(void)
{
    (void)p_register_error_handler(go_on);
}
static void refuse(void) { seL4_Reply(seL4_MessageInfo_new(9, 0, 0, 0)); }
int p_fixed(int n) { refuse(); return n; }
void p_fixed_out(int *n) { *n = 7; refuse(); }
void p_text(int *n, char **s) { *n = (int)p_get_sender_id(); *s = NULL; }
void p_takes(const char *s) { printf("%s\\n", s); }
"""
CLIENT = """
static camkes_error_action_t go_on(camkes_error_t *error) { (void)error; return CEA_DISCARD; }
int run(void)
{
    int n = 3;
    char *text = NULL;
    (void)p_register_error_handler(go_on);
    printf("%d\\n", p_fixed(4));
    p_fixed_out(&n);
    printf("%d\\n", n);
    n = 3;
    p_text(&n, &text);
    printf("%d %d\\n", n, text == NULL);
    p_takes(NULL);
    (void)seL4_Call(SLOT, seL4_MessageInfo_new((seL4_Word)4 << 36, 0, 0, 0)); /* no method */
    return 0;
}
"""
TASK = """
void pre_init(void) { }
static void call(void *argument) { (void)argument; (void)p_fixed(1); }
static void send(void *argument) { (void)argument; p_takes("no"); }
int run(void)
{
    ring_emit();
    ping_wait();
    if (ping_poll() != 0 || ping_notification() == 0) { printf("wrong\\n"); }
    (void)ping_reg_callback(call, NULL);
    (void)pong_reg_callback(send, NULL);
    p_takes("yes");
    ring_emit();
    on_emit();
    return 0;
}
"""
LOCKED = """
int p_fixed(int n) { return n; }
void p_fixed_out(int *n) { *n = 7; }
void p_text(int *n, char **s) { *n = 7; *s = NULL; }
void p_takes(const char *s) { printf("%s\\n", s); }
"""


def run_errors(folder: Path) -> None:
    sources = {"Client": CLIENT, "Server": SERVER, "Task": TASK, "Locked": LOCKED}
    found = checked(folder, ERRORS, Sink())
    sources["Client"] = f"#define SLOT {slots_of(found, 'client')['p']}\n" + sources["Client"]
    run = build_found(folder, found, sources).run("--coverage")
    lines = sorted(line for line in run.output.splitlines() if not line.startswith("camkes: "))
    assert lines == ["0", "0", "0 1", "yes"], run.output + run.errors


def collected(folder: Path) -> dict[str, tuple[Line, str]]:
    """What was counted of each line, and an example of it."""
    found: dict[str, tuple[Line, str]] = {}
    for name, lines in measured(folder).items():
        if name.startswith(str(RUNTIME)) or not name.endswith(("/glue.c", "/time.c")):
            continue
        text = Path(name).read_text().splitlines()
        for number, line in lines.items():
            key = pattern(text[number - 1])
            merged, _ = found.setdefault(key, (Line(), f"{name}:{number}: {text[number - 1].strip()}"))
            merged.merge(line)
    return found


def main() -> int:
    reason = why_not()
    if reason:
        print(f"generated_coverage: {reason}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["CC"] = str(wrapper(folder))
        os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
        run_shapes(folder / "shapes", "shapes")
        run_shapes(folder / "shapes-mcs", "shapes-mcs")
        run_errors(folder / "errors")
        found = collected(folder)
    said = []
    for key, (line, example) in sorted(found.items()):
        lacks = ", ".join(line.lacks())
        if lacks and key not in ARGUMENTS:
            said.append(f"{example}: not covered: {lacks}")
    said += [
        f"{key}: covered, in spite of its argument" for key in ARGUMENTS if not any(found[key][0].lacks())
    ]
    lines = [line for line, _ in found.values()]
    counts = [
        sum((count(line) for line in lines), Count(0, 0))
        for count in (Line.count_branches, Line.count_conditions)
    ]
    executed = Count(sum(line.executed for line in lines), len(lines))
    print(f"lines {executed}, branches {counts[0]}, conditions {counts[1]}, argued {len(ARGUMENTS)}")
    for complaint in said:
        print(complaint, file=sys.stderr)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
