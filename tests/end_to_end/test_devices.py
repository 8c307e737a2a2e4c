# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What takes the place of device components of others. Their project has files of the same names, which need
what is not there, and connectors with templates; here these are small ones of our own."""

from __future__ import annotations

import io
import json
import os
import struct
from pathlib import Path

import pytest

from camkes.backends.host.capture import NotACaptureError, from_capture, to_capture
from tests.command import Result, camkes
from tests.written import write_files

pytestmark = pytest.mark.requirement("HOST-21")

WORKSPACE = os.environ.get("SEL4_WORKSPACE", "")

LISTS = """
cmake_minimum_required(VERSION 3.16)
project(station C)
CAmkESAddImportPath(library)
CAmkESAddTemplatesPath(templates)
foreach(name seL4TimeServer seL4SerialServer seL4Ethdriver)
    DeclareCAmkESConnector(${name} FROM from.c TO to.c)
endforeach()
DeclareCAmkESComponent(TimeServer SOURCES of_a_machine.c LIBS of_a_machine)
DeclareCAmkESComponent(Client SOURCES client.c)
DeclareCAmkESRootserver(station.camkes)
"""

SYSTEM = """
import <std_connector.camkes>;
import <TimeServer/TimeServer.camkes>;
import <SerialServer/SerialServer.camkes>;
import <Ethdriver/Ethdriver.camkes>;
connector seL4TimeServer { from Procedures with 0 threads; to Procedure; }
connector seL4SerialServer { from Procedures with 0 threads; to Procedure; }
connector seL4Ethdriver { from Procedures with 0 threads; to Procedure; }
component Client { control; uses Timer timeout; uses PutChar print; uses GetChar input;
    uses Batch batch; uses Ethdriver net; }
