/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-7 */
/* The manager of a CPI: every call that it makes for a message, in their order. */
#include "manager_model.h"

#if CAMKES_MCS

/* Who pays is that of the request, or with help that of the first waiter. */
static void payers(bool helps)
{
    begin(false);
    cpi.helps = helps;
    of_worker(LOW, CAMKES_ACQUIRE_LOCK, "take: 9 60\nreply good\n");
    of_worker(MID, CAMKES_ACQUIRE_LOCK,
              "lend 61\nwait: 9 61 20 of thread 6\ninherit: 9 60 10 20 61\npriority of 10: "
              "20\npush 60\n61 waits for 60\ntell 60 of 61\nreceive\n");
    of_caller(MID, CAMKES_UPDATE, 25, 70,
              "update: 9 61 25\ninherit: 9 61 20 25 70\npriority of 11: 25\npush 61\nraised 61: 25 "
              "for 70\ninherit: 9 60 20 25 61\npriority of 10: 25\npush 60\nreply good\n");
    state(helps ? "1 waiters; 10 10 25 for 61 pays; 20 25 25 waits for 70 pays; 30 30 30 for 62"
                : "1 waiters; 10 10 25 for 61; 20 25 25 waits for 70 pays; 30 30 30 for 62");
    of_caller(LOW, CAMKES_UPDATE, 20, 71, "update: 9 60 20\nraised 60: 20 for 71\nreply good\n");
    atomic_store(&contexts[LOW].nested, NESTED);
    of_caller(MID, CAMKES_FALL, 5, 72,
              "update: 9 61 5\ninherit: 9 61 25 20 72\npriority of 11: 20\nraised 61: 20 for "
              "61\ninherit: 9 60 25 20 60\npriority of 10: 20\nlower 60\nreply good\n");
    state("1 waiters; 10 20 20 for 60; 20 20 20 waits for 72; 30 30 30 for 62");
    of_caller(LOW, CAMKES_RAISE, 20, 73, "update: 9 60 20\nraised 60: 20 for 60\nreply good\n");
    of_worker(
        LOW, CAMKES_RELEASE_LOCK,
        "leave 60\nfree: 9 60\ngrant: 9 61 of thread 6\ngive 61\nwake 90: good\nreply good\n");
    of_caller(LOW, CAMKES_CLEAR, 0, 0,
              "clear: 9 60\nraised 60: 0 for 65535\ninherit: 9 60 20 10 60\npriority of 10: "
              "10\nlower 60\nreply good\n");
    state("2; 10 10 10 for 60; 20 20 20 for 72; 30 30 30 for 62");
}

/* What a context has without the lock is that of its own request; for that it is not known whether
 * another one pays. */
static void released(void)
{
    begin(false);
    of_worker(LOW, CAMKES_ACQUIRE_LOCK, "take: 9 60\nreply good\n");
    of_caller(LOW, CAMKES_UPDATE, 15, 71,
              "update: 9 60 15\ninherit: 9 60 10 15 71\npriority of 10: 15\npush 60\nraised 60: 15 "
              "for 71\nreply good\n");
    of_worker(MID, CAMKES_ACQUIRE_LOCK,
              "lend 61\nwait: 9 61 20 of thread 6\ninherit: 9 60 15 20 61\npriority of 10: "
              "20\npush 60\n61 waits for 60\ntell 60 of 61\nreceive\n");
    of_worker(LOW, CAMKES_RELEASE_LOCK,
              "leave 60\ninherit: 9 60 20 15 60\npriority of 10: 15\nfree: 9 60\ngrant: 9 61 of "
              "thread 6\ngive 61\nwake 90: good\nreply good\n");
    state("2; 10 15 15 for 60; 20 20 20 for 61; 30 30 30 for 62");
}

