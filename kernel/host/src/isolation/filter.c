/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The filters of system calls: one list for code of components, constructors among it. While an
 * image is loaded the loader's own code may do more, and one instruction of this kernel, which puts
 * the shared regions in place and installs the second filter. That takes both away.
 */
#include "isolation/filter.h"
#include "isolation/faults.h"
#include "isolation/memory.h"
#include "record/output.h"
#include "processor.h"
#include "state.h"

/* Whether a call that was caught is one of this machine's own ABI. */
bool filter_knows(unsigned machine, int call)
{
    return machine == (unsigned)SYSCALL_ABI && call >= 0 && call < SYSCALL_FOREIGN;
}

#ifndef CAMKES_SANITIZED

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 1024 };

struct filter {
    unsigned short length;
    struct sock_filter code[MOST];
};

#define ARGUMENT(i, half)                                                                          \
    (uint32_t)(offsetof(struct seccomp_data, args) + (i) * sizeof(uint64_t) +                      \
               (half) * sizeof(uint32_t))
enum { LOW = 0, HIGH = 1 }; /* both processors are little-endian */
enum { CALL = offsetof(struct seccomp_data, nr) };
enum { PLACE = offsetof(struct seccomp_data, instruction_pointer) };

/* ---- instructions ---- */

static void put(struct filter *filter, uint16_t code, uint8_t yes, uint8_t no, uint32_t k)
{
    if (filter->length == MOST) {
        give_up(3, "the filter of system calls is too long");
    }
    filter->code[filter->length++] = (struct sock_filter){code, yes, no, k};
}

static void load(struct filter *filter, uint32_t offset)
{
    put(filter, BPF_LD | BPF_W | BPF_ABS, 0, 0, offset);
}

static void end(struct filter *filter, uint32_t what)
{
    put(filter, BPF_RET | BPF_K, 0, 0, what);
}

/* Ends with `what` if the value that was loaded is `value`. */
static void if_is(struct filter *filter, uint32_t value, uint32_t what)
{
    put(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, value);
    end(filter, what);
}

static void if_not(struct filter *filter, uint32_t value, uint32_t what)
{
    put(filter, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, value);
    end(filter, what);
}

/* Ends with `what` if the value that was loaded has one of these bits. */
static void if_any(struct filter *filter, uint32_t bits, uint32_t what)
{
    put(filter, BPF_JMP | BPF_JSET | BPF_K, 0, 1, bits);
    end(filter, what);
}

/* Rules for what fulfils some conditions; anything else goes on behind them, where the number of
 * the call is loaded. So does what comes to their end. */
struct part {
    unsigned count;
    struct {
        unsigned short at;
        bool if_true;
    } leaves[8];
};

static void condition(struct filter *filter, struct part *part, uint16_t test, uint32_t value,
                      bool wanted)
{
    part->leaves[part->count].at = filter->length;
    part->leaves[part->count++].if_true = !wanted;
    put(filter, (uint16_t)(BPF_JMP | BPF_K | test), 0, 0, value);
}

static struct part begin_call(struct filter *filter, int call)
{
    struct part part = {0};
    condition(filter, &part, BPF_JEQ, (uint32_t)call, true);
    return part;
}

static void finish(struct filter *filter, const struct part *part)
{
    for (unsigned i = 0; i < part->count; i++) {
        struct sock_filter *leave = &filter->code[part->leaves[i].at];
        *(part->leaves[i].if_true ? &leave->jt : &leave->jf) =
            (uint8_t)(filter->length - part->leaves[i].at - 1);
    }
    load(filter, CALL);
}

/* Where the call is made: at the instruction before `label`. */
static void only_at(struct filter *filter, struct part *part, const char *label)
{
    const uint64_t place = (uint64_t)(uintptr_t)label;
    load(filter, PLACE);
    condition(filter, part, BPF_JEQ, (uint32_t)place, true);
    load(filter, PLACE + 4);
    condition(filter, part, BPF_JEQ, (uint32_t)(place >> 32), true);
}

