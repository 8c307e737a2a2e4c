/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A search over schedules: what is checked, what is saved, what was seen. */
#pragma once

#include "state.h"

/* ---- oracle_table.c: the system that is checked ---- */

enum oracle_role { ORACLE_CONTROL, ORACLE_WORKER, ORACLE_MANAGER, ORACLE_INTERFACE, ORACLE_OTHER };

struct oracle_thread {
    enum oracle_role role;
    uint16_t cpi, context, task; /* NONE: none */
    uint8_t base;                /* the priority it is given at boot */
};

/* `locks`: its threads take a lock; `own_priority` is that of its protocol, see
 * camkes/model/protocols.py */
struct oracle_cpi {
    const char *name;
    bool locks, own_priority;
    uint8_t ceiling;
    bool pooled, contended;
    uint16_t lock; /* the CPI that represents its lock: the first of a monitor */
};

struct oracle_context {
    const char *name;
    uint8_t base;
};

/* Its base while the system has a criticality. */
struct oracle_raised {
    uint16_t context, level;
    uint8_t base;
};

struct oracle_task {
    const char *name;
    uint16_t id;
    uint8_t priority;
    uint64_t offset, period, deadline; /* deadline 0: none */
};

/* A context that can end waits for a condition. */
struct oracle_helper {
    uint16_t condition, context;
};

/* The context of a task of a band that is ordered by deadlines, and the priority that it has
 * between jobs. */
struct oracle_turn {
    uint16_t context, band;
    uint8_t highest;
};

/* How many tasks of lower priority can work while a task could, and for how many ns in all. */
struct oracle_limit {
    uint16_t task, tasks; /* `task`: its id; `tasks` NONE: any number */
    uint64_t time;        /* UINT64_MAX: any */
};

struct oracle_system {
    struct oracle_thread *threads; /* as many as the kernel has */
    struct oracle_cpi *cpis;
    struct oracle_context *contexts;
    struct oracle_task *tasks;
    struct oracle_helper *helpers;
    struct oracle_raised *raised;
    struct oracle_limit *limits;
    struct oracle_turn *turns;
    unsigned cpi_count, context_count, task_count, helper_count, limit_count, raised_count;
    unsigned turn_count;
};

extern struct oracle_system oracle_system;
void oracle_read(const char *path);

/* ---- oracle_state.c: the state according to the records ---- */

enum { MOST_WAITERS = 32, MOST_STEPS = 64 };

struct oracle_lock {
    uint16_t holders[MOST_WAITERS]; /* contexts; more than one is a violation */
    uint16_t queue[MOST_WAITERS];   /* contexts, the first to come first */
    uint16_t held, queued;
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
};

/* What has kept a task waiting until now. */
struct oracle_blocked {
    uint64_t lower; /* bit set of tasks of lower priority, by their indexes */
    uint64_t time;  /* that they worked, in ns */
};

/* Of a scheduling context, by the number of its object: the thread that it belongs to and the one
 * that has it, NONE: none; for how many ns it was used since they were charged. */
struct oracle_budget {
    uint16_t home, holder;
    uint64_t used;
};

/* See outcome.c; `who` is a context or, where `cpi` is NONE at the end of a job, a thread. */
struct outcome_step {
    uint16_t kind, cpi, who;
};

struct oracle {
    uint64_t running; /* NONE: no thread; words can be left out of states */
    bool started, timed;
    uint64_t time;
    struct oracle_memory *threads;
    struct oracle_lock *locks;
    uint8_t *bases;                 /* of contexts, at the criticality that the system has */
    struct oracle_blocked *blocked; /* as many as limits */
    struct oracle_budget *budgets;  /* as many as objects */
    unsigned step_count;
    struct outcome_step steps[MOST_STEPS];
};

extern struct oracle *oracle; /* in the kernel's memory, so it is saved with it */
void oracle_initialise(void);
void oracle_set_criticality(uint64_t level);
struct oracle_memory *oracle_control_of(uint64_t context);
unsigned oracle_effective(unsigned context, bool settled);
int oracle_expected(const struct thread *thread);

