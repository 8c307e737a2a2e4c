# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Instructions of paths as `camkes paths` bounds them, beside those that threads execute on seL4.

Builds the image of requests with which `camkes measure --platform` measures, boots it in QEMU, and executes
some of its requests in steps of one instruction, over QEMU's connection for gdb. Each line is a path from one
receive of a thread to the next one, or of the client from a call to its return; the longest that was seen
counts. The exit status is 1 if one is above its bound, or more than 10 % below in an uncontended path; what
handlers do depends on the request.

    SEL4_WORKSPACE=DIR .venv/bin/python benchmarks/paths.py [--machine qemu-aarch64] [--build DIR]
    .venv/bin/python benchmarks/paths.py --sdk FILE -D NAME=VALUE
"""

from __future__ import annotations

import argparse
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from camkes import pipeline
from camkes.backends.sel4.fault_lines import folders_of
from camkes.backends.sel4.workspace import simulator
from camkes.diagnostics import Sink
from camkes.measuring.images import MACHINES, Wanted, write_application
from camkes.measuring.log import REQUESTS
from camkes.paths.blocks import signed, source_name
from camkes.paths.program import LinkedProgram
from camkes.paths.system import CALLS, BoundedPath, PathKind

#: requests of `client`, and which of them is looked at: a further one, and one that finds the lock held
SAMPLES = 4
CALLED = ("plain", "fixed", "propagated", "inherited", "inherited_inherited")
SERVERS = ("plain", "fixed", "propagated", "inherited", "inherited_inherited", "inner", "other")
CONTENDED = ("inherited", "inherited_inherited")
_RECEIVES = ("ReplyRecv", "Recv")
#: bytes of a stack in which a thread stays
_STACK = 8192
#: steps after which a request has not ended
_MOST = 100_000


class Layout(Struct, frozen=True):
    """Where registers are among those that QEMU sends, in words of 8 bytes."""

    pc: int
    stack: int
    number: int
    link: int | None = None


LAYOUTS = {"x86_64": Layout(16, 7, 3), "aarch64": Layout(32, 31, 7, 30)}


class Gdb:
    """The remote protocol of gdb, as much as is needed."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        for _ in range(100):
            try:
                self._socket.connect(str(path))
                break
            except OSError:
                time.sleep(0.1)
        self._rest = b""

    def ask(self, text: str) -> str:
        self._socket.sendall(f"${text}#{sum(text.encode()) % 256:02x}".encode())
        while True:
            begin = self._rest.find(b"$")
            end = self._rest.find(b"#", begin)
            if 0 <= begin < end <= len(self._rest) - 3:
                answer = self._rest[begin + 1 : end].decode()
                self._rest = self._rest[end + 3 :]
                self._socket.sendall(b"+")
                return answer
            part = self._socket.recv(1 << 16)
            if not part:
                raise EOFError
            self._rest += part

    def registers(self) -> list[int]:
        words = bytes.fromhex(self.ask("g")[: 2 * 8 * 33].replace("x", "0"))
        return [int.from_bytes(words[at : at + 8], "little") for at in range(0, len(words), 8)]

    def memory(self, address: int, size: int) -> bytes:
        answer = self.ask(f"m{address:x},{size:x}")
        return b"" if answer.startswith("E") else bytes.fromhex(answer)


class Piece(Struct, frozen=True):
    """What a thread executed from one receive to the next, or the client in its call: instructions by
    functions. `whole`: it was seen from its begin."""

    component: str
    function: str
    instructions: Mapping[str, int]
    whole: bool


class Thread:
    """A thread that executes: where its stack is, and what it has executed since its last receive."""

    def __init__(self, component: str, function: str, stack: int, *, whole: bool) -> None:
        self.component, self.function, self.stack, self.whole = component, function, stack, whole
        self.instructions: dict[str, int] = {}
        self.last = 0

    def execute(self, pc: int, function: str) -> None:
        """An instruction; where an interrupt comes, it is seen twice. None of these paths has one that
        follows itself."""
        if pc != self.last:
            self.instructions[function] = self.instructions.get(function, 0) + 1
        self.last = pc

    def piece(self) -> Piece:
        piece = Piece(self.component, self.function, self.instructions, self.whole)
        self.instructions, self.whole = {}, True
        return piece