/* Numbers of calls mean something else in other ABIs: none of those calls is allowed. */
static void begin(struct filter *filter)
{
    load(filter, offsetof(struct seccomp_data, arch));
    if_not(filter, (uint32_t)SYSCALL_ABI, SECCOMP_RET_TRAP);
    load(filter, CALL);
    put(filter, BPF_JMP | BPF_JGE | BPF_K, 0, 1, SYSCALL_FOREIGN);
    end(filter, SECCOMP_RET_TRAP);
}

static void allow(struct filter *filter, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if_is(filter, (uint32_t)calls[i], SECCOMP_RET_ALLOW);
    }
}

/* `call` only with this value of the argument `number`. */
static void allow_if(struct filter *filter, int call, unsigned number, uint32_t value)
{
    struct part part = begin_call(filter, call);
    load(filter, ARGUMENT(number, LOW));
    if_is(filter, value, SECCOMP_RET_ALLOW);
    end(filter, SECCOMP_RET_TRAP);
    finish(filter, &part);
}

/* ---- rules ---- */

static const int HARMLESS[] = {
    SYS_brk,          SYS_getcpu,  SYS_getegid,         SYS_geteuid,     SYS_getgid,
    SYS_getpid,       SYS_getppid, SYS_getrandom,       SYS_getrusage,   SYS_gettid,
    SYS_gettimeofday, SYS_getuid,  SYS_rt_sigreturn,    SYS_sched_yield, SYS_sysinfo,
    SYS_times,        SYS_uname,   SYS_restart_syscall,
#ifdef SYS_time
    SYS_time,
#endif
#ifdef SYS_getrlimit
    SYS_getrlimit,
#endif
};

/* Calls that the C library makes on its own and whose failure it takes lightly. */
static const struct {
    int call, error;
} IN_VAIN[] = {
    {SYS_rt_sigprocmask, 0}, /* no signal of ours can be held back */
    {SYS_ioctl, ENOTTY},
    {SYS_lseek, ESPIPE},
    {SYS_fstat, EBADF},
};

static const int ENDINGS[] = {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS, SIGTRAP, SIGNAL_RESUME};

/* What the loader does with files that it may read. */
static const int LOADER[] = {
    SYS_close,    SYS_faccessat, SYS_fstat, SYS_getcwd,     SYS_newfstatat,
    SYS_pread64,  SYS_read,      SYS_statx, SYS_readlinkat,
#ifdef SYS_access
    SYS_access,
#endif
#ifdef SYS_readlink
    SYS_readlink,
#endif
};

/* With --fast the process is the runner, too: it writes the trace. */
static const int RUNNER[] = {SYS_write, SYS_close, SYS_fcntl, SYS_rt_sigaction, SYS_setitimer};

/* A search notices which pages are written to, those of the kernel's memory among them. */
static const int SEARCH[] = {SYS_mprotect, SYS_madvise};

static uint32_t window(void)
{
    return (uint32_t)((uintptr_t)kernel >> 32);
}

/* A signal to the process itself that becomes a fault. */
static void allow_raise(struct filter *filter, int call, unsigned number)
{
    struct part part = begin_call(filter, call);
    load(filter, ARGUMENT(0, LOW));
    if_not(filter, (uint32_t)getpid(), SECCOMP_RET_TRAP);
    load(filter, ARGUMENT(number, LOW));
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        if_is(filter, (uint32_t)ENDINGS[i], SECCOMP_RET_ALLOW);
    }
    end(filter, SECCOMP_RET_TRAP);
    finish(filter, &part);
}

/* The kernel ends its process by one instruction, and a component does not. */
static void allow_end(struct filter *filter)
{
    struct part part = begin_call(filter, SYS_exit_group);
    only_at(filter, &part, access_end_called);
    end(filter, SECCOMP_RET_ALLOW);
    finish(filter, &part);
}

