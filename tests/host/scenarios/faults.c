/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* requirement: HOST-4 */
/* What goes wrong in a component stops the thread that did it, by name; all others go on. */
#include <camkes/host.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile int zero;
static int *volatile null;
static volatile int depth;

__attribute__((noinline)) static int overrun(int n)
{
    volatile char block[1000];
    memset((char *)block, n, sizeof block);
    return n < 0 ? 0 : overrun(n + 1) + block[n % 1000];
}

__attribute__((noinline)) static int overrun_by_calls(void)
{
    depth += 1 + (int)camkes_host_now();
    return depth < 0 ? 0 : overrun_by_calls() + depth;
}

static void fault(unsigned index)
{
    switch (index) {
    case 0:
        printf("reading NULL\n");
        printf("%d\n", *null);
        break;
    case 1:
        printf("writing NULL\n");
        *null = 1;
        break;
    case 2:
        printf("calling NULL\n");
        ((void (*)(void))(uintptr_t)null)();
        break;
    case 3:
        printf("overrunning the stack\n");
        printf("%d\n", overrun(0));
        break;
    case 4:
        printf("overrunning the stack with kernel operations\n");
        printf("%d\n", overrun_by_calls());
        break;
    case 5:
        printf("dividing by zero\n");
        printf("%d\n", 7 / zero);
        break;
    case 6:
        printf("looping for ever\n");
        while (!zero) {
        }
        break;
    case 7:
        printf("asking the time for ever\n");
        while (camkes_host_now() == 0) {
        }
        break;
    case 8:
        printf("aborting\n");
        abort();
    case 9:
        printf("asserting\n");
        assert(zero == 1);
        break;
    case 10:
        printf("an illegal instruction\n");
        __builtin_trap();
    case 11:
        printf("passing a bad string\n");
        seL4_DebugPutString((char *)8);
        break;
    case 12:
        printf("a pointer of garbage\n");
        printf("%d\n", *(int *)0xdeadbeefdeadbeef);
        break;
    }
}

void _camkes_thread(unsigned index)
{
    if (index == 13) {
        printf("passing a bad string, in the first function\n");
        seL4_DebugPutString((char *)8);
        printf("not reached: %u\n", index);
    } else if (index < 20) {
        fault(index);
        printf("not reached: %u\n", index);
    } else if (index == 20) {
        printf("leaving\n");
        exit(3);
    } else if (index == 21) {
        printf("not reached: the component has called exit\n");
    } else {
        printf("the others go on\n");
    }
}
