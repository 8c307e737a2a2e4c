/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The state of the host kernel. `kernel` points to shared memory that is mapped at the same address
 * in every process, so pointers between its parts mean the same everywhere. `process` belongs to
 * one process.
 */
#pragma once

#include "threads.h"
#include <camkes/host.h>
#include <stdatomic.h>

enum {
    PRIORITIES = 256,
    NONE = 65535,        /* no thread, no object: in traces and links */
    STATUS_DAMAGED = 4,  /* exit status of a process that found the kernel's memory overwritten */
    STATUS_MISLED = 5,   /* the same, of one that such damage woke: another process did it */
    HANDOVER_RUNNER = 0, /* who has control: the runner, or 1 + the number of a space */
};

/* The first and the last word of the state. */
#define KERNEL_MAGIC 0x63616d6b65732d72u

/* Output on its way to the runner, which alone has descriptors to write it to. */
enum { STREAM_SIZE = 64 * 1024 };

struct stream {
    _Atomic size_t written, read; /* all bytes since boot */
    char data[STREAM_SIZE];
};

/* What comes from outside, see input.c. */
struct input {
    const char *text;
    size_t length;
};

enum choice_mode { CHOICES_FIRST, CHOICES_RANDOM, CHOICES_SCRIPT };

struct options {
    const char *table, *trace;
    uint64_t until; /* UINT64_MAX: for ever */
    bool fast, round_robin;
    uint64_t timeslice;
    enum choice_mode choices;
    uint64_t seed;
    const char *script;
    unsigned loop_limit; /* milliseconds */
    int faults;          /* the descriptor that faults are reported to, -1: standard error */
    uint64_t call_limit; /* kernel operations at one instant */
    uint64_t arrivals; /* not 0: timers fire at any point, each at most so often; see arrivals.c */
    uint64_t timeout;  /* milliseconds without progress, 0: for ever */
    uint64_t memory;   /* bytes that a component may have, 0: any number */
    uint64_t trace_limit;              /* bytes */
    const char *inputs[CAMKES_INPUTS]; /* files, NULL: nothing */
    const char *sent;                  /* file for what is sent to the network, NULL: none */
    bool coverage;         /* what was executed is written to files, so nothing is confined */
    bool stacks;           /* how much of each stack is used is reported with the faults */
    bool hardened;         /* the kernel's memory is read-only while components run */
    bool corners;          /* durations are one of their bounds, or end with a timer in between */
    const char *search;    /* the table of what is checked: all schedules are run, see search.c */
    bool every_point;      /* also those that make no difference, see arrivals.c */
    bool outcomes;         /* the orders of locks and ends of jobs are reported */
    unsigned bound;        /* most preemptions in a schedule */
    uint64_t schedules;    /* random ones, 0: all there are */
    uint64_t most_states;  /* 0: any number */
    uint64_t seconds;      /* of elapsed time, 0: any number */
    unsigned processes;    /* that search */
    uint64_t least_budget; /* of an MCS kernel: with less left, a thread cannot enter it */
    uint64_t shortest;     /* and no budget is shorter */
};

/* Who could run in a domain: a queue for each priority. */
struct ready {
    uint64_t bitmap[PRIORITIES / 64];
    struct queue queues[PRIORITIES];
};

enum { DOMAINS = 256 };

/* An entry of the schedule: the domain has the processor for so many nanoseconds. */
struct slot {
    uint8_t domain;
    uint64_t length;
    struct ready *ready;
};

enum action { ACTION_RESUME, ACTION_CHOOSE, ACTION_SWITCH, ACTION_SLICE };

