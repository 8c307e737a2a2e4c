/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* Stands in for a program (PROGRAM), and writes to a file (LOG) what each call of it costs:
 * microseconds of processor time of it and of what it started, then its arguments. Built by
 * sel4_build.py. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    pid_t child = fork();
    if (child == 0) {
        arguments[0] = PROGRAM;
        execv(PROGRAM, arguments);
        _exit(127);
    }
    int status = 127 << 8;
    struct rusage used;
    if (child < 0 || wait4(child, &status, 0, &used) < 0) {
        return 127;
    }
    long time = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000L + used.ru_utime.tv_usec +
                used.ru_stime.tv_usec;
    char line[1000];
    size_t length = (size_t)snprintf(line, sizeof line, "%ld", time);
    for (int i = 1; i < count && length + strlen(arguments[i]) + 3 < sizeof line; i++) {
        length += (size_t)snprintf(line + length, sizeof line - length, "\t%s", arguments[i]);
    }
    line[length++] = '\n';
    int log = open(LOG, O_WRONLY | O_APPEND | O_CREAT, 0666);
    if (log >= 0) {
        (void)!write(log, line, length);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