assembly {
    composition {
        component Client a;
        component Client b;
        component TimeServer time_server;
        component SerialServer serial;
        component Ethdriver82574 driver;
        component HWEthDriver82574 device;
        connection seL4TimeServer time(from a.timeout, from b.timeout, to time_server.the_timer);
        connection seL4RPCCall print(from a.print, from b.print, to serial.processed_putchar);
        connection seL4SerialServer input(from a.input, from b.input, to serial.getchar);
        connection seL4SerialServer batches(from a.batch, from b.batch, to serial.raw_batch);
        connection seL4Ethdriver network(from a.net, from b.net, to driver.client);
        connection seL4HardwareMMIO registers(from driver.EthDriver, to device.mmio);
        connection seL4HardwareInterrupt interrupts(from device.irq, to driver.irq);
    }
    configuration {
        a._priority = 20;
        b._priority = 10;
        a.net_mac = [2, 0, 0, 0, 0, 10];
        time_server.timers_per_client = 2;
        time_server.irq_irq_vector = 2;
        device.mmio_paddr = 0x1000;
        device.mmio_size = 4096;
        device.irq_irq_number = 3;
    }
}
"""

#: A call has the number of the method, then its parameters. `buf` is shared, `notification` is signalled.
FROM = """
#include <camkes.h>
/*- set name = me.interface.name -*/
/*- set badge = me.parent.from_ends.index(me) + 1 -*/
/*- set endpoint = alloc('service', seL4_EndpointObject, write=True, grantreply=True) -*/
/*- do cap_space.cnode[endpoint].set_badge(badge) -*/
/*- set signal = alloc('signal%d' % badge, seL4_NotificationObject, read=True) -*/
struct { char bytes[4096]; } shared_/*? name ?*/ __attribute__((aligned(4096), used));
/*? register_shared_variable('%s_%d' % (me.parent.name, badge), 'shared_%s' % name, 4096, perm='RW') ?*/
void */*? name ?*/_buf = &shared_/*? name ?*/;
seL4_CPtr /*? name ?*/_notification(void) { return /*? signal ?*/; }
/*- for m in me.interface.type.methods -*/
/*? macros.show_type(m.return_type) if m.return_type else 'void' ?*/ /*? name ?*/_/*? m.name ?*/(
/*- for p in m.parameters -*/
    /*? macros.show_type(p.type) ?*/ /*? '*' if p.direction == 'out' ?*//*? p.name ?*/
    /*? ',' if not loop.last ?*/
/*- endfor -*/
)
{
    seL4_SetMR(0, /*? loop.index0 ?*/);
/*- for p in m.parameters if p.direction == 'in' -*/
    seL4_SetMR(/*? m.parameters.index(p) + 1 ?*/, (seL4_Word)/*? p.name ?*/);
/*- endfor -*/
    seL4_Call(/*? endpoint ?*/, seL4_MessageInfo_new(0, 0, 0, 8));
/*- for p in m.parameters if p.direction == 'out' -*/
    */*? p.name ?*/ = (/*? macros.show_type(p.type) ?*/)seL4_GetMR(/*? m.parameters.index(p) + 1 ?*/);
/*- endfor -*/
/*- if m.return_type -*/
    return (/*? macros.show_type(m.return_type) ?*/)seL4_GetMR(0);
/*- endif -*/
}
/*- endfor -*/
"""

TO = """
#include <camkes.h>
#include <stdbool.h>
#include <string.h>
/*- set name = me.interface.name -*/
/*- set clients = me.parent.from_ends -*/
/*- set endpoint = alloc('service', seL4_EndpointObject, read=True) -*/
/*- if options.realtime -*/
/*- set reply = alloc('reply', seL4_RTReplyObject) -*/
/*- endif -*/
static seL4_Word sender;
seL4_Word /*? name ?*/_get_sender_id(void) { return sender; }
int /*? name ?*/_largest_badge(void) { return /*? len(clients) ?*/; }
unsigned int /*? name ?*/_num_badges(void) { return /*? len(clients) ?*/; }
seL4_Word /*? name ?*/_enumerate_badge(unsigned int n) { return n + 1; }
/*- for c in clients -*/
/*- set shared = 'shared_%s_%d' % (name, loop.index) -*/
struct { char bytes[4096]; } /*? shared ?*/ __attribute__((aligned(4096), used));
/*? register_shared_variable('%s_%d' % (me.parent.name, loop.index), shared, 4096, perm='RW') ?*/
/*- endfor -*/
void */*? name ?*/_buf(seL4_Word badge)
{
/*- for c in clients -*/
    if (badge == /*? loop.index ?*/) { return &shared_/*? name ?*/_/*? loop.index ?*/; }
/*- endfor -*/
    return 0;
}
void /*? name ?*/_emit(unsigned int badge)
{
/*- for c in clients -*/
/*- set signal = alloc('signal%d' % loop.index, seL4_NotificationObject, write=True) -*/
    if (badge == /*? loop.index ?*/) { seL4_Signal(/*? signal ?*/); }
/*- endfor -*/
}
bool /*? name ?*/_has_mac(unsigned int badge) { return badge == 1; }
void /*? name ?*/_get_mac(unsigned int badge, uint8_t *mac)
{
    const uint8_t own[] = {2, 0, 0, 0, 0, 10};
    memcpy(mac, own, sizeof own);
}
/*- for m in me.interface.type.methods -*/
/*? macros.show_type(m.return_type) if m.return_type else 'void' ?*/ /*? name ?*/_/*? m.name ?*/(
/*- for p in m.parameters -*/
    /*? macros.show_type(p.type) ?*/ /*? '*' if p.direction == 'out' ?*//*? p.name ?*/
    /*? ',' if not loop.last ?*/
/*- endfor -*/
);
/*- endfor -*/
int /*? name ?*/__run(void)
{
    /*? generate_seL4_Recv(options, endpoint, '&sender', reply) ?*/;
    for (;;) {
        const seL4_Word method = seL4_GetMR(0);
/*- for m in me.interface.type.methods -*/
        if (method == /*? loop.index0 ?*/) {
/*- for p in m.parameters -*/
            /*? macros.show_type(p.type) ?*/ p/*? loop.index ?*/ =
                (/*? macros.show_type(p.type) ?*/)seL4_GetMR(/*? loop.index ?*/);
/*- endfor -*/
            /*? 'const seL4_Word result = (seL4_Word)' if m.return_type ?*//*? name ?*/_/*? m.name ?*/(
/*- for p in m.parameters -*/
                /*? '&' if p.direction == 'out' ?*/p/*? loop.index ?*//*? ',' if not loop.last ?*/
/*- endfor -*/
            );
/*- if m.return_type -*/
            seL4_SetMR(0, result);
/*- endif -*/
/*- for p in m.parameters -*/
            seL4_SetMR(/*? loop.index ?*/, (seL4_Word)p/*? loop.index ?*/);
/*- endfor -*/
        }
/*- endfor -*/
        seL4_MessageInfo_t answer = seL4_MessageInfo_new(0, 0, 0, 8);
        /*? generate_seL4_ReplyRecv(options, endpoint, 'answer', '&sender', reply) ?*/;
    }
}
"""

BEGINNING = """
#include <camkes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
seL4_CPtr timeout_notification(void);
seL4_CPtr input_notification(void);
seL4_CPtr net_notification(void);
struct ring { uint32_t head, tail; char text[4088]; };
extern volatile struct ring *input_buf, *batch_buf;
extern unsigned char *net_buf;
static int is_a(void) { return get_instance_name()[0] == 'a'; }
__attribute__((unused)) static void say(const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *c = text; *c; c++) { print_putchar(*c); }
}
"""

IDLE = "int run(void) { return is_a(); }"

FILES = {
    "CMakeLists.txt": LISTS,
    "station.camkes": SYSTEM,
    "templates/from.c": FROM,
    "templates/to.c": TO,
    "of_a_machine.c": "#include <not_there.h>\n",
    **{
        f"library/{name}/{name}.camkes": "import <of_a_machine.camkes>;\n"
        for name in ("TimeServer", "SerialServer", "Ethdriver")
    },
    "library/PutChar.idl4": "procedure PutChar { void putchar(in int c); }\n",
    "library/GetChar.idl4": "procedure GetChar { void foo(); }\n",
    "library/Batch.idl4": "procedure Batch { void batch(); }\n",
    "library/VirtQueue/VirtQueue.camkes": "procedure VirtQueueDev {}\n",
    "library/Ethdriver.idl4": """procedure Ethdriver {
    int tx(in int length);
    int rx(out int length);
    void mac(out uint8_t b1, out uint8_t b2, out uint8_t b3, out uint8_t b4, out uint8_t b5, out uint8_t b6);
}
""",
}


@pytest.fixture
def station(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = write_files(tmp_path / "station", {**FILES, "client.c": BEGINNING + IDLE})
    assert camkes("trust", folder).status == 0
    return folder


def run(station: Path, code: str, *more: str | Path) -> Result:
    (station / "client.c").write_text(BEGINNING + code)
    done = camkes("run", station, "-q", "-o", station / "out", *more)
    assert done.status == 0, done.errors
    return done


KINDS = [(), ("-D", "KernelIsMCS=ON"), ("--fast",), ("--sanitize",)]

TIME = """
static void wait(void)
{
    seL4_Wait(timeout_notification(), NULL);
    const unsigned completed = timeout_completed();
    printf("%s: %u at %u us\\n", get_instance_name(), completed, (unsigned)(timeout_time() / 1000));
}
int run(void)
{
    timeout_periodic(0, is_a() ? 2000000 : 3000000);
    timeout_oneshot_relative(1, 5000000);
    wait();
    wait();
    wait();
    timeout_stop(0);
    timeout_oneshot_absolute(1, 1000);
    wait();
    timeout_oneshot_absolute(1, 20000000);
    wait();
    printf("%d %d\\n", timeout_oneshot_relative(2, 1), timeout_periodic(0, 0));
    return 0;
}
"""


@pytest.mark.parametrize("more", KINDS, ids=" ".join)
def test_time_is_virtual(station: Path, more: tuple[str, ...]) -> None:
    """Timers of each client expire at their times, several at once and again; those that are over at once."""
    done = run(station, TIME, *more)
    assert [line for line in done.output.splitlines() if line.startswith("a:")] == [
        "a: 1 at 2000 us",
        "a: 1 at 4000 us",
        "a: 2 at 5000 us",
        "a: 2 at 5000 us",
        "a: 2 at 20000 us",
    ]
    assert [line for line in done.output.splitlines() if line.startswith("b:")] == [
        "b: 1 at 3000 us",
        "b: 2 at 5000 us",
        "b: 1 at 6000 us",
        "b: 2 at 6000 us",
        "b: 2 at 20000 us",
    ]
    assert done.output.count("-1 -1\n") == 2


ECHO = """
int run(void)
{
    char line[100];
    unsigned length = 0;
    say("%s listens", get_instance_name());
    memcpy((char *)batch_buf->text + 4084, "all ", 4);
    memcpy((char *)batch_buf->text, "at once\\n", 8);
    batch_buf->head = 4084;
    batch_buf->tail = 8;
    batch_batch();
    if (batch_buf->head != batch_buf->tail) { say("not printed"); }
    for (;;) {
        while (input_buf->head == input_buf->tail) { seL4_Wait(input_notification(), NULL); }
        const char c = input_buf->text[input_buf->head];
        input_buf->head = (input_buf->head + 1) % sizeof input_buf->text;
        if (c == '\\r') {
            line[length] = 0;
            say("%s: %s at %u us\\n", get_instance_name(), line, (unsigned)(timeout_time() / 1000));
            length = 0;
        } else {
            line[length++] = c;
        }
    }
}
"""


LIES = """
int run(void)
{
    if (!is_a()) {
        while (input_buf->head == input_buf->tail) { seL4_Wait(input_notification(), NULL); }
        say("b has %c\\n", input_buf->text[input_buf->head]);
        return 0;
    }
    batch_buf->head = 4084;
    batch_buf->tail = 0xffffffff;
    batch_batch();
    batch_buf->head = 0xffffffff;
    batch_buf->tail = 0;
    batch_batch();
    input_buf->tail = 0x7fffffff;
    say("a lies\\n");
    return 0;
}
"""


def test_a_client_that_lies_about_its_ring_stops_no_server(station: Path) -> None:
    (station / "input").write_text("one\n@1two\n")
    done = run(station, LIES, "--input", station / "input", "--for", "100ms")
    assert done.output.splitlines() == ["a lies", "b has t"]


@pytest.mark.parametrize("more", KINDS, ids=" ".join)
def test_a_serial_line_is_the_console(station: Path, more: tuple[str, ...]) -> None:
    """Lines are whole whoever prints beside; one that does not end is printed after a while."""
    (station / "input").write_text("one\ntwo\n@1three\n@1@@four\n@0five\n")
    done = run(station, ECHO, "--input", station / "input", "--for", "100ms", *more)
    assert sorted(done.output.splitlines()) == sorted(
        [
            "all at once",
            "all at once",
            "a listensa: one at 347 us",
            "a: two at 694 us",
            "b listensb: three at 1388 us",
            "b: @four at 2170 us",
            "a: five at 2777 us",
        ]
    )
    assert (
        run(station, ECHO, "--for", "100ms", *more).output == "all at once\n" * 2 + "a listens\nb listens\n"
    )


SLOW = """
static void at(uint64_t ms, const char *text)
{
    timeout_oneshot_absolute(0, ms * 1000000);
    seL4_Wait(timeout_notification(), NULL);
    say(text);
}
int run(void)
{
    if (is_a()) {
        at(30, "slow ");
        at(45, "line\\n");
        at(70, "part");
        at(95, "rest\\n");
    }
    return 0;
}
"""


def test_a_line_waits_for_its_end_for_a_while(station: Path) -> None:
    assert run(station, SLOW, "--for", "200ms").output == "slow line\npart\nrest\n"


def test_standard_input_is_read_to_its_end(station: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"one\n")))
    done = run(station, ECHO, "--input", "-", "--for", "10ms")
    assert "a: one at 347 us" in done.output


NET = """
int run(void)
{
    uint8_t mac[6];
    net_mac(mac, mac + 1, mac + 2, mac + 3, mac + 4, mac + 5);
    printf("%s is %d:%d\\n", get_instance_name(), mac[0], mac[5]);
    for (;;) {
        int length;
        if (net_rx(&length) < 0) {
            seL4_Wait(net_notification(), NULL);
            continue;
        }
        printf("%s: %d bytes, %s at %u us\\n", get_instance_name(), length, (char *)net_buf + 14,
               (unsigned)(timeout_time() / 1000));
        memcpy(net_buf, net_buf + 6, 6);
        strcpy((char *)net_buf + 14, "answer");
        if (net_tx(60) != 0 || net_tx(3) == 0) { printf("wrong\\n"); }
    }
}
"""

OTHER = bytes([2, 0, 0, 0, 0, 99])
A, B, ALL = bytes([2, 0, 0, 0, 0, 10]), bytes([2, 0, 0, 0, 0, 2]), b"\xff" * 6


def frame(to: bytes, source: bytes, text: bytes) -> bytes:
    return to + source + b"\x88\xb5" + text.ljust(46, b"\0")


def capture(*frames: tuple[int, bytes], order: str = "<", unit: int = 1000) -> bytes:
    """A file of frames with their times in nanoseconds."""
    magic = 0xA1B2C3D4 if unit == 1000 else 0xA1B23C4D
    result = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, 1)
    for time, data in frames:
        second = 1_000_000_000
        result += (
            struct.pack(f"{order}4I", time // second, time % second // unit, len(data), len(data)) + data
        )
    return result


@pytest.mark.parametrize("more", KINDS, ids=" ".join)
def test_a_network_is_captures(station: Path, more: tuple[str, ...]) -> None:
    """Frames come at their times to the client with their address, or to all; what is sent is written."""
    start = 1_700_000_000_000_000_000
    (station / "in.pcap").write_bytes(
        capture(
            (start, frame(A, OTHER, b"for a")),
            (start + 1_000_000, frame(B, OTHER, b"for b")),
            (start + 2_000_000, frame(OTHER, A, b"for nobody")),
            (start + 3_000_000, frame(ALL, OTHER, b"for all")),
        )
    )
    sent = station / "out.pcap"
    done = run(station, NET, "--network", station / "in.pcap", "--sent", sent, *more)
    assert sorted(done.output.splitlines()) == [
        "a is 2:10",
        "a: 60 bytes, for a at 0 us",
        "a: 60 bytes, for all at 3000 us",
        "b is 2:2",
        "b: 60 bytes, for all at 3000 us",
        "b: 60 bytes, for b at 1000 us",
    ]
    answers = [(0, A), (1_000_000, B), (3_000_000, A), (3_000_000, B)]
    wanted = [(time, frame(OTHER, source, b"answer")) for time, source in answers]
    assert [(time, data[:20]) for time, data in frames_of(sent.read_bytes())] == [
        (time, data[:20]) for time, data in wanted
    ]


def frames_of(data: bytes) -> list[tuple[int, bytes]]:
    place, found = 24, []
    assert struct.unpack_from("<I", data)[0] == 0xA1B23C4D
    while place < len(data):
        seconds, part, length, whole = struct.unpack_from("<4I", data, place)
        assert length == whole
        found.append((seconds * 1_000_000_000 + part, data[place + 16 : place + 16 + length]))
        place += 16 + length
    return found


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("unit", [1, 1000])
def test_all_forms_of_captures_are_read(order: str, unit: int) -> None:
    read = from_capture(capture((7_000, b"x" * 14), (5_000, b"y"), order=order, unit=unit))
    assert frames_of(to_capture(read)) == [(0, b"y"), (2_000, b"x" * 14)]
    assert from_capture(capture(order=order, unit=unit)) == b""


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "not a capture"),
        (b"\x0a\x0d\x0d\x0a" + bytes(40), "not a capture"),
        (capture((0, b"x"))[:-1], "ends within a frame"),
        (capture() + b"12", "ends within a frame"),
        (capture()[:20] + b"\x71\0\0\0", "other than Ethernet"),
    ],
)
def test_damaged_captures_are_refused(data: bytes, why: str) -> None:
    with pytest.raises(NotACaptureError, match=why):
        from_capture(data)


def test_files_that_cannot_be_read_are_reported(station: Path) -> None:
    (station / "bad.pcap").write_bytes(b"text")
    for option, name, words in (
        ("--input", "none", "No such file"),
        ("--network", "none", "No such file"),
        ("--network", "bad.pcap", "it is not a capture in the form pcap"),
    ):
        done = camkes("run", station, "-o", station / "out", option, station / name)
        assert done.status == 1
        assert f"error[E0730]: cannot read {station / name}: {words}" in done.errors


INSTEAD = {
    "time_server": "virtual time",
    "serial": "the console, with the input of `--input`",
    "driver": "the captures of `--network`",
}


def test_each_substitute_is_named(station: Path) -> None:
    """At its line, in the JSON of a run, by `--verify`; nothing is said of what has none."""
    done = camkes("run", station, "--json", "--verify", "-o", station / "out")
    assert done.status == 0, done.errors
    report = json.loads(done.output)
    assert report["substitutes"] == INSTEAD
    assert "devices, which have substitutes (time_server, serial, driver)" in report["not_judged"]
    for name, what in INSTEAD.items():
        assert f"note[N0734]: on the host kernel, `{name}` is {what}: it drives no device" in done.errors
        line = next(n for n, text in enumerate(SYSTEM.splitlines(), 1) if text.endswith(f" {name};"))
        assert f"station.camkes:{line}:" in done.errors
    assert done.errors.count("N0734") == 3
    assert "warning" not in done.errors  # not of settings that are for devices


def test_a_component_of_the_application_is_not_replaced(station: Path) -> None:
    own = "component TimeServer { provides Timer the_timer; attribute int timers_per_client; }\n"
    write_files(station, {"TimeServer/TimeServer.camkes": f"import <Timer.idl4>;\n{own}"})
    system = station / "station.camkes"
    system.write_text(SYSTEM.replace("<TimeServer/TimeServer.camkes>", '"TimeServer/TimeServer.camkes"'))
    done = camkes("check", station)
    assert done.errors.count("N0734") == 2 and "`time_server` is" not in done.errors


def test_a_device_of_the_application_is_still_refused(station: Path) -> None:
    system = station / "station.camkes"
    own = "component Uart { hardware; dataport Buf regs; } component Driver { control; dataport Buf regs; }"
    text = SYSTEM.replace("assembly {", f"{own}\nassembly {{")
    parts = "component Uart uart; component Driver own; "
    connection = "connection seL4HardwareMMIO own_registers(from own.regs, to uart.regs);"
    text = text.replace("composition {", f"composition {{ {parts}{connection}")
    system.write_text(
        text.replace("device.mmio_size", "uart.regs_paddr = 0; uart.regs_size = 4096; device.mmio_size")
    )
    with (station / "CMakeLists.txt").open("a") as lists:
        lists.write("DeclareCAmkESComponent(Driver SOURCES client.c)\n")
    done = camkes("build", station, "-o", station / "out")
    assert done.status == 1
    assert done.errors.count("error[E0651]") == 1
    assert "error[E0651]: connection `own_registers` needs the seL4 kernel" in done.errors


TASK = """
import <std_connector.camkes>;
import <global-connectors.camkes>;
import <TimeServer/TimeServer.camkes>;
component Task { control; requestor; }
assembly {
    composition { component Task task; component TimeServer time_server; }
    configuration {
        task._period = 10 ms; task._wcet = 1 ms; task._priority = 50;
        time_server.priority = 5;
    }
}
"""


def test_verdicts_name_what_was_not_looked_at(tmp_path: Path) -> None:
    """A bound is met only if the device needs no more than its substitute; a search has not looked at it."""
    code = "#include <camkes.h>\nint run(void) { while (camkes_next_job()) {} return 0; }\n"
    names = ("library/TimeServer/TimeServer.camkes", "library/PutChar.idl4")
    library = {name: FILES[name] for name in names}
    write_files(tmp_path, {**library, "system.camkes": TASK, "task.c": code})
    words = (tmp_path / "system.camkes", "-I", tmp_path / "library", "-o", tmp_path / "out")
    done = camkes("analyze", *words, "--json", "--platform", "none")
    assert done.status == 0, done.errors
    report = json.loads(done.output)
    assert report["verdict"] == "met if"
    assert [(each["kind"], each["subject"]) for each in report["assumptions"]] == [("devices", "time_server")]
    assert camkes("analyze", *words, "--strict", "--platform", "none").status == 1
    done = camkes("explore", *words, "--json", "--random", "5")
    assert done.status == 0, done.errors
    left_out = [each for each in json.loads(done.output)["not_searched"] if each["kind"] == "devices"]
    words_of_it = "the code of TimeServer of its project: time_server is virtual time"
    assert [each["subject"] for each in left_out] == [words_of_it]
    assert camkes("explore", *words, "--random", "5", "--strict").status == 1


#: applications of seL4/camkes, options, and what they print
APPLICATIONS = [
    ("timeserver", (), ["Tick"] * 5 + ["BOOM!"]),
    ("serialserver_interrupt", (), ["interruptcli: Hello Serial Server!", "interruptcli: Hello world!"]),
    (
        "serialserver_polling",
        ("--scheduling", "rr"),
        ["pollcli: Hello Serial Server!", "pollcli: Hello world!"],
    ),
]


@pytest.mark.skipif(not WORKSPACE, reason="SEL4_WORKSPACE names no seL4 workspace")
@pytest.mark.parametrize(("name", "more", "lines"), APPLICATIONS, ids=[each[0] for each in APPLICATIONS])
def test_applications_of_a_workspace(
    name: str, more: tuple[str, ...], lines: list[str], tmp_path: Path
) -> None:
    folder = Path(WORKSPACE) / "projects/camkes/apps" / name
    (tmp_path / "input").write_text("Hello world!\n")
    words = ("-q", "--input", tmp_path / "input", "-o", tmp_path / "out", *more)
    done = camkes("run", folder, "--workspace", WORKSPACE, *words)
    assert done.status == 0, done.errors
    assert done.output.splitlines()[: len(lines)] == lines
