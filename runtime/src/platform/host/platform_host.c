/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The platform of the host kernel. */
#include <camkes/platform.h>

/* Declared in camkes.h. Has no effect: the host kernel itself captures what components print. */
void set_putchar(void (*putchar)(int character));

void set_putchar(void (*putchar)(int character))
{
    (void)putchar;
}

/* Which kind of kernel the image is compiled for; the kernel loads no other. */
extern const uint8_t camkes_image_mcs;
#if defined(CONFIG_KERNEL_MCS)
__attribute__((visibility("default"), used)) const uint8_t camkes_image_mcs = 1;
#else
__attribute__((visibility("default"), used)) const uint8_t camkes_image_mcs = 0;
#endif

#if defined(CONFIG_KERNEL_MCS)
void camkes_platform_restart(const struct camkes_thread *thread, void (*entry)(void))
{
    camkes_host_restart(thread->tcb, entry);
}

bool camkes_platform_keep_reply(const struct camkes_thread *thread)
{
    return camkes_host_keep_reply(thread->tcb);
}

void camkes_platform_delete(seL4_CPtr slot)
{
    camkes_must(seL4_CNode_Delete(seL4_CapNull, slot, seL4_WordBits));
}

void camkes_platform_end_thread(void)
{
    /* the kernel ends it when it returns */
}
#else
seL4_Error camkes_platform_save_caller(const seL4_CPtr *slot)
{
    return seL4_CNode_SaveCaller(seL4_CapNull, *slot, seL4_WordBits);
}
#endif

uint64_t camkes_platform_now(void)
{
    return camkes_host_now();
}

void camkes_platform_work(uint64_t ns)
{
    camkes_host_work(ns);
}

void camkes_platform_work_between(uint64_t low, uint64_t high)
{
    camkes_host_work_between(low, high);
}

void camkes_platform_timer_arm(seL4_CPtr timer, uint64_t first, uint64_t period)
{
    camkes_host_timer_arm(timer, first, period);
}

uint64_t camkes_platform_timer_expirations(seL4_CPtr timer)
{
    return camkes_host_timer_expirations(timer);
}

/* Timers may also expire in another order than that of their times. */
void camkes_platform_timer_await(seL4_CPtr timer, seL4_CPtr notification, uint64_t expirations,
                                 uint64_t time)
{
    (void)time;
    while (camkes_host_timer_expirations(timer) <= expirations) {
        seL4_Wait(notification, NULL);
    }
}

void camkes_platform_write(const char *text, size_t length)
{
    camkes_host_write(text, length);
}

void camkes_platform_fault(void)
{
    __builtin_trap();
}

void camkes_platform_halt(void)
{
    seL4_DebugHalt();
    __builtin_trap();
}
