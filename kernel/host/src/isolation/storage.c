/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Thread-local variables of components. The threads of a process are one to the C library, so their
 * variables share a place, and a switch changes what is in it. Costs nothing where there are none.
 */
#include "entry/entry.h"
#include "record/output.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

extern void *__tls_get_addr(size_t *where);

/* `image` is what dlopen returned; called when nothing of it has run but its constructors. */
void storage_find(struct space *space, void *image, size_t size)
{
    size_t where[2] = {0, 0};
    if (size > 0 && dlinfo(image, RTLD_DI_TLS_MODID, where) == 0 && where[0] != 0) {
        space->storage = __tls_get_addr(where);
        space->storage_size = size;
    }
}

void storage_create(struct thread *thread)
{
    size_t size = thread->space->storage_size;
    if (size > 0) {
        thread->storage = malloc(size);
        if (!thread->storage) {
            give_up(3, "no memory for thread-local variables");
        }
        memcpy(thread->storage, thread->space->storage, size);
    }
}

/* Either may be NULL: the runner's own stack. */
void storage_switch(struct thread *from, struct thread *to)
{
    if (from && from->storage) {
        memcpy(from->storage, from->space->storage, from->space->storage_size);
    }
    if (to && to->storage) {
        memcpy(to->space->storage, to->storage, to->space->storage_size);
    }
}
