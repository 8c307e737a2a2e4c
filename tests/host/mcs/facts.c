/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Threads that do something to others, once. The low 8 bits of a thread's index are its role. */
#include <camkes/host.h>
#include <stdio.h>

enum { FIRST = 1, REPLY, SECOND, CONTEXT, THREAD, OTHER_CONTEXT, CONTROL, SELF, OWN_CONTEXT };
enum {
    UNBIND,
    CONFIGURE,
    SET_HANDLER,
    EXTEND,
    BIND,
    LOWER,
    ERRORS,
    CARELESS,
    CONSUMED,
    YIELD_TO,
    UNBIND_AND_LOWER,
    NAMING
};

static unsigned us(void)
{
    return (unsigned)(camkes_host_now() / 1000);
}

static void configure(void)
{
    seL4_Wait(FIRST, NULL);
    printf("%d\n", seL4_SchedControl_Configure(CONTROL, CONTEXT, 2000, 100000, 0, 0));
    seL4_CNode_Delete(seL4_CapNull, CONTROL, seL4_WordBits);
    printf("%d\n", seL4_SchedControl_Configure(CONTROL, CONTEXT, 2000, 100000, 0, 0));
}

/* A handler of timeouts that says what it gets, and lets threads go on. */
static void set_handler(void)
{
    seL4_Word badge;
    printf("%d\n", seL4_TCB_SetTimeoutEndpoint(THREAD, SECOND));
    seL4_MessageInfo_t info = seL4_Recv(FIRST, &badge, REPLY);
    for (;;) {
        printf("%u us: badge %lu label %lu length %lu data %lu consumed %lu\n", us(), badge,
               seL4_MessageInfo_get_label(info), seL4_MessageInfo_get_length(info),
               seL4_GetMR(seL4_Timeout_Data), seL4_GetMR(seL4_Timeout_Consumed));
        info = seL4_ReplyRecv(FIRST, seL4_MessageInfo_new(0, 0, 0, 0), &badge, REPLY);
    }
}

/* A handler that gives the thread another context. */
static void extend(void)
{
    seL4_Word badge;
    seL4_Recv(FIRST, &badge, REPLY);
    for (;;) {
        printf("%u us: fault of %lu\n", us(), badge);
        printf("%d\n", seL4_SchedContext_UnbindObject(CONTEXT, THREAD));
        printf("%d\n", seL4_SchedContext_Bind(OTHER_CONTEXT, THREAD));
        seL4_ReplyRecv(FIRST, seL4_MessageInfo_new(0, 0, 0, 0), &badge, REPLY);
    }
}

/* Tries to give a waiting thread the context of another, twice. */
static void bind(void)
{
    seL4_Wait(FIRST, NULL);
    seL4_SchedContext_UnbindObject(CONTEXT, OTHER_CONTEXT);
    printf("%d\n", seL4_SchedContext_Bind(CONTEXT, THREAD));
    seL4_Wait(FIRST, NULL);
    printf("%d\n", seL4_SchedContext_Bind(CONTEXT, THREAD));
}

#define SHOW(call) printf("%d %s\n", (int)(call), #call)

