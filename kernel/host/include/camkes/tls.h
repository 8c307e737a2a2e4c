/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Data of a thread about itself, and the reply capability that it may have to keep. */
#pragma once

#include <sel4/sel4.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct camkes_tls_t {
    seL4_CPtr tcb_cap;     /* 0: not held */
    seL4_CPtr sc_cap;      /* 0: there are no scheduling contexts here */
    unsigned thread_index; /* what get_thread_name() takes */
    seL4_CPtr cnode_cap;   /* 0, which names the own CSpace here */
    seL4_CPtr reply_cap_slot;
    bool reply_cap_in_tcb;
    seL4_Error reply_cap_save_error;
} camkes_tls_t;

/* The running thread's. */
camkes_tls_t *camkes_get_tls(void);

/*
 * For who serves a request and waits for messages meanwhile: declare an empty slot when the request
 * is received, protect before a wait that could lose the reply capability, and unprotect to find it
 * in the slot. Protecting twice, or without a declaration, does nothing.
 */
int camkes_declare_reply_cap(seL4_CPtr slot); /* not 0: one is declared already */
void camkes_protect_reply_cap(void);
seL4_Error camkes_unprotect_reply_cap(void); /* of the attempt to save it */

#ifdef __cplusplus
}
#endif
