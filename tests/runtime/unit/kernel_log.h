/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Notes the calls of the kernel, each as a line of the log. All succeed, unless a test says which
 * do not. */
#pragma once

#include "log.h"

#include <camkes/error.h>
#include <setjmp.h>

struct message {
    seL4_Word badge, label, words[2];
};

static seL4_IPCBuffer buffer;
static char refusals[400]; /* lines of calls that fail, once each */
static seL4_Word answer;   /* label of the replies to calls */
#if CAMKES_MCS
static uint64_t consumed[40]; /* us, by scheduling context */
#endif
/* what is received; afterwards, and at a fault, `over` */
static const struct message *script;
static unsigned messages;
static unsigned ends_after; /* so many waits, 0: never */
static jmp_buf over;

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

/* A call with this line fails. */
static inline void refuse(const char *line)
{
    strcat(strcat(refusals, line), "\n");
}

static seL4_Error said(const char *what, seL4_Word x, seL4_Word y)
{
    char line[80];
    const int length =
        snprintf(line, sizeof line, "%s %lu to %lu\n", what, (unsigned long)x, (unsigned long)y);
    note("%s", line);
    char *const found = strstr(refusals, line);
    if (found == NULL || (found > refusals && found[-1] != '\n')) {
        return seL4_NoError;
    }
    memmove(found, found + length, strlen(found + length) + 1);
    return seL4_IllegalOperation;
}

/* All calls were these, and all refusals were seen. */
static inline void need_calls(const char *wanted)
{
    need_done(wanted);
    need(refusals[0] == 0, refusals);
}

#if CAMKES_MCS
seL4_Error seL4_SchedContext_Bind(seL4_CPtr context, seL4_CPtr tcb)
{
    return said("bind", context, tcb);
}

seL4_Error seL4_SchedContext_UnbindObject(seL4_CPtr context, seL4_CPtr tcb)
{
    return said("unbind", context, tcb);
}

seL4_Error seL4_SchedContext_Unbind(seL4_CPtr context)
{
    return said("unbind", context, 0);
}

seL4_SchedContext_Consumed_t seL4_SchedContext_Consumed(seL4_CPtr context)
{
    note("consumed %lu\n", (unsigned long)context);
    const seL4_SchedContext_Consumed_t result = {.consumed = consumed[context]};
    consumed[context] = 0;
    return result;
}

seL4_Error seL4_SchedControl_ConfigureFlags(seL4_CPtr control, seL4_CPtr context, seL4_Time budget,
                                            seL4_Time period, seL4_Word extra, seL4_Word badge,
                                            seL4_Word flags)
{
    note("%lu of %lu, %lu more, badge %lu, flags %lu, by ", (unsigned long)budget,
         (unsigned long)period, (unsigned long)extra, (unsigned long)badge, (unsigned long)flags);
    return said("configure", control, context);
}

seL4_Error seL4_TCB_SetTimeoutEndpoint(seL4_CPtr tcb, seL4_CPtr endpoint)
{
    return said("timeouts", tcb, endpoint);
}
#endif

seL4_Error seL4_TCB_SetPriority(seL4_CPtr tcb, seL4_CPtr authority, seL4_Word priority)
{
    note("by %lu ", (unsigned long)authority);
    return said("priority", tcb, priority);
}

/* No message has capabilities. */
static void need_words(seL4_MessageInfo_t info, seL4_Word length)
{
    const seL4_Word message = seL4_MessageInfo_get_label(info);
    need(info.words[0] == seL4_MessageInfo_new(message, 0, 0, length).words[0], "a longer message");
}

void seL4_Send(seL4_CPtr to, seL4_MessageInfo_t info)
{
    need_words(info, 0);
    (void)said("send", seL4_MessageInfo_get_label(info), to);
}

void seL4_Signal(seL4_CPtr to)
{
    note("signal %lu\n", (unsigned long)to);
}

#if CAMKES_MCS
seL4_MessageInfo_t seL4_Wait(seL4_CPtr from, seL4_Word *badge)
#else
void seL4_Wait(seL4_CPtr from, seL4_Word *badge)
#endif
{
    (void)badge;
    note("wait %lu\n", (unsigned long)from);
    if (ends_after > 0 && --ends_after == 0) {
        longjmp(over, 1);
    }
#if CAMKES_MCS
    return seL4_MessageInfo_new(0, 0, 0, 0);
#endif
}

/* Words of messages are part of the line. */
static void said_words(const char *what, seL4_MessageInfo_t info, seL4_CPtr to)
{
    need_words(info, seL4_MessageInfo_get_length(info));
    note("%s %#lx to %lu", what, (unsigned long)seL4_MessageInfo_get_label(info),
         (unsigned long)to);
    for (seL4_Word i = 0; i < seL4_MessageInfo_get_length(info); i++) {
        note(" %lu", (unsigned long)buffer.msg[i]);
    }
    note("\n");
}

seL4_MessageInfo_t seL4_Call(seL4_CPtr to, seL4_MessageInfo_t info)
{
    said_words("call", info, to);
    return seL4_MessageInfo_new(answer, 0, 0, 0);
}

static seL4_MessageInfo_t next_message(seL4_Word *badge)
{
    if (messages == 0) {
        longjmp(over, 1);
    }
    messages--;
    if (badge != NULL) {
        *badge = script->badge;
    }
    buffer.msg[0] = script->words[0];
    buffer.msg[1] = script->words[1];
    return seL4_MessageInfo_new(script++->label, 0, 0, 2);
}

#if CAMKES_MCS
seL4_MessageInfo_t seL4_Recv(seL4_CPtr from, seL4_Word *badge, seL4_CPtr reply)
{
    note("receive %lu with %lu\n", (unsigned long)from, (unsigned long)reply);
    return next_message(badge);
}

seL4_MessageInfo_t seL4_ReplyRecv(seL4_CPtr from, seL4_MessageInfo_t info, seL4_Word *badge,
                                  seL4_CPtr reply)
{
    said_words("reply", info, reply);
    return seL4_Recv(from, badge, reply);
}

seL4_MessageInfo_t seL4_NBSendRecv(seL4_CPtr to, seL4_MessageInfo_t info, seL4_CPtr from,
                                   seL4_Word *badge, seL4_CPtr reply)
{
    said_words("offer", info, to);
    return seL4_Recv(from, badge, reply);
}
#else
seL4_MessageInfo_t seL4_Recv(seL4_CPtr from, seL4_Word *badge)
{
    note("receive %lu\n", (unsigned long)from);
    return next_message(badge);
}

seL4_MessageInfo_t seL4_ReplyRecv(seL4_CPtr from, seL4_MessageInfo_t info, seL4_Word *badge)
{
    said_words("reply", info, 0);
    return seL4_Recv(from, badge);
}
#endif

void camkes_platform_fault(void)
{
    note("fault\n");
    longjmp(over, 2);
}

void camkes_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    note_line(format, args);
    va_end(args);
    longjmp(over, 2);
}

void camkes_host_point(void)
{
}

/* Whether code ends in a fault, or has no more messages: 2 and 1. */
#define UNTIL_OVER(code)                                                                           \
    do {                                                                                           \
        if (setjmp(over) == 0) {                                                                   \
            code;                                                                                  \
            note("end\n");                                                                         \
        }                                                                                          \
    } while (false)
