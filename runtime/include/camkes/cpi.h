/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Component procedure interfaces (CPIs) with a protocol, and requests to them. docs/protocols.md
 * describes the protocols. All records are static tables of the generated code.
 */
#pragma once

#include <camkes/message.h>
#include <camkes/platform.h>
#include <stdatomic.h>

/* A row of a CPI's caller table: row `badge - 1` identifies the caller and limits what its labels
 * may claim. */
struct camkes_caller {
    seL4_Word sender_id;
    uint16_t context;     /* index into the CPI's contexts */
    uint8_t base;         /* the lowest priority */
    uint8_t bound;        /* the highest priority */
    bool is_task;         /* a task itself, not a request to a CPI that it serves */
    uint16_t task_bytes;  /* length of `tasks` in bytes */
    const uint8_t *tasks; /* bit set of task ids */
};

/* An origin of requests at a CPI. At most one of its requests is under way there. */
struct camkes_context {
    /* Written by the worker, read by the manager: manager of its nested request, 0: none. First, so
     * that its address costs no instruction. */
    _Atomic seL4_CPtr nested;

    const char *name;
    uint16_t id;     /* id in the plan */
    uintptr_t held;  /* the lock word while this context holds the lock */
    uint16_t route;  /* index among the contexts of the instance */
    uint8_t base;    /* priority of its requests while nothing is inherited */
    seL4_CPtr reply; /* slot for the reply capability of its worker while that waits for the lock */
    seL4_CPtr manager_as_worker; /* the manager's endpoint, badged for this context's worker */

    /* Written by the manager; the worker reads `effective` and `pushed`. */
    struct camkes_thread *_Atomic worker; /* NULL: no thread of the pool serves it */
    uint8_t request;                      /* priority of its own request */
    _Atomic uint8_t effective;            /* the maximum of that and of inherited priorities */
    _Atomic seL4_CPtr pushed;             /* manager that an update was or will be sent to */
    _Atomic uint16_t cause;               /* plan id of the context that its priority comes from */
    _Atomic bool pushing;                 /* an update may be under way, or about to be sent */
    uint64_t rank; /* among those that wait for the lock, 0: it does not (src/core/queue.h) */
    uint32_t next; /* index + 1 of the one that waits after it, 0: it is the last */

#if defined(CONFIG_KERNEL_MCS)
    /* of the manager, for overruns; see src/time/overrun.c */
    seL4_CPtr time;    /* scheduling context of the task, 0: it is none, or cannot be bound here */
    seL4_CPtr timeout; /* the manager's endpoint, badged for timeouts of the worker of this index */
    /* of the worker: manager that it has sent a priority to, and no CAMKES_CLEAR yet, 0: none */
    _Atomic seL4_CPtr raised;
    _Atomic bool paid; /* by the one with the id `cause`, also its nested requests */
    bool asked;        /* whether it can pay */
    bool suspended;    /* its caller waits for a reply until it is resumed, */
    uint16_t resumed;  /* by this id of a task */
#endif
};

#if CAMKES_MCS
/* A scheduling context that a manager may bind: of tasks, then extensions. */
struct camkes_payer {
    uint16_t id; /* of the task's context in the plan; CAMKES_NO_TASK: the extension of a CPI */
    seL4_CPtr time;

    /* of a task that waits further up: index + 1 of the context for whose request it does, 0: none
     */
    uint16_t awaits;
    uint8_t priority; /* and with which priority */
    bool asked;
};
#endif

struct camkes_cpi {
    const char *name;
    const struct camkes_place *place;
    uint16_t id; /* id in the plan */
    uint8_t ceiling;
    bool pooled;
    uint16_t contexts;
    uint16_t callers;
    struct camkes_context *context;
    const struct camkes_caller *caller;

    /* inherited CPIs: 0 if free, else `held` of the holder, which is its index + 1, with the flags
     * below */
    _Atomic uintptr_t lock;

