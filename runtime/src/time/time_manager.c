/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The time manager. Its thread has the highest priority, so a change of the criticality is seen by
 * others as one step, except by managers of CPIs, which it calls.
 */
#include "../core/managers.h"

#include <camkes/time_manager.h>

#if defined(CONFIG_KERNEL_MCS)

static seL4_Error configure(const struct camkes_server *server, unsigned level)
{
    return seL4_SchedControl_ConfigureFlags(server->control, server->time, server->budget[level],
                                            server->period, server->extra, server->badge,
                                            server->sporadic ? seL4_SchedContext_Sporadic : 0);
}

/* From then on no thread of the system can change a budget. */
static void give_up(const struct camkes_time_manager *manager)
{
    for (unsigned i = 0; i < manager->controls; i++) {
        camkes_platform_delete(manager->control[i]);
    }
}

/* The thread that has a context now, 0: none that executes on it can be interrupted. */
static seL4_CPtr take(const struct camkes_server *server)
{
    /* at most holders times: each once */
    for (unsigned i = 0; i < server->holders; i++) {
        if (seL4_SchedContext_UnbindObject(server->time, server->holder[i]) == seL4_NoError) {
            return server->holder[i];
        }
    }
    return 0;
}

/*
 * The kernel gives a context that is bound to a runnable thread the rest of a larger budget one
 * period later, and one that is not all of it at once. So a task whose budget grows has all of it
 * from the change on. A smaller one holds without such a beginning: what was used stays used.
 */
static void change_budget(const struct camkes_server *server, unsigned from, unsigned to)
{
    const bool more = server->budget[to] > server->budget[from];
    if (server->budget[to] == server->budget[from]) {
        return;
    }
    const seL4_CPtr holder = more ? take(server) : 0;
    camkes_must(configure(server, to));
    if (holder != 0) {
        camkes_must(seL4_SchedContext_Bind(server->time, holder));
    }
}

/* The answer to the call of a task whose overrun changes the criticality. */
enum answer { TOO_EARLY, DUE, GIVEN };

/* Sets the priorities of the threads that execute for a task. A more urgent one to which an answer
 * is due does not wait for the manager of a CPI, which is less urgent. */
static void change_priority(const struct camkes_thread *self, const struct camkes_critical *task,
                            uint8_t priority, enum answer *answer)
{
    if (task->control != 0) {
        camkes_must(seL4_TCB_SetPriority(task->control, self->tcb, priority));
    }
    /* at most requests times: each once */
    for (unsigned i = 0; i < task->requests; i++) {
        const struct camkes_requested *request = &task->request[i];
        if (request->manager == 0) {
            camkes_must(seL4_TCB_SetPriority(request->worker, self->tcb, priority));
            continue;
        }
        if (*answer == DUE) {
            camkes_platform_reply(seL4_MessageInfo_new(0, 0, 0, 0));
            *answer = GIVEN;
        }
        seL4_SetMR(0, request->context);
        camkes_must_grant(
            camkes_call_manager(request->manager,
                                camkes_time_label(CAMKES_SET_BASE, priority, task->task), 1),
            "a CPI or a group");
    }
}

/* The system gets another criticality; `task`: because of the overrun of that one. Returns whether
 * the call was answered. */
static bool change(const struct camkes_thread *self, unsigned to, uint16_t task)
{
    const struct camkes_time_manager *manager = self->interface;
    const unsigned from = camkes_level();
    if (from == to) {
        return false;
    }
    enum answer answer = TOO_EARLY;
    CAMKES_TRACE(CRITICALITY, to, task);
    atomic_store(&_camkes_level.level, to);
    /* at most criticals times: each once */
    for (unsigned i = 0; i < manager->criticals; i++) {
        const struct camkes_critical *critical = &manager->critical[i];
        if (critical->priority[to] != critical->priority[from]) {
            change_priority(self, critical, critical->priority[to], &answer);
        }
        if (critical->server != NULL) {
            change_budget(critical->server, from, to);
        }
        if (critical->task == task) {
            answer = DUE;
        }
    }
    if (from == 0) {
        seL4_Signal(manager->risen);
    }
    return answer == GIVEN;
}

/* The criticality after an overrun of a task: the next one at which it has a larger budget. */
static unsigned raised(const struct camkes_critical *task)
{
    const unsigned level = camkes_level();
    unsigned next = level;
    /* at most levels times: each once */
    while (next < task->criticality) {
        next++;
        if (task->server == NULL || task->server->budget[next] > task->server->budget[level]) {
            break;
        }
    }
    return next;
}

/* A component can only raise the criticality: jobs that have begun since may need the larger
 * budgets until the processor is idle. */
static void set(const struct camkes_thread *self, seL4_Word level)
{
    const struct camkes_time_manager *manager = self->interface;
    const unsigned to = level < manager->highest ? (unsigned)level : manager->highest;
    if (to > camkes_level()) {
        (void)change(self, to, CAMKES_NO_TASK);
    }
}

/* Returns whether the call was answered. */
static bool handle(const struct camkes_thread *self, seL4_Word badge, seL4_Word label)
{
    const struct camkes_time_manager *manager = self->interface;
    bool answered = false;
    if (badge == CAMKES_BADGE_IDLE) {
        (void)change(self, 0, CAMKES_NO_TASK);
    } else if (badge == CAMKES_BADGE_SET) {
        set(self, label);
    }
    /* at most criticals times: each once */
    for (unsigned i = 0; i < manager->criticals; i++) {
        const struct camkes_critical *task = &manager->critical[i];
        if (badge == CAMKES_BADGE_RAISE + (seL4_Word)task->task) {
            answered = change(self, raised(task), task->task);
        }
    }
    return answered;
}

void camkes_manage_time(struct camkes_thread *self)
{
    const struct camkes_time_manager *manager = self->interface;
    for (unsigned i = 0; i < manager->servers; i++) {
        camkes_must(configure(&manager->server[i], 0));
    }
    if (!manager->holds) {
        give_up(manager);
    }
    if (manager->endpoint == 0) {
        return;
    }
    seL4_Word badge = 0;
    seL4_MessageInfo_t info = camkes_platform_receive(manager->endpoint, &badge);
    for (;;) {
        const bool answered = handle(self, badge, seL4_MessageInfo_get_label(info));
        info = answered ? camkes_platform_receive(manager->endpoint, &badge)
                        : camkes_platform_reply_receive(manager->endpoint,
                                                        seL4_MessageInfo_new(0, 0, 0, 0), &badge);
    }
}

/* It executes when no other thread does. */
void camkes_await_idle(struct camkes_thread *self)
{
    const struct camkes_idle *idle = self->interface;
    for (;;) {
        seL4_Wait(idle->risen, NULL);
        camkes_ask_manager(idle->manager, 0, "the time");
    }
}

#endif
