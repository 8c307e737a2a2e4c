/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The threads of an address space. Their records are static tables of the generated code. */
#pragma once

#include <camkes/platform.h>

struct camkes_caller;
struct camkes_context;
struct camkes_cpi;
struct camkes_emptying;
struct camkes_instance;
struct camkes_task;

struct camkes_thread {
    const char *name;
    const struct camkes_instance *instance;
    /* what the thread does, from its first instruction on */
    void (*start)(struct camkes_thread *self);
    /* the interface it is for, where that needs a record */
    void *interface;
    /* where it waits for requests */
    seL4_CPtr endpoint;
    /* unmarshals a request of `words` words, serves it and marshals the reply, which it returns */
    seL4_MessageInfo_t (*serve)(struct camkes_thread *self, unsigned words);

    /* a thread that serves or originates prioritised requests */
    struct camkes_cpi *cpi;
    struct camkes_task *task;
    seL4_CPtr tcb;
    uint16_t number;    /* in the boot table, for traces */
    uint8_t priority;   /* that it was given at boot */
    uint16_t origin;    /* plan id of the context whose requests it makes */
    uint16_t route;     /* index of that context in the instance's routes */
    uint16_t task_id;   /* of the task it works for, CAMKES_NO_TASK: none */
    seL4_Word sequence; /* of its last request */

    /* the request that it serves */
    struct camkes_context *context;     /* whose priority others may raise, else NULL */
    const struct camkes_caller *caller; /* at a CPI with a protocol */
    seL4_Word label;
    seL4_Word badge;
    seL4_Word sender_id;

    /* the events whose handed off events it gives to callbacks, the last one first */
    const struct camkes_emptying *emptying;
};

#define CAMKES_NO_TASK 0xffff
#define CAMKES_NO_ROUTE 0xffff

/* The running thread. */
static inline struct camkes_thread *camkes_self(void)
{
    return (struct camkes_thread *)seL4_GetUserData();
}

/* The threads of this address space by index; generated. */
extern struct camkes_thread *const camkes_threads[];
extern const unsigned camkes_thread_count;

unsigned camkes_thread_index(const struct camkes_thread *thread);
