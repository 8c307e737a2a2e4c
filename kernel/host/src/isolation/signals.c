/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * From the workstation's signals to faults. The handler only notes what happened and where, and
 * continues the thread on its stack for faults. Should the fault be answered, a signal of our own
 * puts the registers back, and the instruction is tried again.
 */
#include "entry/entry.h"
#include "isolation/faults.h"
#include "isolation/filter.h"
#include "isolation/memory.h"
#include "record/output.h"
#include "isolation/processes.h"
#include "processor.h"
#include "scheduling/scheduling.h"
#include "state.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

enum { TICK = 10 /* milliseconds */ };
enum { BREAKPOINT = 3 }; /* the number of the exception for single steps, too */

/* How many signals without a kernel operation are too many. */
static unsigned strikes(void)
{
    unsigned number = kernel->options.loop_limit / TICK;
    return number > 4 ? number : 4;
}

static void fill_memory_fault(struct fault *fault, const struct thread *self,
                              const siginfo_t *signal, const ucontext_t *context)
{
    const char *address = signal->si_addr;
    bool write = processor_wrote(context);
    fault->address = processor_hides_address(context) ? UINT64_MAX : (uint64_t)(uintptr_t)address;
    if (address >= self->guard && address < self->stack) {
        fault->kind = CAMKES_FAULT_STACK;
    } else if (fault->address == processor_pc(context)) {
        fault->kind = CAMKES_FAULT_EXECUTE;
    } else {
        fault->kind = write ? CAMKES_FAULT_WRITE : CAMKES_FAULT_READ;
    }
    fault->label = seL4_Fault_VMFault;
    fault->length = seL4_VMFault_Length;
    fault->message[seL4_VMFault_IP] = processor_pc(context);
    fault->message[seL4_VMFault_Addr] = fault->address;
    fault->message[seL4_VMFault_PrefetchFault] = fault->kind == CAMKES_FAULT_EXECUTE;
    fault->message[seL4_VMFault_FSR] = 4u | (write ? 2 : 0);
}

static void fill_exception(struct fault *fault, enum camkes_fault kind, seL4_Word number,
                           const ucontext_t *context)
{
    fault->kind = kind;
    fault->label = seL4_Fault_UserException;
    fault->length = seL4_UserException_Length;
    fault->message[seL4_UserException_FaultIP] = processor_pc(context);
    fault->message[seL4_UserException_SP] = processor_sp(context);
    fault->message[seL4_UserException_Number] = number;
}

/* Runs on the stack for faults. */
static void arrive(void)
{
    access_open();
    struct thread *self = process.loaded;
    bool polls = process.polls;
    process.polls = false;
    kernel_arrive_at_fault(self);
    if (polls && work_poll(self)) {
        self->fault.kind = 0;
    }
    if (self->fault.kind) {
        locate(self, self->fault.pc, self->fault.sp);
        fault_raise(self);
    }
    kernel_go();
    kernel_leave_fault(self);
    process.resumes = true;
    syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), SIGNAL_RESUME);
    give_up(3, "a thread could not be resumed after a fault");
}

static bool is_ours(void)
{
    if (kernel && process.loaded) {
        damage_check();
    }
    uint32_t me = process.space ? process.space->number + 1 : HANDOVER_RUNNER;
    return kernel && process.loaded && !process.open && !kernel->inside && kernel->owner == me;
}

/* Whether the program counter is behind the instruction that it is about. */
static bool is_behind(const struct fault *fault)
{
    return fault->kind == CAMKES_FAULT_SYSCALL ||
           (fault->kind == CAMKES_FAULT_INSTRUCTION &&
            fault->message[seL4_UserException_Number] == BREAKPOINT);
}

/* What a component may have changed is put in order before kernel code runs. */
static void begin_handler(void)
{
    access_in_handler();
    processor_settle();
}

