/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from system.camkes: declarations for the code of component Shared (system.camkes:9). */
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
void pre_init(void) __attribute__((weak));
void post_init(void) __attribute__((weak));
const char *get_instance_name(void);
int get_instance_affinity(void);
const char *get_thread_name(int thread_id);
void set_putchar(void (*putchar)(int character));
dataport_ptr_t dataport_wrap_ptr(void *pointer);
void *dataport_unwrap_ptr(dataport_ptr_t pointer);

/* provides Store store: system.camkes:9 */
void store__init(void) __attribute__((weak));
camkes_error_handler_t store_register_error_handler(camkes_error_handler_t handler);
seL4_Word store_get_sender_id(void);
int store_put(const char *key, size_t values_sz, const int *values) __attribute__((nonnull));
void store_get(const char *key, char **value, int *count) __attribute__((nonnull));

#ifdef __cplusplus
}
#endif
