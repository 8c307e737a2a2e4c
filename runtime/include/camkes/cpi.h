/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Component procedure interfaces (CPIs) with a protocol, and requests to them. docs/protocols.md
 * tells how it works. All records are static tables of the generated code.
 */
#pragma once

#include <camkes/message.h>
#include <camkes/thread.h>
#include <stdatomic.h>

enum camkes_protocol { CAMKES_PROPAGATED, CAMKES_INHERITED, CAMKES_FIXED };

/* A row of a CPI's caller table: row `badge - 1` says who called, and what it may claim. */
struct camkes_caller {
    seL4_Word sender_id;
    uint16_t context;     /* index into the CPI's contexts */
    uint8_t base;         /* the lowest priority */
    uint8_t bound;        /* the highest priority */
    uint16_t task_bytes;  /* of `tasks` */
    const uint8_t *tasks; /* the ids of tasks, as a set of bits */
};

/* An origin of requests at a CPI. At most one of its requests is under way there. */
struct camkes_context {
    const char *name;
    uint16_t id;     /* of the plan */
    uint16_t route;  /* index among the contexts of the instance */
    uint8_t base;    /* priority of its requests while nothing is inherited */
    seL4_CPtr reply; /* slot for the reply capability of its worker while that waits for the lock */
    seL4_CPtr manager_as_worker; /* the manager's endpoint, badged for this context's worker */

    /* The manager's; the worker reads `effective` and `pushed`. */
    struct camkes_thread *_Atomic worker; /* NULL: a pool, and none serves it now */
    uint8_t request;                      /* what its own request is worth */
    _Atomic uint8_t effective;            /* that, and what it inherits */
    _Atomic uintptr_t pushed;             /* the nested request that an update was sent after */
    _Atomic uint16_t cause;               /* plan id of the context it has its priority from */
    bool waiting;
    uint16_t place; /* in the queue */
    uint32_t arrival;

    /* The worker's; the manager reads it: the nested request it is in, 0: none. */
    _Atomic uintptr_t nested;
};

struct camkes_cpi {
    const char *name;
    const struct camkes_place *place;
    uint16_t id; /* of the plan */
    enum camkes_protocol protocol;
    uint8_t ceiling;
    bool pooled;
    uint16_t contexts;
    uint16_t callers;
    struct camkes_context *context;
    const struct camkes_caller *caller;

    /* inherited: 0 is free, else the holder's index + 1, with CAMKES_WAITERS if somebody waits */
    _Atomic uintptr_t lock;

    /* with a manager */
    seL4_CPtr manager;
    seL4_CPtr authority;
    struct camkes_thread *const *pool;
    uint16_t threads; /* of the pool */
    uint16_t *queue;  /* a heap of context indexes */
    uint16_t queued;
    uint32_t arrivals;
};

/* above every index */
#define CAMKES_WAITERS ((uintptr_t)1 << 16)

/* A way out of an instance for one context. */
struct camkes_route {
    seL4_CPtr endpoint; /* 0: this context cannot come here */
    seL4_CPtr manager;  /* of the CPI behind it, 0: it need not know of raised priorities */
};

/* A `uses` interface that is connected to a CPI with a protocol. */
struct camkes_uses {
    const char *name;
    uint16_t cpi; /* plan id of the CPI behind it */
    const struct camkes_route *route;
};

/* Sends the request in the message registers as the running thread's; returns the reply. */
seL4_MessageInfo_t camkes_request(const struct camkes_uses *to, unsigned words);

/*
 * Around the handler of a CPI: after the request was read and found good, and when its reply is
 * written. In between the handler has the CPI's lock. The first returns false, and sets the
 * message's error, if the request cannot begin.
 */
bool camkes_begin_request(struct camkes_thread *self, struct camkes_message *request);
void camkes_end_request(struct camkes_thread *self);

/* What threads do: serve a CPI, be its manager, serve an interface without a protocol. */
void camkes_serve_cpi(struct camkes_thread *self);
void camkes_manage_cpi(struct camkes_thread *self);
void camkes_serve_plain(struct camkes_thread *self);
