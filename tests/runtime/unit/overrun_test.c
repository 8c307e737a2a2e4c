/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-18 */
/* The budget of a request is used up: which other time pays, or that it waits for a refill. */
#include "overrun_model.h"

#define B(time) (1u << (time))

static struct camkes_context *send(unsigned worker, seL4_Word label)
{
    return camkes_overrun_message(&cpi, CONTEXTS + CALLERS + 1 + worker,
                                  seL4_MessageInfo_new(label, 0, 0, 0));
}

static void time_out(void)
{
    const uintptr_t waiters = atomic_load(&cpi.lock) & CAMKES_WAITERS;
    blocked[LOW] = true;
    need(send(LOW, seL4_Fault_Timeout) == NULL, "the end of a request");
    need((atomic_load(&cpi.lock) & waiters) == waiters, "those that wait are forgotten");
    need(replies == 1 && kept == &threads[LOW], "the fault is not answered");
}

struct overrun {
    const char *what;
    unsigned waits, budgets; /* sets of contexts, and of scheduling contexts */
    seL4_CPtr on;            /* on which it executed, 0: its own */
    uint8_t far, near;       /* priorities of the tasks further up, which wait for LOW */
    bool helps, extends;
    seL4_CPtr pays, own; /* afterwards */
    bool stalled;
    unsigned binds; /* calls, 0: any number */
};

#define WAITERS (B(MID) | B(HIGH))
#define HELP .helps = true
static const struct overrun overruns[] = {
    {"a part is used up", WAITERS, B(T_LOW) | B(T_HIGH), 0, 0, 0, HELP, .pays = T_LOW},
    {"a waiter's part", WAITERS, B(T_HIGH) | B(T_MID), T_HIGH, 0, 0, HELP, .pays = T_HIGH,
     .own = T_LOW},
    {"the most urgent pays", WAITERS, B(T_MID) | B(T_HIGH), 0, 0, 0, HELP, .pays = T_HIGH,
     .own = T_LOW},
    {"it has none", WAITERS, B(T_MID), 0, 0, 0, HELP, .pays = T_MID, .own = T_LOW},
    {"its is used up", WAITERS, B(T_MID), T_HIGH, 0, 0, HELP, .pays = T_MID, .own = T_LOW},
    {"none has", WAITERS, 0, 0, 0, 0, HELP, .pays = T_LOW, .stalled = true},
    {"others' are used up, its own came back", WAITERS, B(T_LOW), T_MID, 0, 0, HELP, .pays = T_LOW},
    {"all are used up", WAITERS, 0, T_MID, 0, 0, HELP, .pays = T_LOW, .stalled = true},
    {"one that does not wait", B(MID), B(T_HIGH), 0, 0, 0, HELP, .pays = T_LOW, .stalled = true},
    {"wait", WAITERS, B(T_MID) | B(T_HIGH), .pays = T_LOW, .stalled = true, .binds = 2},
    {"more urgent further up", WAITERS, B(T_HIGH), 0, 35, 0, HELP, .pays = T_FAR, .own = T_LOW},
    {"less urgent further up", WAITERS, B(T_HIGH), 0, 25, 0, HELP, .pays = T_HIGH, .own = T_LOW},
    {"as urgent further up", WAITERS, B(T_HIGH), 0, 30, 0, HELP, .pays = T_FAR, .own = T_LOW},
    {"in between", WAITERS, B(T_MID), 0, 25, 0, HELP, .pays = T_FAR, .own = T_LOW},
    {"two further up", 0, 0, 0, 25, 26, HELP, .pays = T_NEAR, .own = T_LOW},
    {"two, in the other order", 0, 0, 0, 26, 25, HELP, .pays = T_FAR, .own = T_LOW},
    {"two of one priority: the first", 0, 0, 0, 25, 25, HELP, .pays = T_FAR, .own = T_LOW},
    {"the first of two is used up", 0, 0, T_FAR, 26, 25, HELP, .pays = T_NEAR, .own = T_LOW},
    {"the extension", WAITERS, B(EXTENSION) | B(T_HIGH), .extends = true, .pays = EXTENSION,
     .own = T_LOW},
    {"the extension, no one waits", 0, B(EXTENSION), .extends = true, .pays = EXTENSION,
     .own = T_LOW},
    {"a part of it", 0, B(EXTENSION), EXTENSION, .extends = true, .pays = EXTENSION, .own = T_LOW},
    {"it is used up", WAITERS, 0, EXTENSION, .extends = true, .pays = T_LOW, .stalled = true,
     .binds = 3},
    {"used up, its own came back", WAITERS, B(T_LOW), EXTENSION, .extends = true, .pays = T_LOW},
    {"no extension now", WAITERS, B(T_HIGH), 0, .extends = true, .pays = T_LOW, .stalled = true},
};

