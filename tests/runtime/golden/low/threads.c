/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from system.camkes: the threads of address space "low". */
#include <camkes/thread.h>

extern struct camkes_thread camkes_instance_low__control;

struct camkes_thread *const camkes_threads[] = {
    &camkes_instance_low__control, /* low */
};
const unsigned camkes_thread_count = sizeof camkes_threads / sizeof *camkes_threads;
