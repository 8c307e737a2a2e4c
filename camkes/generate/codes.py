# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Codes of what can be wrong when C code is generated."""

from __future__ import annotations

from camkes.diagnostics import Code

NEEDS_SEL4 = Code(
    "E0651",
    "needs-sel4-kernel",
    """\
A connection uses a connector that only the seL4 kernel can provide.

The host kernel runs components on a workstation. It has threads, messages, notifications, shared memory
and virtual time, but no devices: interrupts, device memory, I/O ports, device trees and DMA belong to a
machine.

Fails with `--kernel host`:

```camkes
connection seL4HardwareMMIO registers(from driver.regs, to uart.regs);
```

Build such a system with `--kernel sel4`, or put a component in the driver's place that provides the same
procedures:

```camkes
connection seL4RPCCall serial(from client.serial, to simulated_uart.serial);
```
""",
)

UNKNOWN_CONNECTOR = Code(
    "E0652",
    "connector-without-template",
    """\
A connection uses a connector that is declared, but that nothing is known to generate code for.

Fails, where no template for it exists:

```camkes
connector MyOwn { from Procedure; to Procedure; }
connection MyOwn c(from a.p, to b.p);
```

Use one of the standard connectors of `std_connector.camkes`:

```camkes
connection seL4RPCCall c(from a.p, to b.p);
```
""",
)

TIMER_METHOD = Code(
    "E0653",
    "not-a-timer-method",
    """\
A procedure that is connected to the virtual time server has a method that a time server has not.

The methods are those of the usual `Timer` procedure, each of them optional:

```camkes
procedure Timer {
    int periodic(in int tid, in uint64_t ns);
    int oneshot_absolute(in int tid, in uint64_t ns);
    int oneshot_relative(in int tid, in uint64_t ns);
    int stop(in int tid);
    unsigned int completed();
    uint64_t time();
}
```
""",
)

SEMAPHORE_VALUE = Code(
    "E0654",
    "semaphore-value",
    """\
The initial value of a semaphore is not a number that it can have.

A semaphore starts at 0 or more, a binary semaphore at 0 or 1.

Fails:

```camkes
counter.items_value = -1;
```

Put right:

```camkes
counter.items_value = 0;
```
""",
)

ATTRIBUTE_VALUE = Code(
    "E0655",
    "attribute-value",
    """\
The default of an attribute cannot become a constant of the attribute's type in C, and no configuration gives
the attribute another value. W0452 says the same before anything is built.

Fails:

```camkes
attribute string text = 7;
```

Put right:

```camkes
attribute string text = "7";
```
""",
)

RPC_BUFFER = Code(
    "E0656",
    "rpc-buffer",
    """\
The setting `buffer` of an RPC connection does not name a dataport connection between the same two instances.

With it messages are in the dataport's memory, not in the message registers, and so can be longer.

Fails:

```camkes
connection seL4RPCCall calls(from client.p, to server.p);
calls.buffer = "memory";
```

Put right:

```camkes
connection seL4RPCCall calls(from client.p, to server.p);
connection seL4SharedData memory(from client.room, to server.room);
calls.buffer = "memory";
```
""",
)

CODES = (NEEDS_SEL4, UNKNOWN_CONNECTOR, TIMER_METHOD, SEMAPHORE_VALUE, ATTRIBUTE_VALUE, RPC_BUFFER)
