/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The runner: options, boot, end. */
#include "boot/boot.h"
#include "time/budget.h"
#include "entry/entry.h"
#include "isolation/faults.h"
#include "isolation/memory.h"
#include "record/output.h"
#include "isolation/processes.h"
#include "scheduling/scheduling.h"
#include "search/search.h"
#include "state.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

static const char USAGE[] =
    "usage: camkes-host TABLE [--for NS] [--trace FILE] [--fast|--hardened] [--coverage] "
    "[--stacks]\n"
    "                   [--scheduling fifo|rr] [--timeslice NS] [--choices "
    "first|random:SEED|script:FILE]\n"
    "                   [--loop-limit MS] [--call-limit N] [--timeout MS] [--memory-limit BYTES]\n"
    "                   [--trace-limit BYTES] [--faults DESCRIPTOR] [--least-budget NS]\n"
    "                   [--input FILE] [--received FILE] [--sent FILE] [--arrivals N] [--durations "
    "all|corners]\n"
    "                   [--search TABLE [--bound N] [--random N] [--seed N] [--states N] "
    "[--seconds N]\n"
    "                    [--outcomes 0|1] [--processes N]]\n";

/* ---- options ---- */

static _Noreturn void misused(const char *what, const char *which)
{
    dprintf(STDERR_FILENO, "camkes-host: %s%s\n%s", what, which, USAGE);
    process_exit(2);
}

static uint64_t number(const char *option, const char *text)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno) {
        dprintf(STDERR_FILENO, "camkes-host: %s wants a number, not `%s`\n", option, text);
        process_exit(2);
    }
    return value;
}

static void set_choices(struct options *options, const char *text)
{
    if (strcmp(text, "first") == 0) {
        options->choices = CHOICES_FIRST;
    } else if (strncmp(text, "random:", 7) == 0) {
        options->choices = CHOICES_RANDOM;
        options->seed = number("--choices random:", text + 7);
    } else if (strncmp(text, "script:", 7) == 0) {
        options->choices = CHOICES_SCRIPT;
        options->script = text + 7;
    } else {
        misused("--choices does not know ", text);
    }
}

static void set_search_option(struct options *options, const char *name, const char *value)
{
    if (strcmp(name, "--arrivals") == 0) {
        options->arrivals = number(name, value);
    } else if (strcmp(name, "--points") == 0) {
        options->every_point = strcmp(value, "all") == 0;
    } else if (strcmp(name, "--durations") == 0) {
        options->corners = strcmp(value, "corners") == 0;
    } else if (strcmp(name, "--search") == 0) {
        options->search = value;
        options->fast = options->corners = true;
    } else if (strcmp(name, "--outcomes") == 0) {
        options->outcomes = number(name, value) != 0;
    } else if (strcmp(name, "--processes") == 0) {
        options->processes = (unsigned)number(name, value);
    } else if (strcmp(name, "--bound") == 0) {
        options->bound = (unsigned)number(name, value);
    } else if (strcmp(name, "--random") == 0) {
        options->schedules = number(name, value);
    } else if (strcmp(name, "--seed") == 0) {
        options->seed = number(name, value);
    } else if (strcmp(name, "--states") == 0) {
        options->most_states = number(name, value);
    } else if (strcmp(name, "--seconds") == 0) {
        options->seconds = number(name, value);
    } else {
        misused("unknown option ", name);
    }
}