static void test_who_pays(void)
{
    for (const struct overrun *it = overruns; it < overruns + sizeof overruns / sizeof *it; it++) {
        begin(it->what);
        cpi.helps = it->helps;
        cpi.extension = it->extends ? EXTENSION : 0;
        for (unsigned i = 0; i < CONTEXTS; i++) {
            if ((it->waits & B(i)) != 0) {
                wait(i, i);
            }
        }
        if (it->far != 0) {
            above(FAR, LOW, it->far);
        }
        if (it->near != 0) {
            above(NEAR, LOW, it->near);
        }
        if (it->on != 0) {
            execute_on(it->on);
            cpi.extended = it->on == EXTENSION ? &threads[LOW] : NULL;
        }
        for (unsigned i = 1; i < UNKNOWN; i++) {
            budget[i] = (it->budgets & B(i)) != 0 || (budget[i] && i != it->on);
        }
        time_out();
        need_time(it->pays, it->own, it->stalled);
        need(it->binds == 0 || binds == it->binds, "a call that has failed is made again");
        need(cpi.extended == (it->pays == EXTENSION ? &threads[LOW] : NULL), "the extension");
        need(!threads[LOW].extended, "the manager learns of the release, not of the reply");
        need_told("");
    }
}

/* Of two with one priority, the one that waited first pays; in a group ranks have no priority. */
static void test_order(void)
{
    for (unsigned first = MID; first <= HIGH; first++) {
        begin("the same priority");
        cpi.helps = true;
        contexts[MID].request = 30;
        atomic_store(&contexts[MID].effective, 30);
        wait(MID, first == MID ? 1 : 2);
        wait(HIGH, first == MID ? 2 : 1);
        budget[T_MID] = budget[T_HIGH] = true;
        time_out();
        need_time(T_LOW + first, T_LOW, false);

        begin("ranks of a group");
        cpi.helps = table[CONTEXTS + 1].asked = true;
        wait(MID, 0);
        wait(HIGH, 0);
        contexts[first].rank = CAMKES_RANKS - 1;
        contexts[MID + HIGH - first].rank = CAMKES_RANKS - 2;
        budget[T_MID] = budget[T_HIGH] = true;
        time_out();
        need_time(T_HIGH, T_LOW, false);
        need(table[CONTEXTS + 1].asked, "it was not that of the CPI");
    }
}

/* A task pays for the holder if it waits further up for a context that waits here, but not if that
 * context only executes. */
