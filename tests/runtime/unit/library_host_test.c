/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: RT-13 */
/* What components get from camkes-tool's libraries on seL4: reply capabilities that are kept, and
 * texts of faults. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define printf print
#include "../../../runtime/src/platform/host/library_host.c"
#undef printf

static seL4_IPCBuffer buffer;

seL4_IPCBuffer *seL4_GetIPCBuffer(void)
{
    return &buffer;
}

unsigned camkes_thread_index(const struct camkes_thread *thread)
{
    return thread->number;
}

static void need(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

static unsigned saved;
static seL4_Error answer;

seL4_Error seL4_CNode_SaveCaller(seL4_CNode service, seL4_Word index, uint8_t depth)
{
    need(service == 0 && index == 17 && depth == seL4_WordBits, "where a capability is saved");
    saved++;
    return answer;
}

static void reply_capabilities(void)
{
    static struct camkes_thread self = {.tcb = 5, .number = 6};
    camkes_set_self(&self);
    const camkes_tls_t *tls = camkes_get_tls();
    need(tls->tcb_cap == 5 && tls->thread_index == 7, "the thread");
    self.tcb = 8;
    need(camkes_get_tls()->tcb_cap == 5, "looked up again");
    camkes_protect_reply_cap();
    need(saved == 0, "saved what was not declared");
    for (int error = 1; error >= 0; error--) {
        answer = (seL4_Error)error;
        saved = 0;
        need(camkes_declare_reply_cap(17) == 0, "declared");
        need(camkes_declare_reply_cap(18) != 0, "declared twice");
        camkes_protect_reply_cap();
        camkes_protect_reply_cap();
        need(saved == 1, "saved once");
        need(camkes_declare_reply_cap(17) == 0, "declared the next");
        need(camkes_unprotect_reply_cap() == seL4_NoError, "an error of the one before");
        need(tls->reply_cap_slot == seL4_CapNull, "the slot is empty");
        need(camkes_declare_reply_cap(17) == 0, "declared again");
        camkes_protect_reply_cap();
        need((int)camkes_unprotect_reply_cap() == error, "the result");
    }
}

static char text[300];

static int print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const size_t length = strlen(text);
    const int added = vsnprintf(text + length, sizeof text - length, format, args);
    va_end(args);
    return added;
}

static void need_shown(seL4_Word label, const camkes_memory_region_t *regions, const char *wanted)
{
    text[0] = 0;
    camkes_show_fault(seL4_MessageInfo_new(label, 0, 0, 0), 3, "name", true, regions);
    if (strcmp(text, wanted) != 0) {
        fprintf(stderr, "%s instead of %s", text, wanted);
        exit(1);
    }
}

static void faults(void)
{
    static const camkes_memory_region_t regions[] = {
        {.start = 0x100, .end = 0x200, .name = "first"},
        {.start = 0x200, .end = 0x300, .name = "second"},
        {.start = 0, .end = 0xffff, .name = NULL},
    };
    static const struct {
        uintptr_t address;
        const char *region;
    } known[] = {{0xff, "no known region"},
                 {0x100, "first"},
                 {0x1ff, "first"},
                 {0x200, "second"},
                 {0x300, "no known region"}};
    char wanted[300];
    buffer.msg[seL4_VMFault_IP] = 0xabc;
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
        buffer.msg[seL4_VMFault_Addr] = known[i].address;
        buffer.msg[seL4_VMFault_PrefetchFault] = i % 2;
        (void)snprintf(wanted, sizeof wanted,
                       "FAULT HANDLER: name: thread 3: invalid %s at 0x%lx (%s), pc 0xabc\n",
                       i % 2 ? "jump" : "memory access", (unsigned long)known[i].address,
                       known[i].region);
        need_shown(seL4_Fault_VMFault, regions, wanted);
    }
    buffer.msg[seL4_VMFault_PrefetchFault] = 0;
    need_shown(seL4_Fault_VMFault, NULL,
               "FAULT HANDLER: name: thread 3: invalid memory "
               "access at 0x300 (no known region), pc 0xabc\n");
    buffer.msg[seL4_CapFault_IP] = 0xdef;
    buffer.msg[seL4_CapFault_Addr] = 12;
    need_shown(seL4_Fault_CapFault, NULL,
               "FAULT HANDLER: name: thread 3: invalid capability 12, pc 0xdef\n");
    need_shown(seL4_Fault_UserException, NULL, "FAULT HANDLER: name: thread 3: fault of kind 3\n");
}

int main(void)
{
    reply_capabilities();
    faults();
    camkes_write_coverage(); /* nothing is counted here */
    printf("good\n");
    return 0;
}
