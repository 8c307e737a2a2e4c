# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The kinds of mistakes that resolving finds, each with the page that `camkes explain` prints.

E02xx: files and names. E03xx: connections and real-time words. E04xx: settings and attributes.
W0x5x: what is accepted, and surely a mistake.
"""

from __future__ import annotations

from camkes.diagnostics import Code


def _code(number: str, name: str, what: str, fails: str, right: str, after: str = "") -> Code:
    """A code whose page says what is wrong and why, shows text that fails, and the same text put right."""
    verb = "This fails" if number[0] == "E" else "This is warned about"
    page = f"{what}\n{verb}:\n\n```camkes\n{fails}```\n\nPut right:\n\n```camkes\n{right}```\n{after}"
    return Code(number, name, page)


# Files

IMPORT_NOT_FOUND = _code(
    "E0201",
    "import-not-found",
    """\
The file that an import names is not there.

`import "file";` looks beside the importing file. `import <file>;` looks in each folder of the import path
(`--import-path`, or `CAmkESAddImportPath` in CMake) and then among the files that come with the tool. The
notes of the message list every place that was tried.
""",
    """\
import <std_connectors.camkes>;
""",
    """\
import <std_connector.camkes>;
""",
)

# Names

UNKNOWN_NAME = _code(
    "E0203",
    "unknown-name",
    """\
A procedure, component, connector or struct is used that no file defines.

Each kind of definition has names of its own: a procedure is not found under the name of a component. A
definition in another file counts only if that file is imported.
""",
    """\
procedure Adder { int add(in int a, in int b); }
component Client { control; uses Ader a; }
""",
    """\
procedure Adder { int add(in int a, in int b); }
component Client { control; uses Adder a; }
""",
)
USED_BEFORE_DEFINED = _code(
    "E0204",
    "used-before-defined",
    """\
A name is used above the line that defines it.

A file is read from top to bottom, an import standing for the text it imports, and a definition comes before
its first use. `--allow-forward-references` lifts the rule for a whole run.
""",
    """\
component Client { control; uses Adder a; }
procedure Adder { int add(in int a, in int b); }
""",
    """\
procedure Adder { int add(in int a, in int b); }
component Client { control; uses Adder a; }
""",
)
DUPLICATE_NAME = _code(
    "E0205",
    "duplicate-name",
    """\
Two things that share a space of names have the same one, so the name would mean either.

Definitions of one kind share a space over all files. So do the members of a component (interfaces, locks and
attributes), the instances and connections of a composition, the methods of a procedure, and the parameters
of a method.
""",
    """\
component Echo { provides Ping p; consumes Ready p; }
""",
    """\
component Echo { provides Ping p; consumes Ready r; }
""",
)
CONTAINS_ITSELF = _code(
    "E0206",
    "contains-itself",
    """\
A definition contains itself, directly or through others, so it would have no end.
""",
    """\
component Tree { composition { component Tree left; } }
""",
    """\
component Leaf { }
component Tree { composition { component Leaf left; } }
""",
)
TOO_DEEP = _code(
    "E0207",
    "too-deep",
    """\
The system is deeper or larger than any real one: definitions lead through more than 100 others, or there
are more than 100,000 instances. Most often components that contain two of each other multiply.
""",
    """\
component A { composition { component B x; component B y; } }   // and so on, a hundred times
""",
    """\
component A { composition { component B x; } }
""",
)
KEYWORD_NAME = _code(
    "E0208",
    "keyword-name",
    """\
A name that becomes a name in the generated C code is a word that C keeps for itself.

This concerns methods, parameters, attributes, members of structs and settings.
""",
    """\
procedure Lamp { void switch(in int on); }
""",
    """\
procedure Lamp { void toggle(in int on); }
""",
)

# Assemblies and components

NO_ASSEMBLY = _code(
    "E0209",
    "no-assembly",
    """\
The file, with all its imports, has no assembly, so it describes no system. The file to build or check is the
one with the assembly; files that only define components are imported by it.
""",
    """\
component Echo { control; }
""",
    """\
component Echo { control; }
assembly { composition { component Echo echo; } }
""",
)
NO_INSTANCES = _code(
    "E0210",
    "no-instances",
    """\
The assembly has no instances: there is nothing to run.
""",
    """\
assembly { composition { } }
""",
    """\
