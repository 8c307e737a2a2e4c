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
    OBJECT_REPLY, /* only of capabilities: `thread` waits for this reply */
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
};

struct region {
    uint64_t size; /* a multiple of the page size */
    off_t offset;  /* in the memory file */
};

struct object {
    unsigned number;
    const char *name;
    enum object_kind kind;
    union {
        struct endpoint endpoint;
        struct notification notification;
        struct timer timer;
        struct region region;
        struct thread *thread; /* of a TCB */
    };
};
