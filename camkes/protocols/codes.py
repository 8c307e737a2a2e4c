# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""The kinds of mistakes and doubts about protocols, each with the page that `camkes explain` prints."""

from __future__ import annotations

from camkes.diagnostics import Code

DEADLOCK = Code(
    "E0501",
    "deadlock",
    """\
Requests go round in a cycle.

A component procedure interface (CPI) that serves a request cannot serve another one of the same task, and
a lock serves no other at all. When a request comes back to a CPI that it passed through before, it waits
for a thread that waits for it, and the task never ends.

The message walks the shortest cycle, one step a connection. Cycles are between CPIs, not components: two
components may well use each other, if they do so from different CPIs.

This fails:

```camkes
component A { provides P p with priority_protocol inherited; uses P next; }
component B { provides P p with priority_protocol inherited; uses P next; }
...
connection seL4RPCCall c1(from a.next, to b.p);
connection seL4RPCCall c2(from b.next, to a.p);     // and back
```

If `B` does not call `next` while it serves `p`, say so, and there is no cycle:

```camkes
component B { provides P p with priority_protocol inherited, requests (); uses P next; }
```

If it does, split a CPI: move the part that is called back to an interface that calls nothing.
""",
)

PLAIN_BELOW_LOCK = Code(
    "E0502",
    "invalid-nesting",
    """\
An interface without a protocol is called while a lock is held.

The holder of a lock (an `inherited` or `fixed` CPI) waits for the thread that serves its call. If that
interface has no protocol, its thread has a priority of its own: a task of medium priority can keep it from
running for as long as it likes, and with it everybody who waits for the lock. This is the priority
inversion that the protocol is there to prevent. The same goes for a `propagated` CPI that is called from
a lock, directly or not.

This fails:

```camkes
component Lock { provides P p with priority_protocol inherited; uses Log log; }
component Logger { provides Log log; }
...
connection seL4RPCCall c(from lock.log, to logger.log);
```

Put right, in the component:

```camkes
component Logger { provides Log log with priority_protocol fixed; }
```

or, for a component that is not yours, in the configuration:

```camkes
logger.log_priority_protocol = "fixed";
```
""",
)

CEILING_BELOW_CALLER = Code(
    "E0503",
    "ceiling-below-caller",
    """\
A fixed CPI calls a CPI whose stated ceiling is below its own priority.

A `fixed` CPI runs at its ceiling, and so do the requests it makes. A CPI with a lower ceiling would serve
them below the priority at which they were made, and the ceiling protocol would not hold any more.

This fails:

```camkes
component Outer { provides P p with priority_protocol fixed; uses P next; }
component Inner { provides P p with priority_protocol fixed; }
...
outer.p_priority = 50;
inner.p_priority = 40;      // called by outer
```

Leave the priority of `inner.p` out, since ceilings are computed; or state at least 50.
""",
)

CEILING_BELOW_REQUESTOR = Code(
    "E0504",
    "ceiling-below-requestor",
    """\
A stated ceiling is below the priority of a task that can request the CPI.

The ceiling of a CPI is the highest priority of all requests that can arrive, directly or through other
CPIs. With a lower one, a lock could be preempted by a task that needs it, or a request would be served
below its own priority.

This fails:

```camkes
fast._priority = 90;        // requests server.p
server.p_priority = 80;
```

Leave `server.p_priority` out, since ceilings are computed; or state at least 90.
""",
)

TOO_FEW_THREADS = Code(
    "E0505",
    "too-few-threads",
    """\
A stated number of threads is smaller than the number of requests that can be under way at once.

A request that finds no thread waits in the kernel, where no protocol sees it: it inherits nothing and
gives nothing. So every request that can be under way at once needs a thread. How many can is computed:
one for each task, but a lock on the way lets only one through at a time.

This fails:

```camkes
component Server { provides P p with priority_protocol propagated, 1 threads; }
...
connection seL4RPCCall c(from t1.p, from t2.p, to server.p);      // two tasks
```

Leave the count out, or state at least what the message says. Left out, there is a thread for each origin
of requests, which is also the fastest way: no request then changes a priority unless one is inherited.
""",
)

