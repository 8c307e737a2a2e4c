/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Requests that are aborted, and how their workers get home: each call, and all that changes. */
#include "kernel_log.h"

#include "../../../runtime/src/protocols/overrun.h"
#include <camkes/instance.h>
#include <camkes/serve.h>

enum { A, B, C, CONTEXTS };
enum { T_A = 1, T_B, T_FAR, EXTENSION, HOME }; /* scheduling contexts */
enum { TCB = 10, TIMEOUT = 20, REPLY = 30, KEPT = 40, ID = 50, OWN_REPLY = 35, AUTHORITY = 9 };
enum { CPI = 70, CEILING = 80, TASK = 0x81 };

static struct camkes_thread manager, threads[CONTEXTS], want_threads[CONTEXTS];
/* the last is none of the CPI */
static struct camkes_context contexts[CONTEXTS + 1], want_contexts[CONTEXTS + 1];
static struct camkes_cpi cpi, want_cpi;
static struct camkes_thread *const pool[CONTEXTS] = {&threads[B], &threads[A], &threads[C]};
/* the first is none */
static const struct camkes_caller rows[] = {
    {.is_task = true}, {.context = A, .is_task = true}, {.context = B}};
static struct camkes_payer payers[2];
static void (*restarted)(void);

void camkes_nested_abandon(struct camkes_context *context)
{
    note("abandon what %u requests\n", context->id);
}

void camkes_nested_tell(struct camkes_context *context, uint8_t priority, uint16_t cause)
{
    note("tell %u of %u, %u\n", context->id, priority, cause);
}

void camkes_request_abandoned(void)
{
    note("abandon\n");
}

void camkes_platform_restart(const struct camkes_thread *thread, void (*entry)(void))
{
    note("restart %lu\n", (unsigned long)thread->tcb);
    restarted = entry;
}

bool camkes_platform_keep_reply(const struct camkes_thread *thread)
{
    note("keep %lu\n", (unsigned long)thread->tcb);
    return false;
}

void camkes_platform_bring_home(const struct camkes_lent *lent, seL4_CPtr context)
{
    const struct camkes_thread *const worker =
        cpi.homed != NULL && cpi.homed->has == context ? cpi.homed : cpi.extended;
    need(lent == &cpi.home && worker->home == lent, "another way home");
    need(worker->arriving && !worker->leaving && worker->own == 0, "it is not about to arrive");
    note("bring %lu home on %lu\n", (unsigned long)worker->tcb, (unsigned long)context);
}

void camkes_return_time(const struct camkes_thread *self, enum camkes_return when)
{
    note("%lu returns its time, %d\n", (unsigned long)self->tcb, (int)when);
}

void camkes_lock_hand_over(struct camkes_cpi *of, struct camkes_context *context)
{
    note("%u hands over %u\n", context->id, of->id);
}

static void roll_back(void)
{
    note("roll back\n");
}

static void start(struct camkes_thread *self)
{
    note("start %lu\n", (unsigned long)self->tcb);
}

static void begin(void)
{
    manager = (struct camkes_thread){.reply = OWN_REPLY};
    camkes_set_self(&manager);
    memset(threads, 0, sizeof threads);
    memset(contexts, 0, sizeof contexts);
    cpi = (struct camkes_cpi){.id = CPI,
                              .ceiling = CEILING,
                              .contexts = CONTEXTS,
                              .callers = 2,
                              .context = contexts,
                              .caller = rows + 1,
                              .authority = AUTHORITY,
                              .pool = pool,
                              .threads = 2,
                              .extension = EXTENSION,
                              .aborts = true,
                              .rollback = roll_back,
                              .home = {.context = HOME},
                              .payer = payers,
                              .payers = 2};
    for (unsigned i = 0; i < CONTEXTS; i++) {
        threads[i].tcb = TCB + i;
        threads[i].reply = REPLY + i;
        threads[i].cpi = &cpi;
        threads[i].context = &contexts[i];
        threads[i].start = start;
        contexts[i].id = (uint16_t)(ID + i);
        contexts[i].held = i + 1;
        contexts[i].reply = KEPT + i;
        contexts[i].timeout = TIMEOUT + i;
        atomic_store(&contexts[i].worker, &threads[i]);
        atomic_store(&contexts[i].effective, (uint8_t)(60 + i));
    }
    contexts[A].time = T_A;
    payers[0] = (struct camkes_payer){.id = ID + A, .time = T_A};
    payers[1] = (struct camkes_payer){.id = ID + B, .time = T_B};
    atomic_store(&cpi.lock, contexts[A].held);
}