class Tracer:
    """Executes requests of the client in steps."""

    def __init__(self, gdb: Gdb, programs: Mapping[str, LinkedProgram]) -> None:
        self._gdb, self._programs = gdb, programs
        self._machine = programs["client"].machine.name
        self._layout = LAYOUTS[self._machine]
        self._kind = 4 if self._machine == "aarch64" else 1  # of a breakpoint
        self._code = b"\x01\x00\x00\xd4" if self._machine == "aarch64" else b"\x0f\x05"  # of a kernel call

    def until(self, function: str) -> list[int]:
        """Execute up to the next call of a function by the client; the registers there."""
        program = self._programs["client"]
        (address,) = program.functions[function]
        code = program.memory(address, 48)
        while True:
            self._gdb.ask("s")  # behind the breakpoint, if it is here
            self._gdb.ask(f"Z0,{address:x},{self._kind}")
            self._gdb.ask("c")
            self._gdb.ask(f"z0,{address:x},{self._kind}")
            if self._gdb.memory(address, len(code)) == code:
                return self._gdb.registers()

    def request(self, registers: list[int]) -> Iterator[Piece]:
        """The pieces of a call, which begins now. A thread that executes for the first time received a
        message, or else, if it waited for a reply, what it executed before is missing."""
        link, at = self._layout.link, self._layout.stack
        back = registers[link] if link is not None else self._word(registers[at])
        threads: list[Thread] = []
        client: Thread | None = None
        thread: Thread | None = None
        for _ in range(_MOST):
            # behind a kernel call, x86_64 has the stack pointer in rbx
            pc, stack = registers[self._layout.pc], registers[at] or registers[1]
            if pc >= 1 << 47:
                thread = None
            elif thread is None:
                component, function = self._place(pc)
                same = (t for t in threads if t.component == component and abs(t.stack - stack) < _STACK)
                thread = next(same, None)
                if thread is None:
                    thread = Thread(
                        component, function, stack, whole=client is None or self._received(pc, registers)
                    )
                    threads.append(thread)
                client = client or thread
            if thread is not None:
                if thread is client and pc == back:
                    yield client.piece()
                    return
                thread.execute(pc, self._function(thread.component, pc))
                called = CALLS.get(signed(registers[self._layout.number], 64))
                if called in _RECEIVES and self._gdb.memory(pc, len(self._code)) == self._code:
                    yield thread.piece()
            self._gdb.ask("s")
            registers = self._gdb.registers()
        raise SystemExit("a request has not ended")

    def _received(self, pc: int, registers: list[int]) -> bool:
        """Whether what a thread executes here follows a receive: the kernel keeps the number of the call."""
        size = len(self._code)
        called = CALLS.get(signed(registers[self._layout.number], 64))
        return called in _RECEIVES and self._gdb.memory(pc - size, size) == self._code

    def _word(self, address: int) -> int:
        return int.from_bytes(self._gdb.memory(address, 8), "little")

    def _place(self, pc: int) -> tuple[str, str]:
        """The component and the function that execute."""
        code = self._gdb.memory(pc, 64)
        name = next((name for name, p in self._programs.items() if p.memory(pc, 64) == code), "")
        return name, self._function(name, pc)

    def _function(self, component: str, pc: int) -> str:
        if not component:
            return ""
        program = self._programs[component]
        return source_name(program.names.get(max((a for a in program.names if a <= pc), default=pc), ""))


class Compared(Struct, frozen=True):
    """A path with its bound, and the most instructions that it was seen to execute."""

    path: str
    contended: bool
    bound: int
    most: int

    @property
    def good(self) -> bool:
        return self.most <= self.bound and (self.contended or 10 * self.most >= 9 * self.bound)


