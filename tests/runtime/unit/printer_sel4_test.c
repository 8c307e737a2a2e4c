/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-36 */
/* The printer of records on seL4: all of them in the order of their entries and of their times. */
#include "clock_sel4.h"
#include "trace_sel4.h"

#include <camkes/platform.h>
#include <camkes/trace.h>
#include <sel4/sel4.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MS = 1000000 };

void _camkes_thread(unsigned index);

char _camkes_trace[CAMKES_SEL4_TRACE_BYTES] __attribute__((aligned(4096)));
static struct camkes_sel4_trace *const trace = (struct camkes_sel4_trace *)_camkes_trace;
static uint64_t now;
static bool preempt;
static char printed[512];
static jmp_buf over;

volatile uint64_t _camkes_epoch[512]; /* ticks are nanoseconds since boot */

uint64_t camkes_sel4_time_of(uint64_t instant)
{
    return instant;
}

static void take(void)
{
    atomic_fetch_add(&trace->taken, 1);
}

static void fill(uint32_t number, uint64_t time)
{
    trace->entry[number].time = time;
    trace->entry[number].kind = CAMKES_TRACE_JOB_BEGIN;
    atomic_store(&trace->entry[number].full, 1);
}

/* A thread can have an entry right after the printer has read the clock. */
uint64_t camkes_sel4_read_ticks(void)
{
    if (preempt) {
        preempt = false;
        take();
    }
    return now;
}

void seL4_DebugPutChar(char character)
{
    strncat(printed, &character, 1);
}

static void expect(const struct camkes_sel4_trace_entry *entries, unsigned count, const char *what)
{
    char text[512] = "";
    for (unsigned i = 0; i < count; i++) {
        if (entries[i].kind == 0) {
            strcat(text, "~ lost\n");
            continue;
        }
        const unsigned thread = entries[i].kind == CAMKES_TRACE_IDLE ? CAMKES_TRACE_NO_NUMBER : 0;
        snprintf(text + strlen(text), sizeof text - strlen(text), "~ %lx %x %x %x\n",
                 (unsigned long)entries[i].time, entries[i].kind, thread, thread);
    }
    if (strcmp(printed, text) != 0) {
        printf("%s: \"%s\" and not \"%s\"\n", what, printed, text);
        exit(1);
    }
    printed[0] = 0;
}

#define EXPECT(what, ...)                                                                          \
    expect((const struct camkes_sel4_trace_entry[]){__VA_ARGS__},                                  \
           sizeof((const struct camkes_sel4_trace_entry[]){__VA_ARGS__}) /                         \
               sizeof(struct camkes_sel4_trace_entry),                                             \
           what)
#define LOST {.kind = 0}
#define IDLE(when) {.kind = CAMKES_TRACE_IDLE, .time = (when)}
#define JOB(when) {.kind = CAMKES_TRACE_JOB_BEGIN, .time = (when)}

/* What others do while the printer waits. */
void seL4_Yield(void)
{
    static unsigned step;
    switch (step++) {
    case 0:
        expect(NULL, 0, "nothing was recorded");
        now = 20 * MS;
        break;
    case 1:
        EXPECT("nothing for a while", IDLE(20 * MS));
        take(); /* entry 1, of a thread that is preempted before it is full */
        now = 40 * MS;
        break;
    case 2:
        take();
        fill(2, 50 * MS);
        now = 60 * MS;
        break;
    case 3:
        expect(NULL, 0, "the entry before is not full yet");
        fill(1, 30 * MS);
        break;
    case 4:
        EXPECT("all that there is", JOB(30 * MS), JOB(50 * MS), IDLE(60 * MS));
        now = 80 * MS;
        preempt = true;
        break;
    case 5:
        expect(NULL, 0, "an entry was taken after the time was read");
        fill(4, 90 * MS); /* by one that came round to it again */
        atomic_store(&trace->lost, 1);
        now = 100 * MS;
        break;
    case 6:
        EXPECT("the record after those that were lost", LOST, JOB(90 * MS), IDLE(100 * MS));
        break;
    default:
        longjmp(over, 1);
    }
}

int main(void)
{
    if (setjmp(over) == 0) {
        _camkes_thread(0);
    }
    printf("good\n");
    return 0;
}