/* What the state is to be, but for what a test writes into it. */
static void want(void)
{
    memcpy(want_threads, threads, sizeof threads);
    memcpy(want_contexts, contexts, sizeof contexts);
    memcpy(&want_cpi, &cpi, sizeof cpi);
}

static void need_state(const char *what)
{
    need(memcmp(want_threads, threads, sizeof threads) == 0, what);
    need(memcmp(want_contexts, contexts, sizeof contexts) == 0, what);
    need(memcmp(&want_cpi, &cpi, sizeof cpi) == 0, what);
}

static void need_all(const char *calls, const char *what)
{
    need_calls(calls);
    need_state(what);
}

/* A worker leaves on a scheduling context, 0: there is none for it now. */
static void want_leaves(unsigned worker, seL4_CPtr on, bool rolls_back)
{
    struct camkes_thread *const leaves = &want_threads[worker];
    leaves->own = 0;
    leaves->leaving = true;
    leaves->rolls_back = rolls_back;
    leaves->has = on;
    if (on == EXTENSION) {
        want_cpi.extended = &threads[worker];
    } else if (on == HOME) {
        want_cpi.homed = &threads[worker];
    }
}

/* begin() without extension, or with some that have what is to bring workers home. */
static void begin_with(seL4_CPtr extension, struct camkes_thread *extended,
                       struct camkes_thread *homed)
{
    begin();
    cpi.extension = extension;
    cpi.extended = extended;
    cpi.homed = homed;
    threads[A].own = T_A;
}

static void want_aborted(seL4_CPtr on, bool rolls_back)
{
    want();
    want_leaves(A, on, rolls_back);
}

/* The request of A is aborted. */
static void need_aborted(bool holds, const char *calls, const char *what)
{
    camkes_overrun_abort(&cpi, &threads[A], holds);
    need_all(calls, what);
}

/* The caller has its answer, and its time, before the worker rolls back. */
static void test_answer_before_roll_back(void)
{
    begin_with(EXTENSION, NULL, NULL);
    want_aborted(EXTENSION, true);
    need_aborted(true, "abandon what 50 requests\nsend 16 to 30\nrestart 10\nbind 4 to 10\n",
                 "the holder leaves on the extension");
    begin_with(EXTENSION, &threads[B], NULL);
    want_aborted(HOME, false);
    need_aborted(false, "abandon what 50 requests\nsend 16 to 30\nrestart 10\nbind 5 to 10\n",
                 "another one has the extension");
    begin_with(0, NULL, NULL);
    cpi.unlocked = true;
    want_aborted(HOME, true);
    need_aborted(false, "abandon what 50 requests\nsend 16 to 30\nrestart 10\nbind 5 to 10\n",
                 "no extension, and no lock");
    begin_with(EXTENSION, &threads[B], &threads[C]);
    cpi.grouped = true;
    want_aborted(0, true);
    need_aborted(true, "send 16 to 30\nrestart 10\n",
                 "it waits for time; in a group it abandons what it requests itself");
    begin_with(EXTENSION, NULL, NULL);
    threads[A].context = NULL;
    cpi.unlocked = cpi.suspends = true;
    want_aborted(EXTENSION, false);
    need_aborted(false, "send 16 to 30\nrestart 10\nbind 4 to 10\n",
                 "it serves no request, so there is nothing to roll back");
}