/* ---- oracle_locks.c; after a violation it may go on ---- */
extern void (*oracle_report)(char property, const char *text);
void oracle_violation(char property, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *oracle_thread_name(unsigned number);
const char *oracle_context_name(unsigned context);
const char *oracle_cpi_name(unsigned cpi);
bool oracle_in_plan(uint64_t cpi, uint64_t context);
struct oracle_memory *oracle_memory_of(const struct thread *thread);
bool oracle_holds(const struct oracle_lock *lock, unsigned context);
void oracle_taken(unsigned cpi, unsigned context);
void oracle_granted(unsigned cpi, unsigned context);
void oracle_waits(unsigned cpi, unsigned context);
void oracle_freed(unsigned cpi, unsigned context);

/* ---- oracle_blocking.c: B ---- */
void oracle_blocking_of_job(unsigned task); /* whose job has ended */
void oracle_blocking_waits(void);           /* a thread has blocked, or waits for a condition */
void oracle_blocking_worked(unsigned thread, uint64_t time);

/* ---- oracle_liveness.c: L, at the end ---- */
void oracle_check_liveness(void);

/* ---- oracle_turns.c: P in bands ---- */
void oracle_turned(const uint64_t *args);
void oracle_turns_check(const struct thread *thread); /* a job has begun */

/* ---- oracle_budgets.c: A ---- */
void oracle_budgets_initialise(void);
void oracle_budgets_worked(unsigned thread, uint64_t time);
void oracle_budgets_record(uint16_t kind, const struct thread *thread, const uint64_t *args);
void oracle_budgets_idle(void);
void oracle_budgets_residue(void);

/* ---- outcome.c: orders of locks and ends of jobs ---- */
void outcome_record(uint16_t kind, const struct thread *thread, const uint64_t *args);
void outcome_report(void);

/* ---- oracle.c: checks ---- */
void oracle_record(uint16_t kind, const struct thread *thread, const struct thread *other,
                   const uint64_t *args);

/* ---- parts.c: the processes of a search ---- */

enum { MOST_CHOICES = 1 << 20, MOST_OF_PART = 2000 };

/* Of one process, or the sum. `distinct` states differ; `depth` is in choices, of which `frontier`
 * options were not tried; `processor` is in seconds. */
struct progress {
    uint64_t states, distinct, schedules, reruns, frontier;
    unsigned depth, deepest;
    double processor;
};

/* The options from `first` of the choice after these. */
struct part {
    unsigned length, first;
    uint16_t choices[MOST_OF_PART];
};

enum parts { PARTS_NONE_YET, PARTS_TAKEN, PARTS_OVER };

extern struct progress *progress; /* of this process */
void *parts_map(size_t size);
unsigned parts_initialise(unsigned processes);
bool parts_is_helper(void);
void parts_start(void);
void parts_end(void);
bool parts_wanted(void);
void parts_give(const struct part *part);
enum parts parts_take(struct part *part);
void parts_stop(void);
bool parts_stopped(void);
void parts_found(const uint16_t *choices, unsigned length);
unsigned parts_violation(uint16_t *choices);
uint64_t parts_next_schedule(void);
void parts_schedule_violates(uint64_t number);
uint64_t parts_first_violation(void);
struct progress parts_progress(void);
void parts_alone(void);

/* ---- snapshot.c: memory that can be put back ---- */

struct digest {
    uint64_t low, high;
};

struct place {
    size_t log;           /* how much of the log belongs to it */
    struct digest digest; /* of memory */
    struct digest whole;  /* of all that can make a difference */
    struct process process;
    void *sp; /* stack pointer of the system */
};

void snapshot_initialise(char *first_stack, size_t size);
bool snapshot_wrote(void *address);
void snapshot_touch(const struct thread *thread);
void snapshot_take(struct place *place, const struct thread *loaded, const void *sp);
void snapshot_restore(const struct place *place);
size_t snapshot_bytes(void);

/* ---- visited.c: states that were seen ---- */
void visited_initialise(void);
bool visited_add(struct digest digest, unsigned left);
void visited_forget(void);
bool visited_full(uint64_t count);

/* ---- execution.c: the system runs to the next choice, the end or a violation ---- */
enum event { EVENT_CHOICE, EVENT_END, EVENT_VIOLATION };

struct execution {
    enum event event;
    enum camkes_choice kind; /* of the choice that it has come to */
    unsigned options, answer;
    char property;     /* that is violated */
    uint16_t *choices; /* of a whole schedule */
    unsigned length;
};

extern struct execution execution;
void execution_initialise(void);
enum event execution_begin(void);
enum event execution_resume(unsigned answer);
void execution_save(struct place *place);
void execution_go_back(const struct place *place);
bool execution_violates(const uint16_t *choices, unsigned length, char property);
void execution_make_smaller(void);
void execution_put_violation(void);

/* ---- search.c ---- */
void search_interrupt(void);
unsigned search_fork(const struct options *options);
void search_prepare(const char *table);
_Noreturn void search_run(void);
