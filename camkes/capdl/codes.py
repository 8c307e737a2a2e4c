# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics about settings that the capability allocator reads."""

from __future__ import annotations

from camkes.diagnostics import Code

SETTING_TYPE = Code(
    "E0601",
    "setting-of-wrong-type",
    """A setting that the tool itself reads has a value of another type.

A stack size is a number of bytes, a priority is a number, access rights are a string.

Fails:

```camkes
configuration { client._stack_size = "big"; }
```

Works:

```camkes
configuration { client._stack_size = 65536; }
```
""",
)

SETTING_RANGE = Code(
    "E0602",
    "setting-out-of-range",
    """A setting that the tool itself reads has a value outside what a kernel can do.

Priorities are 0 to 255, stack sizes are at least one page, domains are 0 to 255.

Fails:

```camkes
configuration { server.rpc_priority = 300; }
```

Works:

```camkes
configuration { server.rpc_priority = 200; }
```
""",
)

ACCESS_RIGHTS = Code(
    "E0603",
    "unknown-access-rights",
    """The access rights of a dataport are letters out of `RWXP`, in this order, each at most once:
read, write, execute, pass on.

Fails:

```camkes
configuration { reader.port_access = "read"; }
```

Works:

```camkes
configuration { reader.port_access = "R"; }
```
""",
)

WORD_LIMIT = Code(
    "E0604",
    "does-not-fit-a-word",
    """A number of the system does not fit into the word in which the kernel passes it on.

A message carries the id of the task that it works for and, to a manager, the index of a thread of a pool; a
badge says who sent it. A kernel of 32 bits leaves 20 bits of a message's label and 28 bits of a badge to its
users, so there are 63 tasks, 256 threads of a pool, and badges up to 268435455. On a kernel of 64 bits
there are 4095 tasks and 65536 threads of a pool. The host kernel has 64 bits.

Fails on a kernel of 32 bits:

```camkes
configuration { client.server_attributes = 268435456; }
```

Works:

```camkes
configuration { client.server_attributes = 268435455; }
```
""",
)

CODES = (SETTING_TYPE, SETTING_RANGE, ACCESS_RIGHTS, WORD_LIMIT)