assembly { composition { component Echo echo; } }
""",
)
ASSEMBLY_BLOCKS = _code(
    "E0211",
    "assembly-blocks",
    """\
An assembly has exactly one composition, and at most one configuration and one schedule.
""",
    """\
assembly {
    composition { component Echo a; }
    composition { component Echo b; }
}
""",
    """\
assembly {
    composition { component Echo a; component Echo b; }
}
""",
)
COMPOSITION_REFERENCE = _code(
    "E0212",
    "composition-reference",
    """\
The composition of an assembly is written out. The name of a composition cannot stand for it.
""",
    """\
composition Parts { component Echo echo; }
assembly { composition Parts; }
""",
    """\
assembly { composition { component Echo echo; } }
""",
)
BAD_EXPORT = _code(
    "E0213",
    "bad-export",
    """\
An export is not possible as it is written.

`export part.interface -> own;` stands in the composition of a component. It makes `own`, an interface that
the component declares, stand for an interface of one of its parts. An assembly has no interfaces, so it
cannot export any.
""",
    """\
component Box {
    provides Ping p;
    composition { component Echo echo; export echo -> p; }
}
""",
    """\
component Box {
    provides Ping p;
    composition { component Echo echo; export echo.p -> p; }
}
""",
)
HARDWARE_COMPONENT = _code(
    "E0214",
    "hardware-component",
    """\
A component with `hardware;` stands for a device. It has no code, so it cannot have a control thread, a mutex
or a semaphore.
""",
    """\
component Uart { hardware; control; dataport Buf regs; }
""",
    """\
component Uart { hardware; dataport Buf regs; }
""",
)
EMPTY_STRUCT = _code(
    "E0215",
    "empty-struct",
    """\
A struct of attributes has no members. C has no such struct.
""",
    """\
struct point { };
""",
    """\
struct point { int x; int y; }
""",
)
BLOCK_IGNORED = _code(
    "W0250",
    "block-ignored",
    """\
A composition or configuration that is only named here has no effect. The language accepts it and its
tools have always passed over it. Write the block out.
""",
    """\
configuration Fast { echo._priority = 200; }
assembly { composition { component Echo echo; } configuration Fast; }
""",
    """\
assembly {
    composition { component Echo echo; }
    configuration { echo._priority = 200; }
}
""",
)
SCHEDULE_IGNORED = _code(
    "W0251",
    "schedule-ignored",
    """\
Several assemblies become one system, whose schedule is that of the first. A schedule in a later one has no
effect.
""",
    """\
assembly { composition { component Echo a; } }
assembly { composition { component Echo b; } schedule { [(0, 10), (1, 10)] } }
""",
    """\
assembly { composition { component Echo a; } schedule { [(0, 10), (1, 10)] } }
assembly { composition { component Echo b; } }
""",
)
EXPORT_KIND = _code(
    "W0252",
    "export-kind",
    """\
An exported interface is declared as one kind, and the interface behind it is of another. Connections are
checked against the one behind it, so the declaration misleads its reader.
""",
    """\
component Box {
    uses Ping p;
    composition { component Echo echo; export echo.p -> p; }    // echo provides p
}
""",
    """\
component Box {
    provides Ping p;
    composition { component Echo echo; export echo.p -> p; }
}
""",
)
HARDWARE_SYNC = _code(
    "W0253",
    "hardware-sync",
    """\
A hardware device has a binary semaphore, which no code can use.
""",
    """\
component Uart { hardware; has binary_semaphore b; }
""",
    """\
component Uart { hardware; }
""",
)
KEYWORD_MEMBER = _code(
    "W0254",
    "keyword-member",
    """\
An interface, a lock or an instance has a name that C keeps for itself. C code cannot use such a name alone,
as it does with a dataport. Longer names made of it, such as `register_lock`, are good.
""",
    """\
component Uart { hardware; dataport Buf register; }
""",
    """\
component Uart { hardware; dataport Buf registers; }
""",
)

# Connections

UNKNOWN_END = _code(
    "E0302",
    "unknown-end",
    """\
An end of a connection, or what an export names, is not there.

In an assembly an end is `instance.interface`; for a member of a group it is `group.instance.interface`. In
the composition of a component, a single name is an interface of the component itself. Parts of a component
are not seen from outside: it has to export their interfaces.
""",
    """\
