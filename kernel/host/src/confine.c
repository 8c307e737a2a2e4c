/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * What the process of a component can do to the workstation: compute, use its memory, print. A
 * filter of system calls (seccomp) allows what the C library needs for that, Landlock the reading
 * of shared libraries while the image is loaded, and resource limits hold where a workstation has
 * neither. A call that is not allowed becomes a fault (signals.c). With the sanitizers, which open
 * files, and start programs, nothing is confined.
 */
#include "faults.h"
#include "memory.h"
#include "output.h"
#include "processes.h"
#include "processor.h"
#include "state.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FILE_MAPS = 3 }; /* the descriptor of /proc/self/maps, see polling.c */

/* Whether a call that was caught is one of this machine's own ABI. */
bool confine_knows(unsigned machine, int call)
{
    return machine == (unsigned)SYSCALL_ABI && call >= 0 && call < SYSCALL_FOREIGN;
}

#ifndef CAMKES_SANITIZED

/* ---- the filter ---- */

enum { MOST = 512 };

struct filter {
    unsigned short length;
    struct sock_filter code[MOST];
};

#define ARGUMENT(i, half)                                                                          \
    (uint32_t)(offsetof(struct seccomp_data, args) + (i) * sizeof(uint64_t) +                      \
               (half) * sizeof(uint32_t))
enum { LOW = 0, HIGH = 1 }; /* both processors are little-endian */

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

/* The rules up to `finish_call` are for this call only; they have to end. */
static unsigned short begin_call(struct filter *filter, int call)
{
    put(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, (uint32_t)call);
    return filter->length;
}

static void finish_call(struct filter *filter, unsigned short begin)
{
    filter->code[begin - 1].jf = (uint8_t)(filter->length - begin);
}

/* Numbers of calls mean something else in other ABIs: none of those calls is allowed. */
static void begin(struct filter *filter)
{
    load(filter, offsetof(struct seccomp_data, arch));
    if_not(filter, (uint32_t)SYSCALL_ABI, SECCOMP_RET_TRAP);
    load(filter, offsetof(struct seccomp_data, nr));
    put(filter, BPF_JMP | BPF_JGE | BPF_K, 0, 1, SYSCALL_FOREIGN);
    end(filter, SECCOMP_RET_TRAP);
}

/* The workstation lacks something: reported once in a run, and not good enough with --hardened. */
static void lack(const char *what, const char *so)
{
    const char *why = strerror(errno);
    if (kernel->options.hardened) {
        give_up(2, "--hardened needs %s, which this workstation does not have (%s)", what, why);
    }
    if (!kernel->unconfined) {
        kernel->unconfined = true;
        complain("note: this workstation does not have %s (%s): %s", what, why, so);
    }
}

static void install(struct filter *filter)
{
    end(filter, SECCOMP_RET_TRAP);
    struct sock_fprog program = {filter->length, filter->code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
        lack("filters of system calls (seccomp)", "components can use what you can use");
    }
}

