/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* What the host kernel has and seL4 has not: virtual time, trace annotations, a console. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <sel4/sel4.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Consumes processor time; can be preempted at any instant of it. */
CAMKES_KERNEL_API void camkes_host_work(uint64_t ns);
/* The same for a time between two bounds; which one is a choice, the first of them is `hi`. */
CAMKES_KERNEL_API void camkes_host_work_between(uint64_t lo, uint64_t hi);
/* Virtual nanoseconds since boot. */
CAMKES_KERNEL_API uint64_t camkes_host_now(void);
/* The status with which the running thread is going to end; 0 if it has none. */
CAMKES_KERNEL_API void camkes_host_exit_status(int status);

/*
 * Writes a trace record of the running thread; `other` is a thread's number or 65535, `kind` is one
 * of the runtime's (33 and up), with its `n` arguments. A record that the runtime of this address
 * space does not write, by the lines `about` of the boot table, is a fault and is left out.
 */
CAMKES_KERNEL_API void camkes_host_annotate(uint16_t kind, uint16_t other, unsigned n,
                                            const uint64_t *args);
/* A place between two steps of a protocol where a preemption may be tried. Usually nothing. */
CAMKES_KERNEL_API void camkes_host_point(void);

/* First expiry at the virtual time `first`, then every `period` (0: once). 0, 0 stops the timer. */
CAMKES_KERNEL_API void camkes_host_timer_arm(seL4_CPtr timer, uint64_t first, uint64_t period);
/* How often it has expired since it was armed. */
CAMKES_KERNEL_API uint64_t camkes_host_timer_expirations(seL4_CPtr timer);

/*
 * A thread of the address space, not the running one, goes on with `entry` on an empty stack,
 * whatever it waited for. It must not return.
 */
CAMKES_KERNEL_API void camkes_host_restart(seL4_CPtr tcb, void (*entry)(void));
/* One that got the reply to a Call while its budget was used up: it keeps that, and does not make
 * the Call again when its timeout fault is answered. Returns whether it is such a thread. */
CAMKES_KERNEL_API bool camkes_host_keep_reply(seL4_CPtr tcb);

/* The console. Standard output and error of a component end here by themselves, line by line. */
CAMKES_KERNEL_API void camkes_host_write(const char *text, size_t n);

/* What comes from outside: a byte of it, -1 after its end. */
enum camkes_input { CAMKES_INPUT_CONSOLE, CAMKES_INPUT_NETWORK, CAMKES_INPUTS };
CAMKES_KERNEL_API int camkes_host_input(enum camkes_input from, size_t place);
/* Sends to the network, at most CAMKES_SENT_AT_ONCE bytes. */
enum { CAMKES_SENT_AT_ONCE = 2048 };
CAMKES_KERNEL_API void camkes_host_send(const void *bytes, size_t n);

/* The entry of an image: thread number `index` of its address space. Written by the generator. */
CAMKES_KERNEL_API void _camkes_thread(unsigned index);

#ifdef __cplusplus
}
#endif