/* A task that the CPI suspends gets its reply, and with it its time, from the component. */
static void test_suspend(void)
{
    const seL4_Word label = camkes_request_label((struct camkes_request_label){.task = TASK});
    begin_with(EXTENSION, NULL, NULL);
    cpi.suspends = true;
    threads[A].badge = 1;
    threads[A].label = label;
    want_aborted(EXTENSION, true);
    want_threads[A].reply = KEPT;
    want_contexts[A].reply = REPLY;
    want_contexts[A].suspended = true;
    want_contexts[A].resumed = TASK;
    need_aborted(true, "abandon what 50 requests\nrestart 10\nbind 4 to 10\n", "a task");
    for (unsigned i = 0; i < 4; i++) {
        begin_with(EXTENSION, NULL, NULL);
        cpi.suspends = i != 0;
        threads[A].badge = i == 1 ? 2 : 1;
        threads[A].own = i == 1 || i == 2 ? T_B : i == 3 ? T_FAR : T_A;
        want_aborted(EXTENSION, true);
        need_aborted(true, "abandon what 50 requests\nsend 16 to 30\nrestart 10\nbind 4 to 10\n",
                     i == 0   ? "the CPI suspends no task"
                     : i == 1 ? "a caller that serves a request itself"
                     : i == 2 ? "the time of another task"
                              : "time that is not known");
    }
}

static void test_resume(void)
{
    begin();
    contexts[A].suspended = contexts[C].suspended = contexts[CONTEXTS].suspended = true;
    contexts[CONTEXTS].resumed = TASK;
    contexts[A].resumed = contexts[B].resumed = contexts[C].resumed = TASK;
    want();
    want_contexts[A].suspended = want_contexts[C].suspended = false;
    camkes_overrun_resume(&cpi, TASK);
    need_all("send 16 to 40\nsend 16 to 42\nsend 0 to 35\n", "all that were suspended for it");
    contexts[C].suspended = true;
    want();
    camkes_overrun_resume(&cpi, TASK + 1);
    char refusal[40];
    (void)snprintf(refusal, sizeof refusal, "send %d to 35\n", (int)CAMKES_MESSAGE_OPERATION);
    need_all(refusal, "another task");
}

/* The worker, with an empty stack. */
static void run_worker(unsigned worker)
{
    camkes_set_self(&threads[worker]);
    UNTIL_OVER(restarted());
    camkes_set_self(&manager);
}

static void begin_rest(bool rolls_back, bool grouped)
{
    begin();
    cpi.grouped = grouped;
    threads[A].rolls_back = rolls_back;
}

static void test_rest(void)
{
    begin();
    camkes_overrun_abort(&cpi, &threads[A], true);
    done[0] = 0;
    begin_rest(true, false);
    threads[A].badge = 1;
    threads[A].serving = true;
    want();
    want_threads[A].serving = false;
    run_worker(A);
    need_all("roll back\nend: 70 50\n10 returns its time, 0\nstart 10\nfault\n",
             "the manager hands over the lock");
    begin_rest(true, true);
    cpi.rollback = NULL;
    want();
    atomic_store(&want_cpi.lock, 0);
    run_worker(A);
    need_all("abandon\nfree: 70 50\n10 returns its time, 0\nstart 10\nfault\n",
             "in a group it gives up the lock itself");
    begin_rest(true, true);
    atomic_fetch_or(&cpi.lock, CAMKES_WAITERS);
    want();
    run_worker(A);
    need_all("abandon\nroll back\n50 hands over 70\n10 returns its time, 0\nstart 10\nfault\n",
             "others wait for it");
    begin_rest(true, true);
    cpi.unlocked = true;
    want();
    run_worker(A);
    need_all("abandon\nroll back\n10 returns its time, 0\nstart 10\nfault\n", "there is no lock");
    begin_rest(false, true);
    threads[A].context = NULL;
    threads[A].badge = 2;
    threads[A].serving = true;
    want();
    want_threads[A].serving = false;
    run_worker(A);
    need_all("end: 70 51\n10 returns its time, 0\nstart 10\nfault\n",
             "it had not begun, and any caller may be the next");
}

