/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from system.camkes: the threads of address space "shared". */
#include <camkes/thread.h>

extern struct camkes_thread camkes_instance_shared__control;
extern struct camkes_thread camkes_instance_shared__store__for_high;
extern struct camkes_thread camkes_instance_shared__store__for_low;
extern struct camkes_thread camkes_instance_shared__store__manager;

struct camkes_thread *const camkes_threads[] = {
    &camkes_instance_shared__control, /* shared */
    &camkes_instance_shared__store__for_high, /* shared.store@high */
    &camkes_instance_shared__store__for_low, /* shared.store@low */
    &camkes_instance_shared__store__manager, /* shared.store!manager */
};
const unsigned camkes_thread_count = sizeof camkes_threads / sizeof *camkes_threads;
