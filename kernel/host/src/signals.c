/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * From the workstation's signals to faults. The handler only notes what happened and where, and
 * continues the thread on its stack for faults. Should the fault be answered, a signal of our own
 * puts the registers back, and the instruction is tried again.
 */
#include "kernel.h"

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

/* ---- what differs between processors ---- */

#if defined __x86_64__

struct registers {
    gregset_t general;
    size_t extended_size;
    _Alignas(64) char extended[16384];
};

static uint64_t program_counter(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
}

static uint64_t stack_pointer(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

static uint64_t call_argument(const ucontext_t *context, unsigned i)
{
    static const int REGISTERS[] = {REG_RDI, REG_RSI, REG_RDX};
    return (uint64_t)context->uc_mcontext.gregs[REGISTERS[i]];
}

static void set_call_result(ucontext_t *context, uint64_t result)
{
    context->uc_mcontext.gregs[REG_RAX] = (greg_t)result;
}

/* As if the function that was called had returned: for a jump to what is no code. */
static void undo_call(ucontext_t *context, const struct thread *self)
{
    const char *sp = (const char *)stack_pointer(context);
    if (sp >= self->stack && sp + 8 <= self->stack_top) {
        memcpy(&context->uc_mcontext.gregs[REG_RIP], sp, 8);
        context->uc_mcontext.gregs[REG_RSP] += 8;
    }
}

static bool is_write(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[REG_ERR] & 2;
}

/* A non-canonical address: the processor does not tell which. */
static bool address_unknown(const ucontext_t *context)
{
    return context->uc_mcontext.gregs[REG_TRAPNO] == 13;
}

/* The kernel says in the reserved bytes how large the state is. */
static size_t extended_size(const ucontext_t *context)
{
    const struct {
        uint32_t magic, extended_size;
    } *software = (const void *)((const char *)context->uc_mcontext.fpregs + 464);
    size_t size = software->magic == 0x46505853 ? software->extended_size : 512;
    return size <= sizeof((struct registers *)0)->extended ? size : 512;
}

static void save(struct registers *registers, const ucontext_t *context)
{
    memcpy(registers->general, context->uc_mcontext.gregs, sizeof registers->general);
    registers->extended_size = extended_size(context);
    memcpy(registers->extended, context->uc_mcontext.fpregs, registers->extended_size);
}

static void restore(const struct registers *registers, ucontext_t *context)
{
    memcpy(context->uc_mcontext.gregs, registers->general, sizeof registers->general);
    memcpy(context->uc_mcontext.fpregs, registers->extended, registers->extended_size);
}

static void redirect(ucontext_t *context, char *stack_top, void (*to)(void))
{
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)to;
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)(uintptr_t)(stack_top - 8);
    context->uc_mcontext.gregs[REG_EFL] &= ~0x40500; /* trap, direction and alignment flags */
}

#elif defined __aarch64__

struct registers {
    mcontext_t machine;
};

static uint64_t program_counter(const ucontext_t *context)
{
    return context->uc_mcontext.pc;
}

static uint64_t stack_pointer(const ucontext_t *context)
{
    return context->uc_mcontext.sp;
}

static uint64_t call_argument(const ucontext_t *context, unsigned i)
{
    return context->uc_mcontext.regs[i];
}

static void set_call_result(ucontext_t *context, uint64_t result)
{
    context->uc_mcontext.regs[0] = result;
}

/* As if the function that was called had returned: for a jump to what is no code. */
static void undo_call(ucontext_t *context, const struct thread *self)
{
    (void)self;
    context->uc_mcontext.pc = context->uc_mcontext.regs[30];
}

/* The exception syndrome is one of the records behind the registers. */
static bool is_write(const ucontext_t *context)
{
    const char *record = (const char *)context->uc_mcontext.__reserved;
    const char *end = record + sizeof context->uc_mcontext.__reserved;
    while (record + 16 <= end) {
        uint32_t head[2];
        uint64_t syndrome;
        memcpy(head, record, sizeof head);
        memcpy(&syndrome, record + 8, sizeof syndrome);
        if (head[0] == 0x45535201) {
            return syndrome & 1 << 6;
        }
        if (head[0] == 0 || head[1] == 0) {
            break;
        }
        record += head[1];
    }
    return false;
}

static bool address_unknown(const ucontext_t *context)
{
    (void)context;
    return false;
}

static void save(struct registers *registers, const ucontext_t *context)
{
    registers->machine = context->uc_mcontext;
}

static void restore(const struct registers *registers, ucontext_t *context)
{
    context->uc_mcontext = registers->machine;
}

static void redirect(ucontext_t *context, char *stack_top, void (*to)(void))
{
    context->uc_mcontext.pc = (uintptr_t)to;
    context->uc_mcontext.sp = (uintptr_t)stack_top;
}

#else
#error "signals.c does not know this processor"
#endif

/* ---- the same everywhere ---- */

struct registers *registers_take(void)
{
    void *place = mmap(NULL, sizeof(struct registers), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) {
        give_up(3, "cannot make room for registers");
    }
    return place;
}