/* A thread of the pool waits until the aborted request of its caller has ended. */
static void test_await(void)
{
    begin();
    want();
    need(!camkes_overrun_await(&contexts[A]), "it is not about to leave");
    atomic_store(&contexts[B].worker, NULL);
    want();
    need(!camkes_overrun_await(&contexts[B]), "there is none");
    need_state("no one waits");
    threads[A].leaving = true;
    want();
    want_contexts[A].awaited = true;
    want_contexts[A].reply = OWN_REPLY;
    need(camkes_overrun_await(&contexts[A]), "it leaves");
    need(manager.reply == KEPT, "the reply is not kept");
    need_state("one waits");
    need(!camkes_overrun_await(&contexts[A]), "only one can wait");
    need(manager.reply == KEPT, "another reply is kept");
    need_state("one waits still");
    camkes_overrun_ended(NULL);
    camkes_overrun_ended(&contexts[B]);
    need_calls("");
    want_contexts[A].awaited = false;
    camkes_overrun_ended(&contexts[A]);
    need_all("send 0 to 35\n", "none waits");
    camkes_overrun_ended(&contexts[A]);
    need_calls("");
}

static void test_finish(void)
{
    begin_with(EXTENSION, NULL, NULL);
    want();
    want_cpi.homed = &threads[A];
    want_threads[A].has = HOME;
    atomic_store(&want_threads[A].extended, true);
    need(camkes_overrun_finish(&cpi, &threads[A]), "it is free");
    need_all("bind 5 to 10\n", "it finishes");
    begin_with(EXTENSION, NULL, &threads[B]);
    want();
    need(!camkes_overrun_finish(&cpi, &threads[A]), "another one has it");
    need_all("", "it does not finish");
    begin_with(EXTENSION, NULL, NULL);
    want();
    refuse("bind 5 to 10");
    need(!camkes_overrun_finish(&cpi, &threads[A]), "it is not bound");
    need_all("bind 5 to 10\n", "it has nothing");
}

/* `ended`: whose request has ended. */
static void need_return(unsigned worker, enum camkes_return when,
                        const struct camkes_context *ended)
{
    need(camkes_overrun_return(&cpi, &threads[worker], when) == ended, "another request ends");
}

/* It begins another request before it has returned the extension, which others may need. */
static void test_begun(void)
{
    begin_with(EXTENSION, &threads[B], NULL);
    threads[B].has = EXTENSION;
    want();
    need_return(B, CAMKES_RETURN_NOTHING, NULL);
    need_all("send 0 to 35\n", "it only waits for its priority");
    want_cpi.extended = NULL;
    want_cpi.homed = &threads[B];
    want_threads[B].has = HOME;
    need_return(B, CAMKES_RETURN_BEGUN, NULL);
    need_all("unbind 4 to 11\nbind 5 to 11\nsend 0 to 35\n", "it gives up the extension");
    begin();
    want();
    need_return(B, CAMKES_RETURN_BEGUN, NULL);
    need_all("send 0 to 35\n", "no one has the extension");
    begin_with(EXTENSION, &threads[B], &threads[A]);
    want();
    need_return(B, CAMKES_RETURN_BEGUN, NULL);
    need_all("send 0 to 35\n", "another one is on the way home");
}

