# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics about trace files and the pictures made of them."""

from __future__ import annotations

from camkes.diagnostics import Code

TRACE_UNREADABLE = Code(
    "E0801",
    "trace-unreadable",
    """A trace file, or the file of names beside it, could not be read or written.

Both are written by `camkes run --trace`; the names are in a file of the same name that ends in
`.names.json`. Look at the path and at its permissions.
""",
)

TRACE_TRUNCATED = Code(
    "E0803",
    "trace-truncated",
    """The trace of a run has no beginning, ends in the middle of a record, or has a record that cannot be
right.

Usually the run was killed or the disk was full; on seL4, a line of the console was damaged. Everything before
the damaged place was read, and what is shown ends there. Make room and run the system again.
""",
)

TRACE_NAMES = Code(
    "E0804",
    "trace-names",
    """The file of names that belongs to a trace is not one of this tool's.

It says which thread has which number, and is written beside the trace. Without it a trace has only
numbers. Run the system again to get both.
""",
)

TRACE_UNKNOWN_KIND = Code(
    "W0805",
    "trace-unknown-kind",
    """A trace has records of a kind that this version does not know. They were left out.

The image that made the trace was built by a newer version of the tool than the one that reads it. On seL4
that is the version in the workspace's `projects/camkes-tool`: let both be the same.
""",
)

WINDOW_EMPTY = Code(
    "E0806",
    "window-empty",
    """The part of a run that was asked for has nothing in it: it ends before it begins, or begins after
the end of the run.

Fails, if the run ended at 200 ms:

```sh
camkes run PATH --timeline out.svg --window 300ms:400ms
```

Works:

```sh
camkes run PATH --timeline out.svg --window 100ms:200ms
```
""",
)

MALFORMED_MESSAGE = Code(
    "E0807",
    "malformed-message",
    """A component sent a message that its server cannot take for a request, or that claims what its sender
cannot have: a task or a priority that does not come through this connection, a method that does not exist,
parameters that are missing or left over, a string without its end.

The server refused it with an error as the reply, before it took a lock. Nobody but the sender is affected.
The place is where the sender is connected.

The generated functions of an interface send no such messages. Look for code of the sender that calls
`seL4_Call()`, `seL4_Send()` or the like with a capability of that interface, that writes to a dataport in
which messages are (`buffer`), or that writes outside its own variables.
""",
)

NO_JOB_ENDED = Code(
    "W0808",
    "no-job-ended",
    """A task with a period was released several times in a run, and did not end its first job.

Every job but the first is begun, and every job is ended, by `camkes_next_job()` in `run()`. A loop without it
is one job that never ends; all deadlines of the task are missed.

Fails:

```c
int run(void) { while (1) { step(); } }
```

Works:

```c
int run(void) { while (camkes_next_job()) { step(); } return 0; }
```

If the first job really takes so long, give the task a longer period, or let the run last longer.
""",
)

CODES: tuple[Code, ...] = (
    TRACE_UNREADABLE,
    TRACE_TRUNCATED,
    TRACE_NAMES,
    TRACE_UNKNOWN_KIND,
    WINDOW_EMPTY,
    MALFORMED_MESSAGE,
    NO_JOB_ENDED,
)
