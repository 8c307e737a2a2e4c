# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What gdb knows of a system on the host kernel; runs in gdb's own Python. `camkes debug` loads it.

Commands: camkes threads, camkes waits, camkes break INSTANCE[.INTERFACE], camkes at TIME, camkes back TIME. A run is
deterministic, so to go back is to run again to an earlier time. Nothing here calls a function of the kernel: gdb
loses a stop whose condition has called something, and on some processors cannot call at all.
"""

import json
import re
import shlex
import subprocess
from pathlib import Path

import gdb

UNITS = {"ns": 1, "us": 1000, "ms": 10**6, "s": 10**9}
#: the kernel's signals for its own use; a component never sees them
OWN_SIGNALS = "SIGPROF SIGALRM SIGUSR1 SIGUSR2 SIGCHLD SIGPIPE SIGTTOU"
#: faults that no signal shows: capabilities, loops, the end of a component
WITHOUT_SIGNAL = (8, 9, 10, 11)
STATES = {
    "THREAD_INACTIVE": "has ended",
    "THREAD_RUNNING": "can run",
    "THREAD_BLOCKED_SEND": "waits to send to",
    "THREAD_BLOCKED_RECV": "waits for a message at",
    "THREAD_BLOCKED_REPLY": "waits for a reply of",
    "THREAD_BLOCKED_NOTIFICATION": "waits for a signal at",
}
FRAMES = 64
#: the kernel's function in which nothing runs until `next`, and what that is if nothing happens any more
IDLE = "idle_until"
FOR_EVER = 2**64 - 1

settings = {"instances": {}, "tools": [], "threads": []}


def kernel():
    """The state of the kernel, None before it is there."""
    try:
        pointer = gdb.parse_and_eval("kernel")
        return pointer.dereference() if int(pointer) else None
    except gdb.error:
        return None


def now():
    state = kernel()
    return None if state is None else int(state["now"])


def running():
    """The thread that runs, None: none does."""
    state = kernel()
    return state["current"].dereference() if state is not None and int(state["current"]) else None


def instance_of(thread):
    return thread["instance"].string() if int(thread["instance"]) else ""


def name_of(thread):
    """As traces and messages call it."""
    number = int(thread["number"])
    names = settings["threads"]
    return names[number] if number < len(names) else str(number)


def time_text(ns):
    unit, size = next(((u, s) for u, s in reversed(UNITS.items()) if ns >= s), ("ns", 1))
    return f"{ns / size:.9f}".rstrip("0").rstrip(".") + f" {unit}"


def parse_time(text):
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(ns|us|ms|s)?", text.strip())
    if match is None:
        raise gdb.GdbError(f"{text!r} is not a valid time; expected 2s, 150ms, 20us or 500ns")
    return round(float(match[1]) * UNITS[match[2] or "s"])


def is_tools(symtab):
    """Whether a file is part of the tool or generated, not the user's."""
    path = symtab.fullname()
    return any(path.startswith(folder) for folder in settings["tools"])


def place_of(pc):
    """File and line of an address in the user's code, "": it is not there."""
    if pc <= 0:
        return ""  # the end of a chain of frames
    found = gdb.find_pc_line(pc)
    if found.symtab is None or is_tools(found.symtab) or not found.line:
        return ""
    return f"{found.symtab.filename.rpartition('/')[2]}:{found.line}"


#: what context_swap() saves above its first eight bytes, see x86_64/context.S; the stack is the caller's after
SAVED = ("rbx", "r12", "r14", "r13", "r15", "rbp", "rip")


def saved_place(thread):
    """Where a thread that does not run is in the user's code: its frames are those of its saved registers."""
    try:
        gdb.newest_frame().select()  # registers are those of the frame that is selected
        if "x86-64" not in gdb.selected_frame().architecture().name():
            return ""
        before = {name: int(gdb.parse_and_eval(f"(unsigned long)${name}")) for name in (*SAVED, "rsp")}
        sp = int(thread["sp"])
        word = gdb.lookup_type("unsigned long").pointer()
        saved = {n: int(gdb.Value(sp + 8 + 8 * k).cast(word).dereference()) for k, n in enumerate(SAVED)}
        try:
            set_registers({**saved, "rsp": sp + 8 + 8 * len(SAVED)})
            return place_of_frames()
        finally:
            set_registers(before)
    except gdb.error:
        return ""


def set_registers(values):
    gdb.newest_frame().select()
    for name, value in values.items():
        gdb.execute(f"set ${name} = {value}", to_string=True)