/* In a group, before the lock is given up. */
static void test_leave_lock(void)
{
    begin_with(EXTENSION, NULL, NULL);
    want();
    need_return(A, CAMKES_RETURN_RELEASE, NULL);
    need_all("send 0 to 35\n", "it has nothing of others");
    for (unsigned i = 0; i < 2; i++) {
        begin_with(EXTENSION, i == 0 ? &threads[A] : NULL, i == 1 ? &threads[A] : NULL);
        threads[A].has = i == 0 ? EXTENSION : HOME;
        want();
        need_return(A, CAMKES_RETURN_RELEASE, NULL);
        need_all("send 0 to 35\n", "it returns that when its request is answered");
    }
    for (unsigned i = 0; i < 3; i++) {
        begin_with(EXTENSION, NULL, i == 1 ? &threads[B] : NULL);
        threads[A].has = T_B;
        want();
        want_threads[A].has = i == 0 ? HOME : 0;
        want_threads[A].own = i == 0 ? T_A : 0;
        atomic_store(&want_threads[A].extended, i == 0);
        want_cpi.homed = i == 0 ? &threads[A] : cpi.homed;
        need_return(A, i == 2 ? CAMKES_RETURN_WAIT : CAMKES_RETURN_RELEASE, NULL);
        need_all(i == 0 ? "unbind 2 to 10\nbind 5 to 10\nsend 0 to 35\n"
                        : "unbind 2 to 10\nsend 0 to 35\nbind 1 to 10\n",
                 i == 0   ? "it finishes on the time of the way home"
                 : i == 1 ? "another one does: it waits for its refill"
                          : "it waits for a condition on its own time");
    }
}

static void want_home(unsigned worker)
{
    want_threads[worker].home = &cpi.home;
    want_threads[worker].own = 0;
    want_threads[worker].has = 0;
    want_threads[worker].leaving = false;
}

static void test_time_is_given_home(void)
{
    begin_with(EXTENSION, &threads[A], NULL);
    threads[A].leaving = true;
    threads[A].has = EXTENSION;
    want();
    want_home(A);
    want_cpi.extended = NULL;
    need_return(A, CAMKES_RETURN_REPLIED, &contexts[A]);
    need_all("unbind 4 to 10\nbind 5 to 10\n"
             "by 9 priority 10 to 80\nsend 0 to 35\nbring 10 home on 5\n"
             "by 9 priority 10 to 60\n",
             "from the extension");
    begin_with(EXTENSION, &threads[A], &threads[B]);
    threads[A].has = EXTENSION;
    threads[B].has = HOME;
    threads[B].leaving = threads[C].leaving = true;
    want();
    want_home(A);
    want_leaves(C, EXTENSION, false);
    need_return(A, CAMKES_RETURN_REPLIED, &contexts[A]);
    need_calls("by 9 priority 10 to 80\nsend 0 to 35\nbring 10 home on 4\n"
               "by 9 priority 10 to 60\nbind 4 to 12\n");
    need_state("another one is on the way; the next that leaves gets the extension");
    begin_with(0, NULL, &threads[B]);
    threads[B].has = HOME;
    threads[B].context = NULL;
    threads[A].leaving = threads[C].leaving = true;
    want();
    want_home(B);
    want_leaves(A, HOME, false);
    want_threads[A].own = T_A;
    need_return(B, CAMKES_RETURN_REPLIED, NULL);
    need_calls("by 9 priority 11 to 80\nsend 0 to 35\nbring 11 home on 5\n"
               "by 9 priority 11 to 80\nbind 5 to 10\n");
    need_state("it serves any caller; only one gets the way home");
    for (unsigned i = 0; i < 2; i++) {
        begin_with(0, NULL, &threads[A]);
        cpi.pooled = true;
        threads[A].has = HOME;
        threads[A].context = i == 0 ? &contexts[A] : NULL;
        threads[C].leaving = true; /* there are two threads */
        want();
        want_home(A);
        want_cpi.homed = NULL;
        atomic_store(&want_contexts[A].worker, i == 0 ? NULL : &threads[A]);
        need_return(A, CAMKES_RETURN_REPLIED, i == 0 ? &contexts[A] : NULL);
        need_all("by 9 priority 10 to 80\nsend 0 to 35\nbring 10 home on 5\n"
                 "by 9 priority 10 to 80\n",
                 i == 0 ? "a thread of the pool" : "one that has served no request");
    }
}

int main(void)
{
    test_answer_before_roll_back();
    test_suspend();
    test_resume();
    test_rest();
    test_await();
    test_finish();
    test_begun();
    test_leave_lock();
    test_time_is_given_home();
    puts("good");
    return 0;
}
