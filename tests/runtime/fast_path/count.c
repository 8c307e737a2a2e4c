/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * Counts the instructions of a request in one address space, by single steps of the processor. The
 * kernel is the signal handler: it answers each kernel call, which is counted and not executed.
 *
 *     count caller INDEX LENGTH     calls requests[INDEX] and answers with LENGTH words
 *     count THREAD LABEL LENGTH     runs a server's thread and sends it requests of LENGTH words,
 *                                   with this label, the badge 1 and zeros
 *
 * FIRST may follow: what the first word of the message registers is at the start, in place of 0.
 * What a message left in them is in the next one.
 *
 * Prints the instructions of that function, or those from one reply to the next one.
 */
#define _GNU_SOURCE
#include <camkes/instance.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#define ROUNDS 4
#define TRAP_FLAG 0x100

static seL4_IPCBuffer buffer;
__thread seL4_IPCBuffer *fast_path_buffer = &buffer;

static volatile unsigned long count;
static unsigned long last, round_trip;
static unsigned replies;
static seL4_Word reply, request; /* what the kernel gives */
static sigjmp_buf end;

extern void (*const requests[])(void) __attribute__((weak));

/* Servers start at once. */
void camkes_start_wait(const struct camkes_instance *instance)
{
    (void)instance;
}

void camkes_start_interface(const struct camkes_instance *instance, void (*init)(void))
{
    (void)instance, (void)init;
}

static void step(int number, siginfo_t *info, void *interrupted)
{
    greg_t *const registers = ((ucontext_t *)interrupted)->uc_mcontext.gregs;
    const unsigned char *next = (const unsigned char *)registers[REG_RIP];
    (void)number, (void)info;
    count++;
    if (next[0] != 0x0f || next[1] != 0x05) { /* syscall */
        return;
    }
    const seL4_Word call = (seL4_Word)registers[REG_RDX];
    registers[REG_RIP] += 2;
    count++; /* the next trap is after the instruction that is there */
    registers[REG_RSI] = (greg_t)(call == SEL4_CALL ? reply : request);
    registers[REG_RDI] = 1;
    if (call == SEL4_REPLY_RECV) {
        round_trip = count - last;
        last = count;
        if (++replies == ROUNDS) {
            siglongjmp(end, 1);
        }
    }
}

static inline __attribute__((always_inline)) void step_from_here(void)
{
    __asm__ volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "memory", "cc");
}

static inline __attribute__((always_inline)) void step_to_here(void)
{
    __asm__ volatile("pushfq; andq %0, (%%rsp); popfq" : : "i"(~TRAP_FLAG) : "memory", "cc");
}

static unsigned long steps_of(void (*function)(void))
{
    count = 0;
    step_from_here();
    function();
    step_to_here();
    return count;
}

static void nothing(void)
{
}

static void serve(struct camkes_thread *self)
{
    if (sigsetjmp(end, 1) == 0) {
        step_from_here();
        self->start(self);
    }
    step_to_here();
    printf("%lu\n", round_trip);
}

int main(int arguments, char **argument)
{
    const struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
    (void)sigaction(SIGTRAP, &action, NULL);
    if (arguments != 4 && arguments != 5) {
        return 2;
    }
    buffer.msg[0] = arguments == 5 ? strtoul(argument[4], NULL, 10) : 0;
    const seL4_Word second = strtoul(argument[2], NULL, 10);
    const seL4_Word length = strtoul(argument[3], NULL, 10);
    reply = seL4_MessageInfo_new(0, 0, 0, length).words[0];
    if (strcmp(argument[1], "caller") == 0) {
        camkes_set_self(camkes_threads[0]);
        const unsigned long none = steps_of(nothing);
        printf("%lu\n", steps_of(requests[second]) - none);
        return none == 0;
    }
    request = seL4_MessageInfo_new(second, 0, 0, length).words[0];
    for (unsigned i = 0; i < camkes_thread_count; i++) {
        if (strcmp(camkes_threads[i]->name, argument[1]) == 0) {
            camkes_set_self(camkes_threads[i]);
            serve(camkes_threads[i]);
            return replies != ROUNDS;
        }
    }
    return 2;
}
