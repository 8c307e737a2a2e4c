/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated from /*? me.source ?*/: declarations for the code of component /*? me.component ?*/ (/*? me.declared ?*/). */
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
/*- for include in me.system_includes -*/
#include /*? include ?*/
/*- endfor -*/

#ifdef __cplusplus
extern "C" {
#endif

/* The component. */
/*- if me.start.run -*/
int run(void);
/*- endif -*/
void pre_init(void) __attribute__((weak));
void post_init(void) __attribute__((weak));
const char *get_instance_name(void);
int get_instance_affinity(void);
const char *get_thread_name(int thread_id);
/*- if me.sets_criticality -*/
/* Sets the criticality of the system, up to the highest one that a task has. Without effect on a kernel that is
 * not an MCS kernel. */
void camkes_set_criticality(unsigned level);
/*- endif -*/
void set_putchar(void (*putchar)(int character));
dataport_ptr_t dataport_wrap_ptr(void *pointer);
void *dataport_unwrap_ptr(dataport_ptr_t pointer);
/*- if me.attributes -*/

/* Attributes. CAMKES_CONST_ATTR(x) is the value as a constant expression, such as the size of an array. */
#define CAMKES_CONST_ATTR(attribute) attribute##_DEF
/*- for struct in me.structs -*/
struct /*? struct.name ?*/ {
/*- for member in struct.members -*/
    /*? member ?*/;
/*- endfor -*/
};
/*- endfor -*/
/*- for attribute in me.attributes -*/
/*- if attribute.macro -*/
#define /*? attribute.name ?*/_DEF /*? attribute.macro | join(' \\\n    ') ?*/
/*- endif -*/
extern /*? attribute.declaration ?*/; /* /*? attribute.origin ?*/ */
/*- endfor -*/
/*- endif -*/
/*- for interface in me.interfaces -*/

/* /*? interface.kind ?*/ /*? interface.type ?*/ /*? interface.name ?*/: /*? interface.origin ?*/ */
/*- set weak = ' __attribute__((weak))' if interface.optional else '' -*/
void /*? interface.name ?*/__init(void) __attribute__((weak));
camkes_error_handler_t /*? interface.name ?*/_register_error_handler(camkes_error_handler_t handler);
/*- if interface.kind == 'provides' -*/
seL4_Word /*? interface.name ?*/_get_sender_id(void);
/*- endif -*/
/*- if interface.suspends -*/
/* Lets the task with this id (camkes_requestor()) go on whose request was suspended. False: it was not. */
bool /*? interface.name ?*/__resume(int task);
/*- endif -*/
/*- for method in interface.methods -*/
/*? method.prototype ?*//*? ' __attribute__((nonnull))' if method.pointers ?*//*? weak ?*/;
/*- endfor -*/
/*- if interface.kind == 'emits' -*/
void /*? interface.name ?*/_emit(void);
/*- elif interface.kind == 'consumes' -*/
void /*? interface.name ?*/_wait(void)/*? weak ?*/;
/*- if interface.helped -*/
/* Until `time`, in ns as camkes_now() returns it, at the latest: then it returns -1. */
int /*? interface.name ?*/_wait_until(uint64_t time) __attribute__((warn_unused_result))/*? weak ?*/;
/*- endif -*/
int /*? interface.name ?*/_poll(void) __attribute__((warn_unused_result))/*? weak ?*/;
int /*? interface.name ?*/_reg_callback(void (*callback)(void *), void *argument)/*? weak ?*/;
seL4_CPtr /*? interface.name ?*/_notification(void)/*? weak ?*/;
/*- endif -*/
/*- if interface.kind == 'consumes' and interface.rendered -*/
#ifndef CAMKES_KERNEL_HOST
/* Interrupts and registers of the device. */
int /*? interface.name ?*/_acknowledge(void)/*? weak ?*/;
void /*? interface.name ?*/_handle(void) __attribute__((weak));
int /*? interface.name ?*/_irq_acknowledge(ps_irq_t *irq)/*? weak ?*/;
void /*? interface.name ?*/_irq_handle(ps_irq_t *irq) __attribute__((weak));
/*- for number in range(interface.registers) -*/
extern void */*? interface.name ?*/_/*? number ?*/;
/*- endfor -*/
#endif
/*- endif -*/
/*- endfor -*/
/*- for timer in me.timers -*/

/* The notification that timers of /*? timer.interface ?*/ signal. */
seL4_CPtr /*? timer.interface ?*/_notification(void);
void /*? timer.interface ?*/_wait(void);
int /*? timer.interface ?*/_poll(void) __attribute__((warn_unused_result));
/*- endfor -*/
/*- for port in me.dataports -*/

/* dataport /*? port.interface ?*/: /*? port.origin ?*/ */
/*- set weak = ' __attribute__((weak))' if port.optional else '' -*/
extern /*? port.type ?*/ */*? '' if port.rendered else 'const ' ?*//*? port.interface ?*//*? weak ?*/;
#define /*? port.interface ?*/_size /*? port.size ?*/
static inline size_t /*? port.interface ?*/_get_size(void)
{
    return /*? port.size ?*/;
}
#define /*? port.interface ?*/_acquire() CAMKES_ACQUIRE()
#define /*? port.interface ?*/_release() CAMKES_RELEASE()
/*- set weak = ' __attribute__((weak))' if port.optional or port.rendered else '' -*/
/*- if port.rendered -*/
int /*? port.interface ?*/_flush_cache(size_t start_offset, size_t size, dma_cache_op_t cache_op)
    __attribute__((weak));
static inline int /*? port.interface ?*/_cache_op(size_t start_offset, size_t size, dma_cache_op_t cache_op)
{
    return /*? port.interface ?*/_flush_cache ? /*? port.interface ?*/_flush_cache(start_offset, size, cache_op) : 0;
}
/*- else -*/
static inline int /*? port.interface ?*/_cache_op(size_t start_offset, size_t size, int cache_op)
{
    return camkes_memory_cache_op(/*? port.size ?*/, start_offset, size, cache_op);
}
/*- endif -*/
int /*? port.interface ?*/_wrap_ptr(dataport_ptr_t *pointer, void *address)/*? weak ?*/;
void */*? port.interface ?*/_unwrap_ptr(dataport_ptr_t *pointer)/*? weak ?*/;
/*- endfor -*/
/*- for sync in me.syncs -*/

/* has /*? sync.kind ?*/ /*? sync.name ?*/: /*? sync.origin ?*/ */
/*- if sync.kind == 'condition' -*/
void /*? sync.name ?*/_wait(void);
/* Until `time`, in ns as camkes_now() returns it, at the latest: then it returns -1. */
int /*? sync.name ?*/_wait_until(uint64_t time) __attribute__((warn_unused_result));
void /*? sync.name ?*/_signal(void);
void /*? sync.name ?*/_broadcast(void);
/*- elif sync.kind == 'mutex' -*/
int /*? sync.name ?*/_lock(void) __attribute__((warn_unused_result));
int /*? sync.name ?*/_unlock(void) __attribute__((warn_unused_result));
/*- else -*/
int /*? sync.name ?*/_wait(void) __attribute__((warn_unused_result));
/*- if sync.helped -*/
/* Until `time`, in ns as camkes_now() returns it, at the latest: then it returns -1. */
int /*? sync.name ?*/_wait_until(uint64_t time) __attribute__((warn_unused_result));
/*- endif -*/
/*- if sync.kind == 'semaphore' -*/
int /*? sync.name ?*/_trywait(void) __attribute__((warn_unused_result));
/*- endif -*/
int /*? sync.name ?*/_post(void) __attribute__((warn_unused_result));
/*- endif -*/
/*- endfor -*/

#ifdef __cplusplus
}
#endif
/*- for header in me.headers -*/
#include "/*? header ?*/"
/*- endfor -*/
