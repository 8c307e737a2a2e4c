/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Threads of an address space, by number. */
#include <camkes/thread.h>

unsigned camkes_thread_index(const struct camkes_thread *thread)
{
    unsigned index = 0;
    /* at most space_threads times: it is one of them */
    while (camkes_threads[index] != thread) {
        index++;
    }
    return index;
}

/* Declared in camkes.h. */
const char *get_thread_name(int thread_id);

const char *get_thread_name(int thread_id)
{
    if (thread_id < 1 || (unsigned)thread_id > camkes_thread_count) {
        return "no thread of this address space";
    }
    return camkes_threads[thread_id - 1]->name;
}