def compared(
    pieces: list[Piece], found: Sequence[BoundedPath], request: str, *, contended: bool
) -> Iterator[Compared]:
    """The pieces of one request of the client."""
    bounds = {(b.of.instance, b.of.kind, b.of.name): b.bound for b in found if b.bound is not None}
    for piece in pieces:
        if not piece.whole:
            continue
        name, everything = piece.component, sum(piece.instructions.values())
        if name == "client":
            bound = bounds[name, PathKind.REQUEST, f"{request}.now"]
            yield Compared(f"request {request}.now", contended, bound.instructions, everything)
        elif piece.function == "camkes_manage_cpi":
            bound = bounds[name, PathKind.MANAGER, ""]
            yield Compared(f"manager of {name}.p", True, bound.instructions, everything)
        else:
            kind = PathKind.CONTENDED if contended else PathKind.REPLY
            reply = bounds[name, kind, "p.now"]
            own = sum(count for function, count in piece.instructions.items() if function in reply.functions)
            yield Compared(f"{kind} of {name}.p", contended, reply.instructions, own)
            # what a handler does depends on its argument
            handler = bounds[name, PathKind.HANDLER, "p.now"]
            yield Compared(f"handler of {name}.p", True, handler.instructions, everything - own)


def traces(out: Path, programs: Mapping[str, LinkedProgram]) -> Iterator[tuple[str, bool, list[Piece]]]:
    """Requests of the client, whether each finds the lock held, and their pieces."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "gdb"
        with simulator(out, f"-S -gdb unix:{path},server,nowait"):
            tracer = Tracer(Gdb(path), programs)
            for request in CALLED:
                for _ in range(SAMPLES - 1):
                    registers = tracer.until(f"{request}_now")
                yield request, False, list(tracer.request(registers))
            for request in CONTENDED:
                tracer.until(f"{request}_held_wait")
                for _ in range(2):
                    registers = tracer.until(f"{request}_now")
                yield request, True, list(tracer.request(registers))


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    machines = [name for name in ("qemu-x86_64", "qemu-aarch64") if name in MACHINES]
    parser.add_argument("--machine", choices=machines, default=machines[0])
    parser.add_argument("--build", type=Path, default=Path("build/paths"), help="folder for builds")
    parser.add_argument("--sdk", type=Path, help="in place of a workspace")
    parser.add_argument("-D", dest="more", action="append", default=[], metavar="NAME=VALUE")
    arguments = parser.parse_args()
    sink = Sink()
    folder = (arguments.build / arguments.machine).absolute()
    application = folder / "requests"
    more = dict(each.split("=", 1) for each in arguments.more)
    flags = f"-g {more.pop('CMAKE_C_FLAGS', '')}".strip()
    wanted = Wanted(arguments.machine, {**more, "CMAKE_C_FLAGS": flags}, samples=SAMPLES)
    write_application(REQUESTS, wanted, application)
    asked = pipeline.Input(
        path=application, definitions=tuple(wanted.all_definitions.items()), sdk=arguments.sdk
    )
    rows: dict[tuple[str, bool], Compared] = {}
    with pipeline.built_for_sel4(asked, None, folder / "build", sink, _say) as out:
        found = None if out is None else pipeline.paths_of_build(out, asked, {}, sink)
        if out is None or found is None:
            sys.exit("\n".join(diagnostic.message for diagnostic in sink.diagnostics))
        folders = folders_of(out)
        programs = {name: LinkedProgram(out / f"{name}.elf", folders) for name in ("client", *SERVERS)}
        for request, contended, pieces in traces(out, programs):
            for row in compared(pieces, found.paths, request, contended=contended):
                before = rows.get((row.path, contended))
                if before is None or before.most < row.most:
                    rows[row.path, contended] = row
    print("| path | lock | bound | counted |\n|---|---|---|---|")
    for (path, contended), row in rows.items():
        print(f"| {path} | {'held' if contended else 'free'} | {row.bound} | {row.most} |")
    return 0 if all(row.good for row in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
