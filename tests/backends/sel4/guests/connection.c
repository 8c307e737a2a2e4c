/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The guest has its partner as a PCI device: the first region is for events, the second is the
 * dataport. */
#include <camkes.h>
#include <vmlinux.h>

static const uintptr_t WHERE = 0xDF000000; /* in the window of the virtual PCI bus */

extern dataport_caps_handle_t words_handle;
extern seL4_Word answered_notification_badge(void);

static struct camkes_crossvm_connection partner = {
    .handle = &words_handle,
    .emit_fn = asked_emit,
    .consume_badge = -1,
    .connection_name = "partner",
};

static int answered(vm_t *vm, void *cookie)
{
    (void)cookie;
    consume_connection_event(vm, partner.consume_badge, true);
    return 0;
}

static void connect(vm_t *vm, void *cookie)
{
    (void)cookie;
    partner.consume_badge = answered_notification_badge();
    ZF_LOGF_IF(register_async_event_handler(partner.consume_badge, answered, NULL) != 0,
               "no handler");
    ZF_LOGF_IF(cross_vm_connections_init(vm, WHERE, &partner, 1) != 0, "no connection");
}

DEFINE_MODULE(partner, NULL, connect)