/* With --hardened the kernel opens and closes its memory, by one instruction only. */
static void allow_protection(struct filter *filter)
{
    if (!kernel->options.hardened || access_has_key()) {
        return;
    }
    struct part part = begin_call(filter, SYS_mprotect);
    only_at(filter, &part, access_protect_called);
    load(filter, ARGUMENT(0, LOW));
    condition(filter, &part, BPF_JEQ, (uint32_t)(uintptr_t)kernel, true);
    load(filter, ARGUMENT(0, HIGH));
    condition(filter, &part, BPF_JEQ, window(), true);
    end(filter, SECCOMP_RET_ALLOW);
    finish(filter, &part);
}

/* Refuses a range of addresses that has some of the kernel's block, or begins in its window; the
 * argument `first` is its start, the next one its length. */
static void refuse_block(struct filter *filter, unsigned first)
{
    enum { CARRIED, END }; /* words of the filter's memory */
    struct part part = {0};
    load(filter, ARGUMENT(first, HIGH));
    if_is(filter, window(), SECCOMP_RET_TRAP);
    condition(filter, &part, BPF_JGT, window(), false);
    load(filter, ARGUMENT(first + 1, HIGH));
    put(filter, BPF_JMP | BPF_JGT | BPF_K, 0, 1, UINT16_MAX);
    end(filter, SECCOMP_RET_TRAP);
    load(filter, ARGUMENT(first, LOW));
    put(filter, BPF_MISC | BPF_TAX, 0, 0, 0);
    load(filter, ARGUMENT(first + 1, LOW));
    put(filter, BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0);
    put(filter, BPF_ST, 0, 0, END);
    put(filter, BPF_JMP | BPF_JGE | BPF_X, 2, 0, 0); /* else it was carried */
    put(filter, BPF_LD | BPF_IMM, 0, 0, 1);
    put(filter, BPF_JMP | BPF_JA, 0, 0, 1);
    put(filter, BPF_LD | BPF_IMM, 0, 0, 0);
    put(filter, BPF_ST, 0, 0, CARRIED);
    for (unsigned i = 0; i < 2; i++) {
        put(filter, BPF_LDX | BPF_MEM, 0, 0, CARRIED);
        load(filter, ARGUMENT(first + i, HIGH));
        put(filter, BPF_ALU | BPF_ADD | BPF_X, 0, 0, 0);
        put(filter, BPF_ST, 0, 0, CARRIED);
    }
    put(filter, BPF_JMP | BPF_JGT | BPF_K, 0, 1, window());
    end(filter, SECCOMP_RET_TRAP);
    condition(filter, &part, BPF_JEQ, window(), true);
    put(filter, BPF_LD | BPF_MEM, 0, 0, END);
    put(filter, BPF_JMP | BPF_JGT | BPF_K, 0, 1, (uint32_t)(uintptr_t)kernel);
    end(filter, SECCOMP_RET_TRAP);
    finish(filter, &part);
}

/* Memory of the component's own, at addresses that are not the kernel's. None that would not count
 * to its limit: shared memory, and what grows like a stack. */
static void allow_memory(struct filter *filter)
{
    static const int CALLS[] = {SYS_munmap, SYS_madvise, SYS_mprotect};
    static const uint32_t KINDS = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK |
                                  MAP_POPULATE | MAP_FIXED_NOREPLACE;
    struct part part = begin_call(filter, SYS_mmap);
    load(filter, ARGUMENT(3, LOW));
    if_any(filter, ~KINDS, SECCOMP_RET_TRAP);
    if_any(filter, MAP_ANONYMOUS, SECCOMP_RET_ALLOW);
    end(filter, SECCOMP_RET_TRAP);
    finish(filter, &part);
    part = begin_call(filter, SYS_mremap);
    refuse_block(filter, 0);
    load(filter, ARGUMENT(3, LOW));
    if_any(filter, ~(uint32_t)MREMAP_MAYMOVE, SECCOMP_RET_TRAP);
    end(filter, SECCOMP_RET_ALLOW);
    finish(filter, &part);
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
        part = begin_call(filter, CALLS[i]);
        refuse_block(filter, 0);
        end(filter, SECCOMP_RET_ALLOW);
        finish(filter, &part);
    }
}