static const int HARMLESS[] = {
    SYS_brk,          SYS_clock_getres,    SYS_clock_gettime,
    SYS_getcpu,       SYS_getegid,         SYS_geteuid,
    SYS_getgid,       SYS_getpid,          SYS_getppid,
    SYS_getrandom,    SYS_getrusage,       SYS_gettid,
    SYS_gettimeofday, SYS_getuid,          SYS_rt_sigreturn,
    SYS_sched_yield,  SYS_sysinfo,         SYS_times,
    SYS_uname,        SYS_restart_syscall, SYS_sched_getaffinity,
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

/* A signal to the process itself that becomes a fault. */
static void allow_raise(struct filter *filter, int call, unsigned number)
{
    unsigned short begin = begin_call(filter, call);
    load(filter, ARGUMENT(0, LOW));
    if_not(filter, (uint32_t)getpid(), SECCOMP_RET_TRAP);
    load(filter, ARGUMENT(number, LOW));
    for (size_t i = 0; i < sizeof ENDINGS / sizeof *ENDINGS; i++) {
        if_is(filter, (uint32_t)ENDINGS[i], SECCOMP_RET_ALLOW);
    }
    end(filter, SECCOMP_RET_TRAP);
    finish_call(filter, begin);
}

/* The kernel ends its process by one instruction, and a component does not. */
static void allow_end(struct filter *filter)
{
    const uint64_t pc = (uint64_t)(uintptr_t)access_end_called;
    const uint32_t at = offsetof(struct seccomp_data, instruction_pointer);
    unsigned short begin = begin_call(filter, SYS_exit_group);
    load(filter, at);
    if_not(filter, (uint32_t)pc, SECCOMP_RET_TRAP);
    load(filter, at + 4);
    if_is(filter, (uint32_t)(pc >> 32), SECCOMP_RET_ALLOW);
    end(filter, SECCOMP_RET_TRAP);
    finish_call(filter, begin);
}

/* With --hardened the kernel opens and closes its memory, by one instruction only. */
static void allow_protection(struct filter *filter)
{
    const uint64_t pc = (uint64_t)(uintptr_t)access_protect_called;
    const uint32_t at = offsetof(struct seccomp_data, instruction_pointer);
    if (!kernel->options.hardened || access_has_key()) {
        return;
    }
    unsigned short begin = begin_call(filter, SYS_mprotect);
    load(filter, at);
    put(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 7, (uint32_t)pc);
    load(filter, at + 4);
    put(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 5, (uint32_t)(pc >> 32));
    load(filter, ARGUMENT(0, LOW));
    put(filter, BPF_JMP | BPF_JEQ | BPF_K, 0, 3, (uint32_t)(uintptr_t)kernel);
    load(filter, ARGUMENT(0, HIGH));
    if_is(filter, (uint32_t)((uintptr_t)kernel >> 32), SECCOMP_RET_ALLOW);
    load(filter, offsetof(struct seccomp_data, nr));
    finish_call(filter, begin);
}

/* Memory of the component's own, at addresses that are not the kernel's. */
static void allow_memory(struct filter *filter)
{
    static const int CALLS[] = {SYS_munmap, SYS_mremap, SYS_madvise, SYS_mprotect};
    enum { FAR = 0xc0000000 }; /* the block is so far from the beginning of its window */
    const uint32_t window = (uint32_t)((uintptr_t)kernel >> 32);
    unsigned short begin = begin_call(filter, SYS_mmap);
    load(filter, ARGUMENT(3, LOW));
    if_any(filter, MAP_FIXED, SECCOMP_RET_TRAP);
    if_any(filter, MAP_ANONYMOUS, SECCOMP_RET_ALLOW);
    end(filter, SECCOMP_RET_TRAP);
    finish_call(filter, begin);
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
        begin = begin_call(filter, CALLS[i]);
        load(filter, ARGUMENT(0, HIGH));
        if_is(filter, window, SECCOMP_RET_TRAP);
        if (CALLS[i] == SYS_mremap) {
            load(filter, ARGUMENT(3, LOW));
            if_any(filter, MREMAP_FIXED, SECCOMP_RET_TRAP);
        }
        /* nor from before them up to the block */
        load(filter, ARGUMENT(0, HIGH));
        put(filter, BPF_JMP | BPF_JGT | BPF_K, 0, 1, window);
        end(filter, SECCOMP_RET_ALLOW);
        load(filter, ARGUMENT(1, HIGH));
        if_not(filter, 0, SECCOMP_RET_TRAP);
        load(filter, ARGUMENT(1, LOW));
        if_any(filter, FAR, SECCOMP_RET_TRAP);
        end(filter, SECCOMP_RET_ALLOW);
        finish_call(filter, begin);
    }
}

/* The kernel's own waiting; a component that waits would do so for ever. */
static void allow_futex(struct filter *filter)
{
    unsigned short begin = begin_call(filter, SYS_futex);
    load(filter, ARGUMENT(0, HIGH));
    if_is(filter, (uint32_t)((uintptr_t)kernel >> 32), SECCOMP_RET_ALLOW);
    load(filter, ARGUMENT(1, LOW));
    put(filter, BPF_ALU | BPF_AND | BPF_K, 0, 0, FUTEX_CMD_MASK);
    if_is(filter, FUTEX_WAKE, SECCOMP_RET_ERRNO);
    end(filter, SECCOMP_RET_TRAP);
    finish_call(filter, begin);
}

