/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Trace records. The host kernel writes them; camkes/running/events.py reads them, with the lists
 * of camkes/running/kinds.py, which a test makes of this file.
 *
 * A trace file is: 8 bytes "CAMKTRC1", then records in the order of events. All numbers are little
 * endian. A record is a 16-byte header and `size - 16` bytes of arguments (8-byte words, and for
 * OUTPUT text padded with zeros). `thread` is the thread's number in the boot table (65535: none).
 */
#pragma once

#include <stdint.h>

struct camkes_trace_record {
    uint64_t time; /* virtual nanoseconds since boot */
    uint16_t kind;
    uint16_t size; /* bytes, header included, a multiple of 8 */
    uint16_t thread;
    uint16_t other; /* a second thread, 65535: none */
    uint64_t args[];
};

/* clang-format off */
/* X(NAME, number, "names of args") */
#define CAMKES_TRACE_KINDS(X)                                                                        \
    /* Records of the kernel */                                                                               \
    X(BOOT, 1, "")                                                                                   \
    X(SWITCH, 2, "priority")                   /* thread runs from now; other ran before */          \
    X(IDLE, 3, "")                             /* no thread runs from now; other ran before */          \
    X(READY, 4, "")                            /* thread became runnable; other caused it */         \
    X(BLOCK, 5, "reason object")               /* reason: enum camkes_block */                       \
    X(PRIORITY, 6, "from to")                  /* of thread; other set it */                         \
    X(KCALL, 7, "operation object")            /* thread entered the kernel: enum camkes_kcall */    \
    X(TRANSFER, 8, "object badge label length") /* a message went from thread to other */            \
    X(REPLY, 9, "label length")                /* a reply went from thread to other */               \
    X(SIGNAL, 10, "object badge")              /* thread (or none: a timer) signalled */           \
    X(WORK, 11, "duration")                    /* the thread starts to consume this processor time */          \
    X(FAULT, 12, "type address pc module_offset") /* thread cannot go on */                          \
    X(EXIT, 13, "status")                      /* thread ended */                                    \
    X(OUTPUT, 14, "length")                    /* thread printed: length, then the text */           \
    X(TIMER, 15, "object expirations")         /* a timer fired; a task's: that many are released */ \
    X(END, 16, "reason")                       /* enum camkes_end */                                 \
    X(CHOICE, 17, "kind options chosen")       /* something left open was decided */                 \
    /* Records of an MCS kernel; context is the object of a scheduling context, times are nanoseconds */ \
    X(BUDGET, 18, "context budget period refills sporadic") /* it was configured; thread uses it */   \
    X(BIND, 19, "context how")                 /* thread (or none) has it: enum camkes_bind */        \
    X(CHARGE, 20, "context used left")         /* thread used it; left: of its first refill */        \
    X(POSTPONE, 21, "context time")            /* thread waits for a refill until then */             \
    X(RELEASE, 22, "context")                  /* thread can use its context again */                            \
    X(TIMEOUT, 23, "context consumed badge")   /* thread used its budget up: a message is sent */     \
    /* Records of the runtime; cpi and context are ids of the plan */                                \
    X(JOB_BEGIN, 33, "index release")          /* job `index` of thread's task, released at */       \
    X(JOB_END, 34, "index release")            /* the job ended */                                   \
    X(CALL_BEGIN, 35, "cpi context priority")  /* thread sends a request */                          \
    X(CALL_END, 36, "cpi context")             /* thread has the reply */                            \
    X(REQUEST_BEGIN, 37, "cpi context priority task sequence") /* thread received a request */       \
    X(REQUEST_END, 38, "cpi context")          /* thread is about to reply */                          \
    X(LOCK_TAKE, 39, "cpi context")            /* took a free lock */                                \
    X(LOCK_WAIT, 40, "cpi context priority")   /* context's worker `other` joined the queue */       \
    X(LOCK_GRANT, 41, "cpi context")           /* the lock went to a waiter */                       \
    X(LOCK_FREE, 42, "cpi context")            /* the lock is not held any more */                   \
    X(INHERIT, 43, "cpi context from to cause") /* context's priority at cpi; cause: a context */    \
    X(UPDATE, 44, "cpi context priority")      /* manager of cpi got an inherited priority */        \
    X(CLEAR, 45, "cpi context")                /* and the end of one */                              \
    X(REFUSED, 46, "badge error")  /* thread refused a message; error: enum camkes_message_error */  \
    X(COND_WAIT, 47, "condition context priority") /* thread `other` began to wait for it */         \
    X(COND_WAKE, 48, "condition context")      /* the wait of `other` ended */                          \
    X(LEND, 49, "context from to cause")       /* priority of a helper's control thread `other` */   \
    X(COND_EXPIRE, 50, "condition context")    /* the wait of `other` ended without a signal */       \
    X(CRITICALITY, 51, "level task")           /* of the system; task: that raised it, or 65535 */    \
    X(JOB_LEFT_OUT, 52, "index")               /* thread's task is degraded: does not begin it */     \
    X(JOB_STOP, 53, "index release")           /* the job of control thread `other` was given up */   \
    X(TURN, 54, "context priority due")        /* a scheduler gives a task a priority in its band */ \
    X(SYNC_TAKE, 55, "object")                 /* thread has taken a mutex, or 1 of a semaphore */   \
    X(SYNC_POST, 56, "object")                 /* thread has given it back, or added 1 */             \
    X(STARTED, 57, "threads")    /* thread has initialised its instance, so many threads of it go on */ \
    X(SLOT, 58, "domain start")  /* the slot of a domain, which began at `start` */                    \
    X(FILLED, 59, "ns")          /* thread loops in no time, and was given the rest of its slot */     \
    X(METHOD, 60, "cpi method")  /* the request is to this method of several; from 0 on */

