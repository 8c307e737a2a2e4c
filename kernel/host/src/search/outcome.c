/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * With --outcomes: in which orders locks are taken and jobs end. The order is part of the state, so
 * all orders are found, and there are more states.
 */
#include "isolation/memory.h"
#include "record/output.h"
#include "search/search.h"

#include <stdio.h>
#include <unistd.h>

enum { MOST_STEPS = 64 };

/* `who` is a context or, where `cpi` is NONE at the end of a job, a thread. */
struct step {
    uint16_t kind, cpi, who;
};

static struct {
    unsigned count;
    struct step steps[MOST_STEPS];
} *outcome; /* in the kernel's memory, so it is saved with it */

void outcome_initialise(void)
{
    outcome = memory_take(sizeof *outcome);
}

static const char *name_of(uint16_t kind)
{
    switch (kind) {
    case CAMKES_TRACE_LOCK_TAKE:
        return "take";
    case CAMKES_TRACE_LOCK_WAIT:
        return "wait";
    case CAMKES_TRACE_LOCK_GRANT:
        return "grant";
    case CAMKES_TRACE_LOCK_FREE:
        return "free";
    default:
        return NULL;
    }
}

static void add(uint16_t kind, uint16_t cpi, uint16_t who)
{
    if (outcome->count == MOST_STEPS) {
        give_up(2, "the schedules are too long for --outcomes");
    }
    outcome->steps[outcome->count++] = (struct step){kind, cpi, who};
}

void outcome_record(uint16_t kind, unsigned thread, const uint64_t *args)
{
    if (!kernel->options.outcomes) {
        return;
    }
    if (kind == CAMKES_TRACE_JOB_END) {
        add(kind, NONE, (uint16_t)thread);
    } else if (name_of(kind)) {
        add(kind, (uint16_t)args[0], (uint16_t)args[1]);
    }
}

/* At the end of a schedule: a line of JSON. */
void outcome_report(void)
{
    if (!kernel->options.outcomes) {
        return;
    }
    dprintf(STDOUT_FILENO, "{\"event\": \"outcome\", \"steps\": [");
    for (unsigned i = 0; i < outcome->count; i++) {
        const struct step *step = &outcome->steps[i];
        const char *before = i > 0 ? ", " : "";
        if (step->cpi == NONE) {
            dprintf(STDOUT_FILENO, "%s\"end %s\"", before, oracle_thread_name(step->who));
        } else {
            dprintf(STDOUT_FILENO, "%s\"%s %s %s\"", before, name_of(step->kind),
                    oracle_cpi_name(step->cpi), oracle_context_name(step->who));
        }
    }
    dprintf(STDOUT_FILENO, "]}\n");
}
