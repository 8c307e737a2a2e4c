/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Counts the instructions of functions by single steps of the processor, on x86_64.
 *
 *     count INDEX ARGUMENT     calls functions[INDEX](ARGUMENT), and prints its instructions
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define TRAP_FLAG 0x100

extern unsigned long (*const functions[])(unsigned long);

static volatile unsigned long count;

static void step(int number)
{
    (void)number;
    count++;
}

static __attribute__((noinline)) unsigned long nothing(unsigned long argument)
{
    return argument; /* two instructions */
}

static __attribute__((noinline)) unsigned long steps_of(unsigned long (*function)(unsigned long),
                                                        unsigned long argument)
{
    count = 0;
    __asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "memory", "cc");
    function(argument);
    __asm__ volatile("pushfq; andq %0, (%%rsp); popfq" : : "i"(~TRAP_FLAG) : "memory", "cc");
    return count;
}

int main(int arguments, char **argument)
{
    if (arguments != 3) {
        return 2;
    }
    (void)signal(SIGTRAP, step);
    const unsigned long given = strtoul(argument[2], NULL, 10);
    const unsigned long none = steps_of(nothing, given) - 2;
    printf("%lu\n", steps_of(functions[strtoul(argument[1], NULL, 10)], given) - none);
    return 0;
}
