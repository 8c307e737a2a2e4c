/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-32 */
/* The state machine of a worker, row by row: what the kernel is asked for, what the records are
 * then, and that there is nothing else. */
#include "kernel_log.h"

#include "../../../runtime/src/core/check.h"
#include "../../../runtime/src/time/worker_states.h"

enum { OWN = 1, OTHER, EXTENSION, HOME, TCB = 10, HELD = 1 };

static struct camkes_thread worker, another, before;
static struct camkes_context context;
static struct camkes_cpi cpi;
static bool asserted;

void camkes_assertion_failed(const char *file, int line, const char *condition)
{
    need(strstr(file, "worker_states.h") != NULL && line > 0, condition);
    asserted = true;
    longjmp(over, 2);
}

/* A worker in a state, which holds the lock, with what belongs to that. */
static void begin(enum camkes_worker_state state)
{
    const bool extended =
        state == CAMKES_WORKER_EXTENDED || state == CAMKES_WORKER_ABORTED_EXTENDED;
    const bool homed = state == CAMKES_WORKER_FINISHING || state == CAMKES_WORKER_ABORTED_HOME;
    const bool helped = state == CAMKES_WORKER_HELPED;
    const bool withdrawn = helped || state == CAMKES_WORKER_WITHDRAWN ||
                           state == CAMKES_WORKER_EXTENDED || state == CAMKES_WORKER_FINISHING;
    context = (struct camkes_context){.held = HELD, .worker = &worker};
    worker = (struct camkes_thread){.tcb = TCB,
                                    .cpi = &cpi,
                                    .context = &context,
                                    .state = state,
                                    .withdrawn = withdrawn ? OWN : 0,
                                    .donated = helped     ? OTHER
                                               : extended ? EXTENSION
                                               : homed    ? HOME
                                                          : 0};
    cpi = (struct camkes_cpi){.lock = HELD,
                              .contexts = 1,
                              .context = &context,
                              .extension = EXTENSION,
                              .extended = extended ? &worker : NULL,
                              .home = {.context = HOME},
                              .homed = homed ? &worker : NULL};
    asserted = false;
}

static bool happens(enum camkes_worker_event event)
{
    bool done = false;
    UNTIL_OVER(done = camkes_worker_event(&cpi, &worker, event, OTHER));
    return done;
}

/* The kernel calls of each action, D: what was donated; its Bind, if that can fail; and what
 * another worker may have. */
static const struct action {
    const char *name, *calls, *fails;
    bool extension, home;
} actions[] = {
    {"none", "end\n", NULL, false, false},
    {"keep", "end\n", NULL, false, false},
    {"restore", "bind 1 to 10\nend\n", "bind 1 to 10", false, false},
    {"help", "bind 2 to 10\nend\n", "bind 2 to 10", false, false},
    {"extend", "bind 3 to 10\nend\n", "bind 3 to 10", true, false},
    {"finish", "bind 4 to 10\nend\n", "bind 4 to 10", false, true},
    {"give_up", "end\n", NULL, false, false},
    {"end", "end\n", NULL, false, false},
    {"give_back", "unbind D to 10\nend\n", NULL, false, false},
    {"exchange", "unbind 3 to 10\nbind 4 to 10\nend\n", NULL, false, true},
    {"arrive", "end\n", NULL, false, false},
    {"go_on_extension", "bind 3 to 10\nend\n", NULL, true, false},
    {"go_home", "bind 4 to 10\nend\n", NULL, false, true},
};

static const struct action *action_of(const char *name)
{
    const struct action *action = actions;
    while (strcmp(action->name, name) != 0) {
        action++;
        need(action < actions + sizeof actions / sizeof *actions, name);
    }
    return action;
}

static void need_same(enum camkes_worker_event event, const char *calls, const char *what)
{
    memcpy(&before, &worker, sizeof worker);
    const uintptr_t lock = atomic_load(&cpi.lock);
    need(!happens(event), what);
    need_calls(calls);
    need(memcmp(&before, &worker, sizeof worker) == 0 && atomic_load(&cpi.lock) == lock, what);
}

static void test_row(enum camkes_worker_state state, enum camkes_worker_event event,
                     const char *name, enum camkes_worker_state next)
{
    const struct action *const action = action_of(name);
    begin(state);
    char calls[80], *donated;
    (void)snprintf(calls, sizeof calls, "%s", action->calls);
    if ((donated = strchr(calls, 'D')) != NULL) {
        *donated = (char)('0' + worker.donated);
    }
    need(happens(event) && worker.state == next, name);
    need_calls(calls);
    camkes_check_thread(&cpi, &context);
    const bool helped = next == CAMKES_WORKER_HELPED || next == CAMKES_WORKER_EXTENDED;
    need((atomic_load(&cpi.lock) & CAMKES_WAITERS) != 0 || state == next || !helped,
         "the manager does not learn of the release");
    begin(state);
    if (action->fails != NULL) {
        (void)snprintf(calls, sizeof calls, "%s\nend\n", action->fails);
        refuse(action->fails);
        need_same(event, calls, "there is no budget");
        atomic_fetch_or(&cpi.lock, CAMKES_WAITERS); /* they are not forgotten */
        refuse(action->fails);
        need_same(event, calls, "there is no budget, and others wait");
    }
    if (action->extension) {
        cpi.extended = &another;
        need_same(event, "end\n", "another one has the extension");
        cpi.extended = NULL;
        cpi.extension = 0;
        need_same(event, "end\n", "there is no extension");
    }
    if (action->home) {
        cpi.homed = &another;
        need_same(event, "end\n", "another one is on the way home");
    }
}

/* In a CPI without a lock, and in a group, the worker returns the extension by itself. */
static void test_extension(void)
{
    for (unsigned i = 0; i < 2; i++) {
        begin(CAMKES_WORKER_WITHDRAWN);
        cpi.unlocked = i == 0;
        cpi.grouped = i == 1;
        need(happens(CAMKES_ON_EXTEND) && worker.extended, "it keeps the extension");
        need(atomic_load(&cpi.lock) == HELD, "a release is told to no purpose");
        need_calls("bind 3 to 10\nend\n");
        need(happens(CAMKES_ON_WITHDRAW) && !worker.extended, "it has nothing to return");
        need_calls("end\n");
    }
}

static void test_must(void)
{
    begin(CAMKES_WORKER_WITHDRAWN);
    refuse("bind 1 to 10");
    UNTIL_OVER(camkes_worker_must(&cpi, &worker, CAMKES_ON_RESTORE));
    need_calls("bind 1 to 10\nfault\n");
    UNTIL_OVER(camkes_worker_must(&cpi, &worker, CAMKES_ON_RESTORE));
    need_calls("bind 1 to 10\nend\n");
}

int main(void)
{
    static bool known[CAMKES_STATES][CAMKES_EVENTS];
#define ROW(state, event, action, next)                                                            \
    test_row(CAMKES_WORKER_##state, CAMKES_ON_##event, #action, CAMKES_WORKER_##next);             \
    need(!known[CAMKES_WORKER_##state][CAMKES_ON_##event], "two rows for one pair");               \
    known[CAMKES_WORKER_##state][CAMKES_ON_##event] = true;
    CAMKES_WORKER_CHANGES(ROW)
#undef ROW
    for (unsigned state = 0; state < CAMKES_STATES; state++) {
        for (unsigned event = 0; event < CAMKES_EVENTS; event++) {
            begin((enum camkes_worker_state)state);
            need(known[state][event] || (!happens((enum camkes_worker_event)event) && asserted),
                 "a pair that is not in the table");
        }
    }
    test_extension();
    test_must();
    puts("good");
    return 0;
}