connection seL4RPCCall c(from client.adder, to srver.adder);
""",
    """\
connection seL4RPCCall c(from client.adder, to server.adder);
""",
)
NO_ENDS = _code(
    "E0303",
    "no-ends",
    """\
A connection has a `from` and a `to` end.
""",
    """\
connection seL4RPCCall c(from client.adder);
""",
    """\
connection seL4RPCCall c(from client.adder, to server.adder);
""",
)
TOO_MANY_ENDS = _code(
    "E0304",
    "too-many-ends",
    """\
A connection has several interfaces at an end for which its connector allows one.

Connections that share an end are one connection, so the interfaces of all of them count together.
""",
    """\
connection seL4RPCCall c(from client.adder, to one.adder, to two.adder);
""",
    """\
connection seL4RPCCall c(from a.adder, from b.adder, to one.adder);   // several clients are fine
""",
)
WRONG_SIDE = _code(
    "E0305",
    "wrong-side",
    """\
An interface stands at the wrong side of a connection. `uses` and `emits` are `from` ends, `provides` and
`consumes` are `to` ends, a dataport can be either.
""",
    """\
connection seL4RPCCall c(from server.adder, to client.adder);
""",
    """\
connection seL4RPCCall c(from client.adder, to server.adder);
""",
)
WRONG_KIND = _code(
    "E0306",
    "wrong-kind",
    """\
An interface is not of the kind that its connector connects: an event needs a connector of events, a
procedure one of procedures, a dataport one of dataports.
""",
    """\
connection seL4Notification c(from client.adder, to server.adder);
""",
    """\
connection seL4RPCCall c(from client.adder, to server.adder);
""",
)
HARDWARE_MISMATCH = _code(
    "E0307",
    "hardware-mismatch",
    """\
A connector for devices is used between software components, or one for software components at a device.
""",
    """\
connection seL4SharedData regs(from driver.regs, to uart.regs);    // uart is hardware
""",
    """\
connection seL4HardwareMMIO regs(from driver.regs, to uart.regs);
""",
)
TYPES_DIFFER = _code(
    "E0308",
    "types-differ",
    """\
The two sides of a connection do not have the same type: the same procedure, the same name of an event, or the
same type of a dataport. `Buf` and `Buf(4096)` count as different types.

A connector with `attribute bool disable_interface_type_checking = True;` is not checked.
""",
    """\
component Client { control; dataport Buf data; }
component Server { dataport Buf(8192) data; }
""",
    """\
component Client { control; dataport Buf(8192) data; }
component Server { dataport Buf(8192) data; }
""",
)
CONNECTED_TWICE = _code(
    "E0309",
    "connected-twice",
    """\
One interface is named at two places: twice in one connection, or at different sides of two.
""",
    """\
connection seL4RPCCall c(from a.adder, from a.adder, to server.adder);
""",
    """\
connection seL4RPCCall c(from a.adder, from b.adder, to server.adder);
""",
)
UNCONNECTED = _code(
    "E0310",
    "unconnected",
    """\
An interface that the component needs is not connected. This concerns `uses`, `consumes` and `dataport`.
What a component provides or emits may stay unconnected.
""",
    """\
component Client { control; uses Adder adder; }
assembly { composition { component Client client; } }
""",
    """\
component Client { control; maybe uses Adder adder; }
assembly { composition { component Client client; } }
""",
    """\

With `maybe` the functions of the interface are weak symbols: check their address before a
call. Or connect the interface.
""",
)
CONNECTORS_DIFFER = _code(
    "E0311",
    "connectors-differ",
    """\
Connections that share an end are one connection, and that has one connector.
""",
    """\
connection seL4RPCCall a(from one.adder, to server.adder);
connection seL4RPCCallNoType b(from two.adder, to server.adder);
""",
    """\
connection seL4RPCCall a(from one.adder, to server.adder);
connection seL4RPCCall b(from two.adder, to server.adder);
""",
)
THREADS_DIFFER = _code(
    "E0312",
    "threads-differ",
    """\
The thread count of an interface is stated at several places (`with N threads` at the interface or at a
connection, the setting `i_num_threads`, the number in `seL4RPCCallPrioritizedN`), and they do not agree.

No count has to be stated: the tool computes it.
""",
    """\
connection seL4RPCCall c(from a.p, to lock.p) with 2 threads;
lock.p_num_threads = 3;
""",
    """\
