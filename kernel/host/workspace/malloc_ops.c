/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The heap of a component as libraries of an seL4 workspace ask for it. Compiled only into
 * components that use queues of a workspace: its header declares what this defines.
 */
#include <errno.h>
#include <platsupport/io.h>
#include <stdlib.h>

int camkes_ps_malloc_ops(ps_malloc_ops_t *ops);

static int take(void *cookie, size_t size, void **result)
{
    (void)cookie;
    *result = malloc(size);
    return *result ? 0 : ENOMEM;
}

static int take_zeros(void *cookie, size_t count, size_t size, void **result)
{
    (void)cookie;
    *result = calloc(count, size);
    return *result ? 0 : ENOMEM;
}

static int give_back(void *cookie, size_t size, void *block)
{
    (void)cookie;
    (void)size;
    free(block);
    return 0;
}

int camkes_ps_malloc_ops(ps_malloc_ops_t *ops)
{
    if (!ops) {
        return EINVAL;
    }
    *ops = (ps_malloc_ops_t){.malloc = take, .calloc = take_zeros, .free = give_back};
    return 0;
}