static void set_option(struct options *options, const char *name, const char *value)
{
    if (strcmp(name, "--for") == 0) {
        options->until = number(name, value);
    } else if (strcmp(name, "--trace") == 0) {
        options->trace = value;
    } else if (strcmp(name, "--scheduling") == 0) {
        options->round_robin = strcmp(value, "rr") == 0;
        if (!options->round_robin && strcmp(value, "fifo") != 0) {
            misused("--scheduling does not know ", value);
        }
    } else if (strcmp(name, "--timeslice") == 0) {
        options->timeslice = number(name, value);
        if (options->timeslice == 0) {
            misused("a time slice has to be longer than ", value);
        }
    } else if (strcmp(name, "--choices") == 0) {
        set_choices(options, value);
    } else if (strcmp(name, "--loop-limit") == 0) {
        options->loop_limit = (unsigned)number(name, value);
    } else if (strcmp(name, "--call-limit") == 0) {
        options->call_limit = number(name, value);
    } else if (strcmp(name, "--timeout") == 0) {
        options->timeout = number(name, value);
    } else if (strcmp(name, "--memory-limit") == 0) {
        options->memory = number(name, value);
    } else if (strcmp(name, "--trace-limit") == 0) {
        options->trace_limit = number(name, value);
    } else if (strcmp(name, "--input") == 0) {
        options->inputs[CAMKES_INPUT_CONSOLE] = value;
    } else if (strcmp(name, "--received") == 0) {
        options->inputs[CAMKES_INPUT_NETWORK] = value;
    } else if (strcmp(name, "--sent") == 0) {
        options->sent = value;
    } else if (strcmp(name, "--faults") == 0) {
        options->faults = (int)number(name, value);
    } else if (strcmp(name, "--least-budget") == 0) {
        options->least_budget = options->shortest = number(name, value);
    } else {
        set_search_option(options, name, value);
    }
}

static struct options read_options(char **arguments)
{
    struct options options = {.until = UINT64_MAX,
                              .timeslice = 10 * 1000 * 1000,
                              .shortest = 20 * 1000,
                              .loop_limit = 1000,
                              .bound = UINT32_MAX,
                              .processes = 1,
                              .faults = -1,
                              .call_limit = 1000 * 1000,
                              .timeout = 10 * 1000,
                              .memory = (uint64_t)1 << 30,
                              .trace_limit = (uint64_t)1 << 26};
    for (char **next = arguments; *next; next++) {
        if (strcmp(*next, "--fast") == 0) {
            options.fast = true;
        } else if (strcmp(*next, "--coverage") == 0) {
            options.fast = options.coverage = true;
        } else if (strcmp(*next, "--stacks") == 0) {
            options.fast = options.stacks = true;
        } else if (strcmp(*next, "--hardened") == 0) {
            options.hardened = true;
        } else if (strcmp(*next, "--help") == 0) {
            dprintf(STDOUT_FILENO, "%s", USAGE);
            process_exit(0);
        } else if (strncmp(*next, "--", 2) == 0) {
            if (!next[1]) {
                misused("no value for ", *next);
            }
            set_option(&options, next[0], next[1]);
            next++;
        } else if (options.table) {
            misused("one table only, not also ", *next);
        } else {
            options.table = *next;
        }
    }
    if (!options.table) {
        misused("no boot table", "");
    }
    if (options.search) {
        options.memory = 0; /* the search itself needs more */
    }
    if (options.fast && options.hardened) {
        misused("--hardened needs processes, which are not there with ", "--fast");
    }
    if (options.outcomes && options.processes > 1) {
        misused("one process only with ", "--outcomes");
    }
    return options;
}

/* ---- boot ---- */

/*
 * The same addresses every time, and a pattern in what components allocate until it is written, as
 * their variables have: bytes of 0xfe. (The list of each thread would give memory out as it is.)
 * Both are settings of a process from its start on. Where they cannot be had, traces still differ
 * in faults only; a user's own settings of the C library stay.
 */
static void start_again(char **argv)
{
    static const char DONE[] = "CAMKES_HOST_STARTED", LIBRARY[] = "GLIBC_TUNABLES";
    const int persona = personality(0xffffffff);
    const bool fixed = persona == -1 || persona & ADDR_NO_RANDOMIZE;
    if (getenv(DONE) || (fixed && getenv(LIBRARY))) {
        unsetenv(DONE);
        return;
    }
    setenv(DONE, "yes", 1);
    setenv(LIBRARY, "glibc.malloc.perturb=1:glibc.malloc.tcache_count=0", 0);
    if (!fixed) {
        personality((unsigned long)persona | ADDR_NO_RANDOMIZE);
    }
    execv("/proc/self/exe", argv);
    unsetenv(DONE);
}

/* A hand-over is fastest on one core, and nothing else here runs at the same time but other
 * processes of a search, which have the next cores. (The C library notes the core in memory that a
 * search compares.) */
