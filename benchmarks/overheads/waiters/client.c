/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Requests the lock whenever it is held. The client of the highest priority, which comes last and
 * is served first, prints lines as those of ../application/client.c. */
#include <camkes.h>
#include <cycles.h>
#include <inttypes.h>
#include <stdio.h>

#define SAMPLES 15
#define ROUNDS 150 /* as in ../application/client.c */

int run(void)
{
    static struct sample {
        uint64_t begin, middle, end;
    } sample[SAMPLES];

    for (int i = 0; !measures || i < ROUNDS; i++) {
        held_wait();
        struct sample *s = &sample[i % SAMPLES];
        s->begin = cycles();
        s->middle = lock_now(0);
        s->end = cycles();
    }
    for (int i = 0; i < SAMPLES; i++) {
        const struct sample *s = &sample[i];
        printf("overheads: waiters %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", s->begin, s->middle,
               s->end);
        const uint64_t before = cycles(), after = cycles();
        printf("overheads: counter %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", before, after, after);
    }
    printf("overheads: end\n");
    return 0;
}
