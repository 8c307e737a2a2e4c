# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics of the capability allocator."""

from __future__ import annotations

from camkes.diagnostics import Code

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

CODES = (WORD_LIMIT,)