connection seL4RPCCall c(from a.p, to lock.p);
""",
)

# Real-time words

UNKNOWN_CLAUSE = _code(
    "E0320",
    "unknown-clause",
    """\
A word after `with` is no clause. The clauses are `priority_protocol P`, `requests (...)` and `N threads`.
""",
    """\
provides Pow p with priority_protocl inherited;
""",
    """\
provides Pow p with priority_protocol inherited;
""",
)
MISPLACED_CLAUSE = _code(
    "E0321",
    "misplaced-clause",
    """\
A clause, or the setting that means the same, stands where it says nothing.

A `provides` interface can have a priority protocol, `requests` and a thread count; a connection can have a
thread count.
""",
    """\
uses Pow next with priority_protocol inherited;
""",
    """\
provides Pow p with priority_protocol inherited;
""",
)
REPEATED_CLAUSE = _code(
    "E0322",
    "repeated-clause",
    """\
The same thing is said twice. Each clause is given at most once, and `requestor` once in a component.
""",
    """\
provides Pow p with priority_protocol fixed, priority_protocol inherited;
""",
    """\
provides Pow p with priority_protocol inherited;
""",
)
UNKNOWN_PROTOCOL = _code(
    "E0323",
    "unknown-protocol",
    """\
A priority protocol has a name that is none. There are three:

- `propagated`: requests of several tasks at the same time, each at the priority of its task
- `inherited`: one request at a time; its thread inherits the priority of those that wait
- `fixed`: one request at a time, at the ceiling of all tasks that can make one
""",
    """\
provides Pow p with priority_protocol inherit;
""",
    """\
provides Pow p with priority_protocol inherited;
""",
)
UNKNOWN_REQUEST = _code(
    "E0324",
    "unknown-request",
    """\
A `requests` clause names the interfaces that are called while a request is served. They are `uses` interfaces
of the same component.
""",
    """\
component Forwarder {
    provides Pow p with priority_protocol inherited, requests (p);
    uses Pow next;
}
""",
    """\
component Forwarder {
    provides Pow p with priority_protocol inherited, requests (next);
    uses Pow next;
}
""",
)
REQUESTOR_CONTROL = _code(
    "E0325",
    "requestor-control",
    """\
A `requestor` originates a task, and the task is its control thread. A component without `control` has none.
""",
    """\
component Task { requestor; uses Pow p; }
""",
    """\
component Task { control; requestor; uses Pow p; }
""",
)
PROTOCOL_IGNORED = _code(
    "W0350",
    "protocol-ignored",
    """\
An exported interface stands for an interface of a part, and threads serve it there. A priority protocol
belongs to the interface of the part.
""",
    """\
component Box {
    provides Pow p with priority_protocol inherited;
    composition { component Leaf leaf; export leaf.p -> p; }
}
""",
    """\
component Leaf { provides Pow p with priority_protocol inherited; }
component Box {
    provides Pow p;
    composition { component Leaf leaf; export leaf.p -> p; }
}
""",
)
CONNECTOR_THREADS_DIFFER = _code(
    "W0352",
    "connector-threads-differ",
    """\
The number in the name of a connector `seL4RPCCallPrioritizedN` and the thread count that is set do not agree.
The one that is set counts.

Neither is needed: the connector `seL4RPCCall` carries protocols, and the tool computes the count.
""",
    """\
connection seL4RPCCallPrioritized2 c(from a.r, to lock.r);
lock.r_num_threads = 3;
""",
    """\
connection seL4RPCCall c(from a.r, to lock.r);
""",
)
SETTINGS_DIFFER = _code(
    "W0351",
    "settings-differ",
    """\
Connections that share an end are one connection. Something is set to different values on two of them; the
value of the connection that is written first is used.
""",
    """\
connection seL4SharedData one(from a.d, to c.d);
connection seL4SharedData two(from b.d, to c.d);
one.size = 4096;
two.size = 8192;
""",
    """\
one.size = 8192;
two.size = 8192;
""",
)

# Settings

DUPLICATE_SETTING = _code(
    "E0402",
    "duplicate-setting",
    """\
An attribute is set twice. All configurations of a system count together.
""",
    """\
client._priority = 100;
client._priority = 120;
""",
    """\
