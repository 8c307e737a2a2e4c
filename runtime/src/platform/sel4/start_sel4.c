/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Start-up on seL4, from the first instruction of a thread to `_camkes_thread`: initialises the C
 * library once per address space and thread-local storage for each thread.
 *
 * The loader makes all threads of a system runnable at once, so any thread of an address space can
 * be the first to run. That one initialises the library, and the others yield to it. It has the
 * highest priority in the address space, so only threads of the same priority can run before it is
 * done.
 */
/* What a thread calls before it has thread-local data cannot be recorded. */
#define CAMKES_SEL4_CALLS_NOT_RECORDED
#include "image_sel4.h"
#include "trace_sel4.h"

#include <autoconf.h>
#include <camkes/platform.h>
#include <sel4camkes/gen_config.h>
#include <sel4runtime/gen_config.h>

#include <arch_stdio.h>
#include <camkes/syscalls.h>
#include <camkes/tls.h>
#include <sel4runtime.h>
#include <sel4runtime/start.h>
#include <stdatomic.h>

/* Called by upstream's start code of the architecture, with the argument set in the TCB. */
void _camkes_start_c(int index);

/* Defined in start.c. */
void _camkes_thread(unsigned index);

/* The start code of the C library refers to main(); it is not used. */
int main(void);
int main(void)
{
    return 0;
}

/* From the linker script. */
extern char _tdata_start[];
extern char _tdata_end[];
extern char _tbss_end[];

/* Defined by the C library. */
long sel4_vsyscall(long number, ...);
void *__copy_tls(unsigned char *memory);
int __init_tp(void *record);
extern char *morecore_area;
extern size_t morecore_size;

/* State of the C library of this address space. */
enum { UNTOUCHED, UNDER_WAY, DONE };
static _Atomic int library = UNTOUCHED;

static void (*user_putchar)(int character);

void set_putchar(void (*putchar)(int character));
void set_putchar(void (*putchar)(int character))
{
    user_putchar = putchar;
}

void camkes_platform_write(const char *text, size_t length)
{
#if defined(CAMKES_TRACE_SEL4)
    /* not before the C library is initialised */
    if (atomic_load(&library) == DONE) {
        camkes_sel4_trace_text(text, length);
        return;
    }
#endif
    for (size_t i = 0; i < length; i++) {
        if (user_putchar != NULL) {
            user_putchar(text[i]);
        } else {
#ifdef CONFIG_PRINTING
            seL4_DebugPutChar(text[i]);
#endif
        }
    }
}

static size_t write_stdio(void *data, size_t count)
{
    camkes_platform_write(data, count);
    return count;
}

static void CONSTRUCTOR(CAMKES_SYSCALL_CONSTRUCTOR_PRIORITY) before_constructors(void)
{
    camkes_install_syscalls();
    morecore_area = camkes_sel4_image.heap;
    morecore_size = camkes_sel4_image.heap_size;
}

/* The initial stack of a process: musl expects the auxiliary vector after the environment.
 */
struct process_start {
    const char *arguments[2];
    const char *environment[2];
    auxv_t vector[8];
};

static void set_library_up(const struct camkes_sel4_thread *self)
{
    static Elf_Phdr tls;
    tls.p_type = PT_TLS;
    tls.p_vaddr = (Elf_Addr)(uintptr_t)_tdata_start;
    tls.p_filesz = (size_t)(_tdata_end - _tdata_start);
    tls.p_memsz = (size_t)(_tbss_end - _tdata_start);
    tls.p_align = sizeof(long);
    static struct process_start start = {
        .arguments = {"camkes"},
        .environment = {"seL4=1"},
        .vector =
            {
                {.a_type = AT_PHENT, .a_un.a_val = sizeof(Elf_Phdr)},
                {.a_type = AT_PHNUM, .a_un.a_val = 1},
                {.a_type = AT_PHDR, .a_un.a_ptr = &tls},
                {.a_type = AT_PAGESZ, .a_un.a_val = CAMKES_SEL4_PAGE},
                {.a_type = AT_SYSINFO, .a_un.a_ptr = (void *)sel4_vsyscall},
            },
    };
    start.vector[5] = (auxv_t){.a_type = AT_SEL4_TCB, .a_un.a_val = (long)self->tcb};
    start.vector[6] = (auxv_t){.a_type = AT_SEL4_IPC_BUFFER_PTR, .a_un.a_ptr = self->ipc_buffer};
    sel4muslcsys_register_stdio_write_fn(write_stdio);
    __sel4runtime_load_env(1, start.arguments, start.environment, start.vector);
}

