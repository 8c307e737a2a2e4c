# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What gdb knows of a system on seL4 in QEMU; runs in gdb's own Python. `camkes debug --kernel sel4` loads
it.

gdb sees one processor, and components have the same addresses. So a breakpoint is one of the processor, and
its stop is asked which component runs: that is read from the table that each image has in its memory. When
gdb stops, it gets the symbols of what runs there. Threads are those of the kernel's own list, by its symbols.
"""

import json
import re
import shlex
import struct
from contextlib import contextmanager, nullcontext
from pathlib import Path

import camkes_gdb as common
import gdb

settings = {"images": {}, "kernel": ""}
images = {}

#: the kernel's states of threads, in words
STATES = {
    "ThreadState_Inactive": "is suspended, or has ended",
    "ThreadState_Running": "can run",
    "ThreadState_Restart": "can run",
    "ThreadState_BlockedOnReceive": "waits for a message",
    "ThreadState_BlockedOnSend": "waits to send",
    "ThreadState_BlockedOnReply": "waits for a reply",
    "ThreadState_BlockedOnNotification": "waits for a signal",
    "ThreadState_RunningVM": "runs a guest",
    "ThreadState_IdleThreadState": "runs when no other can",
}
#: of a word of the kernel's bit fields: the state of a thread, and the kind of its fault
KIND = 0xF
MOST_THREADS = 10_000
#: of an entry in a page table of x86: whether there is one, whether it is a large page, where that is
PRESENT, LARGE, FRAME = 1, 1 << 7, 0x000F_FFFF_FFFF_F000


class Image:
    """The program of an address space. `table` is where it has its own name."""

    def __init__(self, name, file):
        self.name, self.file = name, file
        use(file)
        self.table = int(gdb.parse_and_eval("&camkes_sel4_image"))
        self.word = gdb.lookup_type("long").sizeof
        known = gdb.parse_and_eval("camkes_sel4_image")
        records = [known["threads"][number] for number in range(int(known["thread_count"]))]
        self.handles_faults = any(int(each["fault_handler"]) for each in records)
        #: names of its threads by the addresses of their IPC buffers, which the kernel knows, too
        self.threads = {int(each["ipc_buffer"]): each["name"].string() for each in records}

    def runs(self):
        """Whether the processor is in this address space."""
        memory = gdb.selected_inferior()
        try:
            pointer = int.from_bytes(memory.read_memory(self.table, self.word).tobytes(), "little")
            expected = self.name.encode() + b"\0"
            return memory.read_memory(pointer, len(expected)).tobytes() == expected
        except gdb.error:
            return False  # not mapped

    def places(self, function):
        """Where the code of a function begins, after it has set up its frame."""
        use(self.file)
        # in memory may be another program, or nothing yet
        gdb.execute("set trust-readonly-sections on")
        gdb.execute(f"tbreak {function}", to_string=True)
        found = gdb.breakpoints()[-1]
        listed = gdb.execute(f"info breakpoints {found.number}", to_string=True)
        found.delete()
        gdb.execute("set trust-readonly-sections off")
        return [int(word, 16) for word in listed.split() if word.startswith("0x")]


def use(file):
    """Take the symbols of a program."""
    gdb.execute(f"file {file}", to_string=True)


def running():
    """The image that runs, None: the kernel, the loader, or before they are there."""
    return next((image for image in images.values() if image.runs()), None)


class InImage(gdb.Breakpoint):
    """A place in the program of one address space."""

    def __init__(self, address, image):
        super().__init__(f"*{address:#x}", type=gdb.BP_HARDWARE_BREAKPOINT)
        self.image = image
        self.silent = True  # gdb would name the place by the symbols of the last stop

    def stop(self):
        return self.image.runs()


class AtFault(InImage):
    """Where the fault handler of an address space has the registers of a thread that cannot go on."""


#: of seL4_UserContext, where gdb has other names
REGISTERS = {"rflags": "eflags", "spsr": "cpsr"}
#: what lets the processor go on: before it, registers are those of the thread that runs
MOVING = ("continue", "step", "next", "stepi", "nexti", "finish", "until", "advance")
#: those of the fault handler, while gdb shows the thread that cannot go on
kept = {}


def show_fault():
    """Show the thread of a fault as if it were the one that runs: it is in the same address space."""
    name = gdb.parse_and_eval("thread->name").string()
    found = gdb.parse_and_eval("*registers")
    for field in found.type.fields():
        register = REGISTERS.get(field.name, field.name)
        value = int(found[field.name]) % (1 << 8 * field.type.sizeof)
        try:
            kept[register] = int(gdb.parse_and_eval(f"(unsigned long)${register}"))
            gdb.execute(f"set ${register} = {value}", to_string=True)
        except gdb.error:
            kept.pop(register, None)  # it is not shown
    gdb.write(f"thread {name} stopped at a fault\n")


def leave_fault():
    """The processor goes on with what it was at."""
    for register, value in kept.items():
        gdb.execute(f"set ${register} = {value}", to_string=True)
    kept.clear()


def stop_in(function, instance):
    image = images[settings["spaces"][instance]]
    for address in image.places(function):
        InImage(address, image)


def physical(address):
    """Where QEMU has an address of the kernel's program, a file of 64 bits."""
    data = Path(settings["kernel"]).read_bytes()
    begin, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    for number in range(count):
        at = begin + 56 * number
        kind = struct.unpack_from("<I", data, at)[0]
        start, place, _, size = struct.unpack_from("<4Q", data, at + 16)
        if kind == 1 and start <= address < start + size:
            return place + address - start
    raise gdb.GdbError(f"{address:#x} is not in the kernel's program")


