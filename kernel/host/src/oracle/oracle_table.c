/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The system that is judged, from a text that camkes/backends/host/oracle.py writes: a line for
 * each, `-` means none.
 *
 *     mcs                                       it is for an MCS kernel
 *     cpi NAME LOCK LOCK_NAME CEILING WORD,...  in the order of their ids; LOCK is one, see WORDS
 *     context NAME BASE                         likewise
 *     raised CONTEXT LEVEL BASE                 ids; from that criticality on, by rising levels
 *     task NAME ID CONTEXT PRIORITY TIMER OFFSET PERIOD DEADLINE    times in ns, 0: none
 *     helper CONDITION CONTEXT                  ids
 *     turn CONTEXT BAND HIGHEST deadlines|-     of a task of a band; ids; what orders it
 *     limit TASK TASKS TIME                     id, tasks, ns; see B
 *     object NAME                               in the order of their numbers
 *     thread NAME ROLE PRIORITY CPI CONTEXT TASK [DOMAIN]    likewise; control, worker, manager,
 *                                               interface or other
 */
#include "isolation/memory.h"
#include "oracle/oracle.h"
#include "record/output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 9 };

struct oracle_system oracle_system;

static _Noreturn void bad(const char *path, const char *word)
{
    give_up(2, "%s: `%s` is not what the table of the judge has there", path, word);
}

static uint16_t id(const char *word)
{
    return strcmp(word, "-") == 0 ? NONE : (uint16_t)strtoul(word, NULL, 10);
}

static unsigned which(const char *path, const char *word, const char *const *words, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(word, words[i]) == 0) {
            return i;
        }
    }
    bad(path, word);
}

static uint8_t priority(const char *word)
{
    return (uint8_t)strtoul(word, NULL, 10);
}

static uint64_t number(const char *word)
{
    return strtoull(word, NULL, 10);
}

static const char *text(const char *word)
{
    return memory_text(word, strlen(word));
}

/* What is special about a CPI. */
static void take_words(const char *path, struct oracle_cpi *cpi, char *words)
{
    static const char *const WORDS[] = {"locks",    "contended", "own-priority", "pooled",
                                        "suspends", "helps",     "binds"};
    bool *const places[] = {&cpi->locks,    &cpi->contended, &cpi->own_priority, &cpi->pooled,
                            &cpi->suspends, &cpi->helps,     &cpi->binds};
    char *word;
    words = strcmp(words, "-") == 0 ? NULL : words;
    while ((word = strsep(&words, ",")) != NULL) {
        *places[which(path, word, WORDS, sizeof WORDS / sizeof *WORDS)] = true;
    }
}

static void take_cpi(const char *path, char *const *field)
{
    struct oracle_cpi *cpi = &oracle_system.cpis[oracle_system.cpi_count++];
    *cpi = (struct oracle_cpi){
        .name = text(field[1]),
        .lock = id(field[2]),
        .lock_name = text(field[3]),
        .ceiling = priority(field[4]),
    };
    take_words(path, cpi, field[5]);
}

static void take_task(char *const *field)
{
    oracle_system.tasks[oracle_system.task_count++] = (struct oracle_task){
        .name = text(field[1]),
        .id = id(field[2]),
        .context = id(field[3]),
        .priority = priority(field[4]),
        .timer = id(field[5]),
        .offset = number(field[6]),
        .period = number(field[7]),
        .deadline = number(field[8]),
    };
}

static void take_thread(const char *path, char *const *field, unsigned count)
{
    static const char *const ROLES[] = {"control", "worker", "manager", "interface", "other"};
    oracle_system.threads[oracle_system.thread_count++] = (struct oracle_thread){
        .name = text(field[1]),
        .role = which(path, field[2], ROLES, sizeof ROLES / sizeof *ROLES),
        .base = priority(field[3]),
        .cpi = id(field[4]),
        .context = id(field[5]),
        .task = id(field[6]),
        .domain = count > 7 ? (uint8_t)number(field[7]) : 0,
    };
}

