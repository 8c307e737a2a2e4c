/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-1 */
/* Threads that do everything at random, so that unexpected combinations of states occur. */
#include <camkes/host.h>
#include <stdio.h>

enum { ENDPOINTS = 1, NOTIFICATIONS = 4, TICK = 6, TIMER = 7, SELF = 8, TCBS = 10, SAVED = 40 };
enum { THREADS = 9, KICKER = 9 };

struct random {
    uint64_t state;
};

static unsigned pick(struct random *random, unsigned n)
{
    random->state = random->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random->state >> 33) % n;
}

static seL4_MessageInfo_t message(struct random *random)
{
    unsigned length = pick(random, 6);
    for (unsigned i = 0; i < length; i++) {
        seL4_SetMR((int)i, pick(random, 1000));
    }
    return seL4_MessageInfo_new(pick(random, 1000), 0, 0, length);
}

/* The operations 0 to 11. */
static void pass_message(struct random *random, unsigned choice, seL4_CPtr endpoint,
                         seL4_CPtr saved)
{
    seL4_Word badge;
    switch (choice) {
    case 0:
    case 1:
        seL4_Call(endpoint, message(random));
        break;
    case 2:
        seL4_Send(endpoint, message(random));
        break;
    case 3:
        seL4_NBSend(endpoint, message(random));
        break;
    case 4:
    case 5:
        seL4_Recv(endpoint, &badge);
        break;
    case 6:
        seL4_ReplyRecv(endpoint, message(random), &badge);
        break;
    case 7:
        seL4_NBRecv(endpoint, &badge);
        break;
    case 8:
        seL4_Reply(message(random));
        break;
    case 9:
        seL4_CNode_SaveCaller(seL4_CapNull, saved, seL4_WordBits);
        break;
    case 10:
        seL4_Send(saved, message(random));
        break;
    case 11:
        seL4_CNode_Delete(seL4_CapNull, saved, seL4_WordBits);
        break;
    }
}

static void do_something(struct random *random)
{
    seL4_CPtr endpoint = ENDPOINTS + pick(random, 3);
    seL4_CPtr notification = NOTIFICATIONS + pick(random, 2);
    seL4_CPtr tcb = TCBS + pick(random, THREADS);
    seL4_CPtr saved = SAVED + pick(random, 3);
    seL4_Word badge;
    const unsigned choice = (unsigned)pick(random, 20);
    switch (choice) {
    case 12:
        seL4_Signal(notification);
        break;
    case 13:
        seL4_Wait(notification, &badge);
        break;
    case 14:
        seL4_Poll(notification, &badge);
        break;
    case 15:
        seL4_TCB_SetPriority(tcb, SELF, 1 + pick(random, 60));
        break;
    case 16:
        seL4_TCB_Suspend(tcb);
        break;
    case 17:
        seL4_TCB_Resume(tcb);
        break;
    case 18:
        seL4_Yield();
        break;
    case 19:
        camkes_host_point();
        camkes_host_work_between(10, 1000);
        break;
    default:
        pass_message(random, choice, endpoint, saved);
    }
    camkes_host_work(pick(random, 100));
}

static void kick(struct random *random)
{
    seL4_Wait(TICK, NULL);
    seL4_TCB_Resume(TCBS + pick(random, THREADS));
    seL4_Signal(NOTIFICATIONS + pick(random, 2));
}

void _camkes_thread(unsigned index)
{
    struct random random = {index + 1};
    for (;;) {
        if (index == KICKER) {
            kick(&random);
        } else {
            do_something(&random);
        }
    }
}
