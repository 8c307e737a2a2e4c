/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Address spaces, their threads, and what can happen to these. */
#pragma once

#include "objects/objects.h"
#include <camkes/trace.h>
#include <stddef.h>

enum {
    LINE_LENGTH = 512, /* a longer line of output is cut in pieces */
};

struct mapping {
    const char *symbol;
    struct object *region;
    uint8_t rights;
    void *place; /* where it is */
};

/* What records of an address space in the trace may name, beside its own threads. */
enum about {
    ABOUT_SERVES,   /* CPIs whose requests it serves */
    ABOUT_REQUESTS, /* CPIs that it requests */
    ABOUT_CONTEXTS,
    ABOUT_TASKS,
    ABOUT_CONDITIONS, /* that its group manager decides about */
    ABOUT_WAITERS,    /* threads that wait for these */
    ABOUT_TURNS,      /* contexts that its scheduler gives turns */
    ABOUT_LEVELS,     /* criticalities of the system that it sets */
    ABOUT_COUNT
};

/* A set of numbers below `count`, a bit each. */
struct ids {
    uint64_t *bits;
    unsigned count;
};

struct space {
    unsigned number;
    const char *name;
    const char *image;
    size_t heap; /* bytes that its code may allocate */
    int copy;    /* a descriptor of a copy of the image, 0: there is none */
    struct cap *slots;
    seL4_Word slot_count; /* a power of two */
    struct mapping *mappings;
    unsigned mapping_count;
    struct ids about[ABOUT_COUNT];
    void (*entry)(unsigned); /* valid in its own process, as what follows */
    void *handle;            /* of the image, for the loader */
    uint64_t base;           /* where it is */
    uint64_t text, text_end; /* its code */
    void *storage;           /* its thread-local variables */
    size_t storage_size;
    _Atomic uint32_t baton; /* 1: control was handed to this process */
    _Atomic bool dead;
    _Atomic bool blocked; /* it was killed because it did not react */
    int death;            /* wait status */
    pid_t pid;
};

enum thread_state {
    THREAD_INACTIVE,
    THREAD_RUNNING, /* or ready */
    THREAD_BLOCKED_SEND,
    THREAD_BLOCKED_RECV,
    THREAD_BLOCKED_REPLY,
    THREAD_BLOCKED_NOTIFICATION,
};

enum { FAULT_FRAMES = 32 };

struct fault {
    enum camkes_fault kind; /* 0: none */
    bool after_reply;       /* a timeout, at the reply to a Call */
    uint64_t address, pc, sp;
    uint64_t offset; /* of pc in its module */
    char module[128];
    char library[64]; /* the function outside the image that was called there, "": none */
    unsigned frame_count;
    uint64_t frames[FAULT_FRAMES]; /* calls in the image, innermost first: offsets in it */
    seL4_Word label;               /* the message for a fault handler */
    unsigned length;
    seL4_Word message[7];
};

/* An unhandled fault, as it is reported at the end. */
struct report {
    uint64_t time;
    const struct thread *thread;
    const struct thread *cause; /* who ended the component, NULL: no thread */
    struct fault fault;
    char finding[128]; /* of a sanitizer, in words; "": it is a fault */
    char text[4096];   /* and its own report */
};

/* Memory that a thread is about to access, `size` 0: none. `place` is the address, or for memory
 * that address spaces share, wherever it is in each of them, SHARED_PLACE and its offset in all
 * such memory. `whole`: of at most a word, which cannot be seen half written, and the program says
 * that others may access it (atomic, or volatile). `aside`: see learned.c. */
struct access {
    uint64_t place, from, size;
    bool write, whole, aside;
};

#define SHARED_PLACE ((uint64_t)1 << 62)

/* Whose memory it is: the stack of the thread that accesses it, that of another one, or any
 * other. */
enum reach { REACH_OWN, REACH_STACK, REACH_ANY };

/* A work whose duration is between bounds, and when it ends if nothing interrupts it. */
struct between {
    uint64_t low, high, end;
};

enum { MOST_BETWEEN = 4, MOST_OFFSETS_OF_WORK = 12 };

struct thread {
    void *sp; /* where its registers are saved */
    seL4_IPCBuffer *ipc;
    struct space *space;
    unsigned number;
    struct object *tcb;
    const char *instance;
    unsigned index;    /* in its address space */
    uint16_t task;     /* whose jobs it begins and ends; NONE: none */
    uint64_t jobs;     /* of that task, so far */
    uint64_t recorded; /* bytes in the trace */
    uint8_t priority, max_priority, domain;
    struct ready *ready; /* the queues of its domain */
    enum thread_state state;
    bool queued;           /* in a ready queue */
    bool at_point;         /* it was preempted at a point */
    bool starts;           /* it has not come to where it waits for requests or events */
    bool timeless;         /* of an MCS kernel: it has no context with time */
    bool postponed;        /* it waits for a refill of its context */
    void (*restart)(void); /* where its code goes on after camkes_host_restart() */
    bool redo;             /* it was taken out of a kernel operation and starts that again */
    bool is_call, can_grant, can_grant_reply; /* of the message it sends; the receiver's grant */
    uint64_t badge;                           /* of the message it has received */
    uint64_t sent_badge;                      /* of the one it sends, maybe a fault */
    struct object *waits_for;
    struct thread *next, *previous;    /* in its queue */
    struct cap caller;                 /* the reply capability it got with the last call */
    struct cap *reply_slot;            /* where the capability to reply to this thread is */
    seL4_CPtr fault_slot;              /* 0: none */
    struct object *context;            /* this and the next three of an MCS kernel; NULL: none */
    struct object *reply;              /* that it receives with or waits for */
    struct cap fault_cap, timeout_cap; /* its handlers' endpoints */
    struct fault fault;
    struct access access;                 /* see accesses.c */
    struct between between[MOST_BETWEEN]; /* in a search, since it last waited for a signal */
    unsigned between_count;
    uint64_t work;  /* processor time it has still to consume */
    uint64_t slice; /* processor time to the end of its time slice */
    uint64_t stack_size;
    int exit_status;
    char *guard, *stack, *stack_top;
    char *fault_stack, *fault_stack_top; /* where its faults are handled */
    uint64_t called_from;                /* by the kernel operation under way */
    struct registers *interrupted;       /* at a fault, see signals.c */
    void *storage;                       /* its thread-local variables while others run */
    void *fiber;                         /* for the address sanitizer */
    unsigned notes;                      /* remarks made about it */
    unsigned line_length;
    char line[LINE_LENGTH]; /* output without its newline yet */
};
