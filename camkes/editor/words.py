# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What the words of the language mean, for hovers."""

from __future__ import annotations

import re

from camkes.model import protocols
from camkes.model.overrun import OF_CPIS
from camkes.resolve.values.clauses import PROTOCOLS, quoted

_INTEGER = "an integer type of C"
_TIME = "a unit of time, behind a number: `10 ms`; without one a number is in microseconds"
_ENDS = "in a declaration of a connector: what the interfaces at this end are"

#: What each word of the language means.
WORDS = {
    "import": 'read another file: `<FILE>` from the search path, `"FILE"` from the folder of this one',
    "include": "C header for the types that a component or a procedure uses",
    "procedure": "an interface of methods that can be called",
    "struct": "a type with members, for attributes",
    "attribute": "a value that the configuration of an instance sets; C code reads it as a variable",
    "component": "a component type, or in a composition an instance of one",
    "control": "the component has a thread of its own, which calls `run()`",
    "hardware": "the component is a device: it has registers and interrupts, and no code",
    "requestor": "the control thread is a task: its requests have its priority and id. An id can "
    "follow; it is assigned if not",
    "criticality_control": "the code of the component may set the criticality of the system",
    "uses": "the component calls the methods of this interface: `NAME_method()`",
    "provides": "the component defines the methods of this interface: `NAME_method()`",
    "emits": "the component sends this event: `NAME_emit()`",
    "consumes": "the component receives this event: `NAME_wait()`, `NAME_poll()` or `NAME_reg_callback()`",
    "dataport": "memory that is shared with other components, of a C type or of `Buf`",
    "Buf": "memory without a type, of 4 KiB; `Buf(N)` has N bytes",
    "maybe": "the interface need not be connected",
    "has": "the component has a mutex or semaphore of its own",
    "mutex": "a lock of the component: `NAME_lock()`, `NAME_unlock()`. It inherits no priorities",
    "semaphore": "`NAME_wait()`, `NAME_post()`; `NAME_value` sets its first value (1)",
    "binary_semaphore": "`NAME_wait()`, `NAME_post()`; its value is 0 or 1, first 0",
    "with": "begins the clauses of an interface: a protocol, requests, a monitor, helpers, a thread count",
    "priority_protocol": f"how requests of tasks are served; the protocols are {quoted(PROTOCOLS, '`')}",
    "requests": "the `uses` interfaces that are called while a request is served, and no others",
    "monitor": "CPIs of an instance that name the same monitor share one lock, in which they can wait for "
    "conditions",
    "overrun": "what happens when the budget of a request is used up, on an MCS kernel; the policies are "
    + quoted([policy.value for policy in OF_CPIS], "`"),
    "condition": "`NAME_wait()`, `NAME_wait_until()`, `NAME_signal()`, `NAME_broadcast()` in the CPIs "
    "of a monitor",
    "helpers": "a waiting thread lends its priority to the tasks that can end the wait",
    "within": "for how long the helpers execute from a wait to the signal, for the analysis",
    "thread": "the number of threads that serve; computed where it is not stated",
    "threads": "the number of threads that serve; computed where it is not stated",
    "connector": "how interfaces are connected: the kinds of its ends and its threads",
    "connection": "connects interfaces of instances: `connection TYPE NAME(from a.x, to b.y);`",
    "from": "an end of a connection: the interface that calls, emits or shares",
    "to": "an end of a connection: the interface that is called or receives",
    "Procedure": _ENDS,
    "Procedures": _ENDS,
    "Event": _ENDS,
    "Events": _ENDS,
    "Dataport": _ENDS,
    "Dataports": _ENDS,
    "composition": "instances and the connections between them",
    "configuration": "settings of instances and connections: `instance.attribute = value;`",
    "assembly": "a whole system: a composition and its configuration",
    "group": "instances that share an address space",
    "export": "an interface of an inner instance becomes one of the component: `export part.x -> y;`",
    "schedule": "time slices of scheduling domains: `(domain, length)`",
    "in": "a parameter that the caller gives",
    "out": "a parameter that the handler sets; it is a pointer in C",
    "inout": "a parameter that the caller gives and the handler changes; it is a pointer in C",
    "refin": "a parameter that the caller gives; it is a pointer in C",
    "void": "no result, or no parameters",
    "int": _INTEGER,
    "integer": "`int` of C",
    "char": _INTEGER,
    "signed": _INTEGER,
    "unsigned": _INTEGER,
    "int64_t": _INTEGER,
    "uint64_t": _INTEGER,
    "string": "text that ends with a zero byte: `char *`",
    "true": "1",
    "True": "1",
    "false": "0",
    "False": "0",
    "ns": _TIME,
    "us": _TIME,
    "ms": _TIME,
    "s": _TIME,
    "ticks": "a unit of time in a schedule: ticks of the kernel's timer",
}
#: What words mean that follow these; elsewhere such a word is a name.
VALUES = {
    "priority_protocol": {protocol.value: rules.about for protocol, rules in protocols.TABLE.items()},
    "overrun": {policy.value: policy.rules.about for policy in OF_CPIS},
}
_NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\"[^\"]*\"|^[ \t]*#[^\n]*", re.DOTALL | re.MULTILINE)
_WORD = re.compile(r"\w+")


def hover_word(text: str, line: int, column: int) -> tuple[str, int, int] | None:
    """What the word of the language at a place means, and its columns; None in comments and strings."""
    lines = _NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text).split("\n")
    before = ""
    for match in _WORD.finditer(lines[line - 1]):
        meaning = VALUES.get(before, {}).get(match[0]) or WORDS.get(match[0])
        if match.start() < column <= match.end() + 1 and meaning:
            return f"`{match[0]}`: {meaning}", match.start() + 1, match.end() + 1
        before = match[0]
    return None