@contextmanager
def physical_memory():
    """While it lasts, addresses are those of the machine's memory: QEMU can show that."""
    packet = "maintenance packet Qqemu.PhyMemMode:{}"
    gdb.execute(packet.format(1), to_string=True)
    gdb.execute("maintenance flush dcache", to_string=True)
    try:
        yield
    finally:
        gdb.execute(packet.format(0), to_string=True)
        gdb.execute("maintenance flush dcache", to_string=True)


def page_table():
    """Where the kernel's own page table is in the memory of an x86 of 64 bits. There the page tables of
    components lack most of the kernel (KernelSkimWindow). None: another machine, where they have it."""
    try:
        return physical(int(gdb.parse_and_eval("(unsigned long)&x64KSKernelPML4")))
    except gdb.error:
        return None


def place_in_memory(table, address):
    """Where an address is in the memory of the machine, by the four levels of a page table of x86."""
    for shift in (39, 30, 21, 12):
        entry = table + 8 * (address >> shift & 0x1FF)
        word = int.from_bytes(gdb.selected_inferior().read_memory(entry, 8).tobytes(), "little")
        if not word & PRESENT:
            raise gdb.GdbError(f"the kernel has nothing at {address:#x}")
        table = word & FRAME
        if shift == 12 or (shift < 39 and word & LARGE):
            break
    return (table & -(1 << shift)) + (address & ((1 << shift) - 1))


