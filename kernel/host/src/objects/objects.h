/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Kernel objects and capabilities. */
#pragma once

#include <sel4/sel4.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum right {
    RIGHT_WRITE = 1,
    RIGHT_READ = 2,
    RIGHT_GRANT = 4,
    RIGHT_GRANT_REPLY = 8,
};

enum object_kind {
    OBJECT_NOTHING, /* of an empty slot */
    OBJECT_ENDPOINT,
    OBJECT_NOTIFICATION,
    OBJECT_TCB,
    OBJECT_TIMER,
    OBJECT_REGION,
    OBJECT_CNODE,
    OBJECT_CONTEXT,       /* a scheduling context; this and the next two of an MCS kernel */
    OBJECT_REPLY_OBJECT,  /* what a call is answered through */
    OBJECT_SCHED_CONTROL, /* the right to configure scheduling contexts */
    OBJECT_REPLY,         /* only of capabilities: `thread` waits for this reply */
};

struct thread;
struct object;

struct cap {
    enum object_kind kind;
    uint8_t rights;
    uint64_t badge;
    union {
        struct object *object;
        struct thread *thread;
    };
};

struct queue {
    struct thread *head, *tail;
};

enum endpoint_state { ENDPOINT_IDLE, ENDPOINT_SEND, ENDPOINT_RECV };

struct endpoint {
    enum endpoint_state state;
    struct queue queue;
};

struct notification {
    bool active;
    uint64_t word; /* if active */
    struct queue queue;
    bool of_timers;         /* no thread can signal it */
    struct object *context; /* that is given to a waiter without one; NULL: none */
};

struct timer {
    struct object *notification;
    uint64_t badge;
    uint64_t due;    /* when it fires next */
    uint64_t period; /* 0: once */
    uint64_t jitter; /* it may fire so much later than it should */
    uint64_t delay;  /* how much later `due` is than it should be */
    uint64_t expirations;
    uint64_t fired; /* since boot; only with --arrivals */
    bool armed;
    bool decided;   /* the delay of this expiry is chosen */
    unsigned place; /* in the heap, if armed */
    unsigned rank;  /* among all timers, by name */
};

struct region {
    uint64_t size; /* a multiple of the page size */
    off_t offset;  /* in the memory file */
    char *live;    /* where a search saves it */
};

/* Time that can be used from an instant on, in nanoseconds. */
struct refill {
    uint64_t time, amount;
};

/* A scheduling context, see refill.c and budget.c. */
struct context {
    struct refill *refills; /* by time */
    unsigned room;          /* for refills */
    unsigned most;          /* how many it may have, 0: it is not configured */
    unsigned count;
    uint64_t budget;
    uint64_t period;   /* 0: the budget comes again when it is used up, for round robin */
    uint64_t consumed; /* since that was asked for */
    uint64_t spent;    /* 1 + the instant at which it was used up, 0: see timeout.c */
    uint64_t badge;
    bool sporadic;
    struct thread *thread;       /* that runs on it, NULL: none */
    struct object *notification; /* that has it to give, NULL: none */
    struct object *reply;        /* of the last call that it was donated with, NULL: none */
};

/* A reply object. Those of calls that donated one context are a list. */
struct reply {
    struct thread *thread;          /* that receives with it or waits for it, NULL: none */
    struct object *earlier, *later; /* calls with the same context */
    struct object *context;         /* that was donated, of the last of these calls */
};

/* Processor time that operations on an object take, in nanoseconds, see costs.c. */
enum { COST_OPERATIONS = 16 };
struct costs {
    uint64_t call, reply;
    uint64_t received[COST_OPERATIONS]; /* after a message with this operation, or a signal (0) */
};

struct object {
    unsigned number;
    const char *name;
    enum object_kind kind;
    struct costs *costs; /* NULL: none */
    union {
        struct endpoint endpoint;
        struct notification notification;
        struct timer timer;
        struct region region;
        struct thread *thread; /* of a TCB */
        struct context *context;
        struct reply reply;
    };
};
