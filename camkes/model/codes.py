# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics about the values of settings that the tool itself reads."""

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

HEAP_SIZE = Code(
    "E0951",
    "heap-size",
    """`heap_size` must be a whole number of bytes.

```camkes
configuration { client.heap_size = 1048576; }
```
""",
)

CODES = (SETTING_TYPE, SETTING_RANGE, ACCESS_RIGHTS, HEAP_SIZE)
