/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-27 */
/* The manager of a group: every call that it makes for a message, in their order. */
#include "group_model.h"

#if CAMKES_MCS

/* The base priority of a context changes: wherever it is, also while it waits. */
static void rebase(void)
{
    const seL4_Word new_base = camkes_time_label(CAMKES_SET_BASE, 25, 0);
    begin();
    of_waiter(EVENT, CAMKES_WAIT, 0, "sleep: 51 4 20 of thread 7\nT priority 20 for 4\nreceive\n");
    waiter[IN_A].origin = 4;
    word[0] = 4;
    message(CAMKES_BADGE_TIME_MANAGER, new_base,
            "T priority 25 for 4\nB0 priority 25 for 4\nreply good\n");
    need(waiter[IN_A].priority == 25, "the first of the threads that can wait");
    word[0] = 1;
    message(CAMKES_BADGE_TIME_MANAGER, camkes_time_label(CAMKES_SET_BASE, 9, 0),
            "C0 priority 9 for 1\nD0 priority 9 for 1\nreply good\n");
    message(CAMKES_BADGE_TIME_MANAGER, 0, "reply no\n");
    message(OF_MEMBER + T, camkes_worker_label(CAMKES_TELL, 0, 0), "reply no\n");
    word[0] = 0;
    of_waiter(LATER, CAMKES_POST, 0,
              "T priority 9 for 1\nwoken: 51 4 of thread 7\nwake 0: good\nreply good\n");
}

int main(void)
{
    rebase();
    printf("good\n");
    return 0;
}

#else

static void of_member(unsigned i, enum camkes_worker_operation operation, const char *wanted)
{
    message(OF_MEMBER + i, camkes_worker_label(operation, 0, 0), wanted);
}

static void of_caller(unsigned i, enum camkes_caller_operation operation, uint16_t detail,
                      const char *wanted)
{
    message(OF_CALLER + i, camkes_caller_label(operation, 31, detail), wanted);
}

static void wait_until(unsigned i, uint16_t index, uint64_t time, const char *wanted)
{
    word[0] = (seL4_Word)time;
    of_waiter(i, CAMKES_WAIT_UNTIL, index, wanted);
    word[0] = 0;
}

/* Without the kernel: the lock was free. */
static void takes(unsigned i)
{
    holder[member[i].lock] = i - member[i].lock + 1;
}

/* A and B and what is waited for there; A1 is more urgent than A0, and that than B0. */
static void monitor(void)
{
    begin();
    takes(B0);
    of_member(A1, CAMKES_ACQUIRE_LOCK,
              "A1 take 0 for 0\nsave 105\nB0 priority 14 for 3\nreceive\n");
    of_member(A0, CAMKES_ACQUIRE_LOCK, "A0 take 0 for 0\nsave 104\nreceive\n");
    of_waiter(IN_A, CAMKES_WAIT, 0, "reply no\n"); /* without the lock */
    of_member(A1, CAMKES_RELEASE_LOCK, "reply no\n");
    /* a wait gives the lock to the most urgent: no priority is left of that which it had */
    of_waiter(IN_B, CAMKES_WAIT, 0,
              "save 106\nsleep: 50 4 14 of thread 6\nB0 priority 11 for 4\n"
              "T priority 11 for 4\nA1 give 1 for 4\nwake 105: good\nreceive\n");
    of_waiter(IN_B, CAMKES_WAIT, 0, "reply no\n");
    /* one that was signalled waits for the lock, and lends to its holder only */
    of_waiter(IN_A, CAMKES_POST, 1,
              "B0 take 0 for 0\nT priority 10 for 1\nwoken: 50 4 of thread 6\nreply good\n");
    of_waiter(IN_A, CAMKES_POST, 1, "reply good\n");
    of_member(A1, CAMKES_RELEASE_LOCK, "A0 give 1 for 3\nwake 104: good\nreply good\n");
    of_member(A0, CAMKES_RELEASE_LOCK, "B0 give 0 for 2\nwake 106: good\nreply good\n");
    of_member(B0, CAMKES_RELEASE_LOCK, "reply no\n");
    /* no signal of a monitor is kept */
    of_waiter(IN_B, CAMKES_WAIT, 0,
              "B0 free 0 for 0\nsave 106\nsleep: 50 4 11 of thread 6\nT priority 11 for 4\n"
              "receive\n");
}

/* A wait frees a lock that no other context wants; a signal takes it, if it is free. */
static void free_lock(void)
{
    begin();
    of_waiter(IN_A, CAMKES_WAIT, 1, "A1 free 0 for 0\nreply no\n");
    of_waiter(IN_A, CAMKES_WAIT, 2, "reply no\n");
    of_waiter(OUTSIDE, CAMKES_WAIT, 0, "reply no\n");
    takes(A1);
    of_waiter(IN_A, CAMKES_WAIT, 1,
              "A1 free 0 for 0\nsave 105\nsleep: 50 3 14 of thread 5\nT priority 14 for 3\n"
              "receive\n");
    takes(B0);
    of_waiter(IN_B, CAMKES_WAIT, 0,
              "B0 free 0 for 0\nsave 106\nsleep: 50 4 11 of thread 6\nreceive\n");
    of_waiter(IN_A, CAMKES_POST_ALL, 0,
              "A1 take 0 for 0\nT priority 11 for 4\nwoken: 50 3 of thread 5\nwake 105: good\n"
              "B0 take 0 for 0\nT priority 10 for 1\nwoken: 50 4 of thread 6\nreply good\n");
}

