/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* A thread that gets one message after the other, and the kernel as it sees it: what it does is in
 * the text of log.h. */
#pragma once

#include <setjmp.h>

#include "log.h"

#include <camkes/error.h>
#include <camkes/label.h>
#include <camkes/message.h>

enum { NONE = 1000 };

static seL4_Error cannot_save;
static seL4_Word from, label, length, word[2];
/* the next message, NONE: the thread ends when it waits for that */
static seL4_Word later_from = NONE, later_label;
static bool received;
static jmp_buf next;
static seL4_IPCBuffer buffer;
static struct camkes_thread self = {.name = "manager"};

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

static const char *meant(seL4_MessageInfo_t reply)
{
    const seL4_Word given = seL4_MessageInfo_get_label(reply);
    return given == CAMKES_MESSAGE_GOOD        ? "good"
           : given == CAMKES_MESSAGE_OPERATION ? "no"
           : given == CAMKES_MESSAGE_BADGE     ? "whose"
           : given == CAMKES_MESSAGE_LABEL     ? "label"
           : given == CAMKES_MESSAGE_PRIORITY  ? "priority"
           : given == CAMKES_MESSAGE_TOO_LONG  ? "long"
           : given == CAMKES_TIME_OVER         ? "over"
                                               : "?";
}

static void note_words(seL4_MessageInfo_t info)
{
    need(seL4_MessageInfo_get_extraCaps(info) == 0 && seL4_MessageInfo_get_capsUnwrapped(info) == 0,
         "capabilities");
    for (seL4_Word i = 0; i < seL4_MessageInfo_get_length(info); i++) {
        note(" %u", (unsigned)seL4_GetMR((int)i));
    }
    note("\n");
}

static seL4_MessageInfo_t receive(seL4_CPtr endpoint, seL4_Word *badge)
{
    need(endpoint == 1, "another endpoint");
    if (from == NONE) {
        longjmp(next, 1);
    }
    *badge = from;
    const seL4_Word given = label;
    from = later_from;
    label = later_label;
    later_from = NONE;
    received = true;
    seL4_SetMR(0, word[0]);
    seL4_SetMR(1, word[1]);
    return seL4_MessageInfo_new(given, 0, 0, length);
}

#if CAMKES_MCS
seL4_MessageInfo_t seL4_Recv(seL4_CPtr endpoint, seL4_Word *badge, seL4_CPtr reply)
{
    need(reply == self.reply, "another reply");
#else
seL4_MessageInfo_t seL4_Recv(seL4_CPtr endpoint, seL4_Word *badge)
{
#endif
    if (received) {
        note("receive\n");
    }
    return receive(endpoint, badge);
}

#if CAMKES_MCS
seL4_MessageInfo_t seL4_ReplyRecv(seL4_CPtr endpoint, seL4_MessageInfo_t info, seL4_Word *badge,
                                  seL4_CPtr reply)
{
    need(reply == self.reply, "another reply");
#else
seL4_MessageInfo_t seL4_ReplyRecv(seL4_CPtr endpoint, seL4_MessageInfo_t info, seL4_Word *badge)
{
#endif
    note("reply %s", meant(info));
    note_words(info);
    return receive(endpoint, badge);
}

void seL4_Send(seL4_CPtr slot, seL4_MessageInfo_t info)
{
    note("wake %u: %s", (unsigned)slot, meant(info));
    note_words(info);
}

#if !CAMKES_MCS
seL4_Error camkes_platform_save_caller(const seL4_CPtr *slot)
{
    if (cannot_save == seL4_NoError) {
        note("save %u\n", (unsigned)*slot);
    }
    return cannot_save;
}
#endif

void camkes_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    note_line(format, args);
    va_end(args);
    longjmp(next, 1);
}

/* What another thread does at the next point at which it can execute. */
static void (*meanwhile)(void);

void camkes_host_point(void)
{
    void (*const act)(void) = meanwhile;
    meanwhile = NULL;
    if (act != NULL) {
        act();
    }
}

/* One message, and what comes of it. The manager ends with the next one that it waits for. */
static void message(seL4_Word badge, seL4_Word given, const char *wanted)
{
    from = badge;
    label = given;
    received = false;
    camkes_set_self(&self);
    if (setjmp(next) == 0) {
        self.start(&self);
    }
    need_done(wanted);
}
