/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What becomes of a call that a manager refuses. */
#include "managers.h"

#include <camkes/error.h>

void camkes_manager_failed(const char *name)
{
    camkes_fail("the manager of %s refused what thread %s asked it for", name, camkes_self()->name);
}

void camkes_ask_manager(seL4_CPtr manager, seL4_Word label, const char *name)
{
    camkes_ask_manager_here(manager, label, name);
}