static void errors(void)
{
    SHOW(seL4_SchedContext_Bind(CONTEXT, THREAD));
    SHOW(seL4_SchedContext_Bind(OTHER_CONTEXT, THREAD));
    SHOW(seL4_SchedContext_Bind(OTHER_CONTEXT, SECOND));
    SHOW(seL4_SchedContext_Bind(SECOND, THREAD));
    SHOW(seL4_SchedContext_Bind(OTHER_CONTEXT, FIRST));
    SHOW(seL4_SchedContext_Bind(OTHER_CONTEXT, FIRST));
    SHOW(seL4_SchedContext_Unbind(OWN_CONTEXT));
    SHOW(seL4_SchedContext_UnbindObject(OWN_CONTEXT, SELF));
    SHOW(seL4_SchedContext_UnbindObject(OTHER_CONTEXT, THREAD));
    SHOW(seL4_SchedContext_UnbindObject(CONTEXT, FIRST));
    SHOW(seL4_SchedContext_UnbindObject(OTHER_CONTEXT, FIRST));
    SHOW(seL4_SchedContext_UnbindObject(OTHER_CONTEXT, SECOND));
    SHOW(seL4_SchedContext_YieldTo(OTHER_CONTEXT).error);
    SHOW(seL4_SchedContext_YieldTo(OWN_CONTEXT).error);
    SHOW(seL4_SchedContext_YieldTo(SECOND).error);
    SHOW(seL4_SchedContext_Consumed(SECOND).error);
    SHOW(seL4_SchedControl_Configure(SECOND, CONTEXT, 1, 1, 0, 0));
    SHOW(seL4_SchedControl_Configure(CONTROL, SECOND, 20, 20, 0, 0));
    SHOW(seL4_SchedControl_Configure(CONTROL, OTHER_CONTEXT, 0, 20, 0, 0));
    SHOW(seL4_SchedControl_Configure(CONTROL, OTHER_CONTEXT, 21, 20, 0, 0));
    SHOW(seL4_SchedControl_Configure(CONTROL, OTHER_CONTEXT, 19, 20, 0, 0));
    SHOW(seL4_SchedControl_Configure(CONTROL, OTHER_CONTEXT, 20, 40, seL4_MaxExtraRefills(10), 0));
    SHOW(seL4_SchedControl_Configure(CONTROL, OTHER_CONTEXT, 20, 40, seL4_MaxExtraRefills(10) + 1,
                                     0));
    SHOW(seL4_TCB_SetTimeoutEndpoint(THREAD, SECOND));
    SHOW(seL4_TCB_SetTimeoutEndpoint(THREAD, seL4_CapNull));
    SHOW(seL4_TCB_SetTimeoutEndpoint(THREAD, FIRST));
    SHOW(seL4_TCB_SetSchedParams(THREAD, SELF, 1, 1, OTHER_CONTEXT, seL4_CapNull));
    SHOW(seL4_TCB_SetSchedParams(THREAD, SELF, 1, 1, SECOND, seL4_CapNull));
    SHOW(seL4_TCB_SetSchedParams(THREAD, SELF, 1, 1, CONTEXT, SECOND));
    SHOW(seL4_TCB_SetSchedParams(SELF, SELF, 1, 1, seL4_CapNull, seL4_CapNull));
    SHOW(seL4_TCB_SetSchedParams(THREAD, SELF, 256, 1, CONTEXT, seL4_CapNull));
    SHOW(seL4_TCB_SetSchedParams(THREAD, SELF, 9, 9, seL4_CapNull, seL4_CapNull));
    SHOW(seL4_TCB_SetSchedParams(THREAD, SELF, 9, 9, OTHER_CONTEXT, seL4_CapNull));
}

/* Receives twice with one reply object. */
static void careless(void)
{
    seL4_Word badge;
    for (int i = 0; i < 2; i++) {
        seL4_Recv(FIRST, &badge, REPLY);
        printf("call of %lu\n", badge);
    }
    seL4_Send(REPLY, seL4_MessageInfo_new(0, 0, 0, 0));
}

/* A server that says whose request it is. */
static void naming(void)
{
    seL4_Word badge;
    seL4_Recv(FIRST, &badge, REPLY);
    for (;;) {
        printf("%u us: call of %lu\n", us(), badge);
        camkes_host_work(seL4_GetMR(0));
        seL4_ReplyRecv(FIRST, seL4_MessageInfo_new(0, 0, 0, 0), &badge, REPLY);
    }
}

static void consumed(void)
{
    seL4_Wait(FIRST, NULL);
    printf("%lu ", seL4_SchedContext_Consumed(CONTEXT).consumed);
    printf("%lu\n", seL4_SchedContext_Consumed(CONTEXT).consumed);
}

void _camkes_thread(unsigned index)
{
    switch (index & 255) {
    case UNBIND:
        seL4_SchedContext_UnbindObject(CONTEXT, THREAD);
        break;
    case UNBIND_AND_LOWER:
        seL4_SchedContext_UnbindObject(CONTEXT, THREAD);
        seL4_TCB_SetPriority(THREAD, SELF, 5);
        break;
    case CONFIGURE:
        configure();
        break;
    case SET_HANDLER:
        set_handler();
        break;
    case EXTEND:
        extend();
        break;
    case BIND:
        bind();
        break;
    case LOWER:
        seL4_Wait(FIRST, NULL);
        seL4_TCB_SetPriority(THREAD, SELF, 15);
        break;
    case ERRORS:
        errors();
        break;
    case CARELESS:
        careless();
        break;
    case NAMING:
        naming();
        break;
    case CONSUMED:
        consumed();
        break;
    case YIELD_TO:
        seL4_Wait(FIRST, NULL);
        printf("%lu\n", seL4_SchedContext_YieldTo(CONTEXT).consumed);
        break;
    default:
        break;
    }
}
