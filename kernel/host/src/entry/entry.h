/* SPDX-License-Identifier: BSD-2-Clause */
/* SPDX-FileCopyrightText: 2026 The camkes-rt developers */
/* The way into the kernel and out of it, and what a thread starts with. */
#pragma once

#include "state.h"

/* entry.c */
struct thread *kernel_enter(enum camkes_kcall operation, seL4_CPtr slot);
struct thread *kernel_enter_quietly(void);
bool kernel_leave(struct thread *self);
void kernel_leave_quietly(struct thread *self);
void kernel_arrive(void);
void kernel_arrive_at_fault(struct thread *self);
void kernel_leave_fault(struct thread *self);

/* switch.c */
void kernel_point(struct thread *self);
void kernel_go(void);
void kernel_initialise_stack(void);
void stack_clear(void);
void stack_clear_below(void *sp);

/* syscalls.c */
#define CALLED_FROM(self) ((self)->called_from = (uintptr_t)__builtin_return_address(0))
void syscall_send(struct thread *self, seL4_CPtr dest, bool blocking, bool call, bool donate);
bool syscall_receive(struct thread *self, seL4_CPtr src, bool blocking);
void syscall_look_in_vain(struct thread *self);
seL4_MessageInfo_t syscall_received(struct thread *self, seL4_Word *badge);

/* costs.c */
enum cost { COST_CALL, COST_REPLY, COST_RECEIVE };
void cost_charge(seL4_CPtr slot, enum cost part);

/* Takes the time of this part of an operation at an object, if operations take any. */
static inline void cost_take(seL4_CPtr slot, enum cost part)
{
    if (kernel->costs) {
        cost_charge(slot, part);
    }
}

/* invocations.c */
struct thread *invocation_thread(struct thread *self, seL4_CPtr slot);
void invocation_resume(struct thread *thread, struct thread *by);
seL4_Error invocation_set_priorities(struct thread *self, seL4_CPtr tcb, seL4_CPtr authority,
                                     const seL4_Word *maximum, const seL4_Word *priority);

/* extensions.c */
unsigned duration_number(unsigned chosen);

/* context.S */
void context_swap(void **save, void *load);
void *context_make(void *stack_top, void (*entry)(void));

/* storage.c */
void storage_find(struct space *space, void *image, size_t size);
void storage_create(struct thread *thread);
void storage_switch(struct thread *from, struct thread *to);
