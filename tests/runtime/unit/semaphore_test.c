/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-12 */
/* Semaphores, also where another thread does something between two steps of an operation. */
#include <camkes/platform.h>
#include <camkes/semaphore.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { NOTIFICATION = 7 };

static struct camkes_semaphore semaphore;
static unsigned signals, waits, points;
static int has;                 /* by the records: what was taken, less what was posted */
static void (*meanwhile)(void); /* what another thread does at the next point */
static void (*waiting)(void);   /* what happens while the thread waits */

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s: value %d, wakeups %u, %u signals, %u waits\n", what, semaphore.value,
               semaphore.wakeups, signals, waits);
        exit(1);
    }
}

void camkes_host_point(void)
{
    void (*const other)(void) = meanwhile;
    meanwhile = NULL;
    points++;
    if (other != NULL) {
        other();
    }
}

void camkes_host_annotate(uint16_t kind, uint16_t other, unsigned n, const uint64_t *args)
{
    need(other == CAMKES_TRACE_NO_NUMBER && n == 1 && args[0] == NOTIFICATION, "the record");
    need(kind == CAMKES_TRACE_SYNC_TAKE || kind == CAMKES_TRACE_SYNC_POST, "its kind");
    has += kind == CAMKES_TRACE_SYNC_TAKE ? 1 : -1;
}

void seL4_Signal(seL4_CPtr notification)
{
    need(notification == NOTIFICATION, "another notification is signalled");
    signals++;
}

void seL4_Wait(seL4_CPtr notification, seL4_Word *badge)
{
    (void)badge;
    need(notification == NOTIFICATION, "another notification is waited for");
    need(++waits < 10, "a wait that does not end");
    if (waiting != NULL) {
        waiting();
    }
}

static void begin(int value, unsigned wakeups)
{
    semaphore = (struct camkes_semaphore){NOTIFICATION, value, wakeups};
    signals = waits = points = 0;
    has = 0;
    meanwhile = waiting = NULL;
}

static void check(const char *what, int value, unsigned wakeups, unsigned signalled,
                  unsigned waited, int taken)
{
    need(semaphore.value == value && semaphore.wakeups == wakeups, what);
    need(signals == signalled && waits == waited, what);
    need(has == taken, what);
}

static void post(void)
{
    need(camkes_semaphore_post(&semaphore, INT_MAX) == 0, "post");
}

static void take_all(void)
{
    semaphore.value = 0;
}

static void take_wakeup(void)
{
    semaphore.wakeups--;
}

static void post_in_the_second_wait(void)
{
    if (waits == 2) {
        semaphore.wakeups++;
    }
}

static void wait_for(void)
{
    begin(1, 0);
    need(camkes_semaphore_wait(&semaphore) == 0, "a value is left");
    check("a value is left", 0, 0, 0, 0, 1);
    begin(0, 1);
    need(camkes_semaphore_wait(&semaphore) == 0, "none is left");
    check("the only wakeup is taken", -1, 0, 0, 1, 1);
    begin(-2, 3);
    need(camkes_semaphore_wait(&semaphore) == 0, "others wait, too");
    check("one of several is taken, and the next waiter is signalled", -3, 2, 1, 1, 1);
    begin(-2, 2);
    (void)camkes_semaphore_wait(&semaphore);
    check("of two", -3, 1, 1, 1, 1);
    begin(0, 0);
    waiting = post_in_the_second_wait;
    (void)camkes_semaphore_wait(&semaphore);
    check("a signal whose wakeup another thread has taken", -1, 0, 0, 2, 1);
    begin(INT_MIN, 0);
    need(camkes_semaphore_wait(&semaphore) == -1, "as many waiters as there can be");
    check("as many waiters as there can be", INT_MIN, 0, 0, 0, 0);
    begin(1, 0);
    meanwhile = take_all;
    waiting = post;
    (void)camkes_semaphore_wait(&semaphore);
    check("the last one is taken before the first step", 0, 0, 1, 1, 0);
}

/* Between reading the wakeups and taking one, another thread takes one. */
static void take_at_the_last_moment(void)
{
    meanwhile = take_wakeup;
}

static void contended_wakeups(void)
{
    begin(-1, 2);
    waiting = take_at_the_last_moment;
    (void)camkes_semaphore_wait(&semaphore);
    check("the other one is left", -2, 0, 0, 1, 1);
}

static void try(void)
{
    begin(2, 0);
    need(camkes_semaphore_trywait(&semaphore) == 0, "a value is left");
    check("a value is left", 1, 0, 0, 0, 1);
    begin(0, 1);
    need(camkes_semaphore_trywait(&semaphore) == -1, "none is left");
    check("none is left", 0, 1, 0, 0, 0);
    begin(-1, 0);
    need(camkes_semaphore_trywait(&semaphore) == -1, "others wait");
    check("others wait", -1, 0, 0, 0, 0);
    begin(1, 0);
    meanwhile = take_all;
    need(camkes_semaphore_trywait(&semaphore) == -1, "another thread was faster");
    check("another thread was faster", 0, 0, 0, 0, 0);
}

static void give(void)
{
    begin(0, 0);
    need(camkes_semaphore_post(&semaphore, 1) == 0, "nobody waits");
    check("nobody waits", 1, 0, 0, 0, -1);
    need(camkes_semaphore_post(&semaphore, 1) == 0, "a mutex that is free");
    check("a mutex that is free", 1, 0, 0, 0, -1);
    begin(-1, 0);
    post();
    check("a waiter", 0, 1, 1, 0, -1);
    begin(INT_MAX - 1, 0);
    post();
    need(camkes_semaphore_post(&semaphore, INT_MAX) == -1, "a count that would overflow");
    check("a count that would overflow", INT_MAX, 0, 0, 0, -1);
    begin(1, 0);
    meanwhile = take_all;
    (void)camkes_semaphore_post(&semaphore, INT_MAX);
    check("it was taken meanwhile", 1, 0, 0, 0, -1);
    begin(-1, 0);
    meanwhile = take_all;
    (void)camkes_semaphore_post(&semaphore, INT_MAX);
    check("the waiter is gone meanwhile", 1, 0, 0, 0, -1);
}

int main(void)
{
    wait_for();
    contended_wakeups();
    try();
    give();
    printf("good\n");
    return 0;
}
