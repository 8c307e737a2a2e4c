/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-18 */
/* Others begin or cease to wait for a request, here or further up: which time pays, and which
 * nested requests learn of that. */
#include "overrun_model.h"

/* LOW has had no budget, and executes when its time has some. */
static void begin_stalled(const char *what)
{
    begin(what);
    cpi.helps = true;
    stalled(LOW);
    wait(HIGH, 0);
    atomic_store(&cpi.lock, contexts[LOW].held);
}

/* Workers that have received what was sent and not called are ready, without time: whatever is
 * bound to them, that succeeds. */
static void test_who_is_asked(void)
{
    for (unsigned i = 0; i < 2; i++) {
        begin_stalled("the spare worker is asked");
        bound[T_MID] = bound[T_TOP] = NULL;
        blocked[MID] = blocked[TOP] = false;
        budget[T_HIGH] = i != 0;
        camkes_overrun_wait(&cpi, &contexts[LOW], &contexts[HIGH]);
        need_time(i == 0 ? T_LOW : T_HIGH, i == 0 ? 0 : T_LOW, i == 0);
    }
}

static void test_wait(void)
{
    begin_stalled("one comes that has budget");
    budget[T_HIGH] = true;
    camkes_overrun_wait(&cpi, &contexts[LOW], &contexts[HIGH]);
    need_time(T_HIGH, T_LOW, false);
    begin_stalled("the next budget is there");
    budget[T_LOW] = budget[T_HIGH] = true;
    camkes_overrun_wait(&cpi, &contexts[LOW], &contexts[HIGH]);
    need_time(T_LOW, 0, false);
    need(threads[HIGH].withdrawn == T_HIGH && bound[T_HIGH] == NULL, "it keeps its time");
    begin_stalled("one comes without budget");
    camkes_overrun_wait(&cpi, &contexts[LOW], &contexts[HIGH]);
    need_time(T_LOW, 0, true);
    need(atomic_load(&cpi.lock) == contexts[LOW].held, "a release is told to no purpose");
    begin_stalled("another one pays");
    execute_on(T_FAR);
    budget[T_HIGH] = true;
    camkes_overrun_wait(&cpi, &contexts[LOW], &contexts[HIGH]);
    need(time_of(&threads[LOW]) == T_FAR && threads[LOW].withdrawn == T_LOW, "another one pays");
    begin_stalled("its time is elsewhere");
    bound[T_LOW] = NULL;
    budget[T_HIGH] = true;
    camkes_overrun_wait(&cpi, &contexts[LOW], &contexts[HIGH]);
    need(time_of(&threads[LOW]) == 0 && threads[LOW].withdrawn == 0, "it has time of others");
    begin("it has budget");
    cpi.helps = true;
    wait(HIGH, 0);
    camkes_overrun_wait(&cpi, &contexts[LOW], &contexts[HIGH]);
    need(bound[T_HIGH] == &threads[HIGH], "it does not need the time of others");
    begin_stalled("its time was taken away before");
    bound[T_LOW] = NULL;
    withdrawn(LOW);
    blocked[LOW] = true;
    budget[T_HIGH] = true;
    camkes_overrun_wait(&cpi, &contexts[LOW], &contexts[HIGH]);
    need_time(T_HIGH, T_LOW, false);
    begin("one that stalled waits");
    cpi.lends = true;
    wait(HIGH, 0);
    stalled(HIGH);
    camkes_overrun_lend(&cpi, &contexts[HIGH]);
    need(bound[T_HIGH] == NULL && threads[HIGH].withdrawn == T_HIGH, "it can pay further down");
    begin_stalled("no help");
    cpi.helps = false;
    camkes_overrun_wait(&cpi, &contexts[LOW], &contexts[HIGH]);
    need(bound[T_HIGH] == &threads[HIGH], "those that wait keep their time");
    camkes_overrun_lend(&cpi, &contexts[HIGH]);
    need(bound[T_HIGH] == &threads[HIGH], "those that wait keep their time");
    cpi.lends = true;
    camkes_overrun_lend(&cpi, &contexts[HIGH]);
    need(bound[T_HIGH] == NULL && threads[HIGH].withdrawn == T_HIGH, "it can pay further down");
    camkes_overrun_lend(&cpi, &contexts[HIGH]);
    need(threads[HIGH].withdrawn == T_HIGH, "it was taken away before");
}