/* The criticality changes what requests have, in the lock and while they wait for it. */
static void falls(void)
{
    begin(false);
    of_caller(HIGH, CAMKES_UPDATE, 40, 70,
              "update: 9 62 40\ninherit: 9 62 30 40 70\npriority of 12: 40\npush 62\nraised 62: 40 "
              "for 70\nreply good\n");
    of_caller(HIGH, CAMKES_FALL, 35, 71,
              "update: 9 62 35\ninherit: 9 62 40 35 71\npriority of 12: 35\nraised 62: 35 for "
              "62\nreply good\n");
    of_caller(HIGH, CAMKES_FALL, 35, 72, "update: 9 62 35\nraised 62: 35 for 62\nreply good\n");
    of_caller(HIGH, CAMKES_FALL, 30, 71,
              "update: 9 62 30\ninherit: 9 62 35 30 71\npriority of 12: 30\nraised 62: 30 for "
              "62\nreply good\n");
    of_caller(HIGH, CAMKES_FALL, 20, 71, "update: 9 62 20\nraised 62: 30 for 62\nreply good\n");
    of_caller(HIGH, CAMKES_FALL, 41, 71, "refuse 6 from 503: 10\nreply priority\n");
    of_caller(HIGH, CAMKES_UPDATE, 20, 71, "update: 9 62 20\nraised 62: 20 for 71\nreply good\n");
    of_caller(HIGH, CAMKES_RAISE, 33, 71,
              "update: 9 62 33\ninherit: 9 62 30 33 71\npriority of 12: 33\npush 62\nraised 62: 33 "
              "for 62\nreply good\n");
    of_caller(HIGH, CAMKES_RAISE, 32, 71, "update: 9 62 32\nraised 62: 32 for 62\nreply good\n");
    state("0; 10 10 10 for 60; 20 20 20 for 61; 30 33 33 for 71");
}

static void rebase_of(unsigned i, uint8_t base, const char *wanted)
{
    length = 1;
    word[0] = i;
    message(CAMKES_BADGE_TIME_MANAGER, camkes_time_label(CAMKES_SET_BASE, base, 99), wanted);
    length = 0;
}

static void bases(void)
{
    begin(false);
    rebase_of(LOW, 15, "inherit: 9 60 10 15 60\npriority of 10: 15\npush 60\nreply good\n");
    of_caller(LOW, CAMKES_UPDATE, 18, 70,
              "update: 9 60 18\ninherit: 9 60 15 18 70\npriority of 10: 18\npush 60\nraised 60: 18 "
              "for 70\nreply good\n");
    rebase_of(LOW, 18, "reply good\n");
    rebase_of(LOW, 16, "inherit: 9 60 18 16 60\npriority of 10: 16\nreply good\n");
    of_caller(LOW, CAMKES_UPDATE, 18, 70,
              "update: 9 60 18\ninherit: 9 60 16 18 70\npriority of 10: 18\npush 60\nraised 60: 18 "
              "for 70\nreply good\n");
    rebase_of(LOW, 12, "push 60\nreply good\n");
    state("0; 12 18 18 for 70 pays; 20 20 20 for 61; 30 30 30 for 62");
    of_worker(LOW, CAMKES_ACQUIRE_LOCK, "take: 9 60\nreply good\n");
    of_worker(MID, CAMKES_ACQUIRE_LOCK,
              "lend 61\nwait: 9 61 20 of thread 6\ninherit: 9 60 18 20 61\npriority of 10: "
              "20\npush 60\n61 waits for 60\ntell 60 of 61\nreceive\n");
    of_worker(HIGH, CAMKES_ACQUIRE_LOCK,
              "lend 62\nwait: 9 62 30 of thread 7\ninherit: 9 60 20 30 62\npriority of 10: "
              "30\npush 60\n62 waits for 60\ntell 60 of 62\nreceive\n");
    rebase_of(MID, 35,
              "inherit: 9 61 20 35 61\npriority of 11: 35\npush 61\ninherit: 9 60 30 35 "
              "61\npriority of 10: 35\npush 60\nreply good\n");
    rebase_of(MID, 22,
              "inherit: 9 61 35 22 61\npriority of 11: 22\ninherit: 9 60 35 30 62\npriority of 10: "
              "30\nreply good\n");
    rebase_of(LOW, 40, "inherit: 9 60 30 40 60\npriority of 10: 40\npush 60\nreply good\n");
    rebase_of(LOW, 10, "inherit: 9 60 40 30 62\npriority of 10: 30\npush 60\nreply good\n");
    state("1 waiters; 10 10 30 for 62; 22 22 22 waits for 61; 30 30 30 waits for 62");
    of_worker(LOW, CAMKES_RELEASE_LOCK,
              "leave 60\ninherit: 9 60 30 10 60\npriority of 10: 10\nfree: 9 60\ngrant: 9 62 of "
              "thread 7\ngive 62\nwake 101: good\nreply good\n");
}

