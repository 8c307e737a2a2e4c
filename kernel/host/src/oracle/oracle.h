/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The judge of runs. It takes the records of a run one after the other, rebuilds from these and
 * from the table of the system alone what every thread, lock and budget should be like, and reports
 * where the properties in docs/protocols.md do not hold. It is a part of the host kernel, which
 * gives it the records of a search, and of the program in judge/, which reads them from a file.
 */
#pragma once

#include "state.h"

/* ---- oracle_table.c: the system that is judged ---- */

enum oracle_role { ORACLE_CONTROL, ORACLE_WORKER, ORACLE_MANAGER, ORACLE_INTERFACE, ORACLE_OTHER };

struct oracle_thread {
    const char *name;
    enum oracle_role role;
    uint8_t base;                /* the priority it is given at boot */
    uint16_t cpi, context, task; /* NONE: none */
    uint8_t domain;
};

/* See camkes/model/protocols.py and camkes/model/overrun.py for the words. */
struct oracle_cpi {
    const char *name, *lock_name;
    uint8_t ceiling;
    uint16_t lock;     /* the CPI that represents its lock: the first of a monitor */
    bool locks;        /* its threads take a lock */
    bool contended;    /* which contexts can contend for */
    bool own_priority; /* its threads work at the ceiling */
    bool pooled;
    bool suspends; /* and answers the requests of suspended tasks when it sees fit */
    bool helps;    /* with a lock of which a CPI does: those that wait can pay for its holder */
    bool binds;    /* its manager gives its threads time */
};

struct oracle_context {
    const char *name;
    uint8_t base;
    bool helps;       /* it can be lent priorities */
    uint16_t control; /* the control thread of the task that it is, NONE: it is a CPI */
};

/* Its base while the system has this criticality, or a higher one that no line is about. */
struct oracle_raised {
    uint16_t context, level;
    uint8_t base;
};

struct oracle_task {
    const char *name;
    uint16_t id, context;
    uint8_t priority;
    uint16_t timer;                    /* the object that releases its jobs, NONE: none does */
    uint64_t offset, period, deadline; /* period and deadline 0: none */
};

/* A context that can end waits for a condition. */
struct oracle_helper {
    uint16_t condition, context;
};

/* The context of a task of a band, and the priority that it has between jobs; `ordered`: by
 * deadlines. */
struct oracle_turn {
    uint16_t context, band;
    uint8_t highest;
    bool ordered;
};

/* How many tasks of lower priority can work while a task could, and for how many ns in all. */
struct oracle_limit {
    uint16_t task, tasks; /* `task`: its id; `tasks` NONE: any number */
    uint64_t time;        /* UINT64_MAX: any */
};

/* `timed`: durations take their time; `planned`: jobs are released when the text says; `search`: B
 * and D are judged too, and whether all jobs end. */
struct oracle_system {
    bool mcs, timed, planned, search;
    struct oracle_thread *threads;
    struct oracle_cpi *cpis;
    struct oracle_context *contexts;
    struct oracle_task *tasks;
    struct oracle_helper *helpers;
    struct oracle_raised *raised;
    struct oracle_limit *limits;
    struct oracle_turn *turns;
    const char **objects; /* their names */
    unsigned thread_count, cpi_count, context_count, task_count, helper_count, limit_count;
    unsigned raised_count, turn_count, object_count;
};

extern struct oracle_system oracle_system;
void oracle_read(const char *path);

