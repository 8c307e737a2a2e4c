/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The system that a search checks, from a text that camkes/backends/host/explore.py writes: a line
 * for each, `-` means none.
 *
 *     cpi NAME INHERITS OWN_PRIORITY CEILING POOLED CONTENDED LOCK      in the order of their ids
 *     context NAME BASE                                                 likewise
 *     raised CONTEXT LEVEL BASE                                         ids; at that criticality
 *     task NAME ID PRIORITY OFFSET PERIOD DEADLINE                      times in ns, 0: none
 *     helper CONDITION CONTEXT                                          ids
 *     turn CONTEXT BAND HIGHEST                                         of a task of a band; ids
 *     limit TASK TASKS TIME                                             id, tasks, ns; see B
 *     thread control|worker|manager|interface|other CPI CONTEXT TASK    in the order of the table
 */
#include "isolation/memory.h"
#include "record/output.h"
#include "search/search.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 8 };

struct oracle_system oracle_system;

static _Noreturn void bad(const char *path, const char *word)
{
    give_up(2, "%s: `%s` is not what the table of a search has there", path, word);
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

static struct oracle_turn turn_of(char *const *field)
{
    return (struct oracle_turn){
        .context = id(field[1]),
        .band = id(field[2]),
        .highest = (uint8_t)strtoul(field[3], NULL, 10),
    };
}

static void take(const char *path, char *const *field, unsigned count, unsigned *threads)
{
    static const char *const ROLES[] = {"control", "worker", "manager", "interface", "other"};
    struct oracle_system *system = &oracle_system;
    if (strcmp(field[0], "cpi") == 0 && count == 8) {
        system->cpis[system->cpi_count++] = (struct oracle_cpi){
            .name = memory_text(field[1], strlen(field[1])),
            .locks = field[2][0] == '1',
            .own_priority = field[3][0] == '1',
            .ceiling = (uint8_t)strtoul(field[4], NULL, 10),
            .pooled = field[5][0] == '1',
            .contended = field[6][0] == '1',
            .lock = id(field[7]),
        };
    } else if (strcmp(field[0], "context") == 0 && count == 3) {
        system->contexts[system->context_count++] = (struct oracle_context){
            .name = memory_text(field[1], strlen(field[1])),
            .base = (uint8_t)strtoul(field[2], NULL, 10),
        };
    } else if (strcmp(field[0], "raised") == 0 && count == 4) {
        system->raised[system->raised_count++] = (struct oracle_raised){
            .context = id(field[1]),
            .level = id(field[2]),
            .base = (uint8_t)strtoul(field[3], NULL, 10),
        };
    } else if (strcmp(field[0], "task") == 0 && count == 7) {
        system->tasks[system->task_count++] = (struct oracle_task){
            .name = memory_text(field[1], strlen(field[1])),
            .id = id(field[2]),
            .priority = (uint8_t)strtoul(field[3], NULL, 10),
            .offset = strtoull(field[4], NULL, 10),
            .period = strtoull(field[5], NULL, 10),
            .deadline = strtoull(field[6], NULL, 10),
        };
    } else if (strcmp(field[0], "helper") == 0 && count == 3) {
        system->helpers[system->helper_count++] = (struct oracle_helper){
            .condition = id(field[1]),
            .context = id(field[2]),
        };
    } else if (strcmp(field[0], "turn") == 0 && count == 4) {
        system->turns[system->turn_count++] = turn_of(field);
    } else if (strcmp(field[0], "limit") == 0 && count == 4) {
        system->limits[system->limit_count++] = (struct oracle_limit){
            .task = id(field[1]),
            .tasks = id(field[2]),
            .time = strcmp(field[3], "-") == 0 ? UINT64_MAX : strtoull(field[3], NULL, 10),
        };
    } else if (strcmp(field[0], "thread") == 0 && count == 5 && *threads < kernel->thread_count) {
        system->threads[*threads] = (struct oracle_thread){
            .role = which(path, field[1], ROLES, 5),
            .cpi = id(field[2]),
            .context = id(field[3]),
            .task = id(field[4]),
            .base = kernel->threads[*threads].priority,
        };
        (*threads)++;
    } else {
        bad(path, field[0]);
    }
}

void oracle_read(const char *path)
{
    char line[1024];
    unsigned lines = 0, threads = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        give_up(2, "cannot read %s: %s", path, strerror(errno));
    }
    while (fgets(line, sizeof line, file)) {
        lines++;
    }
    oracle_system.cpis = memory_take(lines * sizeof *oracle_system.cpis);
    oracle_system.contexts = memory_take(lines * sizeof *oracle_system.contexts);
    oracle_system.tasks = memory_take(lines * sizeof *oracle_system.tasks);
    oracle_system.helpers = memory_take(lines * sizeof *oracle_system.helpers);
    oracle_system.raised = memory_take(lines * sizeof *oracle_system.raised);
    oracle_system.turns = memory_take(lines * sizeof *oracle_system.turns);
    oracle_system.limits = memory_take(lines * sizeof *oracle_system.limits);
    oracle_system.threads = memory_take(kernel->thread_count * sizeof *oracle_system.threads);
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
            take(path, field, count, &threads);
        }
    }
    fclose(file);
    if (threads != kernel->thread_count) {
        bad(path, "thread");
    }
}