/* A CPI with a ceiling of its own has that priority, whatever comes. */
static void ceiling(void)
{
    begin(false);
    cpi.at_ceiling = true;
    atomic_store(&contexts[LOW].effective, 40);
    of_worker(LOW, CAMKES_ACQUIRE_LOCK, "take: 9 60\nreply good\n");
    of_caller(LOW, CAMKES_UPDATE, 20, 70, "update: 9 60 20\nraised 60: 20 for 70\nreply good\n");
    state("1; 10 20 40 for 60; 20 20 20 for 61; 30 30 30 for 62");
    message(CAMKES_BADGE_TIME_MANAGER, 0, "refuse 1048576 from 0: 14\nreply no\n");
}

static void timeouts(void)
{
    begin(false);
    of_worker(LOW, CAMKES_ACQUIRE_LOCK, "take: 9 60\nreply good\n");
    message(OF_NONE, 3, "timeout 7 3\nreceive\n");
    is_home = &contexts[MID];
    message(OF_NONE + 1, 3, "timeout 8 3\nreceive\n");
    is_home = &contexts[LOW];
    message(OF_NONE, 3, "timeout 7 3\nfree: 9 60\nreceive\n");
    of_worker(LOW, CAMKES_ACQUIRE_LOCK, "take: 9 60\nreply good\n");
    of_worker(MID, CAMKES_ACQUIRE_LOCK,
              "lend 61\nwait: 9 61 20 of thread 6\ninherit: 9 60 10 20 61\npriority of 10: "
              "20\npush 60\n61 waits for 60\ntell 60 of 61\nreceive\n");
    owes = true;
    message(OF_NONE, 3,
            "timeout 7 3\ninherit: 9 60 20 10 60\npriority of 10: 10\nfree: 9 60\ngrant: 9 61 of "
            "thread 6\ngive 61\nwake 90: good\ngranted 61\nreceive\n");
    owes = false;
    has_lent = true;
    of_worker(MID, CAMKES_RELEASE_LOCK, "leave 61\nfree: 9 61\nhome 61\nreceive\n");
    has_lent = false;
    of_worker(HIGH, CAMKES_TELL, "tell 62 of all\nreply good\n");
    is_home = &contexts[LOW];
    self.start = camkes_manage_member;
    later_from = OF_WORKER;
    later_label = camkes_member_label(CAMKES_FIND_NESTED, 0, 0);
    message(OF_NONE, 3, "timeout 7 3\nreceive\nnested 60\nreply good 77\n");
    begin(false);
    of_group(LOW, CAMKES_TAKE_LOCK, 0, 0, "take: 9 60\nreply good 0\n");
    of_group(HIGH, CAMKES_TAKE_LOCK, 0, 0, "wait: 9 62 30 of thread 7\nqueue 62\nreply good 1\n");
    owes = true;
    state("1 waiters; 10 10 10 for 60; 20 20 20 for 61; 30 30 30 waits for 62");
    of_group(HIGH, CAMKES_GIVE_LOCK, 0, 60,
             "free: 9 60\ngrant: 9 62 of thread 7\ngive 62\nreply good 1\n");
    state("3; 10 10 10 for 60; 20 20 20 for 61; 30 30 30 for 62");
    of_group(HIGH, CAMKES_GRANTED, 0, 0, "granted 62\nreply good 0\n");
    of_group(HIGH, CAMKES_SET_PRIORITY, 33, 70,
             "inherit: 9 62 30 33 70\npriority of 12: 33\nnested 62\nreply good 77\n");
    state("3; 10 10 10 for 60; 20 20 20 for 61; 30 30 33 for 70");
}

int main(void)
{
    payers(false);
    payers(true);
    released();
    falls();
    bases();
    ceiling();
    timeouts();
    printf("good\n");
    return 0;
}

#else

