/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from system.camkes: declarations for the code of component Client (system.camkes:10). */
#pragma once

#include <camkes/dataport.h>
#include <camkes/error.h>
#include <camkes/realtime.h>
#include <sel4/sel4.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <utils/util.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The component. */
int run(void);
void pre_init(void) __attribute__((weak));
void post_init(void) __attribute__((weak));
const char *get_instance_name(void);
int get_instance_affinity(void);
const char *get_thread_name(int thread_id);
void set_putchar(void (*putchar)(int character));
dataport_ptr_t dataport_wrap_ptr(void *pointer);
void *dataport_unwrap_ptr(dataport_ptr_t pointer);

/* uses Log log: system.camkes:10 */
void log__init(void) __attribute__((weak));
camkes_error_handler_t log_register_error_handler(camkes_error_handler_t handler);
void log_line(const char *text) __attribute__((nonnull));

/* emits Done done: system.camkes:10 */
void done__init(void) __attribute__((weak));
camkes_error_handler_t done_register_error_handler(camkes_error_handler_t handler);
void done_emit(void);

#ifdef __cplusplus
}
#endif