/* The kernel's own waiting; a component that waits would do so for ever. */
static void allow_futex(struct filter *filter)
{
    struct part part = begin_call(filter, SYS_futex);
    load(filter, ARGUMENT(0, HIGH));
    if_is(filter, window(), SECCOMP_RET_ALLOW);
    load(filter, ARGUMENT(1, LOW));
    put(filter, BPF_ALU | BPF_AND | BPF_K, 0, 0, FUTEX_CMD_MASK);
    if_is(filter, FUTEX_WAKE, SECCOMP_RET_ERRNO);
    end(filter, SECCOMP_RET_TRAP);
    finish(filter, &part);
}

/* A stream of the C library queries the type of its file; names of files are not looked up. */
static void answer_streams(struct filter *filter)
{
    struct part part = begin_call(filter, SYS_newfstatat);
    load(filter, ARGUMENT(0, LOW));
    if_any(filter, (uint32_t)INT32_MIN, SECCOMP_RET_TRAP);
    end(filter, SECCOMP_RET_ERRNO | EBADF);
    finish(filter, &part);
}

/* What can be read of the process itself, and not of another one. */
static void allow_own(struct filter *filter)
{
    static const int CLOCKS[] = {SYS_clock_getres, SYS_clock_gettime};
    struct part part = begin_call(filter, SYS_sched_getaffinity);
    load(filter, ARGUMENT(0, LOW));
    if_is(filter, 0, SECCOMP_RET_ALLOW);
    if_is(filter, (uint32_t)getpid(), SECCOMP_RET_ALLOW);
    end(filter, SECCOMP_RET_TRAP);
    finish(filter, &part);
    for (size_t i = 0; i < sizeof CLOCKS / sizeof *CLOCKS; i++) {
        part = begin_call(filter, CLOCKS[i]);
        load(filter, ARGUMENT(0, LOW));
        if_any(filter, (uint32_t)INT32_MIN, SECCOMP_RET_TRAP); /* that of a process, by its id */
        end(filter, SECCOMP_RET_ALLOW);
        finish(filter, &part);
    }
}

/* The limits of the process itself can be read. */
static void allow_limits(struct filter *filter)
{
    struct part part = begin_call(filter, SYS_prlimit64);
    load(filter, ARGUMENT(0, LOW));
    if_not(filter, 0, SECCOMP_RET_TRAP);
    load(filter, ARGUMENT(2, LOW));
    if_not(filter, 0, SECCOMP_RET_TRAP);
    load(filter, ARGUMENT(2, HIGH));
    if_not(filter, 0, SECCOMP_RET_TRAP);
    end(filter, SECCOMP_RET_ALLOW);
    finish(filter, &part);
}

/* What code of components can do. */
static void allow_components(struct filter *filter)
{
    allow(filter, HARMLESS, sizeof HARMLESS / sizeof *HARMLESS);
    if (kernel->options.fast) {
        allow(filter, RUNNER, sizeof RUNNER / sizeof *RUNNER);
    }
    if (kernel->options.search) {
        allow(filter, SEARCH, sizeof SEARCH / sizeof *SEARCH);
    }
    allow_if(filter, SYS_pread64, 0, (uint32_t)process.maps);
    allow_if(filter, SYS_read, 0, STDIN_FILENO);
    allow_memory(filter);
    allow_end(filter);
    allow_raise(filter, SYS_kill, 1);
    allow_raise(filter, SYS_tgkill, 2);
    for (size_t i = 0; i < sizeof IN_VAIN / sizeof *IN_VAIN; i++) {
        if_is(filter, (uint32_t)IN_VAIN[i].call, SECCOMP_RET_ERRNO | (uint32_t)IN_VAIN[i].error);
    }
    answer_streams(filter);
    allow_own(filter);
    allow_limits(filter);
}

