# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What gdb knows of a system on seL4 in QEMU; runs in gdb's own Python. `camkes debug --kernel sel4` loads
it.

gdb sees one processor, and components have the same addresses. So a breakpoint is one of the processor, and
its stop is asked which component runs: that is read from the table that each image has in its memory. When
gdb stops, it gets the symbols of what runs there.
"""

import json

import camkes_gdb as common
import gdb

settings = {"images": {}, "kernel": ""}
images = {}


class Image:
    """The program of an address space. `table` is where it has its own name."""

    def __init__(self, name, file):
        self.name, self.file = name, file
        use(file)
        self.table = int(gdb.parse_and_eval("&camkes_sel4_image"))
        self.word = gdb.lookup_type("long").sizeof

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


def stop_in(function, instance):
    image = images[settings["spaces"][instance]]
    for address in image.places(function):
        InImage(address, image)


def on_stop(_event):
    """Say where the processor is, and show the code."""
    image = running()
    use(image.file if image is not None else settings["kernel"])
    gdb.write("in the kernel\n" if image is None else f"in component {image.name}\n")
    gdb.execute("frame")


def setup(path):
    """Read what `camkes debug` wrote, and connect to QEMU."""
    with open(path, encoding="utf-8") as file:
        settings.update(json.load(file))
    common.settings["instances"] = settings["instances"]
    common.set_breakpoint = stop_in
    for line in ("set confirm off", "set pagination off"):
        gdb.execute(line, to_string=True)
    for name, program in settings["images"].items():
        images[name] = Image(name, program)
    common.Camkes()
    common.Break()
    use(settings["kernel"])
    gdb.execute(f"target remote {settings['socket']}", to_string=True)
    gdb.events.stop.connect(on_stop)
    gdb.prompt_hook = lambda _current: "(camkes seL4) "
    for name in settings["break"]:
        gdb.execute(f"camkes break {name}")