    /* CPIs with a manager only */
    seL4_CPtr manager;
    seL4_CPtr wake; /* notification of the manager, 0: it always waits at its endpoint */
    seL4_CPtr authority;
    struct camkes_thread *const *pool;
    uint16_t threads;           /* threads in the pool, 0: it has none */
    uint32_t first;             /* index + 1 of the first that waits for the lock, 0: none */
    uint64_t arrivals;          /* number of those that have begun to wait */
    _Atomic uintptr_t *monitor; /* the lock word that it shares with other CPIs, NULL: `lock` */

#if defined(CONFIG_KERNEL_MCS)
    bool at_ceiling; /* its workers are, always: it keeps the order of waiters only */
    bool helps;      /* waiting tasks pay for the lock's holder */
    const struct camkes_thread *spare; /* then: the worker without clients */
    bool lends;                        /* they may do so in CPIs that it requests */
    bool lent;                         /* those that wait further up do so here */
    seL4_CPtr extension;               /* scheduling context for a holder without budget, 0: none */
    struct camkes_thread *extended;    /* the worker that has it */
    bool unlocked;                     /* its protocol has no lock */
    bool grouped;           /* it is a member of a group, whose manager has the waiters */
    bool aborts;            /* a request without budget ends */
    bool suspends;          /* and the task that made it waits until it is resumed */
    void (*rollback)(void); /* of the component, then; may be NULL */
    struct camkes_lent home;
    struct camkes_thread *homed; /* the worker that has the scheduling context of that */
    struct camkes_payer *payer;
    uint16_t payers;
#endif
};

/* The word of its lock. */
static inline _Atomic uintptr_t *camkes_lock_of(struct camkes_cpi *cpi)
{
    return cpi->monitor != NULL ? cpi->monitor : &cpi->lock;
}

/* Flags of a lock word, greater than any index. */
#define CAMKES_WAITERS ((uintptr_t)1 << 16)
/* The manager, which has the reply capability of the only waiter, waits at `wake`. */
#define CAMKES_MANAGER_WAITS ((uintptr_t)1 << 17)
/* The holder has left the CPI, and the manager has not handed the lock over yet. */
#define CAMKES_RELEASED ((uintptr_t)1 << 18)

/* `held` of the context that has the lock of a CPI, which may be that of a monitor; 0: it is free.
 */
static inline uintptr_t camkes_held_by(_Atomic uintptr_t *lock)
{
    return atomic_load(lock) & (CAMKES_WAITERS - 1);
}

/* The holder of a CPI's own lock; NULL if it is free. */
static inline struct camkes_context *camkes_holder(struct camkes_cpi *cpi)
{
    const uintptr_t held = camkes_held_by(&cpi->lock);
    return held == 0 ? NULL : &cpi->context[held - 1];
}

/* The capabilities by which one context of an instance makes requests through an interface. */
struct camkes_route {
    seL4_CPtr endpoint; /* 0: this context makes no such requests */
    seL4_CPtr manager;  /* manager of the CPI, 0: raised priorities are not sent to it */
};

/* A `uses` interface that is connected to a CPI with a protocol. */
struct camkes_uses {
    const char *name;
    uint16_t cpi;    /* plan id of the CPI at the other end */
    uint16_t routes; /* number of them */
    const struct camkes_route *route;
    bool one_route;  /* all threads that run code of the instance have the first route */
    seL4_Word label; /* of all requests of the instance, 0: that depends on the thread */
};

/* The row of a badge in the CPI's caller table; NULL: the badge is not that of a caller. */
static inline const struct camkes_caller *camkes_caller(const struct camkes_cpi *cpi,
                                                        seL4_Word badge)
{
    return badge - 1 < cpi->callers ? &cpi->caller[badge - 1] : NULL;
}

/* The sender of the request that the thread serves, as IFACE_get_sender_id() returns it. */
static inline seL4_Word camkes_sender_id(const struct camkes_thread *self)
{
    const struct camkes_caller *caller =
        self->cpi != NULL ? camkes_caller(self->cpi, self->badge) : NULL;
    return caller != NULL ? caller->sender_id : self->badge;
}

/* The context of the request that the thread serves, at a CPI with a protocol. */
static inline struct camkes_context *camkes_sender_context(const struct camkes_thread *self)
{
    return &self->cpi->context[self->cpi->caller[self->badge - 1].context];
}

/* Entry points of the manager of a CPI: one of its own, and one that is a member of a group. */
void camkes_manage_cpi(struct camkes_thread *self);
void camkes_manage_member(struct camkes_thread *self);