/* `call` only with this value of the argument `number`. */
static void allow_if(struct filter *filter, int call, unsigned number, uint32_t value)
{
    unsigned short begin = begin_call(filter, call);
    load(filter, ARGUMENT(number, LOW));
    if_is(filter, value, SECCOMP_RET_ALLOW);
    end(filter, SECCOMP_RET_TRAP);
    finish_call(filter, begin);
}

static void allow(struct filter *filter, const int *calls, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if_is(filter, (uint32_t)calls[i], SECCOMP_RET_ALLOW);
    }
}

static void allow_always(struct filter *filter)
{
    allow_futex(filter);
    allow(filter, HARMLESS, sizeof HARMLESS / sizeof *HARMLESS);
    allow_end(filter);
    allow_raise(filter, SYS_kill, 1);
    allow_raise(filter, SYS_tgkill, 2);
    for (size_t i = 0; i < sizeof IN_VAIN / sizeof *IN_VAIN; i++) {
        if_is(filter, (uint32_t)IN_VAIN[i].call, SECCOMP_RET_ERRNO | (uint32_t)IN_VAIN[i].error);
    }
    unsigned short begin = begin_call(filter, SYS_newfstatat);
    load(filter, ARGUMENT(0, LOW));
    put(filter, BPF_JMP | BPF_JGT | BPF_K, 0, 1, STDERR_FILENO);
    end(filter, SECCOMP_RET_TRAP);
    end(filter, SECCOMP_RET_ERRNO | EBADF); /* a stream of the C library queries its type */
    finish_call(filter, begin);
    begin = begin_call(filter, SYS_prlimit64); /* to read its own */
    load(filter, ARGUMENT(0, LOW));
    if_not(filter, 0, SECCOMP_RET_TRAP);
    load(filter, ARGUMENT(2, LOW));
    if_not(filter, 0, SECCOMP_RET_TRAP);
    load(filter, ARGUMENT(2, HIGH));
    if_not(filter, 0, SECCOMP_RET_TRAP);
    end(filter, SECCOMP_RET_ALLOW);
    finish_call(filter, begin);
}

/* ---- files ---- */

/* As of the sixth version of Landlock; older ones take the beginning. */
struct ruleset {
    uint64_t files, network, scopes;
};

struct __attribute__((packed)) beneath {
    uint64_t allowed;
    int32_t parent;
};

enum { READ_FILE = 1 << 2, READ_FOLDER = 1 << 3, RULE_BENEATH = 1 };
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };

static void let_read(int rules, const char *path)
{
    int file = open(path, O_PATH | O_CLOEXEC);
    if (file >= 0) {
        struct beneath rule = {READ_FILE, file};
        syscall(ADD_RULE, rules, RULE_BENEATH, &rule, 0);
        close(file);
    }
}

/* The folder of the C library, wherever it is. */
static void let_read_library(int rules)
{
    Dl_info info;
    void *function = dlsym(RTLD_DEFAULT, "malloc");
    if (dladdr(function, &info) && info.dli_fname) {
        char folder[4096];
        snprintf(folder, sizeof folder, "%s", info.dli_fname);
        char *slash = strrchr(folder, '/');
        if (slash) {
            *slash = 0;
            let_read(rules, folder);
        }
    }
}

/* Files: shared libraries and the images. No network, no signals to other processes. */
static void restrict_files(void)
{
    static const char *const FOLDERS[] = {"/lib",       "/lib64",         "/usr/lib",
                                          "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache",
                                          "/nix/store", "/gnu/store"};
    long version = syscall(CREATE_RULESET, NULL, 0, 1);
    static const char SO[] = "constructors of components can read your files";
    if (version < 1) {
        lack("Landlock", SO);
        return;
    }
    unsigned rights = version >= 5 ? 16 : version >= 3 ? 15 : version >= 2 ? 14 : 13;
    struct ruleset all = {((uint64_t)1 << rights) - 1, 3, 3};
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int rules = (int)syscall(CREATE_RULESET, &all, size, 0);
    if (rules < 0) {
        lack("Landlock", SO);
        return;
    }
    for (size_t i = 0; i < sizeof FOLDERS / sizeof *FOLDERS; i++) {
        let_read(rules, FOLDERS[i]);
    }
    let_read_library(rules);
    for (unsigned i = 0; i < kernel->space_count; i++) {
        if (kernel->options.fast || &kernel->spaces[i] == process.space) {
            let_read(rules, kernel->spaces[i].image);
        }
    }
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(RESTRICT_SELF, rules, 0) != 0) {
        lack("Landlock", SO);
    }
    close(rules);
}