static void test_queue(void)
{
    begin_stalled("a group");
    cpi.arrivals = 5;
    contexts[HIGH].rank = 0;
    budget[T_HIGH] = true;
    camkes_overrun_queue(&cpi, &contexts[HIGH]);
    need(contexts[HIGH].rank == CAMKES_RANKS - 6 && cpi.arrivals == 6, "it is not the sixth");
    need_time(T_HIGH, T_LOW, false);
    camkes_overrun_queue(&cpi, &contexts[TOP]);
    need(contexts[TOP].rank == CAMKES_RANKS - 7, "it is not the seventh");
    begin_stalled("another one holds the lock");
    threads[LOW].state = CAMKES_WORKER_PASSIVE;
    stalled(MID); /* of an earlier time */
    bound[T_MID] = &threads[MID];
    budget[T_HIGH] = true;
    camkes_overrun_queue(&cpi, &contexts[HIGH]);
    need(time_of(&threads[MID]) == T_MID && bound[T_HIGH] == &threads[HIGH], "another one pays");
}

static void test_raised(void)
{
    begin("one waits further up");
    cpi.lent = true;
    camkes_overrun_raised(&cpi, &contexts[MID], 25, NEAR_ID);
    need(payers[NEAR].awaits == MID + 1 && payers[NEAR].priority == 25, "it is not known");
    need(payers[FAR].awaits == 0, "another one");
    need_told("1: 25 of 61\n");
    camkes_overrun_raised(&cpi, &contexts[MID], 0, CAMKES_NO_TASK);
    need(payers[NEAR].awaits == 0, "it waits no more");
    camkes_overrun_raised(&cpi, &contexts[LOW], 25, FAR_ID);
    camkes_overrun_raised(&cpi, &contexts[MID], 0, CAMKES_NO_TASK);
    need(payers[FAR].awaits == LOW + 1, "it waits for another");
    need(payers[MORE].awaits == 0, "an extension waits for none");
    camkes_overrun_raised(&cpi, &contexts[LOW], 35, NEAR_ID);
    need(payers[FAR].awaits == LOW + 1 && payers[NEAR].awaits == LOW + 1, "both wait");
    need_told("0: 25 of 60\n0: 35 of 61\n");
    begin("it comes from itself");
    cpi.lent = true;
    contexts[MID].id = NEAR_ID;
    camkes_overrun_raised(&cpi, &contexts[MID], 25, NEAR_ID);
    need(payers[NEAR].awaits == 0, "it waits for itself");
    begin("it has nothing to pay with here");
    cpi.lent = true;
    camkes_overrun_raised(&cpi, &contexts[MID], 25, (uint16_t)contexts[HIGH].id);
    need(payers[NEAR].awaits == 0 && payers[FAR].awaits == 0, "another one pays");
    need_told("");
    begin("no CPI further up lends");
    camkes_overrun_raised(&cpi, &contexts[MID], 25, NEAR_ID);
    need(payers[NEAR].awaits == 0, "it does not pay here");
    need_told("");
    begin("for one that waits, without help");
    cpi.lent = true;
    wait(MID, 0);
    stalled(LOW);
    budget[T_FAR] = true;
    camkes_overrun_raised(&cpi, &contexts[MID], 25, FAR_ID);
    need(payers[FAR].awaits == MID + 1, "it is not known");
    need_told("");
}

