# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Systems with all that the templates have code for: methods of all shapes, servers of all kinds, connectors,
primitives, and what budgets and the criticality add."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from camkes import pipeline
from camkes.backends.host.sources import builds_of
from camkes.diagnostics import Sink
from camkes.generate import generate
from camkes.generate.mocks import write_mocks
from camkes.measuring.images import Wanted, write_application
from camkes.measuring.log import parts_of
from camkes.pipeline import Checked, Input
from camkes.project.application import KERNEL_IS_MCS
from camkes.resources import HOST_KERNEL, RUNTIME
from tests.runtime.host import checked, describe, model_of
from tests.runtime.shapes import TYPES_H, Literal, Method, Value, procedure

_SENT = {"int": "3", "uint64_t": "7u", "string": '"in"', "pair_t": "(pair_t){1, 2u}"}
_RECEIVED = {"int": "4", "uint64_t": "8u", "string": '"out"', "pair_t": "(pair_t){3, 4u}"}


def _value(direction: str, kind: str, array: bool) -> Value:
    sent: Literal = [_SENT[kind]] * 2 if array else _SENT[kind]
    received: Literal = [_RECEIVED[kind]] * 3 if array else _RECEIVED[kind]
    return Value("v0", direction, kind, array, sent, received)


def _result(kind: str) -> Value:
    return Value("result", "out", kind, False, _SENT[kind], _RECEIVED[kind])


#: a parameter, or a result, of each shape, and methods with several
SHAPES = (
    *(
        Method(f"{direction}_{kind}{'s' * array}", (_value(direction, kind, array),), None)
        for direction, kind, array in product(("in", "refin", "inout", "out"), _SENT, (False, True))
    ),
    *(Method(f"gives_{kind}", (), _result(kind)) for kind in _SENT),
    *(
        Method(
            f"long_{direction}",
            tuple(Value(f"v{i}", direction, "uint64_t", False, "7u", "8u") for i in range(5)),
            None,
        )
        for direction in ("in", "out", "inout")
    ),
    Method("nothing", (), None),
)
ALL_SHAPES = f"procedure Shapes {{ {procedure(SHAPES)} }}\n"

#: servers of methods of all shapes: by component, the clause, and settings of an instance
SERVERS = {
    "Plain": ("", ""),
    "Locked": (" with priority_protocol inherited, requests ()", ""),
    "Pool": (" with priority_protocol propagated, requests (), 2 threads", ""),
    "Fixed": (" with priority_protocol fixed, requests ()", ""),
    "Sole": (" with priority_protocol fixed, requests ()", "sole.s_priority = 255;"),
}


def _shapes() -> str:
    components = "".join(
        f"component {name} {{ provides Shapes s{clause}; }}\n" for name, (clause, _) in SERVERS.items()
    )
    uses = "".join(f"uses Shapes {name.lower()};" for name in SERVERS)
    instances = "".join(f"component {name} {name.lower()};\n" for name in SERVERS)
    connections = "".join(
        f"connection seL4RPCCall c_{n}(from a.{n}, from b.{n}, to {n}.s);\n" for n in map(str.lower, SERVERS)
    )
    return f"""{ALL_SHAPES}
{components}
component Far {{ provides Shapes s; dataport Buf(8192) space; }}
component Task {{ control; requestor; {uses} }}
component Client {{ control; uses Shapes far; dataport Buf(8192) room; }}
assembly {{
    composition {{
        component Task a; component Task b; {instances} component Client client; component Far far;
        {connections}
        connection seL4SharedData memory(from client.room, to far.space);
        connection seL4RPCCall distant(from client.far, to far.s);
    }}
    configuration {{
        a._priority = 20; a._period = 100 ms; b._priority = 10; b._period = 100 ms; b._offset = 50 ms;
        distant.buffer = "memory"; {"".join(settings for _, settings in SERVERS.values())}
    }}
}}
"""


PRIMITIVES = """
procedure One { int get(); }
procedure Two { int mul(in int a, in int b); void hello(in string s); void names(out string all[]); }
procedure Put { void put(in int n); }
component Source {
    control; uses One one; uses Two two; emits Done done; emits Done many; emits Done native;
    dataport Buf(4096) memory;
    has mutex m; has semaphore s; has binary_semaphore b;
    attribute int n = 3; attribute string text = "t"; attribute int list[] = [1, 2];
    attribute string names[] = ["a", "b"];
}
component Server {
    provides One one; consumes Done done; consumes Done many; consumes Done native; dataport Buf(4096) memory;
}
component Putter { control; requestor; uses One one; uses Put put; emits Done done; }
component Direct { provides One one; }
component Store {
    provides Put put with priority_protocol inherited, monitor items;
    provides One get with priority_protocol inherited, monitor items;
    has condition filled with helpers; has condition emptied;
}
component Sink {
    control; requestor; uses One taken; consumes Done done with helpers; has semaphore s with helpers;
}
assembly {
    composition {
        component Source source; component Server server; component Store store; component Sink sink;
        group pair { component Putter inner; component Direct direct; }
        connection seL4DirectCall d(from pair.inner.one, to pair.direct.one);
        connection seL4RPCCallNoType x(from source.one, from source.two, to server.one);
        connection seL4RPCCall p(from pair.inner.put, to store.put);
        connection seL4RPCCall g(from sink.taken, to store.get);
        connection seL4Notification e(from source.done, to server.done);
        connection seL4NotificationQueue q(from source.many, to server.many);
        connection seL4NotificationNative n(from source.native, to server.native);
        connection seL4Notification h(from pair.inner.done, to sink.done);
        connection seL4SharedData m(from source.memory, to server.memory);
    }
    configuration {
        source._priority = 50; server.one_priority = 50; inner._priority = 20; inner._period = 10 ms;
        sink._priority = 40; sink._period = 10 ms;
    }
}
"""