NO_PRIORITY = Code(
    "E0506",
    "task-without-priority",
    """\
A task has no priority.

The protocols and all analyses follow from the priorities of tasks, so there is no default.

This fails:

```camkes
component T { control; requestor; }
assembly { composition { component T t; } }
```

Put right:

```camkes
assembly {
    composition { component T t; }
    configuration { t._priority = 10; }
}
```

0 is the lowest and 255 the highest priority.
""",
)

DUPLICATE_TASK_ID = Code(
    "E0507",
    "duplicate-task-id",
    """\
Two tasks have the same id.

The id tells a CPI for which task it works. It is stated for the component (`requestor N;`), so that two
instances of that component share it, or for an instance (`inst.requestor = N;`), which wins.

This fails:

```camkes
component T { control; requestor 3; }
...
component T a;
component T b;
```

Leave the number out. Ids are then assigned in the order of instance names, around those that are stated:

```camkes
component T { control; requestor; }
```
""",
)

PRIORITY_RANGE = Code(
    "E0508",
    "priority-out-of-range",
    """\
A priority is not in 0..255.

The kernel has 256 priorities; 255 is the highest. If a system was designed with larger numbers, scale them:
only their order matters to the protocols.

This fails:

```camkes
t._priority = 300;
```

Put right:

```camkes
t._priority = 200;
```
""",
)

PRIORITY_OF_NON_PREEMPTIVE = Code(
    "E0509",
    "priority-of-non-preemptive",
    """\
Something has priority 255 in a system with a non-preemptive CPI.

A `fixed` CPI with the stated priority 255 is not preempted by anybody (non-preemptive critical sections).
That is only so if nothing else runs at 255: the kernel lets threads of one priority take turns.

This fails:

```camkes
server.p_priority_protocol = "fixed";
server.p_priority = 255;
t._priority = 255;
```

Put right: keep tasks and other CPIs at 254 or below. Or leave the priority of the CPI out: it then gets its
computed ceiling, which blocks no task that never uses it.
""",
)

UNMARKED_CONTROL = Code(
    "E0510",
    "unmarked-requestor",
    """\
A component requests a CPI that has a protocol, but originates no task.

Each request to such a CPI belongs to a task: it has the task's priority, and a thread of the CPI waits for
it. Tasks are the control threads of components that say `requestor`. A handler of events or interrupts runs
in a thread of its own and works for no task, also in a component that says `requestor`: let `run()` wait for
the event with `EVENT_wait()` and make the request.

This fails:

```camkes
component T { control; uses P p; }      // t.p is connected to a CPI with a protocol
```

Put right:

```camkes
component T { control; requestor; uses P p; }
...
t._priority = 10;
```
""",
)

REQUESTOR_PROVIDES_CPI = Code(
    "E0511",
    "requestor-provides-cpi",
    """\
A component both originates a task and provides a CPI with a protocol.

The CPI's requests and the task would share the component's `uses` interfaces, and a stub could not know for
whom it calls. A request of another task would also depend on data of a component that has its own pace.

This fails:

```camkes
component T { control; requestor; uses P p; provides P state with priority_protocol inherited; }
```

Put right: two components, and a dataport or a CPI of the second for what they share.

```camkes
component T { control; requestor; uses P p; uses P state; }
component State { provides P p with priority_protocol inherited; }
```
""",
)

MIXED_CALLERS = Code(
    "E0512",
    "mixed-callers",
    """\
A CPI is reached both by requests with a priority and by calls without one.

A protocol holds only if every request has a priority. Calls without one come from the handler of an
interface that has no protocol itself.

This fails:

```camkes
component Old { provides P p; uses P next; }            // no protocol
...
connection seL4RPCCall c(from task.p, from old.next, to server.p);
```

Put right: the handler passes on the priority of its own request.

```camkes
component Old { provides P p with priority_protocol propagated; uses P next; }
```
""",
)

