/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Timers for many clients, by one timer in virtual time. */
#include "../../must.h"

#include <camkes.h>

#include <stdint.h>

/* The templates of its connector define these, if it has clients. */
seL4_Word the_timer_get_sender_id(void) __attribute__((weak));
void the_timer_emit(unsigned int badge) __attribute__((weak));
int the_timer_largest_badge(void) __attribute__((weak));

int the_timer_periodic(int timer, uint64_t ns);
int the_timer_oneshot_absolute(int timer, uint64_t ns);
int the_timer_oneshot_relative(int timer, uint64_t ns);
int the_timer_stop(int timer);
unsigned int the_timer_completed(void);
uint64_t the_timer_time(void);
uint64_t the_timer_tsc_frequency(void);

enum { MOST_TIMERS = 8 * sizeof(unsigned int) };

/* A timer expires at `due`, then every `period` (0: once). */
struct timeout {
    bool armed;
    uint64_t due, period;
};

static struct timeout *timeouts; /* of all clients, whose badges begin with 1 */
static unsigned int *completed;  /* by client: a bit for each timer */

static int clients(void)
{
    return the_timer_largest_badge ? the_timer_largest_badge() : 0;
}

void pre_init(void)
{
    must(timers_per_client >= 0 && timers_per_client <= MOST_TIMERS);
    timeouts = calloc((size_t)clients() * (size_t)timers_per_client, sizeof *timeouts);
    completed = calloc((size_t)clients(), sizeof *completed);
    must(clients() == 0 || timers_per_client == 0 || (timeouts != NULL && completed != NULL));
}

/* Signals what is due, and sets the timer for what is next. */
static void update(void)
{
    const uint64_t now = device_time();
    uint64_t next = UINT64_MAX;
    for (int client = 0; client < clients(); client++) {
        for (int timer = 0; timer < timers_per_client; timer++) {
            struct timeout *timeout = &timeouts[client * timers_per_client + timer];
            if (timeout->armed && timeout->due <= now) {
                completed[client] |= 1u << timer;
                the_timer_emit((unsigned int)client + 1);
                timeout->armed = timeout->period != 0;
                if (timeout->armed) { /* the next that is not past */
                    timeout->due += ((now - timeout->due) / timeout->period + 1) * timeout->period;
                }
            }
            if (timeout->armed && timeout->due < next) {
                next = timeout->due;
            }
        }
    }
    if (next == UINT64_MAX) {
        device_stop(0);
    } else {
        device_oneshot_absolute(0, next);
    }
}

int run(void)
{
    for (;;) {
        device_wait();
        must(timeouts_lock() == 0);
        update();
        must(timeouts_unlock() == 0);
    }
}

static int set(int timer, struct timeout timeout)
{
    if (timer < 0 || timer >= timers_per_client) {
        return -1;
    }
    const int client = (int)the_timer_get_sender_id() - 1;
    must(timeouts_lock() == 0);
    timeouts[client * timers_per_client + timer] = timeout;
    update();
    must(timeouts_unlock() == 0);
    return 0;
}

int the_timer_periodic(int timer, uint64_t ns)
{
    if (ns == 0) {
        return -1;
    }
    return set(timer, (struct timeout){true, device_time() + ns, ns});
}

int the_timer_oneshot_absolute(int timer, uint64_t ns)
{
    return set(timer, (struct timeout){true, ns, 0});
}

int the_timer_oneshot_relative(int timer, uint64_t ns)
{
    return set(timer, (struct timeout){true, device_time() + ns, 0});
}

int the_timer_stop(int timer)
{
    return set(timer, (struct timeout){false, 0, 0});
}

unsigned int the_timer_completed(void)
{
    const int client = (int)the_timer_get_sender_id() - 1;
    must(timeouts_lock() == 0);
    const unsigned int result = completed[client];
    completed[client] = 0;
    must(timeouts_unlock() == 0);
    return result;
}

uint64_t the_timer_time(void)
{
    return device_time();
}

/* Of the processor's counter, which a client may read beside: virtual time is in nanoseconds. */
uint64_t the_timer_tsc_frequency(void)
{
    return 1000 * 1000 * 1000;
}
