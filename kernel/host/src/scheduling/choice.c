/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Everything that scheduling and timing leave open is decided here. Option 0 is what happens by
 * default. A search over all choices needs no more than this: run with a script, read the CHOICE
 * records, extend the script.
 */
#include "isolation/memory.h"
#include "record/output.h"
#include "scheduling/scheduling.h"
#include "state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* splitmix64 */
static uint64_t next_random(void)
{
    kernel->random += 0x9e3779b97f4a7c15u;
    uint64_t z = kernel->random;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static unsigned decide(unsigned options)
{
    switch (kernel->options.choices) {
    case CHOICES_RANDOM:
        return (unsigned)(next_random() % options);
    case CHOICES_SCRIPT:
        if (kernel->script_next < kernel->script_length) {
            unsigned chosen = kernel->script[kernel->script_next++];
            return chosen < options ? chosen : options - 1;
        }
        return 0;
    case CHOICES_FIRST:
        break;
    }
    return 0;
}

unsigned choose(enum camkes_choice kind, unsigned options)
{
    if (options <= 1) {
        return 0;
    }
    if (hooks.choose) {
        return hooks.choose(kind, options);
    }
    unsigned chosen = decide(options);
    TRACE(CHOICE, kernel->current, NULL, kind, options, chosen);
    return chosen;
}

static void read_script(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file) {
        give_up(2, "cannot read %s: %s", path, strerror(errno));
    }
    unsigned n = 0;
    unsigned number;
    while (fscanf(file, "%u", &number) == 1) {
        n++;
    }
    if (!feof(file)) {
        give_up(2, "%s: number %u is not a number", path, n + 1);
    }
    kernel->script = memory_take(n * sizeof *kernel->script);
    rewind(file);
    for (unsigned i = 0; i < n && fscanf(file, "%u", &kernel->script[i]) == 1; i++) {
        kernel->script_length++;
    }
    fclose(file);
}

void choice_initialise(void)
{
    kernel->random = kernel->options.seed;
    if (kernel->options.script) {
        read_script(kernel->options.script);
    }
}