static void fill_memory_fault(struct fault *fault, const struct thread *self,
                              const siginfo_t *signal, const ucontext_t *context)
{
    const char *address = signal->si_addr;
    bool write = is_write(context);
    fault->address = address_unknown(context) ? UINT64_MAX : (uint64_t)(uintptr_t)address;
    if (address >= self->guard && address < self->stack) {
        fault->kind = CAMKES_FAULT_STACK;
    } else if (fault->address == program_counter(context)) {
        fault->kind = CAMKES_FAULT_EXECUTE;
    } else {
        fault->kind = write ? CAMKES_FAULT_WRITE : CAMKES_FAULT_READ;
    }
    fault->label = seL4_Fault_VMFault;
    fault->length = seL4_VMFault_Length;
    fault->message[seL4_VMFault_IP] = program_counter(context);
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
    fault->message[seL4_UserException_FaultIP] = program_counter(context);
    fault->message[seL4_UserException_SP] = stack_pointer(context);
    fault->message[seL4_UserException_Number] = number;
}

/* Runs on the stack for faults. */
static void arrive(void)
{
    struct thread *self = process.loaded;
    bool polls = process.polls;
    process.polls = false;
    kernel_arrive_at_fault(self);
    if (polls && time_poll(self)) {
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
        memory_check();
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

static void leave_to_fault(struct thread *self, ucontext_t *context)
{
    self->fault.pc = program_counter(context);
    self->fault.sp = stack_pointer(context);
    save(self->interrupted, context);
    if (self->fault.kind == CAMKES_FAULT_EXECUTE) {
        undo_call(context, self);
        backtrace_take(self, program_counter(context), false);
    } else if (self->fault.kind) {
        backtrace_take(self, program_counter(context), !is_behind(&self->fault));
    }
    redirect(context, self->fault_stack_top, arrive);
}

static void on_fault(int number, siginfo_t *signal, void *context)
{
    struct thread *self = process.loaded;
    backtrace_broken();
    if (!is_ours()) {
        if (kernel && (kernel->inside || process.open) && process.loaded) {
            if (!integrity_of_state()) {
                memory_damaged();
            }
            complain("defect: signal %d in the kernel, at %p, pc %p", number, signal->si_addr,
                     (void *)program_counter(context));
            kernel->status = 3;
            process_exit(3);
        }
        struct sigaction action = {.sa_handler = SIG_DFL};
        sigaction(number, &action, NULL);
        raise(number);
        return;
    }
    struct fault *fault = &self->fault;
    memory_open();
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
    save(&registers, context);
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
    memory_open();
    memset(&self->fault, 0, sizeof self->fault);
    if (loops || process.polls) {
        fill_exception(&self->fault, CAMKES_FAULT_LOOP, 0, context);
    }
    leave_to_fault(self, context);
}

/* It stands still: it waits for something outside the kernel, or is in the way of the end. */
void signals_blocked(int number, siginfo_t *signal, void *context)
{
    (void)number;
    (void)signal;
    if (!is_ours()) {
        return;
    }
    memory_open();
    memset(&process.loaded->fault, 0, sizeof process.loaded->fault);
    if (!kernel->stop) {
        fill_exception(&process.loaded->fault, CAMKES_FAULT_BLOCKED, 0, context);
    }
    leave_to_fault(process.loaded, context);
}

/* What a component writes to standard output or error without the C library's streams. */
static bool prints(int call, ucontext_t *context)
{
    uint64_t file = call_argument(context, 0), length = call_argument(context, 2);
    if (call != SYS_write || (file != STDOUT_FILENO && file != STDERR_FILENO)) {
        return false;
    }
    console_print((const char *)(uintptr_t)call_argument(context, 1), length);
    set_call_result(context, length);
    return true;
}

static void forbidden(int call, ucontext_t *context)
{
    struct fault *fault = &process.loaded->fault;
    memory_open();
    memset(fault, 0, sizeof *fault);
    fault->address = (uint64_t)call;
    fill_exception(fault, CAMKES_FAULT_SYSCALL, fault->address, context);
    leave_to_fault(process.loaded, context);
}

/* A system call that the filter of confine.c caught. */
static void on_call(int number, siginfo_t *signal, void *context)
{
    (void)number;
    bool known = confine_knows(signal->si_arch, signal->si_syscall);
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
    if (process.resumes) {
        process.resumes = false;
        restore(process.loaded->interrupted, context);
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

/* For a process in which threads will run. */
void signals_initialise(void)
{
    static const int FAULTS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    static const size_t SIZE = 256 * 1024;
    stack_t stack = {.ss_size = SIZE,
                     .ss_sp = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)};
    if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL) != 0) {
        give_up(3, "cannot make a stack for signals");
    }
    for (size_t i = 0; i < sizeof FAULTS / sizeof *FAULTS; i++) {
        handle(FAULTS[i], on_fault, SA_NODEFER); /* the walk through a stack may fault */
    }
    handle(SIGNAL_RESUME, on_resume, 0);
    handle(SIGNAL_BLOCKED, signals_blocked, 0);
    handle(SIGSYS, on_call, 0);
    sanitizers_initialise();
    if (kernel->options.loop_limit) {
        watch_loops();
    }
}