static void leave_to_fault(struct thread *self, ucontext_t *context)
{
    self->fault.pc = processor_pc(context);
    self->fault.sp = processor_sp(context);
    processor_save(self->interrupted, context);
    if (self->fault.kind == CAMKES_FAULT_EXECUTE) {
        processor_undo_call(context, self);
        backtrace_take(self, processor_pc(context), false);
    } else if (self->fault.kind) {
        backtrace_take(self, processor_pc(context), !is_behind(&self->fault));
    }
    processor_redirect(context, self->fault_stack_top, arrive);
}

static void on_fault(int number, siginfo_t *signal, void *context)
{
    begin_handler();
    if (hooks.wrote && number == SIGSEGV && hooks.wrote(signal->si_addr)) {
        return;
    }
    struct thread *self = process.loaded;
    backtrace_broken();
    if (!is_ours()) {
        if (kernel && (kernel->inside || process.open) && process.loaded) {
            if (!integrity_of_state()) {
                damage_end();
            }
            complain("defect: signal %d in the kernel, at %p, pc %p", number, signal->si_addr,
                     (void *)processor_pc(context));
            kernel->status = 3;
            process_exit(3);
        }
        struct sigaction action = {.sa_handler = SIG_DFL};
        sigaction(number, &action, NULL);
        raise(number);
        return;
    }
    struct fault *fault = &self->fault;
    access_open();
    memset(fault, 0, sizeof *fault);
    switch (number) {
    case SIGFPE:
        fill_exception(fault, CAMKES_FAULT_ARITHMETIC, 0, context);
        break;
    case SIGILL:
    case SIGTRAP:
        fill_exception(fault, CAMKES_FAULT_INSTRUCTION, number == SIGILL ? 6 : BREAKPOINT, context);
        break;
    case SIGABRT:
        fill_exception(fault, CAMKES_FAULT_ABORT, 6, context);
        break;
    default:
        fill_memory_fault(fault, self, signal, context);
    }
    leave_to_fault(self, context);
}

/* Whether all registers and all memory are as they were at a signal before. */
static bool goes_in_circles(const ucontext_t *context)
{
    enum { REMEMBERED = 256 };
    static struct registers registers;
    static uint64_t seen[REMEMBERED];
    processor_save(&registers, context);
    const unsigned before = process.strikes - 1;
    uint64_t digest;
    if (!polling_digest(&registers, sizeof registers, &digest)) {
        seen[before % REMEMBERED] = 0;
        return false;
    }
    for (unsigned i = before > REMEMBERED ? before - REMEMBERED : 0; i < before; i++) {
        if (seen[i % REMEMBERED] == digest) {
            return true;
        }
    }
    seen[before % REMEMBERED] = digest;
    return false;
}

/* Comes every now and then while this process uses the processor. */
static void on_clock(int number, siginfo_t *signal, void *context)
{
    (void)number;
    (void)signal;
    begin_handler();
    if (!is_ours()) {
        return;
    }
    struct thread *self = process.loaded;
    if (process.entries_seen != kernel->entries) {
        process.entries_seen = kernel->entries;
        process.strikes = 0;
        return;
    }
    bool loops = ++process.strikes >= strikes();
    process.polls = !loops && goes_in_circles(context);
    if (!loops && !process.polls && !kernel->stop) {
        return;
    }
    process.strikes = 0;
    access_open();
    memset(&self->fault, 0, sizeof self->fault);
    if (loops || process.polls) {
        fill_exception(&self->fault, CAMKES_FAULT_LOOP, 0, context);
    }
    leave_to_fault(self, context);
}

/* It stands still: it waits for something outside the kernel, or is in the way of the end. */
static void on_blocked(int number, siginfo_t *signal, void *context)
{
    (void)number;
    (void)signal;
    begin_handler();
    if (!is_ours()) {
        return;
    }
    access_open();
    memset(&process.loaded->fault, 0, sizeof process.loaded->fault);
    if (!kernel->stop) {
        fill_exception(&process.loaded->fault, CAMKES_FAULT_BLOCKED, 0, context);
    }
    leave_to_fault(process.loaded, context);
}

