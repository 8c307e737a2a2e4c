/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* In Linux: an interrupt of the timer as often as the guest can, and one of the console for what is
 * typed. Prints each second how many there were. */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* How many interrupts of a kind there were since the start. */
static unsigned long interrupts_of(const char *name)
{
    char line[256];
    unsigned long count = 0;
    FILE *file = fopen("/proc/interrupts", "r");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strstr(line, name) != NULL && sscanf(line, " %*[^:]: %lu", &count) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return count;
}

int main(void)
{
    struct termios terminal;
    tcgetattr(STDIN_FILENO, &terminal);
    terminal.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
    terminal.c_cc[VMIN] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
    prctl(PR_SET_TIMERSLACK, 1);
    unsigned long timer = interrupts_of("arch_timer");
    unsigned long console = interrupts_of("uart-pl011");
    for (;;) {
        const time_t end = time(NULL) + 1;
        while (time(NULL) < end) {
            const struct timespec shortest = {.tv_nsec = 1};
            char typed[64];
            nanosleep(&shortest, NULL);
            read(STDIN_FILENO, typed, sizeof(typed));
        }
        printf("flood: %lu interrupts of the timer, %lu of the console\n",
               interrupts_of("arch_timer") - timer, interrupts_of("uart-pl011") - console);
        timer = interrupts_of("arch_timer");
        console = interrupts_of("uart-pl011");
    }
}
