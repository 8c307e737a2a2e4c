# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of diagnostics about call graphs."""

from __future__ import annotations

from camkes.diagnostics import Code

UNBOUNDED_CALL = Code(
    "N0741",
    "unbounded-call",
    """A handler calls through a pointer, and nothing says where that leads.

What a handler can call is read off the compiled code. A call through a pointer can reach every function of
the component whose address is taken somewhere. Here no address is taken at all, so the pointer comes from
elsewhere, and the handler counts as calling every `uses` interface of its component.

Say what it calls, and nothing is guessed:

```camkes
provides P p with priority_protocol inherited, requests (next);
```
""",
)

CODE_NOT_READ = Code(
    "N0742",
    "code-not-read",
    """What the handlers of a component call could not be read off its compiled code.

For this each source is compiled once more, without optimisation, and its calls are collected. That needs GCC
or Clang, and a source that compiles without optimisation. Where it fails, or where a handler is in a library
and in no source, a handler calls what its `requests` clause says or, without one, every `uses` interface of
its component.

Say what each handler calls, and its code need not be read:

```camkes
provides P p with priority_protocol inherited, requests (next);
```
""",
)

CODES = (UNBOUNDED_CALL, CODE_NOT_READ)