static void test_through_waiters(void)
{
    begin("for a waiter");
    cpi.helps = true;
    wait(MID, 0);
    above(FAR, MID, 25);
    time_out();
    need_time(T_FAR, T_LOW, false);
    begin("without budget, and no one waits here");
    cpi.helps = true;
    above(FAR, LOW, 25);
    budget[T_FAR] = false;
    time_out();
    need_time(T_LOW, 0, true);
    need(atomic_load(&cpi.lock) == contexts[LOW].held, "a release is told to no purpose");
    begin("for one that does not wait");
    cpi.helps = true;
    wait(MID, 0);
    above(FAR, TOP, 45);
    budget[T_MID] = true;
    time_out();
    need_time(T_MID, T_LOW, false);
    begin("no other worker can be asked whether there is budget");
    cpi.helps = true;
    for (unsigned i = MID; i <= TOP; i++) {
        atomic_store(&contexts[i].worker, NULL);
    }
    above(FAR, LOW, 25);
    time_out();
    need_time(T_FAR, T_LOW, false);
    begin("its time is with no thread that is known");
    cpi.helps = true;
    wait(HIGH, 0);
    wait(MID, 0);
    bound[T_HIGH] = NULL;
    contexts[HIGH].time = 0;
    budget[T_HIGH] = budget[T_MID] = true;
    time_out();
    need_time(T_MID, T_LOW, false);
}

/* The worker may have executed on the time of another task, or on one that is not known. */
static void test_time_of_fault(void)
{
    begin("the time of a task further up");
    bound[T_LOW] = NULL;
    bound[T_NEAR] = &threads[LOW];
    contexts[LOW].time = 0;
    budget[T_NEAR] = true;
    time_out();
    need(bound[T_NEAR] == &threads[LOW] && threads[LOW].withdrawn == 0, "it has lost its time");
    begin("that of the first, which is used up: another one pays");
    cpi.helps = true;
    bound[T_LOW] = NULL;
    bound[T_FAR] = &threads[LOW];
    contexts[LOW].time = 0;
    above(NEAR, LOW, 25);
    time_out();
    need_time(T_NEAR, T_FAR, false);
    begin("the extension of a task, which is used up");
    bound[T_LOW] = NULL;
    bound[T_MORE] = &threads[LOW];
    time_out();
    need(bound[T_MORE] == &threads[LOW] && threads[LOW].state == CAMKES_WORKER_STALLED,
         "it waits for another refill");
    begin("one that is not known");
    bound[T_LOW] = NULL;
    bound[UNKNOWN] = &threads[LOW];
    time_out();
    need(bound[UNKNOWN] == &threads[LOW] && threads[LOW].withdrawn == 0, "it is not its own");
    need(threads[LOW].state == CAMKES_WORKER_PASSIVE, "it may have budget");
    begin("it was taken away since, and has budget");
    bound[T_LOW] = NULL;
    withdrawn(LOW);
    budget[T_LOW] = true;
    time_out();
    need_time(T_LOW, 0, false);
    begin("it was taken away since");
    bound[T_LOW] = NULL;
    withdrawn(LOW);
    time_out();
    need_time(T_LOW, 0, true);
    begin("its request is aborted");
    threads[LOW].state = CAMKES_WORKER_ABORTED;
    cpi.extension = EXTENSION;
    budget[EXTENSION] = true;
    time_out();
    need(threads[LOW].state == CAMKES_WORKER_ABORTED && bound[EXTENSION] == NULL, "it keeps that");
    begin("its request is answered");
    threads[LOW].replied = true;
    cpi.extension = EXTENSION;
    budget[EXTENSION] = true;
    time_out();
    need_time(T_LOW, 0, false);
}

