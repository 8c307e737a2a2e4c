# SPDX-License-Identifier: BSD-2-Clause
# SPDX-FileCopyrightText: 2026 The camkes-rt developers
"""Kinds of trace records, and numbers in them. Made of kernel/host/include/camkes/trace.h: change that, then
`CAMKES_UPDATE_GOLDEN=1 pytest tests/report/test_kinds.py`."""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """What a record is about. Below 32: written by the kernel. From 32: by the runtime."""

    BOOT = 1
    SWITCH = 2
    IDLE = 3
    READY = 4
    BLOCK = 5
    PRIORITY = 6
    KCALL = 7
    TRANSFER = 8
    REPLY = 9
    SIGNAL = 10
    WORK = 11
    FAULT = 12
    EXIT = 13
    OUTPUT = 14
    TIMER = 15
    END = 16
    CHOICE = 17
    BUDGET = 18
    BIND = 19
    CHARGE = 20
    POSTPONE = 21
    RELEASE = 22
    TIMEOUT = 23
    JOB_BEGIN = 33
    JOB_END = 34
    CALL_BEGIN = 35
    CALL_END = 36
    REQUEST_BEGIN = 37
    REQUEST_END = 38
    LOCK_TAKE = 39
    LOCK_WAIT = 40
    LOCK_GRANT = 41
    LOCK_FREE = 42
    INHERIT = 43
    UPDATE = 44
    CLEAR = 45
    REFUSED = 46
    COND_WAIT = 47
    COND_WAKE = 48
    LEND = 49
    COND_EXPIRE = 50
    CRITICALITY = 51
    JOB_LEFT_OUT = 52
    JOB_STOP = 53
    TURN = 54
    SYNC_TAKE = 55
    SYNC_POST = 56
    STARTED = 57
    SLOT = 58
    FILLED = 59
    METHOD = 60


#: names of each kind's arguments, in order
ARGUMENTS: dict[Kind, tuple[str, ...]] = {
    Kind.BOOT: (),
    Kind.SWITCH: ("priority",),
    Kind.IDLE: (),
    Kind.READY: (),
    Kind.BLOCK: ("reason", "object"),
    Kind.PRIORITY: ("from", "to"),
    Kind.KCALL: ("operation", "object"),
    Kind.TRANSFER: ("object", "badge", "label", "length"),
    Kind.REPLY: ("label", "length"),
    Kind.SIGNAL: ("object", "badge"),
    Kind.WORK: ("duration",),
    Kind.FAULT: ("type", "address", "pc", "module_offset"),
    Kind.EXIT: ("status",),
    Kind.OUTPUT: ("length",),
    Kind.TIMER: ("object", "expirations"),
    Kind.END: ("reason",),
    Kind.CHOICE: ("kind", "options", "chosen"),
    Kind.BUDGET: ("context", "budget", "period", "refills", "sporadic"),
    Kind.BIND: ("context", "how"),
    Kind.CHARGE: ("context", "used", "left"),
    Kind.POSTPONE: ("context", "time"),
    Kind.RELEASE: ("context",),
    Kind.TIMEOUT: ("context", "consumed", "badge"),
    Kind.JOB_BEGIN: ("index", "release"),
    Kind.JOB_END: ("index", "release"),
    Kind.CALL_BEGIN: ("cpi", "context", "priority"),
    Kind.CALL_END: ("cpi", "context"),
    Kind.REQUEST_BEGIN: ("cpi", "context", "priority", "task", "sequence"),
    Kind.REQUEST_END: ("cpi", "context"),
    Kind.LOCK_TAKE: ("cpi", "context"),
    Kind.LOCK_WAIT: ("cpi", "context", "priority"),
    Kind.LOCK_GRANT: ("cpi", "context"),
    Kind.LOCK_FREE: ("cpi", "context"),
    Kind.INHERIT: ("cpi", "context", "from", "to", "cause"),
    Kind.UPDATE: ("cpi", "context", "priority"),
    Kind.CLEAR: ("cpi", "context"),
    Kind.REFUSED: ("badge", "error"),
    Kind.COND_WAIT: ("condition", "context", "priority"),
    Kind.COND_WAKE: ("condition", "context"),
    Kind.LEND: ("context", "from", "to", "cause"),
    Kind.COND_EXPIRE: ("condition", "context"),
    Kind.CRITICALITY: ("level", "task"),
    Kind.JOB_LEFT_OUT: ("index",),
    Kind.JOB_STOP: ("index", "release"),
    Kind.TURN: ("context", "priority", "due"),
    Kind.SYNC_TAKE: ("object",),
    Kind.SYNC_POST: ("object",),
    Kind.STARTED: ("threads",),
    Kind.SLOT: ("domain", "start"),
    Kind.FILLED: ("ns",),
    Kind.METHOD: ("cpi", "method"),
}


class Blocked(IntEnum):
    """Why a thread cannot run."""

    SEND = 1
    CALL = 2  # its message waits for a receiver
    REPLY = 3  # its message was received
    RECV = 4
    NOTIFICATION = 5
    SUSPENDED = 6
    FAULT = 7


class KernelCall(IntEnum):
    """What a thread entered the kernel for."""

    CALL = 1
    SEND = 2
    NBSEND = 3
    RECV = 4
    NBRECV = 5
    REPLY = 6
    REPLYRECV = 7
    SIGNAL = 8
    WAIT = 9
    POLL = 10
    YIELD = 11
    SETPRIORITY = 12
    SUSPEND = 13
    RESUME = 14
    SAVECALLER = 15
    CNODE = 16
    TIMER = 17
    DEBUG = 18
    NBSENDRECV = 19  # this and what follows of an MCS kernel
    NBSENDWAIT = 20
    CONTEXT = 21  # of a scheduling context: bind, unbind, consumed
    YIELDTO = 22
    CONFIGURE = 23
    SETTIMEOUT = 24
    REGISTERS = 25  # of another thread, read or written


class Binding(IntEnum):
    """How a thread came to a scheduling context."""

    UNBOUND = 0
    BOUND = 1  # by an operation, or at the start
    CALL = 2  # it was given with a message, from `other`
    REPLY = 3  # it came back with the answer, from `other`
    SIGNAL = 4  # a notification had it


class EndReason(IntEnum):
    """Why a run ended."""

    TIME = 1  # the asked-for time is over
    IDLE = 2  # nothing runs and nothing will
    ABORT = 3


class FaultKind(IntEnum):
    """Why a thread cannot go on."""

    READ = 1  # of memory that is not there or not the component's
    WRITE = 2
    EXECUTE = 3
    STACK = 4  # stack overflow
    ARITHMETIC = 5
    INSTRUCTION = 6
    ABORT = 7  # abort() or a failed assertion
    CAPABILITY = 8  # address: the slot
    LOOP = 9  # runs, but time does not pass
    EXIT = 10  # its component called exit(); address: the status
    KILLED = 11  # its component's process died; address: the signal
    SYSCALL = 12  # a system call of the workstation; address: its number
    BLOCKED = 13  # it waits outside the kernel, or its process does not react
    TIMEOUT = 14  # its budget is used up; only with a handler
    RECORD = 15  # it writes a record that is not its own; address: its kind