CONNECTOR_WITHOUT_PROTOCOLS = Code(
    "E0513",
    "connector-without-protocols",
    """\
A connector cannot carry the protocol of the CPI that it leads to.

Priority and task id travel in the message of a request, and the code of `seL4RPCCall` and
`seL4RPCCallNoType` puts them there. Other connectors have code of their own that does not; a
`seL4DirectCall` sends no message at all.

This fails:

```camkes
component Server { provides P p with priority_protocol inherited; }
...
connection seL4RPCDataport c(from task.p, to server.p);
```

Put right:

```camkes
connection seL4RPCCall c(from task.p, to server.p);
```
""",
)

CALL_WITHOUT_TASK = Code(
    "E0514",
    "call-without-task",
    """\
A handler without a protocol calls a CPI that has one.

The handler does not know for which task it works, so it has neither priority nor id to pass on.

This fails:

```camkes
component Front { provides P p; uses P next; }
component Server { provides P p with priority_protocol inherited; }
...
connection seL4RPCCall c(from front.next, to server.p);
```

Put right: `propagated` makes the handler serve each request at its priority and pass that on.

```camkes
component Front { provides P p with priority_protocol propagated; uses P next; }
```
""",
)

TASK_ID_RANGE = Code(
    "E0515",
    "task-id-out-of-range",
    """\
A task's id does not fit the message.

The label word of a message has 12 bits for the id of a task on 64-bit kernels, of which one number stands
for no task, so ids are 0..4094.

This fails:

```camkes
component T { control; requestor 5000; }
```

Leave the number out; ids are then assigned from 0. If something outside needs the number 5000, keep a
table of it in the component.
""",
)

REQUESTS_CONTRADICTED = Code(
    "E0516",
    "requests-contradicted",
    """\
The compiled code of a handler can call an interface that its `requests` clause leaves out.

Everything that is computed (ceilings, threads, freedom from deadlock) rests on the clause, so it must not
promise less than the code does. What code can call is known once it is compiled, so `camkes build` and
`camkes run` say this, with the functions and lines on the way, and `camkes check` does not.

This fails, if a method of `p` calls `log_write`:

```camkes
provides P p with priority_protocol inherited, requests (next);
uses P next;
uses Log log;
```

Put right:

```camkes
provides P p with priority_protocol inherited, requests (next, log);
```
""",
)

UNUSED_CLAUSE = Code(
    "W0501",
    "unused-clause",
    """\
A clause says something about requests or threads where no protocol is.

The count of threads and the `requests` of an interface matter only if the interface has a protocol
(`requests` also if its component calls CPIs that have one).

This is probably not what was meant:

```camkes
component S { provides P p with 2 threads; }
```

Give the interface a protocol, or take the clause out:

```camkes
component S { provides P p with priority_protocol propagated, 2 threads; }
```
""",
)

TOO_MANY_THREADS = Code(
    "W0502",
    "more-threads-than-needed",
    """\
More threads are stated than a CPI can ever use.

Requests of one task follow each other, so there is never more than one request of each origin: a task, or
a `fixed` CPI on the way. A `fixed` CPI itself serves one request at a time.

This says too much:

```camkes
component S { provides P p with priority_protocol fixed, 4 threads; }
```

Leave the count out.

```camkes
component S { provides P p with priority_protocol fixed; }
```
""",
)

NO_TASK_REACHES = Code(
    "W0503",
    "unreachable-cpi",
    """\
No task can request this CPI.

It gets no threads. Perhaps a connection is missing, a component should say `requestor`, or a `requests`
clause leaves a call out.

This is probably not what was meant:

```camkes
component T { control; requestor; uses P p; }
component Middle { provides P p with priority_protocol propagated, requests (); uses P next; }
component S { provides P p with priority_protocol inherited; }
...
connection seL4RPCCall c1(from t.p, to middle.p);
connection seL4RPCCall c2(from middle.next, to s.p);
```

Put right: `requests (next)`.
""",
)

