/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Layout of message labels. A label has 20 bits on a 32-bit kernel and 52 on a 64-bit kernel.
 *
 *     request, 64 bits: priority 0..7, task 8..19, sequence 20..35, method 36..51
 *     request, 32 bits: priority 0..7, task 8..13, sequence 14..19
 *     to a manager:     operation 0..3, priority 4..11, cause of the priority or pool index from 12
 * on
 *
 * The tool checks that priorities, tasks and pool indexes fit (camkes/model/limits.py). Sequence
 * numbers, which are for traces only, and causes are truncated. The method is that of an interface
 * with several; on a 32-bit kernel the message begins with it.
 */
#pragma once

#include <camkes/platform.h>

#define CAMKES_LABEL_PRIORITY_BITS 8
#define CAMKES_LABEL_TASK_BITS (sizeof(seL4_Word) == 8 ? 12 : 6)
#define CAMKES_LABEL_SEQUENCE_BITS (sizeof(seL4_Word) == 8 ? 16 : 6)
#define CAMKES_LABEL_DETAIL_BITS (sizeof(seL4_Word) == 8 ? 16 : 8)

/* width of a request's label without the method, and of a label to a manager; the bits above must
 * be 0, but for a method */
#define CAMKES_LABEL_BITS                                                                          \
    (CAMKES_LABEL_PRIORITY_BITS + CAMKES_LABEL_TASK_BITS + CAMKES_LABEL_SEQUENCE_BITS)
#define CAMKES_OPERATION_BITS (12 + CAMKES_LABEL_DETAIL_BITS)

/* Whether labels have the numbers of methods, which are of `type`; what one adds to a label; and
 * the bytes that it has at the beginning of a message. */
#define CAMKES_METHOD_IN_LABEL(type) (sizeof(seL4_Word) == 8 && sizeof(type) <= 2)
#define CAMKES_LABEL_METHOD(type, number)                                                          \
    (CAMKES_METHOD_IN_LABEL(type) ? (seL4_Word)(number) << CAMKES_LABEL_BITS : 0)
#define CAMKES_METHOD_SIZE(type) (CAMKES_METHOD_IN_LABEL(type) ? 0 : sizeof(type))

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

/* The method of a message, and the message without it. */
CAMKES_INLINE seL4_Word camkes_label_method(seL4_MessageInfo_t info)
{
    return seL4_MessageInfo_get_label(info) >> CAMKES_LABEL_BITS;
}

CAMKES_INLINE seL4_MessageInfo_t camkes_without_method(seL4_MessageInfo_t info)
{
    const seL4_Word label = ((seL4_Word)1 << CAMKES_LABEL_BITS) - 1;
    info.words[0] &= seL4_MessageInfo_new(label, 7, 3, 127).words[0];
    return info;
}

static inline uint16_t camkes_label_task(seL4_Word label)
{
    return camkes_request_label_read(label).task;
}

/*
 * Operations of managers, a list for each kind of sender, which the badge of a message says: what
 * one may ask for is not in the list of another. X(NAME, number, kernel): the number has 4 bits;
 * `kernel` is 0 for what this kernel has no use for.
 */

/* clang-format off */
/* By a worker of a CPI, or a task that helps, to its manager: that of its CPI or group, or of the
 * task. Detail of the begin and the end of a request: the index of the thread in the pool. */
#define CAMKES_WORKER_OPERATIONS(X) \
    X(ACQUIRE_LOCK, 1, 1) \
    X(RELEASE_LOCK, 2, 1) \
    X(BEGIN_REQUEST, 3, 1) \
    X(END_REQUEST, 4, 1) \
    X(SETTLE, 5, 1)        /* wait until updates in progress have been sent */ \
    X(TELL, 8, CAMKES_MCS) /* the manager of its nested request is to know all that wait for it */

/* By the caller of a CPI, or the manager that it has itself, to that of the CPI or its group.
 * Detail: plan id of the context that the priority comes from. */
#define CAMKES_CALLER_OPERATIONS(X) \
    X(UPDATE, 6, 1)         /* its priority was raised */ \
    X(CLEAR, 7, 1)          /* the request with that priority ended; detail 1: it was aborted */ \
    X(RAISE, 8, CAMKES_MCS) /* as UPDATE, where the one that it comes from does not pay */ \
    X(FALL, 9, CAMKES_MCS)  /* its priority is that lower one now: the criticality has fallen */

/* By a thread that uses a condition, to the manager of the group. Detail of a wait: the index of
 * the context that a thread of a pool serves. */
#define CAMKES_WAITER_OPERATIONS(X) \
    X(SIGNAL_TAKEN, 0, 1) /* by a thread whose time was over before */ \
    X(WAIT, 8, 1) \
    X(POST, 9, 1) \
    X(POST_ALL, 14, 1) \
    X(WAIT_UNTIL, 15, 1)  /* with the time at which the wait ends at the latest */

/* By the manager of a group to those of its tasks and CPIs, and by a scheduler to those of its
 * tasks. The first word is the index of a context; that of the reply is stated here. */