static void test_not_the_holder(void)
{
    begin("another one holds the lock");
    cpi.helps = true;
    cpi.extension = EXTENSION;
    atomic_store(&cpi.lock, contexts[TOP].held);
    wait(HIGH, 0);
    budget[T_HIGH] = budget[EXTENSION] = true;
    time_out();
    need_time(T_LOW, 0, false);
    begin("no lock");
    cpi.unlocked = true;
    cpi.extension = EXTENSION;
    atomic_store(&cpi.lock, 0);
    budget[EXTENSION] = true;
    time_out();
    need_time(EXTENSION, T_LOW, false);
    need(threads[LOW].extended && atomic_load(&cpi.lock) == 0, "it returns it after the reply");
    begin("another worker has the extension, and keeps it");
    cpi.unlocked = true;
    cpi.extension = EXTENSION;
    cpi.extended = &threads[TOP];
    budget[EXTENSION] = true;
    time_out();
    need_time(T_LOW, 0, true);
    need(cpi.extended == &threads[TOP], "the extension");
    begin("it executed on another's time");
    execute_on(T_HIGH);
    cpi.extended = &threads[TOP];
    time_out();
    need(cpi.extended == &threads[TOP], "the extension");
    begin("a group");
    _Atomic uintptr_t monitor = contexts[LOW].held;
    cpi.monitor = &monitor;
    cpi.grouped = true;
    cpi.extension = EXTENSION;
    atomic_store(&cpi.lock, 0);
    budget[EXTENSION] = true;
    time_out();
    need_time(EXTENSION, T_LOW, false);
    need(threads[LOW].extended, "it returns it after the reply");
}

static void test_abort(void)
{
    begin("abort");
    cpi.aborts = blocked[LOW] = true;
    need(send(LOW, seL4_Fault_Timeout) == NULL && aborted == &threads[LOW] && held_then, "abort");
    need(replies == 0 && threads[LOW].withdrawn == T_LOW, "its time goes back to its caller");
    begin("abort without the lock");
    cpi.aborts = blocked[LOW] = true;
    atomic_store(&cpi.lock, contexts[TOP].held);
    (void)send(LOW, seL4_Fault_Timeout);
    need(aborted == &threads[LOW] && !held_then, "it rolls back");
    begin("other messages");
    for (returned = CAMKES_RETURN_REPLIED; returned <= CAMKES_RETURN_WAIT; returned++) {
        aborted = NULL;
        need(send(TOP, camkes_timeout_label(CAMKES_RETURN_TIME, (uint8_t)returned, 1)) ==
                     &contexts[MID] &&
                 aborted == &threads[TOP],
             "a return");
    }
    need(send(TOP, camkes_timeout_label(CAMKES_RESUME, 0, 0x81)) == NULL && replies == 1,
         "a task is resumed");
    aborted = NULL;
    refuses = true;
    need(send(TOP, camkes_timeout_label(CAMKES_RETURN_TIME, CAMKES_RETURN_NOTHING + 1, 0)) == NULL,
         "another return");
    need(send(TOP, camkes_worker_label(CAMKES_ACQUIRE_LOCK, 0, 0)) == NULL, "of others");
    need(aborted == NULL && replies == 3, "they are not refused");
    refuses = false;
}

static void test_badges(void)
{
    begin("badges");
    need(!camkes_is_timeout(&cpi, CONTEXTS + CALLERS), "the badge of the last caller");
    need(camkes_is_timeout(&cpi, CONTEXTS + CALLERS + 1), "the badge of the first timeout");
    camkes_overrun_set_paid(&contexts[TOP], true);
    need(contexts[TOP].paid, "it does not pay");
}

static void prepare(void)
{
    for (unsigned i = 0; i < CONTEXTS; i++) {
        camkes_overrun_prepare(&threads[i]);
    }
}

static void test_prepare(void)
{
    begin("timeouts");
    contexts[MID].timeout = 0;
    prepare();
    need(timeouts[LOW] == TIMEOUT && timeouts[MID] == 0 && timeouts[TOP] == TIMEOUT + TOP,
         "the endpoint of a worker");
    begin("refused");
    refused = TCB + MID;
    if (setjmp(fatal) == 0) {
        prepare();
        need(false, "the system goes on");
    }
    refused = 0;
}

int main(void)
{
    camkes_set_self(&self);
    test_who_pays();
    test_order();
    test_through_waiters();
    test_time_of_fault();
    test_not_the_holder();
    test_abort();
    test_badges();
    test_prepare();
    puts("good");
    return 0;
}