static void after_release(void)
{
    atomic_fetch_or(&cpi.lock, CAMKES_RELEASED);
}

static void (*at_wake)(void);

void seL4_Wait(seL4_CPtr slot, seL4_Word *badge)
{
    need(slot == WAKE && badge == NULL, "another notification");
    note("waits with ");
    note_lock();
    note("\n");
    if (at_wake != NULL) {
        at_wake();
    }
}

static void released_later(void)
{
    meanwhile = after_release;
}

static void lock_is_taken(void)
{
    atomic_store(&cpi.lock, contexts[HIGH].held);
}

static void lock_is_free(void)
{
    atomic_store(&cpi.lock, 0);
}

/* A lock that three contexts request. What is inherited ends with the lock; then the priority of a
 * request is its own, whichever context it came from. */
static void queue(void)
{
    begin(false);
    atomic_store(&contexts[LOW].nested, NESTED); /* no lower priority is passed on */
    of_worker(LOW, CAMKES_ACQUIRE_LOCK, "take: 9 60\nreply good\n");
    of_worker(MID, CAMKES_ACQUIRE_LOCK,
              "save 101\nwait: 9 61 20 of thread 6\ninherit: 9 60 10 20 61\npriority of 10: "
              "20\npush 60\nreceive\n");
    of_worker(HIGH, CAMKES_ACQUIRE_LOCK,
              "save 102\nwait: 9 62 30 of thread 7\ninherit: 9 60 20 30 62\npriority of 10: "
              "30\npush 60\nreceive\n");
    state("1 waiters; 10 10 30 for 62; 20 20 20 waits for 61; 30 30 30 waits for 62");
    of_caller(MID, CAMKES_UPDATE, 30, 70,
              "update: 9 61 30\ninherit: 9 61 20 30 70\npriority of 11: 30\npush 61\nreply good\n");
    of_caller(LOW, CAMKES_UPDATE, 15, 71, "update: 9 60 15\nreply good\n");
    state("1 waiters; 10 15 30 for 62; 20 30 30 waits for 70; 30 30 30 waits for 62");
    of_worker(LOW, CAMKES_RELEASE_LOCK,
              "inherit: 9 60 30 15 60\npriority of 10: 15\nfree: 9 60\ngrant: 9 61 of thread "
              "6\nwake 101: good\nreply good\n");
    state("2 waiters; 10 15 15 for 60; 20 30 30 for 70; 30 30 30 waits for 62");
    of_caller(LOW, CAMKES_CLEAR, 0, 0,
              "clear: 9 60\ninherit: 9 60 15 10 60\npriority of 10: 10\nreply good\n");
    of_worker(HIGH, CAMKES_RELEASE_LOCK, "refuse 3 from 0: 14\nreply no\n");
    of_worker(MID, CAMKES_RELEASE_LOCK,
              "free: 9 61\ngrant: 9 62 of thread 7\nwake 102: good\nreply good\n");
    of_worker(HIGH, CAMKES_RELEASE_LOCK, "refuse 3 from 0: 14\nreply no\n"); /* no context waits */
    of_caller(MID, CAMKES_UPDATE, 30, 72, "update: 9 61 30\nreply good\n");
    state("3; 10 10 10 for 60; 20 30 30 for 70; 30 30 30 for 62");
}

/* A request that ends late, with the lock, keeps what it inherits of the waiter. */
static void late(void)
{
    begin(false);
    of_caller(LOW, CAMKES_UPDATE, 15, 71,
              "update: 9 60 15\ninherit: 9 60 10 15 71\npriority of 10: 15\npush 60\nreply good\n");
    of_worker(LOW, CAMKES_ACQUIRE_LOCK, "take: 9 60\nreply good\n");
    of_worker(MID, CAMKES_ACQUIRE_LOCK,
              "save 101\nwait: 9 61 20 of thread 6\ninherit: 9 60 15 20 61\npriority of 10: "
              "20\npush 60\nreceive\n");
    of_caller(LOW, CAMKES_CLEAR, 1, 1, "clear: 9 60\nreply good\n"); /* with what an update has */
    state("1 waiters; 10 10 20 for 61; 20 20 20 waits for 61; 30 30 30 for 62");
}

