/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-19 */
/* Requests that are aborted, and how their workers get home. */
#include "aborted_model.h"

/* A worker leaves on a scheduling context, 0: there is none for it now. */
static void want_leaves(unsigned worker, seL4_CPtr on, bool rolls_back)
{
    struct camkes_thread *const leaves = &want_threads[worker];
    leaves->state = on == EXTENSION ? CAMKES_WORKER_ABORTED_EXTENDED
                    : on == HOME    ? CAMKES_WORKER_ABORTED_HOME
                                    : CAMKES_WORKER_ABORTED;
    leaves->withdrawn = 0;
    leaves->rolls_back = rolls_back;
    leaves->donated = on;
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
    if (extended != NULL) {
        extended->state = CAMKES_WORKER_ABORTED_EXTENDED;
        extended->donated = EXTENSION;
    }
    if (homed != NULL) {
        homed->state = CAMKES_WORKER_ABORTED_HOME;
        homed->donated = HOME;
    }
    if (threads[A].state == CAMKES_WORKER_PASSIVE) {
        threads[A].state = CAMKES_WORKER_WITHDRAWN;
        threads[A].withdrawn = T_A;
    }
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
    begin_with(EXTENSION, &threads[B], NULL);
    threads[B].rolls_back = true;
    want_aborted(0, true);
    need_aborted(true, "abandon what 50 requests\nsend 16 to 30\nrestart 10\n",
                 "it rolls back on the extension, when the other has rolled back");
    begin_with(EXTENSION, &threads[B], NULL);
    want_aborted(EXTENSION, true);
    want_cpi.homed = &threads[B];
    want_threads[B].state = CAMKES_WORKER_ABORTED_HOME;
    want_threads[B].donated = HOME;
    need_aborted(true,
                 "abandon what 50 requests\nsend 16 to 30\nrestart 10\n"
                 "unbind 4 to 11\nbind 5 to 11\nbind 4 to 10\n",
                 "the other has rolled back");
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
    for (unsigned i = 0; i < 5; i++) {
        begin_with(EXTENSION, NULL, NULL);
        cpi.suspends = i != 0;
        threads[A].badge = i == 1 ? 2 : i == 4 ? 0 : 1;
        threads[A].withdrawn = i == 1 || i == 2 ? T_B : i == 3 ? T_FAR : T_A;
        want_aborted(EXTENSION, true);
        need_aborted(true, "abandon what 50 requests\nsend 16 to 30\nrestart 10\nbind 4 to 10\n",
                     i == 0   ? "the CPI suspends no task"
                     : i == 1 ? "a caller that serves a request itself"
                     : i == 2 ? "the time of another task"
                     : i == 3 ? "time that is not known"
                              : "no caller");
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

/* It has nothing to roll back any more, whatever it has besides. */
static void want_rest(void)
{
    want();
    want_threads[A].rolls_back = false;
}

static void test_rest(void)
{
    begin_with(EXTENSION, NULL, NULL);
    camkes_overrun_abort(&cpi, &threads[A], true);
    done[0] = 0;
    begin_rest(true, false);
    threads[A].badge = 1;
    threads[A].serving = true;
    want_rest();
    want_threads[A].serving = false;
    run_worker(A);
    need_all("roll back\nend: 70 50\n10 returns its time, 0\nstart 10\nfault\n",
             "the manager hands over the lock");
    begin_rest(true, true);
    cpi.rollback = NULL;
    want_rest();
    atomic_store(&want_cpi.lock, 0);
    run_worker(A);
    need_all("abandon\nfree: 70 50\n10 returns its time, 0\nstart 10\nfault\n",
             "in a group it gives up the lock itself");
    begin_rest(true, true);
    atomic_fetch_or(&cpi.lock, CAMKES_WAITERS);
    want_rest();
    run_worker(A);
    need_all("abandon\nroll back\n50 hands over 70\n10 returns its time, 0\nstart 10\nfault\n",
             "others wait for it");
    begin_rest(true, true);
    cpi.unlocked = true;
    want_rest();
    run_worker(A);
    need_all("abandon\nroll back\n10 returns its time, 0\nstart 10\nfault\n", "there is no lock");
    begin_rest(false, true);
    want_rest();
    run_worker(A);
    need_all("10 returns its time, 0\nstart 10\nfault\n", "it has no lock to roll back for");
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
    threads[B].state = CAMKES_WORKER_EXTENDED;
    want();
    need_return(B, CAMKES_RETURN_NOTHING, NULL);
    need_all("send 0 to 35\n", "it only waits for its priority");
    want_cpi.extended = NULL;
    want_cpi.homed = &threads[B];
    want_threads[B].state = CAMKES_WORKER_FINISHING;
    want_threads[B].donated = HOME;
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
        want();
        need_return(A, CAMKES_RETURN_RELEASE, NULL);
        need_all("send 0 to 35\n", "it returns that when its request is answered");
    }
    for (unsigned i = 0; i < 3; i++) {
        begin_with(EXTENSION, NULL, i == 1 ? &threads[B] : NULL);
        threads[A].state = CAMKES_WORKER_HELPED;
        threads[A].donated = T_B;
        want();
        want_threads[A].state = i == 0 ? CAMKES_WORKER_FINISHING : CAMKES_WORKER_PASSIVE;
        want_threads[A].donated = i == 0 ? HOME : 0;
        want_threads[A].withdrawn = i == 0 ? T_A : 0;
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
    want_threads[worker].state = CAMKES_WORKER_PASSIVE;
    want_threads[worker].withdrawn = 0;
    want_threads[worker].donated = 0;
    want_threads[worker].replied = false;
}

static void test_time_is_given_home(void)
{
    begin_with(EXTENSION, &threads[A], NULL);
    threads[A].replied = true;
    want();
    want_home(A);
    want_cpi.extended = NULL;
    need_return(A, CAMKES_RETURN_REPLIED, &contexts[A]);
    need_all("unbind 4 to 10\nbind 5 to 10\n"
             "by 9 priority 10 to 80\nsend 0 to 35\nbring 10 home on 5\n"
             "by 9 priority 10 to 60\n",
             "from the extension");
    begin_with(EXTENSION, &threads[A], &threads[B]);
    threads[C].state = CAMKES_WORKER_ABORTED;
    want();
    want_home(A);
    want_leaves(C, EXTENSION, false);
    need_return(A, CAMKES_RETURN_REPLIED, &contexts[A]);
    need_calls("by 9 priority 10 to 80\nsend 0 to 35\nbring 10 home on 4\n"
               "by 9 priority 10 to 60\nbind 4 to 12\n");
    need_state("another one is on the way; the next that leaves gets the extension");
}

int main(void)
{
    test_answer_before_roll_back();
    test_suspend();
    test_resume();
    test_rest();
    test_begun();
    test_leave_lock();
    test_time_is_given_home();
    puts("good");
    return 0;
}