client._priority = 120;
""",
)
MISTYPED_VALUE = _code(
    "E0403",
    "mistyped-value",
    """\
A value does not fit the type of its attribute.

A number fits `int`, `int64_t` and `uint64_t`, and no other type. A string fits `string`. An attribute
declared with `[]` takes a list, and one whose type is a struct takes a dictionary.
""",
    """\
component Client { control; attribute int delay; }
...
client.delay = "5";
""",
    """\
component Client { control; attribute int delay; }
...
client.delay = 5;
""",
)
MISSING_MEMBER = _code(
    "E0404",
    "missing-member",
    """\
The value of an attribute whose type is a struct has to give all members that have no default.
""",
    """\
struct point { int x; int y; }
...
client.origin = {"x": 1};
""",
    """\
struct point { int x; int y; }
...
client.origin = {"x": 1, "y": 2};
""",
)
ATTRIBUTE_TYPE = _code(
    "E0405",
    "attribute-type",
    """\
A type cannot be that of an attribute. An attribute is an `int`, `int64_t`, `uint64_t` or `string`, a struct
defined with `struct NAME { ... }`, or members in braces. `char` and `unsigned int` are possible, though no
setting can give them a value. Other types of C, such as `bool` and `double`, are not.
""",
    """\
attribute bool verbose = True;
""",
    """\
attribute int verbose = 1;
""",
)
BAD_EXPRESSION = _code(
    "E0406",
    "bad-expression",
    """\
A constant expression has no value: it divides by zero, mixes kinds of operands, or its result is too large to
be meant.
""",
    """\
client.delay = 100 / (4 - 2 * 2);
""",
    """\
client.delay = 100 / 4;
""",
)
BAD_COUNT = _code(
    "E0407",
    "bad-count",
    """\
A count or an id has to be an integer that is not negative, and a thread count or a size at least 1.
""",
    """\
dataport Buf(0) data;
""",
    """\
dataport Buf(4096) data;
""",
)
UNEXPECTED_UNIT = _code(
    "E0408",
    "unexpected-unit",
    """\
A unit of time (`ns`, `us`, `ms`, `s`) stands where no time is expected. Times are the settings `_period`,
`_deadline`, `_wcet`, `_budget`, `_offset` and, for an interface, `i_wcet` and the like.
""",
    """\
client.heap_size = 100 ms;
""",
    """\
client._period = 100 ms;
""",
)
BAD_TIME = _code(
    "E0409",
    "bad-time",
    """\
A time is negative, zero where it cannot be, or no number. A number without a unit counts microseconds.
""",
    """\
task._period = "10 ms";
""",
    """\
task._period = 10 ms;
""",
)
BAD_PRIORITY = _code(
    "E0410",
    "bad-priority",
    """\
A priority is an integer from 0 to 255. A larger number is a higher priority.
""",
    """\
task._priority = "high";
""",
    """\
task._priority = 200;
""",
)
REFERENCE_PATH = _code(
    "E0411",
    "reference-path",
    """\
In the configuration of a component, `<- name` means an attribute of that component. The configuration of an
assembly belongs to no component, so a reference there names an instance too.
""",
    """\
client.delay <- delay;
""",
    """\
client.delay <- server.delay;
""",
)
REFERENCE_LOOP = _code(
    "E0412",
    "reference-loop",
    """\
Settings refer to each other in a circle, so none of them has a value. The message walks the circle.
""",
    """\
a.delay <- b.delay;
b.delay <- a.delay;
""",
    """\
a.delay <- b.delay;
b.delay = 5;
""",
)
MISSING_KEY = _code(
    "E0413",
    "missing-key",
    """\
A reference looks up a key that is not in the dictionary. The items of a list have numbers as keys, from 0.
""",
    """\
a.table = {"one": 1};
b.value <- a.table["two"];
""",
    """\
a.table = {"one": 1, "two": 2};
b.value <- a.table["two"];
""",
)
UNKNOWN_QUERY = _code(
    "E0414",
    "unknown-query",
    """\
There are two queries: `dtb(...)` asks the device tree, `gpio(...)` the list of pins.
""",
    """\
uart.node = dts({"path": "serial@30860000"});
""",
    """\
uart.node = dtb({"path": "serial@30860000"});
""",
)
QUERY_FAILED = _code(
    "E0415",
    "query-failed",
    """\