/* What threads do with the lock word while the manager looks at it. */
static void races(void)
{
    begin(false);
    meanwhile = lock_is_taken;
    of_worker(LOW, CAMKES_ACQUIRE_LOCK, "save 100\nwait: 9 60 10 of thread 5\nreceive\n");
    state("3 waiters; 10 10 10 waits for 60; 20 20 20 for 61; 30 30 30 for 62");
    begin(false);
    lock_is_taken();
    meanwhile = lock_is_free;
    of_worker(LOW, CAMKES_ACQUIRE_LOCK, "take: 9 60\nreply good\n");
    state("1; 10 10 10 for 60; 20 20 20 for 61; 30 30 30 for 62");
}

/* With two contexts the manager keeps the reply of the waiter, and waits for a release, or for a
 * message that makes it go on as usual. */
static void kept_reply(void)
{
    begin(false);
    cpi.wake = WAKE;
    lock_is_taken();
    at_wake = after_release;
    of_worker(LOW, CAMKES_ACQUIRE_LOCK,
              "wait: 9 60 10 of thread 5\nwaits with 3 waiters manager\nfree: 9 62\ngrant: 9 60 of "
              "thread 5\nreply good\n");
    state("1; 10 10 10 for 60; 20 20 20 for 61; 30 30 30 for 62");
    lock_is_taken();
    at_wake = NULL;
    of_worker(MID, CAMKES_ACQUIRE_LOCK,
              "wait: 9 61 20 of thread 6\nwaits with 3 waiters manager\nsave 101\nreceive\n");
    state("3 waiters; 10 10 10 for 60; 20 20 20 waits for 61; 30 30 30 for 62");
    begin(false);
    cpi.wake = WAKE;
    lock_is_taken();
    at_wake = released_later;
    of_worker(MID, CAMKES_ACQUIRE_LOCK,
              "wait: 9 61 20 of thread 6\nwaits with 3 waiters manager\nfree: 9 62\ngrant: 9 61 of "
              "thread 6\nreply good\n");
    state("2; 10 10 10 for 60; 20 20 20 for 61; 30 30 30 for 62");
}

static void failures(void)
{
    begin(false);
    refused = seL4_RangeError;
    of_caller(MID, CAMKES_UPDATE, 25, 70,
              "update: 9 61 25\ninherit: 9 61 20 25 70\nthread b cannot be set to priority "
              "25: kernel error 4\n");
    begin(false);
    lock_is_taken();
    cannot_save = seL4_NotEnoughMemory;
    of_worker(LOW, CAMKES_ACQUIRE_LOCK, "a reply to a cannot be kept for later: kernel error 10\n");
    begin(false);
    message(OF_NONE, 0, "refuse 7 from 0: 12\nreply whose\n");
    of_caller(HIGH, CAMKES_UPDATE, 41, 70, "refuse 6 from 503: 10\nreply priority\n");
    message(OF_WORKER + LOW, camkes_worker_label(CAMKES_SETTLE, 1, 0), "reply good\n");
    of_caller(HIGH, CAMKES_RAISE, 35, 70, "refuse 6 from 503: 14\nreply no\n");
    of_caller(HIGH, CAMKES_FALL, 35, 70, "refuse 6 from 503: 14\nreply no\n");
    of_worker(LOW, CAMKES_TELL, "refuse 1 from 0: 14\nreply no\n");
    message(CAMKES_BADGE_TIME_MANAGER, 0, "refuse 1048576 from 0: 12\nreply whose\n");
}

static void pools(void)
{
    begin(true);
    pool[1]->context = pool[0]->context = pool[2]->context = &contexts[MID];
    message(OF_WORKER + MID, camkes_worker_label(CAMKES_BEGIN_REQUEST, 0, 1),
            "priority of 10: 20\nreply good\n");
    of_caller(MID, CAMKES_UPDATE, 25, 70,
              "update: 9 61 25\ninherit: 9 61 20 25 70\npriority of 10: 25\npush 61\nreply good\n");
    message(OF_WORKER + MID, camkes_worker_label(CAMKES_END_REQUEST, 0, 1),
            "priority of 10: 40\nreply good\n");
    message(OF_WORKER + MID, camkes_worker_label(CAMKES_BEGIN_REQUEST, 0, 0),
            "priority of 12: 25\nreply good\n");
    begin(false);
    message(OF_WORKER + MID, camkes_worker_label(CAMKES_BEGIN_REQUEST, 0, 1),
            "refuse 2 from 0: 14\nreply no\n");
}