/* What a wait in a monitor says of its time, a wait for the lock after it included, and no other.
 */
static void limits(void)
{
    begin();
    now = 1;
    takes(B0);
    wait_until(IN_B, 0, 0, "reply over\n");
    wait_until(IN_B, 0, 300,
               "B0 free 0 for 0\nsave 106\ntimer 300\nsleep: 50 4 11 of thread 6\n"
               "T priority 11 for 4\nreceive\n");
    takes(A1);
    of_waiter(IN_A, CAMKES_WAIT, 1,
              "A1 free 0 for 0\nsave 105\nsleep: 50 3 14 of thread 5\nT priority 14 for 3\n"
              "receive\n");
    of_waiter(EVENT, CAMKES_WAIT, 0,
              "save 202\nsleep: 51 4 20 of thread 7\nT priority 20 for 4\nreceive\n");
    message(TIMER, 0, "reply good\n"); /* of a time that is not armed any more */
    takes(A0);
    fired = 1;
    message(TIMER, 0, "timer 0\nB0 take 0 for 0\nexpire: 50 4 of thread 6\nreply good\n");
    message(TIMER, 0, "reply good\n");
    of_member(A0, CAMKES_RELEASE_LOCK, "B0 give 0 for 2\nwake 106: over\nreply good\n");
    takes(A0);
    of_member(B0, CAMKES_ACQUIRE_LOCK, "B0 take 0 for 0\nsave 106\nreceive\n");
    of_member(A0, CAMKES_RELEASE_LOCK, "B0 give 0 for 2\nwake 106: good\nreply good\n");
    message(TIMER + 1, 0, "reply whose\n");
}

/* A context gets the rest of its time after the lock, once. */
static void owed(void)
{
    begin();
    owes[A1] = true;
    takes(B0);
    of_member(A1, CAMKES_ACQUIRE_LOCK,
              "A1 take 0 for 0\nsave 105\nB0 priority 14 for 3\nreceive\n");
    of_member(
        B0, CAMKES_RELEASE_LOCK,
        "B0 priority 11 for 4\nA1 give 0 for 4\nwake 105: good\nA1 granted 0 for 0\nreply good\n");
    of_waiter(IN_A, CAMKES_WAIT, 1,
              "A1 free 0 for 0\nsave 105\nsleep: 50 3 14 of thread 5\nT priority 14 for 3\n"
              "receive\n");
    of_waiter(IN_A, CAMKES_POST, 0,
              "A1 take 0 for 0\nT priority 10 for 1\nwoken: 50 3 of thread 5\nwake 105: good\n"
              "reply good\n");
    owes[A1] = false;
    of_member(B0, CAMKES_ACQUIRE_LOCK, "B0 take 0 for 0\nsave 106\nreceive\n");
    of_member(A1, CAMKES_RELEASE_LOCK, "B0 give 0 for 3\nwake 106: good\nreply good\n");
    of_member(A1, CAMKES_ACQUIRE_LOCK,
              "A1 take 0 for 0\nsave 105\nB0 priority 14 for 3\nreceive\n");
    of_member(B0, CAMKES_RELEASE_LOCK,
              "B0 priority 11 for 4\nA1 give 0 for 4\nwake 105: good\nreply good\n");
}

/* Of equals the first to arrive is the first, also while numbers of arrivals begin anew. */
static void order(void)
{
    begin();
    member[A0].base = member[A0].effective = member[A1].base = member[A1].effective = 11;
    takes(B0);
    of_member(A1, CAMKES_ACQUIRE_LOCK, "A1 take 0 for 0\nsave 105\nreceive\n");
    of_member(A0, CAMKES_ACQUIRE_LOCK, "A0 take 0 for 0\nsave 104\nreceive\n");
    of_member(B0, CAMKES_RELEASE_LOCK, "A1 give 1 for 4\nwake 105: good\nreply good\n");
    begin();
    of_waiter(LATER, CAMKES_WAIT, 0,
              "save 203\nsleep: 51 3 20 of thread 8\nT priority 20 for 3\nreceive\n");
    of_waiter(OTHER, CAMKES_WAIT, 0, "save 204\nsleep: 51 2 20 of thread 9\nreceive\n");
    of_waiter(EVENT, CAMKES_WAIT, 0, "save 202\nsleep: 51 4 20 of thread 7\nreceive\n");
    of_waiter(IN_A, CAMKES_POST, 0, "reply good\n");
    of_waiter(LATER, CAMKES_POST, 0, "woken: 51 3 of thread 8\nwake 203: good\nreply good\n");
    of_waiter(LATER, CAMKES_POST, 0, "woken: 51 2 of thread 9\nwake 204: good\nreply good\n");
    of_waiter(LATER, CAMKES_POST, 0,
              "T priority 10 for 1\nwoken: 51 4 of thread 7\nwake 202: good\nreply good\n");
}