def place_of_frames():
    """Where the innermost frame of the user's code is, "": there is none."""
    frame = gdb.newest_frame()
    for _ in range(FRAMES):
        if frame is None:
            break
        place = place_of(frame.pc() - (0 if frame.level() == 0 else 1))
        if place:
            return place
        frame = frame.older()
    return ""


def select_user_frame():
    """The innermost frame of the user's code."""
    frame = gdb.newest_frame()
    for _ in range(FRAMES):
        if frame is None:
            return False
        symtab = frame.find_sal().symtab
        if symtab is not None and not is_tools(symtab):
            frame.select()
            return True
        frame = frame.older()
    return False


def idle_until():
    """When something happens again, where nothing runs; else the present."""
    try:
        frame = gdb.newest_frame()
        return int(frame.read_var("next")) if frame.name() == IDLE else now()
    except (gdb.error, ValueError):
        return now()


def at_rest():
    """That nothing executes until a time, or for ever."""
    until = idle_until()
    return "no thread runs" + (f" until {time_text(until)}" if now() < until < FOR_EVER else "")


class When(gdb.Breakpoint):
    """Stops before time passes a certain one, or when a thread uses the kernel at it or later. `thread` is
    a number, None: any."""

    def __init__(self, where, time, thread):
        super().__init__(where, internal=True)
        self.silent = True
        self.time = time
        self.of_thread = thread
        self.where = where
        self.done = False

    def stop(self):
        if self.done:
            return False
        self.done = self.reached()
        return self.done

    def reached(self):
        current = running()
        if self.of_thread is not None and (current is None or int(current["number"]) != self.of_thread):
            return False
        if self.where == "kernel_enter_quietly":
            return now() is not None and now() >= self.time
        if self.where == IDLE:
            return self.time < idle_until()
        try:
            return int(gdb.parse_and_eval("instant")) > self.time
        except (gdb.error, ValueError):
            return False


class InInstance(gdb.Breakpoint):
    """A function of one instance: others of the same component have one of the same name."""

    def __init__(self, function, instance):
        super().__init__(function)
        self.instance = instance

    def stop(self):
        symtab = gdb.newest_frame().find_sal().symtab
        if symtab is None or is_tools(symtab):
            return False  # the kernel has functions of its own
        current = running()
        return current is not None and instance_of(current) == self.instance


class AtFault(gdb.Breakpoint):
    """A fault that is not a signal."""

    def __init__(self):
        super().__init__("fault_raise", internal=True)
        self.silent = True

    def stop(self):
        current = running()
        return current is not None and int(current["fault"]["kind"]) in WITHOUT_SIGNAL


pending = []


def forget_times():
    while pending:
        breakpoint = pending.pop()
        if breakpoint.is_valid():
            breakpoint.delete()


def stop_at(time, thread=None):
    forget_times()
    pending.extend(
        When(where, time, thread) for where in ("kernel_enter_quietly", "clock_pass_to", IDLE)
    )


def on_stop(event):
    """Say where the run is; show the user's code."""
    if any(isinstance(each, When) for each in getattr(event, "breakpoints", ())):
        for each in pending:
            each.done = True
    if isinstance(event, gdb.SignalEvent | gdb.BreakpointEvent) and kernel() is not None:
        current = running()
        who = at_rest() if current is None else f"thread {name_of(current)} of {instance_of(current)}"
        gdb.write(f"at {time_text(now())}: {who}\n")
        if select_user_frame():
            gdb.execute("frame")


def prompt(_current):
    time = now() if gdb.selected_inferior().pid else None
    return "(camkes) " if time is None else f"(camkes {time_text(time)}) "


#: sets a breakpoint at a function of an instance
set_breakpoint = InInstance


class Camkes(gdb.Command):
    """The system that is debugged: camkes threads, waits, break, at, back."""

    def __init__(self):
        super().__init__("camkes", gdb.COMMAND_USER, prefix=True)


