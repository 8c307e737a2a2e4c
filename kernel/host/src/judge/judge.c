/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * camkes-oracle TABLE TRACE [any-time]
 *
 * Judges the record of a run by the table of its system (oracle_table.c). Each violation is a line
 * on standard output: its time in ns, the letter of the property, the number of the record at which
 * it showed (from 0), what is wrong. They are in the order in which they showed, each once an
 * instant, at most MOST of them. `any-time`: timers did not fire at the times in the text.
 *
 * The record is input from outside. It is read up to its end, or to what cannot be a record of the
 * system, which is said on standard error. Nothing is allocated after the table. Exit status: 0 the
 * record was judged, 2 wrong usage, or a file that cannot be read, 3 the results cannot be written.
 */
#include "isolation/memory.h"
#include "oracle/oracle.h"
#include "record/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 100, TEXT = 512, MOST_BYTES = UINT16_MAX };

static const uint64_t END_OF_TIME = (uint64_t)1 << 63;

static struct {
    uint64_t instant;      /* of the last one */
    unsigned count, first; /* all, and the first of that instant */
    char property[MOST];
    char text[MOST][TEXT];
} found;

static uint64_t now, number; /* of the record that is read */

/* ---- what the judge needs ---- */

_Noreturn void give_up(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("camkes-oracle: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(status);
}

void *memory_take(size_t size)
{
    void *start = calloc(1, size > 0 ? size : 1);
    if (!start) {
        give_up(2, "the system is too large");
    }
    return start;
}

char *memory_text(const char *text, size_t length)
{
    char *copy = memory_take(length + 1);
    memcpy(copy, text, length);
    return copy;
}

static void on_violation(char property, const char *text)
{
    if (oracle->time > found.instant) {
        found.instant = oracle->time;
        found.first = found.count;
    }
    for (unsigned i = found.first; i < found.count; i++) {
        if (found.property[i] == property && strcmp(found.text[i], text) == 0) {
            return;
        }
    }
    if (found.count == MOST) {
        return;
    }
    found.property[found.count] = property;
    snprintf(found.text[found.count], TEXT, "%s", text);
    found.count++;
    /* until time has passed, it is the record before that shows it */
    const uint64_t record = oracle->time < now ? number - 1 : number;
    printf("%" PRIu64 " %c %" PRIu64 " %s\n", oracle->time, property, record, text);
}

/* ---- records ---- */

static bool is_known(uint16_t kind)
{
    switch (kind) {
#define CASE(name, value, args) case value:
        CAMKES_TRACE_KINDS(CASE)
#undef CASE
        return true;
    default:
        return false;
    }
}

static bool is_thread(uint16_t thread)
{
    return thread == NONE || thread < oracle_system.thread_count;
}

/* The next record, with its arguments and zeros behind them; false: there is none. */
static bool read_record(FILE *file, struct camkes_trace_record *record, uint64_t *args)
{
    static uint64_t body[MOST_BYTES / sizeof(uint64_t)];
    const size_t header = sizeof *record, got = fread(record, 1, header, file);
    if (got == 0 && !ferror(file)) {
        return false;
    }
    const bool sized = got == header && record->size >= header && record->size % 8 == 0;
    const size_t words = sized ? (record->size - header) / sizeof *body : 0;
    if (!sized || fread(body, sizeof *body, words, file) != words || record->time < now ||
        record->time >= END_OF_TIME || !is_thread(record->thread) || !is_thread(record->other)) {
        fprintf(stderr, "camkes-oracle: record %" PRIu64 " is damaged; the rest is left out\n",
                number);
        return false;
    }
    for (unsigned i = 0; i < ORACLE_ARGUMENTS; i++) {
        args[i] = i < words ? body[i] : 0;
    }
    return true;
}

static void judge(FILE *file)
{
    struct camkes_trace_record record;
    uint64_t args[ORACLE_ARGUMENTS];
    while (found.count < MOST && read_record(file, &record, args)) {
        if (!is_known(record.kind)) {
            continue;
        }
        now = record.time;
        oracle_record(now, record.kind, record.thread, record.other, args);
        number++;
    }
}

int main(int count, char **words)
{
    static const char MAGIC[8] = {'C', 'A', 'M', 'K', 'T', 'R', 'C', '1'};
    static char buffer[1 << 16];
    char magic[sizeof MAGIC];
    const bool any_time = count == 4 && strcmp(words[3], "any-time") == 0;
    if (count != 3 && !any_time) {
        give_up(2, "camkes-oracle TABLE TRACE [any-time]");
    }
    oracle_read(words[1]);
    oracle_system.timed = true;
    oracle_system.planned = !any_time;
    oracle_report = on_violation;
    oracle_initialise();
    FILE *file = fopen(words[2], "rb");
    if (!file) {
        give_up(2, "cannot read %s: %s", words[2], strerror(errno));
    }
    setvbuf(file, buffer, _IOFBF, sizeof buffer);
    if (fread(magic, 1, sizeof magic, file) != sizeof magic ||
        memcmp(magic, MAGIC, sizeof magic) != 0) {
        give_up(2, "%s is not a trace", words[2]);
    }
    judge(file);
    fclose(file);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 3;
}