NOT_RATE_MONOTONIC = Code(
    "W0504",
    "not-rate-monotonic",
    """\
A task with a shorter period has a lower priority.

Rate-monotonic order, the shortest period first, is optimal among fixed priorities when deadlines equal
periods; where deadlines are given, the shortest deadline first. The utilisation bounds assume this order.
Another one can be right, for instance if a task is more critical; then this warning can be ignored.

```camkes
slow._period = 100 ms;  slow._priority = 20;
fast._period = 10 ms;   fast._priority = 10;
```

In rate-monotonic order:

```camkes
slow._period = 100 ms;  slow._priority = 10;
fast._period = 10 ms;   fast._priority = 20;
```
""",
)

REQUESTS_MISSING = Code(
    "W0505",
    "requests-missing",
    """\
A component with several provided interfaces does not say which of its CPIs calls what.

A connection starts at a component, not at one of its CPIs. Without a `requests` clause each CPI counts as
calling every `uses` interface of its component. That is safe, but can make ceilings higher, threads more, and
report a cycle where there is none.

```camkes
component S {
    provides P a with priority_protocol inherited;
    provides P b with priority_protocol inherited;
    uses P next;
}
```

More exact:

```camkes
component S {
    provides P a with priority_protocol inherited, requests (next);
    provides P b with priority_protocol inherited, requests ();
    uses P next;
}
```
""",
)

MAYBE_WITHOUT_TASK = Code(
    "W0506",
    "maybe-call-without-task",
    """\
A handler without a protocol may call a CPI that has one.

Another thread of the same component calls this CPI properly. Nothing says that this handler does not, and if
it does, its call has no task and no priority.

```camkes
component T { control; requestor; uses P p; provides Status status; }
```

If the handler of `status` calls nothing, say so:

```camkes
component T { control; requestor; uses P p; provides Status status with requests (); }
```
""",
)

UNUSED_REQUEST = Code(
    "W0507",
    "unused-request",
    """\
A `requests` clause names an interface that the code of the handler never calls.

The clause counts all the same: the CPIs behind that interface are planned for requests that never come, with
ceilings that can be too high, and a deadlock may be reported that cannot happen.

This is probably not what was meant, if no method of `p` calls `log`:

```camkes
provides P p with priority_protocol inherited, requests (next, log);
```

More exact:

```camkes
provides P p with priority_protocol inherited, requests (next);
```

Leave it as it is if the code is not finished.
""",
)

MAYBE_CONTRADICTED = Code(
    "W0508",
    "requests-maybe-contradicted",
    """\
A handler calls through a pointer, which may lead to an interface that its `requests` clause leaves out.

Such a call can reach every function of the component whose address is taken somewhere, as far as the
compiler's call graph says. One of these calls the interface. The clause counts; make sure that it is right,
because ceilings, threads and freedom from deadlock rest on it.

```camkes
provides P p with priority_protocol inherited, requests (next);
uses P next;
uses Log log;
```

If the pointer can lead there, give the whole list:

```camkes
provides P p with priority_protocol inherited, requests (next, log);
```

If it cannot, a direct call in its place makes this warning go away.
""",
)

PLAIN_CYCLE = Code(
    "W0509",
    "cycle-without-protocol",
    """\
Handlers of interfaces without a protocol request each other in a cycle.

Such an interface has one thread. While it serves a request it waits for the answer to the one that it makes
itself; when that comes back to it, nobody is there to take it, and all of them wait for ever.

This can hang:

```camkes
component Link { provides P p; uses P next; }
...
connection seL4RPCCall c1(from a.next, to b.p);
connection seL4RPCCall c2(from b.next, to a.p);
```

Put right: take one of the requests out. If a handler does not make its request in this case, say what it does
call:

```camkes
component Link { provides P p with requests (); uses P next; }
```
""",
)

CODES = tuple(value for value in list(globals().values()) if isinstance(value, Code))