static void members(void)
{
    begin(false);
    of_group(LOW, CAMKES_TAKE_LOCK, 0, 0, "take: 9 60\nreply good 0\n");
    of_group(LOW, CAMKES_TAKE_LOCK, 0, 0, "reply no 0\n");
    of_group(HIGH, CAMKES_TAKE_LOCK, 0, 0, "wait: 9 62 30 of thread 7\nreply good 1\n");
    of_group(HIGH, CAMKES_SET_PRIORITY, 35, 70,
             "inherit: 9 62 30 35 70\npriority of 12: 35\nnested 62\nreply good 77\n");
    of_group(HIGH, CAMKES_SET_PRIORITY, 35, 71,
             "inherit: 9 62 35 35 71\npriority of 12: 35\nreply good 0\n");
    of_group(HIGH, CAMKES_SET_PRIORITY, 30, 62,
             "inherit: 9 62 35 30 62\npriority of 12: 30\nreply good 0\n");
    of_group(LOW, CAMKES_FIND_NESTED, 0, 0, "nested 60\nreply good 77\n");
    state("1 waiters; 10 10 10 for 60; 20 20 20 for 61; 30 30 30 for 62");
    of_group(HIGH, CAMKES_GIVE_LOCK, 1, 60, "free: 9 60\ngrant: 9 62 of thread 7\nreply good 0\n");
    state("3 waiters; 10 10 10 for 60; 20 20 20 for 61; 30 30 30 for 62");
    of_group(LOW, CAMKES_FREE_LOCK, 0, 0, "reply no 0\n");
    of_group(HIGH, CAMKES_FREE_LOCK, 0, 0, "free: 9 62\nreply good 0\n");
    of_group(MID, CAMKES_GIVE_LOCK, 0, 62, "free: 9 62\ngrant: 9 61 of thread 6\nreply good 0\n");
    state("2; 10 10 10 for 60; 20 20 20 for 61; 30 30 30 for 62");
    message(OF_WORKER, 0, "reply no 0\n");
    begin(true);
    of_group(MID, CAMKES_TAKE_LOCK, 0, 0, "reply no 0\n");
    pool[2]->context = &contexts[MID];
    of_group(MID, CAMKES_MEMBER_BEGIN, 0, 2, "priority of 11: 20\nreply good 0\n");
    of_group(MID, CAMKES_MEMBER_END, 0, 2, "priority of 11: 40\nreply good 0\n");
}

/* What others see of a CPI. */
static void lookups(void)
{
    struct camkes_thread thread = {.badge = 7};
    begin(false);
    need(camkes_holder(&cpi) == NULL, "a lock that is free");
    lock_is_taken();
    need(camkes_holder(&cpi) == &contexts[HIGH], "one that is held");
    need(camkes_sender_id(&thread) == 7, "a badge of an interface without a protocol");
    thread.cpi = &cpi;
    thread.badge = 3;
    need(camkes_sender_id(&thread) == 503, "of one with a protocol");
    need(camkes_sender_context(&thread) == &contexts[HIGH], "its context");
}

/* The CPIs of a monitor have one lock. */
static void monitors(void)
{
    static _Atomic uintptr_t word;
    begin(false);
    cpi.monitor = &word;
    of_group(LOW, CAMKES_TAKE_LOCK, 0, 0, "take: 9 60\nreply good 0\n");
    state("1; 10 10 10 for 60; 20 20 20 for 61; 30 30 30 for 62");
    need(word == 1 && cpi.lock == 0, "that of the monitor");
    of_group(LOW, CAMKES_FREE_LOCK, 0, 0, "free: 9 60\nreply good 0\n");
    need(word == 0, "it is free");
}

int main(void)
{
    queue();
    late();
    races();
    kept_reply();
    failures();
    pools();
    members();
    monitors();
    lookups();
    printf("good\n");
    return 0;
}

#endif
