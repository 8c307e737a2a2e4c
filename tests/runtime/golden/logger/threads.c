/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from system.camkes: the threads of address space "logger". */
#include <camkes/thread.h>

extern struct camkes_thread camkes_instance_logger__control;
extern struct camkes_thread camkes_instance_logger__log;
extern struct camkes_thread camkes_instance_logger__done;

struct camkes_thread *const camkes_threads[] = {
    &camkes_instance_logger__control, /* logger */
    &camkes_instance_logger__log, /* logger.log */
    &camkes_instance_logger__done, /* logger.done */
};
const unsigned camkes_thread_count = sizeof camkes_threads / sizeof *camkes_threads;