static void test_raised_pays(void)
{
    begin_stalled("for one that waits");
    cpi.lent = true;
    bound[T_HIGH] = NULL; /* it was asked before */
    withdrawn(HIGH);
    budget[T_FAR] = true;
    camkes_overrun_raised(&cpi, &contexts[HIGH], 45, FAR_ID);
    need_time(T_FAR, T_LOW, false);
    need_told("0: 45 of 60\n");
    begin_stalled("for the holder");
    cpi.lent = true;
    budget[T_FAR] = true;
    camkes_overrun_raised(&cpi, &contexts[LOW], 45, FAR_ID);
    need_time(T_FAR, T_LOW, false);
    begin_stalled("for one that stalled earlier");
    cpi.lent = true;
    stalled(TOP);
    bound[T_TOP] = &threads[TOP];
    budget[T_FAR] = true;
    camkes_overrun_raised(&cpi, &contexts[TOP], 45, FAR_ID);
    need(bound[T_TOP] == &threads[TOP] && bound[T_FAR] == NULL && threads[TOP].withdrawn == 0,
         "it pays");
    for (unsigned helps = 0; helps < 2; helps++) {
        begin_stalled("for a holder that needs no help, or gets none");
        cpi.lent = true;
        cpi.helps = helps != 0;
        threads[LOW].state = helps == 0 ? CAMKES_WORKER_STALLED : CAMKES_WORKER_PASSIVE;
        budget[T_FAR] = true;
        camkes_overrun_raised(&cpi, &contexts[LOW], 45, FAR_ID);
        need(bound[T_LOW] == &threads[LOW] && bound[T_FAR] == NULL, "it pays");
    }
}

static void test_tell(void)
{
    begin("a waiter");
    camkes_overrun_tell(&cpi, &contexts[LOW], &contexts[HIGH]);
    need_told("");
    cpi.lends = true;
    camkes_overrun_tell(&cpi, &contexts[LOW], &contexts[HIGH]);
    need_told("0: 30 of 52\n");
    camkes_overrun_tell(&cpi, &contexts[HIGH], &contexts[LOW]);
    contexts[MID].base = contexts[HIGH].request;
    camkes_overrun_tell(&cpi, &contexts[MID], &contexts[HIGH]);
    need_told(""); /* those that are more urgent pay */
    atomic_store(&contexts[LOW].cause, contexts[HIGH].id);
    camkes_overrun_tell(&cpi, &contexts[LOW], &contexts[HIGH]);
    need_told("0: 30 of 52\n"); /* its priority was sent, but that it pays was not */
    atomic_store(&contexts[LOW].paid, true);
    camkes_overrun_tell(&cpi, &contexts[LOW], &contexts[HIGH]);
    need_told("");
    camkes_overrun_tell(&cpi, &contexts[LOW], &contexts[MID]);
    need_told("0: 20 of 51\n");
}

static void test_tell_all(void)
{
    begin("all that wait for the holder");
    cpi.helps = cpi.lends = true;
    wait(HIGH, 0);
    above(FAR, LOW, 25);
    above(NEAR, HIGH, 35);
    camkes_overrun_tell_all(&cpi, &contexts[LOW]);
    need_told("0: 30 of 52\n0: 25 of 60\n0: 35 of 61\n");
    payers[NEAR].awaits = TOP + 1;
    camkes_overrun_tell_all(&cpi, &contexts[LOW]);
    need_told("0: 30 of 52\n0: 25 of 60\n");
    camkes_overrun_tell_all(&cpi, &contexts[TOP]); /* has not the lock */
    need_told("3: 35 of 61\n");
    payers[NEAR].awaits = HIGH + 1;
    cpi.helps = false;
    camkes_overrun_tell_all(&cpi, &contexts[LOW]);
    need_told("0: 30 of 52\n0: 25 of 60\n");
    cpi.helps = true;
    camkes_overrun_tell_all(&cpi, &contexts[MID]);
    need_told("");
    begin("the first context waits");
    cpi.lends = true;
    atomic_store(&cpi.lock, contexts[MID].held);
    contexts[LOW].request = 40;
    wait(LOW, 0);
    camkes_overrun_tell_all(&cpi, &contexts[MID]);
    need_told("1: 40 of 50\n");
}

