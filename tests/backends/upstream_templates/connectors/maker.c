/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
#include <camkes.h>
#include <simple/simple.h>
#include <stdio.h>

void camkes_make_simple(simple_t *simple);

/* Makes endpoints in the slots after the last that it was given, until there are no more. */
int run(void)
{
    simple_t simple;
    camkes_make_simple(&simple);
    size_t bits = 0;
    uintptr_t paddr = 0;
    bool device = false;
    const seL4_CPtr untyped = simple_get_nth_untyped(&simple, 0, &bits, &paddr, &device);
    const seL4_CPtr cnode = simple_get_init_cap(&simple, seL4_CapInitThreadCNode);
    const seL4_CPtr last = simple_get_nth_cap(&simple, simple_get_cap_count(&simple) - 1);
    const seL4_CPtr end = (seL4_CPtr)1 << simple_get_cnode_size_bits(&simple);
    int wrong = bits != 14 || paddr == 0 || end <= last + 1;
    for (seL4_CPtr slot = last + 1; slot < end; slot++) {
        wrong |= seL4_Untyped_Retype(untyped, seL4_EndpointObject, 0, cnode, 0, 0, slot, 1) != 0;
    }
    wrong |= seL4_Untyped_Retype(untyped, seL4_EndpointObject, 0, cnode, 0, 0, end, 1) == 0;
    printf("connectors: objects %s\n", wrong ? "wrong" : "made");
    return 0;
}