/* What a component writes to standard output or error without the C library's streams. */
static bool prints(int call, ucontext_t *context)
{
    uint64_t file = processor_call_argument(context, 0),
             length = processor_call_argument(context, 2);
    if (call != SYS_write || (file != STDOUT_FILENO && file != STDERR_FILENO)) {
        return false;
    }
    console_print((const char *)(uintptr_t)processor_call_argument(context, 1), length);
    processor_set_call_result(context, length);
    return true;
}

static void forbidden(int call, ucontext_t *context)
{
    struct fault *fault = &process.loaded->fault;
    access_open();
    memset(fault, 0, sizeof *fault);
    fault->address = (uint64_t)call;
    fill_exception(fault, CAMKES_FAULT_SYSCALL, fault->address, context);
    leave_to_fault(process.loaded, context);
}

/* A system call that a filter caught. */
static void on_call(int number, siginfo_t *signal, void *context)
{
    (void)number;
    begin_handler();
    bool known = filter_knows(signal->si_arch, signal->si_syscall);
    int call = known ? signal->si_syscall : -1;
    if (prints(call, context)) {
        return;
    }
    if (!is_ours()) {
        complain("%s is not allowed to components while they are loaded",
                 call_name((uint64_t)call));
        process_exit(2);
    }
    forbidden(call, context);
}

static void on_resume(int number, siginfo_t *signal, void *context)
{
    (void)number;
    (void)signal;
    begin_handler();
    if (process.resumes) {
        process.resumes = false;
        processor_restore(process.loaded->interrupted, context);
    } else if (is_ours()) {
        forbidden(SYS_tgkill, context);
    }
}

static void handle(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = {.sa_sigaction = handler,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | flags};
    sigfillset(&action.sa_mask);
    sigdelset(&action.sa_mask, SIGSEGV);
    sigdelset(&action.sa_mask, SIGBUS);
    sigaction(number, &action, NULL);
}

static void watch_loops(void)
{
    long usec = (long)kernel->options.loop_limit * 1000 / strikes();
    struct itimerval interval = {{usec / 1000000, usec % 1000000},
                                 {usec / 1000000, usec % 1000000}};
    handle(SIGPROF, on_clock, 0);
    setitimer(ITIMER_PROF, &interval, NULL);
}

static stack_t signal_stack;

/* What the handlers run on. */
stack_t signals_stack(void)
{
    return signal_stack;
}

/* For a process in which threads will run. */
void signals_initialise(void)
{
    static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    static const size_t SIZE = 256 * 1024;
    processor_remember();
    signal_stack = (stack_t){.ss_size = SIZE,
                             .ss_sp = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)};
    if (signal_stack.ss_sp == MAP_FAILED || sigaltstack(&signal_stack, NULL) != 0) {
        give_up(3, "cannot make a stack for signals");
    }
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++) {
        handle(FAULTS[i], on_fault, SA_NODEFER); /* the walk through a stack may fault */
    }
    handle(SIGNAL_RESUME, on_resume, 0);
    handle(SIGNAL_BLOCKED, on_blocked, 0);
    handle(SIGSYS, on_call, 0);
    sanitizers_initialise();
    if (kernel->options.loop_limit) {
        watch_loops();
    }
}

static void on_tick(int number, siginfo_t *signal, void *context)
{
    begin_handler();
    if (watch_stands_still()) {
        on_blocked(number, signal, context);
    }
}

/* With --fast there is one process, which watches itself. */
void signals_watch(void)
{
    static const struct itimerval TICK = {{0, WATCH_TICK * 1000}, {0, WATCH_TICK * 1000}};
    struct sigaction action = {.sa_sigaction = on_tick,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigfillset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &TICK, NULL);
}
