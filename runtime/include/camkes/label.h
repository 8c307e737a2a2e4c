/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Layout of message labels. A label has 20 bits on a 32-bit kernel and 52 on a 64-bit kernel.
 *
 *     request, 64 bits: priority 0..7, task 8..19, sequence 20..35
 *     request, 32 bits: priority 0..7, task 8..13, sequence 14..19
 *     to a manager:     operation 0..3, priority 4..11, cause of the priority or pool index from 12
 * on
 *
 * The tool checks that priorities, tasks and pool indexes fit (camkes/model/limits.py). Sequence
 * numbers, which are for traces only, and causes are truncated.
 */
#pragma once

#include <camkes/platform.h>

#define CAMKES_LABEL_PRIORITY_BITS 8
#define CAMKES_LABEL_TASK_BITS (sizeof(seL4_Word) == 8 ? 12 : 6)
#define CAMKES_LABEL_SEQUENCE_BITS (sizeof(seL4_Word) == 8 ? 16 : 6)
#define CAMKES_LABEL_DETAIL_BITS (sizeof(seL4_Word) == 8 ? 16 : 8)

/* width of a request's label, and of a label to a manager; the bits above must be 0 */
#define CAMKES_LABEL_BITS                                                                          \
    (CAMKES_LABEL_PRIORITY_BITS + CAMKES_LABEL_TASK_BITS + CAMKES_LABEL_SEQUENCE_BITS)
#define CAMKES_OPERATION_BITS (12 + CAMKES_LABEL_DETAIL_BITS)

static inline seL4_Word camkes_bits(seL4_Word word, unsigned first, unsigned count)
{
    return word >> first & (((seL4_Word)1 << count) - 1);
}

struct camkes_request_label {
    uint8_t priority;
    uint16_t task; /* CAMKES_NO_TASK: none */
    uint16_t sequence;
};

static inline seL4_Word camkes_request_label(struct camkes_request_label label)
{
    const unsigned task = CAMKES_LABEL_PRIORITY_BITS, sequence = task + CAMKES_LABEL_TASK_BITS;
    return (seL4_Word)label.priority | camkes_bits(label.task, 0, CAMKES_LABEL_TASK_BITS) << task |
           camkes_bits(label.sequence, 0, CAMKES_LABEL_SEQUENCE_BITS) << sequence;
}

static inline struct camkes_request_label camkes_request_label_read(seL4_Word word)
{
    const unsigned task = CAMKES_LABEL_PRIORITY_BITS, sequence = task + CAMKES_LABEL_TASK_BITS;
    const seL4_Word none = camkes_bits(CAMKES_NO_TASK, 0, CAMKES_LABEL_TASK_BITS);
    const seL4_Word id = camkes_bits(word, task, CAMKES_LABEL_TASK_BITS);
    return (struct camkes_request_label){
        .priority = (uint8_t)camkes_bits(word, 0, CAMKES_LABEL_PRIORITY_BITS),
        .task = id == none ? CAMKES_NO_TASK : (uint16_t)id,
        .sequence = (uint16_t)camkes_bits(word, sequence, CAMKES_LABEL_SEQUENCE_BITS),
    };
}

/* The label of requests of `priority` for a task, an initialiser; no message has CAMKES_LABEL_NONE,
 * which is that of no task. */
#define CAMKES_LABEL_OF(priority, task)                                                            \
    ((seL4_Word)(priority) | (seL4_Word)(task) << CAMKES_LABEL_PRIORITY_BITS)
#define CAMKES_LABEL_NONE (~(seL4_Word)0)

static inline uint16_t camkes_label_task(seL4_Word label)
{
    return camkes_request_label_read(label).task;
}

/* Operations of a CPI's manager; the first five and CAMKES_TELL are requested by its own workers.
 */
enum camkes_operation {
    CAMKES_SIGNAL_TAKEN = 0, /* to the manager of a group, by a thread whose time was over before */
    CAMKES_ACQUIRE_LOCK = 1,
    CAMKES_RELEASE_LOCK = 2,
    CAMKES_BEGIN_REQUEST = 3, /* a thread of the pool, by index */
    CAMKES_END_REQUEST = 4,
    CAMKES_SETTLE = 5, /* wait until updates in progress have been sent */
    CAMKES_UPDATE = 6, /* the priority of a caller was raised */
    CAMKES_CLEAR = 7,  /* the request with the raised priority ended; detail 1: it was aborted */
    /* to the manager of a group, see condition.h; it forwards those of the pool */
    CAMKES_WAIT = 8, /* detail: index of the context of a pool's thread */
    /* by a worker: the manager of its nested request is to know all that wait for it */
    CAMKES_TELL = 8,
    /* as CAMKES_UPDATE, where the one that the priority comes from does not pay for the request */
    CAMKES_RAISE = 8,
    /* the priority of a caller has become that one, which is lower: the criticality has fallen */
    CAMKES_FALL = 9,
    CAMKES_POST = 9,
    /* by a thread of the instance of the CPI: a suspended task, by its id, goes on */
    CAMKES_RESUME = 9,
    /* by that manager, to those of its tasks and CPIs; the first word is the index of a context */
    CAMKES_SET_PRIORITY = 10, /* replies with the nested request, as the slot of its manager */
    /* by that manager, too, and with the same reply */
    CAMKES_FIND_NESTED = 9,
    CAMKES_TAKE_LOCK = 11, /* or else count a waiter; replies with the index of the holder + 1 */
    CAMKES_GIVE_LOCK = 12, /* priority 1: others wait for it; detail: the context that had it */
    CAMKES_FREE_LOCK = 13, /* while no context waits for it */
    /* to the manager of a group */
    CAMKES_POST_ALL = 14,
    /* by that manager to one of its CPIs: the context that was given the lock can execute */
    CAMKES_GRANTED = 14,
    /* to the manager of a CPI, by a worker that is not on the time of its caller any more;
     * priority: enum camkes_return */
    CAMKES_RETURN_TIME = 15,
    CAMKES_WAIT_UNTIL = 15, /* a wait, with the time at which it ends at the latest */
};

/* Whether a caller's priority has changed. */
static inline bool camkes_is_update(seL4_Word operation)
{
    return operation == CAMKES_UPDATE ||
           (CAMKES_MCS && (operation == CAMKES_RAISE || operation == CAMKES_FALL));
}

/* When a worker returns scheduling contexts that it has besides the time of its caller. */
enum camkes_return {
    CAMKES_RETURN_REPLIED = 0, /* its request is answered, or aborted */
    CAMKES_RETURN_BEGUN = 1,   /* and it has begun another one */
    CAMKES_RETURN_RELEASE = 2, /* it is about to give up the lock, in a group, */
    CAMKES_RETURN_WAIT = 3,    /* to wait for a condition */
    CAMKES_RETURN_NOTHING = 4, /* it needs the priority that the manager is about to set */
};

/* The label of the reply to a thread whose time was over before a signal. */
#define CAMKES_TIME_OVER 255

static inline seL4_Word camkes_operation_label(enum camkes_operation operation, uint8_t priority,
                                               uint16_t detail)
{
    return (seL4_Word)operation | (seL4_Word)priority << 4 |
           camkes_bits(detail, 0, CAMKES_LABEL_DETAIL_BITS) << 12;
}
