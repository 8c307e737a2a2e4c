/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A text of all calls that code under test makes, in their order. */
#pragma once

#include <camkes/platform.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char done[8000];

static void note(const char *format, ...)
{
    va_list args;
    const size_t length = strlen(done);
    va_start(args, format);
    (void)vsnprintf(done + length, sizeof done - length, format, args);
    va_end(args);
}

/* A line from what a function with a variable number of arguments was given. */
static inline void note_line(const char *format, va_list args)
{
    char text[200];
    (void)vsnprintf(text, sizeof text, format, args);
    note("%s\n", text);
}

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

static void need_done(const char *wanted)
{
    size_t same = 0;
    while (done[same] != 0 && done[same] == wanted[same]) {
        same++;
    }
    if (done[same] != wanted[same]) {
        printf("%s\nis wrong from here:\n%s\n", done, done + same);
        exit(1);
    }
    done[0] = 0;
}

static const char *name_of_record(uint16_t kind)
{
    static const struct {
        uint16_t kind;
        const char *name;
    } records[] = {
        {CAMKES_TRACE_REQUEST_BEGIN, "begin"},
        {CAMKES_TRACE_REQUEST_END, "end"},
        {CAMKES_TRACE_LOCK_TAKE, "take"},
        {CAMKES_TRACE_LOCK_FREE, "free"},
        {CAMKES_TRACE_LOCK_WAIT, "wait"},
        {CAMKES_TRACE_LOCK_GRANT, "grant"},
        {CAMKES_TRACE_CALL_BEGIN, "call"},
        {CAMKES_TRACE_CALL_END, "return"},
        {CAMKES_TRACE_INHERIT, "inherit"},
        {CAMKES_TRACE_LEND, "lend"},
        {CAMKES_TRACE_UPDATE, "update"},
        {CAMKES_TRACE_CLEAR, "clear"},
        {CAMKES_TRACE_COND_WAIT, "sleep"},
        {CAMKES_TRACE_COND_WAKE, "woken"},
        {CAMKES_TRACE_COND_EXPIRE, "expire"},
        {CAMKES_TRACE_JOB_BEGIN, "job begins"},
        {CAMKES_TRACE_JOB_END, "job ends"},
        {CAMKES_TRACE_JOB_STOP, "job stops"},
        {CAMKES_TRACE_TURN, "turn"},
        {CAMKES_TRACE_JOB_LEFT_OUT, "job left out"},
        {CAMKES_TRACE_CRITICALITY, "criticality"},
    };
    for (unsigned i = 0; i < sizeof records / sizeof *records; i++) {
        if (records[i].kind == kind) {
            return records[i].name;
        }
    }
    return "other";
}

void camkes_host_annotate(uint16_t kind, uint16_t other, unsigned n, const uint64_t *args)
{
    if (kind == CAMKES_TRACE_SYNC_TAKE || kind == CAMKES_TRACE_SYNC_POST) {
        return; /* see semaphore_test.c */
    }
    note("%s:", name_of_record(kind));
    for (unsigned i = 0; i < n; i++) {
        note(" %lu", (unsigned long)args[i]);
    }
    if (other != CAMKES_TRACE_NO_NUMBER) {
        note(" of thread %u", other);
    }
    note("\n");
}