class KernelMemory:
    """What the kernel has in its memory, by its symbols. Read in `physical_memory` where it has a `table`."""

    def __init__(self, table):
        self.table = table

    def value(self, address, type):
        """What is at an address, which does not cross a page."""
        address %= 1 << 64
        place = address if self.table is None else place_in_memory(self.table, address)
        return gdb.Value(gdb.selected_inferior().read_memory(place, type.sizeof).tobytes(), type)

    def variable(self, name):
        symbol = gdb.parse_and_eval(f"&{name}")
        return self.value(int(symbol), symbol.type.target())

    def tcb(self, address):
        return self.value(address, gdb.lookup_type("tcb_t"))

    def debug_part(self, address):
        """What a debug kernel has of a thread, and its name: this lies between the thread's capabilities and
        the thread itself, which has an address that is an odd multiple of the size of both halves."""
        try:
            entries = int(gdb.parse_and_eval("(int)tcbArchCNodeEntries"))
        except gdb.error:
            entries = int(gdb.parse_and_eval("(int)tcbCNodeEntries"))
        begin = address - (address & -address) + entries * gdb.lookup_type("cte_t").sizeof
        part = gdb.lookup_type("debug_tcb_t")
        letters = gdb.lookup_type("char").array(address - begin - part.sizeof - 1)
        name = bytes(int(each) & 0xFF for each in values(self.value(begin + part.sizeof, letters)))
        return self.value(begin, part), name.partition(b"\0")[0].decode(errors="replace")

    def threads(self):
        """The addresses of all threads of a debug kernel with their names, and true; of others those that run
        or can run, and false: no list has the rest."""
        current = int(self.variable("ksCurThread"))
        if not current:
            raise gdb.GdbError("the kernel has not started yet; `continue` starts it")
        found = {}
        if gdb.lookup_global_symbol("ksDebugTCBs") is None:
            found[current] = ""
            queue = gdb.lookup_type("tcb_queue_t")
            symbol = gdb.parse_and_eval("&ksReadyQueues")
            for number in range(symbol.type.target().sizeof // queue.sizeof):
                following = int(self.value(int(symbol) + number * queue.sizeof, queue)["head"])
                while following and len(found) < MOST_THREADS:
                    found[following] = ""
                    following = int(self.tcb(following)["tcbSchedNext"])
            return found, False
        following = int(self.variable("ksDebugTCBs"))
        while following and len(found) < MOST_THREADS:
            part, found[following] = self.debug_part(following)
            following = int(part["tcbDebugNext"])
        return found, True


def values(array):
    first, last = array.type.range()
    return [array[number] for number in range(first, last + 1)]


def plain(name):
    """A name as the loader's tables have it, which know few characters."""
    return re.sub(r"[^\w@]", "-", name)


def owner(buffer, called):
    """The image and the name of a thread, by the address of its IPC buffer and by what a debug kernel calls
    it ("": unknown). The name has all possible ones where several have the address; without an image it is none
    of a component."""
    having = [(image, image.threads[buffer]) for image in images.values() if buffer in image.threads]
    exactly = [(image, name) for image, name in having if plain(name) == plain(called)]
    if len(exactly) == 1 or (len(having) == 1 and not called):
        return (exactly or having)[0]
    if called or not having:
        return None, called or "a thread of the kernel or of the loader"
    return None, " or ".join(name for _, name in having)


def state_of(thread, is_current):
    if int(thread["tcbFault"]["words"][0]) & KIND:
        return "stopped by a fault"
    number = int(thread["tcbState"]["words"][0]) & KIND
    fields = gdb.lookup_type("enum _thread_state").fields()
    name = next((field.name for field in fields if field.enumval == number), "")
    return "runs" if is_current and name == "ThreadState_Running" else STATES.get(name, f"state {number}")


def program_counter(thread):
    registers = thread["tcbArch"]["tcbContext"]["registers"]
    return int(registers[int(gdb.parse_and_eval("(int)FaultIP"))])


def place_of(pc):
    """The line of an address by the symbols that gdb has, and the function. Of what is inlined, as system
    calls are, the function into which it is."""
    functions = []
    block = gdb.block_for_pc(pc)
    while block is not None and not block.is_static and not block.is_global:
        functions += [block.function.name] if block.function is not None else []
        block = block.superblock
    found = gdb.find_pc_line(pc)
    if len(functions) > 1 or (functions and (found.symtab is None or not found.line)):
        return f"in {functions[-1]}()"
    if found.symtab is None or not found.line:
        return f"at {pc:#x}"
    where = f"{found.symtab.filename.rpartition('/')[2]}:{found.line}"
    return f"{where} in {functions[0]}()" if functions else where


class Threads(gdb.Command):
    """Lists the threads: the state of each, its priority, and the line where it is."""

    def __init__(self):
        super().__init__("camkes threads", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        here = running()
        self.pc = kept.get("rip", kept.get("pc", int(gdb.newest_frame().pc())))
        use(settings["kernel"])
        try:
            table = page_table()
            with nullcontext() if table is None else physical_memory():
                read, complete = self.read(here, KernelMemory(table))
            rows = self.rows(read)
        except gdb.MemoryError:
            raise gdb.GdbError("the memory of the kernel cannot be read here") from None
        finally:
            use(here.file if here is not None else settings["kernel"])
        widths = [max(len(row[column]) for row in rows) for column in range(3)]
        for name, priority, what, place in rows:
            line = f"{name:{widths[0]}}  {priority:>{widths[1]}}  {what:{widths[2]}}  {place}"
            gdb.write(line.rstrip() + "\n")
        if not complete:
            gdb.write("threads that wait are not listed: only a debug kernel has a list of all\n")

    def read(self, here, kernel):
        """Image, name, priority, state and program counter of each thread, from the kernel's memory."""
        found, complete = kernel.threads()
        current = int(kernel.variable("ksCurThread"))
        read = []
        for address, called in found.items():
            thread = kernel.tcb(address)
            image, name = owner(int(thread["tcbIPCBuffer"]), called)
            pc = program_counter(thread)
            if address == current and image is not None and image is here:
                pc = self.pc  # the kernel has that of its last entry
            read.append(
                (image, name, str(int(thread["tcbPriority"])), state_of(thread, address == current), pc)
            )
        return read, complete

    def rows(self, read):
        """Name, priority, state and place of each thread, the places by the symbols of each component."""
        rows = []
        for image, name, priority, state, pc in sorted(read, key=lambda row: (row[0] is None, row[1])):
            if image is not None:
                use(image.file)
            rows.append((name, priority, state, place_of(pc) if image is not None else ""))
        return rows


def on_stop(_event):
    """Say where the processor is, and show the code."""
    image = running()
    use(image.file if image is not None else settings["kernel"])
    gdb.write("in the kernel\n" if image is None else f"in component {image.name}\n")
    if any(isinstance(each, AtFault) for each in getattr(_event, "breakpoints", ())):
        show_fault()
        gdb.execute("backtrace")
    gdb.execute("frame")


def setup(path):
    """Read what `camkes debug` wrote, and connect to QEMU."""
    with open(path, encoding="utf-8") as file:
        settings.update(json.load(file))
    common.settings["instances"] = settings["instances"]
    common.set_breakpoint = stop_in
    for line in ("set confirm off", "set pagination off"):
        gdb.execute(line, to_string=True)
    for name, place in settings["sources"]:
        gdb.execute(f"set substitute-path {shlex.quote(name)} {shlex.quote(place)}", to_string=True)
    for name, program in settings["images"].items():
        images[name] = Image(name, program)
    common.Camkes()
    common.Break()
    Threads()
    use(settings["kernel"])
    gdb.execute(f"target remote {settings['socket']}", to_string=True)
    gdb.events.stop.connect(on_stop)
    for image in images.values():
        for address in image.places("camkes_sel4_at_fault") if image.handles_faults else ():
            AtFault(address, image)
    use(settings["kernel"])
    if hasattr(gdb.events, "gdb_exiting"):  # from gdb 12 on
        gdb.events.gdb_exiting.connect(lambda _event: leave_fault())
    for command in MOVING:
        gdb.execute(f"define hook-{command}\npython import camkes_sel4_gdb as c; c.leave_fault()\nend")
    gdb.prompt_hook = lambda _current: "(camkes seL4) "
    for name in settings["break"]:
        gdb.execute(f"camkes break {name}")
