/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The threads of an address space. Their records are static tables of the generated code. */
#pragma once

#include <sel4/sel4.h>
#include <stdbool.h>
#include <stdint.h>

#ifndef CAMKES_KERNEL_HOST
#define CAMKES_KERNEL_HOST 0
#endif

struct camkes_caller;
struct camkes_context;
struct camkes_cpi;
struct camkes_emptying;
struct camkes_instance;
struct camkes_task;

#if defined(CONFIG_KERNEL_MCS)
#define CAMKES_MCS 1
#else
#define CAMKES_MCS 0
#endif

#if CAMKES_MCS
#include <camkes/worker_states.h>

/* What passive threads need to come to where they wait for callers; see src/time/passive.c. */
struct camkes_lent {
    seL4_CPtr context; /* scheduling context */
    seL4_CPtr done;    /* notification */
    seL4_CPtr gate;    /* endpoint */
};
#endif

struct camkes_thread {
    const char *name;
    const struct camkes_instance *instance;
    /* the entry point of the thread */
    void (*start)(struct camkes_thread *self);
    /* the interface it serves, if that has a record */
    void *interface;
    /* the endpoint on which it waits for requests */
    seL4_CPtr endpoint;

    /* of a thread that serves or makes prioritised requests */
    struct camkes_cpi *cpi;
    struct camkes_task *task;
    seL4_CPtr tcb;
    uint16_t number;    /* index in the boot table, for traces */
    uint8_t priority;   /* priority at boot */
    uint16_t origin;    /* plan id of the context that it makes requests for */
    uint16_t route;     /* index of that context in the instance's routes */
    seL4_Word sequence; /* of its last request, for traces */

    /* the request that it serves: the context whose priority others may raise, else NULL, and label
     * and badge as they came; a control thread has the label of its own requests. */
    struct camkes_context *context;
    seL4_Word label;
    seL4_Word badge;

    /* the events whose pending occurrences it is delivering, innermost first */
    const struct camkes_emptying *emptying;

#if defined(CONFIG_KERNEL_MCS)
    seL4_CPtr reply;           /* the reply object with which it receives messages */
    const uint8_t *priorities; /* by the criticality of the system, NULL: `priority` */
    bool passive;              /* it runs on the scheduling contexts of its callers */
    bool aborted;              /* a request that it made was aborted */
    bool serving;              /* between the records of a request's begin and end */
    bool rolls_back;           /* its request was aborted after it had begun */
    _Atomic bool arriving;     /* it is home, and its manager sets its priority next */
    bool replied;              /* its request is answered: from now on it keeps what it has */
    _Atomic unsigned extended; /* before it receives, it returns what it has: 0 or 1, in a word, as
                                * RISC-V exchanges no bytes */
    /* of the manager: what it executes on; the scheduling context of its request, while it does
     * not have that; and that of others which it has. 0: there is none */
    enum camkes_worker_state state;
    seL4_CPtr withdrawn;
    seL4_CPtr donated;
    const struct camkes_lent *home; /* what it uses after an overrun, NULL: that of its instance */
#endif
};

#define CAMKES_NO_TASK 0xffff
#define CAMKES_NO_ROUTE 0xffff

/* The running thread: in its IPC buffer, or in thread-local storage, which takes one load less. */
#if CAMKES_KERNEL_HOST
static inline struct camkes_thread *camkes_self(void)
{
    return (struct camkes_thread *)seL4_GetUserData();
}

static inline void camkes_set_self(struct camkes_thread *self)
{
    seL4_SetUserData((seL4_Word)self);
}
#else
extern __thread struct camkes_thread *camkes_running;

static inline struct camkes_thread *camkes_self(void)
{
    return camkes_running;
}

static inline void camkes_set_self(struct camkes_thread *self)
{
    camkes_running = self;
}
#endif

/* The threads of this address space by index; generated. */
extern struct camkes_thread *const camkes_threads[];
extern const unsigned camkes_thread_count;

/* A request of the running thread was aborted. */
static inline void camkes_request_was_aborted(void)
{
#if CAMKES_MCS
    camkes_self()->aborted = true;
#endif
}

unsigned camkes_thread_index(const struct camkes_thread *thread);