static void use_one_core(unsigned first, unsigned number)
{
    cpu_set_t allowed, set;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return;
    }
    unsigned core = first;
    for (unsigned left = number % (unsigned)CPU_COUNT(&allowed); left > 0;
         left -= CPU_ISSET(core, &allowed)) {
        core = (core + 1) % CPU_SETSIZE;
    }
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void on_interrupt(int number)
{
    (void)number;
    access_in_handler();
    kernel->stop = true;
    search_interrupt();
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void prepare_process(void)
{
    kernel_initialise_stack();
    console_redirect();
    polling_initialise();
    signals_initialise();
}

static _Noreturn void run_space(struct space *space, pid_t runner)
{
    process.space = space;
    watch_parent(runner);
    handle(SIGINT, SIG_IGN);
    handle(SIGTERM, SIG_IGN);
    handle(SIGCHLD, SIG_DFL);
    handover_wait();
    kernel->inside = false;
    prepare_process();
    space_prepare(space);
    confine_loading();
    space_load(space);
    confine_running();
    control_back();
    for (;;) {
        kernel_go();
    }
}

static void boot_isolated(void)
{
    pid_t runner = getpid();
    handover_initialise();
    for (unsigned i = 0; i < kernel->space_count; i++) {
        struct space *space = &kernel->spaces[i];
        pid_t pid = fork();
        if (pid < 0) {
            give_up(3, "cannot make a process: %s", strerror(errno));
        }
        if (pid == 0) {
            run_space(space, runner);
        }
        space->pid = pid;
        children_add(pid, space->name);
        handover_to(space);
        handover_wait();
    }
}

static void boot_fast(void)
{
    prepare_process();
    if (!kernel->options.search) {
        signals_watch();
    }
    for (unsigned i = 0; i < kernel->space_count; i++) {
        space_prepare(&kernel->spaces[i]);
    }
    close(kernel->memory_file);
    confine_loading();
    for (unsigned i = 0; i < kernel->space_count; i++) {
        space_load(&kernel->spaces[i]);
    }
    confine_running();
}

static void boot(void)
{
    handle(SIGINT, on_interrupt);
    handle(SIGTERM, on_interrupt);
    handle(SIGPIPE, SIG_IGN);
    handle(SIGTTOU, SIG_IGN); /* a terminal that stops who writes in the background */
    if (kernel->options.fast) {
        boot_fast();
    } else {
        boot_isolated();
    }
    kernel->booted = true;
    TRACE_PLAIN(BOOT, NULL, NULL);
    budget_show();
    domain_show();
    for (unsigned i = 0; i < kernel->thread_count; i++) {
        kernel->threads[i].state = THREAD_RUNNING;
        TRACE_PLAIN(READY, &kernel->threads[i], NULL);
        ready_append(&kernel->threads[i]);
    }
    kernel->action = ACTION_CHOOSE;
    arrivals_initialise();
}

static int finish(void)
{
    if (!kernel->options.fast) {
        handover_reap();
    }
    console_flush();
    stream_write();
    report_write();
    if (kernel->options.coverage) {
        space_write_coverage();
    }
    if (kernel->trace_fd >= 0) {
        trace_flush();
    }
    return kernel->status ? kernel->status : kernel->faulted;
}

int main(int argc, char **argv)
{
    (void)argc;
    struct options options = read_options(argv + 1);
    start_again(argv);
    const int core = sched_getcpu();
    const unsigned number = options.search ? search_fork(&options) : 0;
    if (core >= 0) {
        use_one_core((unsigned)core, number);
    }
    memory_create();
    kernel->options = options;
    table_read(options.table);
    choice_initialise();
    input_initialise();
    trace_open(options.trace);
    report_initialise();
    if (kernel->options.search) {
        search_prepare(kernel->options.search);
    }
    thread_reserve_stacks();
    integrity_initialise();
    access_restrict();
    boot();
    if (kernel->options.search) {
        search_run();
    }
    kernel_go();
    if (!integrity_of_state()) {
        damage_end();
    }
    process_exit(finish());
}
