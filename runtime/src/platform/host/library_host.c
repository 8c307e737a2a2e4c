/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Functions that component code gets from camkes-tool's libraries on seL4. */
#include <camkes/fault.h>
#include <camkes/platform.h>
#include <camkes/tls.h>
#include <camkes/vma.h>
#include <stdio.h>

/* malloc() is that of the workstation. */
extern char *morecore_area;
extern size_t morecore_size;
char *morecore_area __attribute__((weak));
size_t morecore_size __attribute__((weak));

/* Of the library that counts what is executed, in images that are linked with it. */
void __gcov_dump(void) __attribute__((weak));
void camkes_write_coverage(void);

void camkes_write_coverage(void)
{
    if (__gcov_dump != NULL) { /* not covered: only in images that count */
        __gcov_dump();
    }
}

const struct camkes_vma camkes_vmas[1] = {{.name = ""}};
const size_t camkes_vmas_size = 0;

camkes_tls_t *camkes_get_tls(void)
{
    static _Thread_local camkes_tls_t tls;
    if (tls.thread_index == 0) {
        const struct camkes_thread *self = camkes_self();
        tls.tcb_cap = self->tcb;
        tls.thread_index = camkes_thread_index(self) + 1;
    }
    return &tls;
}

int camkes_declare_reply_cap(seL4_CPtr slot)
{
    camkes_tls_t *tls = camkes_get_tls();
    if (tls->reply_cap_in_tcb) {
        return -1;
    }
    tls->reply_cap_slot = slot;
    tls->reply_cap_in_tcb = true;
    tls->reply_cap_save_error = seL4_NoError;
    return 0;
}

/* An MCS kernel keeps the reply in a reply object, where another call does not overwrite it. */
void camkes_protect_reply_cap(void)
{
#if !defined(CONFIG_KERNEL_MCS)
    camkes_tls_t *tls = camkes_get_tls();
    if (tls->reply_cap_in_tcb) {
        tls->reply_cap_in_tcb = false;
        tls->reply_cap_save_error =
            seL4_CNode_SaveCaller(tls->cnode_cap, tls->reply_cap_slot, seL4_WordBits);
    }
#endif
}

seL4_Error camkes_unprotect_reply_cap(void)
{
    camkes_tls_t *tls = camkes_get_tls();
    tls->reply_cap_in_tcb = false;
    tls->reply_cap_slot = seL4_CapNull;
    return tls->reply_cap_save_error;
}

static const char *region_of(uintptr_t address, const camkes_memory_region_t *region)
{
    for (; region != NULL && region->name != NULL; region++) {
        if (address >= region->start && address < region->end) {
            return region->name;
        }
    }
    return "no known region";
}

void camkes_show_fault(seL4_MessageInfo_t info, seL4_CPtr thread, const char *name, bool tcb_caps,
                       const camkes_memory_region_t *regions)
{
    (void)tcb_caps; /* registers cannot be read here */
    (void)printf("FAULT HANDLER: %s: thread %lu: ", name, (unsigned long)thread);
    if (seL4_isVMFault_tag(info)) {
        const seL4_Word address = seL4_GetMR(seL4_VMFault_Addr);
        (void)printf("invalid %s at 0x%lx (%s), pc 0x%lx\n",
                     seL4_GetMR(seL4_VMFault_PrefetchFault) ? "jump" : "memory access",
                     (unsigned long)address, region_of(address, regions),
                     (unsigned long)seL4_GetMR(seL4_VMFault_IP));
    } else if (seL4_isCapFault_tag(info)) {
        (void)printf("invalid capability %lu, pc 0x%lx\n",
                     (unsigned long)seL4_GetMR(seL4_CapFault_Addr),
                     (unsigned long)seL4_GetMR(seL4_CapFault_IP));
    } else {
        (void)printf("fault of kind %lu\n", (unsigned long)seL4_MessageInfo_get_label(info));
    }
}