static void take(const char *path, char *const *field, unsigned count)
{
    struct oracle_system *system = &oracle_system;
    if (strcmp(field[0], "mcs") == 0 && count == 1) {
        system->mcs = true;
    } else if (strcmp(field[0], "cpi") == 0 && count == 6) {
        take_cpi(path, field);
    } else if (strcmp(field[0], "context") == 0 && count == 3) {
        system->contexts[system->context_count++] = (struct oracle_context){
            .name = text(field[1]),
            .base = priority(field[2]),
            .control = NONE,
        };
    } else if (strcmp(field[0], "raised") == 0 && count == 4) {
        system->raised[system->raised_count++] = (struct oracle_raised){
            .context = id(field[1]),
            .level = id(field[2]),
            .base = priority(field[3]),
        };
    } else if (strcmp(field[0], "task") == 0 && count == 9) {
        take_task(field);
    } else if (strcmp(field[0], "helper") == 0 && count == 3) {
        system->helpers[system->helper_count++] = (struct oracle_helper){
            .condition = id(field[1]),
            .context = id(field[2]),
        };
    } else if (strcmp(field[0], "turn") == 0 && count == 5) {
        system->turns[system->turn_count++] = (struct oracle_turn){
            .context = id(field[1]),
            .band = id(field[2]),
            .highest = priority(field[3]),
            .ordered = strcmp(field[4], "deadlines") == 0,
        };
    } else if (strcmp(field[0], "limit") == 0 && count == 4) {
        system->limits[system->limit_count++] = (struct oracle_limit){
            .task = id(field[1]),
            .tasks = id(field[2]),
            .time = strcmp(field[3], "-") == 0 ? UINT64_MAX : number(field[3]),
        };
    } else if (strcmp(field[0], "object") == 0 && count == 2) {
        system->objects[system->object_count++] = text(field[1]);
    } else if (strcmp(field[0], "thread") == 0 && (count == 7 || count == 8)) {
        take_thread(path, field, count);
    } else {
        bad(path, field[0]);
    }
}

static void check_context(const char *path, unsigned context)
{
    if (context >= oracle_system.context_count) {
        bad(path, "a context");
    }
}

/* Lines that are about others. */
static void connect(const char *path)
{
    struct oracle_system *system = &oracle_system;
    for (unsigned i = 0; i < system->cpi_count; i++) {
        const struct oracle_cpi *cpi = &system->cpis[i];
        if (cpi->lock >= system->cpi_count) {
            bad(path, cpi->lock_name);
        }
        system->cpis[cpi->lock].helps = system->cpis[cpi->lock].helps || cpi->helps;
    }
    for (unsigned i = 0; i < system->task_count; i++) {
        check_context(path, system->tasks[i].context);
    }
    for (unsigned i = 0; i < system->raised_count; i++) {
        check_context(path, system->raised[i].context);
    }
    for (unsigned i = 0; i < system->turn_count; i++) {
        check_context(path, system->turns[i].context);
    }
    for (unsigned i = 0; i < system->thread_count; i++) {
        const struct oracle_thread *thread = &system->threads[i];
        if (thread->cpi != NONE && thread->cpi >= system->cpi_count) {
            bad(path, thread->name);
        }
        if (thread->context != NONE) {
            check_context(path, thread->context);
        }
        if (thread->role == ORACLE_CONTROL && thread->context != NONE) {
            system->contexts[thread->context].control = (uint16_t)i;
        }
    }
    for (unsigned i = 0; i < system->helper_count; i++) {
        check_context(path, system->helpers[i].context);
        system->contexts[system->helpers[i].context].helps = true;
    }
}

void oracle_read(const char *path)
{
    char line[1024];
    unsigned lines = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        give_up(2, "cannot read %s: %s", path, strerror(errno));
    }
    while (fgets(line, sizeof line, file)) {
        lines++;
    }
    if (lines >= NONE) {
        bad(path, "too many lines");
    }
    oracle_system.cpis = memory_take(lines * sizeof *oracle_system.cpis);
    oracle_system.contexts = memory_take(lines * sizeof *oracle_system.contexts);
    oracle_system.tasks = memory_take(lines * sizeof *oracle_system.tasks);
    oracle_system.helpers = memory_take(lines * sizeof *oracle_system.helpers);
    oracle_system.raised = memory_take(lines * sizeof *oracle_system.raised);
    oracle_system.turns = memory_take(lines * sizeof *oracle_system.turns);
    oracle_system.limits = memory_take(lines * sizeof *oracle_system.limits);
    oracle_system.objects = memory_take(lines * sizeof *oracle_system.objects);
    oracle_system.threads = memory_take(lines * sizeof *oracle_system.threads);
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        char *field[FIELDS], *rest = line, *word;
        unsigned count = 0;
        while ((word = strsep(&rest, " \n")) && count < FIELDS) {
            if (*word) {
                field[count++] = word;
            }
        }
        if (count > 0) {
            take(path, field, count);
        }
    }
    fclose(file);
    connect(path);
}
