/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The processes of components, as the runner remembers them where components cannot write. */
#include "record/output.h"
#include "isolation/processes.h"
#include "state.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

struct child {
    pid_t pid; /* 0: it has ended */
    char *name;
};

static struct child *children; /* in the order of the spaces */
static unsigned child_count;

void children_initialise(void)
{
    children = calloc(kernel->space_count, sizeof *children);
    if (!children && kernel->space_count > 0) {
        give_up(3, "no memory for the processes of components");
    }
}

void children_add(pid_t pid, const char *name)
{
    children[child_count++] = (struct child){.pid = pid, .name = strdup(name)};
}

const char *children_name(unsigned number)
{
    return number < child_count ? children[number].name : NULL;
}

/* The number of the process, NONE: it is not one of them. It has ended, and is not found again. */
unsigned children_bury(pid_t pid)
{
    for (unsigned i = 0; i < child_count; i++) {
        if (children[i].pid == pid) {
            children[i].pid = 0;
            return i;
        }
    }
    return NONE;
}

/* At the end: none is left. */
void children_kill(void)
{
    for (unsigned i = 0; i < child_count; i++) {
        if (children[i].pid > 0) {
            kill(children[i].pid, SIGKILL);
        }
    }
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
        continue;
    }
}
