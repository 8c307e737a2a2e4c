/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A search over schedules: what is checked, what is saved, what was seen. */
#pragma once

#include "oracle/oracle.h"
#include "state.h"

/* ---- wakes.c ---- */
void wakes_find(void);

/* ---- outcome.c: orders of locks and ends of jobs ---- */
void outcome_initialise(void);
void outcome_record(uint16_t kind, unsigned thread, const uint64_t *args);
void outcome_report(void);

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
bool parts_await_round(void);
void parts_join(void);
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

/* ---- learned.c: what a search learns about a system ---- */
void learned_initialise(void);
void learned_begin(void);
bool learned_grew(void);
void learned_next_round(void);
bool learned_access(const struct thread *thread, struct access *access, enum reach reach);
void learned_show_all(void);
void learned_worked(const struct thread *thread);
unsigned learned_offsets(const struct thread *thread, const struct between *work,
                         uint64_t times[static MOST_OFFSETS_OF_WORK]);
bool learned_between(void);

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
void snapshot_run(void);
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
    bool aside;        /* the choice is at an access that is a point only because all are shown */
    char property;     /* that is violated */
    uint16_t *choices; /* of a whole schedule */
    unsigned length;
    unsigned *numbers; /* the same for a script, see execution_make_complete() */
    unsigned number_count;
};

extern struct execution execution;
void execution_initialise(void);
enum event execution_begin(void);
enum event execution_resume(unsigned answer);
void execution_save(struct place *place);
void execution_go_back(const struct place *place);
bool execution_violates(const uint16_t *choices, unsigned length, char property);
bool execution_repeats(const unsigned *numbers, unsigned count);
void execution_make_smaller(void);
void execution_make_complete(void);
void execution_put_violation(void);

/* ---- search.c ---- */
void search_interrupt(void);
unsigned search_fork(const struct options *options);
void search_prepare(const char *table);
_Noreturn void search_run(void);