A query has no answer. The message says why: no device tree or list of pins was given, the question has a key
that does not exist, or nothing answers it.

A `dtb` query looks for the first node that matches. It is asked with `path` (a regular expression),
`aliases`, `chosen`, or `properties`; the file is given with `--dtb FILE`. A `gpio` query is asked with
`pins`; the file is given with `--gpio-list FILE`.
""",
    """\
uart.node = dtb({"alias": "serial0"});
""",
    """\
uart.node = dtb({"aliases": "serial0"});
""",
)
REFERENCE_WITHOUT_VALUE = _code(
    "E0416",
    "reference-without-value",
    """\
A reference leads to something that is not set and has no default, and what it is the value of has no default
either. So there is no value at all.
""",
    """\
component Client { control; attribute int delay; }
component Server { attribute int delay; }
...
client.delay <- server.delay;
""",
    """\
component Client { control; attribute int delay; }
component Server { attribute int delay = 5; }
...
client.delay <- server.delay;
""",
)
BUDGET = _code(
    "E0417",
    "budget-over-period",
    """\
A budget is longer than its period. An MCS kernel gives a thread its budget in each period, so it can at most
be the whole period. Where nothing is set, both are 10 ms, and the budget no longer than the period.
""",
    """\
server.i_period = 10 ms;  server.i_budget = 20 ms;
""",
    """\
server.i_period = 10 ms;  server.i_budget = 5 ms;
""",
)
NOT_PASSIVE = _code(
    "E0418",
    "not-passive",
    """\
On an MCS kernel the thread of a passive interface has no time of its own and runs on that of its callers.
Only a `provides` interface has callers that wait.
""",
    """\
component Sink { consumes Tick t; }
sink.t_passive = true;
""",
    """\
component Server { provides P p; }
server.p_passive = true;
""",
)
UNKNOWN_SETTING_INSTANCE = _code(
    "W0450",
    "unknown-setting-instance",
    """\
Something is set on a name that is neither an instance nor a connection, so nothing will read it. In a
component, names are those of its parts.
""",
    """\
assembly {
    composition { component Echo echo; }
    configuration { eco._priority = 100; }
}
""",
    """\
assembly {
    composition { component Echo echo; }
    configuration { echo._priority = 100; }
}
""",
)
UNKNOWN_SETTING = _code(
    "W0451",
    "unknown-setting",
    """\
An attribute is set that the component does not declare and that is no well-known name. Well-known are, for
example, `_priority`, `_stack_size`, `heap_size`, and for an interface `i` `i_priority` and `i_attributes`.
Only a template of your own that reads the name will see the value.
""",
    """\
echo._prioritty = 100;
""",
    """\
echo._priority = 100;
""",
)
DEFAULT_MISMATCH = _code(
    "W0452",
    "default-mismatch",
    """\
The default of an attribute does not fit its type. It is only noticed in the C code, if at all.
""",
    """\
attribute int delay = "5";
""",
    """\
attribute int delay = 5;
""",
)
EXTRA_MEMBER = _code(
    "W0453",
    "extra-member",
    """\
The value of an attribute whose type is a struct gives a member that the struct does not have. It is left out.
""",
    """\
client.origin = {"x": 1, "y": 2, "z": 3};
""",
    """\
client.origin = {"x": 1, "y": 2};
""",
)
REFERENCE_TO_NOTHING = _code(
    "W0454",
    "reference-to-nothing",
    """\
A reference names something that does not exist, so the attribute keeps its default.
""",
    """\
client.delay <- server.dely;
""",
    """\
client.delay <- server.delay;
""",
)
NOT_A_DICTIONARY = _code(
    "W0455",
    "not-a-dictionary",
    """\
A reference looks up a key in a value that is no dictionary. The lookup has no effect.
""",
    """\
a.delay = 5;
b.delay <- a.delay["ms"];
""",
    """\
a.delay = {"ms": 5};
b.delay <- a.delay["ms"];
""",
)
VALUE_RANGE = _code(
    "W0456",
    "value-range",
    """\
A number is outside of what its type holds. The C compiler would cut it down, with a warning at most.

An `int` has 32 bits here. Numbers of 32 bits that are meant without a sign, such as addresses, are let pass.
""",
    """\
attribute int delay = 5000000000;
""",
    """\
attribute int64_t delay = 5000000000;
""",
)