/* Priorities come to the end of a chain of requests and locks, and only where it leads. */
static void chains(void)
{
    begin();
    nested[T] = 7;
    nested[C0] = 8;
    of_waiter(EVENT, CAMKES_WAIT, 0,
              "save 202\nsleep: 51 4 20 of thread 7\nT priority 20 for 4\n"
              "C0 priority 20 for 4\nD0 priority 20 for 4\nreceive\n");
    of_waiter(EVENT, CAMKES_POST, 0,
              "T priority 10 for 1\nC0 priority 10 for 1\nD0 priority 10 for 1\n"
              "woken: 51 4 of thread 7\nwake 202: good\nreply good\n");
    /* the whole chain is known now */
    of_waiter(EVENT, CAMKES_WAIT, 0,
              "save 202\nsleep: 51 4 20 of thread 7\nT priority 20 for 4\n"
              "C0 priority 20 for 4\nD0 priority 20 for 4\nreceive\n");
    of_caller(D0, CAMKES_CLEAR, 0, "D0 priority 10 for 1\nreply good\n");
    of_caller(D0, CAMKES_CLEAR, 0, "reply good\n");
    of_caller(D0, CAMKES_UPDATE, 0, "D0 priority 20 for 4\nreply good\n");
    of_caller(D0, CAMKES_CLEAR, 1, "C0 nested 0 for 0\nreply good\n");
    nested[C0] = 0;
    of_caller(D0, CAMKES_CLEAR, 1, "C0 nested 0 for 0\nD0 priority 10 for 1\nreply good\n");
    begin();
    nested[C0] = 8;
    takes(C0);
    of_member(C1, CAMKES_ACQUIRE_LOCK,
              "C1 take 0 for 0\nsave 102\nC0 priority 14 for 3\nD0 priority 14 for 3\nreceive\n");
    /* no waiter for another lock counts */
    takes(B0);
    of_member(B0, CAMKES_RELEASE_LOCK, "reply no\n");
    of_waiter(IN_B, CAMKES_WAIT, 0,
              "B0 free 0 for 0\nsave 106\nsleep: 50 4 11 of thread 6\nT priority 11 for 4\n"
              "receive\n");
    takes(A0);
    of_member(A1, CAMKES_ACQUIRE_LOCK,
              "A1 take 0 for 0\nsave 105\nA0 priority 14 for 3\nreceive\n");
    of_member(A0, CAMKES_RELEASE_LOCK,
              "A0 priority 12 for 2\nA1 give 0 for 2\nwake 105: good\nreply good\n");
    of_member(C0, CAMKES_RELEASE_LOCK,
              "C0 priority 10 for 1\nD0 priority 10 for 1\nC1 give 0 for 1\nwake 102: good\n"
              "reply good\n");
}

/* The last of each kind has a badge of its own; what is above an operation is not part of it. */
static void messages(void)
{
    begin();
    of_member(B0, CAMKES_BEGIN_REQUEST, "B0 begin 0 for 0\nreply label\n");
    of_member(B0, CAMKES_END_REQUEST, "B0 end 0 for 0\nreply label\n");
    message(OF_MEMBER + B0, camkes_worker_label(CAMKES_BEGIN_REQUEST, 1, 2),
            "B0 begin 0 for 2\nreply label\n");
    of_caller(B0, CAMKES_UPDATE, 0, "reply good\n");
    message(OF_WAITER + OTHER, camkes_waiter_label(CAMKES_POST, 1, 0), "reply good\n");
    of_waiter(OTHER, CAMKES_WAIT, 0, "reply good\n");
    message(0, 0, "reply whose\n");
    message(CAMKES_BADGE_TIME_MANAGER, camkes_time_label(CAMKES_SET_BASE, 25, 0), "reply whose\n");
}

/* What no user of the system is to see. */
static void failures(void)
{
    begin();
    holder[A0] = 1;
    cannot_save = seL4_NotEnoughMemory;
    of_member(B0, CAMKES_ACQUIRE_LOCK,
              "B0 take 0 for 0\na reply to B0 cannot be kept for later: kernel error 10\n");
    begin();
    refused = CAMKES_SET_PRIORITY;
    of_waiter(EVENT, CAMKES_WAIT, 0,
              "save 202\nsleep: 51 4 20 of thread 7\nT priority 20 for 4\nT failed\n");
    begin();
    refused = CAMKES_TAKE_LOCK;
    of_member(A1, CAMKES_ACQUIRE_LOCK, "A1 take 0 for 0\nreply long\n");
    of_member(A1, CAMKES_ACQUIRE_LOCK, "A1 take 0 for 0\nreply long\n");
}

int main(void)
{
    monitor();
    free_lock();
    limits();
    owed();
    order();
    chains();
    messages();
    failures();
    printf("good\n");
    return 0;
}

#endif