static void test_leave(void)
{
    begin("as nearly all do");
    need(!camkes_overrun_leave(&cpi, &contexts[LOW]), "it has the time of others");
    need_time(T_LOW, 0, false);
    begin("with its own time");
    stalled(LOW);
    need(!camkes_overrun_leave(&cpi, &contexts[LOW]), "it has the time of others");
    need_time(T_LOW, 0, false);
    begin("with the time of another");
    execute_on(T_HIGH);
    cpi.extended = &threads[TOP];
    need(camkes_overrun_leave(&cpi, &contexts[LOW]), "it has no time of others");
    need(cpi.extended == &threads[TOP], "the extension is with another");
    need_time(0, T_LOW, false);
    begin("with the extension");
    execute_on(EXTENSION);
    cpi.extended = &threads[LOW];
    atomic_store(&threads[LOW].extended, true);
    need(camkes_overrun_leave(&cpi, &contexts[LOW]), "it has no extension");
    need(cpi.extended == NULL && !threads[LOW].extended, "it keeps the extension");
    need_time(0, T_LOW, false);
}

static void test_home(void)
{
    for (unsigned i = 0; i < 3; i++) {
        begin(i == 0 ? "home with budget" : i == 1 ? "on the way home's time" : "after the refill");
        bound[T_LOW] = NULL;
        withdrawn(LOW);
        blocked[LOW] = true;
        budget[T_LOW] = i == 0;
        cpi.homed = i == 2 ? &threads[TOP] : NULL;
        budget[HOME] = true;
        camkes_overrun_home(&cpi, &contexts[LOW]);
        need(replies == 1, "the release is not answered");
        need(cpi.homed == (i == 0 ? NULL : &threads[i == 1 ? LOW : TOP]), "how it gets home");
        need(threads[LOW].extended == (i == 1), "it returns what it has");
        need(time_of(&threads[LOW]) == (i == 1 ? HOME : T_LOW), "its own time");
        need(threads[LOW].withdrawn == (i == 1 ? T_LOW : 0), "its own time is lost");
    }
}

static void test_give(void)
{
    begin("the lock is given to one with its own time");
    need(!camkes_overrun_give(&cpi, &contexts[LOW]) && binds == 0, "it needs the time of others");
    need_time(T_LOW, 0, false);
    for (unsigned i = 0; i < 5; i++) {
        begin("the lock is given");
        cpi.helps = i >= 3;
        wait(HIGH, 0);
        blocked[LOW] = true;
        stalled(LOW);
        bound[T_LOW] = i == 0 ? &threads[LOW] : NULL;
        if (i != 0) {
            withdrawn(LOW);
        }
        budget[T_LOW] = i == 1;
        budget[T_HIGH] = i != 4;
        const bool owed = camkes_overrun_give(&cpi, &contexts[LOW]);
        need(owed == (i == 2 || i == 4), "whether it has time");
        need_time(i < 2 ? T_LOW : i == 3 ? T_HIGH : 0, i < 2 ? 0 : T_LOW, false);
        if (owed) {
            blocked[LOW] = false;
            camkes_overrun_granted(&cpi, &contexts[LOW]);
            need_time(T_LOW, 0, true);
        }
    }
}

/* The new holder may be any context, and no other may have a worker. */
static void test_give_pays(void)
{
    begin("the first context waits");
    cpi.helps = true;
    atomic_store(&cpi.lock, contexts[MID].held);
    withdrawn(MID);
    contexts[LOW].asked = budget[T_LOW] = true;
    wait(LOW, 0);
    need(!camkes_overrun_give(&cpi, &contexts[MID]), "it has no time");
    need(bound[T_LOW] == &threads[MID] && threads[LOW].withdrawn == T_LOW, "another one pays");
    begin("only further up");
    cpi.helps = blocked[LOW] = true;
    bound[T_LOW] = NULL;
    withdrawn(LOW);
    for (unsigned i = MID; i <= TOP; i++) {
        atomic_store(&contexts[i].worker, NULL);
    }
    above(FAR, LOW, 25);
    need(!camkes_overrun_give(&cpi, &contexts[LOW]), "it has no time");
    need_time(T_FAR, T_LOW, false);
}

int main(void)
{
    camkes_set_self(&self);
    test_who_is_asked();
    test_wait();
    test_queue();
    test_raised();
    test_raised_pays();
    test_tell();
    test_tell_all();
    test_leave();
    test_home();
    test_give();
    test_give_pays();
    puts("good");
    return 0;
}