/* More than the C library's record of a thread takes, where it sets the thread pointer itself. */
#if defined(__aarch64__) || defined(__riscv)
enum { RECORD_SIZE = 1024 };
#else
enum { RECORD_SIZE = 0 };
#endif

/*
 * Sets up the thread-local data of a thread that did not initialise the library. On AArch64 and
 * RISC-V the C library's record of a thread, with its errno and its locale, is below that data,
 * where sel4runtime leaves no memory for it: there the library makes both, as for the first thread.
 */
static void set_thread_up(void)
{
    static _Atomic unsigned begun;
    if (sel4runtime_get_tls_size() + RECORD_SIZE > CONFIG_SEL4RUNTIME_STATIC_TLS) {
        static const char text[] = "thread-local data does not fit LibSel4RuntimeStaticTLS\n";
        camkes_platform_write(text, sizeof(text) - 1);
        camkes_platform_fault();
    }
    const size_t before = atomic_fetch_add(&begun, 1);
    char *const memory = camkes_sel4_image.tls + before * CONFIG_SEL4RUNTIME_STATIC_TLS;
    if (RECORD_SIZE == 0) {
        sel4runtime_set_tls_base(sel4runtime_write_tls_image(memory));
    } else if (__init_tp(__copy_tls((unsigned char *)memory)) < 0) {
        camkes_platform_fault();
    }
}

/* For libraries in an address space where each instance hides its own function of this name: the
 * instance of the running thread. */
const char *get_instance_name(void);
__attribute__((weak)) const char *get_instance_name(void)
{
    return camkes_sel4_image.threads[camkes_get_tls()->thread_index - 1].instance;
}

/*
 * A compiler takes the thread pointer for constant within a function. So what reads it, also for
 * the IPC buffer of a kernel call, must not be inlined into a function that sets it.
 */
#define AFTER_THREAD_POINTER static void __attribute__((noinline))

AFTER_THREAD_POINTER set_thread_data(const struct camkes_sel4_thread *self)
{
    __sel4_ipc_buffer = (seL4_IPCBuffer *)self->ipc_buffer;
    camkes_get_tls()->tcb_cap = self->tcb;
    camkes_get_tls()->cnode_cap = camkes_sel4_image.cnode;
    camkes_get_tls()->thread_index = (unsigned)(self - camkes_sel4_image.threads) + 1;
#ifdef CONFIG_DEBUG_BUILD
    if (self->tcb != seL4_CapNull) {
        seL4_DebugNameThread(self->tcb, self->name);
    }
#endif
}

AFTER_THREAD_POINTER end(const struct camkes_sel4_thread *self)
{
    for (;;) {
        if (self->tcb != seL4_CapNull) {
#if defined(CAMKES_TRACE_SEL4)
            camkes_sel4_enters(CAMKES_KCALL_SUSPEND, self->tcb, 0, 0, 0);
#endif
            (void)seL4_TCB_Suspend(self->tcb);
        } else {
            seL4_Yield();
        }
    }
}

static void begin(const struct camkes_sel4_thread *self)
{
    int state = UNTOUCHED;
    if (atomic_compare_exchange_strong(&library, &state, UNDER_WAY)) {
        set_library_up(self);
        atomic_store(&library, DONE);
    } else {
        while (atomic_load(&library) != DONE) {
            seL4_Yield();
        }
        set_thread_up();
    }
    set_thread_data(self);
}

void _camkes_start_c(int index)
{
    const struct camkes_sel4_thread *self = &camkes_sel4_image.threads[index];
    begin(self);
    if (self->fault_handler) {
        camkes_sel4_handle_faults();
    } else {
        _camkes_thread((unsigned)index);
    }
    end(self);
}