def _time() -> str:
    policies = ("wait", "help", "extend", "abort", "suspend")
    servers = "".join(
        f"component S{p} {{ provides One one with priority_protocol inherited, requests (), overrun {p}; }}\n"
        for p in policies
    )
    uses = "".join(f"uses One {p};" for p in policies)
    connections = "".join(
        f"component S{p} s{p}; connection seL4RPCCall c{p}(from a.{p}, from b.{p}, to s{p}.one);\n"
        for p in policies
    )
    extensions = "".join(
        f"s{p}.one_extension = 1 ms; s{p}.one_extension_period = 50 ms;\n"
        for p in ("extend", "abort", "suspend")
    )
    return f"""procedure One {{ int get(); }}
{servers}
component Task {{ control; requestor; {uses} }}
component Worker {{ control; requestor; criticality_control; }}
assembly {{
    composition {{
        component Task a; component Task b; component Worker c; component Worker d;
        {connections}
    }}
    configuration {{
        a._priority = 30; a._period = 50 ms; a._budget = 10 ms; a._overrun = "stop";
        b._priority = 20; b._period = 50 ms; b._budget = 10 ms; b._server = "constant_bandwidth";
        c._priority = 10; c._period = 100 ms; c._budget = 5 ms; c._criticality = 1;
        c._overrun = "raise"; c._budget_1 = 9 ms;
        d._priority = 9; d._period = 100 ms; d._budget = 5 ms; d._overrun = "extend";
        d._extension = 5 ms; d._extension_period = 100 ms; d._degraded = "stretch 2";
        {extensions}
    }}
}}
"""


BANDS = """
import <user_scheduler.camkes>;
component Turn { control; requestor; uses UserScheduler band; }
assembly {
    composition {
        component Turn a; component Turn b; component EDFScheduler edf;
        component Turn c; component Turn d; component FairScheduler fair;
        connection seL4UserScheduler one(from a.band, from b.band, to edf.tasks);
        connection seL4UserScheduler two(from c.band, from d.band, to fair.tasks);
    }
    configuration {
        a._period = 100 ms; b._period = 50 ms; edf._priority = 100;
        c._period = 100 ms; d._period = 50 ms; fair._priority = 50;
    }
}
"""


#: by name: the text of a system, and whether the kernel is an MCS kernel
SYSTEMS = {
    "shapes": (_shapes(), False),
    "shapes-mcs": (_shapes(), True),
    "primitives": (PRIMITIVES, False),
    "primitives-mcs": (PRIMITIVES, True),
    "time": (_time(), True),
    "bands": (BANDS, True),
}


@dataclass(frozen=True)
class Code:
    """A file of C code, and how it is compiled."""

    source: Path
    flags: tuple[str, ...]


def flags(mcs: bool, *includes: Path) -> tuple[str, ...]:
    """How code is compiled for the host kernel."""
    folders = (*includes, RUNTIME / "include", HOST_KERNEL / "include")
    kernel = ("-DCONFIG_KERNEL_MCS=1",) if mcs else ()
    return ("-std=gnu11", "-DCAMKES_KERNEL_HOST=1", *kernel, *(f"-I{each}" for each in folders))


def generated(folder: Path, name: str) -> Iterator[Code]:
    """Write the code of one of `SYSTEMS`, and give its sources."""
    _, sources = _of_system(folder, name)
    for source in sources:
        yield Code(source, flags(SYSTEMS[name][1], source.parent, folder))


def _of_system(folder: Path, name: str) -> tuple[Checked, list[Path]]:
    text, mcs = SYSTEMS[name]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "types.h").write_text(TYPES_H)
    sink = Sink()
    found = checked(folder, text, sink, mcs=mcs)
    return found, _generate(found, folder / "out", sink)


def measuring(folder: Path) -> Iterator[Code]:
    """The components of the images that measure."""
    wanted = Wanted("qemu-x86_64", {KERNEL_IS_MCS: "ON"}, samples=1)
    parts = {part.partition("-")[0]: part for part in parts_of(mcs=True)}
    for part in parts.values():
        yield from _measuring(folder / part, part, wanted)


def _measuring(folder: Path, part: str, wanted: Wanted) -> Iterator[Code]:
    write_application(part, wanted, folder)
    sink = Sink()
    found = pipeline.check(Input(folder, definitions=tuple(wanted.all_definitions.items())), sink)
    assert found is not None, describe(sink)
    out = folder / "out"
    _generate(found, out, sink)
    instances = {instance.type.name: instance for instance in found.system.instances}
    for name, build in builds_of(found.application, instances.values(), sink).items():
        for source in build.sources:
            includes, own = build.flags_of(source)
            yield Code(source, (*flags(wanted.mcs, out / name, *includes), *own))


def mocks(folder: Path) -> Iterator[Code]:
    """Mocks of methods of all shapes: of a server, and of a client."""
    found, _ = _of_system(folder, "shapes")
    for instance in found.system.instances:
        if instance.name in ("plain", "a"):
            source = write_mocks(instance.type, folder, folder / "out" / instance.name)
            assert source is not None
            yield Code(source, flags(False, source.parent, folder))


def _generate(found: Checked, out: Path, sink: Sink) -> list[Path]:
    files = generate(found.system, found.plan, model_of(found, sink), out, sink)
    assert not sink.has_errors, describe(sink)
    return [file.path for file in files if file.kind == "source"]