/* ---- while an image is loaded ---- */

struct code {
    uint64_t start, end;
};

static int find_loader(struct dl_phdr_info *info, size_t size, void *data)
{
    struct code *loader = data;
    (void)size;
    if (info->dlpi_addr != _r_debug.r_ldbase) {
        return 0;
    }
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && segment->p_flags & PF_X) {
            loader->start = info->dlpi_addr + segment->p_vaddr;
            loader->end = loader->start + segment->p_memsz;
        }
    }
    return 1;
}

/* From the loader's code: it opens files to read them, and maps them. */
static void allow_loader(struct filter *filter, struct code loader)
{
    static const uint32_t KINDS =
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED | MAP_DENYWRITE;
    struct part part = {0};
    load(filter, PLACE + 4);
    condition(filter, &part, BPF_JEQ, (uint32_t)(loader.start >> 32), true);
    load(filter, PLACE);
    condition(filter, &part, BPF_JGE, (uint32_t)loader.start, true);
    condition(filter, &part, BPF_JGT, (uint32_t)(loader.end - 1), false);
    load(filter, CALL);
    allow(filter, LOADER, sizeof LOADER / sizeof *LOADER);
    allow_if(filter, SYS_openat, 2, O_RDONLY | O_CLOEXEC);
    struct part map = begin_call(filter, SYS_mmap);
    load(filter, ARGUMENT(3, LOW));
    if_any(filter, ~KINDS, SECCOMP_RET_TRAP);
    put(filter, BPF_JMP | BPF_JSET | BPF_K, 1, 0, MAP_FIXED);
    end(filter, SECCOMP_RET_ALLOW);
    refuse_block(filter, 0);
    end(filter, SECCOMP_RET_ALLOW);
    finish(filter, &map);
    finish(filter, &part);
}

/* From one instruction of the kernel: a mapping is put in the place of another, and a filter comes
 * to this one, which can only take away more. */
static void allow_kernel(struct filter *filter)
{
    struct part part = begin_call(filter, SYS_mremap);
    only_at(filter, &part, access_load_called);
    refuse_block(filter, 0);
    load(filter, ARGUMENT(4, HIGH));
    if_is(filter, window(), SECCOMP_RET_TRAP);
    end(filter, SECCOMP_RET_ALLOW);
    finish(filter, &part);
    part = begin_call(filter, SYS_seccomp);
    only_at(filter, &part, access_load_called);
    load(filter, ARGUMENT(0, LOW));
    if_not(filter, SECCOMP_SET_MODE_FILTER, SECCOMP_RET_TRAP);
    load(filter, ARGUMENT(1, LOW));
    if_not(filter, 0, SECCOMP_RET_TRAP);
    end(filter, SECCOMP_RET_ALLOW);
    finish(filter, &part);
}

bool filter_install(bool loading)
{
    static struct filter filter;
    filter.length = 0;
    begin(&filter);
    allow_futex(&filter); /* a switch between components */
    allow_protection(&filter);
    if (loading) {
        struct code loader = {0};
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        dl_iterate_phdr(find_loader, &loader);
        if (loader.start >> 32 != (loader.end - 1) >> 32) {
            give_up(3, "the dynamic loader is at an address that cannot be told to a filter");
        }
        allow_kernel(&filter);
        allow_loader(&filter, loader);
    }
    allow_components(&filter);
    end(&filter, SECCOMP_RET_TRAP);
    const struct sock_fprog program = {filter.length, filter.code};
    const long error = access_load(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program, 0, 0);
    errno = (int)-error;
    return error == 0;
}

#endif