/* ---- oracle_words.c: names, and what is wrong ---- */
/* Gets each violation; after it the judge may go on. */
extern void (*oracle_report)(char property, const char *text);
void oracle_violation(char property, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *oracle_thread_name(unsigned number);
const char *oracle_context_name(unsigned context);
const char *oracle_cpi_name(unsigned cpi);
const char *oracle_lock_name(unsigned cpi);
const char *oracle_task_name(unsigned task);

/* ---- oracle_state.c: the state according to the records ---- */

struct oracle_lock {
    uint16_t *holders;     /* contexts; more than one is a violation */
    uint16_t *queue;       /* contexts, the first to come first */
    uint16_t held, queued; /* each context at most once */
};

struct oracle_memory {
    uint8_t priority; /* in the kernel */
    bool runnable, gone, queued, arrives;
    bool goes_on;                     /* see oracle_liveness.c */
    uint8_t reason;                   /* enum camkes_block, 0: none */
    uint16_t request_cpi, request_of; /* that it serves; NONE: none */
    uint16_t leaves;                  /* the context whose request a thread of a pool has served */
    uint16_t call_cpi;                /* that it waits for */
    uint16_t receiver;                /* of its last message, until it goes on */
    uint16_t sender;                  /* of the last message it received */
    uint16_t origin;                  /* the task whose request it serves */
    uint16_t waits_for, waits_as;     /* condition, and the context that waits; NONE: none */
    uint16_t wait_order;              /* how many waited for that before it, and still do */
    uint8_t turn;                     /* its task's priority in a band, 0: not in one, or not yet */
    uint8_t request_turn;             /* the same of its request, which only rises */
    bool in_job;
    uint64_t release;
    uint64_t due; /* the deadline by which a band orders it, 0: none */
    /* of an MCS kernel, see oracle_budgets.c and oracle_way_home.c */
    bool timeless, awake, unpaid, answered, aborted;
    uint16_t budget;             /* the scheduling context that it has */
    uint16_t partly;             /* the one of which a part was used up, but not all */
    uint16_t client;             /* whose request a worker has */
    uint16_t kept_lock, kept_by; /* for the roll-back of its request */
};

/* What has kept a task waiting until now. */
struct oracle_blocked {
    uint64_t lower; /* bit set of tasks of lower priority, by their indexes */
    uint64_t time;  /* that they worked, in ns */
};

/* Of a scheduling context, by the number of its object: the thread that began with it and the one
 * that has it, NONE: none; for how many ns it was used since that was charged. */
struct oracle_budget {
    uint16_t home, holder;
    bool postponed, left; /* it waits for a refill; the charge did not use the first one up */
    uint64_t used;
};

/* A message that is still to be found called, not sent. */
struct oracle_message {
    uint16_t sender, receiver, object;
};

struct oracle {
    uint64_t running; /* NONE: no thread; words can be left out of states */
    bool started;
    uint16_t domain;     /* that has the processor, NONE: no schedule is known */
    uint16_t restarting; /* the manager that is about to restart a worker */
    uint32_t waiting;    /* threads in queues of locks and in waits for conditions */
    struct oracle_message message;
    uint64_t time;
    struct oracle_memory *threads;
    struct oracle_lock *locks;
    uint8_t *bases;                 /* of contexts, at the criticality that the system has */
    uint16_t *reached;              /* contexts, while they are followed */
    bool *marks;                    /* likewise; false otherwise */
    struct oracle_blocked *blocked; /* as many as limits */
    struct oracle_budget *budgets;  /* as many as objects */
};

extern struct oracle *oracle;
void oracle_initialise(void);
void oracle_set_criticality(uint64_t level);
bool oracle_holds(const struct oracle_lock *lock, unsigned context);
bool oracle_rolls_back(unsigned lock, unsigned context);
unsigned oracle_effective(unsigned context, bool settled);
int oracle_expected(unsigned thread);
/* Contexts that are followed: each is added once, and is at its place in `oracle->reached`. */
unsigned oracle_reach(unsigned count, unsigned context);
void oracle_reached(unsigned count);

/* ---- oracle_locks.c ---- */
void oracle_taken(unsigned cpi, unsigned context);
void oracle_granted(unsigned cpi, unsigned context);
void oracle_waits(unsigned cpi, unsigned context);
void oracle_freed(unsigned cpi, unsigned context);

/* ---- oracle_messages.c: lost replies (L); tasks and releases that are claimed (S) ---- */
void oracle_message(uint16_t kind, unsigned thread, unsigned other, const uint64_t *args);
uint16_t oracle_true_task(unsigned thread, uint64_t claimed);
void oracle_released(uint16_t kind, unsigned thread, uint64_t time, const uint64_t *args);

/* ---- oracle_blocking.c: B ---- */
void oracle_blocking_of_job(unsigned task); /* whose job has ended */
void oracle_blocking_waits(void);           /* a thread has blocked, or waits for a condition */
void oracle_blocking_worked(unsigned thread, uint64_t time);

/* ---- oracle_liveness.c: L, at the end ---- */
/* Marks the threads that would go on with another arrival; NULL: there are none. */
extern void (*oracle_find_going_on)(void);
void oracle_check_liveness(void);

/* ---- oracle_turns.c: P in bands ---- */
void oracle_turned(const uint64_t *args);
void oracle_turns_check(unsigned thread, uint64_t release); /* a job has begun */

/* ---- oracle_way_home.c: workers of an MCS kernel that no caller waits for ---- */
void oracle_way_home(uint16_t kind, unsigned thread, unsigned other, const uint64_t *args);

/* ---- oracle_budgets.c: A ---- */
void oracle_budgets_worked(unsigned thread, uint64_t time);
void oracle_budgets_record(uint16_t kind, unsigned thread, unsigned other, const uint64_t *args);
void oracle_budgets_residue(void);

/* ---- oracle.c: checks ---- */
enum { ORACLE_ARGUMENTS = 5 }; /* of a record, that are read */

/* `thread` and `other` are numbers of threads of the table, or NONE; `args` are those of the kind
 * of record, and may have any values. */
void oracle_record(uint64_t time, uint16_t kind, unsigned thread, unsigned other,
                   const uint64_t *args);
