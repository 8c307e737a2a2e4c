/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-27 */
/* What becomes of a run when the process of a component ends: with control or without, in the
 * component or within the kernel, before all is loaded, or after it wrote into the kernel's memory.
 */
#include "isolation/faults.h"
#include "isolation/memory.h"
#include "record/output.h"
#include "isolation/processes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNS_ON = -1 };

static struct kernel state;
static struct space spaces[2];
struct kernel *kernel = &state;
struct hooks hooks;
struct process process;

static jmp_buf end;
static pid_t child;
static bool sound; /* the kernel's memory */
static int exited; /* with this status, RUNS_ON: not at all */
static char said[128];
static enum camkes_fault kind;
static uint64_t detail;
static const struct space *woken, *faulty;
static unsigned buried;

static void need(bool good, const char *what)
{
    if (!good) {
        printf("%s\n", what);
        exit(1);
    }
}

/* what handover.c uses */

_Noreturn void process_exit(int status)
{
    exited = status;
    longjmp(end, 1);
}

void complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
}

_Noreturn void give_up(int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(said, sizeof said, format, arguments);
    va_end(arguments);
    process_exit(status);
}

void fault_space(struct space *space, enum camkes_fault fault, uint64_t number,
                 const struct thread *cause)
{
    need(cause == NULL, "a process that ends has no thread as its cause");
    faulty = space;
    kind = fault;
    detail = number;
}

unsigned children_bury(pid_t pid)
{
    buried++;
    return pid == child ? 1 : NONE;
}

const char *children_name(unsigned number)
{
    return spaces[number].name;
}

void children_initialise(void)
{
}
void children_kill(void)
{
}

bool integrity_of_block(void)
{
    return sound;
}

bool integrity_of_state(void)
{
    return sound;
}

uint32_t control_myself(void)
{
    return HANDOVER_RUNNER;
}

void control_wake(_Atomic uint32_t *baton, uint32_t bits)
{
    need(bits == CONTROL, "a process is woken to have control");
    woken = baton == &spaces[0].baton ? &spaces[0] : &spaces[1];
}

uint32_t control_sleep(_Atomic uint32_t *baton, long limit)
{
    need(baton == &state.runner_baton && limit == WATCH_TICK, "the runner sleeps for a tick");
    siginfo_t information;
    if (child != 0 && waitid(P_PID, (id_t)child, &information, WEXITED | WNOWAIT) == 0) {
        return LOOK;
    }
    return CONTROL;
}

void control_wait(void)
{
}
void watch_look(void)
{
}
void damage_check(void)
{
}
void access_in_handler(void)
{
}
void stream_write(void)
{
}
void trace_flush(void)
{
}

_Noreturn void damage_end(void)
{
    process_exit(STATUS_DAMAGED);
}

/* the cases */

static void begin(uint32_t owner)
{
    memset(&state, 0, sizeof state);
    memset(spaces, 0, sizeof spaces);
    spaces[0].name = "first";
    spaces[1].name = "second";
    spaces[1].number = 1;
    state.spaces = spaces;
    state.trace_fd = -1;
    state.booted = true;
    state.owner = owner;
    sound = true;
    said[0] = 0;
    woken = faulty = NULL;
    buried = 0;
}

/* The process of the second component ends so; the runner waits until it has control. */
static void ends(int status, int signal)
{
    exited = RUNS_ON;
    child = fork();
    if (child == 0) {
        if (signal != 0) {
            kill(getpid(), signal);
        }
        _exit(status);
    }
    if (setjmp(end) == 0) {
        handover_wait();
    }
    child = 0;
}

static void in_the_component(void)
{
    begin(2);
    ends(7, 0);
    need(exited == RUNS_ON && state.owner == HANDOVER_RUNNER && state.inside,
         "the runner has control after a process that had it");
    need(faulty == &spaces[1] && kind == CAMKES_FAULT_EXIT && detail == 7, "an exit is a fault");

    begin(2);
    ends(0, SIGKILL);
    need(kind == CAMKES_FAULT_KILLED && detail == SIGKILL, "so is a signal, with its number");

    begin(2);
    spaces[1].blocked = true;
    ends(0, SIGKILL);
    need(kind == CAMKES_FAULT_BLOCKED && detail == 0, "so is a process that blocked");

    begin(2);
    state.stop = true;
    ends(0, SIGKILL);
    need(exited == RUNS_ON && faulty == NULL, "at the end of the run it is none");
}

static void within_the_kernel(void)
{
    begin(2);
    state.inside = true;
    ends(7, 0);
    need(exited == 3 && strcmp(said, "the process of second ended within the kernel") == 0,
         "the run ends with status 3");
    need(faulty == NULL, "and no fault of the component");

    begin(2);
    state.inside = true;
    state.status = 9;
    ends(7, 0);
    need(exited == 9 && said[0] == 0, "a status that the run has already stays");
}

static void while_it_is_loaded(void)
{
    begin(2);
    state.booted = false;
    ends(7, 0);
    need(exited == 7 && strcmp(said, "component second ended while it was loaded") == 0,
         "its status is that of the run");

    begin(2);
    state.booted = false;
    ends(0, 0);
    need(exited == 2, "the status of success is not");

    begin(2);
    state.booted = false;
    ends(0, SIGKILL);
    need(exited == 2, "nor is a signal");

    begin(2);
    state.booted = false;
    spaces[1].blocked = true;
    ends(0, SIGKILL);
    need(exited == 2 && strstr(said, "second: loading it does not end") != NULL,
         "a constructor that loops is named");
}

static void damaged(void)
{
    begin(2);
    ends(STATUS_DAMAGED, 0);
    need(exited == STATUS_DAMAGED, "a process that found damage ends the run");
    char text[128] = "";
    need(pread(STDERR_FILENO, text, sizeof text - 1, 0) > 0 &&
             strcmp(text, "camkes-host: component second wrote into the kernel's memory\n") == 0,
         "and is named");

    begin(2);
    sound = false;
    ends(0, 0);
    need(exited == STATUS_DAMAGED, "so does one that left damage");
}

/* Without control: its end is reported when control is handed over to it. */
static void without_control(void)
{
    begin(1);
    state.asker = &spaces[0];
    exited = RUNS_ON;
    child = fork();
    if (child == 0) {
        _exit(7);
    }
    siginfo_t information;
    waitid(P_PID, (id_t)child, &information, WEXITED | WNOWAIT);
    if (setjmp(end) == 0) {
        handover_wait();
    }
    child = 0;
    need(buried == 1 && spaces[1].dead && WEXITSTATUS(spaces[1].death) == 7, "its end is noted");
    need(exited == RUNS_ON && faulty == NULL, "nothing else becomes of it now");

    state.owner = HANDOVER_RUNNER;
    state.inside = true;
    need(!handover_to(&spaces[1]), "nothing is handed over to a dead process");
    need(state.inside && state.owner == HANDOVER_RUNNER && woken != &spaces[1],
         "who would have has control still");
    need(faulty == &spaces[1] && kind == CAMKES_FAULT_EXIT && detail == 7, "its exit is a fault");
    need(handover_to(&spaces[0]) && woken == &spaces[0] && state.owner == 1 && !state.inside,
         "a process that lives gets control");
}

int main(void)
{
    FILE *errors = tmpfile();
    need(errors != NULL && dup2(fileno(errors), STDERR_FILENO) >= 0,
         "there is a file for messages");
    in_the_component();
    within_the_kernel();
    while_it_is_loaded();
    damaged();
    without_control();
    printf("good\n");
    return 0;
}
