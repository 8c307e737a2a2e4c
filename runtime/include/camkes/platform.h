/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/*
 * The functions that differ between the two kernels, implemented by
 * `src/platform/host/platform_host.c` and `src/platform/sel4/platform_sel4.c`. All other code calls
 * only the seL4 API.
 */
#pragma once

#include <camkes/thread.h>
#include <camkes/trace.h>
#include <sel4/sel4.h>
#if defined(CAMKES_TRACE_SEL4)
#include <camkes/recorded_calls_sel4.h>
#endif
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* On the path of every request: inlined into the code of an interface, where much is constant. On
 * the host kernel, where no instructions are counted, that would only make compiling slower: what a
 * header defines, `src/platform/host/inline_host.c` has for generated code. */
#if CAMKES_KERNEL_HOST
#define CAMKES_INLINE_HERE static inline
#else
#define CAMKES_INLINE_HERE static inline __attribute__((always_inline))
#endif
#if CAMKES_KERNEL_HOST && defined(CAMKES_GENERATED)
#define CAMKES_INLINE extern inline __attribute__((gnu_inline))
#elif !defined(CAMKES_INLINE)
#define CAMKES_INLINE CAMKES_INLINE_HERE
#endif
/* What the loop of a manager calls: on the host kernel, its values are not on the stack while it
 * waits for the next message. States of a search would differ in them. */
#if CAMKES_KERNEL_HOST
#define CAMKES_APART __attribute__((noinline))
#else
#define CAMKES_APART
#endif
#define CAMKES_LIKELY(condition) __builtin_expect((condition), 1)
#define CAMKES_UNLIKELY(condition) __builtin_expect((condition), 0)

/* Code that executes for no request of generated code: a local symbol, and no instruction. `camkes
 * paths` leaves it out. Calling a function here would cost two instructions where it is not called.
 */
#if CAMKES_KERNEL_HOST
#define CAMKES_UNUSUAL() ((void)0)
#else
#define CAMKES_UNUSUAL() __asm__ volatile("camkes_unusual_%=:" :)
#endif

/*
 * An invariant of the runtime: checked on the host kernel, so in searches too, and in debug builds
 * for seL4; a release build does not evaluate it. It writes no state.
 */