/* ---- limits ---- */

static void limit(int resource, rlim_t value)
{
    struct rlimit now;
    if (getrlimit(resource, &now) == 0 && value < now.rlim_max) {
        setrlimit(resource, &(struct rlimit){value, value});
    }
}

/* The descriptors of a component are the null device, a list of its own memory and, while it is
 * loaded, the shared regions. */
static void close_files(void)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup3(process.maps, FILE_MAPS, O_CLOEXEC);
    process.maps = FILE_MAPS;
    for (int file = 0; file < FILE_MAPS; file++) {
        dup2(null, file);
    }
    long most = sysconf(_SC_OPEN_MAX);
    for (int file = FILE_MAPS + 1; file < most && file < 4096; file++) {
        if (file != kernel->memory_file) {
            close(file);
        }
    }
}

/* ---- the two steps ---- */

static const int LOADING[] = {
    SYS_close,    SYS_faccessat,  SYS_fstat,   SYS_getcwd, SYS_mmap,       SYS_mprotect,
    SYS_munmap,   SYS_newfstatat, SYS_pread64, SYS_read,   SYS_readlinkat,
#ifdef SYS_access
    SYS_access,
#endif
#ifdef SYS_readlink
    SYS_readlink,
#endif
};

/* With --fast the process is the runner, too: it writes the trace. */
static const int RUNNER[] = {SYS_write, SYS_close,        SYS_fcntl,    SYS_newfstatat,
                             SYS_fstat, SYS_rt_sigaction, SYS_setitimer};

/* A search notices which pages are written to, and maps shared regions. */
static const int SEARCH[] = {SYS_mprotect, SYS_mmap, SYS_madvise};

/* Before an image is loaded, with its constructors. */
void confine_loading(void)
{
    if (kernel->options.coverage) {
        return;
    }
    uint64_t memory = kernel->options.memory;
    if (memory > 0) {
        limit(RLIMIT_DATA, memory * (kernel->options.fast ? kernel->space_count : 1));
    }
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NPROC, 0);
    restrict_files();
    if (kernel->options.fast) {
        return; /* the loader wants a file of its own for each space */
    }
    limit(RLIMIT_FSIZE, 0);
    close_files();
    struct filter filter = {0};
    begin(&filter);
    /* for confine_running */
    allow(&filter, (const int[]){SYS_seccomp, SYS_prctl, SYS_prlimit64}, 3);
    allow(&filter, LOADING, sizeof LOADING / sizeof *LOADING);
    allow_if(&filter, SYS_openat, 2, O_RDONLY | O_CLOEXEC);
    allow_protection(&filter);
    allow_memory(&filter);
    allow_always(&filter);
    install(&filter);
}

/* Before the first thread runs. */
void confine_running(void)
{
    if (kernel->options.coverage) {
        return;
    }
    struct filter filter = {0};
    begin(&filter);
    if (kernel->options.fast) {
        allow(&filter, RUNNER, sizeof RUNNER / sizeof *RUNNER);
        if (kernel->options.search) {
            allow(&filter, SEARCH, sizeof SEARCH / sizeof *SEARCH);
        }
    } else {
        close(kernel->memory_file);
        limit(RLIMIT_NOFILE, FILE_MAPS + 1);
    }
    allow_if(&filter, SYS_pread64, 0, (uint32_t)process.maps);
    allow_if(&filter, SYS_read, 0, STDIN_FILENO);
    allow_protection(&filter);
    allow_memory(&filter);
    allow_always(&filter);
    install(&filter);
}

#else

void confine_loading(void)
{
    if (kernel->options.hardened) {
        give_up(2, "--hardened and the sanitizers exclude each other");
    }
}

void confine_running(void)
{
}

#endif
