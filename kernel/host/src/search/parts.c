/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * A search by several processes. Each boots the system itself, from the same addresses, and goes
 * depth first; they share the states that were seen. A process that has nothing left to do waits
 * for a part: a choice that another one has come to, and the options of it that were not tried. The
 * first process reports; their parent only waits for them. They are confined as components are, so
 * they wait for each other without the workstation's kernel.
 */
#include "record/output.h"
#include "isolation/processes.h"
#include "search/search.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_PROCESSES = 256, MOST_PARTS = 64 };

static struct {
    atomic_flag locked;
    _Atomic bool over, wanted, stopped, ended;
    _Atomic unsigned rounds, helping; /* rounds that have begun; helpers in the last of them */
    unsigned processes, idle, count;
    struct part parts[MOST_PARTS];
    struct progress progress[MOST_PROCESSES];
    _Atomic uint64_t next;     /* random schedule */
    _Atomic uint64_t violates; /* the first of them that does */
    unsigned length;           /* of a schedule that violates a property, 0: none was found */
    uint16_t choices[MOST_CHOICES];
} *shared;

static pid_t children[MOST_PROCESSES];
static unsigned own;    /* 0: the process that reports */
static unsigned rounds; /* that this one has taken part in */
struct progress *progress;

/* Memory for all processes, zero; pages.c knows it by its name. */
void *parts_map(size_t size)
{
    const int file = memfd_create("camkes-search", MFD_CLOEXEC);
    void *place = MAP_FAILED;
    if (file >= 0 && ftruncate(file, (off_t)size) == 0) {
        place = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    }
    if (place == MAP_FAILED) {
        give_up(3, "no memory for a search: %s", strerror(errno));
    }
    close(file);
    return place;
}

static void lock(void)
{
    while (atomic_flag_test_and_set(&shared->locked)) {
        sched_yield();
    }
}

static void unlock(void)
{
    atomic_flag_clear(&shared->locked);
}

/* ---- processes ---- */

static void interrupt_first(int number)
{
    kill(children[0], number);
}

static void kill_all(unsigned processes)
{
    for (unsigned i = 0; i < processes; i++) {
        kill(children[i], SIGKILL);
    }
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
        continue;
    }
}

/* The parent ends as the first process does; the others end before it, or are ended. */
static _Noreturn void wait_for_all(unsigned processes)
{
    struct sigaction action = {.sa_handler = interrupt_first};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    for (;;) {
        int status;
        const pid_t pid = waitpid(-1, &status, 0);
        if (pid == children[0] || (pid > 0 && status != 0)) {
            kill_all(processes);
            process_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        }
    }
}

/* Makes the processes. Those beside the first come back when there is something for them to do. The
 * number of the process. */
unsigned parts_initialise(unsigned processes)
{
    const pid_t parent = getpid();
    if (processes == 0 || processes > MOST_PROCESSES) {
        give_up(2, "a search has 1 to %u processes", MOST_PROCESSES);
    }
    shared = parts_map(sizeof *shared);
    shared->processes = processes;
    shared->violates = UINT64_MAX;
    progress = &shared->progress[0];
    if (processes == 1) {
        return 0;
    }
    for (unsigned i = 0; i < processes; i++) {
        children[i] = fork();
        if (children[i] < 0) {
            kill_all(i);
            give_up(3, "cannot make a process: %s", strerror(errno));
        }
        if (children[i] == 0) {
            own = i;
            progress = &shared->progress[i];
            watch_parent(parent);
            while (own > 0 && shared->rounds == 0) {
                usleep(1000);
            }
            return i;
        }
    }
    wait_for_all(processes);
}

bool parts_is_helper(void)
{
    return own > 0;
}

/* The others begin a round. */
void parts_start(void)
{
    shared->over = shared->wanted = false;
    shared->idle = shared->count = 0;
    shared->helping = shared->processes - 1;
    shared->rounds++;
}

/* What another process does: false at the end of the search. */
bool parts_await_round(void)
{
    while (shared->rounds == rounds && !shared->ended) {
        sched_yield();
    }
    rounds++;
    return !shared->ended;
}

/* The round is over for this process; the first one waits for the others. */
void parts_join(void)
{
    if (own > 0) {
        shared->helping--;
        return;
    }
    shared->over = true;
    while (shared->helping > 0) {
        sched_yield();
    }
}

/* The others end. */
void parts_end(void)
{
    shared->over = shared->ended = true;
}

/* ---- parts ---- */

static void update_wanted(void)
{
    shared->wanted = shared->count < shared->idle && shared->count < MOST_PARTS;
}

/* Whether a process waits for a part. */
bool parts_wanted(void)
{
    return atomic_load_explicit(&shared->wanted, memory_order_relaxed);
}

void parts_give(const struct part *part)
{
    lock();
    if (shared->count < MOST_PARTS) {
        shared->parts[shared->count++] = *part;
    }
    update_wanted();
    unlock();
}

/* Waits a little for a part, unless all processes do. */
enum parts parts_take(struct part *part)
{
    enum parts result = PARTS_NONE_YET;
    lock();
    shared->idle++;
    if (shared->count == 0 && shared->idle == shared->processes) {
        shared->over = true;
    } else if (shared->count == 0 && !shared->over) {
        update_wanted();
        unlock();
        sched_yield();
        lock();
    }
    shared->idle--;
    if (shared->over || shared->stopped) {
        result = PARTS_OVER;
    } else if (shared->count > 0) {
        *part = shared->parts[--shared->count];
        result = PARTS_TAKEN;
    }
    update_wanted();
    unlock();
    return result;
}

/* ---- the end ---- */

void parts_stop(void)
{
    shared->stopped = true;
}

bool parts_stopped(void)
{
    return shared->stopped || (own > 0 && shared->over);
}

/* A schedule violates a property; one process's is kept. */
void parts_found(const uint16_t *choices, unsigned length)
{
    lock();
    if (shared->length == 0 && !shared->over) {
        memcpy(shared->choices, choices, length * sizeof *choices);
        shared->length = length;
        shared->stopped = true;
    }
    unlock();
}

/* The length of that schedule; 0: none was found. */
unsigned parts_violation(uint16_t *choices)
{
    memcpy(choices, shared->choices, shared->length * sizeof *choices);
    return shared->length;
}

/* ---- random schedules, by number ---- */

uint64_t parts_next_schedule(void)
{
    return shared->next++;
}

void parts_schedule_violates(uint64_t number)
{
    uint64_t first = shared->violates;
    while (number < first && !atomic_compare_exchange_weak(&shared->violates, &first, number)) {
        continue;
    }
}

/* UINT64_MAX: none does. */
uint64_t parts_first_violation(void)
{
    return shared->violates;
}

/* ---- what all have done ---- */

struct progress parts_progress(void)
{
    struct progress sum = {.frontier = shared->count};
    for (unsigned i = 0; i < shared->processes; i++) {
        const struct progress *one = &shared->progress[i];
        sum.states += one->states;
        sum.distinct += one->distinct;
        sum.schedules += one->schedules;
        sum.reruns += one->reruns;
        sum.frontier += one->frontier;
        sum.depth = one->depth > sum.depth ? one->depth : sum.depth;
        sum.deepest = one->deepest > sum.deepest ? one->deepest : sum.deepest;
        sum.processor += one->processor;
    }
    if (shared->over) {
        sum.depth = 0;
        sum.frontier = 0;
    }
    return sum;
}

/* The first process searches again, alone. */
void parts_alone(void)
{
    shared->processes = 1;
    shared->stopped = false;
}