#define CAMKES_MEMBER_OPERATIONS(X) \
    X(MEMBER_BEGIN, 3, 1)  /* BEGIN_REQUEST and END_REQUEST, passed on */ \
    X(MEMBER_END, 4, 1) \
    X(FIND_NESTED, 9, 1)   /* the nested request, as the slot of its manager, 0: none */ \
    X(SET_PRIORITY, 10, 1) /* the same if the priority rises; detail: its cause */ \
    X(TAKE_LOCK, 11, 1)    /* or else count a waiter: the index of the holder + 1, 0: taken */ \
    X(GIVE_LOCK, 12, 1)    /* priority 1: others wait for it; detail: the context that had it; */ \
                           /* whether its time is owed to it, and GRANTED follows */ \
    X(FREE_LOCK, 13, 1)    /* while no context waits for it */ \
    X(GRANTED, 14, 1)      /* the context that was given the lock can execute */

/* By a worker to the manager of its CPI, also in a group, with the badge of its timeouts. */
#define CAMKES_TIMEOUT_OPERATIONS(X) \
    X(RESUME, 9, CAMKES_MCS)       /* a suspended task goes on; detail: its id */ \
    X(RETURN_TIME, 15, CAMKES_MCS) /* of others; priority: enum camkes_return */

/* By the time manager to that of a CPI or group; the first word is the index of a context, or its
 * plan id. */
#define CAMKES_TIME_OPERATIONS(X) \
    X(SET_BASE, 6, CAMKES_MCS) /* its base priority is that one */

/* By a task of a band to its scheduler. Both replies come when its priority is that of the answer.
 */
#define CAMKES_JOB_OPERATIONS(X) \
    X(JOB_BEGINS, 1, 1) /* with its deadline: ns, as camkes_timer_message_time() has it */ \
    X(JOB_ENDS, 2, 1)
/* clang-format on */

#define CAMKES_OPERATION_NUMBER(name, number, kernel) CAMKES_##name = (number),
#define CAMKES_OPERATION_BIT(name, number, kernel) | (unsigned)(kernel) << (number)

/*
 * For a kind of sender: enum camkes_KIND_operation; camkes_KIND_label(), the label of a message;
 * and camkes_KIND_read(), which returns whether a label is that of such a message, and of which.
 */
#define CAMKES_OPERATIONS_OF(kind, OPERATIONS)                                                     \
    enum camkes_##kind##_operation{OPERATIONS(CAMKES_OPERATION_NUMBER)};                           \
    static inline seL4_Word camkes_##kind##_label(enum camkes_##kind##_operation operation,        \
                                                  uint8_t priority, uint16_t detail)               \
    {                                                                                              \
        return (seL4_Word)operation | (seL4_Word)priority << 4 |                                   \
               camkes_bits(detail, 0, CAMKES_LABEL_DETAIL_BITS) << 12;                             \
    }                                                                                              \
    static inline bool camkes_##kind##_read(seL4_Word label,                                       \
                                            enum camkes_##kind##_operation *operation)             \
    {                                                                                              \
        *operation = (enum camkes_##kind##_operation)camkes_bits(label, 0, 4);                     \
        return ((0u OPERATIONS(CAMKES_OPERATION_BIT)) >> *operation & 1u) != 0;                    \
    }

CAMKES_OPERATIONS_OF(worker, CAMKES_WORKER_OPERATIONS)
CAMKES_OPERATIONS_OF(caller, CAMKES_CALLER_OPERATIONS)
CAMKES_OPERATIONS_OF(waiter, CAMKES_WAITER_OPERATIONS)
CAMKES_OPERATIONS_OF(member, CAMKES_MEMBER_OPERATIONS)
CAMKES_OPERATIONS_OF(timeout, CAMKES_TIMEOUT_OPERATIONS)
CAMKES_OPERATIONS_OF(time, CAMKES_TIME_OPERATIONS)
CAMKES_OPERATIONS_OF(job, CAMKES_JOB_OPERATIONS)

/* The other values of a label to a manager. */
static inline uint8_t camkes_label_priority(seL4_Word label)
{
    return (uint8_t)camkes_bits(label, 4, 8);
}

static inline uint16_t camkes_label_detail(seL4_Word label)
{
    return (uint16_t)camkes_bits(label, 12, CAMKES_LABEL_DETAIL_BITS);
}

/* When a worker returns scheduling contexts that it has besides the time of its caller. NOTHING is
 * the last. */
enum camkes_return {
    CAMKES_RETURN_REPLIED = 0, /* its request is answered, or aborted */
    CAMKES_RETURN_BEGUN = 1,   /* and it has begun another one */
    CAMKES_RETURN_RELEASE = 2, /* it is about to give up the lock, in a group, */
    CAMKES_RETURN_WAIT = 3,    /* to wait for a condition */
    CAMKES_RETURN_NOTHING = 4, /* it needs the priority that the manager is about to set */
};

/* The label of the reply to a thread whose time was over before a signal. */
#define CAMKES_TIME_OVER 255