/* clang-format on */

#define CAMKES_TRACE_ENUM(name, number, args) CAMKES_TRACE_##name = number,
enum camkes_trace_kind { CAMKES_TRACE_KINDS(CAMKES_TRACE_ENUM) };
#undef CAMKES_TRACE_ENUM

/* Why a thread cannot run. */
enum camkes_block {
    CAMKES_BLOCK_SEND = 1,
    CAMKES_BLOCK_CALL = 2,  /* its message waits for a receiver */
    CAMKES_BLOCK_REPLY = 3, /* its message was received */
    CAMKES_BLOCK_RECV = 4,
    CAMKES_BLOCK_NOTIFICATION = 5,
    CAMKES_BLOCK_SUSPENDED = 6,
    CAMKES_BLOCK_FAULT = 7,
};

/* How a thread came to a scheduling context. */
enum camkes_bind {
    CAMKES_BIND_UNBOUND = 0,
    CAMKES_BIND_BOUND = 1,  /* by an operation, or at the start */
    CAMKES_BIND_CALL = 2,   /* it was given with a message, from `other` */
    CAMKES_BIND_REPLY = 3,  /* it came back with the answer, from `other` */
    CAMKES_BIND_SIGNAL = 4, /* a notification had it */
};

/* What a thread entered the kernel for. */
enum camkes_kcall {
    CAMKES_KCALL_CALL = 1,
    CAMKES_KCALL_SEND = 2,
    CAMKES_KCALL_NBSEND = 3,
    CAMKES_KCALL_RECV = 4,
    CAMKES_KCALL_NBRECV = 5,
    CAMKES_KCALL_REPLY = 6,
    CAMKES_KCALL_REPLYRECV = 7,
    CAMKES_KCALL_SIGNAL = 8,
    CAMKES_KCALL_WAIT = 9,
    CAMKES_KCALL_POLL = 10,
    CAMKES_KCALL_YIELD = 11,
    CAMKES_KCALL_SETPRIORITY = 12,
    CAMKES_KCALL_SUSPEND = 13,
    CAMKES_KCALL_RESUME = 14,
    CAMKES_KCALL_SAVECALLER = 15,
    CAMKES_KCALL_CNODE = 16,
    CAMKES_KCALL_TIMER = 17,
    CAMKES_KCALL_DEBUG = 18,
    CAMKES_KCALL_NBSENDRECV = 19, /* this and what follows of an MCS kernel */
    CAMKES_KCALL_NBSENDWAIT = 20,
    CAMKES_KCALL_CONTEXT = 21, /* of a scheduling context: bind, unbind, consumed */
    CAMKES_KCALL_YIELDTO = 22,
    CAMKES_KCALL_CONFIGURE = 23,
    CAMKES_KCALL_SETTIMEOUT = 24,
    CAMKES_KCALL_REGISTERS = 25, /* of another thread, read or written */
};

/* Why a run ended. */
enum camkes_end {
    CAMKES_END_TIME = 1, /* the asked-for time is over */
    CAMKES_END_IDLE = 2, /* nothing runs and nothing will */
    CAMKES_END_ABORT = 3,
};

/* Why a thread cannot go on. */
enum camkes_fault {
    CAMKES_FAULT_READ = 1, /* of memory that is not there or not the component's */
    CAMKES_FAULT_WRITE = 2,
    CAMKES_FAULT_EXECUTE = 3,
    CAMKES_FAULT_STACK = 4, /* stack overflow */
    CAMKES_FAULT_ARITHMETIC = 5,
    CAMKES_FAULT_INSTRUCTION = 6,
    CAMKES_FAULT_ABORT = 7,      /* abort() or a failed assertion */
    CAMKES_FAULT_CAPABILITY = 8, /* address: the slot */
    CAMKES_FAULT_LOOP = 9,       /* runs, but time does not pass */
    CAMKES_FAULT_EXIT = 10,      /* its component called exit(); address: the status */
    CAMKES_FAULT_KILLED = 11,    /* its component's process died; address: the signal */
    CAMKES_FAULT_SYSCALL = 12,   /* a system call of the workstation; address: its number */
    CAMKES_FAULT_BLOCKED = 13,   /* it waits outside the kernel, or its process does not react */
    CAMKES_FAULT_TIMEOUT = 14,   /* its budget is used up; only with a handler */
    CAMKES_FAULT_RECORD = 15,    /* it writes a record that is not its own; address: its kind */
};

/* What was left open, and is decided by a schedule. */
enum camkes_choice {
    CAMKES_CHOICE_TIE = 1,      /* which of several threads of one priority runs; 0: seL4's order */
    CAMKES_CHOICE_DURATION = 2, /* camkes_work_between; 0: the upper bound */
    CAMKES_CHOICE_JITTER = 3,   /* a timer fires on time (0) or as late as it may */
    CAMKES_CHOICE_POINT = 4,    /* at camkes_host_point; 0: go on */
    CAMKES_CHOICE_ARRIVAL = 5,  /* when threads are switched: which timer fires before; 0: none */
    CAMKES_CHOICE_FIRST = 6,    /* when no thread can run: which timer fires */
};
