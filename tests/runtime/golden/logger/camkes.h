/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from system.camkes: declarations for the code of component Logger (system.camkes:11). */
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

/* Attributes. CAMKES_CONST_ATTR(x) is the value as a constant expression, such as the size of an array. */
#define CAMKES_CONST_ATTR(attribute) attribute##_DEF
#define depth_DEF 4
extern const int depth; /* system.camkes:11 */

/* provides Log log: system.camkes:11 */
void log__init(void) __attribute__((weak));
camkes_error_handler_t log_register_error_handler(camkes_error_handler_t handler);
seL4_Word log_get_sender_id(void);
void log_line(const char *text) __attribute__((nonnull));

/* consumes Done done: system.camkes:11 */
void done__init(void) __attribute__((weak));
camkes_error_handler_t done_register_error_handler(camkes_error_handler_t handler);
void done_wait(void);
int done_poll(void) __attribute__((warn_unused_result));
int done_reg_callback(void (*callback)(void *), void *argument);
seL4_CPtr done_notification(void);

/* has mutex lock: system.camkes:11 */
int lock_lock(void) __attribute__((warn_unused_result));
int lock_unlock(void) __attribute__((warn_unused_result));

#ifdef __cplusplus
}
#endif
