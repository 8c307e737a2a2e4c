/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* An address space on seL4: the generated table of its threads. */
#pragma once

#include <camkes/pid.h>
#include <camkes/vma.h>
#include <sel4/sel4.h>
#include <sel4runtime/gen_config.h>
#include <stddef.h>

#define CAMKES_SEL4_PAGE 4096

/* A thread's stack and IPC buffer. The pages before and after each are guard pages. */
#define CAMKES_SEL4_THREAD(index, bytes)                                                           \
    char _camkes_stack_##index[(bytes) + 2 * CAMKES_SEL4_PAGE]                                     \
        __attribute__((aligned(CAMKES_SEL4_PAGE), used));                                          \
    char _camkes_ipc_buffer_##index[3 * CAMKES_SEL4_PAGE]                                          \
        __attribute__((aligned(CAMKES_SEL4_PAGE), used));

/* Thread-local data of so many threads. */
#define CAMKES_SEL4_TLS(threads)                                                                   \
    static char _camkes_tls_areas[threads][CONFIG_SEL4RUNTIME_STATIC_TLS]                          \
        __attribute__((aligned(64)));

#define CAMKES_SEL4_THREAD_RECORD(index, bytes, of, called, slot, handles_faults, heap_index,      \
                                  in_traces)                                                       \
    {                                                                                              \
        .instance = (of),                                                                          \
        .name = (called),                                                                          \
        .stack = _camkes_stack_##index + CAMKES_SEL4_PAGE,                                         \
        .stack_size = (bytes),                                                                     \
        .ipc_buffer = _camkes_ipc_buffer_##index + CAMKES_SEL4_PAGE,                               \
        .tcb = (slot),                                                                             \
        .fault_handler = (handles_faults),                                                         \
        .heap = (heap_index),                                                                      \
        .number = (in_traces),                                                                     \
    }

/* The memory map that libsel4camkes uses for mincore() and similar calls. */
#define CAMKES_SEL4_AREA(from, to, may_read, may_write, may_execute, called)                       \
    {                                                                                              \
        .start = (void *)(from),                                                                   \
        .end = (void *)(to),                                                                       \
        .read = (may_read),                                                                        \
        .write = (may_write),                                                                      \
        .execute = (may_execute),                                                                  \
        .cached = true,                                                                            \
        .name = (called),                                                                          \
    },

extern char __executable_start[];
extern char __etext[];
extern char __preinit_array_start[];
extern char _edata[];
extern char __bss_start[];
extern char _end[];

#define CAMKES_SEL4_SECTIONS                                                                       \
    CAMKES_SEL4_AREA(__executable_start, __etext, true, false, true, ".text")                      \
    CAMKES_SEL4_AREA(__etext, __preinit_array_start, true, false, false, ".rodata")                \
    CAMKES_SEL4_AREA(__preinit_array_start, _edata, true, true, false, ".data")                    \
    CAMKES_SEL4_AREA(__bss_start, _end, true, true, false, ".bss")

#define CAMKES_SEL4_THREAD_AREAS(index, bytes)                                                     \
    CAMKES_SEL4_AREA(_camkes_stack_##index, _camkes_stack_##index + CAMKES_SEL4_PAGE, false,       \
                     false, false, "guard below a stack")                                          \
    CAMKES_SEL4_AREA(_camkes_stack_##index + CAMKES_SEL4_PAGE + (bytes),                           \
                     _camkes_stack_##index + 2 * CAMKES_SEL4_PAGE + (bytes), false, false, false,  \
                     "guard above a stack")

struct camkes_sel4_thread {
    const char *instance;
    const char *name;
    char *stack;
    size_t stack_size;
    char *ipc_buffer;
    seL4_CPtr tcb;
    int fault_handler;
    unsigned heap; /* of its instance, if instances have separate heaps */
    uint16_t number;
};

struct camkes_sel4_image {
    const char *name;
    const struct camkes_sel4_thread *threads;
    unsigned thread_count;
    seL4_CPtr cnode;  /* the CSpace of the address space, 0: no capability to it */
    seL4_CPtr faults; /* endpoint for the faults of the other threads, 0: none */
    char *heap;
    size_t heap_size;
    /* For the threads that do not initialise the C library, in the order in which they begin. */
    char *tls;
};

extern const struct camkes_sel4_image camkes_sel4_image;

/* Waits for faults; prints the thread and the address of each. */
_Noreturn void camkes_sel4_handle_faults(void);
