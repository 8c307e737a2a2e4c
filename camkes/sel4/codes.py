# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""What can be wrong when a system is made into an image for seL4."""

from __future__ import annotations

from camkes.diagnostics import Code

NO_TIMER = Code(
    "E0952",
    "no-timer-driver",
    """The system has tasks or uses the virtual time server, and on the machine that it is built for there is
no device behind their timers.

There is a timer driver for x86 (the i8254 of a PC), for Arm processors with the generic timer, for the
i.MX6 (its general purpose timer) and for QEMU's virtual RISC-V machine (its real-time clock). `spike` has
no timer but the one that the kernel keeps for itself. On another machine, connect a TimeServer of
global-components instead of having tasks.
""",
)

TIMER_TAKEN = Code(
    "E0963",
    "timer-taken",
    """The tasks of the system are released by a device that a component of the system drives as well.

One of the two has to go: either the tasks (and `camkes_now()` still tells the time), or the component, for
instance the TimeServer of global-components on a PC, which drives the i8254.

Fails on a PC:

```camkes
component TimeServer clock;
task._period = 10 ms;
```

Works, with a component that waits for the TimeServer instead of a task:

```camkes
component TimeServer clock;
connection seL4TimeServer timing(from worker.timeout, to clock.the_timer);
```
""",
)

NO_WORKSPACE = Code(
    "E0953",
    "no-workspace",
    """Building for seL4 needs a workspace: the kernel, its build system and libraries, at revisions that
fit together.

`repo-init.sh DIR` makes one. Name it with `--workspace DIR` or in the environment variable
SEL4_WORKSPACE.
""",
)

SEL4_BUILD = Code(
    "E0954",
    "sel4-build",
    """CMake or ninja failed while an application was built for seL4. The message is theirs; the whole log
is in the build folder.
""",
)

NO_CONNECTOR = Code(
    "E0955",
    "connector-for-sel4",
    """There is no template for this connector.

RPC, notifications, shared data, direct calls, the virtual time server, mutexes and semaphores need none.
Hardware connectors, those of global-components and an application's own are rendered from the templates that
CMake declares:

```cmake
DeclareCAmkESConnector(MyConnector FROM MyConnector-from.template.c TO MyConnector-to.template.c)
```

For those of global-components, the application's CMakeLists.txt calls `includeGlobalComponents()`.
""",
)

PROTOCOL_ON_MCS = Code(
    "E0960",
    "protocol-on-mcs",
    """Interfaces with a priority protocol need the kernel without MCS for now. The thread that orders the
requests of such an interface keeps the capability to reply to each; an MCS kernel has reply objects instead.

Fails with `-DKernelIsMCS=ON`:

```camkes
component Lock { provides Store s with priority_protocol inherited; }
```

Build without `KernelIsMCS`, or on an MCS kernel without protocols: budgets, periods and passive interfaces.

```camkes
component Lock { provides Store s; }
configuration { lock.s_passive = true; }
```
""",
)

PASSIVE_CONNECTOR = Code(
    "E0961",
    "passive-connector",
    """On an MCS kernel, the thread of a passive interface runs on the time of its callers. That needs a
connector whose callers wait for the answer and lend their time: `seL4RPCCall` or `seL4RPCCallNoType`.

Fails:

```camkes
connection MyCall calls(from client.s, to server.s);
server.s_passive = true;
```

Works:

```camkes
connection seL4RPCCall calls(from client.s, to server.s);
server.s_passive = true;
```
""",
)

SHORT_ON_MCS = Code(
    "E0962",
    "short-on-mcs",
    """An MCS kernel fills a thread's budget again in each period, and a budget is at least 20 us: the kernel
may need as long to switch to the thread and away from it. So a period is that long, too.

Fails:

```camkes
server.s_period = 15 us;
```

Works:

```camkes
server.s_period = 1 ms;
server.s_budget = 100 us;
```
""",
)