#if CAMKES_KERNEL_HOST || defined(CONFIG_DEBUG_BUILD)
#define CAMKES_ASSERTIONS 1
#define CAMKES_ASSERT(condition)                                                                   \
    (CAMKES_LIKELY(condition) ? (void)0 : camkes_assertion_failed(__FILE__, __LINE__, #condition))
/* After a switch over all values of an enum, of which each returns. */
#define CAMKES_UNREACHABLE() camkes_assertion_failed(__FILE__, __LINE__, "not reached")
#else
#define CAMKES_ASSERTIONS 0
#define CAMKES_ASSERT(condition) ((void)sizeof(!(condition)))
#define CAMKES_UNREACHABLE() __builtin_unreachable()
#endif

/* Ends the running thread with a fault, which names the place. */
_Noreturn void camkes_assertion_failed(const char *file, int line, const char *condition)
    __attribute__((cold));

/* Whether trace records are written. */
#if CAMKES_KERNEL_HOST || defined(CAMKES_TRACE_SEL4)
#define CAMKES_TRACING 1
#else
#define CAMKES_TRACING 0
#endif
#define CAMKES_TRACE_NO_NUMBER 65535

#if CAMKES_KERNEL_HOST

#include <camkes/host.h>

/* A point between two accesses to words that threads share, at which tests try a preemption. Each
 * kernel operation is one, too; a thread that a call has blocked has been preempted. */
static inline void camkes_point(void)
{
    camkes_host_point();
}

/* Reports the return value of run(). */
static inline void camkes_exit_status(int status)
{
    camkes_host_exit_status(status);
}

/* Writes a trace record: CAMKES_TRACE(LOCK_TAKE, cpi, context). */
#define CAMKES_TRACE(kind, ...) CAMKES_TRACE_ABOUT(kind, CAMKES_TRACE_NO_NUMBER, __VA_ARGS__)
#define CAMKES_TRACE_ABOUT(kind, other, ...)                                                       \
    camkes_host_annotate(CAMKES_TRACE_##kind, (uint16_t)(other),                                   \
                         sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                     \
                         (const uint64_t[]){__VA_ARGS__})

#else

static inline void camkes_point(void)
{
}

#if defined(CAMKES_TRACE_SEL4)

void camkes_sel4_trace(uint16_t kind, uint16_t other, unsigned count, const uint64_t *arguments);

#define CAMKES_TRACE(kind, ...) CAMKES_TRACE_ABOUT(kind, CAMKES_TRACE_NO_NUMBER, __VA_ARGS__)
#define CAMKES_TRACE_ABOUT(kind, other, ...)                                                       \
    camkes_sel4_trace(CAMKES_TRACE_##kind, (uint16_t)(other),                                      \
                      sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t),                        \
                      (const uint64_t[]){__VA_ARGS__})

#else

/* The arguments are type-checked and not evaluated. */
#define CAMKES_TRACE(kind, ...) ((void)sizeof((uint64_t[]){__VA_ARGS__}))
#define CAMKES_TRACE_ABOUT(kind, other, ...) ((void)sizeof((uint64_t[]){(other), __VA_ARGS__}))

#endif

/* Records the return value of run(). */
static inline void camkes_exit_status(int status)
{
    CAMKES_TRACE(EXIT, (uint64_t)(int64_t)status);
}

#endif

/* Makes the running thread fault, so that it is reported and the others go on. */
_Noreturn void camkes_platform_fault(void);

/* The result of a kernel call that cannot fail if tool and kernel do what they should. Where that
 * can be, it is used. */
static inline void camkes_must(seL4_Error error)
{
    if (CAMKES_UNLIKELY(error != seL4_NoError)) {
        camkes_platform_fault();
    }
}

#if defined(CONFIG_KERNEL_MCS)

/* Microseconds that were executed on a scheduling context since this was asked last. */
static inline seL4_Time camkes_consumed(seL4_CPtr time)
{
    const seL4_SchedContext_Consumed_t result = seL4_SchedContext_Consumed(time);
    camkes_must((seL4_Error)result.error);
    return result.consumed;
}

/*
 * Keeps the reply to the last received Call for later: it is sent to what `slot` is afterwards. An
 * MCS kernel has the reply in the reply object with which the Call was received, so the running
 * thread goes on with that of `slot`, which no Call uses.
 */
static inline seL4_Error camkes_platform_save_caller(seL4_CPtr *slot)
{
    struct camkes_thread *const self = camkes_self();
    const seL4_CPtr reply = self->reply;
    self->reply = *slot;
    *slot = reply;
    return seL4_NoError;
}

CAMKES_INLINE seL4_MessageInfo_t camkes_platform_receive(seL4_CPtr endpoint, seL4_Word *badge)
{
    return seL4_Recv(endpoint, badge, camkes_self()->reply);
}

/* Receives a message that gets no reply. */
static inline seL4_MessageInfo_t camkes_platform_listen(seL4_CPtr endpoint, seL4_Word *badge)
{
    return seL4_Wait(endpoint, badge);
}

CAMKES_INLINE seL4_MessageInfo_t camkes_platform_reply_receive(seL4_CPtr endpoint,
                                                               seL4_MessageInfo_t reply,
                                                               seL4_Word *badge)
{
    return seL4_ReplyRecv(endpoint, reply, badge, camkes_self()->reply);
}

static inline void camkes_platform_reply(seL4_MessageInfo_t reply)
{
    seL4_Send(camkes_self()->reply, reply);
}

/* Deletes a capability of the address space, which has one to its own CSpace. */
void camkes_platform_delete(seL4_CPtr slot);

/* Number of passive threads of an instance that initialise an interface. */
unsigned camkes_platform_passive(const struct camkes_instance *instance);
/* Lets these initialise their interfaces, and later, when the gate is open, all passive threads
 * wait for callers. */
void camkes_platform_start_passive(const struct camkes_instance *instance);
void camkes_platform_open_passive(const struct camkes_instance *instance);
/* Lets a passive thread that has a scheduling context, and is about to receive its first message,
 * wait for callers without it. */
void camkes_platform_bring_home(const struct camkes_lent *lent, seL4_CPtr context);
/* A thread of this address space that waits for the answer to a fault goes on with `entry`, which
 * ends with camkes_platform_end_thread(), and an empty stack. */
void camkes_platform_restart(const struct camkes_thread *thread, void (*entry)(void));
void camkes_platform_end_thread(void);
/* Before the answer to a timeout fault, of a thread of this address space. A thread that gets the
 * reply to a Call while its budget is used up faults then, and seL4 would let it make the Call
 * again, with what the reply left in its registers. It goes on after the Call. Returns whether it
 * is such a thread. */
bool camkes_platform_keep_reply(const struct camkes_thread *thread);
/* The first receive of a thread that serves requests, passive or not. */
seL4_MessageInfo_t camkes_platform_receive_first(seL4_CPtr endpoint, seL4_Word *badge);

static inline bool camkes_platform_is_passive(void)
{
    return camkes_self()->passive;
}

#else

/* Moves the capability to reply to the last received Call into an empty slot. */
seL4_Error camkes_platform_save_caller(const seL4_CPtr *slot);

/* Waits for a request; replies to it and waits for the next; replies only. */
#define camkes_platform_receive seL4_Recv
#define camkes_platform_receive_first seL4_Recv
#define camkes_platform_listen seL4_Recv
#define camkes_platform_reply_receive seL4_ReplyRecv
#define camkes_platform_reply seL4_Reply
/* Passive threads exist on MCS kernels only. */
#define camkes_platform_is_passive() false
#define camkes_platform_passive(instance) 0u
#define camkes_platform_start_passive(instance) ((void)(instance))
#define camkes_platform_open_passive(instance) ((void)(instance))

#endif

/*
 * The first words of a message. A kernel has them in registers of the processor, where a short
 * message can stay; all other code sees messages in the IPC buffer.
 */
#define CAMKES_REGISTERS 4
struct camkes_registers {
    seL4_Word word[CAMKES_REGISTERS];
};

CAMKES_INLINE void camkes_registers_from_buffer(struct camkes_registers *registers)
{
    const seL4_IPCBuffer *buffer = seL4_GetIPCBuffer();
    for (unsigned i = 0; i < CAMKES_REGISTERS; i++) {
        registers->word[i] = buffer->msg[i];
    }
}

CAMKES_INLINE void camkes_registers_to_buffer(const struct camkes_registers *registers)
{
    seL4_IPCBuffer *buffer = seL4_GetIPCBuffer();
    for (unsigned i = 0; i < CAMKES_REGISTERS; i++) {
        buffer->msg[i] = registers->word[i];
    }
}

#if CAMKES_KERNEL_HOST || seL4_FastMessageRegisters == 4 || defined(CONFIG_ARCH_RISCV)
#define CAMKES_REGISTER_ARGUMENTS(r) &(r)->word[0], &(r)->word[1], &(r)->word[2], &(r)->word[3]
#endif

/* A Call, and a reply and receive, whose messages have their first words in `registers`. */
CAMKES_INLINE seL4_MessageInfo_t camkes_platform_call_registers(seL4_CPtr endpoint,
                                                                seL4_MessageInfo_t info,
                                                                struct camkes_registers *registers)
{
#if defined(CAMKES_REGISTER_ARGUMENTS)
    return seL4_CallWithMRs(endpoint, info, CAMKES_REGISTER_ARGUMENTS(registers));
#else
    camkes_registers_to_buffer(registers);
    info = seL4_Call(endpoint, info);
    camkes_registers_from_buffer(registers);
    return info;
#endif
}

CAMKES_INLINE seL4_MessageInfo_t
camkes_platform_reply_receive_registers(seL4_CPtr endpoint, seL4_MessageInfo_t reply,
                                        seL4_Word *badge, struct camkes_registers *registers)
{
#if !defined(CAMKES_REGISTER_ARGUMENTS)
    camkes_registers_to_buffer(registers);
    reply = camkes_platform_reply_receive(endpoint, reply, badge);
    camkes_registers_from_buffer(registers);
    return reply;
#elif defined(CONFIG_KERNEL_MCS)
    return seL4_ReplyRecvWithMRs(endpoint, reply, badge, CAMKES_REGISTER_ARGUMENTS(registers),
                                 camkes_self()->reply);
#else
    return seL4_ReplyRecvWithMRs(endpoint, reply, badge, CAMKES_REGISTER_ARGUMENTS(registers));
#endif
}

/* The same where both messages have no words: the message registers are kept. */
CAMKES_INLINE seL4_MessageInfo_t camkes_platform_reply_receive_label(seL4_CPtr endpoint,
                                                                     seL4_MessageInfo_t reply,
                                                                     seL4_Word *badge)
{
#if defined(CAMKES_REGISTER_ARGUMENTS) && !defined(CONFIG_KERNEL_MCS)
    return seL4_ReplyRecvWithMRs(endpoint, reply, badge, NULL, NULL, NULL, NULL);
#else
    return camkes_platform_reply_receive(endpoint, reply, badge);
#endif
}

/* Waits for a signal, and keeps the message registers and the reply capability of the thread. */
CAMKES_INLINE void camkes_platform_wait(seL4_CPtr notification)
{
#if defined(CAMKES_REGISTER_ARGUMENTS) && !defined(CONFIG_KERNEL_MCS) && !CAMKES_KERNEL_HOST
    (void)seL4_RecvWithMRs(notification, NULL, NULL, NULL, NULL, NULL);
#else
    seL4_Wait(notification, NULL);
#endif
}

/* Calls with a message that consists of its label only, and keeps the message registers. Returns
 * the label of the reply. */
CAMKES_INLINE seL4_Word camkes_platform_call(seL4_CPtr endpoint, seL4_Word label)
{
    const seL4_MessageInfo_t info = seL4_MessageInfo_new(label, 0, 0, 0);
#if defined(CAMKES_REGISTER_ARGUMENTS)
    return seL4_MessageInfo_get_label(seL4_CallWithMRs(endpoint, info, NULL, NULL, NULL, NULL));
#else
    return seL4_MessageInfo_get_label(seL4_Call(endpoint, info));
#endif
}

/* Virtual or real nanoseconds since boot. */
uint64_t camkes_platform_now(void);
void camkes_platform_work(uint64_t ns);
void camkes_platform_work_between(uint64_t low, uint64_t high);

/* A timer signals its notification at `first` and then every `period` ns; 0, 0 stops it. */
void camkes_platform_timer_arm(seL4_CPtr timer, uint64_t first, uint64_t period);
/* Number of expirations since the timer was armed. */
uint64_t camkes_platform_timer_expirations(seL4_CPtr timer);
/* Waits until a timer has expired more often than this, which is at a certain time; nothing else
 * signals the notification. */
void camkes_platform_timer_await(seL4_CPtr timer, seL4_CPtr notification, uint64_t expirations,
                                 uint64_t time);

void camkes_platform_write(const char *text, size_t length);
/* Halts the system if the kernel can do so. */
_Noreturn void camkes_platform_halt(void);