class Threads(gdb.Command):
    """Lists the threads: what each waits for, its priority, and where it is."""

    def __init__(self):
        super().__init__("camkes threads", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        state = kernel()
        if state is None or not int(state["thread_count"]):
            raise gdb.GdbError("the system does not run; `run` starts it")
        threads = [state["threads"][number] for number in range(int(state["thread_count"]))]
        servers = {}
        for thread in threads:
            if int(thread["caller"]["kind"]) and int(thread["caller"]["thread"]):
                servers[int(thread["caller"]["thread"]["number"])] = name_of(thread)
        rows = [(name_of(t), str(int(t["priority"])), self.state(t, servers), self.place(t)) for t in threads]
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        for name, priority, what, place in rows:
            line = f"{name:{widths[0]}}  {priority:>{widths[1]}}  {what:{widths[2]}}  {place}"
            gdb.write(line.rstrip() + "\n")

    def state(self, thread, servers):
        current = running()
        if current is not None and int(current["number"]) == int(thread["number"]):
            return "runs"
        if int(thread["fault"]["kind"]):
            return "stopped by a fault"
        word = STATES[str(thread["state"])]
        if word.endswith("of"):
            held = servers.get(int(thread["number"])) or self.object(thread)
            return f"{word} {held}"
        return f"{word} {self.object(thread)}" if word.startswith("waits") else word

    def object(self, thread):
        waits = thread["waits_for"]
        return waits["name"].string() if int(waits) else "a thread"

    def place(self, thread):
        current = running()
        if current is not None and int(current["number"]) == int(thread["number"]):
            return place_of_frames()
        return saved_place(thread)


class Waits(gdb.Command):
    """Lists what threads wait for, which thread has that, and since when; and deadlocks."""

    def __init__(self):
        super().__init__("camkes waits", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        state = kernel()
        if state is None:
            raise gdb.GdbError("the system does not run; `run` starts it")
        written = Path(settings["trace"]).read_bytes()
        pending = gdb.selected_inferior().read_memory(int(state["trace_buffer"]), int(state["trace_used"]))
        Path(settings["so_far"]).write_bytes(written + bytes(pending))
        done = subprocess.run(settings["waits"], capture_output=True, text=True, check=False)
        gdb.write(done.stdout + done.stderr)


class Break(gdb.Command):
    """Stops in an instance: camkes break INSTANCE, or INSTANCE.INTERFACE for the methods of one."""

    def __init__(self):
        super().__init__("camkes break", gdb.COMMAND_BREAKPOINTS)

    def invoke(self, argument, from_tty):
        instances = settings["instances"]
        name = max(
            (each for each in instances if f"{argument}.".startswith(f"{each}.")), key=len, default=None
        )
        if name is None:
            raise gdb.GdbError(f"there is no instance {argument!r}; there are {', '.join(instances)}")
        interface = argument[len(name) + 1 :]
        functions = instances[name]
        if interface and interface not in functions:
            known = ", ".join(each for each in functions if each) or "none"
            raise gdb.GdbError(f"{name} has no interface {interface!r} with methods; it has {known}")
        chosen = functions[interface] if interface else sum(functions.values(), [])
        for function in chosen:
            set_breakpoint(function, name)

    def complete(self, text, word):
        names = [f"{i}.{f}" if f else i for i, functions in settings["instances"].items() for f in functions]
        return [name for name in names if name.startswith(text)]


class At(gdb.Command):
    """Goes on until a virtual time: camkes at 12ms."""

    def __init__(self):
        super().__init__("camkes at", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        time = parse_time(argument)
        if now() is not None and gdb.selected_inferior().pid and now() > time:
            raise gdb.GdbError(f"it is {time_text(now())} already; `camkes back {argument}` runs again")
        if gdb.selected_inferior().pid and now() is not None and running() is None and time < idle_until():
            raise gdb.GdbError(f"it is {time_text(now())}, and {at_rest()}")
        stop_at(time)
        gdb.execute("continue" if gdb.selected_inferior().pid else "run")


class Back(gdb.Command):
    """Runs again, to an earlier virtual time: camkes back 5ms."""

    def __init__(self):
        super().__init__("camkes back", gdb.COMMAND_RUNNING)

    def invoke(self, argument, from_tty):
        time = parse_time(argument)
        if gdb.selected_inferior().pid:
            gdb.execute("kill")
        stop_at(time)
        gdb.execute("run")


def setup(path):
    """Read what `camkes debug` wrote, and set gdb up for the kernel."""
    with open(path, encoding="utf-8") as file:
        settings.update(json.load(file))
    for line in (
        "set confirm off",
        "set pagination off",
        "set breakpoint pending on",
        "set print thread-events off",
        f"handle {OWN_SIGNALS} nostop noprint pass",
    ):
        gdb.execute(line, to_string=True)
    for name, place in settings["sources"]:
        gdb.execute(f"set substitute-path {shlex.quote(name)} {shlex.quote(place)}", to_string=True)
    for command in (Camkes, Threads, Waits, Break, At, Back):
        command()
    gdb.events.stop.connect(on_stop)
    gdb.prompt_hook = prompt
    AtFault()
    for name in settings.get("break", ()):
        gdb.execute(f"camkes break {name}")
    if settings.get("time") is not None:
        stop_at(settings["time"], settings.get("thread"))