struct kernel {
    uint64_t magic; /* see KERNEL_MAGIC */
    /* touched by every kernel operation */
    struct thread *current;   /* NULL: idle */
    struct thread *candidate; /* with ACTION_SWITCH */
    enum action action;
    _Atomic bool inside; /* kernel code runs */
    _Atomic bool stop;   /* the run is to end: a request from outside */
    uint64_t entries;    /* so that a loop without any can be seen */
    uint64_t calls;      /* since time last passed */
    uint64_t accesses;   /* that were points */
    uint64_t now;
    uint64_t last_poll, vain_polls; /* see time.c */
    struct thread *shown;           /* who runs, according to the trace */
    struct thread *last;            /* who ran last */
    struct ready *ready;            /* of the domain whose slot it is */
    uint64_t slot_end;              /* UINT64_MAX: there is one domain */

    bool costs;             /* operations take time */
    bool mcs;               /* an MCS kernel */
    struct object *context; /* that the running thread uses, NULL: none */
    uint64_t consumed;      /* of it, and not charged yet */
    struct queue postponed; /* by the times of their refills */

    struct ready *domains[DOMAINS]; /* NULL: nothing is of that domain */
    struct slot *slots;             /* one after the other, and again from the first */
    unsigned slot_count, slot;

    struct options options;
    struct object *objects;
    struct thread *threads;
    struct space *spaces;
    unsigned object_count, thread_count, space_count;

    struct input inputs[CAMKES_INPUTS];
    int network_file; /* -1: what is sent is lost */

    struct object **heap; /* armed timers, the first to fire on top */
    unsigned heap_size;

    uint64_t random;
    unsigned *script;
    unsigned script_length, script_next;

    struct report *reports; /* if they have a descriptor */
    unsigned report_count, reports_lost;

    bool traced;  /* records are made, for the trace or a search */
    int trace_fd; /* -1: no trace */
    char *trace_buffer;
    size_t trace_used;
    uint64_t trace_written; /* to the file */

    struct stream console, messages, network;
    struct space *asker; /* the threads that wait for the runner to write */

    _Atomic uint32_t owner; /* see HANDOVER_RUNNER */
    _Atomic uint32_t runner_baton;
    bool booted;
    bool ended;
    bool faulted;
    int status; /* exit status, if the run failed */
    char boot_line[LINE_LENGTH];
    unsigned boot_line_length;
    int memory_file; /* shared regions */
    bool unconfined; /* a part of confine.c is not there, which was reported */
    char *stacks;    /* addresses for those of all threads */
    uint64_t magic_at_end;
};

struct process {
    struct space *space;   /* NULL: the runner; with --fast, it has all spaces */
    struct thread *loaded; /* whose stack is in use; NULL: the first stack */
    void *first_sp;
    void *target;                    /* the stack pointer of the thread that is switched to */
    void *first_fiber, *first_stack; /* for the address sanitizer */
    size_t first_stack_size;
    unsigned strikes;
    bool resumes; /* a thread goes on after a fault that was answered */
    bool polls;   /* the thread that runs, it was found */
    uint64_t entries_seen;
    int maps;  /* the descriptor of the list of its memory */
    bool open; /* the kernel's memory can be written, so kernel code runs; see access.c */
};

/*
 * What a search over schedules takes part in, NULL if there is none: decisions, records of the
 * trace, faults, threads that begin to run, accesses that may be points. It begins in the runner,
 * with --fast, and search.c is in the last of the layers, so others reach it by these.
 */
struct hooks {
    unsigned (*choose)(enum camkes_choice kind, unsigned options);
    void (*record)(uint16_t kind, const struct thread *thread, const struct thread *other,
                   const uint64_t *args);
    void (*fault)(const struct thread *thread);
    void (*race)(const struct thread *one, const struct thread *other);
    bool (*wrote)(void *address);
    bool (*access)(const struct thread *thread, struct access *access, enum reach reach);
    void (*touched)(const struct thread *thread);
    void (*leaves)(const struct thread *thread); /* to be decided who runs; NULL: none wants it */
    void (*worked)(const struct thread *thread);
    unsigned (*offsets)(const struct thread *thread, const struct between *work,
                        uint64_t times[static MOST_OFFSETS_OF_WORK]);
};

extern struct hooks hooks;
extern struct kernel *kernel;
extern struct process process;
